"""Answers that are asked for once: the same text is rated once by the same model with the same prompt."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from ..changes import ModelCall
from ..errors import BudgetSpent
from .base import Answer, Completion
from .tasks import Task

ROOM = 10_000
"""Answers that are kept, the last used ones; a few MB. They are kept in memory alone, so that what is purged from the
files is in no other file."""


class Once:
    """Answers by model and prompt, and what is being asked just now. Thread-safe."""

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._lock = threading.Lock()
        self._kept: OrderedDict[bytes, Any] = OrderedDict()
        self._asked: dict[bytes, Future[Completion[Any]]] = {}

    def complete(self, model: str, task: Task[Answer], ask: Callable[[], Completion[Answer]]) -> Completion[Answer]:
        """The answer to a task: the kept one, that which another thread is waiting for, or what ``ask`` answers.

        An answer that was not asked for anew took no time and no tokens. A failure is not kept, but whoever waited for
        the same answer fails with it, unless it was another agent's budget that had no room.

        Args:
            model: what tells one model from another, such as its name and where it is.
            task: what is asked.
            ask: asks the model.

        Raises:
            ModelError: as ``ask``.
        """
        key = hashlib.sha256(json.dumps([model, task.name, task.messages()]).encode()).digest()
        while True:
            with self._lock:
                if key in self._kept:
                    self._kept.move_to_end(key)
                    return _again(task, self._kept[key])
                waiting = self._asked.get(key)
                if waiting is None:
                    mine = self._asked[key] = Future()
                    break
            with suppress(BudgetSpent):  # that of the other agent: this one may have money left
                return _again(task, waiting.result())
        try:
            done = ask()
        except BaseException as error:
            with self._lock:
                del self._asked[key]
            mine.set_exception(error)
            raise
        with self._lock:
            del self._asked[key]
            self._kept[key] = done
            while len(self._kept) > self._room:
                self._kept.popitem(last=False)
        mine.set_result(done)
        return done


def _again(task: Task[Answer], done: Completion[Answer]) -> Completion[Answer]:
    call = ModelCall(task.name, done.call.model, done.call.prompt, done.call.answer, 0.0, 0)
    return Completion(done.answer, call)
