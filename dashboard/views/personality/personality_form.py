"""The form of a personality: from its JSON to fields and back, with problems next to the field."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from memory_system.errors import Problem

from ...components import drafts, widgets
from ...data.personality_diffs import LABELS

LISTS = {
    "traits": (LABELS["traits"], "One per line: early riser"),
    "long_term_goals": (LABELS["long_term_goals"], "One per line: keep the mill in the village"),
    "societal_rules": (LABELS["societal_rules"], "One per line: a promise made over bread is binding"),
    "facts": (LABELS["facts"], "One a line"),
}
TABLES = {
    "relationships": (LABELS["relationships"], ("name", "relation", "trust", "notes")),
    "environment": (LABELS["environment"], ("place", "description", "within")),
    "routine": (LABELS["routine"], ("time", "until", "activity", "place")),
}
_WIDTHS = {
    "what": 220,
    "is": 560,
    "name": 150,
    "relation": 230,
    "trust": 80,
    "notes": 420,
    "place": 190,
    "description": 480,
    "within": 150,
    "time": 90,
    "until": 90,
    "activity": 400,
}
"""Pixels of the columns of all tables."""
_OWN = ("name", "age", "profession", "description")
_WHOLE = re.compile(r"-?\d{1,9}")


def show(base: Mapping[str, Any], key: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Draw the form; returns the personality as filled in, and a place next to each section for its problems.

    Args:
        base: the personality that the form begins with.
        key: another key begins the form again.
    """
    document = dict(base)
    slots: dict[str, Any] = {}
    slots["identity"] = _section("Identity")
    document["identity"] = _identity(_mapping(base.get("identity")), key)
    for name, (label, hint) in LISTS.items():
        slots[name] = _section(label)
        items = [str(item) for item in _items(base.get(name))]
        text = st.text_area(
            label,
            "\n".join(items),
            key=f"{key}-{name}",
            placeholder=hint,
            height=120,
            label_visibility="collapsed",
            persist_state="session",
        )
        _put(document, name, [line.strip() for line in text.splitlines() if line.strip()])
    for name, (label, columns) in TABLES.items():
        slots[name] = _section(label)
        _put(document, name, _table(base.get(name), columns, f"{key}-{name}"))
    return document, slots


def tell(problems: tuple[Problem, ...], slots: Mapping[str, Any]) -> None:
    """Show each problem next to the section that it is about."""
    for problem in problems:
        section = problem.field.split(".")[0]
        where = problem.field.removeprefix(section).lstrip(".")
        with slots.get(section, st.container()):
            st.error(
                widgets.plain(f"{where}: {problem.message}" if where else problem.message), icon=":material/error:"
            )


def read(text: str) -> dict[str, Any] | None:
    """The personality in a JSON text, even if its sections are wrong; ``None`` if it is not a JSON object."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def dump(document: Mapping[str, Any]) -> str:
    """The JSON text of a personality, as saved."""
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _section(label: str) -> Any:
    st.markdown(f"**{label}**")
    return st.container()


def _identity(base: Mapping[str, Any], key: str) -> dict[str, Any]:
    left, middle, right = st.columns([3, 1, 3])
    name = left.text_input("Name", str(base.get("name", "")), key=f"{key}-name", persist_state="session")
    known = base.get("age")
    age = middle.text_input("Age", "" if known is None else str(known), key=f"{key}-age", persist_state="session")
    profession = right.text_input(
        "Profession", str(base.get("profession", "") or ""), key=f"{key}-profession", persist_state="session"
    )
    description = st.text_area(
        "Description", str(base.get("description", "") or ""), key=f"{key}-about", height=80, persist_state="session"
    )
    identity: dict[str, Any] = {"name": name}
    if age.strip():
        identity["age"] = int(age) if _WHOLE.fullmatch(age.strip()) else age
    if profession.strip():
        identity["profession"] = profession
    if description.strip():
        identity["description"] = description
    extras = [{"what": str(name), "is": value} for name, value in base.items() if name not in _OWN]
    for row in _table(extras, ("what", "is"), f"{key}-extras"):
        if "what" in row:
            name_, value = str(row["what"]), row.get("is", "")
            identity[name_] = base[name_] if str(base.get(name_)) == value else value  # a number stays one
    return identity


def _table(items: Any, columns: tuple[str, ...], key: str) -> list[dict[str, Any]]:
    """An editable table of objects; empty rows and empty cells are left out."""
    rows = [dict(row) for row in _items(items) if isinstance(row, Mapping)]
    frame = pd.DataFrame(rows, columns=list(columns)).astype(object)
    # widths of their own: columns that grow with their content would move while somebody types
    config: dict[str, Any] = {name: st.column_config.TextColumn(width=_WIDTHS[name]) for name in columns}
    if "trust" in columns:
        frame["trust"] = pd.to_numeric(frame["trust"], errors="coerce")
        config["trust"] = st.column_config.NumberColumn(
            min_value=0.0, max_value=1.0, step=0.05, help="0 none, 1 blind", width=_WIDTHS["trust"]
        )
    for name in columns:
        if name != "trust":
            frame[name] = frame[name].map(lambda cell: "" if pd.isna(cell) else str(cell))
    edited = drafts.table(frame, key, num_rows="dynamic", hide_index=True, column_config=config)
    found = []
    for row in edited.to_dict("records"):
        cells = {str(name): value for name, value in row.items() if not pd.isna(value) and str(value).strip()}
        if cells:
            found.append(cells)
    return found


def _put(document: dict[str, Any], name: str, value: list[Any]) -> None:
    if value or name in document:
        document[name] = value


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
