"""Metered: a language model whose calls are charged to an agent's account, within its budget, without repetition.

It caches ratings: the same text is rated once by the same model with the same prompt.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Unpack, cast

from pydantic import BaseModel, ValidationError

from ..core.change_set import ModelCall
from ..errors import (
    FROM_ELSEWHERE,
    BudgetSpent,
    MemorySystemError,
    ModelError,
    ModelNonsense,
    ModelTimeout,
    ModelUnavailable,
    StoreError,
    kind_of,
    problem_words,
    words_of,
)
from . import tokens
from .base import TASK, Answer, Completion, Heard, Hearing, LanguageModel, Reply, StandIn, Usage, unheard
from .offline.model import OfflineModel
from .prices import Price
from .tasks import Rating, Task
from .usage import Account, Budget, Spent

ROOM = 10_000
"""The most recently used answers to cache; a few MB. They are in memory only, so that what is purged from the
files is in no other file."""


class Once:
    """Answers by model and prompt, and the calls in progress. Thread-safe."""

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._lock = threading.Lock()
        self._kept: OrderedDict[bytes, Any] = OrderedDict()
        self._asked: dict[bytes, Future[Completion[Any]]] = {}

    def complete(self, model: str, task: Task[Answer], ask: Callable[[], Completion[Answer]]) -> Completion[Answer]:
        """The answer to a task: the cached one, one that another thread is waiting for, or what ``ask`` returns.

        A cached answer took no time and no tokens. A failure is not cached, but callers waiting for the same answer
        fail with it, unless it was another agent's budget that was spent.

        Args:
            model: what identifies a model, such as its name and where it is.
            task: what is asked.
            ask: asks the model.

        Raises:
            ModelError: as for ``ask``.
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
            with suppress(BudgetSpent):  # that of the other agent: this one may have some left
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


ANSWER = 1_000
"""Tokens assumed for an answer before it is known; only a longer one can exceed the budget."""
_TRIES = 2
"""How often a task is asked if the first answer is nonsense; the second prompt includes that answer."""


@dataclass(frozen=True)
class Terms:
    """The budget and the prices for an agent's calls."""

    budget: Budget
    prices: Mapping[str, Price]


class Metered(StandIn):
    """A language model that charges its calls; the wrapped model may be exchanged while in use.

    Each call goes to the model that was in use when it began, and is charged as its. The offline rules cost nothing,
    and are not counted.

    Args:
        inner: the model.
        account: where its calls are charged.
        terms: returns budget and prices; called at the first call.
        once: the cached ratings.
        who: returns whose memories are rated, in words; called at the first rating. Empty for nobody's.
    """

    def __init__(
        self,
        inner: LanguageModel,
        account: Account,
        terms: Callable[[], Terms],
        once: Once,
        who: Callable[[], str] = str,
    ) -> None:
        super().__init__(inner)
        self._account = account
        self._ask_terms = terms
        self._once = once
        self._ask_who = who

    @cached_property
    def who(self) -> str:
        """Whose memories are rated, in words."""
        return self._ask_who()

    @cached_property
    def _terms(self) -> Terms:
        return self._ask_terms()

    def complete(self, task: Task[Answer], deadline: float | None = None) -> Completion[Answer]:
        """As ``LanguageModel.complete``; the same text is rated once.

        Raises:
            BudgetSpent: it would exceed the budget. The model was not asked.
            ModelUnavailable, ModelTimeout, ModelNonsense: see there.
        """
        task = task.worded(self.prompts)  # the basis of its price and its cache key
        model = _present(self.inner)
        if model.name == OfflineModel.name:
            return model.complete(task, deadline)
        if task.form is Rating:
            asked = f"{model.name}\n{model.label}"
            return self._once.complete(asked, task, lambda: self._complete(model, task, deadline))
        return self._complete(model, task, deadline)

    def chat(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = (), **how: Unpack[Hearing]
    ) -> Reply:
        """As ``ChatModel.chat``.

        Raises:
            BudgetSpent: it would exceed the budget. The model was not asked.
            ModelOverflow, ModelUnavailable, ModelTimeout, ModelNonsense: see there.
        """
        model = _present(self.inner)
        if model.name == OfflineModel.name:
            return model.chat(messages, tools, **how)
        call = self._begin(model.name, TASK, tokens.of_messages(messages, tools), ANSWER)
        heard = _Listener(how.get("heard", unheard))
        if "heard" in how:
            how["heard"] = heard
        with call, failing(model.name, heard):
            reply = model.chat(messages, tools, **how)
            call.took(reply.usage, reply.call.answer)
            if not isinstance(reply, Reply) or not isinstance(reply.text, str):
                raise ModelNonsense(f"The language model {model.name!r} gave {kind_of(reply)} instead of a reply.")
        return reply

    def _complete(self, model: LanguageModel, task: Task[Answer], deadline: float | None) -> Completion[Answer]:
        prompt = tokens.of_messages(task.messages())
        call = self._begin(model.name, task.name, prompt, ANSWER, _TRIES)
        with call, failing(model.name):
            done = model.complete(task, deadline)
            call.took(done.usage, done.call.answer)
            return replace(done, answer=_in_form(model.name, task, done.answer))

    def _begin(self, model: str, task: str, prompt: int, answer: int, tries: int = 1) -> _Call:
        try:
            return self._reserve(model, task, prompt, answer, tries)
        except StoreError as error:  # an event is remembered all the same, and rated once the file is repaired
            raise ModelUnavailable(f"The language model was not asked. {error.sentence}") from error

    def _reserve(self, model: str, task: str, prompt: int, answer: int, tries: int) -> _Call:
        price = self._terms.prices.get(model)
        if self._terms.budget.cost and price is None:
            raise BudgetSpent(
                f"There is a budget in money, and no price for the model {model!r}, so that it cannot be kept. "
                "Set the price on the Operations page (0 for a local model), or a budget in tokens."
            )
        price = price or Price(0, 0)

        def spent(sent: int, got: int) -> Spent:
            return Spent(model, task, 1, sent, got, price.of(sent, got))

        number = self._account.hold(spent(tries * prompt + (tries - 1) * answer, tries * answer), self._terms.budget)
        return _Call(self._account, number, spent, prompt)


