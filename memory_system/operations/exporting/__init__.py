"""What a character is and remembers, in forms for people and other programs. Nothing here changes anything."""

from .. import pictures
from . import rows
from .character import Character, Exported, Form, Remembered
from .forms import DESCRIBED, MEDIA, exported, form_of

__all__ = [
    "DESCRIBED",
    "MEDIA",
    "Character",
    "Exported",
    "Form",
    "Remembered",
    "exported",
    "form_of",
    "pictures",
    "rows",
]
