"""TokenStates: what the embedder makes of every token of a text, remembered in eight bits a number."""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ..embedding import Embedder, States, states_of
from .speakers import speaker_of

_SHORTEST = 2
"""Tokens that a sentence has at least."""
ROOM = 256 * 1024**2
"""Bytes held: about 20,000 memories of a sentence or two."""


_SENTENCE_END = re.compile(r"[.!?]+\s+")


@dataclass(frozen=True, eq=False)
class PackedStates:
    """A text's token states at a quarter of the room: ``codes`` (t, d) int8, times ``scales`` (t,) float32.

    A cosine changes by at most about 0.005, which moves no evaluation figure. ``sentences``, shape (s, d) float16, are
    the directions of the text's sentences: the means of their tokens, a speaker's name left out.
    """

    tokens: tuple[str, ...]
    spans: NDArray[np.uint16]
    codes: NDArray[np.int8]
    scales: NDArray[np.float32]
    sentences: NDArray[np.float16]

    @classmethod
    def of(cls, text: str, states: States) -> Self:
        """Pack a text's states."""
        largest = np.abs(states.vectors).max(axis=1, initial=0.0)
        scales = (np.where(largest > 0, largest, 1.0) / 127).astype(np.float32)
        codes = np.rint(states.vectors / scales[:, None]).astype(np.int8)
        return cls(states.tokens, states.spans.astype(np.uint16), codes, scales, _sentences(text, states))

    @property
    def vectors(self) -> NDArray[np.float32]:
        """Shape (t, d): the states, of about unit length."""
        return self.codes.astype(np.float32) * self.scales[:, None]

    @property
    def size(self) -> int:
        """Bytes, the Python objects around them estimated."""
        arrays = (self.codes, self.scales, self.spans, self.sentences)
        return sum(one.nbytes for one in arrays) + 64 * len(self.tokens) + 500


def _sentences(text: str, states: States) -> NDArray[np.float16]:
    _name, said = speaker_of(text)
    begins, first = states.spans[:, 0], len(text) - len(said)
    ends = [found.end() for found in _SENTENCE_END.finditer(text) if found.end() > first]
    groups = []
    for end in [*ends, len(text) + 1]:
        inside = (begins >= first) & (begins < end)
        first = end
        if np.count_nonzero(inside) >= _SHORTEST:
            groups.append(states.vectors[inside])
    means = [group.mean(axis=0) for group in groups or [states.vectors] if len(group)]
    if not means:
        return np.zeros((0, states.vectors.shape[-1]), np.float16)
    stacked = np.stack(means)
    return (stacked / np.maximum(np.linalg.norm(stacked, axis=1, keepdims=True), 1e-9)).astype(np.float16)


class TokenStates:
    """Token states of texts, computed when first asked for and then remembered; thread-safe.

    Args:
        encode: from texts to their states; ``None`` for an embedder that has none.
        room: bytes to hold; what was not asked for longest leaves first.
    """

    def __init__(self, encode: Callable[[Sequence[str]], list[States]] | None, *, room: int = ROOM) -> None:
        self._encode = encode
        self._room = room
        self._held: OrderedDict[bytes, PackedStates] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    @classmethod
    def of(cls, embedder: Embedder, *, room: int = ROOM) -> Self:
        """The states of an embedder, which may have none."""
        return cls(states_of(embedder), room=room)

    @property
    def available(self) -> bool:
        """Whether the embedder has token states at all."""
        return self._encode is not None

    def get(self, texts: Sequence[str]) -> list[PackedStates]:
        """The states of each text; only those not remembered are computed.

        Raises:
            EmbedderError: they could not be computed.
            ValueError: the embedder has no token states; ask ``available`` first.
        """
        if self._encode is None:
            raise ValueError("This embedder has no token states.")
        keys = [_key(text) for text in texts]
        with self._lock:
            known = {key: self._held[key] for key in keys if key in self._held}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            texts_missing = list(missing.values())
            fresh = map(PackedStates.of, texts_missing, self._encode(texts_missing))
            known |= dict(zip(missing, fresh, strict=True))
        self._hold(dict.fromkeys(keys), known)
        return [known[key] for key in keys]

    def keep(self, texts: Sequence[str], states: Sequence[States]) -> None:
        """Remember states that were computed elsewhere, such as those that vectors were just made of."""
        known = {_key(text): PackedStates.of(text, one) for text, one in zip(texts, states, strict=True)}
        self._hold(known, known)

    def _hold(self, keys: Iterable[bytes], known: Mapping[bytes, PackedStates]) -> None:
        with self._lock:
            for key in keys:
                if key not in self._held:
                    self._size += known[key].size
                self._held[key] = known[key]
                self._held.move_to_end(key)
            while self._size > self._room and self._held:
                self._size -= self._held.popitem(last=False)[1].size


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
