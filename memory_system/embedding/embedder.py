"""Texts to vectors: all-MiniLM-L6-v2 on onnxruntime, any Chroma embedding function, and a cache of cues."""

from __future__ import annotations

import json
import threading
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..core.memory import Vectors
from ..core.shared_work import Together
from ..errors import FROM_ELSEWHERE, EmbedderError, InvalidParameter, shown, words_of
from .minilm import weights

MAX_TOKENS = 256
"""What the model reads at a time, as in sentence-transformers; a longer text is read in pieces of this length."""
MOST_PIECES = 8
"""Pieces of a text that are read, about 8,000 characters of English; the rest can be found by its words alone."""


class Embedder(Protocol):
    """Turns texts into vectors. Two embedders of one ``identity`` give the same vectors."""

    @property
    def identity(self) -> str:
        """A name that is stored with the vectors it made, such as ``all-MiniLM-L6-v2``."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors, shape (n, d), float32, of unit length.

        Raises:
            EmbedderError: the texts could not be embedded.
        """


@dataclass(frozen=True, eq=False)
class States:
    """An embedder's vectors of every token of one text, in context.

    Args:
        tokens: the text's tokens, without special ones; ``##`` begins the rest of a word.
        spans: shape (t, 2), start and end of each in the text, in characters; the end is exclusive.
        vectors: shape (t, d), float32, each of unit length.
    """

    tokens: tuple[str, ...]
    spans: NDArray[np.int32]
    vectors: NDArray[np.float32]


Watch = Callable[[Sequence[str], list[States]], None]
"""Called with texts and their token states."""


