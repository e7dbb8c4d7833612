"""Change one thing in a module, run the tests nearest to it, and see whether one fails: ``make mutants``.

``tools/mutants.toml`` says which tests are nearest to which modules, ``tools/mutants_equivalent.toml`` which survivors
behave as the original does, and why. A sample of each group is tried, the same every time for one seed.

No ready-made tool fitted: mutmut 3 changes nothing outside functions and nothing in decorated ones (here properties,
context managers and constants), and cosmic-ray restarts Python for every mutant, which costs seconds of imports.
Here a process for each group imports other packages once, and forks for every mutant, in a copy of the tree.
Needs Linux: the resources a run used are read from /proc.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import Phase
from hypothesis import settings as hypothesis_settings

ROOT = Path(__file__).resolve().parents[1]
GROUPS = ROOT / "tools" / "mutants.toml"
EQUIVALENT = ROOT / "tools" / "mutants_equivalent.toml"
MOST_SURVIVING = 0.08
PER_LINE = 2
AT_ONCE_FROM_A_FILE = 5
FEW = 10
"""Numbers up to this become one more, larger ones twice as large."""
STILL_SECONDS, STILL_CPU = 60.0, 1.0
"""A run that uses less processor time than this for so long, and does not wait for a processor, is considered hung."""

COMPARISONS = {
    ast.Lt: ("<", ["<=", ">="]),
    ast.LtE: ("<=", ["<", ">"]),
    ast.Gt: (">", [">=", "<="]),
    ast.GtE: (">=", [">", "<"]),
    ast.Eq: ("==", ["!="]),
    ast.NotEq: ("!=", ["=="]),
    ast.Is: ("is", ["is not"]),
    ast.IsNot: (r"is\s+not", ["is"]),
    ast.In: ("in", ["not in"]),
    ast.NotIn: (r"not\s+in", ["in"]),
}
ARITHMETIC = {
    ast.Add: (r"\+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: (r"\*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: (r"\*\*", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: (r"\|", "&"),
}
SWAPPED_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "maximum": "minimum", "minimum": "maximum"}


@dataclass(frozen=True)
class Mutant:
    """One change of one file.

    ``first`` and ``last`` are the lines of the changed statement, ``start`` and ``end`` the bytes that ``text``
    replaces; ``where`` is the function, and ``was`` and ``is_now`` the changed lines without leading and trailing
    spaces.
    """

    path: str
    where: str
    line: int
    first: int
    last: int
    start: int
    end: int
    text: str
    was: str
    is_now: str
    nth: int = 0

    @property
    def name(self) -> str:
        """Eight characters that identify this mutant, whatever line it is on."""
        return self.digest("")[:8]

    def digest(self, seed: str) -> str:
        return hashlib.sha256("\0".join([seed, *self.key, str(self.nth)]).encode()).hexdigest()

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.path, self.where, self.was, self.is_now

    def applied(self, source: bytes) -> bytes:
        return source[: self.start] + self.text.encode() + source[self.end :]


class Mutator(ast.NodeVisitor):
    """Finds what can be changed in a source: not words, types, decorators, assertions or what is raised."""

    def __init__(self, path: str, source: bytes) -> None:
        self.path, self.source = path, source
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.scope: list[str] = []
        self.lines = (1, 1)
        self.within = (0, len(source))  # the changed function: the change has to be valid Python
        self.boolean = False
        self.found: list[Mutant] = []

    def mutants(self) -> list[Mutant]:
        self.visit(ast.parse(self.source))
        seen: Counter[tuple[str, ...]] = Counter()
        numbered = []
        for mutant in self.found:
            numbered.append(Mutant(**{**asdict(mutant), "nth": seen[mutant.key]}))
            seen[mutant.key] += 1
        return numbered

    def at(self, line: int, column: int) -> int:
        return self.starts[line - 1] + column

    def span(self, node: ast.AST) -> tuple[int, int]:
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)

    def add(self, span: tuple[int, int], text: str) -> None:
        start, end = span
        line = next(n for n, begin in enumerate(self.starts) if begin > start)
        until = next(begin for begin in self.starts[1:] if begin >= end and begin > start)
        begin = self.starts[line - 1]
        is_now = self.source[begin:start] + text.encode() + self.source[end:until]
        first, last = self.within
        block = b"if True:\n" if self.source[first : first + 1] == b" " else b""
        try:
            ast.parse(block + self.source[first:start] + text.encode() + self.source[end:last])
        except SyntaxError:
            return
        was, now = (b" ".join(part.split()).decode() for part in (self.source[begin:until], is_now))
        self.found.append(Mutant(self.path, ".".join(self.scope), line, *self.lines, start, end, text, was, now))

    def replace(self, node: ast.AST, text: str) -> None:
        self.add(self.span(node), text)

    def operator(self, left: ast.AST, right: ast.AST, token: str, text: str) -> None:
        """Change the operator between two nodes."""
        start, end = self.span(left)[1], self.span(right)[0]
        if found := re.search(token.encode(), self.source[start:end]):
            self.add((start + found.start(), start + found.end()), text)

    def negate(self, node: ast.AST) -> None:
        if not isinstance(node, ast.UnaryOp | ast.Compare):  # those are inverted themselves
            start, end = self.span(node)
            self.add((start, end), f"not ({self.source[start:end].decode()})")

    # -- what is visited ------------------------------------------------------------------------

    def visit(self, node: ast.AST) -> None:
        if not isinstance(node, ast.stmt):
            super().visit(node)
            return
        outer = self.lines
        body = getattr(node, "body", None)
        self.lines = (node.lineno, max(node.lineno, body[0].lineno - 1) if body else node.end_lineno)
        super().visit(node)
        self.lines = outer

    def visit_body_of(self, node: ast.AST) -> None:
        self.scope.append(node.name)
        for child in node.body:
            self.visit(child)
        self.scope.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.visit_body_of(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        outer, self.boolean = self.boolean, isinstance(node.returns, ast.Name) and node.returns.id == "bool"
        around, self.within = self.within, (self.starts[node.lineno - 1], self.span(node)[1])
        self.scope.append(node.name)
        for default in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(default)
        self.scope.pop()
        self.visit_body_of(node)
        self.boolean, self.within = outer, around

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Words are not changed."""

    def visit_Assert(self, node: ast.Assert) -> None:
        """Assertions, which only help the type checker, are not changed."""

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        for child in node.body:
            self.visit(child)

    # -- what is changed -------------------------------------------------------------------------------

    def visit_Raise(self, node: ast.Raise) -> None:
        self.replace(node, "pass")

    def visit_Compare(self, node: ast.Compare) -> None:
        for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            token, others = COMPARISONS[type(operator)]
            for other in others:
                self.operator(left, right, token, other)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        token, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.operator(left, right, rf"\b{token}\b", other)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        self.replace(node, self.source[slice(*self.span(node.operand))].decode())
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        words = any(isinstance(side, ast.JoinedStr) or _is_text(side) for side in (node.left, node.right))
        if type(node.op) in ARITHMETIC and not words:
            self.operator(node.left, node.right, *ARITHMETIC[type(node.op)])
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.replace(node, "pass")
        if isinstance(node.op, ast.Add | ast.Sub):
            token, other = ("+", "-") if isinstance(node.op, ast.Add) else ("-", "+")
            self.operator(node.target, node.value, re.escape(token), other)
        self.visit(node.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self.replace(node, str(not value))
        elif isinstance(value, int):
            self.replace(node, str(value + 1 if value <= FEW else value * 2))
            if value == 1:
                self.replace(node, "0")
        elif isinstance(value, float):
            self.replace(node, repr(value * 2 or 1.0))

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self.negate(node.test)
            self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self.negate(node.test)
        self.generic_visit(node)

    visit_IfExp = visit_While

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self.negate(test)
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if self.boolean and node.value is not None:
            self.negate(node.value)
        elif node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            self.replace(node.value, "None")
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)
        if isinstance(node.slice, ast.Slice):
            for end in filter(None, (node.slice.lower, node.slice.upper)):
                self.replace(end, "")
        self.visit(node.slice)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call | ast.Await):
            self.replace(node, "pass")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if isinstance(node.targets[0], ast.Attribute | ast.Subscript):
            self.replace(node, "pass")
        if not isinstance(node.targets[0], ast.Name) or node.targets[0].id != "__all__":
            self.visit(node.value)

    def visit_Delete(self, node: ast.Delete) -> None:
        self.replace(node, "pass")

    def visit_Break(self, node: ast.Break) -> None:
        self.replace(node, "continue")

    def visit_Continue(self, node: ast.Continue) -> None:
        self.replace(node, "break")

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in SWAPPED_NAMES and isinstance(node.ctx, ast.Load):
            self.replace(node, SWAPPED_NAMES[node.id])

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr in SWAPPED_NAMES:
            end = self.span(node)[1]
            self.add((end - len(node.attr), end), SWAPPED_NAMES[node.attr])
        self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "desc":
            self.add((self.span(node.func.value)[1], self.span(node)[1]), "")
        if not (isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "TypeVar")):
            self.generic_visit(node)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def mutants_of(root: Path, paths: list[str]) -> list[Mutant]:
    """Every mutant of some files."""
    return [mutant for path in paths for mutant in Mutator(path, (root / path).read_bytes()).mutants()]


