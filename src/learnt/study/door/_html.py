"""The first screen of a study in a notebook: headline, verdict, the leading models; no script, no network.

Colours follow the notebook's theme where it names one (JupyterLab, VS Code, Colab), else the reader's system.
"""

from __future__ import annotations

from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl

from learnt.plots import number
from learnt.study.door._leaderboard import leaderboard, loss_column
from learnt.study.door._sentences import in_python

LEADERS = 5
_LIGHT = """--ink: #1b2330; --muted: #566071; --paper: #ffffff; --line: #e2e0d9; --accent: #17657f; --soft: #c4dfe8;
  --good: #1d6b45; --good-back: #e1f0e7; --bad: #97361d; --bad-back: #f8e6df;"""
_DARK = """--ink: #e7eaf0; --muted: #a2acbb; --paper: #1a2029; --line: #2b3340; --accent: #6cbcd6; --soft: #26505f;
  --good: #8ed3ab; --good-back: #1b3629; --bad: #f0a88f; --bad-back: #44261c;"""
_DARK_THEMES = (
    '[data-jp-theme-light="false"]',
    "body.vscode-dark",
    "body.vscode-high-contrast:not(.vscode-high-contrast-light)",
    'html[theme="dark"]',
)
_LIGHT_THEMES = ('[data-jp-theme-light="true"]', "body.vscode-light", 'html[theme="light"]')


def styled(body: str, label: str) -> str:
    """A card around some markup, with its own style in light and dark."""
    dark = ",\n".join(f"{theme} .learnt-card" for theme in _DARK_THEMES)
    light = ",\n".join(f"{theme} .learnt-card" for theme in _LIGHT_THEMES)
    rules = (files("learnt.study") / "templates" / "card.css").read_text(encoding="utf-8")
    style = (
        f".learnt-card {{ {_LIGHT} color-scheme: light; }}\n"
        f"@media (prefers-color-scheme: dark) {{ .learnt-card {{ {_DARK} color-scheme: dark; }} }}\n"
        f"{dark} {{ {_DARK} color-scheme: dark; }}\n{light} {{ {_LIGHT} color-scheme: light; }}\n{rules}"
    )
    return f'<style>{style}</style><section class="learnt-card" aria-label="{escape(label)}">{body}</section>'


def scrolling(head: str, rows: str, label: str) -> str:
    """A table that scrolls sideways where the page is narrow, by the keyboard too."""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<div class="wide" tabindex="0" role="region" aria-label="{label}">{table}</div>'


def first_screen(facts: dict[str, Any], folder: Path) -> str:
    """Headline, verdict, its lines, the leading models, and where the report lies."""
    summary = facts["summary"]
    good = facts["beats_constant"] or facts["test"] is None
    lines = "".join(
        f"<dt>{escape(line['title'])}</dt><dd>{escape(in_python(line['text']))}</dd>" for line in summary["lines"]
    )
    report = (folder / "report.html").resolve()
    body = (
        f'<p class="about">Study of {escape(str(facts["table"]))}, {facts["data"]["rows"]:,} rows</p>'
        f'<p class="headline">{escape(in_python(summary["headline"]))}</p>'
        f'<span class="badge {"yes" if good else "no"}">{escape(summary["verdict"])}</span>'
        f"<dl>{lines}</dl>{_leaders(facts)}"
        f'<p class="about">The whole report: <code>s.report</code> shows it here, <code>s.report.save("report.html")'
        f'</code> keeps it; it lies in <a href="{escape(report.as_uri())}">{escape(str(report))}</a>.</p>'
    )
    return styled(body, f"Study of {facts['target']}")


def _leaders(facts: dict[str, Any]) -> str:
    board = leaderboard(facts).filter(pl.col("fit_seconds").is_not_null())
    name = loss_column(facts)
    chosen = board.with_row_index().filter(pl.col("state") == "chosen")["index"].to_list()
    places = sorted({*range(min(LEADERS, board.height)), *chosen})
    rows = "".join(_row(board.row(place, named=True), name) for place in places)
    more = len(facts["race"]["entries"]) - len(places)
    others = f'<p class="about">{more} more in <code>s.leaderboard</code>.</p>' if more > 0 else ""
    head = "".join(
        f'<th{kind} scope="col">{escape(text)}</th>'
        for text, kind in (
            ("Model", ""),
            (str(facts["race"]["loss_name"]), ' class="n"'),
            ("95% interval", ' class="n"'),
            ("Fit", ' class="n"'),
        )
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{others}"


def _row(row: dict[str, Any], name: str) -> str:
    style = ' class="chosen"' if row["state"] == "chosen" else ""
    label = escape(row["model"]) + (" (chosen)" if style else "")
    ends = f"{_measure(row['low'])} to {_measure(row['high'])}"
    seconds = "under 0.01 s" if row["fit_seconds"] < 0.01 else f"{number(row['fit_seconds'])} s"
    cells = (
        f'<td>{label}</td><td class="n">{_measure(row[name])}</td><td class="n">{ends}</td><td class="n">{seconds}</td>'
    )
    return f"<tr{style}>{cells}</tr>"


def _measure(value: float) -> str:
    return f"{value:.3f}" if abs(value) <= 1 else number(value)
