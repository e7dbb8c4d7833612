"""What can be imported as events: values, lines of text, spreadsheets and conversations."""

from .columns import as_cell, from_cell
from .dates import Order
from .taking_in import Becomes, Imported, Preview, Take
from .text import NOW, Form, Reading, Row, columns_of, decoded, guess, read_text

__all__ = [
    "NOW",
    "Becomes",
    "Form",
    "Imported",
    "Order",
    "Preview",
    "Reading",
    "Row",
    "Take",
    "as_cell",
    "columns_of",
    "decoded",
    "from_cell",
    "guess",
    "read_text",
]
