"""A progress bar in a terminal, nothing elsewhere: for commands whose single fits should show no bar of their own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(label: str, total: int) -> Iterator[Callable[[str], None]]:
    """A progress bar of `total` steps; call what it yields after each step, with the name of what was done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    shown = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("[dim]{task.fields[word]}"),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    with shown:
        task = shown.add_task(label, total=total, word="")
        yield lambda word: shown.update(task, advance=1, word=word)
