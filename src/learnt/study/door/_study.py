"""`study` and `open_study`: from a table, or from the folder of a finished study, to the object that answers."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from learnt.engine import progress as progress_bars
from learnt.study._errors import StudyError
from learnt.study._folder import JOURNAL
from learnt.study.door._object import Study, temporary_folder
from learnt.study.door._sentences import python_sentences
from learnt.study.table._frames import Library, as_polars

MOST_KEPT = 50_000_000  # bytes of results
_earlier_results: list[bytes] = []  # the journal of the last study without a folder, which holds those before it

Say = Callable[[str], None]


def _quiet(text: str) -> None:
    pass


def study(
    table: Any = None,
    target: str | None = None,
    *,
    budget: str | float = "60s",
    metric: str | None = None,
    cost: str | tuple[float, float] | None = None,
    task: str = "auto",
    time: str | None = None,
    group: str | None = None,
    keep: str | Sequence[str] | None = None,
    drop: str | Sequence[str] | None = None,
    out: str | Path | None = None,
    progress: bool | None = None,
    say: Say | None = None,
    seed: int = 0,
    threads: int | None = None,
    prefer: str = "best",
    final: str = "all",
    keep_sealed: bool = False,
    header: bool | None = None,
    overwrite: bool = False,
    fresh: bool = False,
) -> Study:
    """Go from a table to a judged model: profile, sealed test set, race of models, choice, one test, report.

    The same as the command ``learnt study``. Models are compared by cross-validation on four fifths of the rows; the
    best one is then tested once on the other fifth, which took no part, and fitted again on all rows.

    Parameters
    ----------
    table : data frame (pandas, Polars, pyarrow or any other that narwhals reads), or path of a table
        The rows to learn from: CSV, Parquet, Arrow, JSON lines and what else the command reads. None: the example
        that ships with learnt. The index of a pandas data frame is no column.
    target : str
        The column to predict.
    budget : str or float, default="60s"
        How long it may take: "30s", "5m", "1h", or seconds.
    metric : str, default=None
        What models are chosen by: "roc_auc", "f1", "log_loss", "rmse", "mae", … None: log loss or squared error.
    cost : str or (float, float), default=None
        Costs of a false alarm and of a missed positive, "fp=1,fn=10" or (1, 10): the decision threshold follows them.
    task : {"auto", "classify", "regress"}, default="auto"
        Classes or amounts; seen from the target by default.
    time : str, default=None
        The column that says when; the test set is then the most recent part. "none": rows are shuffled in any case.
    group : str, default=None
        A column whose equal values (a patient, a customer) stay together in every split.
    keep, drop : str or list of str
        Columns to use although they would be set aside (identifiers, leaks), and columns not to use.
    out : path, default=None
        A folder for the report, the model and the numbers; a study that was interrupted there goes on. By default a
        temporary one, which is removed with the object (`Study.save_all` keeps it); the same call with a larger budget
        in this process still goes on from what it found.
    progress : bool, default=None
        Whether progress is shown. None: a bar in a notebook, and elsewhere nothing unless `learnt.engine.progress.show`
        or LEARNT_PROGRESS asked for it.
    say : callable, default=None
        Called with a sentence whenever something worth saying happened; ``say=print`` shows them.
    seed : int, default=0
        The same seed gives the same study.
    threads : int, default=None
        Threads to use; None: all.
    prefer : {"best", "simple"}, default="best"
        The lowest loss, or the simplest model within one standard error of it.
    final : {"all", "judged"}, default="all"
        Whether the model to use is fitted again on all rows once it was judged.
    keep_sealed : bool, default=False
        Leave the test set to `learnt.study.evaluate_study`, which opens it once.
    header : bool, default=None
        Whether the first line of a text table holds names; None: looked at.
    overwrite, fresh : bool, default=False
        Replace another study in the folder; do not resume.

    Returns
    -------
    Study
        Its leaderboard, predictions, reasons, report, model and numbers.

    Examples
    --------
    >>> import learnt
    >>> s = learnt.study("deliveries.csv", target="late", budget="30s")     # doctest: +SKIP
    >>> s                                                                   # doctest: +SKIP
    Study of “late” in deliveries: better than a constant
    “late” can be predicted: 89.5% of new rows come out right.
    >>> s.predict(new_rows)                                                 # doctest: +SKIP
    """
    from learnt.study._run import carry_out

    with python_sentences(), progress_bars.shown(_mode(progress)), ExitStack() as failing, ExitStack() as stack:
        library = Library.of(table)
        if table is not None and not isinstance(table, str | Path):
            table = as_polars(table)
        folder = temporary_folder() if out is None else Path(out)
        if out is None:
            failing.callback(shutil.rmtree, folder, ignore_errors=True)
            stack.enter_context(_going_on_with_earlier_results(folder / JOURNAL))
        carry_out(
            table,
            target if target is None else str(target),
            out=folder,
            say=say or _quiet,
            budget=budget,
            cost=cost,
            metric=metric,
            task=task,
            time=time,
            group=group,
            keep=keep,
            drop=drop,
            seed=seed,
            threads=threads,
            prefer=prefer,
            final=final,
            keep_sealed=keep_sealed,
            header=header,
            overwrite=overwrite,
            fresh=fresh,
        )
        failing.pop_all()
    return Study(folder, table=table, library=library.without_rows(), temporary=out is None)


def open_study(folder: str | Path, table: Any = None) -> Study:
    """The object of a study from its folder: one that the command ``learnt study`` left, or `Study.save_all`.

    Parameters
    ----------
    folder : path
        The folder, such as ``learnt-study-sales``.
    table : data frame or path, default=None
        The table that was studied, for the answers that show its rows (`Study.worst_rows`) or predict them anew
        (`Study.partial_dependence`).

    Returns
    -------
    Study

    Examples
    --------
    >>> import learnt
    >>> s = learnt.open_study("learnt-study-sales")                         # doctest: +SKIP
    >>> s.leaderboard                                                       # doctest: +SKIP
    """
    folder = Path(folder)
    if not (folder / "study.json").is_file():
        raise StudyError(f"{folder} holds no finished study (no study.json); run learnt study first.")
    library = Library.of(table).without_rows()
    with python_sentences():
        known = table if table is None or isinstance(table, str | Path) else as_polars(table)
        return Study(folder, table=known, library=library)


@contextmanager
def _going_on_with_earlier_results(journal: Path) -> Iterator[None]:
    """Hand the results of this process's earlier studies without a folder to this one, and keep its own.

    The same table and options with a larger budget then go on, as they do in a folder.
    """
    if _earlier_results:
        journal.write_bytes(_earlier_results[0])
    try:
        yield
    finally:
        if journal.is_file() and journal.stat().st_size < MOST_KEPT:
            _earlier_results[:] = [journal.read_bytes()]


def _mode(progress: bool | None) -> str | None:
    """How progress is shown while the study runs; None: as it is shown anyway."""
    if progress is None:
        return "notebook" if progress_bars.in_notebook() else None
    return "auto" if progress else "off"
