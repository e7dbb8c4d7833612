"""Safekeeping of the world: its status light, the full check, backups, and what restoring one has set aside."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from memory_system import MemorySystemError
from memory_system.core import Finding, State, ago, real_clock
from memory_system.maintenance import Manifest, backup_reading, doctor
from memory_system.maintenance import backup as backups
from memory_system.maintenance import restore as backup_restoring
from memory_system.world import swap

from ... import session, words
from ...components import bulk, widgets, working
from ...data import tables
from ...data.zone import stamp
from ...server import downloads

LINK = "safety"
"""The value in a link that shows this."""
_LIGHTS = {
    State.RIGHT: (":green[:material/check_circle:]", words.ALL_IS_WELL),
    State.REPAIRED: (":orange[:material/healing:]", "Repaired."),
    State.NOTE: (":blue[:material/info:]", "For your information."),
    State.WRONG: (":red[:material/error:]", "Something is wrong."),
}
_CHECK, _BACKUP, _RESTORE = "check", "backup", "restore"
_MOST_UPLOADED = 500
"""MB: an uploaded file is kept in memory."""


def light(agent: str) -> None:
    """One line if the world is not in order, with a link to the full check."""
    state, sentence = _seen()
    if state is State.RIGHT:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="light"):
        _line(state, sentence)
        if session.viewing():  # details are for curators
            return
        if st.button("Details", key="to-check", type="tertiary", icon=":material/arrow_forward:"):
            st.switch_page("views/installation/installation.py", query_params={"agent": agent, "part": LINK})


def _line(state: State, sentence: str) -> None:
    icon, words = _LIGHTS[state]
    st.markdown(f"{icon} **{words}** {widgets.plain(sentence)}", width="content")


def _seen() -> tuple[State, str]:
    """What is known without reading every file, and what the last full check found."""
    state, sentence = doctor.light(session.opened())  # in a viewer's world every agent is read-only
    found = _found()
    wrong = sum(finding.state is State.WRONG for finding in found or ())
    if wrong and state is not State.WRONG:
        return State.WRONG, f"The last check found {tables.counted(wrong, 'fault', 'faults')}."
    return state, sentence


def _found() -> list[Finding] | None:
    work = working.of(_CHECK)
    return work.result if work is not None and not work.running else None


def check() -> None:
    """The status light, a check of every file of every character, and the repair of what is wrong."""
    world = session.world()
    with st.container(border=True):
        st.header("Check", anchor=False)
        _line(*_seen())
        st.caption("Checks copies of every character's history, store and personality. Nothing is changed.")
        if _busy(_CHECK):
            return
        if st.button(words.CHECK_EVERYTHING, icon=":material/fact_check:", help="In Python: doctor.examine(world)"):
            working.begin(_CHECK, lambda show, stop: doctor.examine(world, progress=show, cancelled=stop))
            st.rerun()
        _ended(_CHECK)
        found = _found()
        if not found:
            return
        wrong = [finding for finding in found if finding.state is State.WRONG]
        rest = "" if wrong else words.NOTHING_IS_WRONG
        st.caption(f"{tables.counted(len(found), 'thing was', 'things were')} looked at. {rest}")
        widgets.table(
            tables.findings(found),
            hide_index=True,
            column_config={
                "state": st.column_config.TextColumn("State", width="small"),
                "whose": st.column_config.TextColumn("Whose", width="small"),
                "what": st.column_config.TextColumn("What", width="small"),
                "finding": st.column_config.TextColumn("Finding", width="large"),
            },
        )
        if any(not finding.beyond_repair for finding in wrong):
            st.caption(
                "Repairing rebuilds stores from the history. If a history is damaged, a new one "
                "starts with the memories in the store; the damaged one is kept beside it."
            )
            if st.button(words.REPAIR_WHAT_IS_WRONG, icon=":material/healing:", type="primary", help=_REPAIR):
                working.begin(
                    _CHECK, lambda show, stop: doctor.examine(world, repair=True, progress=show, cancelled=stop)
                )
                st.rerun()


_REPAIR = "In Python: doctor.examine(world, repair=True)"


def backup() -> None:
    """Make a backup, and download it."""
    world = session.world()
    with st.container(border=True):
        st.header("Backup", anchor=False)
        st.caption(
            "The whole world in one file: every character with its history, and the bin. You "
            "can keep working meanwhile."
        )
        if _busy(_BACKUP):
            return
        if st.button(words.MAKE_A_BACKUP, icon=":material/save:", type="primary", help="In Python: backup.make(world)"):
            working.begin(_BACKUP, lambda show, stop: backups.make(world, progress=show, cancelled=stop))
            st.rerun()
        _ended(_BACKUP)
        made = working.of(_BACKUP)
        if made is not None and isinstance(made.result, backups.Backup) and made.result.path.exists():
            done = made.result
            count = sum(agent.lived for agent in done.manifest.agents)
            st.success(
                widgets.plain(
                    f"Made and read back: {_agents(done.manifest)} with "
                    f"{tables.counted(count, 'memory', 'memories')}, {tables.megabytes(done.size)}. "
                    f"It lies at {done.path}."
                ),
                icon=":material/check_circle:",
            )
            _download(done.path)


def _download(path: Path) -> None:
    """A link that downloads a backup."""
    st.link_button("Download it", downloads.link(downloads.BACKUP, file=path.name), icon=":material/download:")


def restore() -> None:
    """Preview a backup and restore it in place of the world; and bring back what was set aside."""
    with st.container(border=True):
        st.header("Restore", anchor=False)
        st.caption(
            "A restored backup replaces this world. The current world is set aside as a "
            "whole, and one click brings it back."
        )
        if _busy(_RESTORE):
            return
        if _ended(_RESTORE):
            _restored()
        _upload()
        folder = session.world().settings.backup_folder
        found = backup_reading.stored(folder)
        if found:
            chosen = st.selectbox("Backup", found, format_func=lambda path: path.name, key="backup-chosen")
            _preview(chosen)
        else:
            widgets.empty("No backups yet.", "Make one above, or upload one.")
        _set_aside()


def _restored() -> None:
    """Show the result of the last restore, once per browser."""
    work = working.of(_RESTORE)
    if work is None or not isinstance(work.result, backup_restoring.Restored):
        return
    done = work.result
    working.put_away(_RESTORE)
    session.forget()
    sentences = "".join(f" {finding.agent}: {finding.sentence}" for finding in done.findings)
    _tell(f"{words.RESTORED_WORLD_OF} {stamp(done.manifest.made_at)}.{sentences}")
    st.rerun()


def _upload() -> None:
    upload = st.file_uploader(
        "A backup from elsewhere", type="zip", max_upload_size=_MOST_UPLOADED, key="backup-given",
        help="It is checked and added to the backups here.",
    )  # fmt: skip
    if upload is None or st.session_state.get("backup-taken") == upload.file_id:
        return
    try:
        taken = backup_reading.take_in(upload, session.world().settings.backup_folder)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    st.session_state["backup-taken"] = upload.file_id
    st.session_state["backup-chosen"] = taken


def _preview(path: Path) -> None:
    """The content of a backup, and the button that restores it."""
    try:
        manifest = backup_reading.look(path)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    of = manifest.title or manifest.world
    deleted = f", and {_characters(manifest.deleted)} in the bin" if manifest.deleted else ""
    st.markdown(f"**{widgets.plain(of)}**, as it was {widgets.plain(stamp(manifest.made_at))}")
    st.caption(widgets.plain(f"{_agents(manifest)}{deleted}, {tables.megabytes(manifest.size)} unpacked."))
    titles = {"character": "Character", "memories": "Memories", "changes": "Changes", "problem": "Problem"}
    widgets.table(tables.backed_up(manifest), hide_index=True, column_config=dict(titles))
    now = _counted(len(session.world().agents()), len(session.world().rehearsals()))
    st.caption(f"It is checked first. Then this world, with {now}, is set aside and this backup takes its place.")
    with st.container(horizontal=True):
        if st.button(words.RESTORE_IT, icon=":material/settings_backup_restore:", type="primary", help=_RESTORING):
            world = session.world()
            working.begin(
                _RESTORE, lambda show, stop: backup_restoring.restore(world, path, progress=show, cancelled=stop)
            )
            st.rerun()
        _download(path)


_RESTORING = "In Python: backup_restoring.restore(world, path)"


def _set_aside() -> None:
    kept = swap.of_world(session.world().folder)
    if kept:
        st.subheader("Set aside", anchor=False)
    for aside in kept[:10]:
        with st.container(horizontal=True, vertical_alignment="center"):
            with st.container(width="stretch", gap=None):
                st.text(f"The world until {stamp(aside.at)}")
                st.caption(
                    widgets.plain(
                        f"{ago(aside.at, real_clock())}, when {aside.why} · {tables.megabytes(aside.size)} · "
                        f"{aside.folder}"
                    )
                )
            if st.button(words.PUT_BACK, key=f"back-{aside.folder.name}", icon=":material/undo:", help=_PUT_BACK):
                _put_back(aside)


_PUT_BACK = "In Python: backup_restoring.put_back(world, aside). The present world is set aside in turn."


def _put_back(aside: swap.Aside) -> None:
    try:
        backup_restoring.put_back(session.world(), aside)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    session.forget()
    _tell(f"{words.WORLD_AS_IT_WAS} {stamp(aside.at)}.")
    st.rerun()


def _tell(sentence: str) -> None:
    """Make the line at the bottom say that another world is here, and offer to bring back the one set aside."""
    world = session.world()
    aside = next(iter(swap.of_world(world.folder)), None)
    if aside is None:
        widgets.say_next(sentence)
        return

    def undo() -> None:
        backup_restoring.put_back(session.world(), aside)
        session.forget()

    bulk.did(
        sentence, undo, f"{words.WORLD_AS_IT_WAS} {stamp(aside.at)}.",
        holds=lambda: aside in swap.of_world(session.world().folder), where="backup_restoring.put_back(world, aside)",
    )  # fmt: skip


def _busy(name: str) -> bool:
    work = working.of(name)
    if work is None or not work.running:
        return False
    working.bar(name)
    return True


def _ended(name: str) -> bool:
    """Whether a piece of work has ended; if it failed or was stopped, say so."""
    work = working.of(name)
    if work is None or work.running:
        return False
    if work.problem is not None:
        widgets.problem(work.problem)
    elif work.result is None:
        st.info(
            "It was stopped; nothing was changed." if work.stopping else "It failed; see the terminal for the reason."
        )
    return True


def _agents(manifest: Manifest) -> str:
    return _counted(len(manifest.agents), len(manifest.rehearsals))


def _counted(agents: int, rehearsals: int) -> str:
    """How many characters there are, and how many of the agents are rehearsals."""
    text = tables.counted(rehearsals, "rehearsal", "rehearsals")
    return f"{_characters(agents - rehearsals)}{f' and {text}' if rehearsals else ''}"


def _characters(count: int) -> str:
    return tables.counted(count, "character", "characters")
