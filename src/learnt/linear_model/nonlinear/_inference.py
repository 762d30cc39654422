"""Inference for the parameters: covariance σ²(JᵀWJ)⁻¹, standard errors, and the usual table."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.linalg import lapack

from learnt.linalg.spectrum import rounding

_SAFE = 1e-6


def covariance(triangle: np.ndarray, free: np.ndarray, variance: float, n_rows: int) -> np.ndarray:
    """σ²(RᵀR)⁻¹ over the free parameters.

    Parameters on a bound have NaN; those in a direction that the data do not determine have infinity.
    """
    p = len(triangle)
    if free.all() and n_rows >= p:
        pivots, lengths = np.abs(triangle.diagonal()), np.sqrt(np.einsum("ij,ij->j", triangle, triangle))
        if (pivots > _SAFE * lengths).all():  # no column is nearly a combination of others
            inverse = lapack.dtrtri(triangle)[0]
            return variance * (inverse @ inverse.T)
    result = np.full((p, p), np.nan)
    columns = triangle[:, free]
    scale = np.linalg.norm(columns, axis=0)
    scale[scale == 0.0] = 1.0
    _, s, vectors = np.linalg.svd(columns / scale, full_matrices=False)
    kept = s > rounding(s.size) * s.max(initial=0.0)
    half = vectors[kept] / s[kept, None] / scale
    inner = variance * (half.T @ half)
    lost = np.flatnonzero((vectors[kept] ** 2).sum(axis=0) < 1.0 - 1e-12)
    inner[lost], inner[:, lost] = np.nan, np.nan
    inner[lost, lost] = np.inf
    result[np.ix_(free, free)] = inner
    return result


@dataclass(frozen=True)
class FitSummary:
    """Estimates with their standard errors, t and p values and intervals; `str` is a table.

    `NonlinearLeastSquares(...).fit(X, y).summary()` makes one.

    Parameters
    ----------
    names : list of str
        The names of the parameters.
    estimate : ndarray of shape (n_parameters,)
        Their values.
    stderr : ndarray of shape (n_parameters,)
        Their standard errors.
    dof : int
        Degrees of freedom: rows less parameters.
    sigma : float
        Standard deviation of the residuals.
    r2 : float
        Share of the variance of y that the model explains.
    message : str
        How the fit ended.
    level : float, default=0.95
        Probability of the intervals.
    """

    names: list[str]
    estimate: np.ndarray
    stderr: np.ndarray
    dof: int
    sigma: float
    r2: float
    message: str
    level: float = 0.95

    @property
    def t(self) -> np.ndarray:
        """Estimate over standard error."""
        with np.errstate(all="ignore"):
            return self.estimate / self.stderr

    @property
    def p(self) -> np.ndarray:
        """Probability of so large a t where the parameter is 0."""
        return 2.0 * stats.t.sf(np.abs(self.t), max(self.dof, 1))

    @property
    def interval(self) -> np.ndarray:
        """Lower and upper end for each parameter, shape (n_parameters, 2)."""
        with np.errstate(all="ignore"):
            half = stats.t.ppf(0.5 + self.level / 2, max(self.dof, 1)) * self.stderr
        return np.column_stack([self.estimate - half, self.estimate + half])

    def __str__(self) -> str:
        tail = f"{50 * (1 - self.level):g}"
        head = ["parameter", "estimate", "std. error", "t", "p", f"{tail} %", f"{100 - float(tail):g} %"]
        body = [
            [name, f"{b:.6g}", f"{s:.4g}", f"{t:.3f}", f"{p:.3g}", f"{low:.6g}", f"{high:.6g}"]
            for name, b, s, t, p, (low, high) in zip(
                self.names, self.estimate, self.stderr, self.t, self.p, self.interval, strict=True
            )
        ]
        widths = [max(len(row[k]) for row in [head, *body]) for k in range(len(head))]
        lines = [
            "  ".join(
                cell.ljust(width) if k == 0 else cell.rjust(width) for k, (cell, width) in enumerate(zip(row, widths))
            )
            for row in [head, *body]
        ]
        rule = "-" * len(lines[0])
        noise = "none left to estimate it" if math.isnan(self.sigma) else f"{self.sigma:.6g}"
        share = "" if math.isnan(self.r2) else f", R² {self.r2:.6g}"
        foot = f"noise {noise} on {self.dof} degrees of freedom{share}; {self.message}"
        return "\n".join([lines[0], rule, *lines[1:], rule, foot])
