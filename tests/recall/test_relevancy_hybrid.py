"""Hybrid relevancy: a number from 0 to 1 whose parts add up, the same however it is worked out."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory_system.core.entry import Kind, MemoryEntry
from memory_system.core.scoring import relevancy as closeness
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.recall.hybrid import PARTS, Cue, Relevancy, TextIndex, TokenStates, evidence, hybrid
from memory_system.recall.hybrid import mix as mix_module
from memory_system.recall.hybrid.confidence import standing
from memory_system.recall.hybrid.late import UNRELATED
from tests.recall.relevancy_fakes import WordStates

NOW = datetime(2023, 10, 18, 15, 30, tzinfo=UTC)
NONE = TokenStates(None)
WORDS = ["Maria", "painted", "a", "red", "boat", "yesterday", "the", "harbour", "and", "sold", "Jon", "two", "lamps"]


def turn(text: str, number: int = 0, talk: str = "one", *, days_ago: int = 0) -> MemoryEntry:
    place: dict[str, Any] = {"conversation": talk, "turn": number} if talk else {}
    return MemoryEntry(text, place, f"{talk}{number}", kind=Kind.CONVERSATION, timestamp=NOW - timedelta(days=days_ago))


def index_of(*entries: MemoryEntry) -> TextIndex:
    index = TextIndex()
    for row, one in enumerate(entries):
        index.put(row, one)
    return index


def ask(text: str, index: TextIndex, tokens: TokenStates, similarity: list[float] | None = None) -> Relevancy:
    given = np.full(len(index), 0.4) if similarity is None else np.array(similarity, np.float64)
    return hybrid(Cue.read(text, NOW, index.speakers), given, index, tokens)


def plainly(text: str, index: TextIndex, similarity: np.ndarray, *, states: bool) -> list[float]:
    """Relevancies worked out memory by memory, as the module's docstring tells it, for stores within the pool."""
    cue = Cue.read(text, NOW, index.speakers)
    encode = WordStates()
    mix = mix_module.FULL if states else mix_module.FIRST
    entries = index.entries
    weights = {word: math.sqrt(index.rarity(word.stem)) for word in cue.words}
    (asked,) = encode([cue.text])
    vector = {(int(start), int(end)): one for (start, end), one in zip(asked.spans, asked.vectors, strict=True)}
    counted = {at: weights.get(word, 0.0) for word in Cue.read(text, NOW).words for at in [(word.start, word.end)]}
    if not weights:
        counted = dict.fromkeys(vector, 1.0)
    counted = {at: weight / sum(counted.values()) for at, weight in counted.items() if weight}
    names = {(word.start, word.end) for word in cue.naming}
    whole = [one for at, one in vector.items() if at not in names] or list(vector.values())
    met = [
        {
            at: max((float(vector[at] @ token) for token in encode([one.document])[0].vectors), default=0)
            for at in counted
        }
        for one in entries
    ]

    def near(row: int) -> list[tuple[int, float]]:
        mine = entries[row].metadata
        found = []
        for other, one in enumerate(entries):
            if "turn" in mine and one.metadata.get("conversation") == mine["conversation"]:
                away = abs(int(one.metadata["turn"]) - int(mine["turn"]))
                found += [(other, 1 - 0.1 * away)] if 0 < away <= 4 else []
        return found

    def best(values: list[float], row: int) -> float:
        return max([values[row], *(values[other] * counts for other, counts in near(row))])

    words = index.words(cue.stems).tolist()
    cosine = np.clip(1.5 - 0.5 / similarity, 0, 1).tolist()
    trust = mix_module.trust(standing(np.array(cosine))[1]) if states else 1.0
    if states:
        from memory_system.recall.hybrid.states import PackedStates

        direction = np.sum(whole, axis=0) / np.linalg.norm(np.sum(whole, axis=0))
        packed = [PackedStates.of(one.document, encode([one.document])[0]) for one in entries]
        cosine = [max(0.0, *(float(s @ direction) for s in one.sentences.astype(np.float32)), 0.0) for one in packed]
    found = []
    for row in range(len(entries)):
        z = trust * mix.similarity * best(cosine, row) + mix.words * best(words, row)
        about_it = min(cosine[row] / 0.3, 1.0)
        dates = mix_module.ALL_THAT_IS_ASKED if cue.asks_of_a_time else mix.dates * about_it
        z += mix.names * index.named(cue.names)[row] + dates * index.within(cue.asked)[row]
        z += mix.tells_when * index.telling_times()[row] * cue.asks_when * about_it
        if states:
            late = sum(w * max(best([one[at] for one in met], row), 0) for at, w in counted.items())
            z += mix.late * min(1, max(0, (late - UNRELATED) / (1 - UNRELATED)))
            z *= 0.94 if entries[row].document.endswith("?") else 1
        found.append(1 - math.exp(-z))
    return found


