"""Edits of the static memory: by a call, on disk by another program, broken, deleted, stale and undone."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_system import AgentMemory, ChangeSet, Tier, World
from memory_system.core import personality as static_memory
from memory_system.core.authors import running_script
from memory_system.errors import InvalidPersonality, StaleChange
from tests.conftest import PERSONALITY


def varied(**sections: Any) -> str:
    return json.dumps(PERSONALITY | sections, indent=2)


@pytest.fixture
def file(agent: AgentMemory, world: World) -> Path:
    return world.settings.personalities / "mira.json"


def write(file: Path, text: str | bytes) -> None:
    """As another program would, at a time that differs from the last one however coarse the file's clock is."""
    about = file.stat().st_mtime_ns if file.exists() else 0
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    os.utime(file, ns=(about + 10**9, about + 10**9))


def what_changed(change_set: ChangeSet) -> dict[str, list[str]]:
    return {
        verb: [(change.after or change.before).document for change in change_set.of(verb)]  # type: ignore[union-attr]
        for verb in ("add", "update", "forget")
    }


WHO = "Mira Holloway"
EDITED = varied(
    traits=[],
    relationships=[PERSONALITY["relationships"][0] | {"trust": 0.1}],  # type: ignore[index,operator]
    facts=["There is only one true key to the tide mill.", "The flood of last year took the lower store."],
)
CHANGED = {
    "add": ["The flood of last year took the lower store."],
    "update": [
        f"Tobias Finch is to {WHO}: childhood friend. {WHO} trusts Tobias Finch hardly at all (0.1 of 1).",
    ],
    "forget": ["Mira Holloway is: early riser"],
}


def save_by_call(agent: AgentMemory, file: Path) -> str:
    agent.save_personality(EDITED)
    return running_script()


def save_on_disk(agent: AgentMemory, file: Path) -> str:
    write(file, EDITED)
    return "file mira.json"


@pytest.mark.parametrize("save", [save_by_call, save_on_disk])
def test_an_edit_re_indexes_only_what_changed(
    agent: AgentMemory, file: Path, save: Callable[[AgentMemory, Path], str]
) -> None:
    author = save(agent, file)
    assert len(agent.entries(Tier.STATIC)) == 11
    newest, first = agent.history()
    assert what_changed(newest.change_set) == CHANGED
    assert (newest.change_set.operation, newest.change_set.author) == ("personality", author)
    assert len(first.change_set.changes) == 11
    assert agent.personality_text == file.read_text(encoding="utf-8") == EDITED
    assert any("flood" in hit.entry.document for hit in agent.query_memory("What did the flood take?"))
    assert len(agent.history()) == 2


def test_an_edit_of_the_same_size_at_the_same_time_is_seen(agent: AgentMemory, file: Path) -> None:
    first = varied(facts=["The key is brass."])
    write(file, first)
    now = time.time_ns()
    os.utime(file, ns=(now, now))
    assert [one.document for one in agent.entries(Tier.STATIC) if "key" in one.document][-1] == "The key is brass."
    file.write_text(first.replace("brass", "steel"), encoding="utf-8")
    os.utime(file, ns=(now, now))
    assert "The key is steel." in [one.document for one in agent.entries(Tier.STATIC)]


def test_a_file_at_rest_is_not_read_again(agent: AgentMemory, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    past = time.time_ns() - 60 * 10**9
    os.utime(file, ns=(past, past))
    agent.entries(Tier.STATIC)
    monkeypatch.setattr(static_memory, "read", None)
    agent.entries(Tier.STATIC)
    later = time.time_ns() + 3600 * 10**9
    monkeypatch.undo()
    os.utime(file, ns=(later, later))
    agent.entries(Tier.STATIC)
    monkeypatch.setattr(static_memory, "read", None)
    agent.entries(Tier.STATIC)


def test_an_edit_that_changes_only_white_space_changes_no_fact(agent: AgentMemory, file: Path) -> None:
    write(file, json.dumps(PERSONALITY, indent=7))
    agent.entries(Tier.STATIC)
    assert agent.history()[0].change_set.changes == ()
    assert agent.personality_text == file.read_text(encoding="utf-8")


def test_saving_the_same_text_changes_nothing(agent: AgentMemory, file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert not agent.save_personality(text)
    assert len(agent.history()) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (EDITED[:-1], "line .*: this is not JSON"),
        (varied(facts=["a", "a"]), r"facts\.2: this says the same"),
        (varied(facts=["a\x00"]), r"facts\.1: this cannot be remembered"),
        (b'{"identity": {"name": "\xe9"}}', "byte 23 is not UTF-8"),
        (" " * 1_000_001, "larger than a megabyte"),
    ],
    ids=["cut off", "repeated", "NUL", "latin-1", "huge"],
)
def test_a_file_broken_on_disk_leaves_the_last_good_one_in_use(
    agent: AgentMemory, file: Path, text: str | bytes, message: str
) -> None:
    held = agent.personality_text, agent.entries(Tier.STATIC)
    assert agent.personality_problem is None
    write(file, text)
    assert (agent.personality_text, agent.entries(Tier.STATIC)) == held
    problem = agent.personality_problem
    assert problem is not None
    assert problem.startswith("In mira.json: ")
    assert "The last good personality stays in use." in problem
    assert re.search(message, problem), problem
    assert agent.query_memory("Who are you?").considered == 11
    assert len(agent.history()) == 1
    write(file, EDITED)
    agent.entries(Tier.STATIC)
    assert what_changed(agent.history()[0].change_set) == CHANGED
    assert agent.personality_problem is None


