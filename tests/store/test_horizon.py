"""The history's horizon: what exceeds it is let go of for good, and all that is kept tells what it told before."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from memory_system import AgentMemory, Change, ChangeSet, Kind, MemoryEntry, Settings, Tier, World
from memory_system.core import BY_ITSELF, State
from memory_system.core import settings as core_settings
from memory_system.core.change_set import ModelCall
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import ChangeSetNotFound, Conflict, InvalidParameter, MemorySystemError, StoreDamaged
from memory_system.maintenance import doctor
from memory_system.recall import kept_tables
from memory_system.store.journal import horizon as module
from memory_system.store.journal import moving
from memory_system.store.journal.horizon import REACHES_BACK_TO, Horizon, Limits
from memory_system.store.journal.tables import LET_GO
from memory_system.world.advancing import life_of
from tests.agent_parts.test_past import OPERATIONS, Desk, act, clock_of, places
from tests.conftest import NOW, PERSONALITY

Remember = Callable[..., str]


def horizon(agent: AgentMemory) -> Horizon:
    """That of the agent's journal."""
    agent._context.held.flush()
    agent._context.held.settle()
    return agent._context.held.journal.horizon


def let_go(agent: AgentMemory, changes: int) -> int:
    """Let go of all but so many changes; answers the newest that went."""
    while horizon(agent).let_go(Limits(changes=changes)):
        pass
    return horizon(agent).floor


def _told(agent: AgentMemory) -> list[Any]:
    """What does not depend on how far the history reaches back."""
    ids = [entry.id for tier in Tier for entry in agent.entries(tier)]
    return [
        [(entry, entry.last_access) for tier in Tier for entry in agent.entries(tier)],
        agent.forgotten(1000),
        agent.stale(),
        [agent.lineage(one) for one in ids],
        agent.get_stats(),
    ]


_LIVES = st.tuples(OPERATIONS, st.integers(1, 6))


