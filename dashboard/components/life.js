// A life on a time axis: bands of days and weeks, density, the strongest memories by their words, reflections above what
// they rest on; from the whole of it down to an hour. The server says what is in a window; meanwhile it is stretched.
const [HOUR, DAY] = [3600, 86400];
const SPANS = { All: Infinity, "Six weeks": 42 * DAY, Week: 7 * DAY, Day: DAY, Hour: HOUR };
const [HEAD, ROW, ROWS, FOOT, WAIT_MS, CLICK] = [20, 22, 3, 30, 180, 4];
const TOP = HEAD + ROWS * ROW + 12; // where importance begins; above it stand thoughts
const [HIGHEST, SPREAD] = [1.06, 1.12]; // the importance drawn there, and from there down to the foot
const TENTHS = 10; // steps of importance, from nothing on
const COLUMNS = 120;
const LABELS = 14; // memories whose words stand in the picture
const STEP = 0.5; // of the window, by a page key

class Life {
  constructor(root, data) {
    this.turn = data.turn;
    this.life = make("div", "life");
    this.tools = make("div", "tools");
    this.tools.setAttribute("role", "group");
    this.tools.setAttribute("aria-label", "How much of it");
    this.spans = new Map();
    for (const [name, span] of Object.entries(SPANS)) this.spans.set(span, tool(this.tools, name, "", () => this.span(span)));
    tool(this.tools, "−", "Zoom out", () => this.zoom(2));
    tool(this.tools, "+", "Zoom in", () => this.zoom(0.5));
    tool(this.tools, "‹", "Earlier", () => this.shift(-STEP));
    tool(this.tools, "›", "Later", () => this.shift(STEP));
    this.boxer = tool(this.tools, "Select", "", () => this.boxing(!this.boxed));
    this.boxer.title = "Draw a box around memories";
    this.clearer = tool(this.tools, "Clear selection", "", () => this.say({ box: [] }));
    this.field = make("div", "field");
    this.field.setAttribute("role", "group");
    this.told = make("div", "told");
    this.told.setAttribute("role", "status");
    this.strip = make("div", "strip");
    this.strip.setAttribute("aria-hidden", "true"); // the buttons do the same
    this.foot = make("div", "foot"); // the life and the scrubber have one scale
    this.scrub = make("input");
    this.scrub.type = "range";
    this.moment = make("output");
    this.scrub.id = "then";
    this.scrubbed = make("label", "", "Then");
    this.scrubbed.htmlFor = "then";
    this.foot.append(this.strip, this.scrub, this.scrubbed, this.moment);
    this.life.append(this.tools, this.field, this.told, this.foot);
    root.append(this.life);
    this.measure = document.createElement("canvas").getContext("2d");
    for (const name of ["pointerover", "focusin"]) this.field.addEventListener(name, (event) => this.tell(this.at(event)));
    this.field.addEventListener("keydown", (event) => this.key(event));
    this.field.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.field.addEventListener("pointerdown", (event) => this.grasp(event));
    this.field.addEventListener("click", (event) => this.click(event));
    this.field.addEventListener("dblclick", (event) => !this.at(event) && this.zoom(0.25, this.time(event)));
    this.strip.addEventListener("pointerdown", (event) => this.jump(event));
    this.strip.addEventListener("pointermove", (event) => event.buttons && this.jump(event));
    this.scrub.addEventListener("input", () => this.tellMoment());
    this.scrub.addEventListener("change", () => this.look());
    this.resized = new ResizeObserver(() => this.data && this.draw());
    this.resized.observe(this.field);
  }

  show(data) {
    this.data = data;
    if (data.turn >= this.turn || !this.to) [this.since, this.until] = [data.since, data.until];
    this.items = [...data.thoughts.map((one) => ({ ...one, above: true })), ...data.dots];
    this.items.sort((one, other) => one.at - other.at);
    this.byId = new Map(this.items.map((one) => [one.id, one]));
    this.to = this.byId.get(this.held()) ?? this.byId.get(data.memory) ?? this.byId.get(data.strong[0]) ?? this.items[0];
    this.field.setAttribute("aria-label", `Timeline, ${data.label}. Arrow keys walk, Enter opens, + and − zoom.`);
    this.life.classList.toggle("inset", Boolean(data.boxes));
    this.boxer.hidden = !data.boxes;
    this.clearer.hidden = !data.box;
    this.boxing(Boolean(data.boxes && this.boxed));
    for (const one of [this.scrub, this.scrubbed, this.moment]) one.hidden = !("then" in data);
    [this.scrub.min, this.scrub.max, this.scrub.step] = [Math.floor(data.first), Math.ceil(data.end), 60];
    this.scrub.value = data.then ?? data.now;
    this.tellMoment();
    this.draw();
    if (this.to) this.tell(this.to);
    else this.told.replaceChildren(make("p", "", data.none));
  }

