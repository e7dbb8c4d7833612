"""Merging two versions of a text that came from one: the changes of both are combined, and clashes reported."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ...core import personality as personalities
from ...core.dismissed import dump_dismissed, parse_dismissed
from ...core.saved_interviews import dump_sittings, parse_sittings
from ...core.settings import AgentSettings
from ...recall.cues import dump_cues, dump_judgments, name_key, parse_cues, parse_judgments
from ...store.put_off import dump_put_off, parse_put_off

_NONE = object()
"""The text for nothing."""


@dataclass(frozen=True)
class Merged:
    """Two versions of a text, merged.

    Args:
        text: with the changes of both sides; where they clash, the first version's.
        clashes: what both sides changed differently, in words such as "stm size"; empty if they do not clash.
    """

    text: str | None
    clashes: tuple[str, ...]


def merge(name: str, base: str | None, mine: str | None, theirs: str | None) -> Merged:
    """Merge two versions of a named text of an agent.

    Args:
        name: see ``change_set.is_text_name``.
        base: what both came from.
        mine: the version that wins where both changed the same.
        theirs: the other.

    Raises:
        InvalidInput: the merged text is not valid.
    """
    if theirs in (base, mine):
        return Merged(mine, ())
    if mine == base:
        return Merged(theirs, ())
    read, dump = _FORMS.get(name, _OF_A_CONVERSATION)
    try:
        root, first, second = read(base), read(mine), read(theirs)
    except (ValueError, RecursionError, AttributeError):
        return Merged(mine, (name,))
    clashes: list[str] = []
    both = _merged(root, first, second, (), clashes)
    return Merged(dump(both), tuple(dict.fromkeys(clashes)))


def differing(name: str, before: str | None, after: str | None) -> list[tuple[str, str, str]]:
    """The differences between two versions of a text: what it is about, and in words what it was and what it is now."""
    read = _facts if name == "personality" else _FORMS.get(name, _OF_A_CONVERSATION)[0]
    try:
        return list(_leaves(read(before), read(after), ()))
    except (ValueError, RecursionError, AttributeError):
        return [(name, before or "", after or "")]


def _merged(base: Any, mine: Any, theirs: Any, path: tuple[str, ...], clashes: list[str]) -> Any:
    if theirs in (base, mine):
        return mine
    if mine == base:
        return theirs
    if isinstance(mine, dict) and isinstance(theirs, dict):
        roots = base if isinstance(base, dict) else {}
        found = {
            key: _merged(roots.get(key, _NONE), mine.get(key, _NONE), theirs.get(key, _NONE), (*path, key), clashes)
            for key in (*theirs, *(key for key in mine if key not in theirs))
        }
        return {key: value for key, value in found.items() if value is not _NONE}
    clashes.append(_words(path))
    return mine


def _facts(text: str | None) -> Any:
    """A personality as readable facts, by section and by what each is about."""
    found: dict[str, dict[str, str]] = {}
    for fact in personalities.facts(personalities.parse(text)) if text is not None else ():
        found.setdefault(str(fact.extras["section"]), {})[fact.id] = fact.document
    return found


def _leaves(before: Any, after: Any, path: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in (*before, *(key for key in after if key not in before)):
            yield from _leaves(before.get(key, _NONE), after.get(key, _NONE), (*path, key))
    elif isinstance(after, dict) and before is _NONE and path and "cue" not in after:
        yield from _leaves({}, after, path)
    elif isinstance(before, dict) and after is _NONE and path and "cue" not in before:
        yield from _leaves(before, {}, path)
    else:
        yield _words(path), _text_of(before), _text_of(after)


def _words(path: tuple[str, ...]) -> str:
    names = [name for name in path if name not in ("scoring", "weights") and not name.startswith("static:")]
    return ", ".join(name.replace("_", " ") for name in names) or "all of it"


def _text_of(value: Any) -> str:
    if value is _NONE or value == []:
        return "nothing"
    if isinstance(value, dict) and isinstance(value.get("cue"), str):  # a saved cue, or a judgment
        return str(value["cue"])
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _settings(text: str | None) -> Any:
    return json.loads(AgentSettings.from_json(text).to_json())


def _cues(text: str | None) -> Any:
    return {name_key(cue.name): _fields(cue) for cue in parse_cues(text)}


def _judgments(text: str | None) -> Any:
    return {judgment.cue: _fields(judgment) for judgment in parse_judgments(text)}


def _dismissed(text: str | None) -> Any:
    return {" ".join(dismissed.texts): _fields(dismissed) for dismissed in parse_dismissed(text)}


def _later(text: str | None) -> Any:
    return {f"{put_off.kind} {put_off.of}".strip(): _fields(put_off) for put_off in parse_put_off(text)}


def _interviews(text: str | None) -> Any:
    return {f"{sitting.title} ({sitting.id[-8:]})": _fields(sitting) for sitting in parse_sittings(text)}


def _fields(record: Any) -> Any:
    """A record as JSON has it, so that it equals what is read back."""
    return json.loads(json.dumps(asdict(record)))


def _records_text(dump: Callable[[Any], str], parse: Callable[[str], Any]) -> Callable[[Mapping[str, Any]], str]:
    return lambda tree: dump(parse(json.dumps(list(tree.values()))))


def _plain(text: str | None) -> Any:
    return {} if text is None else json.loads(text)


_OF_A_CONVERSATION: tuple[Callable[[str | None], Any], Callable[[Any], str]] = (
    _plain,
    lambda tree: json.dumps(tree, ensure_ascii=False, sort_keys=True, separators=(",", ":")),
)
_FORMS: dict[str, tuple[Callable[[str | None], Any], Callable[[Any], str]]] = {
    "personality": (_plain, lambda tree: json.dumps(tree, ensure_ascii=False, indent=2) + "\n"),
    "settings": (_settings, lambda tree: AgentSettings.from_json(json.dumps(tree)).to_json()),
    "cues": (_cues, _records_text(dump_cues, parse_cues)),
    "judgments": (_judgments, _records_text(dump_judgments, parse_judgments)),
    "dismissed": (_dismissed, _records_text(dump_dismissed, parse_dismissed)),
    "later": (_later, _records_text(dump_put_off, parse_put_off)),
    "interviews": (_interviews, _records_text(dump_sittings, parse_sittings)),
    "portrait": (lambda text: {} if text is None else {"picture": text}, lambda tree: tree.get("picture")),
}
