// What would take an open edit away waits until the server has taken up the edit. Streamlit sends the edit a moment
// after it is left: by then it would undo the change of the page, or be dropped with the page.
const SENT_MS = 400; // longer, on a busy machine too, than Streamlit waits before it sends a cell, which is 150
const AGAIN_MS = 50, MOST_MS = 20000;
const PAGES = "[data-testid='stSidebarNavLink']";
const CONTROLS = `${PAGES}, button, a, label, summary, [role='tab'], [role='radio']`;
const CELL = ".gdg-input, .gdg-clip-region *"; // the editor of a cell, which lies above the page
let open = ""; // which controls have to wait for the edit that is open

const waitsFor = (field) => (field?.matches(CELL) ? CONTROLS : field?.matches("input, textarea") ? PAGES : "");

function idle() {
  return document.querySelector("[data-testid='stApp']")?.dataset.testScriptState === "notRunning";
}

let waiting; // what goes on once the edit is taken up
function afterwards(goOn) {
  const since = performance.now();
  const look = () => {
    if (idle() || performance.now() - since > MOST_MS) goOn();
    else waiting = setTimeout(look, AGAIN_MS);
  };
  clearTimeout(waiting);
  waiting = setTimeout(look, SENT_MS);
}

document.addEventListener("pointerdown", () => {
  open = waitsFor(document.activeElement);
}, true);

document.addEventListener("click", (event) => {
  const control = open && event.target.closest?.(open);
  if (!control || control.closest(CELL) || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  open = ""; // the click that follows is not held
  event.preventDefault();
  event.stopImmediatePropagation();
  afterwards(() => control.click());
}, true);

// "Back" and "Forward", in browsers that tell before they go: without that, what is open is lost with the page.
window.navigation?.addEventListener("navigate", (event) => {
  if (event.navigationType !== "traverse") return;
  clearTimeout(waiting); // who presses twice does not wait
  const field = document.activeElement;
  if (!event.cancelable || !waitsFor(field)) return;
  event.preventDefault();
  if (field.matches(CELL)) field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", code: "Enter", keyCode: 13, bubbles: true }));
  else field.blur();
  afterwards(() => window.navigation.traverseTo(event.destination.key));
});

export default function () {} // listens once, from when it is loaded
