"""Experiments with a language model: each question asked with memory and by the prompt alone, and a table of both.

An experiment makes items, one at a time: a question, an agent that was told what answers it, and the same as text. With
memory the agent is asked in an ``Interview`` of the strategy ``virtual``, as in MemGPT (Packer et al. 2023, arXiv
2310.08560, section 3); by the prompt alone the model gets as much of the text as fits. The agents' memories were
made by the offline rules, so that the tested model is asked only for answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from ..agent import AgentMemory
from ..conversation import Interview, TalkSettings
from ..core.files import as_store_errors
from ..errors import InvalidFile, ModelError, ModelTimeout, ModelUnavailable, Problem
from ..llm import LanguageModel
from ..llm.base import Done, StandIn
from ..llm.metered import failing
from ..llm.tokens import estimate
from ..world.world import World
from .metrics import Estimate, estimates, shown
from .trial import Say

OVERALL = "overall"
SEARCH = "Look things up with archival_memory_search, as often as you need to."
_RESERVE = 300
"""Tokens of a prompt that are reserved for its frame and the answer."""
_ARTICLES = frozenset({"a", "an", "the"})


class Way(StrEnum):
    """How a question is asked."""

    MEMORY = "memory"
    PROMPT = "prompt alone"


@dataclass(frozen=True)
class Item:
    """One question, and the sources of its answer.

    Args:
        id: its name, unique in the experiment.
        category: its kind.
        question: what is said to the agent, and to the model alone.
        right: the expected answer; empty if there is none.
        agent: the agent that was told what answers it.
        now: the world's time.
        text: the same as texts, in order, for the prompt alone.
        measure: returns the value of an answer, 0 to 1 for each measure of the experiment; an empty answer has 0.
        human: the name of the person who asks.
    """

    id: str
    category: str
    question: str
    right: str
    agent: AgentMemory
    now: datetime
    text: tuple[str, ...]
    measure: Callable[[str], tuple[float, ...]]
    human: str = "You"


@dataclass(frozen=True)
class Lab:
    """The setting of an experiment.

    Args:
        world: a throw-away world, with offline rules.
        paths: files and folders of data.
        limit: the most of what the experiment counts; ``None`` = all.
        say: called with lines of progress.
        stop: whether to stop; called between two steps.
    """

    world: World
    paths: Sequence[Path]
    limit: int | None
    say: Say
    stop: Callable[[], bool]


@dataclass(frozen=True)
class Experiment:
    """The definition of an experiment: its questions, sources and measures.

    Args:
        about: what it shows, in a sentence with its source.
        role: the instructions for the agent, and for the model alone.
        measures: the names of the values of ``Item.measure``.
        items: makes the items; each is asked before the next one is made.
        newest: whether to keep the end of a text that does not fit, not the beginning.
        judged: whether an answer can be compared with a right one.
    """

    about: str
    role: str
    measures: tuple[str, ...]
    items: Callable[[Lab], Iterator[Item]]
    newest: bool = False
    judged: bool = True


@dataclass(frozen=True)
class Answer:
    """The outcome of an item asked in one way.

    Args:
        experiment: its name.
        model: the label of the model.
        budget: the most tokens of a prompt.
        way: how it was asked.
        id: of the item.
        category: of the item.
        question: of the item.
        right: the expected answer.
        answer: what was said; empty if there is a problem.
        problem: why there is no answer, in a sentence.
        functions: how many functions were called.
        values: one for each measure.
        judge: the label of the model that judged; empty if none did.
        correct: whether it judged the answer right.
    """

    experiment: str
    model: str
    budget: int
    way: Way
    id: str
    category: str
    question: str
    right: str
    answer: str
    problem: str
    functions: int
    values: tuple[float, ...]
    judge: str = ""
    correct: bool = False


class Kept:
    """Answers in a file of JSON lines, so that nothing already paid for is asked twice.

    Args:
        path: the file; ``None`` = they are not saved.

    Raises:
        InvalidFile: it holds something else.
        StoreError: it cannot be read.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._answers: dict[tuple[object, ...], Answer] = {}
        if path is None or not path.exists():
            return
        with as_store_errors("The file of answers"):
            text = path.read_text(encoding="utf-8", errors="replace")
        whole = text[: text.rfind("\n") + 1]  # a line that a killed program left incomplete is asked again
        for number, line in enumerate(whole.splitlines(), start=1):
            try:
                fields = json.loads(line)
                self._hold(Answer(**fields | {"way": Way(fields["way"]), "values": tuple(fields["values"])}))
            except (ValueError, TypeError, KeyError) as error:
                problem = Problem("", "it is not an answer that this command wrote; name another file", number)
                raise InvalidFile((problem,), str(path)) from error
        if whole != text:
            with as_store_errors("The file of answers"):
                path.write_text(whole, encoding="utf-8")

    def get(self, asked: Answer) -> Answer | None:
        """The saved answer to this question, by the same model with the same budget."""
        return self._answers.get(self._key(asked))

    def put(self, answer: Answer) -> None:
        """Save an answer.

        Raises:
            StoreError: the file cannot be written.
        """
        self._hold(answer)
        if self._path is not None:
            with as_store_errors("The file of answers"), self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(answer), ensure_ascii=False) + "\n")

    def _hold(self, answer: Answer) -> None:
        self._answers[self._key(answer)] = answer

    @staticmethod
    def _key(answer: Answer) -> tuple[object, ...]:
        return answer.experiment, answer.model, answer.budget, answer.way, answer.id, answer.question


