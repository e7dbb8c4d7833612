"""Records to DataFrames. Imports no streamlit, so that every table can be tested on its own."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

import pandas as pd

from memory_system import Candidate, Change, ChangeSet, Kind, MemoryEntry, Query, Score, Source, Tier
from memory_system.agent_parts import OWN_SETTINGS, Precision
from memory_system.core import Finding, State, ago, badge
from memory_system.core import counted as number_with_noun
from memory_system.maintenance import Manifest
from memory_system.operations import was_said
from memory_system.recall import Explanation, Forecast
from memory_system.recall.hybrid import Evidence

from .zone import stamp

TIERS = {
    Tier.STATIC: "static",
    Tier.STM: "short-term",
    Tier.LTM: "long-term",
    Tier.RECALL: "messages",
    Tier.ARCHIVE: "documents",
}
MARKS = {"pinned": "pinned", "protected": "protected", "authored": "by a person"}
"""The labels of marks that a person gives a memory."""
counted = number_with_noun
"""A number with its noun: "1 memory", "2 memories"."""
_SENTENCE = re.compile(r"[.!?…](?=\s)")
SHADES = ("meaning", "words", "names", "times")
PAINT = {
    "recency": "#0072b2",
    "importance": "repeating-linear-gradient(45deg,#8a5f00 0 1px,#e69f00 1px 4px)",
    "relevancy": "#009e73",
    "meaning": "#009e73",
    "words": "color-mix(in srgb,#009e73 66%,#fff)",
    "names": "color-mix(in srgb,#009e73 36%,#fff)",
    "times": "color-mix(in srgb,#009e73 60%,#000)",
}
"""The background in CSS of each part of a score, and of each shade of relevancy: on every page the same."""
"""The parts of hybrid relevancy."""
_SHADE_OF = {"words": "words", "names": "names", "times": "times"}
"""All other parts count as meaning: that is most of what a memory gets from its neighbours."""
VERBS = {"add": "Remember", "forget": "Forget", "move": "Move to long-term", "update": "Change"}

_JOINED = r"[^\x00-\u024f\s\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
"""Between two of these a joiner is part of the spelling, as in Persian, in Hindi, and in emoji made of several."""
_HIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
    rf"|[\u200c\u200d](?!{_JOINED})|(?<!{_JOINED})[\u200c\u200d]"
)
_RIGHT_TO_LEFT = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
_TURNED = re.compile(_RIGHT_TO_LEFT)
_TURNED_WORDS = re.compile(rf"{_RIGHT_TO_LEFT}+(?:[ '’\u200c\u200d]{_RIGHT_TO_LEFT}+|\\?-{_RIGHT_TO_LEFT}+)*")


def visible(text: str) -> str:
    """Text from strangers on one line, without characters that hide or reorder the text around it."""
    return " ".join(_HIDDEN.sub("", text).split())


def lines(text: str) -> str:
    """Text with its lines as they are, without characters that hide or reorder the text around it."""
    return _HIDDEN.sub("", text)


def isolated(text: str) -> str:
    """Text in which right-to-left words keep their order, and do not reorder the text around them.

    A text that mostly consists of such words and begins with them, such as a memory in Arabic, is isolated as a whole;
    in an English sentence each name is.
    """
    letters = [letter for letter in text if letter.isalpha()]
    turned = len(_TURNED.findall("".join(letters)))
    if not turned:
        return text
    if _TURNED.match(letters[0]) and 2 * turned > len(letters):
        return f"\u2067{text}\u2069"
    return _TURNED_WORDS.sub("\u2067\\g<0>\u2069", text)


def reading(text: str) -> str:
    """Text from strangers on one line, with its own direction even where the first letter would set it.

    A sentence in English that begins with a name in Arabic is not in Arabic.
    """
    shown = visible(text)
    apart = isolated(shown)
    return shown if apart.startswith("\u2067") and apart.endswith("\u2069") and apart[1:-1] == shown else apart


def exact(moment: datetime) -> str:
    """The exact time with its zone: "Fri 27 Mar 2026, 18:00 UTC"."""
    return stamp(moment)


def megabytes(size: int) -> str:
    """A size in bytes, in words."""
    return f"{size / 1e6:,.1f} MB"


def line_diff(before: str, after: str) -> str:
    """The lines that differ, marked with - and +, with a line of context."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1))
    return "\n".join(lines[2:])


