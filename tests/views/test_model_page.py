"""The language model and the prompts, as the Settings page shows them; a key is nowhere on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session, words
from dashboard.data.moments import Moment
from dashboard.views.installation import model_settings
from memory_system.llm import prompts
from memory_system.llm.config import PROVIDERS, ModelChoice
from memory_system.llm.offline.model import OfflineModel
from memory_system.llm.openai.errors import KEY_REFUSED
from memory_system.llm.prompts import PROMPTS
from memory_system.llm.tasks import FENCE
from tests import keyrings
from tests.fake_server import KEY, FakeServer, error, says
from tests.keyrings import DrawerKeyring

from .test_pages import mira, press, shown

OpenSettings = Callable[..., AppTest]
RATED = {"explanation": "It says so.", "rating": 9}


@pytest.fixture
def open_settings(open_page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch) -> OpenSettings:
    """Opens the settings where a person may choose the language model."""
    monkeypatch.setenv("MEMORY_LLM", "auto")
    return lambda part="model", **link: open_page("installation", part=part, **link)


@pytest.fixture
def drawer() -> Iterator[DrawerKeyring]:
    model_settings.keyring_name.clear()
    with keyrings.drawer() as own:
        yield own
    model_settings.keyring_name.clear()


def field(page: AppTest, label: str):  # type: ignore[no-untyped-def]
    return next(one for one in (*page.text_input, *page.text_area) if one.label == label)


def told(page: AppTest) -> str:
    """What the page says, without the signs that keep it from being markdown."""
    return "\n".join([shown(page), *(str(one.value) for one in page.warning)]).replace("\u2060", "")


def everything(page: AppTest) -> str:
    """Whatever is sent to the browser, but for what a person has just typed."""
    fields = [str(one.value) for one in page.text_input if one.label != "Key"]
    return "".join([told(page), *fields, *(str(one.value) for one in page.code), *map(str, page.query_params.values())])


def fill(page: AppTest, address: str, model: str, key: str = "") -> None:
    field(page, "Address").input(address)
    field(page, "Model").input(model)
    page.run()
    field(page, "Key").input(key)  # in a form, whose fields the page runner sends with the next button alone


def test_every_kind_of_server_is_taken_by_one_click(open_settings: OpenSettings) -> None:
    page = open_settings()
    for provider in PROVIDERS:
        assert provider.endpoint in told(page)
        press(page, provider.name)
        assert field(page, "Address").value == provider.endpoint
        assert field(page, "Model").value == provider.model
    assert session.world().models.chosen is None  # nothing is used before it is saved


def test_a_server_is_tried_and_used_and_its_key_is_nowhere_on_the_page(
    open_settings: OpenSettings, server: FakeServer
) -> None:
    server.on("rate", says(RATED))
    page = open_settings()
    assert OfflineModel.label in told(page)
    assert "Nothing leaves this program" in told(page)
    fill(page, server.url, "fake", KEY)
    press(page, "Test")
    assert "fake at 127.0.0.1 answered in" in told(page)
    assert "12 tokens" in told(page)
    assert any('"rating": 9' in block.value for block in page.code)
    assert any(prompts.shipped("rate") in block.value for block in page.code)
    assert mira().model.label.startswith("offline rules")
    field(page, "Key").input(KEY)
    press(page, words.SAVE_AND_USE)
    assert "fake at 127.0.0.1 is in use." in told(page)
    assert "A key is set (this session)" in told(page)
    assert "are sent to this machine, with the personality" in told(page)
    assert field(page, "Key").value == ""
    assert KEY not in everything(page)
    assert mira().rate("Saw smoke").rating == 9
    assert KEY not in everything(open_settings())


def test_a_model_that_the_server_offers_is_chosen(open_settings: OpenSettings, server: FakeServer) -> None:
    server.on("rate", says(RATED))
    page = open_settings()
    fill(page, server.url, "fake")
    press(page, "Test")
    offered = next(box for box in page.selectbox if box.label == "The server offers 2 models")
    offered.select("fake-large").run()
    assert field(page, "Model").value == "fake-large"


def test_what_a_server_answered_does_not_stand_beside_another_address(
    open_settings: OpenSettings, server: FakeServer
) -> None:
    server.on("rate", says(RATED))
    page = open_settings()
    fill(page, server.url, "fake")
    press(page, "Test")
    assert "answered in" in told(page)
    fill(page, "http://127.0.0.1:9/v1", "fake")
    assert "answered in" not in told(page)
    assert not [box for box in page.selectbox if box.label.startswith("The server offers")]


def test_a_trial_that_fails_says_why_and_never_the_key(open_settings: OpenSettings, server: FakeServer) -> None:
    server.on("rate", error(401, f"Incorrect API key provided: {KEY}"))
    page = open_settings()
    fill(page, server.url, "fake", KEY)
    press(page, "Test")
    assert KEY_REFUSED in told(page)
    assert KEY not in everything(page)


def test_what_cannot_be_used_is_refused_in_words(open_settings: OpenSettings) -> None:
    page = open_settings()
    fill(page, "file:///etc/passwd", "fake")
    for name in ("Test", words.SAVE_AND_USE):
        press(page, name)
        assert "must begin with http:// or https://" in told(page)
    assert session.world().models.chosen is None


def test_an_address_on_another_machine_without_encryption_is_warned_of(open_settings: OpenSettings) -> None:
    page = open_settings()
    fill(page, "http://192.168.1.7:11434/v1", "fake")
    assert "can be read in transit" in told(page)


def test_the_key_goes_into_the_keyring_where_there_is_one(
    open_settings: OpenSettings, server: FakeServer, drawer: DrawerKeyring
) -> None:
    page = open_settings()
    assert "The system's keyring is Drawer." in told(page)
    fill(page, server.url, "fake", KEY)
    next(group for group in page.button_group if "in the system's keyring" in group.options).set_value(
        "in the system's keyring"
    )
    press(page, words.SAVE_AND_USE)
    assert drawer.held == {("memory-system", server.url): KEY}
    assert "A key is set (keyring)" in told(page)
    assert KEY not in everything(page)
    press(page, "Forget the key")
    assert drawer.held == {}
    assert "No key is set." in told(page)


def test_without_a_keyring_the_page_says_so(open_settings: OpenSettings) -> None:
    assert "This machine has no keyring" in told(open_settings())


def test_one_goes_back_to_the_offline_rules_and_to_the_environment(
    open_settings: OpenSettings, server: FakeServer
) -> None:
    open_settings()
    session.world().models.use(ModelChoice(server.url, "fake"))
    page = open_settings()
    press(page, "Use the offline rules")
    assert mira().model.label.startswith("offline rules")
    assert "Chosen here, for this world." in told(page)
    press(page, "Let the environment decide")
    assert session.world().models.chosen is None
    assert "Set by the environment; nothing was chosen here." in told(page)


def test_where_the_environment_decides_nothing_can_be_chosen(open_page: Callable[..., AppTest]) -> None:
    page = open_page("installation", part="model")
    assert "MEMORY_LLM is 'offline'" in told(page)
    assert not [one for one in page.text_input if one.label in ("Address", "Key")]
    press(page, words.TEST_THE_LANGUAGE_MODEL)
    assert f"{OfflineModel.label} answered in" in told(page)


def test_an_environment_s_address_with_a_password_is_not_shown(
    open_settings: OpenSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://ana:hunter2@127.0.0.1:9/v1")
    page = open_settings()
    assert "gpt-4o-mini at 127.0.0.1" in told(page)
    press(page, words.TEST_THE_LANGUAGE_MODEL)
    assert "cannot be reached" in told(page)
    assert "hunter2" not in everything(page)


def test_a_prompt_is_worded_previewed_saved_and_restored(open_settings: OpenSettings) -> None:
    page = open_settings("prompts")
    own = "You are a stern judge. Rate it."
    field(page, "Text").input(own).run()
    press(page, "Preview")
    assert any(block.value.startswith(f"[system]\n{own}\n{FENCE}") for block in page.code)
    assert session.world().prompts.prompts.own == {}
    next(button for button in page.button if button.key == "save-prompt").click().run()
    assert not page.exception
    assert session.world().prompts.prompts.own == {"rate": own}
    assert "Customised in this world: Rate a memory." in told(page)
    press(page, words.RESTORE_THE_SHIPPED_TEXT)
    assert field(page, "Text").value == PROMPTS["rate"].text
    press(page, "Use again")
    assert field(page, "Text").value == own
    assert [one.by for one in session.world().prompts.versions("rate")] == ["dashboard"] * 3


def test_a_prompt_that_lacks_what_is_filled_in_cannot_be_saved(open_settings: OpenSettings) -> None:
    page = open_settings("prompts")
    next(box for box in page.selectbox if box.label == "Prompt").select("questions").run()
    field(page, "Text").input("Ask something.").run()
    assert "lacks {count}, which is filled in" in told(page)
    assert all(button.disabled for button in page.button if button.key == "save-prompt")


def test_of_the_past_nothing_can_be_chosen(open_settings: OpenSettings) -> None:
    page = open_settings()
    page.session_state["moment"] = Moment(revision=5)
    page.run()
    assert not page.exception
    assert not [one for one in (*page.text_input, *page.text_area) if one.label in ("Address", "Key", "Text")]
