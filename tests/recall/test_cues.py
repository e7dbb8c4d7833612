"""Saved cues and judgments: kept as they were given, refused whole, undoable, and true to what recall answers."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_system import PRESETS, AgentMemory, MemoryEntry, Scoring, Tier, Weights, World
from memory_system.agent_parts.cues import OWN_SETTINGS, CueResult, Precision
from memory_system.core.change_set import ChangeSet, TextChange
from memory_system.errors import (
    CueNotFound,
    EntryNotFound,
    InvalidDocument,
    InvalidInput,
    InvalidParameter,
    MemorySystemError,
    StaleChange,
)
from memory_system.evaluation import forms, plain
from memory_system.evaluation.sources import data_sets
from memory_system.recall.cues import (
    MAX_BYTES,
    MAX_CUES,
    MAX_JUDGED,
    Judgment,
    SavedCue,
    dump_cues,
    dump_judgments,
    judgment_of,
    judgments_jsonl,
    name_key,
    parse_cues,
    parse_judgments,
    with_cue,
    with_verdict,
)
from memory_system.recall.query import EMPTY_CUE
from tests.conftest import NOW

Remember = Callable[..., str]
CUE = "Where is the key of the tide mill?"

# -- as text -------------------------------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).filter(str.strip)
NAME = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=20).filter(
    lambda text: text.strip() and " ".join(text.split()).isprintable()
)
ID = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=8).filter(str.isprintable)


@st.composite
def apart(draw: st.DrawFn) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Two lists of ids that have none in common."""
    ids = draw(st.lists(ID, unique=True, max_size=8))
    cut = draw(st.integers(0, len(ids)))
    return tuple(ids[:cut]), tuple(ids[cut:])


CUES = st.lists(
    st.builds(lambda name, cue, ids: SavedCue(name, cue, *ids), NAME, TEXT, apart()),
    max_size=6,
    unique_by=lambda one: name_key(one.name),
)
JUDGMENTS = st.lists(
    st.builds(lambda cue, ids: Judgment(cue, *ids), TEXT, apart().filter(lambda ids: any(ids))),
    max_size=6,
    unique_by=lambda one: one.cue,
)


@given(CUES)
def test_saved_cues_come_back_from_their_text_as_they_were(cues: list[SavedCue]) -> None:
    text = dump_cues(cues)
    assert parse_cues(text) == tuple(cues)
    assert dump_cues(parse_cues(text)) == text


@given(JUDGMENTS)
def test_judgments_come_back_from_their_text_as_they_were(judgments: list[Judgment]) -> None:
    text = dump_judgments(judgments)
    assert parse_judgments(text) == tuple(judgments)
    assert dump_judgments(parse_judgments(text)) == text


@given(JUDGMENTS, TEXT, ID, st.sampled_from([True, False, None]))
def test_a_verdict_changes_what_is_said_of_one_memory_and_of_no_other(
    judgments: list[Judgment], cue: str, entry_id: str, verdict: bool | None
) -> None:
    def said(of: tuple[Judgment, ...]) -> dict[tuple[str, str], bool | None]:
        return {(one.cue, name): one.verdict(name) for one in of for name in (*one.right, *one.wrong)}

    after = with_verdict(judgments, cue, entry_id, verdict)
    wanted = said(tuple(judgments)) | {(cue.strip(), entry_id): verdict}
    assert said(after) == {key: value for key, value in wanted.items() if value is not None}
    assert with_verdict(after, cue, entry_id, verdict) == after
    assert parse_judgments(dump_judgments(after)) == after


@given(CUES, NAME, TEXT)
def test_saving_replaces_by_name_and_keeps_the_order(cues: list[SavedCue], name: str, cue: str) -> None:
    saved = SavedCue(name, cue)
    after = with_cue(cues, saved)
    keys, key = [name_key(one.name) for one in cues], name_key(name)
    assert [name_key(one.name) for one in after] == (keys if key in keys else [*keys, key])
    assert after.count(saved) == 1
    assert [one for one in after if one != saved] == [one for one in cues if name_key(one.name) != key]


