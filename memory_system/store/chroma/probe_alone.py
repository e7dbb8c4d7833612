"""Starts ``probe_child`` without the rest of the package, which it does not need, and whose import takes a second."""

from __future__ import annotations

import gc
import runpy
import sys
from pathlib import Path
from types import ModuleType

_HERE = Path(__file__).resolve()
_TOP = _HERE.parents[3]
_IN = _HERE.parent.relative_to(_TOP).parts


def main() -> None:
    """Run it in packages of which nothing has been imported; what it needs may lie beside them."""
    gc.disable()  # it ends in a moment, and all that it imports stays till then
    sys.path.insert(0, str(_TOP))
    for parts in (*(_IN[:depth] for depth in range(1, len(_IN) + 1)), (_IN[0], "core")):
        bare = ModuleType(".".join(parts))
        bare.__path__ = [str(_TOP.joinpath(*parts))]
        sys.modules[bare.__name__] = bare
    runpy.run_module(".".join([*_IN, "probe_child"]), run_name="__main__", alter_sys=False)


if __name__ == "__main__":
    main()
