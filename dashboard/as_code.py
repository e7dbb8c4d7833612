"""What a page shows as code that answers the same: Python, and curl for the HTTP API. Imports no streamlit."""

from __future__ import annotations

import json
import shlex
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from memory_system import Facets, Query, Settings

from .moments import Wanted

_EVERY_ADDRESS = ("0.0.0.0", "::", "[::]")  # noqa: S104 - compared with, not listened on


def recall_python(agent: str, query: Query, wanted: Wanted | None) -> str:
    """A query with all its parameters, of an agent as it is or was at a moment."""
    weights, scoring = query.scoring.weights, query.scoring
    named = {
        "top_k": repr(query.top_k),
        "threshold": repr(query.threshold),
        "static_threshold": repr(query.static_threshold),
        "static_share": repr(query.static_share),
        "scoring": (
            f"Scoring(\n            Weights({weights.recency!r}, {weights.importance!r}, {weights.relevancy!r}), "
            f"{scoring.decay!r}, Measure({scoring.measure.value!r}), normalise={scoring.normalise!r},\n        )"
        ),
        "facets": _facets(query.facets) if query.facets else "",
        "requery": repr(query.requery) if query.requery else "",
        "now": _time(query.now),
        "touch": "False",
    }
    given = "".join(f"        {name}={value},\n" for name, value in named.items() if value)
    imported = ["Facets"] * bool(query.facets) + ["Measure", "Scoring", "Weights", "World"]
    past = "" if wanted is None else f".{wanted.python()}"
    return (
        "from datetime import datetime\n\n"
        f"from memory_system import {', '.join(imported)}\n\n"
        "with World() as world:\n"
        f"    memory = world.agent({agent!r}){past}\n"
        f"    found = memory.query_memory(\n        {query.cue!r},\n{given}    )\n"
        "for hit in found:\n"
        '    print(f"{hit.score.total:.2f}", hit.entry.document)'
    )


def recall_curl(agent: str, query: Query, wanted: Wanted | None, settings: Settings) -> str:
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
            "measure": scoring.measure.value,
            "normalise": scoring.normalise,
        },
        "now": _moment(query.now),
        "touch": False,
    }
    if facets:
        body["facets"] = {name: _plain(value) for name, value in _set(facets).items()}
    if query.requery:
        body["requery"] = query.requery
    if wanted is not None:
        body["as_of"] = {name: _plain(value) for name, value in wanted.arguments().items()}
    return _curl(f"agents/{quote(agent, safe='')}/query", settings, body)


def relive_python(agent: str, number: int) -> str:
    """A logged query lived through again."""
    return (
        "from memory_system import World\n\n"
        "with World() as world:\n"
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
    parts = [f"curl http://{host}:{settings.api_port}/v1/{path}"]
    if settings.token or settings.viewer_token:
        parts.append('-H "authorization: Bearer $MEMORY_TOKEN"')
    if body is not None:
        parts += ["-H 'content-type: application/json'", f"-d {shlex.quote(json.dumps(body))}"]
    return " \\\n  ".join(parts)


def _set(facets: Facets) -> dict[str, Any]:
    """What is set of the facets, by name."""
    return {name: value for name, value in vars(facets).items() if value not in ((), None, "")}


def _facets(facets: Facets) -> str:
    told = []
    for name, value in _set(facets).items():
        if isinstance(value, datetime):
            shown = _time(value)
        elif isinstance(value, tuple):
            shown = repr(tuple(str(one) for one in value))
        else:
            shown = repr(value)
        told.append(f"{name}={shown}")
    return f"Facets({', '.join(told)})"


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, datetime):
        return _moment(value)
    return [str(one) for one in value] if isinstance(value, tuple) else value


def _time(at: datetime) -> str:
    return f'datetime.fromisoformat("{_moment(at)}")'


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
