"""Components of our own stay, however the page is drawn while their scripts load."""

from __future__ import annotations

from importlib.resources import files

import pytest
from playwright.sync_api import Page

_MOUNTED = """async script => {
  const mounted = new Function(`${script}; return mounted;`)();
  const left = [];
  class View {
    show(data) { this.data = data; }
    leave() { left.push(this.data); }
  }
  const parentElement = document.body;
  const draw = (data) => mounted(View, { data, parentElement, setTriggerValue() {} });
  const over = () => new Promise((done) => setTimeout(done));
  const first = draw("old");
  const second = draw("new");
  first();  // as Streamlit does, which heard of the new data while the script was loading
  await over();
  const stayed = left.length === 0;
  second();
  await over();
  return { stayed, left };
}"""


@pytest.mark.full
def test_what_is_shown_last_stays_when_what_was_shown_before_is_taken_away(page: Page) -> None:
    script = files("dashboard").joinpath("components/common.js").read_text(encoding="utf-8")
    assert page.evaluate(_MOUNTED, script) == {"stayed": True, "left": ["new"]}
