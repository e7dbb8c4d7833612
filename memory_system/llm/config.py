"""The language model that a person chose for a world: an address and a model's name, or the offline rules.

The choice is stored next to the world's folder and not in it, so that no backup carries it elsewhere, and no
stranger's backup or world brings an address to which memories would be sent. A key is never part of it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from ..core.files import State, as_store_errors, read_at_most, replace_text, state_of
from ..errors import InvalidParameter, StoreDamaged
from .servers import host_of

OPENAI = "https://api.openai.com/v1"
_MOST_ENDPOINT, _MOST_MODEL, _MOST_KEY = 500, 200, 1000
_MOST_BYTES = 10_000
_LOCAL = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Provider:
    """A kind of server that is reached by its address.

    Args:
        name: what it is called.
        endpoint: its default address.
        model: a model that it may have.
        needs_key: whether it requires a key.
        about: what to know, in a sentence.
    """

    name: str
    endpoint: str
    model: str
    needs_key: bool
    about: str


PROVIDERS = (
    Provider("Ollama", "http://127.0.0.1:11434/v1", "llama3.2", False, "On this machine; 'ollama pull' gets models."),
    Provider("LM Studio", "http://127.0.0.1:1234/v1", "local-model", False, "On this machine; start its server."),
    Provider("vLLM", "http://127.0.0.1:8000/v1", "", False, "Your own server, with the model it was started with."),
    Provider("llama.cpp", "http://127.0.0.1:8080/v1", "default", False, "On this machine; it takes any name."),
    Provider("OpenAI", OPENAI, "gpt-4o-mini", True, "Over the internet, with a key; what is sent costs money."),
)
"""Servers that need only an address; any other with OpenAI's interface works too."""


@dataclass(frozen=True)
class ModelChoice:
    """The language model in use.

    Args:
        endpoint: the base address of a server, such as ``http://127.0.0.1:11434/v1``; empty = the offline rules.
        model: the model's name there.
        keyring: whether the key for this address is in the system's keyring.
    """

    endpoint: str = ""
    model: str = ""
    keyring: bool = False

    @property
    def offline(self) -> bool:
        """Whether no server is used at all."""
        return not self.endpoint

    @property
    def label(self) -> str:
        """The model and its server, in a few words."""
        return f"{self.model} at {'OpenAI' if self.endpoint == OPENAI else self.host}"

    @property
    def host(self) -> str:
        """The server's name, as in the address."""
        parts = _split(self.endpoint)
        return (parts.hostname if parts else None) or "an invalid address"

    @property
    def local(self) -> bool:
        """Whether the server is on this machine."""
        return self.host in _LOCAL

    @property
    def readable_on_the_way(self) -> bool:
        """Whether memories leave this machine without encryption."""
        return not self.offline and not self.local and self.endpoint.startswith("http://")


def checked(endpoint: str, model: str, *, keyring: bool = False) -> ModelChoice:
    """A valid choice.

    Raises:
        InvalidParameter: the address is not an http or https one, or contains what does not belong there; or the
            model's name is empty or too long.
    """
    name = model.strip()
    if not 0 < len(name) <= _MOST_MODEL or not name.isprintable():
        raise InvalidParameter(f"The model's name must have 1 to {_MOST_MODEL} letters. Write it as the server has it.")
    return ModelChoice(checked_endpoint(endpoint), name, keyring)


def checked_endpoint(endpoint: str) -> str:
    """The address without a trailing slash, if it is valid. No message quotes it: a key may have been pasted there.

    Raises:
        InvalidParameter: it is not valid.
    """
    address = endpoint.strip().rstrip("/")
    example = "such as http://127.0.0.1:11434/v1"
    if not 0 < len(address) <= _MOST_ENDPOINT or not address.isascii() or not address.isprintable() or " " in address:
        raise InvalidParameter(f"The address must be one of http or https, {example}.")
    parts = _split(address)
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname or not host_of(address):
        raise InvalidParameter(f"The address must begin with http:// or https:// and name a server, {example}.")
    if parts.username is not None or parts.password is not None:
        raise InvalidParameter("The address holds a name or password. Leave it out; the key has a field of its own.")
    if parts.query or parts.fragment or "?" in address or "#" in address:
        raise InvalidParameter(f"The address must end with its path, without '?' or '#', {example}.")
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path}"


def _split(address: str) -> SplitResult | None:
    try:
        parts = urlsplit(address)
        return parts if parts.port is None or parts.port else None
    except ValueError:  # a port that is not a number, or brackets that do not close
        return None


def checked_key(key: str) -> str:
    """The key without the space around it, if it can be sent.

    Raises:
        InvalidParameter: it cannot; the message does not quote it.
    """
    text = key.strip()
    if not 0 < len(text) <= _MOST_KEY or not text.isascii() or not text.isprintable() or " " in text:
        raise InvalidParameter(f"A key has 1 to {_MOST_KEY} letters, digits and signs, and no spaces. Copy it again.")
    return text


class ChoiceFile:
    """Stores the choice for one world: ``<world>.model.json``, next to the world's folder.

    Args:
        folder: the world's.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder.with_name(f"{folder.name}.model.json")

    def read(self) -> ModelChoice | None:
        """What was chosen; ``None`` if nothing was, so that the environment decides.

        Raises:
            StoreDamaged: the file cannot be read, or its contents are invalid.
        """
        try:
            body: Any = json.loads(read_at_most(self.path, _MOST_BYTES))
            if body["use"] == "offline":
                return ModelChoice()
            return checked(body["endpoint"], body["model"], keyring=body.get("key") == "keyring")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreDamaged(f"{self.path} cannot be read: {error.strerror or error}. Choose again.") from error
        except (InvalidParameter, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise StoreDamaged(f"{self.path} does not name a language model. Choose again.") from error

    def write(self, choice: ModelChoice | None) -> None:
        """Save the choice; ``None`` = let the environment decide.

        Raises:
            StoreError: the file cannot be written.
        """
        with as_store_errors("The choice of a language model"):
            if choice is None:
                self.path.unlink(missing_ok=True)
                return
            server = {"use": "server", "endpoint": choice.endpoint, "model": choice.model}
            body = (
                {"use": "offline"} if choice.offline else server | {"key": "keyring" if choice.keyring else "not kept"}
            )
            self.path.parent.mkdir(parents=True, exist_ok=True)
            replace_text(self.path, json.dumps(body, indent=2) + "\n")

    def about(self) -> State | None:
        """The file's state, which changes with its contents; ``None`` if there is no file."""
        try:
            return state_of(self.path)
        except OSError:
            return None
