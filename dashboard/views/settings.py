"""Settings: of the character, of the world and its language model, and what keeps it all safe."""

import streamlit as st

from dashboard import character_settings, model_settings, prompt_settings, safekeeping, session, widgets, world_time
from memory_system.errors import NotAllowed

agent = session.agent()
widgets.heading("Settings", "How this character remembers, and what its whole world uses.", agent)
widgets.said()
PARTS = {
    "General": None,
    "Language model": model_settings.LINK,
    "Prompts": prompt_settings.LINK,
    "Backup and check": safekeeping.LINK,
}
linked = session.from_link("part")
first = next((name for name, link in PARTS.items() if link == linked), "General")
tabs = st.tabs(list(PARTS), default=first, key="settings-part", on_change="rerun")
set_up, model, prompts, safe = tabs
session.to_link("part", next((link for tab, link in zip(tabs, PARTS.values(), strict=True) if tab.open), None))

if session.moment() is not None or session.viewing():
    with set_up:
        character_settings.then(agent, session.present().settings)
    for tab in tabs:
        with tab:
            widgets.closed(agent)
    st.stop()
with set_up:
    character_settings.show(agent)
    world_time.show()
for tab, show in ((model, model_settings.show), (prompts, prompt_settings.show)):
    with tab:
        try:
            show(agent)
        except NotAllowed as error:  # what is refused in one part leaves the others standing
            widgets.problem(error)
with safe:
    if safe.open:
        safekeeping.check()
        safekeeping.backup()
        safekeeping.restore()
