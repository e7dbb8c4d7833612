"""Doctor: is every agent of a world intact? It checks copies and changes nothing, unless ``repair`` is given.

For a journal and a store that can be opened, it checks whether they agree.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path

from filelock import FileLock, Timeout

from ..core.change_set import counted, so_many
from ..core.chroma_address import StorePlace
from ..core.entry import Tier
from ..core.files import on_read_only_disk
from ..core.findings import Finding, State
from ..core.known import WORLD_AGENT
from ..core.times import real_clock
from ..embedding.embedder import Embedder
from ..errors import ForeignStore, JournalDamaged, MemorySystemError, StoreDamaged, StoreError, StoreUnavailable
from ..operations.context import Progress, no_progress, refuse_uncallable
from ..recall import kept_tables
from ..store import copying, shutdown_note
from ..store.chroma import files as chroma_files
from ..store.chroma.probe import probe
from ..store.copying import STORE
from ..store.expected_rows import of_entries
from ..store.journal.journal import Journal, content_hash
from ..store.journal.location import JOURNAL, holds_journal, refuse_damaged, refuse_older
from ..store.journal.moving import Journals
from ..store.ledger import Ledger
from ..store.ledger_checks import differences
from ..store.personality_file import PersonalityFile
from ..store.projection import Stores, forget
from ..store.read_only import ReadOnlyLedger, open_ledger
from ..world.folders import Place
from ..world.world import World
from . import stray_files


def of_contents(
    name: str, journal: Journal, stores: Stores, embedder: Embedder, *, to_be_made: bool = False
) -> Iterator[Finding]:
    """Whether the store has what the journal says, and both have vectors of the embedder in use."""
    by_tier = {tier: [entry for entry, _ in journal.entries(tier).values()] for tier in Tier}
    entries = list(chain.from_iterable(by_tier.values()))
    hashes = {content_hash(entry.document) for entry in entries}
    current = journal.kept.of(hashes, embedder.identity)
    try:
        noted = stores.made_with
    except StoreUnavailable as error:
        yield Finding(name, "store", State.WRONG, error.sentence, beyond_repair=True)
        return
    made_with = noted or (embedder.identity if len(current) == len(hashes) else None)
    made_with = made_with or next(iter(journal.kept.embedders()), embedder.identity)
    vectors = current if made_with == embedder.identity else journal.kept.of(hashes, made_with)
    try:
        stores.refuse_others(lambda: journal.origin)
        found = differences(stores.memories, {tier: of_entries(of_tier, vectors) for tier, of_tier in by_tier.items()})
        distances = stores.distances()
    except (ForeignStore, StoreDamaged, StoreUnavailable) as error:
        yield Finding(name, "store", State.WRONG, error.sentence)
        return
    pending = journal.pending()
    if stores.server is not None and found and not noted and not any(stores.counts().values()):
        sentence = f"The Chroma server at {stores.where} holds nothing of it; the next opening writes all of it there."
        yield Finding(name, "store", State.NOTE, sentence)
    elif stores.server is None and found and to_be_made:
        yield Finding(name, "store", State.NOTE, "There never was one; the next opening makes it of the journal.")
    elif found.beside(pending):
        surplus = sum(map(len, found.surplus.values()))
        yield Finding(
            name,
            "store",
            State.WRONG,
            f"{counted(len(found.missing), 'memory is missing or differs', 'memories are missing or differ')} from the "
            f"journal, {surplus} should not be there, and {counted(len(found.torn), 'has', 'have')} another vector.",
        )
    elif pending:
        verb = "is" if len(pending) == 1 else "are"
        sentence = f"{len(pending)} of the newest changes {verb} not in the store yet; it takes them in by itself."
        yield Finding(name, "store", State.NOTE, sentence)
    else:
        where = "in the journal, and nowhere else" if stores.in_journal else "as the journal says"
        yield Finding(name, "store", State.RIGHT, f"{so_many(len(entries))}, {where}.")
    waiting = len(hashes) - len(current)
    if waiting or made_with != embedder.identity or distances:
        sentence = f"{counted(waiting, 'text has', 'texts have')} no vector of {embedder.identity}; "
        sentence += f"the store holds those of {made_with}"
        sentence += f", by the distance {next(iter(distances.values()))!r}" if distances else ""
        yield Finding(name, "vectors", State.NOTE, f"{sentence}. agent.reembed() embeds them again.")


def of_personality(name: str, journal: Journal, path: Path) -> Iterator[Finding]:
    """Whether a personality file is as the journal says."""
    text, file = journal.text("personality"), PersonalityFile(path)
    problem = file.problem(text)
    if problem is not None:
        yield Finding(name, "personality", State.WRONG, problem)
    elif text is not None and file.text() != text:
        yield Finding(name, "personality", State.NOTE, f"{path.name} was edited; opening the agent takes it in.")
    elif text is not None:
        yield Finding(name, "personality", State.RIGHT, f"{path.name} is as the journal says.")


_LOCK_SECONDS = 3.0


def examine(
    world: World,
    *,
    repair: bool = False,
    progress: Progress = no_progress,
    cancelled: Callable[[], bool] = lambda: False,
) -> list[Finding]:
    """Check every agent of a world, and with ``repair`` repair what is wrong.

    Args:
        world: the world.
        repair: whether to repair; an open agent is closed for that, and opened again by its name.
        progress: called with the share done, 0 to 1, and the agent being checked.
        cancelled: called before each agent, to ask whether to stop; what was found until then is returned.
    """
    refuse_uncallable(progress=progress, cancelled=cancelled)
    found = [stray_files.disk(world.folder), *stray_files.half_made(world, repair=repair)]
    found += stray_files.set_aside(world.folder)
    names = world.stored()
    for number, name in enumerate(names):
        if cancelled():
            found.append(Finding("", "check", State.NOTE, f"It was stopped; {len(names) - number} were not checked."))
            break
        progress(number / len(names), f"Looking at {name} ({number + 1} of {len(names)})")
        place = world.spot.agent(name)
        server = world.settings.chroma
        seen = examine_agent(place.folder, place.personality, world.embedder, world.journals, server)
        if repair and _wrong(seen):
            _close(world, name)
            seen = _repaired(place, world.embedder, seen, world.journals, new_journal=True, server=server)
        found += seen
    progress(1.0, "Done")
    return found


def examine_repaired(place: Place, embedder: Embedder) -> list[Finding]:
    """Check a closed agent and repair what is wrong, except a damaged journal, which stays as it is."""
    files = Journals()
    seen = examine_agent(place.folder, place.personality, embedder, files)
    return _repaired(place, embedder, seen, files, new_journal=False) if _wrong(seen) else seen


def _wrong(found: Sequence[Finding]) -> bool:
    return any(finding.state is State.WRONG for finding in found)


def _repaired(
    place: Place,
    embedder: Embedder,
    before: Sequence[Finding],
    journals: Journals,
    *,
    new_journal: bool,
    server: StorePlace | None = None,
) -> list[Finding]:
    if any(finding.what == "store" and finding.state is State.WRONG for finding in before):
        shutdown_note.forget(place.folder)  # it may say that nothing was written since
    problem = repair_agent(place.folder, place.personality, embedder, journals, new_journal=new_journal, server=server)
    after = examine_agent(place.folder, place.personality, embedder, journals, server)
    subjects = {finding.what for finding in after}
    gone = [finding for finding in before if finding.state is State.WRONG and finding.what not in subjects]
    found = [_compared(finding, before, problem) for finding in after]
    return found + [
        replace(finding, state=State.REPAIRED, sentence=f"{finding.sentence} It is gone now.") for finding in gone
    ]


def _compared(now: Finding, before: Sequence[Finding], problem: str | None) -> Finding:
    was = next((finding for finding in before if finding.what == now.what and finding.state is State.WRONG), None)
    if now.state is State.WRONG and problem:
        why = "." if problem == now.sentence else f": {problem}"
        return replace(now, sentence=f"{now.sentence} It could not be repaired{why}")
    if was is not None and now.state is not State.WRONG:
        return replace(now, state=State.REPAIRED, sentence=f"{was.sentence} Now: {now.sentence}")
    return now


def mend(world: World, agent: str) -> str | None:
    """Repair one agent, which is closed first; if its journal is damaged, begin a new one from the store.

    Returns:
        Why it could not be done, in a sentence; ``None`` if it was.
    """
    _close(world, agent)
    place = world.spot.agent(agent)
    server = world.settings.chroma
    return repair_agent(place.folder, place.personality, world.embedder, world.journals, server=server)


def _close(world: World, agent: str) -> None:
    if agent == WORLD_AGENT:
        world.knowledge.close()
    for character in world.opened():
        if character.name == agent:
            character.close()


def repair_agent(
    folder: Path,
    personality: Path,
    embedder: Embedder,
    journals: Journals | None = None,
    *,
    new_journal: bool = True,
    server: StorePlace | None = None,
) -> str | None:
    """Open a closed agent, which repairs it.

    Args:
        folder: the agent's.
        personality: its personality file.
        embedder: turns texts into vectors.
        journals: where journals are; in the agents' folders if not given.
        new_journal: whether a new journal is begun if the old one is damaged.
        server: the Chroma server that has its store; what another agent of its name left there is deleted.

    Returns:
        Why it could not be done, in a sentence; ``None`` if it was.
    """
    try:
        ledger = _opened(folder, personality, embedder, journals, server)
        if isinstance(ledger, ReadOnlyLedger):
            if not new_journal:
                ledger.close()
                return ledger.policy.why
            ledger.begin_new_journal()
            ledger = open_ledger(folder, personality, embedder, journals=journals, chroma=server)
        text, file_of = ledger.text("personality"), PersonalityFile(personality)
        ledger.close()
        if text is not None and file_of.problem(text) is not None:
            file_of.put_back(text)
    except MemorySystemError as error:
        return error.sentence
    except OSError as error:
        return f"{error.strerror or error} ({error.filename})"
    return None


def _opened(
    folder: Path, personality: Path, embedder: Embedder, journals: Journals | None, server: StorePlace | None
) -> Ledger:
    try:
        return open_ledger(folder, personality, embedder, journals=journals, chroma=server)
    except ForeignStore:
        if server is None:
            raise
        forget(folder / STORE, server)
        return open_ledger(folder, personality, embedder, journals=journals, chroma=server)


def examine_agent(
    folder: Path,
    personality: Path,
    embedder: Embedder,
    journals: Journals | None = None,
    server: StorePlace | None = None,
) -> list[Finding]:
    """Check a copy of an agent's files; nothing is changed.

    Args:
        folder: the agent's.
        personality: its personality file.
        embedder: whose vectors it should have.
        journals: where journals are; in the agents' folders if not given.
        server: the Chroma server that has its store; files in the folder if not given.
    """
    name = folder.name
    if not folder.exists():
        return [Finding(name, "files", State.RIGHT, "It has a personality and no memories yet.")]
    try:
        with _copied(folder, journals or Journals()) as copy:
            found = list(_of_copy(folder, copy, personality, embedder, server))
        return [*found, *stray_files.of_agent(folder)]
    except Timeout:
        return [Finding(name, "lock", State.NOTE, "Another program is writing to it. Look again when it has finished.")]
    except StoreError as error:
        return [Finding(name, "journal", State.WRONG, error.sentence, beyond_repair=True)]
    except OSError as error:
        why = f"{error.strerror} ({error.filename})" if error.strerror and error.filename else str(error)
        return [Finding(name, "files", State.WRONG, f"They cannot be read: {why[:200]}.", beyond_repair=True)]


@contextmanager
def _copied(folder: Path, journals: Journals) -> Iterator[Path]:
    """A copy of an agent's files, made while nobody writes.

    Raises:
        Timeout: somebody has been writing for too long.
        OSError: it cannot be copied.
        StoreError: the server that has the journal cannot be reached, or the journal cannot be read there.
    """
    lock = folder / "lock"
    with tempfile.TemporaryDirectory(prefix="memory-doctor-", ignore_cleanup_errors=True) as scratch:
        target = Path(scratch) / folder.name
        lockable = lock.exists() and not on_read_only_disk(folder)
        with FileLock(lock, timeout=_LOCK_SECONDS) if lockable else nullcontext():
            copying.copy(folder, target)
            journals.of(folder).copy_into(target / JOURNAL)
        yield target


def _of_copy(
    folder: Path, copy: Path, personality: Path, embedder: Embedder, server: StorePlace | None
) -> Iterator[Finding]:
    name = folder.name

    def right(what: str, sentence: str) -> Finding:
        return Finding(name, what, State.RIGHT, sentence)

    def wrong(what: str, sentence: str, *, beyond_repair: bool = False) -> Finding:
        there = sentence.replace(str(copy), str(folder))  # the copy is gone by then
        return Finding(name, what, State.WRONG, there, beyond_repair)

    problem = None
    if server is None:
        problem = chroma_files.problem(copy / STORE)
        if problem is None and (copy / STORE / "chroma.sqlite3").exists():
            try:
                problem = probe(copy / STORE)
            except MemorySystemError as error:
                yield wrong("index", error.sentence)
                return
        yield wrong("index", f"Chroma's store is damaged: {problem}.") if problem else right("index", "It works.")
    with closing(Stores((copy if server is None else folder) / STORE, server)) as stores:
        try:
            refuse_damaged(copy / JOURNAL, stores.claimed, thoroughly=True)
            if not (copy / JOURNAL).exists() and (copy / STORE / "chroma.sqlite3").exists():
                raise JournalDamaged(f"The journal of {name!r} is missing.")
            with closing(Journal(f"sqlite:///{copy / JOURNAL}", real_clock)) as journal:
                refuse_older(name, journal.revision, stores.claimed)
                yield right("journal", f"{counted(journal.revision, 'change')}, every page in order.")
                if problem is None and stores.lasts:
                    to_be_made = (copy / chroma_files.TO_BE_MADE).exists()
                    yield from of_contents(name, journal, stores, embedder, to_be_made=to_be_made)
                yield from of_personality(name, journal, personality)
        except MemorySystemError as error:
            helpless = isinstance(error, StoreError) and not isinstance(error, JournalDamaged)
            yield wrong("journal", error.sentence, beyond_repair=helpless)
    for tier in Tier:
        path = copy / f"{tier.value}.table"
        if path.exists() and kept_tables.load(path) is None:
            yield wrong("tables", f"{path.name} is damaged; it is derived, and opening the agent rebuilds it.")


def light(world: World) -> tuple[State, str]:
    """Whether everything is well, in one word and one sentence, without opening anything: takes milliseconds."""
    wrong, repaired = [], []
    for agent in world.opened():
        if agent.read_only:
            wrong.append(f"{agent.name} can only be read")
        elif any("set aside" in said or "to match the journal" in said for said in agent.messages):
            repaired.append(agent.name)
    opened, server = {agent.name for agent in world.opened()}, world.settings.chroma
    for name in world.stored():
        folder = world.folder / name
        if name in opened or not folder.exists():
            continue
        with suppress(OSError):
            note = shutdown_note.read(folder)
            problem = (
                None
                if server or (note and note.as_left(shutdown_note.files_of(folder)))
                else chroma_files.problem(folder / STORE)
            )
            file = folder / JOURNAL
            if not holds_journal(folder) or (file.exists() and not file.stat().st_size):
                problem = "its journal is missing or empty"
            if problem:
                wrong.append(f"{name}: {problem}")
    if wrong:
        return State.WRONG, f"{'; '.join(wrong)}. “python -m memory_system doctor” tells more."
    if repaired:
        return State.REPAIRED, f"What was damaged has been rebuilt from the journal: {', '.join(repaired)}."
    return State.RIGHT, "Journals and stores are in order."
