"""Patience: whether to ask a server again after a refusal, and after how long, before the deadline."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

from .errors import TOO_MANY, Refusal

_FIRST = 0.5
"""Seconds of the first pause if the server specifies none; each further one is twice as long."""
_TIMES = {TOO_MANY: 3}
_OTHERWISE = 1
"""How often it is asked again if the server specifies no pause: a busy one may soon be free, a broken one will not."""
_TIMES_TOLD = 5
"""How often if it specifies one."""
_LEAST = 0.05


def pause(refusal: Refusal, times: int, left: float) -> float | None:
    """Seconds until the request is sent again; ``None`` if it is not.

    Args:
        refusal: the last answer.
        times: how often it has been sent again so far.
        left: seconds until the deadline; a pause that would end after it is not made.
    """
    if not refusal.passing:
        return None
    if refusal.told is not None:
        wait, most = max(_LEAST, refusal.told), _TIMES_TOLD
    else:
        wait = _FIRST * 2**times * random.uniform(0.75, 1)  # noqa: S311 - only to avoid simultaneous retries
        most = _TIMES.get(refusal.status or 0, _OTHERWISE)
    return wait if times < most and wait < left else None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that an answer's headers ask to wait, 0 or more; ``None`` if they do not say.

    ``Retry-After`` is a number or a date, which counts from the answer's own ``Date``; ``retry-after-ms`` is OpenAI's.

    Args:
        headers: of the answer; names in any case if the mapping finds them so.
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        if (value := headers.get(name)) is not None:
            seconds = _number(value)
            seconds = seconds / unit if seconds is not None else _until(value, headers.get("date"))
            if seconds is not None:
                return max(0.0, seconds)
    return None


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _until(value: str, date: str | None) -> float | None:
    then, now = _moment(value), _moment(date or "")
    if then is None or now is None or (then.tzinfo is None) != (now.tzinfo is None):
        return None
    return (then - now).total_seconds()


def _moment(value: str) -> datetime | None:
    try:
        return parsedate_to_datetime(value)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
