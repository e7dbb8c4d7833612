"""What an agent's calls of language models take is counted, priced, and kept within its budget."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memory_system import AgentMemory, Tier, World
from memory_system.conversation import Conversation, Interview
from memory_system.errors import BudgetSpent, InvalidParameter, ModelUnavailable, StoreDamaged, StoreError
from memory_system.llm import prices
from memory_system.llm.prices import Price
from memory_system.llm.usage import FILE, Account, Budget, Spent, total
from tests.fake_server import FakeServer, calling, error, says, silent, talks

GOOD = {"explanation": "A promise.", "rating": 7}


@pytest.fixture
def talker(agent: AgentMemory, server: FakeServer) -> AgentMemory:
    """``agent`` with a language model that takes 5 tokens for each prompt and 7 for each answer."""
    server.on("rate", says(GOOD))
    server.on("summarise", says({"summary": "Much happened."}))
    agent.model = server.model()
    return agent


def lines(agent: AgentMemory) -> dict[str, tuple[int, int, int]]:
    """Calls, tokens sent and received, by task."""
    return {one.task: (one.calls, one.prompt, one.answer) for one in agent.spent}


def test_every_call_is_counted_by_model_and_task(
    talker: AgentMemory, server: FakeServer, remember: Callable[..., str]
) -> None:
    ids = [remember(f"Event {n}.") for n in range(3)]
    talker.migrate_stm2ltm(ids=ids)
    talker.add_short_term([{"document": "He lied."}, {"document": "She knew."}])
    talker.summarize_and_forget(3)
    assert {one.model for one in talker.spent} == {"fake"}
    assert lines(talker) == {"rate": (2, 10, 14), "summarise": (1, 5, 7)}
    assert total(talker.spent) == Spent("", "", 3, 15, 21, 0.0)


def test_talks_and_interviews_count_too(talker: AgentMemory, server: FakeServer) -> None:
    server.on("*", talks(None, calling("send_message", {"message": "Good day."}), usage=(50, 7)))
    Interview(talker).step("Who are you?")
    assert lines(talker)["talk"] == (1, 50, 7)
    Conversation.begin(talker, human="John").step("Hello!")
    assert lines(talker)["talk"] == (2, 100, 14)


def test_what_was_spent_outlives_the_program_and_follows_a_new_name(world: World, talker: AgentMemory) -> None:
    talker.rate("He lied.")
    world.rename_agent("mira", "mara")
    assert lines(world.agent("mara")) == {"rate": (1, 5, 7)}


def test_the_offline_rules_take_nothing(agent: AgentMemory) -> None:
    agent.configure(token_budget=1)
    agent.add_short_term({"document": "He lied."})
    assert agent.spent == ()
    assert not (agent._context.held.folder / FILE).exists()


def test_a_server_that_counts_nothing_is_counted_by_an_estimate(talker: AgentMemory, server: FakeServer) -> None:
    server.on("*", talks("Good day.", usage=None))
    Interview(talker).step("Who are you?")
    ((calls, prompt, answer),) = lines(talker).values()
    assert calls == 1
    assert prompt > 50
    assert answer > 0


def test_what_was_answered_wrongly_was_paid_for_and_what_was_refused_was_not(
    talker: AgentMemory, server: FakeServer
) -> None:
    server.queue(says("I will not."), says("I will not."))
    talker.add_short_term({"document": "He lied."})
    assert lines(talker) == {"rate": (1, 10, 14)}
    server.queue(error(401))
    talker.add_short_term({"document": "She knew."})
    assert lines(talker) == {"rate": (2, 10, 14)}


def test_what_came_too_late_counts_by_what_was_sent(talker: AgentMemory, server: FakeServer) -> None:
    talker.model = server.model(deadline=0.3)
    server.on("rate", silent(30))
    talker.add_short_term({"document": "He lied."})
    ((calls, prompt, answer),) = lines(talker).values()
    assert (calls, answer) == (1, 0)
    assert prompt > 50


# -- money -----------------------------------------------------------------------------------------------


def test_a_call_costs_what_its_model_cost_when_it_was_made(world: World, talker: AgentMemory) -> None:
    prices.write(world.folder, {"fake": Price(100_000, 50_000)})
    talker.rate("He lied.")
    assert total(talker.spent).cost == pytest.approx(5 * 0.1 + 7 * 0.05)
    prices.write(world.folder, {"fake": Price(0, 0)})
    talker.rate("She knew.")
    assert total(talker.spent).cost == pytest.approx(0.85)
    assert prices.read(world.folder) == {"fake": Price(0, 0)}


@pytest.mark.parametrize("price", [-1, float("nan"), "much", None, True, 1e9])
def test_a_price_that_is_none_is_refused(price: Any) -> None:
    with pytest.raises(InvalidParameter, match="from 0 to 100,000"):
        Price(price, 1)


def test_many_may_save_prices_at_once(tmp_path: Path) -> None:
    tables = [{f"m{n}": Price(n, n)} for n in range(100)]
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda table: prices.write(tmp_path, table), tables))
    assert prices.read(tmp_path) in tables
    assert [path.name for path in tmp_path.iterdir()] == [prices.FILE]


def test_prices_need_the_names_of_models(tmp_path: Path) -> None:
    for name in ("", " ", "a\nb", "x" * 201):
        with pytest.raises(InvalidParameter, match="name of a model"):
            prices.write(tmp_path, {name: Price(1, 1)})
    with pytest.raises(InvalidParameter, match="at most 200"):
        prices.write(tmp_path, {f"m{n}": Price(1, 1) for n in range(201)})
    assert prices.read(tmp_path) == {}


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1}', '{"a": {"prompt": 1}}', '{"a": {"prompt": -1, "answer": 1}}'])
def test_a_broken_file_of_prices_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / prices.FILE).write_text(text)
    with pytest.raises(StoreDamaged, match=prices.FILE):
        prices.read(tmp_path)


# -- budgets ---------------------------------------------------------------------------------------------


def test_a_budget_stops_before_it_is_overspent_and_the_event_is_stored_unrated(
    talker: AgentMemory, server: FakeServer
) -> None:
    talker.configure(token_budget=6_000)
    server.on("*", talks("Good day.", usage=(900, 100)))
    while True:
        step = Interview(talker).step("Who are you?")
        if step.problem:
            break
    assert "budget of 6,000 tokens does not allow" in step.problem
    assert 3_000 <= total(talker.spent).tokens <= 6_000
    asked = len(server.requests)
    added = talker.add_short_term({"document": "He lied.", "id": "a"})
    assert "budget" in added.outcomes[0].why
    assert (added.unrated, [one.id for one in talker.entries(Tier.STM)]) == (("a",), ["a"])
    with pytest.raises(BudgetSpent, match="configure"):
        talker.rate("She knew.")
    assert len(server.requests) == asked
    talker.configure(token_budget=60_000)
    assert talker.rate_unrated().rated == ("a",)


def test_many_calls_at_once_do_not_overspend_together(talker: AgentMemory, server: FakeServer) -> None:
    talker.configure(token_budget=12_000)  # room for what three calls may take
    talker.add_short_term([{"document": f"Event {n}."} for n in range(30)])
    assert total(talker.spent).tokens <= 12_000
    assert talker.unrated() == []  # each took twelve tokens, whatever was held for it


def test_what_is_held_at_once_never_exceeds_the_budget(tmp_path: Path) -> None:
    account, refused = Account(tmp_path), []

    def call() -> None:
        try:
            account.hold(Spent("fake", "rate", 1, 60, 40, 0.0), Budget(tokens=1_000))
        except BudgetSpent:
            refused.append(1)

    threads = [threading.Thread(target=call) for _ in range(25)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total(account.spent()).tokens == 1_000
    assert len(refused) == 15


def test_a_budget_in_money_needs_a_price(world: World, talker: AgentMemory, server: FakeServer) -> None:
    talker.configure(cost_budget=1)
    with pytest.raises(BudgetSpent, match="no price for the model 'fake'"):
        talker.rate("He lied.")
    assert server.requests == []
    prices.write(world.folder, {"fake": Price(100, 100)})
    assert talker.rate("He lied.").rating == 7
    prices.write(world.folder, {"fake": Price(1_000, 1_000)})
    with pytest.raises(BudgetSpent, match="budget of 1 does not allow"):
        talker.rate("She knew.")


def test_a_budget_out_of_range_is_refused(agent: AgentMemory) -> None:
    for wrong in ({"token_budget": -1}, {"token_budget": 1.5}, {"cost_budget": float("inf")}, {"cost_budget": "1"}):
        with pytest.raises(InvalidParameter):
            agent.configure(**wrong)
    assert (agent.settings.token_budget, agent.settings.cost_budget) == (0, 0)


def test_an_account_that_cannot_be_read_is_named_and_stops_only_those_with_a_budget(talker: AgentMemory) -> None:
    (talker._context.held.folder / FILE).write_bytes(b"no database, but long enough to be taken for one" * 100)
    with pytest.raises(StoreError, match="delete that file"):
        print(talker.spent)
    assert talker.rate("He lied.").rating == 7
    talker.configure(token_budget=10**6)
    with pytest.raises(ModelUnavailable, match="delete that file"):
        talker.rate("She knew.")


def test_a_call_that_a_kill_cut_off_stays_held(tmp_path: Path) -> None:
    Account(tmp_path).hold(Spent("fake", "rate", 1, 60, 40, 0.5), Budget())
    assert total(Account(tmp_path).spent()) == Spent("", "", 1, 60, 40, 0.5)
    with sqlite3.connect(tmp_path / FILE) as db:
        assert db.execute("SELECT COUNT(*) FROM held").fetchone() == (1,)


# -- files that are broken -------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [0, 100_000])
def test_a_broken_file_of_prices_leaves_the_event_stored_unrated_and_is_named(
    world: World, talker: AgentMemory, server: FakeServer, budget: int
) -> None:
    talker.configure(token_budget=budget)
    (world.folder / prices.FILE).write_text('{"fake": {"prompt": 1%s, "answer": 1}}' % ("0" * 400))
    talker.add_short_term({"document": "He lied."})
    assert [entry.rating for entry in talker.entries(Tier.STM)] == [None]
    assert server.requests == []
    with pytest.raises(ModelUnavailable, match=f"not asked.*{prices.FILE}"):
        talker.rate("He lied.")


@pytest.mark.parametrize(("budget", "rating"), [(0, 7), (100_000, None)])
@pytest.mark.parametrize("damage", ["UPDATE spent SET prompt = 'many'", "UPDATE spent SET cost = 9e999", "junk"])
def test_a_broken_count_leaves_the_event_stored_and_keeps_a_budget(
    talker: AgentMemory, damage: str, budget: int, rating: int | None
) -> None:
    talker.rate("She knew.")
    talker.configure(token_budget=budget)
    file = talker._context.held.folder / FILE
    if damage == "junk":
        file.write_bytes(b"junk" * 1000)
    else:
        with closing(sqlite3.connect(file)) as db, db:
            db.execute(damage)
    talker.add_short_term({"document": "He lied."})
    assert [entry.rating for entry in talker.entries(Tier.STM)] == [rating]
    with pytest.raises(StoreError, match=FILE):
        _ = talker.spent


def test_an_answer_that_cannot_be_counted_is_kept_and_stays_held(talker: AgentMemory) -> None:
    talker.configure(token_budget=100_000)
    talker.rate("She knew.")
    with closing(sqlite3.connect(talker._context.held.folder / FILE)) as db, db:
        db.execute("CREATE TRIGGER full BEFORE UPDATE ON spent BEGIN SELECT RAISE(ABORT, 'full'); END")
    assert talker.rate("He lied.").rating == 7
    assert lines(talker)["rate"][0] == 2
    assert total(talker.spent).tokens > 2_000
