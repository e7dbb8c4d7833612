"""A plain Chroma query: the vector given, the nearest by squared distance, with their texts and metadata."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings

from .corpus import TOP_K, Budget, Corpus

BATCH = 5000
"""Chroma refuses more than 5,461 rows at a time."""


class PlainChroma:
    """One collection in a folder, with Chroma's own settings."""

    def __init__(self, corpus: Corpus, folder: Path, budget: Budget) -> None:
        self._corpus = corpus
        self._client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
        self._collection = self._client.create_collection("plain", embedding_function=None)
        for part in budget.batches(len(corpus), BATCH):
            rows = range(part.start, part.stop)
            self._collection.add(
                ids=[str(row) for row in rows],
                documents=corpus.texts[part],
                embeddings=corpus.vectors[part],
                metadatas=[{"importance": float(corpus.importance[row])} for row in rows],
            )

    def ask(self, number: int) -> Any:
        """The five nearest."""
        return self._collection.query(query_embeddings=self._corpus.cues[number : number + 1], n_results=TOP_K)

    def rows(self, number: int, answer: Any) -> list[int]:
        """Nothing was touched."""
        del number
        return [int(row) for row in answer["ids"][0]]

    def close(self) -> None:
        """Close the client."""
        self._client.close()  # type: ignore[attr-defined]
