"""Keys of language model servers in the system's own keyring. The only module that imports keyring.

A key is kept under the address that it was set for, and so is sent nowhere else. What a keyring says when it fails is
not passed on, since nobody knows what it quotes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..errors import ModelUnavailable
from .threads import within

SERVICE = "memory-system"
_SECONDS = 20.0
"""A locked keyring asks its owner on the screen, who may not be there."""
_REAL = 1.0
"""The priority from which keyring recommends a backend; plain files and stand-ins lie below."""
Answer = TypeVar("Answer")


def available() -> str:
    """The name of the system's keyring; empty if there is none that keeps a secret."""

    def ask() -> str:
        import keyring  # a quarter of a second, which few need

        held = keyring.get_keyring()
        return str(held.name) if held.priority >= _REAL else ""

    try:
        return _answered(ask, "be found")
    except ModelUnavailable:
        return ""


def kept(endpoint: str) -> str:
    """The key that was kept for this address; empty if none was.

    Raises:
        ModelUnavailable: the keyring does not hand it out.
    """

    def ask() -> str:
        import keyring

        return keyring.get_password(SERVICE, endpoint) or ""

    return _answered(ask, "hand out the key")


def keep(endpoint: str, key: str) -> None:
    """Keep the key for this address.

    Raises:
        ModelUnavailable: the keyring does not take it.
    """

    def ask() -> None:
        import keyring

        keyring.set_password(SERVICE, endpoint, key)

    _answered(ask, "take the key")


def drop(endpoint: str) -> None:
    """Keep no key for this address any more.

    Raises:
        ModelUnavailable: the keyring does not let it go.
    """

    def ask() -> None:
        import keyring

        if keyring.get_password(SERVICE, endpoint) is not None:
            keyring.delete_password(SERVICE, endpoint)

    _answered(ask, "let the key go")


def _answered(ask: Callable[[], Answer], what: str) -> Answer:
    """What the keyring answers; it may wait for a person, or fail with any error that the system beneath it has."""
    try:
        return within(_SECONDS, ask, "keyring")
    except TimeoutError:
        problem = f"The system's keyring did not {what} in {_SECONDS:.0f} seconds. Unlock it"
    except Exception as error:  # noqa: BLE001 - backends raise what the systems beneath them do
        problem = f"The system's keyring did not {what} ({type(error).__name__}). Mend it"
    raise ModelUnavailable(f"{problem}, keep the key for this session only, or set OPENAI_API_KEY.")
