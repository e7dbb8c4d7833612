"""Packing: what is too much for one prompt, in as few parts as have room in one each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def packed(items: Iterable[Item], most: int, size: Callable[[Item], int]) -> Iterator[list[Item]]:
    """The items in their order, in as few parts as are no larger than ``most``; an item alone may be."""
    part: list[Item] = []
    filled = 0
    for item in items:
        needed = size(item)
        if part and filled + needed > most:
            yield part
            part, filled = [], 0
        part.append(item)
        filled += needed
    if part:
        yield part