def short(text: str, most: int) -> str:
    """The beginning of a text on one line, with an ellipsis if there is more."""
    line = visible(text)
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def sentences(text: str, most: int) -> str:
    """The first sentences of a text, as many as fit; if the first is too long, its beginning."""
    line = visible(text)
    if len(line) <= most:
        return line
    ends = [found.end() for found in _SENTENCE.finditer(line[:most])]
    return line[: ends[-1]] if ends else short(line, most)


def findings(found: Sequence[Finding]) -> pd.DataFrame:
    """What a check found, problems first."""
    order = [State.WRONG, State.REPAIRED, State.NOTE, State.RIGHT]
    rows = [
        {
            "state": _STATES[finding.state],
            "whose": visible(finding.agent) or "the world",
            "what": finding.what,
            "finding": visible(finding.sentence),
        }
        for finding in sorted(found, key=lambda finding: order.index(finding.state))
    ]
    return pd.DataFrame(rows, columns=["state", "whose", "what", "finding"])


_STATES = {State.WRONG: "✗ wrong", State.REPAIRED: "⟳ repaired", State.NOTE: "ⓘ note", State.RIGHT: "✓ right"}


def backed_up(manifest: Manifest) -> pd.DataFrame:
    """Whose memories a backup holds; with what was wrong then, if anything was."""
    rows = [
        {
            "character": visible(
                f"{agent.shown or agent.name}{' (rehearsal)' if agent.name in manifest.rehearsals else ''}"
            ),
            "memories": agent.lived,
            "changes": agent.revision,
            "problem": visible(agent.problem),
        }
        for agent in manifest.agents
    ]
    frame = pd.DataFrame(rows, columns=["character", "memories", "changes", "problem"])
    return frame if frame["problem"].any() else frame.drop(columns="problem")


def candidates(some: Iterable[Candidate]) -> pd.DataFrame:
    """Candidates with their weighted parts, the recalled first, then by score; a row's parts add up to its score."""
    frame = pd.DataFrame([_candidate(candidate) for candidate in some], columns=_CANDIDATE_COLUMNS)
    return frame.sort_values(["recalled", "score"], ascending=False, kind="stable", ignore_index=True)


_CANDIDATE_COLUMNS = [
    "id",
    "memory",
    "tier",
    "recency",
    "importance",
    "relevancy",
    "shades",
    "told",
    "score",
    "confidence",
    "verdict",
    "why",
    "marks",
    "recalled",
]


def tier(entry: MemoryEntry) -> str:
    """Where a memory is from: its tier; for a fact of the world, "world" or the group that knows it."""
    return badge(entry) or TIERS[entry.tier]


def _candidate(candidate: Candidate) -> dict[str, object]:
    parts = candidate.score.parts
    return {
        "id": candidate.entry.id,
        "memory": visible(candidate.entry.document),
        "tier": tier(candidate.entry),
        **parts,
        "shades": shades(candidate.score),
        "told": _parts_in_words(candidate.score),
        "score": candidate.score.total,
        "confidence": candidate.score.confidence,
        "verdict": candidate.verdict.value,
        "why": candidate.because,
        "marks": marks(candidate.entry),
        "recalled": candidate.recalled,
    }


def axis(query: Query) -> float:
    """The score at the right end of every bar: the highest that the weights allow, above 0."""
    weights = query.scoring.weights
    return max(weights.recency + weights.importance + weights.relevancy, 1.0)


def _parts_in_words(score: Score) -> str:
    """Each part that adds something: what it is, its weight, and what that adds."""
    alone = score.recency is None or score.importance is None
    weights = {"recency": score.weights.recency, "importance": score.weights.importance,
               "relevancy": 1.0 if alone else score.weights.relevancy}  # fmt: skip
    return " · ".join(
        f"{name} {added / weights[name]:.2f} × {weights[name]:g} = {added:.2f}"
        for name, added in score.parts.items()
        if added and weights[name]
    )


def shades(score: Score) -> dict[str, float]:
    """What relevancy adds to a score, by meaning, words, names and times; undivided if it has no parts."""
    made_of: dict[str, float] = {}
    for name, value in score.sub_parts.items():
        shade = _SHADE_OF.get(name, "meaning")
        made_of[shade] = made_of.get(shade, 0.0) + value
    whole, added = sum(made_of.values()), score.parts["relevancy"]
    return {name: added * value / whole for name, value in made_of.items()} if whole > 0 else {"relevancy": added}


