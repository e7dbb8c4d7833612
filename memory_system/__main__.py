"""The command line: ``python -m memory_system``."""

from __future__ import annotations

import gc
import inspect
import sys
import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from . import __version__
from .core.authors import COMMAND_LINE
from .core.extras import needs
from .core.files import allow_more_open
from .core.settings import Settings
from .core.shipped import samples as shipped_samples
from .embedding.minilm import weights
from .errors import MemorySystemError
from .interfaces import endings
from .interfaces.cli.agents import agents, create, delete, rename, undelete
from .interfaces.cli.arguments import (
    DryRun,
    EmbedderName,
    Json,
    Origins,
    between,
    errors_told,
    exit_code,
    no_world_yet,
    served_already,
    settings_of,
    the_world,
)
from .interfaces.cli.completion import VARIABLE, completion, know_shells
from .interfaces.cli.evaluate import evaluate
from .interfaces.cli.experiment import experiment
from .interfaces.cli.history import as_of, history, undo
from .interfaces.cli.maintenance import backup, doctor, export, reembed, restore, use_embedder
from .interfaces.cli.meant import Commands
from .interfaces.cli.operating import advance, clock, commands, looks, rate, spent
from .interfaces.cli.recall import check, explain, recall
from .interfaces.cli.remembering import add, happened, import_
from .interfaces.cli.run import demo, run
from .interfaces.cli.story import run_story
from .interfaces.cli.talking import talk
from .interfaces.cli.terminal import AS_MODULE, called, say, show_json
from .interfaces.cli.worlds import worlds
from .interfaces.mcp.command import mcp
from .interfaces.ports import address, refuse_busy
from .maintenance.in_use import InUse
from .maintenance.samples import fill_world, holds_something
from .store.server_notice import ServedElsewhere
from .world.auth import Door, refuse_unsafe
from .world.world import World

