"""What a world's language models cost: a price for each by name, in a file in the world's folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.files import as_store_errors, read_at_most, replace_text
from ..errors import InvalidParameter, StoreDamaged, shown

FILE = "model-prices.json"
MOST = 200
"""The most models with a price."""
_DEAREST = 100_000.0
_LONGEST = 200
_MAX_BYTES = 1_000_000
_PER = 1_000_000


@dataclass(frozen=True)
class Price:
    """The cost of a million tokens, in whatever currency all prices are in.

    Args:
        prompt: of what is sent, 0 to 100,000.
        answer: of what comes back, 0 to 100,000.

    Raises:
        InvalidParameter: one is not such a number.
    """

    prompt: float
    answer: float

    def __post_init__(self) -> None:
        for name in ("prompt", "answer"):
            value = getattr(self, name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not 0 <= value <= _DEAREST:  # this excludes infinity and NaN
                raise InvalidParameter(
                    f"The price of {name} tokens must be a number from 0 to {_DEAREST:,.0f} for a million of them, "
                    f"not {shown(value)}."
                )
            object.__setattr__(self, name, float(value))

    def of(self, prompt: int, answer: int) -> float:
        """The cost of so many tokens."""
        return (prompt * self.prompt + answer * self.answer) / _PER


def read(folder: Path) -> dict[str, Price]:
    """The prices by the model's name; a model that has none, as local ones do, costs nothing.

    Raises:
        StoreDamaged: the file cannot be read.
    """
    path = folder / FILE
    try:
        body: Any = json.loads(read_at_most(path, _MAX_BYTES))
        return checked({name: Price(**price) for name, price in body.items()})
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise StoreDamaged(f"{path} cannot be read: {shown(str(error))}. Fix or delete that file.") from error


def write(folder: Path, prices: Mapping[str, Price]) -> None:
    """Replace the prices.

    Raises:
        InvalidParameter: there are more than 200, or one is invalid or has no name.
        StoreError: the file cannot be written.
    """
    body = {name: {"prompt": price.prompt, "answer": price.answer} for name, price in checked(prices).items()}
    with as_store_errors(f"The world's folder {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        replace_text(folder / FILE, json.dumps(body, ensure_ascii=False, indent=1, sort_keys=True) + "\n")


def checked(prices: Mapping[str, Price]) -> dict[str, Price]:
    """The prices, if they are valid.

    Raises:
        InvalidParameter: there are more than 200, or one is invalid or has no name.
    """
    if len(prices) > MOST:
        raise InvalidParameter(f"There are {len(prices):,} prices; at most {MOST} are kept.")
    for name, price in prices.items():
        if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST or not name.isprintable():
            raise InvalidParameter(f"A price needs the name of a model, 1 to {_LONGEST} characters, not {shown(name)}.")
        if not isinstance(price, Price):
            raise InvalidParameter(f"The price of {shown(name)} must be a Price(prompt, answer).")
    return dict(prices)
