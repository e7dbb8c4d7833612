"""A command per operation and read, made from its declaration; and ``rate``, ``advance``, ``clock`` and ``spent``.

Ids and texts that an operation cannot do without are the command's arguments; everything else is an option.
``rate`` gives memories without a rating one, ``advance`` lets time pass, ``clock`` sets the world's time, and ``spent``
shows what calls of language models cost.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import Enum
from inspect import Parameter, Signature
from json import loads
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, cast, get_args, get_origin

import typer
from pydantic import AwareDatetime, BaseModel, ValidationError

from ...agent import AgentMemory
from ...agent_parts.importing import as_address
from ...core.authors import COMMAND_LINE
from ...core.change_set import ChangeSet, counted, so_many
from ...core.known import WORLD_AGENT
from ...core.times import stamp
from ...errors import InvalidParameter, problem_words
from ...llm.usage import total
from ...world.advancing import Advanced
from ...world.world import World
from ..forms import Body, FormField, Says, fields
from ..operations import BESIDE, OF_CAST, OF_WORLD, OPERATIONS, Operation, Turn
from ..reads import READS, Read
from ..serialize import plain
from .arguments import FAILED, Agent, DryRun, Json, between, errors_told, moment, opened, the_world
from .progress import STOPPED, ProgressLine, quiet_progress, stopped_by_ctrl_c
from .remembering import STDIN, piped, spoken, whole_file
from .terminal import Column, one_line, say, show_change_set, show_json, show_table, show_together, show_told

Form = TypeVar("Form", bound=BaseModel)
_NONE = "none"
"""The word that empties what can be empty."""
_WHOSE = "mira"
"""The agent of the examples."""
_HAPPENS = '{"ana": [{"id": "e1", "document": "...", "timestamp": "..."}]}'
"""The form of a file of events."""


class _Emptied:
    """The value given by ``none``."""


def commands() -> dict[str, Callable[..., None]]:
    """The commands by their names, one per operation."""
    of_agent = {operation.on_command_line: _command(operation) for operation in (*OPERATIONS, *BESIDE)}
    of_world = {operation.on_command_line: _of_world(operation) for operation in OF_WORLD}
    return of_agent | of_world | {operation.on_command_line: _of_cast(operation) for operation in OF_CAST}


def looks() -> dict[str, Callable[..., None]]:
    """The commands by their names, one per read without a command of its own."""
    return {read.on_command_line: _look(read) for read in READS if not read.command}


def _command(operation: Operation) -> Callable[..., None]:
    asked = _asked(operation.form, operation.refuses)

    def run(**arguments: Any) -> None:
        agent, dry_run, json = arguments.pop("agent"), arguments.pop("dry_run"), arguments.pop("json")
        with errors_told(json=json):
            body = _body(operation.form, asked, arguments)
        with the_world(json=json) as world:
            character = opened(world, agent)
            show_change_set(agent, _done(operation, character, body, dry_run=dry_run), json=json, dry_run=dry_run)

    first, last = [_parameter("agent", Agent)], [_parameter("dry_run", DryRun, False), _parameter("json", Json, False)]
    example = f"{operation.on_command_line} {_WHOSE} {operation.example}"
    return _signed(run, [*first, *_parameters(asked), *last], operation.about, example)


def _of_world(operation: Operation) -> Callable[..., None]:
    def done(world: World, body: BaseModel, *, json: bool, dry_run: bool) -> None:
        plan = operation.plan(world, body, COMMAND_LINE)
        show_change_set(WORLD_AGENT, plan if dry_run else world.carry_out(plan), json=json, dry_run=dry_run)

    return _of_no_agent(operation, done)


def _of_cast(operation: Operation) -> Callable[..., None]:
    def done(world: World, body: BaseModel, *, json: bool, dry_run: bool) -> None:
        with quiet_progress() as progress:
            plan = operation.plan(world, body, COMMAND_LINE, progress)
        show_together(plan if dry_run else world.carry_out_all(plan), json=json, dry_run=dry_run)

    return _of_no_agent(operation, done)


def _of_no_agent(operation: Operation, done: Callable[..., None]) -> Callable[..., None]:
    """The command of an operation on the world or its cast, which ``done`` carries out and shows."""
    asked = _asked(operation.form, operation.refuses)

    def run(**arguments: Any) -> None:
        dry_run, json = arguments.pop("dry_run"), arguments.pop("json")
        with errors_told(json=json):
            body = _body(operation.form, asked, arguments)
        with the_world(json=json) as world:
            done(world, body, json=json, dry_run=dry_run)

    last = [_parameter("dry_run", DryRun, False), _parameter("json", Json, False)]
    example = f"{operation.on_command_line} {operation.example}"
    return _signed(run, [*_parameters(asked), *last], operation.about, example)


def _look(read: Read) -> Callable[..., None]:
    asked = _asked(read.form, ())

    def run(**arguments: Any) -> None:
        agent, json = arguments.pop("agent", None), arguments.pop("json")
        with errors_told(json=json):
            form = _body(read.form, asked, arguments)
        with the_world(json=json) as world, quiet_progress() as progress:
            written, _ = read.asked(world, opened(world, agent) if agent is not None else None, form, progress)
        if json:
            show_json(loads(written))
        else:
            show_told(loads(written), read.nothing)

    first = [_parameter("agent", Agent)] if read.of_agent else []
    example = " ".join(word for word in (read.on_command_line, _WHOSE if read.of_agent else "", read.example) if word)
    return _signed(run, [*first, *_parameters(asked), _parameter("json", Json, False)], read.about, example)


def _asked(form: type[BaseModel], refuses: Collection[str]) -> dict[str, _Asked]:
    return {name: _Asked(form_field) for name, form_field in fields(form, refuses).items()}


def _parameters(asked: Mapping[str, _Asked]) -> list[Parameter]:
    needed = sorted(
        (parameter for parameter in asked.values() if parameter.needed), key=lambda parameter: parameter.many
    )
    options = (_parameter(parameter.name, *parameter.option()) for parameter in asked.values() if not parameter.needed)
    return [*(_parameter(parameter.name, parameter.argument()) for parameter in needed), *options]


def _signed(run: Any, parameters: Sequence[Parameter], about: str, example: str) -> Callable[..., None]:
    """A command with what typer reads from it: its parameters and its help."""
    run.__signature__ = Signature(parameters, return_annotation=None)
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__doc__ = f"{about.replace('``', '')}\n\nExample: python -m memory_system {example}"
    return cast("Callable[..., None]", run)


def _done(operation: Operation, character: AgentMemory, body: Body, *, dry_run: bool) -> ChangeSet:
    """The change set that was carried out, or would be."""
    with quiet_progress() as progress:
        return operation.done(character, body, progress, preview=dry_run)


def _body(form: type[Form], asked: Mapping[str, _Asked], arguments: Mapping[str, Any]) -> Form:
    """The given values as a form.

    Raises:
        typer.BadParameter: a value is invalid; the option is named.
    """
    values = {name: asked[name].value(value) for name, value in arguments.items() if asked[name].is_given(value)}
    named = next(
        (str(arguments[name]) for name, parameter in asked.items() if parameter.said.filed and name in arguments), ""
    )
    if named and "file_name" in asked and not values.get("file_name"):
        values["file_name"] = "the pipe" if named == STDIN else Path(named).resolve().name
    try:
        return form.model_validate(values)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        where = [str(part) for part in problem["loc"]]
        within = f"{'.'.join(where[1:])}: " if where[1:] else ""
        hint = asked[where[0]].shown if where and where[0] in asked else None
        raise typer.BadParameter(f"{within}{problem_words(problem)}.", param_hint=hint) from error


@dataclass(frozen=True)
class _Asked:
    """A field of a form, as an argument or option of the command line."""

    field: FormField

    @property
    def name(self) -> str:
        """What it is called in the form."""
        return self.field.name

    @property
    def said(self) -> Says:
        """Its description."""
        return self.field.said

    @property
    def needed(self) -> bool:
        """Whether the form requires it."""
        return self.field.required

    @property
    def many(self) -> bool:
        """Whether there may be several."""
        return self.field.several

    @property
    def shown(self) -> str:
        """What it is called on the command line."""
        if self.needed:
            return f"'{self._metavar()}'"
        return f"'{self._flag()}'"

    def argument(self) -> Any:
        """The annotation of an argument."""
        kind, several = self.field.kind, self.many
        if kind is Turn:
            help_text = f"{self.said.help} JSON, JSON lines, or lines 'Name: what was said'; - reads from a pipe."
            return Annotated[str, typer.Argument(metavar="FILE", help=help_text)]
        if self.said.filed:
            help_text = "The file, in any of the known forms; a folder with a persona; - reads from a pipe."
            return Annotated[str, typer.Argument(metavar="FILE", help=help_text)]
        if self.said.words:
            help_text = f"{self.said.help} One of {', '.join(self.said.words)}."
            return Annotated[self._choice(self.said.words), typer.Argument(metavar=self._metavar(), help=help_text)]
        bounds = self._bounds() if kind in (int, float) else {}
        return Annotated[
            list[kind] if several else kind,  # type: ignore[valid-type]  # it is one, made here
            typer.Argument(help=self._help(), **{**bounds, "metavar": self._metavar()}),
        ]

    def option(self) -> tuple[Any, Any]:
        """The annotation of an option, and its default."""
        kind, several = self.field.kind, self.many
        flag, help_text = self._flag(), self._help()
        if kind is bool and isinstance(self.field.default, bool):
            return Annotated[bool, typer.Option(flag, help=help_text)], False
        if kind is bool:
            return Annotated[bool | None, typer.Option(f"{flag}/--no-{flag[2:]}", help=help_text)], None
        more: dict[str, Any] = {"help": help_text}
        if kind is AwareDatetime or self.said.empties or self.field.is_json:
            more |= {"parser": self._parser(kind), "metavar": _METAVARS.get(kind, "JSON")}
            kind = str
        elif get_origin(kind) is Literal:
            kind = self._choice({word: word for word in get_args(kind)})
        elif kind in (int, float):
            more |= self._bounds()
        elif self.name in _OF_IDS:
            more |= {"metavar": "ID"}
        if several:
            return Annotated[list[kind] | None, typer.Option(flag, **more)], None  # type: ignore[valid-type]
        return Annotated[kind | None, typer.Option(flag, **more)], self.field.default

    def is_given(self, value: Any) -> bool:
        """Whether a value was given; a repeatable option that was not given is an empty list to typer."""
        if isinstance(value, bool) and isinstance(self.field.default, bool):
            return value
        return value is not None and value not in ([], ())

    def value(self, given: Any) -> Any:
        """The given value, as the form accepts it."""
        if given is _Emptied:
            return None
        if self.said.words:
            return self.said.words[given.value]
        if isinstance(self.field.default, bool):
            return not self.field.default
        if self.said.piped:
            return piped(given)
        if self.said.filed:
            return as_address(whole_file(given))
        if self.field.kind is Turn:
            return spoken(given)
        if isinstance(given, list):
            return [item.value if isinstance(item, Enum) else item for item in given]
        return given.value if isinstance(given, Enum) else given

    def _flag(self) -> str:
        flag = self.said.option or f"--{self.name.replace('_', '-')}"
        return f"--no-{flag[2:]}" if self.field.default is True else flag

    def _metavar(self) -> str:
        return "ID" if self.name in _OF_IDS else self.name.upper()

    def _help(self) -> str:
        help_text = self.said.help
        if self.field.default is True:
            help_text = f"Do not {help_text[0].lower()}{help_text[1:]}"
        if self.many and not self.needed:
            help_text += " May be repeated."
        if self.said.empties:
            help_text += f" '{_NONE}' empties it."
        return f"{help_text} - reads from a pipe." if self.said.piped else help_text

    def _parser(self, kind: Any) -> Callable[[Any], Any]:
        read = _READERS.get(kind, _json)

        def parser(text: Any) -> Any:
            return _Emptied if self.said.empties and text == _NONE else read(text)

        return parser

    def _bounds(self) -> dict[str, Any]:
        return between(self.field.least, self.field.most, whole=self.field.kind is int)

    def _choice(self, words: Mapping[str, Any]) -> Any:
        return Enum(self.name.title(), {word: word for word in words})


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is not a number.") from error


def _json(text: Any) -> Any:
    try:
        return loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f"This is not valid JSON: {error}.") from error


_OF_IDS = frozenset(
    {"id", "ids", "keep", "overwrite", "must", "must_not", "memory", "entry_id", "conversation", "document"}
)
_READERS: dict[Any, Callable[[Any], Any]] = {AwareDatetime: moment, float: _number}
_METAVARS: dict[Any, str] = {AwareDatetime: "TIME", float: "NUMBER"}


def _parameter(name: str, annotation: Any, default: Any = Parameter.empty) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


_SPENT = (
    Column("model", wide=True),
    Column("for"),
    Column("calls", right=True),
    Column("sent", right=True),
    Column("received", right=True),
    Column("cost", right=True),
)


def rate(agent: Agent, dry_run: DryRun = False, json: Json = False) -> None:
    """Rate the memories that have no rating, storing them as it goes; after Ctrl+C, call it again to continue.

    Example: python -m memory_system rate mira
    """
    with the_world(json=json) as world, stopped_by_ctrl_c() as cancelled:
        character = opened(world, agent)
        if dry_run:
            waiting = len(character.unrated())
            if json:
                show_json({"agent": agent, "rated": [], "failed": [], "left": waiting, "stopped": ""})
            else:
                say(f"{so_many(waiting)} of {agent} would be rated by {character.model.label}. Nothing was changed.")
            return
        line = ProgressLine(patience=1.0)
        try:
            done = character.rate_unrated(progress=line, cancelled=cancelled)
        finally:
            line.end()
        if json:
            body = {"rated": list(done.rated), "failed": list(done.failed), "left": done.left, "stopped": done.stopped}
            show_json({"agent": agent, **body})
        else:
            say(
                f"{counted(len(done.rated), 'memory was', 'memories were')} rated, "
                f"{counted(done.left, 'is', 'are')} left."
            )
            if done.stopped:
                say(one_line(done.stopped, 400), err=True)
        if done.stopped or done.failed:
            raise typer.Exit(STOPPED if cancelled() else FAILED)


def advance(
    to: Annotated[
        datetime | None,
        typer.Option(parser=moment, metavar="TIME", help="Until this time of the world; by default what is due now."),
    ] = None,
    events: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help=f"JSON of what happens to whom; each event happens once, by its id: {_HAPPENS}"
        ),
    ] = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Let time pass: each character does what is due by itself. After Ctrl+C, call it again to continue.

    Example: python -m memory_system advance --to 2026-03-28T08:00:00+00:00 --dry-run
    """
    with the_world(json=json) as world, stopped_by_ctrl_c() as cancelled, quiet_progress() as progress:
        happens = None if events is None else _happens(events)
        done = world.advance(to, events=happens, preview=dry_run, progress=progress, cancelled=cancelled)
        if json:
            show_json(plain(done))
        else:
            _show_passed(done, dry_run=dry_run)
        if done.stopped:
            raise typer.Exit(STOPPED)


