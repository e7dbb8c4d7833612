"""The language of a text is read from its script and its common words; English is what nothing speaks against."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest

from memory_system.core import LANGUAGES
from memory_system.core.languages import (
    BY_SCRIPT,
    COMMON,
    WORD,
    language_of,
    languages_of,
    long_word,
    rules_of,
    word_of,
)
from memory_system.recall.hybrid.words import stems
from tests.conftest import ROOT


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Ich liebe Hunde.", "de"),
        ("Wann war die Hochzeit?", "de"),
        ("Le pont s'est effondré.", "fr"),
        ("El puente se cayó con la lluvia.", "es"),
        ("Il ponte è crollato.", "it"),
        ("O pastor não achou as ovelhas.", "pt"),
        ("De brug naar het noorden is weg.", "nl"),
        ("Most się zawalił.", "pl"),
        ("Где Мира потеряла ключ?", "ru"),
        ("Мосту більше немає.", "uk"),
        ("桥在洪水中倒塌了。", "zh"),
        ("橋が洪水で崩れた。", "ja"),
        ("다리가 홍수로 무너졌다.", "ko"),
        ("انهار الجسر في الفيضان", "ar"),
        ("Η γέφυρα κατέρρευσε", "el"),
        ("我在 Microsoft 工作", "zh"),
        ("बाढ़ में पुल गिर गया", "hi"),
        ("मैं Microsoft में काम करता हूँ", "hi"),
        ("வெள்ளத்தில் பாலம் இடிந்தது", "ta"),
        ("สะพานพังในน้ำท่วม", "th"),
        ("বন্যায় সেতু ভেঙে গেছে।", "bn"),
        ("ਪੁਲ ਢਹਿ ਗਿਆ", "pa"),
        ("પુલ તૂટી ગયો", "gu"),
        ("ପୋଲ ଭାଙ୍ଗିଗଲା", "or"),
        ("వంతెన కూలిపోయింది", "te"),
        ("ಸೇತುವೆ ಕುಸಿದಿದೆ", "kn"),
        ("പാലം തകർന്നു", "ml"),
        ("පාලම කඩා වැටුණා", "si"),
        ("ຂົວພັງແລ້ວ", "lo"),
        ("ཟམ་པ་ཆག་སོང་", "bo"),
        ("တံတား ကျိုးသွားပြီ", "my"),
        ("ხიდი ჩამოინგრა", "ka"),
        ("ድልድዩ ፈረሰ", "am"),
        ("ស្ពានបាក់ហើយ", "km"),
        ("הגשר קרס", "he"),
        ("Կամուրջը փլուզվեց", "hy"),
        ("আমি Microsoft এ কাজ করি", "bn"),
        ("She said “ধন্যবাদ” and went home.", "en"),
        ("Köprü dün yıkıldı.", "tr"),
        ("Anahtar kayboldu, evet.", "tr"),
        ("Où e\u0301tait-il passe\u0301 ?", "fr"),
    ],
)
def test_a_language_is_read_from_a_short_memory(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "",
        "42",
        "Mira",
        "Los Angeles!",
        "De Niro was great in that.",
        "Caroline: Hey Mel! Long time no see, how's the café?",
        "My son is on the team; we have fun.",
        "Müller",
        "Die Hard is on tonight.",
    ],
)
def test_names_loans_and_what_says_nothing_are_english(text: str) -> None:
    assert language_of(text) == "en"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ('<p>السوق <b>la</b> <br></p><a href="https://example.es/la/en/el">x</a>', "ar"),
        ("<span class='el que no'>قال لي</span>", "ar"),
        ("See https://example.es/que/no/es/el/los", "en"),
        ("<p>Ich habe nicht gewusst, dass du kommst.</p>", "de"),
        ("1 < 2 und das ist nicht falsch > ja", "de"),
    ],
)
def test_tags_and_addresses_speak_for_no_language(text: str, language: str) -> None:
    assert language_of(text) == language


def test_the_paraphrases_of_the_tests_are_english_and_every_language_has_a_name() -> None:
    told = json.loads((ROOT / "tests" / "data" / "confidence.json").read_text(encoding="utf-8"))
    texts = [one[part] for one in told["paraphrases"] for part in ("memory", "cue")]
    assert languages_of([*texts, *told["unrelated"]]) == {"en": len(texts) + len(told["unrelated"])}
    assert {*COMMON, *BY_SCRIPT} <= set(LANGUAGES)


def test_a_language_that_is_known_by_its_script_alone_is_read_as_before() -> None:
    text = "বন্যায় সেতু ভেঙে গেছে। the keys walking"
    assert (language_of(text), rules_of(text)) == ("bn", "en")
    assert stems(text) == stems(text, "en")
    assert rules_of("बाढ़ में पुल गिर गया") == "hi"


def test_what_has_no_marks_is_read_in_the_words_that_it_was_read_in_before_marks_belonged_to_words() -> None:
    told = (ROOT / "tests" / "data" / "confidence.json").read_text(encoding="utf-8")
    text = told + " ab a1 12 l'eau O’Brien's _so_ x' 桥塌了 Straße мост 1\ufe0f"
    for new, old in (
        (WORD.pattern, r"[^\W_]+(?:['’][^\W_]+)*"),
        (word_of(r"[^\W\d_]"), r"[^\W\d_]+(?:['’][^\W\d_]+)*"),
        (long_word(3, r"[^\W_]") + r"|\d+", r"[^\W_]{3,}|\d+"),
        (long_word(4, r"[^\W\d_]"), r"[^\W\d_]{4,}"),
    ):
        assert re.findall(new, text) == re.findall(old, text)


def test_a_word_has_all_marks_of_unicode() -> None:
    selectors = {*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}
    marks = [chr(n) for n in range(0x110000) if unicodedata.category(chr(n)) in ("Mn", "Mc") and n not in selectors]
    assert all(WORD.fullmatch(f"a{mark}b") for mark in marks)
    assert re.findall(long_word(3, r"[^\W_]"), "पानी में घर का पुल") == ["पानी", "में", "पुल"]
