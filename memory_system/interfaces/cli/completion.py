"""``completion``: what a shell needs to know about this program, so that the tab key completes commands and agents."""

from __future__ import annotations

import shlex
import sys
from enum import StrEnum
from typing import Annotated

import typer
from typer.completion import get_completion_inspect_parameters

from ...core import shipped
from ...core.settings import PROGRAM

VARIABLE = "_MEMORY_SYSTEM_COMPLETE"
"""The variable by which a shell asks the program for completions, as defined by typer."""


class Shell(StrEnum):
    """The shells that can complete."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


_SCRIPTS = {
    # a function along with the completion, since a program started as a module has no name that a shell could complete
    Shell.BASH: """\
{program}() {{ {run} "$@"; }}
_memory_system_completion() {{
    local IFS=$'\\n'
    COMPREPLY=( $( env COMP_WORDS="${{COMP_WORDS[*]}}" COMP_CWORD=$COMP_CWORD {variable}=complete_bash {run} ) )
}}
complete -o default -F _memory_system_completion {program}""",
    Shell.ZSH: """\
{program}() {{ {run} "$@"; }}
_memory_system_completion() {{
    eval $(env _TYPER_COMPLETE_ARGS="${{words[1,$CURRENT]}}" {variable}=complete_zsh {run})
}}
compdef _memory_system_completion {program}""",
    Shell.FISH: """\
function {program}; {run} $argv; end
complete --command {program} --no-files \\
    --arguments "(env {variable}=complete_fish _TYPER_COMPLETE_FISH_ACTION=get-args \
_TYPER_COMPLETE_ARGS=(commandline -cp) {run})" \\
    --condition "env {variable}=complete_fish _TYPER_COMPLETE_FISH_ACTION=is-args \
_TYPER_COMPLETE_ARGS=(commandline -cp) {run}\"""",
}


def completion(shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")]) -> None:
    """Print a completion script, which also names this program memory-system; put it into the shell's start file.

    Example: python -m memory_system completion bash
    """
    typer.echo(script(shell))


def know_shells() -> None:
    """Register the shells with typer; it does so itself only if the program has a name."""
    get_completion_inspect_parameters()


def script(shell: Shell) -> str:
    """The lines for a shell's start file; they run this very installation from any folder."""
    top = shipped.checkout()
    path = "" if top is None else f"env PYTHONPATH={shlex.quote(str(top))} "
    run = f"{path}{shlex.quote(sys.executable)} -m memory_system"
    return _SCRIPTS[shell].format(program=PROGRAM, run=run, variable=VARIABLE)
