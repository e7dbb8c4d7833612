"""Cursors: where the next page of a list begins, as an opaque text."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from ..core.change_set import is_text
from ..errors import InvalidParameter

MAX_CURSOR = 3000


def cursor(of: str, after: str | int) -> str:
    """The cursor of a list, named ``of`` with its owner, that goes on after this item."""
    return (
        base64.urlsafe_b64encode(json.dumps([of, after], ensure_ascii=False, separators=(",", ":")).encode())
        .decode()
        .rstrip("=")
    )


def text_after(of: str, given: str | None) -> str:
    """The text after which a list goes on; empty at its beginning.

    Raises:
        InvalidParameter: this is not a cursor of this list.
    """
    after = "" if given is None else _read(of, given)
    if not is_text(after):
        raise _wrong()
    return after


def number_before(of: str, given: str | None) -> int | None:
    """The number before which a list, the newest first, goes on; ``None`` at its beginning.

    Raises:
        InvalidParameter: this is not a cursor of this list.
    """
    return None if given is None else number_after(of, given)


def number_after(of: str, given: str) -> int:
    """The number that the next page of a list begins at, or ends before.

    Raises:
        InvalidParameter: this is not a cursor of this list.
    """
    number = _read(of, given)
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= 2**62:
        raise _wrong()
    return number


def _read(of: str, text: str) -> Any:
    try:
        pair = json.loads(base64.b64decode(text.encode() + b"=" * (-len(text) % 4), b"-_", validate=True))
    except (ValueError, binascii.Error, RecursionError) as error:
        raise _wrong() from error
    if not isinstance(pair, list) or len(pair) != 2 or pair[0] != of:
        raise _wrong()
    return pair[1]


def _wrong() -> InvalidParameter:
    return InvalidParameter("This is not a cursor of this list: pass the 'next' of the previous page, unchanged.")
