"""The command line, run as processes of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import httpx

from memory_system import __version__
from tests import programs
from tests.conftest import ROOT
from tests.ports import free_port
from tests.waiting import LAST_RESORT, until


def _run(folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return programs.run("-m", "memory_system", *arguments, environment=_environment(folder) | more)


def _environment(folder: Path) -> dict[str, str]:
    return os.environ | {"MEMORY_DATABASE": str(folder / "database"), "MEMORY_LLM": "offline"}


def test_serve_answers_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-m", "memory_system", "serve", "--port", str(port)]
    pipe = subprocess.PIPE
    child = subprocess.Popen(command, cwd=ROOT, env=_environment(tmp_path), stdout=pipe, stderr=pipe, text=True)
    answers: list[int] = []

    def answered() -> bool:
        assert child.poll() is None, child.communicate()[1]
        with suppress(httpx.ConnectError), httpx.Client(trust_env=False, timeout=LAST_RESORT) as client:
            answers.append(
                client.post(f"http://127.0.0.1:{port}/rate", json={"memory": "Made the bed."}).json()["rating"]
            )
        return bool(answers)

    try:
        until(answered)
        assert answers == [1]
        child.send_signal(signal.SIGINT)
        out, problems = child.communicate(timeout=LAST_RESORT)
    finally:
        child.kill()
        child.wait()
    assert f"http://127.0.0.1:{port}" in out
    assert "Traceback" not in problems


def test_the_version_is_printed() -> None:
    done = programs.run("-m", "memory_system", "--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"memory-system {__version__}\n", "")


def test_a_busy_port_is_one_plain_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = _run(tmp_path, "serve", "--port", str(port))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(f"Port {port}, where the API is to be served, cannot be used")
    assert done.stderr.count("\n") == 1


def test_a_port_that_cannot_be_is_refused_without_a_traceback(tmp_path: Path) -> None:
    done = _run(tmp_path, "serve", "--port", "99999")
    assert done.returncode == 2
    assert "65,535" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wrong_setting_is_told_without_a_traceback(tmp_path: Path) -> None:
    done = _run(tmp_path, "serve", MEMORY_LLM="perhaps")
    assert done.returncode == 1
    assert "MEMORY_LLM" in done.stderr
    assert "Traceback" not in done.stderr


def test_fill_fills_an_empty_world_once(tmp_path: Path) -> None:
    samples = tmp_path / "samples"
    samples.mkdir()
    (samples / "world.json").write_text('{"clock": "2026-03-27T18:00:00+00:00"}')
    for name in ("ines", "mira"):  # a day of the story is enough here; test_samples fills it all
        story = (ROOT / "database/samples/harrow_quay" / f"{name}.jsonl").read_text(encoding="utf-8")
        (samples / f"{name}.jsonl").write_text("".join(story.splitlines(keepends=True)[:5]), encoding="utf-8")
    first = _run(tmp_path, "fill", str(samples))
    assert (first.returncode, first.stderr) == (0, "")
    assert "ines (1 of 2, 5 memories)" in first.stdout
    assert "is filled." in first.stdout
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "database").rglob("*") if path.is_file()}
    second = _run(tmp_path, "fill", str(samples))
    assert "not empty; nothing was changed" in second.stdout
    assert {path: path.stat().st_mtime_ns for path in files} == files


def test_fill_from_nowhere_is_one_sentence(tmp_path: Path) -> None:
    done = _run(tmp_path, "fill", str(tmp_path / "nowhere"))
    assert done.returncode == 1
    assert "cannot be read" in done.stderr
    assert done.stderr.count("\n") == 1
