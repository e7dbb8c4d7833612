// Memories as bars stacked from the parts of their scores; a click opens one. A library of charts takes longer for it.
class Bars {
  constructor(root) {
    this.bars = make("div", "bars");
    this.legend = make("div", "legend");
    this.legend.setAttribute("aria-hidden", "true");
    this.marks = make("div", "marks");
    this.marks.setAttribute("aria-hidden", "true");
    this.list = make("ol", "list");
    this.bars.append(this.legend, this.marks, this.list);
    root.append(this.bars);
    this.list.addEventListener("click", (event) => this.open(event.target.closest("button")));
    this.list.addEventListener("keydown", (event) => this.key(event));
  }

  show(data) {
    this.data = data;
    this.list.setAttribute("aria-label", data.label);
    this.bars.classList.toggle("sure", data.sure);
    this.legend.replaceChildren(
      ...data.parts.map((name) => {
        const made = make("span", "part");
        made.append(make("i", `swatch ${name}`), make("span", "", name));
        return made;
      }),
    );
    this.marks.replaceChildren(
      ...data.marks.map(({ at, label }) => {
        const made = make("span", "mark", label);
        made.style.left = `${(100 * at) / data.axis}%`;
        return made;
      }),
    );
    // what stays is changed where it stands: a slider draws all of them at each step
    while (this.list.children.length > data.rows.length) this.list.lastChild.remove();
    data.rows.forEach((row, place) => this.row(row, this.list.children[place] ?? this.made(), place));
  }

  made() {
    const line = make("li");
    const row = make(this.data.opens ? "button" : "div", "row");
    if (this.data.opens) row.type = "button";
    const bar = make("span", "bar");
    row.append(make("span", "text"), bar, make("span", "score"));
    line.append(row);
    this.list.append(line);
    return line;
  }

  row(data, line, place) {
    const row = line.firstChild;
    const [text, bar, score] = row.children;
    row.dataset.id = data.id;
    row.classList.toggle("out", !data.recalled);
    line.classList.toggle("seats", place > 0 && place === this.data.seats);
    line.dataset.seats = this.data.seatsLabel;
    row.title = data.told;
    row.setAttribute("aria-label", `${data.label}. ${data.said}`);
    text.textContent = data.label;
    text.dir = direction(data.label);
    score.textContent = data.score;
    bar.replaceChildren(
      ...data.bar.filter(([, value]) => value > 0).map(([name, value]) => {
        const part = make("i", name);
        part.style.width = `${(100 * value) / this.data.axis}%`;
        return part;
      }),
      ...this.data.marks.map(({ at }) => {
        const line = make("b");
        line.style.left = `${(100 * at) / this.data.axis}%`;
        return line;
      }),
    );
  }

  open(row) {
    if (row) this.say({ memory: row.dataset.id });
  }

  key(event) {
    const step = { ArrowDown: "nextSibling", ArrowUp: "previousSibling" }[event.key];
    const next = step && event.target.closest("li")?.[step]?.querySelector("button");
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  leave() {
    this.bars.remove();
  }
}

export default (component) => mounted(Bars, component);
