"""Files that a page offers to download, each at an address that stays the same however often the page is drawn.

Streamlit's own download button renames its file in every run and drops that of the run before, so that a click
while the page is drawn requests a file that is gone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from memory_system import AgentMemory, MemorySystemError, World
from memory_system.errors import NotAllowed, NotFound
from memory_system.maintenance import backup_reading
from memory_system.world import Role

from ..data import moments
from .visitors import COOKIE, Visitors

BACKUP, JUDGMENTS, OFFERED = "/downloads/backup", "/downloads/judgments", "/downloads/offered"
EXPORT = "/downloads/export"
_MOST_OFFERED = 100
_offered: dict[str, tuple[str, str]] = {}
"""The texts that pages offer as files, and what the files are called, by their content; the newest last."""


def offered(text: str, name: str) -> str:
    """The address of a text as a file; it is the same for the same text, and valid until many others are offered."""
    of = hashlib.sha256(f"{name}\0{text}".encode()).hexdigest()
    _offered.pop(of, None)
    _offered[of] = text, name
    while len(_offered) > _MOST_OFFERED:
        _offered.pop(next(iter(_offered)), None)
    return link(OFFERED, of=of)


def link(path: str, **names: str) -> str:
    """The address of a file, with the names that identify it."""
    return f"{path}?{urlencode(names)}"


def routes(world: Callable[[], World], visitors: Visitors) -> list[Route]:
    """The addresses of all files that pages offer; the entrance admits only those who have signed in.

    Args:
        world: returns the world of the files.
        visitors: who has signed in, and in which role.
    """

    def meant(request: Request) -> AgentMemory:
        """The agent that a link names, at the moment that it names or now."""
        then = moments.from_link(request.query_params)
        agent = world().agent(request.query_params.get("agent", ""))
        return agent if then is None else agent.as_of(**then.arguments())

    def export(request: Request) -> Response:
        """An agent as a file in one of the forms of export."""
        file = meant(request).export_as(request.query_params.get("form", ""))
        attached = {"Content-Disposition": f"attachment; filename*=utf-8''{quote(file.name)}"}
        return Response(file.content, media_type=file.media, headers=attached)

    def backup(request: Request) -> Response:
        """A backup of the backup folder, for curators."""
        if visitors.role(request.cookies.get(COOKIE)) is not Role.CURATOR:
            raise NotAllowed("Viewers cannot download backups: sign in as a curator.")
        path = backup_reading.find(world().settings.backup_folder, request.query_params.get("file", ""))
        return FileResponse(path, media_type="application/zip", filename=path.name)

    def judgments(request: Request) -> Response:
        """The judgments on an agent's answers, with its memories, at the moment that the link names or now."""
        shown = meant(request)
        attached = {"Content-Disposition": f'attachment; filename="{shown.name}-judgments.jsonl"'}
        return Response(shown.cues.judgments_jsonl(memories=True), media_type="application/x-ndjson", headers=attached)

    def text(request: Request) -> Response:
        """A text that a page offers, for anybody who has seen its address."""
        file = _offered.get(request.query_params.get("of", ""))
        if file is None:
            raise NotFound("This file is no longer available: open the page again.")
        attached = {"Content-Disposition": f'attachment; filename="{file[1]}"'}
        return Response(file[0], media_type="text/csv; charset=utf-8", headers=attached)

    answers = {BACKUP: backup, JUDGMENTS: judgments, OFFERED: text, EXPORT: export}
    return [Route(path, _answer_or_sentence(answer)) for path, answer in answers.items()]


def _answer_or_sentence(answer: Callable[[Request], Response]) -> Callable[[Request], Response]:
    """The answer, or a sentence that says why there is none."""

    def respond(request: Request) -> Response:
        try:
            return answer(request)
        except MemorySystemError as error:
            return PlainTextResponse(error.sentence, error.status)

    return respond
