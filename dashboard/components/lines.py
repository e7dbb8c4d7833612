"""Lines or cards, each with what can be done about it: one element of a page, however many there are.

Streamlit needs some five milliseconds of the browser for each text and each button, so that ten memories with a button
each cost more than the page that they are on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from . import mounting


@dataclass(frozen=True)
class Act:
    """A button of a line.

    Args:
        name: distinguishes it from others on the line.
        label: what it says.
        help: what it does, shown under the pointer.
        off: whether it cannot be pressed now.
    """

    name: str
    label: str
    help: str = ""
    off: bool = False


@dataclass(frozen=True)
class Line:
    """A text, and what can be done about it.

    Args:
        id: distinguishes it from the others.
        text: its text, shown literally; it comes from strangers.
        note: smaller text below it.
        title: text above it, such as the name of its owner.
        picture: the address of a picture next to the title.
        acts: its buttons.
    """

    id: str
    text: str
    note: str = ""
    title: str = ""
    picture: str = ""
    acts: tuple[Act, ...] = ()


def show(key: str, lines: Iterable[Line], *, cards: bool = False, pressed: Callable[[], None] | None = None) -> None:
    """Draw lines below each other, or cards side by side if they fit.

    Args:
        key: distinguishes them from others on the page; ``taken`` returns what was pressed there.
        lines: what is shown.
        cards: whether each has a frame.
        pressed: called when a button was pressed, before the next run.
    """
    keep, drawn = mounting.keeping(_pressed(key)), list(lines)
    offered = {(line.id, act.name) for line in drawn for act in line.acts if not act.off}

    def press(act: Mapping[str, Any]) -> None:
        if _line_and_act(act) in offered:
            keep(act)
            if pressed is not None:
                pressed()

    data = {"lines": [dataclasses.asdict(line) for line in drawn], "cards": cards}
    mounting.show("lines", data, press, key=f"lines-{key}")


def taken(key: str) -> tuple[str, str] | None:
    """The id of the line and the name of the act that was pressed; only once; ``None`` if none was."""
    act = mounting.taken(_pressed(key))
    return _line_and_act(act) if act else None


def _line_and_act(act: Mapping[str, Any]) -> tuple[str, str]:
    return mounting.text(act, "id"), mounting.text(act, "act")


def _pressed(key: str) -> str:
    return f"lines-{key}-pressed"
