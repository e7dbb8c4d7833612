"""What all errors have in common."""

from __future__ import annotations


def shown(value: object) -> str:
    """A value for a message, cut short; a whole number of thousands of digits has no text at all."""
    try:
        return f"{value!r:.60}"
    except ValueError:
        return "a number of thousands of digits"


class MemorySystemError(Exception):
    """Catch this to catch everything that this package raises on purpose."""

    status = 500
    code = "internal"

    @property
    def sentence(self) -> str:
        """The message for people."""
        return str(self)


class ExtraMissing(MemorySystemError):
    """Raise when something was asked for whose packages were not installed.

    Args:
        what: needs them, as the beginning of a sentence.
        extra: brings them.
    """

    status = 501
    code = "extra-missing"

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs packages that are not installed. Run: pip install 'memory-system[{extra}]'")
