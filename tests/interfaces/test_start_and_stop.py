"""Starting and stopping are quiet on a real terminal: one line at the end, the exit code, and nobody waits."""

from __future__ import annotations

import gc
import os
import pty
import re
import select
import shutil
import signal
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from websockets.sync.client import connect

from dashboard.server.starting import with_free_ports
from memory_system import Settings, World, quiet
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import Conflict
from memory_system.interfaces.ports import next_free
from memory_system.store.server_notice import server_of
from tests import programs
from tests.conftest import ROOT
from tests.ports import free_port
from tests.waiting import LAST_RESORT, until

CTRL_C = b"\x03"


class Terminal:
    """A program in a pseudo-terminal of its own, whose controlling terminal it is."""

    def __init__(self, *command: str, cwd: Path = ROOT, **environment: str) -> None:
        self.shown = ""
        self.process, self._screen = pty.fork()
        if self.process == 0:
            try:
                signal.signal(
                    signal.SIGHUP, signal.SIG_DFL
                )  # whoever runs the tests may have it ignored, as nohup does
                os.chdir(cwd)
                os.execvpe(command[0], command, {**os.environ, "PYTHONUNBUFFERED": "1", **environment})
            finally:
                os._exit(99)

    def read(self, words: str) -> None:
        """Wait until it shows these words."""
        while words not in self.shown:
            assert self._more(), f"It ended, or was silent, before it showed {words!r}:\n{self.shown}"

    def press(self, keys: bytes) -> None:
        """As a person does."""
        os.write(self._screen, keys)

    def stop(self, how: str) -> None:
        """Stop the program by "Ctrl+C", by "SIGTERM", or by closing the terminal."""
        if how == "Ctrl+C":
            self.press(CTRL_C)
        elif how == "SIGTERM":
            os.kill(self.process, signal.SIGTERM)
        else:
            self.hang_up()

    def hang_up(self) -> None:
        """Close the terminal."""
        os.close(self._screen)
        self._screen = -1

    def end(self) -> int:
        """Wait for its end; answers the exit code, or minus the signal."""
        while self._screen >= 0 and self._more():
            pass
        _, status = os.waitpid(self.process, 0)
        self.process = 0
        return os.waitstatus_to_exitcode(status)

    def close(self) -> None:
        """End it, however it is."""
        if self.process:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        if self._screen >= 0:
            os.close(self._screen)

    def _more(self) -> bool:
        if not select.select([self._screen], [], [], LAST_RESORT)[0]:
            return False
        with suppress(OSError):  # what a terminal answers when nobody is at its other end any more
            if piece := os.read(self._screen, 65_536):
                self.shown += piece.decode().replace("\r\n", "\n")
                return True
        return False


@contextmanager
def on_a_terminal(*command: str, cwd: Path = ROOT, **environment: str) -> Iterator[Terminal]:
    """A program in a terminal; ended in any case."""
    with closing(Terminal(*command, cwd=cwd, **environment)) as terminal:
        yield terminal


@pytest.fixture
def places(settings: Settings, embedder: CachedEmbedder) -> dict[str, str]:
    """A world with one character, and two free ports."""
    with World(settings, embedder=embedder) as world:
        world.create_agent("mira")
    return {
        "MEMORY_DATABASE": str(settings.database),
        "MEMORY_PERSONALITIES": str(settings.personalities),
        "MEMORY_LLM": "offline",
        "MEMORY_DASHBOARD_PORT": str(free_port()),
        "MEMORY_API_PORT": str(free_port()),
    }


