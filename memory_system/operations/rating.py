"""Rating many texts: several at a time, each text once, stopped by the caller or by a model that fails."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from ..core.change_set import ModelCall
from ..core.entry import BY_RULES, UNRATED, MemoryEntry
from ..errors import BudgetSpent, ModelError, ModelNonsense, ModelOverflow, UnknownLanguage
from ..llm import LanguageModel
from ..llm.offline import OfflineModel
from .context import Ground, refuse_uncallable, tried

STOPPED = "Rating was stopped before its end."
_MISSES = 3
"""How many texts a model that has rated none may fail at before the others are left."""
_SECONDS = 0.2
"""How often ``cancelled`` and ``progress`` are called."""
REFUSALS = (ModelNonsense, ModelOverflow, UnknownLanguage)
"""Errors that concern one text, and need not occur for another."""
_Tried = tuple[MemoryEntry, ModelCall, ModelError | None]


@dataclass
class Rated:
    """The result of rating texts.

    Args:
        found: for each text that was asked about: an entry with its rating, or as it was; the call; and the error.
        stopped: why the others were not asked about, in a sentence; empty if all were.
        problem: the error that the model stopped it with.
    """

    found: dict[str, _Tried] = field(default_factory=dict)
    stopped: str = ""
    problem: ModelError | None = None

    @property
    def calls(self) -> tuple[ModelCall, ...]:
        """The calls, in the order of the texts; what exceeded the budget was not asked."""
        return tuple(call for _, call, error in self.found.values() if not isinstance(error, BudgetSpent))

    @property
    def failed(self) -> frozenset[str]:
        """The texts that the model was asked about, but gave no rating for."""
        found = self.found.items()
        return frozenset(text for text, (_, _, error) in found if error and not isinstance(error, BudgetSpent))

    @property
    def refused(self) -> frozenset[str]:
        """Those of them that it would probably fail at again, while it may rate others."""
        return frozenset(text for text, (_, _, error) in self.found.items() if isinstance(error, REFUSALS))

    def take(self, text: str, outcome: _Tried) -> None:
        """Add the result of one text; returns whether to go on: another text may not fail like this."""
        self.found[text] = outcome
        error = outcome[2]
        if error is None or self.stopped or isinstance(error, UnknownLanguage):
            return
        tries = [
            model_error for _, _, model_error in self.found.values() if not isinstance(model_error, UnknownLanguage)
        ]
        hopeful = None in tries or len(tries) < _MISSES
        if not (isinstance(error, REFUSALS) and hopeful):
            self.stopped, self.problem = error.sentence, error

    def of(self, entry: MemoryEntry) -> tuple[MemoryEntry, str]:
        """An entry with its rating; or marked as to be rated, and why it is not."""
        found = self.found.get(entry.document)
        if found is not None and found[2] is None:
            return entry.evolve(rating=found[0].rating, explanation=found[0].explanation), ""
        why = found[2].sentence if found is not None and found[2] is not None else self.stopped
        marked = entry.evolve(explanation=UNRATED) if entry.rating is None and not entry.explanation else entry
        return marked, why


def rated_later(entry: MemoryEntry, rules: LanguageModel | None) -> MemoryEntry:
    """A new event as it is stored without waiting: marked as still to be rated, and rated by rules if possible."""
    if entry.rating is not None or entry.explanation:
        return entry
    judged = None if rules is None else tried(entry, rules)[0].rating
    return entry.evolve(rating=judged, explanation=UNRATED if judged is None else BY_RULES)


def rate_all(ground: Ground, entries: Sequence[MemoryEntry], cancelled: Callable[[], bool] = lambda: False) -> Rated:
    """Ask for the ratings of all entries, each text once, at most ``ground.at_once`` of them at a time.

    They are asked about one by one until the first answer, so that a server that is down costs one wait. Running calls
    are not waited for when it is stopped.
    """
    refuse_uncallable(cancelled=cancelled)
    waiting = deque({entry.document: entry for entry in entries}.values())
    done = Rated()
    if cancelled():
        done.stopped = STOPPED
    elif len(waiting) == 1:
        ground.progress(0.0, "Rating")
        done.take(waiting[0].document, tried(waiting[0], ground.model))
    elif ground.model.name == OfflineModel.name:
        _by_rules(ground, waiting, done, cancelled)
    elif waiting:
        _side_by_side(ground, waiting, done, cancelled)
    return done


def _by_rules(ground: Ground, waiting: deque[MemoryEntry], done: Rated, cancelled: Callable[[], bool]) -> None:
    """One after the other: rules answer at once, and threads would only wait for each other."""
    total = len(waiting)
    while waiting and not done.stopped:
        entry = waiting.popleft()
        done.take(entry.document, tried(entry, ground.model))
        ground.progress(len(done.found) / total, f"Rated {len(done.found)} of {total}")
        if waiting and cancelled():
            done.stopped = done.stopped or STOPPED


def _side_by_side(ground: Ground, waiting: deque[MemoryEntry], done: Rated, cancelled: Callable[[], bool]) -> None:
    order = [entry.document for entry in waiting]
    model = ground.model
    pool = ThreadPoolExecutor(ground.at_once, thread_name_prefix="rating")
    asked: dict[Future[_Tried], MemoryEntry] = {}
    width, widest = 1, ground.at_once
    try:
        while (waiting and not done.stopped) or asked:
            while waiting and not done.stopped and len(asked) < width:
                entry = waiting.popleft()
                asked[pool.submit(tried, entry, model)] = entry
            answered = wait(asked, timeout=_SECONDS, return_when=FIRST_COMPLETED).done
            beside = len(asked) > 1
            for future in answered:
                entry, outcome = asked.pop(future), future.result()
                if beside and isinstance(outcome[2], BudgetSpent):  # reserved for running calls until they end
                    width = widest = max(1, len(asked))
                    waiting.appendleft(entry)
                else:
                    done.take(entry.document, outcome)
                    width = widest if outcome[2] is None else width
            ground.progress(len(done.found) / len(order), f"Rated {len(done.found)} of {len(order)}")
            if (waiting or asked) and cancelled():
                done.stopped = done.stopped or STOPPED
                break
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    done.found = {text: done.found[text] for text in order if text in done.found}
