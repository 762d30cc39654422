"""Rows on their way through a pipeline: the cells as they are now, and which column of the table each belongs to.

Encoders and scalers treat every column by itself, so that the columns of the table can still be told apart; products of
two columns belong to both. What mixes columns otherwise ends the way: the rest of the pipeline is then explained as one
function of the columns before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

MOST_BACKGROUND = 100  # rows
_BY_COLUMN = {
    "StandardScaler",
    "MinMaxScaler",
    "MaxAbsScaler",
    "RobustScaler",
    "QuantileTransformer",
    "PowerTransformer",
}


@dataclass(frozen=True)
class Products:
    """The rows before they were multiplied, the powers of each product, and the steps from there."""

    before: Rows
    powers: np.ndarray
    onward: tuple[Any, ...]


@dataclass(frozen=True)
class Rows:
    """Rows to explain and background rows, in the same columns."""

    X: Any
    background: Any
    owner: np.ndarray  # the column of the table that each column belongs to
    names: list[str]  # of the columns of the table
    mean: np.ndarray | None = None  # of the training rows, where a scaler kept it
    products: Products | None = None
    given: bool = True  # whether the background was given, or stands for one
    reference: int = 0  # how many of the last rows of X are the background again

    @property
    def n(self) -> int:
        return self.X.shape[0]

    def by_column(self, values: np.ndarray) -> np.ndarray:
        """Sum over the columns that came from one of the table: (n, columns now, K) becomes (n, columns, K)."""
        out = np.zeros((len(self.names), values.shape[0], values.shape[2]))
        np.add.at(out, self.owner, values.transpose(1, 0, 2))
        return out.transpose(1, 0, 2)

    def known_by(self, models: Sequence[Any]) -> Rows:
        """With the background that models keep, where none was given: rows they were learnt from, or the mean row."""
        if self.given or self.products is not None or not isinstance(self.X, np.ndarray):
            return self
        for model in models:
            kept = _kept_rows(model)
            if kept is not None and kept.shape[1] == self.X.shape[1]:
                return replace(self, background=few_rows(kept).astype(np.float64))
        return self if self.mean is None else replace(self, background=np.asarray(self.mean, dtype=np.float64)[None])

    def as_function(self, answer: Callable[[Any], np.ndarray]) -> tuple[Callable, np.ndarray, np.ndarray, np.ndarray]:
        """A function of arrays, rows and background for it, and their owners; cells of a data frame go by their row."""
        if self.products is not None:
            steps = self.products.onward
            return self.products.before.as_function(lambda Z: answer(_through(steps, Z)))
        if isinstance(self.X, np.ndarray):
            return answer, self.X, self.background, self.owner
        both = Cells(self.X, self.background)
        d = len(self.owner)
        here = np.repeat(np.arange(self.n)[:, None], d, axis=1)
        there = self.n + np.repeat(np.arange(len(self.background))[:, None], d, axis=1)
        return (lambda at: answer(both.take(at))), here, there, self.owner


def with_background(rows: Rows) -> Rows:
    """The background below the rows to explain, so that it is explained as well."""
    X, background = rows.X, rows.background
    if isinstance(X, np.ndarray):
        both = np.concatenate([X, background])
    else:
        both = nw.concat([nw.from_native(X, eager_only=True), nw.from_native(background, eager_only=True)]).to_native()
    return replace(rows, X=both, reference=len(background))


def few_rows(X: Any) -> Any:
    """At most a hundred rows, evenly spaced."""
    n = X.shape[0]
    if n <= MOST_BACKGROUND:
        return X
    kept = np.linspace(0, n - 1, MOST_BACKGROUND).astype(np.int64)
    return X[kept] if isinstance(X, np.ndarray) else nw.from_native(X, eager_only=True)[kept.tolist()].to_native()


def _kept_rows(model: Any) -> np.ndarray | None:
    """Rows of the training table that a model keeps: neighbours, kernels."""
    for name in ("estimator_", "regressor_"):
        model = getattr(model, name, model)
    for name in ("_fit_X", "X_fit_", "support_vectors_"):
        kept = getattr(model, name, None)
        if isinstance(kept, np.ndarray) and kept.ndim == 2 and len(kept):
            return kept
    return None


class Cells:
    """The cells of two data frames of the same columns, from which rows are put together column by column."""

    def __init__(self, first: Any, second: Any) -> None:
        self.frame = nw.concat([nw.from_native(first, eager_only=True), nw.from_native(second, eager_only=True)])

    def take(self, at: np.ndarray) -> Any:
        """A data frame whose cell (i, j) is that of row at[i, j] in column j."""
        columns = [self.frame[name][at[:, j].tolist()] for j, name in enumerate(self.frame.columns)]
        native = nw.get_native_namespace(self.frame)
        data = {column.name: column for column in columns}
        return nw.from_dict(data, backend=native).to_native()


def passed(step: Any, rows: Rows) -> Rows | None:
    """Rows after a step that keeps columns apart, or multiplies them; None for any other step."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return rows
    if rows.products is not None:
        return _scaled_products(step, rows)
    if hasattr(step, "columns_") and hasattr(step, "sparse_"):
        return _encoded(step, rows)
    if type(step).__name__ in _BY_COLUMN:
        return _scaled(step, rows)
    if hasattr(step, "powers_") and np.asarray(step.powers_).sum(axis=1).max(initial=0) <= 2:
        return _multiplied(step, rows)
    return None


