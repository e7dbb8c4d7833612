"""Neighbours: which memories are turns of one conversation, a few turns apart.

The answer to a question is often in the turns around the one that has the question's words.
"""

from __future__ import annotations

import copy
import json
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ...core.entry import MemoryEntry

Floats = NDArray[np.float64]

REACH = 4
"""Turns: how far apart two turns may be and still help each other."""
LOSS = 0.1
"""The loss with each turn of distance: the next turn counts .9, the fourth .6."""

Place = tuple[str, int]
"""A conversation's name and the turn's number in it."""


def place_of(entry: MemoryEntry) -> Place | None:
    """The place of a turn: its own metadata ``conversation`` (text) and ``turn`` (a whole number), if it has both."""
    conversation, turn = entry.metadata.get("conversation"), entry.metadata.get("turn")
    if not isinstance(conversation, str) or isinstance(turn, bool) or not isinstance(turn, int):
        return None
    return (conversation, turn) if conversation and abs(turn) < 2**53 else None


def strength(away: NDArray[np.int64]) -> Floats:
    """How much a turn counts for another at this distance: .9 to .6, and 0 beyond four."""
    return np.where(away <= REACH, 1 - LOSS * away, 0.0)


@dataclass(frozen=True, eq=False)
class Pairing:
    """Slots of turns in order. Turns told twice share a slot, so that the order of rows does not matter.

    Args:
        rows: shape (r,), the rows that are turns, slot by slot.
        starts: shape (s,), where in ``rows`` each slot begins.
        slots: shape (r,), the slot of each of ``rows``.
        sides: (slots helped, slots that help, strengths); no slot is helped twice in one.
    """

    rows: NDArray[np.intp]
    starts: NDArray[np.intp]
    slots: NDArray[np.intp]
    sides: tuple[tuple[NDArray[np.intp], NDArray[np.intp], Floats], ...]

    @classmethod
    def of(cls, conversations: NDArray[np.int32], turns: NDArray[np.int64]) -> Self:
        """Pair rows.

        Args:
            conversations: shape (n,), a number for each conversation, below 0 for a row that is not a turn.
            turns: shape (n,), the turn's number.
        """
        turned = np.flatnonzero(conversations >= 0)
        rows = turned[np.lexsort((turns[turned], conversations[turned]))]
        talk, turn = conversations[rows], turns[rows]
        begins = np.ones(len(rows), bool)
        begins[1:] = (talk[1:] != talk[:-1]) | (turn[1:] != turn[:-1])
        starts = np.flatnonzero(begins)
        talk, turn = talk[starts], turn[starts]
        sides = []
        for step in range(1, min(REACH, len(starts) - 1) + 1):
            away = turn[step:] - turn[:-step]
            earlier = np.flatnonzero((talk[step:] == talk[:-step]) & (away <= REACH))
            if len(earlier):
                counted = strength(away[earlier])
                sides += [(earlier, earlier + step, counted), (earlier + step, earlier, counted)]
        return cls(rows, starts, np.cumsum(begins) - 1, tuple(sides))

    def best(self, values: Floats) -> Floats:
        """The highest of each row's neighbours' values times their strength; 0 for a row without any.

        Args:
            values: shape (n,), or (n, k) for k kinds of values that are compared independently.
        """
        found = np.zeros(values.shape)
        if not self.sides:
            return found
        highest = np.maximum.reduceat(values[self.rows], self.starts, axis=0)
        taken = np.zeros(highest.shape)
        for helped, helper, counted in self.sides:
            weighted = highest[helper] * counted.reshape(-1, *[1] * (values.ndim - 1))
            taken[helped] = np.maximum(taken[helped], weighted)
        found[self.rows] = taken[self.slots]
        return found


class Neighbours:
    """Places by row; their pairing is computed again when it is next needed."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._conversations = array("i")
        self._turns = array("q")
        self._pairing: Pairing | None = None

    def put(self, row: int, place: Place | None) -> None:
        """Set the place of an existing row or the next one; ``None`` = it is not a turn."""
        if row == len(self._turns):
            self._conversations.append(-1)
            self._turns.append(0)
        number = -1 if place is None else self._numbers.setdefault(place[0], len(self._numbers))
        turn = 0 if place is None else place[1]
        self._pairing = None
        self._conversations[row], self._turns[row] = number, turn

    def parts(self) -> dict[str, NDArray[Any]]:
        """The places, as arrays for a file."""
        return {
            "talk_names": np.frombuffer(json.dumps(list(self._numbers)).encode(), np.uint8),
            "talks": np.array(self._conversations, np.int32),
            "turns": np.array(self._turns, np.int64),
        }

    @classmethod
    def restored(cls, parts: Mapping[str, NDArray[Any]]) -> Self:
        """The places that ``parts`` came from."""
        places = cls()
        names = json.loads(parts["talk_names"].tobytes())
        places._numbers = {name: number for number, name in enumerate(names)}
        places._conversations = array("i", parts["talks"].tobytes())
        places._turns = array("q", parts["turns"].tobytes())
        return places

    def copied(self) -> Self:
        """A copy of the places."""
        other = copy.copy(self)
        other._numbers, other._conversations, other._turns = dict(self._numbers), self._conversations[:], self._turns[:]
        return other

    def drop_last(self) -> None:
        """Remove the last row."""
        self._pairing = None
        self._conversations.pop()
        self._turns.pop()

    @property
    def pairing(self) -> Pairing:
        """The pairing of all rows."""
        if self._pairing is None:
            self._pairing = Pairing.of(np.array(self._conversations, np.int32), np.array(self._turns, np.int64))
        return self._pairing

    def places(self, names: dict[str, int]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The conversation and the turn of every row, each shape (n,); the conversations numbered as in ``names``.

        Missing ones are added to ``names``; below 0 = a row that is not a turn.
        """
        numbers = np.array([names.setdefault(name, len(names)) for name in self._numbers] + [-1], np.int32)
        return numbers[np.array(self._conversations, np.int32)], np.array(self._turns, np.int64)

    def place(self, row: int) -> tuple[int, int] | None:
        """The number of a row's conversation and its turn; ``None`` for a row that is not a turn."""
        return (self._conversations[row], self._turns[row]) if self._conversations[row] >= 0 else None

    def among(self, rows: NDArray[np.intp]) -> Pairing:
        """The pairing of some rows, as if there were no others; it refers to positions in ``rows``."""
        return Pairing.of(np.array(self._conversations, np.int32)[rows], np.array(self._turns, np.int64)[rows])