def compared(first: Sequence[Candidate], second: Sequence[Candidate]) -> pd.DataFrame:
    """What two answers recall, in the order of the second, then what only the first does; ranks count from 1."""
    before = {hit.entry.id: (rank, hit) for rank, hit in enumerate(first, start=1)}
    after = {hit.entry.id: (rank, hit) for rank, hit in enumerate(second, start=1)}
    rows = []
    for entry_id in dict.fromkeys([*after, *before]):
        old, new = before.get(entry_id), after.get(entry_id)
        pair = new or old
        assert pair is not None, "it is in one of the two"
        moved = "moves" if old and new and old[0] != new[0] else "stays"
        rows.append(
            {
                "id": entry_id,
                "change": moved if old and new else "enters" if new else "leaves",
                "memory": visible(pair[1].entry.document),
                "first": old[0] if old else None,
                "second": new[0] if new else None,
                "first score": old[1].score.total if old else None,
                "second score": new[1].score.total if new else None,
            }
        )
    columns = ["id", "change", "memory", "first", "second", "first score", "second score"]
    return pd.DataFrame(rows, columns=columns)


def evidence(found: Evidence) -> list[str]:
    """What in a memory matched the cue, one line per sort."""
    lines = []
    if found.words:
        lines.append("words: " + ", ".join(f"{word.cue} ({word.share:.0%} of the cue)" for word in found.words))
    if found.pairs:
        pairs = (f"{pair.cue} ~ {pair.memory} {pair.cosine:.2f}" for pair in found.pairs)
        lines.append("tokens nearest in meaning: " + ", ".join(pairs))
    if found.names:
        lines.append("named in the cue: " + ", ".join(found.names))
    if found.asked_for:
        lines.append("the cue asks for this part of the personality")
    lines += [f"time: {date.cue} ~ {date.memory or 'when it happened'}" for date in found.dates]
    if found.tells_when:
        lines.append("the cue asks when, and it names a time")
    if found.neighbour:
        lines.append("helped by its neighbour in the conversation")
    if found.asks:
        lines.append("it ends with a question, so each part counts a little less")
    return [visible(line) for line in lines]


def forgetting(forecast: Forecast) -> str:
    """When a memory falls out of an answer and why, or why it does not."""
    if forecast.leaves is None:
        return forecast.because
    return f"It drops out of this answer on {exact(forecast.leaves)}. {forecast.because}"


def precisions(found: Mapping[str, Precision]) -> pd.DataFrame:
    """How each preset does for one cue, according to the judgments; no precision where there are none."""
    rows = [
        {
            "preset": "this character's" if name == OWN_SETTINGS else name,
            "precision": precision.value,
            "right": precision.right,
            "wrong": precision.wrong,
            "not judged": precision.unjudged,
        }
        for name, precision in found.items()
    ]
    return pd.DataFrame(rows, columns=["preset", "precision", "right", "wrong", "not judged"])


def marks(entry: MemoryEntry, stale: Collection[str] = ()) -> list[str]:
    """A memory's marks, and whether it is among the ``stale``."""
    return [word for flag, word in MARKS.items() if getattr(entry, flag)] + ["stale"] * (entry.id in stale)


def importance(entry: MemoryEntry) -> str:
    """How important a memory is, in words."""
    return "unrated" if entry.importance is None else f"importance {entry.importance:.2f}"


def told_apart(entry: MemoryEntry) -> str:
    """A line that distinguishes a memory from another with the same text."""
    when = stamp(entry.timestamp) if entry.timestamp else "timeless"
    return " · ".join([entry.kind.value, TIERS[entry.tier], when, importance(entry), *marks(entry)])


def nearest(found: Explanation) -> str:
    """What came nearest if nothing passed the threshold, and why it did not; empty if something passed."""
    near = found.nearest
    return f"“{short(near.entry.document, 160)}” {near.because.removeprefix('It ')}" if near else ""


def room(memories: Sequence[MemoryEntry], size: int, called: str) -> str:
    """How full short-term memory is: "20 of 20 remembered"; what was said in talks has as much room of its own."""
    said = sum(map(was_said, memories))
    from_talks = f", and {said:,} of {size:,} from talks" if said else ""
    return f"{len(memories) - said:,} of {size:,} {called}{from_talks}"


def too_many(memories: Sequence[MemoryEntry], size: int) -> int:
    """How many of these are too many for short-term memory, of experiences and of what was said in talks."""
    said = sum(map(was_said, memories))
    return sum(max(0, many - size) for many in (len(memories) - said, said))


def marked(frame: pd.DataFrame) -> str:
    """How many rows carry each mark: "2 pinned · 14 by a person"; empty if none does."""
    counts = Counter(word for words in frame["marks"] for word in words)
    return " · ".join(f"{counts[word]:,} {word}" for word in (*MARKS.values(), "stale") if counts[word])


