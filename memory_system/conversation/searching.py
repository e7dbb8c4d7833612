"""Searching external context: what was said, by text and meaning and by date, and the agent's life and documents.

Searching touches nothing and always gives the same result for the same memory, so that pages never overlap.

Sifting: the rows of a long table that answer a cue best, without an index of all its words.

Hybrid relevancy needs an index of the words of every text, which takes long for the messages of a talk over years. So
all rows are first ranked roughly: by the similarity of their vectors, by the words and the phrase of the cue in their
text, by their time, and by their neighbours in the conversation. The best of them are then compared exactly, with words
weighted by their rarity among all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from ..agent import AgentMemory
from ..core.entry import Kind, MemoryEntry, Tier
from ..core.memory import Vectors
from ..core.scoring import Floats, Measure, whole
from ..core.times import in_zone, moment_given, parse_time
from ..errors import InvalidParameter, shown
from ..llm.offline.listening import only_asks
from ..recall.hybrid import Cue, TextIndex, TokenStates, hybrid
from ..recall.hybrid.index import SATURATION
from ..recall.hybrid.mix import FIRST
from ..recall.hybrid.neighbours import Pairing
from ..recall.query import Facets, Query, checked_cue
from ..recall.rank import by_vectors
from ..recall.table import KINDS, Table
from ..recall.verdicts import NAMES
from .documents import whence
from .functions import Found, Page

POOL = 60
"""How many rows are compared exactly, and found at most. On the questions of LoCoMo (Maharana et al. 2024), 60 rows
give as many of the right turns among the first five as comparing all of them does."""
NEAR = 0.2
"""The cosine from which a text is found by its meaning alone; few unrelated texts reach it."""
SHARE, LEAST = 0.7, 0.2
"""The share of the best relevancy, and the least one, that a message needs to be found. On the questions of LoCoMo as
many of the right turns are among the first five as without this, and a third as many are found."""
ASKED = 0.3
"""The penalty for a message that is only a question, since it answers nothing."""
_SHORTEST = 2
"""How many characters a word or phrase must have to be searched for literally."""

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Places:
    """The positions of rows.

    Args:
        talks: shape (n,), a number for each conversation or document.
        turns: shape (n,), the position in it.
    """

    talks: NDArray[np.int32]
    turns: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sifted:
    """What was found, the best first.

    Args:
        rows: shape (m,), m at most ``POOL``.
        scores: shape (m,), 0 to 1.
        phrase: shape (m,), whether the text contains the cue literally.
    """

    rows: Rows
    scores: Floats
    phrase: NDArray[np.bool_]


class _Sample(TextIndex):
    """Some rows of a table, whose words are as rare as they are among all."""

    def __init__(self, rarities: dict[str, float]) -> None:
        super().__init__()
        self._rarities = rarities

    def rarity(self, stem: str) -> float:
        """How much a stem says, counted over the whole table for those of the cue."""
        known = self._rarities.get(stem)
        return super().rarity(stem) if known is None else known


def sift(table: Table, rows: Rows, places: Places, vector: Vectors, cue: Cue, tokens: TokenStates) -> Sifted:
    """The rows of a table that answer a cue, out of some of them.

    Args:
        table: the entries.
        rows: shape (n,), those that may be found.
        places: the position of each; neighbours help each other, as in ``recall.hybrid``.
        vector: the cue's, shape (d,).
        cue: the parsed cue.
        tokens: the token states of the embedder.

    Raises:
        EmbedderError: token states could not be computed.
    """
    if not len(rows):
        return Sifted(rows, np.zeros(0), np.zeros(0, np.bool_))
    similarity = table.relevancies(vector)[rows]
    lacking = np.isnan(similarity)
    cosine = np.where(lacking, 0.0, np.clip(1.5 - 0.5 / np.where(lacking, 1.0, similarity), 0.0, 1.0))
    folded = table.folded
    texts = [folded[row] for row in rows.tolist()]
    phrase = _holding(texts, " ".join(cue.text.split()).casefold().rstrip("?!. "))
    words, rarities = _words(texts, cue)
    pairing = Pairing.of(places.talks, places.turns)
    rough = FIRST.similarity * np.maximum(cosine, pairing.best(cosine))
    rough += FIRST.words * np.maximum(words, pairing.best(words)) + FIRST.dates * _within(table, rows, cue) + phrase
    found = (cosine >= NEAR) | (words > 0) | phrase
    pool = np.flatnonzero(found)
    if len(pool) > POOL:
        order = np.lexsort((table.id_ranks[rows[pool]], -rough[pool]))
        pool = np.sort(pool[order[:POOL]])
    return _compared(table, rows, places, pool, similarity, phrase, cue, tokens, rarities)


def _compared(
    table: Table,
    rows: Rows,
    places: Places,
    pool: Rows,
    similarity: Floats,
    phrase: NDArray[np.bool_],
    cue: Cue,
    tokens: TokenStates,
    rarities: dict[str, float],
) -> Sifted:
    index = _Sample(rarities)
    for place, at in enumerate(pool.tolist()):
        index.put(place, table.entries[int(rows[at])])
        index.neighbours.put(place, (str(places.talks[at]), int(places.turns[at])))
    values = np.nan_to_num(hybrid(cue, similarity[pool], index, tokens).values, nan=0.0)
    order = np.lexsort((table.id_ranks[rows[pool]], -values))
    return Sifted(rows[pool][order], values[order], phrase[pool][order])


def _words(texts: Sequence[str], cue: Cue) -> tuple[Floats, dict[str, float]]:
    """About what BM25 says of each text, 0 to 1, and how rare each of the cue's stems is among them."""
    total, most, rarities = np.zeros(len(texts)), 0.0, {}
    for word in {word.stem: word for word in cue.words}.values():
        holding = _holding(texts, _beginning(word.stem, word.plain))
        count = int(holding.sum())
        rarities[word.stem] = math.log(1 + (len(texts) - count + 0.5) / (count + 0.5))
        total += rarities[word.stem] * holding
        most += rarities[word.stem]
    return (total / (most * (SATURATION + 1)) if most else total), rarities


