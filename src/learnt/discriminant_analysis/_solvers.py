"""From the moments of the classes to planes: W (K × d) and b (K), the scores of the classes being W x + b.

With one covariance Σ for all classes, log p(x, c) is linear in x but for a term that no class differs in:

    w_c = Σ⁻¹ μ_c,        b_c = log π_c − ½ μ_cᵀ Σ⁻¹ μ_c

The solvers differ in how they compute it, and in what they do where Σ is singular.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from learnt.engine.threads import single_blas
from learnt.linalg import decompositions


class Planes(NamedTuple):
    """Scores W x + b; where a solver finds them, directions to project on, and the share of variance of each."""

    W: np.ndarray
    b: np.ndarray
    scalings: np.ndarray | None = None
    explained: np.ndarray | None = None


@single_blas()
def whitened(priors: np.ndarray, mean: np.ndarray, within: np.ndarray, tol: float) -> Planes:
    """scikit-learn's "svd": first into units of the covariance within classes, then along the means.

    Directions without variance within classes (a standard deviation of `tol` or less, in units of the features' own)
    are left out; if all are, the features' units are kept.
    """
    centre = priors @ mean
    variance = np.diag(within)
    unit = np.sqrt(np.where(variance > 0, variance, 1.0))
    values, vectors = decompositions.eigh(within / np.outer(unit, unit))
    deviation = np.sqrt(np.maximum(values, 0.0))[::-1]
    rank = int((deviation > tol).sum())
    if rank:
        scalings = vectors[:, ::-1][:, :rank] / unit[:, None] / deviation[:rank]
    else:
        scalings = np.eye(len(unit))
    _, between, V = decompositions.svd(np.sqrt(priors)[:, None] * (mean - centre) @ scalings, full_matrices=False)
    rank = int((between > tol * between[0]).sum())
    scalings = scalings @ V.T[:, :rank]
    return _about(priors, mean, centre, scalings)._replace(scalings=scalings, explained=_shares(between**2))


@single_blas()
def shortest(priors: np.ndarray, mean: np.ndarray, within: np.ndarray) -> Planes:
    """scikit-learn's "lsqr": Σ w_c = μ_c, the shortest w_c where Σ is singular."""
    return _through_zero(priors, mean, linalg.lstsq(within, mean.T)[0].T)


@single_blas()
def eigen(priors: np.ndarray, mean: np.ndarray, within: np.ndarray, total: np.ndarray) -> Planes:
    """scikit-learn's "eigen": directions of most variance between classes for their variance within them."""
    values, vectors = linalg.eigh(total - within, within)
    values, vectors = values[::-1], vectors[:, ::-1]
    planes = _through_zero(priors, mean, mean @ vectors @ vectors.T)
    return planes._replace(scalings=vectors, explained=_shares(values))


@single_blas()
def gaussian(priors: np.ndarray, mean: np.ndarray, within: np.ndarray) -> Planes:
    """One Gaussian density a class with a common covariance, and Bayes' rule."""
    return _through_zero(priors, mean, linalg.solve(within, mean.T, assume_a="pos").T)


@single_blas()
def fisher(priors: np.ndarray, mean: np.ndarray, within: np.ndarray) -> Planes:
    """Fisher's criterion: directions w of the largest  wᵀ(between)w / wᵀ(within)w,  then the nearest projected mean."""
    centre = priors @ mean
    apart = np.sqrt(priors)[:, None] * (mean - centre)
    values, vectors = linalg.eigh(apart.T @ apart, within)
    n = min(len(priors) - 1, len(within))
    scalings = vectors[:, ::-1][:, :n]
    planes = _about(priors, mean, centre, scalings)
    return planes._replace(scalings=scalings, explained=_shares(np.maximum(values[::-1][:n], 0.0)))


@single_blas()
def least_squares(priors: np.ndarray, mean: np.ndarray, within: np.ndarray) -> Planes:
    """Least-squares regression of the classes on the features.

    Two classes have the targets −1 and 1, and the boundary is where the regression is 0; the scores are its values in
    the scale of the log odds, which follows from the regression itself. Of more classes the indicators are regressed,
    and the rows compared with the means by their fitted values (optimal scoring; Hastie, Tibshirani and Buja 1994).
    """
    centre = priors @ mean
    apart = mean - centre
    total = within + (priors[:, None] * apart).T @ apart
    if len(priors) > 2:
        B = linalg.solve(total, (priors[:, None] * apart).T, assume_a="pos")
        fitted = apart @ B
        W = linalg.lstsq(B.T @ within @ B, fitted.T)[0].T @ B.T
        return Planes(W, np.log(priors) - 0.5 * (W * apart).sum(axis=1) - W @ centre)
    share = priors[0] * priors[1]
    w = linalg.solve(total, 2.0 * share * (mean[1] - mean[0]), assume_a="pos")
    step = w @ (mean[1] - mean[0])  # the difference of the fitted means of the two classes, at most 2
    unit = 1.0 / (share * (2.0 - step))  # makes w the Σ⁻¹(μ₁ − μ₀) of log odds
    b = (priors[1] - priors[0]) - w @ centre
    return Planes(np.stack([-w, w]) * unit / 2, np.array([-b, b]) * unit / 2)


def _through_zero(priors: np.ndarray, mean: np.ndarray, W: np.ndarray) -> Planes:
    return Planes(W, np.log(priors) - 0.5 * (mean * W).sum(axis=1))


def _about(priors: np.ndarray, mean: np.ndarray, centre: np.ndarray, scalings: np.ndarray) -> Planes:
    """Planes in the space that `scalings` projects to, taken about the centre, so that large means do not cancel."""
    projected = (mean - centre) @ scalings
    W = projected @ scalings.T
    return Planes(W, np.log(priors) - 0.5 * (projected**2).sum(axis=1) - W @ centre)


def _shares(values: np.ndarray) -> np.ndarray:
    total = values.sum()
    return values / total if total > 0 else np.zeros_like(values)
