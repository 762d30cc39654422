"""A covariance that outliers do not move: of the half of the rows that lie closest together."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import chdtr, chdtri
from sklearn.utils.validation import check_is_fitted

from learnt.covariance._empirical import STATE, EmpiricalCovariance, empirical_covariance
from learnt.covariance._gauss import inverse, square_distances
from learnt.covariance._half import best_half, support_size
from learnt.covariance._sample import checked_table, sample
from learnt.engine.estimator import Takes, Trial, Warm
from learnt.engine.params import ParameterError, check_flag, check_number
from learnt.engine.random import generator
from learnt.engine.rows import Block
from learnt.engine.schema import Schema, flags, real
from learnt.engine.validation import NOT_FITTED, check_fit

_INSIDE = 0.975  # of normal rows: those farther out do not count in the second estimate


def consistency(share: float, d: int) -> float:
    """What the covariance of the innermost share of normal rows is multiplied by, to be that of all (Croux 1999).

        share / P(χ²_{d+2} ≤ q),      P(χ²_d ≤ q) = share

    >>> round(consistency(0.5, 1), 2), consistency(1.0, 3)
    (7.01, 1.0)
    """
    if share >= 1.0:
        return 1.0
    return float(share / chdtr(d + 2, chdtri(d, 1.0 - share)))


def fast_mcd(
    X: Any,
    support_fraction: float | None = None,
    cov_computation_method: Callable[[np.ndarray], np.ndarray] = empirical_covariance,
    random_state: Any = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The h rows whose covariance has the smallest determinant, by concentration steps from many random starts.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    support_fraction : float in (0, 1] or None, default=None
        h as a share of the rows; None is (n_samples + n_features + 1) / 2 of them.
    cov_computation_method : callable, default=empirical_covariance
        Makes a covariance of the h rows, once they are found.
    random_state : None, int, RandomState or Generator

    Returns
    -------
    location : array of shape (n_features,)
        The mean of the h rows.
    covariance : array of shape (n_features, n_features)
        Their covariance, which is not yet that of all rows.
    support : array of bool of shape (n_samples,)
        Which rows they are.
    dist : array of shape (n_samples,)
        The square distance of every row in units of this covariance.

    Examples
    --------
    >>> X = [[0.0, 0.1], [0.1, 0.0], [0.2, 0.2], [9.0, 8.0], [0.3, 0.1]]
    >>> fast_mcd(X, support_fraction=0.8, random_state=0)[2]
    array([ True,  True,  True, False,  True])
    """
    good = support_fraction is None or (
        isinstance(support_fraction, int | float | np.number) and 0.0 < support_fraction <= 1.0
    )
    if not good or isinstance(support_fraction, bool):
        raise ParameterError(
            "The 'support_fraction' parameter of fast_mcd must be a number greater than 0 and at most 1 or None. Got "
            f"{support_fraction!r} instead."
        )
    table = checked_table(X, "fast_mcd").astype(np.float64)
    sample(table, False, "fast_mcd", quiet=True)  # that squares are finite
    support = best_half(table, support_size(len(table), table.shape[1], support_fraction), generator(random_state))
    chosen = table[support]
    covariance = np.asarray(cov_computation_method(chosen), dtype=np.float64)
    location = chosen.mean(axis=0)
    return location, covariance, support, square_distances(Block(table), location, inverse(covariance))


