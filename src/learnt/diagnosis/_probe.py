"""What regularised models of other kinds find in the columns: of the targets, and of a model's errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from learnt.diagnosis._bayes import drawn_rows
from learnt.diagnosis._intervals import ranks_of
from learnt.engine.random import generator

_WAVES = 8  # cosines of the ranks of a column that a curve is made of
_PENALTIES = 10.0 ** np.arange(-3.0, 4.0)  # as shares of the mean eigenvalue
_FREE = 0.05  # of the rows so many must be left over by the parameters, or the criterion has nothing to stand on
_DRAWS = 199  # orders of the targets that the gain is compared with
_LEVEL = 0.04  # of which so many may gain as much by chance


class Probe(NamedTuple):
    """What `probe` found, as a named tuple.

    Parameters
    ----------
    signal : bool
        Whether a regularised model predicts the targets better than their mean does, by more than chance.
    rows : ndarray of int
        The rows that were used.
    losses : ndarray of shape (n_rows, 1) or (n_rows, 2)
        Squared losses of rows that were left out: of predicted targets, and, where errors were given, of corrected
        errors.

    See Also
    --------
    probe : Computes it.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.diagnosis import probe
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(100, 3))
    >>> found = probe(X, X[:, :1])
    >>> found.signal, found.losses.shape
    (True, (100, 1))
    """

    signal: bool
    rows: np.ndarray
    losses: np.ndarray


class _Kind(NamedTuple):
    """A kernel matrix, centred, as eigenvalues and eigenvectors: ridge regressions of all penalties at once."""

    values: np.ndarray
    vectors: np.ndarray


def probe(
    X: np.ndarray, y: np.ndarray, errors: np.ndarray | None = None, *, max_rows: int = 400, random_state: Any = 0
) -> Probe:
    """Predict targets by ridge regressions of four kinds: lines, sums of curves, pairs of columns, surfaces.

    Whether there is any signal in these columns, and whether a model misses some of it: a quick look before, or beside,
    a search for a better model.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Numbers without gaps.
    y : ndarray of shape (n_samples, n_outputs)
        Targets, whose losses are added up; for classes a column of zeros and ones each.
    errors : ndarray of shape (n_samples, n_outputs), default=None
        Errors of a model on rows that it had not seen. What is found in them is bias: signal that the model misses.
    max_rows : int, default=400
        At most so many rows are used, drawn at random; time grows with the cube of their number.
    random_state : int, RandomState, Generator or None, default=0
        Where the draws come from.

    Returns
    -------
    found : Probe
        With `signal`, whether there is any; `rows`, those that were used; and `losses` of rows left out.

    See Also
    --------
    diagnose : Uses it for its verdict on a model.
    noise_bounds : How much of the targets is noise, from neighbours.
    learnt.model_selection.permutation_test_score : The same test for a model of yours.

    Notes
    -----
    Penalties are chosen by generalised cross-validation, and losses are those of rows left out one at a time, which
    ridge regression has in closed form: (yᵢ − ŷᵢ) / (1 − Hᵢᵢ) with the hat matrix H. Whether there is any signal is a
    permutation test: were there none, the targets in another order could be predicted as well.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.diagnosis import probe
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(200, 5))
    >>> noise = rng.normal(size=(200, 1))
    >>> probe(X, noise).signal, probe(X, noise + 3 * X[:, :1] * X[:, 1:2]).signal
    (False, True)
    """
    rows = drawn_rows(len(X), max_rows, random_state)
    X = X[rows]
    columns = X[:, np.ptp(X, axis=0) > 0]
    columns = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    tried = [target[rows] - target[rows].mean(axis=0) for target in (y, errors) if target is not None]
    kinds = [_decomposed(kernel) for kernel in _kernels(columns)] if columns.size and len(rows) > 3 else []
    losses = np.column_stack([_left_out(kinds, target) for target in tried])
    return Probe(bool(kinds) and _signal(kinds, columns, tried[0], generator(random_state)), rows, losses)


def _kernels(X: np.ndarray) -> Iterator[np.ndarray]:
    """Similarities of rows under which a penalised fit is a line, a sum of curves, curves of pairs, a surface."""
    n, p = X.shape
    yield X @ X.T
    angle = np.pi * np.column_stack([ranks_of(column) for column in X.T]) / n
    curves = np.zeros((n, n))
    for wave in range(1, _WAVES + 1):
        cosines = np.cos(wave * angle) / wave  # as the penalty on slopes weighs them
        curves += cosines @ cosines.T
    curves = _centred(curves)
    yield curves
    yield (1 + curves / np.mean(np.diag(curves))) ** 2
    inside = np.clip(X, -4, 4)  # one far cell would make all other rows alike
    square = np.sum(inside**2, axis=1)
    distance = np.sqrt(np.maximum(square[:, None] + square[None, :] - 2 * inside @ inside.T, 0.0))
    yield np.exp(-distance / np.sqrt(2 * p))


def _centred(kernel: np.ndarray) -> np.ndarray:
    """The kernel of the features less their means: the fit has an intercept without a penalty."""
    mean = kernel.mean(axis=0)
    return kernel - mean[:, None] - mean[None, :] + mean.mean()


def _decomposed(kernel: np.ndarray) -> _Kind:
    values, vectors = np.linalg.eigh(_centred(kernel))
    return _Kind(np.maximum(values, 0.0), vectors)


def _shrinkages(kind: _Kind) -> Iterator[tuple[np.ndarray, float]]:
    """For each penalty the factors that it shrinks the targets' coordinates by, and the share of rows left free."""
    for penalty in _PENALTIES * kind.values.mean():
        shrunk = kind.values / (kind.values + penalty)
        free = 1 - (1 + shrunk.sum()) / len(shrunk)
        if free >= _FREE:
            yield shrunk, free