@given(_LIVES)
@settings(
    max_examples=12,
    phases=[Phase.generate],
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_what_is_kept_tells_what_it_told_before(
    tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder, life: tuple[list[tuple[str, int, int]], int]
) -> None:
    operations, kept = life
    folder = tmp_path_factory.mktemp("lived")
    with pytest.MonkeyPatch.context() as monkeypatch, World(places(folder), embedder=embedder) as world:
        monkeypatch.setattr(module, "_SETS", 2)  # so that several turns are needed
        monkeypatch.setattr(module, "_ROWS", 3)
        world.stand_at(NOW)
        agent = world.create_agent("mira", json.dumps(PERSONALITY))
        desk = Desk(world, agent, monkeypatch)
        for operation, one, two in [("add", 1, 2), ("ask", 0, 3), *operations, ("ask", 1, 3), ("add", 2, 1)]:
            try:
                act(desk, operation, one, two)
            except (Conflict, MemorySystemError):
                pass
            else:
                world.stand_at(clock_of(agent))
                desk.write_down()
        told = _told(agent)
        floor = let_go(agent, kept)
        for _ in range(2):
            assert _told(agent) == told
            assert [one.revision for one in agent.history(1000)] == list(range(agent.stamp[0], floor, -1))
            for seen in desk.seen:
                if seen.revision >= floor:
                    view = agent.as_of(revision=seen.revision, access=seen.access)
                    left = [one for one in seen.history if one.revision > floor]
                    desk.check(replace(seen, history=left), view)
                elif floor:
                    with pytest.raises(ChangeSetNotFound, match=REACHES_BACK_TO):
                        agent.as_of(revision=seen.revision, access=seen.access)
            world.close()
            agent = world.agent("mira")
        for one in agent.history(2):
            try:
                agent.undo(one.revision)
            except Conflict:
                continue
        gone = [one.entry.id for one in agent.forgotten(3)]
        if gone:
            agent.restore(gone)
            assert {entry.id for tier in Tier for entry in agent.entries(tier)} >= set(gone)


@pytest.fixture
def lived(agent: AgentMemory, remember: Remember) -> AgentMemory:
    """The personality (1), the key (2), nine more memories (3 to 11), and the key edited (12)."""
    remember("Tobias lost the brass key.", id="key")
    for number in range(9):
        remember(f"Baked {number} loaves.", id=f"loaves-{number}")
    agent.edit("key", rating=9)
    return agent


@pytest.mark.usefixtures("each_journal")
def test_what_was_let_go_of_is_refused_and_says_how_far_the_history_reaches(lived: AgentMemory) -> None:
    before = lived.history_kept(changes=0)
    assert (before.changes, before.let_go, before.let_go_until) == (12, 0, None)
    assert let_go(lived, 5) == 7
    told = lived.history_kept()
    assert (told.changes, told.let_go, told.leaving) == (5, 7, 0)
    assert before.since is not None
    assert told.since is not None
    assert told.let_go_until is not None
    assert before.since <= told.let_go_until <= told.since
    assert 0 < told.bytes < before.bytes
    assert lived.history_kinds().operations == {"add": 4, "edit": 1}
    assert [one.revision for one in lived.history(100, entry_id="key")] == [12]
    looks: list[Callable[[], object]] = [
        lambda: lived.change(7),
        lambda: lived.undo(7),
        lambda: lived.redo(7),
        lambda: lived.conflicts(7),
        lambda: lived.undo_back_to(7),
        lambda: lived.as_of(revision=6),
        lambda: lived.as_of(revision=0),
        lambda: lived.as_of(NOW - timedelta(days=9999)),
        lambda: lived.as_of(world_time=NOW - timedelta(days=9999)),
        lambda: lived.timeline.changes_since(6),
        lambda: lived.timeline.events_since(6),
        lambda: lived.timeline.texts_at(6),
    ]
    for look in looks:
        with pytest.raises(ChangeSetNotFound, match=rf"{REACHES_BACK_TO} 8 only: .* UTC was let go of"):
            look()
    assert lived.as_of(revision=7).find("loaves-5") is None
    assert lived.as_of(revision=8).find("loaves-5") is not None
    lived.undo_back_to(8)
    assert {entry.id for entry in lived.entries(Tier.STM)} == {"key", *(f"loaves-{number}" for number in range(6))}
    assert len(lived.timeline.changes_since(0)) == 6


@pytest.mark.usefixtures("each_journal")
def test_one_transaction_lets_go_of_all_or_of_nothing(lived: AgentMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise StoreDamaged("The disk is full.")

    with monkeypatch.context() as patched:
        patched.setattr(module, "upsert", fails)
        with pytest.raises(StoreDamaged):
            horizon(lived).let_go(Limits(changes=5))
    assert (lived.history_kept().changes, len(lived.history(100)), horizon(lived).floor) == (12, 12, 0)
    assert lived.as_of(revision=3).find("loaves-0") is not None


def test_days_count_by_the_real_time(lived: AgentMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = horizon(lived)
    assert not kept.let_go(Limits(days=1))
    assert lived.history_kept(days=1).leaving == 0
    monkeypatch.setattr(kept, "_clock", lambda: datetime.now(UTC) + timedelta(days=2))
    assert lived.history_kept(days=1).leaving == 12
    assert (lived.history_kept(days=3).leaving, lived.history_kept(changes=1000, days=3).leaving) == (0, 0)
    assert not kept.let_go(Limits(days=1), slack=12)
    kept.let_go(Limits(days=1))
    assert (lived.history_kept().changes, kept.floor) == (0, 12)
    assert lived.history(10) == []
    assert lived.as_of(revision=12).find("key") is not None
    lived.add_short_term({"document": "The heron came back.", "id": "heron", "rating": 5})
    assert [one.revision for one in lived.history(10)] == [13]


@pytest.mark.usefixtures("each_journal")
def test_what_can_be_restored_and_what_others_rest_on_keeps_its_changes(agent: AgentMemory, remember: Remember) -> None:
    remember("Tobias lost the brass key.", id="key")
    remember("The brass key hung in the flour.", id="flour")
    remember("The mill wheel stood still.", id="wheel")
    found = MemoryEntry("The key is found.", id="found", tier=Tier.LTM, kind=Kind.REFLECTION, evidence=("key",))
    agent.apply(ChangeSet("reflect", "Reflect", (Change(None, found, "It follows."),), agent.now, agent.stamp[0]))
    agent.edit("key", document="Tobias hid the brass key.")
    agent.forget("wheel")
    assert [one.entry.id for one in agent.stale()] == ["found"]
    for number in range(4):
        remember(f"Baked {number} loaves.")
    let_go(agent, 2)
    stale = agent.stale_of("found")
    assert stale is not None
    assert stale.alterations[0].before.document == "Tobias lost the brass key."
    assert [(one.entry.id, one.operation) for one in agent.forgotten(10)] == [("wheel", "forget")]
    agent.restore("wheel")
    assert agent.find("wheel") is not None
    agent.forget("wheel")
    agent.purge("wheel")
    assert agent.forgotten(10) == []


def test_a_purge_reaches_what_the_history_keeps_of_what_it_let_go_of(agent: AgentMemory, remember: Remember) -> None:
    remember("The secret is under the third stone.", id="secret")
    agent.forget("secret")
    for number in range(4):
        remember(f"Baked {number} loaves.")
    let_go(agent, 2)
    agent.purge("secret")
    agent._context.held.settle()
    files = [path for path in agent._context.held.folder.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if b"third stone" in path.read_bytes()]
    with pytest.raises(MemorySystemError):
        agent.restore("secret")


def test_accesses_that_later_ones_outdate_go_and_the_last_ones_stay(lived: AgentMemory, world: World) -> None:
    for number in range(6):
        world.stand_at(NOW + timedelta(hours=number))
        lived.query_memory("Who lost the brass key?", 1, static_threshold=1)
    lived.add_short_term({"document": "The heron came back.", "id": "heron", "rating": 5})
    world.stand_at(NOW + timedelta(hours=9))
    lived.query_memory("Who lost the brass key?", 1, static_threshold=1)
    now = lived.find("key")
    assert now is not None
    lived._context.held.flush()
    then = lived.as_of(revision=13, access=7).find("key")
    lived.add_short_term({"document": "The heron left.", "id": "left", "rating": 5})
    let_go(lived, 1)
    with lived._context.held.journal._read() as db:
        rows = db.exec_driver_sql("SELECT revision, count(*) FROM accesses GROUP BY revision ORDER BY revision").all()
    assert [tuple(row) for row in rows] == [(12, 1), (13, 1)]
    assert then is not None
    found = lived.as_of(revision=13, access=7).find("key")
    assert found is not None
    assert (found.last_access, lived.find("key")) == (then.last_access, now)
    assert now.last_access == NOW + timedelta(hours=9)


def test_what_is_cited_after_its_own_changes_were_let_go_of_goes_stale_all_the_same(
    agent: AgentMemory, remember: Remember
) -> None:
    remember("Tobias lost the brass key.", id="key")
    for number in range(4):
        remember(f"Baked {number} loaves.")
    let_go(agent, 2)
    found = MemoryEntry("The key is gone.", id="found", tier=Tier.LTM, kind=Kind.REFLECTION, evidence=("key",))
    agent.apply(ChangeSet("reflect", "Reflect", (Change(None, found, "It follows."),), agent.now, agent.stamp[0]))
    assert agent.stale() == ()
    agent.edit("key", document="Tobias hid the brass key.")
    assert [one.entry.id for one in agent.stale()] == ["found"]
    agent.forget("key")
    assert [one.entry.id for one in agent.stale()] == ["found"]
    let_go(agent, 1)
    (stale,) = agent.stale()
    assert (stale.alterations[0].before.document, stale.alterations[0].after) == ("Tobias lost the brass key.", None)


def test_a_purge_finds_what_a_memory_said_before_what_was_let_go_of(
    agent: AgentMemory, remember: Remember, world: World
) -> None:
    remember("The secret is under the third stone.", id="secret")
    call = ModelCall("reflect", "model", "What follows of: The secret is under the third stone.", "Nothing.", 1.0)
    found = MemoryEntry("It rained.", id="found", tier=Tier.LTM, kind=Kind.REFLECTION, evidence=("other",))
    plan = ChangeSet("reflect", "Reflect", (Change(None, found, "It follows."),), agent.now, agent.stamp[0])
    agent.apply(replace(plan, calls=(call,)))
    agent.edit("secret", document="The secret is out.")
    for number in range(6):
        remember(f"Baked {number} loaves.")
    agent.query_memory("The secret is under the third stone.")
    let_go(agent, 2)
    agent.forget("secret")
    agent.purge("secret")
    agent._context.held.settle()
    assert agent.queries() == []
    world.close()
    for path in (path for path in (world.folder / "mira").rglob("*") if path.is_file()):
        assert b"third stone" not in path.read_bytes(), path


def test_a_query_that_is_kept_is_lived_through_again_as_it_was(lived: AgentMemory, world: World) -> None:
    for number in range(6):
        world.stand_at(NOW + timedelta(hours=number))
        lived.query_memory("Who lost the brass key?", 1, static_threshold=1)
    for number in range(3):
        lived.add_short_term({"document": f"Sold {number} loaves.", "rating": 5})
    horizon(lived)
    before = [lived.as_of(revision=12, access=one).find("key") for one in range(7)]
    assert let_go(lived, 3) == 12
    for access, seen in enumerate(before):
        found = lived.as_of(revision=12, access=access).find("key")
        assert seen is not None
        assert found is not None
        assert found.last_access == seen.last_access, access
    assert [one.number for one in lived.queries()] == [6, 5, 4, 3, 2, 1]
    assert all(lived.relive(one.number).faithful for one in lived.queries())


def test_the_bin_is_as_it_was_at_every_later_moment(agent: AgentMemory, remember: Remember) -> None:
    for name in ("wheel", "weir"):
        remember(f"The {name} stood still.", id=name)
        agent.forget(name)
    agent.restore("weir")
    for number in range(4):
        remember(f"Baked {number} loaves.")
    moment = agent.stamp[0]
    agent.restore("wheel")
    remember("Sold a cake.")
    let_go(agent, 4)
    then = agent.as_of(revision=moment)
    assert [one.entry.id for one in then.forgotten()] == ["wheel"]
    assert then.last_version("wheel").document == "The wheel stood still."
    assert agent.forgotten() == []


def test_a_view_of_a_moment_that_is_let_go_of_meanwhile_refuses(lived: AgentMemory) -> None:
    view = lived.as_of(revision=3)
    let_go(lived, 2)
    looks: list[Callable[[], object]] = [view.history, view.forgotten, view.count_forgotten, view.history_kinds]
    for look in looks:
        with pytest.raises(ChangeSetNotFound, match=REACHES_BACK_TO):
            look()


def test_what_happens_by_itself_knows_what_it_did_last(agent: AgentMemory, remember: Remember, world: World) -> None:
    remember("The mill burnt down.", id="fair", rating=9)
    agent.forget("fair")
    agent.purge("fair")
    for number in range(5):
        remember(f"The mill burnt down, part {number}.", rating=9)
    found = MemoryEntry("Fire.", id="fire", tier=Tier.LTM, kind=Kind.REFLECTION, evidence=("x",), timestamp=agent.now)
    agent.acting_as(BY_ITSELF).apply(
        ChangeSet("reflect", "Reflect", (Change(None, found, "So."),), agent.now, agent.stamp[0], author=BY_ITSELF)
    )
    for number in range(4):
        remember(f"Baked {number} loaves.", rating=1, hours_ago=-1)
    coming = [MemoryEntry("The mill burnt down.", id="fair", timestamp=agent.now)]
    before = life_of(agent, agent.now, world.folder, coming)
    let_go(agent, 2)
    after = life_of(agent, agent.now, world.folder, coming)
    assert (after.felt, after.coming) == (before.felt, before.coming) == (before.felt, ())
    assert LET_GO not in agent.contents.texts()


# -- others --------------------------------------------------------------------------------------------


def test_a_process_that_is_further_behind_reads_all_anew(
    settings: Settings, lived: AgentMemory, embedder: CachedEmbedder, remember: Remember
) -> None:
    with World(settings, embedder=embedder) as other:
        behind = other.agent("mira")
        assert behind.find("key") is not None
        lived.forget("key")
        for number in range(5):
            remember(f"Baked {number} more loaves.", id=f"more-{number}")
        let_go(lived, 2)
        assert behind.find("key") is None
        assert behind.find("more-0") is not None
        assert _told(behind) == _told(lived)


def test_a_reader_that_is_overtaken_while_it_catches_up_reads_all_anew(
    settings: Settings, lived: AgentMemory, embedder: CachedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with World(settings, embedder=embedder) as other:
        behind = other.agent("mira")
        for number in range(8):
            lived.add_short_term({"document": f"Sold {number} loaves.", "id": f"sold-{number}", "rating": 5})
        journal = behind._context.held.journal
        since = journal.known_since

        def overtaken(revision: int) -> Any:
            let_go(lived, 2)
            return since(revision)

        monkeypatch.setattr(journal, "known_since", overtaken)
        assert _told(behind) == _told(lived)


def test_tables_that_were_kept_before_it_are_not_believed(
    world: World, lived: AgentMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_tables, "FROM_ROWS", 1)
    lived.forget("loaves-1")  # its row stays, so that the change set of this revision does
    world.close()
    folder = world.folder / "mira"
    shutil.copytree(folder, tmp_path / "before")
    again = world.agent("mira")
    again.forget("loaves-2")
    again.edit("key", document="Mira found the brass key.")
    again.add_short_term({"document": "The heron came back.", "id": "heron", "rating": 5})
    let_go(again, 1)
    told = _told(again)
    world.close()
    for table in (tmp_path / "before").glob("*.table"):
        shutil.copy(table, folder)
    assert list(folder.glob("*.table"))
    assert _told(world.agent("mira")) == told


def test_a_machine_with_a_store_of_its_own_catches_up_beyond_it(
    journal_server: str, tmp_path: Path, embedder: CachedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moving, "JOIN_SECONDS", 0.0)

    def on(name: str) -> World:
        return World(places(tmp_path / name), embedder=embedder)

    with on("here") as here:
        here.stand_at(NOW)
        made = here.create_agent("mira", json.dumps(PERSONALITY))
        with on("there") as there:
            there.stand_at(NOW)
            assert there.agent("mira").entries(Tier.STATIC)
            made.save_personality(json.dumps(PERSONALITY | {"facts": ["The heron is a rumour."]}))
            for number in range(8):
                made.add_short_term({"document": f"Baked {number} loaves.", "id": f"loaves-{number}", "rating": 5})
            made.forget("loaves-1")
            made.add_short_term({"document": "Sold the boat.", "id": "boat", "rating": 5})
            let_go(made, 2)
            there.agent("mira").edit("boat", rating=7)
            assert _told(there.agent("mira")) == _told(made)
        for number in range(4):
            made.add_short_term({"document": f"Sold {number} loaves.", "id": f"sold-{number}", "rating": 5})
        let_go(made, 2)
        with on("there") as there:
            there.stand_at(NOW)
            assert _told(there.agent("mira")) == _told(made)
            assert there.agent("mira").messages == ("4 memories written and 0 removed to match the journal.",)
            texts = [
                (world.settings.personalities / "mira.json").read_text(encoding="utf-8") for world in (here, there)
            ]
            assert texts[0] == texts[1]
            assert not [one for one in doctor.examine(there) if one.state is State.WRONG]


# -- by itself -----------------------------------------------------------------------------------------


def test_it_happens_by_itself_once_the_settings_ask_for_it(
    lived: AgentMemory, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core_settings, "LEAST_HISTORY", 1)
    monkeypatch.setattr(module, "_SLACK", 5)
    lived.configure(history_changes=4)
    _until(lambda: lived.history_kept().changes == 4)
    for number in range(30):
        lived.add_short_term({"document": f"Sold {number} loaves.", "rating": 5})
    lived._context.held.settle()  # what the store lacks is kept
    for number in range(6):
        lived.add_short_term({"document": f"Sold {number} cakes.", "rating": 5})
    _until(lambda: lived.history_kept().changes <= 4 + 2 * 5)
    assert lived.history_kept().let_go >= 30
    lived.configure(history_changes=0)
    world.close()
    again = world.agent("mira")
    kept = again.history_kept().changes
    for number in range(20):
        again.add_short_term({"document": f"Bought {number} loaves.", "rating": 5})
    time.sleep(2 * module._SOON)
    assert again.history_kept().changes == kept + 20


def _until(holds: Callable[[], bool]) -> None:
    ending = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < ending, "it does not happen"
        time.sleep(0.02)


def test_too_short_a_history_is_refused(agent: AgentMemory) -> None:
    for wrong in (1, 999):
        with pytest.raises(InvalidParameter, match=f"'history_changes' must be 0 .all. or at least 1,000, not {wrong}"):
            agent.configure(history_changes=wrong)
    for name, wrong in (("history_days", -1), ("history_days", 40_000), ("history_changes", 1.5)):
        with pytest.raises(InvalidParameter, match=f"{name}"):
            agent.configure(**{name: wrong})
    with pytest.raises(InvalidParameter):
        agent.history_kept(changes=5)
    assert agent.configure(history_changes=1000, preview=True)
