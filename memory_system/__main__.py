"""The command line: ``python -m memory_system``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
import uvicorn
from pydantic import ValidationError

from .api import create_app
from .authors import COMMAND_LINE
from .backup_command import backup, restore
from .check_command import check
from .doctor_command import doctor
from .errors import MemorySystemError
from .evaluation.command import evaluate
from .minilm import weights
from .ports import refuse_busy
from .samples import fill_world
from .settings import Settings, explained
from .upkeep_command import export, reembed
from .world import World

app = typer.Typer(help="A memory system for generative agents.", no_args_is_help=True, add_completion=False)


@app.command("fetch-model")
def fetch_model() -> None:
    """Fetch and check the embedding model, unless it is there already. Example: python -m memory_system fetch-model."""
    weights.ensure(Settings().cache, typer.echo)


@app.command()
def fill(samples: Annotated[Path, typer.Argument(help="A folder of sample agents.")]) -> None:
    """Fill an empty world with sample agents. Example: python -m memory_system fill database/samples/harrow_quay."""
    with World(author=COMMAND_LINE) as world:
        filled = fill_world(world, samples, typer.echo)
        typer.echo(f"The world {world.name!r} is {'filled' if filled else 'not empty; nothing was changed'}.")


@app.command()
def serve(port: Annotated[int | None, typer.Option(min=1, max=65535, help="Where to listen.")] = None) -> None:
    """Serve the HTTP API on 127.0.0.1. Example: python -m memory_system serve --port 5000."""
    settings = Settings()
    chosen = port or settings.api_port
    refuse_busy(chosen, "the API", "--port")
    with World(settings, author=COMMAND_LINE) as world:
        typer.echo(f"Serving the API on http://127.0.0.1:{chosen} (documentation: /docs). Ctrl+C stops it.")
        uvicorn.run(create_app(lambda: world), host="127.0.0.1", port=chosen, log_level="warning")


app.command()(evaluate)
app.command()(check)
app.command()(doctor)
app.command()(backup)
app.command()(restore)
app.command()(export)
app.command()(reembed)


def main() -> None:
    """Run a command; an error on purpose is one sentence and exit code 1."""
    try:
        app()
    except MemorySystemError as error:
        typer.echo(error.sentence, err=True)
        sys.exit(1)
    except ValidationError as error:  # of the settings: everything else is checked where it comes in
        typer.echo(explained(error), err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