def _beginning(stem: str, word: str) -> str:
    """The beginning that all forms of a word share, judging by its stem: "happ" for "happy", whose stem is "happi"."""
    same = next((place for place, (letter, other) in enumerate(zip(stem, word, strict=False)) if letter != other), None)
    beginning = stem[:same] if same is not None else min(stem, word, key=len)
    return beginning if len(beginning) >= _SHORTEST else word


def _holding(texts: Sequence[str], piece: str) -> NDArray[np.bool_]:
    if len(piece) < _SHORTEST:
        return np.zeros(len(texts), np.bool_)
    return np.fromiter((piece in text for text in texts), np.bool_, len(texts))


def _within(table: Table, rows: Rows, cue: Cue) -> Floats:
    times = table.columns["timestamp"][rows]
    found = np.zeros(len(rows))
    for stretch in cue.asked:
        found[(times >= stretch.start) & (times < stretch.end)] = 1.0
    return found


PAGE = 5
"""Results on a page."""
_MOST_PAGE = 10**9
_MOST_SIZE = 100


def conversation_search(
    agent: AgentMemory,
    query: str,
    page: int = 0,
    *,
    conversation: str | None = None,
    at: datetime | None = None,
    size: int = PAGE,
    muted: Sequence[str] = (),
) -> Page:
    """Messages that answer a query, by text and meaning, the best first; touches nothing.

    Messages that contain the query literally come first, then the others; both by hybrid relevancy, with a penalty
    for mere questions. Earlier questions in the same words answer nothing, and come last. At most 60 messages are
    found, all with at least ``SHARE`` of the best one's relevancy.

    Args:
        agent: whose conversations; for an agent as it was, what had been said by then.
        query: what to search for, 1 to 32,000 characters.
        page: which page, from 0.
        conversation: the id of one conversation; all if not given.
        at: the world's time, from which "yesterday" counts.
        size: results on a page, 1 to 100.
        muted: ids of messages to leave out.

    Raises:
        InvalidParameter: one is out of its range.
        EmbedderError: the query could not be embedded.
    """
    now = _time(agent, at)
    cue = Cue.read(checked_cue(query), now)
    vector = agent.contents.cue_vector(cue.text)
    with agent.contents.shelf(Tier.RECALL) as table:
        rows = _said(table, conversation, muted)
        asked = _asked_before(table, rows, cue.text)
        others = rows[~asked]
        sifted = sift(table, others, _places(table, others), vector, cue, agent.contents.tokens)
        asks = np.array([only_asks(table.entries[int(row)].document) for row in sifted.rows], np.bool_)
        worth = sifted.scores - ASKED * asks
        matches = sifted.phrase | (sifted.scores >= max(LEAST, SHARE * sifted.scores.max(initial=0.0)))
        order = np.lexsort((np.arange(len(worth)), -worth, ~(sifted.phrase & ~asks)))
        order = order[matches[order]]
        found = np.concatenate([sifted.rows[order], rows[asked][::-1]])[:POOL]
        scores = np.concatenate([np.maximum(worth, 0.0)[order], np.zeros(len(found))])

        def item_at(place: int) -> Found:
            return _message(table, int(found[place]), float(scores[place]))

        return _page(page, size, len(found), item_at, now)


