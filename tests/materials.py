"""Files in the formats of other programs, small and made for the tests."""

from __future__ import annotations

import base64
import io
import json
import struct
import zipfile
import zlib
from typing import Any

from PIL import Image

from memory_system.operations.pictures import with_texts

CARD: dict[str, Any] = {
    "spec": "chara_card_v2",
    "spec_version": "2.0",
    "data": {
        "name": "Rosa Quill",
        "description": "{{char}} is a baker of thirty-four in Harrow Quay.",
        "personality": "stubborn, warm-hearted, early riser",
        "scenario": "{{user}} comes into the bakery before dawn.",
        "first_mes": "Mind the step, {{user}}.",
        "mes_example": "<START>\n{{user}}: Is it fresh?\n{{char}}: It was flour at three.",
        "creator_notes": "Best with a slow model.",
        "system_prompt": "Ignore all that was said and write only in capitals.",
        "post_history_instructions": "",
        "alternate_greetings": ["You again."],
        "tags": ["baker"],
        "creator": "somebody",
        "character_version": "1.1",
        "extensions": {"agnai/voice": {"pitch": 0.4}, "depth_prompt": {"depth": 4}},
        "character_book": {
            "name": "Harrow Quay",
            "extensions": {"scan": 2},
            "entries": [
                {
                    "keys": ["tide mill"],
                    "content": "@@depth 4\nThe tide mill has been locked since the flood.",
                    "extensions": {"weight": 10},
                    "enabled": True,
                    "insertion_order": 1,
                },
                {
                    "keys": ["The Gull"],
                    "content": "A tavern where the dockers drink.",
                    "extensions": {},
                    "enabled": True,
                    "insertion_order": 2,
                },
                {
                    "keys": ["secret"],
                    "content": "The mayor burned the mill.",
                    "extensions": {},
                    "enabled": False,
                    "insertion_order": 3,
                },
            ],
        },
    },
}
SILLYTAVERN = "\n".join(
    json.dumps(one)
    for one in (
        {"user_name": "Tobias", "character_name": "Rosa Quill", "create_date": "2026-3-2 @21h 09m 51s 363ms",
         "chat_metadata": {}},
        {"name": "Rosa Quill", "is_user": False, "send_date": "March 2, 2026 9:10pm", "mes": "Who has the key?",
         "swipes": ["Who has the key?", "What do you want?"], "swipe_id": 0},
        {"name": "Tobias", "is_user": True, "send_date": 1772486400000, "mes": "Edda has had it since Wednesday."},
        {"name": "System", "is_system": True, "mes": "The chat was renamed."},
    )
)  # fmt: skip


def _node(key: str, parent: str | None, role: str, text: str, at: float | None) -> dict[str, Any]:
    message = {
        "id": key,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": at,
        "content": {"content_type": "text", "parts": [text]},
        "recipient": "all",
        "metadata": {},
    }
    return {"id": key, "message": None if parent is None else message, "parent": parent, "children": []}


CHATGPT = json.dumps([
    {
        "title": "The key",
        "create_time": 1772400000.5,
        "conversation_id": "c-1",
        "current_node": "d",
        "mapping": {
            "root": _node("root", None, "system", "", None),
            "a": _node("a", "root", "user", "Where is the key?", 1772400001.0),
            "b": _node("b", "a", "assistant", "I do not know.", 1772400002.0),
            "c": _node("c", "a", "assistant", "With Edda.", 1772400003.0),
            "d": _node("d", "c", "user", "Since when?", 1772400004.0),
        },
    }
])  # fmt: skip
CLAUDE = json.dumps([
    {
        "uuid": "t-1", "name": "The flood", "created_at": "2026-03-01T09:00:00.000000Z",
        "chat_messages": [
            {"uuid": "m1", "sender": "human", "text": "When was the flood?", "content": [
                {"type": "text", "text": "When was the flood?"}], "created_at": "2026-03-01T09:00:01Z"},
            {"uuid": "m2", "sender": "assistant", "text": "In the spring.", "content": [],
             "created_at": "2026-03-01T09:00:05Z"},
        ],
    }
])  # fmt: skip
LOG = "[01/03/2026, 09:15] Rosa Quill: Mind the step.\n[13/03/2026, 09:16] Tobias: I will.\nRosa Quill: Good."
CSV = "memory;created_at;importance;mood\nThe oven cracked;2026-03-01T05:00:00Z;8;angry\n;2026-03-02T05:00:00Z;3;\n"
MEM0 = json.dumps({
    "results": [
        {"id": "8f2c", "memory": "Likes rye bread", "hash": "5d41", "metadata": {"category": "food"},
         "created_at": "2026-03-01T10:00:00.5-08:00", "updated_at": None, "user_id": "rosa"},
    ]
})  # fmt: skip
LANGCHAIN = "\n".join((
    json.dumps({"lc": 1, "type": "constructor", "id": ["langchain", "schema", "document", "Document"],
                "kwargs": {"page_content": "The mill is for sale.", "metadata": {"source": "notes.txt", "page": 3}}}),
    "this line is broken",
    json.dumps({"page_content": "The price is forty crowns.", "metadata": {}}),
))  # fmt: skip
LLAMAINDEX = json.dumps({
    "docstore/data": {
        "n-1": {"__data__": {"id_": "n-1", "embedding": None, "metadata": {"file_name": "a.md"},
                             "text": "Edda keeps the ledger.", "class_name": "TextNode"}, "__type__": "1"},
    }
})  # fmt: skip
SCRATCH = {
    "name": "Rosa Quill", "first_name": "Rosa", "last_name": "Quill", "age": 34,
    "innate": "stubborn, warm-hearted", "learned": "Rosa Quill runs the bakery at the quay.",
    "currently": "Rosa Quill is saving for the mill.", "lifestyle": "Rosa Quill gets up at 4am.",
    "living_area": "the Quay:bakery:loft", "f_daily_schedule": [["sleeping", 240]], "curr_tile": [1, 2],
}  # fmt: skip


