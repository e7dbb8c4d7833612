"""Errors as problem+json (RFC 9457): ``code`` for programs, from the error tree, and ``detail`` for people."""

from __future__ import annotations

import inspect
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, get_args, get_origin

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.routing import Match

from ...errors import MemorySystemError, ModelUnavailable, did_you_mean, problem_words, quoted_words

_WORDS = {
    400: "The body cannot be read: it must be JSON in UTF-8, and not nested deeper than a thousand times.",
    404: "There is nothing at this address; /docs lists what there is.",
}
_MEANING = {
    400: "The body is not JSON, or the request was meant for another host.",
    401: "The token is missing or wrong.",
    402: "The agent's budget does not allow another call of the language model.",
    403: "The caller is a viewer, who cannot change anything, or a page of another server.",
    404: "There is no such agent, memory, revision or address.",
    408: "The body did not arrive in time.",
    409: "It does not fit what is stored now.",
    412: "The agent has moved on from the revision in If-Match.",
    413: "The body, or what the model was sent, is too large.",
    415: "The body is of another media type, or compressed.",
    422: "Something in the request is not valid; nothing was changed.",
    429: "Too much at once; try again later.",
    500: "Something that should not have happened, such as files that cannot be written.",
    502: "The language model's answer could not be used.",
    503: "The language model, or the agent's folder, is not available now.",
    504: "The language model did not answer in time.",
}


class Problem(BaseModel):
    """What went wrong (RFC 9457): ``code`` for programs, ``detail`` for people."""

    type: str = "about:blank"
    title: str
    status: int
    code: str
    detail: str


def documented() -> dict[int | str, dict[str, Any]]:
    """What the API's description says about answers that are problems."""
    schema = {"$ref": "#/components/schemas/Problem"}
    body = {"content": {"application/problem+json": {"schema": schema}}}
    return {status: {"description": meaning, **body} for status, meaning in _MEANING.items()}


def problem_json(status: int, code: str, title: str, detail: str) -> JSONResponse:
    """A problem as an answer of the API."""
    body = _problem(status, code, title, detail)
    return JSONResponse(body.model_dump(), status, media_type="application/problem+json")


def problem_of(error: MemorySystemError) -> Problem:
    """An error of the tree as one of several problems in an answer."""
    return _problem(error.status, error.code, type(error).__name__, error.sentence)


def _problem(status: int, code: str, title: str, detail: str) -> Problem:
    text = detail[:2000].encode("utf-8", "replace").decode("utf-8")  # half of a surrogate pair cannot be sent
    return Problem(title=title, status=status, code=code, detail=text)


def problem_response(error: MemorySystemError) -> JSONResponse:
    """An error of the tree as a problem."""
    answer = problem_json(error.status, error.code, type(error).__name__, error.sentence)
    if isinstance(error, ModelUnavailable) and error.retry_after is not None:
        answer.headers["Retry-After"] = str(math.ceil(error.retry_after))
    return answer


def handle(app: FastAPI) -> None:
    """Make an app answer every error as a problem."""
    app.add_exception_handler(MemorySystemError, _error_of_tree)
    app.add_exception_handler(RequestValidationError, _wrong_body)
    app.add_exception_handler(HTTPException, _wrong_request)


def _error_of_tree(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, MemorySystemError), "registered for these alone"
    return problem_response(error)


def _wrong_body(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError), "registered for these alone"
    found = error.errors()
    if isinstance(error.body, bytes) and error.body:  # was not read as JSON, since it was not declared as such
        kind = request.headers.get("content-type", "none")[:60]
        detail = f"The body is not valid. Send it as JSON, with 'Content-Type: application/json', not {kind}."
        return problem_json(422, "invalid-input", "InvalidInput", detail)
    what = "body" if all(problem["loc"][:1] == ("body",) for problem in found[:_NAMED]) else "request"
    sentence = f"The {what} is not valid. {in_words(found)}{_meant(found, request.scope['route'].body_field)}"
    return problem_json(422, "invalid-input", "InvalidInput", sentence)


