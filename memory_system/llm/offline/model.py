"""The offline language model: no key, no network, the same answer each time. It quotes, and never invents.

It is a fallback and says so wherever it is shown. Ratings come from the nearest of some hand-labelled
sentences, reflections and summaries from the most central memories, plans from the routine and from times
that memories mention.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from importlib import resources
from typing import Any

import numpy as np
from pydantic import BaseModel

from ...core.change_set import ModelCall
from ...core.entry import OFFLINE_ESTIMATE
from ...core.languages import ENGLISH, NAMES, language_of
from ...core.memory import Vectors
from ...embedding.embedder import Embedder, known_languages
from ...errors import ModelNonsense, UnknownLanguage
from .. import prompted
from ..base import Answer, Completion, Heard, Reply, traced, unheard
from ..extractive import centrality, choose, quote
from ..tasks import Insight, Insights, Questions, Rating, Summary, Task
from . import acquaintance, narrative, plan, retelling, summary
from . import chat as offline_chat
from .voice import inner, is_digest, names_in

_NEIGHBOURS, _POWER, _WEAK = 12, 6, 0.30
_SAME_SUBJECT = 0.35
_NAMED = 0.3
"""The bonus of a record, on the scale of cosines, if it names the person the question is about."""
_QUOTES = 24
"""The most memories that one summary quotes; with 220 characters each, it stays below the limit of a text."""
_KNOWN = re.compile(r"What does (?P<who>.{1,200}?) know of (?P<what>.+)\?", re.DOTALL)
_MEANT = re.compile(r"What does this mean to (?P<who>[^“”:]{1,200}): .*\?", re.DOTALL)
_IDLE = re.compile(r"\bis idle\b", re.IGNORECASE)


class OfflineModel:
    """Answers every task by plain rules over embedding vectors."""

    name = "offline"
    label = "offline rules (no language model)"

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._anchors: list[dict[str, Any]] | None = None
        self._embedded: tuple[str, Vectors] | None = None
        self._rules: Mapping[str, Callable[[Mapping[str, Any]], BaseModel]] = {
            "rate": self._rate,
            "questions": self._questions,
            "insights": self._insights,
            "summarise": self._summarise,
            "plan": plan.plan,
            "prompt": prompted.offline,
            "narrate": narrative.digest,
            "fold": summary.fold,
            "retell": retelling.retell,
            "person": lambda data: acquaintance.learn(data, self._embedder.embed),
            "synopsis": lambda data: narrative.read_conversation(data, self._embedder.embed),
        }

    def complete(self, task: Task[Answer], deadline: float | None = None) -> Completion[Answer]:  # noqa: ARG002
        """Like ``LanguageModel.complete``; answers at once, so that the deadline does not matter.

        Raises:
            ModelNonsense: there is no rule for such a task.
        """
        started = time.monotonic()
        if task.name not in self._rules:
            raise ModelNonsense(f"The offline model has no rule for {task.name!r}; connect a language model.")
        answer = task.form.model_validate(self._rules[task.name](task.data).model_dump())
        milliseconds = (time.monotonic() - started) * 1000
        return Completion(
            answer, ModelCall(task.name, self.name, task.prompt(), answer.model_dump_json(), milliseconds, 0)
        )

    def chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] = (),
        *,
        deadline: float | None = None,  # noqa: ARG002
        heard: Heard = unheard,
    ) -> Reply:
        """Like ``ChatModel.chat``: the rules of ``chat``. Every answer says that it is offline."""
        started = time.monotonic()
        said = offline_chat.answer(messages, tools, self._embedder.embed)
        if spoken := offline_chat.aloud(said):
            heard(spoken)
        return traced(self.name, messages, said.text, said.calls, None, (time.monotonic() - started) * 1000)

    def _rate(self, data: Mapping[str, Any]) -> Rating:
        """The similarity-weighted mean of the nearest hand-labelled sentences."""
        text = str(data["memory"])
        if _IDLE.search(text):
            return Rating(rating=1, explanation=f"{OFFLINE_ESTIMATE}: something is idle.")
        across = self._across(text)
        if self._anchors is None:
            path = resources.files(__package__).joinpath("anchors.json")
            self._anchors = json.loads(path.read_text(encoding="utf-8"))
        made_by, anchors = self._embedder.identity, self._embedded
        if anchors is None or anchors[0] != made_by:  # a world may change its embedder
            vectors = self._embedder.embed([anchor["text"] for anchor in self._anchors])
            anchors = self._embedded = made_by, vectors
        similar = np.maximum((anchors[1] @ self._embedder.embed([text])[0]).astype(np.float64), 0)
        nearest = np.argsort(-similar, kind="stable")[:_NEIGHBOURS]
        weights = similar[nearest] ** _POWER
        ratings = np.array([self._anchors[row]["rating"] for row in nearest], float)
        mean = float(weights @ ratings / weights.sum()) if weights.sum() > 0 else float(ratings.mean())
        closest = self._anchors[int(nearest[0])]
        sure = "closest to" if similar[nearest[0]] >= _WEAK else "weak match; nothing closer than"
        return Rating(
            rating=min(10, max(1, round(mean))),
            explanation=f"{OFFLINE_ESTIMATE}{across}: {sure} “{closest['text']}” ({closest['why']}).",
        )

    def _across(self, text: str) -> str:
        """The note that an estimate comes from another language; empty for English, the labelled sentences' language.

        Twelve sentences were rated a point apart, on average, in English and in German, Russian or Chinese
        (``benchmarks/languages.md``); the estimates are a point off in English, each labelled sentence by the others.

        Raises:
            UnknownLanguage: the embedder was not made for it, so any estimate would be noise.
        """
        language = language_of(text)
        if language == ENGLISH:
            return ""
        if language in (known_languages(self._embedder) or ()):
            return f" from {NAMES[language]}, often 2 off"
        raise UnknownLanguage(
            f"The offline rules cannot rate {NAMES[language]}. Connect a language model, choose the embedder "
            "“multilingual”, or rate it yourself."
        )

    def _questions(self, data: Mapping[str, Any]) -> Questions:
        """A question for each of the largest groups of memories around a central one, from the names in it."""
        texts = [record["text"] for record in data["records"]]
        vectors = self._embedder.embed(texts)
        central = centrality(vectors)
        left, questions = set(range(len(texts))), list[str]()
        while left and len(questions) < data["count"]:
            centre = max(left, key=lambda row: (central[row], -row))
            group = [row for row in sorted(left) if vectors[row] @ vectors[centre] > _SAME_SUBJECT or row == centre]
            left -= set(group)
            question = _question(texts[centre], [texts[row] for row in group], str(data["character"]))
            if question not in questions:
                questions.append(question)
        return Questions(questions=questions)

    def _insights(self, data: Mapping[str, Any]) -> Insights:
        """One insight: the records that answer the question best, quoted with their dates."""
        happened = [record for record in data["records"] if record["when"] != "always"]
        found = _first_hand(happened if len(happened) > 1 else data["records"])
        if not found:
            return Insights(insights=[])
        asked = str(data["question"])
        vectors = self._embedder.embed([asked, *(record["text"] for record in found)])
        question, texts = vectors[0], vectors[1:]
        about = set(names_in([asked], str(data["character"])))
        named = [any(name in record["text"] for name in about) for record in found]
        worth = np.clip((texts @ question).astype(np.float64), 0, 1) + _NAMED * np.array(named, float)
        chosen = _in_time(choose(texts, worth * (0.5 + 0.5 * centrality(texts)), 3), found)
        quotes = "; ".join(_quoted(found[row]) for row in chosen)
        insight = Insight(
            insight=f"{_answering(asked)} {quotes}.",
            because_of=[found[row]["number"] for row in chosen],
        )
        return Insights(insights=[insight])

    def _summarise(self, data: Mapping[str, Any]) -> Summary:
        """The most significant of the memories, quoted in chronological order."""
        found = _unfolded(data["records"])
        vectors: Vectors = self._embedder.embed([record["text"] for record in found])
        rated = np.array([(record["rating"] or 5) / 10 for record in found])
        most = min(max(2, (len(found) + 2) // 3), _QUOTES)
        chosen = _in_time(choose(vectors, centrality(vectors) * rated, most), found)
        quotes = "; ".join(_quoted(found[row]) for row in chosen)
        return Summary(summary=f"In short, {len(chosen)} of {len(found)} memories: {quotes}.")


def _first_hand(records: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """The records without these rules' own summaries and reflections, if two others are left."""
    lived = [record for record in records if not is_digest(str(record["text"]))]
    return lived if len(lived) > 1 else records


