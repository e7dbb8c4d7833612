// One box for all that can be gone to or done, over every page: Ctrl+K opens it, arrows walk, Enter does it, Escape
// closes it. What is known is found here at once; memories are found by the server, after a pause.
const WAIT_MS = 250; // from the last key until memories are looked for
const SHORTEST = 2; // characters that memories are looked for by
const MOST = 5; // of a kind, once something is typed
const CELL = ".gdg-input"; // the editor of a table's cell, which does not notice that the focus leaves it
const HELD_MS = 100; // before a cell is closed: in the same moment as it is typed into, it may be lost
const SENT_MS = 400; // longer than Streamlit waits before it sends a cell
const NARROW = "(max-width: 768px)"; // where the sidebar lies over the page
const CHOICES = "[data-testid='stSidebar'] :is(a, .st-key-open-history button)";

const WHOLE = 0; // the rank of an option whose whole label is typed

const fold = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

// How well an option is named by the words, 0 the best; -1 if it is not.
function rank(option, words) {
  const label = fold(option.label), all = `${label} ${fold(option.hint)}`;
  const begun = all.split(/[^\p{L}\p{N}]+/u), typed = words.join(" ");
  if (label === typed) return WHOLE;
  if (label.startsWith(typed)) return 1;
  if (words.every((word) => begun.some((one) => one.startsWith(word)))) return 2;
  return words.every((word) => label.includes(word)) ? 3 : -1;
}

