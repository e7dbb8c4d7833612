"""Optional dependencies, and the sentence for those who lack them."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import ExtraMissing

_OURS = ("memory_system", "dashboard")


@contextmanager
def needs(extra: str, what: str) -> Iterator[None]:
    """Within it, a package that cannot be imported is reported as the extra that installs it.

    Args:
        extra: as in ``memory-system[dashboard]``.
        what: what needs it, to begin a sentence: "The dashboard".

    Raises:
        ExtraMissing: a package of the extra is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or _OURS[0]).partition(".")[0] in _OURS:
            raise
        raise ExtraMissing(what, extra) from error


def require(package: str, extra: str, what: str) -> None:
    """Do nothing if a package is installed; it is not imported.

    Raises:
        ExtraMissing: it is not.
    """
    if importlib.util.find_spec(package) is None:
        raise ExtraMissing(what, extra)
