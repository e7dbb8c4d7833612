"""Documents of a character's archive: loaded, viewed, searched and removed."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from memory_system import AgentMemory, MemoryEntry, MemorySystemError
from memory_system.conversation import Loaded, archival_search, documents, load_document, remove_document, whence
from memory_system.operations import Progress

from ... import session
from ...components import bulk, widgets, working
from ...data import tables
from . import talk_tables

_KINDS = ["txt", "md", "markdown", "pdf"]
_SAMPLE = "receipt_book.md"
_LISTED = 20
_MOST = 400


class _Cancelled(Exception):
    """Raised if the person no longer wants it loaded."""


def show(agent: AgentMemory) -> None:
    """The field for a document, the loaded ones, and a search over them and the character's life."""
    st.caption(
        "Documents that the character can look up while it talks, with "
        "archival_memory_search. They do not decay and are never recalled by themselves, "
        "because the character did not live through them."
    )
    name = f"document-{agent.name}"
    work = working.of(name)
    if work is not None and work.running:
        working.bar(name)
        return
    if work is not None:
        _ended(agent, work, name)
    archive = documents.documents(agent)
    if not widgets.closed(agent):
        _load(agent, name)
    st.header(tables.counted(len(archive), "document", "documents"), anchor=False)
    if not archive:
        widgets.empty("No documents yet.", "Upload one above.", agent)
        sample = session.SAMPLES / _SAMPLE
        if agent.read_only is None and st.button(
            "Load Hester's receipt book, a sample", icon=":material/menu_book:", key="document-sample",
            help="In Python: load_document(agent, path)",
        ):  # fmt: skip
            _begin(agent, name, sample.read_bytes(), _SAMPLE)
    for document in archive:
        _listed(agent, document)
    if archive:
        _search(agent)


def _load(agent: AgentMemory, name: str) -> None:
    number = st.session_state.setdefault("documents-loaded", 0)
    upload = st.file_uploader(
        "Text, Markdown or PDF", type=_KINDS, help="At most 50 MB; text in UTF-8.", key=f"document-{number}"
    )
    with st.container(horizontal=True):
        looked = st.button(
            "Preview", icon=":material/visibility:", disabled=upload is None, key="document-preview",
            help="In Python: load_document(…, preview=True)",
        )  # fmt: skip
        loaded = st.button(
            "Load", type="primary", icon=":material/upload_file:", disabled=upload is None, key="document-load",
            help="In Python: load_document(agent, source)",
        )  # fmt: skip
    if upload is None:
        return
    if looked:
        try:
            with st.spinner("Reading …"):
                plan = load_document(agent, upload.getvalue(), name=upload.name, preview=True)
        except MemorySystemError as error:
            widgets.problem(error)
            return
        st.markdown(f"**{widgets.plain(plan.title)}**")
        for note in plan.notes:
            st.info(widgets.plain(note))
        _passages([change.after for change in plan.changes if change.after is not None])
    if loaded:
        st.session_state["documents-loaded"] = number + 1
        _begin(agent, name, upload.getvalue(), upload.name)


def _begin(agent: AgentMemory, work_name: str, data: bytes, name: str) -> None:
    def do(tell: Progress, stopped: Callable[[], bool]) -> object:
        def progress(done: float, doing: str) -> None:
            if stopped():
                raise _Cancelled
            tell(done, doing)

        try:
            return load_document(agent, data, name=name, progress=progress)
        except _Cancelled:
            return None

    working.begin(work_name, do)
    if (work := working.of(work_name)) is not None:
        work.wait(1.5)
    st.rerun()


def _ended(agent: AgentMemory, work: working.Work, name: str) -> None:
    working.put_away(name)
    if work.problem is not None:
        widgets.problem(work.problem)
    elif work.result is None:
        st.info("Cancelled. Nothing was loaded.")
    else:
        bulk.done(agent, work.result, bulk.as_done(work.result), " ".join(work.result.notes))
        st.rerun()


def _listed(agent: AgentMemory, document: Loaded) -> None:
    """One document, to be viewed or removed."""
    key = f"document-open-{document.id}"
    details = [tables.counted(document.passages, "passage", "passages")]
    details += [tables.counted(document.pages, "page", "pages")] if document.pages else []
    details += [f"loaded {tables.exact(document.loaded)}"]
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, vertical_alignment="center"):
            with st.container(width="stretch", gap=None):
                st.markdown(f"**{widgets.plain(document.name)}**")
                st.caption(widgets.plain(" · ".join([document.form, *details])))
            opened = bool(st.session_state.get(key))
            if st.button(
                "Close" if opened else "Look inside", icon=":material/menu_book:", key=f"{key}-button",
                help="In Python: passages(agent, id)",
            ):  # fmt: skip
                st.session_state[key] = not opened
                st.rerun()
            if st.button(
                "Remove", icon=":material/delete:", key=f"document-remove-{document.id}",
                disabled=agent.read_only is not None,
                help="The History page can undo it. In Python: remove_document(agent, id)",
            ):  # fmt: skip
                _remove(agent, document)
        if opened:
            _passages(list(documents.passages(agent, document.id)))


def _remove(agent: AgentMemory, document: Loaded) -> None:
    try:
        done = remove_document(agent, document.id)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    bulk.done(agent, done, bulk.as_done(done), " ".join(done.notes))
    st.rerun()


def _passages(found: list[MemoryEntry]) -> None:
    """The first passages of a document, each with its position."""
    for entry in found[:_LISTED]:
        st.caption(widgets.plain(whence(entry)))
        st.text(talk_tables.spoken(entry.document))
    if len(found) > _LISTED:
        st.caption(f"And {len(found) - _LISTED:,} more.")


def _search(agent: AgentMemory) -> None:
    """What the character would find, over its life and its documents."""
    query = st.text_input(
        "Search as the character would", max_chars=_MOST, key=f"document-search-{session.place()}",
        persist_state="session",
        placeholder="What became of the copy of the key?", help="In Python: archival_search(agent, query)",
    )  # fmt: skip
    if not query.strip():
        return
    try:
        page = archival_search(agent, query.strip(), size=5)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    if not page.found:
        st.caption("Nothing was found.")
    for result in page.found:
        with st.container(border=True, gap=None):
            st.text(talk_tables.spoken(result.text))
            when = f" · {tables.exact(result.when)}" if result.when else ""
            st.caption(widgets.plain(f"{result.source}{when}"))
