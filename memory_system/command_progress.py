"""How long work shows on the command line: how far it is, on stderr, and stopped by Ctrl+C where it can go on later."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import typer

_WIDTH = 78
_TENTHS = 10


class ProgressLine:
    """Tells how far it is: on a terminal on one line, elsewhere on a line for each tenth."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._tenth = -1

    def __call__(self, done: float, doing: str) -> None:
        """Tell it.

        Args:
            done: how far, 0 to 1.
            doing: what is being done.
        """
        line = f"{done:4.0%}  {_seen(doing)}"[:_WIDTH]
        if self._terminal:
            typer.echo(f"\r{line:{_WIDTH}}", nl=done >= 1, err=True)
        elif int(done * _TENTHS) != self._tenth:
            self._tenth = int(done * _TENTHS)
            typer.echo(line, err=True)


@contextmanager
def stopped_by_ctrl_c() -> Iterator[Callable[[], bool]]:
    """Within it the first Ctrl+C asks to stop at the next step, and the second one ends the program.

    Yields:
        Whether to stop.
    """
    asked = False

    def ask(_signal: int, _frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)


def _seen(text: str) -> str:
    return "".join(sign if sign.isprintable() else "�" for sign in text)
