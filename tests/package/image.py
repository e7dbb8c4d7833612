"""The steps of the Dockerfile, carried out in a folder of this machine."""

from __future__ import annotations

import fnmatch
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

from dockerfile_parse import DockerfileParser

from tests.conftest import ROOT
from tests.package.building import copied
from tools.setup import quick_settings

PATHS = ("/src", "/wheels", "/data", "/model")
"""The folders of the image that its steps use."""
SECONDS = 1800
"""Long enough for any load."""


def steps() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile with their values, in order."""
    parser = DockerfileParser(path=str(ROOT / "Dockerfile"), cache_content=True)
    return [(one["instruction"], one["value"]) for one in parser.structure if one["instruction"] != "COMMENT"]


def last(instruction: str) -> str:
    return next(value for name, value in reversed(steps()) if name == instruction)


def sent(folder: Path) -> None:
    """Remove from a copy of the checkout what ``.dockerignore`` excludes; the last matching pattern decides."""
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


def _kept_packages() -> str:
    """The folder of this machine's pip for downloads."""
    asked = [sys.executable, "-m", "pip", "cache", "dir", "--disable-pip-version-check"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


class Container:
    """The image's steps, carried out in a folder of this machine, with its own Python environment.

    Args:
        root: the folder.
        build: whether to carry out the steps; if not, that was done before.
    """

    def __init__(self, root: Path, *, build: bool = False) -> None:
        self.root = root
        self.folder = root
        shims = root / "shims"
        kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "TMPDIR"))}
        self.environment = (
            kept
            | quick_settings(sys.executable)
            | {
                "PATH": f"{shims}:{root / 'python' / 'bin'}:{os.defpath}",
                "HOME": str(root / "home"),
                "PIP_NO_COMPILE": "1",  # little of what is installed is imported
                "PIP_CACHE_DIR": _kept_packages(),  # instead of that in HOME, which is empty
                "UV_CACHE_DIR": os.environ.get("UV_CACHE_DIR", str(Path.home() / ".cache" / "uv")),
            }
        )
        if build:
            venv.create(root / "python", with_pip=True)
            (root / "home").mkdir()
            shims.mkdir()
            for name in ("useradd", "chown"):  # for root, and not for this machine
                (shims / name).write_text("#!/bin/sh\n")
                (shims / name).chmod(0o755)
        for name, value in steps():
            if name == "WORKDIR":
                self.folder = Path(self._inside(value))
                self.folder.mkdir(exist_ok=True)
            elif name == "ENV":
                self.environment |= dict(re.findall(r"(\w+)=(\S+)", self._inside(value)))
            elif build and name == "COPY" and value == ". .":
                copied(self.folder / "checkout")
                sent(self.folder / "checkout")
                for path in (self.folder / "checkout").iterdir():
                    path.rename(self.folder / path.name)
            elif build and name == "RUN":
                self._shell(re.sub("--(no-cache-dir|no-cache|compile-bytecode) ", "", self._inside(value)))

    def _inside(self, text: str) -> str:
        """A text with the image's folders replaced by this machine's."""
        for path in PATHS:
            text = re.sub(rf"{path}(?=[/\s\"']|$)", str(self.root) + path, text)
        return text

    def _shell(self, line: str) -> None:
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
