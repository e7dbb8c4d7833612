"""The reference pages of docs/, made from the live objects: HTTP, Python, the command line and MCP.

``tools/site_hooks.py`` adds them to the site; none of them is stored in the repository.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import inspect
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from typer.main import get_command

from memory_system.__main__ import PANELS, app
from memory_system.interfaces.api import create_app
from memory_system.interfaces.mcp.curating import CURATING_TOOLS, LOOKING_TOOLS
from memory_system.interfaces.mcp.remembering import MEMORY_TOOLS
from memory_system.interfaces.mcp.talking import TALK_TOOLS
from memory_system.interfaces.mcp.together import TOGETHER_TOOLS
from memory_system.interfaces.mcp.tool import Tool

MODULES = {
    "memory_system": "reference/python.md",
    "memory_system.conversation": "reference/conversation.md",
    "memory_system.interfaces.client": "reference/client.md",
    "memory_system.errors": "reference/errors.md",
}
"""The modules whose public names are described, each with its page."""
TOOLS = {
    "Memory": MEMORY_TOOLS,
    "Talks": (*TALK_TOOLS, *TOGETHER_TOOLS),
    "Reads (with `--look`)": LOOKING_TOOLS,
    "Operations (with `--curate`)": CURATING_TOOLS,
}
VALUES = "reference/values.md"
_EVERYWHERE = {"Memory-Author", "Idempotency-Key", "if-match"}
"""Headers that are described once."""
_SECTION = re.compile(r"^(Args|Returns|Raises|Yields|Attributes):\s*(.*)$")
_TITLES = {"Args": "Arguments", "Returns": "Answers", "Raises": "Errors", "Yields": "Yields", "Attributes": "Fields"}


def pages() -> dict[str, str]:
    """All pages of the reference: the path of each in the site, and its Markdown."""
    described = create_app(lambda: None).openapi()  # type: ignore[arg-type,return-value]
    made = {page: python(module) for module, page in MODULES.items()}
    return made | {
        "reference/http.md": http(described),
        VALUES: values(described),
        "reference/commands.md": commands(),
        "reference/mcp.md": mcp(),
    }


# -- HTTP ------------------------------------------------------------------------------------------------


def http(described: Mapping[str, Any]) -> str:
    """Every operation of the HTTP API, by subject."""
    subjects: dict[str, list[str]] = defaultdict(list)
    operations = list(_operations(described))
    for method, path, operation in operations:
        subjects[(operation.get("tags") or ["others"])[0]].append(_operation(method, path, operation))
    headers = {one["name"]: one for _, _, operation in operations for one in operation.get("parameters", ())}
    answers = {code: one for _, _, operation in operations for code, one in operation["responses"].items()}
    lines = [
        "# HTTP",
        "",
        f"All {len(operations)} operations of the API, from its own description, which a running server shows at",
        "`/docs` and `/openapi.json`. Bodies and answers are JSON; their fields are under",
        "[Values of the HTTP API](values.md).",
        "",
        "## In every request",
        "",
        "| header | meaning |",
        "|---|---|",
        "| `Authorization` | `Bearer` and the token, where the server has one |",
        *(f"| `{name}` | {_cell(headers[name]['description'])} |" for name in sorted(_EVERYWHERE)),
        "",
        "## Errors",
        "",
        "An error is `application/problem+json`, with a sentence that says what to do in `detail`.",
        "",
        "| status | meaning |",
        "|---|---|",
        *(f"| {code} | {_cell(one['description'])} |" for code, one in sorted(answers.items()) if code >= "400"),
    ]
    for subject, told in subjects.items():
        lines += ["", f"## {subject.capitalize()}", "", *told]
    return "\n".join(lines) + "\n"


def _operations(described: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> str:
    summary, about = _plain(operation["summary"].rstrip(".")), _plain(operation.get("description", ""))
    lines = [
        f"### {summary} {{ #{operation['operationId']} }}",
        "",
        f"`{method} {path}` (`{operation['operationId']}`)",
    ]
    if about.rstrip(".") != summary:
        lines += ["", about]
    taken = [one for one in operation.get("parameters", ()) if one["name"] not in _EVERYWHERE and one["in"] != "path"]
    if taken:
        lines += ["", "| parameter | type | meaning |", "|---|---|---|"]
        lines += [
            f"| `{one['name']}` | {_type(one['schema'], 'values.md')} | {_cell(one.get('description', ''))} |"
            for one in taken
        ]
    sent, answered = _body(operation.get("requestBody")), _body(operation["responses"].get("200"))
    answered = answered or _body(operation["responses"].get("201"))
    told = [f"Body: {sent}." if sent else "", f"Answer: {answered}." if answered else ""]
    return "\n".join([*lines, "", " ".join(filter(None, told)), ""])


def _body(held: Mapping[str, Any] | None) -> str:
    kinds = (held or {}).get("content", {})
    return " or ".join(
        _type(one["schema"], "values.md") if one.get("schema") and kind == "application/json" else f"`{kind}`"
        for kind, one in kinds.items()
    )


def values(described: Mapping[str, Any]) -> str:
    """The JSON values that the API accepts and returns, with their fields."""
    lines = ["# Values of the HTTP API", "", "What requests and answers are made of. A field marked * is needed."]
    for name, schema in sorted(described["components"]["schemas"].items()):
        lines += ["", f"## {name} {{ #{name.lower()} }}", ""]
        if about := schema.get("description"):
            lines += [_plain(about), ""]
        lines += _fields(schema, "") if schema.get("properties") else [_type(schema, "")]
    return "\n".join(lines) + "\n"


def _fields(schema: Mapping[str, Any], page: str) -> list[str]:
    needed = set(schema.get("required", ()))
    lines = ["| field | type | meaning |", "|---|---|---|"]
    for name, one in schema["properties"].items():
        default = f" Default: `{one['default']}`." if one.get("default") not in (None, "", [], {}) else ""
        about = _cell(one.get("description", "") + default)
        lines.append(f"| `{name}`{'*' if name in needed else ''} | {_type(one, page)} | {about} |")
    return lines


def _type(schema: Mapping[str, Any], page: str) -> str:
    """A JSON schema in words; references become links into ``page``."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}]({page}#{name.lower()})"
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(_type(one, page) for one in schema[several]))
    if "enum" in schema or "const" in schema:
        return " or ".join(f"`{one}`" for one in schema.get("enum", [schema.get("const")]))
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}), page)}"
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    words = {"string": "text", "integer": "whole number", "boolean": "true or false", "null": "nothing"}.get(kind, kind)
    if schema.get("format") == "date-time":
        words = "time"
    if low is not None and high is not None:
        return f"{words}, {low:,g} to {high:,g}".replace("e+", "e")
    return words


