"""Importing: files of other programs about a character, recognised, checked line by line, and taken in."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from ..core.change_set import Change, ChangeSet, TextChange
from ..core.entry import DECAYING, MemoryEntry, Tier
from ..embedding.embedder import CachedEmbedder
from ..errors import InvalidFile, InvalidParameter, Problem, kind_of, shown
from ..llm import LanguageModel
from ..llm.offline.model import OfflineModel
from ..operations import edit
from ..operations.context import Progress, no_progress, refuse_uncallable, within
from ..operations.importing.chapters import by_model
from ..operations.importing.dates import Order
from ..operations.importing.forms import TITLES, Material, Origin, read_material, with_extensions
from ..operations.importing.taking_in import Imported, Inventory, Preview, Take, Taken, taken, words_of
from .context import Part
from .rating import arriving
from .retrieval import ground

IMPORT = "import"
"""The history's name for the operation that takes material in."""
ALL = tuple(Take)
_ADDRESS = "data:"
_AT_ONCE = 256
"""How many texts are embedded between two checks whether to stop."""


def as_address(raw: bytes) -> str:
    """A file as a text that can be sent: an address that contains all of it."""
    return f"{_ADDRESS};base64,{base64.b64encode(raw).decode('ascii')}"


def _refuse_neither(material: object) -> None:
    if not isinstance(material, bytes | str):
        raise InvalidParameter(f"Material is bytes or text, not {kind_of(material)}.")


def from_address(material: bytes | str) -> bytes | str:
    """The file in such an address; any other text as it is.

    Raises:
        InvalidFile: the address is not valid.
    """
    if isinstance(material, bytes) or not material.startswith(_ADDRESS) or "," not in material[:200]:
        return material
    head, _, body = material.partition(",")
    if not head.endswith(";base64"):
        return material
    try:
        return base64.b64decode(body, validate=True)
    except binascii.Error as error:
        raise InvalidFile((Problem("", f"it is not base64: {error}"),), "the material") from error


def preview_of(
    raw: bytes | str,
    now: datetime,
    *,
    file_name: str = "",
    form: Origin | str | None = None,
    take: str | Sequence[str] = ALL,
    who: str = "",
    dates: Order | str | None = None,
    columns: Mapping[str, str] | None = None,
    model: LanguageModel | None = None,
    progress: Progress = no_progress,
) -> tuple[Preview, Taken, Material]:
    """What would become of some material for a character that does not exist yet; as ``Importing.read_material``.

    With a ``model``, prose is read by it, which reports its progress.
    """
    refuse_uncallable(progress=progress)
    _refuse_neither(raw)
    material = read_material(
        from_address(raw), now, file_name=file_name, origin=form, who=who, order=dates, columns=columns
    )
    if model is not None:
        material = by_model(material, model, who, progress)
    found = taken(material, Inventory(), now, _takes(take))
    return _preview(material, found), found, material


