"""Documents are read, split where sentences end, found, undone and removed; what cannot be is refused in words."""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_system import AgentMemory, Tier, World
from memory_system.conversation.document_reading import PASSAGE, of_markdown, of_pages, of_text, read_pdf
from memory_system.conversation.documents import documents, load_document, passages, remove_document
from memory_system.conversation.searching import archival_search
from memory_system.errors import AlreadyExists, EntryNotFound, InvalidFile, InvalidParameter
from tests.pdfs import of_streams, pdf, protected

GUIDE = """# The mill

The tide mill has one true key. It hangs behind the oven.

## Flour

Rye is ground on Mondays.

```
# no heading
```

## Tides

High water comes twice a day.
"""
CAKES = pdf(
    [["Chocolate lava cakes are baked for nine min-", "utes. They are served warm."], ["Sails are made of hemp."]]
)


# -- splitting -------------------------------------------------------------------------------------------


def test_markdown_is_split_under_its_headings() -> None:
    found = of_markdown(GUIDE)
    assert [(one.heading, one.text.splitlines()[0]) for one in found] == [
        ("The mill", "The tide mill has one true key. It hangs behind the oven."),
        ("The mill › Flour", "Rye is ground on Mondays."),
        ("The mill › Tides", "High water comes twice a day."),
    ]
    assert all(GUIDE[one.place :].startswith(one.text) for one in found)
    assert "# no heading" in found[1].text


def test_a_long_paragraph_is_cut_where_a_sentence_ends() -> None:
    text = " ".join(f"This is the sentence of the number {number}." for number in range(100))
    found = of_text(text)
    assert all(one.text.endswith(".") and one.text.startswith("This") for one in found)
    assert max(len(one.text) for one in found) <= PASSAGE
    assert min(len(one.text) for one in found[:-1]) > PASSAGE - 60


def test_words_and_lines_that_the_paper_broke_are_joined() -> None:
    (first, second) = of_pages(["The choco-\nlate cake is\nserved warm.", "  \n", "Another page."])[:2]
    assert (first.text, first.page) == ("The chocolate cake is served warm.", 1)
    assert (second.text, second.page, second.number) == ("Another page.", 3, 1)


@given(st.text(st.sampled_from("ab .!?\n。字-#`"), max_size=6000))
def test_whatever_is_split_no_letter_is_lost_and_none_is_doubled(text: str) -> None:
    for found in (of_text(text), of_markdown(text)):
        assert all(0 < len(one.text) <= PASSAGE and one.text == one.text.strip() for one in found)
        assert all(text[one.place : one.place + len(one.text)] == one.text for one in found)
        assert [one.number for one in found] == list(range(len(found)))
        ends = [one.place + len(one.text) for one in found]
        assert all(end <= one.place for end, one in zip(ends, found[1:], strict=False))
    letters = [sign for sign in text if sign.isalnum()]
    assert [sign for one in of_text(text) for sign in one.text if sign.isalnum()] == letters


# -- loading ---------------------------------------------------------------------------------------------


def test_a_pdf_is_loaded_found_undone_and_done_again(world: World, agent: AgentMemory, tmp_path: Path) -> None:
    path = tmp_path / "Cakes.pdf"
    path.write_bytes(CAKES)
    done = load_document(agent, path)
    assert (done.operation, done.title) == ("load document", "Load “Cakes.pdf”: 2 passages")
    best = archival_search(agent, "How long is a lava cake baked?").found[0]
    assert (best.text, best.source) == (
        "Chocolate lava cakes are baked for nine minutes. They are served warm.",
        "Cakes.pdf, page 1",
    )
    agent.undo(done)
    assert (documents(agent), agent.entries(Tier.ARCHIVE)) == ((), [])
    agent.redo(done)
    world.close()
    (held,) = documents(world.agent("mira"))
    assert (held.name, held.form, held.pages, held.passages) == ("Cakes.pdf", "pdf", 2, 2)


def test_markdown_and_text_are_loaded_from_bytes(agent: AgentMemory) -> None:
    load_document(agent, GUIDE.encode(), name="mill.md")
    load_document(agent, "\ufeffKäse und Brot.\r\n".encode(), name="essen.txt")
    load_document(agent, "Utf-16 has marks.".encode("utf-16"), name="wide.txt")
    held = documents(agent)
    assert [(one.name, one.form, one.passages) for one in held] == [
        ("essen.txt", "text", 1),
        ("mill.md", "markdown", 3),
        ("wide.txt", "text", 1),
    ]
    assert [one.document for one in passages(agent, held[0].id)] == ["Käse und Brot."]
    assert archival_search(agent, "When is rye ground?").found[0].source == "mill.md, “The mill › Flour”"


def test_a_document_is_removed_and_comes_back_and_is_purged(world: World, agent: AgentMemory) -> None:
    load_document(agent, b"Zanzibar is the password.", name="secret.txt")
    (held,) = documents(agent)
    assert agent.query_memory("the password", threshold=0, static_threshold=1).hits == ()
    done = remove_document(agent, held.id)
    assert done.title == "Remove “secret.txt”"
    assert documents(agent) == ()
    agent.undo(done)
    assert documents(agent) == (held,)
    gone = remove_document(agent, held.id)
    agent.purge([change.entry_id for change in gone.changes])
    world.close()
    assert not [one for one in world.folder.rglob("*") if one.is_file() and b"Zanzibar" in one.read_bytes()]
    with pytest.raises(EntryNotFound, match="has no document"):
        remove_document(world.agent("mira"), held.id)


