"""Anthropic's memory tool (``memory_20250818``) over an agent: each file that the model writes is a memory.

Each act of the model is a change set. Files are in long-term memory, pinned, so that nothing forgets them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext

from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError
from anthropic.types import beta
from pydantic import BaseModel, ValidationError

from ...agent import AgentMemory
from ...core.change_set import ChangeSet
from ...core.entry import Kind, MemoryEntry, Tier
from ...errors import MemorySystemError, problem_words
from ...operations.context import bare
from .notes import Ends, Notes, below

ROOT = "/memories"
_KEY = "memory_tool_path"
_BLANK = "memory_tool_blank"
"""The metadata with the text of an empty file; since a memory needs words, its text is the file's path."""
_MOST = 1000
_COMMANDS = ("view", "create", "str_replace", "insert", "delete", "rename")


class MemoryTool(BetaAbstractMemoryTool):
    """The tool, to be passed to ``client.beta.messages.run_tools(tools=[...])``.

    Args:
        agent: in whose memory the files are.
        author: the name under which the history shows what the model does.
    """

    def __init__(self, agent: AgentMemory, author: str = "Claude") -> None:
        super().__init__()
        self._notes = Notes(agent, author, _KEY, Tier.LTM)

    def execute(self, command: beta.BetaMemoryTool20250818Command) -> str:
        """Carry out a command; nobody else can change the files meanwhile.

        Raises:
            ToolError: it cannot be done; a sentence says why, for the model. Nothing was changed.
        """
        _refuse_misshapen(command)
        with nullcontext() if command.command == "view" else self._notes.alone():
            return str(super().execute(command))

    def undo(self) -> ChangeSet | None:
        """Undo the last act of this tool that is not undone yet; ``None`` if there is none."""
        return self._notes.undo()

    def view(self, command: beta.BetaMemoryTool20250818ViewCommand) -> str:
        """The text of a file with its line numbers, or the files of a folder."""
        path, files = _path(command.path), self._notes.entries()
        if path in files:
            lines = _text(files[path]).split("\n")
            if len(command.view_range or [1, -1]) != 2:
                raise ToolError(f"Invalid `view_range` parameter: {command.view_range}. It is two line numbers.")
            begin, end = command.view_range or [1, -1]
            numbered = list(enumerate(lines, start=1))[max(begin, 1) - 1 : None if end == -1 else end]
            listing = "\n".join(f"{number:6}\t{line}" for number, line in numbered)
            return f"Here's the content of {path} with line numbers:\n{listing}"
        inside = _inside(path, files)
        if not inside and path != ROOT:
            raise ToolError(f"The path {path} does not exist. Please provide a valid path.")
        sizes = below(path, {name: len(_text(entry).encode()) for name, entry in inside.items()})
        listed = "\n".join(f"{size}B\t{name}" for name, size in sorted(sizes.items()))
        return f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:\n{listed}"

    def create(self, command: beta.BetaMemoryTool20250818CreateCommand) -> str:
        """Write a new file."""
        path, files = _path(command.path), self._notes.entries()
        if _is_taken(path, files):
            raise ToolError(f"File {path} already exists, or lies below a file")
        self._write(f"Create {path}", path, command.file_text, None)
        return f"File created successfully at: {path}"

    def str_replace(self, command: beta.BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs once in a file."""
        path, entry = self._file(command.path)
        text = _text(entry)
        if (count := text.count(command.old_str)) != 1:
            lines = [str(number) for number, line in enumerate(text.split("\n"), 1) if command.old_str in line]
            where = f"Multiple occurrences of old_str `{command.old_str}` in lines: {', '.join(lines)}. Make it unique"
            none = f"old_str `{command.old_str}` did not appear verbatim in {path}."
            raise ToolError(f"No replacement was performed. {where if count else none}")
        self._write(f"Edit {path}", path, text.replace(command.old_str, command.new_str or ""), entry)
        return "The memory file has been edited."

    def insert(self, command: beta.BetaMemoryTool20250818InsertCommand) -> str:
        """Insert lines after a line of a file, 0 for its beginning."""
        path, entry = self._file(command.path)
        lines = _text(entry).removesuffix("\n").split("\n") if _text(entry) else []
        if not 0 <= command.insert_line <= len(lines):
            sentence = f"Invalid `insert_line` parameter: {command.insert_line}."
            raise ToolError(f"{sentence} It should be within the range [0, {len(lines)}].")
        lines.insert(command.insert_line, command.insert_text.removesuffix("\n"))
        self._write(f"Edit {path}", path, "\n".join(lines) + "\n", entry)
        return f"The file {path} has been edited."

    def delete(self, command: beta.BetaMemoryTool20250818DeleteCommand) -> str:
        """Send a file, or all of a folder, to the agent's bin."""
        path, moved = self._moved(command.path)
        self._do("forget", f"Delete {path}", [(entry, None) for entry in moved.values()])
        return f"Successfully deleted {path}"

    def rename(self, command: beta.BetaMemoryTool20250818RenameCommand) -> str:
        """Give a file, or all of a folder, another path."""
        new = _path(command.new_path)
        path, moved = self._moved(command.old_path)
        if _is_taken(new, self._notes.entries()) or new.startswith(f"{path}/"):
            raise ToolError(f"The destination {new} already exists, or lies below a file")
        ends = [
            (entry, self._notes.named(entry, **{_KEY: new + name.removeprefix(path)})) for name, entry in moved.items()
        ]
        self._do("edit", f"Rename {path} to {new}", ends)
        return f"Successfully renamed {path} to {new}"

    def _moved(self, raw_path: str) -> tuple[str, Mapping[str, MemoryEntry]]:
        """The file of a path, or those below it."""
        path, files = _path(raw_path), self._notes.entries()
        moved = {path: files[path]} if path in files else _inside(path, files)
        if path == ROOT:
            raise ToolError("Cannot delete or rename the /memories directory itself")
        if not moved:
            raise ToolError(f"The path {path} does not exist")
        return path, moved

    def _file(self, raw_path: str) -> tuple[str, MemoryEntry]:
        path = _path(raw_path)
        if (entry := self._notes.entries().get(path)) is None:
            raise ToolError(f"The path {path} does not exist. Please provide a valid path.")
        return path, entry

    def _write(self, title: str, path: str, text: str, before: MemoryEntry | None) -> None:
        as_new = MemoryEntry(title, {_KEY: path}, tier=Tier.LTM, kind=Kind.FACT, pinned=True)
        try:
            entry = before or as_new
            metadata = {name: value for name, value in entry.extras.items() if name != _BLANK}
            if not text.strip():
                metadata[_BLANK], text = text, f"{path} is empty."
            after = bare(entry).evolve(document=text, metadata=metadata, timestamp=self._notes.agent.now)
        except MemorySystemError as error:
            raise ToolError(error.sentence) from error
        self._do("edit" if before else "add", title, [(before, after)])

    def _do(self, operation: str, title: str, changes: Sequence[Ends]) -> None:
        try:
            self._notes.apply(operation, title, changes)
        except MemorySystemError as error:
            raise ToolError(error.sentence) from error


def _refuse_misshapen(command: object) -> None:
    """Raise for what a command lacks, or has of another type; the SDK passes it on unchecked."""
    if not isinstance(command, BaseModel):
        raise ToolError("A command is an object with the field `command`.")
    if getattr(command, "command", None) not in _COMMANDS:
        raise ToolError(f"Invalid `command` parameter. It is one of {', '.join(_COMMANDS)}.")
    said = command.model_dump(exclude_unset=True, exclude_none=True, warnings=False)
    try:
        type(command).model_validate({"new_str": ""} | said)  # the replacement may be empty
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise ToolError(f"Invalid `{where}` parameter. {problem_words(problem)}.") from error


def _text(entry: MemoryEntry) -> str:
    """The text of a file."""
    return str(entry.extras.get(_BLANK, entry.document))


def _path(raw_path: str) -> str:
    """A path below /memories in a standard spelling; it is only a name, not a file of this machine."""
    parts = raw_path.strip().rstrip("/").split("/")
    plain = all(part not in ("", ".", "..") and part.isprintable() for part in parts[1:])
    if parts[:2] != ["", "memories"] or not plain or len(raw_path) > _MOST:
        raise ToolError(f"Path must start with {ROOT} and stay within it, got: {raw_path[:200]}")
    return "/".join(parts)


def _inside(path: str, files: Mapping[str, MemoryEntry]) -> dict[str, MemoryEntry]:
    return {name: entry for name, entry in files.items() if name.startswith(f"{path}/")}


def _is_taken(path: str, files: Mapping[str, MemoryEntry]) -> bool:
    below_a_file = any(path.startswith(f"{file}/") for file in files)
    return path == ROOT or path in files or below_a_file or bool(_inside(path, files))