class MiniLM:
    """all-MiniLM-L6-v2 (384 numbers), mean-pooled over the tokens and normalised; thread-safe.

    Pads to the longest text of a batch instead of to 256 tokens, and keeps its session: the same vectors as
    sentence-transformers' (cosine above 0.9999) in a fraction of the time. A text of more than 256 tokens, which
    sentence-transformers would cut off there, is read in pieces, and gets the mean of all their tokens.
    """

    identity = "all-MiniLM-L6-v2"
    dimension = 384
    languages = frozenset(["en"])

    def __init__(self, cache: Path, *, batch: int = 32, say: Callable[[str], None] = lambda _line: None) -> None:
        self.watchers: list[Watch] = []
        """Each is called with the token states of whatever is embedded, which are computed anyway."""
        self._cache = cache
        self._batch = batch
        self._say = say
        self._lock = threading.Lock()
        self._parts: tuple[Any, Any] | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors, shape (n, 384), float32, of unit length; the first call loads the model.

        Raises:
            EmbedderError: the weights cannot be obtained.
        """
        vectors = np.empty((len(texts), self.dimension), np.float32)
        for rows, read in self._run(texts):
            for row, pieces in zip(rows, read, strict=True):
                pooled = np.concatenate([states for _, states in pieces]).mean(axis=0, dtype=np.float64)
                vectors[row] = pooled / np.linalg.norm(pooled)
            if self.watchers:
                kept = list(map(_kept, read))
                for watch in tuple(self.watchers):
                    watch([texts[row] for row in rows], kept)
        return vectors

    def states(self, texts: Sequence[str]) -> list[States]:
        """The token states of each text, as far as it is read; a text without tokens has none.

        Raises:
            EmbedderError: the weights cannot be obtained.
        """
        found: dict[int, States] = {}
        for rows, read in self._run(texts):
            found |= dict(zip(rows, map(_kept, read), strict=True))
        return [found[row] for row in range(len(texts))]

    def _run(self, texts: Sequence[str]) -> Iterator[tuple[list[int], list[_Read]]]:
        """Batches: the rows of ``texts``, and the pieces of each."""
        session, tokenizer = self._loaded()
        by_length = sorted(range(len(texts)), key=lambda row: len(texts[row]))
        for start in range(0, len(by_length), self._batch):
            rows = by_length[start : start + self._batch]
            encoded = tokenizer.encode_batch([texts[row] for row in rows])
            read: list[_Read] = [[] for _ in rows]
            pieces = [
                (at, piece)
                for at, encoding in enumerate(encoded)
                for piece in (encoding, *encoding.overflowing[: MOST_PIECES - 1])
            ]
            for first in range(0, len(pieces), self._batch):
                some = pieces[first : first + self._batch]
                ids = np.array([piece.ids for _, piece in some], np.int64)
                mask = np.array([piece.attention_mask for _, piece in some], np.int64)
                (states,) = session.run(None, {"input_ids": ids, "attention_mask": mask})
                for (at, piece), length, of_piece in zip(some, mask.sum(axis=1), states, strict=True):
                    read[at].append((piece, of_piece[:length]))
            yield rows, read

    def _loaded(self) -> tuple[Any, Any]:
        with self._lock:
            if self._parts is None:
                folder = weights.ensure(self._cache, self._say)
                self._parts = _load(folder, (folder / "model.onnx").stat().st_mtime_ns)
            return self._parts


_Read = list[tuple[Any, NDArray[np.float32]]]
"""The pieces of a text: the encoding of each, and its states, shape (tokens, 384), special ones included."""


@lru_cache(maxsize=2)
def _load(folder: Path, _changed: int) -> tuple[Any, Any]:
    """Session and tokenizer of a folder in its current state; all embedders of a process share them."""
    try:
        import onnxruntime
        from tokenizers import Tokenizer
    except (ImportError, OSError) as error:  # a library that the system cannot load, for example when memory is short
        raise EmbedderError(
            f"What runs the embedding model cannot be loaded: {error}. Allow this program more memory (ulimit -v), or "
            "install the package again."
        ) from error

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # threads that wait do not compute
    try:
        session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # onnxruntime and tokenizers raise types of their own for a damaged file
        raise EmbedderError(
            f"The cached embedding model in {folder} is damaged. Delete that folder and start again. ({error})"
        ) from error
    tokenizer.enable_truncation(max_length=MAX_TOKENS)
    tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")  # to the longest of the batch
    return session, tokenizer


def _kept(pieces: _Read) -> States:
    """The states of one text, without special tokens."""
    tokens: list[str] = []
    spans, vectors = [], []
    for encoded, states in pieces:
        kept = np.flatnonzero(np.array(encoded.special_tokens_mask[: len(states)]) == 0)
        read = encoded.tokens  # built at each access, like every property of an encoding
        tokens += [read[at] for at in kept.tolist()]
        spans.append(np.array(encoded.offsets, np.int32).reshape(-1, 2)[kept])
        vectors.append(states[kept] / np.linalg.norm(states[kept], axis=1, keepdims=True))
    return States(tuple(tokens), np.concatenate(spans), np.concatenate(vectors))


class FromChroma:
    """Any Chroma embedding function as an embedder, its vectors scaled to unit length."""

    def __init__(
        self,
        function: Callable[[list[str]], Any],
        identity: str,
        languages: frozenset[str] | None = None,
        *,
        words_too: bool = False,
    ) -> None:
        self._function = function
        self.identity = identity
        self.languages = languages
        self.words_too = words_too
        self._length = 0  # of the first vector

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors, shape (n, d), float32, of unit length.

        Raises:
            EmbedderError: the function failed, or its answer is not vectors.
        """
        try:
            vectors = np.asarray(self._function(list(texts)), np.float32)
        except FROM_ELSEWHERE as error:
            raise EmbedderError(f"The embedding function {self.identity!r} failed: {words_of(error)}") from error
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise EmbedderError(f"The embedding function {self.identity!r} gave no vector for each text.")
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or (lengths == 0).any():
            raise EmbedderError(f"The embedding function {self.identity!r} gave a vector without direction.")
        if len(vectors):
            self._length = self._length or vectors.shape[1]
            if vectors.shape[1] != self._length:
                raise EmbedderError(
                    f"The embedding function {self.identity!r} gave vectors of {vectors.shape[1]} numbers after "
                    f"vectors of {self._length}; all must have the same length."
                )
        unit: Vectors = vectors / lengths
        return unit


_MOST_ROOM = 50_000
_FEW = 8
"""Up to so many texts are embedded with what other threads ask for meanwhile; more are worth a batch of their own."""


