"""Dockerfile and compose file, as far as they can be tried without Docker: read, and their steps carried out."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from dockerfile_parse import DockerfileParser

from memory_system import Settings
from tests.conftest import ROOT
from tests.package.building import copied
from tests.running import free_port
from tests.waiting import LAST_RESORT

PATHS = ("/src", "/wheels", "/data", "/model")
"""The folders of the image that its steps use."""
SECRETS = {"MEMORY_PASSWORD": "a long password", "MEMORY_TOKEN": "a token of sixteen"}
SECONDS = 1800


def steps() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile with their values, in order."""
    parser = DockerfileParser(path=str(ROOT / "Dockerfile"), cache_content=True)
    return [(one["instruction"], one["value"]) for one in parser.structure if one["instruction"] != "COMMENT"]


def last(instruction: str) -> str:
    return next(value for name, value in reversed(steps()) if name == instruction)


def sent(folder: Path) -> None:
    """Remove from a copy of the checkout what ``.dockerignore`` does not send; the last pattern that fits decides."""
    patterns = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    for path in sorted(folder.rglob("*"), reverse=True):
        parts = path.relative_to(folder).parts
        beginnings = ["/".join(parts[: count + 1]) for count in range(len(parts))]
        left_out = False
        for pattern in patterns:
            plain = pattern.removeprefix("!").replace("**/", "*")
            depth = 0 if "**" in pattern else plain.count("/") + 1
            tried = beginnings if not depth else beginnings[depth - 1 : depth]
            if any(fnmatch.fnmatchcase(one, plain) for one in tried):
                left_out = not pattern.startswith("!")
        if left_out and path.is_file():
            path.unlink()


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


@dataclass
class Container:
    """The image's steps, carried out in a folder of this machine, whose Python is an environment of its own."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)

    def inside(self, text: str) -> str:
        """A text whose folders of the image are this machine's."""
        for path in PATHS:
            text = re.sub(rf"{path}(?=[/\s\"']|$)", str(self.root) + path, text)
        return text

    def shell(self, line: str) -> None:
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout[-1000:]}{done.stderr[-2000:]}"

    def build(self) -> None:
        """Carry out every step."""
        venv.create(self.root / "python", with_pip=True)
        shims = self.root / "shims"
        shims.mkdir()
        for name in ("useradd", "chown"):  # root's, and nothing of this machine's
            (shims / name).write_text("#!/bin/sh\n")
            (shims / name).chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "TMPDIR"))}
        self.environment = kept | {
            "PATH": f"{shims}:{self.root / 'python' / 'bin'}:{os.defpath}",
            "HOME": str(self.root / "home"),
        }
        (self.root / "home").mkdir()
        self.folder = self.root
        for name, value in steps():
            if name == "WORKDIR":
                self.folder = Path(self.inside(value))
                self.folder.mkdir(exist_ok=True)
            elif name == "COPY" and value == ". .":
                copied(self.folder / "checkout")
                sent(self.folder / "checkout")
                for path in (self.folder / "checkout").iterdir():
                    path.rename(self.folder / path.name)
            elif name == "ENV":
                self.environment |= dict(re.findall(r"(\w+)=(\S+)", self.inside(value)))
            elif name == "RUN":
                self.shell(self.inside(value).replace("--no-cache-dir ", ""))


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> Container:
    if shutil.which("sh") is None or os.name != "posix":
        pytest.skip("The steps are those of a POSIX shell.")
    made = Container(tmp_path_factory.mktemp("image"))
    made.build()
    return made


@pytest.fixture
def served(container: Container) -> Iterator[tuple[subprocess.Popen[bytes], dict[str, str], Path]]:
    ports = str(free_port()), str(free_port())
    environment = container.environment | SECRETS | {"MEMORY_DASHBOARD_PORT": ports[0], "MEMORY_API_PORT": ports[1]}
    command = json.loads(last("CMD"))
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
