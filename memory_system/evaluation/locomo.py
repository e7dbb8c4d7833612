"""The LoCoMo form: long conversations between two people, and questions with the turns that hold the answers.

After Maharana et al. 2024 (arXiv 2402.17753), one conversation per file: ``{"id", "turns": [{"id", "session",
"speaker", "text", "caption", "time"}], "qa": [{"q", "a", "cat", "ev": [turn ids]}]}``. Every turn is one memory,
"speaker: text". Questions of the category ``adversarial`` ask for what was never said, so that no turn answers
them; they are not part of recall. Questions without evidence are left out. All are asked at the end of the last
session.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ..core.change_set import counted
from ..core.entry import Kind, MemoryEntry
from ..errors import InvalidEntry
from .data import DataSet, Form, Question, remembered
from .forms import Problems, Source, cue_text, field_of, ids_of, time_of

ADVERSARIAL = "adversarial"


def read_locomo(source: Source, *, captions: bool) -> DataSet:
    """The data set of one conversation.

    Args:
        source: the file.
        captions: whether what is seen in a shared picture is part of the memory, in square brackets.

    Raises:
        InvalidFile: a turn or a question is invalid; the lines are named.
    """
    problems = Problems(source)
    conversation = str(source.document.get("id") or source.name)
    entries = _turns(source.document["turns"], conversation, problems, captions=captions)
    problems.refuse()
    now = max(entry.timestamp for entry in entries if entry.timestamp is not None)
    asked, notes = _questions(source.document["qa"], {entry.id for entry in entries}, now, problems)
    problems.refuse()
    right, none = (
        tuple(question for question in asked if bool(question.right) is answered) for answered in (True, False)
    )
    return DataSet(source.name, Form.LOCOMO, tuple(entries), right, notes=notes, unanswerable=none)


def _turns(turns: object, conversation: str, problems: Problems, *, captions: bool) -> list[MemoryEntry]:
    if not isinstance(turns, list) or not turns:
        problems.at(("turns",), "must be a list of turns that is not empty")
        return []
    entries: list[MemoryEntry] = []
    seen: set[str] = set()
    places: Counter[str] = Counter()
    for number, turn in enumerate(turns):
        try:
            session = f"{conversation} session {field_of(turn, 'session')}"
            entry = _turn(turn, session, places[session], captions=captions)
        except InvalidEntry as error:
            problems.at(("turns", number), error.sentence)
            continue
        if entry.id in seen:
            problems.at(("turns", number), f"the id {entry.id!r} appears twice")
        seen.add(entry.id)
        places[session] += 1
        entries.append(entry)
    return entries


def _turn(turn: Mapping[str, Any], session: str, place: int, *, captions: bool) -> MemoryEntry:
    speaker, text, caption = field_of(turn, "speaker"), field_of(turn, "text"), turn.get("caption") or ""
    if not all(isinstance(part, str) for part in (speaker, text, caption)):
        raise InvalidEntry("speaker, text and caption must be texts")
    return remembered(
        MemoryEntry(
            f"{speaker}: {text} [{caption}]" if captions and caption else f"{speaker}: {text}",
            {"conversation": session, "turn": place},
            field_of(turn, "id"),
            kind=Kind.CONVERSATION,
            timestamp=time_of(turn, "time"),
        )
    )


def _questions(
    items: object, known: set[str], now: datetime, problems: Problems
) -> tuple[list[Question], tuple[str, ...]]:
    if not isinstance(items, list):
        problems.at(("qa",), "must be a list of questions")
        return [], ()
    questions: list[Question] = []
    left_out: Counter[str] = Counter()
    for number, item in enumerate(items):
        try:
            cue, evidence = cue_text(field_of(item, "q")), frozenset(ids_of(item, "ev"))
        except InvalidEntry as error:
            problems.at(("qa", number), error.sentence)
            continue
        category, right = str(item.get("cat") or ""), evidence & known
        left_out["unknown"] += len(evidence - known)
        if category == ADVERSARIAL:
            left_out[ADVERSARIAL] += 1
            questions.append(Question(cue, now, frozenset(), category=category))
        elif not right:
            left_out["without"] += 1
        else:
            questions.append(Question(cue, now, right, category=category))
    if not any(question.right for question in questions) and not len(problems):
        problems.at(("qa",), "no question names a turn that answers it")
    return questions, _notes(left_out)


def _notes(left_out: Counter[str]) -> tuple[str, ...]:
    notes = []
    if count := left_out[ADVERSARIAL]:
        notes.append(f"{counted(count, 'adversarial question')} left out")
    if count := left_out["without"]:
        notes.append(f"{counted(count, 'question')} without evidence left out")
    if count := left_out["unknown"]:  # known errors in the published data, which we cannot fix
        notes.append(f"{counted(count, 'piece', 'pieces')} of evidence passed over: no turn has that id")
    return tuple(notes)
