// A graph of points and the arrows between them: over rows and moments, as of how a fact spread, or free, as of a cast.
// Places come as shares of the width and the height, so that it fits a phone; below `least` pixels it is scrolled.
// What is clicked or walked to is told below, with a button that opens it; Enter opens it at once.
const [R, HEAD, EDGE] = [9, 7, 28]; // pixels: of a point, of an arrow's head, and what is left free beside the picture

class Graph {
  constructor(root) {
    this.whole = make("div", "graph");
    this.names = make("div", "names");
    this.field = make("div", "field");
    this.field.setAttribute("role", "group");
    this.legend = make("div", "legend");
    this.told = make("div", "told");
    this.told.setAttribute("role", "status");
    this.whole.append(this.names, this.field);
    root.append(this.whole, this.legend, this.told);
    this.field.addEventListener("pointerover", (event) => this.at(event, (one) => this.light(one)));
    this.field.addEventListener("pointerleave", () => this.light(this.chosen));
    this.field.addEventListener("focusin", (event) => this.at(event, (one) => this.tell(one)));
    this.field.addEventListener("click", (event) => this.at(event, (one) => this.tell(one)));
    this.field.addEventListener("keydown", (event) => this.at(event, (one) => this.key(event, one)));
    this.field.addEventListener("scroll", () => this.more());
    this.resized = new ResizeObserver(() => this.data && this.width !== this.field.clientWidth && this.paint());
    this.resized.observe(this.field);
  }

  at(event, act) {
    const drawn = event.target.closest?.(".item");
    if (drawn) act(this.items.find((one) => one.id === drawn.dataset.id));
  }

  show(data) {
    const held = this.field.getRootNode().activeElement?.dataset?.id;
    const before = this.chosen?.id;
    this.data = data;
    this.items = data.items.map((one) => ({ ...one }));
    this.field.setAttribute("aria-label", data.label);
    this.names.replaceChildren(
      ...(data.rows ?? []).map((row) => {
        const name = make("div", row.outside ? "name outside" : "name");
        name.style.top = `${row.y * data.height}px`;
        if (row.picture) name.append(portrait(row.picture));
        name.append(make("span", "", row.label));
        return name;
      }),
    );
    this.names.hidden = !data.rows?.length;
    this.legend.replaceChildren(
      ...(data.legend ?? []).map((one) => {
        const line = make("span");
        const picture = draw("svg", { width: 20, height: 20, "aria-hidden": "true" });
        picture.append(this.mark(one.shape, 10, 10));
        line.append(picture, one.label);
        return line;
      }),
    );
    this.paint();
    this.chosen = this.items.find((one) => one.id === before) ?? this.items[0];
    if (this.chosen) this.tell(this.chosen);
    else this.told.replaceChildren(make("p", "", data.none));
    if (held) this.chosen?.drawn.focus({ preventScroll: true });
  }

  paint() {
    const data = this.data;
    this.width = this.field.clientWidth;
    const wide = Math.max(this.width, data.least ?? 0);
    this.x = (share) => EDGE + share * (wide - 2 * EDGE);
    this.y = (share) => share * data.height;
    const foot = data.ticks?.length ? 36 : 0;
    const picture = draw("svg", { width: wide, height: data.height + foot });
    for (const row of data.rows ?? []) {
      picture.append(draw("line", { class: "row", x1: 0, x2: wide, y1: this.y(row.y), y2: this.y(row.y) }));
      if (row.from === undefined || row.from === null) continue;
      const since = { class: "row since", x1: this.x(row.from), x2: wide, y1: this.y(row.y), y2: this.y(row.y) };
      picture.append(draw("line", since));
    }
    for (const tick of data.ticks ?? []) {
      const x = this.x(tick.x);
      picture.append(draw("line", { class: "tick", x1: x, x2: x, y1: 0, y2: data.height }));
      tick.lines.forEach((line, number) =>
        picture.append(draw("text", { class: "when", x, y: data.height + 14 + 16 * number }, line)),
      );
    }
    const points = this.items.filter((one) => one.kind === "point");
    for (const one of [...this.items.filter((other) => other.kind === "arrow"), ...points]) {
      one.drawn = draw("g", { class: `item ${one.kind} ${one.look ?? ""}`, role: "button", tabindex: -1 });
      one.drawn.dataset.id = one.id;
      one.drawn.setAttribute("aria-label", `${one.title} ${one.text}`);
      if (one.kind === "arrow") this.arrow(one);
      else this.point(one);
      picture.append(one.drawn);
    }
    this.field.replaceChildren(picture);
    this.more();
    if (this.chosen) this.light(this.chosen);
  }

