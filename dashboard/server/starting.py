"""The ports of a start: an occupied one is reported with its user; a terminal offers the next free one."""

from __future__ import annotations

import os
import select
import sys
from pathlib import Path

from memory_system import Settings
from memory_system.core import checked_name
from memory_system.errors import Conflict, InvalidParameter
from memory_system.interfaces import address, holder, is_free, next_free, refuse_busy
from memory_system.store import server_of

_PORTS = {
    "dashboard_port": ("the dashboard", "MEMORY_DASHBOARD_PORT", "--port"),
    "api_port": ("the HTTP API", "MEMORY_API_PORT", "--api-port"),
}
_LOOK = 0.2
"""Seconds between two checks for an answer."""
_OTHER = {"dashboard_port": "api_port", "api_port": "dashboard_port"}


def with_free_ports(settings: Settings) -> Settings:
    """The settings, with the next free port instead of an occupied one if a person at the terminal agrees.

    Raises:
        InvalidParameter: both servers are to listen on one port.
        Conflict: a port cannot be used, and nobody could or would choose another; the world may be open in another
            dashboard, whose address is then given.
    """
    if settings.dashboard_port == settings.api_port:
        raise InvalidParameter(
            f"The dashboard and the HTTP API cannot both listen on port {settings.api_port}: choose another for one of "
            "them, with --port or MEMORY_DASHBOARD_PORT, or with --api-port or MEMORY_API_PORT."
        )
    for field, (what, variable, option) in _PORTS.items():
        port, other = int(getattr(settings, field)), int(getattr(settings, _OTHER[field]))
        if is_free(port, settings.host):
            continue
        if field == "dashboard_port":
            _refuse_second(settings)
        another = next_free(port, settings.host, but=other)
        if another is None or not _asked(f"Port {port} is taken by {holder(port) or 'another program'}.", another):
            how = f"'{variable}={{port}} make run' or 'memory-system run {option} {{port}}'"
            refuse_busy(port, what, how, settings.host, but=other)
        settings = settings.model_copy(update={field: another})
    return settings


def _refuse_second(settings: Settings) -> None:
    """Refuse a second dashboard on the same world, and say where the first one is."""
    world = Path(settings.database) / checked_name(settings.world, "world name")
    if server_of(world) is None:
        return
    owner = holder(settings.dashboard_port)
    where = address(settings.host, settings.dashboard_port)
    raise Conflict(
        f"The world {settings.world!r} is open already{f' in {owner}' if owner else ''}: the dashboard is at {where}. "
        "Stop that one first, or choose another world."
    )


def _asked(why: str, another: int) -> bool:
    """Whether somebody at a terminal accepts the other port; elsewhere nobody is asked."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    sys.stdout.write(f"{why} Use port {another} instead? [Y/n] ")
    sys.stdout.flush()
    answer = _line()
    return answer.endswith("\n") and answer.strip().casefold() in ("", "y", "yes")


def _line() -> str:
    """A typed line; empty if the input ends. A signal just before the wait is handled, too."""
    while os.name == "posix" and not select.select([sys.stdin], [], [], _LOOK)[0]:
        pass  # between two checks Python calls the program's signal handlers
    return sys.stdin.readline()
