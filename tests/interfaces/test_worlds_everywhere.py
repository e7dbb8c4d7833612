"""Save slots over HTTP, with the client and on the command line: who may, what is answered, and nobody is mixed up."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from pydantic import SecretStr

from memory_system import AgentMemory, Settings, Tier, World
from memory_system.core.memory import Vectors
from memory_system.errors import AlreadyExists, Conflict, NotAllowed, WorldNotFound
from memory_system.interfaces import endings
from memory_system.interfaces.api import create_app
from memory_system.interfaces.cli.arguments import no_world_yet, served_already
from memory_system.interfaces.client import RemoteWorld
from memory_system.interfaces.ports import next_free
from memory_system.maintenance import InUse
from memory_system.world.auth import Door
from tests import programs
from tests.command_line import CommandLine
from tests.served import served_api
from tests.waiting import until

Remember = Callable[..., str]


@pytest.fixture
def in_use(world: World, agent: AgentMemory) -> Iterator[InUse]:
    """A world in which mira remembers one thing, and which can be switched."""
    agent.add_short_term({"document": "Saw smoke over the north field", "rating": 6})
    held = InUse(lambda: world)
    yield held
    held.close()


@pytest.fixture
def there(in_use: InUse) -> Iterator[RemoteWorld]:
    with served_api(in_use) as address, RemoteWorld(address) as remote:
        yield remote


@pytest.fixture
def cli(in_use: InUse, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(in_use.world, monkeypatch)


def test_the_client_does_all_that_is_done_with_worlds(there: RemoteWorld) -> None:
    said: list[str] = []
    made = there.branch_world("mem_test", "what if", progress=lambda _done, doing: said.append(doing))
    assert made.branched is not None
    assert made.branched.world == "mem_test"
    assert "Copying mira, 1 of 1" in said
    assert there.copy_world("mem_test", "second").memories == 1
    assert there.create_world("empty").characters == 0
    assert there.rename_world("empty", "void").name == "void"
    assert [one.name for one in there.worlds()] == ["mem_test", "second", "void", "what if"]
    binned = there.delete_world("second")
    assert [one.name for one in there.deleted_worlds()] == ["second"]
    assert there.restore_world(binned, "third").memories == 1
    with pytest.raises(AlreadyExists):
        there.create_world("THIRD")
    with pytest.raises(WorldNotFound, match="There is no world 'nowhere'"):
        there.switch_world("nowhere")
    with pytest.raises(Conflict, match="is in use"):
        there.delete_world("mem_test")


def test_a_switch_takes_effect_at_once_and_worlds_are_compared(there: RemoteWorld, in_use: InUse) -> None:
    there.branch_world("mem_test", "what if")
    assert there.switch_world("what if").served
    assert there.name == "what if"
    there.agent("mira").add_short_term({"document": "Sold two hens", "rating": 8})
    found = there.compare_worlds("mem_test", "what if")
    (mira,) = found.characters
    assert [one.document for one in mira.only_right] == ["Sold two hens"]
    there.switch_world("mem_test")
    assert [entry.document for entry in there.agent("mira").entries(Tier.STM)] == ["Saw smoke over the north field"]


def test_whoever_says_which_world_is_meant_reaches_no_other(there: RemoteWorld, in_use: InUse) -> None:
    there.branch_world("mem_test", "what if")
    address = str(there._wire._client.base_url)
    with RemoteWorld(address, world="mem_test") as game:
        game.agent("mira").add_short_term({"document": "Before", "rating": 4})
        there.switch_world("what if")
        for act in (
            lambda: game.agent("mira"),
            lambda: game.create_agent("ana"),
            lambda: game.rename_world("what if", "mine"),
        ):
            with pytest.raises(Conflict, match="The world in use is 'what if', not 'mem_test'"):
                act()
    assert in_use.world.agents() == ["mira"]


@pytest.mark.parametrize("named", ["mem_test", None])
def test_a_write_ends_in_the_world_in_which_it_began(
    there: RemoteWorld, in_use: InUse, monkeypatch: pytest.MonkeyPatch, named: str | None
) -> None:
    there.create_world("second")
    first, mira = in_use.world, in_use.world.agent("mira")
    embed = first.embedder.embed

    def switching(texts: Sequence[str]) -> Vectors:
        if in_use.world is first:
            in_use.switch("second")
        return embed(texts)

    with RemoteWorld(str(there._wire._client.base_url), world=named) as game:
        remote = game.agent("mira")
        monkeypatch.setattr(first.embedder, "embed", switching)
        assert remote.add_short_term({"document": "Lent the lamp to nobody.", "rating": 4}).unrated == ()
    assert in_use.world.name == "second"
    until(lambda: mira.gone)
    in_use.switch("mem_test")
    assert len(in_use.world.agent("mira").entries(Tier.STM)) == 2


def test_what_was_previewed_in_one_world_is_not_applied_in_another(there: RemoteWorld, in_use: InUse) -> None:
    there.copy_world("mem_test", "second")
    planned = there.agent("mira").configure(stm_size=11, preview=True)
    there.switch_world("second")
    with pytest.raises(Exception, match="Preview it again"):
        there.agent("mira").apply(planned)
    assert in_use.world.agent("mira").settings.stm_size != 11


def test_a_viewer_sees_the_world_that_is_served_and_no_other(in_use: InUse) -> None:
    in_use.worlds.create("secret plans")
    door = Door.of_api(in_use.world.settings.model_copy(update={"viewer_token": SecretStr("v" * 24)}))
    with served_api(in_use, door) as address, RemoteWorld(address, token="v" * 24) as viewer:
        (shown,) = viewer.worlds()
        assert (shown.name, shown.characters, shown.memories) == ("mem_test", 1, 1)
        for act in (
            viewer.deleted_worlds,
            lambda: viewer.compare_worlds("mem_test", "secret plans"),
            lambda: viewer.switch_world("secret plans"),
            lambda: viewer.create_world("mine"),
            lambda: viewer.delete_world("secret plans"),
        ):
            with pytest.raises(NotAllowed):
                act()
    assert in_use.world.name == "mem_test"


def test_a_path_is_no_name_over_http(in_use: InUse) -> None:
    with TestClient(create_app(in_use), base_url="http://127.0.0.1") as api:
        for name in ("..", "../x", ".hidden", "a/b"):
            assert api.post("/v1/worlds", json={"name": name}).json()["code"] == "invalid-agent-name"
            assert api.post("/v1/worlds/mem_test/copy", json={"to": name}).json()["code"] == "invalid-agent-name"


def test_the_command_line_tells_and_does_it(cli: CommandLine, in_use: InUse) -> None:
    assert "mem_test" in cli("worlds").out
    assert cli("worlds", "branch", "mem_test", "what if").code == 0
    listed = {one["name"]: one for one in cli("worlds", "--json").value["items"]}
    assert listed["what if"]["branched"]["world"] == "mem_test"
    assert cli("worlds", "compare", "mem_test", "what if").out == "Nothing differs.\n"
    assert cli("worlds", "rename", "what if", "maybe").out == "The world 'maybe' was 'what if' before.\n"
    assert cli("worlds", "switch", "maybe", "--json").value["world"]["served"] is True
    assert Settings().world == "maybe"
    assert cli("worlds", "delete", "maybe").code == 1
    cli("configure", "mira", "--stm-size", "11")
    found = cli("worlds", "compare", "mem_test", "maybe", "--json").value
    assert found["characters"][0]["texts"] == [{"name": "settings", "lines": [["stm size", "20", "11"]]}]
    assert "stm size" in cli("worlds", "compare", "mem_test", "maybe").out
    cli("worlds", "switch", "mem_test")
    assert "worlds restore maybe" in cli("worlds", "delete", "maybe").out
    assert "In the bin: maybe" in cli("worlds").out
    assert cli("worlds", "restore", "maybe", "back again").out == "The world 'back again' is back.\n"


def test_a_dry_run_of_worlds_changes_nothing_and_still_refuses(cli: CommandLine, in_use: InUse) -> None:
    before = in_use.worlds.names()
    for words in (["create", "new"], ["copy", "mem_test", "new"], ["rename", "mem_test", "new"]):
        assert cli("worlds", *words, "--dry-run").out == "It can be done. Nothing was changed.\n"
    assert in_use.worlds.names() == before
    assert cli("worlds", "copy", "nobody", "new", "--dry-run").code == 1
    assert cli("worlds", "create", "../new", "--dry-run").code == 1
    assert cli("worlds", "copy", "mem_test").code == 2
    assert cli("worlds", "copy", "mem_test", "new", "--sample").code == 2


READING = (
    "agents", "stats mira", "recall mira smoke", "recall mira smoke --dry-run", "doctor", "clock", "backup", "facts",
    "advance", "configure mira --stm-size 9", "add mira Smoke --rating 3", "delete mira", "undelete mira", "test",
)  # fmt: skip


@pytest.mark.parametrize("command", READING)
def test_a_mistyped_world_is_told_and_not_begun(
    cli: CommandLine, in_use: InUse, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    in_use.worlds.create("second")
    before = sorted(in_use.worlds.folder.iterdir())
    monkeypatch.setenv("MEMORY_WORLD", "mem tset")
    done = cli(*command.split())
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        f"There is no world 'mem tset' in {in_use.worlds.folder}; there are mem_test, second. "
        "To begin it: python -m memory_system worlds create 'mem tset'\n"
    )
    assert sorted(in_use.worlds.folder.iterdir()) == before


def test_a_mistyped_world_is_not_listed(cli: CommandLine, in_use: InUse, monkeypatch: pytest.MonkeyPatch) -> None:
    in_use.worlds.create("second")
    monkeypatch.setenv("MEMORY_WORLD", "mem tset")
    done = cli("worlds")
    assert (done.code, "tset" in done.out) == (0, False)
    assert {"mem_test", "second"} <= set(done.out.split())
    assert "worlds create 'mem tset'" in done.err
    assert [one["name"] for one in cli("worlds", "--json").value["items"]] == ["mem_test", "second"]


def test_a_mistyped_world_is_told_as_json(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_WORLD", "typo")
    told = json.loads(cli("agents", "--json").err)["error"]
    assert (told["code"], told["status"]) == ("world-not-found", 404)


def test_a_world_that_may_not_be_entered_ends_a_command_in_a_sentence(
    cli: CommandLine, in_use: InUse, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_use.worlds.create("second")
    really = Path.is_file

    def refused(self: Path) -> bool:
        if self.parent.name == "second":
            raise PermissionError(errno.EACCES, "Permission denied", str(self))
        return really(self)

    monkeypatch.setattr(Path, "is_file", refused)
    monkeypatch.setenv("MEMORY_WORLD", "second")
    done = cli("agents")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("The world 'second' cannot be used: Permission denied (")


def test_what_may_begin_a_world_does(
    cli: CommandLine, in_use: InUse, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cli("backup", str(tmp_path / "pack.zip"))
    for name, command in {
        "made": ("create", "tobias"),
        "restored": ("restore", str(tmp_path / "pack.zip")),
        "listed": ("worlds", "create", "listed"),
    }.items():
        monkeypatch.setenv("MEMORY_WORLD", name)
        done = cli(*command)
        assert done.code == 0, done.err
        assert cli("agents", "--json").value["world"] == name


def test_the_usual_world_of_a_fresh_machine_needs_no_beginning(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MEMORY_DATABASE", str(tmp_path / "fresh"))
    monkeypatch.setenv("MEMORY_PERSONALITIES", str(tmp_path / "nobody"))
    assert cli("agents", "--json").value["world"] == "mem_test"
    assert cli("doctor").code == 0
    monkeypatch.setenv("MEMORY_WORLD", "own")
    assert "there are none" in cli("agents").err


def test_a_server_of_a_new_world_says_so(cli: CommandLine, in_use: InUse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_WORLD", "typo")
    assert no_world_yet(Settings()) == f"There is no world 'typo' in {in_use.worlds.folder}; there is mem_test."
    monkeypatch.setenv("MEMORY_STORE", "memory")
    assert no_world_yet(Settings()) == ""


SERVE = """
import sys
from pathlib import Path
from memory_system.store import served
with served(Path(sys.argv[1]), "http://127.0.0.1:5077"):
    print("served", flush=True)
    sys.stdin.readline()
