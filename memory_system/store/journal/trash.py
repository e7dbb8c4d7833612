"""The journal's bin: memories that are gone, and purged ones.

Purging removes a memory's text from every row of the journal, in the transaction that records the purge.

Ids, tiers, kinds and times stay, so that the history remains consistent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

import sqlalchemy as sa

from ...core.change_set import CORE, HELD, PERSON, RATE, ChangeSet, dump_entry, is_text, load_entry, short
from ...core.entry import DECAYING, MemoryEntry
from ...errors import StaleChange
from .history import document, field, holds, slices
from .statements import Question, upsert
from .tables import CHANGE_SETS, CHANGES, ENTRIES, PURGED, QUERIES, VECTORS
from .tables import TEXTS as STATE
from .vectors import content_hash

RESTORABLE = frozenset(tier.value for tier in DECAYING)
"""The tiers whose memories are in the bin when they are gone."""
PURGED_TEXT = "(purged)"
"""The replacement for a purged text."""

_HEAD = 12
"""Characters by which a text is found within another; a shorter one counts only as a whole in quotation marks."""
_QUOTED = re.compile(r"(“|\")([^“”\"]{1,12})(”|\")")


def tombstone(entry: MemoryEntry) -> MemoryEntry:
    """What is left of a memory that was purged."""
    return MemoryEntry(PURGED_TEXT, id=entry.id, tier=entry.tier, kind=entry.kind, timestamp=entry.timestamp)


_PURGED_SINCE = sa.select(sa.exists().where(PURGED.c.revision > sa.bindparam("base")))
_PURGED_OF_THESE = Question(
    sa.select(PURGED.c.entry_id, sa.func.max(PURGED.c.revision))
    .where(PURGED.c.entry_id.in_(sa.bindparam("some", expanding=True)))
    .group_by(PURGED.c.entry_id)
)


def refuse_purged(db: sa.Connection, change_sets: Sequence[ChangeSet]) -> None:
    """Refuse plans made before a purge that would bring something purged back.

    Raises:
        StaleChange: one would bring such a memory back, or a model received memories before one was purged.
    """
    coming = [[change.entry_id for change in change_set.changes if change.before is None] for change_set in change_sets]
    purged: dict[str, int] = {}
    for some in slices(list(chain.from_iterable(coming))):
        purged |= {row[0]: row[1] for row in _PURGED_OF_THESE.of(db, {"some": some})}
    for change_set, back in zip(change_sets, coming, strict=True):
        if any(purged.get(entry_id, change_set.base_revision) > change_set.base_revision for entry_id in back):
            raise StaleChange("A memory that this would bring back was purged for good since. Plan it again.")
        has_calls = any(call.task != RATE for call in change_set.calls)
        if has_calls and db.scalar(_PURGED_SINCE, {"base": change_set.base_revision}):
            raise StaleChange(
                "A memory was purged for good since this was planned, and the language model may have been told of "
                "it. Plan it again."
            )


class Scrubber:
    """Removes texts from other texts, in each of the forms in which the history writes them.

    Args:
        texts: what to remove.
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
    before = f"{line[:59].rstrip()}…" if len(line) > 60 else line  # how an earlier version cut it, within a word
    forms = {text, text.strip(), line, line.rstrip("."), short(text), before, text[:60].strip()}
    escaped = forms | _escaped(forms)
    # twice: the arguments of a model's function call are JSON in a text, and its answer is stored as JSON again
    return {form for form in escaped | _escaped(escaped) if form}


def _escaped(forms: Iterable[str]) -> set[str]:
    return {json.dumps(form, ensure_ascii=ascii_only)[1:-1] for form in forms for ascii_only in (True, False)}


