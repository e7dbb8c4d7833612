// Memories on a plane: points on a canvas, however many they are, with the names of their clusters over them. A lasso, a
// click and a cluster's name choose some; what is pointed at or walked to is told below.
const [HALF, LOW, HIGH, EDGE] = [10000, 2.5, 6.5, 24]; // of the plane; the smallest and the largest point, and the margin, in pixels
const [REACH, CLICK, MOST, CELL] = [14, 4, 40, 32]; // pixels of the pointer and of a click; times of zoom; pixels of a cell
const TENTHS = 10; // steps of importance, from nothing on
const [ROOM, SMALLER] = [600, 0.45]; // square pixels that a point needs to be drawn whole, and how small a crowd makes it
const TURN = 0.45; // radians within which an arrow key looks first, and then wider

class Plane {
  constructor(root) {
    this.whole = make("div", "map");
    this.tools = make("div", "tools");
    this.tools.setAttribute("role", "group");
    this.tools.setAttribute("aria-label", "How it is looked at");
    this.lassoing = tool(this.tools, "Lasso", "", () => this.draws(true));
    this.moving = tool(this.tools, "Move", "", () => this.draws(false));
    tool(this.tools, "−", "Zoom out", () => this.zoom(0.5));
    tool(this.tools, "+", "Zoom in", () => this.zoom(2));
    tool(this.tools, "All", "Show all", () => this.all());
    this.legend = make("div", "legend");
    this.field = make("div", "field");
    this.field.tabIndex = 0;
    this.field.setAttribute("role", "application");
    this.canvas = make("canvas");
    this.canvas.setAttribute("aria-hidden", "true");
    this.over = draw("svg", { "aria-hidden": "true" });
    this.names = make("div", "names");
    this.counted = make("div", "counted");
    this.counted.setAttribute("role", "status");
    this.field.append(this.canvas, this.over, this.names, this.counted);
    this.told = make("div", "told");
    this.told.setAttribute("role", "status");
    const head = make("div", "head");
    head.append(this.tools, this.legend);
    this.whole.append(head, this.field, this.told);
    root.append(this.whole);
    this.draws(!matchMedia("(pointer: coarse)").matches);
    this.field.addEventListener("pointermove", (event) => !event.buttons && this.tell(this.under(event)));
    this.field.addEventListener("pointerdown", (event) => this.grasp(event));
    this.field.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.field.addEventListener("dblclick", (event) => this.within(event) && this.zoom(2, ...this.place(event)));
    this.field.addEventListener("keydown", (event) => this.key(event));
    this.field.addEventListener("transitionend", (event) => event.target === this.field && this.paint()); // other colours
    this.resized = new ResizeObserver(() => this.data && this.sized());
    this.resized.observe(this.field);
  }

  draws(on) {
    this.lassos = on;
    this.lassoing.setAttribute("aria-pressed", String(on));
    this.moving.setAttribute("aria-pressed", String(!on));
    this.field.classList.toggle("lassos", on);
  }

  show(data) {
    const before = this.data;
    this.data = data;
    this.chosen = new Set(data.chosen);
    if (before?.whose !== data.whose) [this.scale, this.cx, this.cy, this.to] = [1, 0, 0, undefined];
    else this.to = this.again(before);
    this.counted.textContent = this.chosen.size ? `${this.chosen.size.toLocaleString("en-GB")} chosen, listed below` : "";
    this.field.setAttribute("aria-label", `${data.label} Arrow keys walk, Enter chooses, Shift and Enter one more, + and − zoom.`);
    this.legend.replaceChildren(
      ...data.legend.map((one) => {
        const line = make("span");
        line.append(make("i", one.hollow ? "hollow" : ""), one.label);
        return line;
      }),
    );
    this.names.replaceChildren(
      ...data.clusters.map((one) => {
        const name = make("button", "name", one.name);
        name.type = "button";
        name.tabIndex = -1; // the list below does the same
        name.title = `Choose ${one.label}`;
        name.addEventListener("click", () => this.enter(one));
        return name;
      }),
    );
    this.sized();
    this.tell(this.to);
  }

