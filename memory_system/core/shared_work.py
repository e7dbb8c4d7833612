"""Shared work: when several threads ask for something at the same time, one of them does it for all."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Generic, TypeVar

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


class _Waiting(Generic[Asked, Answer]):
    """What a thread asks for, and the result."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.answer: Answer | Exception | None = None
        self.alone = False
        """Whether it failed together with others, and is to be tried on its own."""


class Together(Generic[Asked, Answer]):
    """When several threads ask for something at the same time, one of them does it for all while the others wait.

    Args:
        act: does several, in order; returns a result for each, or raises if none was done, in which case each is tried
            on its own.
        by_itself: whether something must not be done together with others.
        turn: held by the thread that does the work.
        meanwhile: held by the threads that wait.
    """

    def __init__(
        self,
        act: Callable[[Sequence[Asked]], Sequence[Answer | Exception]],
        by_itself: Callable[[Asked], bool] = lambda _asked: False,
        turn: Callable[[], AbstractContextManager[object]] = nullcontext,
        meanwhile: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self._act = act
        self._by_itself = by_itself
        self._turn, self._meanwhile = turn, meanwhile
        self._changed = threading.Condition()
        self._waiting: deque[_Waiting[Asked, Answer]] = deque()
        self._led = False

    def ask(self, asked: Asked) -> Answer:
        """Have it done, by this thread or by another; return the result or raise the error."""
        request = _Waiting[Asked, Answer](asked)
        if self._begins(request) or self._waits(request):
            self._lead(request)
        assert request.answer is not None, "who waits is answered"
        return _answer_of(request.answer)

    def at_once(self, asked: Asked) -> Answer:
        """Do it in this thread, whose turn it is, before whatever waits for the next turn."""
        (answer,) = self._act([asked])
        return _answer_of(answer)

    def _begins(self, request: _Waiting[Asked, Answer]) -> bool:
        """Whether no thread is at work, so that this one starts immediately."""
        with self._changed:
            if self._led:
                return False
            self._led = True
            self._waiting.append(request)
            return True

    def _waits(self, request: _Waiting[Asked, Answer]) -> bool:
        """Wait until it is done, or until this thread has to do what is waiting; return which."""
        with self._meanwhile(), self._changed:
            self._waiting.append(request)
            try:
                self._changed.wait_for(lambda: request.answer is not None or not self._led)
            except BaseException:
                self._forget(request)
                raise
            if request.answer is not None:
                return False
            self._led = True
            return True

    def _forget(self, request: _Waiting[Asked, Answer]) -> None:
        if request in self._waiting:
            self._waiting.remove(request)

    def _lead(self, request: _Waiting[Asked, Answer]) -> None:
        try:
            with self._turn():
                while request.answer is None:
                    with self._changed:
                        some = self._next()
                    self._done(some)
        finally:
            with self._changed:
                self._forget(request)
                self._led = False
                self._changed.notify_all()

    def _next(self) -> list[_Waiting[Asked, Answer]]:
        some = [self._waiting.popleft()]
        while self._waiting and not any(map(self._stays_alone, (some[0], self._waiting[0]))):
            some.append(self._waiting.popleft())
        return some

    def _stays_alone(self, request: _Waiting[Asked, Answer]) -> bool:
        return request.alone or self._by_itself(request.asked)

    def _done(self, some: Sequence[_Waiting[Asked, Answer]]) -> None:
        answers: Sequence[Answer | Exception]
        try:
            answers = self._act([request.asked for request in some])
        except Exception as error:  # noqa: BLE001 - raised in the thread that asked for it
            if len(some) > 1:
                for request in some:
                    request.alone = True
                self._put_back(some)
                return
            answers = [error]
        except BaseException:
            self._put_back(some)
            raise
        for request, answer in zip(some, answers, strict=True):
            request.answer = answer

    def _put_back(self, some: Sequence[_Waiting[Asked, Answer]]) -> None:
        with self._changed:
            self._waiting.extendleft(reversed(some))


def _answer_of(answer: Answer | Exception) -> Answer:
    if isinstance(answer, Exception):
        raise answer
    return answer
