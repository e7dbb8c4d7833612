"""Reads: what memory would recall, tests of that, and the log of queries."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Annotated

from ...agent import AgentMemory
from ...agent_parts.cues import CueResult
from ...agent_parts.replay import Relived
from ...conversation import Conversation
from ...errors import InvalidParameter
from ...operations.narrative import Narrative
from ...recall.cues import Judgment
from ...recall.forecast import Forecast
from ...recall.rank import Recall
from ...recall.verdicts import Candidate
from ...recall.versus import Versus
from ...recall.why import Way
from ...store.query_log import LoggedQuery
from ..forms import (
    Asked,
    ExplainBody,
    ForecastBody,
    NarrateBody,
    PrecisionBody,
    Says,
    VersusBody,
    View,
    WaysBody,
)
from ..serialize import Json, Shape, items, model, pages
from .memories import OneMemory, one_memory
from .read import Containing, Form, Number, OfTime, Read, before, newest


class OfLog(Containing):
    """Which queries."""

    before: Annotated[Number | None, Says("Only those of a lower number.")] = None


class OfNumber(Form):
    """A query of the log."""

    number: Annotated[int, Says("Which query, by its number in the log.")]


EXPLAINED = Shape(
    "Explained",
    "The answer with the candidates that were not recalled, the highest scores first; ``total`` counts them all.",
    {name: known.annotation for name, known in model(Recall).model_fields.items()}
    | {"candidates": list[Candidate], "total": int},
)


_PRECISION = Shape(
    "PrecisionTold",
    "What was judged of what a preset recalls; ``value`` is the share of the right, ``null`` if none was judged.",
    {"preset": str, **dict.fromkeys(("right", "wrong", "unjudged", "top_k"), int), "value": float | None},
)


def _explained(view: View, form: ExplainBody) -> Json:
    found = view.explain(**form.arguments(view.settings))
    start = len(found.hits)
    others = found.candidates[start : start + form.limit]
    answer = {name: getattr(found, name) for name in model(Recall).model_fields}
    return answer | {"candidates": others, "total": len(found.candidates)}


def _narrated(agent: AgentMemory, form: NarrateBody) -> Narrative:
    if form.ids is None:
        return agent.narrate(form.cue, agent.explain(form.cue).hits)
    return agent.narrate(form.cue, [one_memory(agent, OneMemory(entry_id=entry_id)) for entry_id in form.ids])


def _queries(agent: AgentMemory, form: OfLog) -> Json:
    of = f"queries of {agent.name}"
    found = agent.queries(form.limit, before(of, form), contains=form.contains)
    return newest(of, found, [logged_query.number for logged_query in found], form)


def _precision(agent: AgentMemory, form: PrecisionBody) -> Json:
    found = agent.precision(form.cue, form.presets, now=form.now, top_k=form.top_k)
    return {
        "items": [
            {"preset": preset, **asdict(precision), "value": precision.value} for preset, precision in found.items()
        ]
    }


_VERSUS = Shape(
    "VersusTold",
    "On how many judged cues each preset is better; ``needed`` is on how many more one has to be, to say which.",
    {**dict.fromkeys(("first", "second", "equal", "unjudged", "needed"), int), "p_value": float},
)


def _counted(agent: AgentMemory, form: VersusBody) -> Versus:
    if form.conversation is not None:
        if (form.cues, form.without, form.top_k) != (None, None, None):
            raise InvalidParameter("A talk says which cues and how many memories: give it without 'cues' and the like.")
        return Conversation.open(agent, form.conversation).versus(form.first, form.second, now=form.now)
    return agent.versus(
        form.first, form.second, now=form.now, top_k=form.top_k, cues=form.cues, without=form.without or ()
    )


def _versus(agent: AgentMemory, form: VersusBody) -> Json:
    found = _counted(agent, form)
    return asdict(found) | {"needed": found.needed, "p_value": found.p_value}


READS = (
    Read(
        "explain",
        "Explain a query",
        "As a query, with the candidates that were not recalled, each with the reason; touches nothing.",
        ExplainBody,
        _explained,
        EXPLAINED,
        "explain",
        tag="recall",
        asks=True,
        command="explain",
    ),
    Read(
        "narrate",
        "Narrate",
        "What was recalled as one text, each sentence with the memories it rests on; touches and stores nothing.",
        NarrateBody,
        _narrated,
        Narrative,
        "narrate",
        "'Who has the key?'",
        tag="recall",
        asks=True,
        slow=True,
    ),
    Read(
        "queries",
        "The log of queries",
        "What was asked of the agent through queries, the newest first.",
        OfLog,
        _queries,
        pages("Log", "A page of the log, the newest first.", LoggedQuery),
        "queries",
        "--limit 5",
        tag="recall",
    ),
    Read(
        "relive",
        "Replay a query",
        "A query of the log as it was answered then, beside what it would recall now; touches nothing.",
        OfNumber,
        lambda agent, form: agent.relive(form.number),
        Relived,
        "queries/{number}/relived",
        "1",
        slow=True,
    ),
    Read(
        "ways",
        "What would recall it",
        "The smallest single changes that would recall a memory, each tried.",
        WaysBody,
        lambda view, form: {"items": view.ways(form.query(view), form.id)},
        items("Ways", "The smallest first; none if it is recalled as it is, or if no single change is enough.", Way),
        "ways",
        "'Who has the key?' mira-0327-13",
        asks=True,
        slow=True,
    ),
    Read(
        "forecast",
        "Forecast",
        "When each memory that is recalled falls out of the answer, if nothing is added and nothing is accessed.",
        ForecastBody,
        lambda view, form: {"items": view.forecast(form.query(view), timedelta(days=form.days))},
        items("Forecasts", "One for each memory that is recalled.", Forecast),
        "forecast",
        "'Who has the key?' --days 30",
        asks=True,
        slow=True,
    ),
    Read(
        "would-have-answered",
        "What was forgotten and would have answered",
        "What migration forgot that a query would recall if it were remembered still; touches nothing.",
        Asked,
        lambda view, form: {"items": view.would_have_answered(form.query(view))},
        items("WouldHaveAnswered", "The best first, each as it would stand in the answer.", Candidate),
        "would-have-answered",
        "'Who has the key?'",
        tag="recall",
        asks=True,
    ),
    Read(
        "check-cues",
        "Check the saved cues",
        "The saved cues, each asked now.",
        OfTime,
        lambda agent, form: {"items": agent.check_cues(form.now)},
        items("Cues", "All saved cues.", CueResult),
        "cues",
        command="check",
    ),
    Read(
        "versus",
        "One preset against another",
        "On how many judged cues one preset is better than another, how sure that is, and how many are missing.",
        VersusBody,
        _versus,
        _VERSUS,
        "versus",
        "classic balanced",
        asks=True,
        slow=True,
    ),
    Read(
        "precision",
        "Precision of presets",
        "How much of what each preset, or the agent's settings, recalls for a cue was judged right.",
        PrecisionBody,
        _precision,
        items("Precisions", "One for each preset.", _PRECISION),
        "precision",
        "'Who has the key?' --preset paper",
        asks=True,
        slow=True,
    ),
    Read(
        "judgments",
        "Judgments",
        "The judgments of the answers to each cue.",
        Form,
        lambda agent, _form: {"items": agent.judgments},
        items("Judgments", "All judgments.", Judgment),
        "judgments",
    ),
)
