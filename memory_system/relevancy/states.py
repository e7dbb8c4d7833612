"""TokenStates: what the embedder makes of every token of a text, remembered in memory and, if wanted, in a file."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from ..embedding import Embedder, States, states_of
from .kept import Kept
from .packed import PackedStates
from .states_file import StatesFile

ROOM = 256 * 1024**2
"""Bytes held in memory: about 17,000 memories of a sentence or two."""


class TokenStates:
    """Token states of texts, computed when first asked for and then remembered; thread-safe.

    Args:
        encode: from texts to their states; ``None`` for an embedder that has none.
        file: where they are kept beyond this process, if they are.
        room: bytes to hold; what was not asked for longest leaves first.
    """

    def __init__(
        self,
        encode: Callable[[Sequence[str]], list[States]] | None,
        *,
        file: StatesFile | None = None,
        room: int = ROOM,
    ) -> None:
        self._encode = encode
        self._file = file
        self.relevancies: Kept[Any] = Kept()
        """What was worked out of them; here, so that all who share the states share the room."""
        self._room = room
        self._held: OrderedDict[bytes, PackedStates] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    @classmethod
    def of(cls, embedder: Embedder, *, file: Path | None = None, room: int = ROOM) -> Self:
        """The states of an embedder, which may have none; ``file`` is where they are kept beyond this process."""
        encode = states_of(embedder)
        kept = None if file is None or encode is None else StatesFile(file, embedder.identity)
        return cls(encode, file=kept, room=room)

    @property
    def available(self) -> bool:
        """Whether the embedder has token states at all."""
        return self._encode is not None

    def get(self, texts: Sequence[str]) -> list[PackedStates]:
        """The states of each text; only those not remembered are computed.

        Raises:
            EmbedderError: they could not be computed.
            ValueError: the embedder has no token states; ask ``available`` first.
        """
        if self._encode is None:
            raise ValueError("This embedder has no token states.")
        keys = [_key(text) for text in texts]
        with self._lock:
            known = {key: self._held[key] for key in keys if key in self._held}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing and self._file is not None:
            known |= self._file.read(list(missing))
            missing = {key: text for key, text in missing.items() if key not in known}
        if missing:
            unread = list(missing.values())
            fresh = dict(zip(missing, map(PackedStates.of, unread, self._encode(unread)), strict=True))
            known |= fresh
            if self._file is not None:
                self._file.write(fresh)
        self._hold(dict.fromkeys(keys), known)
        return [known[key] for key in keys]

    def keep(self, texts: Sequence[str], states: Sequence[States]) -> None:
        """Remember states that were computed elsewhere, such as those that vectors were just made of."""
        known = {_key(text): PackedStates.of(text, one) for text, one in zip(texts, states, strict=True)}
        if self._file is not None:
            self._file.write(known)
        self._hold(known, known)

    def forget(self, texts: Iterable[str]) -> None:
        """Remember nothing of these texts, in the file neither; they are computed again if they are asked for."""
        keys = [_key(text) for text in texts]
        with self._lock:
            for key in keys:
                if (held := self._held.pop(key, None)) is not None:
                    self._size -= held.size
        if self._file is not None:
            self._file.delete(keys)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()

    def _hold(self, keys: Iterable[bytes], known: Mapping[bytes, PackedStates]) -> None:
        with self._lock:
            for key in keys:
                if key not in self._held:
                    self._size += known[key].size
                self._held[key] = known[key]
                self._held.move_to_end(key)
            while self._size > self._room and self._held:
                self._size -= self._held.popitem(last=False)[1].size


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
