// What would take an open edit away waits until the server has taken up the edit. Streamlit sends the edit a moment
// after it is left: by then it would undo the change of the page, or be dropped with the page.
const SENT_MS = 400; // longer than Streamlit waits before it sends a cell, which is 150
const BEGUN_MS = 5000; // by when a busy machine, too, has begun to run the page with the edit
const HELD_MS = 100; // after a "Back" that was held: a cell that is closed in the same moment was lost in 5 of 13 tries
const AGAIN_MS = 50, MOST_MS = 20000;
const PAGES = "[data-testid='stPageLink-NavLink']";
const CONTROLS = `${PAGES}, button, a, label, summary, [role='tab'], [role='radio']`;
const CELL = ".gdg-input, .gdg-clip-region *"; // the editor of a cell, which lies above the page
let open = ""; // which controls have to wait for the edit that is open
let most = SENT_MS; // how long until it is sent

const waitsFor = (field) => (field?.matches(CELL) ? CONTROLS : field?.matches("input, textarea") ? PAGES : "");

const running = () => document.querySelector("[data-testid='stApp']")?.dataset.testScriptState !== "notRunning";

let typed = null; // the field that was typed into last
document.addEventListener("input", (event) => { typed = event.target; }, true);
document.addEventListener("keydown", (event) => { if (event.key === "Enter") typed = null; }, true); // which sends it

let waiting; // what goes on once the edit is taken up
let runs = 0; // of the page, so that a short one is not missed
new MutationObserver((changes) => {
  if (changes.some(({ target }) => target.matches("[data-testid='stApp']")) && running()) runs += 1;
}).observe(document.documentElement, { subtree: true, attributes: true, attributeFilter: ["data-test-script-state"] });

const KEPT = "[data-testid='stForm'] *, [data-testid='stChatInput'] *"; // is not sent when it is left
const begins = (field) => (typed && typed === field && !field.matches(KEPT) ? BEGUN_MS : SENT_MS); // unchanged, it is not sent

function afterwards(most, goOn) {
  const since = performance.now(), before = runs;
  typed = null;
  const look = () => {
    const waited = performance.now() - since;
    if (waited > MOST_MS || (!running() && (runs > before || waited > most))) goOn();
    else waiting = setTimeout(look, AGAIN_MS);
  };
  clearTimeout(waiting);
  waiting = setTimeout(look, SENT_MS);
}

document.addEventListener("pointerdown", () => {
  open = waitsFor(document.activeElement);
  most = begins(document.activeElement);
}, true);

document.addEventListener("click", (event) => {
  const control = open && event.target.closest?.(open);
  if (!control || control.closest(CELL) || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  open = ""; // the click that follows is not held
  event.preventDefault();
  event.stopImmediatePropagation();
  afterwards(most, () => control.click());
}, true);

// "Back" and "Forward", in browsers that tell before they go: without that, what is open is lost with the page.
window.navigation?.addEventListener("navigate", (event) => {
  if (event.navigationType !== "traverse") return;
  clearTimeout(waiting); // who presses twice does not wait
  const field = document.activeElement;
  if (!event.cancelable || !waitsFor(field)) return;
  event.preventDefault();
  const most = begins(field);
  waiting = setTimeout(() => {
    if (field.matches(CELL)) field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", code: "Enter", keyCode: 13, bubbles: true }));
    else field.blur();
    afterwards(most, () => window.navigation.traverseTo(event.destination.key));
  }, HELD_MS);
});

export default function () {} // listens once, from when it is loaded
