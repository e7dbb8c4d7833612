"""The page set-up, the agent picker and the list of pages: nothing else."""

import sys
from pathlib import Path

ROOT = str(Path(__file__).resolve().parents[1])
if ROOT not in sys.path:  # ``streamlit run dashboard/app.py`` puts this folder there instead
    sys.path.insert(0, ROOT)

import streamlit as st  # noqa: E402

from dashboard import session  # noqa: E402
from dashboard.components import cast, drafts, looking_back, news, rehearsing, standing, unsent, widgets  # noqa: E402
from dashboard.views import PAGES, SECTIONS  # noqa: E402
from memory_system import MemorySystemError  # noqa: E402

st.set_page_config(page_title="Memory system", page_icon="🧠", layout="wide")
st.logo(str(Path(__file__).with_name("logo.svg")), size="large")
widgets.style()

page = st.navigation(
    {
        section: [st.Page(one.script, title=one.title, icon=one.icon, default=one is PAGES[0]) for one in pages]
        for section, pages in SECTIONS.items()
    }
)
drafts.keep_tables()
try:
    standing.admit()
    session.pick_agent()
    standing.visitor()
    unsent.hold_clicks()
    session.on_page(page.title)
    if session.world().agents():
        looking_back.control()
        standing.banner(session.present())
        looking_back.banner()
        rehearsing.banner(session.present().name)
        with news.watched():
            page.run()
    else:
        st.info("No characters yet. Create one.")
        cast.manage(None)
except MemorySystemError as error:
    widgets.problem(error)
finally:
    session.drawn.set()
