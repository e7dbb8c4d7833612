// A click that leaves a page while an edit is open waits until the server has taken up the edit. Streamlit sends the
// edit a moment after it is left: by then it would undo the change of the page, or be dropped with the page.
const SENT_MS = 250; // longer than Streamlit waits before it sends a cell, which is 150
const AGAIN_MS = 50, MOST_MS = 5000;
let open = false;

function idle() {
  return document.querySelector("[data-testid='stApp']")?.dataset.testScriptState === "notRunning";
}

function follow(link, since) {
  if (idle() || performance.now() - since > MOST_MS) link.click();
  else setTimeout(() => follow(link, since), AGAIN_MS);
}

document.addEventListener("pointerdown", () => {
  open = document.activeElement?.matches("input, textarea") ?? false;
}, true);

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("[data-testid='stSidebarNavLink']");
  if (!link || !open || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  open = false; // the click that follows is not held
  event.preventDefault();
  event.stopImmediatePropagation();
  setTimeout(() => follow(link, performance.now()), SENT_MS);
}, true);

export default function () {} // listens once, from when it is loaded
