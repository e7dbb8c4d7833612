"""Addresses of language model servers, as the packages that ask there read them."""

from __future__ import annotations


def host_of(address: str) -> str:
    """The server that an address of http or https names; empty if no server can be reached by it."""
    import httpx  # brings rich and click along, for those who ask no server

    try:
        url = httpx.URL(address)
        host = url.host
        url.raw_host.decode("ascii").encode("idna")  # as looking it up does: labels may be empty or too long
    except (httpx.InvalidURL, UnicodeError):
        return ""
    return host if url.scheme in ("http", "https") else ""
