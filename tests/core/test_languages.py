"""The language of a text is read from its script and its common words; English is what nothing speaks against."""

from __future__ import annotations

import json

import pytest

from memory_system.core import LANGUAGES
from memory_system.core.languages import COMMON, language_of, languages_of
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


def test_the_paraphrases_of_the_tests_are_english_and_every_language_has_a_name() -> None:
    told = json.loads((ROOT / "tests" / "data" / "confidence.json").read_text(encoding="utf-8"))
    texts = [one[part] for one in told["paraphrases"] for part in ("memory", "cue")]
    assert languages_of([*texts, *told["unrelated"]]) == {"en": len(texts) + len(told["unrelated"])}
    assert set(COMMON) <= set(LANGUAGES)
