"""A world that an older version wrote: it opens by itself, and whatever is asked of it is answered as it was then."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from memory_system import Settings, World
from memory_system.interfaces.api import create_app
from memory_system.recall.hybrid import mix

DATA = Path(__file__).resolve().parents[1] / "data"
VERSIONS = sorted(path.name for path in DATA.glob("world-*.zip"))
"""Each a world with ``answers.json``: requests of the HTTP API with what the version that wrote the world answered."""
OF_THE_MOMENT = {"milliseconds"}
ON_PURPOSE = re.compile(
    r"/(?:context|replay)\S*\.(?:tokens|wanted): "  # each argument of a function is described
    r"|/search/conversations\?\S*: "  # only what answers is found, and what only asks comes after it
    r"|/prompts\.items\[\d+\]\.(?:text|shipped): "  # they ask for more
)
"""What is answered otherwise than then, and is meant to be."""
ROUNDING = 1e-5
"""Processors add up 32-bit numbers in different orders: the same cue's score differed by 2e-6 between two of them."""


def differences(now: Any, then: Any, where: str = "") -> list[str]:
    """Where an answer lacks something of an earlier one, or says something else; that it may say more is allowed."""
    if isinstance(then, dict) and isinstance(now, dict):
        missing = [f"{where}.{key} is missing" for key in then if key not in now]
        both = [key for key in then if key in now and key not in OF_THE_MOMENT]
        return missing + [line for key in both for line in differences(now[key], then[key], f"{where}.{key}")]
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now := of_then(now, then)):
        pairs = enumerate(zip(now, then, strict=True))
        return [line for i, (one, other) in pairs for line in differences(one, other, f"{where}[{i}]")]
    if isinstance(then, float) and isinstance(now, int | float):
        return [] if now == pytest.approx(then, rel=0, abs=ROUNDING) else [f"{where}: {now} instead of {then}"]
    return [] if now == then else [f"{where}: {now!r} instead of {then!r}"]


def of_then(now: list[Any], then: list[Any]) -> list[Any]:
    """A list of named things, such as prompts, without those that came since."""
    names = [one.get("name") for one in then if isinstance(one, dict)]
    if not names or None in names or len(names) != len(then):
        return now
    return [one for one in now if isinstance(one, dict) and one.get("name") in names]


def test_there_is_a_world_of_an_older_version() -> None:
    assert VERSIONS


@pytest.mark.parametrize("stores", ["as they were left", "made from the journals"])
@pytest.mark.parametrize("version", VERSIONS)
def test_a_world_of_an_older_version_answers_as_it_did_then(
    version: str, stores: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mix, "trust", lambda _spread: 1.0)  # similarity counted the same for every cue
    monkeypatch.setattr(mix, "ABOUT_IT", 1e-9)  # and any time answered when
    monkeypatch.setattr(mix, "ASKING_LOSS", 0.0)  # and what asks counted as what tells
    with zipfile.ZipFile(DATA / version) as archive:
        archive.extractall(tmp_path)
    if stores == "made from the journals":
        for store in (tmp_path / "database").rglob("chroma"):
            shutil.rmtree(store)
    asked = json.loads((tmp_path / "answers.json").read_text(encoding="utf-8"))
    settings = Settings(database=tmp_path / "database", personalities=tmp_path / "personalities", llm="offline")
    with World(settings) as world:
        client = TestClient(create_app(lambda: world), base_url="http://127.0.0.1")
        wrong = []
        for method, address, body, then in asked:
            answer = client.request(method, f"/v1{address}", json=body)
            told = [f"{method} {address}{line}" for line in differences(answer.json(), then)]
            wrong += [line for line in told if not ON_PURPOSE.search(line)]
    if stores == "made from the journals":
        told = [line for line in wrong if "to match the journal" in line]
        assert len(told) == 2  # what was done at opening, for each of two characters
        wrong = [line for line in wrong if line not in told]
    assert not wrong, "\n".join(wrong[:20])


def test_an_agent_without_settings_of_its_own_keeps_the_defaults_of_its_version(tmp_path: Path) -> None:
    with zipfile.ZipFile(DATA / "world-0.2.zip") as archive:
        archive.extractall(tmp_path)
    settings = Settings(database=tmp_path / "database", personalities=tmp_path / "personalities", llm="offline")
    with World(settings) as world:
        tom = world.agent("tom")
        assert tom.text("settings") is None
        assert (tom.settings.scoring.seats, tom.settings.retention) == ("cascade", "importance")
        made = world.create_agent("ana")
        assert (made.settings.scoring.seats, made.settings.retention) == ("ranking", "learned")
        tom.configure(scoring=made.settings.scoring, retention="learned")
        assert tom.settings.scoring.seats == "ranking"
        tom.undo(tom.revision)
        assert tom.settings.scoring.seats == "cascade"


def test_an_agent_made_before_there_was_a_confidence_keeps_comparing_its_score(tmp_path: Path) -> None:
    settings = Settings(database=tmp_path / "database", personalities=tmp_path / "personalities", llm="offline")
    with World(settings) as world:
        world.create_agent("ana").add_short_term({"document": "Saw smoke over the north field"})
        assert world.agent("ana").settings.scoring.passing == "confidence"
    (journal,) = (tmp_path / "database").rglob("ana/journal.sqlite3")
    with closing(sqlite3.connect(journal)) as db, db:
        db.execute("DELETE FROM version WHERE number > 5")
    with World(settings) as world:
        ana = world.agent("ana")
        assert (ana.settings.scoring.passing, ana.settings.threshold) == ("score", 0.45)
        assert (ana.settings.scoring.seats, ana.settings.retention) == ("ranking", "learned")
        assert world.create_agent("tom").settings.scoring.passing == "confidence"