class CachedEmbedder:
    """Caches the vectors of the latest texts, so that asking the same cue again costs nothing."""

    def __init__(self, inner: Embedder, size: int = 2048) -> None:
        self._inner = inner
        self._size = self._usual = size
        self._lock = threading.Lock()
        self._vectors: OrderedDict[str, Vectors] = OrderedDict()
        self._few = Together[Sequence[str], Vectors](self._embedded)

    @property
    def identity(self) -> str:
        """The identity of the inner embedder."""
        return self._inner.identity

    @property
    def inner(self) -> Embedder:
        """The embedder whose vectors are cached."""
        return self._inner

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As the inner embedder, which is asked only for texts that are not cached.

        Raises:
            EmbedderError: the texts could not be embedded.
        """
        with self._lock:
            known = {text: self._vectors[text] for text in texts if text in self._vectors}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            made = self._inner.embed(missing) if len(missing) > _FEW else self._few.ask(missing)
            known |= zip(missing, made, strict=True)
        with self._lock:
            for text in dict.fromkeys(texts):
                self._vectors[text] = known[text]
                self._vectors.move_to_end(text)
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
        if not texts:
            return np.zeros((0, 0), np.float32)
        return np.stack([known[text] for text in texts])

    def _embedded(self, asked: Sequence[Sequence[str]]) -> list[Vectors]:
        texts = list(dict.fromkeys(chain.from_iterable(asked)))
        made = dict(zip(texts, self._inner.embed(texts), strict=True))
        return [np.stack([made[text] for text in group]) for group in asked]

    def make_room(self, texts: int) -> None:
        """Raise the cache size by so many texts, at most 50,000, so that none is embedded twice."""
        with self._lock:
            self._size = max(self._size, min(texts, _MOST_ROOM) + self._usual)

    def exchange(self, inner: Embedder) -> None:
        """Use another embedder from now on, and drop the cached vectors of the last one."""
        with self._lock:
            self._inner = inner
            self._vectors.clear()

    def load(self, path: Path) -> None:
        """Load what ``save`` wrote; a file that is missing, damaged, or another embedder's is ignored."""
        try:
            with np.load(path, allow_pickle=False) as file:
                texts = json.loads(file["texts"].tobytes())
                if texts.pop() == self.identity and len(texts) == len(file["vectors"]):
                    with self._lock:
                        self._vectors |= dict(zip(texts, file["vectors"], strict=True))
        except (OSError, ValueError, KeyError, IndexError, EOFError, zipfile.BadZipFile):
            return

    def save(self, path: Path) -> None:
        """Write the cached vectors, so that another process need not compute them again.

        Raises:
            OSError: it cannot be written.
        """
        with self._lock:
            texts, vectors = list(self._vectors), list(self._vectors.values())
        path.parent.mkdir(parents=True, exist_ok=True)
        body = np.frombuffer(json.dumps([*texts, self.identity]).encode(), np.uint8)
        with path.open("wb") as file:
            np.savez(file, texts=body, vectors=np.stack(vectors) if vectors else np.zeros((0, 0), np.float32))


def minilm_of(embedder: Embedder) -> MiniLM | None:
    """The all-MiniLM-L6-v2 that an embedder is or wraps in a cache; ``None`` if it is another one."""
    inner = without_cache(embedder)
    return inner if isinstance(inner, MiniLM) else None


def known_languages(embedder: Embedder) -> frozenset[str] | None:
    """The languages that an embedder knows, by their ISO 639-1 codes; ``None`` if it does not say.

    It says so with an attribute ``languages``, an iterable of codes such as ``de``.

    Raises:
        InvalidParameter: its attribute is something else.
    """
    languages = getattr(without_cache(embedder), "languages", None)
    if languages is None:
        return None
    if isinstance(languages, str) or not isinstance(languages, Iterable):
        raise InvalidParameter(f"The languages of an embedder are codes such as ['de'], not {shown(languages)}.")
    return frozenset(map(str, languages))


def words_too(embedder: Embedder) -> bool:
    """Whether an embedder finds more if the words of a cue are embedded as well; see its attribute ``words_too``."""
    return bool(getattr(without_cache(embedder), "words_too", False))


def states_of(embedder: Embedder) -> Callable[[Sequence[str]], list[States]] | None:
    """The function that returns the token states of an embedder; ``None`` if it has none."""
    model = minilm_of(embedder)
    return None if model is None else model.states


def without_cache(embedder: Embedder) -> Embedder:
    """The embedder itself, if this is a cache of its vectors."""
    while isinstance(embedder, CachedEmbedder):
        embedder = embedder.inner
    return embedder
