"""The page set-up, the agent picker and the list of pages: nothing else."""

import sys
from pathlib import Path

ROOT = str(Path(__file__).resolve().parents[1])
if ROOT not in sys.path:  # ``streamlit run dashboard/app.py`` puts this folder there instead
    sys.path.insert(0, ROOT)

import streamlit as st  # noqa: E402

from dashboard import cast, drafts, looking_back, news, rehearsing, session, standing, unsent, widgets  # noqa: E402
from memory_system import MemorySystemError  # noqa: E402

st.set_page_config(page_title="Memory system", page_icon="🧠", layout="wide")
st.logo(str(Path(__file__).with_name("logo.svg")), size="large")
widgets.style()

pages = {
    "": [st.Page("views/overview.py", title="Overview", icon=":material/home:", default=True)],
    "Talk": [st.Page("views/interview.py", title="Interview", icon=":material/forum:")],
    "Inspect": [
        st.Page("views/recall.py", title="Recall", icon=":material/search:"),
        st.Page("views/long_term.py", title="Long-term", icon=":material/timeline:"),
        st.Page("views/history.py", title="History", icon=":material/history:"),
        st.Page("views/relive.py", title="Re-live", icon=":material/replay:"),
    ],
    "Curate": [
        st.Page("views/personality.py", title="Personality", icon=":material/badge:"),
        st.Page("views/short_term.py", title="Short-term", icon=":material/bolt:"),
        st.Page("views/operations.py", title="Operations", icon=":material/autorenew:"),
        st.Page("views/tidy.py", title="Tidy", icon=":material/cleaning_services:"),
        st.Page("views/rehearsal.py", title="Rehearsal", icon=":material/theater_comedy:"),
    ],
    "Set up": [st.Page("views/settings.py", title="Settings", icon=":material/tune:")],
}
page = st.navigation(pages)
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
        st.info("There is no character yet. Make one.")
        cast.manage(None)
except MemorySystemError as error:
    widgets.problem(error)
