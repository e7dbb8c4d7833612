"""The dashboard as ``make run`` starts it, except that a page's heartbeat is answered only once its session is at rest.

A browser sends a heartbeat over the connection that it also uses to request runs, and the server handles both in order.
An answer therefore means that everything the page requested before has run, and that all of it was sent to the page:
Streamlit itself knows when a session is settled. Nothing is guessed, however slow the machine is.
"""

from __future__ import annotations

import asyncio
from typing import Any

from streamlit.runtime.app_session import AppSession

from dashboard import serve

_waiting: set[asyncio.Task[None]] = set()
"""Answers to come; without a reference they could be collected before they are given."""


def answer_at_rest() -> None:
    """From now on a heartbeat is answered when every run that was asked for is over and everything it said was sent."""
    begin, acknowledge = AppSession.__init__, AppSession._handle_app_heartbeat_request

    def tracked(session: AppSession, *arguments: Any, **named: Any) -> None:
        begin(session, *arguments, **named)
        session.track_settling()

    def once_settled(session: AppSession) -> None:
        async def answer() -> None:
            await session.wait_until_settled()
            acknowledge(session)

        task = asyncio.get_running_loop().create_task(answer())
        _waiting.add(task)
        task.add_done_callback(_waiting.discard)

    AppSession.__init__ = tracked  # type: ignore[assignment,method-assign]
    AppSession._handle_app_heartbeat_request = once_settled  # type: ignore[method-assign]


if __name__ == "__main__":
    answer_at_rest()
    serve.main()