  held() {
    const focused = this.field.getRootNode().activeElement;
    return this.field.contains(focused) ? focused.dataset.id : undefined;
  }

  x(at) {
    return ((at - this.since) / (this.until - this.since)) * this.width;
  }

  y(importance) {
    return TOP + ((HIGHEST - importance) / SPREAD) * (this.height - FOOT - TOP);
  }

  importance(y) {
    return HIGHEST - ((y - TOP) / (this.height - FOOT - TOP)) * SPREAD;
  }

  draw() {
    const held = this.held();
    [this.width, this.height] = [this.field.clientWidth, this.field.clientHeight];
    if (!this.width || !this.height) return;
    const svg = draw("svg", { width: this.width, height: this.height });
    this.drawBands(svg);
    this.drawImportance(svg);
    this.drawDensity(svg);
    this.threads = draw("g", { class: "threads" });
    svg.append(this.threads);
    this.drawItems(svg);
    if (this.data.box) {
      const [since, until, low, high] = this.data.box;
      this.drawBox(svg, this.x(since), this.y(high), this.x(until), this.y(low));
    }
    this.field.replaceChildren(svg);
    this.drawStrip();
    const span = this.until - this.since;
    const whole = this.data.end - this.data.first;
    for (const [wanted, tool] of this.spans)
      tool.setAttribute("aria-pressed", String(Math.abs(span - Math.min(wanted, whole)) < 1 && (wanted < whole || wanted === Infinity)));
    this.mark();
    if (held !== undefined) this.byId.get(held)?.drawn?.focus({ preventScroll: true });
  }

  drawBands(svg) {
    const most = Math.max(1, ...this.data.bands.map((one) => one.count));
    this.data.bands.forEach((one, number) => {
      const [from, to] = [this.x(one.at), this.x(one.until)];
      const wide = to - from;
      const band = draw("g", { class: number % 2 ? "band odd" : "band" });
      band.dataset.band = number;
      band.append(draw("rect", { class: "ground", x: from, width: Math.max(0, wide), y: 0, height: this.height }));
      const high = (one.count / most) * (FOOT - 14);
      band.append(draw("rect", { class: "count", x: from + 1, width: Math.max(0, wide - 2), y: this.height - high, height: high }));
      const left = Math.max(from, 0) + 4;
      const room = Math.min(to, this.width) - left;
      const name = [one.label, one.label.replace("week of ", "")].find((said) => this.wide(said) < room);
      if (name) band.append(draw("text", { class: "name", x: left, y: 14 }, name));
      const many = one.count.toLocaleString("en-GB");
      if (one.count && this.wide(many) < room) band.append(draw("text", { class: "many", x: left, y: this.height - high - 3 }, many));
      svg.append(band);
    });
    for (const at of this.data.days)
      svg.append(draw("line", { class: "day", x1: this.x(at), x2: this.x(at), y1: HEAD, y2: this.height - FOOT }));
    const now = this.x(this.data.now);
    svg.append(draw("line", { class: "now", x1: now, x2: now, y1: HEAD, y2: this.height }));
  }

  // How important what lies there is.
  drawImportance(svg) {
    for (const [step, said] of [[0, "unimportant"], [0.5, ""], [1, "important"]]) {
      const at = this.y(step);
      svg.append(draw("line", { class: "day", x1: 0, x2: this.width, y1: at, y2: at }));
      if (said) svg.append(draw("text", { class: "name", x: 4, y: at - 4 }, said));
    }
  }

  drawBox(svg, x, y, toX, toY) {
    const made = draw("rect", { class: "box", x: Math.min(x, toX), y: Math.min(y, toY), width: Math.abs(toX - x), height: Math.abs(toY - y) });
    svg.append(made);
    return made;
  }

  // Whether a drag draws a box instead of moving along.
  boxing(on) {
    this.boxed = on;
    this.boxer.setAttribute("aria-pressed", String(on));
    this.field.classList.toggle("boxing", on);
  }

