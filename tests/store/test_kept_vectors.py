"""Vectors in a journal: rounded ones take half the room, and all come back as they were written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing

import numpy as np
import pytest
import sqlalchemy as sa

from memory_system import AgentMemory, Settings, Tier, World
from memory_system.core.memory import Vectors
from memory_system.errors import EmbedderError
from memory_system.store.journal.tables import VECTORS
from memory_system.store.journal.vectors import KeptVectors, content_hash, keep, rounded

EMBEDDER, WIDTH, SMOKE = "of these tests", 384, "Saw smoke over the north field"


def drawn(many: int) -> Vectors:
    """Unit vectors of random directions."""
    vectors = np.random.default_rng(7).standard_normal((many, WIDTH)).astype(np.float32)
    unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


@pytest.fixture
def db() -> Iterator[sa.Connection]:
    with sa.create_engine("sqlite://").connect() as connection:
        VECTORS.create(connection)
        yield connection


def of(db: sa.Connection, keys: list[str]) -> dict[str, Vectors]:
    """What a journal returns of these vectors."""
    return KeptVectors(lambda question, values: question.of(db, values), db.begin).of(keys, EMBEDDER)


def sizes(db: sa.Connection) -> set[int]:
    return {len(data) for (data,) in db.execute(sa.select(VECTORS.c.data))}


@pytest.mark.parametrize(
    ("vectors", "size"), [(drawn(300), 4 * WIDTH), (rounded(drawn(300)), 2 * WIDTH + 1)], ids=["as they are", "rounded"]
)
def test_what_was_written_comes_back_to_the_last_bit(db: sa.Connection, vectors: Vectors, size: int) -> None:
    keys = list(map(str, range(len(vectors))))
    keep(db, dict(zip(keys, vectors, strict=True)), EMBEDDER)
    assert sizes(db) == {size}
    assert np.array_equal(np.stack([of(db, keys)[key] for key in keys]), vectors)


def test_rounding_changes_hardly_anything_and_no_more_the_second_time() -> None:
    vectors = drawn(300)
    near = rounded(vectors)
    assert near.dtype == np.float32
    assert np.einsum("ij,ij->i", vectors, near, dtype=np.float64).min() > 0.999999
    assert np.abs(np.linalg.norm(near, axis=1) - 1).max() < 1e-6
    assert np.array_equal(rounded(near), near)


def test_a_vector_of_another_length_is_left_as_it_is() -> None:
    odd = np.array([[3.0, 4.0], [0.0, 0.0], [1e30, 0.1], [np.nan, 1.0]], np.float32)
    assert np.array_equal(rounded(odd), odd, equal_nan=True)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"h", b"ho", b"h\x00\x7c\x00\x00", b"h\x00\x00\x00\x00", b"h" + bytes(300), b"h" + bytes(301) + b"\x01",
        np.full(WIDTH, np.nan, "<f4").tobytes(), np.full(WIDTH, np.inf, "<f4").tobytes(), np.ones(9, "<f4").tobytes(),
    ],
)  # fmt: skip
def test_a_damaged_one_is_left_out(db: sa.Connection, data: bytes) -> None:
    good = rounded(drawn(2))
    keep(db, {"good": good[0], "too": good[1]}, EMBEDDER)
    db.execute(sa.insert(VECTORS), {"hash": "bad", "embedder": EMBEDDER, "data": data})
    assert of(db, ["good", "too", "bad"]).keys() == {"good", "too"}
    assert of(db, ["bad"]) == {}


class Counting:
    """An embedder of the reader's own, which was changed without another identity: it counts letters."""

    identity = "letters"

    def __init__(self, length: int) -> None:
        self.length = length

    def embed(self, texts: Sequence[str]) -> Vectors:
        made = np.full((len(texts), self.length), 0.1, np.float32)
        for row, text in enumerate(texts):
            made[row, len(text) % self.length] = 1
        unit: Vectors = made / np.linalg.norm(made, axis=1, keepdims=True)
        return unit


def test_an_embedder_that_was_changed_under_its_name_is_refused_and_changes_nothing(settings: Settings) -> None:
    with World(settings, embedder=Counting(64)) as world:
        world.create_agent("rosa").add_short_term({"document": SMOKE, "rating": 5})
    told = "'letters' makes vectors of 32 numbers, but those that were made under this name have 64"
    with World(settings, embedder=Counting(32)) as world:
        for act in (
            lambda rosa: rosa.query_memory("smoke"),
            lambda rosa: rosa.add_short_term({"document": "Baked bread", "rating": 5}),
            lambda rosa: rosa.save_cue("smoke", "Where was smoke?") and rosa.check_cues(),
        ):
            with pytest.raises(EmbedderError, match=told):
                act(world.agent("rosa"))
    with World(settings, embedder=Counting(64)) as world:
        assert [entry.document for entry in world.agent("rosa").entries(Tier.STM)] == [SMOKE]
        assert world.agent("rosa").query_memory("smoke").hits


def test_an_event_takes_half_the_room_and_one_of_an_earlier_version_is_still_read(world: World) -> None:
    agent = world.create_agent("rosa")
    agent.add_short_term([{"document": SMOKE, "id": "smoke", "rating": 5}])
    vector = vector_of(agent, "smoke")
    world.close()
    with closing(sqlite3.connect(world.folder / "rosa" / "journal.sqlite3")) as db, db:
        (written,) = db.execute("SELECT data FROM vectors WHERE hash = ?", (content_hash(SMOKE),)).fetchone()
        assert len(written) == 2 * len(vector) + 1
        earlier = (vector + np.float32(1e-6)).astype("<f4")
        db.execute("UPDATE vectors SET data = ? WHERE data = ?", (earlier.tobytes(), written))
    for table in (world.folder / "rosa").glob("*.table"):
        table.unlink()
    assert np.array_equal(vector_of(world.agent("rosa"), "smoke"), earlier)


def vector_of(agent: AgentMemory, entry_id: str) -> Vectors:
    """The vector that recall compares with a cue's."""
    return agent._context.held.tables[Tier.STM].vector(entry_id).copy()