def test_the_same_document_is_not_loaded_twice(agent: AgentMemory) -> None:
    load_document(agent, CAKES, name="cakes.pdf")
    with pytest.raises(AlreadyExists, match=r"mira has this document already, as “cakes\.pdf”"):
        load_document(agent, CAKES, name="other.pdf")


def test_a_preview_changes_nothing_and_can_be_applied(agent: AgentMemory) -> None:
    before = agent.stamp
    plan = load_document(agent, CAKES, name="cakes.pdf", preview=True)
    assert (agent.stamp, documents(agent)) == (before, ())
    agent.apply(plan)
    assert [one.name for one in documents(agent)] == ["cakes.pdf"]


def test_progress_is_told_and_can_cancel(agent: AgentMemory) -> None:
    told: list[float] = []
    load_document(agent, CAKES, name="cakes.pdf", progress=lambda share, _doing: told.append(share))
    assert told == sorted(told)
    assert 0 <= told[0] <= told[-1] <= 1
    before = agent.stamp

    class Stopped(Exception):
        pass

    def stop(_share: float, _doing: str) -> None:
        raise Stopped

    for raw, name in ((pdf([["Another one."]]), "b.pdf"), (b"Plain text.", "c.txt")):
        with pytest.raises(Stopped):
            load_document(agent, raw, name=name, progress=stop)
    assert agent.stamp == before


# -- what cannot be taken --------------------------------------------------------------------------------


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb", b"\0" * 1_000_000)
    return out.getvalue()


def bomb() -> bytes:
    stream = zlib.compress(zlib.compress(b"BT /F1 12 Tf (" + b"A" * 90_000_000 + b") Tj ET", 9), 9)
    return of_streams([stream], "[/FlateDecode /FlateDecode]")


@pytest.mark.parametrize(
    ("raw", "name", "told"),
    [
        (b"", "a.txt", "it is empty"),
        (b"  \n ", "a.txt", "it is empty"),
        (b"... !!!", "a.txt", "it has no words"),
        (zipped(), "a.docx", "it is a ZIP archive, as office documents are. Text, Markdown and PDF can be loaded"),
        (b"\x89PNG\r\n\x1a\n" + b"x" * 50, "a.md", "it is a picture"),
        (b"Gr\xfc\xdfe", "a.txt", "byte 3 is not UTF-8"),
        (b"ab\x00cd" * 20, "a.txt", "it contains characters that text never has"),
        (bytes(range(1, 32)) * 20, "a.txt", "it contains characters that text never has"),
        (b"x" * 1_500_001, "a.txt", "it has 1,500,001 characters; at most 1,500,000 are allowed"),
        (b"x\n\n" * 20 + b"# a\n\nb\n\n" * 2001, "a.md", "passages would be made of it; at most 2,000 are allowed"),
        (b"%PDF-1.4\nnothing else", "a.pdf", "it is not a readable PDF"),
        (CAKES[: len(CAKES) // 3], "a.pdf", "In a.pdf: it"),
        (protected(CAKES, "secret"), "a.pdf", "it is protected by a password"),
        (pdf([[""], [""]]), "a.pdf", "it has no text: its pages may be pictures"),
        (bomb, "a.pdf", "none of its pages could be read (Limit reached while decompressing"),
    ],
    ids=[
        "empty",
        "blank",
        "no words",
        "archive",
        "picture",
        "latin-1",
        "zeros",
        "controls",
        "long",
        "many passages",
        "no pdf",
        "torn pdf",
        "password",
        "scanned",
        "bomb",
    ],
)
def test_what_cannot_be_taken_is_refused_in_words(
    agent: AgentMemory, raw: bytes | Callable[[], bytes], name: str, told: str
) -> None:
    before = agent.stamp
    with pytest.raises(InvalidFile) as caught:
        load_document(agent, raw if isinstance(raw, bytes) else raw(), name=name)
    assert told in caught.value.sentence
    assert (agent.stamp, documents(agent)) == (before, ())


def test_a_pdf_that_only_its_owner_may_change_is_read(agent: AgentMemory) -> None:
    load_document(agent, protected(CAKES, ""), name="owned.pdf")
    assert documents(agent)[0].pages == 2


@pytest.mark.parametrize(
    ("pages", "characters", "seconds", "told"),
    [
        (1, 1000, 60, "it has 2 pages; at most 1 are allowed"),
        (9, 30, 60, "more than 30 characters of text"),
        (9, 999, 0, "took longer than 0 seconds"),
    ],
)
def test_a_pdf_has_its_limits(pages: int, characters: int, seconds: float, told: str) -> None:
    with pytest.raises(InvalidFile, match=told):
        read_pdf(
            CAKES, "a.pdf", most_pages=pages, most_characters=characters, progress=lambda _share: None, seconds=seconds
        )


def test_what_is_no_file_is_refused_in_words(agent: AgentMemory, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, told in (
        (tmp_path / "none.txt", "No such file"),
        (tmp_path, "it is not a regular file"),
        (tmp_path / "pipe", "it is not a regular file"),
    ):
        with pytest.raises(InvalidFile, match=told):
            load_document(agent, path)
    for source, name in (
        (b"text", None),
        (b"text", ""),
        (b"text", "x" * 121),
        (b"text", "a\x07"),
        (3, "a"),
        ("", None),
        (None, None),
    ):
        with pytest.raises(InvalidParameter, match="A document"):
            load_document(agent, source, name=name)  # type: ignore[arg-type]
    assert documents(agent) == ()
