"""What an operation plans on: the agent as it is now, and the means to ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import wraps
from inspect import isfunction, signature
from typing import Any, TypeVar, overload

from ..core.change_set import Change, ChangeSet, ModelCall
from ..core.entry import UNRATED, MemoryEntry, Source
from ..core.kinds import MAX_PEOPLE
from ..core.settings import AgentSettings
from ..errors import InvalidParameter, ModelError, shown
from ..llm import LanguageModel, tasks
from ..llm.prompts import prompts_of

Progress = Callable[[float, str], None]
"""Called with the share of a long operation that is done, 0 to 1, and what it is doing; it may raise to cancel."""

_Class = TypeVar("_Class", bound=type)
_TRUTHS = ("bool", "bool | None")


def no_progress(_done: float, _doing: str) -> None:
    """The callback for callers that need no progress reports."""


def refuse_uncallable(**given: object) -> None:
    """Refuse callbacks that are not callable.

    Raises:
        InvalidParameter: one is not callable; the message names the parameter.
    """
    for name, value in given.items():
        if not callable(value):
            raise InvalidParameter(f"'{name}' must be a function, not {shown(value)}.")


def refusing_no_truth(whose: _Class) -> _Class:
    """A class decorator: methods refuse values that are not a truth value for keyword arguments of type ``bool``.

    ``__init__`` is left out, since its warnings must point at the caller, without a frame in between; see ``truth``.
    """
    for name, method in list(vars(whose).items()):
        if isfunction(method) and name != "__init__":
            asked = [
                parameter for parameter in signature(method).parameters.values() if parameter.annotation in _TRUTHS
            ]
            if asked:
                setattr(whose, name, _refusing(method, frozenset(parameter.name for parameter in asked)))
    return whose


def _refusing(method: Callable[..., Any], asked: frozenset[str]) -> Callable[..., Any]:
    @wraps(method)
    def call(*args: Any, **keywords: Any) -> Any:
        for name in asked & keywords.keys():
            truth(name, keywords[name])
        return method(*args, **keywords)

    return call


def truth(name: str, value: object) -> None:
    """Refuse what is neither true nor false.

    Raises:
        InvalidParameter: it is not, such as an array of several numbers.
    """
    try:
        bool(value)
    except (TypeError, ValueError) as error:
        raise InvalidParameter(f"'{name}' must be True or False, not {shown(value)}.") from error


@dataclass(frozen=True)
class Ground:
    """The state that an operation is planned on; ``recall`` touches nothing. Data is read only when it is used."""

    who: str
    now: datetime
    revision: int
    author: str
    stm: Sequence[MemoryEntry]
    ltm: Sequence[MemoryEntry]
    settings: AgentSettings
    model: LanguageModel
    recall: Callable[[str, int], list[MemoryEntry]]
    progress: Progress = no_progress
    agent: str = ""
    at_once: int = 1
    """How many texts may be rated at a time."""

    def newest(self, count: int) -> list[MemoryEntry]:
        """The ``count`` newest entries of LTM, the oldest first; those without a time count as the oldest.

        ``ltm``, which may contain only the newest, must contain that many.
        """
        return sorted(self.ltm, key=by_age)[-count:]

    def step(self, begin: float, end: float) -> Ground:
        """The ground of one step of several, whose progress is a part of the whole."""
        return replace(self, progress=within(self.progress, begin, end))

    def plan(self, operation: str, title: str, changes: list[Change], **more: Any) -> ChangeSet:
        """A change set planned on this ground.

        If a language model was asked, progress is reported, so that a cancel during its answer takes effect.
        """
        if more.get("calls"):
            self.progress(1.0, "Planned")
        return ChangeSet(
            operation, title, tuple(changes), self.now, self.revision, author=self.author, agent=self.agent, **more
        )


def within(progress: Progress, begin: float, end: float) -> Progress:
    """The progress of one step of several, as a part of the whole."""
    refuse_uncallable(progress=progress)
    return lambda done, doing: progress(min(1.0, begin + (end - begin) * done), doing)


def by_age(entry: MemoryEntry) -> tuple[float, str]:
    """A sort key: the oldest first, those without a time before all."""
    return (entry.timestamp.timestamp() if entry.timestamp else float("-inf"), entry.id)


def derived(sources: Iterable[MemoryEntry]) -> dict[str, Any]:
    """The fields of a memory that is derived from others: the people of all, and the place if all share it."""
    entries = list(sources)
    people = dict.fromkeys(name for entry in entries for name in entry.people)
    places = {entry.place for entry in entries}
    return {
        "source": Source.DERIVED,
        "people": tuple(people)[:MAX_PEOPLE],
        "place": places.pop() if len(places) == 1 else "",
    }


def bare(entry: MemoryEntry) -> MemoryEntry:
    """The entry as in change sets: without its last access, which the journal stores separately."""
    return entry if entry.last_access is None else entry.accessed(None)


class Bare(Sequence[MemoryEntry]):
    """Entries as in change sets, each made when it is read: adding one memory reads none."""

    def __init__(self, entries: Sequence[MemoryEntry]) -> None:
        self._entries = entries

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, row: int) -> MemoryEntry: ...
    @overload
    def __getitem__(self, row: slice) -> list[MemoryEntry]: ...
    def __getitem__(self, row: int | slice) -> MemoryEntry | list[MemoryEntry]:
        found = self._entries[row]
        return bare(found) if isinstance(found, MemoryEntry) else [bare(entry) for entry in found]


def cited(numbers: Sequence[int], context: Sequence[MemoryEntry]) -> list[MemoryEntry]:
    """The memories behind the record numbers (from 1) that a model cites; unknown numbers are skipped."""
    return [context[number - 1] for number in dict.fromkeys(numbers) if 1 <= number <= len(context)]


def tried(entry: MemoryEntry, model: LanguageModel) -> tuple[MemoryEntry, ModelCall, ModelError | None]:
    """The entry with the model's rating, given whose memory it is.

    Marked as still to be rated, with the error, if the model failed.
    """
    task = tasks.rate(entry.document, str(getattr(model, "who", ""))).worded(prompts_of(model))
    try:
        done = model.complete(task)
    except ModelError as error:
        marked = entry.evolve(explanation=UNRATED) if entry.rating is None and not entry.explanation else entry
        return marked, ModelCall(task.name, model.name, task.prompt(), "", 0.0, error=error.sentence), error
    return entry.evolve(rating=done.answer.rating, explanation=done.answer.explanation), done.call, None


def rated(entry: MemoryEntry, model: LanguageModel) -> tuple[MemoryEntry, ModelCall]:
    """As ``tried``, without the error, for callers that can use the call."""
    after, call, _ = tried(entry, model)
    return after, call
