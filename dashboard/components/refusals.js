// What a page says against a click is brought into sight: it may stand below the window, or the line of the last act.
const REFUSAL = "[data-testid='stMain'] [data-testid='stAlertContentError']";
const LINE = ".st-key-last-act";
const LATEST_MS = 20000; // after a click: what is said later is not an answer to it
const AGAIN_MS = 100; // while the page is drawn
const told = new WeakSet();
let clicked = -Infinity;
let looking;

const app = document.querySelector("[data-testid='stApp']");
const said = () => [...document.querySelectorAll(REFUSAL)].filter((one) => !one.closest(LINE));

addEventListener("click", (event) => {
  if (!event.target.closest?.("[data-testid='stMain'] button")) return;
  clicked = performance.now();
  for (const one of said()) told.add(one);
}, true);

function hidden(refusal) {
  const { top, bottom, height } = refusal.getBoundingClientRect();
  const line = document.querySelector(`${LINE} [data-testid='stAlert']`)?.closest(LINE);
  return height > 0 && (top < 0 || bottom > Math.min(innerHeight, line?.getBoundingClientRect().top ?? Infinity));
}

function look() {
  clearTimeout(looking);
  if (performance.now() - clicked > LATEST_MS) return;
  if (app.dataset.testScriptState !== "notRunning") {
    looking = setTimeout(look, AGAIN_MS);
    return;
  }
  const first = said().find((one) => !told.has(one));
  for (const one of said()) told.add(one);
  if (first && hidden(first)) first.scrollIntoView({ block: "center" });
}

new MutationObserver(look).observe(app, { subtree: true, childList: true, attributeFilter: ["data-test-script-state"] });

export default function () {} // listens once, from when it is loaded
