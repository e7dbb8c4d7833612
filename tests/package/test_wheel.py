"""The wheel in environments of its own, with nothing but the package index, a home folder, and no checkout."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from memory_system import Settings
from tests.package.image import Container
from tests.ports import free_port
from tests.waiting import LAST_RESORT
from tools.setup import quick_settings

pytestmark = pytest.mark.full
INSTALL_SECONDS = 1800
START_SECONDS = 900
"""Long enough for any load: what is waited for is an answer."""
CUE = "Who has the key of the tide mill?"
QUERY = f"""
from memory_system import World
with World() as world:
    print(world.folder)
    print(world.agent("mira").query_memory({CUE!r}).context)
"""


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel in it, and the home folder of whoever uses it."""

    folder: Path
    home: Path

    @property
    def python(self) -> Path:
        return self._program("python")

    @property
    def command(self) -> Path:
        return self._program("memory-system")

    def _program(self, name: str) -> Path:
        return self.folder / ("Scripts" if os.name == "nt" else "bin") / name

    def environment(self, **more: str) -> dict[str, str]:
        """What the user's shell has: nothing of this checkout's, but for where the embedding model is cached."""
        kept = {name: os.environ[name] for name in ("SYSTEMROOT", "TMPDIR", "TEMP") if name in os.environ}
        told = {"HOME": str(self.home), "LOCALAPPDATA": str(self.home), "PATH": os.defpath, "MEMORY_LLM": "offline"}
        return kept | told | {"MEMORY_CACHE_DIR": str(Settings().cache)} | more

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            cwd=self.home,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )


@pytest.fixture(scope="module")
def core(index: None, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """An empty environment, and the wheel with what it asks for: brought by uv, where it is, and by pip otherwise."""
    folder = tmp_path_factory.mktemp("core")
    quick = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    venv.create(folder / "env", with_pip=quick is None)
    made = Installed(folder / "env", folder / "home")
    made.home.mkdir()
    pip = [made.python, "-m", "pip", "install", "--disable-pip-version-check", "--no-compile"]
    uv = [quick, "pip", "install", "--python", made.python]
    done = subprocess.run(
        [*(uv if quick else pip), "-q", wheel],
        cwd=made.home,
        env=os.environ | (quick_settings(sys.executable) if quick else {}),
        capture_output=True,
        text=True,
        timeout=INSTALL_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return made


@pytest.fixture(scope="module")
def everything(index: None, container: Container, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel with all extras, as the steps of the Dockerfile install it, and another's home folder."""
    return Installed(container.root / "python", tmp_path_factory.mktemp("home"))


def test_a_game_installs_the_core_and_asks_a_character(core: Installed) -> None:
    filled = core.run(core.command, "fill", "--json")
    assert json.loads(filled.stdout)["filled"] is True, filled.stderr
    told = json.loads(core.run(core.command, "recall", "mira", CUE, "--json").stdout)
    assert any("key" in hit["memory"]["document"] for hit in told["recalled"])
    done = core.run(core.python, "-c", QUERY)
    assert done.returncode == 0, done.stderr
    assert "key" in done.stdout
    assert Path(done.stdout.splitlines()[0]).is_relative_to(core.home), "no world is kept where packages are installed"
    refused = core.run(core.command, "run")
    assert (refused.returncode, refused.stderr) == (
        2,
        "The dashboard needs packages that are not installed. Run: pip install 'memory-system[dashboard]'\n",
    )


@pytest.fixture(scope="module")
def addresses(everything: Installed) -> Iterator[tuple[str, str]]:
    """Dashboard and API of ``memory-system run --sample``, started outside any checkout."""
    ports = free_port(), free_port()
    options = ["--sample", "--no-browser", "--port", str(ports[0]), "--api-port", str(ports[1])]
    log = everything.home / "log.txt"
    with log.open("w") as output:
        server = subprocess.Popen(
            [everything.command, "run", *options],
            cwd=everything.home,
            env=everything.environment(),
            stdout=output,
            stderr=output,
        )
    try:
        yield f"http://127.0.0.1:{ports[0]}", f"http://127.0.0.1:{ports[1]}"
        assert server.poll() is None, log.read_text()
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(LAST_RESORT)


def answered(address: str, body: object = None) -> str:
    """What a server answers, as soon as it does."""
    until = time.monotonic() + START_SECONDS
    data = None if body is None else json.dumps(body).encode()
    while True:
        request = urllib.request.Request(address, data, {"content-type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=LAST_RESORT) as answer:
                return str(answer.read().decode())
        except (urllib.error.URLError, OSError) as error:  # not there yet, or its character is not
            if time.monotonic() > until:
                pytest.fail(f"{address} did not answer: {error}")
            time.sleep(0.5)


def test_run_opens_the_dashboard_on_a_world_in_the_user_s_own_folder(
    everything: Installed, addresses: tuple[str, str]
) -> None:
    dashboard, api = addresses
    told = json.loads(answered(f"{api}/v1/agents/mira/query", {"cue": CUE}))
    assert "key" in told["context"]
    assert answered(f"{dashboard}/_stcore/health") == "ok"
    assert '<div id="root">' in answered(dashboard)
    recalled = json.loads(everything.run(everything.command, "recall", "mira", CUE, "--json").stdout)
    assert any("key" in hit["memory"]["document"] for hit in recalled["recalled"])
    done = everything.run(everything.python, "-W", "ignore", "-c", QUERY)
    assert "key" in done.stdout, done.stderr
    assert Path(done.stdout.splitlines()[0]).is_relative_to(everything.home)
    assert not list(everything.folder.rglob("mem_test*")), "no world is kept where packages are installed"


def test_the_dashboard_s_looks_come_with_the_wheel(everything: Installed) -> None:
    code = (
        "from dashboard import serve; import streamlit as st; from streamlit.web import bootstrap; "
        "st.App(serve.APP); bootstrap.load_config_options({}); "
        "print(st.get_option('theme.light.primaryColor'), st.get_option('client.toolbarMode'))"
    )
    done = everything.run(everything.python, "-c", code)
    assert done.stdout.splitlines()[-1:] == ["#005a8e minimal"], done.stderr