class _Watched(StandIn):
    """A language model that remembers that its server was unreachable, which a conversation turns into words."""

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model)
        self.gone: ModelError | None = None

    def passed(self, ask: Callable[[], Done], *_sent: Sequence[Mapping[str, Any]]) -> Done:
        """As the model itself."""
        try:
            with failing(self.name):
                return ask()
        except (ModelUnavailable, ModelTimeout) as error:
            self.gone = error
            raise


def run(
    name: str,
    experiment: Experiment,
    lab: Lab,
    model: LanguageModel,
    settings: TalkSettings,
    kept: Kept,
    judge: LanguageModel | None = None,
) -> Iterator[Answer]:
    """Ask every item in both ways, until it is stopped.

    Args:
        name: of the experiment.
        experiment: what is asked.
        lab: its setting.
        model: the model that answers.
        settings: those of the agent's conversation; the budget is that of both ways.
        kept: earlier answers, which are not asked again; new ones are added.
        judge: the model that compares answers with the right one.

    Raises:
        InvalidFile, InvalidParameter: the data are not what the experiment reads.
        ModelUnavailable, ModelTimeout: the server is unreachable, or too slow. The answers so far are saved.
        EmbedderError: texts could not be embedded.
        StoreError: an answer cannot be saved.
    """
    watched, done = _Watched(model), 0
    for item in experiment.items(lab):
        for way in Way:
            if lab.stop():
                return
            asked = Answer(
                name,
                model.label,
                settings.budget,
                way,
                item.id,
                item.category,
                item.question,
                item.right,
                "",
                "",
                0,
                (),
            )
            answer = kept.get(asked)
            if answer is None:
                answer = _asked(asked, item, experiment, watched, settings)
                kept.put(answer)
            if judge is not None and experiment.judged and answer.judge != judge.label:
                answer = replace(answer, judge=judge.label, correct=_right(answer, judge))
                kept.put(answer)
            done += 1
            lab.say(f"{done:,} answers; the last one: {item.id}, {way}")
            yield answer


def _asked(asked: Answer, item: Item, experiment: Experiment, model: _Watched, settings: TalkSettings) -> Answer:
    if asked.way is Way.MEMORY:
        said, problem, functions = _by_memory(item, experiment.role, model, settings)
    else:
        said, problem, functions = _by_prompt(item, experiment, model, settings.budget)
    if model.gone is not None:
        raise model.gone
    return replace(asked, answer=said, problem=problem, functions=functions, values=item.measure(said))