def test_a_directory_in_the_place_of_the_file_is_told_and_not_a_crash(agent: AgentMemory, file: Path) -> None:
    file.unlink()
    file.mkdir()
    assert "cannot be read" in str(agent.personality_problem)
    assert len(agent.entries(Tier.STATIC)) == 11


@pytest.mark.parametrize("text", [None, EDITED], ids=["the same", "another"])
def test_a_deleted_file_leaves_the_last_good_one_in_use_until_it_is_saved_again(
    agent: AgentMemory, file: Path, text: str | None
) -> None:
    file.unlink()
    assert len(agent.entries(Tier.STATIC)) == 11
    assert agent.personality_problem == (
        "mira.json is missing. The last good personality stays in use. Save it again to write the file."
    )
    wanted = text or agent.personality_text
    agent.save_personality(wanted, preview=True)  # type: ignore[arg-type]
    assert not file.exists()
    agent.save_personality(wanted)  # type: ignore[arg-type]
    assert file.read_text(encoding="utf-8") == wanted
    assert agent.personality_problem is None


def test_saving_over_a_file_that_is_broken_keeps_the_broken_one_beside_it(agent: AgentMemory, file: Path) -> None:
    write(file, EDITED[:-1])
    assert str(agent.personality_problem).endswith("Fix the file, or put the good one back.")
    agent.save_personality(EDITED, preview=True)
    assert [path.name for path in file.parent.iterdir()] == ["mira.json"]
    agent.save_personality(EDITED)
    assert agent.personality_text == file.read_text(encoding="utf-8") == EDITED
    assert file.with_name("mira.json.broken-1").read_text(encoding="utf-8") == EDITED[:-1]
    assert agent.personality_problem is None
    write(file, "broken again")
    agent.save_personality(varied(facts=[]))
    assert file.with_name("mira.json.broken-2").read_text(encoding="utf-8") == "broken again"
    assert file.with_name("mira.json.broken-1").read_text(encoding="utf-8") == EDITED[:-1]


def test_a_text_that_is_no_personality_leaves_a_broken_file_where_it_is(agent: AgentMemory, file: Path) -> None:
    write(file, EDITED[:-1])
    with pytest.raises(InvalidPersonality):
        agent.save_personality("{}")
    assert [path.name for path in file.parent.iterdir()] == ["mira.json"]


def test_saving_over_somebody_elses_edit_is_refused_and_changes_nothing(agent: AgentMemory, file: Path) -> None:
    begun_with = agent.personality_text
    write(file, EDITED)
    with pytest.raises(StaleChange, match="Load it again"):
        agent.save_personality(varied(facts=[]), expected=begun_with)
    assert agent.personality_text == file.read_text(encoding="utf-8") == EDITED
    assert [told.change_set.author for told in agent.history()] == ["file mira.json", "file mira.json"]
    agent.save_personality(varied(facts=[]), expected=EDITED)
    assert json.loads(file.read_text(encoding="utf-8"))["facts"] == []


def test_a_text_that_is_no_personality_is_refused_and_changes_nothing(agent: AgentMemory, file: Path) -> None:
    before = agent.stamp, file.read_bytes(), agent.personality_text
    with pytest.raises(InvalidPersonality, match=r"mira\.json: line 1"):
        agent.save_personality('{"identity": {}}')
    assert (agent.stamp, file.read_bytes(), agent.personality_text) == before


def test_a_preview_of_a_save_changes_nothing_and_can_be_applied(agent: AgentMemory, file: Path) -> None:
    before = agent.stamp, file.read_bytes()
    plan = agent.save_personality(EDITED, preview=True)
    assert what_changed(plan) == CHANGED
    assert (agent.stamp, file.read_bytes()) == before
    agent.apply(plan)
    assert file.read_text(encoding="utf-8") == EDITED


@pytest.mark.parametrize("save", [save_by_call, save_on_disk])
def test_undoing_a_save_restores_the_file_and_the_facts(
    agent: AgentMemory, file: Path, save: Callable[[AgentMemory, Path], str]
) -> None:
    before = file.read_text(encoding="utf-8"), agent.entries(Tier.STATIC)
    save(agent, file)
    agent.entries(Tier.STATIC)
    undone = agent.undo(agent.history()[0].revision)
    assert (file.read_text(encoding="utf-8"), agent.entries(Tier.STATIC)) == before
    agent.undo(undone.revision)  # type: ignore[arg-type]
    assert agent.personality_text == file.read_text(encoding="utf-8") == EDITED


def test_what_was_edited_while_the_agent_was_closed_is_taken_in_when_it_is_opened(
    agent: AgentMemory, file: Path, world: World
) -> None:
    world.close()
    write(file, EDITED)
    opened = world.agent("mira")
    assert what_changed(opened.history()[0].change_set) == CHANGED
    assert opened.personality_problem is None


def test_no_scratch_files_are_left_beside_the_personality(agent: AgentMemory, file: Path) -> None:
    agent.save_personality(EDITED)
    assert [path.name for path in file.parent.iterdir()] == ["mira.json"]


def test_a_broken_file_can_be_replaced_by_the_good_one_and_is_kept(agent: AgentMemory, file: Path) -> None:
    good = file.read_text(encoding="utf-8")
    write(file, "{broken")
    assert agent.personality_problem
    agent.curation.put_personality_back()
    assert file.read_text(encoding="utf-8") == good
    assert agent.personality_problem is None
    assert file.with_name("mira.json.broken-1").read_text(encoding="utf-8") == "{broken"
