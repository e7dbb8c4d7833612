"""A world in one file and back again: nothing is lost, nothing changed silently, and no stranger's file does harm."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import stat
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memory_system import AgentMemory, Settings, Tier, World
from memory_system.__main__ import app
from memory_system.core.findings import State
from memory_system.embedding.embedder import Embedder
from memory_system.errors import AgentNotFound, AlreadyExists, Conflict, InvalidBackup, NotFound, StoreBusy, StoreError
from memory_system.maintenance import backup, backup_reading, restore
from memory_system.maintenance.doctor import examine
from memory_system.store.clock import About
from memory_system.world import swap
from tests.conftest import NOW, PERSONALITY

Remember = Callable[..., str]


@pytest.fixture
def made(world: World, agent: AgentMemory, remember: Remember, tmp_path: Path) -> Path:
    """A backup of a world of one agent with three memories."""
    for number in range(3):
        remember(f"event {number}", id=f"m{number}")
    agent.configure(stm_size=7)
    done = backup.make(world, tmp_path / "made.zip")
    assert done is not None
    return done.path


def _files(folder: Path) -> dict[str, str]:
    """What lies in a folder, but for what reading leaves: locks, and SQLite's shared memory."""
    found = (path for path in sorted(folder.glob("**/*")) if path.is_file() and "lock" not in path.name)
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in found if path.suffix != ".sqlite3-shm"}


def _texts(world: World) -> set[str]:
    return {entry.document for entry in world.agent("mira").entries(Tier.STM)}


def _elsewhere(tmp_path: Path, embedder: Embedder) -> World:
    settings = Settings(database=tmp_path / "other place", personalities=tmp_path / "other people", llm="offline")
    return World(settings, embedder=embedder)


# -- made and restored ---------------------------------------------------------------------------------


def test_a_backup_tells_what_it_holds_and_is_whole(made: Path) -> None:
    manifest = backup_reading.check(made)
    (mira,) = manifest.agents
    assert (mira.name, mira.shown, mira.lived, mira.problem) == ("mira", "Mira Holloway", 3, "")
    assert "agents/mira/journal.sqlite3" in manifest.files
    assert "world/world.json" in manifest.files
    assert not any(name.endswith((".table", "lock", "closed.json")) for name in manifest.files)
    assert [path.name for path in made.parent.glob(".*")] == []


def test_a_backup_restored_elsewhere_is_the_same_world(
    world: World, agent: AgentMemory, made: Path, tmp_path: Path, embedder: Embedder
) -> None:
    world.describe(About("The Mill", "", ""))
    with _elsewhere(tmp_path, embedder) as other:
        done = restore.restore(other, made)
        assert done is not None
        assert (done.aside, done.findings) == (None, ())
        copy = other.agent("mira")
        for tier in Tier:
            assert copy.entries(tier) == agent.entries(tier)
        assert copy.settings == agent.settings
        assert copy.personality_text == agent.personality_text
        assert copy.messages == ()
        assert [one.change_set for one in copy.history()] == [one.change_set for one in agent.history()]
        assert other.clock() == NOW
        assert other.about.title == "", "it was described later"
        copy.undo(copy.history(1)[0].revision)
    assert agent.settings.stm_size == 7


def test_restoring_sets_the_present_world_aside_and_it_can_be_put_back(
    world: World, made: Path, remember: Remember, agent: AgentMemory
) -> None:
    remember("only in the present")
    agent.save_personality(json.dumps(PERSONALITY | {"facts": ["She has sold the mill."]}))
    world.create_agent("ana")
    world.delete_agent(world.create_agent("bruno").name)
    done = restore.restore(world, made)
    assert done is not None
    assert agent.gone
    assert _texts(world) == {"event 0", "event 1", "event 2"}
    assert world.agents() == ["mira"]
    assert "only one true key" in (world.agent("mira").personality_text or "")
    assert world.deleted_agents() == []
    (aside,) = swap.of_world(world.folder)
    assert aside.folder == done.aside
    assert "backup" in aside.why
    world.agent("mira").add_short_term({"document": "after the restoring", "rating": 5})

    second = restore.put_back(world, aside)
    assert world.agents() == ["ana", "mira"]
    assert "only in the present" in _texts(world)
    assert "sold the mill" in (world.agent("mira").personality_text or "")
    assert [one.name for one in world.deleted_agents()] == ["bruno"]
    (again,) = swap.of_world(world.folder)
    assert again.folder == second
    with pytest.raises(NotFound):
        restore.put_back(world, aside)
    restore.put_back(world, again)
    assert "after the restoring" in _texts(world)


