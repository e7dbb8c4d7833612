"""A keyring like a desktop's, which lasts as long as the test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import keyring
from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError


class DrawerKeyring(KeyringBackend):
    """Keeps secrets in a dictionary; locked, it returns none."""

    priority = 5  # type: ignore[assignment]  # keyring's own is computed

    def __init__(self) -> None:
        super().__init__()
        self.held: dict[tuple[str, str], str] = {}
        self.locked = False
        self.asked = 0

    @property
    def name(self) -> str:  # type: ignore[override]
        return "Drawer"

    def get_password(self, service: str, username: str) -> str | None:
        self.asked += 1
        if self.locked:
            raise OSError("locked; the last secret was sk-quoted-in-an-error")
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        if self.locked:
            raise OSError(f"locked; could not keep {password}")
        self.held[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if (service, username) not in self.held:
            raise PasswordDeleteError("there is none")
        del self.held[service, username]


@contextmanager
def drawer() -> Iterator[DrawerKeyring]:
    """A machine with a keyring."""
    before, own = keyring.get_keyring(), DrawerKeyring()
    keyring.set_keyring(own)
    try:
        yield own
    finally:
        keyring.set_keyring(before)
