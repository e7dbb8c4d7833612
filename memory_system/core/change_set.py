"""Change sets: what an operation would do, as a value that can be inspected, applied once and undone."""

from __future__ import annotations

import dataclasses
import json
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, Self, TypeGuard

from ..errors import InvalidParameter, shown
from .entry import Kind, MemoryEntry, Tier
from .times import parse_time


@dataclass(frozen=True)
class Change:
    """One memory's before and after, and why.

    No ``before``: it is added. No ``after``: it leaves recall. Another tier: it moves.
    """

    before: MemoryEntry | None
    after: MemoryEntry | None
    reason: str

    @property
    def entry_id(self) -> str:
        """The id of the memory that changes."""
        entry = self.after or self.before
        assert entry is not None, "a change has a before or an after"
        return entry.id

    @property
    def verb(self) -> str:
        """What happens, in one word: "add", "forget", "move" or "update"."""
        if self.before is None:
            return "add"
        if self.after is None:
            return "forget"
        return "move" if self.before.tier != self.after.tier else "update"

    def inverse(self, reason: str) -> Change:
        """The change that undoes this one."""
        return Change(before=self.after, after=self.before, reason=reason)


TEXTS = ("personality", "settings", "cues", "judgments", "dismissed", "interviews", "later", "portrait", "card")
"""What the journal keeps of every agent besides memories, by name."""
CONVERSATION, CORE, HELD, PERSON = "conversation:", "core:", "talk:", "person:"
"""How the names of texts begin. A conversation has three, each with its id: its progress, which changes with every
step; its core memory; and how it is conducted. The fourth, with a name, holds what is known about a person."""
ITSELF = f"{PERSON}self"
"""The name of what an agent has learned about itself."""
OF_A_CONVERSATION = (CONVERSATION, CORE, HELD, PERSON)
_OF_A_CONVERSATION = re.compile(rf"(?:{'|'.join(OF_A_CONVERSATION)})[0-9A-Za-z_-]{{1,64}}")


def is_text_name(name: object) -> bool:
    """Whether the journal keeps a text under this name: one of ``TEXTS``, or one of a conversation."""
    return isinstance(name, str) and (name in TEXTS or _OF_A_CONVERSATION.fullmatch(name) is not None)


@dataclass(frozen=True)
class TextChange:
    """The before and after of a named text that is not a memory; see ``is_text_name``."""

    name: str
    before: str | None
    after: str | None

    @property
    def words(self) -> str:
        """What it is called in a sentence, with the person's name where it is about one."""
        if self.name == ITSELF:
            return "record of the character itself"
        body: object = None
        with suppress(ValueError, RecursionError):
            body = json.loads(self.after or self.before or "") if self.name.startswith(PERSON) else None
        name = body.get("name") if isinstance(body, dict) else None
        return f"record of {name}" if is_text(name) else text_words(self.name)


def text_words(name: str) -> str:
    """What a text that is not a memory is called in a sentence."""
    start = next((start for start in OF_A_CONVERSATION if name.startswith(start)), "")
    return _TEXT_WORDS.get(start or name, name)


_TEXT_WORDS = {
    "personality": "personality's words",
    "cues": "saved cues",
    "later": "decisions put off",
    "card": "imported card",
    CONVERSATION: "conversation's state",
    CORE: "core memory",
    HELD: "conversation's settings",
    PERSON: "record of a person",
}


@dataclass(frozen=True)
class Kept:
    """A memory that an operation considered and left where it is, and why."""

    entry_id: str
    reason: str


PENDING = "pending"
"""The operation of a conversation step that waits for the results of its actions and must not be applied before."""
RATE = "rate"
"""The task of rating an event: the only one whose prompt holds no other memory."""


@dataclass(frozen=True)
class ModelCall:
    """One call of a language model: the prompt, the answer, the time and the tokens it took."""

    task: str
    model: str
    prompt: str
    answer: str
    milliseconds: float
    tokens: int | None = None
    error: str | None = None


