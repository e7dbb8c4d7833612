"""RemoteAgent: an agent on a server, with the calls of ``AgentMemory``."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from datetime import datetime
from typing import Any, Self

from .. import intake
from ..account import Spent
from ..changes import ChangeSet, is_text
from ..consolidation.ground import Progress, by_age
from ..entry import MemoryEntry, Tier
from ..errors import InvalidParameter
from ..intake import Added, Events
from ..journal_bin import Forgotten
from ..journal_told import Applied
from ..llm.tasks import Rating
from ..rater import Rerated
from ..reader import no_progress
from ..reembedding import Reembedded
from . import reading
from .operating import RemoteOperating
from .reading import RemoteChangeSet
from .sending import event, given, plain
from .view import RemoteView
from .wire import events, segment

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
        sent = [event(entry) for entry in intake.read(events, None)]
        how = {"overwrite_existing": overwrite_existing, "rate": rate}
        said = {"preview": str(preview).lower()}
        if len(sent) > _LINES:
            text = "\n".join(json.dumps(one) for one in sent).encode()
            said |= {name: str(value).lower() for name, value in how.items()} | given(now=now)
            return reading.added(self._long("POST", f"{self._of}/events.ndjson", text, progress, **said))
        body = {"events": sent, **how, **given(now=now)}
        return reading.added(self._long("POST", f"{self._of}/events", body, progress, **said))

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
        return reading.value(Reembedded, done)

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
        return tuple(Spent(**one) for one in self._wire.get(f"{self._of}/spent")["items"])

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
        return reading.change_set(self._wire.write("POST", address, {"without": list(change_set.refused)}))

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
        return [reading.applied(one) for one in told]

    def change(self, revision: int) -> Applied:
        """One applied change set."""
        return reading.applied(self._wire.get(f"{self._of}/history/{revision}"))

    def forgotten(self, limit: int = 100, contains: str = "") -> list[Forgotten]:
        """The bin: memories that are gone and can be restored, the last forgotten first."""
        told = self._pages(f"{self._of}/forgotten", limit, contains=contains)
        return [reading.forgotten(one) for one in told]

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
        return reading.change_set(told)