# -- the command line ------------------------------------------------------------------------------------


def commands() -> str:
    """Every command, with its arguments and options."""
    known = get_command(app).commands  # type: ignore[attr-defined]  # it is a group of them
    lines = [
        "# Command line",
        "",
        "`memory-system COMMAND --help` says the same. Exit codes, and what `--json` prints: see",
        "[the command line](../packages/cli.md).",
    ]
    for panel, named in PANELS.items():
        lines += ["", f"## {panel}"]
        for name in named:
            lines += ["", f"### {name} {{ #{name} }}", "", *_command(known[name])]
    return "\n".join(lines) + "\n"


def _command(command: Any) -> Iterator[str]:
    about, _, example = inspect.cleandoc(command.help or "").partition("Example: python -m ")
    yield _plain(about.strip())
    if example:
        line, _, more = example.partition("\n")
        yield from ("", "```sh", line.rstrip(".").replace("memory_system", "memory-system", 1), "```")
        if more.strip():
            yield from ("", _plain(more.strip()))
    taken = [one for one in command.params if one.name != "help"]
    if taken:
        yield from ("", "| argument or option | meaning |", "|---|---|")
    for one in taken:
        is_option = one.param_type_name == "option"
        names = (
            ", ".join(f"`{name}`" for name in (*one.opts, *one.secondary_opts))
            if is_option
            else f"`{one.name.upper()}`"
        )
        yield f"| {names}{'*' if one.required else ''} | {_cell(one.help or '')} |"


