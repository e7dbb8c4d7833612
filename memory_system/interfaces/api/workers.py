"""Several workers on one port: processes that each answer plain queries; the first answers everything else.

So everything that a server keeps in memory is in one process: waiting plans, answers by their idempotency keys,
interviews, listeners, wrong tokens, and what happens by itself. What a query needs is in the journals, which any
process may read. The board tells the others which world is served, and whether somebody came with wrong tokens.
"""

from __future__ import annotations

import logging
import mmap
import os
import shutil
import signal
import socket
import struct
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.util import get_temp_dir
from pathlib import Path
from types import FrameType
from typing import Any, Literal, NoReturn

from starlette.types import Receive, Scope, Send

from ...core.authors import COMMAND_LINE
from ...core.settings import MEMORY, Settings
from ...errors import Exhausted, InvalidParameter, MemorySystemError, StoreError
from ...maintenance import InUse
from ...store.server_notice import ServedElsewhere
from ...world.auth import Door
from ...world.viewer import for_role
from ...world.world import World
from ..endings import SIGNALS, Ended
from .app import create_app
from .auth import Entrance, asking, meant
from .deps import Desk
from .express import Express, plain_request
from .guard import Guard, Hosts
from .relay import Answering, Relay, mine
from .serving import Server, configured

MOST_WORKERS = 64
_BACKLOG = 2048
_ENDING_SECONDS = 5.0
"""How long workers have to end before they are killed."""
_STEADY_SECONDS, _MOST_FAILURES = 10.0, 5
"""How long a worker must have run to be restarted at once, and how many in a row may have run for less."""
_LOOK_SECONDS = 0.2
_LONG = 74
"""From how many bytes the name of a folder is too long for a socket in it; macOS has the lowest limit."""
_UNKNOWN = 255
"""The exit code of a process if whatever could have received it is gone."""
_BOARD = struct.Struct("<qd")


class Board:
    """What the first worker reports to the others: a few bytes of shared memory.

    Args:
        folder: its folder, made by the process that starts the workers.
    """

    def __init__(self, folder: Path) -> None:
        self._name = folder / "world"
        file = folder / "board"
        if not file.exists():
            file.write_bytes(_BOARD.pack(0, 0.0))
        with file.open("r+b") as stream:
            self._shared = mmap.mmap(stream.fileno(), _BOARD.size)

    @property
    def turn(self) -> int:
        """How often the world was switched or reopened; a worker that has seen fewer is behind."""
        return int(_BOARD.unpack(self._shared[:])[0])

    @property
    def wary_until(self) -> float:
        """Until when somebody who came with wrong tokens has to wait, on the monotonic clock."""
        return float(_BOARD.unpack(self._shared[:])[1])

    @property
    def world(self) -> str | None:
        """The name of the world that was switched to; ``None`` if none was."""
        with suppress(FileNotFoundError):
            return self._name.read_text("utf-8")
        return None

    def exchanged(self, world: str) -> None:
        """Report that another world is served, or the same one with another embedder."""
        beside = self._name.with_suffix(".new")
        beside.write_text(world, "utf-8")
        os.replace(beside, self._name)
        self._shared[:8] = struct.pack("<q", self.turn + 1)

    def wary(self, until: float) -> None:
        """Report that somebody has to wait."""
        self._shared[8:] = struct.pack("<d", max(until, self.wary_until))


