"""AgentChronicle: what the history of an agent tells, and what is in its bin."""

from __future__ import annotations

from datetime import datetime

from .journal_bin import Forgotten
from .journal_told import Applied, HistoryKinds, Sought
from .scoring import whole
from .view import AgentView


class AgentChronicle(AgentView):
    """The part that tells what has happened."""

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
        """Applied change sets, the newest first.

        Args:
            limit: how many at most, 1 to 10,000.
            before: only those older than this revision: the last of a page, to turn to the next.
            contains: words in the title, the reason, the author or a memory's text before or after, in any case.
            author: exactly this one; ``history_kinds`` tells which there are.
            operation: exactly this kind, such as ``migrate``.
            entry_id: only those that changed this memory.
            since: applied at this real time or later.
            until: applied before this real time.

        Raises:
            InvalidParameter: a value is out of its range.
        """
        older = None if before is None else whole("before", before, 0, 2**62)
        sought = Sought(contains, author, operation, entry_id, since, until)
        with self._ledger.reading():
            return self._ledger.journal.history(whole("limit", limit, 1, 10_000), older, sought)

    def change(self, revision: int) -> Applied:
        """One applied change set.

        Raises:
            ChangeSetNotFound: the history has no such revision.
        """
        number = whole("The revision", revision, 1, 2**62)
        with self._ledger.reading():
            return self._ledger.journal.get(number)

    def history_kinds(self) -> HistoryKinds:
        """Who is behind the changes of the history, and of what kinds they are, each with how many."""
        with self._ledger.reading():
            return self._ledger.journal.kinds()

    def forgotten(self, limit: int = 100, contains: str = "", *, offset: int = 0) -> list[Forgotten]:
        """The bin: memories that are gone and can be restored, the last forgotten first.

        Args:
            limit: how many at most, 1 to 10,000.
            contains: words in their text, in any case; all if none are given.
            offset: how many to pass over, to turn a page.

        Raises:
            InvalidParameter: a value is out of its range.
        """
        words = Sought(contains).contains
        most, start = whole("limit", limit, 1, 10_000), whole("offset", offset, 0, 2**62)
        with self._ledger.reading():
            return self._ledger.journal.forgotten(most, start, words)

    def count_forgotten(self, contains: str = "") -> int:
        """How many memories are in the bin, of those with these words."""
        words = Sought(contains).contains
        with self._ledger.reading():
            return self._ledger.journal.count_forgotten(words)
