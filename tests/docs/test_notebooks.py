"""The notebooks of examples/ run as their readers run them: cell by cell, in a kernel of their own, offline."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.conftest import ROOT

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
SECONDS = 600
"""Long enough for any load."""


def test_there_are_three_and_no_output_is_kept_in_them() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["a_cast_that_talks", "first_memories", "tune_and_evaluate"]
    for path in NOTEBOOKS:
        cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        assert cells
        assert not [cell for cell in cells if cell.outputs or cell.execution_count], f"{path.name}: clear its outputs"


@pytest.mark.full
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_its_first_cell_to_its_last(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))))
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=SECONDS, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [one for cell in notebook.cells if cell.cell_type == "code" for one in cell.outputs]
    said = "".join(one.get("text", "") for one in outputs)
    assert len(said) > 200
    assert "Traceback" not in said
    assert not [one for one in outputs if one.get("name") == "stderr"]
