// What a popover holds stands at the end of the document, where Tab reaches it last: from its button Tab goes into it,
// and Shift and Tab from its beginning go back to the button.
const BODY = "[data-testid='stPopoverBody']";
const OPENED = "[data-testid='stPopover'] button[aria-expanded='true']";
const STOPS = "a[href], button:enabled, input:enabled, textarea:enabled, [tabindex='0']";

addEventListener("keydown", (event) => {
  if (event.key !== "Tab") return;
  const body = document.querySelector(BODY), button = document.querySelector(OPENED);
  const first = body && [...body.querySelectorAll(STOPS)].find((one) => one.tabIndex >= 0 && one.getClientRects().length);
  const to = event.shiftKey ? event.target === first && button : event.target === button && first;
  if (!to) return;
  event.preventDefault();
  to.focus();
}, true);

export default function () {} // listens once, from when it is loaded