def test_deleted_agents_and_agents_without_memories_are_backed_up_too(
    world: World, agent: AgentMemory, tmp_path: Path, embedder: Embedder
) -> None:
    (Path(world.settings.personalities) / "quiet one.json").write_text('{"identity": {"name": "Quiet"}}')
    world.create_agent("ana").add_short_term({"document": "in the bin", "rating": 5})
    world.delete_agent("ana")
    made = backup.make(world, tmp_path / "made.zip")
    assert made is not None
    assert {one.name for one in made.manifest.agents} == {"mira", "quiet one"}
    assert made.manifest.deleted == 1
    with _elsewhere(tmp_path, embedder) as other:
        restore.restore(other, made.path)
        assert other.agents() == ["mira", "quiet one"]
        assert not (other.folder / "quiet one").exists()
        back = other.restore_agent(other.deleted_agents()[0])
        assert [entry.document for entry in back.entries(Tier.STM)] == ["in the bin"]


def test_who_waits_for_a_backup_reads_whose_turn_it_is_and_no_names_of_files(world: World, made: Path) -> None:
    world.create_agent("ana", {"identity": {"name": "Ana"}})
    world.delete_agent("ana")
    told: list[str] = []
    done = backup.make(world, made.parent / "other.zip", progress=lambda _, doing: told.append(doing))
    assert done is not None
    restore.restore(world, done.path, progress=lambda _, doing: told.append(doing))
    assert set(told) == {
        "Copying Mira Holloway (1 of 1)",
        *(
            f"{doing} {what}"
            for doing in ("Checking", "Unpacking")
            for what in ("Mira Holloway", "the bin", "what the world itself keeps")
        ),
        "Checking Mira Holloway (1 of 1)",
        "Putting it in place",
        "Done",
    }


def test_a_backup_is_made_while_others_write(
    world: World, agent: AgentMemory, tmp_path: Path, embedder: Embedder
) -> None:
    stop, acknowledged = threading.Event(), []

    def write() -> None:
        while not stop.is_set():
            agent.add_short_term({"document": f"event {len(acknowledged)}", "rating": 5})
            acknowledged.append(len(acknowledged))
            agent.query_memory("event 1")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        while len(acknowledged) < 5:
            assert writer.is_alive()
        before = len(acknowledged)
        made = backup.make(world, tmp_path / "made.zip")
        after = len(acknowledged) + 1
    finally:
        stop.set()
        writer.join()
    assert made is not None
    with _elsewhere(tmp_path, embedder) as other:
        done = restore.restore(other, made.path)
        assert done is not None
        assert done.findings == ()
        texts = _texts(other)
    assert before <= len(texts) <= after
    assert texts == {f"event {number}" for number in range(len(texts))}, "each change is whole, and none is missing"


def test_a_damaged_agent_is_backed_up_as_it_is_and_said_to_be(
    world: World, agent: AgentMemory, remember: Remember, tmp_path: Path, embedder: Embedder
) -> None:
    remember("still in the store")
    world.close()
    (world.folder / "mira" / "journal.sqlite3").write_bytes(b"no journal " * 999)
    made = backup.make(world, tmp_path / "made.zip")
    assert made is not None
    assert "journal" in made.manifest.agents[0].problem
    with _elsewhere(tmp_path, embedder) as other:
        done = restore.restore(other, made.path)
        assert done is not None
        assert {one.state for one in done.findings} == {State.WRONG}
        assert other.agent("mira").read_only
        assert _texts(other) == {"still in the store"}


def test_a_store_that_was_damaged_is_repaired_when_it_is_restored(
    world: World, made: Path, agent: AgentMemory, tmp_path: Path, embedder: Embedder
) -> None:
    forged = _forged(made, drop="/chroma/")
    with _elsewhere(tmp_path, embedder) as other:
        done = restore.restore(other, forged)
        assert done is not None
        assert State.WRONG not in {one.state for one in done.findings}
        assert _texts(other) == {"event 0", "event 1", "event 2"}


