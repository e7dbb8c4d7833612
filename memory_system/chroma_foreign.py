"""What a stored collection says that it would be built with, read as data: nothing here builds anything.

A collection's embedding function is a name and a configuration in its database. Chroma builds it when it is asked
for, and some of them load code from where the configuration says; so a collection that names one is refused first.
Ours name none: vectors are always handed in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

OUR_DISTANCE = "l2"
_NOTHING = ("legacy", "unknown")
"""The types that stand for no embedding function."""
_FUNCTION = "embedding_function"


def embedding_function(configuration: Mapping[str, Any] | None, schema: Mapping[str, Any] | None) -> str | None:
    """What a collection would be built with, for a message; ``None`` if that is nothing.

    Args:
        configuration: the collection's stored configuration.
        schema: its stored schema, which may name one for each key, for dense and for sparse vectors.
    """
    for found in (*_functions(configuration), *_functions(schema)):
        if found is None or (isinstance(found, Mapping) and found.get("type") in _NOTHING and "config" not in found):
            continue
        name = found.get("name") or found.get("type") if isinstance(found, Mapping) else found
        return f"{name!s:.60}"
    return None


def _functions(held: Any) -> Iterator[Any]:
    if isinstance(held, Mapping):
        for key, value in held.items():
            if key == _FUNCTION:
                yield value
            else:
                yield from _functions(value)
    elif isinstance(held, list):
        for value in held:
            yield from _functions(value)


def distance(configuration: Mapping[str, Any]) -> str:
    """By which distance a collection ranks: ``l2``, ``cosine`` or ``ip``."""
    of_index = configuration.get("hnsw") or configuration.get("spann") or {}
    return str(of_index.get("space", OUR_DISTANCE))