class Importing(Part):
    """Reading material, and taking it in."""

    def read_material(
        self,
        material: bytes | str,
        *,
        file_name: str = "",
        form: Origin | str | None = None,
        take: str | Sequence[str] = ALL,
        columns: Mapping[str, str] | None = None,
        dates: Order | str | None = None,
        now: datetime | None = None,
    ) -> Preview:
        """What would become of a file from another program, line by line; changes nothing and asks no model.

        Args:
            material: its bytes or its text, or an address ``data:;base64,...`` that contains it; at most 50 MB.
            file_name: its name, for messages.
            form: its form, see ``Origin``; recognised by its content if not given.
            take: which parts to use: ``personality``, ``facts`` and ``memories``; all if not given.
            columns: for a table or objects: for each field (``document``, ``timestamp``, ``rating``, ...), the name
                to read it from, empty for none; guessed for the others.
            dates: what comes first in dates such as 03/04/2026; inferred from the other dates if not given.
            now: the time for what has none.

        Raises:
            InvalidFile, InvalidPersonality: it cannot be accepted; the message says why.
            InvalidParameter: there is no such form, order or choice.
        """
        read, found = self._weighed(material, file_name, form, take, columns, dates, now)
        return _preview(read, found)

    def import_material(
        self,
        material: bytes | str,
        *,
        file_name: str = "",
        form: Origin | str | None = None,
        take: str | Sequence[str] = ALL,
        columns: Mapping[str, str] | None = None,
        dates: Order | str | None = None,
        rate: bool = True,
        ask_model: bool = False,
        now: datetime | None = None,
        preview: bool = False,
        progress: Progress = no_progress,
    ) -> ChangeSet:
        """Take in a file of another program as one change set: who the character is, facts, and memories.

        Existing memory is not changed: only missing parts of the personality are filled in, and the same words at the
        same time are left out. What was derived elsewhere from evidence goes to long-term memory, everything else to
        short-term memory; the notes say what was left out.

        Args:
            material: see ``read_material``, as for the next five.
            file_name: its name.
            form: its form.
            take: which parts to use.
            columns: which names to read for which fields.
            dates: what comes first in dates.
            rate: whether the language model is asked about memories without a rating.
            ask_model: whether the language model makes memories from prose; what it cannot read stays as sentences.
            now: the time for what has none.
            preview: whether to plan only.
            progress: called with the progress so far; it may raise to cancel, and nothing is changed then.

        Raises:
            InvalidFile, InvalidPersonality, InvalidParameter: it cannot be accepted. Nothing was changed.
        """
        brought = self.bring_in(
            material, file_name=file_name, form=form, take=take, columns=columns, dates=dates, rate=rate,
            ask_model=ask_model, now=now, preview=preview, progress=progress,
        )  # fmt: skip
        assert brought.change_set is not None, "only of a character who is not there yet nothing is planned"
        return brought.change_set

    def bring_in(
        self,
        material: bytes | str,
        *,
        file_name: str = "",
        form: Origin | str | None = None,
        take: str | Sequence[str] = ALL,
        columns: Mapping[str, str] | None = None,
        dates: Order | str | None = None,
        rate: bool = True,
        ask_model: bool = False,
        now: datetime | None = None,
        preview: bool = False,
        progress: Progress = no_progress,
    ) -> Imported:
        """As ``import_material``; also returns what became of each line."""
        refuse_uncallable(progress=progress)
        progress(0.0, "Reading it")
        reader = within(progress, 0.0, 0.4) if ask_model else None
        read, found = self._weighed(material, file_name, form, take, columns, dates, now, reader=reader)
        begun, share = 0.4 if ask_model else 0.1, 0.9 if rate else 0.5 if ask_model else 0.1
        if rate and self.context.bare_model.name == OfflineModel.name:
            begun = self._embed_to_rate([piece.entry for piece in found.pieces], within(progress, begun, 0.8)) or begun
        planned_on = ground(self.context, now, within(progress, begun, share))
        entries, asked = self._rated([piece.entry for piece in found.pieces], rate=rate)
        added, outcomes = edit.add(planned_on, entries, self.context.ledger.find, overwrite=False, rate=asked)
        of_stm = {outcome.id: outcome.entry for outcome in outcomes if outcome.action == "added"}
        source = file_name[:100] or "the material"
        changes = [
            Change(None, of_stm.get(piece.entry.id, piece.entry), f"From {source}, {piece.place}.")
            for piece in (*found.pieces, *found.kept)
        ]
        texts: list[TextChange] = []
        if found.document is not None:
            text = json.dumps(found.document, ensure_ascii=False, indent=2) + "\n"
            born = self._personality(text)
            changes = [*born.changes, *changes]
            texts += born.texts
        before = self.context.ledger.text("card")
        if read.card is not None and (card := with_extensions(read.card, before)) != before:
            texts.append(TextChange("card", before, card))
        if found.portrait is not None:
            texts.append(TextChange("portrait", self.context.ledger.text("portrait"), found.portrait))
        title = _title(read, found, source, card=any(text.name == "card" for text in texts))
        plan = dataclasses.replace(
            added, operation=IMPORT, title=title, changes=tuple(changes), texts=tuple(texts),
            calls=(*read.calls, *added.calls), notes=(f"Read as {TITLES[read.origin]}.", *found.notes, *added.notes),
        )  # fmt: skip
        if not preview:
            plan = self.context.apply(self.embedded(plan, within(progress, share, 1.0)))
        return Imported(plan, _preview(read, found))

    def embedded(self, plan: ChangeSet, progress: Progress) -> ChangeSet:
        """A plan whose vectors have been made, so that applying it is quick."""
        self.embed_ahead(plan, progress=progress)
        return plan

    def embed_ahead(
        self,
        change_set: ChangeSet,
        *,
        progress: Progress = no_progress,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Make the vectors that a change set will need, in pieces; returns whether all are made.

        They are kept, so that after a cancel it goes on from there, and applying is quick.

        Args:
            change_set: the plan.
            progress: called with the progress so far; it may raise to cancel.
            cancelled: called between pieces, to ask whether to stop.

        Raises:
            NotAllowed, ReadOnlyPast, ReadOnly: nothing may be changed.
            EmbedderError: a text could not be embedded.
        """
        refuse_uncallable(progress=progress, cancelled=cancelled)
        if not isinstance(change_set, ChangeSet):
            raise InvalidParameter(f"'change_set' must be a change set, not {kind_of(change_set)}.")
        ledger = self.context.writer()
        texts = list(dict.fromkeys(change.after.document for change in change_set.changes if change.after is not None))
        if len(texts) <= _AT_ONCE:
            return True
        for begin in range(0, len(texts), _AT_ONCE):
            progress(begin / len(texts), f"Embedding {begin:,} of {len(texts):,}")
            if cancelled():
                return False
            ledger.keep_vectors(ledger.vectors(texts[begin : begin + _AT_ONCE], {}))
        return True

    def _weighed(
        self,
        material: bytes | str,
        file_name: str,
        form: Origin | str | None,
        take: str | Sequence[str],
        columns: Mapping[str, str] | None,
        dates: Order | str | None,
        now: datetime | None,
        reader: Progress | None = None,
    ) -> tuple[Material, Taken]:
        takes = _takes(take)
        _refuse_neither(material)
        at, context = self.context.time(now), self.context
        context.refresh()
        who = context.display_name
        read = read_material(
            from_address(material), at, file_name=file_name, origin=form, who=who, order=dates, columns=columns
        )
        if reader is not None:
            read = by_model(read, context.model, who, reader)
        text = context.ledger.text("personality")
        with context.ledger.reading():
            words = words_of(entry for tier in DECAYING for entry in context.ledger.tables[tier].entries)
        document = json.loads(text) if text else {}
        named_by_file, portrait = who.casefold() == context.name.casefold(), context.ledger.text("portrait")
        inventory = Inventory(document, named_by_file, context.ledger.find, words, portrait)
        return read, taken(read, inventory, at, takes)

    def _embed_to_rate(self, entries: Sequence[MemoryEntry], progress: Progress) -> float:
        """Embed what the offline rules are to rate by its vector, in pieces, since they embed one by one.

        Returns the share of the whole work that this makes up, 0 if it is too little to matter. Nothing is stored: it
        may be a preview, and the vectors cached here are used when it is applied.
        """
        texts = list(dict.fromkeys(entry.document for entry in entries if entry.rating is None))
        embedder = self.context.embedder
        if len(texts) <= _AT_ONCE or not isinstance(embedder, CachedEmbedder):
            return 0.0
        embedder.make_room(len(texts))
        for begin in range(0, len(texts), _AT_ONCE):
            progress(begin / len(texts), f"Embedding {begin:,} of {len(texts):,} to rate them")
            embedder.embed(texts[begin : begin + _AT_ONCE])
        return 0.8

    def _rated(self, entries: Sequence[MemoryEntry], *, rate: bool) -> tuple[Sequence[MemoryEntry], bool]:
        return arriving(self.context, entries, None) if rate else (entries, False)

    def _personality(self, text: str) -> ChangeSet:
        before = self.context.ledger.text("personality")
        static = self.context.entries(Tier.STATIC)
        return edit.personality(self.context.plan, before, text, static, "the material")


def _takes(take: str | Sequence[str]) -> tuple[Take, ...]:
    found = []
    for name in edit.listed(take, "What is taken"):
        try:
            found.append(Take(name))
        except ValueError as error:
            raise InvalidParameter(f"There is no {shown(name)} to take; there are: {', '.join(Take)}.") from error
    return tuple(found) or ALL


def _preview(material: Material, found: Taken) -> Preview:
    return Preview(material.origin.value, TITLES[material.origin], material.name, found.rows, found.notes)


def _title(material: Material, found: Taken, source: str, *, card: bool) -> str:
    counts = {
        word: sum(row.becomes == kind for row in found.rows)
        for kind, word in (("personality", "part"), ("fact", "fact"), ("memory", "memor"))
    }
    endings = {"memor": ("y", "ies")}
    parts = [f"{count:,} {word}{endings.get(word, ('', 's'))[count != 1]}" for word, count in counts.items() if count]
    who = material.name or source
    if card and not parts:
        return f"Keep the card of {who}; nothing else in it is new"
    return f"Import {who}: {', '.join(parts)}" if parts else f"Nothing new in {source}"
