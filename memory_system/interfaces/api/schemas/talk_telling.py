"""What is told of conversations as JSON; see ``talk``."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from ....conversation import Step
from ....conversation.context import Context
from ....conversation.duet import Said
from ....conversation.replaying import Replay
from ....conversation.talk import Talk
from ....conversation.tool import Found
from ..previews import Previews
from . import telling

Told = dict[str, Any]
_ANY: TypeAdapter[Any] = TypeAdapter(Any)


def plain(value: Any) -> Any:
    """A value as JSON has it: dataclasses by their fields, times and paths as text."""
    return _ANY.dump_python(value, mode="json")


def talk(told: Talk) -> Told:
    """A conversation as it stands."""
    fields: Told = plain(told)
    return fields


def context(told: Context) -> Told:
    """A prompt, section by section."""
    return {**plain(told), "tokens": told.tokens}


def step(told: Step, previews: Previews | None = None, agent: str = "", interview: str | None = None) -> Told:
    """What came of a message; with ``previews`` what was not applied waits there, to be applied."""
    waiting = previews.seconds if previews is not None else None
    done = told.change_set
    if previews is not None:
        for plan in (*told.offered, *([done] if done is not None and done.revision is None else [])):
            previews.keep(agent, plan)
    return {
        "answer": told.answer,
        "change_set": None if done is None else telling.change_set(done, None if done.revision else waiting),
        "messages": plain(told.messages),
        "functions": plain(told.functions),
        "context": context(told.context),
        "recalled": telling.recall(told.recalled),
        "offered": [telling.change_set(one, waiting) for one in told.offered],
        "problem": told.problem,
        "notes": list(told.notes),
        "interview": interview,
    }


def replay(told: Replay) -> Told:
    """A step lived through again."""
    return {"step": step(told.step), "stored": plain(told.stored), "differences": list(told.differences)}


def said(told: Said) -> Told:
    """One thing that was said in a duet."""
    return {"speaker": told.speaker, "text": told.text, "step": step(told.step)}


def searched(told: Found) -> Told:
    """What a search of memory found."""
    narrative = told.narrative
    return {
        "question": told.question,
        "form": told.form.value,
        "text": told.text,
        "sources": list(told.sources),
        "passages": plain(told.passages),
        "narrative": None if narrative is None else telling.narrative(narrative),
        "note": told.note,
    }