  drawDensity(svg) {
    const { density, since, until } = this.data;
    const most = Math.max(1, ...density.map((cell) => cell[2]));
    const part = (until - since) / COLUMNS;
    const cells = draw("g", { class: "density" });
    for (const [column, row, count] of density) {
      const [from, to] = [this.x(since + column * part), this.x(since + (column + 1) * part)];
      const [low, high] = [row, row + 1].map((step) => this.y((step - 0.5) / TENTHS));
      if (to < 0 || from > this.width) continue;
      const share = 0.05 + 0.3 * Math.sqrt(count / most);
      cells.append(draw("rect", { x: from, width: Math.max(1, to - from - 0.5), y: high, height: low - high - 1, "fill-opacity": share.toFixed(2) }));
    }
    svg.append(cells);
  }

  drawItems(svg) {
    const taken = [];
    const texts = draw("g", { class: "texts" });
    const marks = draw("g", {});
    const thoughts = this.items.filter((one) => one.above);
    thoughts.forEach((one, number) => {
      const x = this.x(one.at);
      const row = number % ROWS;
      [one.px, one.py] = [x, HEAD + ROW * (row + 0.5)];
      const spread = one.rests.map((other) => this.x(other.at));
      if (spread.length) {
        const [from, to] = [Math.min(...spread, x), Math.max(...spread, x)];
        marks.append(draw("line", { class: "rests", x1: from, x2: to, y1: one.py + 8, y2: one.py + 8 }));
      }
    });
    for (let row = 0; row < ROWS; row += 1) {
      const line = thoughts.filter((one) => one.py === HEAD + ROW * (row + 0.5));
      line.forEach((one, place) => {
        const next = line[place + 1]?.px ?? this.width;
        const said = one.px >= 0 && this.fit(one.text, Math.min(next - one.px - 22, 320));
        if (said) texts.append(draw("text", { class: "words", x: one.px + 9, y: one.py + 4 }, said));
      });
    }
    for (const one of this.items) {
      if (!one.above) [one.px, one.py] = [this.x(one.at), this.y(one.y)];
      one.drawn = this.item(one);
      marks.append(one.drawn);
    }
    let written = 0;
    for (const id of this.data.strong.slice(0, 3 * LABELS)) {
      const one = this.byId.get(id);
      if (written >= LABELS || one.px < 0 || one.px > this.width) continue;
      const right = one.px < this.width * 0.72;
      const said = this.fit(one.text, Math.min(200, right ? this.width - one.px - 14 : one.px - 14));
      const wide = this.wide(said);
      const box = { left: right ? one.px + 8 : one.px - 8 - wide, top: one.py - 9, wide, high: 17 };
      if (!said || taken.some((other) => box.left < other.left + other.wide + 8 && other.left < box.left + wide + 8
        && box.top < other.top + other.high && other.top < box.top + box.high)) continue;
      taken.push(box);
      written += 1;
      texts.append(draw("text", { class: one.hit ? "words hit" : "words", x: box.left, y: one.py + 4 }, said));
    }
    svg.append(marks, texts);
  }

  item(one) {
    const made = draw("g", { class: `item ${one.kind}${one.hit ? " hit" : ""}`, role: "button", tabindex: -1 });
    made.dataset.id = one.id;
    made.setAttribute("aria-label", `${one.kind}, ${one.when}, ${one.told}: ${one.text}`);
    const [x, y] = [one.px, one.py];
    const r = one.above ? 5 : 2.5 + 2.5 * Math.max(0, Math.min(1, one.y));
    made.append(draw("circle", { class: "reach", cx: x, cy: y, r: 9 }));
    if (one.above) made.append(draw("path", { class: "mark", d: `M${x} ${y - r}l${r} ${r}l${-r} ${r}l${-r} ${-r}z` }));
    else if (one.kind === "plan") made.append(draw("path", { class: "mark", d: `M${x} ${y - r}l${r} ${2 * r}h${-2 * r}z` }));
    else made.append(draw("circle", { class: "mark", cx: x, cy: y, r }));
    return made;
  }

  drawStrip() {
    const { strip, first, end } = this.data;
    const [wide, high] = [this.strip.clientWidth, this.strip.clientHeight];
    const svg = draw("svg", { width: wide, height: high });
    const most = Math.max(1, ...strip);
    const each = wide / strip.length;
    strip.forEach((count, place) => {
      const tall = (count / most) * (high - 4);
      if (count) svg.append(draw("rect", { class: "count", x: place * each, width: Math.max(1, each - 0.5), y: high - tall, height: tall }));
    });
    const place = (at) => ((at - first) / (end - first)) * wide;
    const from = place(this.since);
    svg.append(draw("rect", { class: "window", x: from, width: Math.max(3, place(this.until) - from), y: 1, height: high - 2 }));
    this.strip.replaceChildren(svg);
  }

