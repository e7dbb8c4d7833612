"""What the command line draws on a real terminal, how a shell completes it, and how it ends when it is stopped."""

from __future__ import annotations

import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from memory_system import AgentMemory, World
from memory_system.interfaces.cli.completion import Shell, script
from memory_system.interfaces.cli.progress import ProgressLine
from memory_system.interfaces.cli.terminal import Column, heads, plain_table, show_told
from memory_system.interfaces.reads import READS
from tests.command_line import CommandLine
from tests.conftest import ROOT
from tests.waiting import LAST_RESORT, until

Remember = Callable[..., str]
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def environment(world: World, **more: str) -> dict[str, str]:
    return os.environ | {
        "MEMORY_DATABASE": str(world.settings.database),
        "MEMORY_PERSONALITIES": str(world.settings.personalities),
        "MEMORY_LLM": "offline",
        "TERM": "xterm-256color",
        "COLUMNS": "100",
        **more,
    }


def on_a_terminal(world: World, *arguments: str, **more: str) -> str:
    """What a command draws where its stdout is a terminal."""
    terminal, side = pty.openpty()
    command = [sys.executable, "-m", "memory_system", *arguments]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment(world, **more), stdout=side, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
    ) as child:
        os.close(side)
        drawn = b""
        try:
            while piece := os.read(terminal, 65_536):
                drawn += piece
        except OSError:  # how Linux tells that the other side is closed
            assert drawn
        assert child.wait(timeout=LAST_RESORT) == 0
    os.close(terminal)
    return drawn.decode("utf-8").replace("\r\n", "\n")


def test_a_terminal_gets_a_drawn_table_in_which_strangers_steer_nothing(
    world: World, agent: AgentMemory, remember: Remember
) -> None:
    remember("Read \x1b[2J\u202e[red]letters[/red] in the mill.", id="red")
    drawn = on_a_terminal(world, "recall", "mira", "red letters in the mill", "--threshold", "0", "--dry-run")
    assert "─" in drawn
    assert COLOURS.search(drawn)
    assert all(sign.isprintable() for sign in COLOURS.sub("", drawn).replace("\n", ""))
    assert "[red]letters[/red]" in " ".join(COLOURS.sub("", drawn).split())
    assert max(len(line) for line in COLOURS.sub("", drawn).splitlines()) <= 100


def test_no_color_is_heeded(world: World, agent: AgentMemory) -> None:
    drawn = on_a_terminal(world, "agents", NO_COLOR="1")
    assert "Mira Holloway" in drawn
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", drawn)


def test_a_plain_table_lines_up_wide_signs_and_leaves_pictures_out() -> None:
    columns = [Column("name"), Column("bar", drawn=True), Column("count", right=True)]
    assert plain_table(columns, [["光子", "███", "7"], ["mira", "█", "12"]]) == "name  count\n光子      7\nmira     12"


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_completes_commands_options_agents_and_presets(world: World, agent: AgentMemory) -> None:
    asked = {"summ": 1, "recall mi": 2, "recall mira x --pres": 4, "recall mira x --preset bal": 5}
    lines = [script(Shell.BASH)]
    for words, place in asked.items():
        lines.append(f"COMP_WORDS=(memory-system {words}); COMP_CWORD={place}; _memory_system_completion")
        lines.append('echo "${COMPREPLY[@]}"')
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)],
        cwd="/",
        env=environment(world),
        capture_output=True,
        text=True,
        timeout=LAST_RESORT,
        check=True,
    )
    assert done.stdout.splitlines() == ["summarise", "mira", "--preset", "balanced"]
    assert done.stderr == ""


@pytest.mark.parametrize("shell", Shell)
def test_the_lines_for_a_shell_are_right_in_that_shell(shell: Shell) -> None:
    found = shutil.which(shell)
    if found is None:
        assert sys.executable in script(shell)
        return
    subprocess.run([found, "-n", "-c", script(shell)], check=True, timeout=LAST_RESORT, capture_output=True)


def test_completing_makes_no_folder_and_says_nothing_where_there_is_nothing(tmp_path: Path) -> None:
    more = {"MEMORY_DATABASE": str(tmp_path / "none"), "MEMORY_PERSONALITIES": str(tmp_path / "nobody")}
    asking = {"_MEMORY_SYSTEM_COMPLETE": "complete_bash", "COMP_WORDS": "memory-system recall m", "COMP_CWORD": "2"}
    command = [sys.executable, "-m", "memory_system"]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | more | asking,
        capture_output=True,
        text=True,
        timeout=LAST_RESORT,
        check=False,
    )
    assert (done.stdout.strip(), done.stderr) == ("", "")
    assert list(tmp_path.iterdir()) == []


