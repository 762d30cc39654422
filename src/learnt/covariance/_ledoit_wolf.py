"""The covariance of the rows shrunk by the share of least expected squared error (Ledoit and Wolf 2004)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from learnt.covariance._empirical import STATE, EmpiricalCovariance
from learnt.covariance._sample import Sample, checked_table, sample
from learnt.engine.params import check_number
from learnt.engine.schema import Schema, number
from learnt.statistics import ledoit_wolf_share, quartics, shrunk


def share_of(found: Sample) -> float:
    """The share of a sample: a second pass over its rows sums ‖x − mean‖⁴, in a unit in which that is finite."""
    mean = float(np.trace(found.covariance)) / len(found.covariance)
    unit = 2.0 ** round(0.5 * math.log2(mean)) if mean > 0 else 1.0  # a power of two keeps every digit
    return ledoit_wolf_share(found.covariance / unit / unit, found.n, quartics(found.rows, found.location, 1.0 / unit))


def ledoit_wolf(X: Any, *, assume_centered: bool = False, block_size: int = 1000) -> tuple[np.ndarray, float]:
    """The covariance of X shrunk by Ledoit and Wolf's share, and that share.

        (1 − s) S + s (tr S / d) 1,      s the share of least expected squared error

    Take it where there are few rows for the number of columns: the result can always be inverted, unless all rows are
    equal.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows; finite numbers.
    assume_centered : bool, default=False
        Whether the mean of every column is known to be 0, so that it is not estimated: True for residuals, or for rows
        that were centred before.
    block_size : int, default=1000
        Kept for scikit-learn's signature, and without effect: memory for no more than one covariance is taken at any
        block size.

    Returns
    -------
    covariance : ndarray of shape (n_features, n_features)
        The shrunk covariance.
    shrinkage : float
        The share s, in [0, 1]: 0 leaves S as it is, 1 makes it a multiple of the identity.

    See Also
    --------
    LedoitWolf : The same as an estimator.
    ledoit_wolf_shrinkage : The share alone.
    oas : A share with less error where rows are close to normal.

    Notes
    -----
    Two passes over the rows: the covariance first, then the fourth moments that the share needs; O(n d²) time.

    Examples
    --------
    >>> C, share = ledoit_wolf([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0], [0.0, -2.0]])
    >>> round(share, 3), C.round(2).tolist()
    (0.944, [[1.21, 0.0], [0.0, 1.29]])
    """
    found = sample(checked_table(X, "ledoit_wolf"), assume_centered, "ledoit_wolf")
    share = share_of(found)
    return shrunk(found.covariance, share), share


def ledoit_wolf_shrinkage(X: Any, assume_centered: bool = False, block_size: int = 1000) -> float:
    """Ledoit and Wolf's shrinkage of the covariance of X: the share of least expected squared error.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows; finite numbers.
    assume_centered : bool, default=False
        Whether the mean of every column is known to be 0, so that it is not estimated: True for residuals, or for rows
        that were centred before.
    block_size : int, default=1000
        Kept for scikit-learn's signature, and without effect: memory for no more than one covariance is taken at any
        block size.

    Returns
    -------
    shrinkage : float
        The share s, in [0, 1].

    See Also
    --------
    ledoit_wolf : The shrunk covariance too.
    LedoitWolf : The same as an estimator.

    Notes
    -----
    The covariance is  (1 − s) S + s (tr S / d) 1,  with S the covariance of the rows and d their columns.

    Examples
    --------
    >>> round(ledoit_wolf_shrinkage([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0], [0.0, -2.0]]), 3)
    0.944
    """
    return share_of(sample(checked_table(X, "ledoit_wolf_shrinkage"), assume_centered, "ledoit_wolf_shrinkage"))


class LedoitWolf(EmpiricalCovariance):
    """The covariance S of the rows shrunk by the share of least expected squared error (Ledoit and Wolf 2004).

        covariance = (1 − s) S + s μ 1,        μ = tr S / d
        s = min(β, δ) / δ,   δ = ‖S − μ 1‖²,   β = Σ ‖(x − m)(x − m)ᵀ − S‖² / n²

    The first choice where rows are few for the number of columns: nothing has to be tuned, nothing is assumed about the
    distribution, and the result is well conditioned, so that its inverse is of use.

    Parameters
    ----------
    store_precision : bool, default=True
        Whether to keep the inverse of the covariance. False saves memory and an inversion with many columns;
        `get_precision` then inverts when it is asked.
    assume_centered : bool, default=False
        Whether the mean of every column is known to be 0, so that it is not estimated: True for residuals, or for rows
        that were centred before.
    block_size : int, default=1000
        Kept for scikit-learn's signature, and without effect: memory for no more than one covariance is taken at any
        block size.

    Attributes
    ----------
    shrinkage_ : float
        The share s, in [0, 1]: 0 leaves S as it is, 1 makes it a multiple of the identity.
    location_ : ndarray of shape (n_features,)
        The estimated mean of the rows; 0 where `assume_centered`.
    covariance_ : ndarray of shape (n_features, n_features)
        The shrunk covariance.
    precision_ : ndarray of shape (n_features, n_features) or None
        The inverse of `covariance_`, its pseudo-inverse where it is singular; None where `store_precision` is False.

    See Also
    --------
    OAS : Less error where rows are close to normal.
    ShrunkCovariance : With a share of your own.
    ledoit_wolf : The same as a function.

    Notes
    -----
    Two passes over the rows, O(n d²) time and O(d²) memory for n rows of d columns.

    References
    ----------
    .. [1] O. Ledoit and M. Wolf, "A well-conditioned estimator for large-dimensional covariance matrices",
       Journal of Multivariate Analysis 88, 2004.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(20, 50))
    >>> model = LedoitWolf().fit(X)
    >>> bool(model.error_norm(np.eye(50)) < EmpiricalCovariance().fit(X).error_norm(np.eye(50)) / 10)
    True
    """

    __learnt_schema__ = Schema(state={**STATE, "shrinkage_": number(0, 1)})

    def __init__(self, *, store_precision: bool = True, assume_centered: bool = False, block_size: int = 1000) -> None:
        super().__init__(store_precision=store_precision, assume_centered=assume_centered)
        self.block_size = block_size

    def _check_others(self) -> None:
        check_number(self, "block_size", 1, integer=True)

    def _estimate(self, found: Sample) -> np.ndarray:
        self.shrinkage_ = share_of(found)
        return shrunk(found.covariance, self.shrinkage_)
