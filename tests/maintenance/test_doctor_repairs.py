"""What the doctor finds wrong with a store it can repair, whatever the store's closing note says."""

from __future__ import annotations

from memory_system import Settings, Tier, World
from memory_system.core import State
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.maintenance import doctor
from memory_system.store import shutdown_note
from memory_system.store.projection import Stores


def test_a_vector_that_another_version_wrote_before_it_closed_the_store_is_repaired(
    settings: Settings, embedder: CachedEmbedder
) -> None:
    with World(settings, embedder=embedder) as world:
        world.create_agent("ana").add_short_term([{"document": "Bought two fish", "id": "fish", "rating": 2}])
        folder = world.folder / "ana"
    note = shutdown_note.read(folder)
    assert note is not None
    stores = Stores(folder / "chroma")
    memory = stores.memories[Tier.STM]
    memory.upsert(memory.get(["fish"]), embedder.embed(["Another text"]))
    stores.close()
    shutdown_note.write(folder, note)
    with World(settings, embedder=embedder) as world:
        (found,) = (one for one in doctor.examine(world) if one.state is State.WRONG)
        assert "1 has another vector" in found.sentence
        assert State.REPAIRED in {one.state for one in doctor.examine(world, repair=True)}
        assert {one.state for one in doctor.examine(world)} <= {State.RIGHT, State.NOTE}
