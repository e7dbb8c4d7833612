"""The embedders that ``MEMORY_EMBEDDER`` can name; another package adds one by an entry point."""

from __future__ import annotations

from collections.abc import Callable

from ..core.registry import Registry
from ..core.settings import Settings
from ..errors import InvalidParameter
from .embedder import Embedder, FromChroma, MiniLM
from .minilm import weights

EMBEDDERS: Registry[Callable[[Settings], Embedder]] = Registry(
    "memory_system.embedders", "embedder", {"minilm": f"{__name__}:minilm"}
)
"""Functions that make an embedder for an installation's settings."""


def minilm(settings: Settings) -> MiniLM:
    """all-MiniLM-L6-v2, its weights in the installation's cache."""
    return MiniLM(settings.cache)


def chosen(settings: Settings) -> Embedder:
    """A new embedder, the one that the settings name, without a cache.

    Vectors of an embedder from another package are brought to unit length, and refused if they are not finite.

    Raises:
        InvalidParameter: there is none of this name, or it cannot be made.
    """
    make = EMBEDDERS.get(settings.embedder)
    try:
        made = make(settings)
        embed, identity = made.embed, made.identity
    except Exception as error:  # a package from elsewhere may fail in any way
        raise InvalidParameter(f"The embedder {settings.embedder!r} cannot be made: {error!s:.300}") from error
    if not isinstance(identity, str) or not identity or not identity.isprintable():
        raise InvalidParameter(f"The embedder {settings.embedder!r} has no identity to keep beside its vectors.")
    return made if isinstance(made, MiniLM) else FromChroma(embed, identity)


def fetched(settings: Settings, say: Callable[[str], None]) -> Embedder:
    """As ``chosen``, with the weights at hand; ``say`` hears how that goes if they have to be fetched.

    Raises:
        InvalidParameter: there is none of this name, or it cannot be made.
        EmbedderError: the weights cannot be had.
    """
    made = chosen(settings)
    if isinstance(made, MiniLM):
        weights.ensure(settings.cache, say)
    return made
