"""What somebody else changes between planning and applying: it is planned again, unless something would be lost."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import httpx
import pytest

from memory_system import AgentMemory, ChangeSet, Tier, World
from memory_system.agent_parts import replanning
from memory_system.agent_parts.context import Context
from memory_system.errors import Conflict, StaleChange
from memory_system.operations import purging
from tests.command_line import CommandLine

Remember = Callable[..., str]
Meddle = Callable[..., None]
CUE, KEY = "Who has the key?", "Tobias has the brass key"


@pytest.fixture
def other(agent: AgentMemory) -> AgentMemory:
    return agent.acting_as("somebody else")


@pytest.fixture
def meddle(monkeypatch: pytest.MonkeyPatch, other: AgentMemory) -> Meddle:
    """Lets somebody else do something between a plan and its being applied, so many times."""

    def between(meddling: Callable[[], object], times: int = 1) -> None:
        tell, left = Context.tell, iter(range(times))

        def told(context: Context, plan: ChangeSet) -> None:
            tell(context, plan)
            if context.author != other.author and next(left, None) is not None:
                meddling()

        monkeypatch.setattr(Context, "tell", told)

    return between


@pytest.fixture
def ids(agent: AgentMemory, remember: Remember) -> list[str]:
    """Three memories, of which the first is the oldest."""
    return [remember(text, hours_ago=9 - place, rating=8) for place, text in enumerate((KEY, "The oven", "The mill"))]


def overflowing(agent: AgentMemory) -> None:
    agent.configure(stm_size=2, retention="importance")


def called(name: str) -> str:
    return json.dumps({"identity": {"name": name}})


BY_ITSELF: dict[str, Callable[[AgentMemory, list[str]], ChangeSet]] = {
    "forget": lambda agent, ids: agent.forget(ids[0]),
    "pin": lambda agent, ids: agent.edit_many(ids, pinned=True),
    "tag": lambda agent, ids: agent.edit_many(ids, add_tags="key"),
    "edit": lambda agent, ids: agent.edit(ids[0], rating=3),
    "merge": lambda agent, ids: agent.merge([ids[1], ids[2]]),
    "reset": lambda agent, _ids: agent.reset_memory(),
    "configure": lambda agent, _ids: agent.configure(top_k=7),
    "save a cue": lambda agent, ids: agent.save_cue("Key", CUE, ids[:1]),
    "judge": lambda agent, ids: agent.judge(CUE, ids[0], True),
    "dismiss": lambda agent, ids: agent.dismiss(ids[:2]),
    "put off": lambda agent, _ids: agent.put_off("migrate", mark="1"),
}


def everything_else(other: AgentMemory, ids: list[str]) -> Callable[[], None]:
    """Touches whatever an operation may touch, and sets nothing that one sets."""

    def meddling() -> None:
        other.edit(ids[0], document=f"{KEY}, she says")
        other.edit_many(ids[1:], kind="fact")
        other.configure(stm_size=60)
        other.save_cue("Bread", "What is baked?")
        other.judge("What is baked?", ids[1], True)
        other.dismiss(ids[1:])
        other.put_off("reflect", mark="2")

    return meddling


@pytest.mark.parametrize("name", BY_ITSELF)
def test_what_is_quick_to_plan_is_planned_again(
    agent: AgentMemory, other: AgentMemory, ids: list[str], meddle: Meddle, name: str
) -> None:
    begun = agent.revision
    meddle(everything_else(other, ids))
    done = BY_ITSELF[name](agent, ids)
    theirs, ours = [one.change_set for one in agent.history() if one.revision > begun][:0:-1], agent.history(1)[0]
    assert ours.change_set.id == done.id
    assert theirs
    assert agent.settings.stm_size == 60
    assert {one.name for one in agent.saved_cues} >= {"Bread"}
    assert len(agent.judgments) == (2 if name == "judge" else 1)
    assert len(agent.dismissed) == (2 if name == "dismiss" else 1)
    left = agent.find(ids[0])
    assert left is None or left.document != KEY, "what somebody else wrote stays"


def test_a_migration_takes_what_is_there_once_somebody_else_is_done(
    agent: AgentMemory, other: AgentMemory, ids: list[str], meddle: Meddle
) -> None:
    overflowing(agent)
    meddle(lambda: other.forget(ids[0]))
    assert not agent.migrate_stm2ltm()
    assert [entry.id for entry in agent.entries(Tier.STM)] == sorted(ids[1:])


def test_what_comes_back_while_the_bin_is_emptied_stays_and_the_migration_is_told(
    agent: AgentMemory, other: AgentMemory, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    overflowing(agent)
    plan = purging.emptying
    agent.forget(ids[1])
    back: Iterator[int] = iter([1])

    def emptying(*given: Any) -> ChangeSet:
        made = plan(*given[:2], 0, given[3])
        if next(back, None):
            made = other.purge(ids[1], preview=True)
            other.restore(ids[1])
            other.add_short_term({"document": "Later", "rating": 9}, rate=False)
        return made

    agent.add_short_term({"document": "More", "rating": 9}, rate=False)
    monkeypatch.setattr(purging, "emptying", emptying)
    done = agent.migrate_stm2ltm()
    assert [change.entry_id for change in done.changes] == ids[:1]
    assert agent.find(ids[1])


def test_what_is_purged_or_restored_is_looked_at_again(
    agent: AgentMemory, other: AgentMemory, ids: list[str], meddle: Meddle
) -> None:
    agent.forget(ids)
    meddle(lambda: other.restore(ids[0]))
    with pytest.raises(Conflict, match="still remembered"):
        agent.purge(ids[:2])
    assert agent.find(ids[0])
    meddle(lambda: other.restore(ids[1]))
    assert [change.entry_id for change in agent.restore(ids[1:]).changes] == ids[2:]


def test_an_undo_that_another_one_overtakes_says_what_happened(
    agent: AgentMemory, other: AgentMemory, ids: list[str], meddle: Meddle
) -> None:
    forgotten = agent.forget(ids[0])
    meddle(lambda: other.undo(forgotten))
    with pytest.raises(Conflict, match="undone already"):
        agent.undo(forgotten)
    assert agent.find(ids[0])


def test_an_undo_that_somebody_else_overtakes_is_planned_again_or_says_by_whom(
    agent: AgentMemory, other: AgentMemory, ids: list[str], meddle: Meddle
) -> None:
    rated = agent.edit_many(ids[:2], rating=3)
    meddle(lambda: other.edit(ids[1], rating=4))
    with pytest.raises(StaleChange, match="changed since by") as refused:
        agent.undo(rated)
    assert not re.search("(Preview|Plan) it again", str(refused.value))
    meddle(lambda: other.edit(ids[1], rating=5))
    with pytest.raises(StaleChange, match="choose again"):  # what was chosen was chosen of another one
        agent.undo(rated, overwrite=ids[1])
    agent.undo(rated, keep=ids[1])
    assert [agent.last_version(one).rating for one in ids[:2]] == [8, 5]


def test_who_is_overtaken_again_and_again_is_told(
    agent: AgentMemory, other: AgentMemory, meddle: Meddle, ids: list[str]
) -> None:
    sizes = count(50)
    meddle(lambda: other.configure(stm_size=next(sizes)), times=replanning.TIMES)
    agent.configure(top_k=7)
    assert agent.settings.top_k == 7
    meddle(lambda: other.configure(stm_size=next(sizes)), times=replanning.TIMES + 1)
    with pytest.raises(StaleChange):
        agent.configure(top_k=9)
    assert agent.settings.top_k == 7


@pytest.mark.parametrize(
    "change",
    [
        lambda agent, ids: agent.edit(ids[0], document="The key is lost"),
        lambda agent, ids: agent.edit(ids[0], rating=2, document="The key is lost"),
        lambda agent, ids: agent.edit_many(ids, add_tags="lost"),
        lambda agent, ids: agent.merge(ids[:2], "Tobias has the key to the oven", keep=ids[1]),
        lambda agent, _ids: agent.save_personality(called("Mira the miller")),
    ],
)
def test_what_somebody_else_set_meanwhile_is_not_overwritten(
    agent: AgentMemory,
    other: AgentMemory,
    ids: list[str],
    meddle: Meddle,
    change: Callable[[AgentMemory, list[str]], ChangeSet],
) -> None:
    def meddling() -> None:
        other.edit(ids[0], document="Tobias gave it back", tags=["back"])
        other.save_personality(called("Mira of the mill"))

    meddle(meddling)
    with pytest.raises(StaleChange):
        change(agent, ids)
    held = agent.find(ids[0])
    assert held is not None
    assert (held.document, held.tags) == ("Tobias gave it back", ("back",))
    assert agent.display_name == "Mira of the mill"


def test_what_a_model_was_asked_for_is_not_asked_again(
    agent: AgentMemory, other: AgentMemory, ids: list[str], meddle: Meddle
) -> None:
    agent.migrate_stm2ltm(ids=ids)
    meddle(lambda: other.edit(ids[0], rating=2))
    with pytest.raises(StaleChange):
        agent.summarize_and_forget(3)


def test_every_front_end_plans_again_what_nobody_was_shown(
    world: World,
    agent: AgentMemory,
    other: AgentMemory,
    ids: list[str],
    meddle: Meddle,
    api: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    overflowing(agent)
    meddle(lambda: other.edit(ids[0], document=f"{KEY}, she says"))
    moved = api.post("/v1/agents/mira/operations/migrate", json={})
    assert moved.status_code == 200
    assert [one["id"] for one in moved.json()["changes"]] == ids[:1]
    meddle(lambda: other.configure(stm_size=50))
    assert CommandLine(world, monkeypatch)("configure", "mira", "--top-k", "7").code == 0
    assert (agent.settings.stm_size, agent.settings.top_k) == (50, 7)
    shown = api.post("/v1/agents/mira/operations/forget", json={"ids": ids[1:2]}, params={"preview": True}).json()
    other.edit(ids[1], rating=2)
    assert api.post(f"/v1/agents/mira/previews/{shown['id']}/apply", json={}).status_code == 409


def test_many_at_once_are_not_told_to_try_again(agent: AgentMemory) -> None:
    agent.configure(stm_size=5)

    def work(worker: int) -> None:
        for turn in range(6):
            one = agent.add_short_term({"document": f"{worker} {turn}", "rating": 5}, rate=False).outcomes[0].id
            if turn % 2:
                agent.forget([one])
            agent.migrate_stm2ltm()

    with ThreadPoolExecutor(4) as workers:
        list(workers.map(work, range(4)))
    assert len(agent.entries(Tier.STM)) <= 5
