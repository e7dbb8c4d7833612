"""The browser dashboard in which people inspect and curate an agent's memories."""
