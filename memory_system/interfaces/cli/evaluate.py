"""``python -m memory_system evaluate``: from files to a table on standard output, with progress on standard error.

The outcome of an evaluation for people and for programs: an aligned table, Markdown, or JSON.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from json import dumps
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ...core.change_set import counted
from ...core.decay import DecayForm
from ...embedding import fetched
from ...embedding.embedder import CachedEmbedder, Embedder
from ...evaluation import lived as lives
from ...evaluation import weights
from ...evaluation.confidence import behind, cue_data, fitted
from ...evaluation.metrics import CONFIDENCE, DEPTH, NAMES, RESAMPLES, SEED, Estimate, estimates, shown
from ...evaluation.sources import data_sets
from ...evaluation.threshold import Curve, curve, holds_pairs, read_pairs
from ...evaluation.threshold import as_markdown as curve_as_markdown
from ...evaluation.trial import SCORINGS, Outcome, Say, checked, run
from ...world.world import TOKENS
from .arguments import EmbedderName, Json, between, errors_told, settings_of
from .progress import STOPPED, Lines

OVERALL = "overall"


@dataclass(frozen=True)
class Row:
    """One line of the report: a preset on the questions of one category (or ``overall``).

    Args:
        category: the category of the questions.
        preset: its name.
        count: how many questions have a right answer.
        figures: an estimate for each of ``metrics.NAMES``.
        milliseconds: the median time to rank for one cue whose vector is known.
    """

    category: str
    preset: str
    count: int
    figures: tuple[Estimate, ...]
    milliseconds: float


@dataclass(frozen=True)
class Section:
    """One data set, or all data sets of one form: a title, what was left out, and its rows."""

    title: str
    memories: int
    questions: int
    embedding: float
    notes: tuple[str, ...]
    rows: tuple[Row, ...]


def sections(outcomes: Sequence[Outcome]) -> list[Section]:
    """A section for each data set, then one for each form with several data sets, all questions pooled."""
    found = [
        _section(f"{outcome.data.name} ({outcome.data.form})", [outcome], outcome.data.notes) for outcome in outcomes
    ]
    for form in dict.fromkeys(outcome.data.form for outcome in outcomes):
        alike = [outcome for outcome in outcomes if outcome.data.form is form]
        if len(alike) > 1:
            found.append(_section(f"all {len(alike)} of {form}", alike, ()))
    return found


def _section(title: str, outcomes: Sequence[Outcome], notes: tuple[str, ...]) -> Section:
    questions = [question for outcome in outcomes for question in outcome.data.questions]
    kinds = np.array([question.category for question in questions])
    answered = np.array([bool(question.right) for question in questions])
    categories = [name for name in dict.fromkeys(kinds.tolist()) if name]
    groups = {OVERALL: np.ones(len(questions), bool)} | {name: kinds == name for name in sorted(categories)}
    if len(categories) == 1 and (kinds == categories[0]).all():  # it would repeat the same
        del groups[categories[0]]
    presets = list(outcomes[0].values)
    values = {preset: np.concatenate([outcome.values[preset] for outcome in outcomes]) for preset in presets}
    spent = {preset: np.concatenate([outcome.milliseconds[preset] for outcome in outcomes]) for preset in presets}
    rows = tuple(
        Row(
            category,
            preset,
            int((answered & chosen).sum()),
            tuple(estimates(values[preset][chosen])),
            float(np.median(spent[preset][chosen])),
        )
        for category, chosen in groups.items()
        for preset in presets
    )
    embedding = float(np.median([outcome.embedding for outcome in outcomes]))
    return Section(title, sum(outcome.data.memories for outcome in outcomes), len(questions), embedding, notes, rows)


def _columns(section: Section) -> list[int]:
    """The measures that any question has; ``wrong@10`` is shown only if wrong answers are known."""
    return [
        place for place in range(len(NAMES)) if any(not math.isnan(row.figures[place].value) for row in section.rows)
    ]


def _table(section: Section) -> Iterator[list[str]]:
    columns = _columns(section)
    yield ["questions", "preset", "n", *(NAMES[place] for place in columns), "ms"]
    for row in section.rows:
        figures = [shown(row.figures[place]) for place in columns]
        yield [row.category, row.preset, f"{row.count:,}", *figures, f"{row.milliseconds:.2f}"]


def _about(section: Section) -> str:
    facts = [
        counted(section.memories, "memory", "memories"),
        counted(section.questions, "question"),
        f"embedding a cue {section.embedding:.2f} ms",
        *section.notes,
    ]
    return "; ".join(facts) + "."


_FOOT = (
    f"Per cent, with {CONFIDENCE:.0%} bootstrap intervals over questions ({RESAMPLES:,} resamples). n: questions with "
    "a right answer. ms: to rank for one cue, the median, without embedding it."
)


def as_text(found: Sequence[Section]) -> str:
    """For the terminal: a block of aligned columns for each section."""
    blocks = []
    for section in found:
        table = list(_table(section))
        widths = [max(len(line[place]) for line in table) for place in range(len(table[0]))]
        lines = []
        for line in table:
            words = [cell.ljust(width) for cell, width in zip(line[:2], widths[:2], strict=True)]
            words += [cell.rjust(width) for cell, width in zip(line[2:], widths[2:], strict=True)]
            lines.append("  ".join(words).rstrip())
        blocks.append("\n".join([section.title, _about(section), "", *lines]))
    return "\n\n".join([*blocks, _FOOT]) + "\n"


def as_markdown(found: Sequence[Section]) -> str:
    """For a file of the repository: a heading and a table for each section."""
    blocks = []
    for section in found:
        head, *lines = ([_cell(cell) for cell in line] for line in _table(section))
        rule = ["---", "---", *("---:" for _ in head[2:])]
        table = [f"| {' | '.join(line)} |" for line in (head, rule, *lines)]
        blocks.append("\n".join([f"## {_cell(section.title)}", "", _about(section), "", *table]))
    return "\n\n".join([*blocks, _FOOT]) + "\n"


def _cell(text: str) -> str:
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>|" else sign for sign in text)


def as_json(found: Sequence[Section], embedder: str) -> str:
    """For programs: the figures unrounded, 0 to 1, ``null`` if there is none."""
    value = {
        "embedder": embedder,
        "bootstrap": {"resamples": RESAMPLES, "confidence": CONFIDENCE, "seed": SEED},
        "depth": DEPTH,
        "sections": [_plain(section) for section in found],
    }
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(section: Section) -> dict[str, Any]:
    return {
        "title": section.title,
        "memories": section.memories,
        "questions": section.questions,
        "embedding_milliseconds": section.embedding,
        "notes": list(section.notes),
        "rows": [
            {
                "category": row.category,
                "preset": row.preset,
                "n": row.count,
                "milliseconds": row.milliseconds,
                "measures": {
                    name: {
                        "value": _or_none(estimate.value),
                        "low": _or_none(estimate.low),
                        "high": _or_none(estimate.high),
                    }
                    for name, estimate in zip(NAMES, row.figures, strict=True)
                },
            }
            for row in section.rows
        ],
    }


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def evaluate(
    data: Annotated[list[Path], typer.Argument(help="Files of questions and memories, or folders of them.")],
    preset: Annotated[
        list[str] | None, typer.Option(help=f"A preset to try by itself, not lived: {', '.join(SCORINGS)}.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(help="Only the first questions of each data set.", **between(1, whole=True))
    ] = None,
    captions: Annotated[bool, typer.Option(help="Whether captions of pictures are part of LoCoMo memories.")] = False,
    embedder_name: EmbedderName = None,
    decay_form: Annotated[
        DecayForm, typer.Option(help="By which curve recency falls, whatever the preset.")
    ] = DecayForm.EXPONENTIAL,
    lived: Annotated[
        bool | None,
        typer.Option(
            "--lived/--presets",
            help="Tell the data to an agent as it happened, and ask it at the end; or rank it by each preset.",
            show_default="lived, unless a preset is named",
        ),
    ] = None,
    threshold: Annotated[
        bool, typer.Option("--threshold", help="What each threshold answers, of cues that have an answer and others.")
    ] = False,
    fit_confidence: Annotated[
        bool, typer.Option("--fit-confidence", help="Fit the weights of the confidence on paraphrases and data sets.")
    ] = False,
    fit_weights: Annotated[
        bool, typer.Option("--fit", help="Fit the weights of hybrid relevancy on data sets, each scored by the others.")
    ] = False,
    json: Json = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
) -> None:
    """Measure how much of what should be recalled is recalled. Example: python -m memory_system evaluate cues.jsonl.

    Reads LoCoMo conversations, Smallville memory streams, and JSON lines of memories {"id", "document", ...} and cues
    {"cue", "right"} with the ids of the right memories. Nothing is written but the table; with --lived vectors are kept
    in the cache, so that it is quicker the next time.
    """
    if json and markdown:
        raise typer.BadParameter("choose --json or --markdown, not both")
    if decay_form is not DecayForm.EXPONENTIAL and (lived or threshold):
        raise typer.BadParameter("--decay-form is for the evaluation without --lived or --threshold")
    progress = Lines()
    if fit_confidence:
        with errors_told(json=json):
            found_signs = signs(data, fetched(settings_of(embedder_name), progress.say), progress.say)
        progress.end()
        typer.echo(dumps(found_signs, indent=2))
        return
    if fit_weights:
        with errors_told(json=json):
            found_fit = fitted_weights(data, fetched(settings_of(embedder_name), progress.say), progress.say)
        progress.end()
        typer.echo(dumps(asdict(found_fit), indent=2))
        return
    if threshold:
        with errors_told(json=json):
            curves = threshold_curves(data, fetched(settings_of(embedder_name), progress.say))
        if json:
            typer.echo(dumps([asdict(threshold_curve) for threshold_curve in curves], indent=2))
        else:
            typer.echo("\n".join(map(curve_as_markdown, curves)), nl=False)
        return
    if not preset if lived is None else lived:
        try:
            with errors_told(json=json):
                settings = settings_of(embedder_name)
                folder = settings.cache / "evaluation"
                lines = lived_table(
                    data, fetched(settings, progress.say), folder, progress.say, limit=limit, captions=captions
                )
        finally:
            progress.end()
        typer.echo(lives.as_json(lines) if json else lives.as_markdown(lines), nl=False)
        return
    try:
        with errors_told(json=json):
            embedder = fetched(settings_of(embedder_name), progress.say)
            found = outcome(
                data, preset or (), embedder, progress.say, limit=limit, captions=captions, decay_form=decay_form
            )
    except typer.Exit as done:
        progress.end()
        if done.exit_code == STOPPED:
            typer.echo("There is no table, because not everything was asked.", err=True)
        raise
    finally:
        progress.end()
    if json:
        typer.echo(as_json(found, embedder.identity), nl=False)
    else:
        typer.echo(as_markdown(found) if markdown else as_text(found), nl=False)


def fitted_weights(data: Sequence[Path], embedder: Embedder, say: Say) -> weights.Fit:
    """The weights of hybrid relevancy, fitted on data sets.

    Raises:
        InvalidFile: a path holds no data, or a file is not as it should be.
        InvalidParameter: there are not two data sets.
        EmbedderError: texts could not be embedded.
    """
    return weights.fit(data_sets(data, captions=False), CachedEmbedder(embedder, size=1_000_000), say)


def signs(data: Sequence[Path], embedder: Embedder, say: Say) -> list[dict[str, Any]]:
    """The weights of the confidence, fitted on files of paraphrases, and ``behind``, fitted on data sets.

    Raises:
        InvalidFile: a path holds no data, or a file is not as it should be.
        EmbedderError: texts could not be embedded.
    """
    pairs = [path for path in data if holds_pairs(path)]
    others = [path for path in data if path not in pairs]
    found = [{"data": path.stem, **vars(fitted(cue_data(read_pairs(path), embedder, say)))} for path in pairs]
    sets = data_sets(others, captions=False) if others else []
    return [*found, *({"data": data_set.name, "behind": behind(data_set, embedder)} for data_set in sets)]


def threshold_curves(data: Sequence[Path], embedder: Embedder) -> list[Curve]:
    """What each threshold does to files of paraphrases, and to data sets with questions that nothing answers.

    Raises:
        InvalidFile: a path holds no data, or a file is not as it should be.
        EmbedderError: texts could not be embedded.
    """
    pairs = [read_pairs(path).part(0, 1) for path in data if holds_pairs(path)]
    others = [path for path in data if not holds_pairs(path)]
    sets = data_sets(others, captions=False) if others else []
    return [curve(data_set, embedder) for data_set in (*pairs, *sets)]


def lived_table(
    data: Sequence[Path],
    embedder: Embedder,
    folder: Path,
    say: Say,
    *,
    limit: int | None = None,
    captions: bool = False,
) -> list[lives.Line]:
    """What an agent that lived through the data finds, next to what is found without living through it.

    Args:
        data: files and folders.
        embedder: turns texts into vectors.
        folder: where vectors and token states are kept between runs.
        say: called with the progress.
        limit: the most questions of each data set.
        captions: whether captions of pictures are part of LoCoMo memories.

    Raises:
        InvalidFile: a path holds no data, or a file is not as it should be.
        EmbedderError: texts could not be embedded.
    """
    sets = [data_set.first(limit) for data_set in data_sets(data, captions=captions)]
    cached = CachedEmbedder(embedder, size=1_000_000)
    cached.load(folder / "vectors.npz")
    try:
        return lives.table(sets, cached, say, folder / TOKENS)
    finally:
        cached.save(folder / "vectors.npz")


def outcome(
    data: Sequence[Path],
    presets: Sequence[str],
    embedder: Embedder,
    say: Say,
    *,
    limit: int | None = None,
    captions: bool = False,
    decay_form: DecayForm = DecayForm.EXPONENTIAL,
) -> list[Section]:
    """The whole evaluation: everything is read and checked before the first text is embedded.

    Raises:
        InvalidFile: a path holds no data, or a file is not as it should be.
        InvalidParameter: there is no such preset.
        EmbedderError: texts could not be embedded.
    """
    chosen = checked(presets)
    sets = [data_set.first(limit) for data_set in data_sets(data, captions=captions)]
    return sections([run(data_set, chosen, embedder, say, decay_form) for data_set in sets])
