"""The embedders that ``MEMORY_EMBEDDER`` can name; another package adds one through an entry point."""

from __future__ import annotations

from collections.abc import Callable

from ..core.registry import Registry
from ..core.settings import Settings
from ..errors import FROM_ELSEWHERE, ExtraMissing, InvalidParameter, words_of
from .embedder import Embedder, FromChroma, MiniLM, known_languages, without_cache, words_too
from .minilm import weights
from .multilingual import Multilingual

EMBEDDERS: Registry[Callable[[Settings], Embedder]] = Registry(
    "memory_system.embedders", "embedder", {"minilm": f"{__name__}:minilm", "multilingual": f"{__name__}:multilingual"}
)
"""Functions that make an embedder from an installation's settings."""


def minilm(settings: Settings) -> MiniLM:
    """all-MiniLM-L6-v2, its weights in the installation's cache."""
    return MiniLM(settings.cache)


def multilingual(_settings: Settings) -> Multilingual:
    """The Universal Sentence Encoder for sixteen languages; its package includes the weights.

    Raises:
        ExtraMissing: the package is not installed.
    """
    return Multilingual()


def chosen(settings: Settings) -> Embedder:
    """A new embedder, as named in the settings, without a cache.

    Vectors of an embedder from another package are scaled to unit length, and refused if they are not finite.

    Raises:
        InvalidParameter: there is none of this name, or it cannot be made.
        ExtraMissing: a package that it needs is not installed.
    """
    make = EMBEDDERS.get(settings.embedder)
    try:
        made = make(settings)
        embed, identity = made.embed, made.identity
    except ExtraMissing:
        raise
    except FROM_ELSEWHERE as error:
        raise InvalidParameter(f"The embedder {settings.embedder!r} cannot be made: {words_of(error)}") from error
    if not isinstance(identity, str) or not identity or not identity.isprintable():
        raise InvalidParameter(f"The embedder {settings.embedder!r} has no identity to keep beside its vectors.")
    if isinstance(made, MiniLM):
        return made
    return FromChroma(embed, identity, known_languages(made), words_too=words_too(made))


def checked(embedder: Embedder) -> Embedder:
    """The embedder that a program brings, whose vectors are scaled to unit length, and refused if they are none."""
    if isinstance(without_cache(embedder), MiniLM | FromChroma):
        return embedder
    return FromChroma(embedder.embed, embedder.identity, known_languages(embedder), words_too=words_too(embedder))


def fetched(settings: Settings, say: Callable[[str], None]) -> Embedder:
    """As ``chosen``, with the weights fetched; ``say`` gets progress messages if they have to be downloaded.

    Raises:
        InvalidParameter: there is none of this name, or it cannot be made.
        EmbedderError: the weights cannot be obtained.
    """
    made = chosen(settings)
    if isinstance(made, MiniLM):
        weights.ensure(settings.cache, say)
    return made
