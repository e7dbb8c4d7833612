"""The sample agents: their events replayed into a new world, through the same change sets as any other data.

The sample world also ships ready made: the journals that a replay of its stories leaves, packed next to the stories.

A replay takes most of a minute, nearly all of it to embed texts and write them change by change, and its result is the
same everywhere. Everything else of an agent, including its vector store, is made from the journal when the agent is
first opened. A character whose story or personality is not the packed one is replayed.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
import json
import shutil
import sqlite3
import tempfile
import uuid
import zipfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ..agent import AgentMemory
from ..core.change_set import Change, ChangeSet, so_many
from ..core.entry import MemoryEntry, Tier
from ..core.files import within
from ..core.names import MAX_NAME
from ..core.settings import AgentSettings, Retention
from ..core.shipped import personalities as shipped
from ..core.times import parse_time, real_clock
from ..errors import MemorySystemError, StoreDamaged
from ..llm import tasks
from ..operations import planning, reflection, summarisation
from ..operations.context import bare, by_age
from ..store.chroma.files import TO_BE_MADE
from ..store.clock import About
from ..store.copying import STORE
from ..store.journal.location import JOURNAL
from ..world.folders import agent_names
from ..world.world import TOKENS, World

ARCHIVE = "replayed.zip"
"""In the folder of the stories it was made from."""
_MANIFEST = "made_from.json"
_DAY = (2026, 3, 27, 18, 0, 0)
"""The time of every file in the archive, so that two archives of the same journals are the same bytes."""


@dataclass(frozen=True)
class ReadyMade:
    """An archive of replayed journals.

    Args:
        path: the file.
        embedder: whose vectors are in the journals.
        made_from: for each agent, the digest of the story and personality it was replayed from.
    """

    path: Path
    embedder: str
    made_from: Mapping[str, str]

    @classmethod
    def beside(cls, samples: Path) -> ReadyMade | None:
        """The archive of these stories; ``None`` if there is none, or this Python cannot unpack it.

        Raises:
            StoreDamaged: it cannot be read.
        """
        path = samples / ARCHIVE
        if not path.is_file() or importlib.util.find_spec("_lzma") is None:
            return None
        try:
            with zipfile.ZipFile(path) as archive:
                manifest = json.loads(archive.read(_MANIFEST))
            return cls(path, str(manifest["embedder"]), dict(manifest["agents"]))
        except Exception as error:  # zipfile and the decompressor raise types of their own for damaged bytes
            raise _damaged(path, error) from error

    def has(self, name: str, story: str, personality: str, embedder: str) -> bool:
        """Whether it has the result of replaying this story with an agent of this personality and embedder."""
        return self.embedder == embedder and self.made_from.get(name) == digest(story, personality)

    def unpack(self, name: str, folder: Path, now: datetime) -> None:
        """Put an agent's journal into its new folder, as if it had been replayed just now, in real time.

        Raises:
            StoreDamaged: the archive is damaged.
            OSError: the folder cannot be written.
        """
        folder.mkdir(parents=True)
        try:
            with zipfile.ZipFile(self.path) as archive:
                (folder / JOURNAL).write_bytes(archive.read(f"{name}/{JOURNAL}"))
            with closing(sqlite3.connect(folder / JOURNAL)) as journal, journal:
                _make_own(journal, now)
            (folder / TO_BE_MADE).touch()
        except OSError:
            raise
        except Exception as error:  # zipfile, the decompressor and SQLite raise types of their own for damaged bytes
            raise _damaged(self.path, error) from error


def pack(world: Path, sources: Mapping[str, tuple[str, str]], embedder: str, target: Path) -> None:
    """Write the archive of a world that has just been replayed and closed.

    Args:
        world: its folder.
        sources: each agent's story and personality, as text.
        embedder: whose vectors are in the journals.
        target: the archive; an existing one is replaced.
    """
    manifest = {"embedder": embedder, "agents": {name: digest(*texts) for name, texts in sorted(sources.items())}}
    beside = target.with_name(f".{target.name}.part")
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(beside, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr(_info(_MANIFEST), json.dumps(manifest, indent=2) + "\n")
        for name in sorted(sources):
            copy = Path(scratch) / f"{name}.sqlite3"
            with closing(sqlite3.connect(world / name / JOURNAL)) as journal:
                journal.execute("VACUUM INTO ?", (str(copy),))
            with closing(sqlite3.connect(copy)) as journal:
                with journal:  # what differs from one replay to the next, and is made again when it is unpacked
                    journal.execute("UPDATE change_sets SET id = revision, applied_at = ''")
                journal.execute("VACUUM")
            archive.writestr(_info(f"{name}/{JOURNAL}"), copy.read_bytes())
    beside.replace(target)


def digest(story: str, personality: str) -> str:
    """A value that identifies a story and personality."""
    checksum = hashlib.sha256()
    for text in (story, personality):
        checksum.update(hashlib.sha256(text.encode()).digest())
    return checksum.hexdigest()


def _make_own(journal: sqlite3.Connection, now: datetime) -> None:
    """Give the change sets their own ids, by which a server distinguishes two worlds, and times in their order."""
    revisions: Iterable[tuple[int]] = journal.execute("SELECT revision FROM change_sets ORDER BY revision DESC")
    rows = [
        (uuid.uuid4().hex, (now - timedelta(milliseconds=before)).isoformat(), revision)
        for before, (revision,) in enumerate(list(revisions))
    ]
    journal.executemany("UPDATE change_sets SET id = ?, applied_at = ? WHERE revision = ?", rows)


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _DAY)
    info.compress_type = zipfile.ZIP_LZMA
    info.external_attr = 0o100644 << 16
    return info


def _damaged(path: Path, error: Exception) -> StoreDamaged:
    return StoreDamaged(f"{path} is damaged ({error}). Get it again, or remove it to have the stories replayed.")


SETTINGS = AgentSettings(
    stm_size=20, top_k=6, static_share=0.3, retention=Retention.IMPORTANCE, migration_threshold=0.25
)
"""How the characters of the story remember: everything except what is purely mundane."""
_ANY_CUE = "What happened?"


def fill_world(
    world: World, samples: Path, say: Callable[[str], None] = lambda _line: None, *, replay: bool = False
) -> bool:
    """Fill a world whose folder is missing or empty with the sample agents; returns whether it did.

    Every ``<agent>.jsonl`` of the folder is replayed in the world's time: remembered, migrated every night, and
    reflected on, summarised and planned as its author wrote it down, through the same change sets as any other data.
    The result is taken from the archive next to the stories, if it fits them; with ``replay`` it never is. It is made
    under another name and renamed when it is complete, so that a half-filled world is never opened.

    If the folder of personalities is empty, those that ship are copied there. If it has somebody's own, characters of
    the story without a file in it are left out, and if that is all of them, nothing is filled.

    Raises:
        StoreDamaged: a sample file is broken or missing.
        OSError: the world's folder cannot be written.
    """
    if holds_something(world):
        return False
    try:
        about = json.loads((samples / "world.json").read_text(encoding="utf-8"))
        texts = {file.stem: file.read_text(encoding="utf-8") for file in within(samples, "*.jsonl")}
        stories = {name: [json.loads(line) for line in text.splitlines()] for name, text in texts.items()}
    except (OSError, ValueError) as error:
        raise StoreDamaged(f"The samples in {samples} cannot be read: {error}. Get them again.") from error
    stories = _described(world, stories)
    if not stories:
        return False
    packed = None if replay else ReadyMade.beside(samples)
    half = f"{world.name[: MAX_NAME - 8]}-filling"
    shutil.rmtree(world.folder.with_name(half), ignore_errors=True)
    settings = world.settings.model_copy(update={"world": half, "chroma_url": None})
    with World(settings, embedder=world.embedder, model=world.model) as scratch:
        scratch.stand_at(parse_time(about["clock"]))
        for name in stories:  # an earlier run that was killed may have left a journal on a server
            scratch.journals.of(scratch.folder / name).leave_name()
        scratch.describe(About(about.get("title", ""), about.get("about", ""), about.get("first", "")))
        for number, (name, story) in enumerate(stories.items(), start=1):
            own = personality_text(world, name)
            if packed is not None and packed.has(name, texts[name], own, world.embedder.identity):
                packed.unpack(name, scratch.folder / name, real_clock())
                continue
            say(f"Filling the world with its characters: {name} ({number} of {len(stories)}, {so_many(len(story))}).")
            _replay(scratch.agent(name).acting_as("samples"), story)
    if world.settings.chroma is not None:  # it takes everything in, under the world's own name, when an agent is opened
        for folder in within(scratch.folder):
            if (folder / STORE).exists():
                shutil.rmtree(folder / STORE)
    scratch.folder.rename(world.folder)
    return True


def prepare_recall(world: World, wanted: Callable[[], bool] = lambda: True) -> None:
    """Compute what the first recall of each character would have to, the one to begin with first.

    That is the token states of its memories, which take seconds and are then stored in a file.

    Args:
        world: the characters' world; one that cannot be opened is left out.
        wanted: called before each, to ask whether to go on.
    """
    for name in sorted(world.agents(), key=lambda name: (name != world.about.first, name)):
        if not wanted():
            return
        with suppress(MemorySystemError):  # opening it reports the problem
            world.agent(name).explain(_ANY_CUE)


def personality_text(world: World, name: str) -> str:
    """The text of the file that describes a character."""
    return (world.spot.personalities / f"{name}.json").read_text(encoding="utf-8")


def holds_something(world: World) -> bool:
    """Whether a world's folder contains more than what viewing it creates."""
    return world.folder.is_dir() and any(not path.name.startswith(TOKENS) for path in world.folder.iterdir())


