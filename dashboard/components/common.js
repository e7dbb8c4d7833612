// What the components have in common; it stands before the script of each.
// What a memory says comes from strangers: it is only ever set as text.
const views = new WeakMap();
const TURNED = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

function make(tag, name, text) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  if (text && name === "text") made.dir = direction(text);
  return made;
}

// Where a text begins: a sentence in English that only begins with a name from right to left is none itself.
function direction(text) {
  const letters = text.match(/\p{L}/gu) ?? [];
  const turned = letters.filter((one) => TURNED.test(one)).length;
  return TURNED.test(letters[0] ?? "") && 2 * turned > letters.length ? "rtl" : "ltr";
}

// The same of a picture.
function draw(tag, given, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(given)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// A button of a bar above a picture.
function tool(bar, text, label, act) {
  const made = make("button", "tool", text);
  made.type = "button";
  if (label) made.setAttribute("aria-label", label);
  made.addEventListener("click", act);
  bar.append(made);
  return made;
}

// Follows the pointer until it lets go, and then says by what; what is answered ends it sooner, as where a view goes.
function follow(drag, done = () => {}) {
  const held = new AbortController();
  const end = (event) => {
    held.abort();
    done(event);
  };
  for (const [name, act] of [["pointermove", drag], ["pointerup", end], ["pointercancel", end]])
    addEventListener(name, act, { signal: held.signal });
  return held;
}

// The picture of a character, beside its name.
function portrait(address) {
  const made = make("img");
  made.src = address;
  made.alt = "";
  return made;
}

// Lets a view stand in its place, and go with it; `view.say` tells the server what was done there, `view.keep` how
// things stand, which no later click overtakes.
// Streamlit also takes away what was shown with data that are not the latest any more, as where a script is slow to load
// and the page is drawn again meanwhile: it may come to that only after the latest was shown, which has to stay.
function mounted(View, { data, parentElement, setStateValue, setTriggerValue }) {
  let view = views.get(parentElement);
  if (!view) {
    view = new View(parentElement, data);
    views.set(parentElement, view);
  }
  view.say = (act) => setTriggerValue("act", act);
  view.keep = (state) => setStateValue("kept", state);
  view.show(data);
  const latest = (view.shown = {});
  const leave = () => {
    if (view.shown !== latest) return;
    views.delete(parentElement);
    view.leave();
  };
  return () => void setTimeout(leave);
}
