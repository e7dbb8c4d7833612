"""Retention: what is kept when it leaves short-term memory, in which order it leaves, and why."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta

import httpx
import numpy as np
import pytest

from benchmarks import retention as bench
from memory_system import AgentMemory, AgentSettings, Kind, MemoryEntry, Retention, Tier
from memory_system.agent_parts.retrieval import ground
from memory_system.core.change_set import Change
from memory_system.core.entry import BY_RULES
from memory_system.errors import InvalidParameter
from memory_system.operations import retention
from memory_system.operations.retention import BESIDE, SIGNS, ByImportance, Learned, chance_of, rule_of, signs
from tests.conftest import NOW, SHARED

Remember = Callable[..., str]
LOCOMO = SHARED / "data" / "locomo"

WORTH = "Caroline: I adopted two kittens called Oscar and Bailey last Tuesday."
SMALL_TALK = "Melanie: How are you?"


def entries(*texts: str) -> list[MemoryEntry]:
    """Memories a minute apart, the first the oldest."""
    return [
        MemoryEntry(text, id=f"m{number:04}", rating=5, timestamp=NOW + timedelta(minutes=number))
        for number, text in enumerate(texts)
    ]


def signs_of(*texts: str) -> dict[str, float]:
    """The signs of the last of these texts."""
    told = entries(*texts)
    return signs(told, [told[-1].id])[told[-1].id]


def learned(threshold: float = 0.04) -> Learned:
    return Learned(threshold, ByImportance(0.35))


@pytest.mark.parametrize(
    ("sign", "with_it", "without"),
    [
        ("names", "We met Oscar in Bristol", "We met a cat in town"),
        ("numbers", "She has 3 cats", "She has cats"),
        ("numbers", "She has three cats", "She has cats"),
        ("times", "It rained last week", "It rained hard"),
        ("asks", "Where is the key?", "There is the key."),
        ("self", "I’ve found the key", "Tobias found the key"),
        ("says", "The weir broke and flooded the mill", "The weir broke"),
    ],
)
def test_each_sign_shows_in_a_text_that_has_it(sign: str, with_it: str, without: str) -> None:
    assert signs_of(with_it)[sign] > signs_of(without)[sign] == pytest.approx(signs_of(without)[sign])


def test_who_speaks_is_no_sign(embedder: object) -> None:
    assert signs_of("Maria Lopez: the weir broke") == signs_of("the weir broke")


def test_a_question_counts_by_its_share_of_the_words() -> None:
    assert signs_of("It rained hard. Did it?")["asks"] == pytest.approx(2 / 5)


def test_what_was_said_before_is_not_new_and_what_was_said_long_ago_is_again() -> None:
    said, others = "The weir broke", [f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(BESIDE)]
    assert signs_of(said)["new"] == pytest.approx(np.log(3))
    assert signs_of(said, said)["new"] == 0
    assert signs_of(said, *others[:-1], said)["new"] == 0
    assert signs_of(said, *others, said)["new"] == pytest.approx(np.log(3))


def test_a_reflection_takes_nothing_of_what_is_new_away() -> None:
    told = entries("The weir broke", "The weir broke")
    told[0] = told[0].evolve(kind=Kind.REFLECTION)
    assert signs(told, [told[1].id])[told[1].id]["new"] == pytest.approx(np.log(3))


def test_the_chance_is_a_logistic_sum_of_the_signs() -> None:
    nothing = dict.fromkeys(SIGNS, 0.0)
    assert chance_of(nothing) == pytest.approx(1 / (1 + np.exp(-retention.INTERCEPT)))
    odds = chance_of(nothing | {"times": 1.0}) / (1 - chance_of(nothing | {"times": 1.0}))
    assert odds / (chance_of(nothing) / (1 - chance_of(nothing))) == pytest.approx(np.exp(SIGNS["times"].weight))


def test_small_talk_is_forgotten_and_news_is_kept_each_with_its_chance_and_reason() -> None:
    told = entries(WORTH, SMALL_TALK)
    verdicts = learned().judge(told, [])
    assert [verdicts[one.id].kept for one in told] == [True, False]
    news, chat = (verdicts[one.id] for one in told)
    assert news.why == f"the chance that it is asked for, {news.worth:.0%}, exceeds 4%: much of it is new"
    assert chat.why == f"the chance that it is asked for, {chat.worth * 100:.2g}%, does not exceed 4%: it mostly asks"


@pytest.mark.parametrize("words", ["Hi!", "Ok.", "Haha", "Bye!", "Thanks", "Yes, really nice!", "Mira: Oh, sorry"])
def test_what_is_only_polite_tells_nothing_new_even_when_it_is_the_first_that_is_said(words: str) -> None:
    (polite,) = entries(words)
    assert not learned().judge([polite], [])[polite.id].kept


def test_what_is_poignant_is_kept_whatever_its_signs() -> None:
    (told,) = entries(SMALL_TALK)
    assert not learned().judge([told.evolve(rating=7)], [])[told.id].kept
    verdict = learned().judge([told.evolve(rating=8)], [])[told.id]
    assert (verdict.kept, verdict.why) == (True, "rated 8, and what is rated 8 or more is kept")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"last_access": NOW}, "it has been recalled"),
        ({"rating": 7, "explanation": "A friend is rarely seen."}, "it is rated high"),
    ],
)
def test_what_stands_beside_the_text_speaks_for_a_memory(changes: dict[str, object], why: str) -> None:
    (told,) = entries("Good evening")
    before, after = (learned().judge([one], [])[told.id] for one in (told, told.evolve(**changes)))
    assert before.worth < after.worth
    assert learned(after.worth * 0.99).judge([told.evolve(**changes)], [])[told.id].why.endswith(why)


def test_what_something_rests_on_has_eight_times_the_odds() -> None:
    told, reflection = entries("Good evening", "They are polite here")
    reflection = reflection.evolve(kind=Kind.REFLECTION, evidence=(told.id,))
    alone, cited = (learned().judge([told], some)[told.id].worth for some in ([], [reflection]))
    assert cited / (1 - cited) == pytest.approx(8 * alone / (1 - alone))
    assert (
        learned(cited * 0.99).judge([told, reflection], [])[told.id].why.endswith("a reflection or a plan rests on it")
    )
    synopsis = reflection.evolve(kind=Kind.SUMMARY)
    assert learned().judge([told], [synopsis])[told.id].worth == alone


@pytest.mark.parametrize("explanation", [BY_RULES, "Offline estimate: something is idle."])
def test_a_rating_by_the_offline_rules_counts_nothing_and_a_low_one_of_a_model_counts_against(explanation: str) -> None:
    (told,) = entries(WORTH)
    worth = learned().judge([told], [])[told.id].worth
    rated = [told.evolve(rating=1, explanation=one) for one in (explanation, "Small talk.")]
    by_rules, by_model = (learned().judge([one], [])[told.id].worth for one in rated)
    assert by_model < worth == by_rules


@pytest.mark.parametrize(
    "changes",
    [{"document": "Мост рухнул"}, {"document": "桥断了"}, {"kind": Kind.SUMMARY}, {"kind": Kind.REFLECTION}],
    ids=["Russian", "Chinese", "a summary", "a reflection"],
)
def test_what_the_signs_cannot_judge_goes_by_importance(changes: dict[str, object]) -> None:
    (told,) = entries("The bridge broke")
    told = told.evolve(**changes)
    verdicts = [learned().judge([told.evolve(rating=rating)], [])[told.id] for rating in (3, 4)]
    assert [one.why for one in verdicts] == [
        "importance 0.30 does not exceed 0.35",
        "importance 0.40 exceeds 0.35",
    ]


def test_german_is_judged_by_its_signs() -> None:
    (told,) = entries("Gestern stürzte die Brücke über den Fluß ein")
    assert "the chance that it is asked for" in learned().judge([told], [])[told.id].why


def test_of_the_older_half_the_least_likely_leaves_first(agent: AgentMemory) -> None:
    agent.configure(stm_size=4, retention_threshold=0.0)
    told = entries(WORTH, SMALL_TALK, "I saw the Queen in London in May 2021", "Good evening", SMALL_TALK, SMALL_TALK)
    agent.add_short_term(told, rate=False)
    done = agent.migrate_stm2ltm()
    assert [change.entry_id for change in done.changes] == ["m0001", "m0003"]
    assert {entry.id for entry in agent.entries(Tier.STM)} == {"m0000", "m0002", "m0004", "m0005"}


def test_the_latest_half_stays_until_only_that_is_left() -> None:
    told = entries(*[WORTH] * 3, *[SMALL_TALK] * 3)
    rule = learned()
    left = rule.order(told, rule.judge(told, []), 4)
    assert [one.id for one in left[-2:]] == ["m0004", "m0005"]


def test_an_agent_keeps_by_what_is_learned_until_somebody_chooses_importance(
    agent: AgentMemory, remember: Remember
) -> None:
    dull, chat = remember(WORTH, hours_ago=3, rating=1), remember(SMALL_TALK, hours_ago=2, rating=7)
    remember("Later")
    agent.configure(stm_size=1)
    plan = agent.migrate_stm2ltm(preview=True)
    assert [[one.entry_id for one in plan.of(verb)] for verb in ("move", "forget")] == [[dull], [chat]]
    assert all(
        change.reason.startswith(
            "Short-term memory is full, and of its older half the least likely to be asked for leaves first; the chance"
        )
        for change in plan.changes
    )
    for importance in (
        agent.migrate_stm2ltm(0.35, preview=True),
        agent.migrate_stm2ltm(retention=Retention.IMPORTANCE, preview=True),
    ):
        assert [[one.entry_id for one in importance.of(verb)] for verb in ("move", "forget")] == [[chat], [dull]]
    agent.configure(migration_threshold=0.5)
    assert agent.settings.retention is Retention.IMPORTANCE
    assert [one.entry_id for one in agent.migrate_stm2ltm(preview=True).of("forget")] == [dull]
    by_chance = agent.migrate_stm2ltm(0.999, retention=Retention.LEARNED, preview=True)
    assert len(by_chance.of("forget")) == 2
    agent.configure(retention="learned")
    assert agent.settings.retention is Retention.LEARNED


def test_what_is_new_is_seen_beside_long_term_memory(agent: AgentMemory, remember: Remember) -> None:
    said = "Flour is short at the bakery"
    agent.migrate_stm2ltm(ids=[remember(said, hours_ago=9)])
    again = remember(said, hours_ago=3)
    remember("Later")
    agent.configure(stm_size=1)
    (change,) = agent.migrate_stm2ltm(preview=True).changes
    assert (change.entry_id, change.verb) == (again, "forget")
    assert change.reason.endswith("does not exceed 4%: little of it is new.")


def test_unrated_memories_wait_and_marked_ones_are_kept(agent: AgentMemory, remember: Remember) -> None:
    unrated, pinned = remember(SMALL_TALK, hours_ago=5, rating=None), remember(SMALL_TALK, hours_ago=4, pinned=True)
    written = remember(SMALL_TALK, hours_ago=3, authored=True)
    remember("Later")
    agent.configure(stm_size=3)
    plan = agent.migrate_stm2ltm(preview=True)
    assert {one.entry_id: one.reason for one in plan.kept} == {
        unrated: "It is unrated; rate it first.",
        pinned: "It is pinned.",
        written: "It is marked “by a person”, so it is not forgotten by itself.",
    }


def test_settings_that_were_saved_before_keep_by_importance() -> None:
    saved = json.loads(AgentSettings().to_json())
    del saved["retention"], saved["retention_threshold"]
    assert AgentSettings.from_json(json.dumps(saved)).retention is Retention.IMPORTANCE
    assert AgentSettings.from_json(AgentSettings().to_json()).retention is Retention.LEARNED
    assert AgentSettings.from_json(None).retention is Retention.LEARNED


@pytest.mark.parametrize("wrong", ["by luck", 3, None])
def test_a_retention_that_is_none_is_refused(agent: AgentMemory, wrong: object) -> None:
    with pytest.raises(InvalidParameter, match=r"There is no retention .*; there are learned, importance"):
        agent.configure(retention=wrong)
    if wrong is not None:
        with pytest.raises(InvalidParameter, match="There is no retention"):
            agent.migrate_stm2ltm(retention=wrong)  # type: ignore[arg-type]


def test_over_http_a_migration_is_judged_as_asked_for(
    api: httpx.Client, agent: AgentMemory, remember: Remember
) -> None:
    dull = remember(WORTH, hours_ago=3, rating=1)
    remember("Later")
    agent.configure(stm_size=1)
    address, preview = "/v1/agents/mira/operations/migrate", {"preview": True}
    chosen = [{}, {"retention": "importance"}, {"threshold": 0.3}, {"retention": "learned", "threshold": 1.0}]
    fates = [api.post(address, params=preview, json=body).json()["changes"][0]["verb"] for body in chosen]
    assert fates == ["move", "forget", "forget", "forget"]
    assert api.post(address, params=preview, json={"retention": "luck"}).status_code == 422
    assert agent.find(dull) is not None


@pytest.mark.parametrize("number", range(3))
def test_the_order_of_what_is_handed_in_plays_no_part(number: int) -> None:
    told = entries(WORTH, SMALL_TALK, "The weir broke", "The weir broke again", "Good evening", "I left in May")
    mixed = [told[row] for row in np.random.default_rng(number).permutation(len(told))]
    assert learned().judge(mixed[:3], mixed[3:]) == learned().judge(sorted(mixed[:3], key=lambda one: one.id), told[:])


def test_a_rule_for_once_needs_a_threshold_in_its_range() -> None:
    assert rule_of(AgentSettings(), 0.2) == ByImportance(0.2)
    assert rule_of(AgentSettings(), 0.2, Retention.LEARNED) == Learned(0.2, ByImportance(0.35))
    with pytest.raises(InvalidParameter, match="from 0 to 1"):
        rule_of(AgentSettings(), 1.1, Retention.LEARNED)


@pytest.mark.long
def test_the_shipped_weights_are_those_of_the_fit_and_keep_what_they_are_said_to() -> None:
    if not LOCOMO.is_dir():
        pytest.skip(f"{LOCOMO} is not there")
    conversations = bench.read([LOCOMO])
    intercept, weights = bench.fit(conversations)
    assert intercept == pytest.approx(retention.INTERCEPT, abs=5e-4)
    assert weights == pytest.approx([one.weight for one in SIGNS.values()], abs=5e-4)
    usual = np.concatenate([one.signs for one in conversations]).mean(axis=0)
    assert usual == pytest.approx([one.usual for one in SIGNS.values()], abs=5e-4)
    scores = bench.cross_fitted(conversations)
    assert bench.auc(scores, conversations) == pytest.approx(0.818, abs=5e-4)
    lost = [1 - bench.kept(scores, conversations, share) for share in bench.SHARES]
    assert lost == pytest.approx([0.009, 0.033, 0.106], abs=1e-3)
    by_rating = [0.108, 0.274, 0.446]  # as the command prints; rating all turns takes minutes
    assert all(2 * ours < theirs for ours, theirs in zip(lost, by_rating, strict=True))
    forgotten, left = bench.above(scores, conversations, AgentSettings().retention_threshold)
    assert (forgotten, left) == (pytest.approx(0.128, abs=1e-3), pytest.approx(0.986, abs=1e-3))


@pytest.mark.long
def test_half_of_short_term_memory_goes_by_chance_since_that_keeps_what_is_asked_for_at_hand() -> None:
    if not LOCOMO.is_dir():
        pytest.skip(f"{LOCOMO} is not there")
    (one,) = bench.read([LOCOMO / "conv-30.json"])
    by_age, by_half = (np.array(bench.lived(one, rule, 20)) for rule in list(bench.ORDERS.values())[0:3:2])
    assert by_half[2] > 2 * by_age[2], "evidence in short-term memory at the end"
    assert by_half[3] == by_age[3] == 1, "the latest turns are all there"
    assert by_half[1] == pytest.approx(by_age[1], abs=0.01), "and no less is kept"


def test_a_migration_looks_at_the_newest_and_plans_as_on_all(agent: AgentMemory) -> None:
    chance = np.random.default_rng(3)
    held = [
        MemoryEntry(
            f"The ferry carried {number % 7} sacks and {number % 11} geese.",
            id=f"m{number}",
            rating=5,
            tier=Tier.LTM,
            timestamp=None if number % 5 == 0 else NOW - timedelta(hours=int(chance.integers(40))),
        )
        for number in range(BESIDE + 60)
    ]
    of_all = ground(agent._context, NOW)
    agent.apply(of_all.plan("import", "Bring in", [Change(None, one, "It was.") for one in held]))
    of_all = ground(agent._context, NOW)
    assert len(of_all.ltm) > BESIDE
    for count in (1, 7, BESIDE, BESIDE + 1000):
        on = ground(agent._context, NOW, newest=count)
        assert on.newest(count) == of_all.newest(count)
        assert len(on.ltm) < len(of_all.ltm) or count > BESIDE
    assert not ground(agent._context, NOW, newest=0).ltm
