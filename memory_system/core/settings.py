"""Settings: of the installation, from the environment (read nowhere else), and of one agent, kept in its journal."""

from __future__ import annotations

import dataclasses
import json
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

import platformdirs
from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from ..errors import InvalidParameter, did_you_mean, problem_words, shown, there_is_no
from . import shipped
from .chroma_address import DEADLINE, ChromaAddress, NamedStore, StorePlace
from .files import read_at_most
from .names import checked_name
from .presets import DEFAULT
from .scoring import Scoring, Weights, in_range, whole

DEFAULT_WORLD = "mem_test"
IN_USE = ".world-in-use"
"""A file in the folder of all worlds with the name of the one that programs open by default."""
PROGRAM = "memory-system"
MEMORY = "memory"
"""The store of a world that is thrown away when the program ends."""
IN_JOURNAL = "journal"
"""No separate store: the journal, which holds everything, is the only copy."""
ON_POSTGRES = "pgvector"
"""The same, where journals are on a PostgreSQL server; no extension is needed, despite the name."""

_SERVER = re.compile(r"https?://[^/?#\s]", re.IGNORECASE)
_ORIGIN = re.compile(r"https?://[a-z0-9._\[\]:-]+")


def data_folder() -> Path:
    r"""The default folder of worlds, so that every program finds the same one wherever it is started.

    In a checkout it is the top folder; of an installed package the user's data folder, such as
    ``~/.local/share/memory-system``, ``~/Library/Application Support/memory-system`` or
    ``%LOCALAPPDATA%\memory-system``. Nothing is ever written where packages are installed.
    """
    return shipped.checkout() or platformdirs.user_data_path(PROGRAM, appauthor=False)


def _cache_folder() -> Path:
    return platformdirs.user_cache_path(PROGRAM, appauthor=False)


def chosen(database: Path) -> str | None:
    """The name of the world that was switched to; ``None`` if none was, or it no longer exists."""
    try:
        name = checked_name(read_at_most(database / IN_USE, 1000).decode().strip(), "world name")
    except (OSError, ValueError):  # nobody has ever switched, or the name is invalid
        return None
    return name if (database / name).is_dir() else None


def in_use(database: Path) -> str:
    """The name of the world that programs open by default."""
    return chosen(database) or DEFAULT_WORLD


if TYPE_CHECKING:

    class _Folder:
        """A path, which may also be given as text: what type checkers see."""

        def __get__(self, of: object, owner: object = None) -> Path: ...
        def __set__(self, of: object, path: Path | str) -> None: ...

else:
    _Folder = Path