def _unfolded(records: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """The records, with these rules' own summaries and reflections replaced by what they quote, each with its day."""
    found: dict[str, Mapping[str, Any]] = {}
    for record in records:
        quoted = inner(str(record["text"]))
        parts: list[Mapping[str, Any]] = [{**record, "text": text, "day": day} for text, day in quoted]
        parts = parts or [record]
        for number, part in enumerate(parts):
            found.setdefault(part["text"] if quoted else f"{record['number']} {number}", part)
    return list(found.values())


def _answering(question: str) -> str:
    """The beginning of an insight that answers one of these rules' own questions; any other question precedes it."""
    if found := _KNOWN.fullmatch(question):
        return f"{found['who']} remembers of {found['what']}:"
    if found := _MEANT.fullmatch(question):
        return f"{found['who']} thinks of these together:"
    return question


def _question(central: str, texts: Sequence[str], who: str) -> str:
    first = who.split(maxsplit=1)[0] if who.split() else who
    names = names_in(texts, who)
    if len(names) >= 2:
        return f"What does {first} know of {names[0]} and {names[1]}?"
    if names:
        return f"What does {first} know of {names[0]}?"
    said = inner(central)
    return f"What does this mean to {first}: {quote(said[0][0] if said else central)}?"


def _in_time(rows: Sequence[int], found: Sequence[Mapping[str, Any]]) -> list[int]:
    return sorted(rows, key=lambda row: (found[row]["when"], row))


def _quoted(record: Mapping[str, Any]) -> str:
    quotation = _unfolded([record])[0]  # what a summary quotes, so that there is no quotation of a quotation
    if "day" in quotation:
        return f"“{quotation['text']}” ({quotation['day']})" if quotation["day"] else f"“{quotation['text']}”"
    if record["when"] == "always":
        return quote(record["text"])
    when = datetime.fromisoformat(record["when"])
    return f"{quote(record['text'])} ({when.day} {when:%B})"
