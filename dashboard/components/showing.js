// The bar that goes through steps: back, next, leave, and the one thing that can be done at a step. A presenter's keys
// work on the whole page, as far as nothing else takes them: arrows and Page Up and Down, as remote controls send, Escape.
const WRITES = /^(INPUT|TEXTAREA|SELECT)$/;
const OPEN = "[role='dialog'], [data-testid='stPopoverBody'], [role='listbox'][id^='bui']";

class Showing {
  constructor(root) {
    this.bar = make("section", "bar");
    this.back = this.button("step", "‹");
    this.text = make("div", "text");
    this.text.setAttribute("role", "status");
    this.act = this.button("act", "");
    this.next = this.button("next", "");
    this.leave_ = this.button("leave", "×");
    this.bar.append(this.back, this.text, this.act, this.next, this.leave_);
    root.append(this.bar);
    this.back.addEventListener("click", () => this.go(-1));
    this.next.addEventListener("click", () => this.go(1));
    this.act.addEventListener("click", () => this.say({ act: true }));
    this.leave_.addEventListener("click", () => this.say({ leave: true }));
    this.beside = new ResizeObserver(() => this.place());
    const sidebar = document.querySelector("[data-testid='stSidebar']");
    if (sidebar) this.beside.observe(sidebar);
    this.key = (event) => this.pressed(event);
    document.addEventListener("keydown", this.key);
  }

  // The bar stands beside the sidebar, which lies over all else.
  place() {
    const right = document.querySelector("[data-testid='stSidebar']")?.getBoundingClientRect().right ?? 0;
    const lies = matchMedia("(max-width: 768px)").matches || this.data?.keys;
    this.bar.style.setProperty("--beside", `${lies ? 0 : Math.max(0, right)}px`);
  }

  button(name, text) {
    const made = make("button", name, text);
    made.type = "button";
    return made;
  }

  go(by) {
    const to = this.data.number + by;
    if (by < 0 ? this.data.back : this.data.next) this.say({ go: to });
  }

  pressed(event) {
    if (!this.data.keys || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = event.composedPath()[0];
    const writes = at instanceof HTMLElement && (at.isContentEditable || WRITES.test(at.tagName));
    if (event.key === "Escape" && !document.querySelector(OPEN)) this.say({ leave: true });
    else if (writes) return;
    else if (event.key === "ArrowRight" || event.key === "PageDown") this.go(1);
    else if (event.key === "ArrowLeft" || event.key === "PageUp") this.go(-1);
    else return;
    event.preventDefault();
  }

  show(data) {
    this.data = data;
    this.place();
    this.bar.setAttribute("aria-label", data.label);
    this.back.disabled = !data.back;
    this.back.setAttribute("aria-label", "Back");
    const head = make("b", "", data.title), at = make("span", "at", data.at);
    this.text.replaceChildren(at, head, make("span", "told", data.told));
    this.act.textContent = data.act;
    this.act.hidden = !data.act;
    this.next.hidden = !data.next;
    this.next.textContent = data.next;
    this.next.classList.toggle("quiet", Boolean(data.act));
    this.leave_.setAttribute("aria-label", data.leave);
    this.leave_.title = data.leave;
  }

  leave() {
    document.removeEventListener("keydown", this.key);
    this.beside.disconnect();
    this.bar.remove();
  }
}

export default (component) => mounted(Showing, component);