def waits(pid: int) -> bool:
    """Whether the first thread of a program waits for something."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "S"


def test_ctrl_c_ends_with_130_and_changes_nothing(world: World, agent: AgentMemory) -> None:
    before = agent.stamp
    (Path(world.settings.personalities) / "mira.json").write_text("{", encoding="utf-8")  # it is told when it is open
    command = [sys.executable, "-m", "memory_system", "add", "mira", "-"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, env=environment(world), stdin=pipe, stdout=pipe, stderr=pipe) as child:
        assert child.stderr is not None
        assert child.stderr.readline().startswith(b"Note on mira: ")
        until(lambda: waits(child.pid))  # Python does not see what comes just before it begins to read
        child.send_signal(signal.SIGINT)
        assert child.stderr.read() == b"Stopped.\n"
        assert child.wait(timeout=LAST_RESORT) == 130
    assert agent.stamp == before


def test_progress_is_quiet_while_it_is_quick(capsys: pytest.CaptureFixture[str]) -> None:
    line = ProgressLine(patience=60)
    line(0.5, "Rating 1 of 2")
    line.end()
    assert capsys.readouterr().err == ""
    told = ProgressLine()
    for done in (0.0, 0.01, 0.5, 1.0):
        told(done, "Rating\x1b[2J")
    assert capsys.readouterr().err == "  0%  Rating�[2J\n 50%  Rating�[2J\n100%  Rating�[2J\n"


def test_what_keeps_a_world_only_tells_what_it_would_do(
    world: World, agent: AgentMemory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cli = CommandLine(world, monkeypatch)
    agent.add_short_term({"document": "Fed the geese.", "rating": 3})
    assert cli("backup", str(tmp_path / "world.zip"), "--dry-run").out.endswith("No file was made.\n")
    assert cli("export", "mira", str(tmp_path / "mira.jsonl"), "--dry-run").out.endswith("No file was made.\n")
    assert "0 have no vector" in cli("reembed", "mira", "--dry-run").out
    assert "not empty; nothing would be changed" in cli("fill", "database/samples/harrow_quay", "--dry-run").out
    assert not {path.name for path in tmp_path.iterdir()} & {"world.zip", "mira.jsonl"}


def _parts() -> set[str]:
    """What the parts of all answers of reads that have a command of their own are called in JSON."""
    shapes = [TypeAdapter(read.model).json_schema(mode="serialization") for read in READS if not read.command]
    held = [part for shape in shapes for part in (shape, *shape.get("$defs", {}).values())]
    return {name for part in held for name in part.get("properties", {})}


def test_tables_of_reads_are_headed_in_words() -> None:
    parts = sorted(_parts())
    assert len(parts) > 200
    odd = re.compile(r"[^a-z' -]|\b(stm|ltm|ids)\b")
    assert {part: head for part, head in zip(parts, heads(parts), strict=True) if odd.search(head)} == {}
    assert heads(["entry.document", "let_go", "known_to"]) == ["memory", "let go", "known to"]
    assert heads(["then.entry.tier", "now.entry.tier"]) == ["then tier", "now tier"]
    assert heads(["name", "test.name", "cell.name"]) == ["name", "test name", "cell name"]


def test_what_an_answer_says_is_told_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    told = {
        "authors": {"file mira.json": 1, "Jo": 2},
        "operations": {"settings": 3},
        "links": [["a", "b"], ["b", "c"]],
        "items": [{"tier": "ltm", "again": True, "metadata": {}}, {"tier": "stm", "metadata": {"x.y": 1.25}}],
    }
    show_told(told)
    lines = [re.split(r" {2,}", line) for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        ["authors: file mira.json: 1, Jo: 2"],
        ["operations: settings: 3"],
        ["links: a b, b c"],
        ["tier", "again", "metadata"],
        ["long-term", "yes"],
        ["short-term", "x.y: 1.25"],
    ]


def test_where_only_ascii_is_allowed_a_command_is_refused_in_words(world: World) -> None:
    world.create_agent("jürgen")
    done = subprocess.run(
        [sys.executable, "-m", "memory_system", "agents"],
        cwd=ROOT,
        env=environment(world, PYTHONUTF8="0", LC_ALL="C"),
        capture_output=True,
        text=True,
        timeout=LAST_RESORT,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Nothing was done: this environment allows only the letters of ASCII")
