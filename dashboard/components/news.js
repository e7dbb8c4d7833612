// Listens for the revision of an agent, and says so when it is another than the one that the page knows.
const AGAIN_MS = 1000, LATEST_MS = 60000;
const listeners = new WeakMap();

class Listener {
  constructor(place) {
    this.place = place;
    this.heard = null;
    this.wait = AGAIN_MS;
    this.open();
  }

  open() {
    this.socket = new WebSocket(this.place);
    this.socket.onmessage = (message) => {
      this.wait = AGAIN_MS;
      this.heard = Number(message.data);
      this.tell();
    };
    this.socket.onclose = () => {
      // the server was started again, or this browser has slept: ask later and later, and not all pages at once
      this.timer = setTimeout(() => this.open(), this.wait * (0.5 + Math.random()));
      this.wait = Math.min(2 * this.wait, LATEST_MS);
    };
  }

  tell() {
    if (this.heard !== null && this.heard !== this.known && this.heard !== this.told) {
      this.told = this.heard;
      this.say("revision", this.heard);
    }
  }

  close() {
    clearTimeout(this.timer);
    this.socket.onclose = this.socket.onmessage = null;
    this.socket.close();
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const place = new URL(data.path, document.baseURI);
  place.protocol = place.protocol.replace("http", "ws");
  place.search = new URLSearchParams({ agent: data.agent });
  let listener = listeners.get(parentElement);
  if (listener && listener.place !== place.href) {
    listener.close();
    listener = undefined;
  }
  if (!listener) {
    listener = new Listener(place.href);
    listeners.set(parentElement, listener);
  }
  listener.known = data.revision;
  listener.say = setTriggerValue;
  listener.tell();
  return () => {
    listener.close();
    listeners.delete(parentElement);
  };
}
