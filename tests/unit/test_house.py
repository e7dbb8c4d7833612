"""The house's rules: who may import what, how long a module may be, and the public names."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import memory_system

ROOT = Path(__file__).resolve().parents[2]
SYSTEM = sorted((ROOT / "memory_system").rglob("*.py"))
DASHBOARD = sorted((ROOT / "dashboard").rglob("*.py"))
MODULES = [*SYSTEM, *DASHBOARD]
MOST_LINES = 800


def name_of(path: Path) -> str:
    """``memory_system/llm/base.py`` is ``memory_system.llm.base``."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports_of(path: Path, *, at_start_only: bool = False) -> Iterator[str]:
    """The dotted names that a module imports, relative ones resolved, with ``from a import b`` as ``a.b``."""
    found: list[ast.stmt] = []

    def visit(node: ast.AST) -> None:
        if at_start_only and (isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or _for_types_only(node)):
            return
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.append(node)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(path.read_text(encoding="utf-8")))
    package = path.relative_to(ROOT).parent.parts
    for node in found:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            parts = (*base, *(node.module.split(".") if node.module else ()))
            yield from (".".join((*parts, alias.name)) for alias in node.names)


def _for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def importers_of(package: str) -> set[str]:
    return {
        str(path.relative_to(ROOT))
        for path in MODULES
        if any(name.split(".")[0] == package for name in imports_of(path))
    }


def test_only_the_dashboard_imports_streamlit() -> None:
    assert {path.split("/")[0] for path in importers_of("streamlit")} <= {"dashboard"}


def test_only_the_chroma_store_imports_chromadb() -> None:
    modules = {"chroma", "chroma_homes", "chroma_served"}
    assert importers_of("chromadb") == {f"memory_system/{name}.py" for name in modules}


def test_only_the_openai_model_imports_openai() -> None:
    assert importers_of("openai") == {"memory_system/llm/openai.py"}


def test_only_the_mcp_server_imports_the_sdk() -> None:
    assert importers_of("mcp") | importers_of("mcp_types") == {"memory_system/mcp/server.py"}


def test_the_system_does_not_import_the_dashboard_but_to_start_it() -> None:
    importers = {path for path in importers_of("dashboard") if path.startswith("memory_system/")}
    assert importers == {"memory_system/command/run.py"}


def test_importing_the_system_loads_nothing_that_is_wanted_later_or_by_few() -> None:
    """What an extra brings, and what a question or a server needs first; see ``benchmarks/importing.py``."""
    check = "import sys, memory_system; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", check], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert {"memory_system", "numpy", "sqlalchemy"} <= loaded
    of_extras = {"streamlit", "plotly", "pandas", "fastapi", "starlette", "uvicorn", "anyio", "mcp", "pypdf", "psycopg"}
    later = {"chromadb", "onnx", "onnxruntime", "tokenizers", "openai", "httpx", "keyring", "typer", "rich", "click"}
    assert not loaded & (of_extras | later)


def test_no_module_of_the_system_imports_itself_by_a_detour() -> None:
    names = {name_of(path) for path in SYSTEM}
    graph: dict[str, set[str]] = {}
    for path in SYSTEM:
        wanted = {name if name in names else name.rpartition(".")[0] for name in imports_of(path, at_start_only=True)}
        graph[name_of(path)] = (wanted & names) - {name_of(path)}
    assert any(graph.values())
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"These modules import each other: {' -> '.join(error.args[1])}")
    assert order.index("memory_system.errors") < order.index("memory_system.agent")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_is_short_and_says_what_it_imports(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MOST_LINES, f"{path.relative_to(ROOT)} has {lines} lines; split it (at most {MOST_LINES})."
    assert not any(name.endswith("*") for name in imports_of(path))


def test_the_public_names_are_these() -> None:
    assert memory_system.__all__ == [
        "PRESETS",
        "AgentMemory",
        "AgentSettings",
        "Candidate",
        "Change",
        "ChangeSet",
        "ChromaMemory",
        "Facets",
        "InMemory",
        "Kind",
        "Measure",
        "Memory",
        "MemoryEntry",
        "MemorySystemError",
        "Narrative",
        "Preset",
        "Query",
        "Recall",
        "Score",
        "Scoring",
        "Sentence",
        "Settings",
        "Tier",
        "Verdict",
        "Weights",
        "World",
    ]
    assert all(hasattr(memory_system, name) for name in memory_system.__all__)