  // Where the memory that is told lies now: others may have come before it, or it has gone.
  again(before) {
    if (this.to === undefined) return undefined;
    const same = (row) => ["x", "y", "text"].every((name) => this.data[name][row] === before[name][this.to]);
    if (same(this.to)) return this.to;
    const row = this.data.x.findIndex((_, one) => same(one));
    return row < 0 ? undefined : row;
  }

  // Chooses a cluster; the arrow keys go on from its middle.
  enter({ number, x, y }) {
    let [best, least] = [undefined, Infinity];
    this.data.of.forEach((one, row) => {
      const far = Math.hypot(this.data.x[row] - x, this.data.y[row] - y);
      if (one === number && far < least) [best, least] = [row, far];
    });
    this.tell(best);
    this.field.focus({ preventScroll: true });
    this.say({ cluster: number });
  }

  sized() {
    [this.width, this.height] = [this.field.clientWidth, this.field.clientHeight];
    if (!this.width || !this.height) return;
    const fine = Math.max(1, devicePixelRatio);
    [this.canvas.width, this.canvas.height] = [this.width * fine, this.height * fine];
    this.fine = fine;
    this.paint();
  }

  // Where a place of the plane is in the picture, in pixels.
  x(at) {
    return this.width / 2 + ((at - this.cx) / HALF) * (this.width / 2 - EDGE) * this.scale;
  }

  y(at) {
    return this.height / 2 - ((at - this.cy) / HALF) * (this.height / 2 - EDGE) * this.scale;
  }

  paint() {
    if (!this.width) return;
    const { x, y, size, hollow, clusters } = this.data;
    this.field.classList.toggle("near", this.scale > 1);
    const style = getComputedStyle(this.field);
    const [ink, paper, primary] = [style.color, style.backgroundColor, style.outlineColor];
    const pen = this.canvas.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.share = Math.max(SMALLER, Math.min(1, this.scale * Math.sqrt((this.width * this.height) / (ROOM * x.length))));
    const sprites = new Map();
    const some = this.chosen.size > 0;
    this.cells = new Map();
    const put = (row, colour, strong) => {
      const [px, py] = [this.x(x[row]), this.y(y[row])];
      if (px < -EDGE || py < -EDGE || px > this.width + EDGE || py > this.height + EDGE) return;
      const name = `${size[row]} ${hollow[row]} ${strong}`;
      let sprite = sprites.get(name);
      if (!sprite) sprites.set(name, (sprite = this.sprite(size[row], hollow[row], colour, paper, strong ? 1 : some ? 0.3 : 0.55)));
      pen.drawImage(sprite, Math.round(px * this.fine - sprite.width / 2), Math.round(py * this.fine - sprite.height / 2));
      const cell = this.cell(px, py);
      if (!this.cells.has(cell)) this.cells.set(cell, []);
      this.cells.get(cell).push(row);
    };
    for (let row = 0; row < x.length; row += 1) if (!this.chosen.has(row)) put(row, ink, false);
    for (const row of this.chosen) put(row, primary, true);
    clusters.forEach((one, number) => {
      const name = this.names.children[number];
      const half = name.offsetWidth / 2;
      const [px, py] = [this.x(one.x), this.y(one.y) - one.up];
      name.style.left = `${Math.max(half, Math.min(this.width - half, px))}px`;
      name.style.top = `${py}px`;
      name.hidden = px < 0 || px > this.width || py < 0 || py > this.height;
    });
    this.mark();
  }

  sprite(size, hollow, colour, paper, strength) {
    const made = document.createElement("canvas");
    const r = (LOW + (HIGH - LOW) * (size / TENTHS)) * this.share * this.fine;
    made.width = made.height = Math.ceil(2 * r + 4 * this.fine);
    const pen = made.getContext("2d");
    const middle = made.width / 2;
    pen.globalAlpha = strength;
    pen.beginPath();
    pen.arc(middle, middle, r, 0, 2 * Math.PI);
    pen.lineWidth = 1.5 * this.fine;
    pen.fillStyle = hollow ? paper : colour;
    pen.strokeStyle = colour;
    pen.fill();
    pen.stroke();
    return made;
  }

