"""Really damaged files: the agent opens, says what was found, holds the same, takes a write, and reopens silently."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from memory_system import AgentMemory, ChromaMemory, MemoryEntry, Settings, Tier, World
from memory_system.core.change_set import dump_entry
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import JournalDamaged, ReadOnly, StoreDamaged, StoreError
from memory_system.maintenance.doctor import examine
from memory_system.maintenance.export import export
from memory_system.recall.kept_tables import Place, save
from memory_system.recall.table import Table
from memory_system.store import ledger_checks
from memory_system.store.chroma import files
from memory_system.store.chroma.probe import probe
from memory_system.store.read_only import RESCUE
from tests import programs
from tests.conftest import NOW, PERSONALITY
from tests.faults.conftest import Counted, replace_by_folder

Damage = Callable[[Path], None]
EVENTS = 110  # Chroma keeps its index on disk from 100 on


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Path:
    """A world whose agent has 150 events in each of two tiers, closed."""
    folder = tmp_path_factory.mktemp("prepared")
    with World(_settings(folder), embedder=embedder) as world:
        world.stand_at(NOW)
        agent = world.create_agent("mira", json.dumps(PERSONALITY))
        agent.configure(top_k=4)
        events = [
            {"document": f"event {n}", "id": f"m{n}", "rating": n % 10 + 1, "timestamp": NOW - timedelta(hours=n)}
            for n in range(2 * EVENTS)
        ]
        agent.add_short_term(events)
        agent.migrate_stm2ltm(ids=[f"m{n}" for n in range(EVENTS)])
    return folder


@pytest.fixture
def root(prepared: Path, tmp_path: Path) -> Path:
    """A copy of the prepared world, to be damaged."""
    shutil.copytree(prepared, tmp_path / "world")
    return tmp_path / "world"


@pytest.fixture
def folder(root: Path) -> Path:
    """The agent's folder."""
    return root / "database" / "mem_test" / "mira"


@pytest.fixture
def opened(root: Path, embedder: CachedEmbedder) -> Iterator[World]:
    """The world, open."""
    with World(_settings(root), embedder=embedder) as world:
        yield world


def _settings(root: Path) -> Settings:
    return Settings(database=root / "database", personalities=root / "personalities", llm="offline")


Held = dict[str, tuple[str | None, bytes]]


def _held(agent: AgentMemory) -> Held:
    """Every memory and its vector, to the last bit."""
    found: Held = {}
    for tier in Tier:
        for entry in agent.entries(tier):
            vector = agent.contents.vector(entry.id)
            assert vector is not None
            found[entry.id] = (dump_entry(entry), vector.tobytes())
    return found


def _stored(folder: Path) -> Held:
    """The same from a copy of Chroma's files, which reading may change; the agent is closed."""
    found: Held = {}
    copy = folder.with_name("copy")
    shutil.copytree(folder / "chroma", copy / "chroma")
    for tier in Tier:
        memory = ChromaMemory.at(copy / "chroma", tier)
        stored = memory.snapshot()
        memory.close()
        found |= {e.id: (dump_entry(e), v.tobytes()) for e, v in zip(stored.entries, stored.vectors, strict=True)}
    shutil.rmtree(copy)
    return found


@pytest.fixture(scope="module")
def whole(prepared: Path, embedder: CachedEmbedder) -> Held:
    with World(_settings(prepared), embedder=embedder) as world:
        return _held(world.agent("mira"))


def _index(folder: Path) -> Path:
    """The folder of one tier's index."""
    return min(path.parent for path in folder.glob("chroma/*/index_metadata.pickle"))


def _of_index(name: str, how: str) -> Damage:
    def damage(folder: Path) -> None:
        file = _index(folder) / name
        _spoil(file, how)

    return damage


def _of_file(name: str, how: str) -> Damage:
    return lambda folder: _spoil(folder / name, how)


