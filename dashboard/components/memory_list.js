// A list of memories with one box that filters and asks, chips, and a score as a bar in each row: beyond Streamlit's
// widgets. It says what is wanted as a whole, so that nothing depends on an address not heard of yet.
const WAIT_MS = 350; // from the last key to the question
const PAGE = 10; // rows that Page Up and Page Down pass

class MemoryList {
  constructor(root, data) {
    this.turn = data.turn;
    this.rows = [];
    this.bench = make("div", "bench");
    const ask = make("div", "ask");
    this.box = make("input");
    this.box.type = "search";
    this.box.setAttribute("aria-label", data.label);
    this.box.maxLength = data.longest;
    this.box.autocomplete = "off";
    this.box.spellcheck = false;
    ask.append(make("span", "glass"), this.box, make("kbd", "", "/"));
    ask.querySelector(".glass").setAttribute("aria-hidden", "true");
    ask.querySelector("kbd").setAttribute("aria-hidden", "true");
    this.chips = make("div", "chips");
    this.chips.setAttribute("role", "group");
    this.chips.setAttribute("aria-label", "Show only");
    this.head = make("div", "head");
    this.status = make("div", "status");
    this.status.setAttribute("role", "status");
    this.legend = make("div", "legend");
    this.legend.setAttribute("aria-hidden", "true");
    this.views = make("div", "views");
    this.views.setAttribute("role", "group");
    this.views.setAttribute("aria-label", "Show as");
    this.head.append(this.status, this.legend, this.views);
    this.list = make("div", "list");
    this.list.setAttribute("role", "listbox");
    this.list.setAttribute("aria-label", "Memories");
    this.pane = make("div", "pane"); // what scrolls: a listbox holds nothing but its options
    this.pane.append(this.list);
    this.bench.append(ask, this.chips, this.head, this.pane);
    root.append(this.bench);
    this.box.addEventListener("input", () => this.typed());
    this.box.addEventListener("keydown", (event) => this.inBox(event));
    this.list.addEventListener("keydown", (event) => this.inList(event));
    this.list.addEventListener("click", (event) => {
      const row = event.target.closest("[role=option]");
      if (row) this.open(row);
    });
    this.slash = (event) => {
      const at = event.composedPath()[0];
      const writes = at instanceof HTMLElement && (at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName));
      if (event.key !== "/" || writes || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.box.focus();
      this.box.select();
    };
    document.addEventListener("keydown", this.slash);
  }

  send(changed) {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { only, memory, most, view } = this.data;
    this.turn += 1;
    this.say({ cue: this.box.value, only, memory, most, view, turn: this.turn, ...changed });
  }