"""


def test_a_second_server_of_a_world_says_where_the_first_is(
    cli: CommandLine, in_use: InUse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endings, "run", lambda _program: 0)
    assert served_already(Settings()) == ""
    with programs.Program("-c", SERVE, str(in_use.world.folder)) as first:
        assert first.stdout is not None
        first.stdout.readline()
        done = cli("serve", "--port", str(next_free(5100, "127.0.0.1")))
        assert (done.code, done.err) == (
            0,
            "The world 'mem_test' is served already, at http://127.0.0.1:5077. Both may be used.\n",
        )
    assert served_already(Settings()) == ""


def test_a_process_opens_the_world_that_another_switched_to(world: World, agent: AgentMemory) -> None:
    environment = dict(os.environ) | {
        "MEMORY_DATABASE": str(world.settings.database),
        "MEMORY_PERSONALITIES": str(world.settings.personalities),
        "MEMORY_LLM": "offline",
    }

    def run(*words: str, **more: str) -> str:
        done = programs.run("-m", "memory_system", *words, environment=environment | more)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("worlds", "branch", "mem_test", "what if")
    run("worlds", "switch", "what if")
    run("configure", "mira", "--stm-size", "9")
    assert json.loads(run("agents", "--json"))["world"] == "what if"
    assert json.loads(run("agents", "--json", MEMORY_WORLD="mem_test"))["world"] == "mem_test"
    assert agent.settings.stm_size != 9
    run("worlds", "switch", "mem_test")
    run("worlds", "delete", "what if")
    run("worlds", "restore", "what if")
    found = json.loads(run("worlds", "compare", "mem_test", "what if", "--json"))
    assert [one["name"] for one in found["characters"][0]["texts"]] == ["settings"]


def test_a_server_switches_its_world_and_its_notice(in_use: InUse) -> None:
    in_use.worlds.copy("mem_test", "second")
    notice = in_use.world.folder.parent
    with in_use.serving("http://127.0.0.1:5000", lives=False):
        assert (notice / ".mem_test-served.json").exists()
        in_use.switch("second")
        assert (notice / ".second-served.json").exists()
        assert not (notice / ".mem_test-served.json").exists()
    assert not (notice / ".second-served.json").exists()
