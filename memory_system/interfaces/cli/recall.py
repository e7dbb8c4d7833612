"""``recall``, ``explain`` and ``check``: what memory recalls, why not the rest, and whether saved cues still pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from inspect import Signature, signature
from typing import Annotated, Any, get_type_hints

import typer
from rich.text import Text

from ...agent import AgentMemory
from ...agent_parts.cues import CueResult
from ...core.change_set import so_many
from ...core.known import badge
from ...core.presets import PRESETS
from ...errors import EntryNotFound
from ...recall.query import Facets
from ...recall.rank import Recall
from ...recall.verdicts import NAMES, Candidate, Verdict
from ..serialize import plain
from . import shapes
from .arguments import (
    Addressed,
    Agent,
    Contains,
    Cue,
    DryRun,
    Expand,
    Instances,
    Json,
    Kinds,
    Limit,
    Now,
    People,
    Places,
    PresetName,
    Requery,
    Since,
    Sources,
    StaticThreshold,
    Tags,
    Threshold,
    TopK,
    Until,
    opened,
    the_world,
)
from .terminal import Cell, Column, json_of, one_line, say, show_json, show_table, stacked, when

_BAR = 12
_PARTS = (("recency", "█", "#0072B2"), ("importance", "▓", "#E69F00"), ("relevancy", "▒", "#009E73"))
"""Each with its own character as well as its colour, so that they can be distinguished without colours."""
_RECALLED = (
    Column("score", right=True),
    Column("made of", drawn=True),
    Column("memory", wide=True, drawn=True),
    Column("tier", plain=True),
    Column("when", plain=True),
    Column("memory", plain=True),
    Column("why", plain=True),
)
_EXPLAINED = (
    Column("score", right=True),
    Column("made of", drawn=True),
    Column("memory", wide=True, drawn=True),
    *(Column(name, right=True, plain=True) for name, _, _ in _PARTS),
    *(Column(name, plain=True) for name in ("tier", "verdict", "memory", "why", "id")),
)


@dataclass(frozen=True)
class Asking:
    """What is asked and how, each as an argument or option; the agent's settings apply where nothing is given."""

    cue: Cue
    top_k: TopK = None
    threshold: Threshold = None
    static_threshold: StaticThreshold = None
    preset: PresetName = None
    kinds: Kinds = None
    tags: Tags = None
    sources: Sources = None
    people: People = None
    places: Places = None
    contains: Contains = ""
    since: Since = None
    until: Until = None
    requery: Requery = 0
    instances: Instances = None
    expand: Expand = 0
    addressed: Addressed = False
    now: Now = None

    def arguments(self) -> dict[str, Any]:
        """The arguments for ``query_memory`` and ``explain``; a preset brings its thresholds along."""
        chosen = PRESETS[self.preset] if self.preset else None
        threshold, static = self.threshold, self.static_threshold
        if chosen is not None:
            threshold = chosen.threshold if threshold is None else threshold
            static = chosen.static_threshold if static is None else static
        several: dict[str, Any] = {
            name: tuple(getattr(self, name) or ()) for name in ("kinds", "tags", "sources", "people", "places")
        }
        return {
            "prompt": self.cue,
            "top_k": self.top_k,
            "threshold": threshold,
            "static_threshold": static,
            "scoring": chosen.scoring if chosen else None,
            "facets": Facets(since=self.since, until=self.until, contains=self.contains, **several),
            "requery": self.requery,
            "instances": tuple(self.instances or ()),
            "expand": self.expand,
            "addressed": self.addressed,
            "now": self.now,
        }