def test_no_text_means_none() -> None:
    assert parse_cues(None) == parse_judgments(None) == ()


def test_what_was_given_is_brought_to_one_form() -> None:
    saved = SavedCue("  The \u00a0 key ", f" {CUE}\n", ["a", "b", "a"], [])  # type: ignore[arg-type]
    assert saved == SavedCue("The key", CUE, ("a", "b"), ())
    assert name_key("Straße é") == name_key("STRASSE E\u0301")
    assert Judgment(f" {CUE} ", ["a"]) == Judgment(CUE, ("a",))  # type: ignore[arg-type]


def ids(count: int) -> tuple[str, ...]:
    return tuple(f"m{number}" for number in range(count))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": ""}, "needs a name"),
        ({"name": "   "}, "needs a name"),
        ({"name": 5}, "must be text, not an int"),
        ({"name": "x" * 81}, "has 81 characters; at most 80"),
        ({"name": "a\x1b[2J"}, "an invisible character"),
        ({"name": "a\ud800"}, "an invisible character"),
        ({"cue": " "}, EMPTY_CUE),
        ({"cue": None}, EMPTY_CUE),
        ({"cue": "x" * 32_001}, "has 32,001 characters; at most 32,000"),
        ({"cue": "\ud800"}, "half of a surrogate pair"),
        ({"must": "a"}, "'must' must be a list of the ids"),
        ({"must": {"a"}}, "'must' must be a list of the ids"),
        ({"must": (5,)}, "'must' names 5, which is not the id"),
        ({"must_not": ("",)}, "'must_not' names '', which is not the id"),
        ({"must_not": ("a\n",)}, "which is not the id"),
        ({"must_not": ("a" * 201,)}, "which is not the id"),
        ({"must": ids(101)}, "'must' names 101 memories; at most 100"),
        ({"must_not": ids(101)}, "'must_not' names 101 memories; at most 100"),
        ({"must": ("a", "b"), "must_not": ("b",)}, "'b' is in both lists, “must recall” and “must not recall”"),
    ],
    ids=lambda value: f"{value!r:.40}",
)
def test_a_saved_cue_that_cannot_be_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        SavedCue(**({"name": "Key", "cue": CUE} | fields))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "at least one memory"),
        ({"right": ("a",), "wrong": ("a",)}, "'a' cannot be both right and wrong"),
        ({"right": "a"}, "'right' must be a list"),
        ({"wrong": (None,)}, "'wrong' names None"),
        ({"cue": "", "right": ("a",)}, EMPTY_CUE),
    ],
    ids=str,
)
def test_a_judgment_that_cannot_be_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        Judgment(**({"cue": CUE} | fields))


