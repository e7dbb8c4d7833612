// Keeps what is typed into a chat's field and not sent while another page is shown: the server never hears of it.
// It is held by this window only, and is gone when the window is closed, loaded again or signed out.
const texts = (window.memoryUnsent ??= new Map());
const keepers = new WeakMap();

class Keeper {
  constructor(field) {
    this.field = field;
    this.restored = false;
  }

  find() {
    // Streamlit makes a class of the key, in which it replaces what a class cannot hold
    const name = "st-key-" + this.field.trim().replace(/[^a-zA-Z0-9_-]/g, "-");
    const found = document.querySelector(`.${CSS.escape(name)} textarea`);
    if (found) this.area = found; // it is asked once more when it is no longer part of the page
    return found;
  }

  restore() {
    const area = this.find();
    if (!area) {
      this.frame = requestAnimationFrame(() => this.restore());
      return;
    }
    this.restored = true;
    const text = texts.get(this.field);
    if (!text || area.value) return;
    // past React's own record of the value, so that it takes this for typed
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(area, text);
    area.dispatchEvent(new Event("input", { bubbles: true }));
  }

  close() {
    cancelAnimationFrame(this.frame);
    if (this.restored && this.area) texts.set(this.field, this.area.value);
  }
}

export default function ({ data, parentElement }) {
  let keeper = keepers.get(parentElement);
  if (keeper && keeper.field !== data.field) {
    keeper.close();
    keeper = undefined;
  }
  if (!keeper) {
    keeper = new Keeper(data.field);
    keepers.set(parentElement, keeper);
    keeper.restore();
  }
  keeper.find();
  return () => {
    keeper.close();
    keepers.delete(parentElement);
  };
}
