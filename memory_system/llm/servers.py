"""The models that a server offers: the answer to ``GET /models``, for a person to choose from.

Also parses addresses of language model servers as the packages that connect to them do.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ..errors import ModelNonsense, ModelTimeout, ModelUnavailable
from .redaction import Redaction
from .threads import within

if TYPE_CHECKING:
    import httpx


def host_of(address: str) -> str:
    """The server in an http or https address; empty if it cannot be the address of a server."""
    import httpx  # imports rich and click, which those who use no server do not need

    try:
        url = httpx.URL(address)
        host = url.host
        url.raw_host.decode("ascii").encode("idna")  # as in a lookup: labels may be empty or too long
    except (httpx.InvalidURL, UnicodeError):
        return ""
    return host if url.scheme in ("http", "https") else ""


_MOST_BYTES = 5_000_000
MOST = 1000
_MOST_NAME = 200
_OK = 200


def models(endpoint: str, key: str, seconds: float) -> tuple[str, ...]:
    """The names of the models that the server at this address lists, sorted.

    Args:
        endpoint: the base address.
        key: is sent along; empty = none.
        seconds: until an answer is no use.

    Raises:
        ModelUnavailable, ModelTimeout, ModelNonsense: the server gives no list; the message never contains the key.
    """
    import httpx

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    client = httpx.Client(headers=headers, timeout=seconds)
    try:  # a socket's timeout starts again with every byte that trickles in
        data = within(seconds, lambda: _asked(client, f"{endpoint}/models"), "models")
    except (httpx.TimeoutException, TimeoutError) as error:
        raise ModelTimeout(f"The server did not list its models in {seconds:.0f} seconds.") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ModelUnavailable("The server cannot be reached, or broke off while it listed its models.") from error
    finally:
        client.close()
    return _names(data, key)


def _asked(client: httpx.Client, address: str) -> bytes:
    data = bytearray()
    with client.stream("GET", address) as answer:
        if answer.status_code != _OK:
            raise ModelUnavailable(f"The server does not list its models (it answered {answer.status_code}).")
        for chunk in answer.iter_bytes():
            data += chunk
            if len(data) > _MOST_BYTES:
                raise ModelNonsense("The server's list of its models has no end.")
    return bytes(data)


def _names(data: bytes, key: str) -> tuple[str, ...]:
    try:
        body = json.loads(data)
        found = {model["id"] for model in body["data"]}
        names = sorted(name for name in found if isinstance(name, str) and 0 < len(name) <= _MOST_NAME)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelNonsense("The server's list of its models is not of the OpenAI form.") from error
    hidden = Redaction(key)
    return tuple(hidden.strict(name) for name in names if name.isprintable())[:MOST]