def with_stale(frame: pd.DataFrame, stale: Collection[str]) -> pd.DataFrame:
    """The rows, with stale memories marked as such."""
    if not stale:
        return frame
    pairs = zip(frame["id"], frame["marks"], strict=True)
    words = [(*marks, "stale") if entry_id in stale else tuple(marks) for entry_id, marks in pairs]
    return frame.assign(marks=pd.Series(words, index=frame.index, dtype=object))


def entries(
    found: Iterable[MemoryEntry], now: datetime, migration: ChangeSet, stale: Collection[str] = ()
) -> pd.DataFrame:
    """Memories, the newest first, with their age, marks, and what ``migration``, a preview, would do with them."""
    fates = {change.entry_id: f"{VERBS[change.verb]}: {change.reason}" for change in migration.changes}
    fates |= {kept.entry_id: f"Stays: {kept.reason}" for kept in migration.kept}
    fits = "it is among those that fit" if fates else "all of them fit into short-term memory"
    rows = [
        {
            "id": entry.id,
            "memory": visible(entry.document),
            "kind": entry.kind.value,
            "when": entry.timestamp,
            "age": ago(entry.timestamp, now) if entry.timestamp else "timeless",
            "importance": entry.importance,
            "explanation": visible(entry.explanation),
            "tags": list(entry.tags),
            "marks": marks(entry, stale),
            "fate": fates.get(entry.id, f"Stays: {fits}."),
        }
        for entry in found
    ]
    columns = ["id", "memory", "kind", "when", "age", "importance", "explanation", "tags", "marks", "fate"]
    return pd.DataFrame(rows, columns=columns).sort_values("when", ascending=False, ignore_index=True)


def timeline(found: Iterable[MemoryEntry]) -> pd.DataFrame:
    """Memories with a time, the oldest first, for the timeline."""
    rows = [
        {
            "id": entry.id,
            "memory": visible(entry.document),
            "kind": entry.kind.value,
            "when": happens(entry),
            "importance": entry.importance if entry.importance is not None else 0.0,
            "tags": entry.tags,
            "marks": tuple(marks(entry)),
        }
        for entry in found
        if entry.timestamp is not None
    ]
    frame = pd.DataFrame(rows, columns=["id", "memory", "kind", "when", "importance", "tags", "marks"])
    frame["when"] = pd.to_datetime(frame["when"], utc=True)
    return frame.sort_values("when", ignore_index=True)


def happens(entry: MemoryEntry) -> datetime | None:
    """When a memory happened or a planned action will: plans made at one moment would share one point."""
    day, start = entry.extras.get("plan_day"), entry.extras.get("start")
    if entry.kind is Kind.PLAN and entry.timestamp and isinstance(day, str) and isinstance(start, str):
        try:
            return datetime.fromisoformat(f"{day}T{start}").replace(tzinfo=entry.timestamp.tzinfo)
        except ValueError:
            return entry.timestamp
    return entry.timestamp


SOURCES = {
    Source.SAW: "saw it",
    Source.HEARD: "heard it",
    Source.TOLD: "was told",
    Source.READ: "read it",
    Source.DERIVED: "worked it out",
}
"""How a character came to know of something, for people."""


def scene(entry: MemoryEntry) -> dict[str, str]:
    """How a character came to know of a memory, who is in it and where it happened; unknown values are left out."""
    values = {
        "Source": SOURCES[entry.source] if entry.source else "",
        "People": ", ".join(entry.people),
        "Place": entry.place,
    }
    return {name: value for name, value in values.items() if value}


def tag_counts(frame: pd.DataFrame) -> dict[str, int]:
    """How many rows carry each tag, the most frequent first."""
    return {str(tag): int(count) for tag, count in frame["tags"].explode().dropna().value_counts().items()}


def facts(found: Iterable[MemoryEntry]) -> pd.DataFrame:
    """Static memory by section."""
    rows = [
        {"section": str(entry.extras.get("section", "")).replace("_", " "), "fact": visible(entry.document)}
        for entry in found
    ]
    return pd.DataFrame(rows, columns=["section", "fact"]).sort_values("section", kind="stable", ignore_index=True)


def action(change: Change) -> str:
    """What happens to a memory, in a word; one that moves may move back."""
    if change.verb == "move" and change.after is not None:
        return f"Move to {TIERS[change.after.tier]}"
    return VERBS[change.verb]
