"""A world's language model can be chosen while it is in use; keys go to the one address that they were set for."""

from __future__ import annotations

import json
import platform
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memory_system import AgentMemory, Settings, Tier, World
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import Conflict, InvalidParameter, ModelError, ModelUnavailable, StoreError
from memory_system.llm import servers
from memory_system.llm.config import OPENAI, PROVIDERS, ModelChoice, checked, checked_endpoint
from memory_system.llm.offline.model import OfflineModel
from memory_system.llm.openai.errors import KEY_REFUSED
from memory_system.llm.prompts import shipped
from memory_system.llm.usage import Account
from tests import keyrings
from tests.conftest import PERSONALITY
from tests.fake_server import KEY, FakeServer, body, error, says, silent, trickling
from tests.keyrings import DrawerKeyring
from tests.waiting import until

RATED = {"explanation": "It says so.", "rating": 9}
OTHER_KEY = "sk-other-9876543210zyxwvu"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings under which a person may choose."""
    return Settings(database=tmp_path / "database", personalities=tmp_path / "personalities")


@pytest.fixture
def drawer() -> Iterator[DrawerKeyring]:
    with keyrings.drawer() as own:
        yield own


def reopened(settings: Settings, embedder: CachedEmbedder) -> World:
    return World(settings, embedder=embedder)


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.glob("**/*") if path.is_file())


def test_without_a_choice_the_environment_decides(world: World) -> None:
    assert world.model.label == OfflineModel.label
    assert world.models.chosen is None


def test_a_choice_takes_effect_for_agents_that_are_open(world: World, agent: AgentMemory, server: FakeServer) -> None:
    server.on("rate", says(RATED))
    assert agent.rate("Saw smoke over the field").explanation.startswith("Offline estimate")
    world.models.use(ModelChoice(server.url, "fake"))
    assert agent.rate("Saw smoke over the field").rating == 9
    assert agent.model.label == "fake at 127.0.0.1"
    world.models.use(ModelChoice())
    assert agent.rate("Saw smoke over the field").explanation.startswith("Offline estimate")
    assert world.models.chosen == ModelChoice()
    world.models.use_environment()
    assert world.models.chosen is None


def test_a_choice_is_there_again_when_the_world_is_opened_again(
    world: World, server: FakeServer, settings: Settings, embedder: CachedEmbedder
) -> None:
    world.models.use(ModelChoice(server.url, "fake"), KEY)
    with reopened(settings, embedder) as again:
        assert again.model.label == "fake at 127.0.0.1"
        assert again.models.key_of(server.url) == ""  # it was this process's
        again.models.use_environment()
    assert world.model.label.startswith("offline rules")  # another program's change is seen at once


def test_a_key_of_this_process_is_in_no_file(world: World, agent: AgentMemory, server: FakeServer) -> None:
    server.on("rate", says(RATED))
    world.models.use(ModelChoice(server.url, "fake"), f" {KEY} ")
    agent.add_short_term({"document": "Saw smoke over the field"})
    assert server.keys == [f"Bearer {KEY}"]
    assert world.models.key_of(server.url) == "this session"
    assert KEY.encode() not in bytes_of(world.folder.parent)
    assert not any(KEY in str(value) for value in vars(world.models._file).values())


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators cannot be told to overwrite")
def test_the_spare_room_of_a_new_index_holds_nothing_that_this_process_has_freed(world: World) -> None:
    world.create_agent("tobias", json.dumps(PERSONALITY))._context.held.settle()
    spare = [path.read_bytes() for path in (world.folder / "tobias").rglob("data_level0.bin")]
    assert spare
    assert all(spare)
    assert all(len(set(content)) == 1 for content in spare), "memory is overwritten before Chroma writes it to a file"


def test_a_key_in_the_keyring_is_used_after_a_restart(
    world: World, server: FakeServer, settings: Settings, embedder: CachedEmbedder, drawer: DrawerKeyring
) -> None:
    server.on("rate", says(RATED))
    world.models.use(ModelChoice(server.url, "fake"), KEY, in_keyring=True)
    assert drawer.held == {("memory-system", server.url): KEY}
    assert KEY.encode() not in bytes_of(world.folder.parent)
    with reopened(settings, embedder) as again:
        assert again.models.key_of(server.url) == "keyring"
        assert drawer.asked == 0  # looking does not unlock it
        again.create_agent("ana").rate("Saw smoke over the field")
    assert server.keys == [f"Bearer {KEY}"]


def test_a_key_is_sent_to_no_other_address(
    settings: Settings, embedder: CachedEmbedder, server: FakeServer, drawer: DrawerKeyring, tmp_path: Path
) -> None:
    server.on("rate", says(RATED))
    environment = Settings(
        database=tmp_path / "database", personalities=tmp_path / "personalities", openai_api_key=OTHER_KEY
    )
    with World(environment, embedder=embedder) as world:
        assert world.models.key_of(OPENAI) == "environment"
        world.models.use(ModelChoice("http://127.0.0.1:9/v1", "other"), KEY)
        world.models.use(ModelChoice("http://127.0.0.1:8/v1", "other"), KEY, in_keyring=True)
        world.models.use(ModelChoice(server.url, "fake"))
        assert world.models.key_of(server.url) == ""
        world.create_agent("ana").rate("Saw smoke over the field")
    assert server.keys == ["Bearer none"]


def test_the_environment_s_key_goes_to_the_environment_s_address(
    embedder: CachedEmbedder, server: FakeServer, tmp_path: Path
) -> None:
    server.on("rate", says(RATED))
    environment = Settings(
        database=tmp_path / "database",
        personalities=tmp_path / "personalities",
        openai_api_key=KEY,
        openai_base_url=f"{server.url}/",
    )
    with World(environment, embedder=embedder) as world:
        assert world.models.chosen is None
        assert world.create_agent("ana").rate("Saw smoke over the field").rating == 9
        world.models.use(ModelChoice(server.url, "another"))
        assert world.agent("ana").rate("Saw smoke over the field").rating == 9
    assert server.keys == [f"Bearer {KEY}"] * 2
    assert [asked["model"] for asked in server.requests] == ["gpt-4o-mini", "another"]


def test_a_new_key_takes_the_place_of_the_old_one(world: World, agent: AgentMemory, server: FakeServer) -> None:
    server.on("rate", says(RATED))
    world.models.use(ModelChoice(server.url, "fake"), KEY)
    agent.rate("One")
    world.models.use(ModelChoice(server.url, "fake"), OTHER_KEY)
    agent.rate("Two")
    world.models.use(ModelChoice(server.url, "fake"))  # without a key the one that is held stays
    agent.rate("Three")
    world.models.forget_key(server.url)
    agent.rate("Four")
    assert server.keys == [f"Bearer {key}" for key in (KEY, OTHER_KEY, OTHER_KEY, "none")]


def test_a_forgotten_key_is_gone_from_the_keyring(world: World, server: FakeServer, drawer: DrawerKeyring) -> None:
    world.models.use(ModelChoice(server.url, "fake"), KEY, in_keyring=True)
    world.models.forget_key(server.url)
    assert drawer.held == {}
    assert world.models.key_of(server.url) == ""
    assert world.model.label == "fake at 127.0.0.1"


def test_a_locked_keyring_leaves_the_event_stored_and_unrated(
    world: World, agent: AgentMemory, server: FakeServer, drawer: DrawerKeyring
) -> None:
    world.models.use(ModelChoice(server.url, "fake"), KEY, in_keyring=True)
    drawer.locked = True
    added = agent.add_short_term([{"document": "Saw smoke"}, {"document": "Saw fire"}])
    assert [entry.rating for entry in agent.entries(Tier.STM)] == [None, None]
    assert "keyring did not hand out the key (OSError)" in str(added.change_set)
    assert "sk-quoted" not in str(added.change_set)
    assert drawer.asked == 1  # it is not asked again for each event
    assert server.requests == []


def test_a_keyring_that_takes_no_key_changes_nothing(world: World, server: FakeServer, drawer: DrawerKeyring) -> None:
    drawer.locked = True
    with pytest.raises(ModelUnavailable, match="did not take the key") as refused:
        world.models.use(ModelChoice(server.url, "fake"), KEY, in_keyring=True)
    assert KEY not in str(refused.value)
    assert world.models.chosen is None


def test_the_environment_s_word_is_the_last(embedder: CachedEmbedder, tmp_path: Path, server: FakeServer) -> None:
    settings = Settings(database=tmp_path / "database", personalities=tmp_path / "personalities", llm="offline")
    with World(settings, embedder=embedder) as world:
        with pytest.raises(Conflict, match="MEMORY_LLM is 'offline'"):
            world.models.use(ModelChoice(server.url, "fake"))
        assert world.model.label.startswith("offline rules")


def test_the_program_s_word_is_the_last(settings: Settings, embedder: CachedEmbedder, server: FakeServer) -> None:
    with World(settings, embedder=embedder, model=server.model()) as world:
        with pytest.raises(Conflict, match="program"):
            world.models.use(ModelChoice())
        assert world.model.label == "fake at 127.0.0.1"


def test_an_environment_that_asks_for_a_server_and_names_none_is_refused(
    embedder: CachedEmbedder, tmp_path: Path
) -> None:
    settings = Settings(database=tmp_path / "database", personalities=tmp_path / "personalities", llm="openai")
    with pytest.raises(ModelUnavailable, match="neither OPENAI_API_KEY nor OPENAI_BASE_URL"):
        World(settings, embedder=embedder)


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "127.0.0.1:11434",
        "file:///etc/passwd",
        "ftp://127.0.0.1/v1",
        "javascript:alert(1)",
        "http://",
        "http://:80/v1",
        "http://a b/v1",
        "http://127.0.0.1:port/v1",
        "http://127.0.0.1:99999/v1",
        "http://[::1/v1",
        "http://user:hunter2@127.0.0.1/v1",
        "https://api.openai.com/v1?key=hunter2",
        "https://api.openai.com/v1#hunter2",
        "http://127.0.0.1/\x00v1",
        "http://127.0.0.1/v1\nHost: evil",
        "http://" + "a" * 600,
        "http://bücher.example/v1",
        "http://two..dots/v1",
        "http://xn--/v1",
        f"http://{'a' * 70}/v1",
        "http://[::1]x/v1",
        "sk-hunter2-hunter2-hunter2",
    ],
)
def test_what_is_no_address_is_refused_in_words_that_do_not_quote_it(world: World, endpoint: str) -> None:
    with pytest.raises(InvalidParameter, match="address") as refused:
        world.models.use(ModelChoice(endpoint or " ", "fake"))
    assert "hunter2" not in str(refused.value)
    assert world.models.chosen is None


@pytest.mark.parametrize("model", ["", "  ", "a" * 201, "a\nb", "a\x00"])
def test_what_is_no_name_of_a_model_is_refused(model: str) -> None:
    with pytest.raises(InvalidParameter, match="name"):
        checked("http://127.0.0.1/v1", model)


@pytest.mark.parametrize("key", ["a b", "a\nb", "schlüssel", "k" * 1001])
def test_what_is_no_key_is_refused_in_words_that_do_not_quote_it(world: World, server: FakeServer, key: str) -> None:
    with pytest.raises(InvalidParameter, match="key") as refused:
        world.models.use(ModelChoice(server.url, "fake"), key)
    assert key not in str(refused.value)


def test_every_listed_server_has_an_address_that_can_be_used() -> None:
    assert [one.name for one in PROVIDERS] == ["Ollama", "LM Studio", "vLLM", "llama.cpp", "OpenAI"]
    assert all(checked_endpoint(one.endpoint) == one.endpoint for one in PROVIDERS)
    assert not any(ModelChoice(one.endpoint).readable_on_the_way for one in PROVIDERS)
    assert ModelChoice("http://192.168.1.7:11434/v1").readable_on_the_way


@pytest.mark.parametrize("text", ["", "{", "[]", '{"use": "server", "endpoint": "file:///etc", "model": "x"}', "null"])
def test_a_broken_choice_is_told_and_the_environment_decides(world: World, text: str) -> None:
    path = world.folder.with_name("mem_test.model.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    assert world.model.label.startswith("offline rules")
    assert "Choose again" in world.models.problem
    world.models.use(ModelChoice())
    assert world.models.problem == ""


def test_a_choice_that_cannot_be_kept_is_refused(world: World, server: FakeServer) -> None:
    world.folder.parent.rename(world.folder.parent.with_name("elsewhere"))
    world.folder.parent.write_text("a file where the folder was")
    try:
        with pytest.raises(StoreError, match="choice of a language model"):
            world.models.use(ModelChoice(server.url, "fake"), KEY)
        assert world.models.key_of(server.url) == ""
        assert world.model.label.startswith("offline rules")
    finally:
        world.folder.parent.unlink()
        world.folder.parent.with_name("elsewhere").rename(world.folder.parent)


def test_the_choice_is_a_plain_file_beside_the_world(world: World, server: FakeServer) -> None:
    world.models.use(ModelChoice(server.url, "fake"), KEY)
    path = world.folder.parent / "mem_test.model.json"
    assert stat.S_ISREG(path.stat().st_mode)
    assert json.loads(path.read_text()) == {
        "use": "server", "endpoint": server.url, "model": "fake", "key": "not kept",
    }  # fmt: skip


# -- trials ---------------------------------------------------------------------------------------------


def test_a_trial_shows_the_round_trip_and_keeps_nothing(world: World, server: FakeServer) -> None:
    server.on("rate", says(RATED))
    trial = world.models.try_out(ModelChoice(server.url, "fake"), KEY)
    assert shipped("rate") in trial.asked
    assert "Tobias lent me" in trial.asked
    assert json.loads(trial.answered) == RATED
    assert trial.milliseconds > 0
    assert trial.tokens == 12
    assert trial.models == ("fake", "fake-large")
    assert (trial.problem, trial.unlisted) == ("", "")
    assert world.models.chosen is None
    assert world.models.key_of(server.url) == ""


def test_a_trial_uses_the_key_that_is_held(world: World, server: FakeServer) -> None:
    server.on("rate", says(RATED))
    world.models.use(ModelChoice(server.url, "fake"), KEY)
    world.models.try_out(ModelChoice(server.url, "fake-large"))
    assert server.keys == [f"Bearer {KEY}"] * 2


def test_a_trial_of_the_offline_rules_asks_nobody(world: World) -> None:
    trial = world.models.try_out(ModelChoice())
    assert "Offline estimate" in trial.answered
    assert trial.models == ()


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (error(401, f"Incorrect API key provided: {KEY}"), KEY_REFUSED),
        (error(404), "has no model"),
        (error(429), "too many requests"),
        (body(200, "<html>It works</html>", "text/html"), "not a chat completion"),
        (says(f"Here is your key: {KEY}"), "not a JSON object"),
    ],
)
def test_a_trial_that_fails_says_why_and_never_the_key(world: World, server: FakeServer, reply, words: str) -> None:  # type: ignore[no-untyped-def]
    server.on("*", reply)
    server.on("rate", reply)
    trial = world.models.try_out(ModelChoice(server.url, "fake"), KEY)
    assert words in trial.problem
    assert KEY not in repr(trial)
    assert trial.models == ("fake", "fake-large")


def test_a_trial_where_nobody_listens_says_so(world: World) -> None:
    trial = world.models.try_out(ModelChoice("http://127.0.0.1:9/v1", "fake"), KEY)
    assert "cannot be reached" in trial.problem
    assert "cannot be reached" in trial.unlisted


def named(*names: object) -> dict[str, object]:
    return {"data": [{"id": name} for name in names]}


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (body(200, "<html>"), "not of the OpenAI form"),
        (body(200, {"data": 7}), "not of the OpenAI form"),
        (body(200, "[" * 100_000), "not of the OpenAI form"),
        (body(200, b"\xff" * 100), "not of the OpenAI form"),
        (body(500, KEY), "it answered 500"),
        (body(302, KEY), "it answered 302"),
        (body(200, " " * 5_100_000), "has no end"),
        (silent(30), "in 1 seconds"),
        (trickling(30), "in 1 seconds"),
    ],
)
def test_a_server_that_does_not_list_its_models_is_told_apart(server: FakeServer, reply: Callable, words: str) -> None:  # type: ignore[type-arg]
    server.listing = reply
    with pytest.raises(ModelError, match=words) as refused:
        servers.models(server.url, KEY, 1)
    assert KEY not in str(refused.value)


def test_names_of_models_are_names_and_never_the_key(server: FakeServer) -> None:
    server.listing = body(200, named("b", "a", "b", 7, "", "c" * 300, "x\u202ey", f"it-is-{KEY}"))
    assert servers.models(server.url, KEY, 10) == ("a", "b", "it-is-[key]")


def test_what_could_not_be_rated_is_when_another_model_is_chosen_or_this_one_answers_a_trial(
    settings: Settings, embedder: CachedEmbedder, server: FakeServer
) -> None:
    hourly = settings.model_copy(update={"rerate_seconds": 3600.0})
    with World(hourly, embedder=embedder) as world:
        agent = world.create_agent("ana")
        world.models.use(ModelChoice("http://127.0.0.1:9/v1", "fake"))
        agent.add_short_term({"document": "Saw smoke over the field"})
        (unrated,) = agent.unrated()
        assert unrated.document.startswith("Saw smoke")
        world.rerater.start()
        server.on("rate", says(RATED))
        world.models.use(ModelChoice(server.url, "fake"))
        until(lambda: not agent.unrated())
        server.on("rate", error(500, "out of order"))
        agent.add_short_term({"document": "Heard the bell at night"})
        assert agent.unrated()
        server.on("rate", says(RATED))
        assert not world.models.try_in_use().problem
        until(lambda: not agent.unrated())


@pytest.mark.parametrize("later", [False, True], ids=["before it is sent", "before it is answered"])
def test_a_call_is_asked_of_counted_as_and_kept_as_that_of_the_model_in_use_when_it_began(
    world: World, agent: AgentMemory, server: FakeServer, monkeypatch: pytest.MonkeyPatch, later: bool
) -> None:
    hold = Account.hold

    def exchange() -> None:
        world.models.use(ModelChoice(server.url, "second"), KEY)

    def held(account: Account, *about: Any) -> int | None:
        number = hold(account, *about)
        exchange()
        return number

    def answered(handler: Any) -> None:
        if later and handler.asked["model"] == "first":
            exchange()
        says({"explanation": f"By the {handler.asked['model']}.", "rating": 3})(handler)

    if not later:
        monkeypatch.setattr(Account, "hold", held)
    server.on("*", answered)
    server.on("rate", answered)
    for _ in range(2):  # the second time it is the one that was kept
        world.models.use(ModelChoice(server.url, "first"), KEY)
        assert agent.rate("Lent Tobias the key.").explanation == "By the first."
    assert [(one.model, one.calls) for one in agent.spent] == [("first", 1)]
    assert [asked["model"] for asked in server.requests] == ["first"]