def test_a_stopped_backup_or_restoring_leaves_nothing(world: World, made: Path, tmp_path: Path) -> None:
    for agent in world.opened():
        agent._context.held.settle()  # which it would by itself, meanwhile
    before = _files(world.settings.database)
    assert backup.make(world, tmp_path / "stopped.zip", cancelled=lambda: True) is None
    assert restore.restore(world, made, cancelled=lambda: True) is None
    steps: list[float] = []
    late = restore.restore(
        world, made, progress=lambda done, _: steps.append(done), cancelled=lambda: bool(steps) and steps[-1] >= 0.45
    )
    assert late is None
    assert steps == sorted(steps)
    assert _files(world.settings.database) == before
    assert sorted(path.name for path in tmp_path.glob("*.zip*")) == ["made.zip"]
    assert list(tmp_path.glob(".*")) == []


def test_what_is_there_is_not_overwritten(world: World, made: Path, tmp_path: Path) -> None:
    with pytest.raises(AlreadyExists, match=r"made\.zip already"):
        backup.make(world, made)
    with pytest.raises(AlreadyExists, match="a world 'mem_test' already"):
        restore.restore(world, made, new_world=True)
    (tmp_path / "a file").touch()
    with pytest.raises(StoreError, match="cannot be used"):
        backup.make(world, tmp_path / "a file" / "made.zip")


def test_an_empty_world_is_not_backed_up(world: World, tmp_path: Path) -> None:
    with pytest.raises(AgentNotFound, match="no characters"):
        backup.make(world, tmp_path / "made.zip")


def test_a_second_world_takes_no_other_world_s_personality(
    world: World, agent: AgentMemory, made: Path, embedder: Embedder
) -> None:
    beside = world.settings.model_copy(update={"world": "beside"})
    with World(beside, embedder=embedder) as other:
        done = restore.restore(other, made, new_world=True)
        assert done is not None
        assert done.aside is None
        assert _texts(other) == {"event 0", "event 1", "event 2"}
    agent.save_personality(json.dumps(PERSONALITY | {"facts": ["She has sold the mill."]}))
    third = world.settings.model_copy(update={"world": "third"})
    with World(third, embedder=embedder) as other, pytest.raises(Conflict, match="MEMORY_PERSONALITIES"):
        restore.restore(other, made, new_world=True)
    assert not (world.settings.database / "third").exists()
    assert "sold the mill" in (agent.personality_text or "")


# -- what is refused -----------------------------------------------------------------------------------


def _forged(
    made: Path,
    *,
    drop: str = "",
    add: dict[str, bytes] | None = None,
    listed: bool = True,
    edit: Callable[[dict[str, object]], None] = lambda _told: None,
    replace: dict[str, bytes] | None = None,
    link: str = "",
) -> Path:
    """A backup made anew with other content, its list of contents in step with it unless said otherwise."""
    target = made.with_name("forged.zip")
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        held = {name: old.read(name) for name in old.namelist() if not (drop and drop in name)}
        told = json.loads(held.pop("manifest.json"))
        held |= replace or {}
        if listed:
            held |= add or {}
            told["files"] = {
                name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in held.items()
            }
        else:
            held |= add or {}
        edit(told)
        for name, data in held.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = ((stat.S_IFLNK | 0o777) if name == link else 0o100644) << 16
            new.writestr(info, data, zipfile.ZIP_DEFLATED)
        new.writestr("manifest.json", json.dumps(told))
    return target


def _claim_size(told: dict[str, object]) -> None:
    told["files"]["world/world.json"]["size"] = 1  # type: ignore[index]


