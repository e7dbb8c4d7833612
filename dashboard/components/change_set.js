// What a change set does, a line an item, with a box for each that can be accepted: a list of thousands that scrolls in
// itself, is walked by arrows and ticked by Space. The ticks are told as those rows that are not as they began.
const PAGE = 10; // rows that Page Up and Page Down pass
const SIGNS = { add: "+", forget: "−", move: "→", update: "∆", evidence: "↳", stay: "=" };
const ORDERS = { given: "In order", word: "By what happens", importance: "By importance", when: "By time" };
const MINUTE = 0.5; // pixels of a minute of a planned day

const minutes = (clock) => 60 * Number(clock.slice(0, 2)) + Number(clock.slice(3, 5));

class ChangeSet {
  constructor(root) {
    this.only = new Set();
    this.order = "given";
    this.turn = -1;
    this.set = make("div", "set");
    this.bar = make("div", "bar");
    this.every = make("button", "every");
    this.every.type = "button";
    this.every.setAttribute("role", "checkbox");
    this.every.append(make("span", "box"), make("span", "", "All"));
    this.every.addEventListener("click", () => this.tickAll());
    this.chips = make("div", "chips");
    this.chips.setAttribute("role", "group");
    this.chips.setAttribute("aria-label", "Show only");
    this.sort = make("select", "sort");
    this.sort.setAttribute("aria-label", "Sort");
    for (const [name, label] of Object.entries(ORDERS)) this.sort.append(new Option(label, name));
    this.sort.addEventListener("change", () => {
      this.order = this.sort.value;
      this.arrange();
    });
    this.bar.append(this.every, this.chips, this.sort);
    this.list = make("div", "list");
    this.list.setAttribute("role", "listbox");
    this.list.setAttribute("aria-label", "Changes");
    this.list.setAttribute("aria-multiselectable", "true");
    this.pane = make("div", "pane");
    this.pane.append(this.list);
    this.why = make("div", "why");
    this.why.setAttribute("aria-hidden", "true"); // each row says its own to a screen reader
    this.status = make("div", "unseen");
    this.status.setAttribute("role", "status");
    this.set.append(this.bar, this.pane, this.why, this.status);
    root.append(this.set);
    this.list.addEventListener("keydown", (event) => this.key(event));
    this.list.addEventListener("click", (event) => this.click(event));
    for (const kind of ["pointerover", "focusin"])
      this.list.addEventListener(kind, (event) => this.tellWhy(event.target.closest("[role=option]")));
  }

  show(data) {
    this.data = data;
    const about = data.about !== this.about;
    if (about || data.turn >= this.turn) {
      this.turn = data.turn;
      this.turned = new Set(data.turned);
    }
    if (about) {
      this.only.clear();
      this.order = this.sort.value = "given";
    }
    this.about = data.about;
    const told = JSON.stringify(data.rows);
    if (told === this.told && !about) return this.showTicks();
    this.told = told;
    this.byId = new Map(data.rows.map((row) => [row.id, row]));
    this.made = new Map(data.rows.map((row) => [row.id, this.row(row)]));
    this.at = this.byId.has(this.at) ? this.at : undefined;
    this.boxed = data.rows.filter((row) => row.box);
    this.every.hidden = this.boxed.length < 2;
    this.set.classList.toggle("plain", !this.boxed.length);
    this.set.classList.toggle("few", data.rows.length < 4); // there is room for the whole of them
    this.sort.hidden = data.rows.length < 6;
    this.showChips();
    this.arrange();
    this.tellWhy(null);
  }

  ticked(row) {
    return row.ticked !== this.turned.has(row.id);
  }

  // Refusing a summary keeps what it stands for; accepting to forget that accepts the summary.
  tick(row, on) {
    if (!row.box) return;
    if (this.ticked(row) !== on) this.turned.has(row.id) ? this.turned.delete(row.id) : this.turned.add(row.id);
    const above = this.byId.get(row.below);
    if (on && above && !this.ticked(above)) this.tickOne(above, true);
    if (!row.below) for (const one of this.boxed) if (one.below === row.id) this.tickOne(one, on);
  }

