"""The HTTP API against its own description: whatever is sent, it never breaks, and never answers what is not told."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import hypothesis
import pytest
import schemathesis
from fastapi.routing import iter_route_contexts
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from memory_system import Settings, Tier, World
from memory_system.conversation import Conversation, load_document
from memory_system.conversation.documents import documents
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.interfaces.api import create_app
from tests.conftest import NOW, PERSONALITY

ENDLESS = "/v1/agents/{name}/changes"
"""It answers until the listener leaves; tested by itself."""
EXAMPLES = 8
THOROUGH = ("/v1/doctor", "/v1/doctor/repair", "/v1/backups", "/v1/backups/{file}/restore")
"""What takes seconds for each agent of a world, and takes next to nothing that could be made up."""
CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
)


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Iterator[World]:
    """A world with a character who remembers a little."""
    root: Path = tmp_path_factory.mktemp("described")
    settings = Settings(database=root / "database", personalities=root / "personalities", llm="offline")
    with World(settings, embedder=embedder) as opened:
        opened.stand_at(NOW)
        mira = opened.create_agent("mira", json.dumps(PERSONALITY))
        mira.add_short_term([{"document": f"Number {n} of the loaves went to Tobias.", "rating": 5} for n in range(9)])
        Conversation.begin(mira, human="John").step("Who has the mill key?")
        load_document(mira, b"# Keys\n\nThe mill has one key.", name="keys.md")
        yield opened


@schemathesis.serializer("application/x-ndjson")
def as_they_come(_context: schemathesis.SerializationContext, value: object) -> bytes:
    """Whatever text was made up, as the lines of a stream."""
    return str(value).encode("utf-8", "surrogatepass")


def _unopened() -> World:
    raise AssertionError("to be described, a world need not be there")


OPERATIONS = sorted(
    (
        (method.lower(), str(route.path_format))
        for route in iter_route_contexts(create_app(_unopened).routes)  # the description takes seconds to be made
        if getattr(route, "include_in_schema", False) and route.path_format != ENDLESS
        for method in route.methods or ()
    ),
    key=lambda one: (one[1] not in THOROUGH, one[1]),  # first, as long as the world has one agent
)


@pytest.fixture(scope="module")
def description(lived_in: World) -> schemathesis.BaseSchema:
    """The API's description, with the app beneath it."""
    told = schemathesis.openapi.from_asgi("/openapi.json", create_app(lambda: lived_in))
    paths = told.raw_schema["paths"]
    assert {(method, path) for path in paths for method in paths[path]} - {("get", ENDLESS)} == set(OPERATIONS)
    return told


def there(world: World, wanted: Iterable[str]) -> dict[str, str]:
    """What stands in the place of names in an address: else hardly anything but 404 would be seen."""
    mira = world.agent("mira")
    found = {
        "name": "mira",
        "conversation": Conversation.all(mira)[0].id,
        "document": documents(mira)[0].id,
        "block": "human",
        "entry_id": mira.entries(Tier.STATIC)[0].id,
    }
    return {name: value for name, value in found.items() if name in wanted}


@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=lambda part: str(part))
def test_every_answer_is_one_that_the_description_tells(
    description: schemathesis.BaseSchema, lived_in: World, method: str, path: str
) -> None:
    @hypothesis.settings(
        max_examples=1 if path in THOROUGH else EXAMPLES,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
    )
    @hypothesis.given(case=description[path][method].as_strategy())
    def holds(case: schemathesis.Case) -> None:
        if method != "delete" and not path.endswith("/rename"):  # who is gone cannot be asked any more
            case.path_parameters.update(there(lived_in, case.path_parameters))
        case.call_and_validate(checks=CHECKS, headers={"Host": "localhost"})

    holds()
