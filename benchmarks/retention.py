"""What is kept when short-term memory overflows: the fit behind the shipped weights, and what each rule loses.

    python -m benchmarks.retention ../shared/data/locomo [--no-rating] [--no-lived]

DATA are conversations in LoCoMo's form, or folders of them. A turn counts as worth keeping if a question names it
as evidence. The learned rule is scored cross-fitted: each conversation by weights fitted to the others. It is compared
with the rating of the offline rules and the length of the text. The last table lives the conversations through:
what is left, and what is in short-term memory at the end, by the order in which memories leave it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_system import AgentSettings, MemoryEntry, Settings, Tier
from memory_system.core.settings import Retention
from memory_system.embedding.embedder import CachedEmbedder, MiniLM
from memory_system.evaluation.data import DataSet, Form
from memory_system.evaluation.sources import data_sets
from memory_system.llm import tasks
from memory_system.llm.offline.model import OfflineModel
from memory_system.operations import migration, retention
from memory_system.operations.context import Ground, by_age

Floats = NDArray[np.float64]
SHARES = (0.1, 0.3, 0.5)
RIDGE = 1.0


@dataclass(frozen=True)
class Turns:
    """The turns of one conversation.

    Args:
        entries: in order.
        signs: shape (n, 7), in the order of ``retention.SIGNS``.
        asked: shape (n,), how many questions name the turn as evidence.
    """

    entries: tuple[MemoryEntry, ...]
    signs: Floats
    asked: Floats


def read(paths: Sequence[Path]) -> list[Turns]:
    """The conversations of files and folders; what has another form is left out."""
    return [_turns(data) for data in data_sets(paths) if data.form is Form.LOCOMO]


def _turns(data: DataSet) -> Turns:
    entries = tuple(sorted(data.entries, key=by_age))
    asked = Counter(one for question in data.questions for one in question.right)
    found = retention.signs(entries, [entry.id for entry in entries])
    rows = [[found[entry.id][name] for name in retention.SIGNS] for entry in entries]
    return Turns(entries, np.array(rows), np.array([asked[entry.id] for entry in entries], float))


def fit(conversations: Sequence[Turns]) -> tuple[float, Floats]:
    """The intercept and the weights, shape (7,), of a ridge logistic regression, by Newton's method."""
    signs = np.concatenate([one.signs for one in conversations])
    asked = np.concatenate([one.asked for one in conversations]) > 0
    mean, spread = signs.mean(axis=0), signs.std(axis=0)
    rows = np.column_stack([np.ones(len(signs)), (signs - mean) / spread])
    penalty = np.diag([0.0] + [RIDGE] * signs.shape[1])
    beta = np.zeros(rows.shape[1])
    for _step in range(50):
        chances = 1 / (1 + np.exp(-rows @ beta))
        slope = rows.T @ (asked - chances) - penalty @ beta
        step = np.linalg.solve((rows * (chances * (1 - chances))[:, None]).T @ rows + penalty, slope)
        beta += step
        if np.abs(step).max() < 1e-10:
            break
    weights = beta[1:] / spread
    return float(beta[0] - weights @ mean), weights


def cross_fitted(conversations: Sequence[Turns]) -> list[Floats]:
    """The chance of each turn, by weights fitted to the other conversations."""
    found = []
    for one in conversations:
        intercept, weights = fit([other for other in conversations if other is not one])
        found.append(1 / (1 + np.exp(-intercept - one.signs @ weights)))
    return found


def auc(scores: Sequence[Floats], conversations: Sequence[Turns]) -> float:
    """The chance that a turn which is asked for scores above one that is not; ties count a half."""
    values, asked = np.concatenate(scores), np.concatenate([one.asked for one in conversations]) > 0
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    positives = int(asked.sum())
    above = ranks[asked].sum() - positives * (positives + 1) / 2
    return float(above / (positives * (len(asked) - positives)))


def kept(scores: Sequence[Floats], conversations: Sequence[Turns], forgotten: float) -> float:
    """The share of the evidence that is left when the lowest share of turns of each conversation is forgotten."""
    left = 0.0
    for values, one in zip(scores, conversations, strict=True):
        best = np.argsort(-values, kind="stable")[: round((1 - forgotten) * len(values))]
        left += one.asked[best].sum()
    return float(left / sum(one.asked.sum() for one in conversations))


def above(scores: Sequence[Floats], conversations: Sequence[Turns], threshold: float) -> tuple[float, float]:
    """The share of the turns that a threshold forgets, and of the evidence that it keeps."""
    values, asked = np.concatenate(scores), np.concatenate([one.asked for one in conversations])
    return float((values <= threshold).mean()), float(asked[values > threshold].sum() / asked.sum())


def ratings(conversations: Sequence[Turns]) -> list[Floats]:
    """How poignant the offline rules find each turn, 1 to 10."""
    model = OfflineModel(CachedEmbedder(MiniLM(Settings().cache)))
    return [
        np.array([model.complete(tasks.rate(entry.document)).answer.rating for entry in one.entries], float)
        for one in conversations
    ]


