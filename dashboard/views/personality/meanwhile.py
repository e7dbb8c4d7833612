"""A personality that somebody else has saved during an edit: both are merged, part by part."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from ... import words
from ...components import drafts
from ...data import merged, personality_diffs, tables
from . import personality_form

_MOST = 400
_MISSING = object()
"""Stands for a part that a personality lacks."""
MINE, THEIRS = "Keep my version", "Use the current version"

Path = tuple[str, ...]


def show(key: str, began: str, mine: str, now: str) -> str | None:
    """Say that it was saved meanwhile, with a choice for each part that both have changed.

    Args:
        key: distinguishes these fields from others.
        began: the text at the beginning of the edit; empty if there was none.
        mine: the text as edited now.
        now: the text that is in use.

    Returns:
        The text that merges both, once a person asks for it; ``None`` before.
    """
    with st.container(border=True, key=key):
        st.warning(
            "Somebody else has changed this personality since you loaded it. Your version is "
            "kept; nothing is saved until both are merged.",
            icon=":material/call_split:",
        )
        settled = settle(began, mine, now)
        if settled is None:
            st.caption("Your version is not a valid JSON object yet: fix it first, or reload and compare both.")
            with st.expander("What is in use now"):
                st.code(now, language="json", wrap_lines=True)
            return None
        taken: dict[Path, Any] = {}
        for path, there in settled.clashes.items():
            current, yours = _apart(there, settled.mine[path])
            st.text(f"{_called(path)}: current: {current}")
            st.text(f"{_called(path)}: yours: {yours}")
            choice = st.radio(
                f"{_called(path)}: which one?", [MINE, THEIRS], None, horizontal=True,
                key=f"{key}-{zlib.crc32(now.encode())}-{'/'.join(path)}", persist_state="session",
            )  # fmt: skip
            if choice is not None:
                taken[path] = there if choice == THEIRS else settled.mine[path]
        open_ = len(settled.clashes) - len(taken)
        merging = st.button(
            words.BRING_BOTH_TOGETHER, key=f"{key}-together", type="primary", icon=":material/merge:",
            disabled=open_ > 0,
            help="This does not save yet. Parts and lines that only one of you changed are taken from that version.",
        )  # fmt: skip
    return personality_form.dump(_joined(settled.mine | taken)) if merging else None


def settle(began: str, mine: str, now: str) -> drafts.Settled[Path] | None:
    """What becomes of each part, by its path; ``None`` if one of the texts is not a JSON object."""
    three = [personality_form.read(text or "{}") for text in (began, mine, now)]
    parts = [_parts(document) for document in three if document is not None]
    if len(parts) < len(three):
        return None
    names = dict.fromkeys([*parts[2], *parts[1], *parts[0]])  # in the order of the text in use
    base, edited, current = ({name: part.get(name, _MISSING) for name in names} for part in parts)
    settled = drafts.settle(base, edited, current)
    both = {path: _lists(base[path], settled.mine[path], there) for path, there in settled.clashes.items()}
    clashes = {path: there for path, there in settled.clashes.items() if both[path] is None}
    return replace(settled, mine=settled.mine | {p: v for p, v in both.items() if v is not None}, clashes=clashes)


def _lists(*three: Any) -> list[Any] | None:
    """The list with the changes of both, if it was a list, or missing, before and is one in both versions."""
    base, mine, there = ([] if part is _MISSING else part for part in three)
    every = all(isinstance(part, list) for part in (base, mine, there))
    return merged.lists(base, mine, there) if every else None


def _parts(document: Mapping[str, Any]) -> dict[Path, Any]:
    """The sections by their paths; each part of the identity separately."""
    found: dict[Path, Any] = {}
    for name, value in document.items():
        if name == "identity" and isinstance(value, dict):
            found |= {(name, inner): part for inner, part in value.items()}
        else:
            found[name,] = value
    return found


def _joined(parts: Mapping[Path, Any]) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for path, value in parts.items():
        if value is _MISSING:
            continue
        if len(path) == 1:
            document[path[0]] = value
        else:
            document.setdefault(path[0], {})[path[1]] = value
    return document


def _called(path: Path) -> str:
    return tables.visible(personality_diffs.called(path[-1]))


def _apart(current: Any, yours: Any) -> tuple[str, str]:
    """Both values in words, so that their difference is visible: of lists, only the lines that the other lacks."""
    if isinstance(current, list) and isinstance(yours, list):
        current, yours = (
            [item for item in one if item not in two] for one, two in ((current, yours), (yours, current))
        )
    return merged.apart(_shown(current), _shown(yours), _MOST)


def _shown(value: Any) -> str:
    if value is _MISSING or value == []:
        return "none"
    if isinstance(value, list):
        return "; ".join(map(_shown, value))
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_shown(part)}" for name, part in value.items())
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
