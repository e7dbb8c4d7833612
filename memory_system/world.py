"""A world: the agents that share a database folder and a clock; and which embedder and model they use."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from . import personality as static_memory
from .agent import AgentMemory
from .clock import read_standing, world_clock, write_standing
from .embedding import CachedEmbedder, Embedder, MiniLM
from .errors import AlreadyExists, InvalidAgentName
from .llm import LanguageModel
from .llm.offline import OfflineModel
from .names import checked_name
from .settings import Settings

_NOT_AGENTS = frozenset({"schema"})


class World:
    """All agents of one world. Thread-safe; an agent is opened at its first use and stays open.

    Args:
        settings: where things are and which services to use; from the environment if not given.
        embedder: texts to vectors; all-MiniLM-L6-v2 if not given.
        model: the language model; chosen by the settings if not given.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        embedder: Embedder | None = None,
        model: LanguageModel | None = None,
    ) -> None:
        self.settings = settings or Settings()
        self.name = checked_name(self.settings.world, "world name")
        self.folder = Path(self.settings.database) / self.name
        self.embedder: Embedder = embedder or CachedEmbedder(MiniLM(self.settings.cache))
        self.model: LanguageModel = model or _model(self.settings, self.embedder)
        self.clock = world_clock(self.folder)
        self._agents: dict[str, AgentMemory] = {}
        self._lock = threading.RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all agents."""
        with self._lock:
            for agent in self._agents.values():
                agent.close()
            self._agents.clear()

    @property
    def standing(self) -> datetime | None:
        """The time at which the world's clock stands; ``None`` = it follows the real time."""
        return read_standing(self.folder)

    def stand_at(self, at: datetime | None) -> None:
        """Let the world's clock stand at a time, or follow the real time."""
        write_standing(self.folder, at)

    def agents(self) -> list[str]:
        """The names of all agents, sorted: those with a personality and those with a folder."""
        files = (path.stem for path in Path(self.settings.personalities).glob("*.json"))
        folders = (path.name for path in self.folder.glob("*") if (path / "journal.sqlite3").is_file())
        return sorted({name for name in (*files, *folders) if _usable(name)})

    def agent(self, name: str) -> AgentMemory:
        """The memory of an agent, opened at its first use.

        Raises:
            InvalidAgentName, AgentNotFound, StoreError: it cannot be opened.
        """
        checked = checked_name(name)
        with self._lock:
            if checked not in self._agents:
                self._agents[checked] = AgentMemory(
                    checked,
                    database=self.settings.database,
                    world=self.name,
                    personalities=self.settings.personalities,
                    embedder=self.embedder,
                    model=self.model,
                    clock=self.clock,
                )
            return self._agents[checked]

    def create_agent(self, name: str, personality: str | None = None) -> AgentMemory:
        """A new agent, with this personality (JSON) or with its name alone.

        Raises:
            InvalidAgentName, InvalidPersonality: nothing was made.
            AlreadyExists: there is an agent of this name, or one that differs only in upper and lower case.
        """
        checked = checked_name(name)
        with self._lock:
            if twins := [held for held in self.agents() if held.casefold() == checked.casefold()]:
                raise AlreadyExists(f"There is an agent {twins[0]!r} already.")
            text = personality
            if text is None:
                text = json.dumps({"identity": {"name": checked}}, ensure_ascii=False, indent=2) + "\n"
            static_memory.parse(text, f"{checked}.json")
            static_memory.write(Path(self.settings.personalities) / f"{checked}.json", text)
            return self.agent(checked)

    def __iter__(self) -> Iterator[AgentMemory]:
        return (self.agent(name) for name in self.agents())


def _usable(name: str) -> bool:
    try:
        return checked_name(name) == name and name not in _NOT_AGENTS
    except InvalidAgentName:
        return False


def _model(settings: Settings, embedder: Embedder) -> LanguageModel:
    if not settings.uses_openai:
        return OfflineModel(embedder)
    from .llm.openai import OpenAIModel  # openai takes half a second to import, and few need it

    key = settings.openai_api_key
    return OpenAIModel(
        model=settings.llm_model,
        key=key.get_secret_value() if key else None,
        base_url=settings.openai_base_url,
        deadline=settings.llm_deadline,
    )
