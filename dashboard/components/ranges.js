// A number out of its range is never sent: Streamlit says so below its field, and goes on with the number before it. So
// a press that would store that one is refused, and leads to the field instead.
const PRESS = "[data-testid='stMain'] button[data-testid='stBaseButton-primary']";
const FIELD = "[data-testid='stNumberInputField']";
const APART = "[data-testid='stForm'], [data-testid='stMain'], [role='dialog']";

// The first number out of its range in what the button belongs to: what is nearest around it that has numbers, within
// its frame.
function refused(button) {
  for (let around = button.parentElement; around; around = around.parentElement) {
    const fields = [...around.querySelectorAll(FIELD)];
    if (fields.length) return fields.find((field) => field.matches(":out-of-range") && field.getClientRects().length);
    const framed = around.matches("[data-testid='stVerticalBlock']") && getComputedStyle(around).borderTopWidth !== "0px";
    if (framed || around.matches(APART)) return undefined;
  }
  return undefined;
}

addEventListener("click", (event) => {
  const button = event.target.closest?.(PRESS);
  const field = button && refused(button);
  if (!field) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  field.focus({ preventScroll: true });
  field.scrollIntoView({ block: "center" });
}, true);

export default function () {} // listens once, from when it is loaded
