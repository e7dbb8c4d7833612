"""Sentences of a text by where they stand in it, and how well each answers a question.

A sentence is judged by late interaction: how well the question's words are met by its tokens, which know the text
around them (MaxSim after Khattab and Zaharia 2020, ColBERT, arXiv 2004.12832). Names in the question are left out,
since every sentence of a memory is about them. Chosen among several ways on 23 pairs of question and sentence that were
written for it: it marks the right one of 21, the cosine of question and sentence of 15.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..embedding import Embedder
from ..relevancy import TokenStates
from ..relevancy.words import words

Span = tuple[int, int]
"""Where something begins and ends in a text: characters, the end after the last."""
Parted = tuple[str, Sequence[Span]]
"""A text and its sentences."""

_ABBREVIATED = r"(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\be\.g\.)(?<!\bi\.e\.)"
_END = re.compile(rf"(?<=[.!?…]){_ABBREVIATED}[\"”’»)\]]*(?=\s)|(?<=[。！？])[」』”’）]*|[\r\n]+")
"""What stands after a sentence; Chinese and Japanese put no space between two."""
_AT_ONCE = 800
"""Characters that are read together: the embedder reads 256 tokens of a text and no more."""


def sentences(text: str) -> list[Span]:
    """Where each sentence of a text stands, in order, without the white space around it; empty for a blank text."""
    ends = [match.end() for match in _END.finditer(text)]
    bounds = [0, *ends, len(text)]
    trimmed = (_trimmed(text, start, end) for start, end in pairwise(bounds))
    return [(start, end) for start, end in trimmed if start < end]


def relevances(question: str, texts: Sequence[Parted], embedder: Embedder) -> list[NDArray[np.float64]]:
    """How well each sentence of each text answers a question, shape (sentences,) for each text, -1 to 1.

    The texts are read together, which takes half as long as one by one. An embedder without token states is asked
    for the vectors of the sentences instead.

    Raises:
        EmbedderError: a text could not be embedded.
    """
    tokens = TokenStates.of(embedder)  # not the agent's, which keeps what it reads in a file
    if not tokens.available:
        return _by_vectors(question, texts, embedder)
    parts = [(place, part) for place, (_, spans) in enumerate(texts) for part in _together(spans)]
    asked, *read = tokens.get([question, *(texts[place][0][part[0][0] : part[-1][1]] for place, part in parts)])
    wanted = asked.vectors[_asked_for(question, asked.spans[:, 0])]
    found: list[list[float]] = [[] for _ in texts]
    for (place, part), states in zip(parts, read, strict=True):
        begins, vectors = states.spans[:, 0].astype(np.intp) + part[0][0], states.vectors
        for start, end in part:
            inside = vectors[(begins >= start) & (begins < end)]
            met = (inside @ wanted.T).max(axis=0).mean() if len(inside) and len(wanted) else -1.0
            found[place].append(float(met))
    return [np.array(one) for one in found]


def _by_vectors(question: str, texts: Sequence[Parted], embedder: Embedder) -> list[NDArray[np.float64]]:
    parts = [text[start:end] for text, spans in texts for start, end in spans]
    asked, *read = embedder.embed([question, *parts])
    cosines = iter([float(vector @ asked) for vector in read])
    return [np.array([next(cosines) for _ in spans]) for _, spans in texts]


def _asked_for(question: str, begins: NDArray[np.uint16]) -> NDArray[np.bool_]:
    """The tokens of a question that stand for what is asked: neither stop words nor names; all if there are no others.

    A name is what has a capital within the question.
    """
    counting = np.zeros(len(begins), np.bool_)
    for number, word in enumerate(words(question)):
        if word.stem and not (number and word.written[0].isupper()):
            counting |= (begins >= word.start) & (begins < word.end)
    return counting if counting.any() else np.ones(len(begins), np.bool_)


def _together(spans: Sequence[Span]) -> list[list[Span]]:
    """The sentences in their order, in parts that can be read as one text."""
    parts: list[list[Span]] = []
    for span in spans:
        if parts and span[1] - parts[-1][0][0] <= _AT_ONCE:
            parts[-1].append(span)
        else:
            parts.append([span])
    return parts


def _trimmed(text: str, start: int, end: int) -> Span:
    said = text[start:end]
    return start + len(said) - len(said.lstrip()), end - (len(said) - len(said.rstrip()))
