"""Pages run by Streamlit's own test runner over a copy of the sample world."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cache
from pathlib import Path

import pytest
from streamlit import config
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest, local_script_runner
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from dashboard import session
from dashboard.server.visitors import visitors
from dashboard.views import PAGES, PageOf
from memory_system.embedding.embedder import CachedEmbedder
from tests import sample_world
from tests.conftest import thrown_away
from tests.waiting import LAST_RESORT

config.set_option("runner.postScriptGC", False)  # after every run, it collects garbage among everything loaded
FOLDER = sample_world.ROOT / "dashboard" / "views"


@pytest.fixture(scope="session", autouse=True)
def scanned_once() -> Iterator[None]:
    """Every AppTest searches all installed packages for components, which takes a second; one scan is enough."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture(scope="session", autouse=True)
def compiled_once() -> Iterator[None]:
    """Every run of an AppTest would compile its page again; the server of a dashboard does it once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_script_runner, "ScriptCache", cache(local_script_runner.ScriptCache))
        yield


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Path:
    return sample_world.filled(sample_world.shared_folder(tmp_path_factory), embedder)


@pytest.fixture(scope="session", autouse=True)
def waited_for() -> Iterator[None]:
    """Streamlit asks a thousand times a second whether a page has run, which slows the page; its end can be awaited."""
    asked = local_script_runner.require_widgets_deltas

    def until_it_has_run(runner: LocalScriptRunner, timeout: float = LAST_RESORT) -> None:
        thread = runner._script_thread
        assert thread is not None
        thread.join(timeout)
        asked(runner, 0 if thread.is_alive() else LAST_RESORT)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_script_runner, "require_widgets_deltas", until_it_has_run)
        yield


@pytest.fixture
def cast() -> Collection[str]:
    """The characters of the world whose pages are run; each of them is opened by most pages."""
    return ("mira", "tobias")


@pytest.fixture
def open_page(
    template: Path, cast: Collection[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., AppTest]]:
    """Runs a page: ``open_page("recall", agent="mira", cue="...")``."""
    for name, value in sample_world.copy(template, tmp_path / "world", cast).items():
        monkeypatch.setenv(name, value)
    session.in_use.clear()
    visitors.cache_clear()

    def run(view: str, agent: str = "mira", **link: str) -> AppTest:
        page = AppTest.from_file(str(FOLDER / view / f"{view}.py"), default_timeout=LAST_RESORT)
        page.session_state["agent"] = agent
        for name, value in link.items():
            page.query_params[name] = value
        page.run()
        assert not page.exception, page.exception
        return page

    yield run
    thrown_away(session.opened())
    session.opened().close()
    session.in_use.clear()


@pytest.fixture
def workbench(open_page: Callable[..., AppTest]) -> Callable[..., AppTest]:
    """The whole dashboard at one of its pages, the first if none is named, as an address opens it."""
    open_page("history")  # makes the world

    def run(page: PageOf = PAGES[0], **link: str) -> AppTest:
        app = AppTest.from_file(str(sample_world.ROOT / "dashboard" / "app.py"), default_timeout=LAST_RESORT)
        app.switch_page(str(page.script))
        for name, value in {"agent": "mira", **link}.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception, app.exception
        return app

    return run
