"""Files and folders named on the command line, as data sets: all of them, or one error."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import InvalidFile, Problem
from . import plain
from .data import DataSet, Form
from .forms import Source, read
from .locomo import read_locomo
from .smallville import read_smallville

ENDINGS = (".json", ".jsonl")
"""The files of a folder to read; a file that is named itself is read whatever its ending."""


def data_sets(paths: Sequence[Path], *, captions: bool = False) -> list[DataSet]:
    """The data sets of these files and folders, in the order of the paths, plain files that belong together last.

    Args:
        paths: files, and folders that are walked.
        captions: whether what a shared picture shows is part of a LoCoMo memory.

    Raises:
        InvalidFile: a path holds no data, or a file is invalid; file and line are named.
    """
    found: list[DataSet] = []
    loose: list[plain.Parted] = []
    for source in read_form(paths, Form.LOCOMO, Form.SMALLVILLE, Form.PLAIN):
        if source.form is Form.LOCOMO:
            found.append(read_locomo(source, captions=captions))
        elif source.form is Form.SMALLVILLE:
            found.append(read_smallville(source))
        else:
            _place(plain.part(source), found, loose)
    found += _joined(loose)
    return _named_apart(found)


def read_form(paths: Sequence[Path], *forms: Form) -> Iterator[Source]:
    """The files of these paths, all of these forms; each once, however often it is named.

    Raises:
        InvalidFile: a path holds no data, or a file is of another form.
    """
    files = {file.absolute(): file for path in paths for file in _files(path)}
    for path in files.values():
        source = read(path)
        if source.form not in forms:
            problem = Problem("", f"it contains {source.form}, but {' or '.join(forms)} is expected here")
            raise InvalidFile((problem,), str(path))
        yield source


def _files(path: Path) -> Iterator[Path]:
    try:
        is_folder = path.is_dir()
    except OSError as error:
        raise InvalidFile((Problem("", f"it cannot be looked at: {error.strerror}"),), str(path)[:200]) from error
    if not is_folder:
        yield path
        return
    files = []
    for folder, inner, names in os.walk(path, onerror=_refuse_folder):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        files += [
            Path(folder, name) for name in sorted(names) if name.lower().endswith(ENDINGS) and not name.startswith(".")
        ]
    if not files:
        raise InvalidFile((Problem("", "the folder has no .json or .jsonl file"),), str(path))
    yield from files


def _refuse_folder(error: OSError) -> None:
    problem = Problem("", f"the folder cannot be read: {error.strerror or error}")
    raise InvalidFile((problem,), str(error.filename)) from error


def _place(file: plain.Parted, found: list[DataSet], loose: list[plain.Parted]) -> None:
    """A file with memories and cues is a data set by itself; others wait for their other half."""
    if file.entries and file.cues:
        found.append(plain.join(file.source.name, [file]))
    else:
        loose.append(file)


def _joined(loose: list[plain.Parted]) -> Iterator[DataSet]:
    """Halves in one folder belong together; the remaining ones then do too, wherever they are."""
    rest = []
    for folder in dict.fromkeys(file.source.path.parent for file in loose):
        here = [file for file in loose if file.source.path.parent == folder]
        if any(file.entries for file in here) and any(file.cues for file in here):
            yield plain.join(folder.name, here)
        else:
            rest += here
    if rest and not any(file.cues for file in rest):
        raise _half(rest, "memories only; name a file with cues too")
    if rest and not any(file.entries for file in rest):
        raise _half(rest, "cues only; name the file with the memories too")
    if rest:
        yield plain.join(next(file.source.name for file in rest if file.cues), rest)


def _half(rest: list[plain.Parted], holds: str) -> InvalidFile:
    return InvalidFile((Problem("", f"it holds {holds}"),), str(rest[0].source.path))


def _named_apart(found: list[DataSet]) -> list[DataSet]:
    """The data sets with unique names, so that the rows of the report cannot be confused."""
    taken: Counter[str] = Counter()
    named = []
    for data_set in found:
        taken[data_set.name] += 1
        named.append(
            data_set
            if taken[data_set.name] == 1
            else replace(data_set, name=f"{data_set.name} ({taken[data_set.name]})")
        )
    return named
