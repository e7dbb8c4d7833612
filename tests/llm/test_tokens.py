"""The estimate of tokens errs high whatever the script, is quick, and learns from what servers count."""

from __future__ import annotations

import base64
import json
import random
import string
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from memory_system.core.settings import Settings
from memory_system.embedding.embedder import MiniLM
from memory_system.llm import tokens
from memory_system.llm.tokens import Correction
from tests.waiting import ended

ROOT = Path(__file__).resolve().parents[2]

# counts that OpenAI publishes: its cookbook ("How to count tokens with tiktoken") and its tokenizer page
PUBLISHED = {
    "tiktoken is great!": 6,  # cl100k
    "antidisestablishmentarianism": 6,  # cl100k
    "2 + 2 = 4": 7,  # cl100k
    "お誕生日おめでとう": 14,  # gpt2; cl100k takes 9
    "Many words map to one token, but some don't: indivisible.\n\nUnicode characters like emojis may be split into "
    "many tokens containing the underlying bytes: 🤚🏾\n\nSequences of characters commonly found next to each "
    "other may be grouped together: 1234567890": 64,  # gpt3; cl100k takes 57
}


@pytest.mark.parametrize(("text", "counted"), PUBLISHED.items(), ids=lambda value: str(value)[:20])
def test_no_published_count_is_above_the_estimate(text: str, counted: int) -> None:
    assert tokens.estimate(text) >= counted


@pytest.fixture(scope="module")
def wordpiece() -> Tokenizer:
    """A real tokenizer that is at hand: the one of all-MiniLM-L6-v2."""
    MiniLM(Settings().cache).embed(["a"])
    loaded = Tokenizer.from_file(str(next(Settings().cache.rglob("tokenizer.json"))))
    loaded.no_truncation()
    loaded.no_padding()
    return loaded


def sample(script: str) -> str:
    """Some text of this sort, some thousand characters."""
    chance = random.Random(script)
    match script:
        case "English":
            return (ROOT / "README.md").read_text(encoding="utf-8")
        case "code":
            return (ROOT / "memory_system" / "agent.py").read_text(encoding="utf-8")
        case "JSON":
            return json.dumps(json.loads((ROOT / "memory_system/llm/offline/anchors.json").read_text(encoding="utf-8")))
        case "base64":
            return base64.b64encode(chance.randbytes(3000)).decode()
        case "hexadecimal":
            return chance.randbytes(1500).hex()
        case "digits":
            return "".join(chance.choices(string.digits + " ", k=3000))
        case "Chinese":
            return "我的名字是迈克，我的母亲布伦达为我烤了一个生日蛋糕。你还记得我们谈过什么吗？" * 50
        case _:
            return "🎂 Happy birthday 🎉🎉 👩‍👩‍👧‍👦 says it all 🤷🏽‍♀️! " * 60


SCRIPTS = ["English", "code", "JSON", "base64", "hexadecimal", "digits", "Chinese", "emoji"]


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_estimate_is_above_a_real_count_and_below_a_token_for_each_byte(wordpiece: Tokenizer, script: str) -> None:
    text = sample(script)
    counted = len(wordpiece.encode(text, add_special_tokens=False).ids)
    assert counted <= tokens.estimate(text) <= len(text.encode()) + 1


def test_english_comes_out_less_than_twice_as_long_as_it_is(wordpiece: Tokenizer) -> None:
    text = sample("English")
    assert tokens.estimate(text) < 2 * len(wordpiece.encode(text, add_special_tokens=False).ids)


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("你好世界", 8),  # two for each ideograph
        ("🤷🏽‍♀️", 17),  # no byte-level tokenizer takes more than its bytes
        ("ስሜ ማይክ ነው", 23),  # Amharic, which most fall back to bytes for
        ("Меня зовут Майк", 13),
        ("\ud800", 3),  # half of a surrogate pair has bytes too
        ("x9Qf" * 10, 40),
        ("\n\n\n", 3),
    ],
)
def test_each_script_counts_what_the_less_lucky_tokenizers_take(text: str, least: int) -> None:
    assert tokens.estimate(text) >= least


def test_no_text_takes_no_tokens_but_an_empty_message_does() -> None:
    assert tokens.estimate("") == 0
    assert tokens.of_message({"role": "user", "content": ""}) == tokens.MESSAGE
    assert tokens.of_message({"role": "assistant", "content": None}) == tokens.MESSAGE


def test_calls_and_tools_are_counted_too() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "send_message", "arguments": '{"message": "Hi"}'}}
    bare = {"role": "assistant", "content": ""}
    assert tokens.of_message({**bare, "tool_calls": [call]}) > tokens.of_message(bare) + tokens.CALL
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    assert tokens.of_messages([bare], [tool]) == tokens.of_messages([bare]) + tokens.of_tools([tool])
    assert tokens.of_tools([]) == 0


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("most", [0, 1, 7, 100])
def test_the_beginning_of_a_text_keeps_to_its_tokens(script: str, most: int) -> None:
    text = sample(script)
    begun = tokens.first(text, most)
    assert text.startswith(begun)
    assert tokens.estimate(begun) <= most
    assert begun or most < 20
    assert tokens.first("short", 100) == "short"


@pytest.mark.parametrize(
    "text", ["a" * 10**6, "a b " * 250_000, "=" * 10**6, " " * 10**6, "🤷🏽" * 10**5, '"{' * 10**5]
)
def test_a_million_characters_are_counted_though_the_square_of_them_would_never_end(text: str) -> None:
    assert ended(lambda: tokens.estimate(text)) > 1000


def test_a_count_above_the_estimate_is_believed_at_once_and_one_below_by_and_by() -> None:
    high = Correction().learned(100, 150)
    assert high.of(100) == 150
    lower = high.learned(100, 50)
    assert 130 < lower.of(100) < 150
    for _ in range(100):
        lower = lower.learned(100, 50)
    assert 50 <= lower.of(100) <= 51


@pytest.mark.parametrize("reported", [None, 0, -3, 3, 24])
def test_counts_that_cannot_be_of_the_whole_prompt_teach_nothing(reported: int | None) -> None:
    assert Correction().learned(100, reported) == Correction()
    assert Correction().learned(0, 100) == Correction()


def test_a_correction_never_leaves_its_bounds_and_rounds_up() -> None:
    assert Correction().learned(1, 10**9).of(10) == 30
    assert Correction(1.01).of(10) == 11
    assert Correction().of(0) == 0
