"""One world served by two processes on one port: nothing is lost, done twice or not found, whoever is asked."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from memory_system import Settings, World
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import InvalidParameter
from memory_system.interfaces.api import workers
from tests.conftest import ROOT, settings_in
from tests.interfaces.test_start_and_stop import on_a_terminal
from tests.ports import free_port
from tests.waiting import LAST_RESORT, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="several workers need Unix sockets")
TOKEN = "a token of sixteen and more"
MIRA = "/v1/agents/mira"


def _children(process: int, command: str) -> set[int]:
    named = ["pgrep", "-P", str(process), "-f", command]
    return {int(pid) for pid in subprocess.run(named, capture_output=True, text=True, check=False).stdout.split()}


@dataclass
class Several:
    """A server of two workers."""

    url: str
    parent: subprocess.Popen[str]
    settings: Settings
    said: Path

    @property
    def pids(self) -> tuple[int, int]:
        """The first worker, and the other one."""
        (source,) = _children(self.parent.pid, "forkserver")
        first = json.loads((self.settings.database / f".{self.settings.world}-served.json").read_text())["process"]
        (other,) = _children(source, "forkserver") - {first}
        return first, other

    @contextmanager
    def at(self, number: int) -> Iterator[httpx.Client]:
        """A connection to one of them, which it keeps: the only one that can take it is that one.

        After a switch of worlds the other one has the first answer until it has opened the new world, and would wait
        for what is stopped here; then it is tried again.
        """
        patience = 1.0
        while True:
            with self.client() as client:
                if self._answered(client, self.pids[1 - number], patience):
                    yield client
                    return
            patience *= 2

    def _answered(self, client: httpx.Client, stopped: int, patience: float) -> bool:
        os.kill(stopped, signal.SIGSTOP)
        try:
            answer = client.post(f"{MIRA}/query", json={"cue": "the mill"}, timeout=patience)
        except httpx.TimeoutException:
            return False
        finally:
            os.kill(stopped, signal.SIGCONT)
        assert answer.status_code == 200
        return True

    def client(self) -> httpx.Client:
        """One connection to whichever takes it."""
        told = {"Authorization": f"Bearer {TOKEN}"}
        return httpx.Client(base_url=self.url, trust_env=False, timeout=LAST_RESORT, headers=told)

    def documents(self) -> list[str]:
        """What the agent holds, as the server tells it."""
        with self.client() as client:
            answer = client.get(f"{MIRA}/memories", params={"tier": "stm", "limit": 1000})
        return [one["document"] for one in answer.raise_for_status().json()["items"]]


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Iterator[Several]:
    """Two workers, a world with one character, and a token."""
    folder = tmp_path_factory.mktemp("several")
    settings, port, said = settings_in(folder), free_port(), folder / "said"
    with World(settings, embedder=embedder) as world:
        world.create_agent("mira").add_short_term({"document": "The mill burnt.", "rating": 5}, rate=False)
        world.create_agent("otto")
    command = [sys.executable, "-m", "memory_system", "serve", "--workers", "2", "--port", str(port)]
    places = {
        "MEMORY_DATABASE": str(settings.database),
        "MEMORY_PERSONALITIES": str(settings.personalities),
        "MEMORY_LLM": "offline",
        "MEMORY_TOKEN": TOKEN,
    }
    with said.open("w") as problems:
        parent = subprocess.Popen(
            command, cwd=ROOT, env=os.environ | places, stdout=subprocess.PIPE, stderr=problems, text=True
        )
    try:
        assert parent.stdout is not None
        assert "with 2 workers" in parent.stdout.readline(), said.read_text()
        yield Several(f"http://127.0.0.1:{port}", parent, settings, said)
        parent.terminate()
        assert parent.wait(LAST_RESORT) == 143
        assert parent.stdout.read() == ""
        assert said.read_text().endswith("Stopped.\n")
    finally:
        parent.kill()
        parent.wait()


def _event(document: str, **more: Any) -> dict[str, Any]:
    return {"events": [{"document": document, "rating": 4, **more}], "rate": False}


def test_writes_at_once_by_several_clients_lose_nothing(several: Several) -> None:
    with several.at(0) as one, several.at(1) as other, ThreadPoolExecutor(4) as pool:
        writes = [
            pool.submit((one, other)[n % 2].post, f"{MIRA}/events", json=_event(f"It is {n}.")) for n in range(12)
        ]
        assert {write.result().status_code for write in writes} == {200}
    held = several.documents()
    assert [held.count(f"It is {number}.") for number in range(12)] == [1] * 12


def test_both_answer_queries_with_what_was_written_just_before_at_the_other(several: Several) -> None:
    with several.at(0) as one, several.at(1) as other:
        for number, (writes, asks) in enumerate([(one, other), (other, one)]):
            told = f"A heron number {number} stood in the pond."
            writes.post(f"{MIRA}/events", json=_event(told)).raise_for_status()
            found = asks.post(f"{MIRA}/query", json={"cue": told, "touch": False}).json()
            assert told in json.dumps(found)


def test_a_write_repeated_at_the_other_worker_is_answered_and_not_done_again(several: Several) -> None:
    key = {"Idempotency-Key": "once-and-for-all"}
    with several.at(1) as other, several.at(0) as one:
        first = other.post(f"{MIRA}/events", json=_event("The bell rang."), headers=key)
        again = one.post(f"{MIRA}/events", json=_event("The bell rang."), headers=key)
    assert (first.status_code, again.json()) == (200, first.json())
    assert again.headers["idempotent-replayed"] == "true"
    assert several.documents().count("The bell rang.") == 1


def test_a_plan_of_one_worker_is_applied_by_the_other_and_an_interview_goes_on(several: Several) -> None:
    with several.at(0) as one, several.at(1) as other:
        plan = other.post(f"{MIRA}/events?preview=true", json=_event("The tide came in.")).json()["change_set"]["id"]
        one.post(f"{MIRA}/previews/{plan}/apply", json={}).raise_for_status()
        asked = one.post(f"{MIRA}/interview", json={"text": "Who are you?"}).raise_for_status().json()
        going_on = {"text": "And then?", "interview": asked["interview"]}
        assert other.post(f"{MIRA}/interview", json=going_on).json()["interview"] == asked["interview"]
    assert "The tide came in." in several.documents()


@pytest.mark.parametrize("number", [0, 1])
def test_the_stream_of_changes_tells_what_the_other_worker_wrote(several: Several, number: int) -> None:
    with (
        several.at(number) as listens,
        several.at(1 - number) as writes,
        listens.stream("GET", f"{MIRA}/changes", params={"seconds": LAST_RESORT}) as stream,
    ):
        lines = stream.iter_lines()
        assert "event: now" in (next(lines), next(lines))
        revision = writes.post(f"{MIRA}/events", json=_event("A cart passed.")).json()["change_set"]["revision"]
        assert f"id: {revision}" in lines


def test_a_wrong_token_makes_its_address_wait_at_both_workers(several: Several) -> None:
    wrong = {"Authorization": "Bearer something that is wrong"}
    with several.at(0) as one, several.at(1) as other:
        codes = [
            (one, other)[n % 2].post(f"{MIRA}/query", json={"cue": "the mill"}, headers=wrong).status_code
            for n in range(5)
        ]
        right = [client.post(f"{MIRA}/query", json={"cue": "the mill"}).status_code for client in (one, other)]
        assert (codes, right) == ([401] * 5, [429, 429])
        until(lambda: one.post(f"{MIRA}/query", json={"cue": "the mill"}).status_code == 200)


def test_a_switch_of_worlds_holds_for_both_and_the_served_one_keeps_its_name(several: Several) -> None:
    with several.at(0) as one, several.at(1) as other:
        here = several.settings.world
        other.post("/v1/worlds", json={"name": "elsewhere"}).raise_for_status()
        refused = other.post(f"/v1/worlds/{here}/rename", json={"to": "harbour"})
        assert (refused.status_code, "several workers" in refused.json()["detail"]) == (409, True)
        one.post("/v1/worlds/elsewhere/switch").raise_for_status()
        asked = [client.post(f"{MIRA}/query", json={"cue": "the mill"}).status_code for client in (other, one)]
        other.post(f"/v1/worlds/{here}/switch").raise_for_status()
        back = [client.post(f"{MIRA}/query", json={"cue": "the mill"}).status_code for client in (one, other)]
    assert (asked, back) == ([404, 404], [200, 200])


@pytest.mark.parametrize("number", [1, 0])
def test_a_killed_worker_leaves_changes_whole_and_is_started_again(several: Several, number: int) -> None:
    before, killed, words = several.said.read_text().count("started again"), several.pids[number], []
    with several.at(1) as asked:

        def write(n: int) -> None:
            batch = [{"document": f"Of {number}-{n}, part {part}.", "rating": 3} for part in range(10)]
            with suppress(httpx.TransportError):
                answer = asked.post("/v1/agents/otto/events", json={"events": batch, "rate": False})
                assert answer.status_code == 200 or answer.json()["code"] == "worker-ended"
                words.append(answer.status_code)

        with ThreadPoolExecutor(1) as pool:
            writes = [pool.submit(write, n) for n in range(4)]
            until(lambda: writes[0].done())
            os.kill(killed, signal.SIGKILL)
            for one in writes:
                one.result()
    until(lambda: several.said.read_text().count("started again") == before + 1)
    with several.client() as client:
        answer = client.post("/v1/agents/otto/events", json=_event("Afterwards."))
        assert answer.status_code == 200, answer.text
        told = client.get("/v1/agents/otto/memories", params={"tier": "stm", "limit": 1000}).json()["items"]
    held = [one["document"] for one in told]
    parts = [sum(f"Of {number}-{n}, " in document for document in held) for n in range(4)]
    assert set(parts) <= {0, 10}
    assert sum(parts) >= 10 * words.count(200)

    def both() -> bool:
        with suppress(OSError, ValueError):
            return killed not in several.pids
        return False

    until(both)


def test_a_stream_that_ends_with_a_killed_worker_is_told_with_it_in_one_line(several: Several) -> None:
    before = several.said.read_text()
    with several.at(1) as asked, asked.stream("GET", f"{MIRA}/changes") as feed:
        pieces = feed.iter_text()
        assert "event: now" in next(pieces)
        os.kill(several.pids[0], signal.SIGKILL)
        with pytest.raises(httpx.TransportError):
            list(pieces)
    until(lambda: several.said.read_text().endswith("started again.\n"))
    with several.client() as client:
        client.get(MIRA).raise_for_status()
    assert len(several.said.read_text().removeprefix(before).splitlines()) == 1


def test_what_workers_are_forked_from_is_killed_and_they_go_on(several: Several) -> None:
    (source,), (first, other), said = (
        _children(several.parent.pid, "forkserver"),
        several.pids,
        several.said.read_text(),
    )
    os.kill(source, signal.SIGKILL)
    with several.client() as client:
        for _ in range(5):
            assert client.post(f"{MIRA}/query", json={"cue": "the mill"}).status_code == 200
    assert several.said.read_text() == said
    for killed, left in ((other, {first}), (first, set())):  # and another one is there to fork from
        os.kill(killed, signal.SIGKILL)

        def anew(left: set[int] = left) -> bool:
            sources = _children(several.parent.pid, "forkserver") - {source}
            return len(left.union(*(_children(one, "forkserver") for one in sources))) == 2

        until(anew)
    assert several.said.read_text().count("A worker ended; it is started again.") == 2
    assert several.documents()


@pytest.mark.parametrize(("how", "code"), [("Ctrl+C", 130), ("SIGTERM", 143), ("closed", 0)])
def test_two_workers_end_in_one_line_and_leave_nothing(several: Several, tmp_path: Path, how: str, code: int) -> None:
    places = {"MEMORY_DATABASE": f"{several.settings.database}-{code}", "MEMORY_LLM": "offline"}
    places["TMPDIR"] = str(tmp_path / ("long" * 20))  # no socket has so long a name
    Path(places["TMPDIR"]).mkdir()
    command = ["-m", "memory_system", "serve", "--workers", "2", "--port", str(free_port())]
    with on_a_terminal(sys.executable, *command, **places) as terminal:
        terminal.read("stops it.\n")
        before = terminal.shown
        assert len(before.splitlines()) == 1
        terminal.stop(how)
        assert terminal.end() == code, terminal.shown
        if how != "closed":
            assert terminal.shown.removeprefix(before) == ("^C\nStopped.\n" if how == "Ctrl+C" else "Stopped.\n")
    assert list(Path(places["TMPDIR"]).iterdir()) == []


def test_where_several_workers_cannot_be_it_is_said_in_a_sentence(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers.refuse_workers(2, settings)
    with pytest.raises(InvalidParameter, match="by itself"):
        workers.refuse_workers(2, settings.model_copy(update={"store": "memory"}))
    monkeypatch.setattr(sys, "platform", "win32")
    workers.refuse_workers(1, settings)
    with pytest.raises(InvalidParameter, match="need Linux or macOS"):
        workers.refuse_workers(2, settings)


def test_where_nothing_can_be_forked_from_a_worker_is_started_by_itself(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways = []

    def begun(_self: object, way: str) -> None:
        ways.append(way)
        if way == "forkserver":
            raise FileNotFoundError("somebody tidied up")

    monkeypatch.setattr(workers._Worker, "_start", begun)
    workers._Worker(workers._WorkerArguments(True, settings, "", tmp_path), []).start()
    assert ways == ["forkserver", "spawn"]


def test_a_signal_that_comes_while_a_worker_is_started_is_heeded_afterwards() -> None:
    came: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _frame: came.append(number))
    try:
        with workers._signals_held_back():
            os.kill(os.getpid(), signal.SIGTERM)
            assert came == []
        until(lambda: came == [signal.SIGTERM])  # another thread may be the one that it comes to, and that in a moment
    finally:
        signal.signal(signal.SIGTERM, before)
