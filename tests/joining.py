"""A package from elsewhere that joins by entry points: installed into the test's own folder, as pip would."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def install(folder: Path, name: str, source: str, entry_points: Mapping[str, str]) -> None:
    """Put a module and its metadata into a folder that is on the path.

    Args:
        folder: a folder on the path.
        name: the name of the package and of its module.
        source: the source of the module.
        entry_points: what makes it known, such as ``{"memory_system.embedders": "hashing = hashing:make"}``.
    """
    (folder / f"{name}.py").write_text(source, encoding="utf-8")
    metadata = folder / f"{name}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    sections = "\n".join(f"[{group}]\n{point}" for group, point in entry_points.items())
    (metadata / "entry_points.txt").write_text(f"{sections}\n", encoding="utf-8")
