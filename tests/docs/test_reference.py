"""The reference pages are made of the living objects, and leave nothing out."""

from __future__ import annotations

import dataclasses
import re
from functools import cache

import pytest

import memory_system
from memory_system import AgentSettings, Settings
from memory_system.interfaces.api import create_app
from memory_system.interfaces.mcp.curating import CURATING_TOOLS, LOOKING_TOOLS
from memory_system.interfaces.mcp.remembering import MEMORY_TOOLS
from memory_system.interfaces.mcp.talking import TALK_TOOLS
from memory_system.interfaces.mcp.together import TOGETHER_TOOLS
from tests.command_line import COMMANDS
from tests.conftest import ROOT
from tools import reference

HEADING = re.compile(r"^#{2,3} .*\{ #(\S+) \}$", re.MULTILINE)


@cache
def pages() -> dict[str, str]:
    return reference.pages()


def headings(page: str) -> list[str]:
    return HEADING.findall(pages()[f"reference/{page}.md"])


def test_every_public_name_is_described_and_every_call_of_an_agent_with_it() -> None:
    found = headings("python")
    assert [name for name in memory_system.__all__ if name not in found] == []
    calls = [name for name in vars(memory_system.AgentMemory) if not name.startswith("_")]
    assert len(calls) > 80
    assert [name for name in calls if f"AgentMemory.{name}" not in found] == []


def test_a_function_that_is_a_method_is_described_without_the_object_that_it_is_called_on() -> None:
    text = pages()["reference/python.md"]
    section = text.partition("{ #World.who_knows }")[2].partition("\n### ")[0]
    assert re.findall(r"^- `(\w+)`: ", section.partition("**Errors**")[0], re.MULTILINE) == [
        "fact", "names", "at", "ask_model", "progress",
    ]  # fmt: skip
    assert "world:" not in section


def test_an_agent_that_is_handed_in_is_told() -> None:
    section = pages()["reference/conversation.md"].partition("{ #Conversation.begin }")[2].partition("\n### ")[0]
    assert "agent: AgentMemory," in section


def test_every_operation_of_the_api_is_described_once() -> None:
    described = create_app(lambda: None).openapi()  # type: ignore[arg-type,return-value]
    ids = [one["operationId"] for methods in described["paths"].values() for one in methods.values()]
    assert len(ids) > 140
    assert sorted(headings("http")) == sorted(ids)
    assert headings("values") == [name.lower() for name in sorted(described["components"]["schemas"])]


def test_every_command_is_described_with_all_its_options() -> None:
    assert sorted(headings("commands")) == sorted(COMMANDS)
    text = pages()["reference/commands.md"]
    for name, command in COMMANDS.items():
        section = text.partition(f"{{ #{name} }}")[2].partition("\n### ")[0]
        assert [one for held in command.params for one in held.opts if held.param_type_name == "option"
                and one != "--help" and f"`{one}`" not in section] == []  # fmt: skip


def test_every_tool_of_the_mcp_server_is_described_with_its_arguments() -> None:
    tools = (*MEMORY_TOOLS, *TALK_TOOLS, *TOGETHER_TOOLS, *LOOKING_TOOLS, *CURATING_TOOLS)
    assert sorted(headings("mcp")) == sorted(tool.name for tool in tools)
    text = pages()["reference/mcp.md"]
    for tool in tools:
        section = text.partition(f"{{ #{tool.name} }}")[2].partition("\n### ")[0]
        assert [name for name in tool.schema(agent=False)["properties"] if f"`{name}`" not in section] == []


@pytest.mark.parametrize("kind", ["installation", "agent"])
def test_every_setting_is_described(kind: str) -> None:
    text = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    if kind == "installation":
        wanted = [str(field.validation_alias) for field in Settings.model_fields.values() if field.validation_alias]
    else:
        wanted = [field.name for field in dataclasses.fields(AgentSettings)]
    assert len(wanted) > 15
    assert [name for name in wanted if f"`{name}`" not in text] == []
