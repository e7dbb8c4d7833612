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
