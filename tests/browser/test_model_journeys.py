"""A designer connects a language model and words a prompt; the key they type is found nowhere afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from dashboard import words
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.llm.tasks import FENCE
from tests import sample_world
from tests.fake_server import KEY, FakeServer, says

from .conftest import LAST_RESORT, Dashboard, served
from .hands import press, select, write

pytestmark = [pytest.mark.browser, pytest.mark.full]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the dashboard of these tests keeps everything, its log as well."""
    return tmp_path_factory.mktemp("model")


@pytest.fixture(scope="module")
def own(folder: Path, tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Iterator[Dashboard]:
    """A dashboard where a person may choose the language model."""
    template = sample_world.filled(sample_world.shared_folder(tmp_path_factory), embedder)
    places = sample_world.copy(template, folder / "world") | {"MEMORY_LLM": "auto"}
    with served(places, folder / "serve.log") as running:
        yield running


def test_a_model_is_connected_for_pages_and_api_and_its_key_is_found_nowhere(
    page: Page, own: Dashboard, server: FakeServer, folder: Path
) -> None:
    server.on("rate", says({"explanation": "It says so.", "rating": 9}))
    own.show(page, "installation", agent="mira", part="model")
    main = page.get_by_test_id("stMain")
    press(page, "Ollama")
    expect(page.get_by_label("Address", exact=True)).to_have_value("http://127.0.0.1:11434/v1")
    write(page, "Address", server.url)
    write(page, "Model", "fake")
    write(page, "Key", KEY)
    press(page, "Test")
    expect(main).to_contain_text("fake at 127.0.0.1 answered in")
    press(page, words.SAVE_AND_USE)
    expect(main).to_contain_text("A key is set (this session).")
    expect(page.get_by_label("Key", exact=True)).to_have_value("")
    with httpx.Client(base_url=own.api, timeout=LAST_RESORT / 1000, trust_env=False) as api:
        rated = api.post("/rate", json={"memory": "Saw smoke over the north field"}).json()
        told = "".join(api.get(path).text for path in ("/v1/world", "/v1/agents/mira", "/v1/agents/mira/history"))
    assert rated == {"rating": 9, "explanation": "It says so."}
    assert set(server.keys) == {f"Bearer {KEY}"}
    page.reload()
    expect(main).to_contain_text("A key is set (this session).")
    stored = b"".join(file.read_bytes() for file in folder.glob("**/*") if file.is_file())
    for text in (page.content(), page.url, told, stored.decode("latin-1")):
        assert KEY not in text


def test_a_prompt_is_worded_looked_at_and_restored(page: Page, own: Dashboard) -> None:
    own.show(page, "installation", agent="mira", part="prompts")
    main = page.get_by_test_id("stMain")
    select(page, "Prompt", "Reflect: questions")
    write(page, "Text", "Ask something.")
    expect(main).to_contain_text("lacks {count}, which is filled in")
    write(page, "Text", "Ask {count} questions about <b>love</b>.")
    press(page, "Preview")
    expect(main).to_contain_text("Ask 3 questions about <b>love</b>.")
    expect(main).to_contain_text(FENCE)
    main.get_by_role("button", name="Save", exact=True).last.click()
    expect(main).to_contain_text("“Reflect: questions” is saved.")
    press(page, words.RESTORE_THE_SHIPPED_TEXT)
    expect(page.get_by_label("Text", exact=True)).to_have_value(
        "Given only these recent memories of a character, which {count} most salient high-level questions can be "
        "answered about the character and those they know? Give each as one question."
    )
