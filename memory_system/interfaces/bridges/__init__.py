"""Memory for programs that are written for another library: each bridge is a class of that library, over an agent.

They are loaded on first use, and the libraries are not part of this package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .agents_session import MemorySession
    from .claude_tool import MemoryTool
    from .langgraph_store import MemoryStore

_BRIDGES = {
    "MemoryTool": ("claude_tool", "anthropic", "anthropic"),
    "MemoryStore": ("langgraph_store", "langgraph", "langgraph-checkpoint"),
    "MemorySession": ("agents_session", "agents", "openai-agents"),
}
"""Each bridge with its module, the package that it imports, and the name to install that by."""


def __getattr__(name: str) -> Any:
    """A bridge, loaded now.

    Raises:
        ModuleNotFoundError: its library is not installed; the message names it.
    """
    if name not in _BRIDGES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, package, installed = _BRIDGES[name]
    try:
        return getattr(import_module(f".{module}", __name__), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        sentence = f"{name} needs the package {installed}, which is not installed. Run: pip install {installed}"
        raise ModuleNotFoundError(sentence, name=error.name) from error


__all__ = ["MemorySession", "MemoryStore", "MemoryTool"]
