"""A rehearsal compared with its original as words and tables. Imports no streamlit, to be tested on its own."""

from __future__ import annotations

from memory_system import Change, ChangeSet, Tier
from memory_system.core import text_words
from memory_system.store.journal import Applied
from memory_system.world.branches import Apart, Fit

from .. import words
from . import tables

VERBS = {"add": "Added", "forget": "Forgotten", "move": "Moved", "update": "Changed"}
"""What became of a memory in a rehearsal."""
TEXTS = {
    "personality": "Personality",
    "settings": "Settings",
    "cues": words.SAVED_CUES,
    "judgments": "Judgments",
    "dismissed": "Dismissed suspicions",
    "later": "Decisions put off",
    "interviews": "Kept interviews",
    "portrait": "Portrait",
    "card": "Imported card",
}
_MOST = 160
"""The most characters of a value in a line that shows what it was and is."""


def called(name: str) -> str:
    """What a text is called on a page."""
    return TEXTS.get(name, text_words(name))


def label(name: str, purpose: str | None) -> str:
    """The name of an agent in a choice of agents; ``purpose`` is that of a rehearsal, ``None`` = it is not one."""
    if purpose is None:
        return name
    return f"{name} (rehearsal{f': {tables.short(purpose, 40)}' if purpose else ''})"


def line(what: str, before: str, after: str) -> str:
    """One difference of a text on one line: "Top-k: 5 → 9"; an added or removed value has a sign."""
    if before == "nothing":
        return f"{what}: + {tables.short(after, 2 * _MOST)}"
    if after == "nothing":
        return f"{what}: − {tables.short(before, 2 * _MOST)}"
    return f"{what}: {tables.short(before, _MOST)} → {tables.short(after, _MOST)}"


def summary(apart: Apart, original: str) -> str:
    """How much differs, in a sentence."""
    parts = [tables.counted(len(apart.memories), "memory", "memories")] if apart.memories else []
    parts += [f"the {called(text.name).lower()}" for text in apart.texts]
    words = f"{', '.join(parts[:-1])}{' and ' if parts[1:] else ''}{parts[-1]}"
    single = len(apart.memories) + len(apart.texts) == 1 and apart.memories
    clashing = sum(each.clash for each in apart.memories) + sum(each.clash for each in apart.texts)
    sentence = f"Differs from {original}: {words}."
    if not clashing:
        return sentence
    which = "It clashes" if single else f"{clashing} of them {'clashes' if clashing == 1 else 'clash'}"
    return f"{sentence} {which}: the original was changed too."


def outcome(planned: ChangeSet, original: str) -> str:
    """What keeping does to the original, in numbers."""
    lived = [change for change in planned.changes if not _is_fact(change)]
    parts = [
        f"{tables.counted(number, 'memory', 'memories')} {words}"
        for verb, words in (("add", "more"), ("update", "changed"), ("move", "moved"), ("forget", "forgotten"))
        if (number := sum(change.verb == verb for change in lived))
    ]
    names = [called(text.name) for text in planned.texts]
    parts += [f"the {name.lower()} changed" for name in names]
    return f"{original} would have: {', '.join(parts)}." if parts else f"Nothing would change in {original}."


def _is_fact(change: Change) -> bool:
    return any(end.tier is Tier.STATIC for end in (change.before, change.after) if end is not None)


def state(record: Applied, fit: Fit) -> str:
    """Whether a change in a rehearsal fits the original."""
    if record.undone_by is not None:
        return "undone here"
    if fit.there:
        return "in the original"
    return tables.visible(fit.problem) or "can be kept"
