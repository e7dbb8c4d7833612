"""Settings: of the character, of the world and its language model, and what keeps it all safe."""

import streamlit as st

from dashboard import session
from dashboard.components import tabs, widgets
from dashboard.views.settings import (
    character_settings,
    embedder_settings,
    known_settings,
    model_settings,
    prompt_settings,
    safekeeping,
    world_time,
)
from memory_system.errors import NotAllowed

agent = session.agent()
widgets.heading("Settings", "How this character remembers, and settings of its world.", agent)
widgets.said()
GENERAL = "general"
PARTS = {  # by its word in the link
    GENERAL: "General",
    model_settings.LINK: "Language model",
    prompt_settings.LINK: "Prompts",
    known_settings.LINK: "World",
    safekeeping.LINK: "Backup",
}
parts, opened = tabs.linked(PARTS, "settings-part", "part")

if session.moment() is not None or session.viewing():
    with parts[GENERAL]:
        character_settings.then(agent, session.present().settings)
    for part, tab in parts.items():
        with tab:
            widgets.closed(agent)
            if part == known_settings.LINK and session.moment() is None:
                known_settings.show(agent)
    st.stop()
with parts[GENERAL]:
    character_settings.show(agent)
    world_time.show()
    embedder_settings.show()
for part, show in (
    (model_settings.LINK, model_settings.show),
    (prompt_settings.LINK, prompt_settings.show),
    (known_settings.LINK, known_settings.show),
):
    with parts[part]:
        try:
            show(agent)
        except NotAllowed as error:  # what is refused in one part leaves the others standing
            widgets.problem(error)
with parts[safekeeping.LINK]:
    if opened == safekeeping.LINK:
        safekeeping.check()
        safekeeping.backup()
        safekeeping.restore()
