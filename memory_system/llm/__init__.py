"""Language models: one interface, two implementations, and the tasks that they are given."""

from . import keys, prices
from .base import Completion, LanguageModel
from .config import PROVIDERS, ModelChoice, Provider
from .prices import Price
from .prompt_file import PromptFile
from .prompts import PROMPTS, Prompt, checked, shipped
from .switchable import Trial, WorldModel
from .tasks import Task
from .usage import Spent, total

__all__ = [
    "PROMPTS",
    "PROVIDERS",
    "Completion",
    "LanguageModel",
    "ModelChoice",
    "Price",
    "Prompt",
    "PromptFile",
    "Provider",
    "Spent",
    "Task",
    "Trial",
    "WorldModel",
    "checked",
    "keys",
    "prices",
    "shipped",
    "total",
]
