"""What a change set does, one line per item, for the component. Imports no streamlit, to be tested on its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from memory_system import Change, ChangeSet, Kind, MemoryEntry
from memory_system.core import TextChange
from memory_system.operations import Clash

from . import diffs, personality_diffs, tables

Row = dict[str, Any]
Find = Callable[[str], MemoryEntry | None]
"""Returns a memory by its id, or ``None`` if it is not known."""
_LONGEST = 600
"""How many characters of a text are in a row; only two lines are visible until the pointer is on it."""
_VALUE = 120
_KEPT = 500
"""The most memories left in place that are listed."""
_RATED = re.compile(r" \(rated .*\)$")
_CLOCK = re.compile(r"[0-2]\d:[0-5]\d")
_REFLECTS_ON = 10
"""The most memories of a reflection's evidence that are listed below it."""


def of(planned: ChangeSet, find: Find, *, boxes: bool = False, stale: Collection[str] = ()) -> list[Row]:
    """The rows of a change set: a summary above what it stands for, a reflection above its evidence, a plan by hours.

    Args:
        planned: the change set.
        find: returns the memories that it only names.
        boxes: whether each memory can be accepted on its own.
        stale: the ids of memories that were changed since it was planned: they can no longer be accepted.
    """
    below = _below(planned)
    under = {entry_id for some in below.values() for entry_id in some}
    by_id = {change.entry_id: change for change in planned.changes}
    day = planned.operation == "plan"
    rows: list[Row] = []
    for change in planned.changes:
        if change.entry_id in under:
            continue
        row = _row(change, boxes, stale)
        if day and change.before is None and change.after is not None:
            row |= _hours(change.after)
        elif day and change.verb == "forget":
            row |= {"box": False, "ticked": True, "word": "Replaced"}
        rows.append(row)
        above = {"below": change.entry_id}
        rows += [_row(by_id[entry_id], boxes, stale) | above for entry_id in below.get(change.entry_id, ())]
        rows += _evidence(change, by_id, find)
    if day:
        rows.sort(key=lambda row: (not row["span"], row["span"]))
    rows += [row for text in planned.texts for row in of_text(text)]
    return rows + [_stays(kept.entry_id, kept.reason, find(kept.entry_id)) for kept in planned.kept[:_KEPT]]


def of_clash(clash: Clash) -> Row:
    """A memory or a text that was changed after the change to be undone, from what it is to what it would be."""
    now, would_be = (end if isinstance(end, MemoryEntry) else None for end in (clash.now, clash.would_be))
    events = [
        f"“{tables.short(event.title, 90)}” by {event.author}, {tables.exact(event.at)}" for event in clash.later[-3:]
    ]
    why = f"Changed since: {'; '.join(events)}" if events else str(clash)
    if clash.is_text:
        text = TextChange(clash.key, *(end if isinstance(end, str) else None for end in (clash.now, clash.would_be)))
        row = _blank(clash.key, "update", "Change", _marked(text.words, text.words), _lines(text), why)
    elif now is None and would_be is None:
        row = _blank(clash.key, "stay", "Stays", _marked(str(clash), str(clash)), [], why)
    else:
        row = _row(Change(now, would_be, why), True, ())
        row["word"] = {"add": "Bring back", "forget": "Forget again"}.get(row["verb"], row["word"])
    return row | {"box": not clash.purged, "ticked": False}


def of_text(text: TextChange) -> list[Row]:
    """What changed in settings and other texts shown name by name, one row each; empty for other texts."""
    what = text.words[:1].upper() + text.words[1:]
    return [
        _blank(
            f"{text.name}/{field_change.field}", "update", what, [("same", field_change.field)],
            [("", _value(field_change.before), _value(field_change.after))], "",
        )
        for field_change in diffs.of_text(text)
    ]  # fmt: skip


def of_change(change: Change, *, word: str = "", flag: str = "", ticked: bool = False) -> Row:
    """One memory with a box; ``word`` says what happens to it, and ``flag`` what prevents it."""
    row = _row(change, True, ())
    return row | {"word": word or row["word"], "flag": tables.visible(flag), "ticked": ticked}


def line(key: str, verb: str, word: str, text: str, **more: Any) -> Row:
    """A row of something that is not a memory."""
    return _blank(key, verb, word, _marked(text, text), [], "") | more


