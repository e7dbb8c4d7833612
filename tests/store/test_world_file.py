"""A world's own file is written in parts, by several at once; whoever writes one leaves the others as they are."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier

import pytest

from memory_system.core.times import real_clock
from memory_system.errors import InvalidParameter, StoreError
from memory_system.store import clock as clock_module
from memory_system.store.clock import (
    FILE,
    About,
    read_about,
    read_embedder,
    read_seen,
    read_standing,
    world_clock,
    write_about,
    write_embedder,
    write_seen,
    write_standing,
)
from tests.conftest import NOW

ROUNDS = 15


def day(number: int) -> timedelta:
    return timedelta(days=number)


PARTS: dict[str, tuple[Callable[[Path, int], None], Callable[[Path, int], bool]]] = {
    "about": (
        lambda folder, number: write_about(folder, About(f"Title {number}", "Who is who", "mira")),
        lambda folder, number: read_about(folder) == About(f"Title {number}", "Who is who", "mira"),
    ),
    "embedder": (
        lambda folder, number: write_embedder(folder, f"embedder-{number}"),
        lambda folder, number: read_embedder(folder) == f"embedder-{number}",
    ),
    "clock": (
        lambda folder, number: write_standing(folder, NOW + day(number)),
        lambda folder, number: read_standing(folder) == NOW + day(number),
    ),
    "seen": (
        lambda folder, number: write_seen(folder, NOW + day(number)),
        lambda folder, number: read_seen(folder) == NOW + day(number),
    ),
}


@pytest.mark.parametrize("pair", [("about", "embedder"), ("about", "clock"), ("embedder", "seen"), ("clock", "seen")])
def test_of_two_who_write_different_parts_at_once_both_keep_theirs(pair: tuple[str, str], tmp_path: Path) -> None:
    together = Barrier(len(pair))

    def lost(part: str) -> list[int]:
        write, is_kept = PARTS[part]
        gone = []
        for number in range(ROUNDS):
            together.wait(60)
            write(tmp_path, number)
            together.wait(60)
            if not is_kept(tmp_path, number):
                gone.append(number)
        return gone

    with ThreadPoolExecutor(len(pair)) as pool:
        assert dict(zip(pair, pool.map(lost, pair), strict=True)) == {part: [] for part in pair}


@pytest.mark.parametrize("part", PARTS)
def test_a_world_that_has_no_folder_yet_gets_one_and_a_file_in_its_place_is_told(part: str, tmp_path: Path) -> None:
    write, is_kept = PARTS[part]
    write(tmp_path / "new" / "world", 1)
    assert is_kept(tmp_path / "new" / "world", 1)
    (tmp_path / "taken").write_text("")
    with pytest.raises(StoreError, match="taken"):
        write(tmp_path / "taken", 1)


@pytest.mark.parametrize(
    "about",
    [About("\ud800"), About(about="x" * 32_001), About(first="x" * 1_001), About(5), About(first=None)],  # type: ignore[arg-type]
)
def test_what_the_file_cannot_say_is_refused_and_changes_nothing(about: About, tmp_path: Path) -> None:
    write_about(tmp_path, About("Harrow Quay", "A harbour", "mira"))
    with pytest.raises(InvalidParameter, match="The world's '"):
        write_about(tmp_path, about)
    assert read_about(tmp_path) == About("Harrow Quay", "A harbour", "mira")


def test_a_clock_reads_its_file_again_once_it_was_changed_and_no_more_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times: list[Path] = []
    real = clock_module.read_at_most
    monkeypatch.setattr(clock_module, "read_at_most", lambda path, most: times.append(path) or real(path, most))
    now = world_clock(tmp_path)
    for number in range(50):  # changed within moments, in which a file may get the place and the time of another
        write_standing(tmp_path, NOW + day(number))
        assert now() == NOW + day(number)
    long_ago = 1_700_000_000
    os.utime(tmp_path / FILE, (long_ago, long_ago))
    times.clear()
    assert {now() for _ in range(5)} == {NOW + day(49)}
    assert len(times) == 1
    write_standing(tmp_path, NOW)
    assert now() == NOW
    (tmp_path / FILE).unlink()
    assert abs(now() - real_clock()) < timedelta(minutes=1)


def test_a_place_within_a_file_is_named_as_no_place_for_worlds(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("A text.", encoding="utf-8")
    with pytest.raises(StoreError) as refused:
        read_standing(tmp_path / "notes.txt" / "database" / "mem_test")
    assert refused.value.sentence == (
        f"Worlds cannot be kept in {tmp_path}/notes.txt/database, since {tmp_path}/notes.txt is not a folder. "
        "Name another place with MEMORY_HOME, or with MEMORY_DATABASE and MEMORY_PERSONALITIES."
    )
