// Whether a page is at rest: nothing waits to be sent, all that was asked of the server was answered, all is drawn.
(() => {
  // Everything that moves arrives at once: without a graphics card, a skeleton that pulses while the server works takes
  // more of the processor than the server does. A transition, however short, would have each element below a change of
  // style begin one: four times the time of styling.
  const arrived = new CSSStyleSheet();
  arrived.replaceSync(`*, *::before, *::after {
    animation-duration: 1ms !important; animation-delay: 0s !important; animation-iteration-count: 1 !important;
    transition: none !important;
  }`);
  document.adoptedStyleSheets.push(arrived);

  const [RERUN, HEARTBEAT_ACK] = [11, 26]; // fields of Streamlit's BackMsg and ForwardMsg
  const STREAM = "/_stcore/stream"; // where Streamlit's own connection is
  const HEARTBEAT = new Uint8Array([136, 1, 1]); // a BackMsg whose app_heartbeat, field 17, is true
  const SHORT = 1000; // Streamlit's widgets wait less than this for more input before they tell the server
  const LOST = 10_000; // a run that begins clears what is on its way, an answer too: then the heartbeat is sent again
  let socket = null, asked = 0, answer = null;
  let underway = 0; // requests that are not answered yet, as of a file that is uploaded
  const waiting = new Set(); // short timers: what is typed, ticked or dragged is on its way to be sent

  function holds(message, wanted) {
    const bytes = new Uint8Array(message);
    let at = 0;
    const number = () => {
      for (let value = 0, place = 1; ; place *= 128) {
        const byte = bytes[at++];
        value += (byte & 127) * place;
        if (byte < 128) return value;
      }
    };
    while (at < bytes.length) {
      const tag = number();
      if (Math.floor(tag / 8) === wanted) return true;
      const value = tag % 8 === 0 || tag % 8 === 2 ? number() : 0;
      at += { 0: 0, 1: 8, 2: value, 5: 4 }[tag % 8];
    }
    return false;
  }

  window.WebSocket = class extends WebSocket {
    constructor(...given) {
      super(...given);
      if (!this.url.includes(STREAM)) return; // such as the one that news comes over
      this.addEventListener("open", () => (socket = this));
      this.addEventListener("close", () => {
        if (socket === this) socket = null;
        answer?.(false);
      });
      this.addEventListener("message", ({ data }) => {
        if (data instanceof ArrayBuffer && data.byteLength < 500 && holds(data, HEARTBEAT_ACK)) answer?.(true);
      });
    }
    send(data) {
      if (this.url.includes(STREAM) && data !== HEARTBEAT && holds(data, RERUN)) asked += 1;
      super.send(data);
    }
  };

  const { fetch, setTimeout: start, clearTimeout: stop } = window;
  window.setTimeout = (action, delay, ...given) => {
    if (!(delay > 0 && delay < SHORT) || typeof action !== "function") return start(action, delay, ...given);
    const timer = start(() => { waiting.delete(timer); action(...given); }, delay);
    waiting.add(timer);
    return timer;
  };
  window.clearTimeout = (timer) => {
    waiting.delete(timer);
    stop(timer);
  };

  window.fetch = async (...given) => {
    underway += 1;
    try {
      return await fetch(...given);
    } finally {
      underway -= 1;
    }
  };
  const { send } = XMLHttpRequest.prototype;
  XMLHttpRequest.prototype.send = function (...given) {
    underway += 1;
    this.addEventListener("loadend", () => (underway -= 1), { once: true });
    send.apply(this, given);
  };

  const drawn = () => new Promise((done) => requestAnimationFrame(() => start(done, 0)));
  const heard = () => new Promise((done) => {
    answer = done;
    socket.send(HEARTBEAT);
    start(done, LOST, false);
  });
  // A component of our own is empty until its script has loaded, but for its look; one that draws nothing has no look.
  const mounted = (component) =>
    [...(component.shadowRoot?.children ?? [])].some((child) => child.querySelector(":scope > style") === null);
  const still = () => {
    const app = document.querySelector("[data-testid='stApp']");
    return waiting.size === 0 && underway === 0 && app?.dataset.testScriptState === "notRunning"
      && app.dataset.testConnectionState === "CONNECTED"
      && document.querySelector("[data-testid='stMainBlockContainer'] :is(h1, [data-testid='stAlert'])") !== null
      && document.querySelector("[data-testid='stMain'] :is([data-stale='true'], [data-testid='stSkeleton'], [data-testid='stFileChipIconSpinner'])") === null
      && [...document.querySelectorAll("[data-testid='stBidiComponentIsolated']")].every(mounted);
  };
  async function once() {
    await drawn(); // what the last event changed is drawn, and its consequences have been sent
    if (socket === null || waiting.size || underway) return false;
    const before = asked;
    if (!(await heard())) return false;
    await drawn();
    return asked === before && still();
  }

  // Comes back once the page is at rest; what it waits for when `most` milliseconds are over is an error.
  window.atRest = async (most) => {
    for (const until = Date.now() + most; !(await once()); await new Promise((done) => start(done, 20))) {
      if (Date.now() > until) throw Error(`not at rest: ${waiting.size} timers, ${underway} requests, ${asked} runs asked for`);
    }
  };
})();