def _encoded(encoder: Any, rows: Rows) -> Rows | None:
    """After a TableEncoder: a date, a city or a text is several columns now."""
    if encoder.sparse_:
        return None
    named = hasattr(encoder, "feature_names_in_")
    places = {name: j for j, name in enumerate(rows.names)}
    owner = []
    for j, record in enumerate(encoder.columns_):
        place = places.get(str(record["name"]), -1) if named else j
        if place < 0:
            return None
        owner += [place] * len(record["outputs"])
    X, background = encoder.transform(rows.X), encoder.transform(rows.background)
    return replace(rows, X=X, background=background, owner=np.array(owner, dtype=np.int64))


def _scaled(scaler: Any, rows: Rows) -> Rows | None:
    X, background = _plain(scaler.transform(rows.X)), _plain(scaler.transform(rows.background))
    if not isinstance(X, np.ndarray) or X.shape[1] != len(rows.owner):
        return None
    mean = getattr(scaler, "mean_", None)
    if mean is not None:
        mean = _plain(scaler.transform(_named_as(np.asarray(mean, dtype=np.float64)[None], rows.X)))[0]
    return replace(rows, X=X, background=background, mean=mean)


def _multiplied(step: Any, rows: Rows) -> Rows:
    X, background = step.transform(rows.X), step.transform(rows.background)
    known = Products(rows, np.asarray(step.powers_), (step,))
    return replace(rows, X=X, background=background, mean=None, products=known)


def _scaled_products(step: Any, rows: Rows) -> Rows | None:
    if type(step).__name__ != "StandardScaler" or rows.products is None or len(rows.products.onward) > 1:
        return None
    onward = replace(rows.products, onward=(*rows.products.onward, step))
    return replace(rows, X=step.transform(rows.X), background=step.transform(rows.background), products=onward)


def linear_shares(rows: Rows) -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray]:
    """What columns add to themselves being known: pairs of (owners, amounts (n, columns)), and the columns' means.

    Multiplied by the weights of a linear model they are its Shapley values. A product of columns of the table a and b
    is worth E[ab] where neither is known and a·E[b] where a is, so that a gets half of (a·E[b] − E[ab]) +
    (ab − E[a]·b).
    """
    if rows.products is None:
        mean = _mean(rows)
        return [(rows.owner, _plain(rows.X).astype(np.float64) - mean)], mean
    before, powers = rows.products.before, rows.products.powers
    scalers = rows.products.onward[1:]
    Z, means = _plain(before.X).astype(np.float64), _mean(before)
    raw = np.stack([np.prod(Z**power, axis=1) for power in powers], axis=1)
    if scalers and scalers[0].mean_ is not None:
        expected = np.asarray(scalers[0].mean_, dtype=np.float64)
    else:
        B = _plain(before.background).astype(np.float64)
        expected = np.stack([np.prod(B**power, axis=1).mean() for power in powers])
    a = powers.argmax(axis=1)  # of a term: its first column, and its last, which is the same in x and x²
    b = powers.shape[1] - 1 - powers[:, ::-1].argmax(axis=1)
    two = (powers.sum(axis=1) == 2) & (before.owner[a] != before.owner[b])
    whole = raw - expected
    first = (Z[:, a] * means[b] - expected + raw - Z[:, b] * means[a]) / 2.0
    first = np.where(two, first, whole)
    scale = np.ones(len(powers))
    shift = np.zeros(len(powers))
    for scaler in scalers:
        scale = 1.0 / scaler.scale_ if scaler.scale_ is not None else scale
        shift = scaler.mean_ if scaler.with_mean else shift
    amounts = [(before.owner[a], first * scale), (before.owner[b], (whole - first) * scale)]
    return amounts, (expected - shift) * scale


def _mean(rows: Rows) -> np.ndarray:
    if rows.mean is not None:
        return np.asarray(rows.mean, dtype=np.float64)
    return _plain(rows.background).astype(np.float64).mean(axis=0)


def _through(steps: tuple[Any, ...], Z: Any) -> Any:
    for step in steps:
        Z = step.transform(Z)
    return Z


def _named_as(values: np.ndarray, X: Any) -> Any:
    """A row with the column names of a data frame, so that a scaler that knows names does not miss them."""
    if isinstance(X, np.ndarray):
        return values
    frame = nw.from_native(X, eager_only=True)
    data = {name: values[:, j] for j, name in enumerate(frame.columns)}
    return nw.from_dict(data, backend=nw.get_native_namespace(frame)).to_native()


def _plain(X: Any) -> Any:
    """Cells as an array, whatever frame a transformer gave."""
    return X if isinstance(X, np.ndarray) else np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X)
