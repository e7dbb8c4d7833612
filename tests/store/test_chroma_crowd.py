"""Many agents in one process: only so many of Chroma's clients are open, and nobody notices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memory_system import MemoryEntry, Tier
from memory_system.store.chroma.store import ChromaStore, Crowd


class Guest:
    """One that gives its client up, unless it is busy."""

    def __init__(self, *, busy: bool = False) -> None:
        self.busy, self.gave_up = busy, 0

    def give_up(self) -> bool:
        self.gave_up += not self.busy
        return not self.busy


def test_the_one_that_was_used_longest_ago_gives_its_client_up() -> None:
    crowd, guests = Crowd(lambda: 2), [Guest() for _ in range(3)]
    for number in (0, 1, 0, 2):
        crowd.used(guests[number])
    assert [guest.gave_up for guest in guests] == [0, 1, 0]


def test_one_that_is_busy_keeps_its_client_and_gives_it_up_later() -> None:
    crowd, busy, others = Crowd(lambda: 1), Guest(busy=True), [Guest(), Guest()]
    crowd.used(busy)
    crowd.used(others[0])
    assert busy.gave_up == 0
    busy.busy = False
    crowd.used(others[0])
    assert (busy.gave_up, others[0].gave_up) == (1, 0)


def test_one_that_has_left_is_not_asked_again() -> None:
    crowd, first, second = Crowd(lambda: 1), Guest(), Guest()
    crowd.used(first)
    crowd.left(first)
    crowd.used(second)
    assert first.gave_up == 0


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(ChromaStore, "_crowd", Crowd(lambda: 3))
    return 3


def test_what_is_noted_in_a_file_takes_nobodys_client(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ChromaStore, "_crowd", Crowd(lambda: 1))
    first, second = (ChromaStore.open(tmp_path / name / "chroma") for name in ("first", "second"))
    first.memory(Tier.STM).upsert([MemoryEntry("It rained", id="m1")], np.ones((1, 4), np.float32))
    second.note_embedder("drawn")
    assert second.made_with == "drawn"
    assert (first.is_crowded_out, second.is_crowded_out) == (False, True)
    for store in (first, second):
        store.close()


def test_many_stores_are_written_and_read_in_turn_with_few_clients(few: int, tmp_path: Path) -> None:
    stores = [ChromaStore.open(tmp_path / str(number) / "chroma") for number in range(12)]
    files = []
    for round_ in range(3):
        for number, store in enumerate(stores):
            vector = np.full((1, 4), number, np.float32)
            store.memory(Tier.STM).upsert([MemoryEntry(f"{number}, {round_}", id=f"m{round_}")], vector)
            files.append(sum(1 for _ in Path("/proc/self/fd").glob("*")))
    for number, store in enumerate(stores):
        assert store.memory(Tier.STM).ids() == {"m0", "m1", "m2"}
        assert store.memory(Tier.STM).snapshot().vectors[0, 0] == number
    assert max(files[12:]) <= files[few] + 20, "no more clients were open than may be"
    for store in stores:
        store.close()
