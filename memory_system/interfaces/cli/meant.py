"""What somebody may have meant by an unknown command or word; typer itself suggests similar commands."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from ... import quiet
from ...errors import did_you_mean, quoted_words

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
"""Commands of this program, by the names of similar ones in other programs."""
_PREFIX, _NONE_OF = "Value error, ", " is not one of "


class Commands(TyperGroup):
    """The commands; for an unknown one the error suggests what may be meant."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that was typed.

        Raises:
            UsageError: there is no command of this name.
        """
        typed = args[0].lower() if args else ""
        if typed in MEANT and typed not in self.commands:
            meant = ", ".join(map(repr, MEANT[typed]))
            ctx.fail(f"No such command {typed!r}. Did you mean {meant}?")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was typed.

        Raises:
            BadParameter: an option's value is not allowed; typer's message then also suggests what may be meant.
        """
        quiet.begins()
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix(_PREFIX)
            typed, none_of, there = error.message.partition(_NONE_OF)
            if none_of:
                error.message += did_you_mean(typed.strip("'"), quoted_words(there))
            raise
