// On the page Memory, an address that it has had since it was come to, and now has again, is gone back to and not put on
// top: after a memory was opened and closed, "Back" leads to the page before, and does not open it once more. Streamlit
// puts every address on top. On other pages, and in browsers that do not tell their entries, that stays as it is: a page
// that is left in the same run, as by "Create", must not be gone back to.
//
// What a page takes from its address only when it is come to, such as an open tab, takes the place of what stood there:
// "Back" would show the old address, change nothing, and have to be pressed once for each tab that was opened; and once
// more where a page says in its address what it shows at first.
const PAGE = /\/memory\/?$/;
const WHEN_COME_TO = [
  [/\/interview\/?$/, ["show", "mode", "talk"]], [/\/history\/?$/, ["change"]], [/\/cast\/?$/, ["with", "cue", "show"]],
  [/\/memory_map\/?$/, ["of"]], [/\/operations\/?$/, ["operation"]], [/\/installation\/?$/, ["part"]],
];
// So does the first cue on Recall: without one, the page shows the last again.
const FROM_NOTHING = [/\/recall\/?$/, "cue"];
// What a page that is come to says in its address at once may arrive before its name does: then it was put on the address
// of the page that is left. That entry becomes the one of the page that is come to. What follows so soon is one step.
const AHEAD_MS = 500;
const LATEST_MS = 1000;
const push = history.pushState.bind(history);
let last = null; // the address that was put last, what stood there before, whether on top of it, and when
let going = null; // what is gone back to, and what Streamlit wants meanwhile

const canonical = (address) => {
  const url = new URL(address, location.href);
  return `${url.pathname}?${[...url.searchParams].map(String).sort().join("&")}`;
};

function sameButFor(names, address) {
  const [there, here] = [address, location.href].map((one) => new URL(one, location.href));
  for (const name of names) [there, here].forEach((url) => url.searchParams.delete(name));
  return canonical(there) === canonical(here);
}

function earlier(address) {
  const { currentEntry, entries } = window.navigation, wanted = canonical(address);
  const all = entries.call(window.navigation);
  for (let at = currentEntry.index - 1; at >= 0; at -= 1) {
    if (!all[at].sameDocument || new URL(all[at].url).pathname !== location.pathname) return null;
    if (canonical(all[at].url) === wanted) return all[at];
  }
  return null;
}

function settle(next) {
  going = null;
  if (next && canonical(next[2]) !== canonical(location.href)) push(...next);
}

function put(...wanted) {
  const before = location.href, there = new URL(wanted[2] ?? "", before), stays = there.pathname === location.pathname;
  const soon = last?.put === before && performance.now() - last.at < AHEAD_MS;
  if (soon && stays) {
    history.replaceState(...wanted);
    last = { ...last, put: location.href, at: performance.now() };
    return;
  }
  const ahead = soon && there.search === location.search;
  if (ahead && !last.onTop) history.replaceState(history.state, "", last.before);
  const [page, name] = FROM_NOTHING, first = page.test(location.pathname) && !new URL(before).searchParams.has(name);
  const names = first ? [name] : WHEN_COME_TO.find(([one]) => one.test(location.pathname))?.[1];
  const onTop = !(names && sameButFor(names, there));
  if (onTop && !(ahead && last.onTop)) push(...wanted);
  else history.replaceState(...wanted);
  last = stays ? { put: location.href, before, onTop, at: performance.now() } : null;
}

for (const act of ["click", "keydown"]) {
  addEventListener(act, ({ key = "Enter" }) => { if (key === "Enter") last = null; }, true);
}

history.pushState = put;
if (window.navigation?.entries) {
  history.pushState = (...wanted) => {
    if (going) {
      going.next = wanted;
      return;
    }
    const there = new URL(wanted[2] ?? "", location.href).pathname;
    const entry = PAGE.test(there) && there === location.pathname && earlier(wanted[2] ?? "");
    if (!entry) {
      put(...wanted);
      return;
    }
    const mine = going = { next: null };
    window.navigation.traverseTo(entry.key).finished.then(
      () => setTimeout(() => { if (going === mine) settle(mine.next); }, LATEST_MS), // it comes before, as popstate
      () => { if (going === mine) settle(mine.next ?? wanted); }, // something else was gone to first
    );
  };
  // Streamlit knows the address already: it would run the page again, and take a field's text with it.
  addEventListener("popstate", (event) => {
    if (!going) return;
    event.stopImmediatePropagation();
    settle(going.next);
  }, true);
}

export default function () {} // listens once, from when it is loaded
