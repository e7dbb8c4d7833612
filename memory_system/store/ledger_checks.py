"""The ledger's checks: before a commit, is a change set consistent; at opening, do the stores agree.

It also checks the texts of conversations, as far as the store has to know them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ..core import personality as personalities
from ..core.change_set import PENDING, Change, ChangeSet, TextChange, so_many
from ..core.dismissed import parse_dismissed
from ..core.entry import MemoryEntry, Tier
from ..core.files import as_store_errors
from ..core.memory import Memory, Vectors
from ..core.saved_interviews import parse_sittings
from ..core.settings import AgentSettings
from ..embedding.embedder import Embedder
from ..errors import (
    Conflict,
    EmbedderError,
    Exhausted,
    InvalidParameter,
    Protected,
    StaleChange,
    StoreDamaged,
    StoreError,
    StoreUnavailable,
    kind_of,
)
from ..recall.cues import parse_cues, parse_judgments
from ..recall.table import Table
from .chroma import files
from .chroma.probe import probe
from .expected_rows import ExpectedRows
from .journal.journal import Journal, content_hash
from .journal.vectors import rounded
from .put_off import parse_put_off
from .shutdown_note import Note

MAX_STATE = 500_000
"""Characters of one such text: two blocks of core memory of 20,000 each, escaped at their worst, and a margin."""


def refuse_no_state(name: str, text: str | None) -> None:
    """Do nothing if the text can be the state or the core memory of a conversation, or says that there is none.

    Raises:
        InvalidParameter: it is not a JSON object, or is longer than 500,000 characters.
    """
    if text is None:
        return
    if len(text) > MAX_STATE:
        raise InvalidParameter(
            f"What is kept as {name} has {len(text):,} characters; at most {MAX_STATE:,} are allowed."
        )
    try:
        state = json.loads(text)
    except (ValueError, RecursionError):
        state = None
    if not isinstance(state, dict):
        raise InvalidParameter(f"What is kept as {name} must be a JSON object.")


_ROUNDING = 1e-5
"""How far a number of a stored vector may be from the one that was passed."""


def refuse_broken(change_set: ChangeSet, agent: str) -> None:
    """Refuse before the commit what could not be carried out or opened again."""
    if not isinstance(change_set, ChangeSet):
        raise InvalidParameter(f"What is applied must be a change set, not {kind_of(change_set)}.")
    if (problem := change_set.problem()) is not None:
        raise InvalidParameter(f"This change set cannot be applied: {problem}.")
    if change_set.operation == PENDING:
        raise InvalidParameter(
            "This step of a talk waits for what comes of its actions. Hand their results in with go_on; it applies "
            "the whole step."
        )
    if change_set.agent and change_set.agent != agent:
        raise Conflict(f"This was planned for {change_set.agent!r}, not for {agent!r}.")
    for text in change_set.texts:
        _refuse_unreadable(text)
    if change_set.undoes is None:  # an undo is itself the person's wish
        for change in change_set.changes:
            _refuse_protected(change)


def _refuse_protected(change: Change) -> None:
    """Refuse to do anything to a protected memory but unprotect it, whoever planned it."""
    before, after = change.before, change.after
    if before is None or not before.protected:
        return
    if after is None or after.evolve(protected=True) != before:
        raise Protected(
            f"The memory “{before.document[:60]}” is protected; unprotect it first, or leave it out. "
            "Nothing was changed."
        )


def _refuse_unreadable(text: TextChange) -> None:
    match text.name:
        case "settings":
            try:
                AgentSettings.from_json(text.after)
            except InvalidParameter as error:
                raise InvalidParameter(
                    f"This change set cannot be applied: its settings are not valid. {error}"
                ) from error
        case "cues":
            parse_cues(text.after)
        case "judgments":
            parse_judgments(text.after)
        case "dismissed":
            parse_dismissed(text.after)
        case "later":
            parse_put_off(text.after)
        case "interviews":
            parse_sittings(text.after)
        case "personality":
            if text.after is not None:
                personalities.parse(text.after)
        case "portrait":
            personalities.refuse_no_portrait(text.after)
        case "card":
            personalities.refuse_no_card(text.after)
        case _:
            refuse_no_state(text.name, text.after)


def why_not(agent: str, others: str, ours: str) -> str:
    """Why an agent, whose vectors were made by another embedder than the chosen one, recalls and changes nothing."""
    return (
        f"The vectors of {agent!r} were made with {others}, and {ours} is chosen, so "
        "that nothing can be recalled or changed. Choose the embedder that made them (Settings, use-embedder, "
        f"MEMORY_EMBEDDER or --embedder); or let “python -m memory_system reembed {agent}” make them with the chosen "
        "one."
    )


def embedded(embedder: Embedder, texts: Sequence[str], tables: Mapping[Tier, Table], *kept: Vectors) -> Vectors:
    """New vectors of texts as they are kept, shape (n, d); of the same length as those that exist already.

    Raises:
        EmbedderError: the texts could not be embedded, or their vectors are of another length.
    """
    made = rounded(embedder.embed(texts))
    refuse_other_length(embedder.identity, made, max(widths_of(tables), default=0) or max(map(len, kept), default=0))
    return made


def widths_of(tables: Mapping[Tier, Table]) -> Iterator[int]:
    """How long the vectors of each table are; 0 where there are none."""
    return (table.columns.width for table in tables.values())


def refuse_other_length(identity: str, made: Vectors, held: int) -> None:
    """Raise if new vectors, shape (n, d), cannot be compared with those that exist, of ``held`` numbers (0: none).

    Raises:
        EmbedderError: they are of another length.
    """
    if held and len(made) and made.shape[1] != held:
        raise EmbedderError(
            f"The embedder {identity!r} makes vectors of {made.shape[1]:,} numbers, but those that were made under "
            f"this name have {held:,}. Nothing was changed. Give the changed embedder another identity, so that they "
            "can be made again with it, or use the former one."
        )


def what_waits(agent: str, others: str, ours: str, waiting: int, held: int) -> str:
    """The notice for an agent if ``waiting`` of its ``held`` memories have no vector of the embedder in use."""
    without = f"{waiting:,} of {so_many(held)} have no vector of it and are not found by meaning"
    return (
        f"The vectors of {agent!r} were made with {others}, and {ours} is in use: "
        f"{without if waiting else 'Chroma still holds the old ones'}. "
        "agent.reembed() embeds them again; it can be stopped and resumed."
    )


def hashes_of(change_sets: Iterable[ChangeSet]) -> list[str]:
    """The content hashes of the texts that change sets leave."""
    return [
        content_hash(change.after.document)
        for change_set in change_sets
        for change in change_set.changes
        if change.after
    ]


def texts_of(
    change_sets: Iterable[ChangeSet], waiting: Collection[str], *, all_stay: bool
) -> tuple[list[str], list[str]]:
    """The texts that change sets leave, those that need a vector first; a memory that waits for one needs no other.

    None needs one if ``all_stay`` unchanged.
    """
    found: tuple[list[str], list[str]] = [], []
    for before, after in ((change.before, change.after) for change_set in change_sets for change in change_set.changes):
        if after is not None:
            stays = after.id in waiting and before is not None and before.document == after.document
            found[stays or all_stay].append(after.document)
    return found


def vectors_at_hand(change_sets: Iterable[ChangeSet], tables: Mapping[Tier, Table]) -> dict[str, Vectors]:
    """The vectors of unchanged texts, by content hash, where a table has them in memory."""
    found: dict[str, Vectors] = {}
    for change in chain.from_iterable(change_set.changes for change_set in change_sets):
        before, after = change.before, change.after
        if before is not None and after is not None and before.document == after.document:
            table = tables.get(before.tier)
            vector = table.vector_at_hand(before) if table is not None else None
            if vector is not None:
                found[content_hash(before.document)] = vector
    return found


def journalled_embedder(journal: Journal, embedder: Embedder, shown: Mapping[Tier, Table]) -> str:
    """The identity of what made most vectors of a journal; the embedder in use wins a tie.

    Args:
        journal: which journal.
        embedder: the one in use.
        shown: the tables that show it, if any, with the vectors of the embedder in use; if none is missing, the
            journal need not be queried.
    """
    ours = embedder.identity
    if any(map(len, shown.values())) and not any(table.rows_without_vector() for table in shown.values()):
        return ours
    made = journal.kept.embedders()
    return ours if made.get(ours) == max(made.values(), default=None) else next(iter(made))


def purged_on_server(where: str) -> str:
    """The notice after a purge if a server holds the store."""
    return (
        f"What was purged is gone from the history, and from the Chroma server at {where}. Its files are its own: "
        "“chroma vacuum --path” with their folder takes the last bytes."
    )


def by_another_distance(tier: str, distance: str) -> str:
    """The notice for a store that ranks by another distance than ours."""
    return (
        f"The store of {tier.upper()} ranks by the distance {distance!r} instead of 'l2'. Recall does not rest "
        "on it; agent.reembed() rebuilds the store."
    )


@dataclass(frozen=True)
class Differences:
    """Where stores do not hold what they should.

    Args:
        missing: entries that a store lacks or holds in another form.
        surplus: ids in a tier's store that should not be there.
        torn: ids of entries that are stored correctly, but with another vector.
    """

    missing: list[MemoryEntry]
    surplus: dict[Tier, list[str]]
    torn: list[str]

    def __bool__(self) -> bool:
        return bool(self.missing or self.surplus or self.torn)

    def beside(self, cut_off: Sequence[ChangeSet]) -> bool:
        """Whether anything differs other than what these change sets touch, which the store does not have yet."""
        touched = {change.entry_id for change_set in cut_off for change in change_set.changes}
        return not {entry.id for entry in self.missing}.union(self.torn, *self.surplus.values()) <= touched


def differences(memories: Mapping[Tier, Memory], wanted: Mapping[Tier, ExpectedRows]) -> Differences:
    """Where the stores do not hold what they should; compares every row and its vector."""
    missing: list[MemoryEntry] = []
    surplus: dict[Tier, list[str]] = {}
    torn: list[str] = []
    for tier, memory in memories.items():
        of_tier = wanted[tier]
        left = {entry_id: row for row, entry_id in enumerate(of_tier.ids)}
        otherwise: list[int] = []
        gone: list[str] = []
        for page in memory.pages():
            alike: list[tuple[int, int]] = []
            for place, body in enumerate(page.bodies):
                row = left.pop(body["id"], None)
                if row is None:
                    gone.append(body["id"])
                elif _same(body, of_tier.body(row)):
                    alike.append((place, row))
                else:
                    otherwise.append(row)
            torn += [of_tier.ids[row] for row in _torn(page.vectors, alike, of_tier)]
        missing += [of_tier.entry(row) for row in sorted([*left.values(), *otherwise])]
        if gone:
            surplus[tier] = sorted(gone)
    return Differences(missing, surplus, torn)


def _same(stored: Mapping[str, Any], journal_body: Mapping[str, Any]) -> bool:
    """Whether both are the same entry; equal but not identical values, like 1 and 1.0, are compared as text."""
    if stored != journal_body:
        return False
    extras = stored.get("extras")
    return not extras or json.dumps(extras, sort_keys=True) == json.dumps(journal_body["extras"], sort_keys=True)


def _torn(stored: Vectors, alike: Sequence[tuple[int, int]], of_tier: ExpectedRows) -> list[int]:
    """The rows for which a store does not return the vector it was given; zeros mean a missing one.

    A store that ranks by cosine divides by a length of nearly 1.
    """
    if not alike:
        return []
    store_vectors = stored[[place for place, _ in alike]]
    rows = [row for _, row in alike]
    vectors = of_tier.vectors(rows)
    if vectors.shape[1] != store_vectors.shape[1]:  # there is no vector of that width, or none at all
        vectors = np.where(np.isnan(vectors).all(axis=1, keepdims=True), np.zeros_like(store_vectors), np.inf)
    vectors = np.where(np.isnan(vectors), 0, vectors)
    far = ~(np.abs(store_vectors - vectors).max(axis=1, initial=0.0) < _ROUNDING)
    return [rows[place] for place in np.flatnonzero(far)]


def refuse_foreign_edit(change_set: ChangeSet, held: str | None, path: Path) -> None:
    """Do nothing unless a personality was edited on disk since the plan was made; a missing one may be written.

    Args:
        change_set: what is to be carried out.
        held: the personality in the agent.
        path: its file.

    Raises:
        StaleChange: it was. It is not overwritten.
    """
    for text in change_set.texts:
        if text.name == "personality" and text.before == held:
            on_disk = personalities.read(path)
            if on_disk not in (None, text.before, text.after):
                raise StaleChange(
                    f"{path.name} has been edited since you loaded it. Load it again and repeat your change."
                )


def refuse_unwritable(change_set: ChangeSet, path: Path, folder: Path) -> None:
    """Try to write in the folder of the personality file and in the agent's own before anything is committed.

    Raises:
        OSError: the personality cannot be written.
        StoreDamaged: the agent's folder cannot.
    """
    for text in change_set.texts:
        if text.name == "personality" and text.after is not None:
            personalities.refuse_unwritable(path, text.after)
    if not os.access(folder, os.W_OK):
        raise StoreDamaged(f"{folder} cannot be written. Nothing was changed.")


@contextmanager
def nothing_changed() -> Iterator[None]:
    """Report an error before the commit, as when a server goes away or a disk is full, as one that changed nothing."""
    sentence = "Nothing was changed."
    try:
        yield
    except StoreError as error:
        raise type(error)(error.sentence if sentence in error.sentence else f"{error.sentence} {sentence}") from error


@contextmanager
def kept_all_the_same(agent: str) -> Iterator[None]:
    """Report an error after the commit correctly: the change is permanent, and only the store is behind."""
    try:
        with as_store_errors(f"The agent {agent!r}"):
            yield
    except StoreError as error:
        kind = next((kind for kind in (StoreUnavailable, Exhausted) if isinstance(error, kind)), StoreDamaged)
        raise kind(
            f"{error.sentence} The change is kept in the journal all the same, and the store takes it in at the next "
            "write."
        ) from error


def store_problem(folder: Path, note: Note | None, altered: Sequence[str]) -> str | None:
    """What is wrong with Chroma's files; checked in another process if they could be half written or damaged.

    Args:
        folder: theirs.
        note: what was left when the agent was closed.
        altered: files that differ from the note.
    """
    problem = files.problem(folder)
    if problem is not None or not (folder / "chroma.sqlite3").exists():
        return problem
    if note is None or not note.files:
        return probe(folder)
    changed = [Path(name) for name in altered if name.startswith("chroma/")]
    if not note.clean:  # SQLite repairs its own file after a kill
        changed = [path for path in changed if len(path.parts) > 2]
    return probe(folder) if changed else None
