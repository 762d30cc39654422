"""Moments in exact arithmetic, and how far from them floating-point sums may be."""

from fractions import Fraction

import numpy as np

EPS = np.finfo(np.float64).eps
FAR = 1e3  # (mean − point)² against the variance, up to which sums about a point are taken


def exact_moments(X, R):
    """Weight, mean and full scatter of each group; R has the weight of each row in it (n × K)."""
    X = [[Fraction(float(x)) for x in row] for row in X]
    R = [[Fraction(float(r)) for r in row] for row in R]
    d, n_groups = len(X[0]), len(R[0])
    weight, mean, scatter = np.zeros(n_groups), np.zeros((n_groups, d)), np.zeros((n_groups, d, d))
    for k in range(n_groups):
        total = sum(r[k] for r in R)
        weight[k] = float(total)
        if total == 0:
            continue
        centre = [sum(r[k] * x[j] for r, x in zip(R, X, strict=True)) / total for j in range(d)]
        mean[k] = [float(c) for c in centre]
        for i in range(d):
            for j in range(d):
                terms = (r[k] * (x[i] - centre[i]) * (x[j] - centre[j]) for r, x in zip(R, X, strict=True))
                scatter[k, i, j] = float(sum(terms))
    return weight, mean, scatter


def one_hot(codes, n, w=None):
    member = (np.asarray(codes)[:, None] == np.arange(n)).astype(float)
    return member if w is None else member * np.asarray(w)[:, None]


def assert_moments(found, weight, mean, scatter, n_rows, merges=0):
    """`found` against exact moments of groups (or one, for all rows), within the bound for sums of `n_rows` terms.

    A sum of n terms z is off by at most n·eps·Σ|z| in any order. About a point with (mean − point)² ≤ FAR·variance,
    Σwz² ≤ (1 + FAR)·S and Σw|z| ≤ √(W(1 + FAR)S); the mean itself is rounded to eps·|mean|, which each merge squares
    with the distance of the means: √W·eps·|mean_i|·√S_jj at most. Means alone of sparse rows are sums about 0.
    """
    if np.ndim(found.weight) == 0:
        weight, mean, scatter = weight[0], mean[0], scatter[0]
    mass, size, unit = np.asarray(weight), np.abs(mean), (n_rows + 10) * EPS
    squares = np.diagonal(scatter, axis1=-2, axis2=-1)
    root = np.sqrt(squares)
    np.testing.assert_allclose(found.weight, weight, rtol=unit, atol=0)
    slack = unit * np.sqrt((1 + FAR) * squares / np.maximum(mass, 1e-300)[..., None]) + (2 + merges) * EPS * size
    if found.kind == "none":
        slack = slack + unit * size
    assert (np.abs(found.mean - mean) <= slack)[mass > 0].all()
    if found.kind == "none":
        assert found.scatter is None
        return
    # Of each merge, and of the rounding of the point in columns without spread.
    lost = np.sqrt(mass)[..., None] * EPS * size
    bound = unit * (1 + FAR) * _outer(root, root) + 16 * _outer(lost, lost)
    bound = bound + (1 + merges) * (_outer(lost, root) + _outer(root, lost))
    if found.kind == "diagonal":
        bound, scatter = np.diagonal(bound, axis1=-2, axis2=-1), squares
    if found.kind == "pooled":
        bound, scatter = bound.sum(axis=0), scatter.sum(axis=0)
    assert found.scatter.shape == scatter.shape
    assert (np.abs(found.scatter - scatter) <= bound).all()


def _outer(a, b):
    return a[..., :, None] * b[..., None, :]