def _meant(found: Sequence[Any], body: Any) -> str:
    """The likely meaning of the first unknown field or word, as the end of a message; empty if none is similar."""
    for problem in _likely(found)[:_NAMED]:
        near = ""
        if problem["type"] == "extra_forbidden" and body is not None:
            *within, name = problem["loc"][1:]
            near = did_you_mean(name, _fields_at(body.field_info.annotation, within))
        elif problem["type"] in ("enum", "literal_error"):
            near = did_you_mean(problem["input"], quoted_words(problem["ctx"]["expected"]))
        if near:
            return near
    return ""


def _fields_at(form: Any, where: Sequence[Any]) -> Iterator[str]:
    """The fields of the forms allowed at a place in a body."""
    within = where[1:] if where and (_FORM.match(str(where[0])) or where[0] == getattr(form, "__name__", "")) else where
    if inspect.isclass(form) and issubclass(form, BaseModel):
        if not within:
            yield from form.model_fields
        elif within[0] in form.model_fields:
            yield from _fields_at(form.model_fields[within[0]].annotation, within[1:])
        return
    if get_origin(form) in (list, dict):
        within = within[1:]
    for part in get_args(form):
        yield from _fields_at(part, within)


_FORM = re.compile(r"constrained-|(dict|list)\[")
"""How pydantic names one of the forms that a field may have, which is not part of its place."""
_NAMED = 3
"""How many problems of one body are named; nobody would read more."""


def in_words(found: Sequence[Any]) -> str:
    """What pydantic finds wrong, in a sentence that says where."""
    parts = []
    likely = _likely(found)
    for problem in likely[:_NAMED]:
        if problem["type"] == "json_invalid":
            why = str(problem.get("ctx", {}).get("error", "")).rstrip(".")
            return f"It is not JSON: {why[:1].lower()}{why[1:]}, at character {problem['loc'][-1]}."
        within = problem["loc"][2:] if _is_of_form(problem) else problem["loc"]
        named = (str(part) for part in within if part != "body")
        where = ".".join(part[:60] for part in named if not _FORM.match(part))
        words = problem_words(problem)
        parts.append(f"{where}: {words}" if where else words)
    either = len({problem["loc"][1] for problem in likely if _is_of_form(problem)}) > 1
    return f"{('; or ' if either else '; ').join(dict.fromkeys(parts))}."


def _likely(found: Sequence[Any]) -> list[Any]:
    """The problems of the likeliest of several forms that a body may have: of those with the fewest."""
    of = Counter(problem["loc"][1] for problem in found if _is_of_form(problem))
    fewest = min(of.values(), default=0)
    return [problem for problem in found if not _is_of_form(problem) or of[problem["loc"][1]] == fewest]


def _is_of_form(problem: Any) -> bool:
    """Whether it is about one of several forms of a body: its place is a class name; fields are in lower case."""
    where = problem["loc"]
    if len(where) < 2 or where[0] != "body" or not str(where[1])[:1].isupper():
        return False
    return len(where) > 2 or problem["type"] != "extra_forbidden"


def _wrong_request(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException), "registered for these alone"
    detail, headers = _WORDS.get(error.status_code, str(error.detail)), dict(error.headers or {})
    if error.status_code == 405:
        routes = request.app.routes
        asked = [{**request.scope, "method": method} for method in ("DELETE", "GET", "PATCH", "POST", "PUT")]
        taken = (scope["method"] for scope in asked if any(route.matches(scope)[0] is Match.FULL for route in routes))
        headers["Allow"] = ", ".join(taken)  # the framework lists only those of the first route
        detail = f"This address accepts {headers['Allow']}, not {request.method[:20]}; see /docs."
    if type(error.__cause__) is ValueError:  # its subclasses, about encoding and JSON, are all reported as such
        detail = "The body cannot be read: it holds a whole number of thousands of digits."
    answer = problem_json(error.status_code, "http-error", "HTTP error", detail)
    answer.headers.update(headers)
    return answer
