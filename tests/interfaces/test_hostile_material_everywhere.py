"""Material that is a trap is refused in a sentence by every front end, and nothing is changed."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import httpx
import pytest

from memory_system import AgentMemory, World
from memory_system.agent_parts.importing import as_address
from tests import materials
from tests.command_line import CommandLine


def swollen() -> bytes:
    """An archive that says that it would become 600 MB."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as file:
        file.writestr("conversations.json", "[]")
        file.filelist[0].file_size = 600_000_000
    return held.getvalue()


BOOK = {"entries": [{"keys": ["k"], "content": f"Fact {n}."} for n in range(100_000)]}
TRAPS: dict[str, tuple[bytes, str]] = {
    "bomb.png": (materials.png(width=60_000, height=60_000), "60,000 by 60,000 pixels"),
    "bomb.zip": (swollen(), "would unpack to 600,000,000 bytes"),
    "climbing.zip": (materials.archive(card__json="{}", **{"__.___up__txt": "x"}), "leads out of it"),
    "book.json": (json.dumps(BOOK).encode(), "100,000 entries; at most 10,000"),
    "deep.json": (b'{"a":' * 10_000, "nested more than 100 deep"),
}
each = pytest.mark.parametrize(("name", "trap"), TRAPS.items(), ids=TRAPS)


@each
def test_over_http_a_trap_is_refused_and_changes_nothing(
    name: str, trap: tuple[bytes, str], agent: AgentMemory, api: httpx.Client
) -> None:
    before = agent.stamp
    body = {"material": as_address(trap[0]), "file_name": name}
    for address in ("material", "operations/import-material", "imports"):
        answer = api.post(f"/v1/agents/{agent.name}/{address}", json=body, timeout=120)
        assert answer.status_code == 422
        assert trap[1] in answer.json()["detail"]
        assert name in answer.json()["detail"]
    assert agent.stamp == before


@each
def test_on_the_command_line_a_trap_is_refused_and_changes_nothing(
    name: str,
    trap: tuple[bytes, str],
    world: World,
    agent: AgentMemory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before, run, file = agent.stamp, CommandLine(world, monkeypatch), tmp_path / name
    file.write_bytes(trap[0])
    for command in (["import-material", agent.name, str(file)], ["create", "rosa", "--from", str(file)]):
        done = run(*command)
        assert done.code != 0
        assert trap[1] in " ".join(done.err.split())
    assert agent.stamp == before
    assert "rosa" not in world.agents()


def test_columns_that_were_guessed_wrong_are_named_over_http(agent: AgentMemory, api: httpx.Client) -> None:
    body = {
        "material": "title;note;day\nBread;Sold out by nine;2026-03-01\nBread;;2026-03-02\n",
        "form": "table",
        "columns": {"document": "note", "timestamp": "day"},
        "rate": False,
    }
    told = api.post(f"/v1/agents/{agent.name}/imports", json=body).json()["material"]
    assert [(row["text"], row["becomes"]) for row in told["rows"] if row["becomes"] == "memory"] == [
        ("Sold out by nine", "memory")
    ]
    (bad,) = [row for row in told["rows"] if row["becomes"] == "dropped"]
    assert (bad["place"], bool(bad["why"])) == ("line 3", True)
