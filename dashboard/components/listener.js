// Listens for news of an agent and of the clock, and says so when it is other than what the page knows.
// It waits until the page is at rest: where the run of one fragment begins before the end of another's is sent, Streamlit
// leaves standing what that other one drew before, such as a form whose button was just pressed.
const AGAIN_MS = 1000, LATEST_MS = 60000;
const REST_MS = 300; // a run that begins another leaves less than this between the two
const PAGES = "[data-testid='stPageLink-NavLink']";
const app = document.querySelector("[data-testid='stApp']");
let changed = performance.now(); // when a run began or ended
// Until the run of the next page begins, Streamlit sends all else for the page that was left: the run of a fragment is
// then answered by taking away the page, whose script is not run again.
let leaving = false;
let path = location.pathname;

new MutationObserver(() => {
  changed = performance.now();
  leaving = false;
  path = location.pathname;
}).observe(app, { attributes: true, attributeFilter: ["data-test-script-state"] });

addEventListener("click", (event) => {
  const elsewhere = event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey; // a tab or window of its own
  if (!elsewhere && event.target.closest?.(PAGES)) leaving = true;
}, true);

function atRest() {
  const there = !leaving && path === location.pathname; // "Back" changes the address before the page
  return there && app.dataset.testScriptState === "notRunning" && performance.now() - changed >= REST_MS;
}

class Listener {
  constructor() {
    this.wait = AGAIN_MS;
  }

  show({ agent, path, news }) {
    const place = new URL(path, document.baseURI);
    place.protocol = place.protocol.replace("http", "ws");
    place.search = new URLSearchParams({ agent });
    this.known = news;
    if (this.place === place.href) return this.tell();
    this.leave();
    this.place = place.href;
    this.heard = this.told = null;
    this.open();
  }

  open() {
    this.socket = new WebSocket(this.place);
    this.socket.onmessage = (message) => {
      this.wait = AGAIN_MS;
      this.heard = message.data;
      this.tell();
    };
    this.socket.onclose = () => {
      // the server was started again, or this browser has slept: ask later and later, and not all pages at once
      this.timer = setTimeout(() => this.open(), this.wait * (0.5 + Math.random()));
      this.wait = Math.min(2 * this.wait, LATEST_MS);
    };
  }

  tell() {
    clearTimeout(this.rest);
    if (this.heard === null || this.heard === this.known || this.heard === this.told) return;
    if (!atRest()) {
      this.rest = setTimeout(() => this.tell(), REST_MS);
      return;
    }
    this.told = this.heard;
    this.say(this.heard);
  }

  leave() {
    clearTimeout(this.timer);
    clearTimeout(this.rest);
    if (!this.socket) return;
    this.socket.onclose = this.socket.onmessage = null;
    this.socket.close();
  }
}

export default (component) => mounted(Listener, component);
