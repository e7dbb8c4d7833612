"""Tables and lists of memories: CSV, JSON and JSON lines, whose field names are guessed and can be chosen.

That covers what mem0 (``memory``), LangChain (``page_content``) and LlamaIndex (``text`` of a node) write, the JSON of
a store with its columns, the graph of the MCP reference server, and the JSON of a personality.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ....core import personality as static_memory
from ....core.kinds import FLAGS, HAPPENED, Kind, Source
from ....errors import InvalidEntry, shown
from ..columns import taken_for
from ..dates import Order
from ..events import columns as rows_of_store
from ..events import event_entry, rated_on_ten
from ..text import NOW, Form, read_text
from .material import Gathering, refusal

_RESERVED = frozenset({"id", "document", "metadata", "tier"})
_VECTORS = frozenset({"embedding", "embeddings", "vector", "hash"})
_UNREAD = "imported_timestamp"
"""The name under which a date that cannot be read is kept."""
_LIST_KEYS = ("results", "memories", "documents", "nodes", "items", "data", "events")
"""Where an object holds a list of memories."""


def read_table(text: str, now: datetime, into: Gathering, order: Order | None, chosen: Mapping[str, str]) -> None:
    """Read CSV, also with semicolons or tabs.

    Raises:
        InvalidFile: it is not CSV, or no column holds the text of a memory.
    """
    reading = read_text(text, Form.CSV, now, order=order, columns=chosen)
    _take(reading.rows, into)
    for note in reading.notes:
        if "so now" not in note and "happen now" not in note:
            into.note(note)


def read_lines(text: str, now: datetime, into: Gathering, order: Order | None) -> None:
    """Read lines, each of them an event, with or without its date."""
    reading = read_text(text, Form.LINES, now, order=order, partial=True)
    _take(reading.rows, into)
    for note in reading.notes:
        into.note(note)


def _take(rows: Sequence[Any], into: Gathering) -> None:
    for row in rows:
        if row.entry is None:
            into.drop(f"line {row.line}", row.text, row.problem or "It cannot be read.")
        else:
            into.take(f"line {row.line}", row.entry.evolve(timestamp=None) if row.time_from == NOW else row.entry)


# -- objects --------------------------------------------------------------------------------------------------


def listed(value: object) -> list[Any] | None:
    """The memories that a JSON value holds as a list, wherever programs put it; ``None`` if there is none."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return None
    if isinstance(docs := value.get("docstore/data"), dict):
        return [{"id_": key, **doc} if isinstance(doc, dict) else doc for key, doc in docs.items()]
    for key in _LIST_KEYS:
        if isinstance(found := value.get(key), list) and (not found or isinstance(found[0], dict)):
            return found
    return [value] if "document" in taken_for(unwrapped(value)) else None


def unwrapped(value: Mapping[str, Any]) -> dict[str, Any]:
    """An object without what a program wraps around it: LangChain's constructor, LlamaIndex's ``__data__``."""
    fields = dict(value)
    for inside in ("kwargs", "__data__", "node", "payload", "data"):
        wrapped = fields.get(inside)
        if inside == "__data__" and isinstance(wrapped, str):
            try:
                wrapped = json.loads(wrapped)
            except ValueError:
                continue
        if isinstance(wrapped, dict) and "document" in taken_for(wrapped):
            fields = {**{name: field for name, field in fields.items() if name in ("id_", "score")}, **wrapped}
    if isinstance(resource := fields.get("text_resource"), dict) and "text" not in fields:
        fields["text"] = resource.get("text")
    return fields


