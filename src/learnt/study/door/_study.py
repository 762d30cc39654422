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
    table : data frame, or path of a table, default=None
        The rows to learn from: a data frame of pandas, Polars, pyarrow or any other library that narwhals reads, or a
        file: CSV, Parquet, Arrow, JSON lines and what else `read_table` reads. None is the example that ships with
        learnt. The index of a pandas data frame is no column.
    target : str, default=None
        The column to predict.
    budget : str or float, default="60s"
        How long it may take: "30s", "5m", "1h", or seconds. More time races more models, with more of
        their settings, and their blends.
    metric : str or None, default=None
        What models are chosen by: "roc_auc", "f1", "log_loss", "rmse", "mae", …. None is the log loss of classes and
        the squared error of amounts.
    cost : str, tuple of float or None, default=None
        Costs of a false alarm and of a missed positive, "fp=1,fn=10" or (1, 10): the decision threshold follows them,
        and with it precision and recall.
    task : {"auto", "classify", "regress"}, default="auto"
        Classes or amounts; "auto" sees it from the target.
    time : str or None, default=None
        The column that says when; the test set is then the most recent part. None looks for one; "none" shuffles the
        rows in any case.
    group : str or None, default=None
        A column whose equal values (a patient, a customer) stay together in every split.
    keep : str, sequence of str or None, default=None
        Columns to use although they would be set aside as identifiers or leaks.
    drop : str, sequence of str or None, default=None
        Columns not to use.
    out : str, Path or None, default=None
        A folder for the report, the model and the numbers; a study that was interrupted there goes on. None is a
        temporary one, which is removed with the object (`Study.save_all` keeps it); the same call with a larger budget
        in this process still goes on from what it found.
    progress : bool or None, default=None
        Whether progress is shown. None shows a bar in a notebook, and elsewhere nothing unless
        `learnt.engine.progress.show` or LEARNT_PROGRESS asked for it.
    say : callable or None, default=None
        Called with a sentence whenever something worth saying happened; `say=print` shows them.
    seed : int, default=0
        Where random numbers come from. How many models a budget is enough for still depends on the machine.
    threads : int or None, default=None
        Number of threads to use; None takes all.
    prefer : {"best", "simple"}, default="best"
        Choose the lowest loss, or the simplest model within one standard error of it.
    final : {"all", "judged"}, default="all"
        Whether the model to use is fitted again on all rows once it was judged ("all"), or stays as it was judged.
    keep_sealed : bool, default=False
        Leave the test set to `evaluate_study`, which opens it once.
    header : bool or None, default=None
        Whether the first line of a text table holds names; None looks at it.
    overwrite : bool, default=False
        Whether another study in the folder may be replaced.
    fresh : bool, default=False
        Whether to start afresh instead of going on from earlier results.

    Returns
    -------
    study : Study
        Its leaderboard, predictions, reasons, report, model and numbers.

    Raises
    ------
    StudyError
        Where the study cannot continue, with one sentence that says what to do.

    See Also
    --------
    open_study : Opens a study from its folder.
    compare : Compares two studies on the same test rows.
    profile : Looks through a table without learning from it.
    StudyClassifier : A study as an estimator, for pipelines and cross-validation.
    StudyRegressor : The same for amounts.

    Notes
    -----
    Of the rows four fifths are raced on by cross-validation; the last fifth is opened once, at the end, so that its
    error is an honest one. Identifiers, constants and columns that give the target away are set aside, and the report
    says so.

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
    folder : str or Path
        The folder, such as ``learnt-study-sales``.
    table : data frame, or path of a table, default=None
        The table that was studied, for the answers that show its rows (`Study.worst_rows`) or predict them anew
        (`Study.partial_dependence`). None does without them.

    Returns
    -------
    study : Study
        The study, as `study` returned it.

    See Also
    --------
    study : Makes a study.
    evaluate_study : Opens the test set of a study that was kept sealed.

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
