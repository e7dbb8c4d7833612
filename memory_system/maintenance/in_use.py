"""The world that a process serves, which can be switched for another one meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from ..core.settings import Settings
from ..errors import Conflict, shown
from ..store.server_notice import served
from ..world.world import World
from .worlds import Saved, Worlds

_CLOSING_SECONDS = 2.0
_MOST_SECONDS = 600.0
"""How long a world that is no longer in use waits for work that was begun in it; a model may be slow."""


class InUse:
    """Provides the world in use. Thread-safe.

    Callers that got the world before a switch go on in that one, and so does work that was begun in it: nothing meant
    for one world ever reaches another.

    Args:
        first: returns the world to begin with, each time until there is another; its opener closes it.
        another: opens another world by its settings; in the same way as the first if not given.
    """

    def __init__(self, first: Callable[[], World], another: Callable[[Settings], World] | None = None) -> None:
        self._first, self._another = first, another
        self._world: World | None = None
        self._lock = threading.RLock()
        self._left = threading.Condition()
        self._borrowed: dict[object, World] = {}
        self._notice = ExitStack()
        self._address = ""
        self._lives = False
        self.after: list[Callable[[], object]] = []
        """The functions that are called after a switch."""
        self.others: list[Callable[[], object]] = []
        """The functions that make other processes of the same server, if any, reopen what is served here."""

    @property
    def world(self) -> World:
        """The world in use."""
        return self._first() if self._world is None else self._world

    @property
    def worlds(self) -> Worlds:
        """All worlds in the same folder.

        Raises:
            Conflict: the world is thrown away when the program ends.
        """
        world = self.world
        return Worlds(world.settings, embedder=None if world.embedder_name else world.embedder)

    @contextmanager
    def serving(self, address: str, *, lives: bool = True) -> Iterator[None]:
        """Within the block, a notice for others says that this process serves the world in use.

        Args:
            address: where the server is.
            lives: whether what happens by itself happens, and ratings are made in the background.
        """
        with self._lock:
            self._address, self._lives = address, lives
            self._begin(self.world)
        try:
            yield
        finally:
            with self._lock:
                self._address = ""
                self._notice.close()

    def _begin(self, world: World) -> None:
        if self._address:
            self._notice.enter_context(served(world.folder, self._address))
        if self._address and self._lives:
            world.rerater.start()
            world.life.start()

    def switch(self, name: str) -> Saved:
        """Serve another world from now on, here and in every program that is started without a world's name.

        Raises:
            WorldNotFound: there is no world of this name.
            StoreError: it cannot be opened. Nothing was changed.
        """
        with self._lock:
            former, worlds = self.world, self.worlds
            name = worlds.known(name)
            if name != former.name:
                self._exchange(former, lambda: self._opened(former, name))
            return worlds.switch(name)

    def rename(self, name: str, to: str) -> Saved:
        """As ``Worlds.rename``, also for the world in use, which is then served under its new name."""
        with self._lock:
            former, worlds = self.world, self.worlds
            if name != former.name:
                return worlds.rename(name, to)
            if self.others:
                raise Conflict(
                    f"The world {name!r} is open in several workers, so it cannot be renamed. Switch to another world "
                    "first, or serve it with one worker."
                )
            worlds.free_name(to, but=name)
            self._notice.close()
            former.close()
            try:
                record = worlds.rename(name, to)
            except BaseException:
                self._begin(former)
                raise
            if record.name != former.name:
                self._exchange(former, lambda: self._opened(former, record.name))
            return record

    def tell_others(self) -> None:
        """Make the other processes of this server open again what is served here."""
        for tell in self.others:
            tell()

    def follow(self, name: str) -> None:
        """Open again, and serve from now on, what another process of the same server serves.

        Raises:
            StoreError: it cannot be opened. Nothing was changed.
        """
        with self._lock:
            former = self.world
            self._exchange(former, lambda: self._opened(former, name))

    def _opened(self, former: World, name: str) -> World:
        settings = former.settings.model_copy(update={"world": name})
        if self._another is not None:
            return self._another(settings)
        brought = None if former.embedder_name else former.embedder
        return World(settings, embedder=brought, author=former.author, take_over=former.take_over)

    def _exchange(self, former: World, opened: Callable[[], World]) -> None:
        world = opened()
        self._notice.close()
        self._world = world
        self._begin(world)
        for tell in self.after:
            tell()
        self.tell_others()
        closing = threading.Thread(target=self._close, args=(former,), name="closing", daemon=True)
        closing.start()
        closing.join(_CLOSING_SECONDS)

    def expected(self, name: str | None) -> World:
        """The world in use, if it has this name, or no name is given.

        Raises:
            Conflict: another world is in use.
        """
        world = self.world
        if name is not None and world.name != name:
            raise Conflict(
                f"The world in use is {world.name!r}, not {shown(name)}. Nothing was changed; switch to it, or ask "
                "this one without naming another."
            )
        return world

    def borrow(self, name: str | None) -> tuple[World, Callable[[], None]]:
        """The world in use, which is not closed for now, even after a switch.

        Returns it, and a function to call, once or more often, when it is no longer needed.

        Raises:
            Conflict: as ``expected``.
        """
        with self._lock:
            world = self.expected(name)
            borrower = object()
            with self._left:
                self._borrowed[borrower] = world
        return world, lambda: self._leave(borrower)

    def _leave(self, borrower: object) -> None:
        with self._left:
            self._borrowed.pop(borrower, None)
            self._left.notify_all()

    def _close(self, world: World) -> None:
        with self._left:
            self._left.wait_for(lambda: world not in self._borrowed.values(), _MOST_SECONDS)
        world.close()

    def close(self) -> None:
        """Close the world that was switched to, if one was."""
        with self._lock:
            self._notice.close()
            if self._world is not None:
                self._world.close()
