"""Logged queries, and what became of them, as DataFrames. Imports no streamlit."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from datetime import datetime

import pandas as pd

from memory_system import Query
from memory_system.agent_parts import Relived, Shift
from memory_system.store import LoggedQuery

from ...data.tables import counted, tier, visible
from ...data.zone import stamp

WORDS = {Shift.LEFT: "left", Shift.ENTERED: "came in", Shift.MOVED: "moved"}
_NAMED = {
    "top_k": "top-k",
    "threshold": "threshold",
    "static_threshold": "static threshold",
    "static_share": "static share",
    "scoring": "weights",
}


def queries(logged: Sequence[LoggedQuery]) -> pd.DataFrame:
    """Logged queries in the given order (the newest first), with the world's time and the real one."""
    rows = [
        {
            "number": logged_query.number,
            "cue": visible(logged_query.query.cue),
            "recalled": logged_query.recalled,
            "who": visible(logged_query.author),
            "world time": logged_query.query.now,
            "asked": logged_query.asked_at,
        }
        for logged_query in logged
    ]
    return pd.DataFrame(rows, columns=["number", "cue", "recalled", "who", "world time", "asked"])


def circumstances(logged: LoggedQuery) -> str:
    """Who asked, when by both clocks, with what, and whether it counted, in one line."""
    words = [
        f"asked by {logged.author}",
        f"in the story {stamp(logged.query.now)}",
        f"at the desk {stamp(logged.asked_at)}",
        f"{counted(logged.recalled, 'memory', 'memories')} recalled",
        "which renewed their recency" if logged.touched else "which left their recency as it was",
    ]
    named = [_NAMED[name] for name in logged.given if name in _NAMED]
    words.append(f"the caller named {', '.join(named)}" if named else "all from the character's settings")
    return " · ".join(words)


def summary(relived: Relived) -> str:
    """In a sentence, how many memories of the two answers are the same and how many are not."""
    same = {hit.entry.id for hit in relived.then.hits} & {hit.entry.id for hit in relived.now.hits}
    counts = {shift: sum(difference.shift is shift for difference in relived.differences) for shift in WORDS}
    if not relived.differences:
        if not same:
            return "Nothing was recalled then, and nothing would be now."
        return f"Asked now, the same {counted(len(same), 'memory is', 'memories are')} recalled, in the same order."
    parts = [f"{count} {WORDS[shift]}" for shift, count in counts.items() if count]
    return f"{counted(len(same), 'memory is', 'memories are')} recalled both then and now; {', '.join(parts)}."


def parameters(then: Query, now: Query) -> pd.DataFrame:
    """All parameters then and now, one row per parameter; facets only if there are any."""
    rows = [
        {"parameter": words, "then": read(then), "now": read(now), "": "" if read(then) == read(now) else "differs"}
        for words, read in _PARAMETERS.items()
    ]
    facets = [_facets(query) for query in (then, now)]
    for name in dict.fromkeys([*facets[0], *facets[1]]):
        before, after = (facet.get(name, "") for facet in facets)
        rows.append(
            {"parameter": f"only: {name}", "then": before, "now": after, "": "" if before == after else "differs"}
        )
    return pd.DataFrame(rows, columns=["parameter", "then", "now", ""])


_PARAMETERS: dict[str, Callable[[Query], str]] = {
    "asked at, in the story": lambda query: stamp(query.now),
    "top-k": lambda query: f"{query.top_k}",
    "threshold": lambda query: f"{query.threshold:.2f}",
    "static threshold": lambda query: f"{query.static_threshold:.2f}",
    "static share": lambda query: f"{query.static_share:.2f}",
    "weight of recency": lambda query: f"{query.scoring.weights.recency:.2f}",
    "weight of importance": lambda query: f"{query.scoring.weights.importance:.2f}",
    "weight of relevancy": lambda query: f"{query.scoring.weights.relevancy:.2f}",
    "decay": lambda query: f"{query.scoring.decay:g}",
    "decay by": lambda query: query.scoring.decay_form.value,
    "relevancy by": lambda query: query.scoring.measure.value,
    "parts scaled by their min and max": lambda query: "yes" if query.scoring.normalise else "no",
    "seats by": lambda query: query.scoring.seats.value,
    "threshold of the": lambda query: query.scoring.passing.value,
    "hits for a second round": lambda query: f"{query.requery}",
    "asked too": lambda query: visible(", ".join(query.instances)),
}


def _facets(query: Query) -> dict[str, str]:
    """What narrowed a query, by name, in words."""
    found = {}
    for name, value in dataclasses.asdict(query.facets).items():
        if value not in (None, (), ""):
            words = stamp(value) if isinstance(value, datetime) else value
            found[name.replace("_", " ")] = visible(", ".join(words) if isinstance(words, tuple) else str(words))
    return found


def shifted(relived: Relived, most: int) -> pd.DataFrame:
    """The memories of either answer with their scores then and now, at most ``most``: those that differ come first.

    A score is missing if the memory did not exist; ``recalled then`` and ``recalled now`` say whether it was in the
    answer.
    """
    then, now = relived.then, relived.now
    ids = [difference.entry_id for difference in relived.differences]
    ids += [hit.entry.id for hit in now.hits]
    differing = {difference.entry_id: WORDS[difference.shift] for difference in relived.differences}
    rows = []
    for entry_id in list(dict.fromkeys(ids))[:most]:
        before, after = then.candidates.of(entry_id), now.candidates.of(entry_id)
        shown = after or before
        assert shown is not None, "it is in one of the answers"
        rows.append(
            {
                "id": entry_id,
                "memory": visible(shown.entry.document),
                "tier": tier(shown.entry),
                "shift": differing.get(entry_id, "stayed"),
                "then": None if before is None else before.score.total,
                "now": None if after is None else after.score.total,
                "recalled then": before is not None and before.recalled,
                "recalled now": after is not None and after.recalled,
            }
        )
    columns = ["id", "memory", "tier", "shift", "then", "now", "recalled then", "recalled now"]
    return pd.DataFrame(rows, columns=columns)
