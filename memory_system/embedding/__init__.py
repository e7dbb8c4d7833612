"""Texts to vectors: the interface of an embedder, the cached all-MiniLM-L6-v2, and Chroma's embedding functions."""

from .embedder import known_languages
from .registry import EMBEDDERS, chosen, fetched

__all__ = ["EMBEDDERS", "chosen", "fetched", "known_languages"]
