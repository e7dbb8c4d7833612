"""Another embedding model, another distance, a stranger's database: said plainly, nothing is done unasked."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from memory_system import AgentMemory, ChromaMemory, Tier, Verdict, World
from memory_system.embedding.embedder import Embedder
from memory_system.errors import EmbedderError, ForeignStore
from memory_system.store import ledger
from memory_system.store.chroma.files import embedding_function
from tests import programs

COUNT = 150


class Hashing:
    """Vectors from a hash of the text: fast, of any width, and it counts what it embeds."""

    def __init__(self, identity: str, width: int) -> None:
        self.identity = identity
        self._width = width
        self.embedded: list[str] = []
        self.fails_after: int | None = None

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        if self.fails_after is not None and len(self.embedded) >= self.fails_after:
            raise EmbedderError("The power is out.")
        self.embedded += texts
        rows = [hashlib.shake_256(f"{self.identity} {text}".encode()).digest(4 * self._width) for text in texts]
        vectors = np.array([np.frombuffer(row, "<u4") for row in rows], np.float64).reshape(-1, self._width) - 2**31
        unit: np.ndarray = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        return unit


@pytest.fixture
def other() -> Hashing:
    return Hashing("another-model", 96)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if more than 100 were many."""
    monkeypatch.setattr(ledger, "EMBEDDED_AT_ONCE", 100)


@pytest.fixture
def reopen(world: World, agent: AgentMemory) -> Callable[[Embedder], AgentMemory]:
    """The agent of 150 memories, made with one model and closed, opened with another."""
    world.close()
    opened: list[AgentMemory] = []

    def opening(embedder: Embedder) -> AgentMemory:
        for one in opened:
            one.close()
        one = AgentMemory(
            "mira",
            database=world.settings.database,
            personalities=world.settings.personalities,
            embedder=embedder,
            clock=world.clock,
        )
        opened.append(one)
        return one

    first = opening(Hashing("first-model", 64))
    first.add_short_term([{"document": f"event {n}", "id": f"m{n}", "rating": 5} for n in range(COUNT)])
    return opening


def _stored(world: World) -> dict[str, np.ndarray]:
    memory = ChromaMemory.at(world.folder / "mira" / "chroma")
    held = memory.snapshot()
    memory.close()
    return dict(zip((entry.id for entry in held.entries), held.vectors, strict=True))


def test_a_small_agent_changes_over_by_itself_and_says_so(
    world: World, reopen: Callable[[Embedder], AgentMemory], other: Hashing
) -> None:
    agent = reopen(other)
    assert "Vectors of another-model were made for " in agent.messages[0]
    assert agent.waiting_for_vectors == 0
    agent.close()
    assert {len(vector) for vector in _stored(world).values()} == {96}
    count = len(other.embedded)
    again = reopen(other)
    assert len(other.embedded) == count
    assert not any("vector of" in message for message in again.messages)


@pytest.mark.usefixtures("few")
def test_a_large_agent_opens_with_what_it_has_and_embeds_nothing_by_itself(
    world: World, reopen: Callable[[Embedder], AgentMemory], other: Hashing
) -> None:
    agent = reopen(other)
    assert other.embedded == []
    assert "were made with" in agent.messages[-1]
    assert "agent.reembed()" in agent.messages[-1]
    assert agent.waiting_for_vectors > COUNT
    found = agent.explain("event 7").candidates
    assert len(found) > COUNT
    assert {one.verdict for one in found} == {Verdict.NO_VECTOR}
    agent.add_short_term({"document": "a new event", "id": "new", "rating": 9})
    assert [hit.entry.id for hit in agent.query_memory("a new event", threshold=0.3, static_threshold=1)] == ["new"]
    agent.edit("m1", rating=9)
    agent.edit("m2", document="told otherwise")
    assert sorted(set(other.embedded)) == ["a new event", "event 7", "told otherwise"]
    agent.close()
    stored = _stored(world)
    assert len(stored["new"]) == 64
    assert not stored["new"].any()
    assert stored["m1"].any(), "the store keeps the vectors that it had"


