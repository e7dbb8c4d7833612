"""The Smallville form: the memory stream of a generative agent, and its reflections with their evidence.

After Park et al. 2023 (arXiv 2304.03442), one node of the published simulation per line. A memory is a description;
an event perceived again is the same memory told again. "... is idle" is left out. The cue is the text of a thought
with evidence, the right answer that evidence.

The stream is **replayed**: a thought is asked at its own time, of what existed before, and a
memory of exactly the same text is left out. Otherwise later copies of the thought, of which these data are full,
would answer in place of its evidence, and recall would measure repetition. A repeated thought
is asked again, and counted separately from the first time: a few of them come more than ten times.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.change_set import counted
from ..core.entry import Kind, MemoryEntry
from ..errors import InvalidEntry, shown
from .data import DataSet, Form, Question, remembered
from .forms import Line, Problems, Source, cue_text, field_of, ids_of, time_of

KINDS: Mapping[str, Kind] = {"event": Kind.OBSERVATION, "thought": Kind.REFLECTION, "chat": Kind.CONVERSATION}
IDLE = " is idle"
FIRST, AGAIN = "each thought once", "thoughts had again"
"""The categories of questions: of each description the first that has an answer, and the rest."""


def read_smallville(source: Source) -> DataSet:
    """The data set of one agent's stream.

    Raises:
        InvalidFile: a node is invalid; the lines are named.
    """
    problems = Problems(source)
    ids: dict[str, str] = {}  # for each description, the id of its first node
    memories: dict[str, str] = {}  # for each node, the id of its memory
    entries: list[MemoryEntry] = []
    for line in source.lines:
        try:
            entry = _entry(line.value, ids)
        except InvalidEntry as error:
            problems.add(error.sentence, line=line.number)
            continue
        if line.value["id"] in memories:
            problems.add(f"the id {line.value['id']!r} appears twice", line=line.number)
        memories[line.value["id"]] = entry.id
        if not entry.document.endswith(IDLE):
            entries.append(entry)
    problems.refuse()
    entries.sort(key=_seconds)
    questions, notes = _questions(source.lines, entries, ids, memories, problems)
    problems.refuse()
    return DataSet(source.name, Form.SMALLVILLE, tuple(entries), tuple(questions), lived=True, notes=notes)


def _entry(node: Mapping[str, Any], ids: dict[str, str]) -> MemoryEntry:
    if (kind := KINDS.get(str(field_of(node, "type")))) is None:
        raise InvalidEntry(f"'type' is {shown(node['type'])}; it is one of {', '.join(KINDS)}")
    node_id, description = field_of(node, "id"), field_of(node, "description")
    if not isinstance(node_id, str) or not isinstance(description, str):
        raise InvalidEntry("'id' and 'description' must be texts")
    ids_of(node, "evidence")
    entry = MemoryEntry(
        description,
        id=ids.get(description, node_id),
        kind=kind,
        timestamp=time_of(node, "created"),
        rating=field_of(node, "poignancy"),
    )
    ids.setdefault(entry.document, entry.id)
    return remembered(entry)


def _seconds(entry: MemoryEntry) -> float:
    assert entry.timestamp is not None
    return entry.timestamp.timestamp()


def _questions(
    lines: tuple[Line, ...],
    entries: list[MemoryEntry],
    ids: Mapping[str, str],
    memories: Mapping[str, str],
    problems: Problems,
) -> tuple[list[Question], tuple[str, ...]]:
    first_told: dict[str, float] = {}
    for entry in entries:
        first_told.setdefault(entry.id, _seconds(entry))
    questions: list[Question] = []
    unknown = without = 0
    for line in lines:
        node = line.value
        if node["type"] != "thought" or not node["evidence"]:
            continue
        cue = problems.attempt(line.number, cue_text, node["description"])
        if cue is None:
            continue
        now, itself = time_of(node, "created"), ids[node["description"]]
        unknown += sum(node_id not in memories for node_id in node["evidence"])
        evidence = {memories[node_id] for node_id in node["evidence"] if node_id in memories} - {itself}
        right = frozenset(
            entry_id for entry_id in evidence if first_told.get(entry_id, now.timestamp()) < now.timestamp()
        )
        if right:
            category = AGAIN if any(question.itself == itself for question in questions) else FIRST
            questions.append(Question(cue, now, right, category=category, itself=itself))
        else:
            without += 1
    if not questions and not len(problems):
        problems.add("no node is a thought that rests on another memory, so there is nothing to ask")
    notes = []
    if without:
        notes.append(f"{counted(without, 'thought')} that only repeat themselves left out")
    if unknown:
        notes.append(f"{counted(unknown, 'piece', 'pieces')} of evidence passed over: no node has that id")
    return questions, tuple(notes)
