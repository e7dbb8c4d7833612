// Keeps what is written into a field and not sent, in this tab of the browser, and puts it back when it is drawn anew.
const write = (field, text) => Reflect.set(Object.getPrototypeOf(field), "value", text, field); // past React
const watching = new WeakMap();
const seen = new Set(); // fields that were drawn since this page was loaded

function watch({ field: key, form, began }, block) {
  const name = form || key;
  const place = `unsent-${name}`;
  const named = `.st-key-${CSS.escape(key.replace(/[^a-zA-Z0-9_-]/g, "-"))}`; // as Streamlit names it
  const wanted = `${named} :is(textarea, input)`;
  let field = null;
  const look = () => {
    const found = block.querySelector(wanted);
    if (found === null) return; // not drawn yet, or no longer: what is kept stays
    const [text, start] = (sessionStorage.getItem(place) ?? "").split("\0"); // what no field takes stands between them
    const kept = (start ?? "") === began && text;
    const first = !seen.has(name); // after a reload: what was typed here last counts, also what was not sent yet
    seen.add(name);
    if (found !== field && kept && kept !== found.value && (first || (!form && found.value === ""))) {
      write(found, kept); // React then hears of it as if it were typed
      found.dispatchEvent(new Event("input", { bubbles: true }));
      if (found.matches("textarea")) {
        found.dispatchEvent(new FocusEvent("focusout", { bubbles: true })); // and left, so that the server hears of it
      }
    } else if (found.value !== began) {
      sessionStorage.setItem(place, `${found.value}\0${began}`);
    } else {
      sessionStorage.removeItem(place); // it was sent, or deleted
    }
    field = found;
  };
  const observer = new MutationObserver(look); // React writes each value between the tags of a field, or into its tag
  observer.observe(block, { childList: true, subtree: true, attributeFilter: ["value"] });
  look();
  return () => observer.disconnect();
}

export default function ({ data, parentElement }) {
  watching.get(parentElement)?.();
  watching.set(parentElement, watch(data, parentElement.host.closest("[data-testid='stVerticalBlock']")));
  return () => watching.get(parentElement)();
}
