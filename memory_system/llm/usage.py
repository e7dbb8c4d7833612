"""The account of an agent: the tokens and cost of its calls of language models, in a file of its folder, and its limit.

A call is reserved before it is made, by an estimate that errs high, and settled when it is over. Reservations of a
killed process stay: such a call may have been paid for.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ..errors import BudgetSpent, StoreError

FILE = "usage.sqlite3"
T = TypeVar("T")
_SECONDS = 30.0
_SPENT = (
    "CREATE TABLE IF NOT EXISTS spent (model TEXT, task TEXT, calls INTEGER, prompt INTEGER, answer INTEGER, "
    "cost REAL, PRIMARY KEY (model, task))"
)
_HELD = (
    "CREATE TABLE IF NOT EXISTS held (number INTEGER PRIMARY KEY AUTOINCREMENT, model TEXT, task TEXT, "
    "prompt INTEGER, answer INTEGER, cost REAL)"
)
_ADD = (
    "INSERT INTO spent VALUES (?, ?, 1, ?, ?, ?) ON CONFLICT (model, task) DO UPDATE SET calls = calls + 1, "
    "prompt = prompt + excluded.prompt, answer = answer + excluded.answer, cost = cost + excluded.cost"
)
_BY_TASK = (
    "SELECT model, task, SUM(calls), SUM(prompt), SUM(answer), SUM(cost) FROM (SELECT * FROM spent UNION ALL "
    "SELECT model, task, 1, prompt, answer, cost FROM held) GROUP BY model, task ORDER BY model, task"
)


@dataclass(frozen=True)
class Budget:
    """The most that an agent's calls may use in all; 0 = no limit."""

    tokens: int = 0
    cost: float = 0.0

    def __bool__(self) -> bool:
        """Whether there is a limit."""
        return self.tokens > 0 or self.cost > 0


@dataclass(frozen=True)
class Spent:
    """What calls used: their number, tokens sent and received, and their cost.

    ``model`` and ``task`` are empty for sums of several.
    """

    model: str
    task: str
    calls: int
    prompt: int
    answer: int
    cost: float

    @property
    def tokens(self) -> int:
        """Sent and received together."""
        return self.prompt + self.answer


def total(spent: tuple[Spent, ...]) -> Spent:
    """The sum of all."""
    return Spent(
        "",
        "",
        sum(row.calls for row in spent),
        sum(row.prompt for row in spent),
        sum(row.answer for row in spent),
        sum(row.cost for row in spent),
    )


class Account:
    """What the calls of one agent used. Thread-safe; several processes may share it.

    Args:
        folder: the agent's.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE

    def hold(self, task: Spent, budget: Budget) -> int | None:
        """Reserve the most that a coming call may use; return the number for settling it.

        ``None`` if nothing can be written and there is no budget: such a call is not counted.

        Raises:
            BudgetSpent: it may use more than is left. Nothing was counted.
            StoreError: there is a budget, and the account cannot be written.
        """

        def reserve(db: sqlite3.Connection) -> int:
            so_far = total(_rows(db))
            _refuse(budget, so_far, task)
            row = (task.model, task.task, task.prompt, task.answer, task.cost)
            added = db.execute("INSERT INTO held (model, task, prompt, answer, cost) VALUES (?, ?, ?, ?, ?)", row)
            return int(added.lastrowid or 0)

        try:
            return self._do(reserve)
        except StoreError:
            if budget:
                raise
            return None

    def settle(self, number: int | None, took: Spent) -> None:
        """Replace a call's reservation by what it actually used.

        Raises:
            StoreError: it cannot be written; the reservation stays.
        """
        if number is None:
            return

        def settled(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM held WHERE number = ?", (number,))
            db.execute(_ADD, (took.model, took.task, took.prompt, took.answer, took.cost))

        self._do(settled)

    def spent(self) -> tuple[Spent, ...]:
        """What was used so far, by model and task; calls in progress count by their reservations.

        Raises:
            StoreError: the file cannot be read.
        """
        return self._do(_rows) if self._path.exists() else ()

    def _do(self, what: Callable[[sqlite3.Connection], T]) -> T:
        try:
            with closing(sqlite3.connect(self._path, timeout=_SECONDS, isolation_level=None)) as db, _at_once(db):
                db.execute(_SPENT)
                db.execute(_HELD)
                return what(db)
        except sqlite3.Error as error:
            raise StoreError(
                f"The count of tokens in {self._path} cannot be used: {error}. If it stays so, delete that file; "
                "counting then starts again."
            ) from error


@contextmanager
def _at_once(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _rows(db: sqlite3.Connection) -> tuple[Spent, ...]:
    found = tuple(Spent(*row) for row in db.execute(_BY_TASK))
    if not all(_is_count(spent) for spent in found):
        raise sqlite3.DatabaseError("it contains something other than counts")
    return found


def _is_count(spent: Spent) -> bool:
    numbers = all(type(value) is int for value in (spent.calls, spent.prompt, spent.answer))
    return numbers and isinstance(spent.cost, int | float) and math.isfinite(spent.cost)


def _refuse(budget: Budget, so_far: Spent, task: Spent) -> None:
    """Do nothing if a call fits in the budget."""
    if budget.tokens and so_far.tokens + task.tokens > budget.tokens:
        raise BudgetSpent(
            f"The budget of {budget.tokens:,} tokens does not allow this call: {so_far.tokens:,} are spent, and it "
            f"may take {task.tokens:,}. Raise the budget on the Operations page, or with configure(token_budget=...)."
        )
    if budget.cost and so_far.cost + task.cost > budget.cost:
        raise BudgetSpent(
            f"The budget of {budget.cost:g} does not allow this call: {so_far.cost:.4f} are spent, and it may cost "
            f"{task.cost:.4f}. Raise the budget on the Operations page, or with configure(cost_budget=...)."
        )
