"""Tables that the browser can save as CSV, and open in a spreadsheet, without any cell becoming a formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from memory_system.operations.importing import as_cell, from_cell


def as_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with texts that no spreadsheet treats as formulas, in lists too; everything else stays."""
    return _each_text(frame, as_cell)


def from_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """The table that ``as_cells`` was given, after somebody has edited it."""
    return _each_text(frame, from_cell)


def _each_text(frame: pd.DataFrame, change: Callable[[str], str]) -> pd.DataFrame:
    def changed(cell: Any) -> Any:
        if isinstance(cell, list):
            return [changed(item) for item in cell]
        return change(cell) if isinstance(cell, str) else cell

    texts = [name for name in frame.columns if any(isinstance(cell, str | list) for cell in frame[name])]
    return frame.assign(**{name: frame[name].map(changed) for name in texts}) if texts else frame
