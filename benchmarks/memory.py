"""Adding and querying memories end to end, compared with Chroma's default embedding function and a plain Chroma query.

    python -m benchmarks.memory [--sizes 1000 10000]

Prints medians in milliseconds and the ratio to the named alternative, measured in the same run, on the same
texts and, for queries, the same vectors. "End to end" is what a caller waits for: validation,
embedding, the journal's commit (synced to disk) and Chroma for adding; embedding, exact scoring of every memory
and the touch of what was recalled for querying.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import chromadb
import onnx
from chromadb.config import Settings as ChromaSettings
from chromadb.utils.embedding_functions import ONNXMiniLM_L6_V2

from memory_system import AgentMemory, Settings
from memory_system.embedding.embedder import CachedEmbedder, Embedder, MiniLM
from memory_system.embedding.minilm import weights

_WHO = "Mira Tobias Ines Edda Juno Oswin Brandreth Corin Ana Pip Davy Rafe Hester Amos Lucia Rosalind".split()
_DID = "saw met told asked helped followed promised thanked avoided warned taught fed paid owed heard missed".split()
_WHAT = "the key|a lamp|six loaves|the ferry|a letter|the sluice|a red muffler|the log|old nets|a broken jug".split("|")
_WHERE = "at the mill|on the quay|in the chapel|by the slip|at the inn|on the stairs|in the fog|at the bakery".split(
    "|"
)
_WHEN = "before dawn|after the bell|at noon|while it rained|on market day|when nobody looked|last of all".split("|")
PEER_SAMPLE = 200
"""How many texts Chroma's default embedding function is timed on: it needs about a tenth of a second for each."""
QUERIES = 50


def texts(count: int) -> list[str]:
    """Distinct sentences of diary length, the same ones in each run."""
    chance = random.Random(7)  # noqa: S311 - a benchmark's texts, not a secret
    parts = (_WHO, _DID, _WHO, _WHAT, _WHERE, _WHEN)
    made = (" ".join([*(chance.choice(part) for part in parts), f"for the {number}. time"]) for number in range(count))
    return list(made)


def milliseconds(act: Callable[[], Any]) -> float:
    """How long an act takes."""
    started = time.perf_counter()
    act()
    return (time.perf_counter() - started) * 1000


def median(act: Callable[[str], Any], cues: Sequence[str]) -> float:
    """The median over cues, after one call that is not counted."""
    act(cues[0])
    return statistics.median(milliseconds(partial(act, cue)) for cue in cues)


class Report:
    """Prints rows of a Markdown table as they are measured."""

    def __init__(self) -> None:
        print("| what | memories | median ms | alternative | its median ms | ratio |")
        print("|---|---:|---:|---|---:|---:|")

    def row(self, what: str, size: int, ours: float, other: str, theirs: float) -> None:
        """Print one comparison; a ratio above 1 is how many times faster we are."""
        print(f"| {what} | {size:,} | {ours:.2f} | {other} | {theirs:.2f} | {theirs / ours:.2f} |", flush=True)


def chromas_own(folder: Path, cache: Path) -> ONNXMiniLM_L6_V2:
    """Chroma's default embedding function, with unchanged code, and the same weights instead of a download."""
    files = folder / ONNXMiniLM_L6_V2.EXTRACTED_FOLDER_NAME
    files.mkdir(parents=True)
    model = onnx.load(weights.ensure(cache, print) / "model.onnx")
    extra = onnx.helper.make_tensor_value_info("token_type_ids", onnx.TensorProto.INT64, ["batch", "length"])
    model.graph.input.append(extra)  # it passes a third input, always zero
    onnx.save(model, files / "model.onnx")
    shutil.copyfile(weights.folder(cache) / "tokenizer.json", files / "tokenizer.json")
    for name in ("config.json", "special_tokens_map.json", "tokenizer_config.json", "vocab.txt"):
        (files / name).touch()  # checked for, but never read
    function = ONNXMiniLM_L6_V2()
    function.DOWNLOAD_PATH = folder
    return function


def agent(folder: Path, embedder: Embedder) -> AgentMemory:
    """A new agent in its own folder."""
    (folder / "personalities").mkdir(parents=True)
    (folder / "personalities" / "bench.json").write_text(json.dumps({"identity": {"name": "Bench"}}))
    return AgentMemory("bench", database=folder / "db", personalities=folder / "personalities", embedder=embedder)


def compare(size: int, folder: Path, peer: ONNXMiniLM_L6_V2, report: Report) -> None:
    """All comparisons at one size."""
    cache = Settings().cache
    documents = texts(size)
    events = [{"document": text, "rating": 1 + number % 10} for number, text in enumerate(documents)]
    cues = [f"Who {did} {what} {where}?" for did, what, where in zip(_DID * 4, _WHAT * 7, _WHERE * 8, strict=False)]
    cues = list(dict.fromkeys(cues))[:QUERIES]

    client = chromadb.PersistentClient(str(folder / "peer"), ChromaSettings(anonymized_telemetry=False))
    default = client.create_collection("default", embedding_function=peer)  # type: ignore[arg-type]
    sample = documents[:PEER_SAMPLE]
    ids = [str(number) for number in range(len(sample))]
    theirs = milliseconds(lambda: default.upsert(ids=ids, documents=sample)) / len(sample)

    embedder = CachedEmbedder(MiniLM(cache), size=4 * size)
    embedder.embed(["warm up the session"])
    with agent(folder / "cold", embedder) as cold:
        ours = milliseconds(lambda: cold.add_short_term(events, rate=False)) / size
        report.row("add one of a batch, cold cache", size, ours, "Chroma's default embedding function", theirs)
        with agent(folder / "warm", embedder) as warm:
            again = milliseconds(lambda: warm.add_short_term(events, rate=False)) / size
        report.row("add one of a batch, warm cache", size, again, "Chroma's default embedding function", theirs)

        known = embedder.embed(cues)
        vectors = dict(zip(cues, known, strict=True))
        plain = client.create_collection("plain", embedding_function=None)
        held = embedder.embed(documents)
        for start in range(0, size, 1000):
            end = min(start + 1000, size)
            plain.upsert(
                ids=[str(number) for number in range(start, end)],
                documents=documents[start:end],
                embeddings=held[start:end],
            )
        bare = median(lambda cue: plain.query(query_embeddings=vectors[cue][None], n_results=5), cues)
        scored = median(lambda cue: cold.query_memory(cue, touch=False), cues)
        report.row("query, warm cue, no touch", size, scored, "plain Chroma query, vector given", bare)
        touched = median(cold.query_memory, cues)
        report.row("query, warm cue, touching", size, touched, "plain Chroma query, vector given", bare)
        embedding = median(lambda cue: default.query(query_texts=[cue], n_results=5), cues[:20])
        fresh = [f"{cue} Tell me again." for cue in cues]
        asked = median(cold.query_memory, fresh)
        report.row("query, new cue, touching", size, asked, "Chroma query, default embedding function", embedding)
    client.close()  # type: ignore[attr-defined]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000])
    sizes = parser.parse_args().sizes
    with tempfile.TemporaryDirectory() as scratch:
        peer = chromas_own(Path(scratch) / "model", Settings().cache)
        peer(["warm up"])
        report = Report()
        for size in sizes:
            compare(size, Path(scratch) / str(size), peer, report)


if __name__ == "__main__":
    main()
