"""The house's rules: who may import what, how large a package and a module may be, and the public names."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import memory_system

ROOT = Path(__file__).resolve().parents[2]
SYSTEM = sorted((ROOT / "memory_system").rglob("*.py"))
DASHBOARD = sorted((ROOT / "dashboard").rglob("*.py"))
MODULES = [*SYSTEM, *DASHBOARD]
MOST_LINES = 800
MOST_FILES = 25
ORDER = (
    "errors",
    "core",
    "embedding",
    "recall",
    "llm",
    "store",
    "operations",
    "agent_parts",
    "agent",
    "conversation",
    "world",
    "maintenance",
    "evaluation",
    "interfaces",
)
"""The packages of the system from the bottom up: each imports only from itself and from those before it."""
OUTSIDE = {"", "quiet", "__main__"}
"""The system's front door, which imports all, and what is loaded before it."""


def name_of(path: Path) -> str:
    """``memory_system/llm/base.py`` is ``memory_system.llm.base``."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def imports_of(path: Path, source: str | None = None) -> tuple[str, ...]:
    """The dotted names that a module imports, relative ones resolved, with ``from a import b`` as ``a.b``."""
    package, found = path.relative_to(ROOT).parent.parts, []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8") if source is None else source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            parts = (*base, *(node.module.split(".") if node.module else ()))
            found += [".".join((*parts, alias.name)) for alias in node.names]
    return tuple(found)


def importers_of(package: str) -> set[str]:
    return {
        str(path.relative_to(ROOT))
        for path in MODULES
        if any(name.split(".")[0] == package for name in imports_of(path))
    }


def test_only_the_dashboard_imports_streamlit() -> None:
    assert {path.split("/")[0] for path in importers_of("streamlit")} <= {"dashboard"}


def test_only_the_chroma_store_imports_chromadb() -> None:
    modules = {"store", "location", "server"}
    assert importers_of("chromadb") == {f"memory_system/store/chroma/{name}.py" for name in modules}


def test_only_the_openai_model_imports_openai() -> None:
    assert importers_of("openai") == {"memory_system/llm/openai/model.py"}


def test_only_the_mcp_server_imports_the_sdk() -> None:
    assert importers_of("mcp") | importers_of("mcp_types") == {"memory_system/interfaces/mcp/server.py"}


def test_the_system_does_not_import_the_dashboard_but_to_start_it() -> None:
    importers = {path for path in importers_of("dashboard") if path.startswith("memory_system/")}
    assert importers == {"memory_system/interfaces/cli/run.py"}


def test_importing_the_system_loads_nothing_that_is_wanted_later_or_by_few() -> None:
    """What an extra brings, and what a question or a server needs first; see ``benchmarks/importing.py``."""
    check = "import gc, sys, memory_system; print(gc.isenabled(), *{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", check], cwd=ROOT, capture_output=True, text=True, check=True)
    collected, *names = done.stdout.split()
    assert collected == "True", "garbage is looked for again"
    loaded = set(names)
    assert {"memory_system", "numpy", "sqlalchemy"} <= loaded
    of_extras = {"streamlit", "plotly", "pandas", "fastapi", "starlette", "uvicorn", "anyio", "mcp", "pypdf", "psycopg"}
    later = {"chromadb", "onnx", "onnxruntime", "tokenizers", "openai", "httpx", "keyring", "typer", "rich", "click"}
    assert not loaded & (of_extras | later)


def package_of(module: str) -> str:
    """``memory_system.llm.base`` is in ``llm``, and ``memory_system.agent`` is ``agent``."""
    return module.removeprefix("memory_system").removeprefix(".").partition(".")[0]


def graph_of(sources: Mapping[Path, str]) -> dict[str, set[str]]:
    """Which modules of the system each module imports, now or later, at its top or in a function."""
    names = {name_of(path) for path in sources}
    graph = {}
    for path, source in sources.items():
        imported = {name if name in names else name.rpartition(".")[0] for name in imports_of(path, source)}
        graph[name_of(path)] = (imported & names) - {name_of(path)}
    return graph


def upward(graph: Mapping[str, set[str]]) -> list[str]:
    """The imports that point from a package to one above it."""
    places = {package: place for place, package in enumerate(ORDER)} | dict.fromkeys(OUTSIDE, len(ORDER) - 1)
    return [
        f"{module} imports {name}"
        for module, imported in sorted(graph.items())
        for name in sorted(imported)
        if package_of(module) not in OUTSIDE and places[package_of(name)] > places[package_of(module)]
    ]


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """Modules that import each other by a detour; none if there is no such circle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@cache
def public_names(package: Path) -> set[str]:
    """What the ``__init__`` of a package offers in ``__all__``."""
    for node in ast.parse((package / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def private(name: str) -> bool:
    """Whether a dotted name of the system is one that the dashboard may not use: public is what a package offers."""
    module, _, last = name.rpartition(".")
    if name == "memory_system" or module in ("memory_system.errors", "memory_system.quiet"):
        return False
    package = ROOT.joinpath(*module.split("."))
    return last.startswith("_") or not package.is_dir() or last not in public_names(package)


SOURCES = {path: path.read_text(encoding="utf-8") for path in SYSTEM}


def test_every_package_stands_in_the_order() -> None:
    assert {package_of(name_of(path)) for path in SYSTEM} == set(ORDER) | OUTSIDE


def test_imports_point_downwards_only() -> None:
    graph = graph_of(SOURCES)
    assert any(graph.values())
    assert not upward(graph)


def test_no_module_imports_itself_by_a_detour() -> None:
    found = circle(graph_of(SOURCES))
    assert not found, f"These modules import each other: {' -> '.join(found)}"


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("store/journal/journal.py", "from ...interfaces.cli import terminal"),
        ("store/journal/journal.py", "def later():\n    from ...evaluation.metrics import interval"),
        ("core/scoring.py", "from ..llm.tokens import packed"),
    ],
)
def test_an_import_that_points_upwards_is_found(module: str, line: str) -> None:
    path = ROOT / "memory_system" / module
    (found,) = upward(graph_of(SOURCES | {path: f"{SOURCES[path]}\n{line}\n"}))
    assert found.startswith(f"{name_of(path)} imports memory_system.")


