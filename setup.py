"""The part of the package that pyproject.toml cannot say.

The packages are found, the extras are read from the headings of requirements.txt, and the files that ship from the top
of the checkout are put into the wheel, where ``memory_system/core/shipped.py`` finds them.
"""

import re
from pathlib import Path

from setuptools import find_namespace_packages, setup

TOP = Path(__file__).parent
HEADING = re.compile(r"# \[(?P<name>[a-z]+)\](?:, with \[(?P<also>[a-z]+)\])?")
SHIPPED = {"agent_personalities": "agent_personalities", "samples": "database/samples"}
"""Folders of the wheel's ``memory_system/_shipped``, and of the checkout."""


def requirements() -> dict[str, list[str]]:
    """The lines of requirements.txt by the extra under whose heading they stand; those above all headings under ""."""
    found: dict[str, list[str]] = {"": []}
    name = ""
    for line in (TOP / "requirements.txt").read_text(encoding="utf-8").splitlines():
        if heading := HEADING.match(line):
            name, also = heading["name"], heading["also"]
            found[name] = list(found[also]) if also else []
        elif wanted := line.partition("#")[0].strip():
            found[name].append(wanted)
    return found


needed = requirements()
core = needed.pop("")
inside = {
    ".".join(("memory_system._shipped", name, *path.relative_to(TOP / folder).parts)): str(path.relative_to(TOP))
    for name, folder in SHIPPED.items()
    for path in (TOP / folder, *(TOP / folder).rglob("*"))
    if path.is_dir()
}
setup(
    packages=[
        *find_namespace_packages(include=["memory_system*", "dashboard*"], exclude=["*.__pycache__"]),
        *inside,
    ],
    package_dir=inside,
    package_data={"": ["*", ".streamlit/config.toml"]},
    exclude_package_data={"": ["README.md", "*.py[cod]"]},
    install_requires=core,
    extras_require=needed | {"all": sorted({line for lines in needed.values() for line in lines})},
)
