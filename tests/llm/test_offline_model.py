"""The offline model: the same answer each time, from the texts it was given, and ratings that mean something."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pandas as pd
import pytest
from pydantic import BaseModel

from memory_system import AgentMemory, MemoryEntry
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import ModelNonsense
from memory_system.llm import tasks
from memory_system.llm.offline.model import OfflineModel
from tests.conftest import NOW, SHARED

SMALLVILLE = SHARED / "data/smallville/isabella_rodriguez.jsonl"
TEXTS = (
    "Lent Tobias the brass key of the tide mill; he promised to have it back by Sunday.",
    "Tobias came without the key and said “I left it in my other coat”, looking at the floor.",
    "Swept the flour off the bakery step.",
    "Aldous Brandreth would buy the tide mill; the village votes on Saturday.",
    "Ines Marlow saw Tobias Finch enter the tide mill at night with a lamp.",
    "Baked forty rolls for the harbour fair.",
    "The north wind took two slates off the roof.",
    "Tobias Finch confessed to Ines Marlow that he had sold the key.",
    "A long story. " + "It went on and on about the old harbour wall and who built it. " * 20,
)


@pytest.fixture
def model(embedder: CachedEmbedder) -> OfflineModel:
    return OfflineModel(embedder)


@pytest.fixture
def records() -> list[MemoryEntry]:
    return [
        MemoryEntry(text, id=f"m{number}", timestamp=NOW - timedelta(days=number), rating=number % 10 + 1)
        for number, text in enumerate(TEXTS)
    ]


def _fragments(text: str) -> list[str]:
    return re.findall(r"“([^“”]*)”", text)


def _stands_in(fragment: str, sources: list[str]) -> bool:
    """Whether a quotation is a piece of a source, but for inner quotation marks and an ellipsis at the end."""
    plain = [" ".join(source.replace("“", "‘").replace("”", "’").split()) for source in sources]
    return any(fragment.removesuffix("…") in source for source in plain)


def test_the_label_says_that_it_is_offline(model: OfflineModel) -> None:
    assert "offline" in model.label
    assert "no language model" in model.label
    assert model.name == "offline"


def test_an_unknown_task_is_refused(model: OfflineModel) -> None:
    class Poem(BaseModel):
        poem: str

    with pytest.raises(ModelNonsense, match="no rule for 'poem'"):
        model.complete(tasks.Task("poem", Poem, "Write a poem.", {}))


def test_every_task_has_the_same_answer_each_time(
    model: OfflineModel, embedder: CachedEmbedder, records: list[MemoryEntry]
) -> None:
    other = OfflineModel(embedder)
    for task in (
        tasks.rate(TEXTS[0]),
        tasks.ask_questions("Mira Holloway", records, 3),
        tasks.find_insights("Mira Holloway", "Where is the key?", records, 2),
        tasks.summarise("Mira Holloway", records),
        tasks.plan_day("Mira Holloway", NOW, [], records),
    ):
        answers = {one.complete(task).answer.model_dump_json() for one in (model, other, model)}  # type: ignore[arg-type]
        assert len(answers) == 1, task.name


@pytest.mark.parametrize(
    ("mundane", "dramatic"),
    [
        ("Brushed her teeth before bed.", "Her mother died in the night."),
        ("The oven is idle.", "The bakery burned down to its walls."),
        ("Made the bed.", "He asked her to marry him, and she said yes."),
        ("Swept the bakery step.", "Her husband left her for another woman."),
        ("Had porridge for breakfast.", "She gave birth to a daughter."),
        ("Poured a cup of tea.", "He was arrested for murder."),
        ("Looked out of the window.", "She was told that she has cancer."),
    ],
)
def test_what_is_mundane_is_rated_below_what_is_dramatic(model: OfflineModel, mundane: str, dramatic: str) -> None:
    low, high = (model.complete(tasks.rate(text)).answer for text in (mundane, dramatic))
    assert low.rating < high.rating
    assert low.explanation.startswith("Offline estimate")


def test_ratings_agree_with_those_of_a_large_model(model: OfflineModel) -> None:
    if not SMALLVILLE.exists():
        pytest.skip(f"{SMALLVILLE} is not on this machine; it is not part of the repository")
    told = pd.DataFrame([json.loads(line) for line in SMALLVILLE.read_text(encoding="utf-8").splitlines()])
    theirs = told.groupby("description")["poignancy"].mean()  # the same text was rated several times, and differently
    assert len(theirs) > 200
    ours = theirs.index.to_series().map(lambda text: model.complete(tasks.rate(text)).answer.rating)
    spearman = ours.rank().corr(theirs.rank())
    assert spearman > 0.70, f"Spearman's rho is {spearman:.2f}"


def test_a_summary_quotes_its_sources_and_nothing_else(model: OfflineModel, records: list[MemoryEntry]) -> None:
    summary = model.complete(tasks.summarise("Mira", records)).answer.summary
    quotes = _fragments(summary)
    assert len(quotes) >= 2
    assert all(_stands_in(quote, list(TEXTS)) for quote in quotes), quotes
    rest = re.sub(r"“[^“”]*” \(\d+ March\)", "", summary)
    assert re.fullmatch(r"In short, \d+ of \d+ memories: [; ]*\.", rest), rest


@pytest.mark.parametrize("count", [2, 130])
def test_a_summary_of_many_long_memories_still_fits(model: OfflineModel, count: int) -> None:
    many = [MemoryEntry(f"Number {n} " + "saw the harbour again " * 12, timestamp=NOW, rating=5) for n in range(count)]
    summary = model.complete(tasks.summarise("Mira", many)).answer.summary
    assert _fragments(summary)


def test_insights_quote_the_records_that_they_cite(model: OfflineModel, records: list[MemoryEntry]) -> None:
    for question in ("Where is the key of the mill?", "Who built the harbour wall?"):
        (insight,) = model.complete(tasks.find_insights("Mira", question, records, 2)).answer.insights
        assert insight.because_of
        cited = [records[number - 1].document for number in insight.because_of]
        quotes = _fragments(insight.insight)
        assert len(quotes) == len(cited)
        assert all(_stands_in(quote, cited) for quote in quotes)


def test_what_rests_on_its_own_summaries_quotes_what_they_quoted_once(model: OfflineModel) -> None:
    """However often: no quotation stands in another, and what was lived goes before what was thought."""
    texts = list(TEXTS[:2])
    for _ in range(3):
        found = [MemoryEntry(text, timestamp=NOW) for text in texts]
        question = model.complete(tasks.ask_questions("Mira", found, 1)).answer.questions[0]
        (insight,) = model.complete(tasks.find_insights("Mira", question, found, 1)).answer.insights
        summary = model.complete(tasks.summarise("Mira", found)).answer.summary
        for text in (question, insight.insight, summary):
            assert not re.search("“[^”]*(?:In short|remembers of|thinks of these)", text)
            assert all(_stands_in(quote, list(TEXTS)) for quote in _fragments(text)), text
        assert "?" not in re.sub("“[^”]*”", "", insight.insight)
        texts = [insight.insight, summary]
    mixed = [MemoryEntry(text, timestamp=NOW) for text in (*texts, *TEXTS[:2])]
    (insight,) = model.complete(tasks.find_insights("Mira", "Where is the key?", mixed, 1)).answer.insights
    assert set(insight.because_of) <= {3, 4}


def test_a_sentence_that_begins_within_a_memory_is_not_about_somebody_called_the(model: OfflineModel) -> None:
    texts = ("I saw: The mill wheel broke.", "I heard: The mill wheel broke.", "I was told: There is smoke.")
    questions = model.complete(tasks.ask_questions("Mira", [MemoryEntry(one, timestamp=NOW) for one in texts], 3))
    assert not any(re.search("know of (?:The|There)", one) for one in questions.answer.questions)


def test_insights_from_nothing_are_none(model: OfflineModel) -> None:
    assert model.complete(tasks.find_insights("Mira", "Why?", [], 2)).answer.insights == []


def test_questions_ask_about_names_that_stand_in_the_records(model: OfflineModel, records: list[MemoryEntry]) -> None:
    questions = model.complete(tasks.ask_questions("Mira Holloway", records, 3)).answer.questions
    assert 1 <= len(questions) <= 3
    assert len(set(questions)) == len(questions)
    everything = " ".join(TEXTS)
    for question in questions:
        assert all(_stands_in(quote, list(TEXTS)) for quote in _fragments(question))
        names = re.findall(r"\b[A-Z]\w+", re.sub(r"“.*”|^What", "", question))
        assert all(name in everything or name == "Mira" for name in names), question


def test_a_name_of_a_thousand_words_makes_no_endless_question(model: OfflineModel) -> None:
    shouted = [MemoryEntry("Then " + "Mira Said It " * 800 + f"and {n}.", timestamp=NOW) for n in range(3)]
    questions = model.complete(tasks.ask_questions("Ines", shouted, 3)).answer.questions
    assert all(len(question) < 1000 for question in questions)


def test_the_offline_model_goes_the_same_way_through_an_agent(agent: AgentMemory) -> None:
    added = agent.add_short_term([{"document": text} for text in TEXTS[:4]])
    assert all(outcome.rated for outcome in added.outcomes)
    assert [call.model for call in added.change_set.calls] == ["offline"] * 4
    assert agent.rate(TEXTS[0]).rating == added.outcomes[0].entry.rating
