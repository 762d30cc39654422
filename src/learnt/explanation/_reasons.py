"""The door: why a fitted model predicts what it predicts, in the user's own columns."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.explanation._models import Effort, adds_up, answer_of, exact_parts, is_classifier, parts_of, sampled
from learnt.explanation._parts import EXACT, NUMBER, SCORE, Parts, as_probability, log_odds_of_two, second_of
from learnt.explanation._rows import Rows, few_rows, with_background

LEAST_BACKGROUND = 20  # rows of X that may stand for one; of fewer, what models keep does
LINKS = {"number": "identity", "probability": "probability", "score": "log-odds"}


class Reason(NamedTuple):
    """One column's part in one prediction."""

    column: str
    cell: Any  # what the row holds there
    value: float  # what that adds to the prediction

    def __str__(self) -> str:
        return f"{self.column} = {cell_text(self.cell)}: {signed(self.value)}"


@dataclass(frozen=True, repr=False)
class Reasons:
    """Why a model predicts what it predicts: for every row and column, what the row's cell adds.

    A row's values and its baseline add up to its prediction. What `contributions` returns.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_columns) or (n_samples, n_columns, n_classes)
        What each cell adds. Of two classes: to the second of `classes`; of three or more, to each.
    baseline : ndarray of shape (n_samples,) or (n_samples, n_classes)
        The prediction where no cell is known: of the training rows or the background, on average. Where scores were
        carried to probabilities without a background, it is the probability of the mean score.
    columns : list of str
        The columns, as the table names them.
    prediction : ndarray of shape (n_samples,) or (n_samples, n_classes)
        What is explained: numbers, probabilities or log-odds.
    link : {"identity", "probability", "log-odds"}
        Which of these.
    standard_error : ndarray of the shape of `values`, or None
        Of values that were sampled; None where nothing was.
    how : {"exact", "carried", "sampled"}
        "exact": Shapley values without an approximation. "carried": exact Shapley values of the members' scores,
        carried through links, calibrations and averages along straight lines from background rows, so that they add up.
        "sampled": some or all are from drawn orders of the columns.
    classes : list or None, default=None
        The classes, of a classifier.
    table : data frame or ndarray, default=None
        The rows that are explained.

    See Also
    --------
    contributions : Computes them.
    permutation_importance : Which columns matter over all rows.
    learnt.plots.reasons : A picture of the reasons of a row.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.inspection import contributions
    >>> from learnt.linear_model import LinearRegression
    >>> X = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    >>> model = LinearRegression().fit(X, X @ [2.0, -1.0] + 3)
    >>> found = contributions(model, X[3:], background=X)
    >>> bool(np.allclose(found.baseline + found.values.sum(axis=1), found.prediction))
    True
    >>> found.words(0)
    ['x0 = 1: +1', 'x1 = 1: -0.5']
    """

    values: np.ndarray
    baseline: np.ndarray
    columns: list[str]
    prediction: np.ndarray
    link: str
    standard_error: np.ndarray | None
    how: str
    classes: list | None = None
    table: Any = field(default=None, compare=False)  # the rows that are explained

    def __len__(self) -> int:
        return len(self.values)

    def top(self, row: int, k: int = 3, of: Any = None) -> list[Reason]:
        """The k cells of a row that matter most to its prediction, the largest first; those that add nothing left out.

        Parameters
        ----------
        row : int
            Which of the rows that are explained, counted from 0.
        k : int, default=3
            At most how many.
        of : label, default=None
            The class whose probability is explained. None: the second of two classes, the likeliest of several.

        Returns
        -------
        reasons : list of Reason
            Named tuples of `column`, `cell` (what the row holds there) and `value` (what that adds).
        """
        values = self._of(row, of)
        order = np.argsort(-np.abs(values), kind="stable")[:k]
        return [
            Reason(self.columns[j], self._cell(row, int(j)), float(values[j])) for j in order.tolist() if values[j] != 0
        ]

    def words(self, row: int, k: int = 3, of: Any = None) -> list[str]:
        """The k cells of a row that matter most, in words such as ``kitchen_queue = 14: +0.21``.

        Parameters
        ----------
        row : int
            Which of the rows that are explained, counted from 0.
        k : int, default=3
            At most how many.
        of : label, default=None
            The class whose probability is explained. None: the second of two classes, the likeliest of several.

        Returns
        -------
        words : list of str
            One text a cell, the one that matters most first.
        """
        return [str(reason) for reason in self.top(row, k, of)]

    def _of(self, row: int, of: Any) -> np.ndarray:
        values = self.values[row]
        if self.classes is None:
            return values
        if of is not None and of not in self.classes:
            raise ValueError(f"There is no class {of!r}; there are {', '.join(map(repr, self.classes[:10]))}.")
        if values.ndim == 1:
            return -values if of is not None and of == self.classes[0] else values
        return values[:, int(self.prediction[row].argmax()) if of is None else self.classes.index(of)]

    def _cell(self, row: int, column: int) -> Any:
        if isinstance(self.table, np.ndarray):
            return self.table[row, column]
        return nw.from_native(self.table, eager_only=True)[self.columns[column]][row]

    def __repr__(self) -> str:
        n, d = self.values.shape[:2]
        classes = f", classes={self.classes}" if self.classes is not None else ""
        return f"Reasons({n} rows, {d} columns, link={self.link!r}, how={self.how!r}{classes})"

    def _repr_html_(self) -> str:
        """The reasons of the first rows as a table."""
        from html import escape

        shown = range(min(len(self), 10))
        lines = "".join(f"<tr><th>{k}</th><td>{escape('; '.join(self.words(k)))}</td></tr>" for k in shown)
        return f"<table><caption>{escape(repr(self))}</caption>{lines}</table>"


