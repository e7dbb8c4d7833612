"""A world's language model: the one chosen last, for all who use it, with the wordings of the world's prompts.

Also a trial of a language model: one memory is rated, and the round trip is shown.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from ..core.files import State
from ..core.registry import Registry
from ..core.settings import Settings
from ..embedding.embedder import Embedder
from ..errors import (
    FROM_ELSEWHERE,
    Conflict,
    InvalidParameter,
    MemorySystemError,
    ModelError,
    ModelUnavailable,
    StoreDamaged,
    words_of,
)
from . import keys, servers, tasks
from .base import Answer, Completion, Hearing, LanguageModel, Reply
from .config import OPENAI, ChoiceFile, ModelChoice, checked, checked_key
from .metered import failing
from .offline.model import OfflineModel
from .prices import Price
from .prices import write as write_prices
from .prompt_file import PromptFile
from .prompts import SHIPPED, Prompts
from .tasks import Task

EXAMPLE = "Tobias lent me his last dry coat in the storm"
"""The text to rate: nobody's memory, so that a trial reveals nothing to a server."""


@dataclass(frozen=True)
class Trial:
    """The result of a trial.

    Args:
        label: which model was asked, and where.
        asked: the messages that were sent, as one text.
        answered: what came back; empty if it was no use.
        milliseconds: from the question to the answer or the error.
        tokens: the server's count; ``None`` if it did not say.
        problem: what went wrong, in a sentence; empty if nothing did.
        models: the names of those that the server offers.
        unlisted: why there are none, in a sentence; empty if there are, or nobody was asked.
    """

    label: str
    asked: str
    answered: str
    milliseconds: float
    tokens: int | None
    problem: str = ""
    models: tuple[str, ...] = ()
    unlisted: str = ""


def tried(
    model: LanguageModel,
    listed: Callable[[], tuple[str, ...]] | None = None,
    prompts: Prompts = SHIPPED,
) -> Trial:
    """Ask a model to rate a sentence, and its server which models it offers; stores nothing.

    Args:
        model: the model.
        listed: asks for the list; ``None`` = there is no server.
        prompts: the world's.
    """
    task = tasks.rate(EXAMPLE).worded(prompts)
    started = time.monotonic()
    answered, tokens, problem, asked = "", None, "", task.prompt()
    try:
        with failing(model.name):
            call = model.complete(task).call
            asked, answered, tokens = call.prompt, call.answer, call.tokens
    except ModelError as error:
        problem = error.sentence
    milliseconds = (time.monotonic() - started) * 1000
    names: tuple[str, ...] = ()
    unlisted = ""
    try:
        names = listed() if listed else ()
    except ModelError as error:
        unlisted = error.sentence
    return Trial(model.label, asked, answered, milliseconds, tokens, problem, names, unlisted)


_LISTING = 10.0
"""Seconds for a server to list its models."""
_UNREAD = (-1, -1, -1)
"""A state that no file has, so that it is read again."""
_AGAIN = 60.0
"""Seconds after which a keyring that did not return a key is asked again."""
MODELS: Registry[Callable[[Settings], LanguageModel]] = Registry(
    "memory_system.language_models",
    "language model",
    {
        "auto": f"{__name__}:WorldModel",
        "openai": "memory_system.llm.openai.model:OpenAIModel",
        "offline": "memory_system.llm.offline.model:OfflineModel",
    },
)
"""What ``MEMORY_LLM`` can name. A package adds functions that make a model from an installation's settings."""
_OURS = ("auto", "openai", "offline")


def _joined(settings: Settings) -> LanguageModel | None:
    """The model from another package, if the settings name one."""
    if settings.llm in _OURS:
        return None
    try:
        model = MODELS.get(settings.llm)(settings)
        lacking = [name for name in ("complete", "chat") if not callable(getattr(model, name, None))]
        lacking += [name for name in ("name", "label") if not isinstance(getattr(model, name, None), str)]
    except MemorySystemError as error:
        raise InvalidParameter(f"The setting MEMORY_LLM is wrong: {error}") from error
    except FROM_ELSEWHERE as error:
        raise InvalidParameter(f"The setting MEMORY_LLM is wrong: {words_of(error)}") from error
    if lacking:
        raise InvalidParameter(
            f"The setting MEMORY_LLM is wrong: what {settings.llm!r} makes is not a language model, since it lacks "
            f"{', '.join(lacking)}."
        )
    return model