def sample(mutants: list[Mutant], most: int, seed: str) -> list[Mutant]:
    """Up to ``most`` of them, at most two per line; the choice changes little when the file changes."""
    on_line: Counter[tuple[str, int]] = Counter()
    chosen = []
    for mutant in sorted(mutants, key=lambda one: one.digest(seed)):
        place = (mutant.path, mutant.line)
        if len(chosen) < most and on_line[place] < PER_LINE:
            on_line[place] += 1
            chosen.append(mutant)
    return sorted(chosen, key=lambda one: (one.path, one.line, one.start))


# -- one run of tests, in a fork -----------------------------------------------------------------------


class Observer:
    """A plugin of pytest: runs tests in an order, and records what fails, how long each takes, and what it runs."""

    def __init__(self, first: list[str], watched: dict[str, str]) -> None:
        self.first = {name: place for place, name in enumerate(first)}
        self.watched = watched
        self.failed = ""
        self.broken = False
        self.took: dict[str, float] = {}
        self.touched: dict[str, set[tuple[str, int]]] = defaultdict(set)
        self.shared = self.current = set()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list) -> None:
        if self.first:
            items[:] = sorted(
                (one for one in items if one.nodeid in self.first), key=lambda one: self.first[one.nodeid]
            )

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef) -> Iterator[None]:
        """Count what a shared fixture runs for each of its tests."""
        before = self.current
        if fixturedef.scope != "function":
            self.current = self.shared
        try:
            return (yield)
        finally:
            self.current = before

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.current = self.touched[nodeid]
        self.took[nodeid] = -time.process_time()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.took[nodeid] += time.process_time()
        self.current = self.shared

    def pytest_runtest_logreport(self, report: object) -> None:
        if report.failed:
            self.failed = self.failed or report.nodeid

    def pytest_collectreport(self, report: object) -> None:
        if report.failed:
            self.failed, self.broken = self.failed or report.nodeid, True

    def watch(self) -> None:
        """Record which lines of the watched files each test runs, in any thread."""

        def local(frame: object, event: str, _argument: object) -> object:
            if event == "line":
                self.current.add((self.watched[frame.f_code.co_filename], frame.f_lineno))
            return local

        def trace(frame: object, _event: str, _argument: object) -> object:
            return local if frame.f_code.co_filename in self.watched else None

        threading.settrace(trace)
        sys.settrace(trace)