def _happens(file: Path) -> Any:
    """The events in a file; ``World.advance`` checks them.

    Raises:
        InvalidParameter: the file cannot be read.
    """
    try:
        return loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidParameter(
            f"{file} cannot be read as events: {error!s:.200}. It must be JSON: {_HAPPENS}"
        ) from error


def clock(
    at: Annotated[
        datetime | None,
        typer.Option(parser=moment, metavar="TIME", help="Stop it at this time of the world."),
    ] = None,
    pause: Annotated[bool, typer.Option("--pause", help="Stop it where it is.")] = False,
    real: Annotated[bool, typer.Option("--real", help="Let it follow the real time.")] = False,
    speed: Annotated[
        float | None, typer.Option(help="Let it run on from where it is, this many seconds in a real one.")
    ] = None,
    zone: Annotated[
        str | None,
        typer.Option(help="The time zone that the world lives in, such as Europe/Berlin; '' = none but its time's."),
    ] = None,
    live: Annotated[
        bool | None,
        typer.Option("--live/--no-live", help="Whether a server lets each character do what is due as time passes."),
    ] = None,
    json: Json = False,
) -> None:
    """Show the world's time, or set its clock. To advance to a later time, stop it first.

    Example: python -m memory_system clock --at 2026-03-28T08:00:00+00:00
    """
    if sum((at is not None, pause, real, speed is not None)) > 1:
        raise typer.BadParameter("name one of --at, --pause, --real and --speed")
    with the_world(json=json) as world:
        if zone is not None:
            world.use_zone(zone or None)
        if at is not None or real:
            world.stand_at(at)
        elif pause:
            world.pause()
        elif speed is not None:
            world.play(speed)
        if live is not None:
            world.live(on=live)
        goes = {0.0: "is stopped", 1.0: "follows the real time"}.get(world.speed, f"runs {world.speed:g} times as fast")
        if json:
            show_json(
                plain({name: getattr(world, name) for name in ("standing", "zone", "speed", "lives")})
                | {"now": plain(world.clock())}
            )
        else:
            does = "a server lets each do what is due" if world.lives else "nothing happens by itself"
            say(f"The world's time is {stamp(world.clock())}; it {goes}, and {does}.")


