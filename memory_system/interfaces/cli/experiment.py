"""``python -m memory_system experiment``: questions asked of a language model with memory and by the prompt alone."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

import typer

from ...conversation import TalkSettings
from ...core.settings import MEMORY, Settings
from ...embedding import fetched
from ...embedding.embedder import CachedEmbedder, Embedder
from ...errors import InvalidParameter, ModelError, ModelUnavailable, there_is_no
from ...evaluation import chats, document_questions, nested_lookup
from ...evaluation.experiment import Answer, Experiment, Kept, Lab, as_markdown, rows, run
from ...evaluation.metrics import CONFIDENCE, RESAMPLES
from ...llm import LanguageModel, WorldModel
from ...llm.offline.model import OfflineModel
from ...world.world import World
from .arguments import Json, between, errors_told, settings_of
from .progress import STOPPED, Lines, stopped_by_ctrl_c
from .terminal import json_of, say

EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {
        "deep-memory-retrieval": chats.RETRIEVAL,
        "conversation-opener": chats.OPENER,
        "document-questions": document_questions.EXPERIMENT,
        "nested-lookup": nested_lookup.EXPERIMENT,
    }
)
BUDGET = 16_000
"""Tokens: 140 pairs of UUIDs fit, by the estimate, which errs high."""


def _named(name: str) -> str:
    if name not in EXPERIMENTS:
        raise typer.BadParameter(there_is_no("experiment", name, EXPERIMENTS))
    return name


def _begun(incomplete: str) -> list[str]:
    return [name for name in EXPERIMENTS if name.startswith(incomplete)]


def experiment(
    name: Annotated[
        str,
        typer.Argument(
            metavar="EXPERIMENT",
            parser=_named,
            autocompletion=_begun,
            help=" ".join(f"{title}: {trial.about}" for title, trial in EXPERIMENTS.items()),
        ),
    ],
    data: Annotated[
        list[Path] | None, typer.Argument(help="Files of the experiment's form, or folders of them.")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            help="Most questions of each chat or file; sessions of each chat; orders of pairs.",
            **between(1, whole=True),
        ),
    ] = None,
    budget: Annotated[
        int, typer.Option(help="Tokens that a prompt may have.", **between(1800, 1_000_000, whole=True))
    ] = BUDGET,
    answers: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep each answer here, and do not ask again what is answered here."),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="A model of the same server that judges whether answers are right."),
    ] = None,
    json: Json = False,
) -> None:
    """Ask a language model questions, with memory and with the prompt alone.

    Example: python -m memory_system experiment nested-lookup.

    It asks any OpenAI-compatible server: OPENAI_BASE_URL, OPENAI_API_KEY and MEMORY_LLM_MODEL name it, or the
    dashboard's Installation page. The world is thrown away at the end. Ctrl+C stops after the question that is being
    asked, and prints what was done; with --answers the same command goes on there.
    """
    chosen = EXPERIMENTS[name]
    lines, done, problem = Lines(), list[Answer](), ""
    with errors_told(json=json), stopped_by_ctrl_c() as stop:
        settings = settings_of()
        kept = Kept(answers)
        embedder = CachedEmbedder(fetched(settings, lines.say), size=100_000)
        models = WorldModel(settings.database / settings.world, settings, embedder)
        model, judging = _models(models, judge)
        if not data and name != "nested-lookup":
            raise InvalidParameter(f"Name the data. {chosen.about}")
        try:
            with _throwaway(embedder) as world:
                lab = Lab(world, data or (), limit, lines.say, stop)
                for answer in run(name, chosen, lab, model, TalkSettings(budget=budget), kept, judging):
                    done.append(answer)
        except ModelError as error:
            problem = error.sentence
            if not done:
                raise
        finally:
            lines.end()
        stopped = stop()
    table = rows(chosen, done)
    if json:
        found = [
            asdict(row)
            | {
                "figures": {
                    key: None if math.isnan(estimate.value) else asdict(estimate)
                    for key, estimate in row.figures.items()
                }
            }
            for row in table
        ]
        head = {"experiment": name, "model": model.label, "budget": budget, "judge": judging and judging.label}
        typer.echo(json_of({**head, "complete": not (stopped or problem), "rows": found}))
    elif table:
        typer.echo(f"{as_markdown(table)}\n{_foot(model, budget)}")
    if stopped or problem:
        again = " The same command goes on there." if answers else ""
        say(f"{problem or 'Stopped.'} {len(done):,} answers were given.{again}", err=True)
        raise typer.Exit(STOPPED if stopped else 1)


@contextmanager
def _throwaway(embedder: Embedder) -> Iterator[World]:
    with tempfile.TemporaryDirectory(prefix="experiment-") as folder:
        nobody = Path(folder) / "personalities"
        settings = Settings(store=MEMORY, personalities=nobody, world="experiment", llm="offline")
        with World(settings, embedder=embedder) as world:
            yield world


def _foot(model: LanguageModel, budget: int) -> str:
    return (
        f"{model.label}; prompts of at most {budget:,} tokens. Per cent, with {CONFIDENCE:.0%} bootstrap intervals "
        f"over questions ({RESAMPLES:,} resamples). functions: called for one question, the mean."
    )


def _models(models: WorldModel, judge: str | None) -> tuple[LanguageModel, LanguageModel | None]:
    """Who answers, and who judges.

    Raises:
        ModelUnavailable: there is no language model but the offline rules, or its key cannot be obtained.
    """
    model = models.present()
    if isinstance(model, OfflineModel):
        raise ModelUnavailable(
            "An experiment needs a language model, and none is set. Set OPENAI_API_KEY, or OPENAI_BASE_URL to the "
            "address of any OpenAI-compatible server such as http://127.0.0.1:11434/v1, and MEMORY_LLM_MODEL to a "
            "model that it has."
        )
    return model, models.other(judge) if judge else None