GOOD = {"name": "Key", "cue": CUE, "must": [], "must_not": []}
BROKEN_CUES: dict[str, tuple[str, str]] = {
    "no JSON": ("[", "In the saved cues: line 1: this is not JSON"),
    "a key twice": ('[{"name": "a", "name": "b"}]', "appears twice in one object"),
    "brackets": ("[" * 100_000, "nested more than 100 deep"),
    "no list": ("{}", "expected a list of objects"),
    "a text": ('["Key"]', "number 1: Expected an object with name, cue, must, must_not"),
    "a missing field": (json.dumps([{"name": "Key", "cue": CUE, "must": []}]), "number 1: There is no 'must_not'"),
    "an unknown field": (json.dumps([GOOD | {"colour": 1}]), "number 1: There is no field 'colour'"),
    "a bad field": (json.dumps([GOOD, GOOD | {"name": ""}]), "number 2: The saved cue needs a name"),
    "a text for a list": (json.dumps([GOOD | {"must": "a"}]), "'must' must be a list"),
    "one name twice": (json.dumps([GOOD, GOOD | {"name": "KEY"}]), "'key' appears twice"),
    "too many": (json.dumps([GOOD | {"name": f"n{n}"} for n in range(201)]), "there are 201, and at most 200"),
    "too long": (json.dumps([GOOD | {"name": f"n{n}", "cue": "x" * 30_000} for n in range(70)]), "at most 2,000,000"),
}
BROKEN_JUDGMENTS: dict[str, tuple[str, str]] = {
    "no JSON": ("?", "In the judgments: line 1: this is not JSON"),
    "nothing judged": (json.dumps([{"cue": CUE, "right": [], "wrong": []}]), "number 1: A judgment names at least one"),
    "one cue twice": (json.dumps([{"cue": CUE, "right": ["a"], "wrong": []}] * 2), "appears twice"),
    "both": (json.dumps([{"cue": CUE, "right": ["a"], "wrong": ["a"]}]), "both right and wrong"),
    "too many": (
        json.dumps([{"cue": f"c{n}", "right": ["a"], "wrong": []} for n in range(2001)]),
        "there are 2,001, and at most 2,000 are kept",
    ),
}
BROKEN = [("cues", *one) for one in BROKEN_CUES.values()] + [("judgments", *one) for one in BROKEN_JUDGMENTS.values()]
PARSERS: dict[str, Callable[[str | None], Any]] = {"cues": parse_cues, "judgments": parse_judgments}


@pytest.mark.parametrize(("name", "text", "message"), BROKEN, ids=[*BROKEN_CUES, *BROKEN_JUDGMENTS])
def test_a_text_that_could_not_be_read_again_is_refused_and_never_kept(
    agent: AgentMemory, name: str, text: str, message: str
) -> None:
    with pytest.raises(InvalidDocument, match=message):
        PARSERS[name](text)
    before = agent.stamp, agent.history()
    plan = ChangeSet("cues", "A plan", (), NOW, 0, texts=(TextChange(name, None, text),))
    with pytest.raises(InvalidInput, match=message):
        agent.apply(plan)
    assert (agent.stamp, agent.history()) == before
    assert agent.saved_cues == agent.judgments == ()


def test_too_many_and_too_long_are_refused_before_they_are_text() -> None:
    with pytest.raises(InvalidParameter, match="'key' appears twice"):
        dump_cues([SavedCue("Key", CUE), SavedCue("kEY", CUE)])
    with pytest.raises(InvalidParameter, match="there are 201, and at most 200"):
        dump_cues([SavedCue(f"n{n}", CUE) for n in range(MAX_CUES + 1)])
    with pytest.raises(InvalidParameter, match="there are 2,001"):
        dump_judgments([Judgment(f"c{n}", ("a",)) for n in range(MAX_JUDGED + 1)])
    with pytest.raises(InvalidParameter, match=rf"at most {MAX_BYTES:,} are kept. Remove some first"):
        dump_cues([SavedCue(f"n{n}", "x" * 30_000) for n in range(70)])


# -- kept by the agent ---------------------------------------------------------------------------------


@pytest.fixture
def key(remember: Remember) -> str:
    return remember("Hid the key of the tide mill under the flour bin.", id="key")


@pytest.fixture
def oven(remember: Remember) -> str:
    return remember("The oven of the bakery needs a new door.", id="oven")


def test_a_saved_cue_is_kept_replaced_and_removed(agent: AgentMemory, world: World, key: str, oven: str) -> None:
    done = agent.save_cue("The key", CUE, must=[key], must_not=oven)
    assert done.revision
    assert (done.operation, done.title) == ("cues", "Save the cue “The key”")
    agent.save_cue("Bread", "What is baked?")
    world.close()
    agent = world.agent("mira")
    assert agent.saved_cues == (SavedCue("The key", CUE, ("key",), ("oven",)), SavedCue("Bread", "What is baked?"))
    agent.save_cue("THE KEY", CUE, must=[key])
    assert agent.saved_cues == (SavedCue("THE KEY", CUE, ("key",)), SavedCue("Bread", "What is baked?"))
    assert not agent.save_cue("THE KEY", CUE, must=[key])
    agent.remove_cue("the key")
    agent.remove_cue("Bread")
    assert agent.saved_cues == ()
    with pytest.raises(CueNotFound, match="mira has no saved cue 'Bread'"):
        agent.remove_cue("Bread")


