"""What the benchmark asks of each system, and which systems there are."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from .corpus import Budget, Corpus


class Peer(Protocol):
    """A filled system. ``ask`` is timed and does exactly what a caller of that system would wait for."""

    def ask(self, number: int) -> Any:
        """Answer a cue whose text or vector was available before."""

    def rows(self, number: int, answer: Any) -> list[int] | None:
        """The rows in an answer, best first; not timed. ``None`` if nothing is ranked.

        Also undoes what asking changed, so that all cues are asked of the same memories.
        """

    def close(self) -> None:
        """Close all files."""


class Maker(Protocol):
    """A class of peers."""

    def __call__(self, corpus: Corpus, folder: Path, budget: Budget) -> Peer:
        """A system that holds the corpus.

        Raises:
            TooSlow: it could not be filled within its budget.
        """


@dataclass(frozen=True)
class System:
    """A line of the table.

    Args:
        name: as given to ``--peers``.
        label: as shown in the table.
        where: module of this package and class.
        ranks: the order of its answer.
        targets: by number of memories, how many times our median its own should be at least.
        most: the most memories that it is filled with, and why.
    """

    name: str
    label: str
    where: tuple[str, str]
    ranks: str
    targets: tuple[tuple[int, float], ...] = ()
    most: tuple[int, str] | None = None

    def made(self, corpus: Corpus, folder: Path, budget: Budget) -> Peer:
        """The system, filled; its libraries are imported only now."""
        module, name = self.where
        maker = cast("Maker", getattr(import_module(f"{__package__}.{module}"), name))
        return maker(corpus, folder, budget)


_CLASSIC = "classic score"
_OWN_SUM = "classic score of the 100 nearest and the 5 newest"
_FLOOR = ((100_000, 1 / 1.5), (1_000_000, 1 / 1.5))
OURS = System("ours", "**recall.answer** (ours)", ("ours", "Recall"), _CLASSIC)
SYSTEMS = (
    OURS,
    System("agent", "**query_memory, touching** (ours, end to end)", ("ours", "Agent"), _CLASSIC),
    System("float32", "bare float32 scan, numpy", ("scans", "Float32"), "nothing"),
    System("int8", "bare int8 scan, numpy", ("scans", "Int8"), "nothing", _FLOOR),
    System("simd", "bare int8 scan, simsimd", ("scans", "Simd"), "nothing"),
    System(
        "langchain-chroma",
        "LangChain time-weighted, Chroma",
        ("time_weighted", "OverChroma"),
        _OWN_SUM,
        ((10_000, 5), (100_000, 3)),
    ),
    System(
        "langchain-faiss",
        "LangChain time-weighted, FAISS",
        ("time_weighted", "OverFaiss"),
        _OWN_SUM,
        ((10_000, 2), (100_000, 3)),
    ),
    System(
        "generative-agents",
        "generative agents, paper",
        ("generative_agents", "Stream"),
        "three parts, min-max, 1/1/1",
        ((10_000, 300), (100_000, 1000)),
        (100_000, "would hold over 12 GB of Python floats"),
    ),
    System(
        "concordia",
        "Concordia",
        ("associative", "Concordia"),
        "cosine",
        ((10_000, 10), (100_000, 25)),
    ),
    System("mem0", "mem0, Chroma", ("mem_zero", "MemZero"), "distance", ((10_000, 30), (100_000, 100))),
    System("chroma", "plain Chroma query", ("plain_chroma", "PlainChroma"), "distance"),
)
