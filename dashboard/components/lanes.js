// A day of several characters: a lane for each, a dot for each memory, a line where two remember the same event.
const LANE = 36; // pixels

class Lanes {
  constructor(root) {
    this.day = make("div", "day");
    this.names = make("div", "names");
    this.field = make("div", "field");
    this.field.setAttribute("role", "group");
    this.hours = make("div", "hours");
    this.hours.setAttribute("aria-hidden", "true");
    this.told = make("div", "told");
    this.told.setAttribute("role", "status");
    this.day.append(this.names, this.field, this.hours);
    root.append(this.day, this.told);
    this.field.addEventListener("pointerover", (event) => this.at(event, (dot) => this.tell(dot)));
    this.field.addEventListener("focusin", (event) => this.at(event, (dot) => this.tell(dot)));
    this.field.addEventListener("click", (event) => this.at(event, (dot) => this.choose(dot)));
    this.field.addEventListener("keydown", (event) => this.at(event, (dot) => this.key(event, dot)));
  }

  at(event, act) {
    const dot = event.target.closest?.(".dot");
    if (dot) act(this.dots.get(dot.dataset.id));
  }

  show(data) {
    const held = this.field.getRootNode().activeElement?.dataset?.id;
    this.data = data;
    this.dots = new Map();
    this.field.setAttribute("aria-label", data.label);
    this.names.replaceChildren(
      ...data.lanes.map((lane) => {
        const name = make("button", lane.chosen ? "name chosen" : "name");
        name.append(portrait(lane.picture), make("span", "", lane.label));
        name.type = "button";
        if (lane.chosen) name.setAttribute("aria-current", "true");
        name.addEventListener("click", () => this.say({ name: lane.name, memory: "" }));
        return name;
      }),
    );
    const picture = draw("svg", { width: "100%", height: data.lanes.length * LANE });
    for (const hour of data.hours) {
      picture.append(draw("line", { class: "hour", x1: `${hour.at}%`, x2: `${hour.at}%`, y1: 0, y2: "100%" }));
    }
    data.lanes.forEach((lane, row) => {
      const y = LANE * (row + 0.5);
      picture.append(draw("line", { class: lane.chosen ? "lane chosen" : "lane", x1: 0, x2: "100%", y1: y, y2: y }));
      for (const one of lane.dots) this.dots.set(one.id, { ...one, lane, row, y, with: [] });
    });
    this.lines = [];
    for (const [one, other] of data.meetings) {
      const [a, b] = [this.dots.get(one), this.dots.get(other)];
      a.with.push(b);
      b.with.push(a);
      const line = draw("line", { class: "meeting", x1: `${a.at}%`, y1: a.y, x2: `${b.at}%`, y2: b.y });
      picture.append(line);
      this.lines.push({ drawn: line, of: [a, b] });
    }
    for (const dot of this.dots.values()) {
      const whole = draw("g", { class: `dot ${dot.kind}`, role: "button", tabindex: -1 });
      whole.dataset.id = dot.id;
      whole.setAttribute("aria-label", `${dot.lane.label}, ${dot.when}: ${dot.text}`);
      const r = 2.5 + 5 * dot.importance;
      whole.append(
        draw("circle", { class: "reach", cx: `${dot.at}%`, cy: dot.y, r: 12 }),
        draw("circle", { class: "mark", cx: `${dot.at}%`, cy: dot.y, r, "fill-opacity": 0.25 + 0.75 * dot.importance }),
      );
      dot.drawn = whole;
      picture.append(whole);
    }
    this.field.replaceChildren(picture);
    this.hours.replaceChildren(
      ...data.hours.map((hour) => {
        const label = make("span", "", hour.label);
        label.style.left = `${hour.at}%`;
        return label;
      }),
    );
    const first = this.dots.get(held) ?? this.dots.get(data.first);
    if (first) {
      this.tell(first);
      if (held) first.drawn.focus({ preventScroll: true });
    } else this.told.replaceChildren(make("p", "", data.none));
  }

  tell(dot) {
    for (const one of this.dots.values()) one.drawn.setAttribute("tabindex", one === dot ? 0 : -1);
    const all = [dot, ...dot.with];
    for (const one of this.dots.values()) one.drawn.classList.toggle("told", all.includes(one));
    for (const line of this.lines) line.drawn.classList.toggle("told", line.of.includes(dot));
    this.told.replaceChildren(
      ...all.map((one) => {
        const line = make("p");
        line.append(make("b", "", `${one.lane.label}, ${one.when}`), ` ${one.text}`);
        return line;
      }),
    );
  }

  choose(dot) {
    this.say({ name: dot.lane.name, memory: dot.memory });
  }

  key(event, dot) {
    const row = [...this.dots.values()].filter((one) => one.row === dot.row);
    const beside = row.indexOf(dot) + (event.key === "ArrowRight") - (event.key === "ArrowLeft");
    const step = (event.key === "ArrowDown") - (event.key === "ArrowUp");
    if (event.key === "Enter" || event.key === " ") this.choose(dot);
    else if (beside !== row.indexOf(dot)) row[beside]?.drawn.focus();
    else if (step) {
      const rows = (one) => step * (one.row - dot.row); // a lane without dots, as of a new character, is passed over
      const away = (one) => Math.abs(one.at - dot.at);
      const there = [...this.dots.values()].filter((one) => rows(one) > 0);
      there.sort((a, b) => rows(a) - rows(b) || away(a) - away(b))[0]?.drawn.focus();
    } else return;
    event.preventDefault();
  }

  leave() {
    this.day.remove();
    this.told.remove();
  }
}

export default (component) => mounted(Lanes, component);
