"""TextIndex: what one tier's texts contain besides their vectors, updated entry by entry.

An index of our own, since the well-maintained BM25 libraries score a complete corpus: none can add or remove a text
without rebuilding everything. The stemmer is a library's.
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import chain, pairwise, repeat
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ...core.entry import Kind, MemoryEntry
from ...core.languages import rules_of
from .cue import Cue
from .dates import Stretch, mentions_time, names_a_part, stretches
from .fields import of_fields
from .neighbours import Neighbours, place_of
from .speakers import heard, speaker_of
from .words import plain, stems, wording

Floats = NDArray[np.float64]

SATURATION = 1.2
"""BM25's k1: how much the second and third occurrence of a word count."""
LENGTH_SHARE = 0.75
"""BM25's b: how strongly long texts are discounted."""
FORM = 6
"""Increases when texts are read in another way: a saved index of an older form is then discarded."""


class Lines(Protocol):
    """Saved entries, each accessed by its number."""

    def entry(self, number: int, /) -> MemoryEntry:
        """One entry."""
        ...

    def document(self, number: int, /) -> str:
        """The document of one entry."""
        ...


class TextIndex:
    """Rows without gaps, like the caller's: entry i is row i. Not thread-safe; to change it, hold the lock."""

    def __init__(self) -> None:
        self._entries: list[MemoryEntry] = []
        self._rows_of: dict[str, array[int]] = {}  # by stem: the rows that contain it, unordered
        self._counts_of: dict[str, array[int]] = {}  # and how often each does
        self._told_again: Counter[str] = Counter()  # by stem: how many of its rows repeat the words of another
        self._repeats = 0
        self._lengths = array("l")
        self._length = 0
        self._wordings = array("q")  # a number for each row's words and speaker; 0 = no word counts
        self._times = array("d")  # Unix seconds; NaN = timeless
        self._speakers = array("i")  # below 0 = nobody speaks
        self._heard = array("i")  # the same, including events that read as if somebody spoke
        self._numbers: dict[str, int] = {}  # of the speakers
        self._spoken: Counter[str] = Counter()
        self._heard_of: Counter[str] = Counter()
        self._languages: Counter[str] = Counter()
        self._mentions: dict[int, tuple[Stretch, ...]] = {}
        self._tells: set[int] = set()
        self._neighbours = Neighbours()

    def parts(self) -> dict[str, NDArray[Any]]:
        """Everything read from the texts, as arrays for a file; ``restored`` turns them back into an index."""
        mentions = [(row, stretch) for row, stretches in self._mentions.items() for stretch in stretches]
        names = {
            "form": FORM,
            "stems": list(self._rows_of),
            "told_again": self._told_again,
            "repeats": self._repeats,
            "speakers": list(self._numbers),
            "spoken": self._spoken,
            "heard_of": self._heard_of,
            "languages": self._languages,
            "told": [(stretch.words, stretch.relative) for _row, stretch in mentions],
        }
        return {
            "names": np.frombuffer(json.dumps(names).encode(), np.uint8),
            "held": np.fromiter(map(len, self._rows_of.values()), np.int64),
            "rows": np.fromiter(chain.from_iterable(self._rows_of.values()), np.int32),
            "counts": np.fromiter(chain.from_iterable(self._counts_of.values()), np.int32),
            "lengths": np.array(self._lengths, np.int64),
            "wordings": self.wordings,
            "times": np.array(self._times, np.float64),
            "spoken_by": np.array(self._speakers, np.int32),
            "heard_from": np.array(self._heard, np.int32),
            "tells": np.fromiter(self._tells, np.int64),
            "told_rows": np.array([row for row, _one in mentions], np.int64),
            "told_times": np.array([(stretch.start, stretch.end) for _row, stretch in mentions], np.float64).reshape(
                -1, 2
            ),
            "told_places": np.array([stretch.place for _row, stretch in mentions], np.int64).reshape(-1, 2),
            **self._neighbours.parts(),
        }

    @classmethod
    def restored(cls, parts: Mapping[str, NDArray[Any]], saved: Lines) -> Self:
        """The index that ``parts`` came from, without reading a text.

        Args:
            parts: the result of ``parts``.
            saved: where the entries are; each is read only when it is needed.

        Raises:
            ValueError: they were made by another version of this index.
        """
        names = json.loads(parts["names"].tobytes())
        if names["form"] != FORM:
            raise ValueError(f"The kept index has form {names['form']}, not {FORM}.")
        index = cls()
        index._entries = _Read(range(len(parts["lengths"])), saved, {})
        ends = np.concatenate([[0], np.cumsum(parts["held"])]).tolist()
        for name, part in (("_rows_of", "rows"), ("_counts_of", "counts")):
            numbers = array("i", parts[part].tobytes())
            lists = (numbers[start:end] for start, end in pairwise(ends))
            setattr(index, name, dict(zip(names["stems"], lists, strict=True)))
        index._lengths = array("l", parts["lengths"].tolist())
        index._length = int(parts["lengths"].sum())
        index._wordings = array("q", parts["wordings"].tobytes())
        index._told_again, index._repeats = Counter(names["told_again"]), names["repeats"]
        index._times = array("d", parts["times"].tobytes())
        index._speakers = array("i", parts["spoken_by"].tobytes())
        index._heard = array("i", parts["heard_from"].tobytes())
        index._numbers = {name: number for number, name in enumerate(names["speakers"])}
        index._spoken, index._heard_of = Counter(names["spoken"]), Counter(names["heard_of"])
        index._languages = Counter(names["languages"])
        index._tells = set(parts["tells"].tolist())
        columns = (parts[name].tolist() for name in ("told_rows", "told_times", "told_places"))
        for (words, relative), row, (start, end), place in zip(names["told"], *columns, strict=True):
            index._mentions[row] = (*index._mentions.get(row, ()), Stretch(words, start, end, tuple(place), relative))
        index._neighbours = Neighbours.restored(parts)
        return index

    def __len__(self) -> int:
        return len(self._entries)

    def copied(self) -> Self:
        """A copy of the index, independent of this one: quicker than reading the texts again."""
        other = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, list | array | dict | set):
                setattr(other, name, copy.copy(value))
        other._rows_of = {stem: rows[:] for stem, rows in self._rows_of.items()}
        other._counts_of = {stem: counts[:] for stem, counts in self._counts_of.items()}
        other._neighbours = self._neighbours.copied()
        return other

    @property
    def entries(self) -> Sequence[MemoryEntry]:
        """The entries by row."""
        return self._entries

    def document(self, row: int) -> str:
        """The document of a row, without reading the whole entry."""
        entries = self._entries
        return entries.document(row) if isinstance(entries, _Read) else entries[row].document

    @property
    def speakers(self) -> frozenset[str]:
        """The speakers of the turns that begin with a name and a colon, in lower case."""
        return frozenset(self._spoken)

    @property
    def heard_of(self) -> Mapping[str, int]:
        """Who speaks, in lower case, and how often; including events such as "Sam said ..."."""
        return self._heard_of

    def speaks(self, names: frozenset[str]) -> NDArray[np.bool_]:
        """The rows in which one of these speaks, including events that only read so, shape (n,)."""
        numbers = [self._numbers[name] for name in names if name in self._numbers]
        return np.isin(np.array(self._heard, np.int32), numbers)

    @property
    def times(self) -> Floats:
        """Shape (n,): when each happened, in Unix seconds; NaN = timeless."""
        return np.array(self._times)

    @property
    def length(self) -> int:
        """The number of significant words in all texts together."""
        return self._length

    def speaker(self, row: int) -> str:
        """Who speaks in a row, in lower case; empty if nobody does."""
        name, _said = _spoken(self._entries[row])
        return plain(name)

    def mentions(self, row: int) -> tuple[Stretch, ...]:
        """The periods of time that a row's text names, relative to the row's own time."""
        return self._mentions.get(row, ())

    @property
    def neighbours(self) -> Neighbours:
        """Which rows are neighbours in a conversation."""
        return self._neighbours

    def put(self, row: int, entry: MemoryEntry) -> None:
        """Set an existing row, or the next one.

        Raises:
            IndexError: it is neither; there must be no gaps.
        """
        if not 0 <= row <= len(self._entries):
            raise IndexError(f"Row {row} would leave a gap: the index holds {len(self._entries)} rows.")
        if row < len(self._entries):
            if _same(self._entries[row], entry):
                self._entries[row] = entry
                return
            self._leave(row)
            self._entries[row] = entry
        else:
            self._entries.append(entry)
            self._lengths.append(0)
            self._wordings.append(0)
            self._times.append(math.nan)
            self._speakers.append(-1)
            self._heard.append(-1)
        self._enter(row)

    def move(self, from_row: int, to_row: int) -> None:
        """Let the last row replace another one, which is removed.

        Raises:
            IndexError: ``from_row`` is not the last one, or there is no ``to_row``.
        """
        if from_row != len(self._entries) - 1 or not 0 <= to_row <= from_row:
            raise IndexError(f"Only the last row ({len(self._entries) - 1}) may move to another one.")
        if from_row != to_row:
            entry = self._entries[from_row]
            self.drop_last()
            self.put(to_row, entry)

    def drop_last(self) -> None:
        """Remove the last row.

        Raises:
            IndexError: there is no row.
        """
        row = len(self._entries) - 1
        if row < 0:
            raise IndexError("The index holds no rows.")
        self._leave(row)
        self._entries.pop()
        self._lengths.pop()
        self._wordings.pop()
        self._times.pop()
        self._speakers.pop()
        self._heard.pop()
        self._neighbours.drop_last()

    def rarity(self, stem: str) -> float:
        """How significant a stem is: BM25's idf, from about 0 (in every text) up; highest if no text contains it.

        Repetitions in the same words count once: they make no word common.
        """
        return rarity(self.texts_with(stem), self.texts)

    @property
    def texts(self) -> int:
        """The number of distinct texts."""
        return len(self) - self._repeats

    def texts_with(self, stem: str) -> int:
        """The number of distinct texts that contain a stem."""
        return len(self._rows_of.get(stem, ())) - self._told_again[stem]

    @property
    def wordings(self) -> NDArray[np.int64]:
        """A number for each row's words and speaker, shape (n,); 0 = no word counts, and it repeats nothing."""
        return np.array(self._wordings, np.int64)

    def holders(self, stem: str) -> NDArray[np.intp]:
        """The rows whose text contains a stem, unordered."""
        return np.array(self._rows_of.get(stem, ()), np.intp)

    def words(self, cue_stems: Sequence[str]) -> Floats:
        """BM25 of a cue's distinct stems, shape (n,), as a share of the most that any text could have: 0 to 1."""
        if not len(self):
            return np.zeros(0)
        return self.weighed({stem: self.rarity(stem) for stem in cue_stems}, self._length / len(self))

    def weighed(self, weights: Mapping[str, float], mean: float) -> Floats:
        """As ``words``, for stems with these weights, if texts have ``mean`` words on average."""
        found = np.zeros(len(self))
        most = sum(weights.values()) * (SATURATION + 1)
        lengths, mean = np.array(self._lengths), max(mean, 1.0)
        for stem, weight in weights.items():
            if stem in self._rows_of:
                rows = np.array(self._rows_of[stem])
                counts = np.array(self._counts_of[stem])
                damping = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * lengths[rows] / mean)
                found[rows] += weight * counts * (SATURATION + 1) / (counts + damping)
        return found / most if most > 0 else found

    def of_fields(self, cue: Cue) -> Floats:
        """1 for facts in the field of the personality that a cue asks for, else 0; shape (n,)."""
        return of_fields(cue.text, self._entries, cue.fields, addressed=cue.addressed)

    def named(self, names: frozenset[str], heard: frozenset[str] = frozenset()) -> Floats:
        """1 where one of the names (in lower case) speaks, or, if nobody speaks, is mentioned; else 0. Shape (n,).

        Args:
            names: the people named in the cue.
            heard: who counts as a speaker even in events that only read so.
        """
        found = np.zeros(len(self))
        if not names:
            return found
        speakers = np.array(self._speakers, np.int32)
        if heard:
            numbers = [self._numbers[name] for name in heard if name in self._numbers]
            read = np.array(self._heard, np.int32)
            speakers = np.where((speakers < 0) & np.isin(read, numbers), read, speakers)
        for name in names:
            for written in {tuple(stems(name, language)) for language in self._languages} - {()}:
                holders = [self.holders(stem) for stem in written]
                rows = reduce(np.intersect1d, holders)
                found[rows] = np.where(speakers[rows] < 0, 1.0, found[rows])
            if name in self._numbers:
                found[speakers == self._numbers[name]] = 1.0
        return found

    def within(self, asked: Sequence[Stretch]) -> Floats:
        """1 where a memory happened, or mentions something that happened, in one of the periods; else 0. Shape (n,)."""
        found = np.zeros(len(self))
        if not asked:
            return found
        times = np.array(self._times)
        asked = list({(stretch.start, stretch.end): stretch for stretch in asked}.values())
        for stretch in asked:
            found[(times >= stretch.start) & (times < stretch.end)] = 1.0
        for row, mentions in self._mentions.items():
            if any(stretch.covers(other) for stretch in asked for other in mentions):
                found[row] = 1.0
        return found

    def telling_times(self) -> Floats:
        """1 where the text itself says when: a date, a weekday, "yesterday", "last week"; else 0. Shape (n,)."""
        found = np.zeros(len(self))
        found[list(self._tells)] = 1.0
        return found

    def _enter(self, row: int) -> None:
        entry = self._entries[row]
        name, said = _spoken(entry)
        language = rules_of(said)
        self._languages[language] += 1
        found = stems(said, language)
        counted, number = Counter(found), _wording(name, said, found)
        if self._holds(number, counted):
            self._told_again.update(counted.keys())
            self._repeats += 1
        self._wordings[row] = number
        for stem, count in counted.items():
            if stem not in self._rows_of:
                self._rows_of[stem], self._counts_of[stem] = array("i"), array("i")
            self._rows_of[stem].append(row)
            self._counts_of[stem].append(count)
            self._lengths[row] += count
        self._length += self._lengths[row]
        self._times[row] = math.nan if entry.timestamp is None else entry.timestamp.timestamp()
        if name:
            self._spoken[plain(name)] += 1
            self._speakers[row] = self._numbers.setdefault(plain(name), len(self._numbers))
        if heard := plain(name or heard_in(entry)):
            self._heard_of[heard] += 1
            self._heard[row] = self._numbers.setdefault(heard, len(self._numbers))
        if tells := mentions_time(said):
            self._tells.add(row)
        at = entry.timestamp if tells or names_a_part(said) else None
        if at is not None and (mentions := stretches(said, at)):
            self._mentions[row] = tuple(stretch.narrowed for stretch in mentions)
        self._neighbours.put(row, place_of(entry))

    def _leave(self, row: int) -> None:
        name, said = _spoken(self._entries[row])
        language = rules_of(said)
        self._languages -= Counter([language])
        counted = Counter(stems(said, language))
        for stem in counted:
            rows, counts = self._rows_of[stem], self._counts_of[stem]
            at = _place_of(row, rows)
            rows[at], counts[at] = rows[-1], counts[-1]
            rows.pop(), counts.pop()
            if not rows:
                del self._rows_of[stem], self._counts_of[stem]
        if self._holds(self._wordings[row], counted):
            self._told_again.subtract(counted.keys())
            self._repeats -= 1
        self._wordings[row] = 0
        self._length -= self._lengths[row]
        self._lengths[row] = 0
        if name:
            self._spoken[plain(name)] -= 1
            if not self._spoken[plain(name)]:
                del self._spoken[plain(name)]
        if heard := plain(name or heard_in(self._entries[row])):
            self._heard_of[heard] -= 1
            if not self._heard_of[heard]:
                del self._heard_of[heard]
        self._speakers[row] = self._heard[row] = -1
        self._tells.discard(row)
        self._mentions.pop(row, None)
        self._neighbours.put(row, None)

    def _holds(self, number: int, counted: Mapping[str, int]) -> bool:
        """Whether a row has this wording, given the stems of its text: searched among the rows of its rarest stem."""
        rows = min(map(self._rows_of.get, counted, repeat(_NONE)), key=len, default=_NONE)
        return number in map(self._wordings.__getitem__, rows) if len(rows) < _FEW else self._among(rows, number)

    def _among(self, rows: array[int], number: int) -> bool:
        said = np.frombuffer(self._wordings, np.int64)[np.frombuffer(rows, np.int32)]
        return bool((said == number).any())


