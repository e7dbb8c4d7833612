"""What a language model says of pairs of memories that are alike: the same, a contradiction, or neither."""

from __future__ import annotations

import dataclasses

from ...core.change_set import ModelCall
from ...errors import ModelError
from ...llm import LanguageModel, comparing
from ...llm.prompts import prompts_of
from ..context import Progress
from .suspicions import Look, Sort, Suspicion

MOST_ASKED = 60
"""Pairs that the model is asked about in one look: those under suspicion first, then the nearest others."""
_SORTS = {"same": Sort.DUPLICATE, "contradiction": Sort.CONTRADICTION}


def ask(found: Look, who: str, model: LanguageModel, progress: Progress) -> Look:
    """The same look, as the model judges it. What it does not suspect stays listed, with its doubt, after the others.

    A model that fails in the middle leaves the rest as it was; the notes say so.

    Args:
        found: what vectors and rules found.
        who: the character's name.
        model: a real one: there are no offline rules for this.
        progress: called with the progress so far; it may raise to cancel.
    """
    asked = [suspicion for suspicion in (*found.suspicions, *found.related) if len(suspicion.entries) == 2][:MOST_ASKED]
    judged: dict[tuple[str, ...], Suspicion | None] = {}
    calls: list[ModelCall] = []
    notes: list[str] = []
    parts = list(comparing.parts((suspicion.entries[0], suspicion.entries[1]) for suspicion in asked))
    begin = 0
    for number, part in enumerate(parts):
        progress(number / len(parts), f"Asking {model.name}, {number + 1} of {len(parts)}")
        some = asked[begin : begin + len(part)]
        begin += len(part)
        task = comparing.compare(who, part).worded(prompts_of(model))
        try:
            done = model.complete(task)
        except ModelError as error:
            calls.append(ModelCall(task.name, model.name, task.prompt(), "", 0.0, error=error.sentence))
            notes.append(f"The language model failed for some of it: {error.sentence}")
            break
        calls.append(done.call)
        for verdict in done.answer.verdicts:
            if 1 <= verdict.pair <= len(some):
                suspicion = some[verdict.pair - 1]
                judged[suspicion.ids] = _judged(suspicion, verdict, model.name, suspected=suspicion in found.suspicions)
    listed = [judged.get(suspicion.ids, suspicion) for suspicion in found.suspicions]
    listed += [judged.get(suspicion.ids) for suspicion in found.related]
    kept = [suspicion for suspicion in listed if suspicion is not None]
    order = {Sort.CONTRADICTION: 0, Sort.DUPLICATE: 1}
    kept.sort(key=lambda pair: (order[pair.sort], len(pair.doubts), -pair.similarity, pair.ids))
    return dataclasses.replace(
        found, suspicions=tuple(kept), notes=(*found.notes, *notes), calls=(*found.calls, *calls)
    )


def _judged(suspicion: Suspicion, verdict: comparing.Judged, name: str, *, suspected: bool) -> Suspicion | None:
    """A pair as the model sees it; ``None`` where nobody suspects it."""
    sort = _SORTS.get(verdict.relation)
    words = " ".join(verdict.why.split())
    if sort is None:
        doubt = f"{name} sees neither: {words}"
        return dataclasses.replace(suspicion, doubts=(*suspicion.doubts, doubt)) if suspected else None
    reasons = suspicion.reasons if suspicion.sort is sort and suspected else ()
    return dataclasses.replace(suspicion, sort=sort, reasons=(f"{name}: {words}", *reasons), doubts=())