  cell(px, py) {
    return Math.floor(py / CELL) * 10000 + Math.floor(px / CELL);
  }

  within(event) {
    return !event.target.closest?.(".name");
  }

  place(event) {
    const { left, top, width } = this.field.getBoundingClientRect();
    const shown = this.width / width; // a picture that is shown larger
    return [(event.clientX - left) * shown, (event.clientY - top) * shown];
  }

  // The point nearest to the pointer, if one is near.
  under(event) {
    if (!this.cells) return undefined;
    const [px, py] = this.place(event);
    let [best, least] = [undefined, REACH];
    for (const down of [-1, 0, 1])
      for (const right of [-1, 0, 1])
        for (const row of this.cells.get(this.cell(px + right * CELL, py + down * CELL)) ?? []) {
          const far = Math.hypot(this.x(this.data.x[row]) - px, this.y(this.data.y[row]) - py);
          if (far < least) [best, least] = [row, far];
        }
    return best;
  }

  tell(row) {
    this.to = row ?? this.to;
    const line = make("p");
    if (this.to === undefined) line.textContent = this.data.none;
    else {
      const { text, who, of, clusters } = this.data;
      const cluster = clusters.find((one) => one.number === of[this.to])?.name ?? "";
      line.append(make("b", "", [who?.[this.to], cluster].filter(Boolean).join(" · ")));
      line.append(` ${text[this.to] || "Choose it to read it."}`);
    }
    this.told.replaceChildren(line);
    this.mark();
  }

  mark() {
    const rings = this.over.querySelector(".ring");
    rings?.remove();
    if (this.to === undefined || !this.width) return;
    this.over.append(draw("circle", { class: "ring", cx: this.x(this.data.x[this.to]), cy: this.y(this.data.y[this.to]), r: 10 }));
  }

  choose(rows) {
    this.chosen = new Set(rows);
    this.paint();
    this.say({ rows: [...this.chosen] });
  }

  grasp(event) {
    if (event.button || !this.within(event)) return;
    const from = this.place(event);
    const [cx, cy] = [this.cx, this.cy];
    const line = draw("path", { class: "lasso" });
    const path = [from];
    let moved = false;
    const drag = (next) => {
      const [px, py] = this.place(next);
      if (!moved && Math.hypot(px - from[0], py - from[1]) < CLICK) return;
      moved = true;
      if (!this.lassos) {
        this.cx = cx - ((px - from[0]) / (this.width / 2 - EDGE) / this.scale) * HALF;
        this.cy = cy + ((py - from[1]) / (this.height / 2 - EDGE) / this.scale) * HALF;
        this.later();
        return;
      }
      if (!line.isConnected) this.over.append(line);
      path.push([px, py]);
      line.setAttribute("d", `M${path.map((one) => one.join(" ")).join("L")}Z`);
    };
    const end = (last) => {
      line.remove();
      if (last.type === "pointercancel") return;
      if (moved && this.lassos) this.choose(this.caught(path));
      else if (!moved) this.click(last);
    };
    this.grasped = follow(drag, end);
  }

  click(event) {
    const row = this.under(event);
    if (row === undefined) {
      if (this.chosen.size) this.choose([]);
      return;
    }
    this.tell(row);
    this.turn(row, event.shiftKey || event.ctrlKey || event.metaKey);
  }

  // Chooses one, or one more, or one less.
  turn(row, more) {
    if (!more) return void this.choose([row]);
    const rows = new Set(this.chosen);
    if (!rows.delete(row)) rows.add(row);
    this.choose(rows);
  }