def test_a_circle_is_found() -> None:
    path = ROOT / "memory_system" / "core" / "times.py"
    found = circle(graph_of(SOURCES | {path: f"{SOURCES[path]}\nfrom .entry import MemoryEntry\n"}))
    assert {"memory_system.core.times", "memory_system.core.entry"} <= set(found)


@pytest.mark.parametrize("path", DASHBOARD, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_dashboard_uses_public_names_only(path: Path) -> None:
    used = {name for name in imports_of(path) if name.split(".")[0] == "memory_system"}
    assert not {name for name in used if private(name)}


def test_a_private_name_is_found() -> None:
    assert private("memory_system.core.times.stamp")
    assert private("memory_system.store._anything")
    assert not private("memory_system.AgentMemory")


def dead(source: str) -> set[str]:
    """The private names that a module defines at its top, has nobody call, and never mentions again."""
    tree, found = ast.parse(source), set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.decorator_list:
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    of_python = {name for name in found if name.startswith("__") or set(name) == {"_"}}
    words = re.findall(r"\w+", source)
    return {name for name in found - of_python if name.startswith("_") and words.count(name) == 1}


def test_nothing_private_is_left_that_nobody_uses() -> None:
    left = {str(path.relative_to(ROOT)): dead(path.read_text(encoding="utf-8")) for path in MODULES}
    assert {module: names for module, names in left.items() if names} == {}


def test_a_private_name_that_nobody_uses_is_found() -> None:
    source = (
        "_MOST = 3\n_a, _b = 1, 2\n\n\ndef _unused() -> int:\n    return _b\n\n\n@app.get\ndef _called() -> None: ...\n"
    )
    assert dead(source) == {"_MOST", "_a", "_unused"}


@pytest.mark.parametrize("folder", sorted({path.parent for path in MODULES}), ids=lambda path: path.name)
def test_a_folder_can_be_looked_over(folder: Path) -> None:
    held = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
    assert len(held) <= MOST_FILES, f"{folder.name} has {len(held)} modules; divide it."


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_is_short_and_says_what_it_imports(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MOST_LINES, f"{path.relative_to(ROOT)} has {lines} lines; split it (at most {MOST_LINES})."
    assert not any(name.endswith("*") for name in imports_of(path))


CUTS_UNSEEN = re.compile(r"!r:\.\d")
"""A value in a message that is cut off as if it ended there; ``errors.shown`` says that it goes on."""


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_message_shows_where_it_cuts_a_value(path: Path) -> None:
    assert CUTS_UNSEEN.findall(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_folder_is_listed_so_that_nothing_is_left_out(path: Path) -> None:
    said = "Path.glob passes over what it cannot read: use core.files.within or below"
    assert not re.search(r"\.r?glob\(", path.read_text(encoding="utf-8")), said


def test_the_public_names_are_these() -> None:
    assert memory_system.__all__ == [
        "PRESETS",
        "AgentMemory",
        "AgentSettings",
        "Candidate",
        "Change",
        "ChangeSet",
        "ChromaMemory",
        "DecayForm",
        "Facets",
        "InMemory",
        "Kind",
        "Measure",
        "Memory",
        "MemoryEntry",
        "MemorySystemError",
        "Narrative",
        "Passing",
        "Preset",
        "Query",
        "RatedBy",
        "Recall",
        "Replan",
        "Retention",
        "Score",
        "Scoring",
        "Seats",
        "Sentence",
        "Settings",
        "Source",
        "Tier",
        "Verdict",
        "Weights",
        "World",
    ]
    assert all(hasattr(memory_system, name) for name in memory_system.__all__)


def test_streamlit_finds_no_folder_of_pages_beside_the_app() -> None:
    """It would look there for pages first, and tell whoever follows a link that there is no such page."""
    assert not (ROOT / "dashboard" / "pages").exists()


def test_no_page_has_a_text_that_streamlit_would_show() -> None:
    """A string that stands alone in a page's script, such as what a constant means, would be read on the page."""
    for path in (ROOT / "dashboard" / "views").glob("*/*.py"):
        if path.stem == path.parent.name:
            alone = [
                node.value for node in ast.parse(path.read_text(encoding="utf-8")).body[1:] if type(node) is ast.Expr
            ]
            assert not any(isinstance(value, ast.Constant) for value in alone), path.name


def test_no_package_of_somebody_else_is_committed() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if tracked.returncode:
        pytest.skip("there is no git checkout here")
    names = tracked.stdout.splitlines()
    assert names
    assert [name for name in names if name.endswith((".whl", ".tar.gz", ".so", ".pyc"))] == []
