"""``learnt profile``: a table looked through before anything is learnt from it."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from learnt.plots import number
from learnt.study import profile
from learnt.study.door._profile import TableProfile


def run_profile(table: str, target: str | None, *, header: bool | None, as_json: bool) -> int:
    """Print a line for each column, and what should be known before a study."""
    found = profile(table, target, header=header)
    if as_json:
        _print_json(found)
        return 0
    console = Console(highlight=False)
    about = f"{found.name}: {found.rows:,} rows, {found.width:,} columns"
    console.print(f"[bold]{escape(about)}[/bold]" + (f", target {escape(target)}" if target is not None else ""))
    shown = Table(box=None, pad_edge=False, header_style="dim")
    names = ["column", "kind", "missing", "different", "holds", *([] if target is None else ["explains"])]
    for name in names:
        shown.add_column(name, justify="right" if name in ("missing", "different", "explains") else "left")
    for line in found.frame.iter_rows(named=True):
        gone = f"{100 * line['missing']:.1f}%" if line["missing"] else ""
        held = f"{line['min']} to {line['max']}" if line["min"] is not None else line["top"] or line["reason"]
        cells = [line["column"], line["kind"], gone, f"{line['unique']:,}", held[:60]]
        if target is not None:
            cells.append("" if line["explains"] is None else f"{number(100 * line['explains'])}%")
        shown.add_row(*map(escape, cells))
    console.print(shown)
    for finding in found.findings:
        console.print(f"[dim]·[/dim] {escape(finding)}", soft_wrap=True)
    return 0


def _print_json(found: TableProfile) -> None:
    import json

    about = {"table": found.name, "rows": found.rows, "target": found.target, "columns": found.columns}
    print(json.dumps({**about, "findings": found.findings}, indent=1, ensure_ascii=False, default=str))
