"""A form made from a declaration: the parameters of an operation or a read, as widgets, and what was entered."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from json import loads
from typing import Any, Literal, get_args, get_origin

import streamlit as st
from pydantic import AwareDatetime, BaseModel, ValidationError

from memory_system import AgentMemory
from memory_system.agent_parts import as_address
from memory_system.core import DECAYING
from memory_system.interfaces.operations import FormField, Turn, fields, problem_words

from ..data import tables
from . import widgets

_MOST_MEMORIES = 300
"""The most memories offered by their text; any other id can be typed."""
_LEFT_OUT = frozenset({"now", "as_of", "cursor"})
"""Fields that the page sets itself: the world's clock, the viewed moment, and where a list continues."""


def entered(
    kind: type[BaseModel], agent: AgentMemory | None, key: str, without: Collection[str] = ()
) -> BaseModel | None:
    """The widgets of a form, and what was entered; ``None``, with a sentence, while it is incomplete.

    Args:
        kind: the form.
        agent: the agent whose memories are offered.
        key: its key in the session.
        without: fields to leave out.
    """
    asked = fields(kind, {*without, *_LEFT_OUT})
    values = {name: _widget(form_field, agent, f"{key}-{name}") for name, form_field in asked.items()}
    missing = [name for name, form_field in asked.items() if form_field.required and values[name] in (None, "", [])]
    if missing:
        st.caption(f"Still needed: {', '.join(asked[name].label for name in missing)}.")
        return None
    try:
        body = {name: _read(asked[name], value) for name, value in values.items() if value not in (None, "", [])}
        return kind.model_validate(body)
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_input=False):
            name, *inner = map(str, problem["loc"])
            where = ".".join([asked[name].label if name in asked else name, *inner])
            st.error(widgets.plain(f"{where}: {problem_words(problem)}."), icon=":material/error:")
    except ValueError as error:
        st.error(widgets.plain(f"This is not valid JSON: {error}."), icon=":material/error:")
    return None


def _widget(field: FormField, agent: AgentMemory | None, key: str) -> Any:
    """What was entered for a field, as ``_read`` expects it."""
    label, kind = field.label, field.kind
    more: dict[str, Any] = {"help": widgets.plain(field.said.help) or None}
    if (offered := _offered(field, agent)) is not None:
        first = None if field.optional or field.is_id else 0
        more |= {
            "key": key,
            "persist_state": "session",
            "format_func": lambda choice: offered.get(choice, choice),
            "accept_new_options": field.is_id or not offered,
        }
        many = field.several
        return st.multiselect(label, [*offered], **more) if many else _chosen(field, label, offered, first, more)
    if kind is bool:
        return st.checkbox(label, value=field.default is True, key=key, persist_state="session", **more)
    if kind in (int, float):
        value = field.default if isinstance(field.default, int | float) else None
        ends = {"min_value": field.least, "max_value": field.most, "value": value}
        more |= {end: None if at is None else kind(at) for end, at in ends.items()}
        return st.number_input(label, key=key, persist_state="session", **more)
    if field.said.filed:
        file = st.file_uploader(label, key=key, max_upload_size=50, help=more["help"])
        return None if file is None else as_address(file.getvalue())
    long = kind is Turn or field.is_json or field.said.piped
    hint = _HINTS.get(kind, "{}" if field.is_json else None)
    if long:
        return st.text_area(label, placeholder=hint, key=key, persist_state="session", **more)
    return st.text_input(label, placeholder=hint, key=key, persist_state="session", **more)


_HINTS: dict[Any, str] = {
    Turn: "Tobias: I have the key.\nMira: Bring it back on Sunday.",
    AwareDatetime: "2026-03-27T08:00:00+00:00",
}


def _chosen(field: FormField, label: str, offered: dict[str, str], first: int | None, more: dict[str, Any]) -> Any:
    if not field.is_id:
        del more["accept_new_options"]
    chosen = st.selectbox(label, [*offered], index=first, **more)
    if chosen is None:
        return None
    if field.said.words:
        return _Word(field.said.words[chosen])
    return chosen == "yes" if field.kind is bool else chosen


def _offered(field: FormField, agent: AgentMemory | None) -> dict[str, str] | None:
    """The choices, with their labels; ``None`` if the value is typed."""
    kind = field.kind
    if field.is_id and agent is not None:
        return _memories(agent)
    choices: list[str] | None = None
    if field.said.words:
        choices = [*field.said.words]
    elif kind is bool and field.optional:
        choices = ["yes", "no"]
    elif get_origin(kind) is Literal:
        choices = [str(choice) for choice in get_args(kind)]
    elif isinstance(kind, type) and issubclass(kind, Enum):
        choices = [member.value for member in kind]
    elif field.several and kind is not Turn:
        choices = []
    return None if choices is None else {choice: choice for choice in choices}


class _Word:
    """The meaning of a word, which may be ``None`` and still counts as entered."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _read(field: FormField, value: Any) -> Any:
    if isinstance(value, _Word):
        return value.value
    if field.kind is Turn:
        lines = (line.partition(":") for line in str(value).splitlines() if line.strip())
        return [{"speaker": speaker.strip(), "text": said.strip()} for speaker, _, said in lines]
    return loads(value) if field.is_json else value


def _memories(agent: AgentMemory) -> dict[str, str]:
    """The latest memories, and the last forgotten ones, by id, with their text."""
    entries = [entry for tier in DECAYING for entry in agent.entries(tier)]
    entries.sort(key=lambda entry: entry.timestamp.timestamp() if entry.timestamp else 0.0, reverse=True)
    gone = {memory.entry.id: f"{tables.short(memory.entry.document, 80)} (forgotten)" for memory in agent.forgotten(50)}
    return {entry.id: tables.short(entry.document, 80) for entry in entries[:_MOST_MEMORIES]} | gone