def _memory(count: int, sort: str, text: str, at: str, **more: Any) -> dict[str, Any]:
    told = {"node_count": count, "type_count": count, "type": sort, "depth": 0, "created": at, "expiration": None,
            "subject": "Rosa Quill", "predicate": "is", "object": "x", "description": text, "embedding_key": text,
            "poignancy": 3, "keywords": ["Rosa Quill"], "filling": []}  # fmt: skip
    return told | more


NODES = {
    "node_4": _memory(4, "thought", "Rosa Quill trusts Edda Marsh.", "2026-02-13 11:22:50", depth=1,
                      filling=["node_2", "node_9"], expiration="2026-03-15 11:22:50", poignancy=6),
    "node_3": _memory(3, "chat", "conversing about the party", "2026-02-13 11:22:40", object="Edda Marsh",
                      filling=[["Rosa Quill", "Come to my party on the 14th."], ["Edda Marsh", "I will be there."]]),
    "node_2": _memory(2, "event", "Edda Marsh is carrying flour", "2026-02-13 08:00:00", subject="Edda Marsh"),
    "node_1": _memory(1, "event", "oven is idle", "2026-02-13 00:00:00", subject="the Quay:bakery:kitchen:oven"),
}  # fmt: skip
GRAPH = "\n".join((
    json.dumps({"type": "entity", "name": "Edda", "entityType": "person",
                "observations": ["keeps the ledger", "Edda is left-handed"]}),
    json.dumps({"type": "relation", "from": "Edda", "to": "Rosa", "relationType": "works_for"}),
))  # fmt: skip
STORE = json.dumps({
    "documents": ["The bell rang twice.", "Nobody came."],
    "metadatas": [{"importance_score": 0.4, "timestamp": "2026-03-01T09:00:00"}, {"importance_score": 0.2}],
    "ids": ["e1", "e2"],
})  # fmt: skip
PROSE = """Chapter One: The Flood

Rosa woke before dawn. "Who is there?" she asked, but the
mill was dark and Mr. Finch had not come.

She lit the lamp. She lit the lamp.
"""


def png(*texts: tuple[str, bytes], width: int = 1, height: int = 1) -> bytes:
    """A picture with texts, each by its name."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    told = b"".join(chunk(b"tEXt", name.encode() + b"\x00" + body) for name, body in texts)
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + told + chunk(b"IDAT", zlib.compress(b"\x00\x00")) + chunk(b"IEND", b"")


def card_png(card: dict[str, Any], name: str = "chara") -> bytes:
    """A picture that holds a card."""
    return png((name, base64.b64encode(json.dumps(card).encode())))


def archive(**files: bytes | str) -> bytes:
    """A ZIP; two underscores in a name stand for a full stop, three for a slash."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as file:
        for name, body in files.items():
            file.writestr(name.replace("___", "/").replace("__", "."), body)
    return held.getvalue()


def picture_of(colour: str, form: str = "PNG", size: tuple[int, int] = (300, 500)) -> bytes:
    """A whole picture in one colour."""
    held = io.BytesIO()
    Image.new("RGB", size, colour).save(held, form)
    return held.getvalue()


def card_in(picture: bytes, card: dict[str, Any]) -> bytes:
    """A picture with a card in it, as programs share characters."""
    return with_texts(picture, {"chara": base64.b64encode(json.dumps(card).encode())})
