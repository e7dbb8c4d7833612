"""Conversations from elsewhere: SillyTavern's, ChatGPT's, Claude's, and plain logs; each turn is a memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ....core.entry import Kind, Source
from ..dates import Order, Written, at_start, order_of
from ..turns import MAX_SPEAKER, NAME_WORDS, SPOKEN
from .material import Gathering, made_id

_NOTICE = "A notice of the program, which nobody said."
_SHORT_YEAR = re.compile(
    r"[\u200e\u200f\ufeff\s]*(?P<before>\[?\d{1,2}(?P<sign>[./-])\d{1,2}(?P=sign))(?P<year>\d{2})(?=,?\s+\d{1,2}[:.]\d{2})"
)
"""A date as messengers write it, with a two-digit year and a time of day after it."""
_NICK = re.compile(r"<\s*(?P<speaker>[^<>\s][^<>\n]{0,58}?)>\s+(?P<text>.+)$", re.DOTALL)
"""A turn of a log of IRC."""
_ATTACHED = re.compile(
    r"\u200e[^\n]{1,80}|<(?:[^<>\n]*\b(?:omitted|ausgeschlossen|omis|omitido|oculto|oculta|omesso|omessi|weggelaten)"
    r"|(?:attached|anhang|joint|adjunto): [^<>\n]+)>",
    re.IGNORECASE,
)
"""What a messenger writes in place of a picture or a recording, or, after a mark, as its own notice."""
_OTHER_BRANCH = "It was replaced by another answer; the conversation goes on elsewhere."


@dataclass
class _Talk:
    """A conversation while it is turned into memories."""

    into: Gathering
    key: tuple[object, ...]
    title: str = ""
    turns: int = 0
    time: datetime | None = None
    talk: str = ""

    def turn(self, place: str, speaker: str, text: object, when: datetime | None, *, own: bool = False) -> None:
        """Add something that was said; without a time, it has that of the turn before it."""
        if not isinstance(text, str) or not text.strip():
            self.into.drop(place, text or "", "Nothing is said in it.")
            return
        name = " ".join(speaker.split())[:MAX_SPEAKER] or "Somebody"
        self.time = when or self.time
        talk = self.talk = self.talk or made_id("talk", *self.key)
        metadata: dict[str, Any] = {"conversation": talk.removeprefix("in:"), "turn": self.turns, "speaker": name}
        metadata |= {"conversation_title": self.title[:MAX_SPEAKER]} if self.title else {}
        own = own or name.casefold() == self.into.who.casefold()
        self.into.memory(
            place, f"{name}: {text.strip()}", metadata=metadata, id=f"{talk}-{self.turns:05}", kind=Kind.CONVERSATION,
            timestamp=self.time, people=(name,), source=None if own else Source.TOLD,
        )  # fmt: skip
        self.turns += 1


# -- SillyTavern ----------------------------------------------------------------------------------------------


def is_sillytavern(rows: Sequence[Any]) -> bool:
    """Whether the objects of some lines are a chat of SillyTavern's."""
    first = rows[0] if rows else None
    header = isinstance(first, dict) and ("chat_metadata" in first or {"user_name", "character_name"} <= set(first))
    return header or any(isinstance(row, dict) and {"mes", "is_user"} <= set(row) for row in rows[:5])


def read_sillytavern(rows: Sequence[tuple[int, Any]], into: Gathering) -> None:
    """Read the lines of a chat: a header, and then one message per line; what was swiped away is left out."""
    header = next((row for _, row in rows if isinstance(row, dict) and "mes" not in row), {})
    begun = next((row.get("send_date") for _, row in rows if isinstance(row, dict) and "mes" in row), "")
    talk = _Talk(into, ("sillytavern", header.get("character_name"), header.get("create_date"), begun))
    for line, message in rows:
        place = f"line {line}"
        if not isinstance(message, dict):
            into.drop(place, message, "It is not a message.")
        elif "mes" not in message:
            if message is not header:
                into.drop(place, message, "It is not a message.")
        elif message.get("is_system") or message.get("role") == "system":
            into.drop(place, message["mes"], _NOTICE)
        else:
            user = bool(message.get("is_user"))
            called = message.get("name") or header.get("user_name" if user else "character_name")
            name = called if isinstance(called, str) and called else "User" if user else into.who
            talk.turn(place, name, message["mes"], into.moment(message.get("send_date")), own=not user)
            for swipe in message.get("swipes") or () if isinstance(message.get("swipes"), list) else ():
                if isinstance(swipe, str) and swipe.strip() and swipe.strip() != str(message["mes"]).strip():
                    into.drop(place, swipe, "An answer that was swiped away.")


def _talks(value: object, is_one: Callable[[object], bool], into: Gathering) -> Iterator[tuple[str, Any]]:
    """Each conversation of a file of one or many, and where it is; anything else is left out."""
    for number, talk in enumerate(value if isinstance(value, list) else [value], start=1):
        place = f"conversation {number}"
        if is_one(talk):
            yield place, talk
        else:
            into.drop(place, talk, "It is not a conversation.")


