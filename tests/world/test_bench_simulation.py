"""The simulation of a world's day: its schedule, what it takes for falling behind, and a short run of its own."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from benchmarks import simulation
from benchmarks.simulation import Act, Day, Machine, Slice, Spent


def lived(speed: float = 20.0, late: float = 0.1, done: int = 100, **more: object) -> Slice:
    """A slice of a hundred events, a second each, of which so many were done so late."""
    acts = [Act(float(number), 0, is_event=True) for number in range(100)]
    found = Slice(speed, 100.0, acts, dict.fromkeys(range(done), late), took=100.0, cpu=50.0)
    found.machine = Machine(60.0, 140.0, 0.0, 100.0)
    for name, value in more.items():
        setattr(found, name, value)
    return found


def spent(cpu: float, wall: float) -> Spent:
    return Spent([(wall, cpu)])


def test_a_day_is_sixty_events_and_forty_questions_a_character() -> None:
    acts = Day.drawn(50).acts(24, 1)
    assert acts == sorted(acts)
    assert 0.97 < sum(act.is_event for act in acts) / (50 * 60) <= 1  # what is cut off at midnight is little
    assert 0.97 < sum(not act.is_event for act in acts) / (50 * 40) <= 1
    assert acts == Day.drawn(50).acts(24, 1)


def test_nobody_does_anything_at_night_and_most_is_done_in_the_evening() -> None:
    day = Day.drawn(200)
    assert day.begins.min() >= 6
    assert day.begins.max() < 23
    assert 17 <= day.busiest(2) <= 19


def test_a_faster_day_is_the_same_in_less_time() -> None:
    slow, fast = Day.drawn(20).acts(2, 20), Day.drawn(20).acts(2, 40)
    assert [act[1:] for act in slow] == [act[1:] for act in fast]
    assert np.allclose([act.due for act in slow], [2 * act.due for act in fast])
    assert max(act.due for act in slow) < 2 * 3600 / 20


@pytest.mark.parametrize(("late", "done", "behind"), [(0.1, 100, False), (1.5, 100, True), (0.1, 99, True)])
def test_a_world_falls_behind_where_the_last_are_late_or_not_begun(late: float, done: int, behind: bool) -> None:
    assert lived(late=late, done=done).behind is behind


def test_the_limit_is_named_by_what_was_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert lived(free=0.01).limit(10).startswith("memory: ")
    assert (
        lived(cpu=190.0, kinds={"event": spent(100, 110)})
        .limit(10)
        .startswith("the processor: 1.90 of 2 cores, events 53%, in the background 47%")
    )
    assert (
        lived(machine=Machine(195.0, 5.0, 0.0, 1.0))
        .limit(10)
        .startswith("the processor: 0.50 of 2 cores (other programs had")
    )
    assert lived(pulse=[0.02]).limit(10).startswith("Python, which runs one thread at a time: 0.50 of 2 cores")
    assert "most of it in migrations" in lived(kinds={"migration": spent(1, 90), "event": spent(1, 9)}).limit(10)
    woken = {"waking": spent(30, 40)}
    assert lived(kinds=woken, awake=10).limit(10).endswith("With a higher MEMORY_AWAKE fewer would have to be woken")
    assert "MEMORY_AWAKE_MB" in lived(kinds=woken, awake=5).limit(10)


def test_the_sentence_names_the_fastest_that_was_kept_up() -> None:
    told = simulation.sentence(1000, [lived(20), lived(40), lived(80, done=70)], 256)
    assert told.startswith("1,000 characters live at 40 times real time; what ends it first is ")
    assert told.endswith("(at 80 times, where 70% of what was due was done).")
    assert "at less than 10 times" in simulation.sentence(5, [lived(20, done=9), lived(10, done=9)], 256)
    assert "nothing ended it" in simulation.sentence(5, [lived(20)], 256)


def test_a_short_run_prints_its_tables_and_the_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(simulation, "POOL", 20)
    monkeypatch.setattr(simulation, "FASTEST", 4000.0)
    sizes = ["--agents", "4", "--memories", "10", "--speed", "2000", "--minutes", "0.05", "--awake", "2"]
    monkeypatch.setattr(sys, "argv", ["simulation", *sizes])
    simulation.main()
    told = capsys.readouterr().out
    rows = [line.split("|")[1:-1] for line in told.splitlines() if line.startswith("| 2000")]
    assert len(rows[0]) == 12
    for what in ("events", "migrations", "questions", "waking", "in the background"):
        assert f"\n| {what} | " in told
    assert told.splitlines()[-1].startswith("4 characters live at ")
