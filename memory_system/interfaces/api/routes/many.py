"""Routes: events and cues of many agents in one request; a problem with one costs no other its answer.

Also events of the world, which those who know of them remember: all of them, or none.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, tzinfo
from functools import partial
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse, Response
from pydantic import Field, StrictBool, ValidationError

from ....agent import AgentMemory
from ....core.change_set import ChangeSet
from ....errors import InvalidEntry, InvalidParameter, MemorySystemError
from ....operations.importing import events as intake
from ....operations.importing.events import Outcome
from ....recall.query import MAX_TOP_K
from ....recall.rank import Recall
from ....world.happening import Happened
from ...forms import Body, HappenedBody, Name, QueryBody
from ...serialize import Json, Shape, items, model, plain, waiting
from .. import once
from ..deps import Desk, Key, Preview, documents_key
from ..problems import Problem, in_words, problem_of
from ..schemas.bodies import Event
from ..sse import TOLD, Tell
from .memories import LIGHT, in_zone_of

MOST_EVENTS, MOST_CUES = 10_000, 500
JSON = "application/json"
Form = TypeVar("Form", bound=Body)


class AgentsEvent(Event):
    """An event, and whose it is."""

    agent: Name

    def entry_fields(self) -> dict[str, Any]:
        """The event as ``add_short_term`` accepts it."""
        return {name: value for name, value in super().entry_fields().items() if name != "agent"}


class AgentsQuery(QueryBody):
    """A query, and who is asked."""

    agent: Name


class ManyEvents(Body):
    """Events of many agents, at most 10,000; those of one agent are one change set."""

    events: Annotated[
        list[Annotated[AgentsEvent | Any, Field(union_mode="left_to_right")]], Field(max_length=MOST_EVENTS)
    ]
    overwrite_existing: StrictBool = True
    rate: StrictBool = True
    wait: StrictBool | None = None
    now: datetime | None = None


class ManyQueries(Body):
    """Queries of many agents, at most 500, whose ``top_k`` are 10,000 at most together."""

    queries: Annotated[
        list[Annotated[AgentsQuery | Any, Field(union_mode="left_to_right")]], Field(max_length=MOST_CUES)
    ]


def _shape(name: str, about: str, **more: Any) -> Shape:
    return Shape(name, about, {"agent": str | None, "revision": int | None, **more, "problem": Problem | None})


EVENTS_TOLD = items(
    "EventsTold",
    "What became of each event, in the order in which they were sent.",
    _shape(
        "EventTold",
        "What became of an event, the agent's revision that holds it, and in ``notes`` what was read differently from "
        "how it was written; or the ``problem`` for which it was refused.",
        outcome=Outcome | None,
        notes=tuple[str, ...],
    ),
)
ANSWERS = items(
    "QueriesTold",
    "The answer to each query, in the order in which they were sent.",
    _shape(
        "QueryAnswered",
        "The answer to a query, and the revision of the agent that gave it; or the ``problem`` with it.",
        recall=Recall | None,
    ),
)


def routes(desk: Desk) -> APIRouter:
    """Events for, and queries to, many agents at once."""
    router = APIRouter()

    def add(tell: Tell, body: ManyEvents, key: Key = None) -> Response:
        """Remember events of many agents; one that is not valid says why, and all the others are stored.

        The events of one agent are stored as one change set. ``importance_score`` is on one scale for all of them. With
        an Idempotency-Key an event without an id gets one that follows from the key, as for one agent; ``wait`` is as
        for one agent too.
        """
        answers = [_nothing(event, "outcome") | {"notes": ()} for event in body.events]
        found: dict[str, dict[int, dict[str, Any]]] = defaultdict(dict)
        stored: list[ChangeSet] = []
        for place, item in enumerate(body.events):
            try:
                event = _formed(AgentsEvent, item, InvalidEntry)
                zone = partial(_zone, desk.agent(event.agent))
                fields = event.entry_fields()
                (entry,) = intake.read([fields], None, zone).entries
                if fields.get("id") in {other.get("id") for other in found[event.agent].values()} - {None}:
                    raise InvalidEntry(
                        f"The id {entry.id!r} is used twice; give each event of an agent an id of its own."
                    )
                found[event.agent][place] = fields
            except MemorySystemError as error:
                answers[place]["problem"] = _of_place("Event", place, error)
        scale = _on_one_scale(found)
        for done, (name, events) in enumerate(found.items()):
            tell("progress", {"done": done / len(found), "doing": f"Telling {name}"})
            try:
                agent = desk.agent(name)
                added = once.remembered(
                    agent,
                    list(events.values()),
                    key,
                    overwrite_existing=body.overwrite_existing,
                    rate=body.rate,
                    wait=desk.world().rerater.waits(body.wait),
                    now=in_zone_of(agent, body.now),
                )
                stored.append(added.change_set)
                for place, outcome in zip(events, added.outcomes, strict=True):
                    notes = (*scale.get(place, ()), *added.change_set.notes)
                    answers[place] |= {"outcome": outcome, "revision": added.change_set.revision, "notes": notes}
            except MemorySystemError as error:
                for place in events:
                    answers[place]["problem"] = _of_place("Event", place, error)
        desk.world().rerater.notice(stored)
        return Response(EVENTS_TOLD.dumped(items=answers), media_type=JSON)

    def query(body: ManyQueries) -> Response:
        """Ask many agents, or one of them many cues; a query that cannot be asked says why among the other answers."""
        answers, seats = [_nothing(query, "recall") for query in body.queries], 0
        for place, item in enumerate(body.queries):
            try:
                asked = _formed(AgentsQuery, item, InvalidParameter)
                view = asked.view(desk.agent(asked.agent))
                seats += view.settings.top_k if asked.top_k is None else asked.top_k
                if seats > MAX_TOP_K:
                    raise InvalidParameter(
                        f"One request recalls {MAX_TOP_K:,} memories at most: ask the rest in another."
                    )
                recall = view.query_memory(**asked.arguments(view.settings), touch=asked.touch)
                answers[place] |= {"recall": recall, "revision": view.stamp[0]}
            except MemorySystemError as error:
                answers[place]["problem"] = _of_place("Query", place, error)
        return Response(ANSWERS.dumped(items=answers), media_type=JSON)

    _happening(desk, router)
    router.post("/events", tags=["events"], response_model=EVENTS_TOLD.model, responses=TOLD)(
        desk.lanes.reporting(add, light=partial(_light, desk))
    )
    router.post("/query", tags=["recall"], response_model=ANSWERS.model, dependencies=[Depends(documents_key)])(
        desk.lanes.quick(query)
    )
    return router


def _on_one_scale(found: dict[str, dict[int, dict[str, Any]]]) -> dict[int, tuple[str, ...]]:
    """Put the importance of all events on one scale; returns the notes on those that changed."""
    places = [(name, place) for name, events in found.items() for place in events]
    events, notes = intake.rated_on_ten([found[name][place] for name, place in places])
    changed: dict[int, tuple[str, ...]] = {}
    for (name, place), event in zip(places, events, strict=True):
        if event != found[name][place]:
            found[name][place], changed[place] = event, notes
    return changed


def _zone(agent: AgentMemory) -> tzinfo | None:
    return agent.now.tzinfo


def _happening(desk: Desk, router: APIRouter) -> None:
    def happen(tell: Tell, body: HappenedBody, preview: Preview = False) -> Response:
        """Let those who know of an event remember it, each in its own words and with its own rating.

        With ``preview`` each plan waits under its id among the previews of its agent. Where a server rates in the
        background nothing waits for a language model, unless ``wait`` says so: the words are the offline rules'.
        """
        tell("progress", {"done": 0.0, "doing": "Telling those who know of it"})
        rerater = desk.world().rerater
        fields = dict(body) | {"wait": rerater.waits(body.wait)}
        done = desk.world().happened(**fields, author=desk.author, preview=preview)
        if not preview:
            rerater.notice(knower.added.change_set for knower in done.known)
        answer = plain(done)
        for knower, written in zip(done.known, answer["known"], strict=True) if preview else ():
            desk.previews.keep(knower.agent, knower.added.change_set)
            written["added"]["change_set"] = waiting(knower.added.change_set, desk.previews.seconds)
        return JSONResponse(answer)

    router.post(
        "/happened",
        tags=["events"],
        response_model=model(Happened),
        responses=TOLD,
        dependencies=[Depends(documents_key)],
    )(desk.lanes.reporting(happen, lambda body, **_given: desk.world().rerater.waits(body.wait) is False))


def _nothing(item: Any, gives: str) -> Json:
    """The placeholder for an answer."""
    agent = item.get("agent") if isinstance(item, dict) else getattr(item, "agent", None)
    return {"agent": agent if isinstance(agent, str) else None, "revision": None, gives: None, "problem": None}


def _formed(form: type[Form], item: Any, wrong: type[MemorySystemError]) -> Form:
    """One of many, in its form.

    Raises:
        MemorySystemError: it cannot be accepted; raised as the given class.
    """
    if isinstance(item, form):
        return item
    if not isinstance(item, dict):
        raise wrong("It must be an object that names an 'agent'.")
    try:
        return form.model_validate(item)
    except ValidationError as error:
        raise wrong(in_words(error.errors())) from error


def _of_place(what: str, place: int, error: MemorySystemError) -> Json:
    """A problem that says which one of many it is about, counted from 1."""
    problem = problem_of(error)
    return problem.model_copy(update={"detail": f"{what} {place + 1}: {problem.detail}"}).model_dump()


def _light(desk: Desk, body: ManyEvents, **_given: Any) -> bool:
    """Whether events are few and none waits for a language model."""
    events = [event for event in body.events if isinstance(event, AgentsEvent) and not event.has_rating]
    asking = {event.agent for event in events} if body.rate else ()
    return len(body.events) <= LIGHT and not any(desk.asks_a_model(name, body.wait) for name in asking)
