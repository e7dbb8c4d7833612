"""What somebody may have meant by a command that there is not; of near spellings typer itself knows."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

MEANT = {
    "list": ("agents", "worlds", "memories"),
    "ls": ("agents", "worlds", "memories"),
    "characters": ("agents",),
    "status": ("stats", "doctor"),
    "show": ("memory", "memories", "explain"),
    "query": ("recall", "explain"),
    "ask": ("recall", "talk"),
    "chat": ("talk",),
    "remember": ("add", "import"),
    "new": ("create", "worlds"),
    "remove": ("forget", "delete"),
    "save": ("backup", "export"),
    "load": ("restore", "import"),
    "start": ("run", "serve"),
    "dashboard": ("run",),
    "server": ("serve",),
}
"""Commands of this program, by what other programs call the like."""


class Commands(TyperGroup):
    """The commands; who types one that there is not is told which is meant by it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that is typed.

        Raises:
            UsageError: there is none of this name.
        """
        typed = args[0].lower() if args else ""
        if typed in MEANT and typed not in self.commands:
            meant = ", ".join(map(repr, MEANT[typed]))
            ctx.fail(f"No such command {typed!r}. Did you mean {meant}?")
        return super().resolve_command(ctx, args)