def conversation_search_date(
    agent: AgentMemory,
    start: str | datetime,
    end: str | datetime,
    page: int = 0,
    *,
    conversation: str | None = None,
    at: datetime | None = None,
    size: int = PAGE,
    muted: Sequence[str] = (),
) -> Page:
    """What was said between two dates or times, both included, the oldest first; touches nothing.

    Args:
        agent: whose conversations.
        start: a date such as ``2026-03-27``, from midnight on, or a time in ISO 8601; without a zone it is in
            that of ``at``.
        end: the same; a date is included to its end.
        page: which page, from 0.
        conversation: the id of one conversation; all if not given.
        at: the world's time.
        size: results on a page, 1 to 100.
        muted: ids of messages to leave out.

    Raises:
        InvalidParameter: one is out of its range or not a date, or the end is before the start.
    """
    now = _time(agent, at)
    since, until = _moment("The start", start, now, last=False), _moment("The end", end, now, last=True)
    if until < since:
        raise InvalidParameter(f"The end {shown(str(end))} is before the start {shown(str(start))}.")
    with agent.contents.shelf(Tier.RECALL) as table:
        rows = _said(table, conversation, muted)
        times = table.columns["timestamp"][rows]
        rows = rows[(times >= since.timestamp()) & (times <= until.timestamp())]
        rows = rows[np.lexsort((table.id_ranks[rows], table.columns["timestamp"][rows]))]
        return _page(page, size, len(rows), lambda place: _message(table, int(rows[place])), now)


def archival_search(
    agent: AgentMemory,
    query: str,
    page: int = 0,
    *,
    at: datetime | None = None,
    size: int = PAGE,
    muted: Sequence[str] = (),
) -> Page:
    """Memories and passages of documents that answer a query; touches nothing.

    Memories of STM and LTM are ranked by their recall score, so that they fade with time, and only those above the
    agent's threshold are found. Passages of documents do not fade: they are ranked by their hybrid relevancy alone. The
    two lists keep their order and are merged by the relevancy of the next item of each. At most 60 of each are found;
    ``source`` says which it is.

    Args:
        agent: whose memory.
        query: what to search for, 1 to 32,000 characters.
        page: which page, from 0.
        at: the world's time.
        size: results on a page, 1 to 100.
        muted: ids of memories and passages to leave out.

    Raises:
        InvalidParameter: one is out of its range.
        EmbedderError: the query could not be embedded.
    """
    moment = _time(agent, at)
    asked = agent.query(
        checked_cue(query),
        POOL,
        now=moment,
        static_threshold=1.0,  # static memory is in the prompt already
        static_share=0.0,
        facets=Facets(without=tuple(muted)),
        addressed=True,  # it is searched for what somebody said
    )
    lived = [(hit.score.relevancy, hit) for hit in agent.answer(asked) if hit.entry.tier is not Tier.STATIC]
    life = [
        (relevancy, _finding(hit.entry, f"{NAMES[hit.entry.tier]} memory", hit.score.total)) for relevancy, hit in lived
    ]
    found = list(_merged(life, _passages(agent, asked, set(muted))))
    return _page(page, size, len(found), lambda place: found[place], moment)


def _passages(agent: AgentMemory, asked: Query, muted: set[str]) -> list[tuple[float, Found]]:
    vector = agent.contents.cue_vector(asked.cue)
    with agent.contents.shelf(Tier.ARCHIVE) as table:
        rows = np.array([row for row, entry_id in enumerate(table.ids) if entry_id not in muted], np.intp)
        sifted = sift(table, rows, _places(table, rows), vector, Cue.read(asked.cue, asked.now), agent.contents.tokens)
        similarity: Floats = sifted.scores
        if len(sifted.rows):
            similarity = by_vectors(asked.scoring.measure, table, vector).values[sifted.rows]
        hybrid = asked.scoring.measure is Measure.HYBRID
        relevancies = sifted.scores if hybrid else similarity
        order = np.lexsort((np.arange(len(sifted.rows)), ~sifted.phrase))
        return [
            (
                float(relevancies[place]),
                _finding(entry := table.entries[int(sifted.rows[place])], whence(entry), float(sifted.scores[place])),
            )
            for place in order.tolist()
        ]


