"""The forms of export, each with its writer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from ...errors import InvalidParameter, did_you_mean, shown
from . import card, pages, rows
from .character import Character, Exported, Form

DESCRIBED: Mapping[Form, str] = {
    Form.CARD_PNG: "a Tavern character card in a picture (V2 and V3), with its memories as a lorebook",
    Form.CARD: "a character card as JSON, V3",
    Form.CARD_V2: "a character card as JSON, V2",
    Form.DOSSIER: "a dossier in Markdown, for people",
    Form.FOLDER: "a folder of Markdown, one file per memory, which git can compare and import reads back",
    Form.JSONL: "JSON lines, which import reads back",
    Form.CSV: "a table (CSV), which import reads back",
}
"""What each form is, for people."""
MEDIA: Mapping[Form, str] = {
    Form.CARD_PNG: "image/png",
    Form.CARD: "application/json",
    Form.CARD_V2: "application/json",
    Form.DOSSIER: "text/markdown; charset=utf-8",
    Form.FOLDER: "application/zip",
    Form.JSONL: "application/x-ndjson",
    Form.CSV: "text/csv; charset=utf-8",
}
"""The media type of each form."""
_BY_ENDING = {form.rpartition(".")[2]: form for form in reversed(Form) if form is not Form.CARD_V2}


def form_of(given: Form | str) -> Form:
    """A form by its name, or by the ending of a file's name.

    Raises:
        InvalidParameter: there is no form of this name.
    """
    text = str(given)
    named = next((form for form in Form if f".{text}".endswith(f".{form}")), None)
    found = named or _BY_ENDING.get(PurePath(text).suffix.lower().removeprefix(".") or text.lower())
    if found is None:
        raise InvalidParameter(
            f"There is no form of export {shown(text)}; there are: {', '.join(Form)}.{did_you_mean(text, Form)}"
        )
    return found


def exported(character: Character, form: Form) -> Exported:
    """A character as a file."""
    notes: tuple[str, ...] = ()
    if form in (Form.CARD_PNG, Form.CARD, Form.CARD_V2):
        content, notes = card.written(character, form)
    elif form is Form.FOLDER:
        content = pages.folder(character)
    else:
        text = {Form.DOSSIER: pages.dossier, Form.JSONL: rows.jsonl, Form.CSV: rows.table}[form](character)
        content = text.encode("utf-8-sig" if form is Form.CSV else "utf-8")
    return Exported(f"{character.name}.{form}", MEDIA[form], content, notes)