# -- ChatGPT --------------------------------------------------------------------------------------------------


def is_chatgpt(value: object) -> bool:
    """Whether this is a conversation of ChatGPT's, or a list of them."""
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and isinstance(first.get("mapping"), dict)


def read_chatgpt(value: object, into: Gathering) -> None:
    """Read conversations along the path that ends in ``current_node``; other branches are left out."""
    for place, talk in _talks(value, is_chatgpt, into):
        nodes = {key: node for key, node in talk["mapping"].items() if isinstance(node, dict)}
        path = _path(nodes, talk.get("current_node"), "parent", _sent)
        conversation = _Talk(into, ("chatgpt", talk.get("conversation_id") or talk.get("id"), talk.get("create_time")))
        conversation.title = _said(talk.get("title"))
        conversation.time = into.moment(talk.get("create_time"))
        for step, key in enumerate(path, start=1):
            message = nodes[key].get("message")
            if isinstance(message, dict):
                _chatgpt_turn(f"{place}, message {step}", message, conversation)
        on_it = set(path)
        for key, node in nodes.items():
            if key not in on_it and isinstance(node.get("message"), dict) and (text := _parts(node["message"])[0]):
                into.drop(f"{place}, message {key}", text, _OTHER_BRANCH)


def _chatgpt_turn(place: str, message: Mapping[str, Any], talk: _Talk) -> None:
    author = message.get("author")
    role = author.get("role") if isinstance(author, dict) else None
    metadata = message.get("metadata")
    text, others = _parts(message)
    for other in others:
        talk.into.drop(place, other, "It is not text.")
    hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation")
    if role not in ("user", "assistant") or hidden or message.get("recipient", "all") not in ("all", None):
        if text:
            why = "What a tool did." if role in ("tool", "assistant") and not hidden else _NOTICE
            talk.into.drop(place, text, why)
        return
    if text or not others:
        own = role == "assistant"
        name = (talk.into.who or "Assistant") if own else "User"
        talk.turn(place, name, text, talk.into.moment(message.get("create_time")), own=own)


