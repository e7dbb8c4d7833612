"""Experiments over a real server of OpenAI's form with a scripted model: searched for, answered, kept, and told."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memory_system.__main__ import app
from memory_system.errors import ModelUnavailable
from memory_system.evaluation import nested_lookup
from memory_system.evaluation.chats import f1, rouge_recall
from memory_system.evaluation.document_questions import found_in
from memory_system.evaluation.experiment import Way, fitting
from memory_system.evaluation.nested_lookup import PAIRS, pairs
from memory_system.llm.switchable import MODELS
from memory_system.llm.tokens import estimate
from tests.command_line import Ran
from tests.conftest import ROOT
from tests.fake_server import FakeServer, Reply, calling, error, talks
from tests.joining import install

UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
Messages = Sequence[Mapping[str, Any]]
Run = Callable[..., Ran]


@pytest.fixture
def run(server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command with the server's model."""
    for name, value in {"OPENAI_BASE_URL": server.url, "MEMORY_LLM": "openai", "MEMORY_LLM_MODEL": "scripted"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MEMORY_DATABASE", str(tmp_path / "database"))
    monkeypatch.setattr(nested_lookup, "PAIRS", 16)

    def ran(*arguments: object) -> Ran:
        done = CliRunner().invoke(app, ["experiment", *map(str, arguments)])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Ran(done.exit_code, done.stdout, done.stderr)

    return ran


def model(
    alone: Callable[[Messages], str], search: Callable[[Messages], str], said: Callable[[list[str]], str]
) -> Reply:
    """Answers without tools; with them it searches for as long as it has what to search for, and then speaks."""

    def reply(handler: Any) -> None:
        messages = handler.asked["messages"]
        if not handler.asked.get("tools"):
            talks(alone(messages))(handler)
            return
        results = [one["content"] for one in messages if one["role"] == "tool"]
        if query := search(messages):
            found = {"query": query, "request_heartbeat": True}
            talks(None, calling("archival_memory_search", found, len(results)))(handler)
        else:
            talks(None, calling("send_message", {"message": said(results)}, len(results)))(handler)

    return reply


def rows(ran: Ran) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["category"], row["way"]): row for row in json.loads(ran.out)["rows"]}


def value(row: Mapping[str, Any], measure: str) -> float:
    return float(row["figures"][measure]["value"])


def followed(messages: Messages) -> str:
    """The key to look up next, of the pairs that were found; empty where the last value is no key."""
    key = re.findall(UUID, next(one["content"] for one in messages if one["role"] == "user"))[-1]
    for result in (one["content"] for one in messages if one["role"] == "tool"):
        if (pair := re.search(f"{key}: ({UUID})", result)) is None:
            return ""
        key = pair[1]
    return key


LAST: list[str] = []


def looked_up(messages: Messages) -> str:
    LAST.append(followed(messages))
    return LAST[-1]


def one_step(messages: Messages) -> str:
    key = re.findall(UUID, messages[-1]["content"])[0]
    found = re.search(f"{key}: ({UUID})", messages[0]["content"])
    return found[1] if found else "not there"


@pytest.fixture
def follower(server: FakeServer) -> FakeServer:
    """A model that follows keys where it can search, and looks up one where it cannot."""
    server.on("*", model(one_step, looked_up, lambda _results: next(one for one in reversed(LAST) if one)))
    return server


def test_nested_keys_are_followed_by_searching_and_no_answer_is_asked_for_twice(
    run: Run, follower: FakeServer, tmp_path: Path
) -> None:
    kept = tmp_path / "answers.jsonl"
    first = run("nested-lookup", "--limit", 1, "--answers", kept, "--json")
    assert first.code == 0, first.err
    found = rows(first)
    assert value(found["overall", "memory"], "last value right") == 1
    assert value(found["overall", "prompt alone"], "last value right") == 0.2
    assert [found["overall", way]["count"] for way in Way] == [5, 5]
    assert [found[f"depth {depth}", "memory"]["functions"] for depth in range(5)] == [3, 4, 5, 6, 7]
    asked = len(follower.requests)
    kept.write_text(kept.read_text() + '{"experiment": "nest')  # a program that was killed while it wrote
    assert rows(run("nested-lookup", "--limit", 1, "--answers", kept, "--json")) == found
    assert len(follower.requests) == asked
    shape = re.search(r"<!-- experiment -->\n```json\n(.+?)```", _readme(), re.DOTALL)
    assert shape is not None
    assert set(json.loads(shape[1])) == set(json.loads(first.out))
    assert set(json.loads(shape[1])["rows"][0]) == set(found["overall", "memory"])


