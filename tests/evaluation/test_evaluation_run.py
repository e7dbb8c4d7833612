"""The evaluation from files to table: real vectors, the product's own recall, and the reference figures."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from memory_system import DecayForm, MemoryEntry
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import InvalidParameter
from memory_system.evaluation.data import DataSet, Form, Question, remembered
from memory_system.evaluation.lived import BESIDE, Way
from memory_system.evaluation.metrics import Estimate
from memory_system.evaluation.trial import COSINE, SCORINGS, TIME_WEIGHTED, TierRanker, run
from memory_system.interfaces.cli.evaluate import Row, Section, as_json, as_markdown, as_text, outcome
from tests import programs
from tests.conftest import ROOT, SHARED
from tests.waiting import LAST_RESORT

NOW = datetime(2026, 3, 27, 18, tzinfo=UTC)
DATA = SHARED / "data"
LINES = [
    {"id": "bread", "document": "Baked rye bread before dawn.", "timestamp": "2026-03-01T04:00:00+00:00"},
    {"id": "storm", "document": "A storm tore a sail off the mill.", "timestamp": "2026-03-02T04:00:00+00:00"},
    {"id": "letter", "document": "A letter came from my sister in Lisbon.", "timestamp": "2026-03-27T17:00:00+00:00"},
    {"cue": "What did I bake?", "right": ["bread"], "wrong": ["storm", "letter"], "category": "food"},
    {"cue": "What happened to the mill?", "right": ["storm"], "category": "weather"},
    {"cue": "Who wrote to me?", "right": ["letter"], "category": "people"},
]


def quiet(_line: str) -> None:
    pass


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES), encoding="utf-8")
    return path


def figures(section: Section, preset: str, category: str = "overall") -> Row:
    return next(row for row in section.rows if (row.preset, row.category) == (preset, category))


def test_a_small_file_is_evaluated_from_end_to_end(plain: Path, embedder: CachedEmbedder) -> None:
    said: list[str] = []
    (section,) = outcome([plain], [], embedder, said.append)
    assert (section.title, section.memories, section.questions) == ("mine (plain)", 3, 3)
    assert {row.preset for row in section.rows} == set(SCORINGS) - {TIME_WEIGHTED}
    assert {row.category for row in section.rows} == {"overall", "food", "weather", "people"}
    overall = figures(section, COSINE)
    assert overall.count == 3
    by_name = [figure.value for figure in overall.figures]
    assert by_name == pytest.approx(
        [1, 1, 1, 1, 1, 1]
    )  # of three memories all are among the first five, also wrong ones
    assert overall.milliseconds > 0
    assert any("mine" in line for line in said)


def test_the_limit_is_on_questions_and_not_on_memories(plain: Path, embedder: CachedEmbedder) -> None:
    (section,) = outcome([plain], [COSINE], embedder, quiet, limit=1)
    assert (section.memories, section.questions) == (3, 1)


def test_an_unknown_preset_is_refused_before_anything_is_read(embedder: CachedEmbedder) -> None:
    with pytest.raises(
        InvalidParameter, match="There is no preset 'best'; there are cosine, hybrid alone, time-weighted"
    ):
        outcome([Path("nowhere")], ["best"], embedder, quiet)


def test_data_sets_of_one_form_are_pooled_as_well(plain: Path, embedder: CachedEmbedder) -> None:
    other = plain.with_name("other.jsonl")
    other.write_text(plain.read_text(encoding="utf-8"), encoding="utf-8")
    found = outcome([plain, other], [COSINE], embedder, quiet)
    assert [section.title for section in found] == ["mine (plain)", "other (plain)", "all 2 of plain"]
    assert figures(found[-1], COSINE).count == 6


def test_the_cosine_ranks_as_the_cosine_does(embedder: CachedEmbedder) -> None:
    texts = [f"The {animal} slept in the {place}." for animal in ("cat", "owl", "carp") for place in ("pond", "barn")]
    vectors = embedder.embed(texts)
    ranker = TierRanker(embedder)
    for text, vector in zip(texts, vectors, strict=True):
        ranker.put(remembered(MemoryEntry(text, id=text, timestamp=NOW)), vector)
    (cue,) = embedder.embed(["Which bird slept?"])
    ranker.know("Which bird slept?", cue)
    assert ranker.rank("Which bird slept?", NOW, COSINE) == [texts[row] for row in np.argsort(-(vectors @ cue))]


def test_the_classic_weights_prefer_what_was_just_now(plain: Path, embedder: CachedEmbedder) -> None:
    ranker = TierRanker(embedder)
    (vector,) = embedder.embed(["Nothing."])
    for name, hour in (("old", 0), ("new", 17)):
        ranker.put(remembered(MemoryEntry(name, id=name, timestamp=NOW.replace(hour=hour))), vector)
    ranker.know("Nothing.", vector)
    assert ranker.rank("Nothing.", NOW, "classic") == ["new", "old"]
    assert ranker.rank("Nothing.", NOW, COSINE) == ["new", "old"]  # a tie: in the order of the ids
    ranker.drop("new")
    assert ranker.rank("Nothing.", NOW, "classic") == ["old"]


@pytest.mark.parametrize(
    ("form", "first"), [(DecayForm.EXPONENTIAL, "new"), (DecayForm.POWER, "old"), (DecayForm.SPACED, "new")]
)
def test_a_preset_is_tried_by_the_form_of_decay_that_is_asked_for(
    embedder: CachedEmbedder, form: DecayForm, first: str
) -> None:
    # relevancies 1 and 1 / (3 - 2 * 0.867) = 0.79; of recency 0.99 ** 300 = 0.05 is left, or (1 + 3 * 300 / 69) ** -0.5
    ranker = TierRanker(embedder, form)
    for name, hours, x in (("old", 300, 1.0), ("new", 0, 0.867)):
        entry = remembered(MemoryEntry(name, id=name, rating=5, timestamp=NOW - timedelta(hours=hours)))
        ranker.put(entry, np.array([x, math.sqrt(1 - x * x)], np.float32))
    ranker.know("cue", np.array([1, 0], np.float32))
    assert ranker.rank("cue", NOW, "classic")[0] == first


def test_a_replay_knows_neither_the_future_nor_the_cue_itself(embedder: CachedEmbedder) -> None:
    def told(name: str, hour: int, text: str) -> MemoryEntry:
        return remembered(MemoryEntry(text, id=name, timestamp=NOW.replace(hour=hour)))

    entries = (told("a", 1, "Bread rose."), told("b", 2, "Bread fell."), told("a", 5, "Bread rose."))
    asked = (
        Question("Bread rose.", NOW.replace(hour=4), frozenset({"b"}), itself="a"),
        Question("Bread fell.", NOW.replace(hour=2), frozenset({"a"}), itself="b"),
        Question("Bread fell.", NOW.replace(hour=3), frozenset({"a"}), frozenset({"b"})),
    )
    tried = run(DataSet("replay", Form.PLAIN, entries, asked, lived=True), [COSINE], embedder, quiet)
    first, second, third = tried.values[COSINE][:, 3]  # the MRR: which place the right one has
    assert (first, second, third) == (1, 1, 0.5)
    assert tried.values[COSINE][2, -1] == 1


def row(value: float, preset: str = "a|b") -> Row:
    estimate = Estimate(value, value - 0.1, value + 0.1)
    return Row("overall", preset, 1234, (estimate,) * 5 + (Estimate(math.nan, math.nan, math.nan),), 1.5)


def test_the_table_is_aligned_and_leaves_out_what_nothing_has() -> None:
    text = as_text([Section("mine (plain)", 3, 1234, 2.5, ("1 thing left out",), (row(0.5), row(0.25, "long name")))])
    head, *lines = text.splitlines()[3:6]
    assert "wrong@10" not in head
    assert len({len(line) for line in (head, *lines)}) == 1
    assert "50.0 (40.0 to 60.0)" in lines[0]
    assert "3 memories; 1,234 questions; embedding a cue 2.50 ms; 1 thing left out." in text


def test_markdown_keeps_names_as_they_are() -> None:
    text = as_markdown([Section("*mine*", 3, 1, 2.5, (), (row(0.5),))])
    assert "## \\*mine\\*" in text
    assert "| overall | a\\|b | 1,234 |" in text


def test_json_holds_no_nan() -> None:
    value = json.loads(as_json([Section("mine", 3, 1, 2.5, (), (row(0.5),))], "all-MiniLM-L6-v2"))
    measures = value["sections"][0]["rows"][0]["measures"]
    assert measures["recall@10"] == {"value": 0.5, "low": 0.4, "high": 0.6}
    assert measures["wrong@10"] == {"value": None, "low": None, "high": None}
    assert value["bootstrap"]["resamples"] == 1000


# --- the command


def ran(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"MEMORY_DATABASE": str(folder / "database")}
    return programs.run("-m", "memory_system", "evaluate", *map(str, arguments), environment=environment)


def test_the_command_prints_json_alone_and_writes_nothing(plain: Path) -> None:
    before = sorted(plain.parent.rglob("*"))
    done = ran(plain.parent, plain, "--json", "--preset", "cosine")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["sections"][0]["title"] == "mine (plain)"
    assert "embedded" in done.stderr
    assert sorted(plain.parent.rglob("*")) == before


def test_the_command_tells_what_is_found_as_it_is_lived(plain: Path) -> None:
    done = ran(plain.parent, plain, "--json")
    assert done.returncode == 0, done.stderr
    lines = {(one["told_as"], one["stm"], one["facts"]): one for one in json.loads(done.stdout)["lived"]}
    assert {facts for told, _, facts in lines if told == Way.EVENTS} == {"0", "10", "40"}
    assert set(BESIDE.values()) < {told for told, _, _ in lines}
    assert lines[Way.EVENTS, "20", "40"]["measures"]["recall@10"]["value"] > 0.6


def test_the_command_tells_a_bad_file_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text('{"cue": "Who?", "right": ["a"]}\n{"cue"', encoding="utf-8")
    done = ran(tmp_path, tmp_path / "bad.jsonl")
    assert (done.returncode, done.stdout) == (1, "")
    assert "bad.jsonl: line 2: this is not JSON" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_command_takes_one_form_of_output(plain: Path) -> None:
    done = ran(plain.parent, plain, "--json", "--markdown")
    assert done.returncode == 2
    assert "not both" in done.stderr


def test_ctrl_c_stops_it_with_130_and_no_table(tmp_path: Path) -> None:
    lines = [
        json.dumps({"id": str(number), "document": f"Walk {number} " + "on and on " * 4}) for number in range(5000)
    ]
    (tmp_path / "many.jsonl").write_text("\n".join([*lines, '{"cue": "Walk", "right": ["1"]}']), encoding="utf-8")
    command = [sys.executable, "-m", "memory_system", "evaluate", str(tmp_path), "--presets"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True) as child:
        try:
            assert child.stderr is not None
            for done in (0, 256):  # the runtime of the model is loaded by then, which an interrupt would break
                assert f"embedded {done} of 5,000 memories" in child.stderr.readline()
            child.send_signal(signal.SIGINT)
            out, problems = child.communicate(timeout=LAST_RESORT)
        finally:
            child.kill()
    assert (child.returncode, out) == (130, "")
    assert "Stopped." in problems
    assert "Traceback" not in problems


# --- real data


@pytest.mark.skipif(not DATA.is_dir(), reason=f"there is no folder {DATA} with real data")
def test_the_reference_figures_are_found_again(embedder: CachedEmbedder) -> None:
    paths = [DATA / "locomo/conv-26.json", DATA / "smallville/isabella_rodriguez.jsonl"]
    talk, stream = outcome(paths, [COSINE, "classic"], embedder, quiet)
    assert (talk.memories, talk.questions) == (419, 150)
    assert figures(talk, COSINE).figures[1].value == pytest.approx(0.4717, abs=0.002)  # numpy alone says 0.47167
    assert figures(talk, "classic").figures[1].value < 0.2
    assert {row.category for row in talk.rows} == {"overall", "single-hop", "multi-hop", "temporal", "open-domain"}
    assert figures(stream, COSINE).figures[1].value == pytest.approx(0.864, abs=0.002)