  tickOne(row, on) {
    if (row.box && this.ticked(row) !== on) this.turned.has(row.id) ? this.turned.delete(row.id) : this.turned.add(row.id);
  }

  tickAll() {
    const rows = this.atOnce();
    const on = !rows.every((row) => this.ticked(row));
    for (const row of rows) this.tick(row, on);
    this.tell();
  }

  // What the box at the top is for: all that are listed, but those that something stands in the way of.
  atOnce() {
    const rows = this.seen.filter((row) => row.box);
    const free = rows.filter((row) => !row.flag);
    return free.length ? free : rows;
  }

  toggle(id, range) {
    const row = this.byId.get(id);
    if (!row?.box) return;
    const on = range && this.last ? this.ticked(this.byId.get(this.last)) : !this.ticked(row);
    const ends = [id, range && this.last ? this.last : id].map((one) => this.seen.findIndex((row) => row.id === one));
    const [from, to] = [Math.min(...ends), Math.max(...ends)];
    for (const one of from < 0 ? [row] : this.seen.slice(from, to + 1)) this.tick(one, on);
    this.last = id;
    this.tell();
  }

  tell() {
    this.turn += 1;
    this.showTicks();
    this.keep({ turned: [...this.turned], turn: this.turn });
  }

  showTicks() {
    for (const row of this.boxed) this.made.get(row.id).setAttribute("aria-selected", String(this.ticked(row)));
    const rows = this.atOnce();
    const on = rows.filter((row) => this.ticked(row)).length;
    const state = on === 0 ? "false" : on === rows.length ? "true" : "mixed";
    this.every.setAttribute("aria-checked", state);
    this.every.setAttribute("aria-label", `${this.data.label} all ${rows.length.toLocaleString("en-GB")}`);
    const count = this.boxed.filter((row) => this.ticked(row)).length;
    const told = this.boxed.length ? `${count} of ${this.boxed.length}` : "";
    if (this.status.textContent !== told) this.status.textContent = told;
  }

  showChips() {
    const counts = new Map();
    for (const { word } of this.data.rows) counts.set(word, (counts.get(word) ?? 0) + 1);
    this.only = new Set([...this.only].filter((word) => counts.has(word)));
    this.chips.replaceChildren(
      ...(counts.size < 2 ? [] : [...counts]).map(([word, count]) => {
        const chip = make("button", "chip", word);
        chip.type = "button";
        chip.append(make("span", "count", count.toLocaleString("en-GB")));
        chip.setAttribute("aria-pressed", String(this.only.has(word)));
        chip.addEventListener("click", () => {
          if (!this.only.delete(word)) this.only.add(word);
          chip.setAttribute("aria-pressed", String(this.only.has(word)));
          this.arrange();
        });
        return chip;
      }),
    );
    this.bar.hidden = counts.size < 2 && this.every.hidden && this.sort.hidden;
  }

  arrange() {
    const { rows } = this.data;
    const some = rows.some((row) => row.verb !== "stay");
    const chosen = (row) => (this.only.size ? this.only.has(row.word) : !some || row.verb !== "stay");
    this.seen = rows.filter(chosen);
    if (this.order !== "given") {
      const by = { word: (row) => row.word, importance: (row) => -(row.importance ?? 0), when: (row) => row.when };
      const of = by[this.order];
      this.seen.sort((one, two) => (of(one) < of(two) ? -1 : of(one) > of(two) ? 1 : 0));
    }
    const tree = this.order === "given";
    const inside = new Set(this.seen.map((row) => row.id));
    let hour = "";
    for (const row of this.seen) {
      const made = this.made.get(row.id);
      made.classList.toggle("under", tree && inside.has(row.below));
      if (!row.span) continue;
      const begins = row.span.slice(0, 2);
      made.dataset.hour = tree && begins !== hour ? `${begins}:00` : "";
      hour = begins;
    }
    this.set.classList.toggle("day", tree && this.seen.some((row) => row.span));
    const held = this.list.contains(this.focused());
    this.list.replaceChildren(...this.seen.map((row) => this.made.get(row.id)));
    const at = inside.has(this.at) ? this.at : this.seen[0]?.id;
    for (const row of this.seen) this.made.get(row.id).tabIndex = row.id === at ? 0 : -1;
    if (held && at) this.made.get(at).focus({ preventScroll: true });
    this.showTicks();
  }

