"""Re-query: the best hits become cues of a second round, for the seats that the first one left free.

The first round's answer stays as it is, so a second one never takes a hit away (recall at k cannot fall). What a hit
leads to has the relevancy of the hit times its cosine to the hit: a path is never stronger than its first step. It is
the spreading of activation (Collins and Loftus 1975, Psychological Review 82) by one step.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from . import scoring as formulas
from .entry import Tier
from .query import Query
from .scoring import Score
from .table import Table
from .verdicts import Candidate, Verdict, gap


def second_round(query: Query, found: Sequence[Candidate], tables: Mapping[Tier, Table]) -> tuple[Candidate, ...]:
    """What the best hits lead to, at most as many as there are seats free, the highest score first.

    Args:
        query: what was asked; its ``requery`` best hits become cues.
        found: the hits of the first round.
        tables: one table a tier; static memory leads on, and is not led to.
    """
    held = {one.entry.id for one in found}
    best: dict[str, tuple[float, Score, Candidate, Tier, int]] = {}
    admitted = {tier: query.facets.admit(tables[tier]) for tier in (Tier.STM, Tier.LTM)} if query.facets else {}
    first = sorted(found, key=lambda one: (-one.score.total, one.entry.id))[: query.requery]
    for hit in first:
        vector = tables[hit.entry.tier].vector(hit.entry.id)
        for tier in (Tier.STM, Tier.LTM):
            table = tables[tier]
            if not len(table):
                continue
            # of unit vectors 1 / (1 + distance) is 1 / (3 - 2 cos)
            cosines = 1.5 - 0.5 / formulas.relevancy(table.vectors, vector, table.columns["squares"][: len(table)])
            relevancies = hit.score.relevancy * np.clip(cosines, 0, 1)
            parts = formulas.score(cosines, table.importance, table.last_access, query.now, query.scoring)
            parts = dataclasses.replace(parts, relevancy=relevancies)  # not scaled again, where parts are scaled
            totals = parts.totals
            able = (totals > query.threshold) & admitted.get(tier, True)
            for row in np.flatnonzero(able).tolist():
                entry_id = table.ids[row]
                if entry_id not in held and (entry_id not in best or totals[row] > best[entry_id][0]):
                    best[entry_id] = float(totals[row]), parts.one(row), hit, tier, row
    ordered = sorted(best.items(), key=lambda one: (-one[1][0], one[0]))[: query.top_k - len(found)]
    return tuple(
        Candidate(
            tables[tier].entries[row],
            score,
            rank,
            Verdict.RECALLED,
            f"Found by way of “{hit.entry.document[:60]}”, {gap(total - query.threshold)} above the threshold.",
            hit.entry.id,
        )
        for rank, (_, (total, score, hit, tier, row)) in enumerate(ordered, start=1)
    )
