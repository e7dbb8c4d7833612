"""PDFs for tests, written byte by byte, so that they can be as good or as bad as a test needs."""

from __future__ import annotations

import io
import zlib
from collections.abc import Sequence

from pypdf import PdfReader, PdfWriter


def pdf(pages: Sequence[Sequence[str]], *, compressed: bool = False) -> bytes:
    """A PDF whose pages have these lines, in Helvetica."""
    streams = []
    for lines in pages:
        shown = " ".join(f"({_escaped(line)}) Tj 0 -14 Td" for line in lines)
        streams.append(f"BT /F1 12 Tf 72 720 Td {shown} ET".encode("latin-1"))
    return of_streams(
        [zlib.compress(one) for one in streams] if compressed else streams, "/FlateDecode" if compressed else ""
    )


def of_streams(streams: Sequence[bytes], filters: str = "") -> bytes:
    """A PDF of pages with these contents."""
    count = len(streams)
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(count))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, stream in enumerate(streams):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        head = f"<< /Length {len(stream)} {f'/Filter {filters}' if filters else ''} >>\nstream\n".encode()
        objects.append(head + stream + b"\nendstream")
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    at = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{at}\n%%EOF\n".encode()
    return bytes(out)


def protected(raw: bytes, password: str) -> bytes:
    """The same PDF behind a password."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(raw)))
    writer.encrypt(password, algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def _escaped(line: str) -> str:
    return line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