class Palette {
  constructor(root) {
    this.opener = make("button", "opener");
    this.opener.type = "button";
    this.opener.setAttribute("aria-haspopup", "dialog");
    this.opener.setAttribute("aria-keyshortcuts", "Control+K Meta+K");
    this.dialog = make("dialog", "palette");
    this.box = make("input");
    this.box.type = "text";
    this.box.autocomplete = "off";
    this.box.spellcheck = false;
    for (const [name, value] of Object.entries({
      role: "combobox", "aria-expanded": "true", "aria-autocomplete": "list", "aria-controls": "options",
    })) this.box.setAttribute(name, value);
    this.list = make("div", "options");
    this.list.id = "options";
    this.list.setAttribute("role", "listbox");
    const keys = make("div", "keys", "↑ ↓ Enter · Ctrl+Enter asks · Esc");
    keys.setAttribute("aria-hidden", "true");
    this.dialog.append(this.box, this.list, keys);
    root.append(this.opener, this.dialog);
    this.options = [];
    this.opener.addEventListener("click", () => this.open());
    this.box.addEventListener("input", () => this.typed());
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close());
    this.dialog.addEventListener("close", () => clearTimeout(this.timer));
    this.list.addEventListener("pointerdown", (event) => event.preventDefault()); // the box keeps the focus
    this.list.addEventListener("pointermove", (event) => this.mark(this.at(event), false));
    this.list.addEventListener("click", (event) => this.choose(this.at(event)));
    this.early = null;
    this.shortcut = (event) => {
      const held = event.ctrlKey || event.metaKey, opens = this.early !== null && event.isTrusted;
      const wanted = held && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k";
      if (!wanted && !opens) return;
      event.preventDefault();
      event.stopPropagation();
      if (opens) this.early += held || event.key.length > 1 ? "" : event.key;
      else if (this.dialog.open) this.dialog.close();
      else this.open();
    };
    document.addEventListener("keydown", this.shortcut, true);
    this.chosen = (event) => event.target.closest?.(CHOICES) && this.shut();
    document.addEventListener("click", this.chosen);
  }

  // An open cell is closed first, as leaving.js does; what is typed meanwhile is for the box.
  open() {
    const field = document.activeElement;
    this.ready = 0; // when what was open elsewhere has been sent
    if (!field?.matches(CELL)) return this.present("");
    this.early = "";
    setTimeout(() => {
      field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", code: "Enter", keyCode: 13, bubbles: true }));
      this.ready = performance.now() + SENT_MS;
      setTimeout(() => this.present(this.early)); // the editor takes what is in it by a timer, too
    }, HELD_MS);
  }

  present(text) {
    this.early = null;
    this.box.value = text;
    this.list.scrollTop = 0;
    this.typed();
    this.dialog.showModal();
    this.box.focus();
  }

  // The sidebar of a phone goes once something was chosen.
  shut() {
    if (matchMedia(NARROW).matches) document.querySelector("[data-testid='stSidebarCollapseButton'] button")?.click();
  }

  typed() {
    clearTimeout(this.timer);
    if (this.text().length >= SHORTEST) this.timer = setTimeout(() => this.say({ words: this.text() }), WAIT_MS);
    this.fill();
  }

  text() {
    return this.box.value.trim().replace(/\s+/g, " ");
  }

  ask() {
    const text = this.text();
    return { label: `Ask ${this.data.who}: ${text}`, hint: "", icon: "search", act: { ask: text } };
  }

  // The options in their groups; what comes from the server stands last, so that nothing moves when it comes.
  groups() {
    const { data } = this, text = this.text(), words = fold(text).split(" ");
    if (!text) return data.groups.map((group) => ({ ...group, options: group.options.filter((one) => one.first) }));
    const named = data.groups
      .map((group) => {
        const ranked = group.options
          .map((one) => [rank(one, words), one])
          .filter(([place]) => place >= 0)
          .sort(([a], [b]) => a - b)
          .slice(0, MOST);
        return { ...group, whole: ranked[0]?.[0] === WHOLE, options: ranked.map(([, one]) => one) };
      })
      .sort((a, b) => b.whole - a.whole); // what is typed in full is what Enter does
    const asked = { label: "Ask", options: [this.ask()] };
    const asks = text.endsWith("?") || words.length > 2;
    const found = { label: data.found.label, options: data.found.words === text ? data.found.options : [] };
    return [...(asks ? [asked, ...named] : [...named, asked]), found];
  }

  fill() {
    const before = this.marked?.option;
    this.options = [];
    this.list.replaceChildren(
      ...this.groups().filter((group) => group.options.length).map((group) => {
        const made = make("div", "group"), head = make("div", "head", group.label);
        made.setAttribute("role", "group");
        made.setAttribute("aria-label", group.label);
        head.setAttribute("aria-hidden", "true");
        made.append(head, ...group.options.map((one) => this.row(one)));
        return made;
      }),
    );
    const same = this.options.find(({ option }) => option === before || option.act.memory && option.act.memory === before?.act.memory);
    this.mark(this.dialog.open && this.box.value === this.filled ? same ?? this.options[0] : this.options[0]);
    this.filled = this.box.value;
  }

  row(option) {
    const made = make("div", "option");
    made.id = `option-${this.options.length}`;
    made.setAttribute("role", "option");
    const icon = make("span", "icon", option.icon);
    icon.setAttribute("aria-hidden", "true");
    made.append(icon, make("span", "label", option.label), make("span", "hint", option.hint));
    this.options.push({ option, made });
    return made;
  }

  at(event) {
    const made = event.target.closest("[role=option]");
    return this.options.find((one) => one.made === made);
  }

  mark(one, follow = true) {
    if (!one || !this.options.includes(one)) return;
    this.marked = one;
    for (const { made } of this.options) made.setAttribute("aria-selected", String(made === one.made));
    this.box.setAttribute("aria-activedescendant", one.made.id);
    if (follow) one.made.scrollIntoView({ block: "nearest" });
  }

  key(event) {
    if (event.isComposing) return;
    const at = this.options.indexOf(this.marked), last = this.options.length - 1;
    if (event.key === "ArrowDown") this.mark(this.options[at === last ? 0 : at + 1]);
    else if (event.key === "ArrowUp") this.mark(this.options[at === 0 ? last : at - 1]);
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.text() && this.choose({ option: this.ask() });
    else if (event.key === "Enter") this.choose(this.marked);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  choose(one) {
    if (!one) return;
    this.dialog.close();
    this.shut();
    setTimeout(() => this.say(one.option.act), Math.max(0, this.ready - performance.now()));
  }

  show(data) {
    this.data = data;
    this.opener.replaceChildren(make("span", "", data.label), make("kbd", "", "Ctrl K"));
    this.opener.lastChild.setAttribute("aria-hidden", "true");
    this.dialog.setAttribute("aria-label", data.label);
    this.box.setAttribute("aria-label", data.label);
    this.box.placeholder = data.label;
    this.box.maxLength = data.longest;
    this.list.setAttribute("aria-label", data.label);
    if (this.dialog.open) this.fill();
  }

  leave() {
    clearTimeout(this.timer);
    document.removeEventListener("keydown", this.shortcut, true);
    document.removeEventListener("click", this.chosen);
    this.opener.remove();
    this.dialog.remove();
  }
}

export default (component) => mounted(Palette, component);
