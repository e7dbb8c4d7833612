"""What a page shows, as code with the same result: Python, and curl for the HTTP API. Imports no streamlit."""

from __future__ import annotations

import json
import shlex
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from memory_system import Facets, Query, Settings

from ...data.moments import Moment

_PATH = "from pathlib import Path\n"
_EVERY_ADDRESS = ("0.0.0.0", "::", "[::]")  # noqa: S104 - compared with, not listened on


_EXAMPLE = "What is said of the tide?"


def recall_python(agent: str, query: Query, moment: Moment | None, settings: Settings) -> str:
    """A query with all its parameters, for an agent as it is or was at a moment."""
    weights, scoring = query.scoring.weights, query.scoring
    named = {
        "top_k": repr(query.top_k),
        "threshold": repr(query.threshold),
        "static_threshold": repr(query.static_threshold),
        "static_share": repr(query.static_share),
        "scoring": (
            f"Scoring(\n            Weights({weights.recency!r}, {weights.importance!r}, {weights.relevancy!r}), "
            f"{scoring.decay!r}, Measure({scoring.measure.value!r}), "
            f"normalise={scoring.normalise!r}, seats=Seats({scoring.seats.value!r}),\n"
            f"            decay_form=DecayForm({scoring.decay_form.value!r}), "
            f"passing=Passing({scoring.passing.value!r}),\n        )"
        ),
        "facets": _facets(query.facets) if query.facets else "",
        "requery": repr(query.requery) if query.requery else "",
        "instances": repr(query.instances) if query.instances else "",
        "addressed": repr(query.addressed) if query.addressed else "",
        "now": _time(query.now),
        "touch": "False",
    }
    arguments = "".join(f"        {name}={value},\n" for name, value in named.items() if value)
    made = world_python(settings)
    imported = ["DecayForm"] + ["Facets"] * bool(query.facets) + ["Measure", "Passing", "Scoring"]
    imported += ["Seats"] + ["Settings"] * ("Settings" in made) + ["Weights", "World"]
    past = "" if moment is None else f".{moment.python()}"
    return (
        "from datetime import datetime\n"
        f"{_PATH if 'Path(' in made else ''}\n"
        f"from memory_system import {', '.join(imported)}\n\n"
        f"with {made} as world:\n"
        f"    memory = world.agent({agent!r}){past}\n"
        f"    found = memory.query_memory(\n        {query.cue!r},\n{arguments}    )\n"
        "for hit in found:\n"
        '    print(f"{hit.score.total:.2f}", hit.entry.document)'
    )


def recall_curl(agent: str, query: Query, moment: Moment | None, settings: Settings) -> str:
    """The same, asked of the server that is set up."""
    weights, scoring, facets = query.scoring.weights, query.scoring, query.facets
    body: dict[str, Any] = {
        "cue": query.cue,
        "top_k": query.top_k,
        "threshold": query.threshold,
        "static_threshold": query.static_threshold,
        "static_share": query.static_share,
        "scoring": {
            "weights": {
                "recency": weights.recency,
                "importance": weights.importance,
                "relevancy": weights.relevancy,
            },
            "decay": scoring.decay,
            "decay_form": scoring.decay_form.value,
            "measure": scoring.measure.value,
            "normalise": scoring.normalise,
            "seats": scoring.seats.value,
            "passing": scoring.passing.value,
        },
        "now": _moment(query.now),
        "touch": False,
    }
    if facets:
        body["facets"] = {name: _plain(value) for name, value in _set(facets).items()}
    if query.requery:
        body["requery"] = query.requery
    if query.instances:
        body["instances"] = list(query.instances)
    if query.addressed:
        body["addressed"] = True
    if moment is not None:
        body["as_of"] = {name: _plain(value) for name, value in moment.arguments().items()}
    return _curl(f"agents/{quote(agent, safe='')}/query", settings, body)


def world_python(settings: Settings) -> str:
    """Python code that opens a world, with its folder unless the environment names it anyway."""
    values: dict[str, Path | str] = {"home": settings.home} if settings.home != Settings().home else {}
    like = Settings.model_validate(values)
    values |= {
        name: getattr(settings, name)
        for name in ("database", "personalities", "world")
        if getattr(settings, name) != getattr(like, name)
    }
    if not values:
        return "World()"
    shown = {
        name: f"Path({str(value)!r})" if isinstance(value, Path) else repr(value) for name, value in values.items()
    }
    return f"World(Settings({', '.join(f'{name}={value}' for name, value in shown.items())}))"


def opening_python(settings: Settings) -> str:
    """The imports that ``world_python`` needs, each on a line of its own, and an empty line."""
    made = world_python(settings)
    path = f"{_PATH}\n" if "Path(" in made else ""
    return f"{path}from memory_system import {'Settings, ' * ('Settings' in made)}World\n\n"


def query_python(agent: str, settings: Settings) -> str:
    """A query as a game asks it."""
    opened = f"{world_python(settings)}.agent({agent!r})"
    return f"{opening_python(settings)}{opened}.query_memory({_EXAMPLE!r})"


def relive_python(agent: str, number: int, settings: Settings) -> str:
    """A logged query, relived."""
    return (
        f"{opening_python(settings)}"
        f"with {world_python(settings)} as world:\n"
        f"    relived = world.agent({agent!r}).relive({number})\n"
        "for one in relived.differences:\n"
        "    print(one.shift, one.document, one.because)"
    )


def relive_curl(agent: str, number: int, settings: Settings) -> str:
    """The same, asked of the server that is set up."""
    return _curl(f"agents/{quote(agent, safe='')}/queries/{number}/relived", settings)


def _curl(path: str, settings: Settings, body: dict[str, Any] | None = None) -> str:
    host = "127.0.0.1" if settings.host in _EVERY_ADDRESS else settings.host
    host = f"[{host}]" if ":" in host and not host.startswith("[") else host
    parts = [f"curl {shlex.quote(f'http://{host}:{settings.api_port}/v1/{path}')}"]
    if settings.token or settings.viewer_token:
        parts.append('-H "authorization: Bearer $MEMORY_TOKEN"')
    if body is not None:
        parts += ["-H 'content-type: application/json'", f"-d {shlex.quote(json.dumps(body))}"]
    return " \\\n  ".join(parts)


def _set(facets: Facets) -> dict[str, Any]:
    """The facets that are set, by name."""
    return {name: value for name, value in vars(facets).items() if value not in ((), None, "")}


def _facets(facets: Facets) -> str:
    arguments = []
    for name, value in _set(facets).items():
        if isinstance(value, datetime):
            shown = _time(value)
        elif isinstance(value, tuple):
            shown = repr(tuple(str(item) for item in value))
        else:
            shown = repr(value)
        arguments.append(f"{name}={shown}")
    return f"Facets({', '.join(arguments)})"


def _plain(value: Any) -> Any:
    """A value as JSON writes it."""
    if isinstance(value, datetime):
        return _moment(value)
    return [str(item) for item in value] if isinstance(value, tuple) else value


def _time(at: datetime) -> str:
    return f'datetime.fromisoformat("{_moment(at)}")'


def _moment(at: datetime) -> str:
    """With its offset, since the days that a cue names are those of its zone."""
    return at.isoformat().replace("+00:00", "Z")
