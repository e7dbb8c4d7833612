"""Two presets, judged blind: on how many cues one is better, how sure that is, and how many judgments are missing.

A cue counts once everything that only one of the two recalls has been judged; what both recall says nothing about
either. The better one has more judged right, less what was judged wrong. Whether one is better more often than the
other is decided by the exact two-sided sign test (Conover 1999, "Practical Nonparametric Statistics", section 3.4). The
number of cues that are needed is that of a binomial test of 5 % with a power of 80 %,

    n = ((1.96 * 0.5 + 0.84 * sqrt(p (1 - p))) / (p - 0.5))^2

with p the share of the cues on which the leading one is better, (lead + 1) / (n + 2), and at least 0.6: a smaller lead
is not worth waiting for. Stopping as soon as one is ahead finds one ahead too often: judge as many as are needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from .cues import Judgment

LEVEL = 0.05
MOST_JUDGED = 200
"""The number of latest judged cues that are counted: both presets are run on each."""
_LEAST_LEAD = 0.6


@dataclass(frozen=True)
class Versus:
    """The result of comparing two presets by judgments.

    Args:
        first: cues on which the first is better.
        second: cues on which the second is better.
        equal: cues on which neither is.
        unjudged: judged cues on which something that only one of them recalls has not been judged.
    """

    first: int = 0
    second: int = 0
    equal: int = 0
    unjudged: int = 0

    @property
    def p_value(self) -> float:
        """How often a difference at least as large comes by chance, 0 to 1."""
        n, most = self.first + self.second, max(self.first, self.second)
        tail = sum(math.comb(n, count) for count in range(most, n + 1))
        return min(1.0, 2 * tail / float(2**n))

    @property
    def needed(self) -> int:
        """On how many more cues one has to be better for a decision; 0 if there is one."""
        n, most = self.first + self.second, max(self.first, self.second)
        if self.p_value <= LEVEL:
            return 0
        p = max(_LEAST_LEAD, (most + 1) / (n + 2))
        total = math.ceil(((1.96 * 0.5 + 0.84 * math.sqrt(p * (1 - p))) / (p - 0.5)) ** 2)
        return max(1, total - n)


def deciding(first: Iterable[str], second: Iterable[str]) -> set[str]:
    """The ids that only one of the two recalls: those have to be judged for a cue to count."""
    return set(first) ^ set(second)


def versus(judged: Iterable[tuple[Judgment, Iterable[str], Iterable[str]]]) -> Versus:
    """Count the cues.

    Args:
        judged: each cue's judgment with the ids that the first and the second recall for it.
    """
    counts = {"first": 0, "second": 0, "equal": 0, "unjudged": 0}
    for judgment, first, second in judged:
        alone, ours = deciding(first, second), set(first)
        if any(judgment.verdict(entry_id) is None for entry_id in alone):
            counts["unjudged"] += 1
            continue
        lead, other = (
            sum(1 if judgment.verdict(entry_id) else -1 for entry_id in ids) for ids in (alone & ours, alone - ours)
        )
        counts["first" if lead > other else "second" if other > lead else "equal"] += 1
    return Versus(**counts)