  typed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.send({ most: this.data.step }), WAIT_MS);
  }

  inBox(event) {
    if (event.key === "Enter") this.send({ most: this.data.step });
    else if (event.key === "ArrowDown" && this.rows.length) this.walk(0);
    else return;
    event.preventDefault();
  }

  inList(event) {
    const at = this.rows.indexOf(event.target);
    if (at < 0) return;
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE, Home: -at, End: this.rows.length };
    if (event.key in steps) {
      if (event.key === "ArrowUp" && at === 0) this.box.focus();
      else this.walk(at + steps[event.key]);
    } else if (event.key === "Enter" || event.key === " ") this.open(event.target);
    else if (event.key === "Escape") this.send({ memory: "" });
    else return;
    event.preventDefault();
  }

  walk(to) {
    const at = Math.max(0, Math.min(to, this.rows.length - 1));
    for (const row of this.rows) row.tabIndex = -1;
    this.rows[at].tabIndex = 0;
    this.rows[at].focus({ preventScroll: true });
    this.rows[at].scrollIntoView({ block: "nearest" });
  }

  open(row) {
    for (const one of this.rows) this.choose(one, one === row); // at once; the drawer follows
    row.focus({ preventScroll: true });
    this.send({ memory: row.dataset.id });
  }

  choose(row, chosen) {
    row.setAttribute("aria-selected", String(chosen));
    row.tabIndex = chosen ? 0 : -1;
  }

  show(data) {
    const before = this.data;
    this.data = data;
    this.box.placeholder = data.placeholder;
    if (data.turn >= this.turn && this.timer === undefined && this.box.value !== data.cue) this.box.value = data.cue;
    this.bench.classList.toggle("compact", data.view !== "");
    this.showChips();
    this.showHead();
    this.showViews();
    const held = this.list.contains(this.focused()) ? this.focused().dataset.id : null;
    const top = this.pane.scrollTop;
    const listed = JSON.stringify([data.rows, data.seats, data.recalled, data.axis, data.more, data.none]);
    if (listed === this.listed) for (const one of this.rows) this.choose(one, one.dataset.id === data.memory);
    else this.showRows();
    this.listed = listed;
    this.pane.scrollTop = before && before.cue === data.cue && before.agent === data.agent ? top : 0;
    const chosen = this.rows.find((one) => one.dataset.id === (held ?? data.memory)) ?? this.rows[0];
    if (chosen) chosen.tabIndex = 0;
    if (held !== null && chosen) chosen.focus({ preventScroll: true });
    else if (!before && data.memory && chosen) chosen.scrollIntoView({ block: "nearest" });
  }

  focused() {
    return this.list.getRootNode().activeElement;
  }

  showChips() {
    const held = this.chips.contains(this.focused()) ? this.focused().dataset.name : null;
    this.chips.replaceChildren(
      ...this.data.chips.map((chip) => {
        const made = make("button", chip.apart ? "chip apart" : "chip", chip.label);
        made.type = "button";
        made.dataset.name = chip.name;
        made.append(make("span", "count", chip.count.toLocaleString("en-GB")));
        const on = this.data.only.includes(chip.name);
        made.setAttribute("aria-pressed", String(on));
        made.addEventListener("click", () => {
          const rest = this.data.only.filter((one) => one !== chip.name);
          this.send({ only: on ? rest : [...rest, chip.name], most: this.data.step });
        });
        return made;
      }),
    );
    if (held) [...this.chips.children].find((one) => one.dataset.name === held)?.focus();
  }

  showHead() {
    const { data } = this;
    this.status.replaceChildren(make("span", "", data.status));
    if (data.tried) {
      const stop = make("button", "stop", "Stop trying");
      stop.type = "button";
      stop.addEventListener("click", () => this.send({ stop: true }));
      this.status.prepend(make("strong", "", `Trying: ${data.tried}`), stop);
    }
    this.legend.replaceChildren(
      ...data.parts.map((part) => {
        const made = make("span", "part");
        made.append(make("i", `swatch ${part.name}`), make("span", "", part.label));
        return made;
      }),
    );
  }

  showViews() {
    const held = this.views.contains(this.focused()) ? this.focused().textContent : null;
    this.views.replaceChildren(
      ...this.data.views.map(({ name, label }) => {
        const made = make("button", "view", label);
        made.type = "button";
        made.setAttribute("aria-pressed", String(this.data.view === name));
        made.addEventListener("click", () => this.send({ view: name }));
        return made;
      }),
    );
    if (held) [...this.views.children].find((one) => one.textContent === held)?.focus();
  }

  showRows() {
    const { data } = this;
    this.rows = data.rows.map((row) => this.row(row));
    const groups = [];
    if (data.seats) {
      const recalled = this.group("Recalled", this.rows.slice(0, data.recalled));
      const line = make("div", "seats", data.seats);
      line.setAttribute("aria-hidden", "true");
      groups.push(recalled, line, this.group("Not recalled", this.rows.slice(data.recalled)));
    } else groups.push(...this.rows);
    if (!this.rows.length) {
      const none = make("div", "none", data.none);
      none.setAttribute("role", "option");
      none.setAttribute("aria-disabled", "true");
      groups.push(none);
    }
    this.list.replaceChildren(...groups);
    this.pane.querySelector(".more")?.remove();
    if (data.more > 0) {
      const more = make("button", "more", `Show more: ${data.more.toLocaleString("en-GB")} are not listed`);
      more.type = "button";
      more.addEventListener("click", () => this.send({ most: data.most + data.step }));
      this.pane.append(more);
    }
  }

  group(label, rows) {
    const made = make("div", "group");
    made.setAttribute("role", rows.length ? "group" : "presentation");
    if (rows.length) made.setAttribute("aria-label", label);
    made.append(...rows);
    return made;
  }

  row(data) {
    const made = make("div", data.bar && !data.recalled ? "row out" : "row");
    made.setAttribute("role", "option");
    made.setAttribute("aria-selected", String(data.id === this.data.memory));
    made.dataset.id = data.id;
    made.tabIndex = -1;
    const text = make("div", "text", data.text);
    text.title = data.text;
    const side = make("div", "side");
    if (data.bar) {
      const bar = make("div", "bar");
      bar.title = data.told;
      for (const [name, value] of data.bar) {
        if (value <= 0) continue;
        const part = make("i", name);
        part.style.width = `${(100 * value) / this.data.axis}%`;
        bar.append(part);
      }
      if (data.mark !== null) {
        const mark = make("b", "mark");
        mark.style.left = `${(100 * data.mark) / this.data.axis}%`;
        bar.append(mark);
      }
      side.append(bar);
    }
    const meta = make("div", "meta");
    if (!data.bar) side.append(make("div", "kind", data.kind));
    meta.append(make("span", "tier", data.tier), make("span", "when", data.when));
    if (data.bar) meta.append(make("span", "score", data.score.toFixed(2)));
    side.append(meta);
    made.append(make("div", "rank", data.rank ?? ""), text, side);
    return made;
  }

  leave() {
    clearTimeout(this.timer);
    document.removeEventListener("keydown", this.slash);
    this.bench.remove();
  }
}

export default (component) => mounted(MemoryList, component);
