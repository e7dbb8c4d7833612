"""Settings: how this character remembers."""

import streamlit as st

from dashboard import session
from dashboard.components import bulk, widgets
from dashboard.views.settings import character_settings

if part := session.from_link("part"):  # what is now behind the gear icon used to be on this page
    st.switch_page(
        "views/installation/installation.py", query_params={"agent": st.session_state["agent"], "part": part}
    )
agent = session.agent()
widgets.heading("Settings", "How this character remembers.", agent)
bulk.last()
if session.moment() is not None or session.viewing():
    character_settings.then(agent, session.present().settings)
    widgets.closed(agent)
else:
    character_settings.show(agent)
