"""An event in the words of somebody who knows of it, by a template: how, where, and whom they know in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...errors import ModelNonsense
from ..tasks import MAX_TEXT, Retold

_VERBS = {"saw": "I saw", "heard": "I heard", "told": "I was told", "read": "I read"}


def retell(data: Mapping[str, Any]) -> Retold:
    """The event, after how it became known; people known to the character are named with their relation to it.

    Raises:
        ModelNonsense: that is longer than an answer may be.
    """
    relations: Mapping[str, str] = data["relations"]
    teller, place = str(data["told_by"]), str(data["place"])
    began = _VERBS[str(data["how"])]
    if teller:
        began = f"{_known(teller, relations)} told me" if teller in relations else f"{teller} told me"
    where = f" at {place}" if place and not teller else ""
    event = str(data["what_happened"])
    for name in sorted(relations, key=len, reverse=True):
        if name != teller:  # the teller has already been named with theirs
            event = re.sub(
                rf"(?<!\w){re.escape(name)}(?!['’\w])(?P<end>[.,;:!?)]|$)?", _naming(name, relations), event, count=1
            )
    text = f"{began}{where}: {event}"
    if len(text) > MAX_TEXT:
        raise ModelNonsense(f"It is retold in at most {MAX_TEXT:,} characters, and this has {len(text):,}.")
    return Retold(text=text)


def _known(name: str, relations: Mapping[str, str]) -> str:
    return f"{name}, my {relations[name]},"


def _naming(name: str, relations: Mapping[str, str]) -> Any:
    def named(found: re.Match[str]) -> str:
        end = found["end"]
        return _known(name, relations) if end is None else f"{_known(name, relations)[:-1]}{end}"

    return named
