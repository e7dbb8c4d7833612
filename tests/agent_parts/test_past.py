"""An agent as it was: every moment of its past answers as it was answered then, and none can be changed."""

from __future__ import annotations

import inspect
import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_system import AgentMemory, Change, ChangeSet, Kind, MemoryEntry, Settings, Tier, World
from memory_system.core import DECAYING
from memory_system.core.presets import PRESETS
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import (
    ChangeSetNotFound,
    Conflict,
    InvalidParameter,
    MemorySystemError,
    ReadOnlyPast,
    StoreError,
)
from memory_system.recall.rank import Explanation
from tests.conftest import NOW, PERSONALITY

Remember = Callable[..., str]

CUES = ("Who has the key to the tide mill?", "Was there smoke over the field yesterday?")
TEXTS = (
    "Tobias lost the brass key to the tide mill.",
    "Saw smoke over the north field at dawn.",
    "Tobias: I gave the key to Mira yesterday.",
    "A grey heron stood on the weir.",
    "Baked forty loaves for the fair.",
)
SCORINGS = (PRESETS["classic"].scoring, PRESETS["balanced"].scoring, PRESETS["paper"].scoring)
HOUR = timedelta(hours=1)

Answer = list[tuple[Any, ...]]


def told(explanation: Explanation) -> Answer:
    """All that an explanation says of every candidate."""
    return [
        (one.entry, one.entry.last_access, one.score, one.rank, one.verdict, one.because, one.via)
        for one in explanation.candidates
    ]


def nearly(answer: Answer, other: Answer) -> bool:
    """Whether two answers are the same but for the last bits.

    Token states are compared in one product of float32, whose last bits depend on where a row stands; of memories that
    tie but for those bits any may come first.
    """
    again = {one[0].id: one for one in other}
    if len(answer) != len(other) or again.keys() != {one[0].id for one in answer}:
        return False
    for entry, access, score, *verdict in answer:
        twin = again[entry.id]
        ties = [one for one in answer if one[0].tier is entry.tier and abs(one[2].total - score.total) < 1e-6]
        same = twin[:2] == (entry, access) and twin[2].parts == pytest.approx(score.parts, abs=1e-6)
        if not same or (len(ties) == 1 and list(twin[3:]) != verdict):
            return False
    return True


@dataclass
class Moment:
    """What was seen of an agent at a moment."""

    revision: int
    access: int
    real: datetime
    now: datetime
    answers: list[tuple[str, int, Answer]]
    held: dict[Tier, Any]
    personality: str | None
    settings: object
    stats: dict[str, Any]
    history: list[Any]
    cues: tuple[Any, ...]


class Desk:
    """A real clock that goes on by a second whenever it is read, and an agent whose past is written down."""

    def __init__(self, world: World, agent: AgentMemory, monkeypatch: pytest.MonkeyPatch) -> None:
        self.world, self.agent = world, agent
        self._real = datetime.now(UTC) + timedelta(days=1)
        monkeypatch.setattr(agent._context.held._accesses, "_clock", self.tick)
        monkeypatch.setattr(agent._context.held.journal, "_clock", self.tick)
        self.seen: list[Moment] = []

    def tick(self) -> datetime:
        self._real += timedelta(seconds=1)
        return self._real

    def write_down(self) -> None:
        """Note all that the agent says now."""
        agent = self.agent
        revision, access = reached(agent)
        answers = [
            (cue, number, told(agent.explain(cue, 4, 0.3, scoring=scoring, requery=2)))
            for cue in CUES
            for number, scoring in enumerate(SCORINGS)
        ]
        self.seen.append(
            Moment(
                revision,
                access,
                self.tick(),
                agent.now,
                answers,
                {tier: [(entry, entry.last_access) for entry in agent.entries(tier)] for tier in Tier},
                agent.personality_text,
                agent.settings,
                agent.get_stats(),
                agent.history(1000),
                agent.saved_cues,
            )
        )

    def check(self, seen: Moment, view: AgentMemory) -> None:
        """The view says what was seen."""
        assert view.now == seen.now
        for cue, number, answer in seen.answers:
            again = told(view.explain(cue, 4, 0.3, scoring=SCORINGS[number], requery=2))
            assert again == answer or (number == 1 and nearly(again, answer)), (seen.revision, seen.access)
        assert {tier: [(entry, entry.last_access) for entry in view.entries(tier)] for tier in Tier} == seen.held
        assert view.personality_text == seen.personality
        assert view.settings == seen.settings
        assert view.get_stats() == seen.stats
        assert view.history(1000) == seen.history
        assert view.saved_cues == seen.cues


