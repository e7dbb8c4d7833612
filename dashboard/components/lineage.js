// A lineage: a row for each memory, a column for each step, and a line from each to what it rests on. The columns take
// what they need and no more than their share; the words have the rest, and whole lines of it.
const [STEP, SHARE, LINE] = [28, 0.4, 1.5]; // pixels of a column at most, the columns' share of the width, a line's width
const SHAPES = {
  circle: "M-7 0a7 7 0 1 0 14 0a7 7 0 1 0 -14 0z",
  "circle-open": "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0 -12 0z",
  diamond: "M0 -8L8 0L0 8L-8 0z",
  square: "M-6 -6H6V6H-6z",
  "triangle-up": "M0 -8L8 6H-8z",
  cross: "M-2.5 -7h5v4.5h4.5v5h-4.5v4.5h-5v-4.5h-4.5v-5h4.5z",
  x: "M-7 -4L-4 -7L0 -3L4 -7L7 -4L3 0L7 4L4 7L0 3L-4 7L-7 4L-3 0z",
  ring: "M-11 0a11 11 0 1 0 22 0a11 11 0 1 0 -22 0z",
  struck: "M-7 7L7 -7",
};

class Lineage {
  constructor(root) {
    this.legend = make("div", "legend");
    this.tree = make("div", "tree");
    this.steps = make("div", "steps");
    this.steps.setAttribute("aria-hidden", "true"); // the words of the rows say what they are
    this.rows = make("div", "rows");
    this.rows.setAttribute("role", "group");
    this.tree.append(this.steps, this.rows);
    root.append(this.legend, this.tree);
    this.rows.addEventListener("click", (event) => this.open(event.target.closest("button")));
    this.rows.addEventListener("keydown", (event) => this.key(event));
    this.rows.addEventListener("focusin", (event) => this.stand(event.target));
    this.resized = new ResizeObserver(() => this.data && this.paint());
    this.resized.observe(this.tree);
  }

  show(data) {
    const held = this.rows.getRootNode().activeElement?.dataset?.id;
    this.data = data;
    this.rows.setAttribute("aria-label", data.label);
    this.legend.replaceChildren(
      ...data.legend.map((one) => {
        const line = make("span");
        const picture = draw("svg", { width: 24, height: 24, viewBox: "-12 -12 24 24", "aria-hidden": "true" });
        picture.append(this.mark(one.shape, one.colour));
        line.append(picture, one.label);
        return line;
      }),
    );
    this.rows.replaceChildren(
      ...data.rows.map((one) => {
        const row = make("button", ["row", one.here && "here", one.forgotten && "forgotten"].filter(Boolean).join(" "));
        row.type = "button";
        row.dataset.id = one.id;
        row.title = one.text;
        if (one.here) row.setAttribute("aria-current", "true");
        row.append(make("span", "text", one.text), make("span", "about", one.about));
        return row;
      }),
    );
    const again = [...this.rows.children].find((row) => row.dataset.id === held);
    this.stand(again ?? this.rows.querySelector(".here") ?? this.rows.firstChild);
    if (held) this.rows.querySelector("[tabindex='0']")?.focus({ preventScroll: true });
    this.paint();
  }

  paint() {
    const { rows, links, columns, doubt } = this.data;
    const step = Math.min(STEP, (SHARE * this.tree.clientWidth) / columns);
    const wide = step * columns;
    const x = (column) => step * (column + 0.5);
    const middle = [...this.rows.children].map((row) => row.offsetTop + row.offsetHeight / 2);
    const picture = draw("svg", { width: wide, height: this.rows.offsetHeight });
    for (const one of links) {
      const [from, to] = [rows[one.from], rows[one.to]];
      const d = `M${x(from.column)} ${middle[one.from]}H${x(one.lane)}V${middle[one.to]}H${x(to.column)}`;
      picture.append(draw("path", { class: one.dotted ? "link dotted" : "link", d, "stroke-width": LINE }));
    }
    rows.forEach((one, number) => {
      const at = draw("g", { transform: `translate(${x(one.column)} ${middle[number]})` });
      const kind = this.mark(one.shape, one.colour);
      if (one.forgotten) kind.classList.add("pale");
      at.append(kind);
      if (one.forgotten) at.append(this.mark("struck"));
      if (one.stale) at.append(this.mark("ring", doubt));
      picture.append(at);
    });
    this.steps.style.width = `${wide}px`;
    this.steps.replaceChildren(picture);
  }

  mark(shape, colour) {
    const mark = draw("path", { d: SHAPES[shape], class: "mark" });
    const hollow = ["circle-open", "ring", "struck"].includes(shape);
    mark.style.fill = shape === "circle-open" ? "var(--st-background-color)" : hollow ? "none" : colour;
    mark.style.stroke = hollow ? colour ?? "currentColor" : "none";
    return mark;
  }

  stand(row) {
    for (const one of this.rows.children) one.tabIndex = one === row ? 0 : -1;
  }

  open(row) {
    if (row && row.getAttribute("aria-current") === null) this.say({ memory: row.dataset.id });
  }

  key(event) {
    const rows = [...this.rows.children];
    const at = rows.indexOf(event.target);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (to === undefined) return;
    rows[to]?.focus();
    event.preventDefault();
  }

  leave() {
    this.resized.disconnect();
    this.legend.remove();
    this.tree.remove();
  }
}

export default (component) => mounted(Lineage, component);