def test_the_dashboard_starts_with_its_own_words_alone_and_ends_at_ctrl_c(
    places: dict[str, str], settings: Settings
) -> None:
    command = [sys.executable, "-m", "dashboard.serve"]
    port, api = places["MEMORY_DASHBOARD_PORT"], f"http://127.0.0.1:{places['MEMORY_API_PORT']}"
    with on_a_terminal(*command, **places) as terminal:
        terminal.read("stops both)")
        assert terminal.shown.strip().splitlines() == [
            "Opening the world ...",
            f"HTTP API:  {api}/docs",
            f"Dashboard: http://127.0.0.1:{port}   (Ctrl+C stops both)",
        ]
        until(lambda: _answers(f"http://127.0.0.1:{port}/_stcore/health") and _answers(f"{api}/v1/agents"))
        with on_a_terminal(*command, **places) as second:
            second.read("The world 'mem_test' is open already in ")
            assert second.end() == 1
            told = f"(process {terminal.process}): the dashboard is at http://127.0.0.1:{port}. "
            assert told in second.shown.replace("\n", "")
            assert "Traceback" not in second.shown
        browser = f"ws://127.0.0.1:{port}"
        with (
            connect(f"{browser}/_stcore/stream", origin=f"http://127.0.0.1:{port}", proxy=None),  # type: ignore[arg-type]
            connect(f"{browser}/news?agent=mira", origin=f"http://127.0.0.1:{port}", proxy=None) as news,  # type: ignore[arg-type]
            httpx.Client(trust_env=False, timeout=LAST_RESORT) as client,
            client.stream("GET", f"{api}/v1/agents/mira/changes") as feed,
        ):
            assert news.recv(timeout=LAST_RESORT)
            assert "event: now" in next(feed.iter_text())
            before = terminal.shown
            terminal.press(CTRL_C)
            assert terminal.end() == 130
        assert terminal.shown.removeprefix(before).lstrip() == "^C\nStopped.\n"
        assert server_of(settings.database / settings.world) is None
        assert not list(settings.database.glob("*-served.json"))


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, trust_env=False, timeout=LAST_RESORT).status_code == 200
    except httpx.TransportError:
        return False


@pytest.mark.parametrize("program", ["serve", "mcp", "mcp --http"])
@pytest.mark.parametrize(("how", "code"), [("Ctrl+C", 130), ("SIGTERM", 143), ("closed", 0)])
def test_servers_of_the_command_line_end_in_one_line(places: dict[str, str], program: str, how: str, code: int) -> None:
    port = [] if program == "mcp" else ["--port", str(free_port())]
    with on_a_terminal(sys.executable, "-m", "memory_system", *program.split(), *port, **places) as terminal:
        terminal.read("stops it.\n")
        assert len(terminal.shown.splitlines()) == 1
        before = terminal.shown
        terminal.stop(how)
        assert terminal.end() == code, terminal.shown
        if how != "closed":
            assert terminal.shown.removeprefix(before) == ("^C\nStopped.\n" if how == "Ctrl+C" else "Stopped.\n")


STUCK = """
import threading, time
from memory_system.interfaces import endings

def program():
    threading.Thread(target=time.sleep, args=(3600,)).start()
    try:
        print("begun", flush=True)
        while True:
            time.sleep(0.05)  # a signal just before a sleep is heeded after it
    finally:
        print("letting go", flush=True)
        {then}

raise SystemExit(endings.run(program))
"""


def test_a_thread_that_still_works_keeps_nobody_waiting() -> None:
    with on_a_terminal(sys.executable, "-c", STUCK.format(then="pass")) as terminal:
        terminal.read("begun\n")
        terminal.press(CTRL_C)
        assert terminal.end() == 130
        assert terminal.shown == "begun\n^Cletting go\n\nStopped.\n"


