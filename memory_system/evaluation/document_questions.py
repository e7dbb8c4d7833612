"""Document questions: the contents of passages of documents, asked of an agent with all of them in its archive.

After MemGPT (Packer et al. 2023, arXiv 2310.08560, section 3.2.1) and Liu et al. 2023 ("Lost in the Middle", arXiv
2307.03172), whose form is read, one question per line: ``{"question", "answers": [texts], "ctxs": [{"title",
"text"}]}``. By the prompt alone each question has its own passages, as many as fit; with memory all passages of all
questions are in one archive.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..conversation import load_document
from ..errors import InvalidEntry
from .data import Form
from .experiment import Experiment, Item, Lab, plain_words
from .forms import Problems, cue_text, field_of, ids_of
from .personality import personality
from .sources import read_form

ROLE = "Answer the question with as few words as possible, from what the documents say."


@dataclass(frozen=True)
class Asked:
    """A question, the answers that are right, and its passages, each with its title."""

    question: str
    answers: tuple[str, ...]
    passages: tuple[str, ...]


def _asked(line: dict[str, object]) -> Asked:
    passages = field_of(line, "ctxs")
    if not isinstance(passages, list) or not passages:
        raise InvalidEntry("'ctxs' must be a list of passages that is not empty")
    texts = [(field_of(passage, "title"), field_of(passage, "text")) for passage in passages]
    if not all(isinstance(part, str) for pair in texts for part in pair):
        raise InvalidEntry("the title and the text of a passage must be texts")
    answers = tuple(answer for answer in ids_of(line, "answers") if plain_words(answer))
    if not answers:
        raise InvalidEntry("'answers' must hold a text that is not empty")
    return Asked(cue_text(field_of(line, "question")), answers, tuple(f"# {title}\n\n{text}" for title, text in texts))


def found_in(answer: str, answers: Sequence[str]) -> float:
    """1 if the answer contains one of these, ignoring case, articles and punctuation, else 0: after Liu et al. 2023."""
    said = f" {' '.join(plain_words(answer))} "
    return float(any(f" {' '.join(plain_words(answer))} " in said for answer in answers))


def items(lab: Lab) -> Iterator[Item]:
    """The questions, once all passages lie in the archive of one agent.

    Raises:
        InvalidFile: a path holds no data, or a line is invalid.
        InvalidParameter: there are more passages than an agent can hold.
    """
    asked: list[tuple[str, Asked]] = []
    for source in read_form(lab.paths, Form.PASSAGES):
        problems = Problems(source)
        for line in source.lines[: lab.limit]:
            made = problems.attempt(line.number, _asked, line.value)
            if made is not None:
                asked.append((f"{source.name} {line.number}", made))
        problems.refuse()
    agent = lab.world.create_agent("reader", personality("Robin Hale", 0))
    loaded: set[str] = set()
    for done, (name, question) in enumerate(asked):
        if lab.stop():
            return
        lab.say(f"loaded the passages of {done:,} of {len(asked):,} questions")
        if new := [passage for passage in dict.fromkeys(question.passages) if passage not in loaded]:
            load_document(agent, "\n\n".join(new).encode(), name=f"{name}.md"[-120:])
            loaded.update(new)
    for name, question in asked:

        def measure(answer: str, answers: tuple[str, ...] = question.answers) -> tuple[float, ...]:
            return (found_in(answer, answers),)

        right = " / ".join(question.answers)
        yield Item(name, "documents", question.question, right, agent, agent.now, question.passages, measure)


EXPERIMENT = Experiment(
    "Questions about passages of documents (MemGPT, section 3.2.1); reads the form of “Lost in the Middle”.",
    ROLE,
    ("answer found",),
    items,
)
