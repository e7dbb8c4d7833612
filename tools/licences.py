#!/usr/bin/env python3
"""The licences of everything that this runs on, from the packages' own metadata, as docs/licences.md.

    .venv/bin/python tools/licences.py

Lists what requirements.txt and requirements-dev.txt name, with their reasons, and what those depend on.
"""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "licences.md"
FILES = {"requirements.txt": "What runs the product", "requirements-dev.txt": "What tests and checks it"}
_SPDX = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
_SHORT = {
    "3-clause bsd license": "BSD-3-Clause",
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license version 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "isc license": "ISC",
    "mit license": "MIT",
}
_TEXTS = {"MIT License": "MIT", "Apache License": "Apache-2.0", "Permission is hereby granted, free of charge": "MIT"}
"""The beginnings of licence texts, for packages whose metadata names none."""

_ABOUT = (
    "The licences of everything that this project runs on, according to the packages' own metadata. `make licences`",
    "rewrites this page; a test compares it with requirements.txt. This project is under the MIT licence, the weights",
    "of all-MiniLM-L6-v2 under Apache-2.0. Nothing here is under the GPL, and nothing is modified or shipped with",
    "this project: all of it is installed from the package index.",
)


def asked(file: str) -> dict[str, tuple[Requirement, str]]:
    """The packages that a requirements file names, with the reason next to each."""
    found = {}
    for line in (ROOT / file).read_text(encoding="utf-8").splitlines():
        words, _, reason = line.partition("#")
        if words.strip() and not words.startswith("-"):
            requirement = Requirement(words.strip())
            found[plain(requirement.name)] = (requirement, reason.strip())
    return found


def plain(name: str) -> str:
    """A package's name as normalised by all indexes."""
    return re.sub(r"[-_.]+", "-", name).lower()


def licence(name: str) -> str:
    """The licence of an installed package, by its SPDX name if it can be determined."""
    told = importlib.metadata.distribution(name).metadata
    if expression := told.get("License-Expression"):
        return str(expression)
    marks = (
        str(one).rpartition("::")[2].strip() for one in told.get_all("Classifier") or () if "License ::" in str(one)
    )
    if known := sorted({_SPDX[mark] for mark in marks if mark in _SPDX}):
        return " AND ".join(known)
    words = " ".join(str(told.get("License") or "").split())
    if words and len(words) < 60:
        return _SHORT.get(words.lower(), words)
    return next(_by_text(name), "not told in its metadata")


def _by_text(name: str) -> Iterator[str]:
    for file in importlib.metadata.distribution(name).files or ():
        if file.name.upper().startswith(("LICENSE", "LICENCE", "COPYING")):
            text = file.read_text()
            yield from (spdx for words, spdx in _TEXTS.items() if words in text[:2000])


def beneath(names: list[str]) -> list[str]:
    """What the packages depend on, directly or not, if installed, without the packages themselves."""
    found, left = set(names), list(names)
    while left:
        for line in importlib.metadata.distribution(left.pop()).requires or ():
            needed = Requirement(line)
            if needed.marker is not None and not needed.marker.evaluate({"extra": ""}):
                continue
            name = plain(needed.name)
            if name not in found and _installed(name):
                found.add(name)
                left.append(name)
    return sorted(found - set(names))


def _installed(name: str) -> bool:
    try:
        importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def page() -> str:
    """The page, in Markdown."""
    lines = ["# Licences", "", *_ABOUT]
    told: set[str] = set()
    for file, title in FILES.items():
        named = {name: held for name, held in asked(file).items() if _installed(name)}
        lines += ["", f"## {title}", "", "| package | range | licence | why |", "|---|---|---|---|"]
        lines += [
            f"| {name} | `{requirement.specifier}` | {licence(name)} | {reason} |"
            for name, (requirement, reason) in sorted(named.items())
        ]
        told |= set(named)
        below = [name for name in beneath(sorted(named)) if name not in told]
        told |= set(below)
        lines += ["", "What these need:", "", "| package | licence |", "|---|---|"]
        lines += [f"| {name} | {licence(name)} |" for name in below]
    sharing = [name for name in sorted(told) if re.search("MPL|LGPL", licence(name))]
    lines += [
        "",
        f"If you change a file of {', '.join(sharing)} itself and pass it on, you have to publish that change.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"Written: {PAGE.relative_to(ROOT)}")