@pytest.mark.parametrize(("second", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_who_says_it_twice_waits_for_nothing(second: signal.Signals, code: int) -> None:
    with on_a_terminal(sys.executable, "-c", STUCK.format(then="while True: time.sleep(0.05)")) as terminal:
        terminal.read("begun\n")
        terminal.press(CTRL_C)
        terminal.read("letting go\n")
        os.kill(terminal.process, second)
        assert terminal.end() == code
        assert "Traceback" not in terminal.shown


EARLY = """
import asyncio, os, signal
from memory_system.interfaces import endings
from memory_system.interfaces.api.serving import Server, configured

def signalled(*_):
    os.kill(os.getpid(), signal.SIGTERM)
    return asyncio.new_event_loop

async def serve(scope, receive, send):
    print("served")

def over_http():
    config = configured(serve, port=0, lifespan="off", log_level="warning")
    config.get_loop_factory = signalled
    Server(config).run()

def over_stdio():
    asyncio.run(serve(None, None, None), debug=signalled())

raise SystemExit(endings.run({program}))
"""
"""Is told to end between the making of a coroutine, or of what will serve, and the loop that runs it."""


@pytest.mark.parametrize("program", ["over_http", "over_stdio"])
def test_a_server_that_is_stopped_before_it_serves_ends_in_one_line(program: str) -> None:
    done = programs.run("-c", EARLY.format(program=program))
    assert (done.returncode, done.stdout, done.stderr) == (143, "", "Stopped.\n")


BUSY = """
import asyncio, os, signal, threading, urllib.request
from memory_system.interfaces import endings
from memory_system.interfaces.api.serving import Server, configured
from memory_system.interfaces.ports import next_free

port = next_free(5600)

async def serve(scope, receive, send):
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.sleep(3600)

def ask():
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}", timeout=60)
        except OSError:
            pass

threading.Thread(target=ask, daemon=True).start()
config = configured(serve, port=port, lifespan="off", log_level="warning", timeout_graceful_shutdown=0)
raise SystemExit(endings.run(Server(config).run))
"""
"""Is told to end while an answer is worked out that comes to no end."""


def test_a_server_that_breaks_off_an_answer_ends_in_one_line() -> None:
    done = programs.run("-c", BUSY)
    assert (done.returncode, done.stdout, done.stderr) == (143, "", "Stopped.\n")


def test_nohup_lets_a_server_outlive_its_terminal(places: dict[str, str]) -> None:
    port = free_port()
    command = ["nohup", sys.executable, "-m", "memory_system", "serve", "--port", str(port)]
    with on_a_terminal(*command, cwd=Path(places["MEMORY_DATABASE"]), **places, PYTHONPATH=str(ROOT)) as terminal:
        until(lambda: _answers(f"http://127.0.0.1:{port}/v1/agents"))
        terminal.hang_up()
        os.kill(terminal.process, signal.SIGHUP)
        assert _answers(f"http://127.0.0.1:{port}/v1/agents")
        os.kill(terminal.process, signal.SIGTERM)
        assert terminal.end() == 143


LOADING = """
import time
print("loading", flush=True)
while True:
    time.sleep(0.05)  # a signal just before a sleep is heeded after it
"""
SCRIPT = "import sys\nfrom memory_system.__main__ import main\nsys.exit(main())\n"
"""What pip makes of the command."""
RUN = ("-m", "memory_system", "run", "--no-browser")
MODULE = [sys.executable, "-m", "memory_system"]


@pytest.mark.parametrize(("how", "code"), [("Ctrl+C", 130), ("SIGTERM", 143), ("closed", 0)])
@pytest.mark.parametrize(
    ("command", "package"),
    [
        ([*MODULE, "run"], "numpy"),
        ([*MODULE, "run"], "streamlit"),
        ([*MODULE, "serve"], "pydantic"),
        ([*MODULE, "mcp"], "pydantic"),
        ([sys.executable, "memory-system", "run"], "numpy"),
        ([sys.executable, "-m", "dashboard.serve"], "numpy"),
        ([sys.executable, "-m", "dashboard.serve"], "streamlit"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value[1:]),
)
def test_a_start_is_stopped_while_its_packages_are_still_loaded(
    tmp_path: Path, command: list[str], package: str, how: str, code: int
) -> None:
    (tmp_path / f"{package}.py").write_text(LOADING)
    (tmp_path / "memory-system").write_text(SCRIPT)
    with on_a_terminal(*command, cwd=tmp_path, PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}") as terminal:
        terminal.read("loading\n")
        before = terminal.shown
        terminal.stop(how)
        assert terminal.end() == code, terminal.shown
        shown = {"Ctrl+C": "^C\nStopped.\n", "SIGTERM": "Stopped.\n", "closed": ""}
        assert terminal.shown.removeprefix(before) == shown[how]


@pytest.mark.parametrize("command", [MODULE, [sys.executable, "memory-system"]], ids=["module", "script"])
def test_ctrl_c_ends_a_command_in_one_line_while_its_packages_are_still_loaded(
    tmp_path: Path, command: list[str]
) -> None:
    (tmp_path / "numpy.py").write_text(LOADING)
    (tmp_path / "memory-system").write_text(SCRIPT)
    with on_a_terminal(*command, "agents", cwd=tmp_path, PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}") as terminal:
        terminal.read("loading\n")
        before = terminal.shown
        terminal.stop("Ctrl+C")
        assert terminal.end() == 130, terminal.shown
        assert terminal.shown.removeprefix(before) == "^C\nStopped.\n"


@pytest.mark.parametrize(
    ("arguments", "started", "is_ours"),
    [
        (["-m", "agents"], ["python", "-X", "utf8", "-m", "memory_system", "agents"], True),
        (["/home/mira/bin/memory-system", "agents"], ["python", "/home/mira/bin/memory-system", "agents"], True),
        (["-m"], ["python", "-m", "memory_system"], True),
        (["-m", "memory_system"], ["python", "-m", "game", "memory_system"], False),
        (["game.py", "agents"], ["python", "game.py", "agents"], False),
        (["-c"], ["python", "-c", "import memory_system"], False),
        ([""], ["python"], False),
    ],
)
def test_ctrl_c_is_taken_of_commands_alone(arguments: list[str], started: list[str], is_ours: bool) -> None:
    assert quiet.is_command(arguments, started) is is_ours


@pytest.mark.parametrize("before", [True, False])
def test_garbage_is_looked_for_after_the_import_as_it_was_before(monkeypatch: pytest.MonkeyPatch, before: bool) -> None:
    monkeypatch.setattr(quiet, "_looked_for_garbage", before)
    gc.disable()
    try:
        quiet.loaded()
        assert gc.isenabled() is before
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("arguments", "program", "is_ours"),
    [
        (["-m", "run"], "", True),
        (["/home/mira/bin/memory-system", "mcp", "--http"], None, True),
        (["dashboard/serve.py"], "dashboard.serve", True),
        (["-m", "recall", "mira", "run"], "", False),
        (["-m"], "", False),
        (["/home/mira/bin/memory-system"], None, False),
        (["game.py", "run"], "game", False),
        (["", "run"], None, False),
        ([], None, False),
    ],
)
def test_signals_are_taken_of_servers_alone(arguments: list[str], program: str | None, is_ours: bool) -> None:
    assert quiet.is_server(arguments, program) is is_ours


PACKAGES = """#!/bin/sh
case "$*" in
  *sysconfig*) echo "$PWD" ;;
  *"pip install"*"uv>="*) exit 1 ;;
  *"pip install"*) echo "Collecting patience"; echo $$ > installing; exec sleep 3600 ;;
esac
"""
"""A Python that installs for an hour, and has no uv to be quicker."""


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize("how", ["Ctrl+C", "SIGTERM"])
def test_make_run_is_stopped_while_it_installs(tmp_path: Path, how: str) -> None:
    for name in ("Makefile", "tools/setup.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for file in (*ROOT.glob("requirements*.txt"), ROOT / "pyproject.toml", ROOT / "setup.py"):
        shutil.copy(file, tmp_path)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(PACKAGES)
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    command = ["make", "run"] if how == "Ctrl+C" else [sys.executable, "tools/setup.py", "run"]
    with on_a_terminal(*command, cwd=tmp_path, PYTHON=sys.executable) as terminal:
        terminal.read("Collecting patience")
        until(lambda: (tmp_path / "installing").exists() and (tmp_path / "installing").read_text().endswith("\n"))
        installing = int((tmp_path / "installing").read_text())
        if how == "Ctrl+C":
            terminal.press(CTRL_C)
            assert terminal.end() in (-signal.SIGINT, 130), "make ends as whoever is interrupted ends"
            assert re.fullmatch(r"\s*\^C\nStopped\. .*\n", terminal.shown.partition("patience")[2])
        else:
            os.kill(terminal.process, signal.SIGTERM)
            assert terminal.end() == 143
        until(lambda: not Path(f"/proc/{installing}").exists())
        assert "Traceback" not in terminal.shown


def test_an_occupied_port_is_told_with_who_holds_it_and_the_next_is_offered(places: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
        taken = places | {"MEMORY_DASHBOARD_PORT": str(port)}
        with on_a_terminal(sys.executable, "-m", "dashboard.serve", cwd=ROOT, **taken) as terminal:
            terminal.read("instead? [Y/n] ")
            offer = re.fullmatch(
                rf"Port {port} is taken by \S+ \(process {os.getpid()}\)\. Use port (\d+) instead\? \[Y/n\] ",
                terminal.shown,
            )
            assert offer, terminal.shown
            assert int(offer[1]) > port
            terminal.press(b"n\n")
            assert terminal.end() == 1
            assert f"Port {port}, where the dashboard is to be served, cannot be used" in terminal.shown
            assert "MEMORY_DASHBOARD_PORT=" in terminal.shown
        with on_a_terminal(sys.executable, "-m", "dashboard.serve", cwd=ROOT, **taken) as terminal:
            terminal.read("instead? [Y/n] ")
            terminal.press(b"\n")
            terminal.read("stops both)")
            assert f"Dashboard: http://127.0.0.1:{port}" not in terminal.shown
            terminal.press(CTRL_C)
            assert terminal.end() == 130


def test_ctrl_c_at_the_question_ends_in_one_line(places: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        taken = places | {"MEMORY_API_PORT": str(held.getsockname()[1])}
        with on_a_terminal(sys.executable, "-m", "dashboard.serve", cwd=ROOT, **taken) as terminal:
            terminal.read("instead? [Y/n] ")
            before = terminal.shown
            terminal.press(CTRL_C)
            assert terminal.end() == 130
            assert terminal.shown.removeprefix(before).lstrip() == "^C\nStopped.\n"


def test_both_servers_on_one_port_are_refused_before_a_world_is_opened(places: dict[str, str]) -> None:
    done = programs.run(*RUN, "--port", "9821", "--api-port", "9821", environment={**os.environ, **places})
    assert done.returncode == 1
    assert done.stderr.startswith("The dashboard and the HTTP API cannot both listen on port 9821: choose another")
    assert "Opening" not in done.stdout


def test_the_port_that_is_offered_is_not_the_other_server_s() -> None:
    with _two_neighbours() as (held, free):
        settings = Settings(dashboard_port=held, api_port=free)
        with pytest.raises(Conflict) as refused:
            with_free_ports(settings)
        offered = re.search(r"MEMORY_DASHBOARD_PORT=(\d+)", str(refused.value))
        assert offered, refused.value
        assert int(offered[1]) > free


@contextmanager
def _two_neighbours() -> Iterator[tuple[int, int]]:
    """A port that is held, and the one after it, which is free."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as held:
            port = held.getsockname()[1]
            if next_free(port) == port + 1:
                yield port, port + 1
                return


def test_a_world_in_no_folder_or_in_a_circle_of_links_is_refused_in_a_sentence(
    places: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "there").symlink_to(tmp_path / "back")
    (tmp_path / "back").symlink_to(tmp_path / "there")
    for folder, sentence in {
        "": "--world is empty",
        str(tmp_path / "there"): "a loop" if sys.version_info < (3, 13) else "cannot be used",
    }.items():
        done = programs.run(*RUN, "--world", folder, environment={**os.environ, **places})
        assert (done.returncode, len(done.stderr.splitlines())) == (1, 1), done.stderr
        assert sentence in done.stderr


def test_an_address_of_another_machine_is_not_blamed_on_the_port() -> None:
    with pytest.raises(Conflict, match=r"This machine has no address '192\.0\.2\.1', so .* MEMORY_HOST"):
        with_free_ports(Settings(host="192.0.2.1"))