class WorldModel:
    """A ``LanguageModel`` that can be exchanged while it is in use. Thread-safe.

    The choice made in the dashboard counts, unless the environment (``MEMORY_LLM``) or the program decides; without a
    choice the environment does. A key is sent only to the address that it was set for.

    Args:
        folder: the world's; the choice is next to it, the prompts in it.
        settings: the environment's.
        embedder: for the offline rules.
        given: the model that the program decides for, if it does.
        helps: called whenever the model in use may work after it possibly did not: another was chosen, or this one has
            just answered a trial.

    Raises:
        ModelUnavailable: the environment decides for a server, but names none.
        InvalidParameter: it names an unknown language model, or one that cannot be made.
    """

    def __init__(
        self,
        folder: Path,
        settings: Settings,
        embedder: Embedder,
        given: LanguageModel | None = None,
        helps: Callable[[], None] = lambda: None,
    ) -> None:
        self.prompt_file = PromptFile(folder)
        self._folder = folder
        self._file = ChoiceFile(folder)
        self._settings = settings
        self._offline = OfflineModel(embedder)
        self._joined = None if given is not None else _joined(settings)
        self._fixed_model = given or self._joined
        self._helps = helps
        self._keys: dict[str, str] = {}  # of this process, by their addresses
        self._lock = threading.RLock()
        self._seen: State | None = _UNREAD
        self._chosen: ModelChoice | None = None
        self._problem = ""
        self._made: tuple[ModelChoice, int, LanguageModel] | None = None
        self._turn = 0  # the number of the choice, so that a model is never cached with another one's key
        self._locked: tuple[float, str] | None = None
        if given is None and settings.llm == "openai" and not (settings.openai_api_key or settings.openai_base_url):
            raise ModelUnavailable(
                "MEMORY_LLM is 'openai', but neither OPENAI_API_KEY nor OPENAI_BASE_URL is set. "
                "Set one of them, or MEMORY_LLM=offline."
            )

    # -- a language model -------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the model in use."""
        if self._fixed_model is not None:
            return self._fixed_model.name
        choice = self.in_use
        return self._offline.name if choice.offline else choice.model

    @property
    def label(self) -> str:
        """What is in use, in a few words."""
        if self._fixed_model is not None:
            return self._fixed_model.label
        choice = self.in_use
        return self._offline.label if choice.offline else choice.label

    @property
    def prompts(self) -> Prompts:
        """The prompts of this world."""
        return self.prompt_file.prompts

    def present(self) -> LanguageModel:
        """The model in use now, which does not change for its caller: one call is to one model.

        It does not know the world's wordings, see ``Task.worded``.

        Raises:
            ModelUnavailable: the keyring does not return the key.
        """
        if self._fixed_model is not None:
            return self._fixed_model
        turn, choice, made = self._turn, self.in_use, self._made
        if choice.offline:
            return self._offline
        if made is None or made[:2] != (choice, turn):
            self._made = made = choice, turn, self._server(choice, self._key(choice.endpoint))
        return made[2]

    def complete(self, task: Task[Answer], deadline: float | None = None) -> Completion[Answer]:
        """As ``LanguageModel.complete``, with the world's wordings.

        Raises:
            ModelError: see there; ``ModelUnavailable`` also if the keyring does not return the key.
        """
        return self.present().complete(task.worded(self.prompts), deadline)

    def chat(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = (), **how: Unpack[Hearing]
    ) -> Reply:
        """As ``ChatModel.chat``.

        Raises:
            ModelError: see there; ``ModelUnavailable`` also if the keyring does not return the key.
        """
        return self.present().chat(messages, tools, **how)

    # -- which one --------------------------------------------------------------------------------------

    @property
    def decided(self) -> str:
        """Who decides instead of the user of the page, in a sentence; empty if nobody does."""
        if self._fixed_model is not None and self._joined is None:
            return "The program that opened this world decides which language model is used."
        if self._settings.llm != "auto":
            return f"The environment decides: MEMORY_LLM is '{self._settings.llm}'. Without it the choice is made here."
        return ""

    @property
    def chosen(self) -> ModelChoice | None:
        """The choice for this world; ``None`` if there is none. A change by another program is seen at once."""
        with self._lock:
            about = self._file.about()
            if about != self._seen:
                self._seen, self._problem = about, ""
                try:
                    self._chosen = self._file.read()
                except StoreDamaged as error:
                    self._chosen, self._problem = None, error.sentence
            return self._chosen

    @property
    def problem(self) -> str:
        """Why the choice cannot be read, in a sentence; empty if it can."""
        return self._problem if self.chosen is None else ""

    @property
    def in_use(self) -> ModelChoice:
        """The model in use, whoever chose it, except one that the program decided for."""
        return self.of_environment if self.decided else self.chosen or self.of_environment

    @property
    def of_environment(self) -> ModelChoice:
        """The environment's choice."""
        if not self._settings.uses_openai:
            return ModelChoice()
        return ModelChoice((self._settings.openai_base_url or OPENAI).rstrip("/"), self._settings.llm_model)

    def key_of(self, endpoint: str) -> str:
        """Where the key for this address is kept: "this session", "keyring", "environment", or nowhere (empty)."""
        with self._lock:
            if endpoint in self._keys:
                return "this session"
            chosen = self.chosen
            if chosen is not None and chosen.keyring and chosen.endpoint == endpoint:
                return "keyring"
            return "environment" if self._environment_key(endpoint) else ""

    def use(self, choice: ModelChoice, key: str = "", *, in_keyring: bool = False) -> ModelChoice:
        """Use this from the next call on, in all pages and for the HTTP API, and again when the program restarts.

        Args:
            choice: a server and a model, or ``ModelChoice()`` for the offline rules.
            key: for this address; empty = the stored one, if any.
            in_keyring: whether to store it in the system's keyring; otherwise this process keeps it until it ends.

        Raises:
            InvalidParameter: the address, the name or the key is invalid.
            Conflict: the environment or the program decides.
            ModelUnavailable: the keyring does not accept the key.
            StoreError: the choice cannot be saved. After any of these errors the previous model stays in use.
        """
        with self._lock:
            if self.decided:
                raise Conflict(self.decided)
            before = self.chosen
            if not choice.offline:
                choice = checked(choice.endpoint, choice.model)
                secret = checked_key(key) if key.strip() else ""
                if secret and in_keyring:
                    keys.keep(choice.endpoint, secret)
                as_before = before is not None and before.keyring and before.endpoint == choice.endpoint
                choice = ModelChoice(choice.endpoint, choice.model, in_keyring if secret else as_before)
                self._file.write(choice)
                if secret:
                    self._keys.pop(choice.endpoint, None)
                    if not in_keyring:
                        self._keys[choice.endpoint] = secret
            else:
                self._file.write(ModelChoice())
            self._forget_made()
            return choice

    def use_environment(self) -> None:
        """Let the environment decide again. Keys stay where they are.

        Raises:
            Conflict: the program decides.
            StoreError: the file cannot be removed.
        """
        with self._lock:
            if self._fixed_model is not None:
                raise Conflict(self.decided)
            self._file.write(None)
            self._forget_made()

    def forget_key(self, endpoint: str) -> None:
        """Delete the key for this address, here and in the keyring.

        Raises:
            ModelUnavailable: the keyring does not delete it.
            StoreError: the choice cannot be saved.
        """
        with self._lock:
            chosen = self.chosen
            if chosen is not None and chosen.keyring and chosen.endpoint == endpoint:
                keys.drop(endpoint)
                self._file.write(ModelChoice(chosen.endpoint, chosen.model))
            self._keys.pop(endpoint, None)
            self._forget_made()

    def set_prices(self, prices: Mapping[str, Price]) -> None:
        """Replace the prices by model; what was spent keeps its cost.

        Raises:
            InvalidParameter: a price is invalid, or there are too many.
            StoreError: they cannot be saved.
        """
        write_prices(self._folder, prices)

    def try_out(self, choice: ModelChoice, key: str = "") -> Trial:
        """Ask a model that need not be in use, with this key or the stored one for its address.

        Raises:
            InvalidParameter: the address, the name or the key is invalid.
            ModelUnavailable: the keyring does not return the key.
        """
        if choice.offline:
            return tried(self._offline, prompts=self.prompts)
        choice = checked(choice.endpoint, choice.model)
        secret = checked_key(key) if key.strip() else self._key(choice.endpoint)
        return tried(
            self._server(choice, secret), lambda: servers.models(choice.endpoint, secret, _LISTING), self.prompts
        )

    def try_in_use(self) -> Trial:
        """Ask the model that is in use, whoever chose it.

        Raises:
            ModelUnavailable: the keyring does not return the key.
        """
        choice = self.in_use
        if self._fixed_model is not None:
            trial = tried(self._fixed_model, prompts=self.prompts)
        elif choice.offline:
            trial = tried(self._offline, prompts=self.prompts)
        else:
            key = self._key(choice.endpoint)
            trial = tried(self.present(), lambda: servers.models(choice.endpoint, key, _LISTING), self.prompts)
        if not trial.problem:
            self._helps()
        return trial

    def other(self, model: str) -> LanguageModel:
        """Another model of the server that is in use.

        Raises:
            InvalidParameter: no server is in use, or the name is invalid.
            ModelUnavailable: the keyring does not return the key.
        """
        choice = self.in_use
        if self._fixed_model is not None or choice.offline:
            raise InvalidParameter("No server of language models is in use, so that there is no other model to ask.")
        return self._server(checked(choice.endpoint, model), self._key(choice.endpoint))

    def _server(self, choice: ModelChoice, key: str) -> LanguageModel:
        from .openai.model import OpenAIModel  # openai takes half a second to import, and few need it

        return OpenAIModel(
            model=choice.model, key=key or None, base_url=choice.endpoint, deadline=self._settings.llm_deadline
        )

    def _key(self, endpoint: str) -> str:
        """The key for this address; empty if there is none."""
        where = self.key_of(endpoint)
        if where != "keyring":
            return self._keys.get(endpoint, "") or self._environment_key(endpoint)
        if self._locked is not None and time.monotonic() < self._locked[0]:
            raise ModelUnavailable(self._locked[1])
        try:
            return keys.kept(endpoint)
        except ModelUnavailable as error:
            self._locked = time.monotonic() + _AGAIN, error.sentence
            raise

    def _environment_key(self, endpoint: str) -> str:
        """The environment's key, which is meant for the environment's address."""
        key = self._settings.openai_api_key
        meant = (self._settings.openai_base_url or OPENAI).rstrip("/")
        return key.get_secret_value() if key and endpoint == meant else ""

    def _forget_made(self) -> None:
        self._turn += 1
        self._made, self._locked, self._seen = None, None, _UNREAD
        self._helps()
