"""The short round and the long one: ``make test`` takes a part of the slow cases, ``make faults`` all of them."""

from __future__ import annotations

import zlib

import pytest

SLOW = ("test_damaged_store.py", "test_doctor.py")
_SHARE = 4


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark three of four cases of the slow files, always the same ones."""
    for item in items:
        if item.path.name in SLOW and zlib.crc32(item.name.encode()) % _SHARE:
            item.add_marker(pytest.mark.long)
