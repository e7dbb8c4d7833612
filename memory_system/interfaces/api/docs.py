"""The API's documentation as one page that fetches nothing: made from the API's own OpenAPI description."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from typing import Any

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}"
    "pre{overflow:auto;padding:.8rem;border:1px solid #8886;border-radius:.4rem;font-size:.85rem}"
    "h2{margin-top:2.2rem;border-top:1px solid #8886;padding-top:1.2rem}"
)


def page(description: Mapping[str, Any]) -> str:
    """An HTML page from an OpenAPI description."""
    parts = []
    for path, methods in description["paths"].items():
        for method, about in methods.items():
            parts.append(_operation(description, method.upper(), path, about))
    title = html.escape(description["info"]["title"])
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{title}: HTTP API</title>"
        f"<meta name='viewport' content='width=device-width'><style>{_STYLE}</style><h1>{title}: HTTP API</h1>"
        "<p>For programs: <a href='/openapi.json'>openapi.json</a>. Errors: <code>application/problem+json</code> with "
        f"a <code>code</code> and a <code>detail</code>.</p>{''.join(parts)}</html>"
    )


def _operation(description: Mapping[str, Any], method: str, path: str, about: Mapping[str, Any]) -> str:
    body = about.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    done: Mapping[str, Any] = next((told for status, told in about["responses"].items() if status.startswith("2")), {})
    answer = done.get("content", {}).get("application/json", {}).get("schema", {})
    schemas = [("Body", body), ("Answer", answer)]
    shown = "".join(
        f"<h3>{name}</h3><pre>{html.escape(json.dumps(_resolved(description, schema), indent=1))}</pre>"
        for name, schema in schemas
        if schema
    )
    words = html.escape(about.get("description", about.get("summary", "")))
    given = "".join(map(_parameter, about.get("parameters", ())))
    return f"<h2>{method} {html.escape(path)}</h2><p>{words}</p>{given and f'<ul>{given}</ul>'}{shown}"


def _parameter(told: Mapping[str, Any]) -> str:
    place = "" if told.get("required") else ", may be left out"
    words = html.escape(told.get("description", ""))
    return f"<li><code>{html.escape(told['name'])}</code> ({told['in']}{place}) {words}</li>"


def _resolved(description: Mapping[str, Any], schema: Any) -> Any:
    """The schema with what it refers to in its place."""
    if isinstance(schema, list):
        return [_resolved(description, item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    if "$ref" in schema:
        return _resolved(description, description["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    return {key: _resolved(description, value) for key, value in schema.items()}
