"""What several threads ask for at the same time, one of them does for all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from memory_system.core.shared_work import Together
from tests.waiting import LAST_RESORT, until


def _crowd(
    act: Callable[[Sequence[str]], Sequence[str | Exception]],
    asked: str,
    by_itself: Callable[[str], bool] = lambda _asked: False,
) -> list[Future[str]]:
    """What becomes of each letter that a thread asks for while nobody's turn comes."""
    turn = threading.Lock()
    together = Together[str, str](act, by_itself, lambda: turn)
    with ThreadPoolExecutor(len(asked)) as pool:
        with turn:
            came = []
            for number, one in enumerate(asked, start=1):
                came.append(pool.submit(together.ask, one))
                until(lambda number=number: len(together._waiting) == number)
        for one in came:
            one.exception(LAST_RESORT)
    assert not together._waiting
    return came


def test_one_does_it_for_all_in_the_order_in_which_it_was_asked_for() -> None:
    calls: list[list[str]] = []

    def act(some: Sequence[str]) -> list[str]:
        calls.append(list(some))
        return [one.upper() for one in some]

    assert [one.result() for one in _crowd(act, "abcd")] == list("ABCD")
    assert calls == [list("abcd")]


def test_what_fails_together_is_tried_one_by_one_and_each_is_told_its_own() -> None:
    calls: list[list[str]] = []

    def act(some: Sequence[str]) -> list[str]:
        calls.append(list(some))
        if "b" in some:
            raise ValueError("b cannot be done")
        return [one.upper() for one in some]

    came = _crowd(act, "abc")
    assert [str(one.exception() or one.result()) for one in came] == ["A", "b cannot be done", "C"]
    assert calls == [["a", "b", "c"], ["a"], ["b"], ["c"]]


def test_an_error_that_is_answered_is_raised_where_it_was_asked_for() -> None:
    came = _crowd(lambda some: [KeyError(one) if one == "b" else one for one in some], "ab")
    assert came[0].result() == "a"
    assert type(came[1].exception()) is KeyError


def test_what_is_to_be_by_itself_is() -> None:
    calls: list[list[str]] = []

    def act(some: Sequence[str]) -> list[str]:
        calls.append(list(some))
        return list(some)

    _crowd(act, "abXcd", lambda one: one == "X")
    assert calls == [["a", "b"], ["X"], ["c", "d"]]


def test_whoever_does_it_for_others_may_be_interrupted_and_theirs_is_done_all_the_same() -> None:
    calls: list[list[str]] = []

    def act(some: Sequence[str]) -> list[str]:
        calls.append(list(some))
        if len(calls) == 1:
            raise KeyboardInterrupt
        return [one.upper() for one in some]

    came = _crowd(act, "abc")
    assert type(came[0].exception()) is KeyboardInterrupt
    assert [one.result() for one in came[1:]] == ["B", "C"]
    assert calls == [["a", "b", "c"], ["b", "c"]]
