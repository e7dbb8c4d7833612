"""Tokens and cost: what a character's calls of language models cost, its budget, and the prices of the models."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from memory_system import AgentMemory, MemorySystemError
from memory_system.errors import InvalidParameter
from memory_system.llm import Price, Spent, prices, total

from .. import session
from ..data import tables
from . import bulk, drafts, widgets

_COLUMNS = ["model", "prompt", "answer"]
_NO_LIMIT = "0 means no limit."


def line(agent: AgentMemory) -> str:
    """What was used so far, in a few words for the foot of a page."""
    try:
        spent = total(agent.spent)
    except MemorySystemError as error:
        return error.sentence
    if not spent.calls:
        return "No tokens were spent"
    limit = agent.settings.token_budget
    return f"{spent.tokens:,}{f' of {limit:,}' if limit else ''} tokens spent" + (
        f", cost {cost(spent.cost)}" if spent.cost else ""
    )


def cost(value: float) -> str:
    """A cost with two decimals; a smaller one above 0 is shown as such."""
    return "less than 0.01" if 0 < value < 0.01 else f"{value:,.2f}"


def section(agent: AgentMemory) -> None:
    """What was used by model and task, the budget, and the prices."""
    with st.container(border=True, key="spending"):
        st.header("Tokens and cost", anchor=False)
        try:
            spent = agent.spent
        except MemorySystemError as error:
            widgets.problem(error)
            return
        _taken(agent, spent)
        if widgets.closed(agent):
            return
        with st.expander("Budget"):
            _budget(agent)
        with st.expander("Prices of this world's models"):
            _prices({usage.model for usage in spent})


def _taken(agent: AgentMemory, spent: tuple[Spent, ...]) -> None:
    if not spent:
        st.caption(
            "No language model calls for this character yet. The offline rules use no tokens;"
            " all other calls are counted here: ratings, reflections, summaries, plans and "
            "talk."
        )
        return
    whole, settings = total(spent), agent.settings
    of_tokens = f" of {settings.token_budget:,}" if settings.token_budget else ""
    of_cost = f" of {settings.cost_budget:g}" if settings.cost_budget else ""
    with st.container(horizontal=True):
        st.metric("Tokens", f"{whole.tokens:,}{of_tokens}", border=True, width="content")
        st.metric("Calls", f"{whole.calls:,}", border=True, width="content")
        st.metric("Cost", f"{cost(whole.cost)}{of_cost}", border=True, width="content")
    st.caption("Calls in progress, or cut off by a crash, count with their maximum.")
    rows = [
        {
            "model": tables.visible(usage.model),
            "task": tables.visible(usage.task),
            "calls": usage.calls,
            "sent": usage.prompt,
            "received": usage.answer,
            "cost": cost(usage.cost),
        }
        for usage in spent
    ]
    widgets.table(
        pd.DataFrame(rows),
        hide_index=True,
        column_config={
            "model": st.column_config.TextColumn("Model", width="large"),
            "task": st.column_config.TextColumn("For", width="small"),
            "calls": st.column_config.NumberColumn("Calls", width="small", format="localized"),
            "sent": st.column_config.NumberColumn("Tokens sent", width="small", format="localized"),
            "received": st.column_config.NumberColumn("Received", width="small", format="localized"),
            "cost": st.column_config.TextColumn("Cost", width="small"),
        },
    )


def _budget(agent: AgentMemory) -> None:
    settings = agent.settings
    st.caption(
        "A call that may exceed the remaining budget is not made: you get a clear error, "
        f"and events are stored unrated. Estimates err on the high side. {_NO_LIMIT}"
    )
    now = {"tokens": settings.token_budget, "cost": settings.cost_budget}
    draft = drafts.Draft(
        f"budget/{agent.name}", now, {"tokens": "Limit on total tokens", "cost": "Limit on total cost"}
    )
    tokens = st.number_input(
        "Limit on total tokens",
        0,
        10**12,
        step=10_000,
        key=draft.field("tokens"),
        help=_NO_LIMIT,
        persist_state="session",
    )
    money = st.number_input(
        "Limit on total cost", 0.0, 1e9, step=1.0, key=draft.field("cost"), persist_state="session",
        help=f"In the currency of the prices. {_NO_LIMIT}",
    )  # fmt: skip
    settled = draft.settle_clashes()
    same = (settings.token_budget, settings.cost_budget) == (int(tokens), float(money))
    if st.button(
        "Save the budget", icon=":material/save:", type="primary", disabled=same or not settled,
        help="In Python: AgentMemory.configure(token_budget=..., cost_budget=...)",
    ):  # fmt: skip
        try:
            done = agent.configure(token_budget=int(tokens), cost_budget=float(money))
        except MemorySystemError as error:
            widgets.problem(error)
            return
        draft.done()
        bulk.done(agent, done, "The budget is saved")
        st.rerun()


def _prices(used: set[str]) -> None:
    st.caption(
        "Per million tokens, in any one currency. A model without a price counts as free,"
        " such as a local one. Past calls keep their cost."
    )
    world = session.world()
    try:
        by_model = prices.read(world.folder)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    rows: list[dict[str, Any]] = [
        {"model": name, "prompt": price.prompt, "answer": price.answer} for name, price in by_model.items()
    ]
    rows += [{"model": name, "prompt": None, "answer": None} for name in sorted(used - by_model.keys())]
    edited = drafts.table(
        pd.DataFrame(rows, columns=_COLUMNS).astype({"model": "string", "prompt": "Float64", "answer": "Float64"}),
        "prices",
        num_rows="dynamic",
        hide_index=True,
        column_config={
            "model": st.column_config.TextColumn("Model", width="large"),
            "prompt": st.column_config.NumberColumn("Tokens sent", min_value=0, format="%.4g"),
            "answer": st.column_config.NumberColumn("Tokens received", min_value=0, format="%.4g"),
        },
    )
    if not _as_begun(by_model):
        st.caption(":material/info: The prices were changed elsewhere since you opened this table.")
        if st.button("Reload", icon=":material/refresh:", help="Your entries here are discarded."):
            _begin_again()
            st.rerun()
    if st.button("Save the prices", icon=":material/save:", help="In Python: world.models.set_prices(...)"):
        try:
            world.models.set_prices(read(edited))
        except MemorySystemError as error:
            widgets.problem(error)
            return
        _begin_again()
        saved = prices.read(world.folder)
        bulk.did(
            "The prices are saved", lambda: world.models.set_prices(by_model), "The prices are as before.",
            holds=lambda: prices.read(world.folder) == saved, where="world.models.set_prices(...)",
        )  # fmt: skip
        st.rerun()


def _as_begun(by_model: dict[str, Price]) -> bool:
    """Whether the prices are those that the table began with; if nothing was written into it, it begins again."""
    begun = st.session_state.setdefault("prices-begun", dict(by_model))
    if begun != by_model and not drafts.table_written("prices"):
        _begin_again()
        st.rerun()
    return bool(begun == by_model)


def _begin_again() -> None:
    """Make the table begin with the present prices."""
    drafts.forget_table("prices")
    st.session_state.pop("prices-begun", None)


def read(edited: pd.DataFrame) -> dict[str, Price]:
    """The prices of an edited table; rows without any price are left out.

    Raises: InvalidParameter: a row has no name or half a price, a name appears twice, or a price is out of its
        range.
    """
    found: dict[str, Price] = {}
    for row in edited.to_dict("records"):
        name, prompt, answer = (None if pd.isna(row[column]) else row[column] for column in _COLUMNS)
        if prompt is None and answer is None:
            continue
        if prompt is None or answer is None or not name:
            raise InvalidParameter("A price needs the name of the model, and a number for tokens sent and received.")
        if name in found:
            raise InvalidParameter(f"The model {name!r} has two prices. Keep one.")
        found[str(name)] = Price(float(prompt), float(answer))
    return found