def test_each_save_can_be_undone_and_the_undo_too(agent: AgentMemory, key: str) -> None:
    first = agent.save_cue("Key", CUE, [key])
    second = agent.save_cue("Key", "Where is it?", [key])
    agent.undo(second)
    assert agent.saved_cues == (SavedCue("Key", CUE, (key,)),)
    back = agent.undo(first)
    assert agent.saved_cues == ()
    agent.undo(back)
    assert agent.saved_cues == (SavedCue("Key", CUE, (key,)),)
    judged = agent.judge(CUE, key, True)
    undone = agent.undo(judged)
    assert agent.judgments == ()
    agent.undo(undone)
    assert agent.judgments == (Judgment(CUE, (key,)),)


def test_a_preview_changes_nothing_until_it_is_applied(agent: AgentMemory, key: str) -> None:
    before = agent.stamp
    plan = agent.save_cue("Key", CUE, [key], preview=True)
    thumb = agent.judge(CUE, key, False, preview=True)
    assert plan.revision is thumb.revision is None
    assert agent.stamp == before
    agent.apply(plan)
    agent.apply(thumb)
    assert agent.saved_cues == (SavedCue("Key", CUE, (key,)),)
    assert agent.judgments == (Judgment(CUE, (), (key,)),)


@pytest.mark.parametrize("kind", ["save", "remove", "judge"])
def test_what_was_planned_before_somebody_elses_save_is_refused(
    agent: AgentMemory, key: str, oven: str, kind: str
) -> None:
    agent.save_cue("Bread", "What is baked?")
    plans: dict[str, Callable[[], ChangeSet]] = {
        "save": lambda: agent.save_cue("Key", CUE, [key], preview=True),
        "remove": lambda: agent.remove_cue("Bread", preview=True),
        "judge": lambda: agent.judge(CUE, key, True, preview=True),
    }
    plan = plans[kind]()
    agent.save_cue("Other", "Who came?")
    agent.judge(CUE, oven, False)
    held = agent.saved_cues, agent.judgments, agent.stamp
    with pytest.raises(StaleChange):
        agent.apply(plan)
    assert (agent.saved_cues, agent.judgments, agent.stamp) == held


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("", CUE), InvalidParameter, "needs a name"),
        (("Key", ""), InvalidParameter, EMPTY_CUE),
        (("Key", CUE, ["nobody"]), EntryNotFound, "There is no memory 'nobody'"),
        (("Key", CUE, ["key", "gone"]), EntryNotFound, "There is no memory 'gone'"),
        (("Key", CUE, (), ["nobody"]), EntryNotFound, "mira never had a memory 'nobody'"),
        (("Key", CUE, ["key"], ["key"]), InvalidParameter, "is in both lists"),
        (("Key", CUE, [5]), InvalidParameter, "Ids must be a text or a list of texts"),
        (("Key", CUE, {"key": 1}), InvalidParameter, "Ids must be a text or a list of texts"),
    ],
    ids=str,
)
def test_a_save_that_cannot_be_is_refused_and_nothing_changes(
    agent: AgentMemory, remember: Remember, key: str, arguments: Any, error: type[MemorySystemError], message: str
) -> None:
    agent.forget(remember("Swept the floor.", id="gone"))
    agent.save_cue("Bread", "What is baked?")
    before = agent.stamp
    with pytest.raises(error, match=message):
        agent.save_cue(*arguments)
    assert (agent.saved_cues, agent.stamp) == ((SavedCue("Bread", "What is baked?"),), before)