def read_records(
    rows: Sequence[tuple[str, Any]], into: Gathering, order: Order | None, chosen: Mapping[str, str]
) -> None:
    """Read objects, each of them a memory, given as pairs of place and object.

    Raises:
        InvalidFile: none of their fields holds the text of a memory.
    """
    objects = [(place, unwrapped(row) if isinstance(row, dict) else row) for place, row in rows]
    names = dict.fromkeys(name for _, row in objects if isinstance(row, dict) for name in row)
    takes = taken_for(names, chosen)
    if "document" not in takes:
        choices = ", ".join(list(names)[:20])[:200]
        if not choices:
            raise refusal("none of its items is an object with the text of a memory")
        raise refusal(f"none of its names was recognised as the text of a memory; choose one of: {choices}")
    inside = {name for _, row in objects if isinstance(row, dict) for name in _metadata(row)}
    listing = ", ".join(f"{name} as {field}" for field, name in takes.items() if field != name)
    if listing:
        into.note(f"Read {listing}.")
    tenths = (
        _tenths([row.get(takes["rating"]) for _, row in objects if isinstance(row, dict)])
        if "rating" in takes
        else False
    )
    beneath = {field: name for field, name in taken_for(inside).items() if field not in {*takes, "id", "document"}}
    unread: list[str] = []
    for place, row in objects:
        if not isinstance(row, dict):
            into.drop(place, row, "It is not an object with a text.")
            continue
        fields = _fields(row, takes, beneath, into, order)
        if (date := fields["metadata"].get(_UNREAD)) is not None:
            unread.append(f"{str(date)[:40]!r} in {place}")
        if "rating" in fields:
            value = _number(fields["rating"])
            value = value * 10 if tenths and value is not None else value
            if value is None or not 1 <= value <= 10:
                into.drop(
                    place, row.get(takes["document"]), f"Its importance is {shown(fields['rating'])}, not 1 to 10."
                )
                continue
            fields["rating"] = round(value, 6)
        into.memory(place, fields.pop("document", None), **fields)
    if unread:
        into.note(f"Dates that cannot be read, and so now; kept as metadata: {len(unread):,} ({unread[0]}).")


def _fields(
    row: Mapping[str, Any], takes: Mapping[str, str], beneath: Mapping[str, str], into: Gathering, order: Order | None
) -> dict[str, Any]:
    """The fields of a memory that an object holds, itself or in its metadata."""
    metadata = _metadata(row)
    found = {field: row[name] for field, name in takes.items() if row.get(name) is not None}
    found |= {field: metadata[name] for field, name in beneath.items() if metadata.get(name) is not None}
    used = {*takes.values(), "metadata", "extra_info", "type", "lc", "class_name", "__type__"}
    extras = {**{name: value for name, value in row.items() if name not in used}, **metadata}
    extras = {
        name: value for name, value in extras.items() if name not in beneath.values() or found.get("source") is None
    }
    made: dict[str, Any] = {"document": found.get("document")}
    if "timestamp" in found:
        made["timestamp"] = into.moment(found["timestamp"], order or Order.DAY_FIRST)
        if made["timestamp"] is None:
            extras[_UNREAD] = found["timestamp"]
    made |= {field: found[field] for field in ("rating", "tags", "people") if field in found}
    made |= {field: str(found[field])[:4000] for field in ("explanation",) if field in found}
    made |= {field: str(found[field])[:200] for field in ("place",) if field in found}
    made |= {flag: found[flag] for flag in FLAGS if isinstance(found.get(flag), bool)}
    if (source := str(found.get("source", "")).lower()) in set(Source):
        made["source"] = source
    elif source:
        extras["source"] = found["source"]
    if (kind := str(found.get("kind", "")).lower()) in HAPPENED:
        made["kind"] = kind
    if isinstance(found.get("id"), str | int):
        extras["imported_id"] = str(found["id"])
    made["metadata"] = dict(_own(extras))
    return made


def _metadata(row: Mapping[str, Any]) -> dict[str, Any]:
    metadata = row.get("metadata") or row.get("extra_info")
    return metadata if isinstance(metadata, dict) else {}


def _own(extras: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Values that a memory can keep as they are, or as JSON."""
    for name, value in extras.items():
        key = name.lower()[:100]
        if value in (None, "", [], {}) or key in _VECTORS or not key.isprintable() or key.startswith(("$", "#")):
            continue
        key = f"imported_{key}" if key in _RESERVED or ":" in key else key
        kept = json.dumps(value, ensure_ascii=False)[:4000] if isinstance(value, list | dict) else value
        if isinstance(kept, str | int | float | bool):
            yield key.replace(":", "_"), kept


def _tenths(values: Sequence[object]) -> bool:
    numbers = [number for value in values if (number := _number(value)) is not None]
    return bool(numbers) and max(numbers) <= 1 and min(numbers) < 1


def _number(value: object) -> float | None:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


# -- a store, a graph, a personality --------------------------------------------------------------------------


def is_store(value: object) -> bool:
    """Whether this is the JSON of a store, in columns."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("documents"), list)
        and all(isinstance(text, str) for text in value["documents"][:3])
    )


