"""What "As code" shows, run as it stands, answers what the page does: by Python in a process, and by curl."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session, words
from dashboard.data.moments import Moment
from dashboard.server.visitors import visitors
from dashboard.views.recall import as_code
from memory_system import PRESETS, Facets, Query, Recall, Settings
from tests import sample_world
from tests.served import served_api
from tests.waiting import LAST_RESORT

from .conftest import FOLDER
from .test_pages import open_tab

OpenPage = Callable[..., AppTest]
CUE = "Who has the mill key?"
THEN = Moment(world_time=datetime(2026, 3, 20, 20, tzinfo=UTC))
Answer = list[tuple[str, float]]


@dataclass(frozen=True)
class Setting:
    """What is set on the Recall page: controls by their key, and the moment that is looked at."""

    controls: dict[str, Any] = field(default_factory=dict)
    preset: str = ""
    wanted: Moment | None = None
    cue: str = CUE


SETTINGS = {
    "as it opens": Setting(),
    "few": Setting({"top_k": 2}),
    "many": Setting({"top_k": 40, "thr": 0.1}),
    "a threshold": Setting({"thr": 0.83}),
    "weights": Setting({"recency": 2.13, "importance": 0.07, "relevancy": 0.4}),
    "no relevancy": Setting({"relevancy": 0.0, "importance": 1.7, "top_k": 12}),
    "decay": Setting({"decay": 0.873, "recency": 1.5}),
    "spaced": Setting({"decay_form": "spaced", "recency": 1.5}),
    "static memory": Setting({"st": 0.11, "ss": 1.0, "top_k": 9}),
    "similarity": Setting({"measure": "similarity", "thr": 0.2}),
    "hybrid": Setting({"measure": "hybrid", "thr": 0.2}),
    "scaled": Setting({"normalise": True, "thr": 1.01}),
    "a second round": Setting({"requery": 3, "thr": 0.9, "top_k": 20}),
    "instances": Setting({"instances": (CUE, 2, ("Tobias and a key", "Ines at work"), ""), "expand": 2}),
    "somebody else asks": Setting({"addressed": True}, cue="What is your name?"),
    "kinds and words": Setting({"kinds": ["reflection", "observation"], "contains": "key", "thr": 0.0}),
    "days": Setting({"since": date(2026, 3, 1), "until": date(2026, 3, 20), "thr": 0.1}),
    "importance": Setting({"range": (0.5, 0.8), "thr": 0.0}),
    "balanced": Setting(preset="balanced"),
    "classic": Setting(preset="classic"),
    "paper": Setting(preset="paper"),
    "the past": Setting({"top_k": 8}, wanted=THEN),
    "a revision": Setting({"thr": 0.2}, wanted=Moment(revision=12)),
    "a cue with quotes": Setting({"thr": 0.0}, cue='Who said "it\'s mine" for $5 \\ `id` – Müller?'),
}


def shown_answer(page: AppTest) -> Answer:
    """The memories that the page shows as recalled, with the scores behind its table."""
    table = next(one.value for one in page.dataframe if "verdict" in one.value)
    recalled = table[table["verdict"] == "recalled"]
    return [(str(row["id"]), float(row["score"])) for _, row in recalled.iterrows()]


def set_up(page: AppTest, setting: Setting) -> AppTest:
    page.session_state["moment"] = setting.wanted
    place = str(page.session_state["agent"])
    if setting.wanted is not None:
        place = f"{place}@{'-'.join(setting.wanted.link().values())}"
    page.session_state[f"shown-{place}"] = "Recalled"
    values: dict[str, Any] = dict(setting.controls)
    if setting.preset:
        preset = PRESETS[setting.preset]
        weights = preset.scoring.weights
        values |= {
            "recency": weights.recency, "importance": weights.importance, "relevancy": weights.relevancy,
            "decay": preset.scoring.decay, "measure": preset.scoring.measure.value, "st": preset.static_threshold,
            "normalise": preset.scoring.normalise, "thr": preset.threshold,
        }  # fmt: skip
    for name, value in values.items():
        page.session_state[f"{name}-{place}"] = value
    page.run()
    assert not page.exception, page.exception
    assert not page.error, [one.value for one in page.error]
    return page


def code_of(page: AppTest) -> tuple[str, str]:
    open_tab(page, words.AS_CODE)
    python = next(block.value for block in page.code if block.value.startswith("from datetime"))
    return python, next(block.value for block in page.code if block.value.startswith("curl "))


def by_python(code: str) -> Answer:
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, names)
    found: Recall = names["found"]
    assert len(printed.getvalue().splitlines()) >= len(found.hits)
    return [(hit.entry.id, hit.score.total) for hit in found]


def by_curl(code: str, address: str) -> Answer:
    settings = Settings()
    served = code.replace(f"http://{settings.host}:{settings.api_port}", address)
    assert served != code
    done = subprocess.run(["bash", "-c", f"{served} -sS --fail-with-body"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return [(hit["entry"]["id"], hit["score"]["total"]) for hit in json.loads(done.stdout)["hits"]]


@pytest.fixture(scope="module")
def served(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, str], str]]:
    """A world that all of these look at and none changes, and the address at which it is served."""
    if shutil.which("curl") is None:
        pytest.skip("no curl: install it ('sudo apt install curl')")
    places = sample_world.copy(template, tmp_path_factory.mktemp("as-code") / "world")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in places.items():
            patch.setenv(name, value)
        session.in_use.clear()
        visitors.cache_clear()
        with served_api(session.opened()) as address:
            yield places, address
        session.opened().close()
        session.in_use.clear()


@pytest.fixture
def opened(served: tuple[dict[str, str], str], monkeypatch: pytest.MonkeyPatch) -> tuple[OpenPage, str]:
    """What opens a page of that world, and its address."""
    places, address = served
    for name, value in places.items():
        monkeypatch.setenv(name, value)

    def run(view: str, agent: str = "mira", **link: str) -> AppTest:
        page = AppTest.from_file(str(FOLDER / view / f"{view}.py"), default_timeout=LAST_RESORT)
        page.session_state["agent"] = agent
        for name, value in link.items():
            page.query_params[name] = value
        return page

    return run, address


def assert_same(answers: dict[str, Answer]) -> None:
    """The same memories with the same scores; the page's table has them by score, an answer by tier."""
    shown, *others = (dict(answer) for answer in answers.values())
    for other in others:
        assert other == pytest.approx(shown, abs=1e-9)