def _left_out(kinds: list[_Kind], y: np.ndarray) -> np.ndarray:
    """Squared losses of rows left out by the kind and penalty of the least criterion; the mean is one of them."""
    n = len(y)
    best, kept = float(np.sum(y**2)) / (1 - 1 / n) ** 2, None
    for kind in kinds:
        inside = kind.vectors.T @ y
        for shrunk, free in _shrinkages(kind):
            error = float(np.sum(y**2) - (1 - (1 - shrunk) ** 2) @ np.sum(inside**2, axis=1)) / free**2
            if error < best:
                best, kept = error, (kind.vectors, shrunk, inside)
    if kept is None:
        return np.sum((y / (1 - 1 / n)) ** 2, axis=1)
    vectors, shrunk, inside = kept
    free = np.maximum(1 - 1 / n - vectors**2 @ shrunk, 1e-6)
    return np.sum(((y - vectors @ (shrunk[:, None] * inside)) / free[:, None]) ** 2, axis=1)


def _signal(kinds: list[_Kind], X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> bool:
    """Whether the targets are predicted better than in all but few other orders, by one of two tests at half the level.

    One is the least criterion of the kinds. They gain more or less by chance, so that each is measured in the standard
    deviations of its gains. The other is a line along two columns, for few that matter among many.
    """
    n, whole = len(y), float(np.sum(y**2))
    if whole <= 0:
        return False
    orders = np.array([np.arange(n), *(rng.permutation(n) for _ in range(_DRAWS))]).T
    targets = [column[orders] for column in y.T]
    left = []
    for kind in kinds:
        inside = np.sum([(kind.vectors.T @ target) ** 2 for target in targets], axis=0) / whole
        errors = [(1 - (1 - (1 - shrunk) ** 2) @ inside) / free**2 for shrunk, free in _shrinkages(kind)]
        left.append(np.min(errors, axis=0) if errors else np.ones(len(orders.T)))
    found = np.array(left)
    spread = found.std(axis=1, keepdims=True)
    least = ((found - found.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)).min(axis=0)
    line = _left_by_two_columns(X, targets)
    return bool(2 * min(np.mean(test <= test[0]) for test in (least, line)) <= _LEVEL)


def _left_by_two_columns(X: np.ndarray, targets: list[np.ndarray]) -> np.ndarray:
    """What is left of each order of the targets by the best column, and then by the best one for the rest."""
    for _ in range(2):
        products = [X.T @ target for target in targets]
        best = np.sum(np.square(products), axis=0).argmax(axis=0)
        along = X[:, best] / len(X)
        targets = [t - along * p[best, np.arange(len(best))] for t, p in zip(targets, products, strict=True)]
    return np.sum(np.square(targets), axis=(0, 1))
