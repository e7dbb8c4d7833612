"""The context inspector: how full the prompt is, what came to mind, core memory, and the functions of each turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import streamlit as st

from memory_system import AgentMemory, MemorySystemError
from memory_system.conversation import Context, Step, Strategy, TalkSettings

from ... import session, words
from ...components import bars, drafts, widgets
from ...data import tables
from . import chat, talk_figures, talk_settings, talk_tables
from .talk_state import OpenTalk

_NEXT, _CHOSEN = "next", "talk-chosen"
_LABEL = 40
"""Characters of what was said, in the list of turns."""
BLOCKS = {"persona": "Who it is", "human": "Whom it talks with"}


def show(agent: AgentMemory, open_talk: OpenTalk, settings: TalkSettings) -> None:
    """What is in the prompt: for the last turn, an earlier one, or the next one before anything is said."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**In the prompt**", width="stretch")
        shown = _which(open_talk)
    step = open_talk.steps.get(shown) if shown is not None else None
    context = step.context if step is not None else open_talk.context()
    _gauge(context, settings)
    recalled, prompt, core, functions = st.tabs(
        ["Came to mind", "Prompt", words.CORE_MEMORY, "Functions"],
        key=f"inspector-{session.place()}",
        on_change="rerun",
    )
    with recalled:
        _recalled(agent, step or open_talk.last)
    with prompt:
        if prompt.open:
            _sections(context)
    with core:
        if core.open:
            _core(agent, open_talk, settings)
    with functions:
        if functions.open:
            _functions(open_talk, step)


def _which(open_talk: OpenTalk) -> int | None:
    """The turn whose prompt is inspected, as the number of its first message; ``None`` = the next one."""
    if not open_talk.steps:
        return None
    said = _said(open_talk.steps)
    chosen = st.selectbox(
        "Of which turn",
        [*reversed(said), _NEXT],
        format_func=lambda turn: said.get(turn, "Next turn"),
        key=f"inspected-{session.place()}-{len(said)}",
        label_visibility="collapsed",
        width=240,
    )
    return chosen if isinstance(chosen, int) else None


def _said(steps: Mapping[int, Step]) -> dict[int, str]:
    """What each turn began with, shortened, by its first message; if that was said before, with how often."""
    times: Counter[str] = Counter()
    said: dict[int, str] = {}
    for first, step in steps.items():
        label = tables.short(step.messages[0].text, _LABEL) or "…"
        times[label] += 1
        said[first] = label if times[label] == 1 else f"{label} ({times[label]})"
    return said


def _gauge(context: Context, settings: TalkSettings) -> None:
    """How full the prompt is, and what did not fit in it."""
    pressed = settings.strategy is Strategy.VIRTUAL
    words = [f"{context.tokens:,} of {context.budget:,} tokens, {context.tokens / context.budget:.0%}"]
    words += [talk_settings.named(settings)]
    words += [f"{tables.counted(context.left_out, 'message', 'messages')} without room"] if context.left_out else []
    words += [f"{context.shortened} shortened"] if context.shortened else []
    st.caption(widgets.plain(" · ".join(words)))
    st.plotly_chart(
        talk_figures.gauge(
            talk_tables.sections(context),
            context.budget,
            settings.warn_at if pressed else None,
            settings.evict_at if pressed else None,
            widgets.ink(),
        ),
        config={"displayModeBar": False},
        key="talk-gauge",
        alt="How full the prompt is, by section, beside the levels of memory pressure",
    )


def _recalled(agent: AgentMemory, step: Step | None) -> None:
    """The memories that the last message brought to mind, with their score bars; a click opens the card."""
    if step is None:
        st.caption("Say something to see here which memories come to mind, and why.")
        return
    if not step.recalled.hits:
        st.caption("No memory came to mind.")
        return
    query = step.recalled.query
    frame = talk_tables.recalled(step.recalled.hits)
    bars.show(frame, query, _choose, key="talk-recalled")
    if chosen := st.session_state.pop(_CHOSEN, None):
        chat.open_card(agent, chosen)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Click a bar to open its memory.", width="stretch")
        if st.button(
            "Why not others?", icon=":material/search:", type="tertiary", key="talk-why",
            help="Every candidate with its verdict, on the Recall page.",
        ):  # fmt: skip
            st.session_state[f"addressed-{session.place()}"] = query.addressed
            st.switch_page("views/recall/recall.py", query_params={"agent": agent.name, "cue": query.cue})


def _choose(entry_id: str) -> None:
    st.session_state[_CHOSEN] = entry_id


def _sections(context: Context) -> None:
    """The prompt itself, section by section."""
    for row in talk_tables.sections(context).to_dict("records"):
        with st.expander(f"{widgets.plain(row['section'].capitalize())} · {row['tokens']:,} tokens"):
            st.code(row["text"] or "(nothing)", language=None, wrap_lines=True)


def _core(agent: AgentMemory, open_talk: OpenTalk, settings: TalkSettings) -> None:
    """Core memory, to be edited in place."""
    if settings.strategy is not Strategy.VIRTUAL:
        st.caption("Only the virtual context has a core memory. Choose that strategy under Settings.")
        return
    for block, title in BLOCKS.items():
        text = getattr(open_talk.talk.blocks, block)
        draft = drafts.Draft(f"core/{session.place()}/{open_talk.key}/{block}", {"text": text}, {"text": title})
        edited = st.text_area(
            f"{title} ({block})", max_chars=settings.block_room, height=150, key=draft.field("text"),
            disabled=agent.read_only is not None, persist_state="session",
        )  # fmt: skip
        if (
            draft.settle_clashes()
            and draft.written()
            and st.button(
                "Save", key=f"save-{draft.key}", icon=":material/save:", type="primary",
                help="In Python: Conversation.edit_core",
            )
        ):  # fmt: skip
            try:
                open_talk.edit_core(block, edited)
            except MemorySystemError as error:
                widgets.problem(error)
            else:
                draft.done()
                st.rerun()
    st.caption(
        "It is part of every prompt. The character can edit it too, with core_memory_append and core_memory_replace."
    )


def _functions(open_talk: OpenTalk, step: Step | None) -> None:
    """The functions of a turn, or of all turns of this session, with arguments, results, time and tokens."""
    steps = [step] if step is not None else list(open_talk.steps.values())
    frame = talk_tables.functions([function for some in steps for function in some.functions])
    if frame.empty:
        st.caption("No function has been called yet." if not steps else "No function was called.")
        return
    widgets.table(
        frame,
        hide_index=True,
        column_order=["function", "time", "tokens", "arguments", "result"],
        column_config={
            "function": st.column_config.TextColumn("Function", width=165),
            "arguments": st.column_config.TextColumn("Arguments", width=220),
            "result": st.column_config.TextColumn("Result", width=260),
            "time": st.column_config.NumberColumn("Time", format="%.1f ms", width=75),
            "tokens": st.column_config.NumberColumn("Tokens", width=65),
        },
    )
