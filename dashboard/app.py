"""The page set-up, the agent picker and the list of pages: nothing else."""

import sys
from pathlib import Path

ROOT = str(Path(__file__).resolve().parents[1])
if ROOT not in sys.path:  # ``streamlit run dashboard/app.py`` puts this folder there instead
    sys.path.insert(0, ROOT)

import streamlit as st  # noqa: E402

from dashboard import session  # noqa: E402
from dashboard.components import cast, drafts, mounting, places, recent, rehearsing, widgets  # noqa: E402
from dashboard.components.frame import head, looking_back, news, palette, showing, standing  # noqa: E402
from dashboard.views import INSTALLATION, NEW, PAGES, WORLDS  # noqa: E402
from memory_system import MemorySystemError  # noqa: E402

st.set_page_config(page_title="Memory system", page_icon="🧠", layout="wide")
st.logo(str(Path(__file__).with_name("logo.svg")), size="large")
widgets.style()

page = st.navigation(
    [st.Page(page_of.script, title=page_of.title, icon=page_of.icon, default=page_of is PAGES[0]) for page_of in PAGES],
    position="hidden",
)
drafts.keep_tables()
try:
    standing.admit()
    session.follow()
    session.on_page(page.title)
    room = st.sidebar.container(key="places", gap=None)
    astray = session.pick_agent()
    if session.world().agents():
        showing.settle()
    if session.world().agents() and not showing.presenting():
        with room:
            palette.show()
    places.sidebar(room)
    standing.visitor()
    mounting.hold_clicks()
    mounting.step_back()
    mounting.show_refusals()
    mounting.say_what_does_not_fit()
    mounting.keep_to_ranges()
    mounting.enter_popovers()
    if session.world().agents():
        with room:
            recent.opener()
        places.foot()
        head.show(plain=showing.presenting())
        showing.bar()
        if session.wants_new():
            st.switch_page(str(NEW.script))
        if astray:
            st.warning("The character in the link does not exist here; showing another one.")
        standing.came()
        standing.banner(session.present())
        looking_back.banner()
        rehearsing.banner(session.present().name)
        with news.watched():
            page.run()
    elif page.title in (NEW.title, WORLDS.title, INSTALLATION.title):
        places.foot()
        standing.came()
        page.run()
    else:
        places.foot()
        standing.came()
        widgets.heading(page.title, "No characters yet.")
        st.page_link(NEW.script, label="Create the first character", icon=NEW.icon)
        cast.manage(None)
        st.page_link(WORLDS.script, label="Switch to another world, or copy one", icon=WORLDS.icon)
except MemorySystemError as error:
    widgets.problem(error)
finally:
    session.drawn.set()
