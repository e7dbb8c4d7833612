"""LangChain's TimeWeightedVectorStoreRetriever over Chroma and over FAISS.

It scores the 100 nearest (its default) and the newest with the sum of recency, its other score keys and relevancy,
each counting once. It is asked for the classic score as far as that form allows, which favours it: importance is
passed already weighted; relevancy is 1 / (1 + squared distance); and last accesses are moved back by the hours in which
recency falls to a quarter, which weights recency by a quarter. The rest is its own.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from langchain_classic.retrievers import (  # type: ignore[import-not-found,unused-ignore]
    TimeWeightedVectorStoreRetriever,
)
from langchain_core.documents import Document  # type: ignore[import-not-found,unused-ignore]
from langchain_core.embeddings import Embeddings  # type: ignore[import-not-found,unused-ignore]

from .corpus import DECAY, TOP_K, WEIGHTS, WIDTH, Budget, Corpus
from .plain_chroma import BATCH

BACK = 3600 * math.log(WEIGHTS[0]) / math.log(DECAY)
"""Seconds in which recency falls to its weight."""


class _Known(Embeddings):  # type: ignore[misc,unused-ignore]
    """Vectors as lists, as LangChain's embeddings return them."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """The vectors of memories."""
        return [self._corpus.vector(text).tolist() for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """The vector of a cue."""
        vector: list[float] = self._corpus.vector(text).tolist()
        return vector


def relevancy(distance: float) -> float:
    """Relevancy from the squared distance that both stores measure."""
    return WEIGHTS[2] / (1.0 + distance)


class _TimeWeighted:
    def __init__(self, corpus: Corpus, store: Any, budget: Budget) -> None:
        self._corpus = corpus
        self._retriever = TimeWeightedVectorStoreRetriever(
            vectorstore=store, k=TOP_K, decay_rate=1.0 - DECAY, other_score_keys=["importance"]
        )
        for part in budget.batches(len(corpus), BATCH):
            self._retriever.add_documents([self._document(row) for row in range(part.start, part.stop)])

    def _document(self, row: int) -> Any:
        at = float(self._corpus.last_access[row]) - BACK
        numbers = {
            "importance": WEIGHTS[1] * float(self._corpus.importance[row]),
            "created_at": at,
            "last_accessed_at": at,  # as a number: Chroma keeps no times
        }
        return Document(page_content=self._corpus.texts[row], metadata=numbers)

    def ask(self, number: int) -> Any:
        """Retrieve, and touch what was retrieved."""
        return self._retriever.invoke(self._corpus.cue(number))

    def rows(self, number: int, answer: Any) -> list[int]:
        """Undo the touches."""
        del number
        rows = [int(document.metadata["buffer_idx"]) for document in answer]
        for row in rows:
            untouched = float(self._corpus.last_access[row]) - BACK
            self._retriever.memory_stream[row].metadata["last_accessed_at"] = untouched
        return rows

    def close(self) -> None:
        """Nothing that has to be closed."""


class OverChroma(_TimeWeighted):
    """Its documents in a Chroma folder."""

    def __init__(self, corpus: Corpus, folder: Path, budget: Budget) -> None:
        from langchain_chroma import Chroma  # type: ignore[import-not-found,unused-ignore]

        store = Chroma("bench", _Known(corpus), persist_directory=str(folder), relevance_score_fn=relevancy)
        super().__init__(corpus, store, budget)


class OverFaiss(_TimeWeighted):
    """Its documents in memory, in a flat FAISS index, which is exact in distance."""

    def __init__(self, corpus: Corpus, folder: Path, budget: Budget) -> None:
        import faiss  # type: ignore[import-not-found,unused-ignore]
        from langchain_community.docstore.in_memory import (  # type: ignore[import-not-found,unused-ignore]
            InMemoryDocstore,
        )
        from langchain_community.vectorstores import FAISS  # type: ignore[import-not-found,unused-ignore]

        del folder
        faiss.omp_set_num_threads(1)
        store = FAISS(_Known(corpus), faiss.IndexFlatL2(WIDTH), InMemoryDocstore(), {}, relevance_score_fn=relevancy)
        super().__init__(corpus, store, budget)
