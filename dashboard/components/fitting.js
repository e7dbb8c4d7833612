// A field with a most number of characters leaves out what is longer, as all of what is pasted, and Streamlit says
// nothing: a note below the field does, until something else is typed or the field is left.
const FIELD = ["stTextInput", "stTextArea", "stChatInput"].map((one) => `[data-testid='${one}'] :is(input, textarea)`).join();
const LOOK = "position:fixed;z-index:1200;max-width:20rem;padding:.25rem .75rem;border-radius:.5rem;"
  + "box-shadow:0 2px 10px #0005;background:light-dark(#fff,#22221f);color:light-dark(#a3260f,#ff9c86);"
  + "font-size:var(--type-small);line-height:var(--type-small-line)";
const TOLD = "This field has no room for that much text; nothing was added.";
const note = document.createElement("div");
note.setAttribute("role", "alert");
note.style.cssText = LOOK;
note.hidden = true;
document.body.append(note);

function say(field) {
  const { left, bottom } = field.getBoundingClientRect();
  Object.assign(note.style, { left: `${left}px`, top: `${Math.min(bottom + 4, innerHeight - 64)}px` });
  note.textContent = TOLD;
  note.hidden = false;
}

function quiet() {
  note.hidden = true;
  note.textContent = "";
}

addEventListener("input", ({ target }) => {
  quiet();
  if (!target.matches?.(FIELD)) return;
  const typed = target.value.length;
  setTimeout(() => target.value.length < typed && say(target)); // by then React has put back what stood there
}, true);
addEventListener("focusout", quiet, true);
addEventListener("scroll", ({ target }) => target.matches?.(FIELD) || quiet(), true); // a field scrolls as it is filled

export default function () {} // listens once, from when it is loaded