TABLES = ("embeddings", "embedding_metadata", "embedding_fulltext_search_data", "collections")


def _of_page(table: str) -> Damage:
    """A page of one of Chroma's tables overwritten; the middle of the file may be free, and then nothing is amiss."""

    def damage(folder: Path) -> None:
        file = folder / "chroma/chroma.sqlite3"
        with closing(sqlite3.connect(file)) as db:
            pages = db.execute("SELECT pageno, pgsize FROM dbstat WHERE name = ? ORDER BY pageno", (table,)).fetchall()
        number, size = pages[-1]
        content = bytearray(file.read_bytes())
        content[(number - 1) * size : number * size] = random.Random(7).randbytes(size)
        file.write_bytes(content)

    return damage


def _spoil(file: Path, how: str) -> None:
    size = file.stat().st_size
    match how:
        case "cut":
            os.truncate(file, size // 2)
        case "random":
            file.write_bytes(random.Random(7).randbytes(size))
        case "middle":
            content = bytearray(file.read_bytes())
            content[size // 2 : size // 2 + 3000] = random.Random(7).randbytes(3000)
            file.write_bytes(content)
        case "emptied":
            file.write_bytes(b"")
        case "overwritten":
            file.write_bytes(b"this is not a database " * 500)
        case _:
            file.unlink()


def _remove_all(folders: Iterator[Path]) -> None:
    for path in list(folders):
        shutil.rmtree(path)


HOW = ("cut", "emptied", "overwritten", "random", "middle", "removed")
INDEX = ("header.bin", "data_level0.bin", "length.bin", "link_lists.bin", "index_metadata.pickle")
CHROMA: dict[str, Damage] = {
    **{f"{name} {how}": _of_index(name, how) for name in INDEX for how in ("cut", "random", "removed")},
    "data_level0.bin middle": _of_index("data_level0.bin", "middle"),
    **{f"chroma.sqlite3 {how}": _of_file("chroma/chroma.sqlite3", how) for how in HOW if how != "middle"},
    **{f"a page of {table}": _of_page(table) for table in TABLES},
    "an index folder removed": lambda folder: shutil.rmtree(_index(folder)),
    "all index folders removed": lambda folder: _remove_all(folder.glob("chroma/*-*")),
    "the chroma folder removed": lambda folder: shutil.rmtree(folder / "chroma"),
}


@pytest.mark.parametrize("damage", CHROMA.values(), ids=CHROMA.keys())
def test_a_damaged_store_is_rebuilt_from_the_journal(
    root: Path, folder: Path, embedder: CachedEmbedder, whole: Held, counted: Counted, damage: Damage
) -> None:
    damage(folder)
    with World(_settings(root), embedder=embedder) as world:
        agent = world.agent("mira")
        assert agent.messages, "it says what was found"
        assert agent.read_only is None
        assert _held(agent) == whole
        added = agent.add_short_term({"document": "life goes on", "rating": 5}).outcomes[0].id
        assert len(agent.query_memory("event 20", touch=False)) == 4
    stored = _stored(folder)
    lost = sum(stored.get(key) != held for key, held in whole.items())
    surplus = len(stored.keys() - whole.keys() - {added})
    counted("Chroma's files damaged", **{"rows lost": lost, "rows doubled": surplus})
    assert {key: held for key, held in stored.items() if key != added} == whole
    with World(_settings(root), embedder=embedder) as world:
        again = world.agent("mira")
        assert again.messages == ()
        assert _held(again).keys() == whole.keys() | {added}


@pytest.mark.usefixtures("real_probe")
@pytest.mark.parametrize(("name", "how", "word"), [("header.bin", "cut", "crashed"), ("link_lists.bin", "cut", "hung")])
def test_what_crashes_or_hangs_a_process_is_found_in_another(folder: Path, name: str, how: str, word: str) -> None:
    _of_index(name, how)(folder)
    assert word in str(probe(folder / "chroma", seconds=6))


@pytest.mark.usefixtures("real_probe")
def test_a_probe_leaves_the_store_as_it_is(folder: Path) -> None:
    before = files.stamp(folder)
    assert probe(folder / "chroma") is None
    assert files.stamp(folder) == before


# -- what is cut short while it is in use --------------------------------------------------------------

IN_USE = """
import os, sys
from pathlib import Path
from memory_system.store.chroma import files as chroma_files
from memory_system.recall.kept_tables import load
folder = Path(sys.argv[1])
found = load(folder / "stm.table")
assert found is not None
table = found[0]
os.truncate(folder / "stm.table", 100)  # as another program does that copies over it
assert len([entry.document for entry in table.entries]) == 2100
assert float(table.vectors.sum()) == float(table.vectors.sum())
assert load(folder / "stm.table") is None
"""


def test_a_table_that_is_cut_short_while_it_is_in_use_kills_nobody(tmp_path: Path, counted: Counted) -> None:
    table, drawn = Table(), np.random.default_rng(7)
    for number in range(2100):
        table.put(MemoryEntry(f"event {number}", id=f"m{number}"), drawn.standard_normal(384).astype(np.float32))
    save(tmp_path / "stm.table", table, Place(1, "x", 0, "drawn"))
    done = programs.run("-c", IN_USE, str(tmp_path))
    counted("a table cut short while it is in use")
    assert done.returncode == 0, (done.returncode, done.stderr)


def test_an_index_that_is_cut_short_while_it_is_looked_at_kills_nobody(folder: Path) -> None:
    index = _index(folder)
    watched = threading.Thread(target=lambda: [files.problem(folder / "chroma") for _ in range(300)])
    watched.start()
    data = (index / "data_level0.bin").read_bytes()
    while watched.is_alive():
        os.truncate(index / "data_level0.bin", 100)
        (index / "data_level0.bin").write_bytes(data)
    watched.join()
    assert files.problem(folder / "chroma") is None


# -- what costs nothing --------------------------------------------------------------------------------


@pytest.fixture
def probed(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that were probed."""
    asked: list[Path] = []

    def noted(folder: Path) -> None:
        asked.append(folder)

    monkeypatch.setattr(ledger_checks, "probe", noted)
    return asked


def test_a_clean_reopening_asks_no_other_process_and_compares_no_rows(
    root: Path, embedder: CachedEmbedder, probed: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def compared(*_: object) -> None:
        raise AssertionError("compared row by row")

    monkeypatch.setattr(ChromaMemory, "snapshot", compared)
    for _ in range(2):
        with World(_settings(root), embedder=embedder) as world:
            assert world.agent("mira").messages == ()
    assert probed == []


def test_a_copied_agent_is_not_probed(root: Path, folder: Path, embedder: CachedEmbedder, probed: list[Path]) -> None:
    for file in folder.glob("**/*"):
        os.utime(file)  # as after ``cp -r``
    with World(_settings(root), embedder=embedder) as world:
        assert world.agent("mira").messages == ()
    assert probed == []


def test_an_index_that_was_written_before_a_kill_is_probed(
    root: Path, folder: Path, embedder: CachedEmbedder, probed: list[Path]
) -> None:
    _killed(root, operation="batch", name="late", count=120)
    with World(_settings(root), embedder=embedder) as world:
        assert world.agent("mira").messages == ()
    assert [path.name for path in probed] == ["chroma"]


# -- the journal ---------------------------------------------------------------------------------------


def _killed(root: Path, **order: object) -> None:
    """A process that was killed after its change was acknowledged, so that the journal's log lies beside it."""
    settings = _settings(root)
    order |= {"database": str(settings.database), "personalities": str(settings.personalities), "then_die": True}
    done = programs.run("-m", "tests.faults.child", json.dumps(order))
    assert done.returncode == -signal.SIGKILL, done.stderr


def _a_folder(name: str) -> Damage:
    return lambda folder: replace_by_folder(folder / name)


def _of_a_version_below_all(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "journal.sqlite3")) as db:
        db.execute("UPDATE version SET number = -number")
        db.commit()


JOURNAL: dict[str, Damage] = {
    **{f"journal {how}": _of_file("journal.sqlite3", how) for how in HOW},
    **{f"journal{ending} a folder": _a_folder(f"journal.sqlite3{ending}") for ending in ("", "-wal", "-shm")},
    "journal of a version below all": _of_a_version_below_all,
}


@pytest.mark.parametrize("damage", JOURNAL.values(), ids=JOURNAL.keys())
def test_an_agent_whose_journal_is_damaged_is_read_from_its_store(
    folder: Path, opened: World, whole: Held, tmp_path: Path, counted: Counted, damage: Damage
) -> None:
    damage(folder)
    found = (folder / "journal.sqlite3").read_bytes() if (folder / "journal.sqlite3").is_file() else None
    assert opened.agents() == ["mira"]
    agent = opened.agent("mira")
    assert agent.read_only is not None
    assert "doctor --repair" in agent.messages[0]
    lost = sum(_held(agent).get(key) != held for key, held in whole.items())
    counted("journal damaged", **{"rows lost": lost})
    assert _held(agent) == whole
    assert len(agent.query_memory("event 20")) > 0
    assert len(agent.explain("event 20").candidates) == len(whole)
    _refuses_every_write(agent)
    assert export(agent, tmp_path / "mira.jsonl", vectors=True) == len(whole)
    told = [json.loads(line) for line in (tmp_path / "mira.jsonl").read_text(encoding="utf-8").splitlines()]
    assert np.array(told[1]["vector"], np.float32).tobytes() == whole[told[1]["id"]][1]
    opened.close()
    assert ((folder / "journal.sqlite3").read_bytes() if found is not None else None) == found, "nothing was written"


def _refuses_every_write(agent: AgentMemory) -> None:
    assert agent.contents.is_damaged
    writes: list[Callable[[], object]] = [
        lambda: agent.add_short_term({"document": "no", "rating": 1}),
        lambda: agent.edit("m1", rating=3),
        lambda: agent.forget(["m1"]),
        lambda: agent.configure(top_k=9),
        lambda: agent.migrate_stm2ltm(0.5),
        lambda: agent.save_personality(json.dumps(PERSONALITY | {"facts": ["other"]})),
        agent.reset_memory,
        agent.reembed,
    ]
    for write in writes:
        with pytest.raises(ReadOnly, match="can only be read"):
            write()


def _links_to_nowhere(folder: Path) -> None:
    """An element whose links lead to elements that are not there."""
    file = _index(folder) / "data_level0.bin"
    content = bytearray(file.read_bytes())
    content[4:8] = b"\xff\xff\xff\x00"
    file.write_bytes(content)


INDEX_WITHOUT_JOURNAL: dict[str, Damage] = {
    "header.bin cut": _of_index("header.bin", "cut"),
    "data_level0.bin links to elements that are not there": _links_to_nowhere,
    "an index folder removed": lambda folder: shutil.rmtree(_index(folder)),
    "all index folders removed": lambda folder: _remove_all(folder.glob("chroma/*-*")),
}


@pytest.mark.parametrize("without", ["removed", "cut"])
@pytest.mark.parametrize("damage", INDEX_WITHOUT_JOURNAL.values(), ids=INDEX_WITHOUT_JOURNAL.keys())
def test_a_damaged_index_without_a_journal_is_read_from_chromas_own_database(
    root: Path, folder: Path, embedder: CachedEmbedder, whole: Held, counted: Counted, damage: Damage, without: str
) -> None:
    _of_file("journal.sqlite3", without)(folder)
    if without == "removed":  # as of a store that was copied alone
        (folder / "generation").unlink()
        for derived in (*folder.glob("*.table"), *folder.glob("*.json")):
            derived.unlink()
    damage(folder)
    with World(_settings(root), embedder=embedder) as world:
        agent = world.agent("mira")
        assert agent.read_only is not None, "it does not go on as if it were new"
        assert "read from its database" in agent.read_only
        assert "could not be read" in agent.read_only
        assert {key: told for key, (told, _) in _held(agent).items()} == {key: told for key, (told, _) in whole.items()}
        examine(world, repair=True)
    with World(_settings(root), embedder=embedder) as world:
        agent = world.agent("mira")
        assert agent.read_only is None
        held = _held(agent)
        counted("index damaged without a journal", **{"rows lost": len(whole.keys() - held.keys())})
        assert held.keys() == whole.keys()
        for key, (told, vector) in held.items():
            assert told == whole[key][0]
            assert np.allclose(np.frombuffer(vector, np.float32), np.frombuffer(whole[key][1], np.float32), atol=1e-5)
        agent.add_short_term({"document": "life goes on", "rating": 5})
    assert _stored(folder).keys() > whole.keys()


def test_a_row_of_chromas_database_that_cannot_be_read_is_told(folder: Path, opened: World, whole: Held) -> None:
    _of_index("header.bin", "cut")(folder)
    (folder / "journal.sqlite3").unlink()
    with closing(sqlite3.connect(folder / "chroma/chroma.sqlite3")) as db:
        (row,) = db.execute("SELECT id FROM embeddings WHERE embedding_id = 'm7'").fetchone()
        db.execute("UPDATE embedding_metadata SET string_value = '{' WHERE id = ? AND key LIKE '%entry'", (row,))
        db.commit()
    agent = opened.agent("mira")
    assert "1 rows could not be read (m7)" in str(agent.read_only)
    assert _held(agent).keys() == whole.keys() - {"m7"}


def test_a_journal_that_lost_its_log_is_not_taken_for_the_truth(
    root: Path, folder: Path, opened: World, whole: Held
) -> None:
    _killed(root, operation="batch", name="late", count=3)
    (folder / "journal.sqlite3-wal").unlink()
    agent = opened.agent("mira")
    assert "newest changes are missing" in str(agent.read_only)
    assert _held(agent).keys() == whole.keys() | {"late-0", "late-1", "late-2"}
    assert agent.settings.top_k == 4, "what the journal still says is not lost"
    assert [told.change_set.operation for told in agent.history(2)] == [RESCUE, "migrate"]
    opened.close()
    assert _stored(folder).keys() == whole.keys() | {"late-0", "late-1", "late-2"}


def test_a_journal_that_is_put_back_is_used_at_once(folder: Path, opened: World, whole: Held) -> None:
    journal = folder / "journal.sqlite3"
    kept = journal.read_bytes()
    journal.write_bytes(b"")
    agent = opened.agent("mira")
    assert agent.read_only
    journal.write_bytes(kept)
    with pytest.raises(StoreError, match="Open it again"):
        agent.entries(Tier.STM)
    again = opened.agent("mira")
    assert again.read_only is None
    assert _held(again) == whole


def test_where_both_are_damaged_it_says_so_and_shows_no_empty_agent(folder: Path, opened: World) -> None:
    _of_file("journal.sqlite3", "cut")(folder)
    _of_file("chroma/chroma.sqlite3", "cut")(folder)
    before = files.stamp(folder / "chroma", folder / "journal.sqlite3")
    with pytest.raises(JournalDamaged, match="cannot be read either"):
        opened.agent("mira")
    assert files.stamp(folder / "chroma", folder / "journal.sqlite3") == before


def test_where_both_are_gone_it_says_so_and_shows_no_empty_agent(folder: Path, opened: World) -> None:
    (folder / "journal.sqlite3").unlink()
    shutil.rmtree(folder / "chroma")
    with pytest.raises(StoreDamaged, match="missing"):
        opened.agent("mira")
