"""Memories that may say the same or contradict each other, and what is done about them."""

from .suspicions import RELATED, THRESHOLD, Look, Sort, Suspicion

__all__ = ["RELATED", "THRESHOLD", "Look", "Sort", "Suspicion"]
