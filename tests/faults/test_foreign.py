"""A stranger's database, whose embedding function runs code as soon as it is built: refused before anything is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import programs
from tests.conftest import PERSONALITY
from tests.faults.conftest import Counted

STRANGER = """
import sys
import numpy as np
import chromadb
from chromadb.utils.embedding_functions import register_embedding_function

@register_embedding_function
class Opens(chromadb.EmbeddingFunction):
    def __init__(self): pass
    def __call__(self, input): return [np.zeros(384, np.float32) for _ in input]
    @staticmethod
    def name(): return "opens"
    @staticmethod
    def build_from_config(config):
        open(sys.argv[2], "a").close()
        return Opens()
    def get_config(self): return {}
    def default_space(self): return "l2"
    def supported_spaces(self): return ["l2"]
"""
MAKES = """
made = chromadb.PersistentClient(sys.argv[1]).create_collection(sys.argv[3], embedding_function=Opens())
made.upsert(ids=["a"], documents=["mine"])
"""
OPENS = """
import json
from pathlib import Path
from memory_system import Settings, World
from memory_system.maintenance.doctor import examine
from memory_system.errors import ForeignStore
root = Path(sys.argv[1])
with World(Settings(database=root / "database", personalities=root / "personalities", llm="offline")) as world:
    told = [one.sentence for one in examine(world) if one.what == "index"]
    try:
        world.agent("mira").add_short_term({"document": "x", "rating": 1})
    except ForeignStore as error:
        print(json.dumps({"refused": error.sentence, "doctor": told}))
"""


def _ran(script: str, *arguments: str) -> str:
    return programs.run("-c", STRANGER + script, *arguments, check=True).stdout


def test_the_strangers_function_would_be_built_by_chroma_itself(tmp_path: Path) -> None:
    mark = tmp_path / "built"
    _ran(MAKES, str(tmp_path / "chroma"), str(mark), "stm")
    mark.unlink(missing_ok=True)
    asks = "chromadb.PersistentClient(sys.argv[1]).get_collection('stm').query(query_texts=['x'])"
    _ran(asks, str(tmp_path / "chroma"), str(mark))
    assert mark.exists(), "else the test below would prove nothing"


@pytest.mark.parametrize("tier", ["stm", pytest.param("static", marks=pytest.mark.long)])
def test_a_database_that_would_run_code_is_refused_before_anything_is_built(
    tmp_path: Path, counted: Counted, tier: str
) -> None:
    mark, folder = tmp_path / "built", tmp_path / "database/mem_test/mira"
    (tmp_path / "personalities").mkdir()
    (tmp_path / "personalities/mira.json").write_text(json.dumps(PERSONALITY), encoding="utf-8")
    _ran(MAKES, str(folder / "chroma"), str(mark), tier)
    mark.unlink(missing_ok=True)
    told = json.loads(_ran(OPENS, str(tmp_path), str(mark)))
    counted("a stranger's database that would run code")
    assert "embedding function 'opens', which was not built" in told["refused"]
    assert any("was not built" in sentence for sentence in told["doctor"])
    assert not mark.exists()
    assert (folder / "chroma/chroma.sqlite3").exists(), "it was left as it is"