def tests_in_a_fork(
    group: dict, scratch: Path, seconds: float, first: list[str], watched: dict[str, str]
) -> tuple[str, dict]:
    """Run a group's tests until one fails; returns how it ended, and what was recorded.

    Args:
        group: a group of ``mutants.toml``.
        scratch: an empty folder for everything that the tests write.
        seconds: the processor time that each process may use.
        first: the tests to run, in order; all if empty.
        watched: the files in which to record what each test runs, with their names.
    """
    mark = f"MUTANT_RUN={scratch}"
    pid = os.fork()
    if pid == 0:
        _run_tests(group, scratch, seconds, first, watched)
    try:
        ended, status = _waited_for(pid, mark)
    finally:
        for left in _processes(mark):
            _kill(left)
    told = scratch / "told.json"
    noted = json.loads(told.read_text()) if told.exists() else {}
    if ended:
        return ended, noted
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return ("endless" if number == signal.SIGXCPU else f"ended by {signal.Signals(number).name}"), noted
    code = os.WEXITSTATUS(status)
    if code == 0:
        return "passed", noted
    if code == pytest.ExitCode.USAGE_ERROR or noted.get("broken"):
        return "cannot be imported", noted  # by a conftest or a test
    if code == pytest.ExitCode.TESTS_FAILED and noted.get("failed"):
        return "failed", noted
    return f"unclear: code {code}", noted