def _blank(
    key: str, verb: str, word: str, parts: Sequence[tuple[str, str]], facts: Sequence[tuple[str, str, str]], why: str
) -> Row:
    return {
        "id": key, "verb": verb, "word": word, "parts": list(parts), "facts": list(facts), "why": tables.visible(why),
        "box": False, "ticked": True, "below": "", "span": "", "flag": "", "importance": None, "when": "",
    }  # fmt: skip


def _row(change: Change, box: bool, stale: Collection[str]) -> Row:
    before, after = change.before, change.after
    entry = after or before
    assert entry is not None, "a change has a before or an after"
    if before and after:
        facts = [
            ("" if field.field == "kept in" else field.field, _value(field.before), _value(field.after))
            for field in diffs.fields(before, after)
        ]
        parts = _marked(before.document, after.document)
    else:
        alone = [entry.kind.value, tables.TIERS[entry.tier], *tables.marks(entry)]
        alone.insert(2, "unrated" if entry.importance is None else f"importance {entry.importance:.2f}")
        facts = [("", value, "") for value in alone]
        parts = _marked(entry.document, entry.document)
    return _blank(change.entry_id, change.verb, tables.action(change), parts, facts, change.reason) | {
        "box": box and change.entry_id not in stale,
        "ticked": change.entry_id not in stale,
        "flag": "Changed since this was planned, so it is left as it is. Preview again to see it as it is now."
        if change.entry_id in stale
        else "",
        "importance": entry.importance,
        "when": entry.timestamp.isoformat() if entry.timestamp else "",
    }


def _marked(before: str, after: str) -> list[tuple[str, str]]:
    """A text with removed and added words marked, shortened for a row."""
    parts: list[tuple[str, str]] = []
    left = _LONGEST
    for what, text in diffs.words(tables.short(before, _LONGEST), tables.short(after, _LONGEST)):
        if left <= 0:
            break
        parts.append((what, tables.short(text, left) if len(text) > left else text))
        left -= len(text)
    return parts


def _value(text: str) -> str:
    return tables.short(_RATED.sub("", text), _VALUE) or "none"


def _lines(text: TextChange) -> list[tuple[str, str, str]]:
    named = diffs.of_text(text) or personality_diffs.of_personality(text)
    if named:
        return [(field_change.field, _value(field_change.before), _value(field_change.after)) for field_change in named]
    return [("", tables.short(diffs.lines(text) or "Only its formatting changed.", _LONGEST), "")]


def _below(planned: ChangeSet) -> Mapping[str, list[str]]:
    """The memories that are forgotten for each summary, by its id."""
    forgotten = {change.entry_id for change in planned.of("forget")}
    found: dict[str, list[str]] = {}
    for change in planned.of("add"):
        assert change.after is not None, "it is added"
        originals = [entry_id for entry_id in dict.fromkeys(change.after.evidence) if entry_id in forgotten]
        if originals:
            found[change.entry_id] = originals
            forgotten -= set(originals)
    return found


def _evidence(change: Change, by_id: Mapping[str, Change], find: Find) -> Iterator[Row]:
    """Below a reflection, the memories that it was drawn from and that stay as they are."""
    entry = change.after
    if change.before is not None or entry is None or entry.kind is not Kind.REFLECTION:
        return
    for entry_id in entry.evidence[:_REFLECTS_ON]:
        evidence = None if entry_id in by_id else find(entry_id)
        if evidence is not None:
            yield _stays(f"{change.entry_id}/{entry_id}", "", evidence) | {
                "verb": "evidence", "word": "Evidence", "below": change.entry_id,
            }  # fmt: skip


def _stays(key: str, reason: str, entry: MemoryEntry | None) -> Row:
    text = entry.document if entry else "A memory that is not known any more."
    row = _blank(key, "stay", "Stays", _marked(text, text), [], reason)
    if entry is not None:
        row["importance"] = entry.importance
    return row


def _hours(entry: MemoryEntry) -> Row:
    """When an action of a plan is to be done, and only the action as text; nothing if a person has changed them."""
    start, end, activity, place = (str(entry.extras.get(name, "")) for name in ("start", "end", "activity", "place"))
    if not (_CLOCK.fullmatch(start) and _CLOCK.fullmatch(end) and activity):
        return {}
    return {"span": f"{start}–{end}", "parts": _marked(activity, activity), "facts": [("", place, "")] if place else []}
