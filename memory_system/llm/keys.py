"""Keys of language model servers in the system's own keyring. The only module that imports keyring.

A key is kept under the address that it was set for, and so is sent nowhere else. A keyring's own error messages are
not passed on, since it is unknown what they quote.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..errors import ModelUnavailable
from .threads import within

SERVICE = "memory-system"
_SECONDS = 20.0
"""A locked keyring asks its owner on the screen, who may be away."""
_REAL = 1.0
"""The priority from which keyring recommends a backend; plain files and placeholders have lower ones."""
Answer = TypeVar("Answer")


def available() -> str:
    """The name of the system's keyring; empty if there is none that keeps a secret."""

    def ask() -> str:
        import keyring  # takes a quarter of a second, and few need it

        backend = keyring.get_keyring()
        return str(backend.name) if backend.priority >= _REAL else ""

    try:
        return _answered(ask, "be found")
    except ModelUnavailable:
        return ""


def kept(endpoint: str) -> str:
    """The stored key for this address; empty if there is none.

    Raises:
        ModelUnavailable: the keyring does not return it.
    """

    def ask() -> str:
        import keyring

        return keyring.get_password(SERVICE, endpoint) or ""

    return _answered(ask, "hand out the key")


def keep(endpoint: str, key: str) -> None:
    """Store the key for this address.

    Raises:
        ModelUnavailable: the keyring does not accept it.
    """

    def ask() -> None:
        import keyring

        keyring.set_password(SERVICE, endpoint, key)

    _answered(ask, "take the key")


def drop(endpoint: str) -> None:
    """Delete the key for this address.

    Raises:
        ModelUnavailable: the keyring does not delete it.
    """

    def ask() -> None:
        import keyring

        if keyring.get_password(SERVICE, endpoint) is not None:
            keyring.delete_password(SERVICE, endpoint)

    _answered(ask, "let the key go")


def _answered(ask: Callable[[], Answer], what: str) -> Answer:
    """The keyring's answer; it may wait for a person, or fail with any error of the underlying system."""
    try:
        return within(_SECONDS, ask, "keyring")
    except TimeoutError:
        problem = f"The system's keyring did not {what} in {_SECONDS:.0f} seconds. Unlock it"
    except Exception as error:  # noqa: BLE001 - backends raise the errors of the underlying systems
        problem = f"The system's keyring did not {what} ({type(error).__name__}). Mend it"
    raise ModelUnavailable(f"{problem}, keep the key for this session only, or set OPENAI_API_KEY.")