def _parts(message: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The text of a message, and the kinds of its parts that are not text."""
    content = message.get("content")
    if not isinstance(content, dict):
        return _said(content), []
    parts = content.get("parts")
    if not isinstance(parts, list):
        return _said(content.get("text") or content.get("result")), []
    texts = [part for part in parts if isinstance(part, str)]
    texts += [_said(part.get("text")) for part in parts if isinstance(part, dict) and part.get("text")]
    others = [_said(part.get("content_type")) or "a file" for part in parts if isinstance(part, dict)]
    return "\n".join(texts).strip(), [kind for kind in others if kind != "audio_transcription"]


def _sent(node: Mapping[str, Any]) -> float:
    message = node.get("message")
    at = message.get("create_time") if isinstance(message, dict) else None
    return float(at) if isinstance(at, int | float) and not isinstance(at, bool) else float("-inf")


# -- Claude ---------------------------------------------------------------------------------------------------


def is_claude(value: object) -> bool:
    """Whether this is a conversation of Claude's, or a list of them."""
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and isinstance(first.get("chat_messages"), list)


def read_claude(value: object, into: Gathering) -> None:
    """Read conversations, along the newest branch where a message has several answers."""
    for place, talk in _talks(value, is_claude, into):
        conversation = _Talk(into, ("claude", talk.get("uuid"), talk.get("created_at")), _said(talk.get("name")))
        conversation.time = into.moment(talk.get("created_at"))
        messages = talk["chat_messages"]
        nodes = {
            str(message.get("uuid", row)): message for row, message in enumerate(messages) if isinstance(message, dict)
        }
        parents = [node.get("parent_message_uuid") for node in nodes.values()]
        branched = len({str(parent) for parent in parents if parent}) < len([parent for parent in parents if parent])
        path = list(nodes)
        if branched or str(talk.get("current_leaf_message_uuid")) in nodes:
            path = _path(nodes, talk.get("current_leaf_message_uuid"), "parent_message_uuid", _written(into)) or path
        on_path = set(path)
        for step, (key, message) in enumerate(nodes.items(), start=1):
            where = f"{place}, message {step}"
            if key not in on_path:
                into.drop(where, _blocks(message), _OTHER_BRANCH)
                continue
            own = message.get("sender") == "assistant"
            name = (into.who or "Assistant") if own else "User"
            conversation.turn(where, name, _blocks(message), into.moment(message.get("created_at")), own=own)
            for beside in (*(message.get("attachments") or ()), *(message.get("files") or ())):
                into.drop(where, beside.get("file_name", "") if isinstance(beside, dict) else beside, "It is a file.")


def _written(into: Gathering) -> Any:
    def at(message: Mapping[str, Any]) -> float:
        moment = into.moment(message.get("created_at"))
        return float("-inf") if moment is None else moment.timestamp()

    return at


def _blocks(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        texts = [
            _said(block.get("text")) for block in content if isinstance(block, dict) and block.get("type") == "text"
        ]
        if joined := "\n".join(filter(None, texts)):
            return joined
    return _said(message.get("text"))


# -- logs -----------------------------------------------------------------------------------------------------


def is_log(lines: Sequence[tuple[int, str]]) -> bool:
    """Whether most lines say who is speaking, and somebody speaks twice.

    If the first has a date, only lines with one count: a message of several lines has it once.
    """
    looked = [line for _, line in lines[:500]]
    speakers = _speakers(looked)
    if speakers and len({*speakers}) * 2 <= len(speakers) + 1:
        return True
    dated = [line for line in looked if _date_before(line) is not None]
    speakers = _speakers(dated) if dated and dated[0] is looked[0] else []
    return len({*speakers}) < len(speakers)


def _speakers(lines: Sequence[str]) -> list[str]:
    """Who speaks in these lines, if three fifths of them have a speaker and more than once."""
    found = [turn[1] for line in lines if (turn := _spoken(line)) is not None]
    return found if len(found) >= 2 and len(found) * 5 >= len(lines) * 3 else []


def read_log(lines: Sequence[tuple[int, str]], into: Gathering, asked: Order | None) -> None:
    """Read lines ``Name: what was said``, with or without their dates; other lines continue the last."""
    found = [(number, line, _spoken(line)) for number, line in lines]
    order, open_ = order_of([turn[0] for _, _, turn in found if turn and turn[0]], asked)
    if open_:
        into.note(open_)
    dated = sum(turn is not None and turn[0] is not None for _, _, turn in found)
    notices = dated * 5 >= sum(turn is not None for _, _, turn in found) * 4
    talk = _Talk(into, ("log", *(line for _, line in lines[:3])))
    waiting: tuple[str, str, str, datetime | None] | None = None
    for number, line, turn in found:
        place = f"line {number}"
        if turn is not None:
            if waiting is not None:
                _say(talk, *waiting)
            written, speaker, text = turn
            waiting = (place, speaker, text, None if written is None else written.moment(order))
            if written is not None and written.zone is None:
                into.moment("2000-01-01T00:00:00")
        elif notices and _date_before(line) is not None:
            into.drop(place, line, _NOTICE)
        elif waiting is not None:
            waiting = (waiting[0], waiting[1], f"{waiting[2]}\n{line.strip()}".strip(), waiting[3])
        else:
            into.drop(place, line, "It names no speaker.")
    if waiting is not None:
        _say(talk, *waiting)


def _say(talk: _Talk, place: str, speaker: str, text: str, when: datetime | None) -> None:
    """Add a turn of a log; of a placeholder for a file, only the caption."""
    head, _, under = text.partition("\n")
    if when is None or not _ATTACHED.fullmatch(head.strip()):
        talk.turn(place, speaker, text, when)
    elif under.strip():
        talk.turn(place, speaker, under, when)
    else:
        talk.into.drop(place, text, "It stands for a file, or is a notice of the program.")


def _spoken(line: str) -> tuple[Written | None, str, str] | None:
    """The date, the speaker and the words of a line; ``None`` if nobody speaks in it."""
    written = _date_before(line)
    if written is not None and written.problem is not None:
        return None
    rest = line if written is None else written.rest
    found = (_NICK.match(rest) if written is not None else None) or SPOKEN.match(rest)
    if found is None or len(found["speaker"].split()) > NAME_WORDS:
        return None
    return written, found["speaker"].strip(), found["text"] or ""


def _date_before(line: str) -> Written | None:
    """The date with which a line begins, also with the year in two figures, if a time of day follows."""
    return at_start(_SHORT_YEAR.sub(r"\g<before>20\g<year>", line, count=1) if _SHORT_YEAR.match(line) else line)


def _said(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _path(nodes: Mapping[str, Mapping[str, Any]], leaf: object, up: str, sent: Any) -> list[str]:
    """The path from the first message to a leaf, or to the newest of all if the leaf is not known; no message twice."""
    if not isinstance(leaf, str) or leaf not in nodes:
        with_children = {str(node.get(up)) for node in nodes.values()}
        leaves = [key for key in nodes if key not in with_children]
        leaf = max(leaves, key=lambda key: sent(nodes[key]), default=None)
    found: dict[str, None] = {}
    for key in _upward(nodes, leaf, up):
        if key in found:
            break
        found[key] = None
    return [*reversed(found)]


def _upward(nodes: Mapping[str, Mapping[str, Any]], leaf: object, up: str) -> Iterator[str]:
    while isinstance(leaf, str) and leaf in nodes:
        yield leaf
        leaf = nodes[leaf].get(up)