class _Read(list[Any]):
    """Entries by row, each read only when it is accessed; its document alone takes a tenth of that."""

    def __init__(self, entries: Iterable[Any], saved: Lines, documents: dict[int, str]) -> None:
        super().__init__(entries)
        self._saved, self._documents = saved, documents

    def __getitem__(self, row: Any) -> Any:
        entry = super().__getitem__(row)
        if isinstance(entry, int):
            entry = self[row] = self._saved.entry(entry)
        return entry

    def __iter__(self) -> Iterator[Any]:
        return (self[row] for row in range(len(self)))

    def __copy__(self) -> _Read:
        return _Read(super().__iter__(), self._saved, self._documents)

    def document(self, row: int) -> str:
        """The document of a row."""
        item = super().__getitem__(row)
        if not isinstance(item, int):
            return str(item.document)
        if item not in self._documents:
            self._documents[item] = self._saved.document(item)
        return self._documents[item]


_NONE = array("i")
_FEW = 64
"""Up to so many rows are searched one by one, which is quicker than viewing them as an array."""
_NEWEST = 64


def _place_of(row: int, rows: array[int]) -> int:
    """The position of a row among those that contain a stem; the last ones, as after an undo, are found at once."""
    start = max(0, len(rows) - _NEWEST)
    try:
        return rows.index(row, start)
    except ValueError:
        return rows.index(row, 0, start)