def _cut(made: Path) -> Path:
    target = made.with_name("forged.zip")
    target.write_bytes(made.read_bytes()[: made.stat().st_size // 2])
    return target


def _flipped(made: Path) -> Path:
    data = bytearray(made.read_bytes())
    data[len(data) // 3] ^= 0xFF
    target = made.with_name("forged.zip")
    target.write_bytes(data)
    return target


def _bomb(made: Path) -> Path:
    return _forged(made, add={"world/bomb": bytes(50 << 20)})


HOSTILE: dict[str, Callable[[Path], Path]] = {
    "cut off": _cut,
    "a bit is flipped": _flipped,
    "no zip": lambda made: _written(made, b"Dear designer, " * 99),
    "empty": lambda made: _written(made, b""),
    "a zip of something else": lambda made: _forged(made, edit=dict.clear),
    "a newer form": lambda made: _forged(made, edit=lambda told: told.update(format="memory-system-backup/9")),
    "content changed, list not": lambda made: _forged(made, replace={"world/world.json": b"{}"}, listed=False),
    "a file added, list not": lambda made: _forged(made, add={"world/more": b"x"}, listed=False),
    "a file missing": lambda made: _forged(made, drop="journal", listed=False),
    "a size is not so": lambda made: _forged(made, edit=_claim_size),
    "a way out": lambda made: _forged(made, add={"agents/mira/../../../../out": b"x"}),
    "a way out from the root": lambda made: _forged(made, add={"/etc/out": b"x"}),
    "a way out on Windows": lambda made: _forged(made, add={"agents/mira/..\\..\\out": b"x"}),
    "a way out by an agent's name": lambda made: _forged(made, add={"agents/../out": b"x"}),
    "a file of no world": lambda made: _forged(made, add={"elsewhere/x": b"x"}),
    "a hidden world file": lambda made: _forged(made, add={"world/.x": b"x"}),
    "a forged note": lambda made: _forged(made, add={"agents/mira/closed.json": b"{}"}),
    "twins": lambda made: _forged(made, add={"agents/mira/Generation": b"x"}),
    "a link": lambda made: _forged(made, add={"world/link": b"/etc/passwd"}, link="world/link"),
    "a bomb": _bomb,
    "no world's name": lambda made: _forged(made, edit=lambda told: told.update(world="../x")),
    "an agent named twice": lambda made: _forged(made, edit=lambda told: told["agents"].append(told["agents"][0])),  # type: ignore[attr-defined]
    "an agent without files": lambda made: _forged(
        made,
        edit=lambda told: told["agents"].append({**told["agents"][0], "name": "ana"}),  # type: ignore[attr-defined,index]
    ),
}


def _written(made: Path, data: bytes) -> Path:
    target = made.with_name("forged.zip")
    target.write_bytes(data)
    return target


@pytest.mark.parametrize("harm", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_file_that_is_no_whole_backup_is_refused_in_words_and_changes_nothing(
    world: World, made: Path, tmp_path: Path, harm: Callable[[Path], Path]
) -> None:
    forged = harm(made)
    world.close()
    before = _files(tmp_path)
    with pytest.raises(InvalidBackup) as refused:
        restore.restore(world, forged)
    assert "forged.zip cannot be restored" in refused.value.sentence
    assert len(refused.value.sentence) < 400
    assert _files(tmp_path) == before
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("field", "given", "why"),
    [
        ("files", [], "it is not as this program writes it."),
        ("agents", 5, "it is not as this program writes it."),
        ("made_at", None, "made_at must be a time, not nothing."),
        ("world", 5, "The world name must be text, not an int."),
    ],
)
def test_a_list_of_contents_that_cannot_be_read_is_refused_in_words(
    made: Path, field: str, given: object, why: str
) -> None:
    forged = _forged(made, edit=lambda told: told.update({field: given}))
    with pytest.raises(InvalidBackup) as refused:
        backup_reading.look(forged)
    assert refused.value.sentence.endswith(f"Its list of contents cannot be read: {why}")


def test_a_backup_that_the_doctor_finds_damaged_is_refused(world: World, made: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(made) as old:
        journal = bytearray(old.read("agents/mira/journal.sqlite3"))
    journal[4096 * 3 : 4096 * 6] = bytes(4096 * 3)
    forged = _forged(made, replace={"agents/mira/journal.sqlite3": bytes(journal)})
    with pytest.raises(InvalidBackup, match="mira is not whole"):
        restore.restore(world, forged)
    assert swap.of_world(world.folder) == []
    assert _texts(world) == {"event 0", "event 1", "event 2"}


def test_a_backup_larger_than_the_disk_is_refused(world: World, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        free = 1_000

    monkeypatch.setattr(restore.shutil, "disk_usage", lambda _path: Full)
    with pytest.raises(StoreError, match="Make room"):
        restore.restore(world, made)


# -- what cannot be done --------------------------------------------------------------------------------


def test_a_step_that_fails_leaves_the_world_as_it_was(
    world: World, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = Path.rename

    def rename(self: Path, target: Path) -> Path:
        if self == world.spot.half:
            raise OSError(28, "No space left on device", str(target))
        return folders(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(StoreError, match=r"written: No space left on device .*\. Make room there"):
        restore.restore(world, made)
    monkeypatch.undo()
    assert swap.of_world(world.folder) == []
    assert _texts(world) == {"event 0", "event 1", "event 2"}
    assert world.agents() == ["mira"]
    assert list(world.settings.database.glob(".*-restoring*json")) == []


# -- the command line ----------------------------------------------------------------------------------


@pytest.fixture
def command(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.setenv("MEMORY_DATABASE", str(settings.database))
    monkeypatch.setenv("MEMORY_PERSONALITIES", str(settings.personalities))
    monkeypatch.setenv("MEMORY_LLM", "offline")
    return CliRunner()


def test_the_commands_make_look_at_restore_and_put_back(
    command: CliRunner, world: World, agent: AgentMemory, remember: Remember, settings: Settings
) -> None:
    remember("before the backup")
    done = command.invoke(app, ["backup"])
    assert done.exit_code == 0, done.output
    (made,) = (settings.database / "backups").glob("mem_test *.zip")
    assert f"Back to it: python -m memory_system restore {shlex.quote(str(made))}\n" in done.output
    looked = command.invoke(app, ["restore", str(made), "--look"])
    assert "It is intact." in looked.output
    assert "1 memory, " in looked.output
    remember("after the backup")
    restored = command.invoke(app, ["restore", str(made)])
    assert restored.exit_code == 0, restored.output
    assert _texts(world) == {"before the backup"}
    (aside,) = swap.of_world(world.folder)
    assert str(aside.folder) in restored.output
    back = command.invoke(app, ["restore", str(aside.folder)])
    assert back.exit_code == 0, back.output
    assert "after the backup" in _texts(world)
    refused = command.invoke(app, ["restore", str(settings.database)])
    assert refused.exit_code == 1
    assert "neither a backup nor" in refused.output


def test_export_prints_json_lines_or_writes_them_once(
    command: CliRunner, agent: AgentMemory, remember: Remember, tmp_path: Path
) -> None:
    remember("to be told")
    printed = command.invoke(app, ["export", "mira"])
    lines = [json.loads(line) for line in printed.stdout.splitlines()]
    assert lines[0]["agent"] == "mira"
    assert "to be told" in [line.get("document") for line in lines]
    assert command.invoke(app, ["export", "mira", "-"]).stdout == printed.stdout
    target = tmp_path / "mira.jsonl"
    written = command.invoke(app, ["export", "mira", str(target), "--vectors"])
    assert written.exit_code == 0
    assert len(json.loads(target.read_text().splitlines()[-1])["vector"]) == 384
    again = command.invoke(app, ["export", "mira", str(target)])
    assert again.exit_code == 1
    assert "already. Name another." in again.output, again.output


def test_a_world_is_restored_by_one_at_a_time_and_what_a_killed_one_left_is_a_leftover(
    world: World, made: Path
) -> None:
    world.spot.half.mkdir()
    with swap.work_lock(world.folder):
        with pytest.raises(StoreBusy, match="restored already"):
            restore.restore(world, made)
        assert not any("cut off" in one.sentence for one in examine(world))
    old = world.settings.backup_folder / ".backup-old"
    old.mkdir(parents=True)
    os.utime(old, (0, 0))
    (world.settings.backup_folder / ".backup-now").mkdir()
    told = [one for one in examine(world, repair=True) if one.what == "leftovers"]
    assert {one.state for one in told} == {State.REPAIRED}
    assert not world.spot.half.exists()
    assert [path.name for path in world.settings.backup_folder.iterdir()] == [".backup-now"]