# -- MCP -------------------------------------------------------------------------------------------------


def mcp() -> str:
    """Every tool of the MCP server."""
    lines = [
        "# Tools for MCP clients",
        "",
        "`memory-system mcp --agent mira` serves one character's memory, `memory-system mcp` that of all: each tool",
        "then takes the argument `agent` besides. Arguments marked * are needed.",
    ]
    for title, tools in TOOLS.items():
        lines += ["", f"## {title}"]
        for tool in tools:
            lines += ["", f"### {tool.name} {{ #{tool.name} }}", "", _plain(tool.about), *_arguments(tool)]
    return "\n".join(lines) + "\n"


def _arguments(tool: Tool) -> Iterator[str]:
    schema = tool.schema(agent=False)
    if schema.get("properties"):
        yield ""
        yield from (_unlinked(line) for line in _fields(schema, ""))


def _unlinked(line: str) -> str:
    return re.sub(r"\[(\w+)\]\(#\w+\)", r"\1", line)


# -- Python ----------------------------------------------------------------------------------------------


def python(module: str) -> str:
    """Every public name of a module, with its signature and its docstring."""
    found = importlib.import_module(module)
    names = getattr(found, "__all__", None) or [
        name for name, one in vars(found).items() if inspect.isclass(one) and one.__module__ == module
    ]
    about, _, code = inspect.cleandoc(found.__doc__ or "").partition("\n\n")
    lines = [f"# {module}", "", *_docstring(about)]
    if code.startswith("from memory_system"):
        lines += ["", "```python", code, "```"]
    for name in names:
        held = getattr(found, name)
        lines += ["", f"## {name} {{ #{name} }}", ""]
        if inspect.ismodule(held):
            lines += _docstring(inspect.getdoc(held) or "")
        elif inspect.isclass(held):
            lines += _class(name, held)
        elif callable(held):
            lines += _callable(name, held)
        elif isinstance(held, Mapping):
            lines += [f"By name: {', '.join(f'`{key}`' for key in held)}."]
        else:
            lines += [f"`{type(held).__name__}`: `{_short(held)}`"]
    return "\n".join(lines) + "\n"


def _class(name: str, held: type) -> Iterator[str]:
    if issubclass(held, enum.Enum):
        yield from _docstring(held.__doc__ or "")
        yield from ("", ", ".join(f"`{name}.{one.name}` = `{one.value!r}`" for one in held))
        return
    fields = getattr(held, "model_fields", None)
    if fields is None:
        yield from _code(f"class {name}", held)
    yield from _docstring(held.__doc__ or "")
    if fields is not None:
        yield from ("", "| field | environment | default |", "|---|---|---|")
        for one, field in fields.items():
            default = "" if field.default_factory else f"`{_short(field.get_default())}`"
            variable = f"`{field.validation_alias}`" if field.validation_alias else ""
            yield f"| `{one}` | {variable} | {default} |"
    for own, member in _members(held):
        yield from ("", f"### {name}.{own} {{ #{name}.{own} }}", "")
        if isinstance(member, property):
            yield from _docstring(inspect.getdoc(member) or "")
        else:
            yield from _callable(own, member, of=_bound(held, own))


def _bound(held: type, name: str) -> str:
    """The parameter of a method that is the object it is called on; empty if it is called on none, or on a class."""
    if not inspect.isfunction(inspect.getattr_static(held, name)):
        return ""
    return next(iter(inspect.signature(getattr(held, name)).parameters), "")


