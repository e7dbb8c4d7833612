"""The files that pages offer: who gets them, as of which moment, and what is said where there is none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.testclient import TestClient

from dashboard.components import exporting, material
from dashboard.server import downloads
from dashboard.server.downloads import BACKUP, EXPORT, JUDGMENTS, link
from dashboard.server.visitors import COOKIE, Visitors
from memory_system import AgentMemory, Settings, World
from memory_system.maintenance import backup
from memory_system.operations.exporting import Form
from memory_system.world.auth import Door
from tests import materials

PASSWORD, VIEWERS = "a long password of one's own", "another one for those who look"


@pytest.fixture
def visitors(settings: Settings) -> Visitors:
    locked = {"password": SecretStr(PASSWORD), "viewer_password": SecretStr(VIEWERS)}
    return Visitors(Door.of_dashboard(settings.model_copy(update=locked)))


@pytest.fixture
def client(world: World, visitors: Visitors) -> Iterator[TestClient]:
    with TestClient(Starlette(routes=downloads.routes(lambda: world, visitors))) as opened:
        yield opened


def cookie(visitors: Visitors, password: str) -> dict[str, str]:
    return {"cookie": f"{COOKIE}={visitors.sign_in(password, 'here')}"}


def test_a_curator_takes_a_backup_away_and_a_viewer_does_not(
    client: TestClient, visitors: Visitors, world: World, agent: AgentMemory
) -> None:
    agent.add_short_term({"document": "The mill wheel stopped."})
    made = backup.make(world)
    assert made is not None
    address = link(BACKUP, file=made.path.name)
    answer = client.get(address, headers=cookie(visitors, PASSWORD))
    assert (answer.status_code, answer.content) == (200, made.path.read_bytes())
    assert answer.headers["content-disposition"] == f"attachment; filename*=utf-8''{quote(made.path.name)}"
    for headers in (cookie(visitors, VIEWERS), {}):
        refused = client.get(address, headers=headers)
        assert (refused.status_code, refused.text) == (403, "Viewers cannot download backups: sign in as a curator.")


def test_a_character_is_taken_away_in_every_form_that_its_page_offers_as_it_was_then(
    client: TestClient, visitors: Visitors, agent: AgentMemory
) -> None:
    agent.add_short_term({"document": "Ana hid the key of the mill."})
    then = agent.revision
    agent.add_short_term({"document": "Ana lost the key of the mill."})
    headers, before = cookie(visitors, VIEWERS), agent.stamp
    assert set(exporting.FORMS) == set(Form)
    for form in exporting.FORMS:
        answer = client.get(link(EXPORT, agent=agent.name, form=str(form)), headers=headers)
        assert answer.content == agent.export_as(form).content
        assert answer.headers["content-disposition"] == f"attachment; filename*=utf-8''mira.{form}"
    address = link(EXPORT, agent=agent.name, form="dossier.md", revision=str(then))
    told = client.get(address, headers=headers).text
    assert ("hid the key" in told, "lost the key" in told) == (True, False)
    assert client.get(link(EXPORT, agent=agent.name, form="docx"), headers=headers).status_code == 422
    assert agent.stamp == before


@pytest.mark.parametrize("name", ["", "gone.zip", "../journal.sqlite3", "/etc/passwd", "a\0b"])
def test_no_file_but_a_backup_of_the_backup_folder_is_handed_out(
    name: str, client: TestClient, visitors: Visitors, world: World
) -> None:
    world.settings.backup_folder.mkdir(parents=True)
    (world.settings.backup_folder.parent / "journal.sqlite3").write_text("a secret")
    answer = client.get(link(BACKUP, file=name), headers=cookie(visitors, PASSWORD))
    assert answer.status_code == 404
    assert "in the server's backup folder" in answer.text


def test_judgments_are_those_of_the_moment_in_the_link(
    client: TestClient, visitors: Visitors, agent: AgentMemory
) -> None:
    first = agent.add_short_term({"document": "Ana hid the key of the mill."}).outcomes[0].entry.id
    agent.judge("Who has the key?", first, True)
    then = agent.stamp[0]
    agent.judge("Who has the lamp?", first, False)
    headers = cookie(visitors, VIEWERS)

    def cues(**moment: str) -> list[str]:
        answer = client.get(link(JUDGMENTS, agent=agent.name, **moment), headers=headers)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-disposition"] == f'attachment; filename="{agent.name}-judgments.jsonl"'
        return [line["cue"] for line in map(json.loads, answer.text.splitlines()) if "cue" in line]

    assert cues() == ["Who has the key?", "Who has the lamp?"]
    assert cues(revision=str(then)) == ["Who has the key?"]
    for names, status in (({"agent": "nobody"}, 404), ({"agent": agent.name, "revision": "soon"}, 422)):
        assert client.get(link(JUDGMENTS, **names), headers=headers).status_code == status


def test_what_is_left_out_can_be_downloaded_by_who_has_its_address(client: TestClient, agent: AgentMemory) -> None:
    text = material.left_out(agent.read_material(materials.LANGCHAIN.replace("broken", "=broken")).dropped)
    address = downloads.offered(text, "left-out.csv")
    assert address == downloads.offered(text, "left-out.csv")
    got = client.get(address)
    assert got.text.splitlines()[0] == "where,why,text"
    assert "line 2" in got.text
    assert "attachment" in got.headers["content-disposition"]
    assert client.get(downloads.link(downloads.OFFERED, of="other")).status_code == 404
