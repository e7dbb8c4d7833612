"""What a game leaves out is told in a sentence with the command that brings it, and exit code 2."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr

from memory_system import AgentMemory, World
from memory_system.conversation import load_document
from memory_system.core.extras import needs
from memory_system.errors import ExtraMissing
from memory_system.store.journal.postgres import Server
from tests.command_line import CommandLine


@pytest.fixture
def run(world: World, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(world, monkeypatch)


def without(monkeypatch: pytest.MonkeyPatch, package: str, *modules: str) -> None:
    """As if a package were not installed; ``modules`` of ours are imported again."""
    for name in list(sys.modules):
        if name == package or name.startswith((f"{package}.", *modules)):
            parent, _, own = name.rpartition(".")
            if parent in sys.modules and sys.modules[parent] is not None:  # which "from . import" would ask first
                monkeypatch.delattr(sys.modules[parent], own, raising=False)
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)


@pytest.mark.parametrize(
    ("package", "command", "extra"),
    [
        ("streamlit", ["run", "--no-browser"], "dashboard"),
        ("plotly", ["run", "--no-browser"], "dashboard"),
        ("pandas", ["run", "--no-browser"], "dashboard"),
        ("fastapi", ["run", "--no-browser"], "dashboard"),
        ("uvicorn", ["serve"], "server"),
        ("fastapi", ["serve"], "server"),
        ("mcp", ["mcp", "--agent", "mira"], "mcp"),
    ],
)
def test_a_command_whose_extra_is_missing_says_which_and_opens_nothing(
    run: CommandLine, world: World, monkeypatch: pytest.MonkeyPatch, package: str, command: list[str], extra: str
) -> None:
    without(monkeypatch, package, "dashboard", "memory_system.interfaces.api", "memory_system.interfaces.mcp.server")
    monkeypatch.setenv("MEMORY_HOST", "256.0.0.1")  # nowhere to listen, if it should start after all
    done = run(*command)
    assert done.code == 2
    assert done.err.endswith(f" needs packages that are not installed. Run: pip install 'memory-system[{extra}]'\n")
    assert not done.out
    assert not world.agents()


def test_a_pdf_without_its_extra_is_told(agent: AgentMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = tmp_path / "almanac.pdf"
    document.write_bytes(b"%PDF-1.7\n")
    without(monkeypatch, "pypdf")
    with pytest.raises(ExtraMissing, match=r"^Reading a PDF document .*'memory-system\[pdf\]'$"):
        load_document(agent, document)


def test_journals_on_a_server_without_their_extra_are_told(
    run: CommandLine, agent: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, "psycopg")
    with pytest.raises(ExtraMissing, match=r"^MEMORY_JOURNAL_URL .*'memory-system\[postgres\]'$"):
        Server(SecretStr("postgresql://somebody@127.0.0.1:1/nothing"))
    monkeypatch.setenv("MEMORY_JOURNAL_URL", "postgresql://somebody@127.0.0.1:1/nothing")
    done = run("recall", agent.name, "Where is the key?", "--json")
    assert done.code == 2
    assert json.loads(done.err.splitlines()[-1])["error"]["code"] == "extra-missing"


def test_a_module_of_ours_that_is_missing_is_no_missing_extra() -> None:
    with pytest.raises(ModuleNotFoundError), needs("dashboard", "The dashboard"):
        import memory_system.that_is_not_there  # type: ignore[import-not-found]  # noqa: F401
