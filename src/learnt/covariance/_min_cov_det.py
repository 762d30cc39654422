"""A covariance that outliers do not move: of the half of the rows that lie closest together."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

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
    """The h rows whose covariance has the smallest determinant, by concentration steps from random starts (FAST-MCD).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows; finite numbers.
    support_fraction : float in (0, 1] or None, default=None
        h as a share of the rows; None is (n_samples + n_features + 1) / 2 of them, which withstands the most outliers.
    cov_computation_method : callable, default=empirical_covariance
        Makes the covariance that is returned of the h rows, once they are found.
    random_state : int, RandomState, Generator or None, default=None
        Where the random subsets come from that the search starts with. Pass an integer for the same result every time.

    Returns
    -------
    location : ndarray of shape (n_features,)
        The mean of the h rows.
    covariance : ndarray of shape (n_features, n_features)
        Their covariance, which is not yet made consistent: for all rows it is too small.
    support : ndarray of bool of shape (n_samples,)
        Which rows they are.
    dist : ndarray of shape (n_samples,)
        The squared Mahalanobis distance of every row in units of this covariance.

    See Also
    --------
    MinCovDet : The same, made consistent and reweighted, as an estimator.

    Notes
    -----
    Each concentration step takes the h rows nearest to the last estimate; the determinant never grows. 500 small random
    subsets are started from, and the best go on until nothing changes [1]_. A single column is solved exactly.

    References
    ----------
    .. [1] P. J. Rousseeuw and K. Van Driessen, "A fast algorithm for the minimum covariance determinant estimator",
       Technometrics 41, 1999.

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

    Take it where rows hold outliers that would inflate the usual covariance, and to find them: `mahalanobis` of
    outliers is large. Suited to one roughly normal cloud of rows with many more rows than columns (n_samples > 5
    n_features, say).

    Parameters
    ----------
    store_precision : bool, default=True
        Whether to keep the inverse of the covariance. False saves memory and an inversion with many columns;
        `get_precision` then inverts when it is asked.
    assume_centered : bool, default=False
        Whether the location is known to be 0: the h rows are found as ever, and their covariance is taken about 0.
    support_fraction : float in (0, 1] or None, default=None
        The share of rows that the first, raw estimate is made of. None takes (n_samples + n_features + 1) / 2 rows,
        which withstands the most outliers; a larger share is more precise where outliers are known to be few.
    random_state : int, RandomState, Generator or None, default=None
        Where the random subsets of rows come from that the search starts with. Pass an integer for the same result
        every time.

    Attributes
    ----------
    location_ : ndarray of shape (n_features,)
        The estimated mean of the rows; 0 where `assume_centered`.
    covariance_ : ndarray of shape (n_features, n_features)
        The robust covariance, of the rows of `support_`, made consistent for normal rows.
    precision_ : ndarray of shape (n_features, n_features) or None
        The inverse of `covariance_`, its pseudo-inverse where it is singular; None where `store_precision` is False.
    raw_location_ : ndarray of shape (n_features,)
        The mean of the rows of least determinant; 0 where `assume_centered`.
    raw_covariance_ : ndarray of shape (n_features, n_features)
        Their covariance, before it is made consistent and reweighted.
    raw_support_ : ndarray of bool of shape (n_samples,)
        Which rows they are.
    support_ : ndarray of bool of shape (n_samples,)
        Which rows `location_` and `covariance_` are estimated from: those within the 97.5 % quantile of χ².
    dist_ : ndarray of shape (n_samples,)
        The squared Mahalanobis distance of each training row from `location_` in units of `covariance_`.

    See Also
    --------
    EllipticEnvelope : Outliers by their distance in units of this covariance.
    EmpiricalCovariance : The covariance of all rows, much cheaper.
    LedoitWolf : Shrunk, for few rows without outliers.

    Notes
    -----
    First the h rows are found whose covariance has the smallest determinant [1]_, by concentration steps from 500 small
    random sets of rows [2]_; a single column is solved exactly. Their covariance, made as large as it would be of all
    rows if they were normal, gives every row a distance. The rows within the 97.5 % quantile of χ² then give the
    location and the covariance, again made consistent for normal rows [3]_.

    With `random_state` the result does not depend on the columns' units, nor on any other affine map.

    References
    ----------
    .. [1] P. J. Rousseeuw, "Least median of squares regression", Journal of the American Statistical Association 79,
       1984.
    .. [2] P. J. Rousseeuw and K. Van Driessen, "A fast algorithm for the minimum covariance determinant estimator",
       Technometrics 41, 1999.
    .. [3] C. Croux and G. Haesbroeck, "Influence function and efficiency of the minimum covariance determinant scatter
       matrix estimator", Journal of Multivariate Analysis 71, 1999.

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

    def __init__(
        self,
        *,
        store_precision: bool = True,
        assume_centered: bool = False,
        support_fraction: float | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(store_precision=store_precision, assume_centered=assume_centered)
        self.support_fraction = support_fraction
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the rows that lie closest together, and the location and covariance that they give."""
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

        `fit` does this by itself.

        Parameters
        ----------
        data : array-like of shape (n_samples, n_features)
            The rows of `fit`.

        Returns
        -------
        covariance : ndarray of shape (n_features, n_features)
            The corrected raw covariance.
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
        """Location and covariance of the rows within the 97.5 % quantile of `dist_`, which become the model's.

        `fit` does this by itself.

        Parameters
        ----------
        data : array-like of shape (n_samples, n_features)
            The rows of `fit`.

        Returns
        -------
        location : ndarray of shape (n_features,)
            Their mean.
        covariance : ndarray of shape (n_features, n_features)
            Their covariance, made consistent for normal rows.
        support : ndarray of bool of shape (n_samples,)
            Which rows they are.
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
