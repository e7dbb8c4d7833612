"""The offline language model: no key, no network, the same answer each time. It quotes, and never invents."""

from .model import OfflineModel

__all__ = ["OfflineModel"]
