"""What the doctor asks of a journal and a store that can be opened: do they tell the same?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from .embedding import Embedder
from .entry import Tier
from .errors import ForeignStore, StoreDamaged, StoreUnavailable
from .findings import Finding, State
from .journal import Journal, content_hash
from .ledger_checks import differences
from .personality_file import PersonalityFile
from .stores import Stores
from .wanted import of_entries


def of_contents(name: str, journal: Journal, stores: Stores, embedder: Embedder) -> Iterator[Finding]:
    """Whether the store holds what the journal says, and both vectors of the embedder in use."""
    held = {tier: [entry for entry, _ in journal.entries(tier).values()] for tier in Tier}
    entries = list(chain.from_iterable(held.values()))
    hashes = {content_hash(entry.document) for entry in entries}
    current = journal.kept.of(hashes, embedder.identity)
    try:
        noted = stores.made_with
    except StoreUnavailable as error:
        yield Finding(name, "store", State.WRONG, error.sentence)
        return
    made_with = noted or (embedder.identity if len(current) == len(hashes) else None)
    made_with = made_with or next(iter(journal.kept.embedders()), embedder.identity)
    vectors = current if made_with == embedder.identity else journal.kept.of(hashes, made_with)
    try:
        stores.refuse_others(journal.change_set_at(1))
        found = differences(stores.memories, {tier: of_entries(of_tier, vectors) for tier, of_tier in held.items()})
        distances = stores.distances()
    except (ForeignStore, StoreDamaged, StoreUnavailable) as error:
        yield Finding(name, "store", State.WRONG, error.sentence)
        return
    pending = len(journal.pending())
    if found:
        surplus = sum(map(len, found.surplus.values()))
        yield Finding(
            name,
            "store",
            State.WRONG,
            f"{len(found.missing)} memories are missing or differ from the journal, {surplus} should not be there, and "
            f"{len(found.torn)} have another vector.",
        )
    elif pending:
        yield Finding(name, "store", State.WRONG, f"{pending} changes were cut off; opening the agent finishes them.")
    else:
        yield Finding(name, "store", State.RIGHT, f"{len(entries)} memories, as the journal says.")
    waiting = len(hashes) - len(current)
    if waiting or made_with != embedder.identity or distances:
        sentence = f"{waiting} texts have no vector of {embedder.identity}; the store holds those of {made_with}"
        sentence += f", by the distance {next(iter(distances.values()))!r}" if distances else ""
        yield Finding(name, "vectors", State.NOTE, f"{sentence}. agent.reembed() makes them anew.")


def of_personality(name: str, journal: Journal, path: Path) -> Iterator[Finding]:
    """Whether a personality file is what the journal says."""
    held, file = journal.text("personality"), PersonalityFile(path)
    problem = file.problem(held)
    if problem is not None:
        yield Finding(name, "personality", State.WRONG, problem)
    elif held is not None and file.text() != held:
        yield Finding(name, "personality", State.NOTE, f"{path.name} was edited; opening the agent takes it in.")
    elif held is not None:
        yield Finding(name, "personality", State.RIGHT, f"{path.name} is what the journal says.")
