"""The operations, each declared once: every front end is made of this list.

The addresses of the HTTP API, the client's calls, the commands, the MCP tools, the dashboard's forms and the labels of
the history come from it; ``fields`` is how a front end reads a form, and ``problem_words`` how it says what is
wrong with one.
"""

from ...errors import problem_words
from ..forms import FormField, fields
from .declared import BESIDE, OF_CAST, OF_WORLD, OPERATIONS, Configure, Operation, Turn, history_labels

__all__ = [
    "BESIDE",
    "OF_CAST",
    "OF_WORLD",
    "OPERATIONS",
    "Configure",
    "FormField",
    "Operation",
    "Turn",
    "fields",
    "history_labels",
    "problem_words",
]
