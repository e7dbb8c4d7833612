"""What a fault leaves behind: worlds to damage, children to kill, and everything that must hold for a survivor."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

from memory_system import ChangeSet, ChromaMemory, Settings, Tier, World
from memory_system.core.change_set import dump_entry
from memory_system.core.settings import IN_JOURNAL
from memory_system.embedding.embedder import CachedEmbedder, Embedder
from memory_system.store.chroma.server import forget
from tests.conftest import NOW, PERSONALITY, ROOT
from tests.programs import Program

Child = Program | subprocess.Popen[str]

STEPS = {
    "before the commit": False,
    "within the commit": False,
    "after the commit, before the upsert": True,
    "after the upsert, before the delete": True,
    "after the delete, before it is marked done": True,
}
"""Every boundary between the steps of a change, and whether the change survives when a process is killed there."""

HAPPENED = (
    "Tobias borrowed the brass key of the tide mill and promised to bring it back",
    "Saw a light in the tide mill after midnight although it was locked",
    "Ines wrote into the log that the lamp of Harrow light went out in the fog",
    "Juno lied to Tobias about where the brass key of the mill lies",
    "Edda bought six seed loaves for a guest whom nobody has seen",
    "Oswin found bread in the chapel porch and told nobody",
)
LIVED = [f"{HAPPENED[n % 6]}, on the {n}. evening" for n in range(33)]
LONG_AGO = [f"{HAPPENED[n % 6]}, {n} years ago" for n in range(12)]
EDITED = "m5"


def settings_of(root: Path) -> Settings:
    """The settings of a world in this folder."""
    return Settings(database=root / "database", personalities=root / "personalities", llm="offline")


def prepare(root: Path, embedder: Embedder) -> Path:
    """A world whose agent has 30 rated events for 20 places in STM, 12 in LTM, and three forgotten last."""
    with World(settings_of(root), embedder=embedder) as world:
        world.stand_at(NOW)
        agent = world.create_agent("mira", json.dumps(PERSONALITY))
        lived = [
            {"document": text, "id": f"m{n}", "rating": n % 10 + 1, "timestamp": NOW - timedelta(hours=n)}
            for n, text in enumerate(LIVED)
        ]
        past = [
            {"document": text, "id": f"l{n}", "rating": n % 10 + 1, "timestamp": NOW - timedelta(days=40 + n)}
            for n, text in enumerate(LONG_AGO)
        ]
        agent.add_short_term([*lived, *past])
        agent.migrate_stm2ltm(ids=[f"l{n}" for n in range(len(past))])
        agent.query_memory("Who has the key?", top_k=3, static_threshold=1)
        agent.forget(["m0", "m1", "m2"])
    return root


def start(root: Path, *, prefix: Iterable[str] = (), **order: Any) -> Child:
    """A separate process that works on the agent "mira"; see ``child``."""
    return start_in(settings_of(root), prefix=prefix, **order)


def start_in(settings: Settings, *, prefix: Iterable[str] = (), **order: Any) -> Child:
    """The same in the world of these settings; a program started by another one takes seconds longer."""
    order |= {"database": str(settings.database), "personalities": str(settings.personalities)}
    command = ["-m", "tests.faults.child", json.dumps(order)]
    if not prefix:
        return Program(*command)
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [*prefix, sys.executable, *command], cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    )


def told_by(child: Child) -> dict[str, Any]:
    """The next line of a child."""
    assert child.stdout is not None
    line = child.stdout.readline()
    assert line, child.communicate()[1]
    told: dict[str, Any] = json.loads(line)
    return told


def go(child: Child) -> None:
    """Let a waiting child continue."""
    assert child.stdin is not None
    child.stdin.write("go\n")
    child.stdin.flush()


def kill(child: Child) -> list[dict[str, Any]]:
    """Kill a child now, with SIGKILL; returns what it had reported and was not read yet, whole lines only."""
    child.kill()
    out, problems = child.communicate()
    assert child.returncode == -signal.SIGKILL, problems
    return _lines(out)


def killed_at(root: Path, boundary: str, **order: Any) -> list[dict[str, Any]]:
    """What a child reported that was killed when it reached this step."""
    child = start(root, boundary=boundary, **order)
    out, problems = child.communicate()
    assert child.returncode == -signal.SIGKILL, problems
    return _lines(out)


def _lines(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines(keepends=True) if line.endswith("\n")]


class Survivor:
    """The agent, opened again after a fault; everything that must always hold is checked at once.

    ``lost`` counts memories that exist according to the history but not in what is shown or in the store; ``doubled``
    those in two tiers; ``half`` those that differ from the history.
    """

    def __init__(self, root: Path, embedder: CachedEmbedder) -> None:
        with World(settings_of(root), embedder=embedder) as world:
            agent = world.agent("mira")
            self.messages = agent.messages
            self.history = [told.change_set for told in reversed(agent.history(10_000))]
            self.accesses = {e.id: e.last_access for e in agent.entries(Tier.STM) if e.last_access}
            self.tiers = {tier: {e.id: dump_entry(e) for e in agent.entries(tier)} for tier in Tier}
            self.personality = agent.personality_text
            self.read_only = agent.read_only
            journal = agent._context.held.journal
            pending = journal.pending()
            by_journal = {tier: {e.id: dump_entry(e) for e, _ in journal.entries(tier).values()} for tier in Tier}
            answers = len(agent.query_memory("Who has the key?", threshold=0.0, touch=False))
            folder = world.folder / "mira"
        file = root / "personalities/mira.json"
        self.file = file.read_text(encoding="utf-8") if file.exists() else None
        assert pending == []
        numbers = [one.revision for one in self.history]
        assert numbers == sorted(set(numbers))
        if not world.settings.journal_url:  # a server skips the number of a commit that was cut off
            assert numbers == list(range(1, len(numbers) + 1))
        self._compare(by_journal if world.settings.store == IN_JOURNAL else stored(folder / "chroma"))
        assert (self.lost, self.doubled, self.half) == (0, 0, 0)
        assert answers > 0

    def _compare(self, in_store: dict[Tier, dict[str, str | None]]) -> None:
        replayed: dict[str, str | None] = {}
        for change_set in self.history:
            for change in change_set.changes:
                assert replayed.get(change.entry_id) == dump_entry(change.before)
                replayed[change.entry_id] = dump_entry(change.after)
        wanted = {key: body for key, body in replayed.items() if body is not None}
        self.lost = self.doubled = self.half = 0
        for held in (self.tiers, in_store):
            places = Counter(entry_id for of_tier in held.values() for entry_id in of_tier)
            bodies = {key: body for of_tier in held.values() for key, body in of_tier.items()}
            self.lost += len(wanted.keys() - bodies.keys())
            self.doubled += sum(count - 1 for count in places.values())
            self.half += sum(wanted.get(key) != body for key, body in bodies.items())
        assert in_store == self.tiers

    @property
    def last(self) -> ChangeSet:
        """The newest change set."""
        return self.history[-1]

    @property
    def ids(self) -> set[str]:
        """The ids of all memories."""
        return {entry_id for held in self.tiers.values() for entry_id in held}

    @property
    def counts(self) -> dict[str, int]:
        """The counts for the table of the round."""
        return {"rows lost": self.lost, "rows doubled": self.doubled, "half changes": self.half}

    def missing(self, acknowledged: Iterable[int | None]) -> set[int]:
        """Revisions that were acknowledged and are not in the history."""
        known = {one.revision for one in self.history}
        return {revision for revision in acknowledged if revision is not None} - known


def lose_store(chroma: Path) -> None:
    """Delete the content of a Chroma folder, or what the server has for it."""
    shutil.rmtree(chroma, ignore_errors=True)
    if (server := Settings().chroma) is not None:
        forget(chroma, server)


def stored(chroma: Path) -> dict[Tier, dict[str, str | None]]:
    """The content of a Chroma folder, or what the server has for it; it is not open, and its files are unchanged."""
    found: dict[Tier, dict[str, str | None]] = {}
    server = Settings().chroma
    with tempfile.TemporaryDirectory() as scratch:
        looked_at = Path(scratch) / chroma.parent.name / chroma.name if server is None else chroma
        if server is None and chroma.exists():
            shutil.copytree(chroma, looked_at)
        for tier in Tier:
            memory = ChromaMemory.at(looked_at, tier, server)
            found[tier] = {entry.id: dump_entry(entry) for entry in memory.snapshot().entries}
            memory.close()
    return found
