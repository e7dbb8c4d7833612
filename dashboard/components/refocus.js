// The field of a chat is disabled until the answer is there, and a browser takes the focus off it then: it gets it back,
// so that the next message can be typed, unless something else has the focus by now.
const FIELD = "[data-testid='stChatInputTextArea']";
const app = document.querySelector("[data-testid='stApp']");
let held = document.activeElement?.matches(FIELD) ?? false; // whether the field had it last

addEventListener("focusin", ({ target }) => { held = target.matches(FIELD); });
addEventListener("focusout", ({ target }) => { held &&= target.disabled; }); // not if somebody left it

new MutationObserver(() => {
  const field = held && document.activeElement === document.body && app.querySelector(`${FIELD}:enabled`);
  if (field) field.focus({ preventScroll: true });
}).observe(app, { subtree: true, attributeFilter: ["disabled"] });

export default function () {} // listens once, from when it is loaded