  focused() {
    return this.list.getRootNode().activeElement;
  }

  tellWhy(option) {
    const row = option && this.byId.get(option.dataset.id);
    const told = row ? [row.flag, row.why].filter(Boolean).join(" ") : "";
    this.why.textContent = told || (this.data.rows.some((one) => one.why) ? "Point at a line, or walk to it, to see why." : "");
    this.why.hidden = !this.why.textContent;
    this.why.classList.toggle("told", Boolean(told));
  }

  key(event) {
    const option = event.target.closest("[role=option]");
    if (!option) return;
    const at = this.seen.findIndex((row) => row.id === option.dataset.id);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE, Home: -at, End: this.seen.length };
    if (event.key in steps) this.walk(at + steps[event.key]);
    else if (event.key === " ") this.toggle(option.dataset.id, event.shiftKey);
    else return;
    event.preventDefault();
  }

  click(event) {
    const option = event.target.closest("[role=option]");
    if (!option) return;
    this.walk(this.seen.findIndex((row) => row.id === option.dataset.id));
    if (event.shiftKey) getSelection()?.removeAllRanges();
    if (getSelection()?.isCollapsed !== false) this.toggle(option.dataset.id, event.shiftKey); // not while text is chosen
  }

  walk(to) {
    const row = this.seen[Math.max(0, Math.min(to, this.seen.length - 1))];
    if (this.at !== undefined && this.made.has(this.at)) this.made.get(this.at).tabIndex = -1;
    for (const one of this.list.querySelectorAll("[tabindex='0']")) one.tabIndex = -1;
    this.at = row.id;
    const made = this.made.get(row.id);
    made.tabIndex = 0;
    made.focus({ preventScroll: true });
    made.scrollIntoView({ block: "nearest" });
  }

  row(data) {
    const made = make("div", `row ${data.verb}`);
    made.setAttribute("role", "option");
    made.dataset.id = data.id;
    made.tabIndex = -1;
    if (!data.box) {
      made.setAttribute("aria-selected", "false");
      made.setAttribute("aria-disabled", "true");
    }
    if (data.flag) made.classList.add("flagged");
    const box = make("span", data.box ? "box" : "");
    const sign = make("span", "sign", SIGNS[data.verb] ?? "∆");
    sign.setAttribute("aria-hidden", "true");
    const verb = make("span", "verb");
    verb.append(sign, make("span", "", data.word));
    if (data.span) {
      verb.replaceChildren(make("span", "span", data.span));
      const [from, to] = data.span.split("–").map(minutes);
      made.style.minHeight = `${Math.max(52, Math.min(160, (to - from) * MINUTE))}px`;
    }
    const text = make("span", "text");
    for (const [what, part] of data.parts) {
      const tag = { gone: "del", new: "ins" }[what] ?? "span";
      const piece = make(tag, "", part);
      if (tag !== "span") piece.prepend(make("span", "unseen", tag === "del" ? " was: " : " now: "));
      text.append(piece);
    }
    if (data.parts.length === 2 && data.parts[0][0] === "gone" && data.parts[1][0] === "new") text.classList.add("anew");
    text.title = data.parts.filter(([what]) => what !== "gone").map(([, part]) => part).join("");
    text.dir = direction(text.title);
    const facts = make("span", "facts");
    for (const [name, before, after] of data.facts) {
      const fact = make("span", "fact", name ? `${name} ` : "");
      fact.append(make(after ? "s" : "span", "", before));
      if (after) fact.append(" → ", make("b", "", after));
      facts.append(fact);
    }
    made.append(box, verb, text, facts);
    if (data.flag) made.append(make("span", "flag", data.flag));
    if (data.why) made.append(make("span", "unseen", `Why: ${data.why}`));
    return made;
  }

  leave() {
    this.set.remove();
  }
}

export default (component) => mounted(ChangeSet, component);
