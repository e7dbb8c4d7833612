"""A LangGraph ``BaseStore`` over an agent: each item is a memory, and a search is answered by recall.

Items are in long-term memory, pinned, so that nothing forgets them. A batch with something to put is one change set.
"""

from __future__ import annotations

import asyncio
import json
import operator
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from datetime import datetime
from typing import Any

from langgraph.store import base
from langgraph.store.base import Item, Op, Result, SearchItem

from ...agent import AgentMemory
from ...conversation.storage import storable
from ...core.entry import MAX_DOCUMENT, Kind, MemoryEntry, Tier, new_id
from ...errors import InvalidParameter
from .notes import Notes

_KEY, _VALUE, _BEGUN, _SILENT = "store_key", "store_value", "store_created", "store_not_searched"
_COMPARES: Mapping[str, Callable[[Any, Any], bool]] = {
    f"${name}": getattr(operator, name.replace("te", "e")) for name in ("eq", "ne", "gt", "gte", "lt", "lte")
}


class MemoryStore(base.BaseStore):
    """The store, to be passed to ``graph.compile(store=...)``.

    A search with a query ranks items by the agent's own score: relevancy, importance, recency. Times are the world's.

    Args:
        agent: in whose memory the items are.
        author: the name under which the history shows the changes.
    """

    __slots__ = ("_notes",)

    def __init__(self, agent: AgentMemory, author: str = "LangGraph") -> None:
        self._notes = Notes(agent, author, _KEY, Tier.LTM)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations: reads see the store as it was before the puts."""
        asked = list(ops)
        with self._notes.alone() if any(isinstance(op, base.PutOp) for op in asked) else nullcontext():
            return self._done(asked)

    def _done(self, ops: list[Op]) -> list[Result]:
        entries, puts, results = self._notes.entries(), dict[str, base.PutOp](), list[Result]()
        for op in ops:
            base.validate_op_namespace(op)
            if isinstance(op, base.PutOp):
                puts[_name(op.namespace, op.key)] = op
                results.append(None)
            elif isinstance(op, base.GetOp):
                entry = entries.get(_name(op.namespace, op.key))
                results.append(None if entry is None else Item(**_item(entry)))
            elif isinstance(op, base.SearchOp):
                results.append(self._search(op, entries))
            else:
                results.append(_namespaces(op, entries))
        changes = [
            (entries.get(name), None if op.value is None else self._after(op, entries.get(name)))
            for name, op in puts.items()
        ]
        if differences := [change for change in changes if change[0] is not change[1]]:
            names = ", ".join("/".join((*op.namespace, op.key)) for op in puts.values())
            self._notes.apply("edit", f"Store {names:.120}", differences)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As ``batch``, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _after(self, op: base.PutOp, before: MemoryEntry | None) -> MemoryEntry:
        value, now = dict(op.value or {}), self._notes.agent.now
        try:
            written = json.dumps(value)
        except (TypeError, ValueError) as error:
            where = "/".join((*op.namespace, op.key))
            raise InvalidParameter(f"The value of {where:.120} cannot be kept: {error}. Hand in plain JSON.") from error
        paths = op.index if isinstance(op.index, list) else ["$"]
        texts = [
            text for path in paths for text in (_texts(value) if path == "$" else base.get_text_at_path(value, path))
        ]
        document = "\n".join(texts).strip() or json.dumps(value, ensure_ascii=False)
        begun = now.isoformat() if before is None else before.extras[_BEGUN]
        metadata = {_KEY: _name(op.namespace, op.key), _VALUE: written, _BEGUN: begun}
        metadata |= {_SILENT: True} if op.index is False else {}
        return MemoryEntry(
            storable(document)[:MAX_DOCUMENT], metadata, tier=Tier.LTM, kind=Kind.FACT, timestamp=now, pinned=True,
            id=new_id() if before is None else before.id,
        )  # fmt: skip

    def _search(self, op: base.SearchOp, entries: Mapping[str, MemoryEntry]) -> list[SearchItem]:
        found = {
            entry.id: _item(entry)
            for entry in entries.values()
            if _namespace(entry)[: len(op.namespace_prefix)] == op.namespace_prefix
        }
        meant = {name: item for name, item in found.items() if _fits(item["value"], op.filter or {})}
        scores: dict[str, float | None] = dict.fromkeys(meant)
        if op.query and op.query.strip():
            silent = {entry.id for entry in entries.values() if entry.extras.get(_SILENT)}
            ranked = self._notes.agent.explain(op.query).candidates
            by = {
                candidate.entry.id: candidate.score.total
                for candidate in ranked
                if candidate.entry.id in meant.keys() - silent
            }
            scores = {entry_id: by[entry_id] for entry_id in sorted(by, key=by.__getitem__, reverse=True)}
        ranked_items = [SearchItem(**meant[entry_id], score=score) for entry_id, score in scores.items()]
        return ranked_items[op.offset : op.offset + op.limit]


def _name(namespace: tuple[str, ...], key: str) -> str:
    return json.dumps([*namespace, key])


def _namespace(entry: MemoryEntry) -> tuple[str, ...]:
    return tuple(json.loads(str(entry.extras[_KEY]))[:-1])


def _item(entry: MemoryEntry) -> dict[str, Any]:
    *namespace, key = json.loads(str(entry.extras[_KEY]))
    begun, value = datetime.fromisoformat(str(entry.extras[_BEGUN])), json.loads(str(entry.extras[_VALUE]))
    times = {"created_at": begun, "updated_at": entry.timestamp or begun}
    return {"namespace": tuple(namespace), "key": key, "value": value, **times}


def _texts(value: object) -> list[str]:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value] if isinstance(value, str) else [text for part in inside for text in _texts(part)]


def _fits(value: Any, condition: Any) -> bool:
    if not isinstance(condition, dict):
        return bool(value == condition)
    if condition and all(name in _COMPARES for name in condition):
        try:
            return all(_COMPARES[name](value, than) for name, than in condition.items())
        except TypeError:  # of two types that cannot be compared
            return False
    return isinstance(value, dict) and all(
        name in value and _fits(value[name], part) for name, part in condition.items()
    )


def _namespaces(op: base.ListNamespacesOp, entries: Mapping[str, MemoryEntry]) -> list[tuple[str, ...]]:
    found = {
        namespace
        for namespace in map(_namespace, entries.values())
        if all(_matches(condition, namespace) for condition in op.match_conditions or ())
    }
    return sorted({namespace[: op.max_depth] for namespace in found})[op.offset : op.offset + op.limit]


def _matches(condition: base.MatchCondition, namespace: tuple[str, ...]) -> bool:
    size = len(condition.path)
    part = namespace[:size] if condition.match_type == "prefix" else namespace[len(namespace) - size :]
    return len(namespace) >= size and all(
        label in ("*", other) for label, other in zip(condition.path, part, strict=True)
    )
