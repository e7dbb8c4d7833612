"""How Streamlit is set up where the dashboard is served, wherever it is started from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import programs
from tests.conftest import ROOT

OPTIONS = """
import os, sys
os.chdir(sys.argv[1])
from unittest.mock import Mock
import streamlit
from starlette.testclient import TestClient
from dashboard import serve
from memory_system import Settings, World
from memory_system.interfaces.api.guard import Hosts

settings = Settings()
with TestClient(serve.dashboard(settings, Hosts.of(settings), Mock(World)).app) as browser:
    assert browser.get("/_stcore/health", headers={"host": "127.0.0.1"}).text == "ok"
    print(streamlit.get_option("runner.postScriptGC"), streamlit.get_option("theme.light.primaryColor"))
    first = browser.get("/overview?agent=mira", headers={"host": "127.0.0.1"}, follow_redirects=False)
    print(first.status_code, first.headers["location"])
"""
"""Serves the dashboard in a folder, and says two of its options: one that is slow otherwise, and a colour; then where
the name of the first page leads to."""


@pytest.mark.parametrize("place", ["checkout", "elsewhere", "another app's folder"])
def test_garbage_is_not_collected_after_each_run_wherever_it_is_started(place: str, tmp_path: Path) -> None:
    if place == "another app's folder":
        (tmp_path / ".streamlit").mkdir()
        (tmp_path / ".streamlit" / "config.toml").write_text("[runner]\npostScriptGC = true\n")
    folder = ROOT if place == "checkout" else tmp_path
    done = programs.run("-c", OPTIONS, str(folder))
    assert done.stdout.split() == ["False", "#005a8e", "307", "./?agent=mira"], done.stderr


IMPORTS = """
import importlib, pkgutil
import dashboard
from dashboard.serve import SCRIPTS

names = [module.name for module in pkgutil.walk_packages(dashboard.__path__, "dashboard.")]
for name in names:
    if not SCRIPTS.fullmatch(name):
        importlib.import_module(name)
print(*names)
"""


def test_whatever_of_the_dashboard_is_imported_without_a_server_says_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTS], cwd=ROOT, capture_output=True, text=True, check=False)
    assert {"dashboard.session", "dashboard.views.recall.why"} <= set(done.stdout.split()), done.stderr
    assert done.stderr == ""