def test_a_store_too_large_to_change_over_by_itself_says_that_it_holds_the_old_vectors(
    reopen: Callable[[Embedder], AgentMemory], other: Hashing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "CHANGED_OVER_AT_ONCE", 100)
    agent = reopen(other)
    assert agent.waiting_for_vectors == 0, "the journal has them all"
    assert "another-model is in use: Chroma still holds the old ones." in agent.messages[-1]
    assert agent.reembed().store_made_anew
    assert reopen(other).messages == ()


@pytest.mark.usefixtures("few")
def test_reembedding_tells_how_far_it_is_and_is_told_in_the_history(
    world: World, reopen: Callable[[Embedder], AgentMemory], other: Hashing
) -> None:
    agent = reopen(other)
    agent.add_short_term({"document": "a new event", "id": "new", "rating": 9})
    shares: list[float] = []
    done = agent.reembed(progress=lambda share, _doing: shares.append(share))
    assert (done.done, done.waiting, done.store_made_anew) == (True, 0, True)
    assert done.embedded >= COUNT
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0, 1)
    assert agent.waiting_for_vectors == 0
    (told,) = agent.history(1)
    assert (told.change_set.operation, told.change_set.changes) == ("reembed", ())
    assert agent.reembed().embedded == 0
    assert len(agent.history(10)) == told.revision, "doing nothing is not told"
    agent.close()
    assert {len(vector) for vector in _stored(world).values()} == {96}
    assert reopen(other).messages == ()
    assert list((world.folder / "mira").glob("chroma-*")) == []


@pytest.mark.usefixtures("few")
def test_reembedding_that_is_stopped_goes_on_where_it_was(
    reopen: Callable[[Embedder], AgentMemory], other: Hashing
) -> None:
    agent = reopen(other)
    stopped = agent.reembed(cancelled=lambda: len(other.embedded) >= 64)
    assert (stopped.embedded, stopped.done, stopped.store_made_anew) == (64, False, False)
    other.fails_after = 128
    with pytest.raises(EmbedderError, match="power"):
        agent.reembed()
    other.fails_after = None
    again = reopen(other)
    assert again.reembed().done
    texts = {entry.document for tier in Tier for entry in again.entries(tier)}
    assert sorted(other.embedded) == sorted(texts), "each was embedded once"


@pytest.mark.usefixtures("few")
def test_another_who_holds_the_agent_sees_the_new_vectors(
    world: World, reopen: Callable[[Embedder], AgentMemory], other: Hashing
) -> None:
    agent = reopen(other)
    with AgentMemory(
        "mira", database=world.settings.database, personalities=world.settings.personalities, embedder=other
    ) as beside:
        agent.reembed()
        assert beside.waiting_for_vectors == 0


@pytest.mark.usefixtures("few")
def test_going_back_to_the_first_model_needs_only_what_came_since(
    reopen: Callable[[Embedder], AgentMemory], other: Hashing
) -> None:
    agent = reopen(other)
    agent.add_short_term({"document": "a new event", "id": "new", "rating": 9})
    first = Hashing("first-model", 64)
    back = reopen(first)
    assert first.embedded == ["a new event"]
    assert back.waiting_for_vectors == 0
    assert reopen(first).messages == ()


def test_the_past_is_looked_at_without_embedding_anything(
    reopen: Callable[[Embedder], AgentMemory], other: Hashing
) -> None:
    first = reopen(Hashing("first-model", 64))
    first.edit("m1", document="what it said for a while")
    first.forget(["m2", "m3"])
    first.edit("m1", document="event 1")
    then = first.stamp[0] - 2
    agent = reopen(other)
    embedded = list(other.embedded)
    assert "event 2" not in embedded
    view = agent.as_of(revision=then)
    found = view.explain("event 2", 5, 0).candidates
    assert other.embedded == [*embedded, "event 2"], "the cue alone"
    assert view.find("m1").document == "what it said for a while"  # type: ignore[union-attr]
    told = {entry_id: found.of(entry_id) for entry_id in ("m1", "m2", "m3", "m4")}
    assert [one.verdict is Verdict.NO_VECTOR for one in told.values() if one] == [True, True, True, False]
    assert view.waiting_for_vectors == 3
    assert agent.as_of(revision=then - 1).waiting_for_vectors == 2


# -- other stores --------------------------------------------------------------------------------------


