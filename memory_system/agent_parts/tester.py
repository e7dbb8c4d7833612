"""AgentTester: saved cues that must stay answered, and judgments of what is recalled."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.change_set import ChangeSet, TextChange, short
from ..errors import CueNotFound, EntryNotFound, InvalidParameter, shown
from ..operations import edit
from ..recall.cues import (
    SavedCue,
    dump_cues,
    dump_judgments,
    name_key,
    parse_cues,
    parse_judgments,
    with_cue,
    with_verdict,
)
from ..recall.query import checked_cue
from .deriver import AgentDeriver
from .reader import OWN_SETTINGS, CueResult, Precision

__all__ = ["OWN_SETTINGS", "AgentTester", "CueResult", "Precision"]

_WORDS = {True: "right", False: "wrong"}


class AgentTester(AgentDeriver):
    """The testing part: cues saved by name, and thumbs up or down. All of it is journalled and can be undone."""

    def save_cue(
        self,
        name: str,
        cue: str,
        must: str | Sequence[str] = (),
        must_not: str | Sequence[str] = (),
        *,
        preview: bool = False,
    ) -> ChangeSet:
        """Save a cue by name, with what it must and must not recall; one of the same name is replaced.

        Args:
            name: 1 to 80 characters; its case does not tell it apart from another.
            cue: what memory is asked, 1 to 32,000 characters.
            must: ids of memories that have to be recalled, at most 100.
            must_not: ids of memories that may not be, at most 100; forgotten ones are taken.
            preview: whether to plan only.

        Raises:
            InvalidParameter: a name, cue or list is not as described, or 200 cues are saved already.
            EntryNotFound: there is no memory of an id in ``must``, or never was one of an id in ``must_not``.
            StaleChange: somebody else changed the saved cues at the same moment. Nothing was changed.
        """
        saved = SavedCue(name, cue, tuple(edit.listed(must)), tuple(edit.listed(must_not)))
        for entry_id in saved.must:
            if self.find(entry_id) is None:
                raise EntryNotFound(f"There is no memory {shown(entry_id)}, so it cannot be one that must be recalled.")
        for entry_id in saved.must_not:
            self.last_version(entry_id)
        held = self._ledger.text("cues")
        cues = parse_cues(held)
        after = with_cue(cues, saved)
        text = held if after == cues else dump_cues(after)
        return self._keep(TextChange("cues", held, text), f"Save the cue “{saved.name}”", preview)

    def remove_cue(self, name: str, *, preview: bool = False) -> ChangeSet:
        """Take a saved cue away; the case of the name does not matter.

        Raises:
            CueNotFound: none is called so.
        """
        key = name_key(name)
        held = self._ledger.text("cues")
        cues = parse_cues(held)
        removed = next((one for one in cues if name_key(one.name) == key), None)
        if removed is None:
            raise CueNotFound(f"{self.name} has no saved cue {shown(name)}.")
        text = dump_cues([one for one in cues if one is not removed])
        return self._keep(TextChange("cues", held, text), f"Remove the cue “{removed.name}”", preview)

    def judge(self, cue: str, entry_id: str, verdict: bool | None, *, preview: bool = False) -> ChangeSet:
        """Say that a memory is a right (true) or a wrong (false) answer to a cue, or take that back (``None``).

        Raises:
            InvalidParameter: the cue or the verdict is none, or there is room for no other.
            EntryNotFound: there is no such memory, unless it is taken back.
            StaleChange: somebody else judged at the same moment. Nothing was changed.
        """
        asked = checked_cue(cue).strip()
        if verdict is not None and not isinstance(verdict, bool):
            raise InvalidParameter(f"The verdict is true, false, or None to take it back, not {shown(verdict)}.")
        if not isinstance(entry_id, str):
            raise InvalidParameter(f"The id of a memory must be text, not {shown(entry_id)}.")
        entry = self.find(entry_id) if verdict is not None else self.last_version(entry_id)
        if entry is None:
            raise EntryNotFound(f"There is no memory {shown(entry_id)}, so it cannot be judged.")
        held = self._ledger.text("judgments")
        judgments = parse_judgments(held)
        after = with_verdict(judgments, asked, entry.id, verdict)
        text = held if after == judgments else dump_judgments(after)
        what = f"“{short(entry.document)}” for “{short(asked)}”"
        title = f"Take back the judgment of {what}" if verdict is None else f"Judge {what}: {_WORDS[verdict]}"
        return self._keep(TextChange("judgments", held, text), title, preview)

    def _keep(self, text: TextChange, title: str, preview: bool) -> ChangeSet:
        """Planned without a ``Ground``: that reads all memories, and a thumb has to be quick."""
        texts = (text,) if text.before != text.after else ()
        plan = ChangeSet(
            text.name,
            title if texts else "Nothing to change",
            (),
            self.now,
            self._ledger.revision,
            author=self.author,
            texts=texts,
            agent=self.name,
        )
        return self._done(plan, preview)