def _readme() -> str:
    return (ROOT / "memory_system" / "interfaces" / "cli" / "README.md").read_text(encoding="utf-8")


def test_ctrl_c_keeps_and_prints_what_was_answered(run: Run, server: FakeServer, tmp_path: Path) -> None:
    def interrupted(messages: Messages) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        return one_step(messages)

    server.on("*", model(interrupted, lambda _messages: "", lambda _results: "I do not know."))
    kept = tmp_path / "answers.jsonl"
    stopped = run("nested-lookup", "--answers", kept)
    assert (stopped.code, len(kept.read_text().splitlines())) == (130, 2)
    assert "| overall | memory | 1 | 0 | 0.0 (0.0 to 0.0) |" in stopped.out
    assert "2 answers were given" in stopped.err


def test_a_server_that_goes_away_leaves_what_was_answered(run: Run, server: FakeServer) -> None:
    server.queue(talks(None, calling("send_message", {"message": "I do not know."})))
    server.on("*", error(401, "no such key"))
    ran = run("nested-lookup", "--json")
    assert ran.code == 1
    assert [(key, row["count"]) for key, row in rows(ran).items()] == [(("overall", "memory"), 1)]
    assert json.loads(ran.out)["complete"] is False
    assert "key" in ran.err


def test_a_model_of_another_package_that_fails_in_a_way_of_its_own_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "packages"
    folder.mkdir()
    source = (
        "class Fails:\n"
        "    name = label = 'fails-1'\n"
        "    def complete(self, task, deadline=None):\n"
        "        raise KeyError('no such station')\n"
        "    def chat(self, messages, tools=(), **how):\n"
        "        raise KeyError('no such station')\n"
        "def fails(settings):\n"
        "    return Fails()\n"
    )
    install(folder, "fails_package", source, {MODELS.group: "fails = fails_package:fails"})
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("MEMORY_LLM", "fails")
    done = run("nested-lookup", "--limit", 1)
    assert (done.code, done.err.splitlines()[-1]) == (
        1,
        "The language model 'fails-1' failed: KeyError: 'no such station'.",
    )