@dataclass(frozen=True)
class Ordered:
    """The learned rule with another order of leaving."""

    rule: retention.Learned
    key: Callable[[MemoryEntry, float], float]
    newest: float
    leaving = ""

    def judge(self, entries: Sequence[MemoryEntry], before: Sequence[MemoryEntry]) -> dict[str, retention.Verdict]:
        """Like the rule."""
        return self.rule.judge(entries, before)

    def order(
        self, entries: Sequence[MemoryEntry], verdicts: Mapping[str, retention.Verdict], size: int
    ) -> list[MemoryEntry]:
        """The oldest by the key; ``newest`` of the size stays."""
        aged = sorted(entries, key=by_age)
        older = len(aged) - round(size * self.newest)
        return [*sorted(aged[:older], key=lambda one: self.key(one, verdicts[one.id].worth)), *aged[older:]]


LEARNED = retention.rule_of(AgentSettings(), retention=Retention.LEARNED)
assert isinstance(LEARNED, retention.Learned)
ORDERS: dict[str, retention.Rule] = {
    "age alone": Ordered(LEARNED, lambda _one, _worth: 0.0, 0.0),
    "the least likely of the older quarter": Ordered(LEARNED, lambda _one, worth: worth, 0.75),
    "the least likely of the older half (shipped)": LEARNED,
    "the least likely of the older three quarters": Ordered(LEARNED, lambda _one, worth: worth, 0.25),
    "the least likely of all": Ordered(LEARNED, lambda _one, worth: worth, 0.0),
}


def lived(one: Turns, rule: retention.Rule, size: int) -> tuple[float, float, float, float]:
    """Live a conversation through with migration after each turn.

    Returns:
        Shares: of the turns forgotten, of the evidence kept, of the evidence in short-term memory at the end,
        and of the last ``size / 2`` turns that are in it.
    """
    asked = {entry.id: count for entry, count in zip(one.entries, one.asked, strict=True)}
    settings = AgentSettings(stm_size=size)
    stm: dict[str, MemoryEntry] = {}
    ltm: list[MemoryEntry] = []
    for number, entry in enumerate(one.entries):
        stm[entry.id] = entry.evolve(tier=Tier.STM)
        if len(stm) <= size:
            continue
        assert entry.timestamp is not None
        ground = Ground(
            "", entry.timestamp, number, "", list(stm.values()), ltm, settings,
            model=None, recall=lambda _cue, _count: [],  # type: ignore[arg-type]  # migration asks no model
        )  # fmt: skip
        for change in migration.plan(ground, rule).changes:
            del stm[change.entry_id]
            if change.after is not None:
                ltm.append(change.after)
    last = one.entries[-(size // 2) :]
    evidence = sum(asked.values())
    held = sum(asked[entry] for entry in stm)
    return (
        1 - (len(stm) + len(ltm)) / len(one.entries),
        (held + sum(asked[entry.id] for entry in ltm)) / evidence,
        held / evidence,
        sum(entry.id in stm for entry in last) / len(last),
    )


def main() -> None:
    """Print the weights and the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path, help="conversations in LoCoMo's form")
    parser.add_argument("--no-rating", action="store_true", help="leave out the offline rating, which takes a minute")
    parser.add_argument("--no-lived", action="store_true", help="leave out the conversations lived through")
    asked = parser.parse_args()
    conversations = read(asked.data)
    turns = sum(len(one.entries) for one in conversations)
    print(f"{len(conversations)} conversations, {turns:,} turns, "
          f"{sum(int((one.asked > 0).sum()) for one in conversations):,} of them asked for\n")  # fmt: skip

    intercept, weights = fit(conversations)
    usual = np.concatenate([one.signs for one in conversations]).mean(axis=0)
    print(f"| sign | weight (intercept {intercept:.3f}) | usual |\n| --- | ---: | ---: |")
    for name, weight, mean in zip(retention.SIGNS, weights, usual, strict=True):
        print(f"| {name} | {weight:.3f} | {mean:.3f} |")

    rules = {"learned, cross-fitted": cross_fitted(conversations)}
    rules["length"] = [np.array([len(entry.document) for entry in one.entries], float) for one in conversations]
    if not asked.no_rating:
        rules["offline rating"] = ratings(conversations)
    heads = "".join(f" kept of the evidence, {share:.0%} forgotten |" for share in SHARES)
    print(f"\n| rule | AUC |{heads}\n| --- | ---: |{' ---: |' * len(SHARES)}")
    for name, scores in rules.items():
        cells = "".join(f" {100 * kept(scores, conversations, share):.1f} |" for share in SHARES)
        print(f"| {name} | {auc(scores, conversations):.3f} |{cells}")

    print("\n| threshold | forgotten | kept of the evidence |\n| ---: | ---: | ---: |")
    for threshold in (0.02, 0.03, 0.04, 0.06, 0.08, 0.1, 0.15):
        forgotten, left = above(rules["learned, cross-fitted"], conversations, threshold)
        print(f"| {threshold:g} | {100 * forgotten:.1f} | {100 * left:.1f} |")
    if asked.no_lived:
        return
    print("\n| STM | order of leaving | forgotten | evidence kept | evidence in STM | latest turns in STM |")
    print("| ---: | --- | ---: | ---: | ---: | ---: |")
    for size in (20, 50):
        for name, rule in ORDERS.items():
            shares = np.mean([lived(one, rule, size) for one in conversations], axis=0) * 100
            print(f"| {size} | {name} |" + "".join(f" {share:.1f} |" for share in shares))


if __name__ == "__main__":
    main()
