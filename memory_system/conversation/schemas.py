"""Schemas: the functions of an agent by MemGPT's names (arXiv 2310.08560), in the form of OpenAI's tools.

They stand in every prompt of the strategy ``virtual``, and are therefore short.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .messages import SEND

HEARTBEAT = "request_heartbeat"
"""The argument by which a model asks to go on once a function has answered, before it is the other's turn."""

_BLOCK = {"enum": ["persona", "human"]}
_TEXT = {"type": "string"}
_PAGE = {"type": "integer"}


def _definition(name: str, description: str, required: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    properties = {**required, **more}
    if name != SEND:
        properties[HEARTBEAT] = {"type": "boolean"}
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


DEFINITIONS: tuple[Mapping[str, Any], ...] = (
    _definition(SEND, "Say something.", {"message": _TEXT}, {}),
    _definition("core_memory_append", "Add to core memory.", {"name": _BLOCK, "content": _TEXT}, {}),
    _definition(
        "core_memory_replace",
        "Replace exact text in core memory.",
        {"name": _BLOCK, "old_content": _TEXT, "new_content": _TEXT},
        {},
    ),
    _definition("conversation_search", "Search all that was ever said.", {"query": _TEXT}, {"page": _PAGE}),
    _definition(
        "conversation_search_date",
        "What was said between two ISO 8601 dates.",
        {"start_date": _TEXT, "end_date": _TEXT},
        {"page": _PAGE},
    ),
    _definition("archival_memory_insert", "Remember an event.", {"content": _TEXT}, {}),
    _definition("archival_memory_search", "Search your life and documents.", {"query": _TEXT}, {"page": _PAGE}),
)
"""The functions in the form of OpenAI's tools; each but ``send_message`` takes ``request_heartbeat`` too."""
NAMES = tuple(str(one["function"]["name"]) for one in DEFINITIONS)
PARAMETERS = {name: one["function"]["parameters"] for name, one in zip(NAMES, DEFINITIONS, strict=True)}
