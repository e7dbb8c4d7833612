"""What a change did, made visible: removed and added words, and fields before and after. No streamlit."""

from __future__ import annotations

import difflib
import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from memory_system import AgentSettings, MemoryEntry
from memory_system.core import CONVERSATION, OF_A_CONVERSATION, TextChange
from memory_system.errors import InvalidParameter

from . import setting_names, tables

Part = Literal["same", "gone", "new"]
MOST_WORDS = 4000
"""How many words of a text are compared one by one; a longer text is shown as a whole, before and after."""
_ALIKE = 0.25
"""The least share of common words in two texts for their differences to be shown word by word."""
_WORD = re.compile(r"\s+|\w+|[^\w\s]")
_SIGN = {"gone": ("del", "−"), "new": ("ins", "+")}
STYLE = (
    "<style>.diff{white-space:pre-wrap;overflow-wrap:anywhere;line-height:var(--type-read-line)}"
    ".diff ins,.diff del{border-radius:3px;padding:0 2px}"
    ".diff ins{text-decoration:none;background:light-dark(#d3f0e3,#0d4a35);color:light-dark(#00472f,#b9f5dc)}"
    ".diff del{background:light-dark(#fbe0d3,#5a2a12);color:light-dark(#7a2600,#ffd9c4)}"
    ".diff :is(ins,del)::before{content:attr(data-sign);font-weight:700;margin-right:2px}</style>"
)


def words(before: str, after: str) -> list[tuple[Part, str]]:
    """The texts word by word: what is the same, what is gone and what is new, in order."""
    one, two = tables.visible(before), tables.visible(after)
    if one == two:
        return [("same", one)]
    left, right = _WORD.findall(one), _WORD.findall(two)
    if max(len(left), len(right)) > 2 * MOST_WORDS:
        return list(_changed(one, two))
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    same = sum(_is_word(word) for match in matcher.get_matching_blocks() for word in left[match.a :][: match.size])
    if same < _ALIKE * max(sum(map(_is_word, left)), sum(map(_is_word, right))):
        return list(_changed(one, two))
    parts: list[tuple[Part, str]] = []
    for what, i, j, k, m in matcher.get_opcodes():
        if what == "equal":
            parts.append(("same", "".join(left[i:j])))
            continue
        if i < j:
            parts.append(("gone", "".join(left[i:j])))
        if k < m:
            parts.append(("new", "".join(right[k:m])))
    return _joined(parts)


def _is_word(token: str) -> bool:
    return token[:1].isalnum()


def _joined(parts: Sequence[tuple[Part, str]]) -> list[tuple[Part, str]]:
    """A space between two changes becomes part of both, so that a rewritten phrase reads as one."""
    found: list[tuple[Part, str]] = []
    gone, new = "", ""
    for number, (what, text) in enumerate(parts):
        between = what == "same" and not text.strip() and (gone or new) and number + 1 < len(parts)
        if what == "same" and not between:
            found += [*_changed(gone, new), (what, text)]
            gone, new = "", ""
        else:
            gone += text if what != "new" else ""
            new += text if what != "gone" else ""
    return [*found, *_changed(gone, new)]


def _changed(gone: str, new: str) -> Iterator[tuple[Part, str]]:
    if gone:
        yield "gone", gone
    if new:
        yield "new", new


def markup(before: str, after: str) -> str:
    """The difference as HTML, with all texts escaped; − and + mark what was removed and added."""
    return f'{STYLE}<div class="diff">{"".join(marked(what, text) for what, text in words(before, after))}</div>'


def marked(what: Part, text: str) -> str:
    """One part of visible text as HTML, escaped; unchanged text has no mark."""
    shown = escaped(text)
    if what == "same":
        return shown
    tag, sign = _SIGN[what]
    return f'<{tag} data-sign="{sign}">{shown or "nothing"}</{tag}>'


def escaped(text: str) -> str:
    """Visible text as HTML that shows it as it is."""
    return html.escape(text)