STORES = st.lists(
    st.tuples(
        st.lists(st.sampled_from([*WORDS, "?"]), min_size=1, max_size=8),
        st.integers(0, 7),
        st.sampled_from(["", "one", "two"]),
    ),
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(STORES, st.lists(st.sampled_from([*WORDS, "When", "last week"]), min_size=1, max_size=6), st.booleans())
@example([(["boat"], 0, "")], ["last week"], False)
@example([(["boat"], 0, "")], ["goats", "last week"], False)
@example([(["boat"], 0, ""), (["goats"], 1, "")], ["goats", "last week"], True)
def test_hybrid_equals_a_plain_computation(
    rows: list[tuple[list[str], int, str]], asked: list[str], states: bool
) -> None:
    index = index_of(*(turn(f"Jon: {' '.join(said)}", number, talk) for said, number, talk in rows))
    similarity = np.linspace(0.3, 0.9, len(rows))
    tokens = TokenStates(WordStates()) if states else NONE
    found = ask(" ".join(asked), index, tokens, similarity.tolist())
    assert found.values == pytest.approx(plainly(" ".join(asked), index, similarity, states=states), abs=0.01)
    assert ((found.values >= 0) & (found.values < 1)).all()
    total = found.parts[PARTS[0]]
    for name in PARTS[1:]:
        total = total + found.parts[name]
    assert tuple(found.parts) == PARTS
    assert total.tolist() == found.values.tolist()
    assert all((part >= 0).all() for part in found.parts.values())


def test_similarity_counts_the_more_the_closer_together_the_cosines_lie() -> None:
    counts = [mix_module.trust(spread) for spread in (0.02, 0.06, 0.08, mix_module.SPREAD_OF_TALKS, 0.16, 0.4)]
    assert counts == sorted(counts, reverse=True)
    assert (counts[0], counts[3], counts[-1]) == (2.5, 1.0, 0.3)


def test_the_time_of_something_else_is_no_answer_to_when() -> None:
    index = index_of(turn("The fire drill is on Wednesday"), turn("The ferry sails on Wednesday"))
    other, own = ask("When does the ship leave?", index, NONE, [0.34, 0.45]).parts["times"]
    assert 0 < other < own / 2


@pytest.mark.parametrize("tokens", [NONE, TokenStates(WordStates())])
def test_a_store_of_none_and_of_one_is_no_special_case(tokens: TokenStates) -> None:
    assert ask("boat", TextIndex(), tokens).values.shape == (0,)
    related, unrelated = (ask("the boat", index_of(turn(text)), tokens, [0.34]) for text in ("A boat.", "Lamps!"))
    assert related.values[0] > unrelated.values[0] >= 0


@pytest.mark.parametrize("tokens", [NONE, TokenStates(WordStates())])
def test_a_memory_without_a_vector_has_no_relevancy_and_spoils_no_other(tokens: TokenStates) -> None:
    index = index_of(turn("Maria: the boat", 0), turn("Jon: a lamp", 1))
    found = ask("boat", index, tokens, [math.nan, 0.5])
    assert np.isnan(found.values).tolist() == [True, False]


@pytest.mark.parametrize("tokens", [NONE, TokenStates(WordStates())])
@pytest.mark.parametrize(
    ("cue", "better", "worse"),
    [
        ("Who sold the boat?", "Maria: I sold the boat.", "Maria: I sold the lamp."),
        ("Did Maria sail?", "Maria: sail away.", "Jon: sail away."),
        ("Did Maria sail?", "Maria did sail.", "Somebody did sail."),
        ("When did they sail?", "Jon: sail last week", "Jon: sail over water"),
    ],
)
def test_each_part_raises_what_it_should(tokens: TokenStates, cue: str, better: str, worse: str) -> None:
    first, second = ask(cue, index_of(turn(better, 0, ""), turn(worse, 1, ""), turn("Maria: x", 9, "")), tokens).values[
        :2
    ]
    assert first > second


@pytest.mark.parametrize("tokens", [NONE, TokenStates(WordStates())])
def test_a_more_similar_vector_never_lowers_the_relevancy_outside_the_pool(tokens: TokenStates) -> None:
    index = index_of(*(turn(f"lamp {number}", number, "") for number in range(8)))
    found = ask("boat", index, NONE, [0.33 + 0.08 * number for number in range(8)]).values
    assert (np.diff(found) > 0).all()


@pytest.mark.parametrize(
    "question", ["Did you sell the boat?", "“Did you sell the boat?”", "船を売った？ 😀", "بعت القارب؟"]
)
def test_what_asks_counts_a_little_less_in_all_of_its_parts(question: str) -> None:
    plain = ask(question, index_of(turn(question.rstrip("?？؟”😀 "))), TokenStates(WordStates()))
    asked = ask(question, index_of(turn(question)), TokenStates(WordStates()))
    assert math.log1p(-asked.values[0]) == pytest.approx(0.94 * math.log1p(-plain.values[0]))
    index = index_of(turn(question), turn("Yes. Why? Because."))
    cue, tokens = Cue.read("boat", NOW), TokenStates(WordStates())
    assert [evidence(cue, row, index, tokens, pool=np.arange(2)).asks for row in (0, 1)] == [True, False]


def test_the_turns_around_one_that_answers_are_helped() -> None:
    index = index_of(turn("Jon: did you sell the boat?", 0), turn("Maria: yes!", 1), turn("Maria: yes!", 1, "two"))
    for tokens in (NONE, TokenStates(WordStates())):
        found = ask("sell the boat", index, tokens)
        assert found.values[1] > found.values[2]
        assert found.parts["neighbours"][1] > 0 == found.parts["neighbours"][2]


def test_only_the_pool_is_read_and_ties_for_it_fall_to_the_lower_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mix_module, "POOL", 3)
    encode = WordStates()
    index = index_of(turn("lamp", 5, ""), turn("boat", 4, ""), turn("lamp", 3, ""), turn("lamp", 2, ""))
    found = ask("boat", index, TokenStates(encode))
    assert found.pool.tolist() == [1, 2, 3]
    assert found.parts["late"][0] == 0
    assert found.values.argmax() == 1


