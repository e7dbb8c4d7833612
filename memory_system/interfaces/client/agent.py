"""RemoteAgent: an agent on a server, with the calls of ``AgentMemory``.

RemoteOperating: the operations of an agent on a server, each previewed or at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Self

from ...agent_parts.rating import Rerated
from ...core.change_set import ChangeSet, is_text
from ...core.entry import MemoryEntry, Tier
from ...core.settings import Retention
from ...errors import InvalidParameter
from ...llm.tasks import Rating
from ...llm.usage import Spent
from ...operations.context import Progress, by_age, no_progress
from ...operations.edit import listed
from ...operations.importing import events as intake
from ...operations.importing.events import Added, Events
from ...operations.reembed import Reembedded
from ...store.journal.history import Applied
from ...store.journal.trash import Forgotten
from ..serialize import RemoteChangeSet, read
from .inspecting import RemoteLooking
from .view import RemoteView
from .wire import event, events, given, plain, revision_of, segment


class RemoteOperating(RemoteLooking):
    """The part that plans and carries out; each method is as that of ``AgentMemory``."""

    def migrate_stm2ltm(
        self,
        threshold: float | None = None,
        *,
        ids: str | Sequence[str] | None = None,
        now: datetime | None = None,
        retention: Retention | None = None,
        preview: bool = False,
    ) -> RemoteChangeSet:
        """As ``AgentMemory.migrate_stm2ltm``."""
        chosen = None if ids is None else listed(ids)
        return self._operate("migrate", preview, threshold=threshold, ids=chosen, now=now, retention=retention)

    def summarize_and_forget(
        self, k: int = 10, *, now: datetime | None = None, preview: bool = False, progress: Progress = no_progress
    ) -> RemoteChangeSet:
        """As ``AgentMemory.summarize_and_forget``."""
        return self._operate("summarise", preview, progress, k=k, now=now)

    def reflect_from_recent_memory(
        self,
        *,
        only_if_due: bool = False,
        now: datetime | None = None,
        preview: bool = False,
        progress: Progress = no_progress,
    ) -> RemoteChangeSet:
        """As ``AgentMemory.reflect_from_recent_memory``."""
        return self._operate("reflect", preview, progress, only_if_due=only_if_due, now=now)

    def plan_from_memory(
        self, now: datetime | None = None, *, preview: bool = False, progress: Progress = no_progress
    ) -> RemoteChangeSet:
        """As ``AgentMemory.plan_from_memory``."""
        return self._operate("plan", preview, progress, now=now)

    def reset_memory(self, *, preview: bool = False) -> RemoteChangeSet:
        """As ``AgentMemory.reset_memory``."""
        return self._operate("reset", preview)

    def remember_conversation(
        self,
        turns: Sequence[Mapping[str, Any]],
        *,
        rate: bool = True,
        now: datetime | None = None,
        preview: bool = False,
        progress: Progress = no_progress,
    ) -> RemoteChangeSet:
        """As ``AgentMemory.remember_conversation``, of turns that name speaker and text."""
        return self._operate("remember-conversation", preview, progress, turns=list(turns), rate=rate, now=now)

    def rate_again(
        self, ids: str | Sequence[str], *, preview: bool = False, progress: Progress = no_progress
    ) -> RemoteChangeSet:
        """As ``AgentMemory.rate_again``."""
        return self._operate("rate-again", preview, progress, ids=listed(ids))

    def edit_many(
        self,
        ids: str | Sequence[str],
        *,
        add_tags: str | Sequence[str] = (),
        remove_tags: str | Sequence[str] = (),
        preview: bool = False,
        **fields: Any,
    ) -> RemoteChangeSet:
        """As ``AgentMemory.edit_many``."""
        tags = {"add_tags": listed(add_tags), "remove_tags": listed(remove_tags)}
        return self._sent("edit-many", preview, {"ids": listed(ids), **tags, **plain(fields)})

    def forget(self, ids: str | Sequence[str], *, preview: bool = False) -> RemoteChangeSet:
        """As ``AgentMemory.forget``."""
        return self._operate("forget", preview, ids=listed(ids))

    def restore(self, ids: str | Sequence[str], *, preview: bool = False) -> RemoteChangeSet:
        """As ``AgentMemory.restore``."""
        return self._operate("restore", preview, ids=listed(ids))

    def purge(self, ids: str | Sequence[str], *, preview: bool = False) -> RemoteChangeSet:
        """As ``AgentMemory.purge``."""
        return self._operate("purge", preview, ids=listed(ids))

    def tune(
        self, *, now: datetime | None = None, preview: bool = False, progress: Progress = no_progress
    ) -> RemoteChangeSet:
        """As ``AgentMemory.tune``."""
        return self._operate("tune", preview, progress, now=now)

    def empty_bin(self, *, now: datetime | None = None, preview: bool = False) -> RemoteChangeSet:
        """As ``AgentMemory.empty_bin``."""
        return self._operate("empty-bin", preview, now=now)

    def merge(
        self, ids: Sequence[str], text: str | None = None, *, keep: str | None = None, preview: bool = False
    ) -> RemoteChangeSet:
        """As ``AgentMemory.merge``."""
        return self._operate("merge", preview, ids=listed(ids), text=text, keep=keep)

    def dismiss(self, ids: Sequence[str], *, preview: bool = False) -> RemoteChangeSet:
        """As ``AgentMemory.dismiss``."""
        return self._operate("dismiss", preview, ids=listed(ids))

    def suspect_again(self, *, preview: bool = False) -> RemoteChangeSet:
        """As ``AgentMemory.suspect_again``."""
        return self._operate("suspect-again", preview)

    def rederive(
        self, entry_id: str, *, now: datetime | None = None, preview: bool = False, progress: Progress = no_progress
    ) -> RemoteChangeSet:
        """As ``AgentMemory.rederive``."""
        return self._operate("rederive", preview, progress, id=entry_id, now=now)

    def keep_stale(self, entry_id: str, *, preview: bool = False) -> RemoteChangeSet:
        """As ``AgentMemory.keep_stale``."""
        return self._operate("keep-stale", preview, id=entry_id)

    def save_cue(
        self,
        name: str,
        cue: str,
        must: str | Sequence[str] = (),
        must_not: str | Sequence[str] = (),
        *,
        preview: bool = False,
    ) -> RemoteChangeSet:
        """As ``AgentMemory.save_cue``."""
        wanted = {"must": listed(must), "must_not": listed(must_not)}
        return self._operate("save-cue", preview, no_progress, name=name, cue=cue, **wanted)

    def remove_cue(self, name: str, *, preview: bool = False) -> RemoteChangeSet:
        """As ``AgentMemory.remove_cue``."""
        return self._operate("remove-cue", preview, name=name)

    def judge(self, cue: str, entry_id: str, verdict: bool | None, *, preview: bool = False) -> RemoteChangeSet:
        """As ``AgentMemory.judge``."""
        return self._sent("judge", preview, {"cue": cue, "id": entry_id, "verdict": verdict})

    def undo(
        self,
        revision: int | ChangeSet,
        *,
        keep: str | Sequence[str] = (),
        overwrite: str | Sequence[str] = (),
        preview: bool = False,
    ) -> RemoteChangeSet:
        """As ``AgentMemory.undo``."""
        chosen = {"keep": listed(keep), "overwrite": listed(overwrite)}
        return self._operate("undo", preview, no_progress, revision=revision_of(revision), **chosen)

    def redo(
        self,
        revision: int | ChangeSet,
        *,
        keep: str | Sequence[str] = (),
        overwrite: str | Sequence[str] = (),
        preview: bool = False,
    ) -> RemoteChangeSet:
        """As ``AgentMemory.redo``."""
        chosen = {"keep": listed(keep), "overwrite": listed(overwrite)}
        return self._operate("redo", preview, no_progress, revision=revision_of(revision), **chosen)

    def undo_back_to(self, revision: int | ChangeSet, *, preview: bool = False) -> RemoteChangeSet:
        """As ``AgentMemory.undo_back_to``."""
        return self._operate("undo-back-to", preview, revision=revision_of(revision))

    def _operate(
        self, operation: str, preview: bool, progress: Progress = no_progress, **fields: Any
    ) -> RemoteChangeSet:
        return self._sent(operation, preview, given(**fields), progress)

    def _sent(self, operation: str, preview: bool, body: Any, progress: Progress = no_progress) -> RemoteChangeSet:
        address = f"{self._of}/operations/{operation}"
        return read(RemoteChangeSet, self._long("POST", address, body, progress, preview=str(preview).lower()))


_LINES = 500
"""Events from which on they are sent as lines, of which a body may hold more."""


class _Stopped(Exception):
    """Raised to leave a server that tells how far it is."""


class RemoteAgent(RemoteOperating):
    """One agent of a server's world; what is answered and raised is what ``AgentMemory`` answers and raises."""

    def add_short_term(
        self,
        events: Events,
        *,
        overwrite_existing: bool = True,
        rate: bool = True,
        now: datetime | None = None,
        preview: bool = False,
        progress: Progress = no_progress,
    ) -> Added:
        """As ``AgentMemory.add_short_term``; a file is read here, not on the server."""
        taken = intake.read(events, None, lambda: self.now.tzinfo)
        sent = [event(entry) for entry in taken.entries]
        how = {"overwrite_existing": overwrite_existing, "rate": rate}
        said = {"preview": str(preview).lower()}
        if len(sent) > _LINES:
            text = "\n".join(json.dumps(one) for one in sent).encode()
            said |= {name: str(value).lower() for name, value in how.items()} | given(now=now)
            added = read(Added, self._long("POST", f"{self._of}/events.ndjson", text, progress, **said))
        else:
            body = {"events": sent, **how, **given(now=now)}
            added = read(Added, self._long("POST", f"{self._of}/events", body, progress, **said))
        done = added.change_set
        return replace(added, change_set=replace(done, notes=(*taken.notes, *done.notes)))

    def acting_as(self, author: str, applying: None = None) -> Self:
        """The same memory, whose changes the history tells as "API" and this author's.

        Raises:
            InvalidParameter: the author is no text, or ``applying`` is given: it is the server that applies.
        """
        if applying is not None:
            raise InvalidParameter("Over HTTP the server applies the changes: leave 'applying' out.")
        if not is_text(author) or not author.strip():
            raise InvalidParameter("The author must be a text, such as the name of a script.")
        return type(self)(self._wire.acting_as(author), self.name)

    def reembed(self, *, progress: Progress = no_progress, cancelled: Callable[[], bool] = lambda: False) -> Reembedded:
        """As ``AgentMemory.reembed``; whether to stop is asked as often as the server tells how far it is."""

        def told(done: float, doing: str) -> None:
            progress(done, doing)
            if cancelled():
                raise _Stopped

        before = self.waiting_for_vectors
        try:
            done = self._long("POST", f"{self._of}/vectors", None, told)
        except _Stopped:
            waiting = self.waiting_for_vectors
            return Reembedded(before - waiting, waiting, store_made_anew=False)
        return read(Reembedded, done)

    def rate(self, text: str) -> Rating:
        """How poignant a text is, 1 to 10, and why; stores nothing."""
        return Rating.model_validate(self._wire.ask("/rate", {"memory": text}))

    def unrated(self) -> list[MemoryEntry]:
        """As ``AgentMemory.unrated``."""
        held = (*self.entries(Tier.STM), *self.entries(Tier.LTM))
        return sorted((entry for entry in held if entry.rating is None and not entry.protected), key=by_age)

    def rate_unrated(self, *, only_wanted: bool = False, but: Collection[str] = (), most: int | None = None) -> Rerated:
        """As ``AgentMemory.rate_unrated``; what stopped it is told in words alone."""
        body = {"only_wanted": only_wanted, "but": list(but), "most": 1_000_000 if most is None else most}
        told = self._wire.write("POST", f"{self._of}/rate-unrated", body)
        return Rerated(tuple(told["rated"]), tuple(told["failed"]), told["left"], told["stopped"])

    @property
    def spent(self) -> tuple[Spent, ...]:
        """As ``AgentMemory.spent``."""
        return tuple(read(Spent, one) for one in self._wire.get(f"{self._of}/spent")["items"])

    def apply(self, change_set: ChangeSet) -> RemoteChangeSet:
        """Carry out a change set that this server previewed, whole or ``without`` some memories.

        Raises:
            InvalidParameter: it was not previewed by a server.
            ChangeSetNotFound: it waits no longer.
            StaleChange: what it touches has changed since. Nothing was changed.
        """
        if not isinstance(change_set, RemoteChangeSet) or not change_set.preview:
            raise InvalidParameter(
                "Only what was previewed by the server can be applied: call with preview=True first."
            )
        address = f"{self._of}/previews/{segment(change_set.preview)}/apply"
        return read(RemoteChangeSet, self._wire.write("POST", address, {"without": list(change_set.refused)}))

    def edit(self, entry_id: str, *, preview: bool = False, **fields: Any) -> RemoteChangeSet:
        """As ``AgentMemory.edit``."""
        return self._changed("PATCH", f"memories/{segment(entry_id)}", plain(fields), preview)

    def configure(self, *, preview: bool = False, **settings: Any) -> RemoteChangeSet:
        """As ``AgentMemory.configure``."""
        return self._changed("PATCH", "settings", plain(settings), preview)

    def save_personality(self, text: str, *, preview: bool = False) -> RemoteChangeSet:
        """As ``AgentMemory.save_personality``."""
        return self._changed("PUT", "personality", {"text": text}, preview)

    def history(
        self,
        limit: int = 100,
        before: int | None = None,
        *,
        contains: str = "",
        author: str = "",
        operation: str = "",
        entry_id: str = "",
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[Applied]:
        """As ``AgentMemory.history``."""
        sought = given(contains=contains, author=author, operation=operation, memory=entry_id, since=since, until=until)
        told = self._pages(f"{self._of}/history", limit, before=before, **sought)
        return [read(Applied, one) for one in told]

    def change(self, revision: int) -> Applied:
        """One applied change set."""
        return read(Applied, self._wire.get(f"{self._of}/history/{revision}"))

    def forgotten(self, limit: int = 100, contains: str = "") -> list[Forgotten]:
        """The bin: memories that are gone and can be restored, the last forgotten first."""
        told = self._pages(f"{self._of}/forgotten", limit, contains=contains)
        return [read(Forgotten, one) for one in told]

    def as_of(
        self,
        at: datetime | None = None,
        *,
        revision: int | None = None,
        access: int | None = None,
        world_time: datetime | None = None,
    ) -> RemoteView:
        """As ``AgentMemory.as_of``."""
        moment = given(at=at, revision=revision, access=access, world_time=world_time)
        if not moment:
            raise InvalidParameter("A moment is a real time, 'revision' or 'world_time': one of the three.")
        view = RemoteView(self._wire, self.name, moment)
        view.get_stats()  # a moment that never was is told here, as in-process
        return view

    def export(self, *, vectors: bool = False) -> Iterator[str]:
        """The lines of ``python -m memory_system export``."""
        return self._wire.lines(f"{self._of}/export", vectors=str(vectors).lower())

    def changes(self, since: int | None = None, seconds: float | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
        """What happens to the agent as it happens: ``("change", head)`` for each change set, whoever applied it.

        Args:
            since: a revision, after which changes are told first.
            seconds: how long to listen; until the server ends if not given.
        """
        yield from events(self._wire.lines(f"{self._of}/changes", **given(since=since, seconds=seconds)))

    def _changed(self, method: str, address: str, body: Any, preview: bool) -> RemoteChangeSet:
        told = self._wire.write(method, f"{self._of}/{address}", body, preview=str(preview).lower())
        return read(RemoteChangeSet, told)
