// What a page says against a click is brought into sight: it may stand below the window, or the line of the last act.
// So is a change set that a click lays before somebody, to be accepted: it stands below the button.
const REFUSAL = "[data-testid='stMain'] [data-testid='stAlertContentError']";
const OFFER = "[data-testid='stMain'] [data-testid='stLayoutWrapper'] > [class*='st-key-foot-']";
const AROUND = "8rem 0 5rem"; // above the list of an offer its title, below it the line that applies it
const LINE = ".st-key-last-act";
const LATEST_MS = 20000; // after a click: what is said later is not an answer to it
const AGAIN_MS = 100; // while the page is drawn
const told = new WeakSet();
let clicked = -Infinity;
let looking;
let before = null; // a click: which offers there were already, and on which page

const app = document.querySelector("[data-testid='stApp']");
const said = () => [...document.querySelectorAll(REFUSAL)].filter((one) => !one.closest(LINE));

addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-testid='stMain'] button");
  if (!button) return;
  clicked = performance.now();
  before = button.closest("[data-testid='stButton']") && { page: location.pathname, offers: offers().map(named) };
  for (const one of said()) told.add(one);
}, true);

const offers = () => [...document.querySelectorAll(OFFER)];
const named = (foot) => [...foot.classList].find((name) => name.startsWith("st-key-foot-"));

// The list of what a click offers, once it is drawn; a page that a click led to begins at its top.
function offered() {
  const foot = before?.page === location.pathname && offers().find((one) => !before.offers.includes(named(one)));
  const list = foot && foot.parentElement.previousElementSibling;
  if (!list) return;
  if (!list.getBoundingClientRect().height) {
    looking = setTimeout(look, AGAIN_MS);
    return;
  }
  before = null;
  list.style.scrollMargin = AROUND;
  list.scrollIntoView({ block: "nearest" });
}

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
  else offered();
}

new MutationObserver(look).observe(app, { subtree: true, childList: true, attributeFilter: ["data-test-script-state"] });

export default function () {} // listens once, from when it is loaded
