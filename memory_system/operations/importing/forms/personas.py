"""Personas of generative agents (Park et al. 2023): their scratch, their places, and their stream of memories.

The files are those of joonspk-research/generative_agents: ``scratch.json``, ``spatial_memory.json`` and
``associative_memory/nodes.json``; also a stream with one node per line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....core.entry import Kind, Source, Tier
from .material import Gathering, made_id

_TYPES = ("event", "thought", "chat")
_IDLE = re.compile(r"\bis idle\b")
_COMMAS = re.compile(r"\s*[,;]\s*")
_RATED = "As it was rated where it comes from."
_OF_ONE_DAY = ("f_daily_schedule", "daily_req", "act_description", "chat")


def is_scratch(value: Mapping[str, Any]) -> bool:
    """Whether an object is a persona's scratch."""
    return "innate" in value and "learned" in value and "name" in value


def is_nodes(value: Mapping[str, Any]) -> bool:
    """Whether an object is a stream of memories by node."""
    return any(is_node(node) for node in list(value.values())[:3])


def is_node(value: object) -> bool:
    """Whether this is one node of a stream of memories."""
    return (
        isinstance(value, dict)
        and value.get("type") in _TYPES
        and "description" in value
        and bool({"poignancy", "embedding_key", "node_count"} & set(value))
    )


def read_scratch(value: Mapping[str, Any], into: Gathering, at: str = "") -> None:
    """Read who the persona is; what belongs only to the day of the simulation is left out."""
    into.identity(f"{at}name", "name", value.get("name"))
    into.identity(f"{at}age", "age", value.get("age"))
    into.identity(f"{at}learned", "description", value.get("learned"))
    if isinstance(home := value.get("living_area"), str):
        into.identity(f"{at}living_area", "home", ", ".join(home.split(":")[1:]) or home)
    innate = value.get("innate")
    for trait in _COMMAS.split(innate) if isinstance(innate, str) else ():
        into.lines(f"{at}innate", "traits", trait)
    for field in ("currently", "lifestyle", "daily_plan_req"):
        into.lines(f"{at}{field}", "facts", value.get(field))
    for field in _OF_ONE_DAY:
        if value.get(field):
            into.drop(f"{at}{field}", value[field], "It is of the day on which the simulation stopped.")


def read_places(value: Mapping[str, Any], into: Gathering, at: str = "") -> None:
    """Read the places that the persona knows: worlds, sectors, rooms, and the things in them."""
    known: set[str] = set()
    for path, inside in _places(value, ()):
        within = path[-2] if len(path) > 1 else None
        name = f"{path[-1]} of {within}" if within and path[-1].casefold() in known else path[-1]
        if name.casefold() in known or len(name) > 200:
            into.drop(f"{at}{'.'.join(path)}", name, "A place of this name is there already.")
            continue
        known.add(name.casefold())
        description = f"Here are: {', '.join(inside)}."[:2000] if inside else "A place that the character knows."
        place = {"place": name, "description": description}
        into.part(f"{at}{'.'.join(path)}", "environment", place | ({"within": within} if within else {}))