def test_without_a_model_nothing_is_asked(run: Run, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_LLM", "offline")
    ran = run("nested-lookup", "--json")
    assert (ran.code, ran.out, server.requests) == (1, "", [])
    assert json.loads(ran.err.splitlines()[-1])["error"]["code"] == ModelUnavailable.code
    assert "OPENAI_BASE_URL" in ran.err


SESSIONS = (
    ("I adopted a dog from the shelter and named him Pickle.", "How lovely! I just planted forty tulips."),
    ("Work at the observatory keeps me up at night.", "My tulips are in bloom, all of them yellow."),
)
OPENING = "Hi! Are your yellow tulips still in bloom?"
CHAT = {
    "personas": [["I work at night."], ["I love gardening.", "I planted tulips."]],
    "previous_dialogs": [{"dialog": [{"text": text} for text in session]} for session in SESSIONS],
    "dialog": [{"id": "Speaker 1", "text": OPENING}, {"id": "Speaker 2", "text": "They are!"}],
    "self_instruct": {"B": "What is the name of your dog?", "A": "Pickle"},
}


def test_what_was_said_in_an_earlier_session_is_retrieved_and_judged(
    run: Run, server: FakeServer, tmp_path: Path
) -> None:
    (tmp_path / "chats.jsonl").write_text(json.dumps(CHAT) + "\n")

    def alone(messages: Messages) -> str:
        judged = json.loads(messages[0]["content"].splitlines()[-1]) if messages[0]["role"] == "user" else None
        if judged:
            return "RIGHT" if judged["right answer"].lower() in judged["answer"].lower() else "WRONG"
        return "Nobody told me."

    def search(messages: Messages) -> str:
        return "" if messages[-1]["role"] == "tool" else "name of the dog"

    def said(results: list[str]) -> str:
        return str(json.loads(results[-1])["results"][0]["text"])

    server.on("*", model(alone, search, said))
    found = rows(run("deep-memory-retrieval", tmp_path / "chats.jsonl", "--judge", "other", "--json"))
    remembered, other = found["overall", "memory"], found["overall", "prompt alone"]
    assert (value(remembered, "ROUGE-L recall"), value(remembered, "judged right")) == (1, 1)
    assert (value(other, "ROUGE-L recall"), value(other, "judged right")) == (0, 0)
    assert {one["model"] for one in server.requests} == {"scripted", "other"}


def test_an_opener_is_as_near_as_what_it_takes_up(run: Run, server: FakeServer, tmp_path: Path) -> None:
    (tmp_path / "chats.jsonl").write_text(json.dumps(CHAT) + "\n")
    server.on("*", model(lambda _messages: "Hello.", lambda _messages: "", lambda _results: OPENING))
    found = rows(run("conversation-opener", tmp_path / "chats.jsonl", "--limit", 2, "--json"))
    opened, greeted = found["overall", "memory"], found["overall", "prompt alone"]
    assert opened["count"] == 2
    assert all(value(opened, name) > value(greeted, name) + 0.2 for name in ("SIM-1", "SIM-3", "SIM-H"))


def test_documents_answer_what_stands_in_them(run: Run, server: FakeServer, tmp_path: Path) -> None:
    places = {"Ostwick": "herring", "Millbrook": "flour", "Farrow": "rope", "Saltby": "pears"}
    passages = [{"title": town, "text": f"{town} has traded in {goods} for ages."} for town, goods in places.items()]
    lines = [
        {"question": f"What does {town} trade in?", "answers": [goods], "ctxs": passages}
        for town, goods in places.items()
    ]
    (tmp_path / "asked.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    def search(messages: Messages) -> str:
        return "" if messages[-1]["role"] == "tool" else str(messages[-1]["content"])

    server.on(
        "*",
        model(
            lambda messages: re.findall(r"traded in (\w+)", messages[0]["content"])[0],
            search,
            lambda results: str(json.loads(results[-1])["results"][0]["text"]),
        ),
    )
    found = rows(run("document-questions", tmp_path / "asked.jsonl", "--json"))
    assert value(found["overall", "memory"], "answer found") == 1
    assert value(found["overall", "prompt alone"], "answer found") == 0.25


@pytest.mark.parametrize(
    ("name", "line", "told"),
    [
        ("deep-memory-retrieval", {"question": "Why?", "ctxs": []}, "is expected here"),
        ("deep-memory-retrieval", {"previous_dialogs": []}, "nothing is said"),
        ("conversation-opener", {"previous_dialogs": [{"dialog": [{"text": ""}]}]}, "not empty"),
        ("document-questions", {"question": "Why?", "ctxs": []}, "not empty"),
        ("document-questions", {"question": "Why?", "answers": [], "ctxs": [{"title": "", "text": ""}]}, "answers"),
        ("document-questions", None, "Name the data"),
    ],
)
def test_data_of_another_form_are_refused_in_words(
    name: str, line: object, told: str, run: Run, server: FakeServer, tmp_path: Path
) -> None:
    (tmp_path / "wrong.jsonl").write_text(json.dumps(line))
    ran = run(name, *([] if line is None else [tmp_path / "wrong.jsonl"]))
    assert (ran.code, ran.out, server.requests) == (1, "", [])
    assert told in ran.err


def test_an_experiment_that_there_is_not_and_a_file_of_something_else_are_refused(run: Run, tmp_path: Path) -> None:
    assert run("lookup").code == 2
    (tmp_path / "mine.txt").write_text("Dear diary\n")
    ran = run("nested-lookup", "--answers", tmp_path / "mine.txt")
    assert (ran.code, (tmp_path / "mine.txt").read_text()) == (1, "Dear diary\n")


def test_the_pairs_are_the_same_in_each_run_and_lead_where_they_should() -> None:
    made = pairs(3, PAIRS)
    held = dict(line.split(": ") for line in made.lines)
    assert (made, len(held)) == (pairs(3, PAIRS), PAIRS)
    for depth, (first, last) in enumerate(made.chains):
        key = first
        for _ in range(depth + 1):
            key = held[key]
        assert (key, key in held) == (last, False)


def test_answers_are_measured_as_published() -> None:
    assert rouge_recall("He was named Pickle, the dog.", "a dog named Pickle") == pytest.approx(2 / 3)
    assert f1("Pickle the dog", "A Pickle") == pytest.approx(2 / 3)
    assert f1("", "Pickle") == rouge_recall("", "Pickle") == 0
    assert (found_in("It is the North Sea!", ["north sea"]), found_in("Seaside", ["sea"])) == (1, 0)


def test_a_prompt_holds_the_end_or_the_beginning_of_what_has_no_room() -> None:
    texts = ["one two three", "four five six", "seven eight nine"]
    assert fitting(texts, 1000, newest=True) == texts
    room = sum(estimate(text) for text in texts) - 1
    assert fitting(texts, room, newest=True) == texts[1:]
    assert fitting(texts, room, newest=False) == texts[:2]
