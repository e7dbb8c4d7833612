"""The pages of docs/ tell the truth: their code runs, their numbers add up, their pictures and links are there."""

from __future__ import annotations

import json
import math
import re
import shlex
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from memory_system import PRESETS, AgentMemory, Settings, World
from memory_system.core.scoring import score
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.interfaces.api import create_app
from tests import sample_world
from tests.command_line import COMMANDS
from tests.conftest import ROOT

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
LONG = {"talks", "recipes"}
"""Pages whose code takes seconds, for ``make test-all``."""
LIBRARIES = {"bridges": ("anthropic", "langgraph.store.base", "agents")}
"""What the code of a page needs that the product does not."""
SERVED = "RemoteWorld("
"""Code that asks a running server, which is run elsewhere: ``tests/interfaces/test_client.py``."""


def code_of(page: Path) -> list[str]:
    return [
        code for code in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        if SERVED not in code
    ]  # fmt: skip


@pytest.fixture
def in_the_sample_world(
    tmp_path_factory: pytest.TempPathFactory,
    tmp_path: Path,
    embedder: CachedEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> World:
    """A copy of the sample world, to which ``World()`` leads."""
    template = sample_world.filled(sample_world.shared_folder(tmp_path_factory), embedder)
    for name, value in sample_world.copy(template, tmp_path / "world").items():
        monkeypatch.setenv(name, value)
    return World(Settings(), embedder=embedder)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem, marks=[pytest.mark.full] if page.stem in LONG else [])
        for page in PAGES
        if code_of(page)
    ],
)
def test_the_code_of_a_page_runs_from_top_to_bottom(
    page: Path, in_the_sample_world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    in_the_sample_world.close()
    for library in LIBRARIES.get(page.stem, ()):
        pytest.importorskip(library, reason=f"{page.name} needs what requirements-dev.txt brings: {library}")
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    for code in code_of(page):
        exec(compile(code, str(page), "exec"), names)
    assert capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_shows_and_links_is_there(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)\s#]+)[^)]*\)", text) + re.findall(r'(?:src|srcset)="([^"]+)"', text)
    inside = [link for link in links if not re.match(r"https?:", link)]
    assert [link for link in inside if not (page.parent / link).exists()] == []
    pictures = [link for link in inside if "-light-" in link]
    assert [link for link in pictures if not (page.parent / link.replace("-light-", "-dark-")).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page_are_there(page: Path) -> None:
    shell = "\n".join(re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL))
    assert set(re.findall(r"\bmemory-system ([a-z][\w-]*)", shell)) <= set(COMMANDS)
    targets = re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)[0].split()
    assert set(re.findall(r"^(?:\w+=\S+ )*make ([a-z-]+)", shell, re.MULTILINE)) <= set(targets)


def test_the_requests_of_the_pages_are_answered(in_the_sample_world: World) -> None:
    """Each ``curl`` of README and developers.md, of a server that is not there but answers the same."""
    lines = [
        shlex.split(line)
        for page in (ROOT / "README.md", DOCS / "developers.md")
        for line in re.findall(r"^curl .*$", page.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert len(lines) > 4
    with in_the_sample_world as world, TestClient(create_app(lambda: world), base_url="http://localhost:5000") as api:
        for words in lines:
            (address,) = [word for word in words if "localhost:5000" in word]
            answer = api.post(f"http://{address}", json=json.loads(words[words.index("-d") + 1]))
            assert answer.status_code == 200, f"{address}: {answer.text}"


# -- the score by hand -----------------------------------------------------------------------------------


def table(name: str) -> list[list[str]]:
    """The rows of a marked table of the page."""
    text = (DOCS / "score.md").read_text(encoding="utf-8").partition(f"<!-- {name} -->\n\n")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]


def numbers(row: list[str]) -> list[float]:
    return [float(cell) for cell in row[1:]]


def test_the_worked_example_adds_up() -> None:
    now = datetime(2026, 5, 4, 8, tzinfo=UTC)
    rows = [numbers(row) for row in table("classic")]
    hours, ratings, distances = (np.array([row[column] for row in rows]) for column in range(3))
    accessed = np.array([(now - timedelta(hours=float(one))).timestamp() for one in hours])
    for name in ("classic", "paper"):
        parts = score(1 / (1 + distances), ratings / 10, accessed, accessed, now, PRESETS[name].scoring)
        told = [numbers(row) for row in table(name)]
        for row, line in enumerate(told):
            one = parts.score_of(row)
            assert one.recency is not None
            assert one.importance is not None
            if name == "classic":
                wanted = [one.recency, one.importance, one.relevancy, *one.parts.values(), one.total]
                assert line[3:] == pytest.approx(wanted, abs=6e-5)
            else:
                decayed = 1.0 if hours[row] <= 1 else 0.995 ** hours[row]
                measured = 1 / (1 + distances[row])
                wanted = [decayed, one.recency, ratings[row] / 10, one.importance, measured, one.relevancy, one.total]
                assert line == pytest.approx(wanted, abs=6e-5)
    passing = {
        name: [line[-1] > PRESETS[name].threshold for line in map(numbers, table(name))]
        for name in PRESETS
        if name != "balanced"
    }
    assert passing == {"classic": [True] * 3, "paper": [True, False, False]}


def test_the_example_of_the_sample_world_is_what_it_answers(in_the_sample_world: World) -> None:
    with in_the_sample_world as world:
        mira: AgentMemory = world.agent("mira")
        (found,) = [one for one in mira.explain("Who has the mill key?").candidates if one.entry.id == "mira-0326-02"]
    told = {row[0]: row[1:] for row in table("balanced")}
    of = {"recency": found.score.recency, "importance": found.score.importance, "relevancy": found.score.relevancy}
    weights = PRESETS["balanced"].scoring.weights
    for name, value in of.items():
        assert value is not None
        assert float(told[name][0]) == pytest.approx(value, abs=6e-5)
        assert float(told[name][1]) == getattr(weights, name)
        assert float(told[name][2]) == pytest.approx(found.score.parts[name], abs=6e-5)
    assert float(told["score"][2]) == pytest.approx(found.score.total, abs=6e-5)
    assert math.isclose(sum(found.score.sub_parts.values()), found.score.relevancy)
    text = (DOCS / "score.md").read_text(encoding="utf-8")
    assert [f"{found.score.sub_parts[name]:.4f}".lstrip("0") in text for name in ("similarity", "words", "late")] == [
        True
    ] * 3


# -- the site --------------------------------------------------------------------------------------------


@pytest.mark.full
def test_the_site_is_made_without_a_warning_and_asks_for_nothing_outside(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    made = sorted((tmp_path / "site").rglob("*.html"))
    assert len(made) > 40
    loads = re.compile(
        r"""<(?:script|img|iframe|source)[^>]+src=["']?https?:|<link[^>]+rel=["']?(?:stylesheet|preconnect|icon)[^>]+https?:"""
    )
    assert [page.name for page in made if loads.search(page.read_text(encoding="utf-8"))] == []
    http = (tmp_path / "site" / "reference" / "http.html").read_text(encoding="utf-8")
    assert 'id="post_agent_query"' in http
    shutil.rmtree(tmp_path / "site")
