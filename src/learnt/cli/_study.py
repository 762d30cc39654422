"""``learnt study`` and ``learnt predict``: a study told on the terminal, and its model used."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from rich.console import Console
from rich.markup import escape

from learnt.cli._errors import Interrupted, tell
from learnt.cli._started import STARTED
from learnt.engine import progress
from learnt.study import StudyError, example_path, parse_budget, parse_cost
from learnt.study._counting import counted
from learnt.study._errors import one_line
from learnt.study._run import carry_out
from learnt.study.table._source import name_of

if TYPE_CHECKING:
    from learnt.study import Study

_FORMULA, _NUMBER = r"^[=+\-@\t\r]", r"^[+-]?[0-9.,eE+-]+$"
NOTHING_BEAT_THE_CONSTANT = 3


def run_study(
    table: str | None,
    target: str | None,
    *,
    out: str | None,
    budget: str,
    cost: str | None,
    quiet: bool,
    require_better: bool,
    options: dict[str, Any],
    form: str = "html",
) -> int:
    """Run a study, tell what happens on standard error, and end with the path of the report on standard output."""
    stderr = Console(stderr=True, highlight=False)
    if not quiet:
        progress.show("auto")
        if table is None:
            stderr.print(
                "[dim]No table was named, so this is a study of one that ships with learnt: late deliveries.[/dim]"
            )

    def say(text: str) -> None:
        if not quiet:
            stderr.print(f"[dim]·[/dim] {escape(text)}", soft_wrap=True)

    if form not in ("html", "md"):
        raise StudyError(f"--format is html or md, not {form}; for PDF print report.html from a browser.")
    options = {k: tuple(v or ()) if k in ("keep", "drop") else v for k, v in options.items()}
    seconds, costs = parse_budget(budget), parse_cost(cost)
    if require_better and options.get("keep_sealed"):
        raise StudyError("A sealed test set cannot say what is better; give --require-better to learnt evaluate.")
    if out is None:
        out = f"learnt-study-{name_of(table) if table is not None else example_path().stem}"
    try:
        carry_out(table, target, out=Path(out), say=say, budget=seconds, cost=costs, began=STARTED, **options)
    except KeyboardInterrupt:
        raise Interrupted(_interrupted_message(Path(out))) from None
    from learnt.study import open_study  # loads what no race needs

    found = open_study(out)
    if not quiet:
        _print_summary(found)
    print(found.report.save(found.folder / "report.md") if form == "md" else found.report)
    return NOTHING_BEAT_THE_CONSTANT if require_better and not found.beats_constant else 0


def _interrupted_message(folder: Path) -> str:
    journal = folder / "journal.jsonl"
    lines = journal.read_bytes().count(b"\n") if journal.exists() else 0
    if lines == 0:
        return "Interrupted before the first result; nothing was kept."
    return f"Interrupted. {lines} results are kept in {journal}; run the same command again to go on from there."


def _print_summary(found: Study) -> None:
    """The answer, in the words of the report."""
    summary = found.facts["summary"]
    console = Console(highlight=False)
    style = "bold green" if found.beats_constant else "bold yellow"
    console.print()
    console.print(f"[{style}]{escape(summary['headline'])}[/{style}]")
    for line in summary["lines"]:
        console.print(f"  [bold]{line['title']}.[/bold] {escape(line['text'])}", soft_wrap=True)
    if found.facts["summary"]["verdict"] == "no better than a constant":
        console.print("  That is an answer too: the report says what was tried and what might help.")
    console.print(f"  Model, numbers and predictions are in [bold]{escape(str(found.folder))}[/bold]; the report:")


def run_predict(
    model: str,
    table: str,
    *,
    out: str | None,
    join: bool,
    lenient: bool = False,
    header: bool | None = None,
    explain: bool = False,
) -> int:
    """Predict a table and write the predictions where they are wanted; what counts as missing is printed on stderr."""
    from learnt.study import predict_table, read_table  # what a study need not load

    rows = read_table(table, header)
    predicted = predict_table(model, rows, lenient=lenient, header=header, explain=explain, say=tell)
    if join:
        clash = [c for c in predicted.columns if c in rows.columns]
        predicted = rows.hstack(predicted.rename({c: f"{c} (predicted)" for c in clash}))
    if out is None:
        sys.stdout.write(predicted.write_csv())
    else:
        _write(predicted, Path(out))
        print(out)
    if out is None or Path(out).suffix.lower() == ".csv":
        _say_what_spreadsheets_run(predicted)
    return 0


def _say_what_spreadsheets_run(rows: pl.DataFrame) -> None:
    """One line on text that a spreadsheet takes for a formula; a quote put before it would make it another label."""
    text = rows.select(pl.col(pl.String, pl.Categorical, pl.Enum).cast(pl.String))
    cells = {column.name: int((column.str.contains(_FORMULA) & ~column.str.contains(_NUMBER)).sum()) for column in text}
    found = {name: cells.get(name, 0) + bool(re.match(_FORMULA, name)) for name in rows.columns}
    if total := sum(found.values()):
        first = next(name for name, n in found.items() if n)
        tell(
            f"{counted(total, 'cell begins', 'cells begin')} as a formula does, the first in the column “{first}”, and "
            "a spreadsheet would run it; nothing was changed, so import such columns as text, or write Parquet."
        )


def _write(rows: pl.DataFrame, path: Path) -> None:
    writers: dict[str, Any] = {".csv": rows.write_csv, ".parquet": rows.write_parquet}
    writers |= {".arrow": rows.write_ipc, ".feather": rows.write_ipc}
    write = writers.get(path.suffix.lower())
    if write is None:
        raise StudyError(f"{path} cannot be written: its ending must be .csv, .parquet, .arrow or .feather.")
    if not path.parent.is_dir():
        raise StudyError(f"The folder {path.parent} does not exist; create it first.")
    try:
        write(path)
    except OSError as error:
        raise StudyError(f"{path} cannot be written: {one_line(error)}; name another file.") from error
