"""The names of a character's settings, on the Settings page and wherever a change of them is shown."""

from __future__ import annotations

from .. import words

KEEP_BY = "Keep by"
LABELS = {
    "stm_size": words.SHORT_TERM_SIZE,
    "retention_threshold": "Retention threshold",
    "migration_threshold": "Migration threshold",
    "top_k": "Top-k",
    "threshold": "Threshold",
    "static_threshold": words.STATIC_THRESHOLD,
    "static_share": "Static share",
    "reflection_trigger": "Reflection trigger",
    "decay": "Decay",
    "recency": words.WEIGHT_OF_RECENCY,
    "importance": words.WEIGHT_OF_IMPORTANCE,
    "relevancy": words.WEIGHT_OF_RELEVANCY,
    "bin_days": words.DAYS_IN_THE_BIN,
    "ltm_size": "Size of long-term memory",
    "person_trigger": "Person trigger",
    "hourly_calls": "Calls in a world hour",
    "hourly_tokens": "Tokens in a world hour",
    "token_budget": "Token budget",
    "cost_budget": "Cost budget",
    "hourly_cost": "Cost in a world hour",
    "query_log": "Queries kept for replay",
    "history_changes": "Changes in the history",
    "history_days": "Days in the history",
    "measure": "Relevancy by",
    "retention": KEEP_BY,
    "normalise": words.SCALE_EACH_PART,
    "auto_migrate": words.MIGRATE_BY_ITSELF,
    "seats": words.SEATS_BY,
    "decay_form": words.DECAY_BY,
    "passing": words.THRESHOLD_IS_OF,
    "rated_by": "Events rated by",
    "replan": "Important events and the plan of the day",
}
"""The label of each setting of a character, by its stored name."""


def called(name: str) -> str:
    """The label of a setting; ``name`` may have spaces, and the name of its group before it."""
    kept = name.rpartition(", ")[2].replace(" ", "_")
    return LABELS.get(kept, name.replace("_", " "))
