"""People: what an agent knows about its partners in talks, and has learned about itself, from one talk to the next.

Each talk has its own core memory. Changes to it are also stored here, line by line: under the name of the partner, and
under the agent's own. The next talk begins with that.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ..agent import AgentMemory
from ..core import personality as static_memory
from ..core.change_set import ITSELF, PERSON, ChangeSet, TextChange, excerpt, is_text
from ..core.entry import DECAYING, MemoryEntry, Tier
from ..core.json_source import parse_strict
from ..core.kinds import Source
from ..core.scoring import in_range
from ..core.times import moment_given, parse_time
from ..errors import InvalidDocument, InvalidParameter, StoreDamaged
from ..operations import acquaintance
from ..operations.context import Progress, no_progress, refuse_uncallable
from ..operations.importing.turns import MAX_SPEAKER
from ..operations.synopsis import listed
from .storage import MAX_BLOCK, conversations
from .talk import NOBODY, Blocks

KNOW = "know"
"""The history's name for a person's description of somebody whom an agent knows."""
REFLECT = "reflect-on-person"
"""The history's name for a reflection on what is known of a person, or on trust in them."""
_MOST_BYTES = 200_000
_POINTS = 1000
"""How many changes of a person's record, the newest ones, are read for how trust developed."""


@dataclass(frozen=True)
class Person:
    """Somebody whom an agent knows: by its personality, from talks, or because they told it something.

    Args:
        name: the name they use in talks with it.
        text: what it knows of them; core memory's block ``human`` begins with it.
        relation: what they are to it according to its personality; empty if that does not say.
        trust: how far it trusts them, 0 (not at all) to 1 (completely), by its last reflection on them, or else by its
            personality; ``None`` if neither says.
        talks: how many conversations with them are stored.
        last: when something was last said in one, or told by them, by the world's time; ``None`` if nothing was.
        why: why trust last changed, in a sentence; empty if it has not.
        evidence: the ids of the memories that the last reflection on them rests on.
        until: the time of the last memory that was read for a reflection; ``None`` before the first.
    """

    name: str
    text: str
    relation: str = ""
    trust: float | None = None
    talks: int = 0
    last: datetime | None = None
    why: str = ""
    evidence: tuple[str, ...] = ()
    until: datetime | None = None


@dataclass(frozen=True)
class TrustPoint:
    """One change of the trust in a person, and of what is known of them.

    Args:
        at: the world's time.
        revision: the change set's.
        author: who made it: "the world" if it happened by itself.
        before: trust until then, 0 to 1; ``None`` if it was open.
        trust: trust from then on; ``None`` if it is open.
        why: why it changed, in a sentence; empty if nobody said.
        learned: the new lines of what is known.
        evidence: the ids of the memories that the change rests on.
    """

    at: datetime
    revision: int
    author: str
    before: float | None
    trust: float | None
    why: str = ""
    learned: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()


def known(agent: AgentMemory, name: str) -> str:
    """What an agent knows of a person; from the personality, as long as nothing else was learned.

    Nothing is stored about somebody without a name, who might be somebody else the next time.

    Raises:
        StoreDamaged: the record is not as it was written.
    """
    if name == NOBODY:
        return ""
    return _person(agent, name).text