Act = Callable[[Desk, str, int, int], object]


def _add(desk: Desk, _chosen: str, one: int, two: int) -> None:
    now, text = desk.agent.now, TEXTS[(one + two) % len(TEXTS)]
    event = {"document": text, "rating": 1 + one, "timestamp": now - two * 20 * HOUR, "tags": ["a"]}
    said = {"document": TEXTS[two % len(TEXTS)], "kind": Kind.CONVERSATION}
    desk.agent.add_short_term([event, said], rate=False)


def _migrate(desk: Desk, *_: object) -> None:
    desk.agent.configure(stm_size=1)
    desk.agent.migrate_stm2ltm(0.3)


def _restore(desk: Desk, *_: object) -> None:
    changes = [change for told in desk.agent.history(50) for change in told.change_set.changes]
    gone = [change.entry_id for change in changes if change.after is None and change.before.tier is not Tier.STATIC]
    desk.agent.restore(gone[:2])


def _wait(desk: Desk, _chosen: str, one: int, two: int) -> None:
    desk.world.stand_at(desk.agent.now + timedelta(hours=1 + one * two))
    desk.agent.configure(reflection_trigger=100.0 + desk.agent.stamp[0])


ACTS: dict[str, Act] = {
    "add": _add,
    "edit": lambda desk, chosen, one, two: desk.agent.edit(chosen, document=TEXTS[one % len(TEXTS)], rating=1 + two),
    "overwrite": lambda desk, chosen, _one, two: desk.agent.add_short_term(
        {"id": chosen, "document": TEXTS[two % len(TEXTS)], "rating": 9}, rate=False
    ),
    "migrate": _migrate,
    "move": lambda desk, _chosen, one, _two: desk.agent.migrate_stm2ltm(
        ids=[entry.id for entry in desk.agent.entries(Tier.STM)][: 1 + one]
    ),
    "forget": lambda desk, chosen, _one, _two: desk.agent.forget(chosen),
    "restore": _restore,
    "undo": lambda desk, _chosen, one, _two: desk.agent.undo(max(1, desk.agent.stamp[0] - one)),
    "ask": lambda desk, _chosen, one, two: desk.agent.query_memory(
        CUES[one % 2], 1 + two, 0.2, static_threshold=0.9, now=desk.agent.now + two * HOUR
    ),
    "look": lambda desk, _chosen, one, _two: desk.agent.query_memory(CUES[one % 2], touch=False),
    "configure": lambda desk, _chosen, one, two: desk.agent.configure(top_k=1 + one, threshold=two / 10),
    "personality": lambda desk, _chosen, one, _two: desk.agent.save_personality(
        json.dumps(PERSONALITY | {"facts": [f"There are {one} keys."], "traits": []})
    ),
    "cue": lambda desk, _chosen, one, two: desk.agent.save_cue(f"cue {one}", CUES[two % 2]),
    "reset": lambda desk, _chosen, _one, _two: desk.agent.reset_memory(),
    "wait": _wait,
    "talk": lambda desk, _chosen, one, two: desk.agent.remember_conversation(
        [("Tobias", TEXTS[one % len(TEXTS)]), ("Mira", TEXTS[two % len(TEXTS)])], rate=False
    ),
}