class MinCovDet(EmpiricalCovariance):
    """A covariance that up to half of the rows cannot spoil (minimum covariance determinant; Rousseeuw 1984).

    First the h rows whose covariance has the smallest determinant. That covariance, made as large as it would be of
    all rows if they were normal, gives every row a distance. The rows within the 97.5 % quantile of χ² then give the
    location and the covariance, again made consistent for normal rows (Croux and Haesbroeck 1999).

    The h rows are found by concentration steps from 500 small random sets of rows (FAST-MCD; Rousseeuw and Van Driessen
    1999), and exactly where there is one feature. With `random_state` the result does not depend on the features'
    units, nor on any other affine map.

    Parameters
    ----------
    store_precision : bool, default=True
        Whether the inverse of the covariance is kept.
    assume_centered : bool, default=False
        Whether the location is known to be 0: the h rows are found as ever, and their covariance is taken about 0.
    support_fraction : float in (0, 1] or None, default=None
        h as a share of the rows; None is (n_samples + n_features + 1) / 2 of them, which withstands the most outliers.
    random_state : None, int, RandomState or Generator

    Attributes
    ----------
    raw_location_ : array of shape (n_features,)
        The mean of the h rows, or 0.
    raw_covariance_ : array of shape (n_features, n_features)
        The covariance of the h rows as it is.
    raw_support_ : array of bool of shape (n_samples,)
        Which rows they are.
    support_ : array of bool of shape (n_samples,)
        The rows within the quantile, which `location_` and `covariance_` are of.
    dist_ : array of shape (n_samples,)
        The square distance of every row from `location_` in units of `covariance_`.
    location_, covariance_, precision_, n_features_in_, feature_names_in_
        As in `EmpiricalCovariance`.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> X[:60] += 10.0
    >>> model = MinCovDet(random_state=0).fit(X)
    >>> bool(abs(model.location_).max() < 0.2), bool(model.support_[:60].any())
    (True, False)
    """

    __learnt_schema__ = Schema(
        state={
            **STATE,
            "raw_location_": real("d"),
            "raw_covariance_": real("d", "d"),
            "raw_support_": flags("n"),
            "support_": flags("n"),
            "dist_": real("n", low=0),
        }
    )
    __learnt_takes__ = Takes()
    # The random sets of rows are numbers of rows: in another order they are others.
    __learnt_trial__ = Trial(quick={"random_state": 0}, warmup=(Warm("none", {"random_state": 0}),), any_order=False)

    def __init__(self, *, store_precision=True, assume_centered=False, support_fraction=None, random_state=None):
        super().__init__(store_precision=store_precision, assume_centered=assume_centered)
        self.support_fraction = support_fraction
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Any:
        """Find the rows that lie closest together, and their covariance; y is not used."""
        check_flag(self, "store_precision", "assume_centered")
        check_number(self, "support_fraction", 0, 1, open_low=True, also=(None,))
        self._check_others()
        X = check_fit(self, X, min_rows=2).X.astype(np.float64)
        name = type(self).__name__
        whole = sample(X, False, name)
        self.raw_support_ = best_half(
            X, support_size(len(X), X.shape[1], self.support_fraction), generator(self.random_state)
        )
        found = sample(X[self.raw_support_], self.assume_centered, name, quiet=True)
        self.raw_location_, self.raw_covariance_ = found.location, found.covariance
        _check_rank(self.raw_covariance_, whole.covariance, name)
        self.support_ = self.raw_support_
        self._set(found.location, found.covariance)
        self.dist_ = self._distances(X)
        self.correct_covariance(X)
        self.reweight_covariance(X)
        return self

    def correct_covariance(self, data: Any) -> np.ndarray:
        """The raw covariance made as large as that of all rows if they are normal; `dist_` becomes that much smaller.

        Parameters
        ----------
        data : array of shape (n_samples, n_features)
            The rows of `fit`.

        Returns
        -------
        array of shape (n_features, n_features)
        """
        check_is_fitted(self, msg=NOT_FITTED)
        n, d = len(self.raw_support_), self.n_features_in_
        h = int(self.raw_support_.sum())
        if h < n and not np.any(np.abs(self.raw_covariance_) > 1e-8):
            raise ValueError(
                "The covariance matrix of the support data is equal to 0, try to increase support_fraction: the rows "
                f"that {type(self).__name__} chose are all alike."
            )
        factor = consistency(h / n, d)
        self.dist_ = self.dist_ / factor
        return self.raw_covariance_ * factor

    def reweight_covariance(self, data: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Location and covariance of the rows within the 97.5 % quantile of `dist_`.

        Parameters
        ----------
        data : array of shape (n_samples, n_features)
            The rows of `fit`.

        Returns
        -------
        location : array of shape (n_features,)
        covariance : array of shape (n_features, n_features)
        support : array of bool of shape (n_samples,)
            The rows within.
        """
        check_is_fitted(self, msg=NOT_FITTED)
        X, d = np.asarray(data, dtype=np.float64), self.n_features_in_
        inside = self.dist_ < chdtri(d, 1.0 - _INSIDE)
        found = sample(X[inside], self.assume_centered, type(self).__name__, quiet=True)
        covariance = found.covariance * consistency(_INSIDE, d)
        self.support_ = inside
        self._set(found.location, covariance)
        self.dist_ = self._distances(X)
        return found.location, covariance, inside

    def _distances(self, X: np.ndarray) -> np.ndarray:
        found: np.ndarray = square_distances(Block(X), self.location_, self.get_precision())
        return found


def _check_rank(raw: np.ndarray, whole: np.ndarray, name: str) -> None:
    """A warning where rows or features depend on each other."""
    unit = np.sqrt(np.diag(whole))
    unit = np.where(unit > 0, unit, 1.0)
    ranks = [int(np.linalg.matrix_rank(C / np.outer(unit, unit), hermitian=True)) for C in (whole, raw)]
    d = len(raw)
    if min(ranks) == d or ranks[1] == 0:
        return
    if ranks[0] < d:
        said = (
            f"{name} measures distances in {ranks[0]} of {d} directions, since X has no full rank (a constant feature, "
        )
        said += "features that depend on each other, or too few rows); drop such features."
    else:
        said = f"The rows that {name} chose all lie in {ranks[1]} of {d} directions, in which alone it measures "
        said += "distances; drop features of few values, or give a larger support_fraction."
    warnings.warn(said, UserWarning, stacklevel=3)
