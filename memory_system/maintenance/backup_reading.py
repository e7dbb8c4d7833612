"""Reading a backup: inspecting, checking and unpacking it. Nothing in a stranger's file is trusted unchecked.

It may contain only what is in its manifest: plain files, at paths inside its folders, with the sizes and checksums
given there. Links, encrypted files, duplicates and files that grow beyond their given size are refused.
"""

from __future__ import annotations

import filecmp
import hashlib
import shutil
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO

from ..core.files import as_store_errors, making, within
from ..errors import InvalidBackup, NotFound, shown
from ..operations.context import Progress, no_progress
from ..world.cut_off import HALF
from .backup_manifest import AGENTS, BIN, MOST_BYTES, NAME, WORLD, Kept, Manifest

_CHUNK = 1 << 20
_MOST_FILES = 100_000
_SMALL = 20 << 20
_MOST_TIMES = 100
"""How many times its packed size a file may have, unless it is small: memories never shrink that much."""
_NOT_ZIP = (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError, OverflowError, zlib.error)
"""What reading a truncated or malicious zip raises."""


def stored(folder: Path) -> list[Path]:
    """The backups in a folder, of whichever world, the last made first; links are left out.

    Raises:
        StoreError: the folder cannot be read.
    """
    made = {}
    with as_store_errors("The backups"):
        for path in within(folder, "*.zip"):
            with suppress(FileNotFoundError):  # deleted meanwhile
                if path.is_file() and not path.is_symlink():
                    made[path] = path.stat().st_mtime
    return sorted(made, key=lambda path: (-made[path], path.name))


def find(folder: Path, name: str) -> Path:
    """The backup of this file name in a folder, and nowhere else.

    Raises:
        NotFound: there is no such backup.
        StoreError: the folder cannot be read.
    """
    for path in stored(folder):
        if path.name == name:
            return path
    raise NotFound(f"There is no backup {shown(name)} in the server's backup folder.")


def look(path: str | Path) -> Manifest:
    """The contents of a backup according to its manifest; its files are not read yet.

    Raises:
        InvalidBackup: it is not a backup, or contains what does not belong in one.
        StoreError: the file cannot be read.
    """
    with _opened(Path(path)) as (_, manifest):
        return manifest


def check(path: str | Path, *, progress: Progress = no_progress) -> Manifest:
    """The contents of a backup, with every file read and compared with its checksum.

    Raises:
        InvalidBackup: it is not a backup, or not as it was made.
        StoreError: the file cannot be read.
    """
    with _opened(Path(path)) as (zipped, manifest):
        _read(zipped, manifest, progress, "Checking", lambda _name, _chunk: None)
        return manifest


def unpack(
    path: str | Path,
    place: Callable[[str], Path],
    *,
    progress: Progress = no_progress,
    cancelled: Callable[[], bool] = lambda: False,
) -> Manifest | None:
    """Write the files of a backup, each compared with its checksum; returns its contents, ``None`` if stopped.

    Args:
        path: the backup.
        place: where a file goes, by its path in the backup; it must not exist yet.
        progress: called with the progress so far.
        cancelled: called between files, to ask whether to stop.

    Raises:
        InvalidBackup: it is not a backup, or not as it was made. Some files may have been written.
        StoreError: a file cannot be read or written.
    """
    with _opened(Path(path)) as (zipped, manifest):
        written: dict[str, IO[bytes]] = {}

        def write(name: str, chunk: bytes) -> None:
            if name not in written:
                for file in written.values():
                    file.close()
                written.clear()
                target = place(name)
                target.parent.mkdir(parents=True, exist_ok=True)
                written[name] = target.open("xb")
            written[name].write(chunk)

        try:
            whole = _read(zipped, manifest, progress, "Unpacking", write, cancelled)
        finally:
            for file in written.values():
                file.close()
        return manifest if whole else None


