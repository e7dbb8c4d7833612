"""Material from elsewhere, recognised by what stands in it: a card, a chat, a table, a persona, prose."""

from .material import TITLES, Dropped, Material, Origin, Part, Piece
from .recognised import PERSONA_FILES, read_material

__all__ = ["PERSONA_FILES", "TITLES", "Dropped", "Material", "Origin", "Part", "Piece", "read_material"]