def _described(world: World, stories: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """The stories of the characters that have a personality file."""
    personalities = world.spot.personalities
    if not agent_names(world.settings):
        personalities.mkdir(parents=True, exist_ok=True)
        for name in stories:
            if (file := shipped() / f"{name}.json").is_file():
                shutil.copyfile(file, personalities / file.name)
    return {name: story for name, story in stories.items() if (personalities / f"{name}.json").is_file()}


def _replay(agent: AgentMemory, story: list[dict[str, Any]]) -> None:
    """Replay a story in the order of its times: remember, migrate every night, reflect, summarise, plan."""
    agent.configure(**{field.name: getattr(SETTINGS, field.name) for field in dataclasses.fields(SETTINGS)})
    waiting: list[dict[str, Any]] = []
    for line, following in zip(story, [*story[1:], None], strict=True):
        when = parse_time(line["timestamp"])
        sort = line.pop("type", "event")
        if sort == "event":
            waiting.append(line)
        last_of_day = following is None or following["timestamp"][:10] != line["timestamp"][:10]
        if waiting and (sort != "event" or last_of_day):
            agent.add_short_term(waiting, now=when)
            waiting = []
        if sort != "event":
            agent.apply(_DERIVED[sort](agent, line, when))
        if last_of_day:
            agent.migrate_stm2ltm(now=when)


def _recorded(agent: AgentMemory, operation: str, title: str, changes: list[Change], when: datetime) -> ChangeSet:
    why = "The sample story tells what the character made of it."
    return ChangeSet(operation, title, tuple(changes), when, agent.stamp[0], author=agent.author, reason=why)


def _reflection(agent: AgentMemory, line: dict[str, Any], when: datetime) -> ChangeSet:
    evidence = [agent.last_version(entry_id) for entry_id in line["evidence"]]
    made = reflection.entry(when, line["question"], line["document"], evidence)
    reason = f"Answers “{line['question']}” from {len(evidence)} memories."
    return _recorded(agent, "reflect", "Reflect: 1 insight", [Change(None, _as_told(made, line), reason)], when)


def _summary(agent: AgentMemory, line: dict[str, Any], when: datetime) -> ChangeSet:
    entries = [agent.find(entry_id) for entry_id in line["evidence"]]
    sources = sorted((entry for entry in entries if entry and entry.tier is Tier.LTM), key=by_age)
    made = _as_told(summarisation.entry(line["document"], sources), line)
    changes = [Change(None, made, f"Stands for {len(sources)} small memories.")]
    changes += [Change(bare(entry), None, "The summary stands for it, and it can be restored.") for entry in sources]
    return _recorded(agent, "summarise", f"Summarise {len(sources)} memories into one", changes, when)


def _plan(agent: AgentMemory, line: dict[str, Any], when: datetime) -> ChangeSet:
    changes = [
        Change(None, planning.entry(when, tasks.Action(**action), []).evolve(id=f"{line['id']}-{number}"), "Planned.")
        for number, action in enumerate(line["actions"], start=1)
    ]
    title = f"Plan {when:%A} {when.day} {when:%B}: {len(changes)} actions"
    return _recorded(agent, "plan", title, changes, when)


def _as_told(made: MemoryEntry, line: dict[str, Any]) -> MemoryEntry:
    return made.evolve(
        id=line["id"], rating=line["rating"], explanation=line["explanation"], tags=tuple(line.get("tags", ()))
    )


_DERIVED = {"reflection": _reflection, "summary": _summary, "plan": _plan}
