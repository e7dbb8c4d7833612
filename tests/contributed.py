"""The packages of CONTRIBUTING, as printed there, installed into a folder that is on the path."""

from __future__ import annotations

import re
from pathlib import Path

from tests.joining import install

TEXT = (Path(__file__).resolve().parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
_BLOCK = re.compile(
    r"^```python\n# \[project\.entry-points\.\"([\w.]+)\"\]\n# (\w+) = \"(\w+):(\w+)\"\n(.+?)^```",
    re.MULTILINE | re.DOTALL,
)
BLOCKS = {match[2]: match for match in _BLOCK.finditer(TEXT)}
"""The packages, by the name used to choose them."""


def install_contributed(folder: Path, name: str) -> None:
    """Install one of them."""
    group, _, module, made, source = BLOCKS[name].groups()
    install(folder, module, source, {group: f"{name} = {module}:{made}"})