def _run_tests(group: dict, scratch: Path, seconds: float, first: list[str], watched: dict[str, str]) -> None:
    os.setsid()
    limit = int(seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    output = os.open(scratch / "output.txt", os.O_WRONLY | os.O_CREAT)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.environ["MUTANT_RUN"] = os.environ["TMPDIR"] = str(scratch)
    tempfile.tempdir = None
    # the same examples for every mutant, without shrinking: one failure is enough
    phases = (Phase.explicit, Phase.generate)
    hypothesis_settings.register_profile("mutants", derandomize=True, database=None, phases=phases)
    hypothesis_settings.load_profile("mutants")
    observer = Observer(first, watched)
    if watched:
        observer.watch()
    options = ["-x", "-q", "--tb=short", "-p", "no:cacheprovider", "-o", "addopts=", f"--basetemp={scratch}/tests"]
    options += ["-m", "not long and not browser", "-k", group.get("only", "")]
    code = pytest.main([*options, *group["tests"]], [observer])
    noted = {"failed": observer.failed, "broken": observer.broken}
    if watched:
        sys.settrace(None)
        noted["took"] = observer.took
        noted["touched"] = {name: sorted(lines) for name, lines in observer.touched.items()}
        noted["shared"] = sorted(observer.shared)
        noted["modules"] = [name for name, module in sys.modules.items() if not _is_ours(module)]
        noted["seconds"] = time.process_time()
    (scratch / "told.json").write_text(json.dumps(noted))
    os._exit(code)


def _is_ours(module: ModuleType) -> bool:
    """Whether a module is in the tree, and so may be the changed one."""
    places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
    return any(place is not None and Path(place).is_relative_to(Path.cwd()) for place in places)


def _waited_for(pid: int, mark: str) -> tuple[str, int]:
    """Wait for a run to end, or to hang; returns ``hung`` or nothing, and the exit status."""
    looked, used, since, waits, looks = time.monotonic(), 0.0, time.monotonic(), 0, 0
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return "", status
        time.sleep(0.02)
        if time.monotonic() - looked < 3:
            continue
        looked = time.monotonic()
        cpu, runnable = _usage([pid, *_processes(mark)])
        waits, looks = waits + runnable, looks + 1
        if cpu - used > STILL_CPU or cpu < used:
            used, since, waits, looks = cpu, looked, 0, 0
        elif looked - since > STILL_SECONDS and waits < looks / 2:
            _kill(pid)
            return "hung", os.waitpid(pid, 0)[1]


def _processes(mark: str) -> list[int]:
    """The programs that a run has started, identified by an environment variable."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                told = (entry / "environ").read_bytes()
            except OSError:
                continue
            if mark.encode() in told.split(b"\0"):
                found.append(int(entry.name))
    return found


def _usage(pids: list[int]) -> tuple[float, bool]:
    """The processor time that processes used, in seconds, and whether one is running or waiting for a processor."""
    ticks, runnable = 0, False
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += int(fields[11]) + int(fields[12])
        runnable = runnable or fields[0] in "RD"
    return ticks / os.sysconf("SC_CLK_TCK"), runnable


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


# -- one group, in its own process ----------------------------------------------------------------


def work_on(group: dict, mutants: list[Mutant], tree: Path) -> Iterator[dict]:
    """Try mutants of a group in a copy of the tree; yields how long its tests take, then how each mutant ended."""
    os.chdir(tree)
    sys.path.insert(0, str(tree))
    scratch = tree.parent / f"{tree.name}-run"
    watched = {str(tree / path): path for path in {mutant.path for mutant in mutants}}

    def tried(seconds: float, first: list[str], watched: dict[str, str]) -> tuple[str, dict, str]:
        scratch.mkdir()
        ended, noted = tests_in_a_fork(group, scratch, seconds, first, watched)
        output = (scratch / "output.txt").read_text(errors="replace")
        shutil.rmtree(scratch, ignore_errors=True)
        return ended, noted, output

    ended, noted, output = tried(3600, [], watched)
    if ended != "passed":
        yield {"problem": f"The tests of {group['name']} do not pass as they are ({ended}):\n{output[-3000:]}"}
        return
    yield {"tests": len(noted["took"]), "seconds": noted["seconds"]}
    for name in noted["modules"]:
        try:
            importlib.import_module(name)
        except Exception:  # noqa: BLE001, S112 - modules that cannot be imported alone are imported by the fork
            continue
    for number, mutant in enumerate(mutants):
        file = tree / mutant.path
        source = file.read_bytes()
        if not (first := _order(mutant, noted)):
            yield {"mutant": asdict(mutant), "ended": "passed: no test runs this", "by": ""}
            continue
        try:
            file.write_bytes(mutant.applied(source))
            os.utime(file, (number + 1, number + 1))  # so that another mutant's bytecode is not used for this one
            ended, told, _ = tried(noted["seconds"] * 3 + 20, first, {})
        finally:
            file.write_bytes(source)
        yield {"mutant": asdict(mutant), "ended": ended, "by": told.get("failed", "")}


def _order(mutant: Mutant, noted: dict) -> list[str]:
    """The tests that run a changed line, the shortest few of each file first; no others can notice the change.

    If the line is run by an import, or by a fixture of several tests, all can. Programs that a test starts are not
    observed; such a test does not count here.
    """
    wanted = {(mutant.path, line) for line in range(mutant.first, mutant.last + 1)}
    ran = {name: {tuple(line) for line in lines} for name, lines in noted["touched"].items()}
    of_all = bool({tuple(line) for line in noted["shared"]} & wanted)
    took = noted["took"]
    of_file: Counter[str] = Counter()
    places = {}
    for name in sorted(took, key=lambda one: (not ran[one] & wanted, took[one])):
        if of_all or ran[name] & wanted:
            file = name.partition("::")[0]
            of_file[file] += 1
            places[name] = (not ran[name] & wanted, of_file[file] > AT_ONCE_FROM_A_FILE, file)
    return sorted(places, key=lambda name: places[name])


# -- the whole run -----------------------------------------------------------------------------------------


def copy_of_tree(target: Path) -> None:
    """Copy the files that git tracks, and those it would not ignore."""
    listed = subprocess.check_output(["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT).decode()
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def try_group(group: dict, mutants: list[Mutant], scratch: Path, say: object) -> dict:
    """Try a group's mutants in its own process; returns its line of the table."""
    started = time.monotonic()
    tree = scratch / group["name"]
    shutil.copytree(scratch / "as-it-is", tree)
    asked = scratch / f"{group['name']}.json"
    asked.write_text(json.dumps({"group": group, "mutants": [asdict(one) for one in mutants], "tree": str(tree)}))
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", PYTHONHASHSEED="0")
    command = [sys.executable, str(scratch / "as-it-is" / "tools" / "mutants.py"), "--work", str(asked)]
    result = {"group": group, "tried": [], "problem": "", "seconds": 0.0}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as working:
        for line in working.stdout:
            told = json.loads(line)
            if problem := told.get("problem", ""):
                result["problem"] = problem
                say(problem)
            if "tests" in told:
                say(f"{group['name']}: {told['tests']} tests pass in {told['seconds']:.0f} s; {len(mutants)} mutants")
            if "mutant" in told:
                mutant = Mutant(**told["mutant"])
                result["tried"].append((mutant, told["ended"], told["by"]))
                say(f"  {mutant.name} {mutant.path}:{mutant.line} {told['ended']} {told['by'].rpartition('/')[2]}")
    if len(result["tried"]) < len(mutants):
        result["problem"] = result["problem"] or f"{group['name']}: only {len(result['tried'])} mutants were tried."
    shutil.rmtree(tree, ignore_errors=True)
    result["seconds"] = time.monotonic() - started
    return result


def killed(ended: str) -> bool:
    """Whether the mutant was detected: a test failed, or the run would never have ended."""
    return not ended.startswith(("passed", "unclear"))


def report(results: list[dict]) -> int:
    """Print the table and the survivors; returns the exit code."""
    reasons = {
        (one["module"], one["in"], one["line"], one["mutated"]): one["why"]
        for one in tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("equivalent", [])
    }
    print(f"\n{'':12} {'mutants':>8} {'killed':>8} {'survived':>8} {'share':>7} {'explained':>9} {'seconds':>8}")
    all_tried, all_left, unexplained = 0, [], 0
    for result in results:
        left = [(mutant, ended) for mutant, ended, _ in result["tried"] if not killed(ended)]
        explained = sum(mutant.key in reasons for mutant, _ in left)
        _row(result["group"]["name"], len(result["tried"]), len(left), explained, result["seconds"])
        all_tried, all_left = all_tried + len(result["tried"]), all_left + left
        unexplained += len(left) - explained
    _row("all", all_tried, len(all_left), len(all_left) - unexplained, sum(one["seconds"] for one in results))
    for mutant, ended in all_left:
        print(f"\n{mutant.path}:{mutant.line} in {mutant.where or 'the module'} ({mutant.name}, {ended})")
        print(f"  - {mutant.was}\n  + {mutant.is_now}")
        print(f"  {'equivalent: ' + reasons[mutant.key] if mutant.key in reasons else 'NOT EXPLAINED'}")
    problems = [result["problem"] for result in results if result["problem"]]
    if problems or not all_tried:
        print("\n" + "\n".join(problems or ["Nothing was tried."]))
        return 1
    share = len(all_left) / all_tried
    print(f"\n{share:.1%} survived, of at most {MOST_SURVIVING:.0%}; {unexplained} of them are not explained.")
    return int(share > MOST_SURVIVING or unexplained > 0)


def _row(name: str, tried: int, left: int, explained: int, seconds: float) -> None:
    share = f"{left / tried:.0%}" if tried else "-"
    print(f"{name:12} {tried:8} {tried - left:8} {left:8} {share:>7} {explained:9} {seconds:8.0f}")


def main() -> int:
    """Try the requested mutants."""
    parser = argparse.ArgumentParser(description="Try whether the nearest tests notice when the code is changed.")
    parser.add_argument("--module", action="append", default=[], help="a group of mutants.toml; may be given again")
    parser.add_argument("--mutant", action="append", default=[], help="one mutant by its eight characters")
    parser.add_argument("--most", type=int, help="how many of each group; what mutants.toml says otherwise")
    parser.add_argument("--all", action="store_true", help="every mutant there is")
    parser.add_argument("--seed", default="1", help="which sample is taken")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="print what would be tried, and try nothing")
    parser.add_argument("--verbose", action="store_true", help="tell of every mutant")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        told = json.loads(Path(asked.work).read_text())
        for answer in work_on(told["group"], [Mutant(**one) for one in told["mutants"]], Path(told["tree"])):
            print(json.dumps(answer), flush=True)
        return 0
    groups = tomllib.loads(GROUPS.read_text(encoding="utf-8"))["group"]
    if strange := sorted(set(asked.module) - {group["name"] for group in groups}):
        parser.error(f"there is no group {strange[0]} in {GROUPS.name}")
    plan = []
    for group in groups:
        if asked.module and group["name"] not in asked.module:
            continue
        found = mutants_of(ROOT, group["modules"])
        if asked.mutant:
            chosen = [mutant for mutant in found if mutant.name in asked.mutant]
        else:
            chosen = found if asked.all else sample(found, asked.most or group["most"], asked.seed)
        if chosen:
            plan.append((group, chosen))
        if asked.list:
            print(f"{group['name']}: {len(chosen)} of {len(found)}")
            for mutant in chosen:
                print(f"  {mutant.name} {mutant.path}:{mutant.line}\n    - {mutant.was}\n    + {mutant.is_now}")
    if asked.list:
        return 0

    def say(line: str) -> None:
        if asked.verbose or not line.startswith(" "):
            print(line, flush=True)

    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch, ThreadPoolExecutor(asked.processes) as pool:
        os.chmod(scratch, 0o755)  # noqa: S103 - a PostgreSQL that a test starts runs as another user if this is root
        copy_of_tree(Path(scratch) / "as-it-is")
        longest_first = sorted(plan, key=lambda one: -len(one[1]))
        waited = {one[0]["name"]: pool.submit(try_group, *one, Path(scratch), say) for one in longest_first}
        results = [waited[group["name"]].result() for group, _ in plan]
    code = report(results)
    print(f"It took {time.monotonic() - started:.0f} s.")
    return code


if __name__ == "__main__":
    sys.exit(main())