def test_as_many_similarities_as_rows_are_needed() -> None:
    with pytest.raises(ValueError, match="1 rows need"):
        ask("boat", index_of(turn("a")), NONE, [0.4, 0.4])


def test_hostile_texts_and_cues_are_scored_like_others() -> None:
    texts = [
        "\u200f\u202eabc",
        "a" * 32_000,
        "word " * 6_400,
        "😀",
        "\u200f: \u200f",
        "Maria: \u202e",
        "?",
        "'s 's",
        "!" * 32_000,
    ]
    index = index_of(*(turn(text, number) for number, text in enumerate(texts)))
    for tokens in (NONE, TokenStates(WordStates())):
        for text in [*texts, " ", "the", "Maria", "yesterday"]:
            values = ask(text, index, tokens).values
            assert ((values >= 0) & (values < 1)).all()


def test_evidence_names_what_matched_in_the_words_of_both() -> None:
    index = index_of(
        turn("Maria: I painted the red boat yesterday.", 0, days_ago=1),
        turn("Jon: which harbour?", 1),
        turn("Jon: ok", 2),
    )
    tokens = TokenStates(WordStates())
    text = "When was Maria painting boats in the harbour in October 2023?"
    cue, found = Cue.read(text, NOW, index.speakers), ask(text, index, tokens)
    why = evidence(cue, 0, index, tokens, pool=found.pool)
    assert {(one.cue, one.memory) for one in why.words} == {("painting", "painted"), ("boats", "boat")}
    assert sum(one.share for one in why.words) < 1
    pairs = {(one.cue, one.memory, one.neighbour) for one in why.pairs}
    assert pairs == {("painting", "painted", ""), ("boats", "boat", ""), ("harbour", "harbour", "one1")}
    assert all(one.cosine == pytest.approx(1, abs=0.02) for one in why.pairs)
    assert why.names == ("maria",)
    assert [(one.cue, one.memory) for one in why.dates] == [("October 2023", ""), ("October 2023", "yesterday")]
    assert why.tells_when
    assert why.neighbour == "one1"


def test_evidence_without_states_or_outside_the_pool_has_no_pairs() -> None:
    index = index_of(turn("the boat"))
    cue = Cue.read("boat", NOW)
    for tokens in (NONE, TokenStates(WordStates())):
        why = evidence(cue, 0, index, tokens, pool=np.zeros(0, np.intp))
        assert why.pairs == ()
        assert why.words[0].memory == "boat"


def test_with_the_real_model_an_answer_is_far_above_what_is_unrelated(embedder: CachedEmbedder) -> None:
    texts = [
        "Maria: I finally sold my old sailing boat to the harbour master.",
        "Maria: The soup needs more salt, I think.",
        "The tax office opens at nine.",
        "Jon: My sister plays the cello in Vienna.",
    ]
    index = index_of(*(turn(text, 10 * number) for number, text in enumerate(texts)))
    tokens = TokenStates.of(embedder)
    for text, expected in (
        ("Who bought the boat from Maria?", 0),
        ("When does the tax office open?", 2),
        ("Which instrument does Jon's sister play?", 3),
    ):
        similarity = closeness(embedder.embed(texts), embedder.embed([text])[0])
        values = ask(text, index, tokens, similarity.tolist()).values
        assert values.argmax() == expected
        assert values[expected] > 0.6
        assert np.delete(values, expected).max() < 0.4
    similarity = closeness(embedder.embed(texts), embedder.embed(["How does a nuclear reactor work?"])[0])
    assert ask("How does a nuclear reactor work?", index, tokens, similarity.tolist()).values.max() < 0.3
