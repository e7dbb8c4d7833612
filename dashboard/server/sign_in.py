"""The sign-in page: plain HTML that fetches nothing and runs no script."""

from __future__ import annotations

import base64
import html
from functools import cache
from pathlib import Path

from ..data import type_scale

IN, OUT = "/sign-in", "/sign-out"
_STYLE = (
    type_scale.declared(":root")
    + """
:root{color-scheme:light dark}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1.5rem;
 font:var(--type-read)/var(--type-read-line) 'Source Sans','Source Sans Pro',system-ui,sans-serif;
 background:light-dark(#f7f7f4,#161614);color:light-dark(#161513,#efeee8)}
main{width:100%;max-width:25rem;padding:2rem;border-radius:.75rem;
 background:light-dark(#fff,#1e1e1b);border:1px solid light-dark(#dcdcd6,#3a3a36)}
img{height:2rem;display:block;margin:0 0 1.5rem}
h1{font-size:var(--type-title);line-height:var(--type-title-line);margin:0 0 .5rem;font-weight:650}
p{margin:0 0 1.5rem;color:light-dark(#57544e,#b9b6ac)}
label{display:block;font-weight:600;font-size:var(--type-text);line-height:var(--type-text-line);margin-bottom:.25rem}
input{width:100%;font:inherit;padding:.5rem .75rem;border-radius:.5rem;color:inherit;
 background:light-dark(#fff,#22221f);border:1px solid light-dark(#8d8a82,#77746c)}
button{width:100%;margin-top:1rem;padding:.75rem 1rem;font:inherit;font-weight:600;border:0;border-radius:.5rem;
 cursor:pointer;background:light-dark(#005a8e,#4aa3d8);color:light-dark(#fff,#161614)}
button:hover{background:light-dark(#00466e,#6fb9e6)}
:is(input,button):focus-visible{outline:3px solid light-dark(#4aa3d8,#6fb9e6);outline-offset:2px}
.wrong{margin:0 0 1rem;padding:.75rem;border-radius:.5rem;
 background:light-dark(#fdecea,#3b1f1c);color:light-dark(#8c1d13,#ffb4a9)}
small{display:block;margin-top:1.5rem;font-size:var(--type-text);line-height:var(--type-text-line);color:light-dark(#5e5b55,#a8a59c)}
"""
)


def page(then: str, problem: str = "") -> str:
    """The page's HTML.

    Args:
        then: where it leads on to.
        problem: what was wrong with the last try, in a sentence; empty the first time.
    """
    alert = f'<div class="wrong" role="alert" id="wrong">{html.escape(problem)}</div>' if problem else ""
    by = ' aria-describedby="wrong" aria-invalid="true"' if problem else ""
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>Sign in · Memory system</title><style>{_STYLE}</style></head><body><main>"
        f"<img alt='Memory system' src='{_logo()}'>"
        "<h1>Sign in</h1><p>These memories are private. Enter your password.</p>"
        f"{alert}<form method='post' action='{IN}'>"
        f'<input type="hidden" name="next" value="{html.escape(then, quote=True)}">'
        "<label for='password'>Password</label>"
        "<input id='password' name='password' type='password' autocomplete='current-password' required autofocus"
        f" maxlength='1000'{by}><button type='submit'>Sign in</button></form>"
        "<small>Your password decides whether you can only look or also make changes. "
        "You stay signed in for twelve hours.</small>"
        "</main></body></html>"
    )


@cache
def _logo() -> str:
    svg = Path(__file__).parents[1].joinpath("logo.svg").read_bytes()
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