@dataclass(frozen=True)
class ChangeSet:
    """A plan: what would change, why, and on which revision it was planned.

    ``revision`` is ``None`` until it has been applied. Applying never asks a language model again. ``purges`` are the
    ids of forgotten memories whose text is erased from the history: that alone cannot be undone.
    """

    operation: str
    title: str
    changes: tuple[Change, ...]
    planned_at: datetime
    base_revision: int
    author: str = "script"
    reason: str = ""
    texts: tuple[TextChange, ...] = ()
    kept: tuple[Kept, ...] = ()
    notes: tuple[str, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    undoes: int | None = None
    agent: str = ""
    purges: tuple[str, ...] = ()
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    revision: int | None = None

    def problem(self) -> str | None:
        """Why this cannot be applied to any agent, in half a sentence; ``None`` if it is consistent."""
        said = (self.operation, self.title, self.author, self.reason, self.agent, self.id, *self.notes)
        if not all(is_text(word) for word in said):
            return "its description is not all text"
        when: object = self.planned_at
        if not isinstance(when, datetime):
            return "it does not say when it was planned"
        if self.undoes is not None and not 0 < self.undoes < 2**62:
            return "it undoes something that is not a revision"
        ids: set[str] = set()
        for change in self.changes:
            if not isinstance(change, Change) or not is_text(change.reason):
                return "a change is not valid, or its reason is not text"
            ends = [end for end in (change.before, change.after) if end is not None]
            if not ends or any(not isinstance(end, MemoryEntry) for end in ends):
                return "a change has neither a before nor an after"
            if len({end.id for end in ends}) > 1:
                return f"a change has two ids, {ends[0].id!r} and {ends[1].id!r}"
            if ends[0].id in ids:
                return f"it changes {ends[0].id!r} twice"
            ids.add(ends[0].id)
        if (
            not isinstance(self.purges, tuple)
            or not all(map(is_text, self.purges))
            or "" in self.purges
            or ids & set(self.purges)
        ):
            return "what it purges is not a list of ids, or it also changes one of them"
        unknown = [text.name for text in self.texts if not is_text_name(text.name)]
        if unknown:
            return f"there is no text {shown(unknown[0])}"
        ends_of_texts = [end for text in self.texts for end in (text.before, text.after) if end is not None]
        return None if all(is_text(end) for end in ends_of_texts) else "a text it changes is not text"

    @property
    def number(self) -> int:
        """The revision at which it was committed."""
        assert self.revision is not None, "what is committed is numbered"
        return self.revision

    def __bool__(self) -> bool:
        """Whether anything would change."""
        return bool(self.changes or self.texts or self.purges)

    def __str__(self) -> str:
        """The title, and a line for each memory: what happens to it, and why."""
        lines = [f"{self.title} (revision {self.revision})" if self.revision else f"{self.title} (not applied)"]
        for change in self.changes:
            entry = change.after or change.before
            assert entry is not None, "a change has a before or an after"
            lines.append(f"  {change.verb:6} {' '.join(entry.document.split())[:80]}  [{change.reason}]")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    def of(self, verb: str) -> tuple[Change, ...]:
        """The changes of one verb: "add", "forget", "move" or "update"."""
        return tuple(change for change in self.changes if change.verb == verb)

    def without(self, entry_ids: Iterable[str]) -> Self:
        """The same plan, under a new id, with some memories left as they are.

        Refusing a memory that would be added also refuses the forgetting of its evidence. Refusing any other memory
        removes it from the evidence of what would be added.
        """
        refused = set(entry_ids)
        adding = {change.entry_id: change.after for change in self.changes if change.before is None and change.after}
        for entry_id in refused & adding.keys():
            refused |= set(adding[entry_id].evidence) & {change.entry_id for change in self.of("forget")}
        spared = refused & ({change.entry_id for change in self.of("forget")} | adding.keys())
        left = tuple(_without_evidence(change, spared) for change in self.changes if change.entry_id not in refused)
        most, some = _offered(self.operation, self.changes), _offered(self.operation, left)
        title = self.title if len(left) == len(self.changes) else f"{self.title}; {some} of {most} accepted"
        return dataclasses.replace(self, changes=left, title=title, id=uuid.uuid4().hex)


class Done(Protocol):
    """An answer that includes what was done, such as that of ``add_short_term``, an import, or a conversation step."""

    @property
    def change_set(self) -> ChangeSet | None:
        """What was done."""


Revision = int | ChangeSet | Done
"""A revision: its number, the change set applied then, or an answer that includes it."""


def revision_of(told: Revision) -> int:
    """The number of a revision, which need not be in the history.

    Raises:
        InvalidParameter: it was not applied.
    """
    done: Any = getattr(told, "change_set", told)
    number: int | None = done.revision if isinstance(done, ChangeSet) else done
    if number is None:
        raise InvalidParameter("This has not been applied: no revision of the history contains it.")
    return number


def together(plans: Sequence[tuple[ChangeSet, Iterable[str]]], title: str) -> tuple[ChangeSet, tuple[ChangeSet, ...]]:
    """Merge several plans of one operation, made independently, so that one undo reverts all of them.

    Args:
        plans: one or more, each with the same operation, with the ids of the memories that it is about, changed or
            not: what one of them keeps no other may forget.
        title: of the merged plan.

    Returns:
        The merged plan, and those that have to be applied on their own: they change texts other than memories, or a
        memory that an earlier one is about.
    """
    taken: list[ChangeSet] = []
    left: list[ChangeSet] = []
    ids: set[str] = set()
    for change_set, about in plans:
        own = {*about, *(change.entry_id for change in change_set.changes)}
        if change_set.texts or change_set.purges or own & ids:
            left.append(change_set)
        else:
            taken.append(change_set)
            ids |= own
    first, _ = plans[0]
    return dataclasses.replace(
        first,
        title=title,
        changes=tuple(change for change_set in taken for change in change_set.changes),
        texts=(),
        kept=tuple(kept for change_set in taken for kept in change_set.kept),
        notes=tuple(dict.fromkeys(note for change_set in taken for note in change_set.notes)),
        calls=tuple(call for change_set in taken for call in change_set.calls),
        base_revision=min(change_set.base_revision for change_set, _ in plans),
        purges=(),
        id=uuid.uuid4().hex,
    ), tuple(left)


_SHORT = 60
"""Characters of a text that is quoted; a last word that begins before half of them is itself cut."""
_INNER = str.maketrans("“”", "‘’")


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun, and verb: "1 memory is", "2 memories are"; ``many`` defaults to ``one`` with an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def so_many(number: int) -> str:
    """A number of memories: "1 memory", "2,000 memories"."""
    return counted(number, "memory", "memories")


def short(text: str, most: int = _SHORT) -> str:
    """A text on one line, at most ``most`` characters, cut at the end of a word if it is cut."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    end = line.rfind(" ", 0, most)
    return f"{line[: end if end >= most // 2 else most - 1]}…"


def in_quotes(title: str) -> str:
    """A title in quotation marks; quotations within it get the other kind: “Edit ‘Smoke, and then rain’”."""
    return f"“{title.translate(_INNER)}”"


def excerpt(text: str, most: int = _SHORT) -> str:
    """The beginning of a text in quotation marks, cut as by ``short``; quotations within it get the other kind."""
    return in_quotes(short(text, most))


def is_text(value: object) -> TypeGuard[str]:
    """Whether a value is text that can be stored: no half of a surrogate pair can."""
    try:
        return isinstance(value, str) and value.encode("utf-8") is not None
    except UnicodeEncodeError:
        return False


def text_given(name: str, value: object) -> str:
    """The value, if it is a text that can be stored.

    Raises:
        InvalidParameter: it is something else, such as a list, or has half of a surrogate pair; the message names it.
    """
    if is_text(value):
        return value
    if isinstance(value, str):
        raise InvalidParameter(f"'{name}' contains half of a surrogate pair, which is not text: {shown(value)}.")
    raise InvalidParameter(f"'{name}' must be a text, not {shown(value)}.")


def texts_given(name: str, values: object) -> list[str]:
    """The same for a sequence of texts, such as a list.

    Raises:
        InvalidParameter: it is something else, or one of them is not a text.
    """
    if isinstance(values, str | bytes) or not isinstance(values, Sequence):
        raise InvalidParameter(f"'{name}' must be a list of texts, not {shown(values)}.")
    return [text_given(f"{name}[{place}]", value) for place, value in enumerate(values)]


def paired(text: str) -> str:
    """The text with a replacement for each half of a surrogate pair, which can be neither stored nor sent."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _offered(operation: str, changes: Sequence[Change]) -> int:
    """How many of the changes are accepted one by one: what a new plan of the day replaces goes without being asked."""
    return sum(operation != "plan" or change.verb != "forget" for change in changes)


def _without_evidence(change: Change, spared: set[str]) -> Change:
    if change.before is not None or change.after is None or not spared & set(change.after.evidence):
        return change
    evidence = tuple(entry_id for entry_id in change.after.evidence if entry_id not in spared)
    return dataclasses.replace(change, after=change.after.evolve(evidence=evidence))


_ALWAYS = ("id", "document", "tier", "kind")
_BY_DEFAULT = {field_.name: field_.default for field_ in dataclasses.fields(MemoryEntry)}
_STORED = tuple(name for name in _BY_DEFAULT if name not in (*_ALWAYS, "metadata", "timestamp", "last_access"))
_SEVERAL = tuple(name for name in _STORED if _BY_DEFAULT[name] == ())
"""The fields that are stored unless empty, and those of them that hold several words."""


def entry_to_json(entry: MemoryEntry) -> dict[str, Any]:
    """A JSON-ready mapping that ``entry_from_json`` turns back into an equal entry, except for the last access.

    The last access is not part of a change: looking something up is not an edit, and the journal keeps accesses in a
    list of their own.
    """
    body: dict[str, Any] = {name: getattr(entry, name) for name in _ALWAYS}
    if entry.timestamp is not None:
        body["timestamp"] = entry.timestamp.isoformat()
    for name in _STORED:
        if value := getattr(entry, name):
            body[name] = list(value) if name in _SEVERAL else value
    if entry.extras:
        body["extras"] = entry.extras
    return body


def entry_from_json(body: Mapping[str, Any]) -> MemoryEntry:
    """The entry that ``entry_to_json`` was given."""
    fields = dict(body)
    fields |= {name: tuple(fields[name]) for name in _SEVERAL if name in fields}
    return MemoryEntry(
        fields.pop("document"),
        fields.pop("extras", {}),
        fields.pop("id"),
        tier=Tier(fields.pop("tier")),
        kind=Kind(fields.pop("kind")),
        timestamp=parse_time(fields.pop("timestamp")) if "timestamp" in fields else None,
        **fields,
    )


def dump_entry(entry: MemoryEntry | None) -> str | None:
    """One line of JSON, with sorted keys so that equal entries have equal lines."""
    if entry is None:
        return None
    return json.dumps(entry_to_json(entry), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def load_entry(line: str | None) -> MemoryEntry | None:
    """The entry of a line that ``dump_entry`` wrote."""
    return None if line is None else entry_from_json(json.loads(line))