def _change(world: World, change: Callable[[str], str]) -> None:
    """Change what Chroma's database says of a collection, in a process that does not use Chroma."""
    path = world.folder / "mira" / "chroma" / "chroma.sqlite3"
    with sqlite3.connect(path) as db:
        (schema,) = db.execute("SELECT schema_str FROM collections WHERE name = 'stm'").fetchone()
        db.execute("UPDATE collections SET schema_str = ? WHERE name = 'stm'", (change(schema),))
    db.close()


TO_COSINE = """
import sys, chromadb
client = chromadb.PersistentClient(sys.argv[1])
held = client.get_collection("stm", embedding_function=None).get(include=["documents", "metadatas", "embeddings"])
client.delete_collection("stm")
made = client.create_collection("stm", embedding_function=None, configuration={"hnsw": {"space": "cosine"}})
made.add(**{key: held[key] for key in ("ids", "documents", "metadatas", "embeddings")})
"""


def test_a_store_of_another_distance_is_said_and_made_anew_when_wanted(
    world: World, reopen: Callable[[Embedder], AgentMemory]
) -> None:
    model = Hashing("first-model", 64)
    reopen(model).close()
    programs.run("-c", TO_COSINE, str(world.folder / "mira" / "chroma"), check=True)
    again = reopen(model)
    assert any("ranks by the distance 'cosine' instead of 'l2'" in message for message in again.messages)
    assert len(again.query_memory("event 3")) > 0
    assert again.reembed().store_made_anew
    assert reopen(model).messages == ()


FORMS: dict[str, object] = {
    "known": {
        "type": "known",
        "name": "sentence_transformer",
        "config": {"model_name": "x", "kwargs": {"trust_remote_code": True}},
    },
    "known, over HTTP": {"type": "known", "name": "ollama", "config": {"url": "http://127.0.0.1:1", "model_name": "x"}},
    "without a type": {"name": "onnx_mini_lm_l6_v2", "config": {}},
    "a name alone": "openai",
    "legacy with a configuration": {"type": "legacy", "name": "x", "config": {"a": 1}},
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_no_stored_embedding_function_is_built(form: object) -> None:
    assert embedding_function({"embedding_function": form}, None)
    assert embedding_function(None, {"keys": {"k": {"sparse_vector": {"config": {"embedding_function": form}}}}})


def test_no_embedding_function_is_no_reason_to_refuse() -> None:
    nothing = {"defaults": [{"embedding_function": {"type": "unknown"}}, {"embedding_function": None}]}
    assert embedding_function({"hnsw": {"space": "l2"}}, nothing) is None
    assert embedding_function({"embedding_function": {"type": "legacy"}}, None) is None


BUILDS = """
import sys
from chromadb.utils import embedding_functions as functions
def built(*_, **__):
    open({mark!r}, "w").close()
    raise SystemExit("built")
for one in functions.known_embedding_functions.values():
    one.build_from_config = staticmethod(built)
from memory_system import AgentMemory
from memory_system.errors import ForeignStore
try:
    AgentMemory("mira", database={database!r}, personalities={personalities!r}).add_short_term(
        {{"document": "x", "rating": 1}})
except ForeignStore as error:
    print(error)
    sys.exit(7)
"""


@pytest.mark.parametrize("where", ["dense", "sparse"])
def test_a_foreign_database_is_refused_before_anything_is_built(
    world: World, agent: AgentMemory, tmp_path: Path, where: str
) -> None:
    agent.add_short_term({"document": "event", "rating": 5})
    world.close()
    known = '{"type":"known","name":"onnx_mini_lm_l6_v2","config":{}}'
    old = '{"type":"legacy"}' if where == "dense" else '{"type":"unknown"}'
    _change(world, lambda schema: schema.replace(f'"embedding_function":{old}', f'"embedding_function":{known}'))
    before = (world.folder / "mira" / "journal.sqlite3").read_bytes()
    script = BUILDS.format(
        mark=str(tmp_path / "built"),
        database=str(world.settings.database),
        personalities=str(world.settings.personalities),
    )
    done = programs.run("-c", script)
    assert done.returncode == 7, done.stderr
    assert "embedding function 'onnx_mini_lm_l6_v2'" in done.stdout
    assert not (tmp_path / "built").exists()
    with pytest.raises(ForeignStore, match="was not built"):
        world.agent("mira")
    assert (world.folder / "mira" / "journal.sqlite3").read_bytes() == before
