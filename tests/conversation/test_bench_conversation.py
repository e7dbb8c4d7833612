"""The benchmark of conversations: its facts are told once each, and it measures what it says."""

from __future__ import annotations

import sys

import pytest

from benchmarks import conversation


def test_every_fact_and_every_question_is_of_one_turn() -> None:
    told = conversation.facts(12_000)
    assert len({fact.told for fact in told}) == 12_000
    for way in told[0].questions:
        assert len({fact.questions[way] for fact in told}) == 12_000


def test_a_short_run_prints_every_tenth_and_what_is_found_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["conversation", "--tokens", "2500", "--turns", "0"])
    conversation.main()
    rows = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    turns = [row for row in rows if len(row) == 8][1:]
    assert len(turns) == 10
    assert all(int(row[2].replace(",", "")) <= 2000 for row in turns)
    found = [row for row in rows if len(row) == 3][1:]
    assert len(found) == 3
    assert all(float(row[1]) > 0.9 for row in found)