  // What lies further to the right fades out, so that one sees that there is more.
  more() {
    const { scrollLeft, clientWidth, scrollWidth } = this.field;
    this.field.classList.toggle("more", scrollLeft + clientWidth < scrollWidth - 1);
  }

  point(one) {
    const [x, y] = [this.x(one.x), this.y(one.y)];
    one.drawn.append(draw("circle", { class: "reach", cx: x, cy: y, r: one.picture ? 26 : 14 }));
    if (one.picture) {
      one.drawn.append(draw("image", { href: one.picture, x: x - 20, y: y - 20, width: 40, height: 40 }));
    } else one.drawn.append(this.mark(one.look, x, y));
    if (one.label) one.drawn.append(draw("text", { class: "label", x, y: y + 36 }, one.label));
  }

  mark(look, x, y) {
    const mark = draw("g", { class: `mark ${look}` });
    mark.append(draw("circle", { class: "round", cx: x, cy: y, r: look === "source" ? 5 : R }));
    if (look === "half") mark.append(draw("path", { class: "fill", d: `M${x} ${y - R}a${R} ${R} 0 0 0 0 ${2 * R}z` }));
    if (look === "wrong") mark.append(draw("path", { class: "cross", d: `M${x - 4} ${y - 4}l8 8m0 -8l-8 8` }));
    return mark;
  }

  arrow(one) {
    const [x1, y1, x2, y2] = [this.x(one.from[0]), this.y(one.from[1]), this.x(one.to[0]), this.y(one.to[1])];
    const away = (one.away ?? R) + 3; // from the middle of the point that it ends at
    let path, towards;
    if (one.bend) {
      const long = Math.hypot(x2 - x1, y2 - y1) || 1;
      const [mx, my] = [(x1 + x2) / 2 - (one.bend * (y2 - y1)) / long, (y1 + y2) / 2 + (one.bend * (x2 - x1)) / long];
      towards = Math.atan2(y2 - my, x2 - mx);
      const begin = Math.atan2(my - y1, mx - x1);
      const [bx, by] = [x1 + away * Math.cos(begin), y1 + away * Math.sin(begin)];
      path = (x, y) => `M${bx} ${by}Q${mx} ${my} ${x} ${y}`;
    } else if (Math.abs(x2 - x1) < 1) {
      towards = Math.sign(y2 - y1) * (Math.PI / 2);
      path = (x, y) => `M${x1} ${y1}L${x} ${y}`;
    } else {
      towards = 0;
      const half = (x2 - x1) / 2;
      path = (x, y) => `M${x1} ${y1}C${x1 + half} ${y1} ${x - half} ${y} ${x} ${y}`;
    }
    const [ex, ey] = [x2 - away * Math.cos(towards), y2 - away * Math.sin(towards)];
    const d = path(ex - HEAD * Math.cos(towards), ey - HEAD * Math.sin(towards));
    const wing = (turn) => `${ex - HEAD * 1.3 * Math.cos(towards + turn)} ${ey - HEAD * 1.3 * Math.sin(towards + turn)}`;
    one.drawn.append(
      draw("path", { class: "reach", d }),
      draw("path", { class: "line", d, "stroke-width": one.wide ?? 2 }),
      draw("path", { class: "head", d: `M${ex} ${ey}L${wing(0.45)}L${wing(-0.45)}z` }),
    );
  }

  light(chosen) {
    if (!chosen) return;
    const beside = new Set([chosen.id, ...(chosen.beside ?? [])]);
    for (const one of this.items) {
      one.drawn.classList.toggle("told", one === chosen);
      one.drawn.classList.toggle("beside", one !== chosen && beside.has(one.id));
    }
  }

  tell(chosen) {
    this.chosen = chosen;
    for (const one of this.items) one.drawn.setAttribute("tabindex", one === chosen ? 0 : -1);
    this.light(chosen);
    const line = make("p");
    line.append(make("b", "", chosen.title), ` ${chosen.text}`);
    this.told.replaceChildren(line);
    if (chosen.opens) {
      const button = make("button", "opens", chosen.opens.label);
      button.type = "button";
      button.addEventListener("click", () => this.say(chosen.opens));
      this.told.append(button);
    }
  }

  key(event, one) {
    const at = this.items.indexOf(one);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" || event.key === " ") one.opens && this.say(one.opens);
    else if (event.key === "Home") this.items[0].drawn.focus();
    else if (event.key === "End") this.items.at(-1).drawn.focus();
    else if (step) this.items[at + step]?.drawn.focus();
    else return;
    event.preventDefault();
  }

  leave() {
    this.resized.disconnect();
    for (const one of [this.whole, this.legend, this.told]) one.remove();
  }
}

export default (component) => mounted(Graph, component);
