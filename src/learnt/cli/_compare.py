"""``learnt compare``: two studies on the test rows that both judged."""

from __future__ import annotations

from dataclasses import asdict

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from learnt.study import compare


def run_compare(first: str, second: str, *, as_json: bool) -> int:
    """Print every measure of two studies, with the interval of its paired difference."""
    found = compare(first, second)
    if as_json:
        import json

        measures = [{**asdict(measure), "better": measure.better} for measure in found.measures]
        about = {"target": found.target, "rows": found.rows, "models": found.models, "level": found.level}
        print(json.dumps({**about, "measures": measures}, indent=1, ensure_ascii=False))
        return 0
    console = Console(highlight=False)
    console.print(f"[bold]“{escape(found.target)}” on the same {found.rows:,} test rows[/bold]")
    for name, folder, model in (("first", first, found.models[0]), ("second", second, found.models[1])):
        console.print(f"  {name}: {escape(str(folder))}, {escape(model)}", soft_wrap=True)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("measure", "first", "second", "second less first"):
        table.add_column(name)
    for m in found.measures:
        table.add_row(escape(m.name), f"{m.first:.4g}", f"{m.second:.4g}", found.said(m))
    console.print(table)
    return 0
