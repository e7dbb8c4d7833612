"""Who trusts whom as a picture: the cast in a circle, and arrows to the people whom each knows, wider with trust.

Imports no streamlit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from memory_system.world.cast import Bond

from . import tables
from .zone import stamp

HEIGHT, LEAST = 520, 330
"""The picture's height and least width in pixels."""
_NARROWEST, _WIDEST, _BEND, _AWAY = 1.0, 6.0, 18, 26
_MOST = 24
"""The most letters of a name under a picture."""


def picture(
    bonds: Sequence[Bond], cast: Sequence[str], opens: str, portrait: Callable[[str], str], name: Callable[[str], str]
) -> dict[str, Any]:
    """The data of the graph: each of the cast, followed by the arrows to those it knows.

    Args:
        bonds: what each thinks of others; those who are not characters are left out.
        cast: the names of the characters that are drawn.
        opens: the label of the button that opens a character.
        portrait: returns the picture of a character.
        name: returns what a character is called.
    """
    turn = 2 * math.pi / max(len(cast), 1)
    at = {
        who: (round(0.5 + 0.42 * math.sin(turn * number), 4), round(0.46 - 0.38 * math.cos(turn * number), 4))
        for number, who in enumerate(cast)
    }
    items: list[dict[str, Any]] = []
    for who in cast:
        own = [bond for bond in bonds if bond.agent == who and bond.to in at]
        arrows = [_arrow(bond, at, opens, name) for bond in own]
        trusted = sorted((bond for bond in own if bond.trust is not None), key=lambda bond: -(bond.trust or 0))
        text = ", ".join(f"{name(bond.to)} {bond.trust:.2f}" for bond in trusted)
        x, y = at[who]
        items.append(
            {
                "kind": "point", "id": who, "x": x, "y": y, "look": "person", "picture": portrait(who),
                "label": tables.short(name(who), _MOST), "beside": [arrow["id"] for arrow in arrows],
                "title": f"{name(who)}.", "text": f"Trusts {text}." if text else "Whom it trusts is not known yet.",
                "opens": {"name": who, "label": opens},
            }
        )  # fmt: skip
        items += arrows
    return {
        "label": "Who trusts whom: arrow keys walk, Enter opens a character",
        "height": HEIGHT, "least": LEAST, "items": items, "none": "",
    }  # fmt: skip


def _arrow(bond: Bond, at: dict[str, tuple[float, float]], opens: str, name: Callable[[str], str]) -> dict[str, Any]:
    trust = "open" if bond.trust is None else f"{bond.trust:.2f}"
    parts = [bond.relation, f"trust {trust}"]
    parts += [tables.counted(bond.talks, "talk", "talks")] if bond.talks else []
    parts += [f"last {stamp(bond.last)}"] if bond.last else []
    parts += [bond.why.rstrip(".")] if bond.why else []
    return {
        "kind": "arrow", "id": f"{bond.agent}>{bond.to}", "from": at[bond.agent], "to": at[bond.to],
        "bend": _BEND, "away": _AWAY, "look": "open" if bond.trust is None else "",
        "wide": _NARROWEST + (_WIDEST - _NARROWEST) * (bond.trust or 0.0), "beside": [bond.agent, bond.to],
        "title": f"{name(bond.agent)} of {name(bond.to)}:",
        "text": tables.visible(f"{'; '.join(filter(None, parts))}."),
        "opens": {"name": bond.agent, "label": opens},
    }  # fmt: skip