def _members(held: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that a class of this project has, its own and those of its bases."""
    seen: set[str] = set()
    for base in held.__mro__:
        if not base.__module__.startswith("memory_system"):
            continue
        for name, member in vars(base).items():
            inner = member.__func__ if isinstance(member, staticmethod | classmethod) else member
            if (
                not name.startswith("_")
                and name not in seen
                and (inspect.isfunction(inner) or isinstance(inner, property))
            ):
                seen.add(name)
                if name not in ("model_post_init", "settings_customise_sources") and inspect.getdoc(inner):
                    yield name, inner


def _callable(name: str, held: Callable[..., Any], of: str = "") -> Iterator[str]:
    yield from _code(f"def {name}", held, of)
    doc = inspect.getdoc(held) or ""
    yield from _docstring(re.sub(rf"^ +{of}: .*\n", "", doc, flags=re.MULTILINE) if of else doc)


def _code(head: str, held: Callable[..., Any], of: str = "") -> Iterator[str]:
    try:
        signature = inspect.signature(held)
    except (TypeError, ValueError):
        return
    told = [
        one
        for place, one in enumerate(signature.parameters.values())
        if one.name not in ("self", "cls", of) and not (place == 0 and one.name == "agent")
    ]
    taken = [_parameter(one) for one in told]
    first = next((place for place, one in enumerate(told) if one.kind is one.KEYWORD_ONLY), None)
    if first is not None and not any(one.kind is one.VAR_POSITIONAL for one in told):
        taken.insert(first, "*")
    answer = (
        ""
        if signature.return_annotation in (signature.empty, None)
        else f" -> {_annotation(signature.return_annotation)}"
    )
    line = f"{head}({', '.join(taken)}){answer}"
    if len(line) > 100:
        line = f"{head}(\n" + "".join(f"    {one},\n" for one in taken) + f"){answer}"
    yield from ("```python", line, "```", "")


def _parameter(one: inspect.Parameter) -> str:
    stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
    words = f"{stars}{one.name}"
    if one.annotation is not one.empty:
        words += f": {_annotation(one.annotation)}"
    if one.default is not one.empty:
        words += f" = {_short(one.default)}" if one.annotation is not one.empty else f"={_short(one.default)}"
    return words


def _annotation(told: object) -> str:
    words = told if isinstance(told, str) else inspect.formatannotation(told)
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", words)


def _short(value: object) -> str:
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return f"{type(value).__name__}(...)"
    if callable(value):
        return getattr(value, "__name__", "...")
    words = " ".join(repr(value).split())
    return words if len(words) <= 60 and " at 0x" not in words else f"{words[:57].split(' at 0x')[0]}..."


# -- texts -----------------------------------------------------------------------------------------------


def _docstring(text: str) -> Iterator[str]:
    """A docstring as Markdown: its sections as lists."""
    section = ""
    for paragraph in _entries(inspect.cleandoc(text).splitlines()):
        if begun := _SECTION.match(paragraph):
            section = begun[1]
            yield from ("", f"**{_TITLES[section]}**", "")
            if begun[2]:
                yield _plain(begun[2])
        elif section and paragraph.startswith("    "):
            name, colon, words = paragraph.strip().partition(": ")
            if section == "Returns" or not colon:
                yield _plain(paragraph.strip())
            else:
                yield f"- `{name}`: {_plain(words)}"
        else:
            section = "" if paragraph else section
            yield _plain(paragraph)


def _entries(lines: Iterable[str]) -> Iterator[str]:
    """The lines of a docstring, with continuation lines joined to the entry they belong to."""
    held = ""
    for line in lines:
        if held and line.startswith("        "):
            held += " " + line.strip()
            continue
        if held:
            yield held
        held = line
        if not line.startswith("    "):
            yield line
            held = ""
    if held:
        yield held


def _plain(text: str) -> str:
    """A text of a docstring as Markdown: code in single backticks, nothing that could be read as HTML."""
    parts = re.split(r"(``?[^`]+``?)", text)
    return "".join(
        f"`{part.strip('`')}`"
        if part.startswith("`") and len(part) > 1
        else part.replace("<", "&lt;").replace("*", "\\*")
        for part in parts
    )


def _cell(text: str) -> str:
    return _plain(" ".join(text.split())).replace("|", "\\|")
