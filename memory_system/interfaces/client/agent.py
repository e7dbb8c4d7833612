"""RemoteAgent: an agent on a server, with the calls of ``AgentMemory``."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import unquote

from ...agent import AgentMemory
from ...agent_parts.cues import Precision
from ...agent_parts.importing import ALL
from ...agent_parts.rating import Rerated
from ...agent_parts.retrieval import Asked
from ...core import personality as static_memory
from ...core.change_set import ChangeSet, is_text
from ...core.dismissed import Dismissed
from ...core.entry import MemoryEntry, MemoryId, MemoryIds, Tier, id_of
from ...core.settings import AgentSettings
from ...errors import InvalidParameter
from ...llm.tasks import Rating
from ...llm.usage import Spent
from ...operations.context import Progress, by_age, no_progress
from ...operations.edit import ids_of, listed
from ...operations.exporting import MEDIA, Exported, Form, form_of
from ...operations.importing import events as intake
from ...operations.importing.dates import Order
from ...operations.importing.events import Added, Events
from ...operations.importing.forms import Origin
from ...operations.importing.taking_in import Imported, Preview
from ...operations.narrative import Hits, Narrative
from ...operations.reembed import Reembedded
from ...recall.cues import Judgment, SavedCue
from ...recall.forecast import YEAR, Forecast
from ...recall.query import Query
from ...recall.rank import Recall
from ...recall.verdicts import Candidate
from ...recall.versus import Versus
from ...recall.why import Way
from ...store.journal.trash import Forgotten
from ...store.staleness import Stale
from ..serialize import RemoteChangeSet, read
from .declared import looked, planned
from .view import RemoteView
from .wire import event, events, filed, long, plain, present_fields, segment

_LINES = 500
"""From how many events they are sent as lines, of which a body may have more."""


class Stopped(Exception):
    """Raised to stop listening to a server that reports its progress."""


class RemoteAgent(RemoteView):
    """One agent of a server's world; its calls return and raise what those of ``AgentMemory`` do."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            message = f"A RemoteAgent has no {name!r}."
            if hasattr(AgentMemory, name):  # a talk checks for what only an agent of this process has
                message += " Talks with a character of a server: memory_system.interfaces.client.conversation."
            raise AttributeError(message)

    migrate_stm2ltm = planned(AgentMemory.migrate_stm2ltm)
    summarize_and_forget = planned(AgentMemory.summarize_and_forget)
    reflect_from_recent_memory = planned(AgentMemory.reflect_from_recent_memory)
    plan_from_memory = planned(AgentMemory.plan_from_memory)
    reset_memory = planned(AgentMemory.reset_memory)
    remember_conversation = planned(AgentMemory.remember_conversation)
    rate_again = planned(AgentMemory.rate_again)
    edit_many = planned(AgentMemory.edit_many)
    forget = planned(AgentMemory.forget)
    put_off = planned(AgentMemory.put_off)
    set_portrait = planned(AgentMemory.set_portrait)
    import_material = planned(AgentMemory.import_material)
    restore = planned(AgentMemory.restore)
    purge = planned(AgentMemory.purge)
    tune = planned(AgentMemory.tune)
    empty_bin = planned(AgentMemory.empty_bin)
    merge = planned(AgentMemory.merge)
    dismiss = planned(AgentMemory.dismiss)
    suspect_again = planned(AgentMemory.suspect_again)
    rederive = planned(AgentMemory.rederive)
    keep_stale = planned(AgentMemory.keep_stale)
    save_cue = planned(AgentMemory.save_cue)
    remove_cue = planned(AgentMemory.remove_cue)
    judge = planned(AgentMemory.judge)
    undo = planned(AgentMemory.undo)
    redo = planned(AgentMemory.redo)
    undo_back_to = planned(AgentMemory.undo_back_to)

    def add_short_term(
        self,
        events: Events,
        *,
        overwrite_existing: bool = True,
        rate: bool = True,
        wait: bool | None = None,
        now: datetime | None = None,
        preview: bool = False,
        progress: Progress = no_progress,
    ) -> Added:
        """As ``AgentMemory.add_short_term``; a file is read here, not on the server.

        If the server rates in the background, no event waits for a language model unless ``wait`` says so.
        """
        taken = intake.read(events, None, lambda: self.now.tzinfo)
        sent = [event(entry) for entry in taken.entries]
        how = {"overwrite_existing": overwrite_existing, "rate": rate, **present_fields(wait=wait)}
        said = {"preview": str(preview).lower()}
        if len(sent) > _LINES:
            text = "\n".join(json.dumps(item) for item in sent).encode()
            said |= {name: str(value).lower() for name, value in how.items()} | present_fields(now=now)
            added = read(Added, self._long("POST", f"{self._of}/events.ndjson", text, progress, **said))
        else:
            body = {"events": sent, **how, **present_fields(now=now)}
            added = read(Added, self._long("POST", f"{self._of}/events", body, progress, **said))
        done = added.change_set
        return replace(added, change_set=replace(done, notes=(*taken.notes, *done.notes)))

    def acting_as(self, author: str, applying: None = None) -> Self:
        """The same memory, with "API" and this author for its changes in the history.

        Raises:
            InvalidParameter: the author is not a text, or ``applying`` is given: it is the server that applies.
        """
        if applying is not None:
            raise InvalidParameter("Over HTTP the server applies the changes: leave 'applying' out.")
        if not is_text(author) or not author.strip():
            raise InvalidParameter("The author must be a text, such as the name of a script.")
        return type(self)(self._wire.acting_as(author), self.name)

    def reembed(self, *, progress: Progress = no_progress, cancelled: Callable[[], bool] = lambda: False) -> Reembedded:
        """As ``AgentMemory.reembed``; ``cancelled`` is called whenever the server reports its progress."""

        def report(done: float, doing: str) -> None:
            progress(done, doing)
            if cancelled():
                raise Stopped

        before = self.waiting_for_vectors
        try:
            done = self._long("POST", f"{self._of}/vectors", None, report)
        except Stopped:
            waiting = self.waiting_for_vectors
            return Reembedded(before - waiting, waiting, store_made_anew=False)
        return read(Reembedded, done)

    def rate(self, text: str) -> Rating:
        """How poignant a text is, 1 to 10, and why; stores nothing."""
        return Rating.model_validate(self._wire.ask("/rate", {"memory": text}))

    def unrated(self) -> list[MemoryEntry]:
        """As ``AgentMemory.unrated``."""
        entries = (*self.entries(Tier.STM), *self.entries(Tier.LTM))
        return sorted((entry for entry in entries if entry.rating is None and not entry.protected), key=by_age)

    def rate_unrated(self, *, only_wanted: bool = False, but: Collection[str] = (), most: int | None = None) -> Rerated:
        """As ``AgentMemory.rate_unrated``; what stopped it is given only in words."""
        body = {"only_wanted": only_wanted, "but": list(but), "most": 1_000_000 if most is None else most}
        answer = self._wire.write("POST", f"{self._of}/rate-unrated", body)
        return Rerated(tuple(answer["rated"]), tuple(answer["failed"]), answer["left"], answer["stopped"])

    @property
    def spent(self) -> tuple[Spent, ...]:
        """As ``AgentMemory.spent``."""
        return tuple(read(Spent, item) for item in self._wire.get(f"{self._of}/spent")["items"])

    def apply(self, change_set: ChangeSet) -> RemoteChangeSet:
        """Carry out a change set that this server previewed, whole or ``without`` some memories.

        Raises:
            InvalidParameter: it was not previewed by a server.
            ChangeSetNotFound: the preview has expired or was used.
            StaleChange: what it touches has changed since. Nothing was changed.
        """
        if not isinstance(change_set, RemoteChangeSet) or not change_set.preview:
            raise InvalidParameter(
                "Only what was previewed by the server can be applied: call with preview=True first."
            )
        address = f"{self._of}/previews/{segment(change_set.preview)}/apply"
        return read(RemoteChangeSet, self._wire.write("POST", address, {"without": list(change_set.refused)}))

    def edit(self, entry_id: MemoryId, *, preview: bool = False, **fields: Any) -> RemoteChangeSet:
        """As ``AgentMemory.edit``."""
        return self._changed("PATCH", f"memories/{segment(id_of(entry_id))}", plain(fields), preview)

    def configure(self, *, preview: bool = False, **settings: Any) -> RemoteChangeSet:
        """As ``AgentMemory.configure``."""
        return self._changed("PATCH", "settings", plain(settings), preview)

    def save_personality(self, text: str, *, preview: bool = False) -> RemoteChangeSet:
        """As ``AgentMemory.save_personality``."""
        return self._changed("PUT", "personality", {"text": text}, preview)

    def as_of(
        self,
        at: datetime | None = None,
        *,
        revision: int | None = None,
        access: int | None = None,
        world_time: datetime | None = None,
    ) -> RemoteView:
        """As ``AgentMemory.as_of``."""
        moment = present_fields(at=at, revision=revision, access=access, world_time=world_time)
        if not moment:
            raise InvalidParameter("A moment is exactly one of a real time, 'revision' or 'world_time'.")
        view = RemoteView(self._wire, self.name, moment)
        view.get_stats()  # a moment that never was raises here, as in-process
        return view

    def export(self, *, vectors: bool = False) -> Iterator[str]:
        """The lines of ``python -m memory_system export``."""
        return self._wire.lines(f"{self._of}/export", vectors=str(vectors).lower())

    def export_as(self, form: Form | str = Form.CARD_PNG) -> Exported:
        """As ``AgentMemory.export_as``."""
        export_form = form_of(form)
        content, headers = self._wire.file(f"{self._of}/export", form=str(export_form))
        notes = tuple(unquote(note) for note in headers.get("Memory-Notes", "").split(",") if note)
        return Exported(f"{self.name}.{export_form}", MEDIA[export_form], content, notes)

    def changes(self, since: int | None = None, seconds: float | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
        """What happens to the agent as it happens: ``("change", head)`` for each change set, by any author.

        Args:
            since: a revision; the changes after it come first.
            seconds: how long to listen; until the server ends if not given.
        """
        yield from events(self._wire.lines(f"{self._of}/changes", **present_fields(since=since, seconds=seconds)))

    def _changed(self, method: str, address: str, body: Any, preview: bool) -> RemoteChangeSet:
        answer = self._wire.write(method, f"{self._of}/{address}", body, preview=str(preview).lower())
        return read(RemoteChangeSet, answer)

    plan_now = looked(AgentMemory.plan_now)
    last_version = looked(AgentMemory.last_version)
    built_on = looked(AgentMemory.built_on)
    lineage = looked(AgentMemory.lineage)
    stale = looked(AgentMemory.stale)
    suspicions = looked(AgentMemory.suspicions)
    check_cues = looked(AgentMemory.check_cues)
    queries = looked(AgentMemory.queries)
    relive = looked(AgentMemory.relive)
    conflicts = looked(AgentMemory.conflicts)
    history = looked(AgentMemory.history)
    change = looked(AgentMemory.change)
    history_kinds = looked(AgentMemory.history_kinds)
    history_kept = looked(AgentMemory.history_kept)

    # -- the agent itself ------------------------------------------------------------------------------

    @property
    def now(self) -> datetime:
        """The world's time."""
        return datetime.fromisoformat(self.get_stats()["now"])

    @property
    def revision(self) -> int:
        """The newest change set; 0 = before the first."""
        return int(self.get_stats()["revision"])

    @property
    def display_name(self) -> str:
        """What people call it."""
        return str(self.get_stats()["display_name"])

    @property
    def read_only(self) -> str | None:
        """Why nothing can be changed, in a sentence; ``None`` if it can."""
        why: str | None = self.get_stats()["read_only"]
        return why

    @property
    def messages(self) -> tuple[str, ...]:
        """What was found when it was opened."""
        return tuple(self.get_stats()["messages"])

    @property
    def settings(self) -> AgentSettings:
        """The agent's own settings."""
        return read(AgentSettings, self._wire.get(f"{self._of}/settings"))

    @property
    def personality_text(self) -> str | None:
        """The JSON text of the static memory in use."""
        text: str | None = self._wire.get(f"{self._of}/personality")["text"]
        return text

    @property
    def personality_problem(self) -> str | None:
        """What is wrong with the personality file on disk."""
        problem: str | None = self._wire.get(f"{self._of}/personality")["problem"]
        return problem

    @property
    def personality(self) -> static_memory.Personality | None:
        """The static memory in use."""
        text = self.personality_text
        return None if text is None else static_memory.parse(text)

    @property
    def waiting_for_vectors(self) -> int:
        """How many memories have no vector of the embedder in use, and are not found by meaning."""
        return int(self._wire.get(f"{self._of}/vectors")["waiting"])

    # -- memories beside each other --------------------------------------------------------------------

    def similar(self, entry_id: MemoryId, top_k: int = 5) -> list[tuple[MemoryEntry, float]]:
        """As ``AgentMemory.similar``."""
        answer = self._wire.get(f"{self._of}/similar", memory=id_of(entry_id), top_k=top_k)
        return [(read(MemoryEntry, item["entry"]), item["cosine"]) for item in answer["items"]]

    def stale_of(self, entry_id: MemoryId) -> Stale | None:
        """As ``AgentMemory.stale_of``."""
        memory_id = id_of(entry_id)
        return next((stale for stale in self.stale() if stale.entry.id == memory_id), None)

    @property
    def dismissed(self) -> tuple[Dismissed, ...]:
        """What a person has dismissed as neither a duplicate nor a contradiction."""
        return tuple(read(Dismissed, item) for item in self._wire.get(f"{self._of}/dismissed")["items"])

    # -- recall put to the test ------------------------------------------------------------------------

    def narrate(self, cue: str, hits: Hits) -> Narrative:
        """As ``AgentMemory.narrate``; only for memories that are on the server."""
        chosen = hits.hits if isinstance(hits, Recall) else hits
        if not isinstance(chosen, Sequence) or not all(isinstance(hit, Candidate | MemoryEntry) for hit in chosen):
            raise InvalidParameter("Only hits of a query, or memories, can be narrated.")
        ids = [hit.entry.id if isinstance(hit, Candidate) else hit.id for hit in chosen]
        return read(Narrative, self._wire.ask(f"{self._of}/narrate", {"cue": cue, "ids": ids}))

    def ways(self, asked: Asked, entry_id: MemoryId) -> tuple[Way, ...]:
        """As ``AgentMemory.ways``."""
        body = {**self._meant(asked), "id": id_of(entry_id)}
        return tuple(read(Way, item) for item in self._wire.ask(f"{self._of}/ways", body)["items"])

    def forecast(self, asked: Asked, horizon: timedelta = YEAR) -> tuple[Forecast, ...]:
        """As ``AgentMemory.forecast``."""
        body = {**self._meant(asked), "days": horizon / timedelta(days=1)}
        return tuple(read(Forecast, item) for item in self._wire.ask(f"{self._of}/forecast", body)["items"])

    def would_have_answered(self, asked: Asked) -> tuple[Candidate, ...]:
        """As ``AgentMemory.would_have_answered``."""
        items = self._wire.ask(f"{self._of}/would-have-answered", self._meant(asked))["items"]
        return tuple(read(Candidate, item) for item in items)

    @property
    def saved_cues(self) -> tuple[SavedCue, ...]:
        """The saved cues, in the order in which they were first saved."""
        return tuple(cue.saved for cue in self.check_cues())

    @property
    def judgments(self) -> tuple[Judgment, ...]:
        """The judgments of the answers to each cue."""
        items = self._wire.get(f"{self._of}/judgments")["items"]
        return tuple(read(Judgment, item) for item in items)

    def precision(
        self,
        cue: str,
        presets: Sequence[str] | None = None,
        *,
        now: datetime | None = None,
        top_k: int | None = None,
    ) -> dict[str, Precision]:
        """As ``AgentMemory.precision``."""
        body = present_fields(cue=cue, presets=None if presets is None else listed(presets), now=now, top_k=top_k)
        items = self._wire.ask(f"{self._of}/precision", body)["items"]
        return {
            item["preset"]: Precision(item["right"], item["wrong"], item["unjudged"], item["top_k"]) for item in items
        }

    def read_material(
        self,
        material: bytes | str,
        *,
        file_name: str = "",
        form: Origin | str | None = None,
        take: str | Sequence[str] = ALL,
        columns: Mapping[str, str] | None = None,
        dates: Order | str | None = None,
        now: datetime | None = None,
    ) -> Preview:
        """As ``AgentMemory.read_material``."""
        how = present_fields(file_name=file_name, form=form, take=listed(take), columns=columns, dates=dates, now=now)
        return read(Preview, self._wire.ask(f"{self._of}/material", present_fields(material=filed(material)) | how))

    def bring_in(
        self,
        material: bytes | str,
        *,
        file_name: str = "",
        form: Origin | str | None = None,
        take: str | Sequence[str] = ALL,
        columns: Mapping[str, str] | None = None,
        dates: Order | str | None = None,
        rate: bool = True,
        ask_model: bool = False,
        now: datetime | None = None,
        preview: bool = False,
        progress: Progress = no_progress,
    ) -> Imported:
        """As ``AgentMemory.bring_in``."""
        how = present_fields(file_name=file_name, form=form, take=listed(take), columns=columns, dates=dates, now=now)
        body = present_fields(material=filed(material)) | how | {"rate": rate, "ask_model": ask_model}
        answer = self._long("POST", f"{self._of}/imports", body, progress, preview=str(preview).lower())
        return read(Imported, answer)

    def versus(
        self,
        first: str,
        second: str,
        *,
        now: datetime | None = None,
        top_k: int | None = None,
        cues: Sequence[str] | None = None,
        without: Sequence[str] = (),
    ) -> Versus:
        """As ``AgentMemory.versus``."""
        asked = present_fields(first=first, second=second, now=now, top_k=top_k)
        asked |= present_fields(cues=None if cues is None else listed(cues), without=listed(without))
        return compared(self, asked)

    # -- what was asked, and what has happened ---------------------------------------------------------

    def touch(self, ids: MemoryIds, *, now: datetime | None = None) -> None:
        """As ``AgentMemory.touch``."""
        self._wire.write("POST", f"{self._of}/touch", present_fields(ids=ids_of(ids), now=now))

    def forgotten(self, limit: int = 100, contains: str = "") -> list[Forgotten]:
        """The bin: forgotten memories that can be restored, the last forgotten first."""
        return [read(Forgotten, page) for page in self.pages("forgotten", limit, contains=contains)]

    def count_forgotten(self, contains: str = "") -> int:
        """As ``AgentMemory.count_forgotten``."""
        return int(self._wire.get(f"{self._of}/forgotten", contains=contains, limit=1)["total"])

    def _meant(self, asked: Asked) -> dict[str, Any]:
        query = asked.query if isinstance(asked, Recall) else asked
        body: dict[str, Any] = plain(query) if isinstance(query, Query) else {"cue": query}
        body.pop("unexpanded", None)  # is given a query, and asks none
        return body

    def _long(self, method: str, path: str, body: Any, progress: Progress, **query: Any) -> Any:
        return long(self._wire, method, path, body, progress, **query)


def compared(agent: RemoteView, asked: Mapping[str, Any]) -> Versus:
    """The comparison of two presets by judgments, counted by the server."""
    wire, of = agent.reached
    answer = wire.ask(f"{of}/versus", asked)
    return Versus(answer["first"], answer["second"], answer["equal"], answer["unjudged"])