class Settings(BaseSettings):
    """Where things are and which services to use. Each field is also an environment variable."""

    model_config = SettingsConfigDict(
        extra="forbid",
        populate_by_name=True,
        hide_input_in_errors=True,
        env_prefix="MEMORY_",  # without it a field is also read by its own name, and HOME, HOST and TOKEN are taken
    )

    home: _Folder = Field(default_factory=data_folder, validation_alias="MEMORY_HOME")  # type: ignore[assignment]
    """The folder that holds the next two by default."""
    database: _Folder = Field(
        default_factory=lambda fields: fields["home"] / "database", validation_alias="MEMORY_DATABASE"
    )
    """The folder of all worlds."""
    personalities: _Folder = Field(
        default_factory=lambda fields: fields["home"] / "agent_personalities", validation_alias="MEMORY_PERSONALITIES"
    )
    """The folder of the static memories."""
    backups: Path | None = Field(default=None, validation_alias="MEMORY_BACKUPS")
    """The folder of the backups; ``backups`` in the folder of all worlds if not given."""
    world: str = Field(default_factory=lambda fields: in_use(fields["database"]), validation_alias="MEMORY_WORLD")
    """Which world of that folder to use; by default the one that was switched to."""
    cache: _Folder = Field(default_factory=_cache_folder, validation_alias="MEMORY_CACHE_DIR")  # type: ignore[assignment]
    """Where the embedding model is kept between runs."""
    embedder: str = Field(default="minilm", validation_alias="MEMORY_EMBEDDER", min_length=1, max_length=100)
    """What turns texts into vectors, by name among the installed embedders."""
    llm: str = Field(default="auto", validation_alias="MEMORY_LLM", min_length=1, max_length=100)
    """``openai``, ``offline``, ``auto`` (openai if a key or an address is set), or a model that a package brings."""
    llm_model: str = Field(default="gpt-4o-mini", validation_alias="MEMORY_LLM_MODEL")
    llm_deadline: float = Field(
        default=60.0, validation_alias="MEMORY_LLM_DEADLINE", gt=0, le=3600, allow_inf_nan=False
    )
    """Seconds that one call of the language model may take, retries included."""
    llm_at_once: int = Field(default=4, validation_alias="MEMORY_LLM_CONCURRENCY", ge=1, le=64)
    """How many memories of one batch may be rated at a time."""
    awake: int = Field(default=1000, validation_alias="MEMORY_AWAKE", ge=1, le=1_000_000)
    """How many agents of a world one process keeps open, if it may have twelve files open for each. Beyond that, agents
    that nobody is using are closed, the least recently used first, and opened again at their next use."""
    awake_mb: int = Field(default=1024, validation_alias="MEMORY_AWAKE_MB", ge=1, le=1_000_000)
    """About how many megabytes of memory those may use together. Beyond that, the least recently used drop what only
    recall needs from memory, and are closed if that is not enough."""
    rerate_seconds: float = Field(
        default=30.0, validation_alias="MEMORY_RERATE_SECONDS", ge=0, le=86_400, allow_inf_nan=False
    )
    """How often a server looks for memories that could not be rated when they were added; 0 = never."""
    openai_api_key: SecretStr | None = Field(default=None, validation_alias="OPENAI_API_KEY")
    openai_base_url: str | None = Field(default=None, validation_alias="OPENAI_BASE_URL")
    durability: Literal["full", "normal"] = Field(default="full", validation_alias="MEMORY_DURABILITY")
    """What an acknowledged change survives: ``full`` a killed process and a power cut, ``normal`` a killed process."""
    store: str = Field(default="chroma", validation_alias="MEMORY_STORE", min_length=1, max_length=100)
    """What keeps the memories in addition to the journal, by name among the installed stores; with ``journal`` nothing
    does, and with ``memory`` the world is discarded when the program ends."""
    chroma_url: str | None = Field(default=None, validation_alias="MEMORY_CHROMA_URL")
    """The Chroma server that keeps the store, such as ``http://localhost:8000``; files of its own if not given."""
    chroma_token: SecretStr | None = Field(default=None, validation_alias="MEMORY_CHROMA_TOKEN")
    """The token that the server requires, if any."""
    chroma_deadline: float = Field(
        default=DEADLINE, validation_alias="MEMORY_CHROMA_DEADLINE", gt=0, le=3600, allow_inf_nan=False
    )
    """Seconds that one request to it may wait."""
    journal_url: SecretStr | None = Field(default=None, validation_alias="MEMORY_JOURNAL_URL", validate_default=True)
    """The address of a PostgreSQL database that keeps the journals; in the agents' folders if not given."""
    dashboard_port: int = Field(default=8501, validation_alias="MEMORY_DASHBOARD_PORT", ge=1, le=65535)
    api_port: int = Field(default=5000, validation_alias="MEMORY_API_PORT", ge=1, le=65535)
    mcp_port: int = Field(default=5002, validation_alias="MEMORY_MCP_PORT", ge=1, le=65535)
    host: str = Field(default="127.0.0.1", validation_alias="MEMORY_HOST", min_length=1, max_length=253)
    """The address on which dashboard and API listen; any but this machine's own requires a password and a token."""
    hosts: str = Field(default="", validation_alias="MEMORY_HOSTS", max_length=4000)
    """Names, separated by commas, under which the servers are reached, such as that of a proxy in front of them."""
    origins: str = Field(default="", validation_alias="MEMORY_ORIGINS", max_length=4000)
    """Other servers, separated by commas, whose pages may call the HTTP API, such as ``https://game.example``."""
    password: SecretStr | None = Field(default=None, validation_alias="MEMORY_PASSWORD")
    """Signs a curator in to the dashboard."""
    viewer_password: SecretStr | None = Field(default=None, validation_alias="MEMORY_VIEWER_PASSWORD")
    token: SecretStr | None = Field(default=None, validation_alias="MEMORY_TOKEN")
    """Lets a program in to the HTTP API, as ``Authorization: Bearer``, to read and to write."""
    viewer_token: SecretStr | None = Field(default=None, validation_alias="MEMORY_VIEWER_TOKEN")
    role: Literal["curator", "viewer"] = Field(default="curator", validation_alias="MEMORY_ROLE")
    """The most that anybody may do at the servers: ``viewer`` is for demonstrations, where nobody changes anything."""

    if not TYPE_CHECKING:  # type checkers see the fields, and that each has a default if it is named ``default=``

        def __init__(self, **told: Any) -> None:
            """Use the arguments, and the environment for the rest.

            Raises:
                InvalidParameter: a setting is wrong or unknown.
            """
            try:
                super().__init__(**told)
            except ValidationError as error:
                raise InvalidParameter(_explained(error)) from None

    @field_validator("home", "database", "personalities", "backups", "cache", mode="before")
    @classmethod
    def _somewhere(cls, folder: object) -> object:
        if folder == "":  # otherwise it would be whatever folder the program was started in
            raise ValueError("It is empty")
        return folder

    @field_validator("chroma_url")
    @classmethod
    def _readable(cls, url: str | None) -> str | None:
        if url:
            ChromaAddress.parse(url)
        return url or None

    @field_validator("openai_base_url")
    @classmethod
    def _of_a_server(cls, url: str | None, info: ValidationInfo) -> str | None:
        if url and info.data.get("llm") in ("auto", "openai") and not _SERVER.match(url):  # not quoted: keys
            raise ValueError("It must begin with http:// or https:// and name a server, like http://127.0.0.1:11434/v1")
        return url

    @field_validator("journal_url")
    @classmethod
    def _on_postgres(cls, url: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        if info.data.get("store") == ON_POSTGRES and not url:
            raise ValueError(f"MEMORY_STORE={ON_POSTGRES} needs MEMORY_JOURNAL_URL, a PostgreSQL database's address")
        return url

    @field_validator("origins")
    @classmethod
    def _origins(cls, origins: str) -> str:
        found = [origin.strip().rstrip("/").lower() for origin in origins.split(",") if origin.strip()]
        if wrong := [origin for origin in found if not _ORIGIN.fullmatch(origin)]:
            raise ValueError(
                f"{shown(wrong[0])} is not an origin; write it like https://game.example or http://localhost:8080"
            )
        return ",".join(found)

    @property
    def allowed_origins(self) -> tuple[str, ...]:
        """Other servers whose pages may ask the HTTP API, as browsers write them; none by default."""
        return tuple(filter(None, self.origins.split(",")))

    @property
    def store_name(self) -> str:
        """The name of the store among the installed ones."""
        return IN_JOURNAL if self.store == ON_POSTGRES else self.store

    @property
    def chroma(self) -> StorePlace | None:
        """The Chroma server that keeps the store, or a store that is not Chroma's; ``None`` for Chroma's files."""
        if self.store != "chroma":
            return NamedStore(self.store_name)
        if not self.chroma_url:
            return None
        token = self.chroma_token.get_secret_value() if self.chroma_token else None
        return ChromaAddress.parse(self.chroma_url, token=token, deadline=self.chroma_deadline)

    @property
    def backup_folder(self) -> Path:
        """Where backups are made by default."""
        return self.backups or self.database / "backups"

    @property
    def uses_openai(self) -> bool:
        """Whether a language model is called over the network."""
        return self.llm == "openai" or (self.llm == "auto" and bool(self.openai_api_key or self.openai_base_url))


def _explained(error: ValidationError) -> str:
    """What is wrong with settings, in sentences for people, without mere consequences of another mistake."""
    sentences: dict[str, str] = {}
    for problem in error.errors():
        name = str(problem["loc"][0])
        if problem["type"] == "extra_forbidden":
            sentences[name] = f"There is no setting {shown(name)}.{did_you_mean(name, Settings.model_fields)}"
        elif problem["type"] != "default_factory_not_called":
            sentences[name] = f"The setting {name} is wrong: {problem_words(problem)}."
    return " ".join(sentences.values())


LEAST_HISTORY = 1_000
"""The lowest limit for a history: what happens by itself checks what it did last."""


class Retention(StrEnum):
    """The rule by which migration decides which memories are kept in LTM; see ``operations.retention``."""

    LEARNED = "learned"
    IMPORTANCE = "importance"


class RatedBy(StrEnum):
    """Who rates an event that is added without a rating."""

    MODEL = "model"
    """The language model, while the event waits; on a server that rates in the background only if it asks to."""
    RULES = "rules"
    """The offline rules at first; the language model rates it in the background."""
    NOBODY = "nobody"
    """Nobody at first: it is unrated until the language model rates it in the background."""


class Replan(StrEnum):
    """What an important event does to the rest of a planned day as time passes."""

    NEVER = "never"
    """Nothing."""
    PROPOSE = "propose"
    """The list of what is waiting suggests planning the day again, for a person to decide."""
    DO = "do"
    """The rest of the day is planned again."""


@dataclass(frozen=True)
class AgentSettings:
    """One agent's own settings; each with its range.

    Args:
        stm_size: entries that STM holds before migration takes the overflow, 1 to 100,000.
        top_k: memories that a query recalls, 0 to 10,000.
        threshold: the confidence, or the score, that a memory has to exceed, as ``scoring.passing`` says, 0 to 30.
        static_threshold: the same for static memory, 0 to 1.
        static_share: the share of the seats that static memory may have while others wait, 0 to 1.
        retention: the rule that judges what of the overflow is worth keeping in LTM; ``importance`` in settings saved
            without it.
        retention_threshold: for ``learned``, the chance of being asked for that a memory has to exceed, 0 to 1.
        migration_threshold: for ``importance``, the importance that it has to exceed, 0 to 1. Changed alone, it
            chooses ``importance``.
        reflection_trigger: the sum of recent ratings at which the agent wants to reflect, 1 to 100,000.
        scoring: weights and decay.
        bin_days: for how many days of the world's time what was forgotten can be restored, 1 to 36,500; 0 = for ever.
        query_log: how many of the last queries are kept for replay, 0 (none) to 100,000.
        history_changes: how many of the newest changes the history keeps, 1,000 to a billion; 0 = all. Older ones are
            permanently dropped in the background.
        history_days: for how many days of real time it keeps them, 1 to 36,500; 0 = for ever. Whatever exceeds either
            limit is dropped.
        token_budget: the most tokens that its calls of a language model may use in all, 0 (no limit) to a trillion.
        auto_migrate: whether what overflows STM migrates by itself, as soon as something is added.
        rated_by: who rates an event when it is added: ``model``, which the event waits for; ``rules`` or ``nobody``: it
            is stored at once and the model rates it in the background. A server that rates in the background treats
            ``model`` as ``rules``, unless the event asks to wait.
        hourly_calls: how many calls of a language model there may be in an hour of the world's time before automatic
            work that needs one waits, including ratings in the background, 0 (no limit) to a million; what the agent
            is told to do does not count. A step that begins within the limit is completed; each rating is checked on
            its own.
        hourly_tokens: the same in tokens, 0 (no limit) to 10^12.
        hourly_cost: the same in the currency of the prices, 0 (no limit) to a billion.
        replan: whether an event rated 8 or more makes the agent plan the rest of a planned day again as time passes:
            ``never``, ``propose`` or ``do``.
        person_trigger: the sum of ratings (1-10 each) of what came up about one person at which the agent reflects on
            them as time passes, 0 (never) to 100,000.
        ltm_size: how many memories LTM holds before some are merged into a summary as time passes, 1 to 10 million;
            0 = any.
        cost_budget: the most that its calls of a language model may cost, in the currency of the prices, 0 (no limit)
            to a billion.

    Raises:
        InvalidParameter: one is out of its range.
    """

    stm_size: int = 20
    top_k: int = 5
    threshold: float = DEFAULT.threshold
    static_threshold: float = DEFAULT.static_threshold
    static_share: float = 0.4
    retention: Retention = Retention.LEARNED
    retention_threshold: float = 0.04
    migration_threshold: float = 0.35
    reflection_trigger: float = 150.0
    scoring: Scoring = DEFAULT.scoring
    bin_days: int = 0
    query_log: int = 1_000
    history_changes: int = 0
    history_days: int = 0
    token_budget: int = 0
    cost_budget: float = 0.0
    auto_migrate: bool = False
    rated_by: RatedBy = RatedBy.MODEL
    replan: Replan = Replan.NEVER
    ltm_size: int = 0
    person_trigger: float = 0.0
    hourly_calls: int = 0
    hourly_tokens: int = 0
    hourly_cost: float = 0.0

    def __post_init__(self) -> None:
        checked = {
            "stm_size": whole("stm_size", self.stm_size, 1, 100_000),
            "top_k": whole("top_k", self.top_k, 0, 10_000),
            "threshold": in_range("The threshold", self.threshold, 0, 30),
            "static_threshold": in_range("The static threshold", self.static_threshold, 0, 1),
            "static_share": in_range("The static share", self.static_share, 0, 1),
            "retention": checked_retention(self.retention),
            "rated_by": _one_of(RatedBy, "rated_by", self.rated_by),
            "replan": _one_of(Replan, "replan", self.replan),
            "retention_threshold": in_range("The retention threshold", self.retention_threshold, 0, 1),
            "migration_threshold": in_range("The migration threshold", self.migration_threshold, 0, 1),
            "reflection_trigger": in_range("The reflection trigger", self.reflection_trigger, 1, 100_000),
            "bin_days": whole("bin_days", self.bin_days, 0, 36_500),
            "query_log": whole("query_log", self.query_log, 0, 100_000),
            "history_changes": whole("history_changes", self.history_changes, 0, 10**9),
            "history_days": whole("history_days", self.history_days, 0, 36_500),
            "token_budget": whole("token_budget", self.token_budget, 0, 10**12),
            "person_trigger": in_range("The person trigger", self.person_trigger, 0, 100_000),
            "ltm_size": whole("ltm_size", self.ltm_size, 0, 10_000_000),
            "hourly_calls": whole("hourly_calls", self.hourly_calls, 0, 1_000_000),
            "hourly_tokens": whole("hourly_tokens", self.hourly_tokens, 0, 10**12),
            "hourly_cost": in_range("The hourly cost", self.hourly_cost, 0, 10**9),
            "cost_budget": in_range("The cost budget", self.cost_budget, 0, 10**9),
        }
        for name, value in checked.items():  # as plain Python types, whatever was passed
            object.__setattr__(self, name, value)
        if 0 < self.history_changes < LEAST_HISTORY:
            raise InvalidParameter(
                f"'history_changes' must be 0 (all) or at least {LEAST_HISTORY:,}, not {self.history_changes:,}."
            )
        if not isinstance(self.auto_migrate, bool):
            raise InvalidParameter(f"'auto_migrate' must be true or false, not {shown(self.auto_migrate)}.")
        if not isinstance(self.scoring, Scoring):
            raise InvalidParameter("'scoring' must be a Scoring(Weights(...), decay).")

    def to_json(self) -> str:
        """One line of JSON, with sorted keys."""
        return json.dumps(dataclasses.asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str | None) -> Self:
        """The settings that ``to_json`` wrote; the defaults for ``None``.

        Raises:
            InvalidParameter: the text does not hold settings.
        """
        if text is None:
            return cls()
        try:
            fields: dict[str, Any] = json.loads(text)
            fields.setdefault("retention", Retention.IMPORTANCE)  # the only rule at the time
            scoring = fields.pop("scoring")
            weights, decay = scoring.pop("weights"), scoring.pop("decay")
            return cls(**fields, scoring=Scoring(Weights(**weights), decay, **scoring))
        except InvalidParameter:
            raise
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise InvalidParameter(f"This text does not contain settings: {shown(error)}.") from error

    def evolve(self, **changes: Any) -> Self:
        """A copy with other values, validated.

        Raises:
            InvalidParameter: an unknown setting, or a value out of its range.
        """
        names = sorted(field.name for field in dataclasses.fields(self))
        if unknown := sorted(set(changes).difference(names)):
            near = did_you_mean(unknown[0], names)
            raise InvalidParameter(f"There is no setting {unknown[0]!r}; there are {', '.join(names)}.{near}")
        if "migration_threshold" in changes and not changes.keys() & {"retention", "retention_threshold"}:
            changes["retention"] = Retention.IMPORTANCE
        return dataclasses.replace(self, **changes)


_Choice = TypeVar("_Choice", RatedBy, Replan)


def _one_of(choices: type[_Choice], name: str, value: object) -> _Choice:
    try:
        return choices(value)  # type: ignore[arg-type]  # anything but a text is refused too
    except ValueError as error:
        raise InvalidParameter(
            f"'{name}' must be one of {', '.join(choices)}, not {shown(value)}.{did_you_mean(value, choices)}"
        ) from error


def checked_retention(value: object) -> Retention:
    """The rule of this name.

    Raises:
        InvalidParameter: there is none.
    """
    try:
        return Retention(value)  # type: ignore[arg-type]  # anything but a text is refused too
    except ValueError as error:
        raise InvalidParameter(there_is_no("retention", value, Retention)) from error
