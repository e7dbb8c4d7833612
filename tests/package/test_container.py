"""Dockerfile and compose file, as far as they can be tried without Docker: read, and their steps carried out."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from memory_system import Settings
from tests.conftest import ROOT
from tests.package.building import copied
from tests.package.image import SECONDS, Container, last, sent, steps
from tests.ports import free_port
from tests.waiting import LAST_RESORT

SECRETS = {"MEMORY_PASSWORD": "a long password", "MEMORY_TOKEN": "a token of sixteen"}


def test_the_image_is_slim_and_runs_as_nobody_in_particular_with_a_volume_and_a_health_check() -> None:
    names = [name for name, _ in steps()]
    assert all(value.split()[0].endswith("-slim") for name, value in steps() if name == "FROM")
    assert last("USER") == "memory"
    assert names.index("USER") < names.index("CMD"), "what is served is not served as root"
    assert last("VOLUME") == "/data"
    assert "/_stcore/health" in last("HEALTHCHECK")
    assert json.loads(last("CMD")) == ["memory-system", "run", "--no-browser"]
    secrets = [value for name, value in steps() if name in ("ENV", "ARG") and re.search("PASSWORD|TOKEN|KEY", value)]
    assert not secrets, "what is in an image can be read by whoever has it"


def test_docker_is_sent_what_the_wheel_is_built_from_and_nothing_else(wheel: Path, tmp_path: Path) -> None:
    folder = copied(tmp_path / "checkout")
    sent(folder)
    assert {path.name for path in folder.iterdir() if path.is_file()} == {
        "pyproject.toml", "setup.py", "requirements.txt", "MANIFEST.in", "README.md", "CHANGELOG.md", "LICENSE",
    }  # fmt: skip
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", "wheels", "."]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (made,) = (folder / "wheels").glob("*.whl")
    with zipfile.ZipFile(made) as here, zipfile.ZipFile(wheel) as there:
        assert sorted(here.namelist()) == sorted(there.namelist())


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    told: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    return told


def test_the_compose_file_hangs_together(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert {"memory", "chroma", "journals"} == set(services)
    for service in services.values():
        assert ("image" in service) != ("build" in service)
        assert "." not in service.get("image", "").partition("/")[0], "an image is named, and no host that keeps it"
        for volume in service["volumes"]:
            assert volume.partition(":")[0] in compose["volumes"]
        for port in service.get("ports", ()):
            assert port.startswith("127.0.0.1:"), "a proxy with TLS comes before it"
        for other, wanted in service.get("depends_on", {}).items():
            assert wanted["condition"] != "service_healthy" or "healthcheck" in services[other]
    known = {str(held.validation_alias) for held in Settings.model_fields.values()}
    told = services["memory"]["environment"]
    assert set(told) <= known
    assert told["MEMORY_CHROMA_URL"] == "http://chroma:8000"
    assert "@journals:5432/" in told["MEMORY_JOURNAL_URL"]


def test_no_secret_has_a_value_in_the_compose_file_and_a_missing_one_stops_it_with_a_sentence(
    compose: dict[str, Any],
) -> None:
    for service in compose["services"].values():
        for name, value in service.get("environment", {}).items():
            if re.search("PASSWORD|TOKEN|JOURNAL_URL", name):
                assert re.search(r"\$\{[A-Z_]+:\?set [^}]+\}", value), name


@pytest.fixture(scope="module")
def compose_demo() -> dict[str, Any]:
    told: dict[str, Any] = yaml.safe_load((ROOT / "compose.demo.yaml").read_text(encoding="utf-8"))
    return told


def test_the_demo_is_one_container_that_keeps_nothing_and_needs_no_secret(compose_demo: dict[str, Any]) -> None:
    (service,) = compose_demo["services"].values()
    assert service["command"] == ["memory-system", "demo", "--no-browser"]
    assert "volumes" not in service
    assert set(service["environment"]) == {"MEMORY_HOSTS"}
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])


@pytest.fixture(params=["run", "demo"])
def served(
    request: pytest.FixtureRequest, container: Container, compose_demo: dict[str, Any]
) -> Iterator[tuple[subprocess.Popen[bytes], dict[str, str], Path]]:
    """What the image runs with its secrets, and what the demo's container runs without any."""
    ports = str(free_port()), str(free_port())
    environment = container.environment | {"MEMORY_DASHBOARD_PORT": ports[0], "MEMORY_API_PORT": ports[1]}
    command = json.loads(last("CMD"))
    if request.param == "run":
        environment |= SECRETS
    else:
        command = compose_demo["services"]["demo"]["command"]
    log = container.root / "log.txt"
    with log.open("wb") as out:
        program = shutil.which(command[0], path=environment["PATH"])
        assert program is not None
        running = subprocess.Popen(
            [program, *command[1:]], cwd=container.folder, env=environment, stdout=out, stderr=out
        )
    yield running, environment, log
    if running.poll() is None:
        running.send_signal(signal.SIGTERM)
    running.wait(LAST_RESORT)


@pytest.mark.full
def test_the_steps_of_the_dockerfile_make_a_server_that_its_health_check_finds_well(
    container: Container, served: tuple[subprocess.Popen[bytes], dict[str, str], Path]
) -> None:
    running, environment, log = served
    check = json.loads(last("HEALTHCHECK").partition("CMD ")[2])
    check[-1] = check[-1].replace(":8501/", f":{environment['MEMORY_DASHBOARD_PORT']}/")
    program = shutil.which(check[0], path=environment["PATH"])
    assert program is not None
    until = time.monotonic() + SECONDS
    while subprocess.run([program, *check[1:]], env=environment, capture_output=True, check=False).returncode:
        assert running.poll() is None, log.read_text()
        assert time.monotonic() < until, log.read_text()
        time.sleep(1)
    if "MEMORY_TOKEN" in environment:
        assert (container.root / "data" / "database").is_dir(), "what is to be kept is in the volume"


@pytest.mark.full
def test_a_container_without_passwords_says_which_it_wants_and_ends(container: Container) -> None:
    program = shutil.which("memory-system", path=container.environment["PATH"])
    assert program is not None
    done = subprocess.run(
        [program, "run", "--no-browser"],
        cwd=container.folder,
        env=container.environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 1
    assert "MEMORY_PASSWORD" in done.stderr
    assert "Traceback" not in done.stderr