def test_the_two_hundred_and_first_saved_cue_is_refused(agent: AgentMemory) -> None:
    text = dump_cues([SavedCue(f"n{n}", CUE) for n in range(MAX_CUES)])
    agent.apply(ChangeSet("cues", "Many", (), NOW, 0, texts=(TextChange("cues", None, text),)))
    with pytest.raises(InvalidParameter, match="there are 201, and at most 200"):
        agent.save_cue("One more", CUE)
    agent.save_cue("N7", "Where else?")
    assert len(agent.saved_cues) == MAX_CUES


def test_a_copy_a_renamed_and_a_restored_agent_keep_their_cues_and_judgments(
    agent: AgentMemory, world: World, key: str
) -> None:
    agent.save_cue("Key", CUE, [key])
    agent.judge(CUE, key, True)
    held = agent.saved_cues, agent.judgments
    copy = world.duplicate_agent("mira", "bo")
    assert (copy.saved_cues, copy.judgments) == held
    copy.remove_cue("Key")
    renamed = world.rename_agent("mira", "ada")
    assert (renamed.saved_cues, renamed.judgments) == held
    back = world.restore_agent(world.delete_agent("ada"))
    assert (back.saved_cues, back.judgments) == held
    assert [result.passed for result in back.check_cues()] == [True]


def test_another_opening_of_the_agent_sees_what_was_saved(agent: AgentMemory, world: World, key: str) -> None:
    with World(world.settings, embedder=world.embedder) as other:
        theirs = other.agent("mira")
        assert theirs.saved_cues == ()
        agent.save_cue("Key", CUE, [key])
        assert [one.name for one in theirs.saved_cues] == ["Key"]
        theirs.judge(CUE, key, True)
    assert agent.judgments == (Judgment(CUE, (key,)),)


# -- judged --------------------------------------------------------------------------------------------


def test_a_thumb_goes_up_down_and_is_taken_back(agent: AgentMemory, key: str, oven: str) -> None:
    done = agent.judge(f" {CUE} ", key, True)
    assert done.title == f"Judge “Hid the key of the tide mill under the flour bin.” for “{CUE}”: right"
    agent.judge(CUE, oven, False)
    assert agent.judgments == (Judgment(CUE, (key,), (oven,)),)
    agent.judge(CUE, key, False)
    assert agent.judgments == (Judgment(CUE, (), (oven, key)),)
    assert not agent.judge(CUE, key, False)
    agent.judge(CUE, oven, None)
    agent.judge(CUE, key, None)
    assert agent.judgments == ()
    assert not agent.judge(CUE, key, None)


def test_the_judgment_of_a_forgotten_memory_can_be_taken_back_but_not_given(agent: AgentMemory, key: str) -> None:
    agent.judge(CUE, key, True)
    agent.forget(key)
    with pytest.raises(EntryNotFound, match="There is no memory 'key'"):
        agent.judge(CUE, key, False)
    agent.judge(CUE, key, None)
    assert agent.judgments == ()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("", "key", True), InvalidParameter, EMPTY_CUE),
        ((CUE, "key", 1), InvalidParameter, "The verdict must be True, False, or None"),
        ((CUE, "key", "up"), InvalidParameter, "The verdict must be True, False, or None"),
        ((CUE, "nobody", True), EntryNotFound, "There is no memory 'nobody'"),
        ((CUE, "nobody", None), EntryNotFound, "never had a memory 'nobody'"),
        ((CUE, ["key"], True), InvalidParameter, "The id of a memory must be text"),
    ],
    ids=str,
)
def test_a_judgment_is_refused_and_nothing_changes(
    agent: AgentMemory, key: str, arguments: Any, error: type[MemorySystemError], message: str
) -> None:
    before = agent.stamp
    with pytest.raises(error, match=message):
        agent.judge(*arguments)
    assert (agent.judgments, agent.stamp) == ((), before)


# -- checked -------------------------------------------------------------------------------------------


