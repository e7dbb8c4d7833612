"""A life that is being written: the content of its fields outlives the page, and its link outlives a reload."""

from __future__ import annotations

import secrets
from typing import Any

import streamlit as st

from ... import session

_LINK = "draft"
_CURRENT = "new-life"
_MOST = 200
"""How many lives this server keeps at once; the one unused for longest is dropped first."""
_GONE = "new-gone"


@st.cache_resource(show_spinner=False)
def _lives() -> dict[str, dict[str, Any]]:
    """The content of the fields of the lives that were begun on this server, by the word in their link."""
    return {}


class Life:
    """The content of the fields of a character that does not exist yet."""

    def __init__(self, token: str) -> None:
        self.token = token

    @classmethod
    def current(cls) -> Life:
        """The life in the link, or the session's, or a new one; the link names it from then on."""
        asked, lives = session.from_link(_LINK), _lives()
        token = str(st.session_state.get(_CURRENT, ""))
        if asked and asked != token:
            st.session_state[_GONE] = asked not in lives
            token = asked if asked in lives else token
        life = cls(token or secrets.token_hex(8))
        st.session_state[_CURRENT] = life.token
        session.to_link(_LINK, life.token)
        for name, value in lives.get(life.token, {}).items():
            if life.key(name) not in st.session_state:
                st.session_state[life.key(name)] = value
        return life

    @property
    def lost(self) -> bool:
        """Whether the link named a life that is no longer kept."""
        return bool(st.session_state.get(_GONE))

    def key(self, name: str) -> str:
        """The key of a field, for its widget or for a derived value."""
        return f"new-{self.token}-{name}"

    def get(self, name: str, default: Any = None) -> Any:
        """The content of a field."""
        return st.session_state.get(self.key(name), default)

    def put(self, name: str, value: Any) -> None:
        """Set a field; call it before its widget is drawn, or from a callback."""
        st.session_state[self.key(name)] = value

    def keep(self, *names: str) -> None:
        """Make this server keep the content of these fields, so that it survives a reload."""
        lives = _lives()
        lives.pop(self.token, None)
        lives[self.token] = {name: self.get(name) for name in names if self.key(name) in st.session_state}
        while len(lives) > _MOST:
            del lives[next(iter(lives))]

    def end(self) -> None:
        """Forget it: it is a character now, or was discarded. The next one begins empty."""
        _lives().pop(self.token, None)
        for key in [key for key in st.session_state if str(key).startswith(f"new-{self.token}-")]:
            del st.session_state[key]
        st.session_state.pop(_CURRENT, None)
        st.session_state.pop(_GONE, None)
        session.to_link(_LINK, None)