  wide(text) {
    const { fontFamily, fontSize } = getComputedStyle(this.life);
    this.measure.font = `${fontSize} ${fontFamily}`;
    return this.measure.measureText(text).width;
  }

  // As much of a text as fits, by whole words where it can; nothing where that would say nothing.
  fit(text, room) {
    if (room < 48) return "";
    if (this.wide(text) <= room) return text;
    let end = Math.min(text.length, Math.ceil(room / 4));
    while (end > 0 && this.wide(`${text.slice(0, end)}…`) > room) end -= 1;
    const word = text.lastIndexOf(" ", end);
    return `${text.slice(0, word > end / 2 ? word : end).trimEnd()}…`;
  }

  at(event) {
    const item = event.target.closest?.(".item");
    return item ? this.byId.get(item.dataset.id) : undefined;
  }

  tell(one) {
    if (!one) return;
    this.to = one;
    const line = make("p");
    line.append(make("b", "", `${one.when} · ${one.kind}, ${one.told}`), ` ${one.text}`);
    this.told.replaceChildren(line);
    this.mark();
  }

  // What is told of, what is open, and the threads from a reflection to its evidence, or from evidence to what rests on it.
  mark() {
    const near = this.to ? this.items.filter((one) => one.above && (one === this.to || one.rests.some((other) => other.id === this.to.id))) : [];
    const rests = new Set(near.flatMap((one) => one.rests.map((other) => other.id)));
    for (const one of this.items) {
      one.drawn?.setAttribute("tabindex", one === this.to ? 0 : -1);
      one.drawn?.classList.toggle("told", one === this.to || near.includes(one) || rests.has(one.id));
      one.drawn?.classList.toggle("chosen", one.id === this.data.memory);
      if (one.id === this.data.memory) one.drawn?.setAttribute("aria-current", "true");
    }
    const inWindow = this.items.filter((one) => one.above && one.px >= 0 && one.px <= this.width);
    const all = inWindow.length <= 8 ? inWindow : near;
    this.threads?.replaceChildren(
      ...all.flatMap((one) => one.rests.map((other) => {
        const [x, y] = [this.x(other.at), this.y(other.y)];
        const made = draw("path", { class: near.includes(one) ? "thread near" : "thread", d: `M${one.px} ${one.py + 8}C${one.px} ${(one.py + y) / 2} ${x} ${(one.py + y) / 2} ${x} ${y}` });
        return made;
      })),
    );
  }

  click(event) {
    const [one, band] = [this.at(event), event.target.closest?.(".name")?.parentNode];
    if (this.panned) return;
    if (one) this.open(one);
    else if (band) {
      const { at, until } = this.data.bands[Number(band.dataset.band)];
      this.move(at, until);
    }
  }

  open(one) {
    this.tell(one);
    this.say({ memory: one.id });
  }

  key(event) {
    const one = this.at(event);
    if (!one || event.ctrlKey || event.metaKey || event.altKey) return;
    const row = this.items.filter((other) => other.above === one.above && other.px >= 0 && other.px <= this.width);
    const place = row.indexOf(one);
    const beside = { ArrowRight: 1, ArrowLeft: -1, Home: -place, End: row.length - 1 - place }[event.key];
    if (beside !== undefined) this.focus(row[place + beside]);
    else if (event.key === "ArrowUp" && !one.above) this.focus(this.above(one));
    else if (event.key === "ArrowDown" && one.above) this.focus(this.below(one));
    else if (event.key === "Enter" || event.key === " ") this.open(one);
    else if (event.key === "Escape") this.say({ memory: "" });
    else if (event.key === "+" || event.key === "=") this.zoom(0.5, one.at);
    else if (event.key === "-") this.zoom(2, one.at);
    else if (event.key === "PageUp") this.shift(-STEP);
    else if (event.key === "PageDown") this.shift(STEP);
    else return;
    event.preventDefault();
  }

  focus(one) {
    one?.drawn?.focus({ preventScroll: true });
  }

  nearest(some, at) {
    return some.reduce((best, one) => (!best || Math.abs(one.at - at) < Math.abs(best.at - at) ? one : best), undefined);
  }

