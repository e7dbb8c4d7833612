"""What strangers may write: scripts, markup, links, invisible characters, and far too much."""

from __future__ import annotations

SCRIPT = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"><b>bold</b>"
MARKDOWN = "![p](https://evil.invalid/n.png) [link](javascript:alert(1)) $x^2$ :red[x] :material/home: # **b** `c`"
LINKS = "https://evil.invalid www.evil.invalid me@evil.invalid :material/home: :streamlit: a -> b"
HIDDEN = "\u202egnirts\u202c \u2066isolated\u2069 zero\u200bwidth\u200d\ufeff N\x00UL \x1b[31m 👩‍👩‍👧‍👦 🔥 日本語 Z̷̖a̴l̸g̵o̶"
LONG = "geese " * 5000
TEXTS = {"script": SCRIPT, "markdown": MARKDOWN, "links": LINKS, "hidden": HIDDEN, "long": LONG}
MARKED_UP = f"x {SCRIPT} {MARKDOWN} {LINKS}"
"""Everything that a browser could treat as more than text.

It does not begin with a tag, which would turn the line into a block of HTML, and hide its Markdown.
"""
REFUSED = {0x00: None, 0x1B: None}
"""Control characters, which no memory may contain; other tests type them and check the message."""
