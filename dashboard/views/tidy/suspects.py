"""One suspicion on the Tidy page: the memories side by side, why they are suspected, and what a person can do."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import streamlit as st

from memory_system import AgentMemory, ChangeSet, MemoryEntry, MemorySystemError
from memory_system.operations.duplicates import Sort, Suspicion

from ... import words
from ...components import bulk, drafts, widgets
from ...data import tables

_MOST_WORDS = 400
_LISTED = 8
"""How many memories of one text are listed, each with its time; more are in a field to choose from."""
_ALIKE = 0.5
"""The share of common words from which two texts are shown with the differing words."""


def card(agent: AgentMemory, suspicion: Suspicion) -> None:
    """A suspicion with its reasons, its memories and its buttons."""
    key = _key(suspicion)
    contradiction = suspicion.sort is Sort.CONTRADICTION
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, gap="small"):
            if contradiction:
                st.badge("may contradict", icon=":material/compare_arrows:", color="red")
            else:
                st.badge("may be the same", icon=":material/content_copy:", color="blue")
            st.badge(f"alike {suspicion.similarity:.2f}", color="gray")
        st.markdown(widgets.plain(" ".join(suspicion.reasons)))
        for doubt in suspicion.doubts:
            st.caption(widgets.plain(f"But {doubt.replace('They', 'they', 1) if doubt.startswith('They ') else doubt}"))
        if len(suspicion.entries) > 2:
            _many(agent, suspicion, key)
        else:
            _pair(agent, suspicion, key)


def _pair(agent: AgentMemory, suspicion: Suspicion, key: str) -> None:
    first, second = suspicion.entries
    for column, entry, other in zip(st.columns(2), (first, second), (second, first), strict=True):
        with column:
            st.markdown(marked(entry.document, other.document))
            st.caption(widgets.plain(tables.told_apart(entry)))
            with st.container(horizontal=True):
                if agent.read_only is None:
                    _settle_by(agent, suspicion, entry, other, key)
                if st.button("Open", key=f"open-{key}-{entry.id}", icon=":material/open_in_new:", type="tertiary"):
                    st.switch_page(
                        "views/long_term/long_term.py", query_params={"agent": agent.name, "memory": entry.id}
                    )
    if agent.read_only is not None:
        return
    _both_stay(agent, suspicion, key)
    with st.expander("Merge with a text of your own", key=f"own-{key}", on_change="rerun") as own:
        if own.open:
            _merge_with_text(agent, suspicion, key)


def _settle_by(agent: AgentMemory, suspicion: Suspicion, entry: MemoryEntry, other: MemoryEntry, key: str) -> None:
    """The button that lets this memory win."""
    if suspicion.sort is Sort.CONTRADICTION:
        if st.button(
            "This one is right",
            key=f"keep-{key}-{entry.id}",
            icon=":material/check:",
            help="The other is forgotten and can be restored. In Python: AgentMemory.forget",
        ):
            bulk.do(agent, lambda: agent.forget(other.id))
    elif st.button(
        words.KEEP_THIS_ONE,
        key=f"keep-{key}-{entry.id}",
        icon=":material/check:",
        help="It takes over the tags, evidence and importance of the other, which is forgotten"
        " and can be restored; memories based on the other are then based on this one. In Python: AgentMemory.merge",
    ):
        bulk.do(agent, lambda: agent.merge(suspicion.ids, keep=entry.id))


def _both_stay(agent: AgentMemory, suspicion: Suspicion, key: str) -> None:
    label = words.BOTH_ARE_RIGHT if suspicion.sort is Sort.CONTRADICTION else "Not a duplicate"
    if st.button(
        label if len(suspicion.entries) == 2 else "They all stay",
        key=f"stay-{key}",
        icon=":material/visibility_off:",
        help="They stay as they are and are not listed again. In Python: AgentMemory.dismiss",
    ):
        bulk.do(agent, lambda: agent.dismiss(suspicion.ids))


def _many(agent: AgentMemory, suspicion: Suspicion, key: str) -> None:
    """Memories with the same text: the text once, when each happened, and which one stays."""
    widgets.text(suspicion.entries[0].document)
    if agent.read_only is not None:
        for entry in suspicion.entries[:_LISTED]:
            st.caption(widgets.plain(tables.told_apart(entry)))
        return
    places, newest = range(len(suspicion.entries)), len(suspicion.entries) - 1
    labels = [widgets.plain(tables.told_apart(entry)) for entry in suspicion.entries]
    if len(places) <= _LISTED:
        place = st.radio("Keep", places, index=newest, format_func=labels.__getitem__, key=f"which-{key}")
    else:
        numbered = [f"{at + 1}. {tables.told_apart(entry)}" for at, entry in enumerate(suspicion.entries)]
        place = st.selectbox("Keep", places, index=newest, format_func=numbered.__getitem__, key=f"which-{key}")
    with st.container(horizontal=True):
        if st.button(
            f"Merge {len(suspicion.entries)} into it",
            key=f"merge-{key}",
            icon=":material/merge:",
            help="The others are forgotten and can be restored. In Python: AgentMemory.merge",
        ):
            bulk.do(agent, lambda: agent.merge(suspicion.ids, keep=suspicion.ids[place]))
        _both_stay(agent, suspicion, key)


def _merge_with_text(agent: AgentMemory, suspicion: Suspicion, key: str) -> None:
    """A field for the text, the memory whose time and kind it gets, and what merging would do."""
    draft = drafts.Draft(
        f"{_merging(agent)}{key}", {"text": suspicion.entries[0].document}, {"text": "The first memory"}
    )
    text = st.text_area("Text of the merged memory", key=draft.field("text"), height=90, persist_state="session")
    if not draft.settle_clashes():
        return
    place = st.radio(
        "Time and kind from",
        range(2),
        format_func=lambda at: widgets.plain(tables.told_apart(suspicion.entries[at])),
        key=f"whose-{key}",
        persist_state="session",
    )
    keep = suspicion.ids[place]
    try:
        planned = agent.merge(suspicion.ids, text, keep=keep, preview=True)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    after = next((change.after for change in planned.changes if change.entry_id == keep and change.after), None)
    after = after or suspicion.entries[place]
    moved = len(planned.changes) - sum(change.entry_id in suspicion.ids for change in planned.changes)
    parts = [f"tags: {', '.join(after.tags) or 'none'}", tables.importance(after)]
    parts += [f"rests on {tables.counted(len(after.evidence), 'memory', 'memories')}"] if after.evidence else []
    parts += (
        [f"{tables.counted(moved, 'memory that rests', 'memories that rest')} on the other will rest on it"]
        if moved
        else []
    )
    st.caption(widgets.plain(f"It will have {' · '.join(parts)}"))
    if st.button(
        "Merge into one",
        key=f"own-merge-{key}",
        type="primary",
        icon=":material/merge:",
        help="In Python: AgentMemory.merge(ids, text, keep=id)",
    ):
        bulk.do(agent, lambda: _merged(agent, planned, draft))


def _merged(agent: AgentMemory, planned: ChangeSet, draft: drafts.Draft) -> ChangeSet:
    done = agent.apply(planned)
    draft.done()
    return done


def _merging(agent: AgentMemory) -> str:
    return f"merge/{agent.name}/"


def unfinished(agent: AgentMemory, listed: Sequence[Suspicion]) -> None:
    """Texts for merging memories that are no longer suspected: kept, to be copied or discarded."""
    for key, written in drafts.unsaved(_merging(agent)).items():
        if key in {_key(suspicion) for suspicion in listed}:
            continue
        with st.container(border=True, gap="small", key=f"unfinished-{key}"):
            st.markdown(":material/edit_note: **Two memories that you were merging are no longer suspected.**")
            st.caption("One of them was changed or forgotten meanwhile. Your text:")
            st.code(written["text"], language=None, wrap_lines=True)
            st.button(
                "Discard my changes", key=f"discard-{key}", type="tertiary", icon=":material/undo:",
                on_click=drafts.drop, args=(f"{_merging(agent)}{key}",),
            )  # fmt: skip


def _key(suspicion: Suspicion) -> str:
    return "-".join(suspicion.ids[:2])


def marked(text: str, other: str) -> str:
    """A text as markdown that shows it as it is, with the words in bold that differ in the other text."""
    words, others = tables.visible(text).split(), tables.visible(other).split()
    if max(len(words), len(others)) > _MOST_WORDS:
        return widgets.plain(text)
    matcher = difflib.SequenceMatcher(None, _bare(words), _bare(others), autojunk=False)
    if matcher.ratio() < _ALIKE:
        return widgets.plain(text)
    shown = []
    for verb, begin, end, _, _ in matcher.get_opcodes():
        some = widgets.plain(" ".join(words[begin:end]))
        shown.append(f"**{some}**" if some and verb != "equal" else some)
    return " ".join(filter(None, shown))


def _bare(words: Sequence[str]) -> list[str]:
    return [word.strip(".,;:!?“”\"'()").casefold() for word in words]