def rarity(held: int, texts: int) -> float:
    """BM25's idf of a stem that so many of the texts contain."""
    return math.log(1 + (texts - held + 0.5) / (held + 0.5))


def heard_in(entry: MemoryEntry) -> str:
    """Who seems to speak in an event: "Sam: ..." or "Sam said ..."; empty for a fact, or if nobody does."""
    return "" if entry.kind is Kind.FACT else heard(entry.document)


def _wording(name: str, said: str, found: Sequence[str]) -> int:
    """A number for a speaker, the text, and its stems; 0 = there are no stems."""
    content = "\n".join((name, wording(said), *found)).encode(errors="surrogatepass")
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little", signed=True) if found else 0


def _spoken(entry: MemoryEntry) -> tuple[str, str]:
    """Speaker and speech of a turn; anything else has no speaker, even "Bakery: a low, warm room"."""
    if entry.kind is Kind.CONVERSATION or place_of(entry) is not None:
        return speaker_of(entry.document)
    return "", entry.document


def _same(before: MemoryEntry, entry: MemoryEntry) -> bool:
    """Whether everything that the index reads is unchanged."""
    return before is entry or (
        before.document == entry.document
        and before.timestamp == entry.timestamp
        and before.kind == entry.kind
        and place_of(before) == place_of(entry)
    )
