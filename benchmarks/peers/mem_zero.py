"""mem0 over Chroma: ``Memory.search`` as its callers use it, with vectors from a stub in place of its embedder.

It is filled through its own ``vector_store.insert``, in batches, with the payloads that
``Memory.add(..., infer=False)`` writes: ``add`` accepts one memory at a time, 80 ms each on the machine used here.
"""

from __future__ import annotations

import hashlib
import logging
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .corpus import TOP_K, Budget, Corpus
from .plain_chroma import BATCH

_USER = "bench"


class _Known:
    """Replaces mem0's embedding model: vectors as lists, as an embedding service returns them."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """The vector of a text."""
        del memory_action
        answer: list[float] = self._corpus.vector(text).tolist()
        return answer


class MemZero:
    """One user's memories."""

    def __init__(self, corpus: Corpus, folder: Path, budget: Budget) -> None:
        folder.mkdir(parents=True)
        os.environ["MEM0_DIR"] = str(folder / "home")  # read when it is imported
        from mem0 import Memory  # type: ignore[import-not-found,unused-ignore]

        logging.getLogger("mem0").setLevel(logging.ERROR)  # it warns that BM25 and spaCy are missing
        self._corpus = corpus
        unused = {"provider": "openai", "config": {"api_key": "unused"}}  # never called: infer=False, and a stub
        self._memory = Memory.from_config(
            {
                "vector_store": {
                    "provider": "chroma",
                    "config": {"collection_name": "bench", "path": str(folder / "chroma")},
                },
                "llm": unused,
                "embedder": unused,
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._memory.embedding_model = _Known(corpus)
        made = datetime.now(UTC).isoformat()
        for part in budget.batches(len(corpus), BATCH):
            self._memory.vector_store.insert(
                vectors=corpus.vectors[part].tolist(),
                ids=[str(row) for row in range(part.start, part.stop)],
                payloads=[_payload(text, made) for text in corpus.texts[part]],
            )

    def ask(self, number: int) -> Any:
        """The five nearest among this user's."""
        return self._memory.search(self._corpus.cue(number), top_k=TOP_K, filters={"user_id": _USER}, threshold=0.0)

    def rows(self, number: int, answer: Any) -> list[int]:
        """Nothing was touched."""
        del number
        return [self._corpus.rows[found["memory"]] for found in answer["results"]]

    def close(self) -> None:
        """Close its history."""
        self._memory.close()


def _payload(text: str, made: str) -> dict[str, str]:
    """What ``Memory.add`` stores with a vector."""
    return {
        "user_id": _USER,
        "role": "user",
        "data": text,
        "hash": hashlib.md5(text.encode()).hexdigest(),  # noqa: S324 - mem0's choice, not a secret
        "created_at": made,
        "updated_at": made,
        "text_lemmatized": text,
    }
