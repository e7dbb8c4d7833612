"""Purging: what memories said leaves every row of the journal, in the transaction that tells of it.

What stays is that they were: their ids, tiers, kinds and times, so that the history still hangs together.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from .changes import RATE, TEXTS, ChangeSet, dump_entry, load_entry, short
from .entry import MemoryEntry
from .errors import StaleChange
from .journal_rows import slices
from .journal_tables import CHANGE_SETS, CHANGES, ENTRIES, PURGED, QUERIES, VECTORS, upsert
from .journal_vectors import content_hash

PURGED_TEXT = "(purged)"
"""What stands in the place of a text that was purged."""

_HEAD = 12
"""Characters by which a text is found within another; a shorter one counts only as a whole between quotation marks."""
_QUOTED = re.compile(r"(“|\")([^“”\"]{1,12})(”|\")")


def tombstone(entry: MemoryEntry) -> MemoryEntry:
    """What is left of a memory that was purged."""
    return MemoryEntry(PURGED_TEXT, id=entry.id, tier=entry.tier, kind=entry.kind, timestamp=entry.timestamp)


def refuse_purged(db: sa.Connection, change_set: ChangeSet) -> None:
    """Let nothing that was purged come back by a plan that was made before.

    Raises:
        StaleChange: it would bring such a memory back, or a model was told of memories before one was purged.
    """
    coming = [change.entry_id for change in change_set.changes if change.before is None]
    later = PURGED.c.revision > change_set.base_revision
    if any(db.scalar(sa.select(sa.exists().where(PURGED.c.entry_id.in_(some), later))) for some in slices(coming)):
        raise StaleChange("A memory that this would bring back was purged for good since. Preview it again.")
    told = any(call.task != RATE for call in change_set.calls)
    if told and db.scalar(sa.select(sa.exists().where(later))):
        raise StaleChange(
            "A memory was purged for good since this was planned, and the language model may have been told of it. "
            "Preview it again."
        )


class Scrubber:
    """Takes texts out of other texts, in each of the forms in which the history writes them.

    Args:
        texts: what is to be found no more.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        forms = {form for text in texts for form in _forms(text)}
        self._small = {form for form in forms if len(form) <= _HEAD}
        self._by_head: dict[str, list[str]] = {}
        for form in sorted(forms, key=len, reverse=True):
            if len(form) >= _HEAD:
                self._by_head.setdefault(form[:_HEAD], []).append(form)

    def clean(self, told: str) -> str:
        """The text without them."""
        parts, kept, at = [], 0, 0
        while self._by_head and at <= len(told) - _HEAD:
            forms = self._by_head.get(told[at : at + _HEAD], ())
            form = next((form for form in forms if told.startswith(form, at)), None)
            if form is None:
                at += 1
                continue
            parts += [told[kept:at], PURGED_TEXT]
            at = kept = at + len(form)
        told = "".join([*parts, told[kept:]])
        if self._small:
            told = _QUOTED.sub(self._unquoted, told)
        return told

    def _unquoted(self, found: re.Match[str]) -> str:
        return f"{found[1]}{PURGED_TEXT}{found[3]}" if found[2] in self._small else found[0]

    def tells(self, told: str) -> bool:
        """Whether one of them is in it."""
        return self.clean(told) != told or " ".join(told.split()) in self._small


def _forms(text: str) -> set[str]:
    line = " ".join(text.split())
    forms = {text, text.strip(), line, short(text), text[:60].strip()}
    escaped = forms | _escaped(forms)
    # once more: what a model calls a function with is JSON in a text, and its answer is kept as JSON again
    return {form for form in escaped | _escaped(escaped) if form}


def _escaped(forms: Iterable[str]) -> set[str]:
    return {json.dumps(form, ensure_ascii=ascii_only)[1:-1] for form in forms for ascii_only in (True, False)}


