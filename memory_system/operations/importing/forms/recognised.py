"""What a file is, found out by its content and not by its name, and read by the reader for that form."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ....core.json_source import parse_strict
from ....errors import InvalidFile, InvalidParameter, Problem, kind_of, shown
from ..columns import begins_a_table
from ..dates import Order, at_start
from ..events import MAX_BATCH, MAX_FILE
from ..text import decoded
from . import assets, cards, chats, ours, personas, prose, tables
from .containers import PNG, ZIP, Archive, card_of_picture
from .material import TITLES, Gathering, Material, Origin, refusal

_LINE_END = re.compile(r"\r\n|\r|\n")
PERSONA_FILES = ("nodes.json", "scratch.json", "spatial_memory.json")
"""What is read from a persona's folder."""
_MOST_LINES = 1_000_000
_PDF = b"%PDF-"


def read_material(
    raw: bytes | str,
    now: datetime,
    *,
    file_name: str = "",
    origin: Origin | str | None = None,
    who: str = "",
    order: Order | str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Material:
    """The content of a file in any of the known forms.

    Args:
        raw: the file's bytes, or its text; at most 50 MB.
        now: the world's time.
        file_name: what it is called, for messages.
        origin: its form; found out from its content if not given.
        who: the name of the character it is read for: their own words are not something they were told, and of several
            personas in an archive theirs is read.
        order: what comes first in dates such as 03/04/2026; found out from the others if not given.
        columns: for a table or objects: for a field (``document``, ``timestamp``, ``rating``, ``tags``, ``people``,
            ``place``, ``source``), the name to use for it, empty for none; guessed for fields not given.

    Raises:
        InvalidFile, InvalidPersonality: it cannot be accepted; nothing was changed.
        InvalidParameter: there is no such form or order, or the name or the columns are not texts.
    """
    asked = _one_of(Origin, origin, "form")
    dates = _one_of(Order, order, "order of dates")
    if not isinstance(file_name, str):
        raise InvalidParameter(f"The file's name must be text, not {kind_of(file_name)}.")
    chosen = {} if columns is None else columns
    if not isinstance(chosen, Mapping) or not all(isinstance(name, str) for name in (*chosen, *chosen.values())):
        raise InvalidParameter("'columns' names, by the name of a field, the column that is taken for it.")
    reading, source = _Reading(now, who, asked, dates, dict(chosen)), file_name[:100] or "the material"
    try:
        into = reading.read(raw, source)
        if len(into.pieces) > MAX_BATCH:
            raise refusal(f"it has more than {MAX_BATCH:,} memories; split it")
        return into.material()
    except InvalidFile as error:
        raise InvalidFile(error.problems, source) from error
    except (TypeError, KeyError, AttributeError, IndexError, OverflowError, RecursionError) as error:
        named = TITLES.get(reading.found, "what it seems to be") if reading.found else "what it seems to be"
        problem = Problem("", f"it is not written as {named} is: {error!s:.100}")
        raise InvalidFile((problem,), source) from error


class _Reading:
    """One file while it is turned into material."""

    def __init__(
        self, now: datetime, who: str, asked: Origin | None, order: Order | None, columns: Mapping[str, str]
    ) -> None:
        self.now, self.who, self.asked, self.order, self.columns = now, who, asked, order, columns
        self.found: Origin | None = None

    def read(self, raw: bytes | str, name: str) -> Gathering:
        if isinstance(raw, str):
            raw = raw.encode("utf-8", "surrogatepass")
        if len(raw) > MAX_FILE:
            raise refusal(f"it has {len(raw):,} bytes; at most {MAX_FILE:,} are allowed")
        if not raw.strip():
            raise refusal("it is empty")
        if raw.startswith(PNG):
            return self._card(card_of_picture(raw), picture=raw)
        if raw.startswith(ZIP):
            return self._archive(Archive(raw))
        if raw.startswith(_PDF):
            raise refusal(
                "it is a PDF; load it into the character's archive, or save its text in a file and import that"
            )
        if b"\x00" in raw[:4096] and not raw.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise refusal(f"it is a binary file of an unknown form. Known forms are: {_known()}")
        return self._text(decoded(raw, name))

    def _card(self, raw: bytes, *, picture: bytes | None = None, archive: Archive | None = None) -> Gathering:
        value, text = _json(raw)
        if not isinstance(value, dict) or not cards.is_card(value):
            raise refusal("its contents are not a character card")
        into = self._begin(Origin.CARD)
        into.card = text
        cards.read_card(value, into)
        if picture is not None:
            into.picture("picture", picture)
        assets.read_within(value, into)
        if archive is not None:
            assets.read_beside(value, archive, into)
        return into

    def _archive(self, archive: Archive) -> Gathering:
        if "card.json" in archive.names:
            return self._card(archive.read("card.json"), archive=archive)
        if ours.is_folder(archive):
            into = self._begin(Origin.EXPORT)
            ours.read_folder(archive, into)
            return into
        if found := archive.named(*PERSONA_FILES):
            return self._persona(archive, found)
        if found := archive.named("conversations.json"):
            return self._text(decoded(archive.read(found[0], MAX_FILE), found[0]))
        raise refusal(f"the archive contains nothing of a known form. Known forms are: {_known()}")

    def _persona(self, archive: Archive, names: Sequence[str]) -> Gathering:
        """One persona of an archive: the only one, or the one for whom it is read."""
        people = sorted({_persona_of(name) for name in names})
        if len(people) > 1:
            matches = [person for person in people if person.casefold() == self.who.casefold()]
            if not matches:
                examples = ", ".join(people[:10])
                raise refusal(f"the archive holds {len(people)} personas ({examples:.300}); import the folder of one")
            people = matches
        of_one = [name for name in names if _persona_of(name) == people[0]]
        into = self._begin(Origin.PERSONA)
        for name in of_one:
            end = name.rpartition("/")[2].lower()
            value, _ = _json(archive.read(name, MAX_FILE))
            if not isinstance(value, dict):
                into.drop(name, value, "It is not an object.")
            elif end == "scratch.json":
                personas.read_scratch(value, into, "scratch.")
                into.who = into.who or str(value.get("name", ""))
            elif end == "spatial_memory.json":
                personas.read_places(value, into, "spatial_memory.")
        for name in of_one:
            if name.rpartition("/")[2].lower() == "nodes.json":
                self._nodes(_json(archive.read(name, MAX_FILE))[0], into)
        return into

    def _nodes(self, value: object, into: Gathering) -> None:
        rows = value.items() if isinstance(value, dict) else ()
        good = [(key, str(key), item) for key, item in rows if personas.is_node(item)]
        for key, item in rows:
            if not personas.is_node(item):
                into.drop(str(key), item, "It is not an event, thought or chat.")
        personas.read_nodes(good, into)

    def _text(self, text: str) -> Gathering:
        if (count := text.count("\n") + text.count("\r")) > _MOST_LINES:
            raise refusal(f"it has {count:,} lines; at most {_MOST_LINES:,} are allowed")
        begins = text.lstrip()[:1]
        if self.asked in (None, Origin.EXPORT) and ours.is_table(text):
            into = self._begin(Origin.EXPORT)
            ours.read_table(text, into)
            return into
        if self.asked in _OF_TEXT:
            return self._plain(text, self.asked)
        if begins == "{" or (begins == "[" and at_start(text.lstrip()) is None and _is_list(text)):
            return self._of_json(text)
        if self.asked is not None and self.asked not in _OF_TEXT:
            raise refusal(f"it is not written as {TITLES[self.asked]} is: it is not JSON")
        return self._plain(text, None)

    def _of_json(self, text: str) -> Gathering:
        lines = [(number, line) for number, line in enumerate(_LINE_END.split(text), start=1) if line.strip()]
        whole = sum(line.lstrip().startswith("{") and line.rstrip().endswith("}") for _, line in lines)
        if len(lines) > 1 and whole * 2 > len(lines):
            return self._of_lines(lines)
        try:
            value, _ = _json(text)
        except InvalidFile:
            _refuse_cut(lines)
            raise
        return self._of_value(value, text)

    def _of_value(self, value: object, text: str) -> Gathering:
        """A JSON value, read in the form that was asked for, or in the first form that fits it."""
        for origin, fits, read in _VALUES:
            if (self.asked is None or self.asked is origin) and fits(value):
                into = self._begin(origin)
                if origin is Origin.CARD:
                    into.card = text
                read(self, value, text, into)
                return into
        rows = tables.listed(value)
        if rows is not None and self.asked in (None, Origin.RECORDS, Origin.GRAPH, Origin.PERSONA):
            return self._of_rows([(number, row) for number, row in enumerate(rows, start=1)], "item")
        known = TITLES[self.asked] if self.asked else None
        if known:
            raise refusal(f"it is not written as {known} is")
        raise refusal(f"it is JSON of an unknown form. Known forms are: {_known()}")

    def _of_lines(self, lines: Sequence[tuple[int, str]]) -> Gathering:
        """JSON lines; other lines are left out."""
        rows: list[tuple[int, Any]] = []
        bad: list[tuple[int, str, str]] = []
        for number, line in lines:
            try:
                rows.append((number, _json(line)[0]))
            except InvalidFile as error:
                said = error.problems[0].message
                bad.append((number, line, f"{said[:1].upper()}{said[1:]}."))
        if not rows:
            raise refusal(f"no line of it is JSON: line {bad[0][0]}: {bad[0][2].rstrip('.')}")
        first = rows[0][1]
        if ours.is_head(first):
            into = self._begin(Origin.EXPORT)
            ours.read_lines(rows, into)
        else:
            into = self._of_rows(rows, "line")
        for number, line, why in bad:
            into.drop(f"line {number}", line, why)
        return into

    def _of_rows(self, rows: Sequence[tuple[int, Any]], called: str) -> Gathering:
        values = [value for _, value in rows]
        placed = [(f"{called} {number}", value) for number, value in rows]
        if self.asked in (None, Origin.SILLYTAVERN) and chats.is_sillytavern(values):
            into = self._begin(Origin.SILLYTAVERN)
            chats.read_sillytavern(rows, into)
        elif self.asked in (None, Origin.GRAPH) and tables.is_graph(values):
            into = self._begin(Origin.GRAPH)
            tables.read_graph(placed, into)
        elif self.asked in (None, Origin.PERSONA) and any(map(personas.is_node, values[:3])):
            into = self._begin(Origin.PERSONA)
            nodes = [(place, str(value.get("id", place)), value) for place, value in placed if personas.is_node(value)]
            for place, value in placed:
                if not personas.is_node(value):
                    into.drop(place, value, "It is not an event, thought or chat.")
            personas.read_nodes(nodes, into)
        else:
            into = self._begin(Origin.RECORDS)
            tables.read_records(placed, into, self.order, self.columns)
        return into

    def _plain(self, text: str, asked: Origin | None) -> Gathering:
        """Text that is not JSON."""
        lines = [(number, line) for number, line in enumerate(_LINE_END.split(text), start=1) if line.strip()]
        if asked is None:
            begun = [line for _, line in lines[:500]]
            dated = sum(at_start(line) is not None for line in begun)
            asked = (
                Origin.TABLE if begins_a_table(text)
                else Origin.CHAT if chats.is_log(lines)
                else Origin.LINES if dated * 2 >= len(begun) or (dated > 1 and not prose.runs_on(begun))
                else Origin.PROSE if prose.is_prose(lines)
                else Origin.LINES
            )  # fmt: skip
        into = self._begin(asked)
        if asked is Origin.TABLE:
            tables.read_table(text, self.now, into, self.order, self.columns)
        elif asked is Origin.CHAT:
            chats.read_log(lines, into, self.order)
        elif asked is Origin.PROSE:
            prose.read_prose(text, into)
        else:
            tables.read_lines(text, self.now, into, self.order)
        return into

    def _begin(self, origin: Origin) -> Gathering:
        if self.asked is not None and self.asked is not origin:
            raise refusal(f"it is not written as {TITLES[self.asked]} is; it seems to be {TITLES[origin]}")
        self.found = origin
        return Gathering(origin, self.now, self.who)


_NAMED = 5
"""How many lines that are not JSON are named by number."""
_OF_TEXT = (Origin.TABLE, Origin.CHAT, Origin.LINES, Origin.PROSE)
_Read = Callable[[_Reading, Any, str, Gathering], None]
_VALUES: tuple[tuple[Origin, Callable[[Any], bool], _Read], ...] = (
    (Origin.EXPORT, ours.is_head, lambda _, value, _text, into: ours.read_lines([(1, value)], into)),
    (
        Origin.PERSONALITY,
        tables.is_personality,
        lambda _, _value, text, into: tables.read_personality(text, into),
    ),
    (
        Origin.CARD,
        lambda value: isinstance(value, dict) and cards.is_card(value),
        lambda _, value, _text, into: _read_card(value, into),
    ),
    (
        Origin.LOREBOOK,
        lambda value: isinstance(value, dict) and cards.is_lorebook(value),
        lambda _, value, _text, into: cards.read_lorebook(value, into),
    ),
    (Origin.CHATGPT, chats.is_chatgpt, lambda _, value, _text, into: chats.read_chatgpt(value, into)),
    (Origin.CLAUDE, chats.is_claude, lambda _, value, _text, into: chats.read_claude(value, into)),
    (Origin.STORE, tables.is_store, lambda _, value, _text, into: tables.read_store(value, into)),
    (
        Origin.PERSONA,
        lambda value: isinstance(value, dict) and personas.is_scratch(value),
        lambda _, value, _text, into: personas.read_scratch(value, into),
    ),
    (
        Origin.PERSONA,
        lambda value: isinstance(value, dict) and personas.is_nodes(value),
        lambda reading, value, _text, into: reading._nodes(value, into),
    ),
    (
        Origin.SILLYTAVERN,
        lambda value: isinstance(value, list) and chats.is_sillytavern(value),
        lambda _, value, _text, into: chats.read_sillytavern(list(enumerate(value, start=1)), into),
    ),
)
"""The forms that a whole JSON value can be in, in the order in which they are tried."""


def _read_card(value: Mapping[str, Any], into: Gathering) -> None:
    cards.read_card(value, into)
    assets.read_within(value, into)


def _one_of(kind: Any, value: object, what: str) -> Any:
    """A word as a member of its enumeration.

    Raises:
        InvalidParameter: there is no such member.
    """
    if value is None or (isinstance(value, str) and not value):
        return None
    try:
        return kind(value)
    except ValueError as error:
        raise InvalidParameter(f"There is no {what} {shown(value)}; there are: {', '.join(kind)}.") from error


def _json(text: str | bytes) -> tuple[Any, str]:
    if isinstance(text, bytes):
        text = decoded(text, "the material")
    return parse_strict(text.removeprefix("\ufeff"), "the material", MAX_FILE, InvalidFile)


def _refuse_cut(lines: Sequence[tuple[int, str]]) -> None:
    """Refuse JSON lines of which too many are not JSON to be left out; do nothing about any other text.

    Raises:
        InvalidFile: it is such a text; the message says which lines they are.
    """
    wrong: list[tuple[int, str]] = []
    for number, line in lines:
        try:
            _json(line)
        except InvalidFile as error:
            wrong.append((number, error.problems[0].message))
    one_each = all(line.lstrip().startswith("{") for _, line in lines)
    if not wrong or len(lines) < 2 or not (one_each or lines[0][0] not in [number for number, _ in wrong]):
        return
    numbers = ", ".join(str(number) for number, _ in wrong[:_NAMED]) + (" ..." if len(wrong) > _NAMED else "")
    number, why = wrong[0]
    raise refusal(
        f"of its {len(lines):,} JSON lines these are cut off, or not JSON for another reason: {numbers}. In line "
        f"{number} {why}. Write each record whole in a line of its own, or take those lines out"
    )


def _is_list(text: str) -> bool:
    """Whether a text that begins with a bracket is JSON, not a line with its date in brackets."""
    inside = text.lstrip()[1:].lstrip()[:1]
    if inside in ("{", "[", "]", '"'):
        return True
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _persona_of(name: str) -> str:
    """Whose folder a file of an archive is in; empty at the top."""
    parts = [part for part in name.split("/")[:-1] if part not in ("associative_memory", "bootstrap_memory")]
    return parts[-1] if parts else ""


def _known() -> str:
    return "; ".join(TITLES.values())
