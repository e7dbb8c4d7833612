"""RemoteOperating: the operations of an agent on a server, each previewed or at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ..changes import ChangeSet
from ..consolidation.ground import Progress
from ..curation import listed
from ..reader import no_progress
from . import reading
from .looking import RemoteLooking
from .reading import RemoteChangeSet
from .sending import given, plain, revision_of


class RemoteOperating(RemoteLooking):
    """The part that plans and carries out; each method is as that of ``AgentMemory``."""

    def migrate_stm2ltm(
        self,
        threshold: float | None = None,
        *,
        ids: str | Sequence[str] | None = None,
        now: datetime | None = None,
        preview: bool = False,
    ) -> RemoteChangeSet:
        """As ``AgentMemory.migrate_stm2ltm``."""
        chosen = None if ids is None else listed(ids)
        return self._operate("migrate", preview, threshold=threshold, ids=chosen, now=now)

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
        return reading.change_set(self._long("POST", address, body, progress, preview=str(preview).lower()))
