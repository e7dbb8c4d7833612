"""RemoteWorld: the world of a server, with the calls of ``World`` that games need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from ...agent_parts.importing import ALL
from ...core.change_set import ChangeSet
from ...core.entry import MemoryId, id_of
from ...core.files import HeldOpen
from ...core.findings import Finding
from ...core.known import EVERYBODY, WORLD_AGENT, Fact, Group, Label
from ...core.names import checked_name
from ...core.personality import as_text
from ...core.settings import Settings
from ...core.times import in_zone, zone_given
from ...errors import AlreadyExists, InvalidParameter, MemorySystemError, shown
from ...llm.prices import Price
from ...maintenance import Saved, WorldsCompared
from ...operations.context import Progress, no_progress
from ...operations.edit import listed
from ...operations.importing import events as intake
from ...operations.importing.dates import Order
from ...operations.importing.events import Events, Outcome
from ...operations.importing.forms import Origin
from ...operations.importing.taking_in import Imported
from ...recall.rank import Recall
from ...store.clock import About
from ...store.journal.history import Applied
from ...store.rehearsal import Rehearsal
from ...world.advancing import Advanced, expected
from ...world.auth import Role
from ...world.branches.diff import Apart
from ...world.branches.merge import Fit
from ...world.cast import Beside, Bond, Chart, Whereabouts
from ...world.folders import Binned
from ...world.happening import Happened, Told
from ...world.inbox import Inbox
from ...world.knows import Cell, Spread, StoryTest, TestResult, Verdict
from ...world.places import Located
from ...world.rerating import Rerating
from ...world.together import Together
from ...world.trail import Hop
from ..serialize import RemoteChangeSet, read
from .agent import RemoteAgent, Stopped
from .wire import Wire, event, filed, long, plain, present_fields, raised, segment

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class RemoteBackup:
    """A backup in the server's backup folder.

    Args:
        file: its name there.
        size: in bytes.
        world: the world that it was made from; ``None`` if it cannot be read.
        made_at: when it was made (real time).
        deleted: how many deleted agents it contains.
        problem: why it cannot be read, in a sentence; ``None`` if it can.
    """

    file: str
    size: int
    world: str | None
    made_at: datetime | None
    deleted: int
    problem: str | None


@dataclass(frozen=True)
class Answered(Generic[_Value]):
    """The answer to one of many requests that were sent together: a value, or an error.

    Args:
        agent: whose event it was, or who was asked; ``None`` if that was not given.
        value: what became of the event, or what was recalled.
        revision: that of the agent that has the event, or that answered; ``None`` if nothing was changed or asked.
        error: why there is no value.
        notes: where an event was read differently from how it was written, in sentences.
    """

    agent: str | None
    value: _Value | None
    revision: int | None
    error: MemorySystemError | None
    notes: tuple[str, ...] = ()


class RemoteWorld(HeldOpen):
    """A world on a server. Thread-safe.

    Args:
        address: where the server is.
        timeout: seconds that one answer may take, or that may pass between two progress reports.
        author: who is behind the changes; the history shows them as "API" and this name.
        token: this program's token; that in ``MEMORY_TOKEN``, or else in ``MEMORY_VIEWER_TOKEN``, if not given.
        world: the expected world: everything is refused with ``Conflict`` while the server has another one in use; if
            not given, the one in use.
    """

    def __init__(
        self,
        address: str = "http://127.0.0.1:5000",
        *,
        timeout: float = 90.0,
        author: str = "",
        token: str | None = None,
        world: str | None = None,
    ) -> None:
        wire = Wire(address, timeout, _token() if token is None else token)
        if world is not None:
            wire = wire.meant_for(world)
        self._wire = wire.acting_as(author) if author else wire

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections; the server's agents stay open."""
        self._wire.close()

    def __contains__(self, agent: object) -> bool:
        """Whether there is an agent of this name, or this agent."""
        return getattr(agent, "name", agent) in self.agents()

    def agents(self) -> list[str]:
        """The names of all agents, sorted, rehearsals included."""
        return [agent["name"] for agent in self._listed()]

    def agent(self, name: str) -> RemoteAgent:
        """The memory of an agent.

        Raises:
            InvalidAgentName, AgentNotFound, ServerUnavailable: it cannot be opened.
        """
        return self._known(self._wire.get(f"/v1/agents/{segment(checked_name(name))}"))

    def create_agent(self, name: str, personality: str | Mapping[str, Any] | None = None) -> RemoteAgent:
        """A new agent, with this personality (JSON, or a dict of it) or with its name alone."""
        body = {"name": name} if personality is None else {"name": name, "personality": as_text(personality)}
        return self._known(self._wire.write("POST", "/v1/agents", body))

    def create_with_events(
        self, name: str, personality: str | Mapping[str, Any], events: Events = (), *,
        author: str = "", progress: Progress = no_progress,
    ) -> RemoteAgent:  # fmt: skip
        """As ``World.create_with_events``; a file is read here, not on the server."""
        taken = intake.read(events, None, lambda: self.clock().tzinfo)
        body = {
            "name": name, "personality": as_text(personality), "events": [event(entry) for entry in taken.entries],
        }  # fmt: skip
        return self._known(long(self._by(author or None), "POST", "/v1/agents", body, progress))

    def bring_character(
        self,
        name: str,
        material: bytes | str,
        *,
        file_name: str = "",
        form: Origin | str | None = None,
        take: str | Sequence[str] = ALL,
        columns: Mapping[str, str] | None = None,
        dates: Order | str | None = None,
        ask_model: bool = False,
        author: str = "",
        preview: bool = False,
        progress: Progress = no_progress,
    ) -> Imported:
        """As ``World.bring_character``."""
        if name in self.agents():
            raise AlreadyExists(f"There is an agent {name!r} already.")
        how = present_fields(file_name=file_name, form=form, take=listed(take), columns=columns, dates=dates)
        body = present_fields(material=filed(material)) | how | {"ask_model": ask_model, "create": True}
        path, said = f"/v1/agents/{segment(name)}/imports", {"preview": str(preview).lower()}
        return read(Imported, long(self._by(author or None), "POST", path, body, progress, **said))

    def duplicate_agent(self, name: str, to: str) -> RemoteAgent:
        """A copy of an agent, its whole history included, under another name."""
        return self._known(self._wire.write("POST", f"/v1/agents/{segment(name)}/copy", {"to": to}))

    def rename_agent(self, name: str, to: str) -> RemoteAgent:
        """The same agent under another name."""
        return self._known(self._wire.write("POST", f"/v1/agents/{segment(name)}/rename", {"to": to}))

    def delete_agent(self, name: str) -> Binned:
        """Move an agent to the world's bin, from where ``restore_agent`` brings it back."""
        return read(Binned, self._wire.write("DELETE", f"/v1/agents/{segment(name)}"))

    def deleted_agents(self) -> list[Binned]:
        """The agents in the bin, the last deleted first, without their folders."""
        return [read(Binned, item) for item in self._wire.get("/v1/bin")["items"]]

    def restore_agent(self, binned: Binned) -> RemoteAgent:
        """Bring an agent back from the bin."""
        if not isinstance(binned, Binned):
            raise InvalidParameter("Only one of ``deleted_agents()`` can be restored.")
        body = {"name": binned.name, "deleted_at": plain(binned.deleted_at)}
        return self._known(self._wire.write("POST", "/v1/bin/restore", body))

    @property
    def name(self) -> str:
        """The world's name."""
        return str(self._wire.get("/v1/world")["name"])

    @property
    def about(self) -> About:
        """The world's title, what it is about, and the character to begin with."""
        answer = self._wire.get("/v1/world")
        return About(answer["title"], answer["about"], answer["first"])

    def describe(self, about: About) -> None:
        """Say what the world is about."""
        self._wire.write("PATCH", "/v1/world", plain(about))

    @property
    def role(self) -> Role:
        """What this program may do there: changes by a viewer are refused with ``NotAllowed``."""
        return Role(self._wire.get("/v1/world")["role"])

    def clock(self) -> datetime:
        """The world's time, in its zone."""
        answer = self._wire.get("/v1/world")
        zone = answer.get("zone")
        return in_zone(datetime.fromisoformat(answer["now"]), None if zone is None else zone_given(zone))

    @property
    def standing(self) -> datetime | None:
        """The time at which the world's clock is stopped; ``None`` = it follows the real time."""
        standing = self._wire.get("/v1/world")["standing"]
        return None if standing is None else datetime.fromisoformat(standing)

    def stand_at(self, at: datetime | None) -> None:
        """Stop the world's clock at a time, or let it follow the real time."""
        self._wire.write("PATCH", "/v1/world", {"standing": plain(at)})

    @property
    def zone(self) -> str | None:
        """The name of the world's time zone; ``None`` = that of the time that its clock was set to, or UTC."""
        zone = self._wire.get("/v1/world").get("zone")
        return None if zone is None else str(zone)

    def use_zone(self, name: str | None) -> None:
        """As ``World.use_zone``."""
        self._wire.write("PATCH", "/v1/world", {"zone": name})

    @property
    def embedder_name(self) -> str:
        """The name of the embedder in use."""
        return str(self._wire.get("/v1/world")["embedder"])

    @property
    def embedder_decided(self) -> str:
        """Who decides on the embedder, in a sentence; empty if it can be chosen here."""
        return str(self._wire.get("/v1/world")["embedder_decided"])

    def use_embedder(self, name: str | None) -> None:
        """As ``World.use_embedder``."""
        self._wire.write("PATCH", "/v1/world", {"embedder": name})

    @property
    def speed(self) -> float:
        """How many seconds of the world pass in a real one: 0 if it is stopped, 1 if it follows the real time."""
        return float(self._wire.get("/v1/world")["speed"])

    def play(self, speed: float = 1.0) -> None:
        """Let the world's clock run on from where it is, this many seconds in a real one (0.001 to 100,000)."""
        self._wire.write("PATCH", "/v1/world", {"speed": plain(speed)})

    def pause(self) -> None:
        """Stop the world's clock where it is."""
        self._wire.write("PATCH", "/v1/world", {"speed": 0})

    @property
    def lives(self) -> bool:
        """Whether the server lets the characters do what is due by themselves as the world's clock runs."""
        return bool(self._wire.get("/v1/world")["lives"])

    def live(self, *, on: bool = True) -> None:
        """Switch that on or off."""
        self._wire.write("PATCH", "/v1/world", {"lives": on})

    def advance(
        self,
        to: datetime | None = None,
        *,
        events: Mapping[str, Events] | None = None,
        preview: bool = False,
        progress: Progress = no_progress,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Advanced:
        """As ``World.advance``; ``cancelled`` is called whenever the server reports its progress.

        Only the history shows what was done before it was stopped.
        """

        def report(done: float, doing: str) -> None:
            progress(done, doing)
            if cancelled():
                raise Stopped

        coming = expected(events, self._now) if events else {}
        sent = {name: [event(entry) for entry in some] for name, some in coming.items()}
        try:
            body = {**present_fields(to=plain(to)), "events": sent, "preview": preview}
            return read(Advanced, long(self._wire, "POST", "/v1/advance", body, report))
        except Stopped:
            return Advanced(self._now, (), stopped=True)

    @property
    def _now(self) -> datetime:
        return datetime.fromisoformat(self._wire.get("/v1/world")["now"])

    def due(self, to: datetime | None = None) -> Advanced:
        """What would happen by itself until a time of the world, or at present; nothing is changed."""
        return read(Advanced, self._wire.get("/v1/due", to=plain(to)))

    def inbox(self, name: str, *, compare: bool = False, progress: Progress = no_progress) -> Inbox:
        """As ``World.inbox``."""
        address = f"/v1/agents/{segment(name)}/inbox"
        return read(Inbox, long(self._wire, "GET", address, None, progress, compare=str(compare).lower()))

    def worlds(self) -> list[Saved]:
        """The worlds in the server's folder of all worlds, of which it serves one; a viewer sees only that one."""
        return [read(Saved, item) for item in self._wire.get("/v1/worlds")["items"]]

    def compare_worlds(self, one: str, other: str) -> WorldsCompared:
        """As ``Worlds.compare``."""
        return read(WorldsCompared, self._wire.get("/v1/worlds-compared", one=one, other=other))

    def create_world(self, name: str, *, sample: bool = False, progress: Progress = no_progress) -> Saved:
        """As ``Worlds.create``."""
        return read(Saved, long(self._wire, "POST", "/v1/worlds", {"name": name, "sample": sample}, progress))

    def copy_world(self, name: str, to: str, *, progress: Progress = no_progress) -> Saved:
        """As ``Worlds.copy``."""
        return read(Saved, long(self._wire, "POST", f"/v1/worlds/{segment(name)}/copy", {"to": to}, progress))

    def branch_world(self, name: str, to: str, *, progress: Progress = no_progress) -> Saved:
        """As ``Worlds.branch``."""
        return read(Saved, long(self._wire, "POST", f"/v1/worlds/{segment(name)}/branch", {"to": to}, progress))

    def rename_world(self, name: str, to: str) -> Saved:
        """As ``Worlds.rename``; the world in use is served on under its new name."""
        return read(Saved, self._wire.write("POST", f"/v1/worlds/{segment(name)}/rename", {"to": to}))

    def switch_world(self, name: str) -> Saved:
        """Let the server serve another world from now on, for everybody who asks it."""
        return read(Saved, self._wire.write("POST", f"/v1/worlds/{segment(name)}/switch"))

    def delete_world(self, name: str) -> Binned:
        """As ``Worlds.delete``."""
        return read(Binned, self._wire.write("DELETE", f"/v1/worlds/{segment(name)}"))

    def deleted_worlds(self) -> list[Binned]:
        """The worlds in the bin, the last deleted first, without their folders."""
        return [read(Binned, item) for item in self._wire.get("/v1/worlds-bin")["items"]]

    def restore_world(self, binned: Binned, to: str | None = None) -> Saved:
        """As ``Worlds.restore``."""
        if not isinstance(binned, Binned):
            raise InvalidParameter("Only one of ``deleted_worlds()`` can be restored.")
        body = {"name": binned.name, "deleted_at": plain(binned.deleted_at), **present_fields(to=to)}
        return read(Saved, self._wire.write("POST", "/v1/worlds-bin/restore", body))

    def prompt_texts(self) -> dict[str, str]:
        """What each prompt of the world says, by its name."""
        return {prompt["name"]: prompt["text"] for prompt in self._wire.get("/v1/prompts")["items"]}

    def prices(self) -> dict[str, Price]:
        """What the world's language models cost, by the model's name."""
        return {name: read(Price, price) for name, price in self._wire.get("/v1/prices")["items"].items()}

    @property
    def rerating(self) -> Rerating:
        """The state of rating in the background."""
        return read(Rerating, self._wire.get("/v1/rerating"))

    # -- many agents in one request --------------------------------------------------------------------

    def add_events(
        self,
        events: Iterable[Mapping[str, Any]],
        *,
        overwrite_existing: bool = True,
        rate: bool = True,
        wait: bool | None = None,
        now: datetime | None = None,
    ) -> list[Answered[Outcome]]:
        """Give many agents events to remember; an event that is refused does not affect the others.

        Args:
            events: at most 10,000, each as ``{"agent": "mira", "document": ...}`` with the fields of an event.
            overwrite_existing: whether an event with the id of a memory replaces it.
            rate: whether events without a rating are rated.
            wait: whether to wait for the ratings; not by default if the server rates in the background.
            now: when an event without a time happened; by the world's clock if not given.

        Returns:
            the result for each, in their order; those of one agent are one change set, and one revision.

        Raises:
            MemorySystemError: nothing could be accepted at all. Nothing was changed.
        """
        body = {
            "events": plain(_many("The events", events)),
            "overwrite_existing": overwrite_existing,
            "rate": rate,
            **present_fields(now=now, wait=wait),
        }
        return _answered(self._wire.write("POST", "/v1/events", body), Outcome, "outcome")

    def happened(
        self,
        text: str,
        *,
        at: str = "",
        seen_by: str | Sequence[str] = (),
        heard_by: str | Sequence[str] = (),
        told: Told = (),
        now: datetime | None = None,
        wait: bool | None = None,
        author: str | None = None,
        preview: bool = False,
    ) -> Happened:
        """As ``World.happened``."""
        tellers = dict(told) if isinstance(told, Mapping) else dict.fromkeys(listed(told, "'told'"), "")
        who = {"seen_by": listed(seen_by, "'seen_by'"), "heard_by": listed(heard_by, "'heard_by'"), "told": tellers}
        body = present_fields(text=text, at=at, now=now, wait=wait, **who)
        wire = self._by(author)
        return read(Happened, wire.write("POST", "/v1/happened", body, preview=str(preview).lower()))

    def know(
        self,
        text: str,
        *,
        to: str = EVERYBODY,
        known_from: datetime | None = None,
        known_until: datetime | None = None,
        rating: float | None = None,
        fact_id: str | None = None,
        author: str | None = None,
        preview: bool = False,
    ) -> RemoteChangeSet:
        """As ``World.know``."""
        times = {"known_from": plain(known_from), "known_until": plain(known_until)}
        return self._changed(
            "know", present_fields(text=text, to=to, rating=rating, id=fact_id, **times), author, preview=preview
        )

    def unknow(self, ids: str | Sequence[str], *, author: str | None = None, preview: bool = False) -> RemoteChangeSet:
        """As ``World.unknow``."""
        return self._changed("unknow", {"ids": listed(ids)}, author, preview=preview)

    def group(
        self, name: str, members: str | Sequence[str], *, author: str | None = None, preview: bool = False
    ) -> RemoteChangeSet:
        """As ``World.group``."""
        return self._changed("group", {"name": name, "members": listed(members, "'members'")}, author, preview=preview)

    def carry_out(self, plan: ChangeSet) -> RemoteChangeSet:
        """As ``World.carry_out``; raises as ``RemoteAgent.apply`` does."""
        return RemoteAgent(self._wire, WORLD_AGENT).apply(plan)

    def tune(
        self,
        *,
        now: datetime | None = None,
        author: str | None = None,
        preview: bool = False,
        progress: Progress = no_progress,
    ) -> Together:
        """As ``World.tune``."""
        wire, said = self._by(author), {"preview": str(preview).lower()}
        return read(Together, long(wire, "POST", "/v1/operations/tune-cast", present_fields(now=now), progress, **said))

    def carry_out_all(self, planned: Together) -> Together:
        """As ``World.carry_out_all``, for what this server previewed.

        Raises:
            InvalidParameter: it was not previewed by a server, or only a part of it is to be carried out.
            ChangeSetNotFound: the preview has expired or was used.
        """
        plans = [
            plan for plan in planned.plans if isinstance(plan, RemoteChangeSet) and plan.preview and not plan.refused
        ]
        if len(plans) < len(planned.plans):
            raise InvalidParameter("Only what the server previewed can be carried out together, and that whole.")
        if not plans:
            return planned
        sent = [{"agent": plan.agent, "id": plan.preview} for plan in plans]
        answer = self._wire.write("POST", "/v1/previews/apply", {"previews": sent})
        done = {item["agent"]: read(RemoteChangeSet, item) for item in answer["items"]}
        return replace(
            planned, shares=tuple(replace(share, change_set=done.get(share.agent)) for share in planned.shares)
        )

    def _changed(self, operation: str, body: dict[str, Any], author: str | None, *, preview: bool) -> RemoteChangeSet:
        wire = self._by(author)
        return read(
            RemoteChangeSet, wire.write("POST", f"/v1/operations/{operation}", body, preview=str(preview).lower())
        )

    def facts(self) -> tuple[Fact, ...]:
        """What everybody or a group knows, by id; also what is not known yet or no longer."""
        return tuple(read(Fact, item) for item in self._wire.get("/v1/facts")["items"])

    def groups(self) -> tuple[Group, ...]:
        """The groups of characters that can know facts, by name."""
        return tuple(read(Group, item) for item in self._wire.get("/v1/groups")["items"])

    def who_knows(
        self,
        fact: str,
        names: str | Sequence[str] = (),
        *,
        at: datetime | None = None,
        ask_model: bool = True,
        progress: Progress = no_progress,
    ) -> tuple[Cell, ...]:
        """As ``World.who_knows``."""
        asked = present_fields(fact=fact, names=listed(names, "'names'"), at=at, ask_model=str(ask_model).lower())
        answer = long(self._wire, "GET", "/v1/who-knows", None, progress, **asked)
        return tuple(read(Cell, item) for item in answer["items"])

    def spread(
        self,
        fact: str,
        *,
        at: datetime | None = None,
        ask_model: bool = True,
        progress: Progress = no_progress,
    ) -> Spread:
        """As ``World.spread``."""
        asked = present_fields(fact=fact, at=at, ask_model=str(ask_model).lower())
        return read(Spread, long(self._wire, "GET", "/v1/spread", None, progress, **asked))

    def correct(
        self,
        name: str,
        fact: str,
        verdict: Verdict | str | None,
        memory: MemoryId = "",
        *,
        author: str | None = None,
        preview: bool = False,
    ) -> RemoteChangeSet:
        """As ``World.correct``."""
        said = None if verdict is None else str(verdict)
        body = present_fields(name=name, fact=fact, verdict=said, memory=id_of(memory))
        return self._changed("correct", body, author, preview=preview)

    def labels(self) -> tuple[Label, ...]:
        """As ``World.labels``."""
        return tuple(read(Label, item) for item in self._wire.get("/v1/labels")["items"])

    def story_tests(self) -> tuple[StoryTest, ...]:
        """As ``World.story_tests``."""
        return tuple(read(StoryTest, item) for item in self._wire.get("/v1/story-tests")["items"])

    def run_tests(
        self, tests: Sequence[StoryTest] | None = None, *, progress: Progress = no_progress
    ) -> tuple[TestResult, ...]:
        """As ``World.run_tests``, for the tests that are stored with the world.

        Raises:
            InvalidParameter: other tests were given; store them first.
        """
        if tests is not None:
            raise InvalidParameter("A server runs the tests that are kept with the world: keep these first.")
        answer = long(self._wire, "GET", "/v1/story-tests/results", None, progress)
        return tuple(read(TestResult, item) for item in answer["items"])

    def query_many(self, queries: Iterable[Mapping[str, Any]]) -> list[Answered[Recall]]:
        """Ask many agents, or one agent many cues; a query that is refused does not affect the others.

        Args:
            queries: at most 500, each as ``{"agent": "mira", "cue": ...}`` with other arguments of ``query_memory``.

        Returns:
            what each recalls, in their order.

        Raises:
            MemorySystemError: nothing could be asked at all.
        """
        answer = self._wire.ask(
            "/v1/query",
            {
                "queries": [
                    present_fields(**query) if isinstance(query, Mapping) else query
                    for query in _many("The queries", queries)
                ]
            },
        )
        return _answered(answer, Recall, "recall")

    # -- rehearsals ------------------------------------------------------------------------------------

    def characters(self) -> list[str]:
        """The names of the agents that are not rehearsals, sorted."""
        return [agent["name"] for agent in self._listed() if agent["rehearsal_of"] is None]

    def rehearsals(self, of: str | None = None) -> list[Rehearsal]:
        """All rehearsals, or those of one character, the last begun first."""
        found = [
            read(Rehearsal, item)
            for name in ([of] if of is not None else self.characters())
            for item in self._wire.get(f"/v1/agents/{segment(name)}/rehearsals")["items"]
        ]
        return sorted(found, key=lambda rehearsal: rehearsal.begun_at, reverse=True)

    def rehearsal(self, name: str) -> Rehearsal | None:
        """Whose rehearsal an agent is, and since when; ``None`` if it is a character of its own."""
        return next((rehearsal for rehearsal in self.rehearsals() if rehearsal.name == name), None)

    def branch(self, name: str, as_: str | None = None, *, purpose: str = "", author: str | None = None) -> RemoteAgent:
        """Begin a rehearsal of a character; see ``World.branch``."""
        body = present_fields(name=as_, purpose=purpose)
        return self._known(self._by(author).write("POST", f"/v1/agents/{segment(name)}/rehearsals", body))

    def compare(self, branch: str) -> Apart:
        """Where a rehearsal differs from its original, without the changes that made the difference."""
        return read(Apart, self._wire.get(f"/v1/agents/{segment(branch)}/comparison"))

    def changes_of(self, branch: str) -> list[Applied]:
        """The change sets of a rehearsal since it was begun, the newest first."""
        return [read(Applied, fit["applied"]) for fit in self._fits(branch)]

    def fits(self, branch: str) -> dict[int, Fit]:
        """For each change of a rehearsal, by its revision, whether the original has it, or could take it on its own."""
        items = self._fits(branch)
        return {item["applied"]["change_set"]["revision"]: Fit(item["there"], item["problem"]) for item in items}

    def keep(
        self,
        branch: str,
        *,
        ids: Iterable[MemoryId] | None = None,
        texts: Iterable[str] | None = None,
        revisions: Iterable[int] | None = None,
        overwrite: Iterable[MemoryId] = (),
        author: str | None = None,
        preview: bool = False,
    ) -> RemoteChangeSet:
        """Let the original take something from a rehearsal; a preview is applied by the original."""
        named = {"ids": ids, "overwrite": overwrite}
        chosen = {name: None if some is None else list(map(id_of, some)) for name, some in named.items()}
        others = {"texts": texts, "revisions": revisions}
        body = present_fields(**chosen, **{name: None if some is None else list(some) for name, some in others.items()})
        address = f"/v1/agents/{segment(branch)}/keep"
        return read(RemoteChangeSet, self._by(author).write("POST", address, body, preview=str(preview).lower()))

    def drop(self, branch: str) -> Binned:
        """Move a rehearsal to the world's bin; what was kept from it stays."""
        return read(Binned, self._wire.write("POST", f"/v1/agents/{segment(branch)}/drop"))

    def dropped(self, of: str) -> list[Binned]:
        """The rehearsals of a character that are in the bin, the last dropped first."""
        answer = self._wire.get(f"/v1/agents/{segment(of)}/rehearsals/dropped")
        return [read(Binned, item) for item in answer["items"]]

    def places(self) -> tuple[Located, ...]:
        """As ``World.places``."""
        return tuple(read(Located, item) for item in self._wire.get("/v1/places")["items"])

    def whereabouts(self, *, at: datetime | None = None) -> tuple[Whereabouts, ...]:
        """As ``World.whereabouts``."""
        return tuple(
            read(Whereabouts, item) for item in self._wire.get("/v1/whereabouts", **present_fields(at=at))["items"]
        )

    def beside(self, one: str, other: str, cue: str, *, at: datetime | None = None) -> Beside:
        """As ``World.beside``."""
        return read(Beside, self._wire.get("/v1/beside", **present_fields(one=one, other=other, cue=cue, at=at)))

    def bonds(self) -> tuple[Bond, ...]:
        """As ``World.bonds``."""
        return tuple(read(Bond, item) for item in self._wire.get("/v1/bonds")["items"])

    def chart(self, names: str | Sequence[str] = ()) -> Chart:
        """As ``World.chart``."""
        return read(Chart, self._wire.get("/v1/chart", names=listed(names, "'names'")))

    def trail(self, name: str, entry_id: MemoryId, about: str = "") -> tuple[Hop, ...]:
        """As ``World.trail``."""
        answer = self._wire.get(f"/v1/agents/{segment(name)}/trail", memory=id_of(entry_id), about=about)
        return tuple(read(Hop, item) for item in answer["items"])

    # -- keeping ---------------------------------------------------------------------------------------

    def examine(self, *, repair: bool = False, progress: Progress = no_progress) -> list[Finding]:
        """The doctor's findings for every agent; see ``doctor.examine``."""
        way = ("POST", "/v1/doctor/repair") if repair else ("GET", "/v1/doctor")
        return [read(Finding, item) for item in long(self._wire, *way, None, progress)["findings"]]

    def backups(self) -> list[RemoteBackup]:
        """The backups in the server's backup folder, the last made first."""
        return [read(RemoteBackup, item) for item in self._wire.get("/v1/backups")["items"]]

    def backup(self, *, progress: Progress = no_progress) -> RemoteBackup:
        """Copy the whole world into one file of the server's backup folder, while it is in use."""
        return read(RemoteBackup, long(self._wire, "POST", "/v1/backups", None, progress))

    def restore_as(self, file: str, world: str, *, progress: Progress = no_progress) -> list[Finding]:
        """Restore one of the server's backups as a new world, and return what the doctor found in it.

        Raises:
            NotFound: there is no such backup.
            AlreadyExists: there is a world of this name.
            InvalidBackup: it is not complete.
        """
        answer = long(self._wire, "POST", f"/v1/backups/{segment(file)}/restore", {"world": world}, progress)
        return [read(Finding, item) for item in answer["findings"]]

    def _listed(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        cursor = None
        while True:
            page = self._wire.get("/v1/agents", cursor=cursor, limit=1000)
            found += page["items"]
            cursor = page["next"]
            if cursor is None:
                return found

    def _fits(self, branch: str) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self._wire.get(f"/v1/agents/{segment(branch)}/fits")["items"]
        return items

    def _by(self, author: str | None) -> Wire:
        return self._wire if author is None else self._wire.acting_as(author)

    def _known(self, answer: dict[str, Any]) -> RemoteAgent:
        return RemoteAgent(self._wire, answer["agent"])


def _many(what: str, items: Iterable[Any]) -> list[Any]:
    """The events for, or queries to, many agents.

    Raises:
        InvalidParameter: it is not a list.
    """
    if isinstance(items, str | Mapping) or not isinstance(items, Iterable):
        raise InvalidParameter(f"{what} must be a list, of each a dict that names an 'agent', not {shown(items)}.")
    return list(items)


def _answered(answer: dict[str, Any], kind: type[_Value], name: str) -> list[Answered[_Value]]:
    return [
        Answered(
            item["agent"],
            None if item[name] is None else read(kind, item[name]),
            item["revision"],
            item["problem"] and raised(item["problem"]["code"], item["problem"]["detail"]),
            tuple(item.get("notes", ())),
        )
        for item in answer["items"]
    ]


def _token() -> str:
    settings = Settings()
    secret = settings.token or settings.viewer_token
    return secret.get_secret_value() if secret else ""
