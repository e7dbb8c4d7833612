"""Installation: the language model, the prompts, the world that all characters share, and safekeeping."""

import streamlit as st

from dashboard import session
from dashboard.components import bulk, tabs, widgets
from dashboard.components.frame import showing
from dashboard.views.installation import (
    embedder_settings,
    known_settings,
    model_settings,
    prompt_settings,
    safekeeping,
    world_time,
)
from memory_system.errors import NotAllowed

agent = session.agent() if session.world().agents() else None
widgets.heading("Installation", "What all characters of this world share.")
bulk.last()
if agent is not None:
    showing.opener()
PARTS = {  # by its word in the link
    model_settings.LINK: "Language model",
    prompt_settings.LINK: "Prompts",
    known_settings.LINK: "World",
    safekeeping.LINK: "Backup",
}
parts, opened = tabs.linked(PARTS, "settings-part", "part")

if session.moment() is not None or session.viewing():
    for part, tab in parts.items():
        with tab:
            if agent is None:
                widgets.empty("No characters yet.", "Create one first.")
                continue
            widgets.closed(agent)
            if part == known_settings.LINK and session.moment() is None:
                known_settings.show(agent)
    st.stop()
with parts[model_settings.LINK]:
    try:
        model_settings.show()
    except NotAllowed as error:  # a refusal in one part leaves the others usable
        widgets.problem(error)
for part, show in ((prompt_settings.LINK, prompt_settings.show), (known_settings.LINK, known_settings.show)):
    with parts[part]:
        try:
            if agent is None:
                widgets.empty("No characters yet.", "Create one first.")
            else:
                show(agent)
        except NotAllowed as error:
            widgets.problem(error)
with parts[known_settings.LINK]:
    world_time.show()
    embedder_settings.show()
with parts[safekeeping.LINK]:
    if opened == safekeeping.LINK:
        safekeeping.check()
        safekeeping.backup()
        safekeeping.restore()
