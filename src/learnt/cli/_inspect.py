"""``learnt inspect``: a model file, or the folder of a study, described without loading the model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from learnt.persistence import FileSummary, ModelSummary
from learnt.persistence import inspect as inspect_file
from learnt.study import StudyError

MOST = 30


def run_inspect(file: str, *, as_json: bool) -> int:
    """Print what a file or a folder of a study holds."""
    path = Path(file)
    facts = None
    if path.is_dir():
        facts = _facts(path)
        path = path / "model.learnt"
    summary = inspect_file(path)
    if as_json:
        print(json.dumps({"study": facts, "file": summary.as_dict()} if facts else summary.as_dict(), indent=1))
        return 0
    console = Console(highlight=False)
    if facts is not None:
        console.print(f"[bold]{escape(facts['summary']['headline'])}[/bold]")
        for line in facts["summary"]["lines"]:
            console.print(f"  [bold]{line['title']}.[/bold] {escape(line['text'])}", soft_wrap=True)
        console.print()
    _show(console, summary)
    return 0


def _facts(folder: Path) -> dict[str, Any]:
    try:
        facts = json.loads((folder / "study.json").read_text(encoding="utf-8"))
        facts["summary"]["headline"], facts["summary"]["lines"]
        return facts
    except OSError:
        raise StudyError(f"{folder} holds no finished study (no study.json); run learnt study first.") from None
    except (ValueError, KeyError, TypeError):
        raise StudyError(f"{folder / 'study.json'} is damaged; run the study again.") from None


def _show(console: Console, summary: FileSummary) -> None:
    versions = ", ".join(f"{name} {number}" for name, number in summary.versions.items())
    console.print(f"[bold]{escape(summary.path)}[/bold]  {summary.file_size:,} bytes, format {summary.format_version}")
    console.print(f"[dim]written by {escape(versions)}; sha256 {summary.sha256}[/dim]")
    console.print(_tree(summary.model))
    if summary.n_features is not None:
        names = summary.feature_names or []
        shown = ", ".join(names[:MOST]) + (f", and {len(names) - MOST:,} more" if len(names) > MOST else "")
        console.print(f"features: {summary.n_features:,}" + (f" ({escape(shown)})" if shown else ""))
    for name, value in summary.notes.items():
        console.print(f"{escape(name)}: {escape(str(value))}")
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name, side in (("array", "left"), ("type", "left"), ("shape", "left"), ("bytes", "right")):
        table.add_column(name, justify=side)  # type: ignore[arg-type]
    for array in summary.arrays[:MOST]:
        table.add_row(escape(array.name), array.dtype, " × ".join(map(str, array.shape)), f"{array.bytes:,}")
    if summary.arrays:
        console.print(table)
    if len(summary.arrays) > MOST:
        console.print(f"[dim]and {len(summary.arrays) - MOST:,} more arrays[/dim]")


def _tree(model: ModelSummary, parent: Tree | None = None) -> Tree:
    inner = ", ".join(f"{key}={value}" for key, value in model.params.items() if len(value) < 60)
    label = f"[bold]{escape(model.cls)}[/bold]" + (f"({escape(inner)})" if inner else "")
    label = f"{escape(model.name)}: {label}" if model.name else label
    node = Tree(label) if parent is None else parent.add(label)
    for part in model.parts:
        _tree(part, node)
    return node