  above(one) {
    const thoughts = this.items.filter((other) => other.above && other.px >= 0 && other.px <= this.width);
    return thoughts.find((other) => other.rests.some((below) => below.id === one.id)) ?? this.nearest(thoughts, one.at);
  }

  below(one) {
    const rests = one.rests.map((other) => this.byId.get(other.id)).filter(Boolean);
    const lived = this.items.filter((other) => !other.above && other.px >= 0 && other.px <= this.width);
    return rests[0] ?? this.nearest(lived, one.at);
  }

  time(event) {
    const { left } = this.field.getBoundingClientRect();
    return this.since + ((event.clientX - left) / this.width) * (this.until - this.since);
  }

  wheel(event) {
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.shift((0.5 * event.deltaX) / this.width);
    else this.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), this.time(event));
  }

  // Of what lies in a box, the server knows the ids.
  bound(event) {
    const { left, top } = this.field.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    const svg = this.field.querySelector("svg");
    let [box, to] = [null, [x, y]];
    this.panned = false;
    this.grasped = follow(
      (moved) => {
        to = [moved.clientX - left, moved.clientY - top];
        if (!box && Math.hypot(to[0] - x, to[1] - y) < CLICK) return;
        this.panned = true;
        box?.remove();
        box = this.drawBox(svg, x, y, ...to);
      },
      () => {
        if (!box) return;
        const at = (px) => this.since + (px / this.width) * (this.until - this.since);
        const [since, until] = [x, to[0]].map(at).sort((one, other) => one - other);
        const [low, high] = [y, to[1]].map((py) => this.importance(py)).sort((one, other) => one - other);
        this.say({ box: [since, until, low, high] });
      },
    );
  }

  grasp(event) {
    if (this.boxed) return void this.bound(event);
    const [began, since, until] = [event.clientX, this.since, this.until];
    this.panned = false;
    const drag = (moved) => {
      const by = moved.clientX - began;
      if (!this.panned && Math.abs(by) < CLICK) return;
      this.panned = true;
      const seconds = (by / this.width) * (until - since);
      this.move(since - seconds, until - seconds);
    };
    this.grasped = follow(drag);
  }

  jump(event) {
    const { left, width } = this.strip.getBoundingClientRect();
    const { first, end } = this.data;
    const [middle, half] = [first + ((event.clientX - left) / width) * (end - first), (this.until - this.since) / 2];
    this.move(middle - half, middle + half);
  }

  span(span) {
    const middle = this.byId.get(this.data.memory)?.at ?? (this.to && this.to.px >= 0 && this.to.px <= this.width ? this.to.at : (this.since + this.until) / 2);
    const wanted = Math.min(span, this.data.end - this.data.first);
    this.move(middle - wanted / 2, middle + wanted / 2);
  }

  zoom(by, around = this.to?.at ?? (this.since + this.until) / 2) {
    const middle = around < this.since || around > this.until ? (this.since + this.until) / 2 : around;
    const span = Math.max((this.until - this.since) * by, HOUR);
    const share = (middle - this.since) / (this.until - this.since);
    this.move(middle - share * span, middle + (1 - share) * span);
  }

  shift(by) {
    const span = (this.until - this.since) * by;
    this.move(this.since + span, this.until + span);
  }

  // At once, with what is known; the server says the rest once it stands still.
  move(since, until) {
    const { first, end } = this.data;
    const span = Math.min(until - since, end - first);
    this.since = Math.max(first, Math.min(since, end - span));
    this.until = this.since + span;
    this.draw();
    clearTimeout(this.timer);
    this.turn += 1;
    this.timer = setTimeout(() => this.say({ since: this.since, until: this.until, turn: this.turn }), WAIT_MS);
  }

  tellMoment() {
    const at = Number(this.scrub.value);
    const present = at >= this.data.now - 60;
    const shifted = new Date((at + this.data.offset) * 1000);
    const said = shifted.toLocaleString("en-GB", { timeZone: "UTC", weekday: "short", day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
    this.moment.textContent = present ? "now" : `${said} ${this.data.zone}`;
    this.scrub.setAttribute("aria-valuetext", this.moment.textContent);
  }

  look() {
    const at = Number(this.scrub.value);
    this.say({ then: at >= this.data.now - 60 ? 0 : at });
  }

  leave() {
    this.grasped?.abort(); // what is drawn or moved meanwhile
    clearTimeout(this.timer);
    this.resized.disconnect();
    this.life.remove();
  }
}

export default (component) => mounted(Life, component);