def contributions(
    model: Any,
    X: Any,
    background: Any = None,
    *,
    link: str = "auto",
    method: str = "auto",
    n_pairs: int | None = None,
    random_state: Any = 0,
) -> Reasons:
    """Why a fitted model predicts what it predicts: what each column adds to the prediction of each row.

    Shapley values, exact where the mathematics allows: linear models, also with products of two columns; trees,
    forests, extra trees and boosting; averages of these; their calibrations and stacks in log-odds. Where a model bends
    exact values, as an average of probabilities does with log-odds, they are carried along and still add up (`how` says
    so). Every other model (support vectors, neighbours, networks, …) is asked about rows in which some columns are a
    background row's, with a standard error. Columns are those of the table: what an encoder made of a date, a city or
    a text is one column.

    Parameters
    ----------
    model : fitted model
        A regressor, or a classifier with `predict_proba`; pipelines, ensembles and what `learnt study` saves.
    X : data frame or array of shape (n, n_columns)
        The rows to explain.
    background : data frame or array, optional
        Rows that stand for "not known" where a model does not keep that itself: for sampled models, and for linear ones
        without a scaler. Of more than 100 rows, 100 evenly spaced ones are used. Without it, rows of X are the
        background; where these are fewer than 20, training rows that a model keeps (neighbours, kernels), or the mean
        row of a scaler; and where there is nothing of that, a single row is compared with itself, and gets zeros.
    link : {"auto", "probability", "log-odds"}, default="auto"
        What is explained of a classifier. "auto": the log-odds where their values are exact, else the probability.
    method : {"auto", "sampled"}, default="auto"
        "sampled" asks the whole model, exact members too.
    n_pairs : int, optional
        Pairs of orders for sampled values; more are more exact.
    random_state : int, RandomState, Generator or None, default=0
        Draws the orders.

    Returns
    -------
    Reasons
        With `values`, `baseline`, `columns`, `prediction`, `link`, `standard_error`, and `top` and `words` of a row.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.inspection import contributions
    >>> from learnt.linear_model import LinearRegression
    >>> X = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    >>> model = LinearRegression().fit(X, X @ [2.0, -1.0] + 3)
    >>> found = contributions(model, np.array([[1.0, 1.0]]), background=X)
    >>> found.values.round(6), found.baseline.round(6), found.prediction.round(6)
    (array([[ 1. , -0.5]]), array([3.5]), array([4.]))
    >>> found.words(0)
    ['x0 = 1: +1', 'x1 = 1: -0.5']
    """
    _check(model, link, method)
    X = _table(X)
    if X.shape[0] == 0:
        raise ValueError("X has no rows; give at least one row to explain.")
    names = column_names(model, X)
    X = _in_order(X, names)
    given = background is not None or X.shape[0] >= LEAST_BACKGROUND
    background = X if background is None else _in_order(_table(background), names)
    if background.shape[0] == 0:
        raise ValueError("The background has no rows; give at least one, or none at all to use rows of X.")
    rows = Rows(X, few_rows(background), np.arange(len(names)), names, given=given)
    effort = Effort(n_pairs, random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # unreadable cells and levels never seen, said when predicting
        classify = is_classifier(model)
        if given and method == "auto":
            rows = with_background(rows)
        if method == "sampled":
            parts = sampled(answer_of(model), rows, effort, classify)
        else:
            found = exact_parts(model, rows, effort)
            parts = parts_of(model, rows, effort) if found is None else found
            if not adds_up(model, rows, parts):  # a subclass that predicts in another way than its attributes say
                parts = sampled(answer_of(model), rows, effort, classify)
    parts = _linked(parts, link)
    n, variance = X.shape[0], parts.variance
    parts = replace(
        parts, base=parts.base[:n], values=parts.values[:n], variance=None if variance is None else variance[:n]
    )
    return _reasons(parts, model, X, names)


def _reasons(parts: Parts, model: Any, X: Any, names: list[str]) -> Reasons:
    error = None if parts.variance is None else np.sqrt(parts.variance)
    values, base = parts.values, parts.base
    if values.shape[2] == 1:
        values, base, error = values[:, :, 0], base[:, 0], None if error is None else error[:, :, 0]
    classes = getattr(model, "classes_", None)
    return Reasons(
        values,
        np.array(base),
        names,
        base + values.sum(axis=1),
        LINKS[parts.scale],
        error,
        parts.how,
        None if classes is None else np.asarray(classes).tolist(),
        X,
    )


def _linked(parts: Parts, link: str) -> Parts:
    """In the scale that is wanted; of two classes the second."""
    if parts.scale == NUMBER:
        return parts
    k = parts.base.shape[1]
    if (link == "auto" and parts.scale == SCORE and parts.how == EXACT) or link == "log-odds":
        if k > 2 and parts.scale != SCORE:
            raise ValueError(
                "The log-odds of three classes or more are known of linear models and boosting only; explain the "
                "probability of this one (link='probability')."
            )
        return log_odds_of_two(parts) if k == 2 else parts
    parts = as_probability(parts)
    return second_of(parts) if k == 2 else parts


def _check(model: Any, link: str, method: str) -> None:
    check_is_fitted(model)
    if link not in ("auto", "probability", "log-odds"):
        raise ValueError(f"link must be 'auto', 'probability' or 'log-odds'; it is {link!r}.")
    if method not in ("auto", "sampled"):
        raise ValueError(f"method must be 'auto' or 'sampled'; it is {method!r}.")
    name = type(model).__name__
    if not hasattr(model, "predict"):
        raise ValueError(f"{name} does not predict; explain a regressor or a classifier.")
    if hasattr(model, "classes_") and not is_classifier(model):
        raise ValueError(f"{name} gives no probabilities; explain CalibratedClassifierCV({name}()), which does.")
    if isinstance(getattr(model, "classes_", None), list):
        raise ValueError(f"{name} was fitted on several columns of labels; explain a model of one.")


def column_names(model: Any, X: Any) -> list[str]:
    """The columns that the model was learnt from: by its own record, else those of X."""
    known = next(_known_names(model), None)
    if known is not None:
        return [str(name) for name in known]
    if isinstance(X, np.ndarray):
        return [f"x{j}" for j in range(X.shape[1])]
    return [str(name) for name in nw.from_native(X, eager_only=True).columns]


def _known_names(model: Any) -> Iterator[Any]:
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        yield names
    for _, step in getattr(model, "steps", ())[:1]:
        yield from _known_names(step)
    for name in ("estimator_", "regressor_", "best_estimator_"):
        if name in vars(model):
            yield from _known_names(getattr(model, name))
    members = vars(model).get("estimators_")
    for member in members if isinstance(members, list) else ():
        yield from _known_names(member)


def _table(X: Any) -> Any:
    """A data frame in memory as it is; everything else as an array."""
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        return frame.collect().to_native()
    if isinstance(frame, nw.DataFrame):
        return X
    if isinstance(X, dict):
        import polars as pl

        return pl.DataFrame(X, strict=False)
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must be a table of rows and columns; it has shape {X.shape}.")
    return X


def _in_order(X: Any, names: list[str]) -> Any:
    """The columns that the model knows, in its order."""
    if isinstance(X, np.ndarray):
        if X.shape[1] != len(names):
            raise ValueError(f"X has {X.shape[1]} columns; the model was learnt from {len(names)}.")
        return X
    frame = nw.from_native(X, eager_only=True)
    lacking = [name for name in names if name not in frame.columns]
    if lacking:
        raise ValueError(f"The table lacks the column {lacking[0]!r}, which the model was learnt from.")
    return X if list(frame.columns) == names else frame.select(names).to_native()


def cell_text(cell: Any) -> str:
    """A cell for a sentence: numbers without digits that nobody reads, long text cut.

    >>> cell_text(14.0), cell_text(3.14159265), cell_text(None), cell_text("Oslo")
    ('14', '3.14159', 'missing', 'Oslo')
    """
    if cell is None or (isinstance(cell, float | np.floating) and np.isnan(cell)):
        return "missing"
    if isinstance(cell, float | np.floating):
        return f"{float(cell):.6g}"
    text = " ".join(str(cell).split())
    return text if len(text) <= 40 else text[:39] + "…"


def signed(value: float) -> str:
    """An amount with its sign, in three digits.

    >>> signed(0.2134), signed(-1234.5), signed(0.00001234)
    ('+0.213', '-1,230', '+0.0000123')
    """
    if value == 0 or not np.isfinite(value):
        return f"{value:+g}"
    digits = 2 - int(np.floor(np.log10(abs(value))))
    rounded = round(value, digits)
    text = f"{rounded:+,.{max(digits, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