def _merged(first: Sequence[tuple[float, Found]], second: Sequence[tuple[float, Found]]) -> Iterator[Found]:
    """Two lists merged, keeping the order of each; of the next two items the more relevant goes first."""
    left, right = list(reversed(first)), list(reversed(second))
    while left or right:
        take = left if not right or (left and left[-1][0] >= right[-1][0]) else right
        yield take.pop()[1]


# -- what may be found ---------------------------------------------------------------------------------


def _said(table: Table, conversation: str | None, muted: Sequence[str]) -> Rows:
    """The rows of what was said by the one or the other, in the order in which it was said."""
    if conversation is not None and not isinstance(conversation, str):
        raise InvalidParameter("The conversation must be the id of one.")
    rows = np.flatnonzero(table.columns["kind"][: len(table)] == KINDS.index(Kind.CONVERSATION))
    if conversation is not None or muted:
        unwanted, beginning = set(muted), "" if conversation is None else f"{conversation}-"
        kept = (table.ids[row].startswith(beginning) and table.ids[row] not in unwanted for row in rows.tolist())
        rows = rows[np.fromiter(kept, np.bool_, len(rows))]
    return rows[np.argsort(table.id_ranks[rows])]


def _places(table: Table, rows: Rows) -> Places:
    """The positions of the rows: by the prefix of their id, and how many of it went before."""
    groups = [table.ids[row].rpartition("-")[0] for row in rows.tolist()]
    numbers: dict[str, int] = {}
    talks = np.fromiter((numbers.setdefault(group, len(numbers)) for group in groups), np.int32, len(groups))
    order = np.lexsort((table.id_ranks[rows], talks))
    turns = np.empty(len(rows), np.int64)
    turns[order] = np.arange(len(rows))
    return Places(talks, turns)


# -- pages ---------------------------------------------------------------------------------------------


def _page(page: int, size: int, total: int, item_at: Callable[[int], Found], now: datetime) -> Page:
    """A page of what was found, with its times in the zone of the world's time: a date means the day there."""
    number, most = whole("The page", page, 0, _MOST_PAGE), whole("The size of a page", size, 1, _MOST_SIZE)
    places = range(min(number * most, total), min((number + 1) * most, total))
    found = (item_at(place) for place in places)
    shown_in_zone = (replace(item, when=in_zone(item.when, now.tzinfo)) if item.when else item for item in found)
    return Page(tuple(shown_in_zone), number, total, most)


def _message(table: Table, row: int, score: float = 0.0) -> Found:
    entry = table.entries[row]
    return _finding(entry, str(entry.extras.get("speaker") or entry.extras.get("role")), score)


def _finding(entry: MemoryEntry, source: str, score: float) -> Found:
    return Found(entry.document, entry.timestamp, source, entry.id, score)


def _asked_before(table: Table, rows: Rows, query: str) -> NDArray[np.bool_]:
    """Which rows ask exactly the query: they answer nothing, and neither do their neighbours because of them."""
    bare, folded = query.casefold().strip("?？!. \n"), table.folded
    same = (folded[row] for row in rows.tolist())
    asked = (bare in text and text.rstrip().endswith(("?", "？")) and text.strip("?？!. \n") == bare for text in same)
    return np.fromiter(asked, np.bool_, len(rows))


def _time(agent: AgentMemory, at: datetime | None) -> datetime:
    return agent.now if at is None else moment_given("'at'", at)


def _moment(name: str, value: object, now: datetime, *, last: bool) -> datetime:
    """A date or time that a model or a person wrote."""
    text = value.isoformat() if isinstance(value, datetime) else value
    try:
        if not isinstance(text, str):
            raise InvalidParameter(f"{name} must be a date, not {shown(value)}.")
        moment = datetime.fromisoformat(text.strip())
        moment = parse_time(moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo))
    except (ValueError, OverflowError) as error:
        raise InvalidParameter(
            f"{name} {shown(value)} is not a date; write it like 2026-03-27 or 2026-03-27T18:00:00+00:00."
        ) from error
    day = last and len(text.strip()) <= len("2026-03-27")
    return moment + timedelta(days=1, microseconds=-1) if day and moment.year < datetime.max.year else moment
