"""The calls of an agent on a server that are made from a declaration: a method of ``AgentMemory``, over HTTP.

The parameters and their documentation are those of ``AgentMemory``; the address and the fields are those of the
``Operation`` or ``Read``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast, get_args, get_origin

from pydantic import BaseModel

from ...agent import AgentMemory
from ...core.change_set import ChangeSet, revision_of
from ...core.entry import id_of
from ...operations.context import Progress, no_progress
from ...operations.edit import ids_of
from ..forms import says
from ..operations import OPERATIONS
from ..reads import READS
from ..serialize import RemoteChangeSet, Shape, read
from .view import RemoteView
from .wire import filed, long, plain, segment

_Given = ParamSpec("_Given")
_Answer = TypeVar("_Answer")


def planned(
    method: Callable[Concatenate[AgentMemory, _Given], ChangeSet],
) -> Callable[Concatenate[RemoteView, _Given], RemoteChangeSet]:
    """An operation, previewed or carried out by the server."""
    operation = next(operation for operation in OPERATIONS if operation.in_python == method.__name__)
    signature = inspect.signature(method)

    @wraps(method)
    def call(agent: RemoteView, /, *args: _Given.args, **kwargs: _Given.kwargs) -> RemoteChangeSet:
        fields, progress = _fields(signature, operation.form, args, kwargs)
        preview = str(fields.pop("preview")).lower()
        wire, of = agent.reached
        return read(
            RemoteChangeSet, long(wire, "POST", f"{of}/operations/{operation.name}", fields, progress, preview=preview)
        )

    return call


def looked(
    method: Callable[Concatenate[AgentMemory, _Given], _Answer],
) -> Callable[Concatenate[RemoteView, _Given], _Answer]:
    """A read that returns a value, or a list of values."""
    declared = next(entry for entry in READS if entry.in_python == method.__name__)
    signature = inspect.signature(method)
    several = tuple if str(signature.return_annotation).startswith("tuple[") else list

    @wraps(method)
    def call(agent: RemoteView, /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Answer:
        fields, progress = _fields(signature, declared.form, args, kwargs)
        within = {name: segment(str(fields.pop(name))) for name in re.findall(r"{(\w+)", declared.address)}
        part = declared.address.format(**within)
        asked: dict[str, Any] = {
            name: str(value).lower() if isinstance(value, bool) else value for name, value in fields.items()
        }
        wire, of = agent.reached
        answer: Any
        if isinstance(declared.gives, Shape):
            (kind,) = declared.gives.fields["items"]
            paged = "limit" in asked
            items = (
                agent.pages(part, asked.pop("limit"), **asked) if paged else wire.get(f"{of}/{part}", **asked)["items"]
            )
            answer = several(read(kind, item) for item in items)
        else:
            answer = read(declared.gives, long(wire, "GET", f"{of}/{part}", None, progress, **asked))
        return cast("_Answer", answer)

    return call


def _fields(
    signature: inspect.Signature, form: type[BaseModel], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[dict[str, Any], Progress]:
    """The arguments as the fields of a form, and the progress callback.

    Raises:
        TypeError: the method has no such parameter, or one is missing.
        InvalidParameter: a value cannot be sent.
    """
    bound = signature.bind(None, *args, **kwargs)
    bound.apply_defaults()
    (_, *arguments), named = bound.arguments.items(), dict[str, Any]()
    progress: Progress = no_progress
    files = {name for name, explanation in says(form).items() if explanation.filed}
    for name, value in arguments:
        parameter = signature.parameters[name]
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            named |= {key: plain(item) for key, item in value.items()}
        elif name == "progress":
            progress = value
        elif value is not None or parameter.default is not None:  # the server's defaults are not sent
            field = next((alias for alias in _CALLED.get(name, ()) if alias in form.model_fields), name)
            several = (
                value is not None and field in form.model_fields and _is_texts(form.model_fields[field].annotation)
            )
            sent = filed(value) if field in files else ids_of(value) if several else id_of(value)
            named[field] = revision_of(value) if name == "revision" else plain(sent)
    return named, progress


_CALLED = {"entry_id": ("id", "memory", "entry_id")}
"""The possible names of a parameter as a field."""


def _is_texts(annotation: Any) -> bool:
    """Whether a field is a list of texts, for which one text is accepted as a list."""
    if get_origin(annotation) is list:
        (kind,) = get_args(annotation)
        return kind is str or get_args(kind)[:1] == (str,)
    return any(map(_is_texts, get_args(annotation)))
