"""Language models: one interface, two of them, and the tasks that they are given."""

from .base import Completion, LanguageModel
from .tasks import Task

__all__ = ["Completion", "LanguageModel", "Task"]