ASK, REMEMBER, CURATE, LOOK_BACK, LOOK, KEEP, SERVE = (
    "Ask",
    "Remember",
    "Curate",
    "Look back",
    "Look",
    "Keep",
    "Serve",
)
EXIT_CODES = (
    "Exit codes: 0 done, or nothing to do; 1 refused, failed, or a check found a fault; 2 a mistake on the command "
    "line, or a package that is not installed; 130 stopped by Ctrl+C."
)
app = typer.Typer(
    cls=Commands,
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,  # typer's own knows programs by a name, and this one is a module: see ``completion``
    rich_markup_mode="rich" if sys.stdout.isatty() and sys.stderr.isatty() else None,
    pretty_exceptions_enable=False,  # they print the values of variables, and a key may be among them
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"memory-system {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """A memory system for generative agents."""


def fetch_model() -> None:
    """Fetch and check the embedding model, unless it is there already. Example: python -m memory_system fetch-model."""
    typer.echo(f"The embedding model is in {weights.ensure(Settings().cache, typer.echo)}.")


def fill(
    samples: Annotated[
        Path | None, typer.Argument(help="A folder of sample agents. [default: those that ship]")
    ] = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Fill an empty world with sample agents. Example: python -m memory_system fill database/samples/harrow_quay."""
    with the_world(json=json, begins=True) as world:
        empty = not holds_something(world)
        filled = (
            empty and not dry_run and fill_world(world, samples or shipped_samples(), lambda line: say(line, err=json))
        )
        if json:
            agents = world.agents() if filled else []
            show_json({"world": world.name, "empty": empty, "filled": filled, "agents": agents})
        elif dry_run:
            state = "empty; it would be filled" if empty else "not empty; nothing would be changed"
            typer.echo(f"The world {world.name!r} is {state}.")
        else:
            outcome = "filled" if filled else f"{'empty' if empty else 'not empty'}; nothing was changed"
            typer.echo(f"The world {world.name!r} is {outcome}.")
            if empty and not filled:
                typer.echo(f"None of these characters has a file in {world.spot.personalities}.")


def serve(
    port: Annotated[int | None, typer.Option(help="Where to listen.", **between(1, 65535, whole=True))] = None,
    host: Annotated[str | None, typer.Option(help="The address to listen on; any but 127.0.0.1 needs a token.")] = None,
    embedder: EmbedderName = None,
    origin: Origins = None,
    workers: Annotated[
        int,
        typer.Option(
            help="Processes that answer queries at the same time; Linux and macOS.", **between(1, 64, whole=True)
        ),
    ] = 1,
) -> None:
    """Serve the HTTP API, on 127.0.0.1 by default. If MEMORY_TOKEN is set, programs have to send that token.

    Example: python -m memory_system serve --port 5000
    """
    with errors_told(), needs("server", "Serving the API"):
        from .interfaces.api import create_app  # these take a seventh of what every other command would pay to start
        from .interfaces.api.guard import Hosts
        from .interfaces.api.serving import Server, configured

        settings = settings_of(embedder, host=host, origins=",".join(origin or ()))
        if workers > 1:
            from .interfaces.api import workers as several  # which one process has no use for

            several.refuse_workers(workers, settings)
    chosen = port or settings.api_port
    refuse_unsafe(settings, dashboard=False, api=True)
    refuse_busy(chosen, "the API", "--port {port}", settings.host)
    where = address(settings.host, chosen)

    if new := no_world_yet(settings):
        say(f"{new} It begins now.", err=True)
    if served := served_already(settings):
        say(served, err=True)

    def program() -> int:
        if workers > 1:
            said = f"Serving the API on {where} with {workers} workers (documentation: /docs). Ctrl+C stops it."
            several.serve(settings, chosen, where, workers, lambda: typer.echo(said))
        with (
            World(settings, author=COMMAND_LINE) as world,
            closing(InUse(lambda: world)) as in_use,
            in_use.serving(where),
        ):
            app = create_app(in_use, Door.of_api(settings), Hosts.of(settings), settings.allowed_origins)
            typer.echo(f"Serving the API on {where} (documentation: /docs). Ctrl+C stops it.")
            Server(configured(app, host=settings.host, port=chosen, log_level="warning")).run()
        return 0

    raise typer.Exit(endings.run(program))


_MADE = commands()
PANELS: dict[str, dict[str, Callable[..., None]]] = {
    ASK: {
        "recall": recall,
        "explain": explain,
        "check": check,
        "test": run_story,
        "evaluate": evaluate,
        "experiment": experiment,
        "talk": talk,
    },
    REMEMBER: {
        "add": add,
        "happened": happened,
        "import": import_,
        "rate": rate,
        **{
            name: _MADE.pop(name)
            for name in (
                *("remember-conversation", "whisper", "describe-person", "reflect-on-person"),
                *("know", "unknow", "group", "correct"),
            )
        },
        **{name: _MADE.pop(name) for name in ("migrate", "reflect", "summarise", "plan")},
        "advance": advance,
        "clock": clock,
    },
    CURATE: {},
    LOOK_BACK: {
        "history": history,
        "undo": undo,
        **{name: _MADE.pop(name) for name in ("redo", "undo-back-to")},
        "as-of": as_of,
    },
    LOOK: looks(),
    KEEP: {
        "agents": agents,
        "create": create,
        "rename": rename,
        "delete": delete,
        "undelete": undelete,
        "spent": spent,
        "worlds": worlds,
        "doctor": doctor,
        "backup": backup,
        "restore": restore,
        "export": export,
        "use-embedder": use_embedder,
        "reembed": reembed,
        "fill": fill,
        "fetch-model": fetch_model,
        "completion": completion,
    },
    SERVE: {"run": run, "demo": demo, "mcp": mcp, "serve": serve},
}
del _MADE["undo"]  # it also finds out itself which change is the last
PANELS[CURATE] |= _MADE
for panel, panelled in PANELS.items():
    for name, command in panelled.items():
        app.command(name, rich_help_panel=panel)(command)


def _with_examples_by(name: str, of: typer.Typer) -> None:
    """Have the examples in the help of all commands name the program as it was called."""
    for command in of.registered_commands:
        command.help = (command.help or inspect.getdoc(command.callback) or "").replace(AS_MODULE, name)
    for group in of.registered_groups:
        if group.typer_instance is not None:
            _with_examples_by(name, group.typer_instance)


def _refuse_ascii() -> None:
    """End if Python may use no letters but those of ASCII: it would not see characters with other names."""
    if sys.getfilesystemencoding() == "ascii":
        say(
            "Nothing was done: this environment allows only the letters of ASCII, so that names with others cannot be "
            "read. Remove PYTHONUTF8=0 from it, or choose a UTF-8 locale, such as LC_ALL=C.UTF-8.",
            err=True,
        )
        sys.exit(1)


def main() -> None:
    """Run a command; an error on purpose is one sentence and exit code 1, or 2 where a package is missing."""
    _refuse_ascii()
    allow_more_open()
    gc.freeze()  # what was imported stays: there is no garbage to look for in it, least of all at the end
    know_shells()
    if (name := called()) != AS_MODULE:
        _with_examples_by(name, app)
    warnings.filterwarnings("ignore", category=ServedElsewhere)  # a command beside a running server is what is meant
    try:
        app(complete_var=VARIABLE)
    except MemorySystemError as error:
        say(error.sentence, err=True)
        sys.exit(exit_code(error))


if __name__ == "__main__":
    main()