OPERATIONS = st.lists(
    st.tuples(st.sampled_from(list(ACTS)), st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=9
)


def act(desk: Desk, operation: str, one: int, two: int) -> None:
    """Carry out one operation on some memory, as far as it can be."""
    ids = [entry.id for tier in DECAYING for entry in desk.agent.entries(tier)]
    ACTS[operation](desk, ids[one % len(ids)] if ids else "nothing", one, two)


@given(OPERATIONS)
@settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_moment_is_answered_again_as_it_was_answered_then(
    tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder, operations: list[tuple[str, int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("lived")
    with pytest.MonkeyPatch.context() as monkeypatch, World(places(folder), embedder=embedder) as world:
        world.stand_at(NOW)
        agent = world.create_agent("mira", json.dumps(PERSONALITY))
        desk = Desk(world, agent, monkeypatch)
        act(desk, "add", 1, 2)
        for operation, one, two in operations:
            try:
                act(desk, operation, one, two)
            except (Conflict, MemorySystemError):
                pass
            else:
                if reached(agent) != (desk.seen[-1].revision, desk.seen[-1].access) if desk.seen else True:
                    world.stand_at(clock_of(agent))
                    desk.write_down()
        for seen in desk.seen:
            desk.check(seen, agent.as_of(revision=seen.revision, access=seen.access))
            desk.check(seen, agent.as_of(seen.real))
        world.close()
        agent = world.agent("mira")
        for seen in desk.seen[::-1]:
            desk.check(seen, agent.as_of(seen.real))


def reached(agent: AgentMemory) -> tuple[int, int]:
    """The newest revision and access of an agent that was empty when it was opened, by its stamp."""
    revision, touches = agent.stamp
    return revision, touches % (1 << 40)


def clock_of(agent: AgentMemory) -> datetime:
    """The time of the last change or access, where the world's clock is let stand."""
    revision, access = reached(agent)
    agent._context.held.flush()
    moment = agent._context.held.journal.past.at_revision(revision, access, NOW)
    assert moment is not None
    return moment.now


def places(folder: Path) -> Settings:
    return Settings(database=folder / "database", personalities=folder / "personalities", llm="offline")


# -- moments ---------------------------------------------------------------------------------------------


@pytest.fixture
def lived(agent: AgentMemory, world: World, remember: Remember) -> AgentMemory:
    """Revision 1 is the personality, 2 and 3 add memories on two days; one is edited (4) and forgotten (5)."""
    remember("Tobias lost the brass key to the tide mill.", id="key", hours_ago=1)
    world.stand_at(NOW + 24 * HOUR)
    remember("Saw smoke over the north field at dawn.", id="smoke", hours_ago=-23)
    agent.query_memory("Who has the key to the mill?", 1, static_threshold=1, now=NOW + 25 * HOUR)
    world.stand_at(NOW + 48 * HOUR)
    agent.edit("key", document="Mira found the brass key in the flour.", rating=9)
    world.stand_at(NOW + 72 * HOUR)
    agent.forget("key")
    return agent


def test_a_revision_is_the_state_right_after_its_change_set(lived: AgentMemory) -> None:
    assert reached(lived) == (5, 1)
    views = [lived.as_of(revision=number) for number in range(6)]
    assert [[entry.id for entry in view.entries(Tier.STM)] for view in views] == [
        [], [], ["key"], ["key", "smoke"], ["key", "smoke"], ["smoke"]
    ]  # fmt: skip
    assert [view.now for view in views] == [NOW, NOW, NOW, NOW + 24 * HOUR, NOW + 48 * HOUR, NOW + 72 * HOUR]
    assert [view.display_name for view in views] == ["mira", *["Mira Holloway"] * 5]
    before, after = views[3].find("key"), views[4].find("key")
    assert before is not None
    assert after is not None
    assert (before.document, before.rating, before.last_access) == (
        "Tobias lost the brass key to the tide mill.",
        5,
        None,
    )
    assert (after.document, after.rating) == ("Mira found the brass key in the flour.", 9)
    assert after.last_access == NOW + 25 * HOUR
    assert views[0].personality is None


def test_an_access_counts_from_its_number_on(lived: AgentMemory) -> None:
    assert [lived.as_of(revision=3, access=number).find("key").last_access for number in (0, 1)] == [  # type: ignore[union-attr]
        None,
        NOW + 25 * HOUR,
    ]
    assert lived.as_of(revision=3, access=1).now == NOW + 25 * HOUR


def test_a_world_time_is_told_apart_from_the_real_time(lived: AgentMemory) -> None:
    told = {hours: lived.as_of(world_time=NOW + hours * HOUR) for hours in (-1, 0, 23, 24, 25, 47, 48, 100)}
    assert [view.revision for view in told.values()] == [0, 2, 2, 3, 3, 3, 4, 5]
    assert [view.now for view in told.values()] == [NOW + hours * HOUR for hours in told]
    assert told[24].find("key").last_access is None  # type: ignore[union-attr]
    assert told[25].find("key").last_access == NOW + 25 * HOUR  # type: ignore[union-attr]
    assert lived.as_of(datetime.now(UTC)).revision == 5
    assert lived.as_of(datetime.now(UTC)).now == NOW + 72 * HOUR, "the world's clock stands"
    assert lived.as_of(datetime.now(UTC) - timedelta(days=1)).revision == 0


def test_when_the_clock_was_put_back_the_last_time_it_stood_there_counts(world: World, lived: AgentMemory) -> None:
    world.stand_at(NOW + 30 * HOUR)
    lived.restore("key")
    assert lived.as_of(world_time=NOW + 30 * HOUR).revision == 6
    assert lived.as_of(world_time=NOW + 29 * HOUR).revision == 3


def test_in_a_world_that_follows_the_real_time_a_real_time_is_its_clock(world: World, agent: AgentMemory) -> None:
    world.stand_at(None)
    agent.add_short_term({"document": "A heron stood on the weir."}, rate=False)
    asked = datetime.now(UTC) + timedelta(hours=3)
    assert agent.as_of(asked).now == asked


@pytest.mark.parametrize(
    ("moment", "message"),
    [
        ({}, "exactly one of"),
        ({"at": NOW, "revision": 1}, "exactly one of"),
        ({"access": 1, "at": NOW}, "give the revision, too"),
        ({"revision": -1}, "The revision must be a whole number"),
        ({"revision": 2**62 + 1}, "The revision must be a whole number"),
        ({"revision": 1, "access": 1.5}, "The access must be a whole number"),
        ({"at": NOW.replace(tzinfo=None)}, "The time is .* which has no zone"),
        ({"at": "noon"}, "The time must be a time with a zone, not 'noon'"),
        ({"world_time": 7}, "The world's time must be a time"),
    ],
    ids=str,
)
def test_what_is_no_moment_is_refused(lived: AgentMemory, moment: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        lived.as_of(**moment)


def test_a_revision_to_come_is_not_found(lived: AgentMemory) -> None:
    for number in (6, 2**62):
        with pytest.raises(ChangeSetNotFound, match=f"no revision {number}"):
            lived.as_of(revision=number)


# -- a view ----------------------------------------------------------------------------------------------


def test_a_moment_is_left_as_an_agent_is_and_the_present_stays_open(lived: AgentMemory) -> None:
    with lived.as_of(revision=1) as then:
        assert then.revision == 1
    assert not lived.gone


CHANGES: dict[str, tuple[Any, ...]] = {
    "add_short_term": ({"document": "Saw smoke over the north field", "rating": 3},),
    "configure": (),
    "dismiss": (["key", "smoke"],),
    "edit": ("key",),
    "edit_many": (["key"],),
    "empty_bin": (),
    "forget": ("key",),
    "bring_in": ("2026-03-27 Saw smoke.",),
    "import_material": ("2026-03-27 Saw smoke.",),
    "judge": ("Who has the key?", "key", True),
    "keep_stale": ("insight",),
    "merge": (["key", "smoke"],),
    "migrate_stm2ltm": (),
    "plan_from_memory": (),
    "purge": ("key",),
    "put_off": ("rate",),
    "rate_again": ("key",),
    "rederive": ("insight",),
    "redo": (4,),
    "reflect_from_recent_memory": (),
    "remember_conversation": ([{"speaker": "Mira", "text": "I saw smoke."}],),
    "remove_cue": ("the key",),
    "reset_memory": (),
    "restore": ("key",),
    "save_cue": ("smoke", "Is there smoke?"),
    "save_personality": ('{"identity": {"name": "Ana"}}',),
    "summarize_and_forget": (2,),
    "set_portrait": (None,),
    "suspect_again": (),
    "tune": (),
    "undo": (4,),
    "undo_back_to": (2,),
}
"""Every method that takes ``preview``, which is how one that changes something is known."""
ALSO: dict[str, tuple[Any, ...]] = {
    "contents.alone": (), "apply": (None,), "as_of": (NOW,), "close": (), "curation.put_personality_back": (),
    "queries": (), "rate_unrated": (), "reembed": (), "relive": (1,), "touch": ("key",),
}  # fmt: skip
"""What else only the present agent can do."""


def test_every_method_that_changes_something_is_tried_below() -> None:
    calls = inspect.getmembers(AgentMemory, inspect.isfunction)
    assert {name for name, call in calls if "preview" in inspect.signature(call).parameters and name[0] != "_"} == set(
        CHANGES
    )


@pytest.fixture
def view(lived: AgentMemory) -> AgentMemory:
    """A past in which there is something for every change to change."""
    lived.undo(5)
    lived.save_cue("the key", "Who has the key?")
    insight = MemoryEntry("Keys get lost.", id="insight", tier=Tier.LTM, kind=Kind.REFLECTION, evidence=("key",))
    lived.apply(ChangeSet("reflect", "Reflect", (Change(None, insight, "For a test."),), NOW, lived.revision))
    lived.migrate_stm2ltm(ids=["key"])
    return lived.as_of(revision=lived.revision)


def test_nothing_that_changes_an_agent_can_be_done_to_its_past(view: AgentMemory) -> None:
    refused = []
    for name, arguments in (CHANGES | ALSO).items():
        try:
            attrgetter(name)(view)(*arguments)
        except ReadOnlyPast as error:
            assert error.sentence.startswith("This is Mira Holloway as of Mon 30 Mar 2026")  # noqa: PT017 - all are seen
            assert "go back to the present" in error.sentence  # noqa: PT017
            refused.append(name)
    assert refused == [*CHANGES, *ALSO]


def test_a_past_has_spent_nothing_and_is_not_what_an_agent_cannot_do(view: AgentMemory) -> None:
    with pytest.raises(ReadOnlyPast, match="for anything that only the present can show"):
        assert view.spent
    with pytest.raises(AttributeError, match="has no attribute 'fly'"):
        view.fly()  # type: ignore[attr-defined]
    assert issubclass(ReadOnlyPast, MemorySystemError)


def test_looking_back_leaves_the_present_as_it_is(lived: AgentMemory) -> None:
    lived._context.held.flush()
    before = lived.stamp, lived.history(), [lived.entries(tier) for tier in Tier], len(lived.queries())
    view = lived.as_of(revision=4)
    found = view.query_memory("Who has the key?", touch=True)
    assert "key" in [hit.entry.id for hit in found]
    assert view.query_memory("Who has the key?").candidates == found.candidates
    assert (lived.stamp, lived.history(), [lived.entries(tier) for tier in Tier], len(lived.queries())) == before


def test_a_view_answers_all_that_pages_ask(lived: AgentMemory, world: World) -> None:
    world.stand_at(NOW + 25 * HOUR)
    lived.undo(5)
    lived.undo(4)
    lived.save_cue("the key", "Who has the key to the mill?", must=["key"])
    lived.judge("Who has the key to the mill?", "key", True)
    seen = {
        "history": lived.history(),
        "settings": lived.settings,
        "stats": lived.get_stats(),
        "similar": lived.similar("key"),
        "ways": lived.ways("herons", "smoke"),
        "forecast": lived.forecast("Who has the key?"),
        "forecast_of": lived.retrieval.forecast_of("key", ["Who has the key?"]),
        "cues": (
            lived.saved_cues,
            lived.judgments,
            lived.check_cues(),
            lived.precision("Who has the key to the mill?"),
        ),
        "last": lived.last_version("key"),
        "built": lived.built_on("key"),
        "evidence": lived.retrieval.evidence(lived.explain("Who has the key?").query, "key"),
        "moves": [change.entry_id for change in lived.migrate_stm2ltm(ids=["key"], preview=True).changes],
        "text": lived.narrate("The key?", [lived.last_version("key")]).text,
    }
    revision = lived.stamp[0]
    lived.judge("Who has the key to the mill?", "key", False)
    lived.remove_cue("the key")
    lived.configure(top_k=1)
    lived.reset_memory()
    view = lived.as_of(revision=revision)
    assert seen == {
        "history": view.history(),
        "settings": view.settings,
        "stats": view.get_stats(),
        "similar": view.similar("key"),
        "ways": view.ways("herons", "smoke"),
        "forecast": view.forecast("Who has the key?"),
        "forecast_of": view.retrieval.forecast_of("key", ["Who has the key?"]),
        "cues": (view.saved_cues, view.judgments, view.check_cues(), view.precision("Who has the key to the mill?")),
        "last": view.last_version("key"),
        "built": view.built_on("key"),
        "evidence": view.retrieval.evidence(view.explain("Who has the key?").query, "key"),
        "moves": [change.entry_id for change in view.migrate_stm2ltm(ids=["key"], preview=True).changes],
        "text": view.narrate("The key?", [view.last_version("key")]).text,
    }
    assert (view.messages, view.personality_problem, view.acting_as("History page")) == ((), None, view)
    assert view.history(1, before=100)[0].revision == revision


def test_what_was_undone_later_was_not_undone_then(lived: AgentMemory) -> None:
    lived.undo(5)
    assert [one.undone_by for one in lived.history() if one.revision == 5] == [6]
    told = [lived.as_of(revision=number).history() for number in (5, 6)]
    assert [one.undone_by for history in told for one in history if one.revision == 5] == [None, 6]
    assert lived.as_of(revision=6).find("key") is not None
    assert lived.as_of(revision=3).last_version("key").rating == 5


def test_a_stamp_is_never_that_of_the_present_or_of_another_moment(lived: AgentMemory) -> None:
    stamps = [lived.stamp, *(lived.as_of(revision=number).stamp for number in range(6))]
    stamps.append(lived.as_of(revision=3, access=1).stamp)
    assert len(set(stamps)) == len(stamps)
    assert lived.as_of(revision=3).stamp == lived.as_of(revision=3).stamp


def test_a_closed_agent_has_no_past_to_be_read(world: World, lived: AgentMemory) -> None:
    view = lived.as_of(revision=3)
    assert not view.gone
    world.delete_agent("mira")
    assert view.gone
    for look in (view.history, lambda: view.last_version("nobody"), lambda: lived.as_of(revision=3), lived.queries):
        with pytest.raises(StoreError, match="was closed"):
            look()
    assert view.explain("Who has the key?").considered > 2, "what is at hand can still be asked"
    assert not (world.folder / "mira").exists()


def test_the_last_few_moments_are_at_hand(lived: AgentMemory) -> None:
    views = [lived.as_of(revision=number) for number in (1, 2, 3, 4, 1)]
    assert views[0]._context.ledger.tables is views[4]._context.ledger.tables
    assert lived.acting_as("page").as_of(revision=4)._context.ledger.tables is views[3]._context.ledger.tables
    lived.as_of(revision=5)
    assert lived.as_of(revision=2)._context.ledger.tables is not views[1]._context.ledger.tables, (
        "the one not asked for longest leaves"
    )


def test_accesses_from_before_they_told_their_revision_count_by_the_worlds_time(
    world: World, lived: AgentMemory
) -> None:
    world.close()
    with sqlite3.connect(world.folder / "mira/journal.sqlite3") as db:
        db.execute("UPDATE accesses SET revision = NULL, noted_at = NULL")
    db.close()
    old = world.agent("mira")
    assert old.as_of(revision=3).find("key").last_access is None  # type: ignore[union-attr]
    assert old.as_of(revision=4).find("key").last_access == NOW + 25 * HOUR  # type: ignore[union-attr]
    assert old.as_of(world_time=NOW + 25 * HOUR).find("key").last_access == NOW + 25 * HOUR  # type: ignore[union-attr]
    world.stand_at(NOW)
    old.query_memory("smoke", static_threshold=1)
    old.configure(top_k=3)
    assert old.as_of(revision=6).find("smoke").last_access == NOW  # type: ignore[union-attr]
    assert old.as_of(revision=6).last_version("key").rating == 9


def test_a_journal_of_the_second_version_is_brought_up_to_date(world: World, lived: AgentMemory) -> None:
    world.close()
    file = world.folder / "mira/journal.sqlite3"
    with sqlite3.connect(file) as db:
        db.executescript(
            "DROP TABLE queries; DROP INDEX ix_accesses_revision; ALTER TABLE accesses DROP COLUMN revision;"
            "ALTER TABLE accesses DROP COLUMN noted_at; DELETE FROM version WHERE number > 2;"
        )
    db.close()
    old = world.agent("mira")
    old.query_memory("smoke", static_threshold=1)
    assert [query.query.cue for query in old.queries()] == ["smoke"]
    assert old.as_of(revision=4).find("key").last_access == NOW + 25 * HOUR  # type: ignore[union-attr]
    assert old.relive(1).faithful


def test_a_past_is_the_same_while_the_present_goes_on(lived: AgentMemory) -> None:
    import threading

    stop = threading.Event()

    def go_on() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            lived.query_memory("smoke", static_threshold=1, now=NOW + (100 + number) * HOUR)
            lived.edit("smoke", rating=1 + number % 10)

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        for _ in range(15):
            lived._context.pasts._states.clear()
            view = lived.as_of(revision=5)
            (entry,) = view.entries(Tier.STM)
            assert (entry.id, entry.rating, entry.last_access) == ("smoke", 5, None)
    finally:
        stop.set()
        thread.join()