def _by_memory(item: Item, role: str, model: _Watched, settings: TalkSettings) -> tuple[str, str, int]:
    interview = Interview(item.agent.uncounted(model), settings, human=item.human)
    blocks = interview.talk.blocks
    persona = f"{role} {SEARCH}\n{blocks.persona}"[: settings.block_room]
    interview.talk = replace(interview.talk, blocks=replace(blocks, persona=persona))
    step = interview.step(item.question, now=item.now)
    return step.answer, step.problem, len(step.functions)


def _by_prompt(item: Item, experiment: Experiment, model: _Watched, budget: int) -> tuple[str, str, int]:
    room = budget - _RESERVE - estimate(experiment.role) - estimate(item.question)
    text = "\n".join(fitting(item.text, room, newest=experiment.newest))
    system = f"{experiment.role} This is what you know:\n\n{text}"
    try:
        reply = model.chat([{"role": "system", "content": system}, {"role": "user", "content": item.question}])
    except ModelError as error:
        return "", error.sentence, 0
    return reply.text.strip(), "" if reply.text.strip() else "The language model said nothing.", 0


def fitting(texts: Sequence[str], room: int, *, newest: bool) -> list[str]:
    """The texts from the beginning, or from the end, that fit in so many tokens, in order."""
    found: list[str] = []
    for text in reversed(texts) if newest else texts:
        room -= estimate(text)
        if room < 0:
            break
        found.append(text)
    return found[::-1] if newest else found


def _right(answer: Answer, judge: LanguageModel) -> bool:
    """Whether a language model considers an answer right, as in MemGPT's accuracy; no answer is wrong.

    Raises:
        ModelError: it did not help.
    """
    if not answer.answer:
        return False
    fields = {"question": answer.question, "right answer": answer.right, "answer": answer.answer}
    task = (
        "Is the answer right? It is if it says what the right answer says, in whatever words and with whatever more. "
        "Answer with RIGHT or WRONG alone.\n\n" + json.dumps(fields, ensure_ascii=False)
    )
    said = judge.chat([{"role": "user", "content": task}]).text.upper()
    return "RIGHT" in said and "WRONG" not in said


def plain_words(text: str) -> list[str]:
    """The words of a text in lower case without articles and punctuation, as SQuAD and LoCoMo compare them."""
    return [word for word in re.findall(r"\w+", text.casefold()) if word not in _ARTICLES]


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Args:
        category: of the questions.
        way: how they were asked.
        count: how many.
        unanswered: how many of them got no answer, which has the value 0.
        functions: the mean number of functions called for one.
        figures: by the name of the measure.
    """

    category: str
    way: Way
    count: int
    unanswered: int
    functions: float
    figures: Mapping[str, Estimate]


def rows(experiment: Experiment, answers: Sequence[Answer]) -> list[Row]:
    """All answers together, then those of each category if there are several."""
    categories = sorted({answer.category for answer in answers})
    groups = {OVERALL: answers} | {
        name: [answer for answer in answers if answer.category == name] for name in categories if len(categories) > 1
    }
    judged = bool(answers) and all(answer.judge for answer in answers)
    names = (*experiment.measures, *(("judged right",) if judged else ()))
    found = []
    for category, group in groups.items():
        for way in Way:
            some = [answer for answer in group if answer.way is way]
            if some:
                values = np.array([(*answer.values, *((float(answer.correct),) if judged else ())) for answer in some])
                figures = dict(zip(names, estimates(values), strict=True))
                calls = sum(answer.functions for answer in some) / len(some)
                found.append(Row(category, way, len(some), sum(not answer.answer for answer in some), calls, figures))
    return found


def as_markdown(found: Sequence[Row]) -> str:
    """A table in per cent with its intervals; empty if nothing was asked."""
    if not found:
        return ""
    head = ["questions", "asked with", "n", "no answer", *found[0].figures, "functions"]
    lines = [
        [row.category, row.way, f"{row.count:,}", str(row.unanswered), *figures, f"{row.functions:.1f}"]
        for row in found
        for figures in [map(shown, row.figures.values())]
    ]
    rule = ["---"] * 2 + ["---:"] * (len(head) - 2)
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, rule, *lines))
