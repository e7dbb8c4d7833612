"""A recall then and now, drawn. Imports no streamlit."""

from __future__ import annotations

import html
from typing import Any

import pandas as pd

from memory_system import Query

from ... import words
from ...data.tables import short

_TEXT = 300
_STYLE = """<style>
.shifts{--faint:color-mix(in srgb,currentColor 72%,transparent);--line:color-mix(in srgb,currentColor 16%,transparent);
font-size:var(--type-text);line-height:var(--type-text-line)}
.shifts ul{list-style:none;margin:0;padding:0}
.shifts li{display:grid;grid-template-columns:minmax(0,5fr) minmax(0,6fr) 9rem;gap:0 1rem;align-items:center;
margin:0;padding:.5rem 0;border-top:1px solid var(--line)}
.shifts .said{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;
overflow:hidden;overflow-wrap:anywhere}
.shifts .key,.shifts .told{font-size:var(--type-small);line-height:var(--type-small-line);color:var(--faint)}
.shifts .key{display:flex;flex-wrap:wrap;gap:0 1rem;padding-bottom:.5rem}
.shifts .told{font-variant-numeric:tabular-nums}
.shifts .key span{display:flex;align-items:center;gap:.5rem}
.shifts .key i{position:static;transform:none}
.shifts .track{position:relative;height:1.25rem;margin:0 .5rem;
background:linear-gradient(var(--line),var(--line)) center/100% 1px no-repeat}
.shifts :is(i,b){position:absolute;display:block;flex:none;top:50%;transform:translate(-50%,-50%)}
.shifts b{height:100%;border-left:2px dashed #888}.shifts b.then{border-left-style:dotted}
.shifts i.between{height:2px;background:#888;transform:translateY(-50%)}
.shifts i.then{width:15px;height:15px;border:3px solid #CC79A7;border-radius:50%}
.shifts i.now{width:9px;height:9px;background:currentColor;border-radius:50%}
.shifts i.out{opacity:.45;border-radius:0;transform:translate(-50%,-50%) rotate(45deg)}
.shifts .key i.out{transform:rotate(45deg)}
@media(max-width:640px){.shifts li{grid-template-columns:minmax(0,1fr)}}
</style>"""


def shifted(frame: pd.DataFrame, then: Query, now: Query) -> str:
    """Each memory's score then (a ring) and now (a dot) on a line, as HTML; squares were not recalled.

    Args:
        frame: as made by ``relive_tables.shifted``.
        then: the query at that time, for its threshold.
        now: the query now.
    """
    records = frame.to_dict("records")
    scores = [record[name] for record in records for name in ("then", "now") if pd.notna(record[name])]
    end = 1.06 * max([*scores, then.threshold, now.threshold])
    marks = [("now", now.threshold)]
    if then.threshold != now.threshold:
        marks = [("then", then.threshold), *marks]
    lines = "".join(f'<b class="{name}" style="left:{_share(at, end)}"></b>' for name, at in marks)
    rows = "".join(
        f'<li><span class="said">{_plain(record["shift"])} · {_plain(short(record["memory"], _TEXT))}</span>'
        f'<span class="track" aria-hidden="true">{lines}{_points(record, end)}</span>'
        f'<span class="told">{_plain(_scores_in_words(record))}</span></li>'
        for record in records
    )
    listed = f'<ul aria-label="{words.SCORES_THEN_AND_NOW}">{rows}</ul>'
    return f'{_STYLE}<div class="shifts">{_key(records, marks)}{listed}</div>'


def _key(records: list[dict[Any, Any]], marks: list[tuple[str, float]]) -> str:
    """The meaning of the symbols that occur."""
    parts = [
        f'<span><i class="{name}{"" if recalled else " out"}"></i>{name}{"" if recalled else ", not recalled"}</span>'
        for name in ("then", "now")
        for recalled in (True, False)
        if any(_drawn(record, name, recalled) for record in records)
    ]
    said = [f"{name if len(marks) > 1 else 'threshold'} {at:.2f}" for name, at in marks]
    dashes = dict(zip(("now", "then"), ("┆", "┊"), strict=True))
    parts += [f"<span>{dashes[name]} {text}</span>" for (name, _), text in zip(marks, said, strict=True)]
    return f'<div class="key">{"".join(parts)}</div>'


def _points(record: dict[Any, Any], end: float) -> str:
    scores = [(name, record[name]) for name in ("then", "now") if pd.notna(record[name])]
    places = [score for _, score in scores]
    drawn = ""
    if len(scores) > 1:
        wide = _share(max(places) - min(places), end)
        drawn = f'<i class="between" style="left:{_share(min(places), end)};width:{wide}"></i>'
    for name, score in scores:
        out = "" if record[f"recalled {name}"] else " out"
        drawn += f'<i class="{name}{out}" style="left:{_share(score, end)}"></i>'
    return drawn


def _share(score: float, end: float) -> str:
    return f"{100 * max(0.0, score) / end:.2f}%"


def _drawn(record: dict[Any, Any], name: str, recalled: bool) -> bool:
    return bool(pd.notna(record[name])) and record[f"recalled {name}"] is recalled


def _scores_in_words(record: dict[Any, Any]) -> str:
    """Both scores in words."""
    parts = []
    for name in ("then", "now"):
        score = "not there" if pd.isna(record[name]) else f"{record[name]:.2f}"
        parts.append(f"{name} {score}{'' if record[f'recalled {name}'] or pd.isna(record[name]) else ', not recalled'}")
    return " · ".join(parts)


def _plain(text: str) -> str:
    return html.escape(text, quote=False)
