// Lines or cards, each with what can be done about it. What is pressed is said by the line's id and the act's name.
class Lines {
  constructor(root) {
    this.list = make("div", "lines");
    this.list.setAttribute("role", "list");
    root.append(this.list);
    this.list.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) this.say({ id: button.dataset.id, act: button.dataset.act });
    });
  }

  show({ lines, cards }) {
    const told = JSON.stringify([lines, cards]);
    if (told === this.told) return;
    this.told = told;
    const held = this.list.getRootNode().activeElement?.dataset;
    this.list.classList.toggle("cards", cards);
    this.list.replaceChildren(...lines.map((line) => this.line(line)));
    if (!held?.act) return;
    const buttons = [...this.list.querySelectorAll("button")];
    buttons.find((one) => one.dataset.id === held.id && one.dataset.act === held.act)?.focus({ preventScroll: true });
  }

  line(line) {
    const made = make("div", "line");
    made.setAttribute("role", "listitem");
    const said = make("div", "said");
    if (line.title) {
      const title = make("div", "title");
      if (line.picture) title.append(portrait(line.picture));
      title.append(make("span", "", line.title));
      said.append(title);
    }
    if (line.text) said.append(make("div", "text", line.text));
    if (line.note) said.append(make("div", "note", line.note));
    made.append(said);
    if (!line.acts.length) return made;
    const acts = make("div", "acts");
    for (const act of line.acts) {
      const button = make("button", "", act.label);
      button.type = "button";
      button.dataset.id = line.id;
      button.dataset.act = act.name;
      button.disabled = act.off;
      button.title = act.help;
      acts.append(button);
    }
    made.append(acts);
    return made;
  }

  leave() {
    this.list.remove();
  }
}

export default (component) => mounted(Lines, component);
