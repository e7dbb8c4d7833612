"""Duplicates and contradictions among an agent's memories: found, judged by a model, and settled for good."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from memory_system import AgentMemory, Kind, MemoryEntry, Tier, World
from memory_system.core.change_set import Change, ChangeSet, TextChange
from memory_system.core.dismissed import (
    MAX_DISMISSED,
    Dismissed,
    dump_dismissed,
    fingerprint,
    of_texts,
    parse_dismissed,
)
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import (
    Conflict,
    EntryNotFound,
    Immutable,
    InvalidDocument,
    InvalidEntry,
    InvalidInput,
    InvalidParameter,
    MemorySystemError,
)
from memory_system.operations.duplicates.suspicions import MOST_PAIRS, OF_TALKS, Look, Sort, Suspicion
from tests.fake_server import FakeServer, Reply, error, says

Remember = Callable[..., str]
KEY = "Lent Tobias the key of the tide mill"
KEY_AGAIN = "I lent the key of the tide mill to Tobias"
OPEN, CLOSED = "The mill is open on Sundays", "The mill is closed on Sundays"


def pairs(look: Look, sort: Sort | None = None) -> set[frozenset[str]]:
    return {frozenset(one.ids) for one in look.suspicions if sort in (None, one.sort)}


def derived(agent: AgentMemory, document: str, kind: Kind, *evidence: str) -> str:
    """A memory such as operations make."""
    entry = MemoryEntry(document, tier=Tier.LTM, kind=kind, timestamp=agent.now, evidence=evidence, depth=1)
    agent.apply(ChangeSet("x", "x", (Change(None, entry, "x"),), agent.now, agent.stamp[0]))
    return entry.id


# -- found ---------------------------------------------------------------------------------------------


def test_a_paraphrase_is_suspected_and_a_contradiction_says_what_differs(
    agent: AgentMemory, remember: Remember
) -> None:
    key, again = remember(KEY), remember(KEY_AGAIN)
    opened, closed = remember(OPEN), remember(CLOSED)
    remember("Ines polished the lens of the lighthouse")
    look = agent.suspicions()
    assert pairs(look, Sort.DUPLICATE) == {frozenset({key, again})}
    assert pairs(look, Sort.CONTRADICTION) == {frozenset({opened, closed})}
    assert look.suspicions[0].sort is Sort.CONTRADICTION
    assert look.suspicions[0].reasons == ("One says “open”, the other “closed”.",)
    assert look.compared == 5
    assert look.calls == ()


def test_looking_changes_nothing(agent: AgentMemory, remember: Remember) -> None:
    remember(KEY)
    remember(KEY_AGAIN)
    before = agent.stamp
    agent.suspicions()
    assert agent.stamp == before


def test_memories_of_both_tiers_are_compared_with_each_other(agent: AgentMemory, remember: Remember) -> None:
    old = remember(KEY)
    agent.migrate_stm2ltm(ids=[old])
    new = remember(KEY_AGAIN)
    assert pairs(agent.suspicions()) == {frozenset({old, new})}


def test_the_same_words_many_times_are_one_suspicion(agent: AgentMemory, remember: Remember) -> None:
    ids = [
        remember(text, hours_ago=hours) for hours, text in enumerate(["The oven is idle"] * 3 + ["the OVEN  is idle"])
    ]
    (found,) = agent.suspicions().suspicions
    assert (found.sort, found.similarity, set(found.ids)) == (Sort.DUPLICATE, 1.0, set(ids))
    assert found.ids[0] == ids[-1], "the oldest first"
    assert "4 times" in found.reasons[0]


def test_what_happened_days_apart_is_doubted_and_listed_after_the_sure_ones(
    agent: AgentMemory, remember: Remember
) -> None:
    remember(KEY)
    remember(KEY_AGAIN)
    far = (
        remember("The bell of the chapel rang thirteen times"),
        remember("The bell of the chapel rang thirteen times", hours_ago=72),
    )
    first, second = agent.suspicions().suspicions
    assert first.doubts == ()
    assert set(second.ids) == set(far)
    assert second.doubts == ("They are 3 days apart: it may have happened each time.",)


def test_a_summary_is_not_suspected_of_saying_what_its_sources_say_and_plans_are_left_out(
    agent: AgentMemory, remember: Remember
) -> None:
    source = remember(KEY)
    derived(agent, f"Tobias: {KEY}.", Kind.REFLECTION, source)
    derived(agent, "Plan for Friday, 18:00 to 19:00: eats at the inn", Kind.PLAN)
    derived(agent, "Plan for Friday, 19:00 to 20:00: eats at the inn", Kind.PLAN)
    look = agent.suspicions()
    assert look.suspicions == ()
    assert look.compared == 2


def test_the_threshold_says_how_alike_duplicates_are(agent: AgentMemory, remember: Remember) -> None:
    remember(KEY)
    remember(KEY_AGAIN)
    cosine = agent.suspicions(threshold=0.7).suspicions[0].similarity
    assert agent.suspicions(threshold=min(1, cosine + 0.01)).suspicions == ()
    assert len(agent.suspicions(threshold=cosine - 1e-6).suspicions) == 1


@pytest.mark.parametrize("wrong", [{"threshold": 0.5}, {"threshold": "x"}, {"limit": 0}, {"threshold": float("nan")}])
def test_parameters_out_of_range_are_refused(agent: AgentMemory, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        agent.suspicions(**wrong)


def test_an_empty_agent_has_nothing_to_suspect(agent: AgentMemory) -> None:
    assert agent.suspicions() == Look((), 0, 0)


def test_more_than_the_limit_is_said(agent: AgentMemory) -> None:
    names = ("Ada", "Ben", "Cleo", "Dov", "Eva", "Finn")
    agent.add_short_term(
        [{"document": f"{name} owes me {count} silver coins", "rating": 5} for name in names for count in (3, 4)]
    )
    look = agent.suspicions(limit=2)
    assert len(look.of(Sort.CONTRADICTION)) == 2
    assert "more suspicions are not listed" in look.notes[-1]
    assert MOST_PAIRS > 2


def test_progress_is_told_and_may_cancel(agent: AgentMemory, remember: Remember) -> None:
    remember(KEY)
    remember(KEY_AGAIN)
    told: list[float] = []
    agent.suspicions(progress=lambda done, _doing: told.append(done))
    assert told == sorted(told)
    assert told[-1] == 1

    def cancel(_done: float, _doing: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        agent.suspicions(progress=cancel)
    assert agent.find(remember("Still here")) is not None


# -- by a language model -------------------------------------------------------------------------------


@pytest.fixture
def talking(world: World, agent: AgentMemory, server: FakeServer) -> AgentMemory:
    """The agent with a language model that answers what the test tells it to."""
    agent.model = server.model()
    return agent


def verdicts(*judged: tuple[int, str, str]) -> Reply:
    return says({"verdicts": [{"pair": n, "relation": relation, "why": why} for n, relation, why in judged]})


def test_a_language_model_finds_what_no_rule_sees(talking: AgentMemory, remember: Remember, server: FakeServer) -> None:
    ids = {remember("Tobias keeps the mill key in his coat"), remember("The key of the mill is kept in Tobias's chest")}
    assert talking.suspicions(ask_model=False, threshold=0.95).suspicions == ()
    server.queue(verdicts((1, "contradiction", "A coat is no chest.")))
    look = talking.suspicions(threshold=0.95)
    assert pairs(look, Sort.CONTRADICTION) == {frozenset(ids)}
    assert look.suspicions[0].reasons == ("fake: A coat is no chest.",)
    assert [call.task for call in look.calls] == ["compare"]


def test_what_the_model_does_not_suspect_stays_listed_with_its_doubt(
    talking: AgentMemory, remember: Remember, server: FakeServer
) -> None:
    remember(OPEN)
    remember(CLOSED)
    server.queue(
        verdicts((1, "neither", "One is of summer."), (9, "same", "There is no ninth."), (-1, "same", "Nor this."))
    )
    (found,) = talking.suspicions().suspicions
    assert found.sort is Sort.CONTRADICTION
    assert found.doubts == ("fake sees neither: One is of summer.",)


def test_a_model_that_fails_leaves_what_the_rules_found(
    talking: AgentMemory, remember: Remember, server: FakeServer
) -> None:
    remember(OPEN)
    remember(CLOSED)
    server.on("*", error(500))
    look = talking.suspicions()
    assert len(look.suspicions) == 1
    assert look.calls[0].error
    assert "The language model failed" in look.notes[-1]


# -- dismissed -----------------------------------------------------------------------------------------


def test_a_dismissed_pair_stays_dismissed_until_a_text_of_it_changes(agent: AgentMemory, remember: Remember) -> None:
    opened, closed = remember(OPEN), remember(CLOSED)
    agent.dismiss([closed, opened])
    look = agent.suspicions()
    assert (look.suspicions, look.dismissed) == ((), 1)
    agent.forget(opened)
    agent.restore(opened)
    agent.edit(closed, rating=9)
    assert agent.suspicions().suspicions == ()
    agent.edit(closed, document="The mill is closed on Sundays and on Mondays")
    assert len(agent.suspicions().suspicions) == 1


def test_a_dismissal_is_undone_and_all_can_be_taken_back(agent: AgentMemory, remember: Remember) -> None:
    ids = [remember(KEY), remember(KEY_AGAIN)]
    done = agent.dismiss(ids)
    assert not agent.dismiss(ids), "twice is once"
    agent.undo(done)
    assert agent.dismissed == ()
    assert len(agent.suspicions().suspicions) == 1
    agent.dismiss(ids)
    agent.suspect_again()
    assert len(agent.suspicions().suspicions) == 1
    assert not agent.suspect_again()


def test_the_same_text_that_is_dismissed_may_be_told_again(agent: AgentMemory, remember: Remember) -> None:
    agent.dismiss([remember("The oven is idle") for _ in range(3)])
    remember("The oven is  idle")
    look = agent.suspicions()
    assert (look.suspicions, look.dismissed) == ((), 1)


def test_a_dismissal_needs_two_memories_of_at_most_two_texts(agent: AgentMemory, remember: Remember) -> None:
    ids = [remember(text) for text in (KEY, OPEN, CLOSED)]
    for wrong in ([ids[0]], ids, []):
        with pytest.raises(InvalidParameter):
            agent.dismiss(wrong)
    with pytest.raises(EntryNotFound):
        agent.dismiss([ids[0], "nobody"])
    assert agent.dismissed == ()


def test_a_dismissal_survives_opening_anew(world: World, agent: AgentMemory, remember: Remember) -> None:
    agent.dismiss([remember(OPEN), remember(CLOSED)])
    agent.close()
    assert world.agent("mira").suspicions().dismissed == 1


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[1]", '[{"texts": "x"}]', '[{"texts": []}]', '[{"texts": ["x"]}]', '[{"other": 1}]', "[" * 5000],
)
def test_a_broken_list_of_dismissals_is_never_committed(agent: AgentMemory, text: str) -> None:
    with pytest.raises(InvalidDocument):
        parse_dismissed(text)
    plan = ChangeSet("x", "x", (), agent.now, 0, texts=(TextChange("dismissed", None, text),))
    with pytest.raises(InvalidInput):
        agent.apply(plan)
    assert agent.dismissed == ()


def test_dismissals_come_back_as_they_were_and_are_bounded() -> None:
    some = tuple(of_texts([f"text {number}", "other"]) for number in range(MAX_DISMISSED))
    assert parse_dismissed(dump_dismissed(some)) == some
    with pytest.raises(InvalidParameter, match="5,001"):
        dump_dismissed((*some, of_texts(["one more"])))
    with pytest.raises(InvalidParameter):
        Dismissed(tuple(fingerprint(text) for text in "abc"))


def test_what_stands_of_an_earlier_look(agent: AgentMemory, remember: Remember) -> None:
    key = [remember(KEY), remember(KEY_AGAIN)]
    mill = [remember(OPEN), remember(CLOSED)]
    look = agent.suspicions()
    assert agent.duplicates.still(look) == look
    agent.merge(key)
    assert pairs(agent.duplicates.still(look)) == {frozenset(mill)}
    agent.dismiss(mill)
    assert agent.duplicates.still(look).suspicions == ()


# -- merged --------------------------------------------------------------------------------------------


def held(agent: AgentMemory, entry_id: str) -> MemoryEntry:
    entry = agent.find(entry_id)
    assert entry is not None
    return entry


def everything(agent: AgentMemory) -> list[MemoryEntry]:
    return [entry for tier in Tier for entry in agent.entries(tier)]


def test_merging_unites_tags_evidence_and_importance_and_moves_what_rested_on_the_others(
    agent: AgentMemory, remember: Remember
) -> None:
    source, other_source = remember("Tobias asked for the key"), remember("Tobias asked me twice")
    kept = remember(KEY, rating=4, tags=["key"], evidence=[source])
    gone = remember(KEY_AGAIN, rating=8, tags=["tobias", "key"], evidence=[other_source, source], authored=True)
    above = derived(agent, "I trust Tobias", Kind.REFLECTION, gone, kept)
    before = everything(agent)
    done = agent.merge([kept, gone], keep=kept)
    one = held(agent, kept)
    assert agent.find(gone) is None
    assert (one.document, one.rating, one.tags) == (KEY, 8, ("key", "tobias"))
    assert one.evidence == (source, other_source)
    assert one.authored
    assert held(agent, above).evidence == (kept,)
    assert one.timestamp == before[[entry.id for entry in before].index(kept)].timestamp
    agent.undo(done)
    assert everything(agent) == before


def test_merging_takes_another_text_and_its_vector(
    agent: AgentMemory, remember: Remember, embedder: CachedEmbedder
) -> None:
    ids = [remember(KEY), remember(KEY_AGAIN)]
    text = "Tobias has had the tide mill's key from me since Friday"
    preview = agent.merge(ids, text, keep=ids[1], preview=True)
    assert held(agent, ids[1]).document == KEY_AGAIN
    agent.apply(preview)
    assert held(agent, ids[1]).document == text
    assert agent.contents.vector(ids[1]) == pytest.approx(embedder.embed([text])[0], abs=1e-4)


def test_a_summary_keeps_the_times_of_its_evidence_in_step(agent: AgentMemory, remember: Remember) -> None:
    ids = [remember(text, rating=1, hours_ago=hours) for hours, text in enumerate((KEY, KEY_AGAIN, OPEN, CLOSED))]
    agent.migrate_stm2ltm(ids=ids)
    summary = agent.summarize_and_forget(4).of("add")[0].entry_id
    agent.restore(ids)
    times = dict(
        zip(held(agent, summary).evidence, str(held(agent, summary).extras["evidence_times"]).split(), strict=True)
    )
    agent.merge([ids[0], ids[1]])
    after = held(agent, summary)
    assert ids[1] not in after.evidence
    assert len(after.evidence) == 3
    assert str(after.extras["evidence_times"]).split() == [times[one] for one in after.evidence]


def test_merging_never_makes_a_memory_rest_on_itself(agent: AgentMemory, remember: Remember) -> None:
    ground = remember(KEY)
    middle = remember("Tobias has the key, I think", evidence=[ground])
    top = remember(KEY_AGAIN, evidence=[middle, ground])
    agent.merge([ground, top], keep=ground)
    assert held(agent, ground).evidence == ()
    assert held(agent, middle).evidence == (ground,)


def test_saved_cues_and_judgments_follow_the_one_that_stays(agent: AgentMemory, remember: Remember) -> None:
    kept, gone, wrong = remember(KEY), remember(KEY_AGAIN), remember(OPEN)
    agent.save_cue("key", "Who has the key?", must=[gone], must_not=[wrong])
    agent.judge("Who has the key?", gone, True)
    agent.judge("Is the mill open?", gone, False)
    agent.judge("Is the mill open?", kept, True)
    done = agent.merge([kept, gone], keep=kept)
    assert agent.saved_cues[0].must == (kept,)
    assert [(one.right, one.wrong) for one in agent.judgments] == [((kept,), ()), ((kept,), ())]
    agent.undo(done)
    assert agent.saved_cues[0].must == (gone,)
    assert agent.judgments[1].wrong == (gone,)


def test_a_pinned_memory_is_kept_and_not_merged_away(agent: AgentMemory, remember: Remember) -> None:
    pinned, other = remember(KEY, pinned=True), remember(KEY_AGAIN)
    with pytest.raises(Conflict, match="pinned"):
        agent.merge([other, pinned], keep=other)
    agent.merge([other, pinned], keep=pinned)
    assert held(agent, pinned).pinned


def test_what_cannot_be_merged_is_refused_and_changes_nothing(agent: AgentMemory, remember: Remember) -> None:
    one, other = remember(KEY), remember(KEY_AGAIN)
    fact = agent.entries(Tier.STATIC)[0].id
    before = agent.stamp
    refused: list[tuple[type[MemorySystemError], dict[str, Any]]] = [
        (InvalidParameter, {"ids": [one]}),
        (InvalidParameter, {"ids": [one, one]}),
        (InvalidParameter, {"ids": []}),
        (InvalidParameter, {"ids": 7}),
        (InvalidParameter, {"ids": [one, None]}),
        (InvalidParameter, {"ids": [one, other], "keep": "nobody"}),
        (InvalidParameter, {"ids": [f"x{number}" for number in range(1001)]}),
        (EntryNotFound, {"ids": [one, "nobody"]}),
        (Immutable, {"ids": [one, fact]}),
        (InvalidEntry, {"ids": [one, other], "text": " "}),
        (InvalidEntry, {"ids": [one, other], "text": "x" * 40_000}),
        (InvalidEntry, {"ids": [one, other], "text": 7}),
        (InvalidEntry, {"ids": [one, other], "text": "half \ud800"}),
    ]
    for kind, given in refused:
        with pytest.raises(kind):
            agent.merge(**given)
    assert agent.stamp == before


def test_more_tags_than_a_memory_takes_are_left_out_and_said(agent: AgentMemory, remember: Remember) -> None:
    ids = [remember(KEY, tags=[f"a{n}" for n in range(40)]), remember(KEY_AGAIN, tags=[f"b{n}" for n in range(40)])]
    done = agent.merge(ids)
    assert len(held(agent, ids[0]).tags) == 50
    assert "50 tags" in done.notes[0]


def test_a_suspicion_is_a_plain_value(agent: AgentMemory, remember: Remember) -> None:
    remember(OPEN)
    remember(CLOSED)
    (one,) = agent.suspicions().suspicions
    assert isinstance(one, Suspicion)
    assert dataclasses.replace(one, doubts=("x",)) != one


# -- of talks ------------------------------------------------------------------------------------------


def said(*turns: str) -> list[dict[str, object]]:
    return [{"document": turn, "id": f"t{n}", "rating": 5} for n, turn in enumerate(turns)]


def test_what_is_said_to_be_kind_is_no_suspicion(agent: AgentMemory) -> None:
    agent.add_short_term(
        said(
            "Sam: No problem, Mira! Your friendship means so much to me.",
            "Sam: Mira, your friendship means so much to me!",
            "Sam: Bye, Mira! Take care!",
            "Sam: Bye, Mira!",
            "Sam: Thanks, Mira! I can't wait for the show.",
            "Sam: Thanks, Mira! Waiting for the show.",
        )
    )
    look = agent.suspicions()
    assert look.suspicions == ()
    assert OF_TALKS in look.notes, "and it is said why"


def test_two_speakers_do_not_deny_each_other_and_one_may_deny_or_repeat_himself(agent: AgentMemory) -> None:
    agent.add_short_term(
        said(
            "Sam: I sold my brown goat at the harbour market.",
            "Sam: I never sold my brown goat at the harbour market.",
            "Tom: I never sold my brown goat at the harbour market.",
            "Tom: I keep nine geese on the meadow behind the chapel.",
            "Tom: I keep nine geese on that meadow behind our chapel.",
        )
    )
    found = agent.suspicions()
    assert [one.ids for one in found.of(Sort.CONTRADICTION)] == [("t0", "t1")]
    assert ("t3", "t4") in [one.ids for one in found.of(Sort.DUPLICATE)]


def test_a_question_denies_nothing(agent: AgentMemory, remember: Remember) -> None:
    remember("The mill on the island is not open.")
    remember("Is the mill on the island open?")
    assert agent.suspicions().of(Sort.CONTRADICTION) == ()