class Front:
    """The app of every worker but the first: answers plain queries itself, and the rest through the first one.

    Args:
        in_use: holds this worker's world.
        door: the valid tokens.
        hosts: the names of this server.
        board: shows what the first one serves.
        relay: passes requests to the first one.
    """

    def __init__(self, in_use: InUse, door: Door, hosts: Hosts, board: Board, relay: Relay) -> None:
        self._in_use, self._door, self._board, self._relay = in_use, door, board, relay
        self._turn = -1
        desk = Desk(lambda: for_role(in_use.expected(meant().name), asking()), in_use)
        self._own = Guard(Entrance(Express(relay, desk), door), hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        plain = plain_request(scope)
        asks = plain is not None and plain.what == "query"  # the first worker does all writing
        own = asks and self._known(scope) and self._turn == self._board.turn
        await (self._own if own else self._relay)(scope, receive, send)

    def _known(self, scope: Scope) -> bool:
        """Whether the sender needs no check by the first worker, which counts wrong tokens and knows other pages."""
        headers = dict(scope["headers"])
        if b"origin" in headers:
            return False
        if not self._door.locked:
            return True
        kind, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
        right = kind.lower() == "bearer" and self._door.opens(token.strip())
        return right and self._board.wary_until < time.monotonic()

    def follow(self, turn: int) -> None:
        """Keep serving what the first worker serves; the first one answers until it is open here.

        Args:
            turn: the board's turn when this worker's world was opened.
        """
        self._turn = turn
        while True:
            time.sleep(_LOOK_SECONDS)
            if (turn := self._board.turn) != self._turn and (name := self._board.world) is not None:
                with suppress(MemorySystemError):  # the first worker reports what is wrong
                    self._in_use.follow(name)
                    self._turn = turn


@dataclass(frozen=True)
class _WorkerArguments:
    """The arguments that a worker starts with."""

    first: bool
    settings: Settings
    where: str
    folder: Path


def work(arguments: _WorkerArguments, sockets: list[socket.socket], line: Connection) -> None:
    """Run as a worker until told to end, or until the process that started it is gone."""
    for number in SIGNALS:
        if number != signal.SIGTERM:  # those of the terminal are for the process that started it, which then signals us
            signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    warnings.filterwarnings("ignore", category=ServedElsewhere)
    threading.Thread(target=_end_with, args=(line,), daemon=True).start()
    code = 0
    try:
        (_first if arguments.first else _other)(arguments, sockets, lambda: line.send(None))
    except Ended:
        code = 0
    except MemorySystemError as error:
        with suppress(OSError):
            line.send(error.sentence)
        code = 1
    sys.stderr.flush()
    os._exit(code)  # whatever its threads are still doing


def _end_with(line: Connection) -> None:
    with suppress(EOFError, OSError):
        line.recv()  # nothing is ever sent; it ends when the other end does
    os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def _opened(arguments: _WorkerArguments, board: Board) -> Iterator[tuple[World, InUse]]:
    named = board.world
    settings = arguments.settings if named is None else arguments.settings.model_copy(update={"world": named})
    with World(settings, author=COMMAND_LINE) as world, closing(InUse(lambda: world)) as in_use:
        yield world, in_use


def _first(arguments: _WorkerArguments, sockets: list[socket.socket], ready: Callable[[], None]) -> None:
    board, settings = Board(arguments.folder), arguments.settings
    with _opened(arguments, board) as (world, in_use), in_use.serving(arguments.where):
        if board.world is None:
            board.exchanged(world.name)  # that one, whichever is chosen when others are started
        in_use.others.append(lambda: board.exchanged(in_use.world.name))
        door = Door.of_api(settings)
        door.throttle.noted = board.wary
        app = create_app(in_use, door, Hosts.of(settings), settings.allowed_origins)
        Answering(configured(app, log_level="warning"), mine(arguments.folder), ready).run(sockets)


def _other(arguments: _WorkerArguments, sockets: list[socket.socket], ready: Callable[[], None]) -> None:
    board, settings = Board(arguments.folder), arguments.settings
    turn = board.turn
    with _opened(arguments, board) as (_, in_use):
        front = Front(in_use, Door.of_api(settings), Hosts.of(settings), board, Relay(mine(arguments.folder)))
        threading.Thread(target=front.follow, args=(turn,), name="following", daemon=True).start()
        logging.getLogger("uvicorn.error").addFilter(_tells_anything_new)
        ready()
        Server(configured(front, log_level="warning", lifespan="off")).run(sockets)


def _tells_anything_new(record: logging.LogRecord) -> bool:
    """Whether a log line is not about a broken-off answer: the end of the first worker is reported anyway."""
    return "without completing response" not in record.getMessage()


class _Worker:
    """A worker as seen by its starter: a fork of a process that has imported everything and opened nothing.

    It has ended when its end of the line is closed; the process it was forked from may have ended long before.
    """

    def __init__(self, arguments: _WorkerArguments, sockets: list[socket.socket]) -> None:
        self.arguments = arguments
        self.failures = 0
        self.process: BaseProcess | None = None
        self.problem: str | None = None
        self._sockets = sockets

    def start(self) -> None:
        """Start it, with signals held back, so that none reaches it, or the process it is forked from, half started."""
        resource_tracker.ensure_running()  # which lets signals through when it starts
        with _signals_held_back():
            try:
                self._start("forkserver")
            except OSError:  # its temporary folder is gone
                self._start("spawn")
        self.since = time.monotonic()

    def _start(self, way: Literal["forkserver", "spawn"]) -> None:
        context = get_context(way)
        if way == "forkserver":
            context.set_forkserver_preload([__name__])
        self.line, theirs = context.Pipe()
        process = context.Process(target=work, args=(self.arguments, self._sockets, theirs))  # type: ignore[attr-defined]
        process.start()
        self.process, self.problem = process, None
        theirs.close()

    def until_ready(self) -> None:
        """Wait until it serves.

        Raises:
            StoreError: it cannot; the message says why.
        """
        wait([self.line])
        gone = self.gone()
        if self.problem is not None:
            raise StoreError(self.problem)
        if gone:
            raise Exhausted(f"A worker {self.end()} before it served anything.")

    def gone(self) -> bool:
        """Whether it has ended; what it reported before is kept."""
        try:
            while self.line.poll():
                self.problem = self.line.recv()
        except (EOFError, OSError):
            return True
        return False

    def tell(self, number: int) -> None:
        """Send it a signal, unless it has already ended."""
        if self.process is not None and self.process.pid and not self.gone():
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, number)

    def end(self) -> str:
        """How it ended, in words."""
        assert self.process is not None
        self.process.join()
        code = self.process.exitcode or 0
        if code == _UNKNOWN:
            return "ended"
        return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


