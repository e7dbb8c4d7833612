"""How often a cue finds its memory at the first place, in each language and across languages, by each embedder.

    python -m benchmarks.languages [minilm] [multilingual]

Twelve memories and their paraphrases in four languages (tests/data/languages.json), asked with the default ranking:
every cue of one language for all twelve memories of another. Also, how many are answered at the default threshold.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_system import Settings
from memory_system.core import LANGUAGES
from memory_system.core.presets import DEFAULT
from memory_system.embedding import chosen
from memory_system.embedding.embedder import CachedEmbedder, Embedder
from memory_system.evaluation.threshold import Pairs, asked
from memory_system.recall.hybrid import TokenStates

DATA = Path(__file__).parents[1] / "tests" / "data" / "languages.json"


@dataclass(frozen=True)
class Found:
    """How many of the cues found their memory first, and how many did so above the default threshold."""

    cues: int
    first: int
    answered: int


def read(path: Path = DATA) -> Mapping[str, Sequence[Mapping[str, str]]]:
    """The memories of each language, each with its cue, in the same order."""
    found: Mapping[str, Sequence[Mapping[str, str]]] = json.loads(path.read_text(encoding="utf-8"))[
        "paraphrases_by_language"
    ]
    return found


def table(embedder: Embedder) -> dict[tuple[str, str], Found]:
    """What is found, by the language of the memories and of the cues."""
    held, tokens, told = read(), TokenStates.of(embedder), {}
    for memories in held:
        for cues in held:
            texts, asks = ([one[key] for one in held[of]] for key, of in (("memory", memories), ("cue", cues)))
            data = Pairs(f"{memories}, {cues}", tuple(texts), tuple(asks), ()).part(0, 1)
            best = [hits[0] for hits, _ in asked(data, data.questions, embedder, tokens)]
            right = [hit for hit, question in zip(best, data.questions, strict=True) if hit.entry.id in question.right]
            sure = sum(hit.score.passing > DEFAULT.threshold for hit in right)
            told[memories, cues] = Found(len(texts), len(right), sure)
    return told


def as_markdown(name: str, told: Mapping[tuple[str, str], Found]) -> str:
    """A line for each language of the memories, a column for each of the cues."""
    languages = list(dict.fromkeys(memories for memories, _ in told))
    lines = [
        f"| {name}: memories in | " + " | ".join(f"cues in {LANGUAGES[one]}" for one in languages) + " |",
        "|---|" + "---:|" * len(languages),
    ]
    for memories in languages:
        cells = [f"{told[memories, one].first} ({told[memories, one].answered})" for one in languages]
        lines.append(f"| {LANGUAGES[memories]} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Print a table for each embedder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("embedders", nargs="*", help="names of embedders")
    for name in parser.parse_args().embedders or ["minilm", "multilingual"]:
        embedder = CachedEmbedder(chosen(Settings.model_validate({"embedder": name})))
        print(as_markdown(name, table(embedder)), end="\n\n")


if __name__ == "__main__":
    main()
