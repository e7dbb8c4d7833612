"""Material from elsewhere, recognised by its content: a card, a chat, a table, a persona, prose."""

from . import ours
from .cards import with_extensions
from .material import TITLES, Dropped, Material, Origin, Part, Piece
from .ours import ABOUT, MEMORIES, PERSONALITY
from .recognised import PERSONA_FILES, read_material

FOLDER_FILES = (*PERSONA_FILES, ABOUT, PERSONALITY)
"""What is read from a folder, along with the pages of the memories."""

__all__ = [
    "FOLDER_FILES",
    "MEMORIES",
    "TITLES",
    "Dropped",
    "Material",
    "Origin",
    "Part",
    "Piece",
    "ours",
    "read_material",
    "with_extensions",
]