def _places(value: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    for name, inside in value.items():
        if not name.strip() or len(path) > 3:
            continue
        here = (*path, name.strip())
        yield here, [str(item) for item in inside if str(item).strip()] if isinstance(inside, list | dict) else []
        if isinstance(inside, dict):
            yield from _places(inside, here)


def read_nodes(rows: Sequence[tuple[str, str, Any]], into: Gathering) -> None:
    """Read a stream of memories.

    Events are what was seen, thoughts go with their evidence to long-term memory, and each turn of a chat is a memory.
    An event that says only that something is idle is left out, unless a thought rests on it.

    Args:
        rows: the place, the node's own id and the node of each.
        into: what it is added to.
    """
    names = {node: made_id("node", node, body.get("created"), body.get("description")) for _, node, body in rows}
    needed = {source for _, _, body in rows for source in _evidence(body)}
    taken: dict[str, str] = {}
    for place, node, body in sorted(rows, key=lambda row: (str(row[2].get("created", "")), _number(row[1]))):
        if body["type"] == "event" and _IDLE.search(str(body.get("description"))) and node not in needed:
            into.drop(place, body.get("description"), "It says only that something is idle.")
            continue
        named = _evidence(body)
        evidence = [taken[source] for source in named if source in taken]
        if len(evidence) < len(named):
            into.note("Evidence that is not in this material is left out of what names it.")
        if body["type"] == "thought":
            entry_id = into.memory(
                place, body.get("description"), id=names[node], kind=Kind.REFLECTION, tier=Tier.LTM, evidence=evidence,
                depth=max(1, body["depth"]) if isinstance(body.get("depth"), int) else 1, source=Source.DERIVED,
                **_common(body, node, into),
            )  # fmt: skip
        else:
            entry_id = _happened(place, names[node], node, body, evidence, into)
        if entry_id is not None:
            taken[node] = entry_id


def _happened(
    place: str, entry_id: str, node: str, body: Mapping[str, Any], evidence: list[str], into: Gathering
) -> str | None:
    """An event, or a chat with its turns."""
    if body["type"] == "event":
        return into.memory(
            place, body.get("description"), id=entry_id, source=Source.SAW, place=_place(body), people=_people(body),
            evidence=evidence, **_common(body, node, into),
        )  # fmt: skip
    own = str(_of(body, "s", "subject") or into.who)
    whole = into.memory(
        place, body.get("description"), id=entry_id, kind=Kind.CONVERSATION, people=_people(body),
        **_common(body, node, into),
    )  # fmt: skip
    chat = _of(body, "chat", "filling")
    turns = [turn for turn in chat if isinstance(turn, list) and len(turn) == 2] if isinstance(chat, list) else []
    shared = _common(body, node, into) | {"tags": (), "rating": None, "explanation": ""}
    for number, (speaker, said) in enumerate(turns):
        if isinstance(speaker, str) and isinstance(said, str) and said.strip():
            metadata = {"conversation": entry_id.removeprefix("in:"), "turn": number, "speaker": speaker}
            into.memory(
                f"{place}, turn {number + 1}", f"{speaker}: {said.strip()}", id=f"{entry_id}-{number:04}",
                kind=Kind.CONVERSATION, people=(speaker,), source=None if speaker == own else Source.TOLD,
                **(shared | {"metadata": metadata}),
            )  # fmt: skip
        else:
            into.drop(f"{place}, turn {number + 1}", said, "Nothing is said in it.")
    return whole


def _common(body: Mapping[str, Any], node: str, into: Gathering) -> dict[str, Any]:
    """When it was, how poignant, by which words it is found, and what the node was called."""
    rating = body.get("poignancy")
    rated = isinstance(rating, int | float) and not isinstance(rating, bool) and 1 <= rating <= 10
    keywords = body.get("keywords")
    metadata = {"node": node} | {
        name: value
        for name, value in (("predicate", _of(body, "p", "predicate")), ("expiration", body.get("expiration")))
        if isinstance(value, str) and value
    }
    return {
        "timestamp": into.moment(body.get("created")),
        "rating": rating if rated else None,
        "explanation": _RATED if rated else "",
        "tags": sorted(keyword for keyword in keywords if isinstance(keyword, str) and ":" not in keyword)
        if isinstance(keywords, list)
        else (),
        "metadata": metadata,
    }


def _evidence(body: Mapping[str, Any]) -> list[str]:
    """The nodes that a thought, or the event of a chat, rests on; for a chat, the same field holds what was said."""
    found = () if body["type"] == "chat" else body.get("evidence") or body.get("filling") or ()
    return [node for node in found if isinstance(node, str)] if isinstance(found, list) else []


def _number(node: str) -> int:
    digits = node.rpartition("_")[2]
    return int(digits) if digits.isdecimal() and len(digits) < 10 else 0


def _of(body: Mapping[str, Any], short: str, name: str) -> Any:
    return body.get(short, body.get(name))


def _people(body: Mapping[str, Any]) -> tuple[str, ...]:
    """Who is in it: capitalised names that are not the address of a place."""
    names = (_of(body, "s", "subject"), _of(body, "o", "object"))
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str) and _is_name(name)))


def _is_name(text: str) -> bool:
    words = text.split()
    return ":" not in text and len(words) == 2 and all(word[:1].isupper() and word.isalpha() for word in words)


def _place(body: Mapping[str, Any]) -> str:
    """Where the thing that it is about is, from that thing's address."""
    about = _of(body, "s", "subject")
    parts = about.split(":") if isinstance(about, str) else []
    return ", ".join(reversed(parts[1:-1]))[:200] if len(parts) > 2 else ""