def _asking(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose second parameter is an ``Asking``, with the parameters of ``Asking`` in its place."""
    hints = get_type_hints(command, include_extras=True)
    agent, _, *own = signature(command).parameters.values()
    parts = signature(Asking).parameters.values()

    def run(agent: str, **arguments: Any) -> None:
        command(agent, Asking(**{part.name: arguments.pop(part.name) for part in parts}), **arguments)

    hints |= get_type_hints(Asking, include_extras=True)
    taken = [parameter.replace(annotation=hints[parameter.name]) for parameter in (agent, *parts, *own)]
    run.__signature__ = Signature(taken)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in taken}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run


@_asking
def recall(agent: Agent, asking: Asking, dry_run: DryRun = False, json: Json = False) -> None:
    """Recall the memories that answer a cue, as a game does: what is recalled counts as accessed, and it is logged.

    Example: python -m memory_system recall mira 'Where is the key?' --top-k 3
    """
    with the_world(json=json) as world:
        character = opened(world, agent)
        query = character.explain if dry_run else character.query_memory
        found: Recall = query(**asking.arguments())
        warn_of_poor_recall(character)
        if json:
            show_json(shapes.recalled(agent, found))
        else:
            show_recalled(found)


@_asking
def explain(
    agent: Agent,
    asking: Asking,
    memory: Annotated[
        str | None, typer.Option(metavar="ID", help="Only this memory, and the smallest changes that would recall it.")
    ] = None,
    limit: Limit = 20,
    json: Json = False,
) -> None:
    """Explain for every memory why it is or is not recalled for a cue; nothing counts as accessed.

    Example: python -m memory_system explain mira 'Where is the key?' --limit 50
    """
    with the_world(json=json) as world:
        character = opened(world, agent)
        found = character.explain(**asking.arguments())
        warn_of_poor_recall(character)
        ways = character.ways(found.query, memory) if memory is not None else ()
        candidate = None if memory is None else found.candidates.of(memory)
        shown = [candidate] if candidate is not None else found.candidates[: limit or None]
        words = [way.words for way in ways]
        if json:
            rows = [shapes.candidate(each) for each in shown]
            head = {"agent": agent, "query": plain(found.query), "considered": found.considered}
            show_json({**head, "candidates": rows, "ways": words})
            return
        say_how_expanded(found)
        show_table(_EXPLAINED, [_explained(each) for each in shown])
        if memory is None and len(shown) < found.considered:
            say(f"{len(shown)} of {found.considered:,}; --limit 0 shows all.")
        for way in words:
            say(f"It would be recalled: {one_line(way, 300)}")


def warn_of_poor_recall(character: AgentMemory) -> None:
    """Say why recall is poor, apart from the cue; nothing if it need not be."""
    if poor := character.contents.poor_recall:
        say(poor, err=True)


def say_how_expanded(found: Recall) -> None:
    """Say which instances a cue was expanded to, or why to none; nothing if none were wanted."""
    if found.query.instances:
        say(f"Asked too: {', '.join(f'“{one_line(instance, _SHORT)}”' for instance in found.query.instances)}.")
    if found.query.unexpanded:
        say(one_line(found.query.unexpanded, 300))


def show_recalled(found: Recall) -> None:
    """Print what was recalled, for people."""
    hits = found.hits
    say_how_expanded(found)
    if not hits:
        say(f"Nothing was recalled, of {so_many(found.considered)}. Use explain to see why.")
        if found.nearest is not None:
            say(f"“{one_line(found.nearest.entry.document)}”: {found.nearest.because}")
        return
    rows: list[Sequence[Cell]] = []
    for hit in hits:
        tier, ago, text = (
            badge(hit.entry) or NAMES[hit.entry.tier],
            when(hit.entry, found.query.now),
            one_line(hit.entry.document),
        )
        drawn = stacked(text, f"{tier}, {ago}" if ago else tier, hit.because)
        rows.append((f"{hit.score.total:.2f}", _bar(hit), drawn, tier, ago, text, hit.because))
    show_table(_RECALLED, rows)
    say(f"{len(hits)} of {so_many(found.considered)}.")


def _explained(candidate: Candidate) -> list[Cell]:
    parts = [f"{value:.2f}" for value in candidate.score.parts.values()]
    total = f"{candidate.score.total:.2f}"
    if candidate.verdict is Verdict.NO_VECTOR:
        total, parts = "", ["", "", ""]
    tier, text = badge(candidate.entry) or NAMES[candidate.entry.tier], one_line(candidate.entry.document)
    drawn = stacked(text, f"{tier}, {candidate.verdict.value}. {candidate.because}", candidate.entry.id)
    return [
        total,
        _bar(candidate),
        drawn,
        *parts,
        tier,
        candidate.verdict.value,
        text,
        candidate.because,
        candidate.entry.id,
    ]


def _bar(candidate: Candidate) -> Text:
    """The score as a stacked bar, one cell per twelfth; half as bright if the memory is not recalled."""
    bar = Text()
    if candidate.verdict is Verdict.NO_VECTOR:
        return bar
    for name, sign, colour in _PARTS:
        bar.append(sign * round(candidate.score.parts[name] * _BAR), f"{colour}{'' if candidate.recalled else ' dim'}")
    bar.truncate(2 * _BAR)
    return bar


Checked = Sequence[tuple[AgentMemory, Sequence[CueResult]]]
"""Each agent that was asked, with the results of its saved cues."""

_SHORT = 60
NONE_SAVED = (
    "There are no saved cues to check. Save one on the Recall page, or with agent.save_cue(name, cue, must=[id])."
)


def check(
    agents: Annotated[list[str] | None, typer.Argument(help="Names of agents; all if none is named.")] = None,
    json: Json = False,
) -> None:
    """Ask the saved cues and report which pass. Example: python -m memory_system check mira.

    The exit code is 1 if one fails, 0 if none does. No memory counts as recalled.
    """
    with the_world(json=json) as world:
        opened = [world.agent(name) for name in dict.fromkeys(agents or world.characters())]
        checked = [(agent, agent.check_cues()) for agent in opened]
        typer.echo(as_json(checked) if json else as_text(checked, named=bool(agents)))
    if not all(result.passed for _, results in checked for result in results):
        raise typer.Exit(1)


def as_text(checked: Checked, *, named: bool) -> str:
    """For the terminal: one block per agent; one without saved cues is shown only if it was named."""
    if not any(results for _, results in checked):
        return NONE_SAVED
    blocks = []
    for agent, results in checked:
        if results:
            passed = sum(result.passed for result in results)
            head = f"{agent.name}: {passed} passed, {len(results) - passed} failed"
            width = max(len(result.saved.name) for result in results)
            lines = (line for result in results for line in _lines(agent, result, width))
            blocks.append("\n".join([head, *lines]))
        elif named:
            blocks.append(f"{agent.name}: no saved cues")
    return "\n\n".join(blocks)


def _lines(agent: AgentMemory, result: CueResult, width: int) -> Iterator[str]:
    state = "pass" if result.passed else "FAIL"
    yield f"  {state}  {result.saved.name.ljust(width)}  {one_line(result.saved.cue, _SHORT)}".rstrip()
    for entry_id in result.missing:
        forgotten = ", which is forgotten" if entry_id in result.gone else ""
        yield f"        must be recalled: {_quotation(agent, entry_id)}{forgotten}"
    for entry_id in result.unwanted:
        yield f"        must not be recalled: {_quotation(agent, entry_id)}"
    for entry_id in result.gone:
        if entry_id in result.saved.must_not:
            yield f"        skipped, because it is forgotten: {_quotation(agent, entry_id)}"


def _quotation(agent: AgentMemory, entry_id: str) -> str:
    return f"“{one_line(_document(agent, entry_id), _SHORT)}”"


def _document(agent: AgentMemory, entry_id: str) -> str:
    """The text of a memory as it last was; its id if the agent never had it, as in a script's own change set."""
    try:
        return agent.last_version(entry_id).document
    except EntryNotFound:
        return entry_id


def as_json(checked: Checked) -> str:
    """For programs: every agent that was asked, with its cues, and whether all of them pass."""
    agents = [
        {
            "agent": agent.name,
            "passed": all(result.passed for result in results),
            "cues": [_plain(agent, result) for result in results],
        }
        for agent, results in checked
    ]
    return json_of({"passed": all(agent["passed"] for agent in agents), "agents": agents})


def _plain(agent: AgentMemory, result: CueResult) -> dict[str, Any]:
    def memories(ids: Sequence[str]) -> list[dict[str, str]]:
        return [{"id": entry_id, "document": _document(agent, entry_id)} for entry_id in ids]

    return {
        "name": result.saved.name,
        "cue": result.saved.cue,
        "passed": result.passed,
        "missing": memories(result.missing),
        "unwanted": memories(result.unwanted),
        "gone": memories(result.gone),
        "recalled": list(result.recalled),
    }