def nature(agent: AgentMemory, most: int) -> str:
    """Who an agent is, in at most ``most`` characters: its static memory, then what it learned in talks.

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
    """What an agent knows of its partners in a talk; if there are several, each line has the name that it is about.

    Raises:
        StoreDamaged: what is kept is not as it was written.
    """
    if len(names) == 1:
        return known(agent, names[0])
    return "\n".join(f"{name}: {line}" for name in names for line in known(agent, name).splitlines())


def text_changes(agent: AgentMemory, names: Sequence[str], before: Blocks, after: Blocks) -> tuple[TextChange, ...]:
    """What to store for other talks when the core memory of one with these people changes.

    With several people, a line is stored for the one it is about: whose name is before it, or is the first in it.
    """
    texts: dict[str, str] = {}
    for name in names if before.human != after.human else ():
        was, now = ((_lines_of(name, names, blocks.human) if names[1:] else blocks.human) for blocks in (before, after))
        if was != now and name != NOBODY:
            text = _merged(was, now, known(agent, name))[:MAX_BLOCK]
            texts[text_of(name)] = _dumped({**_record(agent, name), "name": name, "text": text})
    if before.persona != after.persona:
        texts[ITSELF] = _dumped(_learning(agent, before.persona, after.persona))
    changes = (TextChange(name, agent.text(name), text) for name, text in texts.items())
    return tuple(change for change in changes if change.before != change.after)


def people(agent: AgentMemory) -> tuple[Person, ...]:
    """Everybody whom an agent knows: from its personality, talks and records, and those who told it something.

    The one it met last comes first, and those whom it never met at the end, by name.

    Raises:
        StoreDamaged: a record is not as it was written.
    """
    found = _relations(agent)
    for name, text in agent.texts().items():
        if text is not None and name.startswith(PERSON) and name != ITSELF:
            record = _read(text)
            key = _folded(record["name"])
            found[key] = _with(found.get(key, Person(record["name"], "")), record)
    for talk in conversations(agent):
        for name in (person for person in talk.people if person != NOBODY):
            key = _folded(name)
            person = found.get(key, Person(name, ""))
            latest = max((at for at in (person.last, talk.last) if at is not None), default=None)
            found[key] = replace(person, talks=person.talks + 1, last=latest)
    for called, at in _tellers(agent).items():
        with suppress(InvalidParameter):  # it is part of several names, and could be any
            name = _alike(called, [person.name for person in found.values()]) or called
            person = found.get(_folded(name), Person(name, ""))
            found[_folded(name)] = replace(person, last=max(filter(None, (person.last, at)), default=None))
    return tuple(
        sorted(found.values(), key=lambda person: (-person.last.timestamp() if person.last else 0.0, person.name))
    )


def describe_person(
    agent: AgentMemory,
    name: str,
    text: str,
    *,
    trust: float | None = None,
    now: datetime | None = None,
    preview: bool = False,
) -> ChangeSet:
    """Write down what an agent knows of a person, or how far it trusts them; talks that have begun are not changed.

    Args:
        agent: who knows them.
        name: the full name they use in talks with it, at most 100 characters; another name is somebody else.
        text: what it knows, at most 20,000 characters; empty for nothing, not even what the personality says.
        trust: how far it trusts them, 0 (not at all) to 1 (completely); unchanged if not given.
        now: the world's time.
        preview: whether to plan only.

    Raises:
        InvalidParameter: the name, the text or the trust cannot be accepted.
    """
    called = _called(name)
    if not is_text(text) or len(text) > MAX_BLOCK:
        raise InvalidParameter(f"What is known of a person must be a text of at most {MAX_BLOCK:,} characters.")
    record = {**_record(agent, called), "name": called, "text": text.strip()}
    if trust is not None:
        became = round(in_range("The trust", trust, 0, 1), 2)
        new_text = _trusting(agent, replace(_person(agent, called), text=text.strip()), became)
        kept = {name: value for name, value in record.items() if name not in ("why", "evidence")}
        record = {**kept, "trust": became, "text": new_text}
    title = f"Describe {excerpt(called)}"
    plan = _planned(agent, KNOW, title, called, record, agent.now if now is None else moment_given("'now'", now))
    return plan if preview else agent.apply(plan)


def about(agent: AgentMemory, known_people: Sequence[Person], person: Person, now: datetime) -> list[MemoryEntry]:
    """The memories about a person since the last reflection on them, the oldest first; see ``acquaintance.about``."""
    entries = [*agent.entries(Tier.STM), *agent.entries(Tier.LTM)]
    others = [other.name for other in known_people if _folded(other.name) != _folded(person.name)]
    seen = _record(agent, person.name).get("seen", ())
    return acquaintance.about(entries, person.name, others, person.until, now, seen)


def reflect_on_person(
    agent: AgentMemory,
    name: str,
    *,
    now: datetime | None = None,
    preview: bool = False,
    progress: Progress = no_progress,
) -> ChangeSet:
    """Reflect on a person: new memories about them change what is known of them, and trust.

    The language model proposes lines to know and trust from 0 (not at all) to 1 (completely), each with its evidence
    among those memories; what rests on none of them is dropped, and trust changes by at most 0.3 at a time. The change
    set stores the evidence, each memory with what rests on it. Without a language model, the offline rules quote what
    was most important, and use a list of deeds ("lied", "kept his promise").

    Args:
        agent: who knows them.
        name: the person's, at most 100 characters; a part of it is enough if only one known person has it.
        now: the world's time.
        preview: whether to plan only.
        progress: called with the progress so far.

    Raises:
        InvalidParameter: the name cannot be accepted, or may be of several people.
        ModelError: the language model gave no usable answer, or none that rests on these memories. No changes.
    """
    refuse_uncallable(progress=progress)
    called = _named(agent, name)
    moment = agent.now if now is None else moment_given("'now'", now)
    everybody = people(agent)
    person = next((person for person in everybody if _folded(person.name) == _folded(called)), Person(called, ""))
    found = about(agent, everybody, person, moment)
    if not found:
        note = f"No memory names {person.name} since the last time." if person.until else f"No memory names {called}."
        return ChangeSet(
            REFLECT, f"Nothing new about {excerpt(called)}", (), moment, agent.revision, author=agent.author,
            notes=(note,), agent=agent.name,
        )  # fmt: skip
    progress(0.05, f"Thinking of {person.name}")
    who = agent.display_name
    reflection = acquaintance.reflect(
        agent.model, who, person.name, person.text, person.trust, found, MAX_BLOCK, moment
    )
    progress(1.0, "Planned")  # so that a cancel during the model's answer takes effect
    record = {
        **_record(agent, called),
        "name": person.name,
        "until": reflection.until.isoformat(),
        "seen": list(reflection.seen),
    }
    came = list[str]()
    if reflection.learned:
        came.append(f"{reflection.learned} thing{'s' if reflection.learned > 1 else ''} learned")
        record["text"] = reflection.text
    if reflection.trust is not None and reflection.trust != person.trust:
        was = acquaintance.NEUTRAL if person.trust is None else person.trust
        came.append(f"trust {was:.2g} → {reflection.trust:.2g}")
        text = _trusting(agent, replace(person, text=reflection.text), reflection.trust)
        record |= {"trust": reflection.trust, "why": reflection.why, "text": text}
    if came:
        record["evidence"] = list(reflection.evidence)
    title = f"Reflect on {excerpt(person.name)}: {', '.join(came) or 'nothing new'}"
    plan = _planned(
        agent,
        REFLECT,
        title,
        called,
        record,
        moment,
        kept=reflection.kept,
        calls=reflection.calls,
        notes=reflection.notes,
    )
    return plan if preview else agent.apply(plan)


def trust_over_time(agent: AgentMemory, person: str) -> tuple[TrustPoint, ...]:
    """How trust in a person developed, as the history shows it, the oldest first; undoing a change is one too.

    Only the last 1,000 changes of the person's record are read. A change that leaves trust as it is and
    adds nothing by reflection is left out.

    Raises:
        InvalidParameter: the name cannot be accepted, or may be of several people.
        StoreDamaged: what is kept is not as it was written.
    """
    called = _named(agent, person)
    key, first = text_of(called), _relations(agent).get(_folded(called), Person(called, ""))
    points = list[TrustPoint]()
    for done in reversed(agent.timeline.of_text(key, _POINTS)):
        change_set = done.change_set
        (text,) = (text for text in change_set.texts if text.name == key)
        was, now = (_with(first, _read(version)) if version else first for version in (text.before, text.after))
        if was.trust == now.trust and (change_set.operation != REFLECT or was.text == now.text):
            continue
        learned = tuple(_apart(*(_untrusting(agent, person) for person in (now, was))))
        thought = now.evidence != was.evidence or now.why != was.why
        points.append(
            TrustPoint(
                change_set.planned_at, done.revision, change_set.author, was.trust, now.trust,
                now.why if thought and was.trust != now.trust else "", learned, now.evidence if thought else (),
            )
        )  # fmt: skip
    return tuple(points)


def forgotten(agent: AgentMemory, name: str) -> tuple[TextChange, ...]:
    """The change that reduces what an agent knows of a person to what its personality says."""
    key = text_of(name)
    before = agent.text(key)
    return () if before is None else (TextChange(key, before, None),)


def text_of(name: str) -> str:
    """The name of the text that stores a person: readable and unique."""
    folded = _folded(name)
    readable = re.sub(r"[^0-9a-z]+", "-", folded)[:40].strip("-") or "somebody"
    return f"{PERSON}{readable}-{hashlib.sha256(folded.encode()).hexdigest()[:12]}"


def talks_with(agent: AgentMemory, name: str) -> str:
    """The full name of an agent's partner: somebody whom it knows, or else a character of its world.

    Raises:
        InvalidParameter: the name is part of the names of several of them.
    """
    if name == NOBODY:
        return name
    own = _folded(agent.display_name)
    others = [other for other in agent.contents.cast() if _folded(other) != own]
    return _alike(name, [person.name for person in people(agent)]) or _alike(name, others) or name


# -- how ---------------------------------------------------------------------------------------------------


def _tellers(agent: AgentMemory) -> dict[str, datetime | None]:
    """Those who told an agent something that it remembers, and when they last did."""
    tellers: dict[str, datetime | None] = {}
    own = _folded(agent.display_name)
    for entry in (entry for tier in DECAYING for entry in agent.entries(tier)):
        if entry.source is Source.TOLD and entry.people and _folded(entry.people[0]) != own:
            name, before = entry.people[0], tellers.get(entry.people[0])
            tellers[name] = max(filter(None, (before, entry.timestamp)), default=None)
    return tellers


def _called(name: object) -> str:
    """The name of a person, if something can be stored about them.

    Raises:
        InvalidParameter: it cannot.
    """
    if not is_text(name) or not name.strip() or not name.strip().isprintable() or len(name.strip()) > MAX_SPEAKER:
        raise InvalidParameter(f"The name must be on one line, of 1 to {MAX_SPEAKER} characters.")
    if name.strip() == NOBODY:
        raise InvalidParameter(f"“{NOBODY}” stands for anyone who gives no name, so nothing is kept about them.")
    return name.strip()


def _named(agent: AgentMemory, name: object) -> str:
    """The full name that a name means: of somebody known by it, or by a part of it such as the first name.

    Raises:
        InvalidParameter: nothing can be stored under that name, or it is part of the names of several people.
    """
    called = _called(name)
    return _alike(called, [person.name for person in people(agent)]) or called


def _alike(called: str, names: Sequence[str]) -> str:
    """The one of these names that is meant; empty if none is.

    Raises:
        InvalidParameter: it is part of several of them.
    """
    if any(_folded(name) == _folded(called) for name in names):
        return called
    alike = list(dict.fromkeys(name for name in names if f" {_folded(called)} " in f" {_folded(name)} "))
    if len(alike) > 1:
        raise InvalidParameter(f"There are {listed(sorted(alike))}: say which.")
    return alike[0] if alike else ""


def _planned(
    agent: AgentMemory, operation: str, title: str, name: str, record: Mapping[str, Any], now: datetime, **more: Any
) -> ChangeSet:
    key, text = text_of(name), _dumped(record)
    before = agent.text(key)
    texts = () if before == text else (TextChange(key, before, text),)
    return ChangeSet(
        operation, title, (), now, agent.revision, author=agent.author, texts=texts, agent=agent.name, **more
    )


def _person(agent: AgentMemory, name: str) -> Person:
    """What the record of a person and the personality say, without their talks."""
    first = _relations(agent).get(_folded(name), Person(name, ""))
    return _with(first, _record(agent, name))


def _record(agent: AgentMemory, name: str) -> dict[str, Any]:
    """The record of a person; empty if there is none."""
    text = agent.text(text_of(name))
    return {} if text is None else _read(text)


def _with(person: Person, record: Mapping[str, Any]) -> Person:
    """A person with their record; what it leaves out comes from the personality."""
    until = record.get("until")
    return replace(
        person,
        text=record.get("text", person.text),
        trust=record.get("trust", person.trust),
        why=record.get("why", ""),
        evidence=tuple(record.get("evidence", ())),
        until=parse_time(until) if until else None,
    )


def _trusting(agent: AgentMemory, person: Person, trust: float) -> str:
    """What is known of a person, with the new trust in them."""
    said = static_memory.trusts(agent.display_name, person.name, trust)
    if person.trust is not None:
        was = static_memory.trusts(agent.display_name, person.name, person.trust)
        if was in person.text:
            return person.text.replace(was, said)
    return "\n".join(filter(None, (person.text, said)))


def _folded(name: str) -> str:
    return " ".join(name.split()).casefold()


def _untrusting(agent: AgentMemory, person: Person) -> list[str]:
    """The lines of what is known of a person, without the trust in them."""
    said = "" if person.trust is None else static_memory.trusts(agent.display_name, person.name, person.trust)
    return [line.replace(said, "").strip() for line in person.text.splitlines()]


def _facts(agent: AgentMemory) -> list[str]:
    facts = static_memory.facts(agent.personality) if agent.personality else []
    return [" ".join(fact.document.split()) for fact in facts]


def _relations(agent: AgentMemory) -> dict[str, Person]:
    """Whom the personality names, by the folded name, each with what it says."""
    if agent.personality is None:
        return {}
    facts = [fact for fact in static_memory.facts(agent.personality) if fact.extras["section"] == "relationships"]
    return {
        _folded(relationship.name): Person(
            relationship.name, fact.document, relationship.relation or "", relationship.trust
        )
        for relationship, fact in zip(agent.personality.relationships, facts, strict=True)
    }


def _lines_of(name: str, names: Sequence[str], text: str) -> str:
    """The lines of a text that are about one of several people, without the name before them."""

    def about(line: str) -> str | None:
        places = {
            name: min((at for part in (name, name.split()[0]) if (at := line.find(part)) >= 0), default=-1)
            for name in names
        }
        named = [name for name in names if places[name] >= 0]
        return min(named, key=lambda other: (places[other], -len(other))) if named else None

    return "\n".join(line.removeprefix(f"{name}:").strip() for line in text.splitlines() if about(line) == name)


def _merged(before: str, after: str, theirs: str) -> str:
    """A text with the lines added and removed that a change of another version of it adds and removes."""
    if theirs == before:
        return after
    was, now = before.splitlines(), after.splitlines()
    kept = [line for line in theirs.splitlines() if line not in was or line in now]
    return "\n".join([*kept, *_apart(now, was, kept)])


def _apart(lines: Sequence[str], *others: Sequence[str]) -> list[str]:
    return [line for line in lines if line.strip() and not any(line in other for other in others)]


def _learned(agent: AgentMemory) -> dict[str, Any]:
    text = agent.text(ITSELF)
    return {"added": [], "gone": []} if text is None else _read(text)


def _learning(agent: AgentMemory, before: str, after: str) -> dict[str, Any]:
    """What an agent has learned about itself, with what a change of the block ``persona`` adds and removes."""
    record, was, now = _learned(agent), before.splitlines(), after.splitlines()
    removed, facts = _apart(was, now), _facts(agent)
    added = [line for line in record["added"] if line not in removed]
    gone = [line for line in record["gone"] if line not in now]
    gone += [line for line in removed if line in facts and line not in gone]
    return {"added": [*added, *_apart(now, was, added, facts)], "gone": gone}


def _dumped(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _read(text: str) -> dict[str, Any]:
    """A record as ``_dumped`` wrote it."""
    try:
        value, _ = parse_strict(text, "a record of a person", _MOST_BYTES, InvalidDocument)
    except InvalidDocument as error:
        raise StoreDamaged(f"The stored record of a person is not as it was written: {error.sentence:.300}") from error
    person = isinstance(value, dict) and _is_person(value)
    itself = isinstance(value, dict) and value.keys() == {"added", "gone"}
    if itself:
        itself = all(isinstance(lines, list) and all(map(is_text, lines)) for lines in value.values())
    if not person and not itself:
        raise StoreDamaged(f"The stored record of a person is not as it was written: {text:.100}")
    record: dict[str, Any] = value
    return record


def _is_person(record: Mapping[str, Any]) -> bool:
    trust, lists = record.get("trust", 0), [record.get(name, []) for name in ("evidence", "seen")]
    return (
        "name" in record
        and record.keys() <= {"name", "text", "trust", "why", "evidence", "until", "seen"}
        and all(is_text(record[name]) for name in ("name", "text", "why", "until") if name in record)
        and isinstance(trust, int | float)
        and 0 <= trust <= 1
        and all(isinstance(ids, list) and all(map(is_text, ids)) for ids in lists)
    )
