"""Stores are probed by forks of one process that has imported Chroma once."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from memory_system import World
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.store.chroma import probe as probing
from memory_system.store.chroma.probe import probe
from tests import programs
from tests.conftest import settings_in
from tests.waiting import LAST_RESORT, until

pytestmark = [
    pytest.mark.usefixtures("real_probe"),
    pytest.mark.skipif(not Path("/proc/self").exists(), reason="forks are made on Linux alone"),
]


@pytest.fixture(scope="module")
def chroma(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Path:
    """A store that is whole."""
    settings = settings_in(tmp_path_factory.mktemp("probed"))
    with World(settings, embedder=embedder) as world:
        world.create_agent("mira").add_short_term({"document": "The mill burnt.", "rating": 5}, rate=False)
    return settings.database / settings.world / "mira" / "chroma"


@pytest.fixture(autouse=True)
def source(monkeypatch: pytest.MonkeyPatch) -> Iterator[probing._Source]:
    """The process that is forked, which no other test has had."""
    made = probing._Source()
    monkeypatch.setattr(probing, "_source", made)
    yield made
    made.end()


def _pid(source: probing._Source) -> int:
    assert source._process is not None
    return source._process.pid


def forked(child: probing._Fork) -> int:
    """Its number, once it is there."""
    while not child._forked:
        with suppress(subprocess.TimeoutExpired):
            child.communicate(0.001)
    return child.pid


def test_one_process_is_forked_for_one_store_after_another(chroma: Path, source: probing._Source) -> None:
    assert probe(chroma) is None
    first = _pid(source)
    assert probe(chroma) is None
    assert _pid(source) == first


def test_what_crashes_a_fork_is_told_and_the_next_is_probed_as_before(
    chroma: Path, source: probing._Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert probe(chroma) is None
    first = _pid(source)

    def killed(child: probing._Fork, _seconds: float) -> tuple[str, str]:
        os.kill(forked(child), signal.SIGSEGV)
        return child.communicate()

    with monkeypatch.context() as patched:
        patched.setattr(probing, "_waited_for", killed)
        assert probe(chroma) == "Chroma crashed (SIGSEGV)"
    assert probe(chroma) is None
    assert _pid(source) == first


def test_another_one_is_started_once_it_has_ended(chroma: Path, source: probing._Source) -> None:
    assert probe(chroma) is None
    first = _pid(source)
    os.kill(first, signal.SIGKILL)
    assert [probe(chroma), probe(chroma)] == [None, None]
    assert _pid(source) != first


@pytest.mark.parametrize("before", ["it has forked", "it has told", "it tells"])
def test_one_that_dies_or_stops_meanwhile_is_no_damage(
    chroma: Path, source: probing._Source, monkeypatch: pytest.MonkeyPatch, before: str
) -> None:
    assert probe(chroma) is None
    first, waited_for = _pid(source), probing._waited_for

    def disturbed(child: probing._Fork | subprocess.Popen[str], seconds: float) -> tuple[str, str] | None:
        if isinstance(child, probing._Fork):
            if before == "it has told":
                forked(child)
                os.kill(first, signal.SIGKILL)
            else:
                if before == "it tells":
                    forked(child)
                os.kill(first, signal.SIGSTOP)
                seconds = 2  # it will not tell, however long one waits
        return waited_for(child, seconds)

    monkeypatch.setattr(probing, "_waited_for", disturbed)
    assert probe(chroma, seconds=LAST_RESORT) is None
    monkeypatch.undo()
    assert not Path(f"/proc/{first}").exists()


def test_who_is_interrupted_hears_nothing_of_another_store_afterwards(
    chroma: Path, source: probing._Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(chroma, tmp_path / "bad")
    (tmp_path / "bad" / "chroma.sqlite3").write_bytes(b"this is no database")

    def interrupted(_child: object, _seconds: float) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(probing, "_waited_for", interrupted)
        with pytest.raises(KeyboardInterrupt):
            probe(chroma)
    assert "damaged" in str(probe(tmp_path / "bad"))
    assert probe(chroma) is None


def test_programs_that_ignore_how_their_children_end_probe_as_others(chroma: Path) -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert probe(chroma) is None
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_two_that_are_probed_at_the_same_time_do_not_wait_for_each_other(chroma: Path, source: probing._Source) -> None:
    with source.busy:
        assert probe(chroma) is None
    assert source._process is None
    with ThreadPoolExecutor() as several:
        assert list(several.map(probe, [chroma] * 4)) == [None] * 4


PROGRAM = """
import sys
from pathlib import Path
from memory_system.store.chroma import probe as probing
assert probing.probe(Path(sys.argv[1])) is None
print(probing._source._process.pid)
"""


def test_it_ends_with_the_program_that_started_it(chroma: Path) -> None:
    told = programs.run("-c", PROGRAM, str(chroma), check=True)
    until(lambda: not Path(f"/proc/{int(told.stdout)}").exists())
