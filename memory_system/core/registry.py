"""Registry: things chosen by name, shipped with this package or added by another."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from ..errors import FROM_ELSEWHERE, InvalidParameter, did_you_mean, shown, words_of

Made = TypeVar("Made")


class Registry(Generic[Made]):
    """Things by name. None is imported before it is asked for, not even to list the names.

    Another package joins through an entry point in its ``pyproject.toml``, such as::

        [project.entry-points."memory_system.embedders"]
        hashing = "my_package:hashing"

    Args:
        group: the group of those entry points.
        what: what these are, for messages: "embedder".
        built_in: what ships, as ``module:name``; a package cannot reuse these names.
    """

    def __init__(self, group: str, what: str, built_in: Mapping[str, str]) -> None:
        self.group = group
        self._what = what
        self._built_in = {name: EntryPoint(name, value, group) for name, value in built_in.items()}

    def names(self) -> list[str]:
        """All names, those that ship first."""
        return [*self._built_in, *sorted({point.name for point in self._joined()} - set(self._built_in))]

    def get(self, name: str) -> Made:
        """The thing of this name.

        Raises:
            InvalidParameter: there is none, or two packages have one, or it cannot be imported.
        """
        known = isinstance(name, str) and name in self._built_in
        found = [self._built_in[name]] if known else self._joined(name)
        if not found:
            raise InvalidParameter(
                f"There is no {self._what} {shown(name)}; there are: {', '.join(self.names())}."
                f"{did_you_mean(name, self.names())} "
                f"A package can add others by entry points of {self.group!r}."
            )
        if len({point.value for point in found}) > 1:
            raise InvalidParameter(
                f"There are several {self._what}s {shown(name)}: {' and '.join(sorted(map(_of_package, found)))}. "
                "Uninstall all of these packages but one."
            )
        try:
            made: Made = found[0].load()
        except FROM_ELSEWHERE as error:
            raise InvalidParameter(
                f"The {self._what} {shown(name)} ({_of_package(found[0])}) cannot be loaded: {words_of(error)}"
            ) from error
        return made

    def _joined(self, name: str | None = None) -> list[EntryPoint]:
        """The entry points of other packages: all, or those of one name."""
        found = entry_points(group=self.group)
        return list(found if name is None else found.select(name=name))


def _of_package(point: EntryPoint) -> str:
    package = point.dist
    return point.value if package is None else f"{point.value} of {package.name} {package.version}"
