"""Nested lookup: keys and values, where a value may be the key of another pair; how many steps can be followed?

After MemGPT (Packer et al. 2023, arXiv 2310.08560, section 3.2.2), which nests the key-value retrieval of Liu et al.
2023 ("Lost in the Middle", arXiv 2307.03172): 140 pairs of UUIDs, a depth of 0 to 4, 30 orders of the pairs.
Everything is made here, the same in each run.
"""

from __future__ import annotations

import random
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from ..conversation import load_document
from .experiment import Experiment, Item, Lab
from .personality import personality

PAIRS, DEPTHS, ORDERS = 140, range(5), 30
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
ROLE = (
    "You have pairs of a key and a value, each on a line, 'key: value'. A value may be the key of another pair. "
    "Look up the key that you are asked for; if its value is itself a key, look that up too, and go on until the value "
    "is no key. Say that last value, and nothing else."
)


@dataclass(frozen=True)
class Pairs:
    """Pairs in an order, and for each depth a key with the value that it leads to.

    Args:
        lines: ``key: value``.
        chains: by depth, the key that is asked for and the last value.
    """

    lines: tuple[str, ...]
    chains: tuple[tuple[str, str], ...]


def pairs(number: int, count: int) -> Pairs:
    """The pairs of one order: a chain for each depth, and others that lead nowhere.

    Args:
        number: which order; the same number makes the same pairs.
        count: how many pairs, at least 15.
    """
    chance = random.Random(number)  # noqa: S311 - an experiment's keys, not a secret

    def made() -> str:
        return str(uuid.UUID(int=chance.getrandbits(128), version=4))

    lines, chains = [], []
    for depth in DEPTHS:
        chain = [made() for _ in range(depth + 2)]
        lines += [f"{key}: {value}" for key, value in pairwise(chain)]
        chains.append((chain[0], chain[-1]))
    lines += [f"{made()}: {made()}" for _ in range(count - len(lines))]
    chance.shuffle(lines)
    return Pairs(tuple(lines), tuple(chains))


def items(lab: Lab) -> Iterator[Item]:
    """Each order's pairs, loaded as a document of a separate agent, and queried at each depth."""
    for number in range(ORDERS if lab.limit is None else lab.limit):
        if lab.stop():
            return
        made = pairs(number, PAIRS)
        agent = lab.world.create_agent(f"keys-{number}", personality("Robin Hale", 0))
        load_document(agent, "\n".join(made.lines).encode(), name="pairs.txt")
        for depth, (key, value) in zip(DEPTHS, made.chains, strict=True):

            def measure(answer: str, value: str = value) -> tuple[float, ...]:
                named = _UUID.findall(answer.lower())
                return (float(named[-1:] == [value]),)

            question = f"What does the key {key} lead to?"
            yield Item(
                f"order {number} depth {depth}",
                f"depth {depth}",
                question,
                value,
                agent,
                agent.now,
                made.lines,
                measure,
            )


EXPERIMENT = Experiment(
    "140 pairs of keys and values, nested 0 to 4 deep (MemGPT, section 3.2.2); nothing is read.",
    ROLE,
    ("last value right",),
    items,
    judged=False,
)
