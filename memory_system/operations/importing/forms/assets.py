"""What came with a character card besides its words: pictures and other files, of which one becomes the portrait.

The specification of V3 names them in ``assets``: within the card, next to it in its archive (CHARX), or on a server. A
server is never contacted.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any

from .containers import MAX_CARD, Archive
from .material import Gathering

_BESIDE = ("embeded://", "embedded://")
"""How the specification spells the address of a file next to the card, and the correct spelling."""
_WITHIN = "data:"
_OF_THE_CARD = "ccdefault:"
_IN_PICTURE = "__asset:"
"""How programs spell the address of a file in the texts of the picture that holds the card."""
_KEPT = "The card keeps its address"
_NOT_HELD = "Of the files beside a card only its picture is kept, as the portrait."


def read_within(card: Mapping[str, Any], into: Gathering) -> None:
    """Read what is within a card: its picture becomes the portrait, everything else is noted."""
    for place, asset in _main_first(_assets(card)):
        address = str(asset.get("uri", ""))
        if address.startswith(_BESIDE):
            continue  # its archive is read next, if it came in one
        if address.startswith(_WITHIN) and _is_icon(asset) and into.portrait is None:
            _take(place, address, into)
        elif address.startswith(_WITHIN):
            into.drop(place, _named(asset), "Only one picture is kept as the portrait; the card keeps this one.")
        elif address.startswith(_OF_THE_CARD) or not address:
            continue  # the picture that holds the card
        elif address.startswith(_IN_PICTURE):
            into.drop(place, _named(asset), _NOT_HELD)
        else:
            into.drop(place, _named(asset), f"It is stored elsewhere and is not fetched. {_KEPT}.")


def read_beside(card: Mapping[str, Any], archive: Archive, into: Gathering) -> None:
    """Read the files next to a card in its archive: its picture becomes the portrait, everything else is noted."""
    named = {_inside(str(asset.get("uri", ""))): asset for _, asset in _assets(card)}
    lost = [(place, asset) for place, asset in _assets(card) if _inside(str(asset.get("uri", "")))]
    for place, asset in _main_first(lost):
        name = _inside(str(asset.get("uri", "")))
        if name not in archive.names:
            into.drop(place, _named(asset), f"The archive has no file {name[:100]!r}.")
        elif _is_icon(asset) and into.portrait is None:
            into.picture(name, archive.read(name, MAX_CARD))
        else:
            into.drop(name, _named(asset), _NOT_HELD)
    for name in archive.names:
        if name != "card.json" and name not in named:
            into.drop(name, "a file that the card does not name", _NOT_HELD)


def _assets(card: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    data = card.get("data")
    listed = data.get("assets") if isinstance(data, Mapping) else None
    items = enumerate(listed if isinstance(listed, list) else (), start=1)
    return [(f"data.assets.{number}", asset) for number, asset in items if isinstance(asset, Mapping)]


def _main_first(assets: list[tuple[str, Mapping[str, Any]]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield from sorted(assets, key=lambda pair: not (_is_icon(pair[1]) and pair[1].get("name") == "main"))


def _is_icon(asset: Mapping[str, Any]) -> bool:
    return asset.get("type") == "icon"


def _inside(address: str) -> str:
    """The name of a file next to the card; empty for all other addresses."""
    return next((address.removeprefix(prefix) for prefix in _BESIDE if address.startswith(prefix)), "")


def _named(asset: Mapping[str, Any]) -> str:
    return f"{asset.get('type', 'file')} {asset.get('name', '')}".strip()[:200]


def _take(place: str, address: str, into: Gathering) -> None:
    head, _, body = address.partition(",")
    try:
        raw = base64.b64decode(body if head.endswith(";base64") else "", validate=True)
    except binascii.Error as error:
        into.drop(place, "its picture", f"It is not base64: {error}.")
        return
    into.picture(place, raw)
