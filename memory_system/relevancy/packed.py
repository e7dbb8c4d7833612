"""PackedStates: the token states of one text in eight bits a number."""

from __future__ import annotations

import math
import re
import zlib
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..embedding import States
from .speakers import speaker_of

_SHORTEST = 2
"""Tokens that a sentence has at least."""
_HEAD = 12
"""Bytes of three sizes."""
_CHECK = 4
"""Bytes of the checksum at the end."""
_SENTENCE_END = re.compile(r"[.!?]\s+")


@dataclass(frozen=True, eq=False)
class PackedStates:
    """A text's token states at a quarter of the room: ``codes`` (t, d) int8, times ``scales`` (t,) float32.

    A cosine changes by at most about 0.005, which moves no evaluation figure. ``sentences``, shape (s, d) float16, are
    the directions of the text's sentences: the means of their tokens, a speaker's name left out.
    """

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
        return cls(states.spans.astype(np.uint16), codes, scales, _sentences(text, states))

    @property
    def vectors(self) -> NDArray[np.float32]:
        """Shape (t, d): the states, of about unit length."""
        return self.codes.astype(np.float32) * self.scales[:, None]

    @property
    def size(self) -> int:
        """Bytes, the Python objects around the arrays estimated."""
        return sum(one.nbytes for one in self._arrays) + 600

    def __len__(self) -> int:
        return len(self.scales)

    def to_bytes(self) -> bytes:
        """All of it, for a file."""
        head = np.array([len(self), len(self.sentences), self.codes.shape[1]], "<u4")
        body = b"".join(one.tobytes() for one in (head, *self._arrays))
        return body + zlib.crc32(body).to_bytes(_CHECK, "little")

    @classmethod
    def from_bytes(cls, packed: bytes) -> Self:
        """What ``to_bytes`` made.

        Raises:
            ValueError: the bytes are none of its.
        """
        if not isinstance(packed, bytes) or len(packed) < _HEAD + _CHECK:
            raise ValueError("These are no packed states.")
        packed, check = packed[:-_CHECK], packed[-_CHECK:]
        if zlib.crc32(packed).to_bytes(_CHECK, "little") != check:
            raise ValueError("These packed states are damaged.")
        tokens, sentences, width = np.frombuffer(packed, "<u4", 3).tolist()
        arrays, at = [], _HEAD
        for kind, shape in (
            ("<u2", (tokens, 2)),
            ("i1", (tokens, width)),
            ("<f4", (tokens,)),
            ("<f2", (sentences, width)),
        ):
            count = math.prod(shape)
            arrays.append(np.frombuffer(packed, kind, count, at).reshape(shape))
            at += arrays[-1].nbytes
        if at != len(packed):
            raise ValueError("These are no packed states.")
        return cls(*arrays)

    @property
    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return self.spans, self.codes, self.scales, self.sentences


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
    directions: NDArray[np.float16] = (
        stacked / np.maximum(np.linalg.norm(stacked, axis=1, keepdims=True), 1e-9)
    ).astype(np.float16)
    return directions
