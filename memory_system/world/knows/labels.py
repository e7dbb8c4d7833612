"""Corrections of cells by a person: planned here, stored by the world's agent, and used before any judge."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.change_set import Change, ChangeSet, excerpt, is_text
from ...core.dismissed import fingerprint
from ...core.known import Label
from ...errors import InvalidParameter, shown
from ..knowing import Kept
from .cell import Verdict

LABEL = "label"
"""The names of the change sets in the history."""
MOST_FACT = 1000
"""How many characters a fact may have."""


def checked_fact(fact: object) -> str:
    """A sentence that can be asked about.

    Raises:
        InvalidParameter: not a text of 1 to 1,000 characters.
    """
    if not is_text(fact) or not fact.strip() or len(fact.strip()) > MOST_FACT or "\x00" in fact:
        raise InvalidParameter(f"The fact is a sentence of 1 to {MOST_FACT:,} characters, not {shown(fact)}.")
    return " ".join(fact.split())


def told_fact(fact: object) -> str:
    """A sentence that can be known; a question cannot.

    Raises:
        InvalidParameter: it is not a text of 1 to 1,000 characters, or a question.
    """
    sentence = checked_fact(fact)
    if sentence.endswith(("?", "？", "؟")):
        raise InvalidParameter(
            f"{excerpt(sentence)} is a question. Write what may be known as a sentence, such as: Juno has the key."
        )
    return sentence


def checked_verdict(verdict: object) -> Verdict:
    """A verdict, given as such or in its words.

    Raises:
        InvalidParameter: there is no such verdict.
    """
    try:
        return Verdict(str(verdict).strip().casefold())
    except ValueError:
        choices = ", ".join(f"“{choice}”" for choice in Verdict)
        raise InvalidParameter(f"There is no verdict {shown(verdict)}; there are {choices}.") from None


def label_of(held: Sequence[Label], agent: str, fact: str) -> Label | None:
    """The correction for a character and a fact; case and spaces do not matter."""
    mark = fingerprint(fact)
    return next((label for label in held if label.agent == agent and fingerprint(label.fact) == mark), None)


def correct(kept: Kept, agent: str, fact: str, verdict: Verdict | None, memory: str) -> ChangeSet:
    """Plan to set whether a character knows a fact, or to take that back (``None``); see ``World.correct``."""
    label = label_of(kept.labels, agent, fact)
    before = None if label is None else kept.find(label.id)
    after = None if verdict is None else Label(agent, fact, str(verdict), memory).entry
    changes = [] if before == after else [Change(before, after, "A person looked at it.")]
    what = f"{agent} {verdict}" if verdict is not None else f"What was said of {agent} is taken back"
    return kept.plan(LABEL, f"{what}: {excerpt(fact)}" if changes else "Nothing to change", changes)