def read_store(value: Mapping[str, Any], into: Gathering) -> None:
    """Read the columns of a store: each memory with the id and the metadata that it has there.

    Raises:
        InvalidFile: a column is shorter than the others.
    """
    known = {name: column for name, column in value.items() if name in ("documents", "metadatas", "ids")}
    try:
        rows = rows_of_store(known, "the material")
    except InvalidEntry as error:
        raise refusal(error.sentence.removeprefix("In the material: ").rstrip(".")) from error
    scaled, notes = rated_on_ten(rows)
    for note in notes:
        into.note(note)
    for number, fields in enumerate(scaled, start=1):
        row, metadata = dict(fields), fields.get("metadata")
        if isinstance(metadata, dict) and "timestamp" in metadata:
            moment = into.moment(metadata["timestamp"])
            kept = {name: field for name, field in metadata.items() if name != "timestamp"}
            row |= {"metadata": kept} | ({"timestamp": moment} if moment else {})
        try:
            into.take(f"document {number}", event_entry(row, None))
        except InvalidEntry as error:
            into.drop(f"document {number}", row.get("document", ""), error.sentence)


def is_graph(rows: Sequence[Any]) -> bool:
    """Whether these objects are entities and relations of a graph."""
    first = rows[0] if rows else None
    return isinstance(first, dict) and (
        (first.get("type") == "entity" and "entityType" in first)
        or (first.get("type") == "relation" and "relationType" in first)
    )


def read_graph(rows: Sequence[tuple[str, Any]], into: Gathering) -> None:
    """Read a graph of what is known: each observation of an entity and each relation is a memory, a fact."""
    kinds = {str(row.get("name")): str(row.get("entityType", "")) for _, row in rows if isinstance(row, dict)}
    for place, row in rows:
        kind = row.get("type") if isinstance(row, dict) else None
        if kind == "entity":
            name, sort = str(row.get("name", "")).strip(), str(row.get("entityType", ""))
            people = [name] if sort.casefold() in _PERSONS else []
            observed = row.get("observations")
            for number, item in enumerate(observed if isinstance(observed, list) else (), start=1):
                said = item if isinstance(item, str) else item.get("content") if isinstance(item, dict) else None
                text = said if not said or not name or name.casefold() in str(said).casefold() else f"{name}: {said}"
                into.memory(
                    f"{place}, observation {number}", text, kind=Kind.FACT, people=people,
                    metadata={"entity": name, "entity_type": sort},
                )  # fmt: skip
            if not observed:
                into.memory(place, f"{name} ({sort})" if sort else name, kind=Kind.FACT, people=people)
        elif kind == "relation":
            ends = [str(row.get(end, "")).strip() for end in ("from", "to")]
            text = f"{ends[0]} {str(row.get('relationType', '')).replace('_', ' ').strip()} {ends[1]}."
            people = [end for end in ends if kinds.get(end, "").casefold() in _PERSONS]
            into.memory(place, text, kind=Kind.FACT, people=people, metadata={"relation": str(row.get("relationType"))})
        else:
            into.drop(place, row, "It is neither an entity nor a relation.")


_PERSONS = frozenset({"person", "user", "human", "character", "people", "friend", "colleague"})


def is_personality(value: object) -> bool:
    """Whether this is the JSON of a personality."""
    return isinstance(value, dict) and isinstance(value.get("identity"), dict) and "name" in value["identity"]


def read_personality(text: str, into: Gathering, name: str = "the material") -> None:
    """Read a personality; ``name`` is that of its file, for messages.

    Raises:
        InvalidPersonality: all that is wrong with it, by line and field.
    """
    body = static_memory.parse(text, name).model_dump(exclude_none=True)
    for key, value in body.pop("identity").items():
        into.identity(f"identity.{key}", key, value)
    for section, items in body.items():
        for number, item in enumerate(items if isinstance(items, list) else (), start=1):
            place = f"{section}.{number}"
            if isinstance(item, dict):
                into.part(place, section, item)
            else:
                into.lines(place, section, item)