def purge(db: sa.Connection, revision: int, ids: Sequence[str]) -> None:
    """Take what these memories said before this revision out of the journal, and note that it was.

    The bytes are gone when the file has been written anew; see ``Journal.compact``.
    """
    said: list[MemoryEntry] = []
    for some in slices(ids):
        query = sa.select(CHANGES).where(CHANGES.c.entry_id.in_(some), CHANGES.c.revision < revision)
        for row in db.execute(query).all():
            ends = [load_entry(row.before), load_entry(row.after)]
            said += [end for end in ends if end is not None and end.document != PURGED_TEXT]
            left = dict(zip(("before", "after"), (dump_entry(end and tombstone(end)) for end in ends), strict=True))
            place = sa.and_(CHANGES.c.revision == row.revision, CHANGES.c.position == row.position)
            db.execute(sa.update(CHANGES).where(place).values(left))
    texts = {entry.document for entry in said}
    scrubber = Scrubber(texts)
    _clean_reasons(db, scrubber)
    _clean_heads(db, scrubber, Scrubber(texts | {entry.explanation for entry in said if entry.explanation}))
    asked = db.execute(sa.select(QUERIES.c.number, QUERIES.c.cue)).all()
    for some in slices([row.number for row in asked if scrubber.tells(row.cue)]):
        db.execute(sa.delete(QUERIES).where(QUERIES.c.number.in_(some)))
    for some in slices([content_hash(text) for text in texts]):
        shared = sa.select(ENTRIES.c.hash).where(ENTRIES.c.hash.in_(some))
        db.execute(sa.delete(VECTORS).where(VECTORS.c.hash.in_(some), VECTORS.c.hash.not_in(shared)))
    upsert(db, PURGED, [{"entry_id": entry_id, "revision": revision} for entry_id in ids])


def _clean_reasons(db: sa.Connection, scrubber: Scrubber) -> None:
    rows = db.execute(sa.select(CHANGES.c.revision, CHANGES.c.position, CHANGES.c.reason)).all()
    for row in rows:
        if (left := scrubber.clean(row.reason)) != row.reason:
            place = sa.and_(CHANGES.c.revision == row.revision, CHANGES.c.position == row.position)
            db.execute(sa.update(CHANGES).where(place).values(reason=left))


def _clean_heads(db: sa.Connection, scrubber: Scrubber, in_calls: Scrubber) -> None:
    revisions = db.scalars(sa.select(CHANGE_SETS.c.revision)).all()
    for some in slices(revisions):
        for head in db.execute(sa.select(CHANGE_SETS).where(CHANGE_SETS.c.revision.in_(some))).all():
            details = json.loads(head.details)
            left = {
                "title": scrubber.clean(head.title),
                "reason": scrubber.clean(head.reason),
                "details": json.dumps(_cleaned(details, scrubber, in_calls), ensure_ascii=False),
            }
            if any(left[name] != getattr(head, name) for name in left):
                db.execute(sa.update(CHANGE_SETS).where(CHANGE_SETS.c.revision == head.revision).values(left))


def _cleaned(details: dict[str, Any], scrubber: Scrubber, in_calls: Scrubber) -> dict[str, Any]:
    """The details of a change set: what a model was told of these memories, and answered about them, goes too."""
    calls = [
        {**call, "prompt": in_calls.clean(call["prompt"]), "answer": in_calls.clean(call["answer"])}
        if scrubber.tells(call["prompt"]) or scrubber.tells(call["answer"])
        else call
        for call in details["calls"]
    ]
    kept = [{**one, "reason": scrubber.clean(one["reason"])} for one in details["kept"]]
    notes = [scrubber.clean(note) for note in details["notes"]]
    texts = [_cleaned_text(text, scrubber) for text in details["texts"]]
    return {**details, "calls": calls, "kept": kept, "notes": notes, "texts": texts}


def _cleaned_text(text: dict[str, Any], scrubber: Scrubber) -> dict[str, Any]:
    """What a conversation was kept by; of an agent's other texts none is made of what its memories say."""
    if text["name"] in TEXTS:
        return text
    ends = {end: text[end] and scrubber.clean(text[end]) for end in ("before", "after")}
    return {**text, **ends}


__all__ = ["PURGED_TEXT", "Scrubber", "purge", "refuse_purged", "tombstone"]