def test_a_check_passes_and_fails_after_an_edit_and_after_forgetting(agent: AgentMemory, key: str, oven: str) -> None:
    agent.configure(scoring=Scoring(Weights(0, 0, 1)), threshold=0.5, static_threshold=0.9)
    agent.save_cue("Key", CUE, must=[key], must_not=[oven])
    accesses = agent.find(key).last_access, agent.stamp  # type: ignore[union-attr]
    (good,) = agent.check_cues()
    assert good == CueResult(agent.saved_cues[0], (), (), (), good.recalled)
    assert good.passed
    assert key in good.recalled
    assert (agent.find(key).last_access, agent.stamp) == accesses  # type: ignore[union-attr]

    edited = agent.edit(key, document="Bought a new hat.")
    (bad,) = agent.check_cues()
    assert (bad.passed, bad.missing, bad.unwanted, bad.gone) == (False, (key,), (), ())
    agent.undo(edited)
    assert agent.check_cues()[0].passed

    wrong = agent.edit(oven, document="The key of the tide mill is in the oven.")
    (bad,) = agent.check_cues()
    assert (bad.passed, bad.missing, bad.unwanted) == (False, (), (oven,))
    agent.undo(wrong)

    agent.forget(key)
    (bad,) = agent.check_cues()
    assert (bad.passed, bad.missing, bad.gone) == (False, (key,), (key,))


def test_a_forgotten_memory_that_must_not_be_recalled_fails_nothing(agent: AgentMemory, key: str, oven: str) -> None:
    agent.save_cue("Key", CUE, must=[key], must_not=[oven])
    agent.forget(oven)
    (result,) = agent.check_cues()
    assert (result.passed, result.gone) == (True, (oven,))
    agent.save_cue("Key", CUE, must_not=[oven])  # it may come back


def test_a_check_is_made_at_the_time_that_was_asked_and_by_the_agents_settings(agent: AgentMemory, key: str) -> None:
    agent.save_cue("Key", CUE, must=[key])
    agent.configure(top_k=0)
    assert [result.missing for result in agent.check_cues()] == [(key,)]
    agent.configure(top_k=5, threshold=20.0)
    assert [result.passed for result in agent.check_cues(now=NOW)] == [False]
    with pytest.raises(InvalidParameter, match="which has no zone"):
        agent.check_cues(now=NOW.replace(tzinfo=None))


def test_an_agent_without_saved_cues_has_nothing_to_check(agent: AgentMemory) -> None:
    assert agent.check_cues() == []


# -- precision -----------------------------------------------------------------------------------------


def test_precision_is_the_share_of_the_right_among_the_judged() -> None:
    assert Precision(3, 1, 6, 10).value == 0.75
    assert Precision(0, 2, 0, 5).value == 0.0
    assert Precision(0, 0, 5, 5).value is None


def test_precision_by_hand(agent: AgentMemory, key: str, oven: str, remember: Remember) -> None:
    """Everything clears a threshold of 0, so that top-k alone decides: the counts can be told by hand."""
    remember("Asked Tobias for the key of the tide mill.", id="asked")
    agent.configure(threshold=0.0, static_threshold=1.0, top_k=3)
    assert {hit.entry.id for hit in agent.explain(CUE)} == {"key", "asked", "oven"}
    agent.judge(CUE, key, True)
    agent.judge(CUE, oven, False)
    before = agent.stamp
    assert agent.precision(CUE, [OWN_SETTINGS]) == {OWN_SETTINGS: Precision(1, 1, 1, 3)}
    assert agent.precision(CUE, [OWN_SETTINGS])[OWN_SETTINGS].value == 0.5
    assert agent.precision(CUE, [OWN_SETTINGS], top_k=0) == {OWN_SETTINGS: Precision(0, 0, 0, 0)}
    agent.judge(CUE, "asked", True)
    assert agent.precision(f"{CUE} ", [OWN_SETTINGS])[OWN_SETTINGS].value == pytest.approx(2 / 3)
    assert agent.precision("Who is Ines?", [OWN_SETTINGS], now=NOW)[OWN_SETTINGS] == Precision(0, 0, 3, 3)
    assert agent.stamp[0] == before[0] + 1  # the judgment


