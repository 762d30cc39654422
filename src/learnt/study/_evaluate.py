"""A saved model judged on other rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from learnt.plots import number
from learnt.study._counting import counted
from learnt.study._errors import StudyError, did_you_mean
from learnt.study._model import SavedModel
from learnt.study.facts import Judged, Line, Test, TestOfAmounts, TestOfClasses, Usual, read_plain, to_plain
from learnt.study.judgement._verdict import Terms, judge_rows
from learnt.study.race._metric import metric_of
from learnt.study.report._words import loss_words, share, verdict_lines
from learnt.study.table._columns import as_text
from learnt.study.table._labels import Labels, read_labels
from learnt.study.table._read import open_table
from learnt.study.table._source import is_named, title_of

LEAST_ROWS = 5
Say = Callable[[str], None]


def evaluate_table(
    model: str | Path,
    table: str | Path | pl.DataFrame,
    *,
    target: str | None = None,
    lenient: bool = False,
    header: bool | None = None,
    say: Say = lambda text: None,
) -> dict[str, Any]:
    """How good a saved model is on the rows of a table that has the target, every figure with its interval.

    Parameters
    ----------
    model : str or Path
        A model file, or the folder of a study.
    table : str, Path or polars.DataFrame
        A table that `read_table` reads, or a data frame, with the columns the model was learnt from and the target.
    target : str or None, default=None
        The column of the target; None is the one that a study wrote into the model file.
    lenient : bool, default=False
        Whether text where the model knows numbers or dates counts as missing; it is refused by default.
    header : bool or None, default=None
        False for a table whose columns have no names: they are then taken in the order of the learnt table, its target
        left out or not.
    say : callable, default=lambda text: None
        Called with a sentence on what was counted as missing; by default nothing is said.

    Returns
    -------
    facts : dict
        ``test`` (the figures, as in study.json), ``beats_constant``, ``left_out``, ``same_table``, ``summary``.

    See Also
    --------
    predict_table : Predicts rows.
    evaluate_study : Opens the sealed test set of a study.
    """
    saved = SavedModel.open(model)
    frame, name, table_hash, _ = open_table(table, header)
    if header is False:
        frame = saved.in_order(frame)
    target = target or saved.about.get("target")
    labels = _labels(saved, frame, target)
    features = frame.drop(str(target)) if saved.names is None else frame  # learnt from an array: all there is
    X = saved.columns_of(features, lenient=lenient, say=say)[labels.rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # unreadable cells count as missing
        output = saved.output(X)
    group = saved.about.get("group")
    groups = as_text(frame[group]).fill_null("(missing)").to_numpy()[labels.rows] if group in frame.columns else None
    terms = _terms(saved, labels.y)
    test, better = judge_rows(labels.y, output, terms, groups)
    known = saved.about.get("table")
    found = Judged(
        test=test,
        positive=saved.about.get("positive"),
        constant=_predicts(saved.classes, terms.constant),
        beats_constant=better,
    )
    left = LeftOut(labels.missing, len(labels.unknown), sorted(set(labels.unknown)))
    table_name = title_of(table) if is_named(table) else name
    same_table = None if known is None else known == table_hash
    lines = _lines(found, saved, left, own_constant=saved.about.get("constant") is None, same_table=bool(same_table))
    facts: dict[str, Any] = {
        "model": str(saved.path),
        "table": table_name,
        "target": target,
        "task": "regress" if saved.classes is None else "classify",
        "classes": saved.classes,
        "positive": found.positive,
        "test": test,
        "beats_constant": better,
        "ceiling": {"constant": {"predicts": found.constant}},
        "constant_from": "the study" if saved.about.get("constant") else "these rows",
        "left_out": left,
        "same_table": same_table,
        "summary": {"headline": _headline(test, table_name), "lines": lines},
    }
    return to_plain(facts)


@dataclass(frozen=True)
class LeftOut:
    """Rows that could not be judged."""

    missing: int  # without a target
    unknown: int  # of a class that the model does not know
    classes: list[str]


def _labels(saved: SavedModel, frame: pl.DataFrame, target: str | None) -> Labels:
    if target is None:
        known = did_you_mean("", frame.columns)
        raise StudyError(f"{saved.path} does not say what it predicts; name the column with --target; {known}")
    if target not in frame.columns:
        hint = did_you_mean(target, frame.columns)
        raise StudyError(f"The table has no column “{target}” (the target), so nothing can be judged; {hint}")
    labels = read_labels(frame[target], saved.classes)
    if not len(labels.y) and labels.unknown:
        classes = ", ".join(f"“{c}”" for c in (saved.classes or [])[:5])
        raise StudyError(
            f"No cell of “{target}” is a class the model knows ({classes}); the first is “{labels.unknown[0][:30]}”."
        )
    if len(labels.y) < LEAST_ROWS:
        some = counted(len(labels.y), "row has", "rows have")
        raise StudyError(f"{some} a “{target}”; judging takes at least {LEAST_ROWS}.")
    return labels


def _terms(saved: SavedModel, y: np.ndarray) -> Terms:
    about, classes = saved.about, saved.classes
    if about.get("constant") is not None:
        constant = read_plain(Usual, about["constant"])
    elif classes is None:  # no study: the constant that suits these very rows, which is the hardest to beat
        constant = Usual(mean=float(np.mean(y)))
    else:
        constant = Usual(shares=[float(np.mean(y == c)) for c in classes])
    positive = saved.positive
    if positive is None and classes is not None and len(classes) == 2:
        positive = 1
    cost = None if about.get("cost") is None else tuple(about["cost"])
    task, count = ("regress", 2) if classes is None else ("classify", len(classes))
    metric = None if about.get("metric") is None else metric_of(about["metric"], task, count, positive, cost)
    half_width = about.get("half_width") if classes is None else None
    return Terms(classes, positive, saved.threshold, half_width, constant, metric, cost)


def _predicts(classes: list | None, constant: Usual) -> Any:
    return constant.mean if classes is None else classes[int(np.argmax(constant.shares or []))]


def _headline(test: Test, table: str) -> str:
    on = f"On {counted(test.rows, 'row')} of {table}"
    if test.metric is not None:
        m = test.metric
        return f"{on}: {m.words} {loss_words(m.estimate)}, of a constant {loss_words(m.constant)}."
    if isinstance(test, TestOfAmounts):
        rmse, usual = number(test.rmse.estimate), number(test.constant_rmse)
        return f"{on}: typical error (RMSE) {rmse}, of a constant {usual}."
    right, usual = share(1 - test.error.estimate), share(1 - test.constant_error)
    return f"{on}: {right} come out right, with a constant {usual}."


def _lines(found: Judged, saved: SavedModel, left: LeftOut, *, own_constant: bool, same_table: bool) -> list[Line]:
    good, constant = verdict_lines(found, "these rows")
    if own_constant:
        own = " The constant was chosen on these very rows, since the file names none."
        constant = replace(constant, text=constant.text + own)
    if saved.threshold != 0.5:
        says = f" It says {found.positive} from a probability of {share(saved.threshold)} on."
        good = replace(good, text=good.text + says)
    lines = [good, constant]
    if left.unknown and isinstance(found.test, TestOfClasses):
        named = ", ".join(f"“{c}”" for c in left.classes[:5])
        wrong = found.test.error.estimate * found.test.rows + left.unknown
        rate = share(wrong / (found.test.rows + left.unknown))
        rows = f"{counted(left.unknown, 'row')} of classes the model does not know ({named})"
        lines.append(Line("Left out", f"{rows}; with them it is wrong on {rate}."))
    if left.missing:
        lines.append(Line("Left out", f"{counted(left.missing, 'row')} without a target."))
    if same_table:
        said = "This is the table the model was learnt from: it has seen these rows, and new ones will fare worse."
    else:
        said = "The figures hold for rows the model was not fitted on; its file does not tell which rows those were."
    return [*lines, Line("Whose rows", said)]
