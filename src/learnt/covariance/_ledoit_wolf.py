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
    """The covariance of X shrunk by Ledoit and Wolf's share, and that share; the formula is `LedoitWolf`'s.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    assume_centered : bool, default=False
        Whether the mean is known to be 0.
    block_size : int, default=1000
        For code written for scikit-learn.

    Returns
    -------
    covariance : array of shape (n_features, n_features)
    shrinkage : float

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
    """Ledoit and Wolf's share for X; the formula is `LedoitWolf`'s.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    assume_centered : bool, default=False
        Whether the mean is known to be 0.
    block_size : int, default=1000
        For code written for scikit-learn.

    Returns
    -------
    float

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

    Rows are read twice, from an array, a file, a Dask collection or a device.

    Parameters
    ----------
    store_precision : bool, default=True
        Whether the inverse of the covariance is kept.
    assume_centered : bool, default=False
        Whether the mean is known to be 0.
    block_size : int, default=1000
        For code written for scikit-learn: no more memory is taken than for S.

    Attributes
    ----------
    shrinkage_ : float
        The share s, in [0, 1].
    location_, covariance_, precision_, n_features_in_, feature_names_in_
        As in `EmpiricalCovariance`.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(20, 50))
    >>> model = LedoitWolf().fit(X)
    >>> bool(model.error_norm(np.eye(50)) < EmpiricalCovariance().fit(X).error_norm(np.eye(50)) / 10)
    True
    """

    __learnt_schema__ = Schema(state={**STATE, "shrinkage_": number(0, 1)})

    def __init__(self, *, store_precision=True, assume_centered=False, block_size=1000):
        super().__init__(store_precision=store_precision, assume_centered=assume_centered)
        self.block_size = block_size

    def _check_others(self) -> None:
        check_number(self, "block_size", 1, integer=True)

    def _estimate(self, found: Sample) -> np.ndarray:
        self.shrinkage_ = share_of(found)
        return shrunk(found.covariance, self.shrinkage_)