def test_each_preset_is_tried_with_its_own_thresholds(agent: AgentMemory, key: str, oven: str) -> None:
    agent.judge(CUE, key, True)
    agent.judge(CUE, oven, False)
    agent.configure(threshold=30.0, static_threshold=1.0)
    found = agent.precision(CUE)
    assert list(found) == [*PRESETS, OWN_SETTINGS]
    assert found[OWN_SETTINGS] == Precision(0, 0, 0, 5)
    for name, preset in PRESETS.items():
        hits = agent.explain(
            CUE, 5, preset.threshold, static_threshold=preset.static_threshold, scoring=preset.scoring
        ).hits
        got = [hit.entry.id for hit in hits]
        assert found[name].right == got.count(key)
        assert found[name].wrong == got.count(oven)
        assert found[name].unjudged == len(got) - got.count(key) - got.count(oven)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((CUE, ["best"]), "There is no preset 'best'; there are classic, "),
        ((CUE, 5), "Ids must be|must be a list"),
        (("",), EMPTY_CUE),
    ],
    ids=str,
)
def test_precision_of_what_is_not_there_is_refused(agent: AgentMemory, arguments: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        agent.precision(*arguments)


# -- exported ------------------------------------------------------------------------------------------


@given(JUDGMENTS)
def test_the_lines_are_what_was_judged(judgments: list[Judgment]) -> None:
    lines = [json.loads(line) for line in judgments_jsonl(judgments).split("\n")[:-1]]
    assert lines == [{"cue": one.cue, "right": list(one.right), "wrong": list(one.wrong)} for one in judgments]


def test_the_export_with_memories_is_read_by_the_evaluation(
    agent: AgentMemory, key: str, oven: str, remember: Remember, tmp_path: Path
) -> None:
    remember("Lines\n\u2028and “quotes”.", id="odd", tags=["a"], metadata={"conversation": "c1", "turn": 2})
    gone = remember("Swept the floor.", id="gone")
    agent.judge(CUE, key, True)
    agent.judge(CUE, oven, False)
    agent.judge(CUE, gone, False)
    agent.judge("Is the floor clean?", gone, True)
    agent.judge("What reads oddly?", "odd", True)
    agent.forget(gone)
    agent.migrate_stm2ltm(ids=[oven])
    whole, alone = tmp_path / "whole.jsonl", tmp_path / "alone.jsonl"
    whole.write_text(agent.cues.judgments_jsonl(memories=True), encoding="utf-8")
    alone.write_text(agent.cues.judgments_jsonl(), encoding="utf-8")

    (data,) = data_sets([whole])
    assert data.memories == sum(len(agent.entries(tier)) for tier in Tier)
    assert [(one.cue, one.right, one.wrong) for one in data.questions] == [
        (CUE, {"key"}, {"oven"}),
        ("What reads oddly?", {"odd"}, set()),
    ]
    read = plain.part(forms.read(alone))
    assert [line.value["cue"] for line in read.cues] == [CUE, "Is the floor clean?", "What reads oddly?"]
    assert read.cues[0].value == {"cue": CUE, "right": ["key"], "wrong": ["oven", "gone"]}


def test_an_exported_memory_is_taken_as_it_was(agent: AgentMemory, remember: Remember) -> None:
    remember("Tobias came by.", id="turn", metadata={"conversation": "c1", "turn": 2}, tags=["a"], kind="conversation")
    held = agent.find("turn")
    assert held is not None
    (line,) = judgments_jsonl([], [held]).splitlines()
    assert MemoryEntry.from_dict(json.loads(line)) == dataclasses.replace(held, last_access=None)


def test_nothing_judged_is_an_empty_file() -> None:
    assert judgments_jsonl([]) == judgments_jsonl([], []) == ""
    assert judgment_of([], CUE) is None