@contextmanager
def _signals_held_back() -> Iterator[None]:
    """Hold back all signals, here and in what is started within; one that came is handled afterwards.

    Blocking them is not enough: they reach any thread that lets them through, such as one that multiplies matrices.
    """
    came: list[tuple[int, FrameType | None]] = []
    heeded = {signum: handler for signum in SIGNALS if callable(handler := signal.getsignal(signum))}
    for signum in heeded:
        signal.signal(signum, lambda number, frame: came.append((number, frame)))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for signum, handler in heeded.items():
            signal.signal(signum, handler)
        for number, frame in came[:1]:
            heeded[number](number, frame)


def refuse_workers(count: int, settings: Settings) -> None:
    """Raise unless this many workers can be started here.

    Raises:
        InvalidParameter: this system has no Unix sockets, there are too many, or the world is in one process's memory.
    """
    if count > 1 and (sys.platform == "win32" or not hasattr(socket, "AF_UNIX")):
        raise InvalidParameter("Several workers need Linux or macOS. Serve with one here: leave --workers out.")
    if count > 1 and settings.store == MEMORY:
        raise InvalidParameter(f"MEMORY_STORE is {MEMORY!r}: one process has the world by itself. Leave --workers out.")
    if not 1 <= count <= MOST_WORKERS:
        raise InvalidParameter(f"There may be 1 to {MOST_WORKERS} workers, not {count}.")


def serve(settings: Settings, port: int, where: str, count: int, ready: Callable[[], None]) -> NoReturn:
    """Serve a world by several processes, until a signal raises ``Ended`` in this one.

    Args:
        settings: the installation's settings.
        port: where they listen.
        where: the server's address.
        count: how many processes.
        ready: called once all of them serve.

    Raises:
        StoreError: one of them repeatedly cannot serve.
    """
    short = len(os.fsencode(tempfile.gettempdir())) < _LONG
    with tempfile.TemporaryDirectory(prefix="memory-workers-", dir=None if short else "/tmp") as folder:  # noqa: S108 - a new folder of our own
        sockets = _listening(settings.host, port)
        workers: list[_Worker] = []
        Board(mine(Path(folder)).parent)
        try:
            for number in range(count):
                workers.append(_Worker(_WorkerArguments(number == 0, settings, where, Path(folder)), sockets))
                workers[-1].start()
                if number == 0:
                    workers[0].until_ready()  # it repairs what was left half done, and makes what is missing
            for worker in workers[1:]:
                worker.until_ready()
            ready()
            _look_after(workers)
        except Ended:
            _stop(workers)
            shutil.rmtree(get_temp_dir(), ignore_errors=True)  # a process ended by a signal does not tidy up
            raise
        finally:
            _stop(workers)
            for listener in sockets:
                listener.close()


def _look_after(workers: list[_Worker]) -> NoReturn:
    while True:
        wait([worker.line for worker in workers])
        for worker in workers:
            if not worker.gone():
                continue
            how = worker.end()
            worker.failures = worker.failures + 1 if time.monotonic() - worker.since < _STEADY_SECONDS else 0
            if worker.failures >= _MOST_FAILURES:
                raise StoreError(worker.problem or f"A worker {how}, {_MOST_FAILURES} times in a row. The server ends.")
            sys.stderr.write(f"A worker {how}; it is started again.\n")
            sys.stderr.flush()
            time.sleep(0.5 * worker.failures)
            worker.line.close()
            worker.start()


def _stop(workers: list[_Worker]) -> None:
    started = [worker for worker in workers if worker.process is not None]
    for worker in started:
        worker.tell(signal.SIGTERM)
    until = time.monotonic() + _ENDING_SECONDS
    for worker in started:
        while not worker.gone():
            if not wait([worker.line], max(0.0, until - time.monotonic())):
                worker.tell(signal.SIGKILL)
                wait([worker.line])
        worker.end()


def _listening(host: str, port: int) -> list[socket.socket]:
    """The sockets of an address, on which all workers listen."""
    made: list[socket.socket] = []
    found: list[Any] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    for family, address in dict.fromkeys((info[0], info[4]) for info in found):
        made.append(socket.create_server(address[:2], family=family, backlog=_BACKLOG))
    return made