@pytest.mark.parametrize("name", SETTINGS)
def test_code_answers_what_the_page_does(opened: tuple[OpenPage, str], name: str) -> None:
    open_page, address = opened
    setting = SETTINGS[name]
    page = set_up(open_page("recall", cue=setting.cue), setting)
    revision = session.world().agent("mira").stamp
    shown = shown_answer(page)
    python, curl = code_of(page)
    answers = {"page": shown, "python": by_python(python), "curl": by_curl(curl, address)}
    assert_same(answers)
    assert answers["page"]
    assert session.world().agent("mira").stamp == revision, "nothing is touched"


def test_code_of_every_character_answers_what_the_page_does(opened: tuple[OpenPage, str]) -> None:
    open_page, address = opened
    for agent in session.world().characters():
        cue = session.example_cues(agent)[0]
        page = set_up(open_page("recall", agent=agent, cue=cue), Setting({"decay": 0.95, "thr": 0.6, "ss": 0.2}))
        shown = shown_answer(page)
        python, curl = code_of(page)
        assert_same({"page": shown, "python": by_python(python), "curl": by_curl(curl, address)})


# -- the words of the code ---------------------------------------------------------------------------------


def query(**more: Any) -> Query:
    return Query(CUE, datetime(2026, 3, 27, 18, tzinfo=UTC), **more)


def test_facets_of_every_sort_are_written_out() -> None:
    facets = Facets(
        tags=("a'b",), since=datetime(2026, 3, 1, tzinfo=UTC), min_importance=0.3, contains='"x"', without=("m1", "m2")
    )
    code = as_code.recall_python("mira", query(facets=facets), None, Settings())
    names: dict[str, Any] = {}
    written = code[code.index("facets=") + 7 : code.index("),\n        now")] + ")"
    exec(f"from datetime import datetime\nfrom memory_system import Facets\nfacets = {written}", names)
    assert names["facets"] == facets


def test_a_token_is_named_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_TOKEN", "a-long-and-secret-token-of-the-server")
    code = as_code.recall_curl("Ana May", query(), None, Settings())
    assert "secret" not in code
    assert '-H "authorization: Bearer $MEMORY_TOKEN"' in code
    assert "/v1/agents/Ana%20May/query" in code


@pytest.mark.parametrize(
    ("host", "address"),
    [("0.0.0.0", "127.0.0.1"), ("127.0.0.1", "127.0.0.1"), ("::1", "[::1]")],
)
def test_curl_asks_an_address_that_answers(monkeypatch: pytest.MonkeyPatch, host: str, address: str) -> None:
    monkeypatch.setenv("MEMORY_HOST", host)
    monkeypatch.setenv("MEMORY_API_PORT", "5077")
    asked = shlex.split(as_code.relive_curl("mira", 3, Settings()))
    assert asked == ["curl", f"http://{address}:5077/v1/agents/mira/queries/3/relived"]


def test_a_host_that_a_shell_would_read_as_its_own_is_quoted() -> None:
    code = as_code.relive_curl("mira", 3, Settings(host="a host;$(id)", api_port=5077))
    assert shlex.split(code) == ["curl", "http://a host;$(id):5077/v1/agents/mira/queries/3/relived"]


@pytest.mark.parametrize(
    "told",
    [{}, {"home": "a world's"}, {"home": "game", "world": "harbour"}, {"database": "else", "personalities": "p"}],
)
def test_python_opens_the_world_that_the_dashboard_shows(tmp_path: Path, told: dict[str, str]) -> None:
    settings = Settings.model_validate({name: _place(name, value, tmp_path) for name, value in told.items()})
    codes = (
        as_code.recall_python("mira", query(), None, settings),
        as_code.relive_python("mira", 3, settings),
        as_code.query_python("mira", settings),
    )
    for code in codes:
        imported = "".join(line for line in code.splitlines(keepends=True) if line.startswith("from "))
        names: dict[str, Any] = {}
        made = as_code.world_python(settings)
        exec(f"{imported}\nworld = {made}", names)
        with names["world"] as world:
            assert world.settings == settings
        assert made in code
        assert ("Settings" in code) is bool(told)


def _place(name: str, value: str, folder: Path) -> Path | str:
    return value if name == "world" else folder / value
