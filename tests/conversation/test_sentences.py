"""Sentences: where they stand in a text, and which of them answers a question."""

from __future__ import annotations

import pytest

from memory_system.conversation.passages import relevances, sentences
from memory_system.embedding.embedder import CachedEmbedder

CAKE = (
    "My name is John. I took the day off today. My mom Brenda baked me a birthday cake. It was my favorite chocolate "
    "lava!"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n ", []),
        ("no end", ["no end"]),
        ("One. Two!  Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Vale paid 3.50 to Mr. Finch. He went.", ["Dr. Vale paid 3.50 to Mr. Finch.", "He went."]),
        ("“Go!” she said. (Twice.) Then", ["“Go!”", "she said.", "(Twice.)", "Then"]),
        ("A heading\n\nA line\r\nand another", ["A heading", "A line", "and another"]),
        ("今天下雨。我去了磨坊！「好吗？」他问。", ["今天下雨。", "我去了磨坊！", "「好吗？」", "他问。"]),
    ],
)
def test_a_text_falls_into_its_sentences(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == expected


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        ("Who baked the cake?", CAKE, "My mom Brenda baked me a birthday cake."),
        ("What is the user's name?", CAKE, "My name is John."),
        ("Which instrument does Anna play?", "Anna is from Graz. She practises the cello daily.", "She practises"),
        ("Where was Picasso born?", "Picasso was a painter. He came into the world in Malaga.", "He came into"),
        ("Where did Picasso live?", "Picasso was born in Malaga. He spent most of his life in France.", "He spent"),
        ("mother", "I went to town. Mum called about the roof. I slept early.", "Mum called"),
        ("Anna", "It rained. Anna came. We ate.", "Anna came."),
    ],
)
def test_the_sentence_that_answers_is_found_though_every_sentence_is_about_the_name(
    embedder: CachedEmbedder, question: str, text: str, answer: str
) -> None:
    spans = sentences(text)
    best = spans[int(relevances(question, [(text, spans)], embedder)[0].argmax())]
    assert text[slice(*best)].startswith(answer)


def test_it_is_found_far_beyond_what_the_embedder_reads_of_a_text(embedder: CachedEmbedder) -> None:
    text = "The gulls were loud. " * 400 + "The ferry leaves at half past six. " + "The gulls were loud. " * 400
    spans = sentences(text)
    best = spans[int(relevances("When does the boat depart?", [(text, spans)], embedder)[0].argmax())]
    assert text[slice(*best)] == "The ferry leaves at half past six."


def test_an_embedder_without_token_states_is_asked_for_vectors(embedder: CachedEmbedder) -> None:
    class Plain:
        identity = "plain"
        dimensions = 384

        def embed(self, texts: list[str]) -> object:
            return embedder.embed(texts)

    spans = sentences(CAKE)
    _, found = relevances("Who baked a cake?", [("x", [(0, 1)]), (CAKE, spans)], Plain())  # type: ignore[arg-type]
    best = spans[int(found.argmax())]
    assert CAKE[slice(*best)] == "My mom Brenda baked me a birthday cake."