def _in_form(model: str, task: Task[Answer], answer: object) -> Answer:
    """A model's answer, if it is of the form that the task asks for; one from elsewhere may be anything.

    Raises:
        ModelNonsense: it is not.
    """
    try:
        return task.form.model_validate(answer.model_dump(warnings=False) if isinstance(answer, BaseModel) else answer)
    except ValidationError as error:
        raise ModelNonsense(
            f"The language model {model!r} gave no answer of the form {task.form.__name__} to the task {task.name!r}: "
            f"{problem_words(error.errors()[0])}."
        ) from error


def _present(model: LanguageModel) -> LanguageModel:
    """The model itself; for one that can be exchanged, the one in use now.

    Raises:
        ModelUnavailable: the keyring does not return its key.
    """
    present = getattr(model, "present", None)
    return cast("LanguageModel", present()) if callable(present) else model


class _Listener:
    """Passes an answer's text on, and notes the error of the one who listens, which is not the model's."""

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        self.error: Exception | None = None

    def __call__(self, piece: str) -> None:
        try:
            self._heard(piece)
        except Exception as error:
            self.error = error
            raise


@contextmanager
def failing(model: str, heard: _Listener | None = None) -> Iterator[None]:
    """Turn any error of a model from elsewhere into a ``ModelUnavailable``, but not that of the one who listens."""
    try:
        yield
    except MemorySystemError:
        raise
    except FROM_ELSEWHERE as error:
        if heard is not None and error is heard.error:
            raise
        raise ModelUnavailable(f"The language model {model!r} failed: {words_of(error)}") from error


class _Call:
    """A call that is charged when it is over, whatever the outcome."""

    def __init__(self, account: Account, number: int | None, spent: Callable[[int, int], Spent], prompt: int) -> None:
        self._account, self._number, self._spent, self._prompt = account, number, spent, prompt
        self._usage: Usage | None = None

    def took(self, usage: Usage | None, answer: str) -> None:
        """Record its tokens: the server's count, else an estimate."""
        self._usage = usage or Usage(self._prompt, tokens.estimate(answer))

    def __enter__(self) -> None:
        """Do nothing: it is already reserved."""

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        usage = self._usage
        if usage is None and isinstance(error, ModelError) and error.usage is not None:
            usage = Usage(*error.usage)
        if usage is None:  # a refused prompt cost nothing; one answered late or wrongly was at least read
            read = isinstance(error, ModelTimeout | ModelNonsense) or not isinstance(error, ModelError)
            usage = Usage(self._prompt if read else 0, 0)
        with suppress(StoreError):  # the call stays reserved, which counts more; its answer has been paid for
            self._account.settle(self._number, self._spent(usage.prompt, usage.completion))
