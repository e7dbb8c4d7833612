"""Data in every form that is read, and in many that are not: refused as a whole, with file and line."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_system import Kind, Tier
from memory_system.errors import InvalidFile
from memory_system.evaluation.data import TIMELESS_NOW, Form
from memory_system.evaluation.smallville import AGAIN, FIRST
from memory_system.evaluation.sources import data_sets

TURNS = [
    {"id": "D1:1", "session": 1, "speaker": "Ann", "text": "Hello!", "caption": "", "time": "2023-05-08T13:56:00"},
    {"id": "D1:2", "session": 1, "speaker": "Bo", "text": "Hi", "caption": "a dog", "time": "2023-05-08T13:56:30"},
    {"id": "D2:1", "session": 2, "speaker": "Ann", "text": "Back", "caption": "", "time": "2023-06-01T09:00:00"},
]
ASKED = [
    {"q": "Who greeted?", "a": "Ann", "cat": "single-hop", "ev": ["D1:1"]},
    {"q": "What never was?", "a": "-", "cat": "adversarial", "ev": ["D1:2"]},
    {"q": "What else?", "a": "-", "cat": "temporal", "ev": []},
    {"q": "Who came back?", "a": "Ann", "cat": "temporal", "ev": ["D2:1", "D9:9"]},
]


def node(number: int, description: str, kind: str = "event", evidence: tuple[str, ...] = (), **more: Any) -> dict:
    created = f"2023-02-13 {number:02}:00:00"
    return {
        "id": f"node_{number}",
        "type": kind,
        "created": created,
        "description": description,
        "poignancy": 3,
        "evidence": list(evidence),
    } | more


def written(path: Path, *lines: dict | str) -> Path:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def conversation(path: Path, turns: object = TURNS, asked: object = ASKED, **dumped: Any) -> Path:
    return written(path, json.dumps({"id": "c", "turns": turns, "qa": asked}, **dumped))


def memory(entry_id: str, document: str = "Bread rose.", **more: Any) -> dict:
    return {"id": entry_id, "document": document} | more


def refusal(*paths: Path) -> str:
    with pytest.raises(InvalidFile) as caught:
        data_sets(paths)
    return caught.value.sentence


# --- LoCoMo


@pytest.mark.parametrize("indent", [None, 2])
def test_a_conversation_is_one_memory_a_turn(tmp_path: Path, indent: int | None) -> None:
    (found,) = data_sets([conversation(tmp_path / "conv.json", indent=indent)])
    assert (found.form, found.name, found.memories, found.lived) == (Form.LOCOMO, "conv", 3, False)
    first = found.entries[0]
    assert (first.id, first.document, first.tier, first.kind) == ("D1:1", "Ann: Hello!", Tier.LTM, Kind.CONVERSATION)
    assert (first.importance, first.last_access) == (0.5, None)
    assert first.timestamp == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def test_turns_know_their_place_within_their_session(tmp_path: Path) -> None:
    (found,) = data_sets([conversation(tmp_path / "conv.json")])
    places = [(entry.metadata["conversation"], entry.metadata["turn"]) for entry in found.entries]
    assert places == [("c session 1", 0), ("c session 1", 1), ("c session 2", 0)]


def test_what_no_turn_answers_is_left_out_and_said(tmp_path: Path) -> None:
    (found,) = data_sets([conversation(tmp_path / "conv.json")])
    assert [(one.cue, one.right) for one in found.questions] == [
        ("Who greeted?", {"D1:1"}),
        ("Who came back?", {"D2:1"}),
    ]
    assert found.notes == (
        "1 adversarial question left out",
        "1 question without evidence left out",
        "1 piece of evidence passed over: no turn has that id",
    )


def test_all_is_asked_at_the_end_of_the_last_session(tmp_path: Path) -> None:
    (found,) = data_sets([conversation(tmp_path / "conv.json")])
    assert {one.now for one in found.questions} == {datetime(2023, 6, 1, 9, tzinfo=UTC)}


def test_captions_are_part_of_a_memory_if_wanted(tmp_path: Path) -> None:
    path = conversation(tmp_path / "conv.json")
    assert data_sets([path])[0].entries[1].document == "Bo: Hi"
    assert data_sets([path], captions=True)[0].entries[1].document == "Bo: Hi [a dog]"


def test_a_bad_turn_is_named_by_its_line(tmp_path: Path) -> None:
    broken = [TURNS[0], TURNS[1] | {"time": "yesterday"}, {"id": "x"}]
    said = refusal(conversation(tmp_path / "conv.json", broken, indent=0))
    assert f"{tmp_path / 'conv.json'}: line 12, turns.1: 'time' is 'yesterday'" in said
    assert "turns.2: there is no 'session'" in said


@pytest.mark.parametrize(
    ("turns", "asked", "words"),
    [
        ([], ASKED, "turns: must be a list of turns"),
        ({}, ASKED, "turns: must be a list of turns"),
        ([TURNS[0], TURNS[0]], ASKED, "'D1:1' appears twice"),
        ([5], ASKED, "must be an object"),
        ([TURNS[0] | {"text": 5}], ASKED, "must be texts"),
        ([TURNS[0] | {"id": ""}], ASKED, "id is empty"),
        (TURNS, {}, "qa: must be a list of questions"),
        (TURNS, [], "no question names a turn"),
        (TURNS, [{"q": " ", "ev": []}], "cue must be a text"),
        (TURNS, [{"q": "x" * 40_000, "ev": []}], "at most 32,000"),
        (TURNS, [{"q": "Who?", "ev": "D1:1"}], "'ev' must be a list of ids"),
        (TURNS, [{"q": "Who?"}], "there is no 'ev'"),
        (TURNS, [None], "must be an object"),
    ],
)
def test_a_conversation_that_is_none_is_refused(tmp_path: Path, turns: object, asked: object, words: str) -> None:
    assert words in refusal(conversation(tmp_path / "conv.json", turns, asked))


# --- Smallville


def test_a_stream_is_asked_for_what_its_thoughts_rest_on(tmp_path: Path) -> None:
    path = written(
        tmp_path / "agent.jsonl",
        node(1, "bed is idle"),
        node(2, "Ann bakes", poignancy=8),
        node(3, "Ann sings"),
        node(4, "Ann bakes", poignancy=6),
        node(5, "Ann likes to bake", "thought", ("node_4", "node_1", "node_77")),
    )
    (found,) = data_sets([path])
    assert (found.form, found.lived, found.memories) == (Form.SMALLVILLE, True, 3)
    assert [(entry.id, entry.rating) for entry in found.entries] == [
        ("node_2", 8),
        ("node_3", 3),
        ("node_2", 6),  # the same memory, told anew
        ("node_5", 3),
    ]
    (asked,) = found.questions
    assert (asked.cue, asked.right, asked.itself) == ("Ann likes to bake", {"node_2"}, "node_5")
    assert asked.now == datetime(2023, 2, 13, 5, tzinfo=UTC)
    assert found.notes == ("1 piece of evidence passed over: no node has that id",)


def test_the_evidence_is_not_part_of_what_is_remembered(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", node(1, "Ann bakes"), node(2, "Ann is a baker", "thought", ("node_1",)))
    assert all(entry.evidence == () for entry in data_sets([path])[0].entries)


def test_a_thought_that_rests_on_its_own_words_only_is_left_out(tmp_path: Path) -> None:
    path = written(
        tmp_path / "agent.jsonl",
        node(1, "Ann bakes"),
        node(2, "Ann is a baker", "thought", ("node_1",)),
        node(3, "Ann is a baker", "thought", ("node_2",)),
    )
    (found,) = data_sets([path])
    assert len(found.questions) == 1
    assert found.notes == ("1 thought that only repeat themselves left out",)


def test_a_thought_had_again_is_counted_apart(tmp_path: Path) -> None:
    path = written(
        tmp_path / "agent.jsonl",
        node(1, "Ann bakes"),
        node(2, "Ann is a baker", "thought", ("node_1",)),
        node(3, "Ann sings"),
        node(4, "Ann is a baker", "thought", ("node_3",)),
        node(5, "Ann is merry", "thought", ("node_3",)),
    )
    (found,) = data_sets([path])
    assert [(asked.right, asked.category) for asked in found.questions] == [
        ({"node_1"}, FIRST),
        ({"node_3"}, AGAIN),
        ({"node_3"}, FIRST),
    ]


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ({"type": "dream"}, "line 2: 'type' is 'dream'; it is one of event, thought, chat"),
        ({"created": "noon"}, "line 2: 'created' is 'noon'"),
        ({"created": None}, "line 2: 'created' must be a time"),
        ({"poignancy": 0}, "rating is 0"),
        ({"poignancy": None, "evidence": None}, "'evidence' must be a list of ids"),
        ({"description": 5}, "must be texts"),
        ({"id": "node_1"}, "line 2: the id 'node_1' appears twice"),
    ],
)
def test_a_bad_node_is_named_by_its_line(tmp_path: Path, broken: dict, words: str) -> None:
    last = node(3, "Ann is a baker", "thought", ("node_1",))
    assert words in refusal(written(tmp_path / "a.jsonl", node(1, "Ann bakes"), node(2, "x") | broken, last))


def test_a_column_that_is_missing_is_named(tmp_path: Path) -> None:
    bare = node(2, "Ann sings")
    del bare["poignancy"]
    assert "line 2: there is no 'poignancy'" in refusal(written(tmp_path / "a.jsonl", node(1, "Ann bakes"), bare))


def test_a_stream_without_thoughts_has_nothing_to_ask(tmp_path: Path) -> None:
    assert "nothing to ask" in refusal(written(tmp_path / "a.jsonl", node(1, "Ann bakes")))


# --- plain


def test_memories_and_cues_may_stand_in_one_file(tmp_path: Path) -> None:
    path = written(
        tmp_path / "mine.jsonl",
        memory("a", timestamp="2026-01-01T00:00:00+00:00"),
        memory("b", importance_score=0.9, timestamp="2026-02-01T00:00:00+00:00", metadata={"mood": "calm"}),
        "",
        {"cue": "What rose?", "right": ["a"], "wrong": ["b"], "now": "2026-03-01T00:00:00+01:00", "category": "x"},
        {"cue": "What else?", "wrong": ["a"]},
    )
    (found,) = data_sets([path])
    assert (found.form, found.name, found.memories, found.lived) == (Form.PLAIN, "mine", 2, False)
    assert [entry.importance for entry in found.entries] == [0.5, 0.9]
    first, second = found.questions
    assert (first.right, first.wrong, first.category) == ({"a"}, {"b"}, "x")
    assert first.now == datetime(2026, 2, 28, 23, tzinfo=UTC)
    assert (second.right, second.wrong, second.now) == (set(), {"a"}, datetime(2026, 2, 1, tzinfo=UTC))


def test_memories_without_times_are_asked_at_a_fixed_one(tmp_path: Path) -> None:
    (found,) = data_sets([written(tmp_path / "a.jsonl", memory("a"), {"cue": "?", "right": ["a"]})])
    assert found.questions[0].now == TIMELESS_NOW


def test_memories_and_cues_may_stand_in_two_files(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    cues = written(tmp_path / "elsewhere/cues.jsonl", {"cue": "What rose?", "right": ["a"]})
    memories = written(tmp_path / "memories.jsonl", memory("a"))
    for paths in ([cues, memories], [memories, cues], [tmp_path]):
        (found,) = data_sets(paths)
        assert (found.name, found.memories, len(found.questions)) == ("cues", 1, 1)


def test_halves_of_one_folder_belong_together(tmp_path: Path) -> None:
    for name in ("ann", "bo"):
        (tmp_path / name).mkdir()
        written(tmp_path / name / "memories.jsonl", memory("a", f"{name} bakes"))
        written(tmp_path / name / "cues.jsonl", {"cue": "Who?", "right": ["a"]})
    assert [(one.name, one.memories) for one in data_sets([tmp_path])] == [("ann", 1), ("bo", 1)]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"cue": "?", "right": ["z"]}, "line 2: 'right' names 'z', and no memory has that id"),
        ({"cue": "?", "right": ["a"], "wrong": ["z"]}, "'wrong' names 'z'"),
        ({"cue": "?", "right": "a"}, "'right' must be a list of ids"),
        ({"cue": "?", "right": [1]}, "'right' must be a list of ids"),
        ({"cue": "?", "right": []}, "names no memory"),
        ({"cue": "?", "right": ["a"], "wrong": ["a"]}, "named as right and as wrong"),
        ({"cue": "", "right": ["a"]}, "cue must be a text"),
        ({"cue": "?", "right": ["a"], "now": "2026-01-01T00:00:00"}, "has no zone"),
        ({"cue": "?", "right": ["a"], "rigth": []}, "a cue has no 'rigth'"),
        ({"cue": "?", "right": ["a"], "category": 7}, "'category' must be a short text"),
        ({"text": "Bread"}, "line 2: neither 'cue' nor 'document'"),
        ({"document": "Bread"}, "line 2: a memory needs an 'id'"),
        ({"document": "Bread", "id": "a"}, "line 2: the id 'a' appears twice"),
        ({"document": "Bread", "id": "b", "importance": 3}, "line 2: Unknown field 'importance'"),
        ('{"document": "Bre', "line 2: this is not JSON: unterminated string (column 14)"),
        ("[1]", "line 2: a list appears where an object is expected"),
        ('{"cue": "?", "right": ["a"], "right": []}', "line 2: the key 'right' appears twice"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_taken(tmp_path: Path, line: dict | str, words: str) -> None:
    assert words in refusal(written(tmp_path / "a.jsonl", memory("a"), line))


def test_halves_without_the_other_half_are_told_so(tmp_path: Path) -> None:
    memories = written(tmp_path / "memories.jsonl", memory("a"))
    cues = written(tmp_path / "cues.jsonl", {"cue": "?", "right": ["a"]})
    assert "memories only; name a file with cues too" in refusal(memories)
    assert "cues only; name the file with the memories too" in refusal(cues)


def test_an_id_in_two_files_is_refused(tmp_path: Path) -> None:
    first = written(tmp_path / "one.jsonl", memory("a"))
    second = written(tmp_path / "two.jsonl", memory("a"))
    cues = written(tmp_path / "cues.jsonl", {"cue": "?", "right": ["a"]})
    assert "two.jsonl: the memory 'a' stands in another file too" in refusal(first, second, cues)


# --- files and folders


def test_a_folder_is_walked_and_a_file_named_twice_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "deep/er").mkdir(parents=True)
    (tmp_path / ".hidden").mkdir()
    written(tmp_path / ".hidden/x.json", "no JSON")
    written(tmp_path / "notes.md", "no data")
    path = conversation(tmp_path / "deep/er/conv.json")
    conversation(tmp_path / "conv.json")
    assert [one.name for one in data_sets([tmp_path, path])] == ["conv", "conv (2)"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.json", b"", "it is empty"),
        ("blank.jsonl", b"\n \n", "it is empty"),
        ("half.json", b'{"id": "c", "turns": [{"id": ', "line 1: this is not JSON"),
        ("half.json", b'{\n"id": "c",\n"turns": [', "line 3: this is not JSON"),
        ("half.jsonl", b'{"id": "c", "docu', "line 1: this is not JSON"),
        ("binary.json", bytes(range(256)), "binary data"),
        ("latin.json", b'{"id": "a",\n "caf\xe9": 1}', "line 2: byte 17 is not UTF-8"),
        ("bom.json", b'\xef\xbb\xbf{"turns": [], "qa": []}', "byte order mark"),
        ("list.json", b"[1, 2]", "a list is not in a known form"),
        ("bare.json", b"5", "a bare value is not in a known form"),
        ("other.json", b'{"clock": 5}', "line 1: an object with the keys clock is not in a known form"),
        ("other.jsonl", b"{}", "an object without keys is not in a known form"),
        ("turns.json", b'{"turns": []}', "is not in a known form"),
        ("nan.jsonl", b'{"id": "a", "document": NaN}', "NaN is not a JSON number"),
        ("deep.json", b"[" * 5000, "nested more than 100 deep"),
    ],
)
def test_a_file_that_holds_no_data_is_refused(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    said = refusal(path)
    assert words in said
    assert str(path) in said


def test_a_path_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    assert "cannot be read: No such file" in refusal(tmp_path / "nowhere.json")
    assert "null byte" in refusal(Path(f"{tmp_path}/nul\x00"))
    (tmp_path / "loop.json").symlink_to(tmp_path / "loop.json")
    assert "cannot be read" in refusal(tmp_path)


def test_a_folder_without_data_is_refused(tmp_path: Path) -> None:
    written(tmp_path / "notes.md", "no data")
    assert "the folder has no .json or .jsonl file" in refusal(tmp_path)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    assert "not a regular file" in refusal(tmp_path)


def test_one_bad_file_spoils_the_whole_folder(tmp_path: Path) -> None:
    conversation(tmp_path / "a.json")
    written(tmp_path / "b.json", '{"world": 1}')
    assert "b.json" in refusal(tmp_path)