@dataclass(frozen=True)
class FieldChange:
    """One field of a memory or a text, in words: what it was, and what it became."""

    field: str
    before: str
    after: str


def fields(before: MemoryEntry | None, after: MemoryEntry | None) -> list[FieldChange]:
    """The fields that differ, except the text."""
    was, became = _fields_in_words(before), _fields_in_words(after)
    names = dict.fromkeys([*was, *became])
    return [
        FieldChange(name, was.get(name, ""), became.get(name, ""))
        for name in names
        if was.get(name, "") != became.get(name, "")
    ]


def _fields_in_words(entry: MemoryEntry | None) -> dict[str, str]:
    if entry is None:
        return {}
    values = {
        "kept in": tables.TIERS[entry.tier],
        "kind": entry.kind.value,
        "happened": tables.exact(entry.timestamp) if entry.timestamp else "timeless",
        "importance": "unrated" if entry.rating is None else f"{entry.importance:.2f} (rated {entry.rating:g} of 10)",
        "why this importance": tables.visible(entry.explanation),
        "tags": tables.visible(", ".join(entry.tags)),
        **{name.lower(): tables.visible(value) for name, value in tables.scene(entry).items()},
        "pinned": "yes" if entry.pinned else "",
        "by a person": "yes" if entry.authored else "",
        "rests on": tables.counted(len(entry.evidence), "memory", "memories") if entry.evidence else "",
    }
    return values | {tables.visible(name): tables.visible(str(value)) for name, value in entry.extras.items()}


def of_text(change: TextChange) -> list[FieldChange]:
    """What changed in settings, or in the state of a talk, name by name; empty for other texts."""
    ours = change.name == "settings"
    if change.name == "portrait":
        return [
            FieldChange("picture", *("a picture" if text else "a pattern" for text in (change.before, change.after)))
        ]
    if not ours and not change.name.startswith(OF_A_CONVERSATION):
        return []
    was, became = (dict(_flat(_parsed(_complete(text) if ours else text))) for text in (change.before, change.after))
    names = dict.fromkeys([*was, *became])
    called = _STATE if change.name.startswith(CONVERSATION) else {}
    return [
        FieldChange(
            called.get(name) or tables.visible(setting_names.called(name) if ours else name.replace("_", " ")),
            was.get(name, ""),
            became.get(name, ""),
        )
        for name in names
        if was.get(name) != became.get(name)
    ]


_STATE = {
    "first": "number of the first message in the prompt",
    "next_number": "messages so far",
    "remembered": "messages that a synopsis stands for",
    "summarised": "messages that the summary stands for",
    "noted": "number of the first message in the last note",
    "warned": "warned that the prompt is nearly full",
    "scale": "tokens as counted, times those estimated",
    "ceiling": "most tokens that the server takes",
    "paused_until": "speaks no sooner than",
}
"""Labels for the state of a conversation, by stored name."""


def _complete(settings: str | None) -> str | None:
    """Settings completed with defaults, as those written by an earlier version need."""
    try:
        return AgentSettings.from_json(settings).to_json()
    except InvalidParameter:
        return settings


def lines(change: TextChange) -> str:
    """The lines of a text that differ, marked with − and +; JSON is put on lines first."""
    before, after = (_on_lines(text) for text in (change.before, change.after))
    return tables.line_diff(before, after)


def _on_lines(text: str | None) -> str:
    if text is None:
        return ""
    found = _parsed(text)
    return text if found is None or "\n" in text else json.dumps(found, ensure_ascii=False, indent=1)


def _parsed(text: str | None) -> Any:
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return None


def _flat(node: Any, above: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(node, Mapping):
        for name, value in node.items():
            yield from _flat(value, f"{above}{name}, " if isinstance(value, Mapping) else f"{above}{name}")
    elif above:
        yield above.removesuffix(", "), tables.visible(str(node))