  caught(path) {
    const across = path.map((one) => one[0]);
    const down = path.map((one) => one[1]);
    const [left, right, top, bottom] = [Math.min(...across), Math.max(...across), Math.min(...down), Math.max(...down)];
    const found = [];
    for (let row = 0; row < this.data.x.length; row += 1) {
      const [px, py] = [this.x(this.data.x[row]), this.y(this.data.y[row])];
      if (px < left || px > right || py < top || py > bottom) continue;
      let inside = false;
      for (let one = 0, other = path.length - 1; one < path.length; other = one, one += 1) {
        const [[ax, ay], [bx, by]] = [path[one], path[other]];
        if (ay > py !== by > py && px < ((bx - ax) * (py - ay)) / (by - ay) + ax) inside = !inside;
      }
      if (inside) found.push(row);
    }
    return found;
  }

  later() {
    this.waits ??= requestAnimationFrame(() => {
      this.waits = undefined;
      this.paint();
    });
  }

  // What lies there stays there.
  zoom(times, px = this.width / 2, py = this.height / 2) {
    const scale = Math.max(1, Math.min(MOST, this.scale * times));
    const [right, up] = [(px - this.width / 2) / (this.width / 2 - EDGE), (this.height / 2 - py) / (this.height / 2 - EDGE)];
    this.cx += right * HALF * (1 / this.scale - 1 / scale);
    this.cy += up * HALF * (1 / this.scale - 1 / scale);
    this.scale = scale;
    if (scale === 1) [this.cx, this.cy] = [0, 0];
    this.later();
  }

  all() {
    [this.scale, this.cx, this.cy] = [1, 0, 0];
    this.paint();
  }

  // Without a key the wheel moves the page.
  wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.zoom(Math.exp(Math.max(-1, Math.min(1, -event.deltaY / 300))), ...this.place(event));
  }

  key(event) {
    if (event.target !== this.field || event.altKey) return;
    const way = { ArrowRight: 0, ArrowUp: Math.PI / 2, ArrowLeft: Math.PI, ArrowDown: -Math.PI / 2 }[event.key];
    if (way !== undefined && !event.ctrlKey && !event.metaKey) this.walk(way);
    else if ((event.key === "Enter" || event.key === " ") && this.to !== undefined) this.turn(this.to, event.shiftKey);
    else if (event.key === "Escape" && this.chosen.size) this.choose([]);
    else if (event.key === "+" || event.key === "=") this.zoom(2, ...this.there());
    else if (event.key === "-") this.zoom(0.5, ...this.there());
    else if (event.key === "Home") this.all();
    else return;
    event.preventDefault();
  }

  there() {
    return this.to === undefined ? [] : [this.x(this.data.x[this.to]), this.y(this.data.y[this.to])];
  }

  // To the nearest point in this direction.
  walk(way) {
    const { x, y } = this.data;
    const [px, py] = this.to === undefined ? [this.width / 2, this.height / 2] : this.there();
    for (const turn of [TURN, 2 * TURN, 3 * TURN]) {
      let [best, least] = [undefined, Infinity];
      for (let row = 0; row < x.length; row += 1) {
        const [right, up] = [this.x(x[row]) - px, py - this.y(y[row])];
        const far = Math.hypot(right, up);
        if (row === this.to || (far === 0 && this.to !== undefined) || far >= least) continue;
        const off = far && Math.abs(Math.atan2(Math.sin(Math.atan2(up, right) - way), Math.cos(Math.atan2(up, right) - way)));
        if (off <= turn) [best, least] = [row, far];
      }
      if (best === undefined) continue;
      this.tell(best);
      const [bx, by] = this.there();
      if (bx < 0 || by < 0 || bx > this.width || by > this.height) {
        [this.cx, this.cy] = [x[best], y[best]];
        this.paint();
      }
      const covered = this.over.querySelector(".ring").getBoundingClientRect().bottom > this.told.getBoundingClientRect().top;
      if (covered) this.field.scrollIntoView({ block: "nearest" });
      return;
    }
  }

  leave() {
    this.grasped?.abort(); // what is drawn or moved meanwhile
    this.resized.disconnect();
    cancelAnimationFrame(this.waits);
    this.whole.remove();
  }
}

export default (component) => mounted(Plane, component);