def _show_passed(done: Advanced, *, dry_run: bool) -> None:
    if done.steps:
        steps = [(stamp(step.at), step.agent, step.title or step.what, step.why) for step in done.steps]
        show_table((Column("when"), Column("agent"), Column("what"), Column("why", wide=True)), steps)
    for step in done.waiting:
        say(f"{step.agent}, {step.what or 'everything'} waits: {one_line(step.waits, 400)}", err=True)
    count = f"{len(done.steps)} step{'s' if len(done.steps) != 1 else ''}"
    if dry_run:
        say(f"{count} until {stamp(done.now)}, as far as it can be foreseen. Nothing was changed.")
    else:
        say(f"{count} done. The world's time is {stamp(done.now)}.")


def spent(agent: Agent, json: Json = False) -> None:
    """Show what an agent's calls of language models used, by model and task, and its budget.

    Example: python -m memory_system spent mira
    """
    with the_world(json=json) as world:
        character = opened(world, agent)
        lines, settings = character.spent, character.settings
        whole = total(lines)
        if json:
            budget = {"token_budget": settings.token_budget, "cost_budget": settings.cost_budget}
            show_json({"agent": agent, "spent": [asdict(line) for line in lines], "total": asdict(whole), **budget})
            return
        if lines:
            rows = [
                (line.model, line.task, f"{line.calls:,}", f"{line.prompt:,}", f"{line.answer:,}", f"{line.cost:.4f}")
                for line in lines
            ]
            show_table(_SPENT, rows)
        of_tokens = f" of {settings.token_budget:,}" if settings.token_budget else ""
        of_cost = f" of {settings.cost_budget:g}" if settings.cost_budget else ""
        say(f"{whole.tokens:,}{of_tokens} tokens in {whole.calls:,} calls, cost {whole.cost:.4f}{of_cost}.")
