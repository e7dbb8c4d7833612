"""``test``: the tests of a story, run against a world."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ...errors import InvalidDocument, StoreError
from ...world.knows import FILE, StoryTest, junit
from ...world.knows.story import read
from ...world.world import World
from ..serialize import plain
from .arguments import Json, the_world
from .progress import ProgressLine
from .terminal import say, show_json

RED, BAD_FILE = 1, 2
"""Exit codes: a test is red, or could not be run; the file of tests is wrong."""


def run_story(
    file: Annotated[Path | None, typer.Argument(help=f"The tests, in YAML; the world's {FILE} if not given.")] = None,
    junit_file: Annotated[Path | None, typer.Option("--junit", help="Write the results as JUnit's XML, too.")] = None,
    json: Json = False,
) -> None:
    """Run the tests of a story against a world. Example: python -m memory_system test world-tests.yaml --junit out.xml.

    Nothing is changed. The exit code is 1 if a test fails, and 2 if the file of tests is wrong.
    """
    with the_world(json=json) as world:
        tests = _tests_of(world, file)
        results = world.run_tests(tests, progress=ProgressLine())
        if junit_file is not None:
            junit_file.write_text(junit(results, world.name), encoding="utf-8")
    if json:
        show_json({"world": world.name, "items": [plain(result) for result in results]})
    else:
        for result in results:
            say(str(result))
        red = sum(not result.passed for result in results)
        say(f"{len(results)} tests, {len(results) - red} passed, {red} red." if results else "There are no tests yet.")
    if any(not result.passed for result in results):
        raise typer.Exit(RED)


def _tests_of(world: World, file: Path | None) -> tuple[StoryTest, ...]:
    """The tests of a file, or the world's; errors in it are reported with their lines, and end the command."""
    problems: Sequence[object] = ()
    if file is not None and not file.exists():
        problems = (f"there is no such file. Name one, or leave it out for the world's {FILE}.",)
    else:
        try:
            return world.story_tests() if file is None else read(file)
        except InvalidDocument as error:
            problems = error.problems
        except StoreError as error:
            problems = (error.sentence,)
    for problem in problems:
        say(f"{file or FILE}: {problem}", err=True)
    raise typer.Exit(BAD_FILE)
