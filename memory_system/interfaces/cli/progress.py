"""Long work on the command line: progress on stderr, and Ctrl+C to stop work that can be continued later."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import typer

from .terminal import seen

STOPPED = 130
"""The exit code after Ctrl+C: 128 and the signal's number, 2."""
_WIDTH = 78
_BAR = 20
_TENTHS = 10


class ProgressLine:
    """Shows progress: on a terminal as a bar on one line, elsewhere as a line per tenth.

    Args:
        patience: the seconds for which nothing is shown, so that quick work is quiet.
    """

    def __init__(self, patience: float = 0.0) -> None:
        self._terminal = sys.stderr.isatty()
        self._tenth = -1
        self._line_open = False
        self._from = time.monotonic() + patience

    def __call__(self, done: float, doing: str) -> None:
        """Report progress.

        Args:
            done: how far, 0 to 1.
            doing: what is being done.
        """
        if time.monotonic() < self._from:
            return
        line = f"{done:4.0%}  {seen(doing)}"
        if self._terminal:
            full = round(min(max(done, 0.0), 1.0) * _BAR)
            bar = "█" * full + "░" * (_BAR - full)
            typer.echo(f"\r{f'{bar} {line}'[:_WIDTH]:{_WIDTH}}", nl=done >= 1, err=True)
            self._line_open = done < 1
        elif int(done * _TENTHS) != self._tenth:
            self._tenth = int(done * _TENTHS)
            typer.echo(line[:_WIDTH], err=True)

    def end(self) -> None:
        """Erase the bar if it is still there."""
        if self._line_open:
            typer.echo(f"\r{'':{_WIDTH}}\r", nl=False, err=True)
        self._line_open = False


class Lines:
    """Progress of work of unknown length: a line that is overwritten on a terminal, else one after another."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._line_open = False

    def say(self, line: str) -> None:
        """Show a line."""
        typer.echo(f"\r\x1b[K{line}" if self._live else line, err=True, nl=not self._live)
        self._line_open = self._live

    def end(self) -> None:
        """Erase the line if it is still there."""
        if self._line_open:
            typer.echo("\r\x1b[K", err=True, nl=False)
        self._line_open = False


@contextmanager
def quiet_progress() -> Iterator[ProgressLine]:
    """Progress of work that is usually quick: shown after a second, and erased at the end."""
    line = ProgressLine(patience=1.0)
    try:
        yield line
    finally:
        line.end()


@contextmanager
def stopped_by_ctrl_c() -> Iterator[Callable[[], bool]]:
    """Within the block, the first Ctrl+C asks to stop at the next step, and the second ends the program.

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
