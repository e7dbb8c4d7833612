"""How many tokens a text takes: an estimate that needs no download and errs high, corrected by servers' reports.

Every model splits text differently. The estimate therefore counts what the less efficient common tokenizers need
(cl100k and o200k of OpenAI's, Llama 2 and 3, Mistral, Qwen), based on how byte-level tokenizers work:

- no such tokenizer takes more than one token for each UTF-8 byte, which is the count for scripts that few of them know;
- a letter of the Latin, Greek, Cyrillic, Hebrew and Arabic scripts is at most one token, an ideograph,
  kana or Hangul syllable two, counted together (common ones are one, rare ones three);
- English words are a token or two, but Finnish ones are four: the count is one for every three letters begun, so that
  English prose is overestimated by half; anything that does not look like a word (base64, hashes, keys) counts a token
  for each character, as digits do.

Packing: splits what is too much for one prompt into as few parts as possible that fit in one each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

Item = TypeVar("Item")


def packed(items: Iterable[Item], most: int, size: Callable[[Item], int]) -> Iterator[list[Item]]:
    """The items in order, in as few parts as possible no larger than ``most``; a single item may be larger."""
    part: list[Item] = []
    filled = 0
    for item in items:
        needed = size(item)
        if part and filled + needed > most:
            yield part
            part, filled = [], 0
        part.append(item)
        filled += needed
    if part:
        yield part


MESSAGE = 8
"""Tokens of a message in addition to its text: its role and its borders, 3 with OpenAI, 5 with Llama 3."""
CALL = 12
"""Tokens of a tool call in addition to its name and arguments."""
PREAMBLE = 8
"""Tokens that begin a prompt and the answer."""
TOOLS = 120
"""Tokens that templates spend on explaining that there are tools."""
_WORD = 24
"""Letters of the longest run that counts as a word."""
_PIECE = re.compile(
    r"(?P<word>[A-Za-z0-9]+)"
    r"|(?P<marks>[\"{}\[\]:,]+)"
    r"|(?P<spaces> {2,})"
    r"|(?P<free> (?=[A-Za-z!-/:-@\[-`{-~]|\Z))"
    r"|(?P<same>([!-/;-@\\^-`|~])\6{3,})"
    r"|(?P<letter>[\u00c0-\u024f\u0370-\u052f\u05d0-\u05ea\u0620-\u064a]+)"
    r"|(?P<syllable>[\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef\u2010-\u2027]+)"
    r"|(?P<ascii>[\x00-\x7f])"
    r"|(?P<other>.)",
    re.DOTALL,
)
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]")
_SHORT = 2000
"""Letters of the longest text whose estimate is cached."""
_LEAST, _MOST = 0.5, 3.0
_BELIEVED = 0.25
_EASE = 0.1


def estimate(text: str) -> int:
    """How many tokens a text takes, rather too many than too few; 0 for no text. Takes time linear in its length."""
    return _remembered(text) if len(text) <= _SHORT else _estimated(text)


def _estimated(text: str) -> int:
    return sum(_size(piece) for piece in _PIECE.finditer(text))


_remembered = lru_cache(maxsize=4096)(_estimated)
"""Cached for short texts: the messages of a conversation are counted again at every step."""


def first(text: str, most: int) -> str:
    """The beginning of a text, with at most this many tokens by the estimate."""
    size = 0
    for piece in _PIECE.finditer(text):
        size += (needed := _size(piece))
        if size > most:
            within = (most - size + needed) // 2  # for one long word, as much as fits at the most tokens per character
            return text[: piece.start() + (within if len(piece.group()) > 2 else 0)]
    return text


def of_messages(messages: Iterable[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()) -> int:
    """The tokens of a prompt: messages and tools in OpenAI's form, with everything around them."""
    size = PREAMBLE + sum(of_message(message) for message in messages)
    return size + of_tools(tools)


def of_message(message: Mapping[str, Any]) -> int:
    """The tokens of one message in OpenAI's form, including its tool calls."""
    size = MESSAGE + estimate(str(message.get("content") or "")) + estimate(str(message.get("tool_call_id") or ""))
    for call in message.get("tool_calls") or ():
        function = call["function"]
        size += CALL + estimate(str(function["name"])) + estimate(str(function["arguments"]))
    return size


def of_tools(tools: Sequence[Mapping[str, Any]]) -> int:
    """The tokens of tool definitions; 0 for none."""
    return TOOLS + estimate(json.dumps(list(tools), ensure_ascii=False)) if tools else 0


@dataclass(frozen=True)
class Correction:
    """The factor for the estimate that follows from a server's own counts, 0.5 to 3.

    A count above the estimate is believed at once, since exceeding the context costs a call. One below is
    approached in tenths, and not at all under a quarter: some servers leave out what they had cached.
    """

    factor: float = 1.0

    def of(self, estimated: int) -> int:
        """The estimate, corrected; rounded up."""
        return -int(-estimated * self.factor // 1)

    def learned(self, estimated: int, reported: int | None) -> Correction:
        """The correction after a server reported its count for a prompt with this estimate."""
        if not reported or estimated <= 0 or reported < _BELIEVED * estimated:
            return self
        share = min(max(reported / estimated, _LEAST), _MOST)
        return Correction(share if share > self.factor else self.factor + _EASE * (share - self.factor))


def _size(piece: re.Match[str]) -> int:
    text = piece.group()
    match piece.lastgroup:
        case "word":
            return _word(text)
        case "free":
            return 0  # the space before a word or a mark is part of its token
        case "spaces":
            return 1 + len(text) // 16
        case "marks" | "same":
            return (len(text) + 1) // 2
        case "letter":
            return len(text)
        case "syllable":
            return 2 * len(text)
        case "ascii":
            return 1
        case _:
            return len(text.encode("utf-8", "surrogatepass"))


def _word(text: str) -> int:
    if text.isalpha() and (text.islower() or text[1:].islower() or len(text) == 1) and len(text) <= _WORD:
        return (len(text) + 2) // 3
    parts = _PART.findall(text)
    if len(text) > _WORD or 3 * len(parts) > len(text):
        return len(text)
    return sum((len(part) + 1) // 2 if part.isupper() else (len(part) + 2) // 3 for part in parts)
