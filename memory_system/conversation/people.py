"""People: what an agent knows of whom it talks with, and has learned of itself, kept from one talk to the next.

Each talk has its own core memory. What changes in it is also noted here, line by line: under the name of whom the
agent talks with, and under its own. The next talk begins with that.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ..agent import AgentMemory
from ..core import personality as static_memory
from ..core.change_set import PERSON, ChangeSet, TextChange, is_text, short
from ..core.json_source import parse_strict
from ..core.times import moment_given
from ..errors import InvalidDocument, InvalidParameter, StoreDamaged
from ..operations.importing.turns import MAX_SPEAKER
from .storage import MAX_BLOCK, conversations
from .talk import NOBODY, Blocks

KNOW = "know"
"""The operation under which the history tells that a person wrote down whom an agent knows."""
_SELF = f"{PERSON}self"
_MOST_BYTES = 200_000


@dataclass(frozen=True)
class Person:
    """Somebody whom an agent knows, by its personality or from talks.

    Args:
        name: by which they talk with it.
        text: what it knows of them; core memory's block ``human`` begins with it.
        relation: what they are to it by its personality; empty where that does not say.
        trust: how far it trusts them by its personality, 0 to 1; ``None`` where that does not say.
        talks: how many conversations with them are kept.
        last: when something was said last in one, by the world's time; ``None`` where nothing was.
    """

    name: str
    text: str
    relation: str = ""
    trust: float | None = None
    talks: int = 0
    last: datetime | None = None


def known(agent: AgentMemory, name: str) -> str:
    """What an agent knows of a person; as the personality has it, as long as nothing else was learned.

    Of somebody without a name nothing is kept: it might be another one the next time.

    Raises:
        StoreDamaged: what is kept is not as it was written.
    """
    if name == NOBODY:
        return ""
    held = agent.text(_name_of(name))
    return _relations(agent).get(_folded(name), Person("", "")).text if held is None else _read(held)["text"]


def nature(agent: AgentMemory, most: int) -> str:
    """Who an agent is, in at most ``most`` characters: what it learned in talks, and before that its static memory.

    Raises:
        StoreDamaged: what is kept is not as it was written.
    """
    learned = _learned(agent)
    added, left = list[str](), most
    for line in reversed(learned["added"]):
        left -= len(line) + 1
        if left < 0:
            break
        added.insert(0, line)
    lines: list[str] = []
    for line in _facts(agent):
        if line in learned["gone"]:
            continue
        left -= len(line) + 1
        if left < 0:
            break
        lines.append(line)
    return "\n".join([*lines, *added])


def known_of(agent: AgentMemory, names: Sequence[str]) -> str:
    """What an agent knows of those whom it talks with; of several each line with the name that it is about.

    Raises:
        StoreDamaged: what is kept is not as it was written.
    """
    if len(names) == 1:
        return known(agent, names[0])
    return "\n".join(f"{name}: {line}" for name in names for line in known(agent, name).splitlines())


def text_changes(agent: AgentMemory, names: Sequence[str], before: Blocks, after: Blocks) -> tuple[TextChange, ...]:
    """What is to be kept for other talks of a change in the core memory of one with these people.

    Of several people a line is kept of whom it is about: whose name stands before it, or is the first in it.
    """
    wanted: dict[str, str] = {}
    for name in names if before.human != after.human else ():
        was, now = ((_lines_of(name, names, one.human) if names[1:] else one.human) for one in (before, after))
        if was != now and name != NOBODY:
            told = _merged(was, now, known(agent, name))[:MAX_BLOCK]
            wanted[_name_of(name)] = _dumped({"name": name, "text": told})
    if before.persona != after.persona:
        wanted[_SELF] = _dumped(_learning(agent, before.persona, after.persona))
    changes = (TextChange(name, agent.text(name), text) for name, text in wanted.items())
    return tuple(change for change in changes if change.before != change.after)


def people(agent: AgentMemory) -> tuple[Person, ...]:
    """Everybody whom an agent knows: whom it talked with last first, then those of its personality alone, by name.

    Raises:
        StoreDamaged: what is kept is not as it was written.
    """
    found = _relations(agent)
    for name, text in agent.texts().items():
        if text is not None and name.startswith(PERSON) and name != _SELF:
            record = _read(text)
            key = _folded(record["name"])
            found[key] = replace(found.get(key, Person(record["name"], "")), text=record["text"])
    for talk in conversations(agent):
        for name in (one for one in talk.people if one != NOBODY):
            key = _folded(name)
            person = found.get(key, Person(name, ""))
            latest = max((at for at in (person.last, talk.last) if at is not None), default=None)
            found[key] = replace(person, talks=person.talks + 1, last=latest)
    return tuple(sorted(found.values(), key=lambda one: (-one.last.timestamp() if one.last else 0.0, one.name)))


def describe_person(
    agent: AgentMemory, name: str, text: str, *, now: datetime | None = None, preview: bool = False
) -> ChangeSet:
    """Write down what an agent knows of a person; talks that have begun keep what they have.

    Args:
        agent: who knows them.
        name: by which they talk with it, at most 100 characters.
        text: what it knows, at most 20,000 characters; empty for nothing, not even what the personality says.
        now: the world's time.
        preview: whether to plan only.

    Raises:
        InvalidParameter: the name or the text cannot be taken.
    """
    if not is_text(name) or not name.strip() or not name.strip().isprintable() or len(name.strip()) > MAX_SPEAKER:
        raise InvalidParameter(f"The name must be on one line, of 1 to {MAX_SPEAKER} characters.")
    if not is_text(text) or len(text) > MAX_BLOCK:
        raise InvalidParameter(f"What is known of a person must be a text of at most {MAX_BLOCK:,} characters.")
    called = name.strip()
    if called == NOBODY:
        raise InvalidParameter(f"“{NOBODY}” stands for whoever gives no name; of them nothing is kept.")
    key = _name_of(called)
    held, wanted = agent.text(key), _dumped({"name": called, "text": text.strip()})
    moment = agent.now if now is None else moment_given("'now'", now)
    texts = () if held == wanted else (TextChange(key, held, wanted),)
    title = f"Describe “{short(called)}”"
    plan = ChangeSet(KNOW, title, (), moment, agent.revision, author=agent.author, texts=texts, agent=agent.name)
    return plan if preview else agent.apply(plan)


def forgotten(agent: AgentMemory, name: str) -> tuple[TextChange, ...]:
    """What makes an agent know of a person no more than its personality says."""
    key = _name_of(name)
    held = agent.text(key)
    return () if held is None else (TextChange(key, held, None),)


# -- how ---------------------------------------------------------------------------------------------------


def _folded(name: str) -> str:
    return " ".join(name.split()).casefold()


def _name_of(name: str) -> str:
    """The name of the text that keeps a person: readable, and apart from all others."""
    folded = _folded(name)
    readable = re.sub(r"[^0-9a-z]+", "-", folded)[:40].strip("-") or "somebody"
    return f"{PERSON}{readable}-{hashlib.sha256(folded.encode()).hexdigest()[:12]}"


def _facts(agent: AgentMemory) -> list[str]:
    facts = static_memory.facts(agent.personality) if agent.personality else []
    return [" ".join(fact.document.split()) for fact in facts]


def _relations(agent: AgentMemory) -> dict[str, Person]:
    """Whom the personality names, by the folded name, each with what it says."""
    if agent.personality is None:
        return {}
    facts = [one for one in static_memory.facts(agent.personality) if one.extras["section"] == "relationships"]
    return {
        _folded(one.name): Person(one.name, fact.document, one.relation or "", one.trust)
        for one, fact in zip(agent.personality.relationships, facts, strict=True)
    }


def _lines_of(name: str, names: Sequence[str], text: str) -> str:
    """The lines of a text that are about one of several people, without the name before them."""

    def about(line: str) -> str | None:
        places = {
            one: min((at for part in (one, one.split()[0]) if (at := line.find(part)) >= 0), default=-1)
            for one in names
        }
        named = [one for one in names if places[one] >= 0]
        return min(named, key=lambda one: (places[one], -len(one))) if named else None

    return "\n".join(line.removeprefix(f"{name}:").strip() for line in text.splitlines() if about(line) == name)


def _merged(before: str, after: str, theirs: str) -> str:
    """A text with those lines added and taken away that a change of another version of it adds and takes away."""
    if theirs == before:
        return after
    was, now = before.splitlines(), after.splitlines()
    kept = [line for line in theirs.splitlines() if line not in was or line in now]
    return "\n".join([*kept, *_apart(now, was, kept)])


def _apart(lines: Sequence[str], *others: Sequence[str]) -> list[str]:
    return [line for line in lines if line.strip() and not any(line in other for other in others)]


def _learned(agent: AgentMemory) -> dict[str, Any]:
    held = agent.text(_SELF)
    return {"added": [], "gone": []} if held is None else _read(held)


def _learning(agent: AgentMemory, before: str, after: str) -> dict[str, Any]:
    """What an agent has learned of itself, with what a change of the block ``persona`` adds and takes away."""
    held, was, now = _learned(agent), before.splitlines(), after.splitlines()
    removed, facts = _apart(was, now), _facts(agent)
    added = [line for line in held["added"] if line not in removed]
    gone = [line for line in held["gone"] if line not in now]
    gone += [line for line in removed if line in facts and line not in gone]
    return {"added": [*added, *_apart(now, was, added, facts)], "gone": gone}


def _dumped(told: dict[str, Any]) -> str:
    return json.dumps(told, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _read(text: str) -> dict[str, Any]:
    """A record as ``_dumped`` wrote it."""
    try:
        told, _ = parse_strict(text, "a record of a person", _MOST_BYTES, InvalidDocument)
    except InvalidDocument as error:
        raise StoreDamaged(f"What is kept of a person is not as it was written: {error.sentence:.300}") from error
    person = isinstance(told, dict) and told.keys() == {"name", "text"} and all(map(is_text, told.values()))
    itself = isinstance(told, dict) and told.keys() == {"added", "gone"}
    if itself:
        itself = all(isinstance(lines, list) and all(map(is_text, lines)) for lines in told.values())
    if not person and not itself:
        raise StoreDamaged(f"What is kept of a person is not as it was written: {text:.100}")
    held: dict[str, Any] = told
    return held
