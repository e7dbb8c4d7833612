"""Texts to vectors: the same as sentence-transformers', asked once a text, and from any Chroma function."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from memory_system import Settings
from memory_system.embedding.embedder import MAX_TOKENS, MOST_PIECES, CachedEmbedder, FromChroma, MiniLM, _load
from memory_system.embedding.minilm import weights
from memory_system.errors import EmbedderError
from tests.waiting import LAST_RESORT, until

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "minilm_reference.json").read_text(encoding="utf-8"))
TEXTS: list[str] = REFERENCE["texts"]
VECTORS = np.array(REFERENCE["vectors"])


CUT = [14, 15, 17]
"""Texts of more than 256 tokens, of which sentence-transformers reads the first 256."""


def cosines(vectors: np.ndarray) -> np.ndarray:
    """Of all texts but those that the reference cuts off."""
    return np.delete(all_cosines(vectors), CUT)


def all_cosines(vectors: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(VECTORS[: len(vectors)], axis=1)
    return (vectors * VECTORS[: len(vectors)]).sum(axis=1) / norms


class Counting:
    """An embedder of two numbers that remembers what it was asked."""

    identity = "counting"

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.asked.append(list(texts))
        return np.array([[1.0, len(text)] for text in texts], np.float32)


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM(Settings().cache)


def test_the_reference_holds_twenty_texts() -> None:
    assert len(TEXTS) == 20
    assert VECTORS.shape == (20, 384)


def test_vectors_of_one_batch_are_those_of_sentence_transformers(minilm: MiniLM) -> None:
    vectors = minilm.embed(TEXTS)
    assert vectors.dtype == np.float32
    assert cosines(vectors).min() > 0.9999
    assert all_cosines(vectors)[CUT].max() < 0.9999, "what the reference leaves out has its part here"
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(20), abs=1e-5)


def test_vectors_made_singly_are_those_of_sentence_transformers(minilm: MiniLM) -> None:
    assert cosines(np.vstack([minilm.embed([text]) for text in TEXTS])).min() > 0.9999


def test_more_texts_than_a_batch_come_back_in_their_order() -> None:
    many = MiniLM(Settings().cache, batch=3).embed(TEXTS)
    assert cosines(many).min() > 0.9999


def test_what_stands_past_the_256th_token_has_its_part_too(minilm: MiniLM) -> None:
    walk = " ".join(f"On day {day} we walked along the river and counted boats." for day in range(60))
    told = f"{walk} The heir of the castle was poisoned by the cook."
    plain, with_it = minilm.embed([walk, told])
    (cue,) = minilm.embed(["Who murdered the young nobleman?"])
    assert cue @ with_it > cue @ plain
    (states,) = minilm.states([told])
    assert states.tokens[-2:] == ("cook", ".")
    start, end = states.spans[-2]
    assert told[start:end] == "cook"
    assert np.allclose(np.linalg.norm(with_it), 1, atol=1e-6)
    long = minilm.states(["mill " * 6000])[0]
    assert len(long.tokens) == MOST_PIECES * (MAX_TOKENS - 2), "and that it ends somewhere is said"


def test_no_texts_give_no_vectors(minilm: MiniLM, embedder: CachedEmbedder) -> None:
    assert len(minilm.embed([])) == 0
    assert len(embedder.embed([])) == 0


def test_the_identity_is_the_models_also_through_the_cache(embedder: CachedEmbedder) -> None:
    assert embedder.identity == MiniLM.identity == "all-MiniLM-L6-v2"


def test_a_library_that_the_system_does_not_load_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)  # as Python marks what cannot be imported
    with pytest.raises(EmbedderError, match=r"^What runs .*onnxruntime.* again\.$"):
        _load(tmp_path, 0)


def test_a_damaged_model_file_is_told_and_not_used(tmp_path: Path) -> None:
    folder = weights.folder(tmp_path)
    folder.mkdir()
    (folder / "model.onnx").write_bytes(b"no model")
    with pytest.raises(EmbedderError, match=r"is damaged\. Delete that folder"):
        MiniLM(tmp_path).embed(["x"])


def test_the_cache_asks_once_a_text() -> None:
    inner = Counting()
    cached = CachedEmbedder(inner)
    first = cached.embed(["one", "three", "one"])
    again = cached.embed(["three", "two", "one"])
    assert inner.asked == [["one", "three"], ["two"]]
    assert first.tolist() == [[1, 3], [1, 5], [1, 3]]
    assert again.tolist() == [[1, 5], [1, 3], [1, 3]]


def test_the_cache_forgets_what_was_not_asked_for_longest() -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, size=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        cached.embed([text])
    assert inner.asked == [["a"], ["b"], ["c"], ["b"]]


def test_a_cache_smaller_than_a_batch_still_answers_it_whole() -> None:
    assert CachedEmbedder(Counting(), size=1).embed(["a", "bb", "ccc"]).tolist() == [[1, 1], [1, 2], [1, 3]]


def test_any_chroma_function_becomes_an_embedder_of_unit_vectors() -> None:
    wrapped = FromChroma(lambda texts: [[3.0, 4.0] for _ in texts], "my-model")
    vectors = wrapped.embed(("a", "b"))
    assert wrapped.identity == "my-model"
    assert vectors.dtype == np.float32
    assert vectors.tolist() == pytest.approx(np.array([[0.6, 0.8], [0.6, 0.8]]))


def fails(_texts: list[str]) -> Any:
    raise RuntimeError("out of memory")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (fails, "failed: RuntimeError: out of memory"),
        (lambda _: None, "failed|no vector for each text"),
        (lambda _: "nonsense", "failed"),
        (lambda _: [], "no vector for each text"),
        (lambda texts: [1.0] * len(texts), "no vector for each text"),
        (lambda _: [[1.0, 2.0]], "no vector for each text"),
        (lambda _: [[1.0, 2.0], [1.0]], "failed"),
        (lambda _: [[1.0, 2.0], [0.0, 0.0]], "without direction"),
        (lambda _: [[1.0, 2.0], [np.nan, 1.0]], "without direction"),
        (lambda _: [[1.0, 2.0], [np.inf, 1.0]], "without direction"),
    ],
)
def test_a_chroma_function_that_answers_nonsense_is_refused(function: Callable[..., Any], message: str) -> None:
    with pytest.raises(EmbedderError, match=f"'my-model' .*({message})"):
        FromChroma(function, "my-model").embed(["a", "b"])


class _Slow:
    """An embedder that goes on when it is told to, and notes what it is asked."""

    identity = "slow"

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.begun, self.go_on = threading.Event(), threading.Event()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls.append(list(texts))
        self.begun.set()
        assert self.go_on.wait(LAST_RESORT)
        return np.array([[len(text), 1.0] for text in texts], np.float32)


def test_a_few_texts_of_many_threads_are_embedded_together_and_many_by_themselves() -> None:
    inner = _Slow()
    embedder = CachedEmbedder(inner)
    many = [f"text {number}" for number in range(20)]
    with ThreadPoolExecutor(5) as pool:
        first = pool.submit(embedder.embed, ["a"])
        assert inner.begun.wait(LAST_RESORT)
        waiting = [pool.submit(embedder.embed, texts) for texts in (["bb", "ccc"], ["ccc", "dddd"])]
        until(lambda: len(embedder._few._waiting) == 2)
        large = pool.submit(embedder.embed, many)
        until(lambda: many in inner.calls)  # it does not wait for those
        inner.go_on.set()
        assert first.result(LAST_RESORT)[:, 0].tolist() == [1]
        assert [sorted(one.result(LAST_RESORT)[:, 0].tolist()) for one in waiting] == [[2, 3], [3, 4]]
        assert len(large.result(LAST_RESORT)) == 20
    assert sorted(inner.calls.pop()) == ["bb", "ccc", "dddd"], "each of them once"
    assert inner.calls == [["a"], many]
