"""TextIndex: kept current entry by entry, and always what an index built anew would be."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_system.core.entry import Kind, MemoryEntry
from memory_system.recall.hybrid import Cue, TextIndex
from memory_system.recall.hybrid.index import FORM
from memory_system.recall.hybrid.neighbours import Pairing, place_of
from memory_system.recall.hybrid.speakers import speaker_of

NOW = datetime(2023, 10, 18, 15, 30, tzinfo=UTC)
CUES = ("When did Maria paint the boat?", "What happened last week, Will?", "boats 2022", "the of", "עלמא \u200f boat")


def entry(
    text: str,
    entry_id: str = "a",
    *,
    talk: str = "",
    turn: int = 0,
    days_ago: int | None = 0,
    kind: str = "conversation",
) -> MemoryEntry:
    metadata = {"conversation": talk, "turn": turn} if talk else {}
    timestamp = None if days_ago is None else NOW - timedelta(days=days_ago)
    return MemoryEntry(text, metadata, entry_id, kind=Kind(kind), timestamp=timestamp)


def index_of(*entries: MemoryEntry) -> TextIndex:
    index = TextIndex()
    for row, one in enumerate(entries):
        index.put(row, one)
    return index


def readings(index: TextIndex) -> list[list[float]]:
    """All that an index answers, for a few cues."""
    found = []
    for text in CUES:
        cue = Cue.read(text, NOW, index.speakers | {"maria", "will"})
        words = index.words(cue.stems)
        near = index.neighbours.pairing.best(words)
        answers = (words, near, index.named(cue.names), index.within(cue.asked), index.telling_times())
        found += [values.tolist() for values in answers]
        found.append([index.rarity(stem) for stem in cue.stems])
    return found


TEXTS = st.sampled_from(
    [
        "Maria: I painted a boat yesterday.",
        "Will Smith: Boats, boats; a boat in 2022!",
        "Maria's boat lies in the harbour.",
        "They paint.",
        "the of and",
        "\u200fעלמא: שלום",
        "x " * 50 + "last week",
    ]
)
ENTRIES = st.builds(
    entry,
    TEXTS,
    talk=st.sampled_from(["", "one", "two"]),
    turn=st.integers(0, 6),
    days_ago=st.sampled_from([None, 0, 7, 400]),
    kind=st.sampled_from(["conversation", "observation"]),
)


READ_TO_PROVE = [
    "Maria: I painted two boats yesterday, and in May 2023 a third one; it wasn't easy!",
    "Will Smith said that he'd be running the mill's race next Tuesday.",
    "Die Brücken sind eingestürzt, 2 weeks ago; мосты разрушены. 桥塌了。",
    "the of and",
    "We met last night, talked again on 3 May 2023 from 16:45 to 17:00, and parted two hours ago.",
]


@dataclass
class Lines:
    """Entries that are saved."""

    held: list[MemoryEntry]

    def entry(self, number: int) -> MemoryEntry:
        return self.held[number]

    def document(self, number: int) -> str:
        return self.held[number].document


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["add", "replace", "drop", "keep"]), ENTRIES, st.integers(0, 30)), max_size=30)
)
def test_an_index_kept_current_equals_one_built_anew(steps: list[tuple[str, MemoryEntry, int]]) -> None:
    index, held = TextIndex(), list[MemoryEntry]()
    for what, one, number in steps:
        if what == "keep":
            index = TextIndex.restored(index.parts(), Lines(list(held)))
            continue
        if what == "add" or not held:
            index.put(len(held), one)
            held.append(one)
            continue
        row = number % len(held)
        if what == "replace":
            index.put(row, one)
            held[row] = one
        else:
            last = len(held) - 1
            if row == last:
                index.drop_last()
            else:
                index.move(last, row)
                held[row] = held[last]
            held.pop()
    anew = index_of(*held)
    copied = index.copied()
    assert [index.document(row) for row in range(len(held))] == [one.document for one in held]
    assert list(index.entries) == list(copied.entries) == held
    assert index.speakers == anew.speakers
    assert readings(index) == readings(anew)
    assert [index.mentions(row) for row in range(len(held))] == [anew.mentions(row) for row in range(len(held))]


def test_whoever_changes_how_texts_are_read_counts_the_form_up() -> None:
    index = index_of(*(entry(text, f"e{n}", talk="one", turn=n) for n, text in enumerate(READ_TO_PROVE)))
    parts = index.parts()
    read = b"".join(parts[name].tobytes() for name in sorted(parts))
    assert (FORM, zlib.crc32(read)) == (6, 1323443501), (
        "FORM says how kept indices were made: count it up, and say so here"
    )


def test_an_index_of_another_form_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = index_of(entry("a boat")).parts()
    monkeypatch.setattr("memory_system.recall.hybrid.index.FORM", FORM + 1)
    with pytest.raises(ValueError, match="form"):
        TextIndex.restored(parts, [entry("a boat")].__getitem__)


def test_an_empty_index_answers_empty() -> None:
    assert not any(chain.from_iterable(readings(TextIndex())[number] for number in range(30) if number % 6 != 5))
    assert TextIndex().rarity("boat") > 0


def test_what_is_told_again_in_the_same_words_makes_no_word_common() -> None:
    once = index_of(entry("the bed is made"), entry("a boat"), entry("a mill"))
    again = index_of(*(entry(text) for text in ("The bed is made.", "a boat", "a mill", "the bed is made")))
    assert (again.texts_with("bed"), again.texts) == (once.texts_with("bed"), once.texts) == (1, 3)
    assert again.rarity("bed") == once.rarity("bed")
    other = index_of(*(entry(text) for text in ("The bed is made", "Is the bed made?", "The bed is not made")))
    assert (other.texts_with("bed"), other.texts) == (3, 3)
    said = index_of(*(entry(f"{who}: The bed is made.", talk="one", turn=1) for who in ("Ada", "Sam")))
    assert said.texts_with("bed") == 2


def test_a_text_that_holds_all_the_cues_words_scores_above_one_that_holds_some() -> None:
    index = index_of(entry("a red boat"), entry("a red house"), entry("a green house"))
    both, one, none = index.words(Cue.read("red boat", NOW).stems)
    assert 1 > both > one > none == 0


def test_stems_meet_across_endings_and_stop_words_do_not_count() -> None:
    index = index_of(entry("She was painting"), entry("What did you do?"))
    assert (index.words(Cue.read("What did they paint?", NOW).stems) > 0).tolist() == [True, False]


def test_a_named_speaker_counts_and_where_nobody_speaks_whoever_is_written_of() -> None:
    index = index_of(entry("Maria: hello there"), entry("Jon: hello Maria"), entry("Maria likes tea"), entry("tea"))
    cue = Cue.read("What does Maria's cat eat?", NOW, index.speakers)
    assert cue.names == {"maria"}
    assert [word.written for word in cue.words] == ["cat", "eat"]
    assert index.named(cue.names).tolist() == [1, 0, 1, 0]


def test_only_a_turn_has_a_speaker() -> None:
    index = index_of(entry("Bakery: a low, warm room", kind="fact"), entry("Maria: a warm day", kind="conversation"))
    assert index.speakers == {"maria"}
    assert index.words(Cue.read("the bakery", NOW, index.speakers).stems)[0] > 0


def test_a_name_that_is_a_common_word_must_be_written_large_and_not_begin_the_cue() -> None:
    assert Cue.read("What will she do?", NOW, ["will"]).names == set()
    assert Cue.read("Will she go?", NOW, ["will"]).names == set()
    assert Cue.read("Where did Will go?", NOW, ["will"]).names == {"will"}


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("Maria: hello", "Maria", "hello"),
        ("Maria Lopez: hello", "Maria Lopez", "hello"),
        ("Ludwig van Beethoven: hello", "Ludwig van Beethoven", "hello"),
        ("עלמא: שלום", "עלמא", "שלום"),
        ("Maria : hello", "Maria", "hello"),
        ("the plan: hello", "", "the plan: hello"),
        ("For Maria's planning: hello", "", "For Maria's planning: hello"),
        ("Maria's: hello", "", "Maria's: hello"),
        ("at 10:30 she left", "", "at 10:30 she left"),
        ("Maria:", "", "Maria:"),
        ("https://example.org", "", "https://example.org"),
        ("", "", ""),
    ],
)
def test_who_speaks_is_a_large_name_and_a_colon(text: str, name: str, said: str) -> None:
    assert speaker_of(text) == (name, said)


def test_a_memory_lies_in_a_time_by_its_own_or_by_what_it_tells() -> None:
    index = index_of(
        entry("We sailed", days_ago=1),
        entry("We sailed", days_ago=9),
        entry("We sailed the week before, I mean eight days ago", days_ago=0),
        entry("I sailed yesterday", days_ago=8),
        entry("timeless", days_ago=None),
    )
    assert index.within(Cue.read("on October 9", NOW).asked).tolist() == [0, 1, 0, 1, 0]
    assert index.within(Cue.read("yesterday", NOW).asked).tolist() == [1, 0, 0, 0, 0]


def test_neighbours_help_up_to_four_turns_away_and_only_within_their_conversation() -> None:
    index = index_of(
        *(entry("x", talk="one", turn=turn) for turn in (0, 1, 4, 5)), entry("x", talk="two", turn=1), entry("x")
    )
    found = index.neighbours.pairing.best(np.array([1.0, 0, 0, 0, 0.5, 1]))
    assert found.tolist() == pytest.approx([0, 0.9, 0.6, 0, 0, 0])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 8), st.integers(0, 9)), max_size=25),
)
def test_pairing_equals_a_plain_search_whatever_the_order_and_the_twins(rows: list[tuple[int, int, int]]) -> None:
    talks, turns, values = (np.array([row[at] for row in rows]) for at in range(3))
    found = Pairing.of(talks.astype(np.int32), turns.astype(np.int64)).best(values / 9.0)
    for talk, turn, got in zip(talks, turns, found, strict=True):
        near = [
            (1 - 0.1 * abs(turn - other)) * value / 9
            for there, other, value in rows
            if there == talk >= 0 and 0 < abs(turn - other) <= 4
        ]
        assert got == pytest.approx(max(near, default=0))


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"conversation": "a"},
        {"turn": 1},
        {"conversation": 5, "turn": 1},
        {"conversation": "a", "turn": True},
        {"conversation": "a", "turn": 1.5},
        {"conversation": "", "turn": 1},
        {"conversation": "a", "turn": "1"},
    ],
)
def test_metadata_that_is_no_place_in_a_conversation_is_none(metadata: dict[str, str | int | float | bool]) -> None:
    assert place_of(MemoryEntry("x", metadata)) is None


def test_rows_stay_dense() -> None:
    index = index_of(entry("a"), entry("b"))
    for wrong in (lambda: index.put(3, entry("c")), lambda: index.move(0, 1), TextIndex().drop_last):
        with pytest.raises(IndexError):
            wrong()


def test_hostile_text_is_indexed_like_any_other() -> None:
    texts = ["\u200f\u202e" * 20, "a" * 32_000, "é" * 32_000, "word " * 6_400, "'" * 300, "😀: 😀 😀"]
    index = index_of(*(entry(text) for text in texts))
    for text in texts:
        cue = Cue.read(text, NOW, index.speakers)
        assert ((index.words(cue.stems) >= 0) & (index.words(cue.stems) <= 1)).all()