def purge(db: sa.Connection, revision: int, ids: Sequence[str]) -> None:
    """Remove what these memories said before this revision from the journal, and note that it was removed.

    The bytes are gone when the file has been rewritten; see ``Journal.compact``.
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
    for kept in db.execute(sa.select(STATE)).all():
        if (body := cleaned_text(kept.name, kept.body, scrubber)) != kept.body:
            db.execute(sa.update(STATE).where(STATE.c.name == kept.name).values(body=body))
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
    """The details of a change set, without what a model received of these memories and answered about them."""
    calls = [
        {**call, "prompt": in_calls.clean(call["prompt"]), "answer": in_calls.clean(call["answer"])}
        if scrubber.tells(call["prompt"]) or scrubber.tells(call["answer"])
        else call
        for call in details["calls"]
    ]
    kept = [{**memory, "reason": scrubber.clean(memory["reason"])} for memory in details["kept"]]
    notes = [scrubber.clean(note) for note in details["notes"]]
    texts = [
        text | {end: cleaned_text(text["name"], text[end], scrubber) for end in ("before", "after")}
        for text in details["texts"]
    ]
    return {**details, "calls": calls, "kept": kept, "notes": notes, "texts": texts}


_TOLD = {PERSON: ("text", "why", "added", "gone"), CORE: ("persona", "human"), HELD: ("title",)}
"""The fields of a conversation's texts that may quote a memory; an agent's other texts never do."""


def cleaned_text(name: str, body: str | None, scrubber: Scrubber) -> str | None:
    """A stored text without quotations of the scrubbed texts; its title and names stay."""
    fields = next((fields for start, fields in _TOLD.items() if name.startswith(start)), ())
    if not body or not fields:
        return body
    try:
        record = json.loads(body)
        left = record | {name: _cleaned_value(record[name], scrubber) for name in fields if name in record}
    except (ValueError, TypeError, RecursionError):  # it was damaged since it was written
        return scrubber.clean(body)
    return body if left == record else json.dumps(left, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _cleaned_value(value: Any, scrubber: Scrubber) -> Any:
    if isinstance(value, list):
        return [_cleaned_value(item, scrubber) for item in value]
    return scrubber.clean(value) if isinstance(value, str) else value


__all__ = ["PURGED_TEXT", "Scrubber", "cleaned_text", "purge", "refuse_purged", "tombstone"]

_NEWEST = 2**62


@dataclass(frozen=True)
class Forgotten:
    """A memory that is gone, and how it went.

    Args:
        entry: as it last was.
        revision: the change set that removed it.
        title: of that change set.
        author: who is behind it.
        operation: its kind, such as ``forget`` or ``summarise``.
        reason: why this memory.
        at: when, in the world's time.
        applied_at: when, in real time.
    """

    entry: MemoryEntry
    revision: int
    title: str
    author: str
    operation: str
    reason: str
    at: datetime
    applied_at: datetime


class Bin:
    """What was forgotten and can still be restored.

    Facts of the personality are not in it: they belong to its text. Nor are messages and passages: they come and
    go with their conversation or document.

    Args:
        read: a connection to read by.
    """

    def __init__(self, read: Callable[[], AbstractContextManager[sa.Connection]]) -> None:
        self._read = read

    def forgotten(
        self, limit: int, offset: int = 0, contains: str = "", until: int | None = None, operation: str = ""
    ) -> list[Forgotten]:
        """Those that were gone at a revision, by default now; the latest forgotten first.

        With an operation, only those that it removed; that includes memories restored and removed again by undoing
        that.
        """
        heads = (CHANGE_SETS.c[name] for name in ("title", "author", "operation", "planned_at", "applied_at"))
        query = sa.select(CHANGES.c.revision, CHANGES.c.before, CHANGES.c.reason, *heads)
        query = query.join(CHANGE_SETS, CHANGE_SETS.c.revision == CHANGES.c.revision).where(*_gone(contains, until))
        query = query.where(_by(operation)) if operation else query
        query = query.order_by(CHANGES.c.revision.desc(), CHANGES.c.position).limit(limit).offset(offset)
        with self._read() as db:
            return [_forgotten(row) for row in db.execute(query)]

    def count(self, contains: str = "", until: int | None = None) -> int:
        """How many there are."""
        with self._read() as db:
            query = sa.select(sa.func.count()).select_from(CHANGES).where(*_gone(contains, until))
            return int(db.scalar(query) or 0)

    def purged(self, ids: Sequence[str]) -> dict[str, int]:
        """Those of these memories that were purged, each with the revision before which it is erased."""
        found: dict[str, int] = {}
        with self._read() as db:
            for some in slices(ids):
                rows = db.execute(sa.select(PURGED).where(PURGED.c.entry_id.in_(some)))
                found |= {row.entry_id: row.revision for row in rows}
        return found

    def lost(self, ids: Sequence[str]) -> set[str]:
        """Those of these memories that were purged and not remembered again since."""
        later = sa.exists().where(CHANGES.c.entry_id == PURGED.c.entry_id, CHANGES.c.revision > PURGED.c.revision)
        found: set[str] = set()
        with self._read() as db:
            for some in slices([entry_id for entry_id in ids if is_text(entry_id)]):
                found |= set(db.scalars(sa.select(PURGED.c.entry_id).where(PURGED.c.entry_id.in_(some), ~later)))
        return found

    def last_purge(self) -> int:
        """The newest revision that purged something; 0 if none did."""
        with self._read() as db:
            return int(db.scalar(sa.select(sa.func.max(PURGED.c.revision))) or 0)

    def texts(self, ids: Sequence[str]) -> list[str]:
        """Every text that these memories ever had."""
        found: dict[str, None] = {}
        with self._read() as db:
            for some in slices(ids):
                query = sa.select(CHANGES.c.before, CHANGES.c.after).where(CHANGES.c.entry_id.in_(some))
                for row in db.execute(query):
                    found |= {entry.document: None for entry in map(load_entry, row) if entry is not None}
        return list(found)


def _gone(contains: str, until: int | None) -> list[sa.ColumnElement[bool]]:
    newest = _NEWEST if until is None else until
    later = CHANGES.alias()
    after_it = sa.and_(
        later.c.entry_id == CHANGES.c.entry_id, later.c.revision > CHANGES.c.revision, later.c.revision <= newest
    )
    purged = sa.and_(PURGED.c.entry_id == CHANGES.c.entry_id, PURGED.c.revision > CHANGES.c.revision)
    where: list[sa.ColumnElement[bool]] = [
        CHANGES.c.after.is_(None),
        CHANGES.c.revision <= newest,
        ~sa.exists().where(after_it),
        ~sa.exists().where(purged),
        field(CHANGES.c.before, "tier").in_(RESTORABLE),
    ]
    if words := contains.strip():
        where.append(holds(document(CHANGES.c.before), words))
    return where


def _by(operation: str) -> sa.ColumnElement[bool]:
    """Whether a memory was removed by an operation, or by undoing what had restored it since."""
    earlier, head = CHANGES.alias(), CHANGE_SETS.alias()
    went = sa.exists().where(
        earlier.c.entry_id == CHANGES.c.entry_id,
        earlier.c.after.is_(None),
        head.c.revision == earlier.c.revision,
        head.c.operation == operation,
    )
    return sa.or_(CHANGE_SETS.c.operation == operation, sa.and_(CHANGE_SETS.c.undoes.is_not(None), went))


def _forgotten(row: Any) -> Forgotten:
    entry = load_entry(row.before)
    assert entry is not None, "what is forgotten was something before"
    at, applied_at = datetime.fromisoformat(row.planned_at), datetime.fromisoformat(row.applied_at)
    return Forgotten(entry, row.revision, row.title, row.author, row.operation, row.reason, at, applied_at)
