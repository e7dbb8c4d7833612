"""Token states: packed, remembered, and kept in a file that may be lost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from memory_system.embedding.embedder import CachedEmbedder, FromChroma, MiniLM, States
from memory_system.recall.hybrid import TokenStates
from memory_system.recall.hybrid.states import PackedStates, StatesFile
from tests.recall.relevancy_fakes import WordStates


def test_packing_keeps_cosines_and_comes_back_from_bytes() -> None:
    (states,) = WordStates()(["Maria: I painted a boat. It was red."])
    packed = PackedStates.of("Maria: I painted a boat. It was red.", states)
    assert np.abs(packed.vectors @ packed.vectors.T - states.vectors @ states.vectors.T).max() < 0.02
    assert len(packed.sentences) == 2
    again = PackedStates.from_bytes(packed.to_bytes())
    assert again.to_bytes() == packed.to_bytes()
    assert len(again) == len(packed) == len(states.tokens)


@pytest.mark.parametrize("damaged", [b"", b"123", bytes(12) + b"x", b"\xff" * 40])
def test_bytes_that_are_no_states_are_refused(damaged: bytes) -> None:
    with pytest.raises(ValueError, match=r"not packed states|damaged"):
        PackedStates.from_bytes(damaged)


def test_a_text_without_tokens_has_none() -> None:
    states = States((), np.zeros((0, 2), np.int32), np.zeros((0, 8), np.float32))
    packed = PackedStates.of("", states)
    assert len(packed) == len(packed.sentences) == 0
    assert len(PackedStates.from_bytes(packed.to_bytes())) == 0


def test_states_are_computed_once_a_text() -> None:
    encode = WordStates()
    tokens = TokenStates(encode)
    first, again, twin = *tokens.get(["a", "b c"]), tokens.get(["b c", "b c"])[1]
    assert encode.asked == [["a", "b c"]]
    assert len(first) == 1
    assert twin is again


def test_states_of_what_is_embedded_anyway_can_be_kept() -> None:
    encode = WordStates()
    tokens = TokenStates(encode)
    tokens.keep(["a"], WordStates()(["a"]))
    tokens.get(["a"])
    assert encode.asked == []


def test_what_was_not_asked_for_longest_leaves_first() -> None:
    encode = WordStates()
    tokens = TokenStates(encode, room=2 * PackedStates.of("a", encode(["a"])[0]).size)
    for text in ("a", "b", "a", "c", "a", "b"):
        tokens.get([text])
    assert encode.asked == [["a"], ["a"], ["b"], ["c"], ["b"]]
    assert len(tokens.get(["d", "e", "f"])) == 3  # more than there is room for


def test_a_file_spares_the_next_process_the_work(tmp_path: Path) -> None:
    first = TokenStates(WordStates(), file=StatesFile(tmp_path / "states", "words"))
    made = first.get(["a boat", "b"])
    first.close()
    encode = WordStates()
    found = TokenStates(encode, file=StatesFile(tmp_path / "states", "words")).get(["b", "a boat", "c"])
    assert encode.asked == [["c"]]
    assert found[1].to_bytes() == made[0].to_bytes()


def test_states_of_another_embedder_are_not_taken(tmp_path: Path) -> None:
    TokenStates(WordStates(), file=StatesFile(tmp_path / "states", "words")).get(["a"])
    encode = WordStates()
    TokenStates(encode, file=StatesFile(tmp_path / "states", "others")).get(["a"])
    assert encode.asked == [["a"]]


def test_a_damaged_file_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "states"
    path.write_bytes(b"no database at all, " * 100)
    tokens = TokenStates(WordStates(), file=StatesFile(path, "words"))
    assert len(tokens.get(["a"])) == len(tokens.get(["b"])) == 1
    encode = WordStates()
    TokenStates(encode, file=StatesFile(path, "words")).get(["b"])
    assert encode.asked == []


def test_a_file_that_cannot_be_had_is_done_without(tmp_path: Path) -> None:
    tokens = TokenStates(WordStates(), file=StatesFile(tmp_path / "no" / "folder" / "states", "words"))
    assert len(tokens.get(["a"])) == 1


def test_a_full_file_lets_the_first_written_go(tmp_path: Path) -> None:
    file = StatesFile(tmp_path / "states", "words", room=200_000)
    tokens = TokenStates(WordStates(), file=file, room=0)
    for number in range(60):
        tokens.get([f"{number} " * 200])
    file.close()
    assert (tmp_path / "states").stat().st_size < 500_000
    encode = WordStates()
    TokenStates(encode, file=StatesFile(tmp_path / "states", "words")).get(["0 " * 200, "59 " * 200])
    assert encode.asked == [["0 " * 200]]


def test_an_embedder_without_states_says_so() -> None:
    tokens = TokenStates.of(CachedEmbedder(FromChroma(lambda texts: [[1.0]] * len(texts), "other")))
    assert not tokens.available
    with pytest.raises(ValueError, match="no token states"):
        tokens.get(["a"])


def test_minilm_gives_a_state_a_token_and_tells_them_while_it_embeds(embedder: CachedEmbedder) -> None:
    minilm = embedder.inner
    assert isinstance(minilm, MiniLM)
    text = "Maria: I painted a boat."
    (states,) = minilm.states([text])
    assert [text[start:end].lower() for start, end in states.spans] == list(states.tokens)
    assert np.linalg.norm(states.vectors, axis=1) == pytest.approx(np.ones(len(states.tokens)), abs=1e-5)
    told: list[tuple[Sequence[str], list[States]]] = []
    watched = MiniLM(minilm._cache)
    watched.watchers.append(lambda texts, found: told.append((texts, found)))
    watched.embed([text, "a longer one, with more tokens than the other"])
    assert told[0][0][0] == text
    assert told[0][1][0].vectors == pytest.approx(states.vectors, abs=1e-4)
    assert TokenStates.of(embedder).available