def take_in(source: IO[bytes], folder: Path) -> Path:
    """Add an uploaded backup to the others, under a name of ours; one that exists already is not duplicated.

    Args:
        source: the uploaded file, at its beginning.
        folder: where the backups are; made if it is missing.

    Raises:
        InvalidBackup: it is not a backup; nothing was stored.
        StoreError: it cannot be written.
    """
    with as_store_errors(f"The folder of backups {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        with making(folder, HALF) as scratch:
            beside = scratch / "uploaded.zip"
            with beside.open("wb") as file:
                shutil.copyfileobj(source, file, _CHUNK)
            try:
                manifest = look(beside)
            except InvalidBackup as error:
                raise InvalidBackup(error.sentence.replace(beside.name, "The file")) from error
            number, target = 1, folder / named(manifest.world, manifest.made_at)
            while target.exists():
                if filecmp.cmp(beside, target, shallow=False):
                    return target
                number += 1
                target = folder / named(manifest.world, manifest.made_at, f" ({number})")
            beside.replace(target)
    return target


def named(world: str, made_at: datetime, twin: str = "") -> str:
    """The file name of a backup of a world."""
    return f"{world} {made_at:%Y-%m-%d %H%M%S}{twin}.zip"


@contextmanager
def _opened(path: Path) -> Iterator[tuple[zipfile.ZipFile, Manifest]]:
    with as_store_errors(f"The backup {path.name!r}"):
        if not path.is_file():
            raise InvalidBackup(f"There is no file {path}.")
        try:
            with zipfile.ZipFile(path) as zipped:
                yield zipped, _manifest(zipped, path.stat().st_size)
        except InvalidBackup as error:
            raise InvalidBackup(f"{path.name} cannot be restored. {error.sentence}") from error
        except _NOT_ZIP as error:
            raise InvalidBackup(
                f"{path.name} cannot be restored. It is not a backup, or it was cut off or changed: {error!s:.100}."
            ) from error


def _manifest(zipped: zipfile.ZipFile, size: int) -> Manifest:
    infos = zipped.infolist()
    if len(infos) > _MOST_FILES:
        raise InvalidBackup(f"It holds {len(infos):,} files; a backup has at most {_MOST_FILES:,}.")
    for info in infos:
        _refuse_unplain(info)
    names = [info.filename for info in infos]
    if names.count(NAME) != 1:
        raise InvalidBackup(f"This is not a backup of this program: it has no {NAME}.")
    manifest_info = zipped.getinfo(NAME)
    if manifest_info.file_size > MOST_BYTES:
        raise InvalidBackup(f"Its {NAME} is larger than any backup's.")
    with zipped.open(manifest_info) as file:
        manifest = Manifest.from_json(file.read(MOST_BYTES))
    if sorted(names) != sorted([NAME, *manifest.files]):
        odd = sorted(set(names) ^ {NAME, *manifest.files}) or ["a file"]
        raise InvalidBackup(f"What it holds is not what it lists: {shown(odd[0])} is missing, added, or there twice.")
    for info in infos:
        if info.filename != NAME and info.file_size != manifest.files[info.filename].size:
            raise InvalidBackup(f"{shown(info.filename)} is not of the size that it had.")
        if info.file_size > max(_SMALL, _MOST_TIMES * info.compress_size):
            raise InvalidBackup(
                f"{shown(info.filename)} would unpack to {info.file_size:,} bytes, which no backup does."
            )
    if manifest.size > max(_SMALL, _MOST_TIMES * size):
        raise InvalidBackup(f"It would unpack to {manifest.size:,} bytes from {size:,}, which no backup does.")
    return manifest


def _refuse_unplain(info: zipfile.ZipInfo) -> None:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG) or info.is_dir():
        raise InvalidBackup(f"It contains {shown(info.filename)}, which is not a plain file.")
    if info.flag_bits & 1:
        raise InvalidBackup("It is encrypted.")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InvalidBackup(f"{shown(info.filename)} is packed in a way that no backup uses.")


def _read(
    zipped: zipfile.ZipFile,
    manifest: Manifest,
    progress: Progress,
    doing: str,
    take: Callable[[str, bytes], None],
    cancelled: Callable[[], bool] = lambda: False,
) -> bool:
    """Pass on every file piece by piece, and compare it with its checksum; returns whether it reached the end."""
    done, whole = 0, max(manifest.size, 1)
    called = {agent.name: agent.shown or agent.name for agent in manifest.agents}
    for name, kept in manifest.files.items():
        if cancelled():
            return False
        top, of, *_ = name.split("/")
        what = {AGENTS: called.get(of, of), BIN: "the bin", WORLD: "what the world itself keeps"}[top]
        progress(done / whole, f"{doing} {what}")
        take(name, b"")
        for chunk in _chunks(zipped, name, kept):
            take(name, chunk)
            done += len(chunk)
    return True


def _chunks(zipped: zipfile.ZipFile, name: str, kept: Kept) -> Iterator[bytes]:
    checksum, left = hashlib.sha256(), kept.size
    with zipped.open(name) as file:
        while chunk := file.read(min(_CHUNK, left + 1)):
            left -= len(chunk)
            if left < 0:
                break
            checksum.update(chunk)
            yield chunk
    if left or checksum.hexdigest() != kept.sha256:
        raise InvalidBackup(f"{shown(name)} is not as it was when the backup was made.")
