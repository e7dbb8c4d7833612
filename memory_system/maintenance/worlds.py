"""Worlds as save slots: listed, created, copied, branched, renamed, deleted, restored, and one of them in use.

A world is always made elsewhere and put in place by one rename, and deleted by one rename into the bin next to the
worlds, so that a kill at any instant leaves every world whole.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from filelock import FileLock, Timeout

from ..core.entry import DECAYING
from ..core.files import as_store_errors, making, replace_text, size_of, within
from ..core.known import WORLD_AGENT
from ..core.names import checked_name
from ..core.settings import IN_USE, MEMORY, Settings, chosen, in_use
from ..core.shipped import samples
from ..core.times import real_clock
from ..embedding.embedder import Embedder
from ..errors import (
    AlreadyExists,
    Conflict,
    InvalidAgentName,
    InvalidParameter,
    MemorySystemError,
    StoreBusy,
    StoreError,
    WorldNotFound,
)
from ..operations.context import Progress, no_progress, refuse_uncallable
from ..store import copying, rehearsal
from ..store.clock import FILE as ABOUT
from ..store.clock import read_about, world_clock
from ..store.journal.location import JOURNAL, holds_journal
from ..store.journal.moving import Journals
from ..store.server_notice import server_of
from ..store.slot import PERSONALITIES, Branched, Slot, is_own, personalities_of, read_slot, write_slot
from ..store.write_lock import WriteLock
from ..world.cut_off import HALF_WORLD
from ..world.folders import BIN, Binned, agent_names, in_bin
from ..world.swap import NOTE, Spot, finish
from ..world.world import TOKENS, World
from .samples import fill_world
from .worlds_compared import WorldsCompared, compared

_LOCK = ".worlds.lock"
_LOCK_SECONDS = 30.0
_SECONDS = "%Y%m%dT%H%M%S%f"


@dataclass(frozen=True)
class Saved:
    """A world in the folder of all worlds, according to its files; nothing of it was opened.

    Args:
        name: its name.
        title: its title; may be empty.
        characters: how many there are, without rehearsals.
        memories: in short-term and long-term memory of all of them.
        size: bytes of all its files, including those of the bin.
        made_at: when it was made, or its first change applied (real time); ``None`` if that is not known.
        changed_at: when its newest change was applied (real time); ``None`` before the first.
        branched: the world that it is a branch of; ``None`` if it is not a branch.
        served: whether it is the one in use here, or on the server that is asked.
        served_at: the address of the server of another process that serves it; empty if none does.
        problem: what could not be read, in a sentence; empty if everything could.
    """

    name: str
    title: str
    characters: int
    memories: int
    size: int
    made_at: datetime | None
    changed_at: datetime | None
    branched: Branched | None
    served: bool
    served_at: str = ""
    problem: str = ""


class Worlds:
    """The worlds in one folder of all worlds. Thread-safe, and safe with other processes.

    Args:
        settings: where they are, and which is in use; from the environment if not given.
        embedder: turns texts into vectors, for a world that is filled with the sample; from the settings if not given.

    Raises:
        Conflict: the store is one that is thrown away when the program ends.
    """

    def __init__(self, settings: Settings | None = None, *, embedder: Embedder | None = None) -> None:
        self.settings = settings or Settings()
        if self.settings.store == MEMORY:
            raise Conflict("This world is thrown away when the program ends, so that there are no others beside it.")
        self.folder = Path(self.settings.database)
        self._embedder = embedder

    @property
    def used(self) -> str:
        """The name of the world in use: the one that the settings name."""
        return self.settings.world

    # -- looked at -------------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """The names of all worlds, sorted; including the one in use, even if it is still empty.

        Raises:
            StoreError: their folder cannot be read.
        """
        found = {path.name for path in self._folders() if _is_world(path)}
        return sorted({*found, self.used})

    def begun(self) -> bool:
        """Whether there is a folder of the world in use, or an agent of it on the server of the journals.

        Raises:
            InvalidAgentName: its name cannot be used.
            StoreError: its folder cannot be read, or the server cannot be reached.
        """
        folder = self.folder / checked_name(self.used, "world name")
        finish(Spot(folder, Path(self.settings.personalities)))
        with as_store_errors(f"The world {self.used!r}"), self._journals() as journals:
            if not folder.is_dir():
                journals.join(folder)
            return folder.is_dir()

    def known(self, name: str) -> str:
        """The name of an existing world.

        Raises:
            WorldNotFound: there is no world of this name.
        """
        return self._folder_of(name).name

    def all(self) -> list[Saved]:
        """All worlds, by name; nothing of them is opened or changed."""
        return [self.saved(name) for name in self.names()]

    def saved(self, name: str) -> Saved:
        """What is known of one world.

        Raises:
            WorldNotFound: there is no world of this name.
        """
        folder = self._folder_of(name)
        record = Saved(folder.name, "", 0, 0, size_of(folder), None, None, None, folder.name == self.used)
        problems: list[str] = []
        with _noted(problems):
            is_own(folder)
        if problems:  # it may not be entered, so nothing else is known of it
            return dataclasses.replace(record, problem=problems[0])

        def tell(**known: object) -> None:
            nonlocal record
            record = dataclasses.replace(record, **known)  # type: ignore[arg-type]  # names of its own fields

        with _noted(problems):
            tell(title=read_about(folder).title)
        with _noted(problems):
            slot = read_slot(folder)
            tell(made_at=slot and slot.made_at, branched=slot and slot.branched)
        with _noted(problems), self._journals() as journals:
            names = agent_names(self._settings(folder.name))
            tell(characters=sum(not _rehearses(folder / name) for name in names))
            for agent in names:
                with _noted(problems), journals.of(folder / agent).looked_at() as journal:
                    if journal is None and (folder / agent / "chroma").is_dir():
                        problems.append(f"The journal of {agent!r} is missing; open it to see what to do.")
                    span = None if journal is None else journal.span()
                    if journal is not None and span is not None:
                        tell(memories=record.memories + journal.count(DECAYING))
                        tell(
                            made_at=record.made_at or span[0],
                            changed_at=max(filter(None, (record.changed_at, span[1]))),
                        )
        served_at = server_of(folder) or ""
        return dataclasses.replace(record, served_at=served_at, problem=" ".join(dict.fromkeys(problems)))

    def compare(self, name: str, other: str) -> WorldsCompared:
        """The differences between two worlds; nothing of either is opened or touched.

        Raises:
            WorldNotFound: one of the names has no world.
            StoreError, InvalidPersonality: something in one of them cannot be read.
        """
        sides = [self._folder_of(world_name) for world_name in (name, other)]
        shared = Path(self.settings.personalities)
        left, right = (Spot(folder, personalities_of(folder, shared)) for folder in sides)
        mine, theirs = (self._stored(folder.name) for folder in sides)
        with self._journals() as journals:
            return compared(left, right, (mine, theirs), journals)

    def deleted(self) -> list[Binned]:
        """The worlds in the bin, the last deleted first."""
        return in_bin(self.folder)

    def free_name(self, name: str, but: str = "") -> str:
        """The checked name, if nothing in the folder of all worlds but ``but`` has it, in any case.

        Raises:
            InvalidAgentName, AlreadyExists: it cannot be used.
        """
        checked = checked_name(name, "world name")
        there = [*(path.name for path in self._folders()), *self.names()]
        for folder_name in (*there, self.settings.backup_folder.name):
            if folder_name.casefold() == checked.casefold() and folder_name != but:
                raise AlreadyExists(f"There is a world {folder_name!r} already, or another folder of that name.")
        return checked

    # -- made ------------------------------------------------------------------------------------------

    def create(self, name: str, *, sample: bool = False, progress: Progress = no_progress) -> Saved:
        """A new world, empty or with the characters of the sample.

        Args:
            name: the world's, 1 to 64 characters, with the rules for agents' names.
            sample: whether it is filled.
            progress: called with the share done, 0 to 1; it may raise to stop, and nothing is made then.

        Raises:
            InvalidAgentName, AlreadyExists: the name cannot be used.
            StoreError: the folder cannot be written. Nothing was made.
        """
        refuse_uncallable(progress=progress)
        checked = self.free_name(name)
        with self._made(checked) as half:
            if sample:
                self._fill(half, progress)
            _sealed(half, Slot(real_clock()))
        return self.saved(checked)

    def _fill(self, half: Path, progress: Progress) -> None:
        overrides = {"database": half.parent, "world": half.name, "personalities": half.parent / "shared"}
        settings = self.settings.model_copy(update={**overrides, "chroma_url": None, "journal_url": None})
        half.rmdir()
        with World(settings, embedder=self._embedder, take_over=True) as filled:
            fill_world(filled, samples(), lambda line: progress(0.1, line))
        half.mkdir(exist_ok=True)
        if settings.personalities.is_dir():
            settings.personalities.rename(half / PERSONALITIES)

    def copy(self, name: str, to: str, *, progress: Progress = no_progress) -> Saved:
        """A copy of a world, with whole histories and its bin; work in it can go on meanwhile.

        Each agent is as it was at one moment.

        Args:
            name: the world's.
            to: the copy's.
            progress: as for ``create``.

        Raises:
            WorldNotFound: there is no world of this name.
            InvalidAgentName, AlreadyExists: the copy's name cannot be used.
            StoreBusy: another program has been writing to an agent for 30 seconds.
            StoreError: something cannot be read or written. Nothing was made.
        """
        refuse_uncallable(progress=progress)
        return self._copy(name, to, progress, branch=False)

    def branch(self, name: str, to: str, *, progress: Progress = no_progress) -> Saved:
        """A copy that records which world it was made from, and when; ``compare`` shows how both have changed since.

        Arguments and errors as for ``copy``.
        """
        refuse_uncallable(progress=progress)
        return self._copy(name, to, progress, branch=True)

    def _copy(self, name: str, to: str, progress: Progress, *, branch: bool) -> Saved:
        source, checked = self._folder_of(name), self.free_name(to)
        self._refuse_no_room(source)
        spot = Spot(source, personalities_of(source, Path(self.settings.personalities)))
        names = self._stored(source.name)
        with self._made(checked) as half, self._journals() as journals:
            (half / PERSONALITIES).mkdir()
            revisions: dict[str, int] = {}
            for number, agent in enumerate(names):
                progress(number / max(len(names), 1), f"Copying {agent}, {number + 1} of {len(names)}")
                place = spot.agent(agent)
                with _still(place.folder):
                    with journals.of(place.folder).looked_at():
                        pass  # if it cannot be read, its own path is named, and not that of a copy
                    if place.folder.is_dir():
                        _copy_agent(place.folder, half / agent, journals)
                    if place.personality.is_file():
                        shutil.copyfile(place.personality, half / PERSONALITIES / place.personality.name)
                with Journals().of(half / agent).looked_at() as journal:
                    revisions[agent] = 0 if journal is None else journal.revision
            for binned in in_bin(source):
                with suppress(FileNotFoundError):  # somebody has just brought it back
                    (half / BIN).mkdir(exist_ok=True)
                    _copy_agent(binned.folder, half / BIN / binned.folder.name, journals)
            for path in within(source):
                if path.is_file() and not path.name.startswith((".", TOKENS, NOTE)):
                    shutil.copyfile(path, half / path.name)
            now = real_clock()
            of = Branched(source.name, now, world_clock(source)(), revisions) if branch else None
            _sealed(half, Slot(now, of))
            progress(1.0, "Putting it in place")
        return self.saved(checked)

    # -- moved -----------------------------------------------------------------------------------------

    def rename(self, name: str, to: str) -> Saved:
        """The same world under another name, which its branches then refer to.

        Raises:
            WorldNotFound: there is no world of this name.
            InvalidAgentName, AlreadyExists: the new name cannot be used.
            Conflict: a server of another process serves it.
            StoreBusy, StoreError: somebody writes it, or it cannot be moved. Nothing was changed.
        """
        with self._alone():
            folder, noted = self._folder_of(name), in_use(self.folder)
            checked = self.free_name(to, but=folder.name)
            self._refuse_served(folder)
            if checked == folder.name:
                return self.saved(checked)
            if not _is_world(folder):
                raise Conflict(f"Nothing has happened in {folder.name!r} yet. Create {checked!r}, and switch to it.")
            with self._let_go(folder.name), as_store_errors(f"The world {folder.name!r}"):
                folder.rename(folder.with_name(checked))
            for world_name in self.names():
                self._follow(world_name, folder.name, checked)
            mine = folder.name == self.used
            if mine:
                self.settings = self._settings(checked)
            if mine or folder.name == noted:
                self._say_in_use(checked)
            return self.saved(checked)

    def _follow(self, world_name: str, former: str, name: str) -> None:
        with suppress(MemorySystemError, OSError):  # its branches then show its former name
            slot = read_slot(self.folder / world_name)
            if slot is not None and slot.branched is not None and slot.branched.world == former:
                branched = dataclasses.replace(slot.branched, world=name)
                write_slot(self.folder / world_name, dataclasses.replace(slot, branched=branched))

    def delete(self, name: str) -> Binned:
        """Move a world to the bin, from where ``restore`` brings it back.

        Raises:
            WorldNotFound: there is no world of this name.
            Conflict: it is in use, or a server of another process serves it.
            StoreBusy, StoreError: somebody writes it, or it cannot be moved. Nothing was changed.
        """
        with self._alone():
            folder = self._folder_of(name)
            if folder.name in (self.used, chosen(self.folder)):
                raise Conflict(f"The world {folder.name!r} is in use. Switch to another one, then delete it.")
            self._refuse_served(folder)
            now = real_clock()
            binned = self.folder / BIN / f"{now:{_SECONDS}} {folder.name}"
            with self._let_go(folder.name), as_store_errors(f"The world {folder.name!r}"):
                shared = self._keep_own(folder)
                binned.parent.mkdir(exist_ok=True)
                folder.rename(binned)
            for file in shared:  # not needed elsewhere: what is in the bin has its own copies
                with suppress(OSError):
                    file.unlink()
            return Binned(folder.name, now, binned)

    def _keep_own(self, folder: Path) -> list[Path]:
        """Move a world's personalities into its own folder; returns the files that no world needs any more."""
        if is_own(folder):
            return []
        spot = Spot(folder, Path(self.settings.personalities))
        (folder / PERSONALITIES).mkdir(parents=True, exist_ok=True)
        files = [spot.agent(name).personality for name in agent_names(self._settings(folder.name))]
        files = [file for file in files if file.is_file()]
        for file in files:
            shutil.copyfile(file, folder / PERSONALITIES / file.name)
        write_slot(folder, Slot(real_clock()))
        others = [name for name in self.names() if name != folder.name and (self.folder / name).is_dir()]
        return files if all(is_own(self.folder / other) for other in others) else []

    def restore(self, binned: Binned, to: str | None = None) -> Saved:
        """Bring a world back from the bin.

        Args:
            binned: one of ``deleted()``.
            to: another name than it had.

        Raises:
            WorldNotFound: it is no longer there.
            InvalidAgentName, AlreadyExists: the name cannot be used, or has been taken since.
        """
        if not isinstance(binned, Binned):
            raise InvalidParameter("Only one of ``deleted()`` can be restored.")
        with self._alone():
            if binned not in self.deleted():
                raise WorldNotFound(f"The world {binned.name!r} is no longer in the bin.")
            name = self.free_name(binned.name if to is None else to)
            with as_store_errors(f"The world {binned.name!r}"):
                binned.folder.rename(self.folder / name)
            return self.saved(name)

    def switch(self, name: str) -> Saved:
        """Make programs that are started from now on open another world, unless they are given one.

        Running programs go on with the world that they have open; a server is switched by ``InUse``.

        Raises:
            WorldNotFound: there is no world of this name.
            StoreError: it cannot be stored.
        """
        folder = self._folder_of(name)
        self._say_in_use(folder.name)
        self.settings = self._settings(folder.name)
        return self.saved(folder.name)

    def _say_in_use(self, name: str) -> None:
        with as_store_errors("The folder of all worlds"):
            self.folder.mkdir(parents=True, exist_ok=True)
            replace_text(self.folder / IN_USE, f"{name}\n", durable=True)

    # -- of help ---------------------------------------------------------------------------------------

    def _folders(self) -> list[Path]:
        with as_store_errors("The folder of the worlds"):
            return within(self.folder)

    def _folder_of(self, name: str) -> Path:
        checked = checked_name(name, "world name")
        if checked not in self.names():
            there = ", ".join(self.names()[:20])
            raise WorldNotFound(f"There is no world {checked!r}. There {'are' if ',' in there else 'is'} {there}.")
        return self.folder / checked

    def _settings(self, name: str) -> Settings:
        return self.settings.model_copy(update={"world": name})

    def _stored(self, name: str) -> list[str]:
        known = [WORLD_AGENT] if (self.folder / name / WORLD_AGENT).is_dir() else []
        return [*agent_names(self._settings(name)), *known]

    @contextmanager
    def _journals(self) -> Iterator[Journals]:
        journals = Journals(self.settings.journal_url, self.settings.durability)
        try:
            yield journals
        finally:
            journals.close()

    @contextmanager
    def _let_go(self, name: str) -> Iterator[None]:
        """Within the block nobody writes any agent of a world, and no Chroma server has one under its name."""
        with World(self._settings(name), embedder=self._embedder) as world, world.let_go():
            yield

    @contextmanager
    def _made(self, name: str) -> Iterator[Path]:
        """A folder to make a world in, which is put in place at the end; if that fails, it is removed."""
        with as_store_errors(f"The world {name!r}"):
            self.folder.mkdir(parents=True, exist_ok=True)
            with making(self.folder, HALF_WORLD) as scratch:
                half = scratch / name
                half.mkdir()
                yield half
                with self._alone():
                    self.free_name(name)
                    half.rename(self.folder / name)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Within the block nobody else adds or removes a world."""
        with as_store_errors("The folder of all worlds"):
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.folder / _LOCK, timeout=_LOCK_SECONDS)
            try:
                lock.acquire()
            except Timeout as error:
                raise StoreBusy("Another program is moving a world. Try again.") from error
        try:
            yield
        finally:
            lock.release()

    def _refuse_served(self, folder: Path) -> None:
        if (address := server_of(folder)) is not None:
            raise Conflict(
                f"The world {folder.name!r} is served by another process, at {address}. Stop that, or switch it to "
                "another world, first."
            )

    def _refuse_no_room(self, source: Path) -> None:
        needed = size_of(source)
        with as_store_errors(f"The disk of {self.folder}"):
            free = shutil.disk_usage(self.folder).free
        if free < needed:
            raise StoreError(
                f"The copy needs {needed / 1e6:,.0f} MB, and {free / 1e6:,.0f} MB are free at {self.folder}. Make room."
            )


@contextmanager
def _noted(problems: list[str]) -> Iterator[None]:
    """Within the block, what cannot be read of a world is noted as its problem, and the rest is still shown."""
    try:
        yield
    except MemorySystemError as error:
        problems.append(error.sentence)


def _is_world(folder: Path) -> bool:
    """Whether a folder is a world, not one that was set aside or is being filled.

    A folder that may not be entered counts as a world, so that it is listed with its problem.
    """
    try:
        named = checked_name(folder.name, "world name") == folder.name
    except InvalidAgentName:
        return False
    if not named or not folder.is_dir() or folder.is_symlink():
        return False
    try:
        if (folder / NOTE).exists():
            return False
        return is_own(folder) or (folder / ABOUT).is_file() or any(map(holds_journal, within(folder)))
    except PermissionError:
        return True


def _rehearses(folder: Path) -> bool:
    with suppress(MemorySystemError):  # the agent itself reports the problem
        return rehearsal.read(folder) is not None
    return False


@contextmanager
def _still(folder: Path) -> Iterator[None]:
    """Within the block nobody writes an agent; one without a folder needs no lock."""
    if not folder.is_dir():
        yield
        return
    with WriteLock(folder).hold():
        yield


def _copy_agent(folder: Path, target: Path, journals: Journals) -> None:
    """Copy an agent's folder, the journal as a file wherever it is stored, without what is made again on opening."""
    copying.copy(folder, target, left_out=(*copying.SET_ASIDE, *copying.DERIVED))
    journals.of(folder).copy_into(target / JOURNAL)


def _sealed(half: Path, slot: Slot) -> None:
    (half / PERSONALITIES).mkdir(exist_ok=True)
    write_slot(half, slot)
