"""The personality file of one agent on disk, where people edit it with other programs."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from ..core import personality as static_memory
from ..core.change_set import ChangeSet
from ..core.files import State, at_rest, state_of
from ..errors import InvalidPersonality, StoreError


class PersonalityFile:
    """Notices edits: reads the file if it changed, or changed so recently that another edit could look the same."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: State | None = None

    def edited(self) -> str | None:
        """The text, if the file may have been edited since the last call of ``seen``; ``None`` if not, or if missing.

        Raises:
            InvalidPersonality: the file is too large, or not UTF-8.
        """
        return None if self._about() in (self._seen, None) else static_memory.read(self.path)

    def seen(self) -> None:
        """Treat the present file as known."""
        state = self._about()
        self._seen = state if state is not None and at_rest(state) else None

    def write_if_missing(self, text: str) -> None:
        """Write the text in use, if its file was deleted."""
        if not self.path.exists():
            static_memory.write(self.path, text)

    def text(self) -> str | None:
        """The text on disk, valid or not; ``None`` if it cannot be read."""
        try:
            return static_memory.read(self.path)
        except InvalidPersonality:
            return None

    def put_back(self, text: str) -> None:
        """Write the text; a different file on disk is kept next to it as ``<name>.json.broken-<n>``."""
        if self.path.exists() and self.text() != text:
            self._set_aside()
        static_memory.write(self.path, text)

    def set_aside_if_broken(self) -> None:
        """Make way for a valid personality: an invalid file is kept under another name."""
        if self.path.exists() and self.problem(None) is not None:
            self._set_aside()

    def _set_aside(self) -> None:
        number = 1
        while (aside := self.path.with_name(f"{self.path.name}.broken-{number}")).exists():
            number += 1
        self.path.rename(aside)

    def _about(self) -> State | None:
        try:
            return state_of(self.path)
        except OSError:  # missing, or a link that leads nowhere: ``problem`` reports it
            return None

    def problem(self, held: str | None) -> str | None:
        """What is wrong with the file, in a sentence, while ``held`` is in use; ``None`` if it is in order."""
        stays = "" if held is None else " The last good personality stays in use."
        try:
            text = static_memory.read(self.path)
            if text is None:
                return None if held is None else f"{self.path.name} is missing.{stays} Save it again to write the file."
            static_memory.parse(text, self.path.name)
        except InvalidPersonality as error:
            mend = "" if held is None else " Fix the file, or put the good one back."
            return f"{error.sentence}.{stays}{mend}"
        return None


def write_as_changed(path: Path, change_set: ChangeSet) -> None:
    """Write the personality as changed by a change set; a file that was edited since is left alone."""
    for text in change_set.texts:
        if text.name == "personality" and _holds(path, text.before):
            static_memory.write(path, text.after)


def follow_in_file(path: Path, change_set: ChangeSet) -> None:
    """The same for a change by another machine; the next opening reports a file that cannot be written."""
    with suppress(OSError, StoreError):
        write_as_changed(path, change_set)


def _holds(path: Path, text: str | None) -> bool:
    """Whether the file is as before a change, or gone."""
    try:
        return static_memory.read(path) in (None, text)
    except InvalidPersonality:
        return False
