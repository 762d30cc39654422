"""Which solver, and how many components."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from learnt.engine.params import check_flag

SOLVERS = ("auto", "full", "covariance_eigh", "arpack", "randomized")
NORMALIZERS = ("auto", "QR", "LU", "none")


def check_parameters(pca: Any) -> None:
    """Refuse, in one sentence, parameters that no solver could use."""
    k = pca.n_components
    share = _number(k, Real, 0) and 0 < k < 1
    if not (k is None or _number(k, Integral, 0) or share or (isinstance(k, str) and k == "mle")):
        raise ValueError(
            f"n_components must be a whole number of at least 0, a share of the variance between 0 and 1, 'mle' or "
            f"None; it is {k!r}."
        )
    check_flag(pca, "copy", "whiten")
    _one_of("svd_solver", pca.svd_solver, SOLVERS)
    _one_of("power_iteration_normalizer", pca.power_iteration_normalizer, NORMALIZERS)
    if not _number(pca.tol, Real, 0):
        raise ValueError(f"tol must be a number of at least 0; it is {pca.tol!r}.")
    if not _number(pca.n_oversamples, Integral, 1):
        raise ValueError(f"n_oversamples must be a whole number of at least 1; it is {pca.n_oversamples!r}.")
    power = pca.iterated_power
    if not (power == "auto" or _number(power, Integral, 0)):
        raise ValueError(f"iterated_power must be 'auto' or a whole number of at least 0; it is {power!r}.")


def _number(value: Any, kind: type, least: int) -> bool:
    """Whether `value` is a number of this kind, no truth value, and not below `least`."""
    return isinstance(value, kind) and not isinstance(value, bool) and bool(value >= least)  # type: ignore[operator]


def _one_of(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; it is {value!r}.")


def cheapest_solver(n: int | None, d: int, n_components: Any) -> str:
    """The solver behind "auto" for dense data: exact, unless that takes more than twice the work of a few passes.

    Where n is not known before the rows are read, it is taken to be large.

    >>> cheapest_solver(200_000, 100, 10), cheapest_solver(20_000, 2000, 10), cheapest_solver(20_000, 2000, None)
    ('covariance_eigh', 'randomized', 'covariance_eigh')
    """
    if not _number(n_components, Integral, 1):
        return "covariance_eigh"
    n = 100 * d if n is None else n
    side = min(n, d)
    # Operations of the product and of the eigenvectors, which run at an eighth of a product's speed; of five passes
    # over thin matrices, at two thirds of it.
    exact = n * d * side + 8 * side**3
    few = 30 * n * d * (n_components + 10)
    return "randomized" if exact > 2 * few and n_components + 10 < side // 2 else "covariance_eigh"


def check_count(k: Any, n: int, d: int, solver: str) -> None:
    """Whether `solver` can give k components of n rows and d columns."""
    side = min(n, d)
    if solver in ("full", "covariance_eigh"):
        if isinstance(k, str):
            if n < d:
                raise ValueError(
                    f"n_components='mle' is only supported if n_samples >= n_features; X has {n} rows, {d} columns."
                )
        elif not 0 <= k <= side:
            raise ValueError(
                f"n_components={k} must be between 0 and min(n_samples, n_features)={side} with svd_solver={solver!r}; "
                "ask for fewer components."
            )
    elif isinstance(k, str):
        raise ValueError(f"n_components={k!r} cannot be a string with svd_solver={solver!r}; give a number.")
    elif not 1 <= k <= side:
        raise ValueError(
            f"n_components={k!r} must be between 1 and min(n_samples, n_features)={side} with svd_solver={solver!r}; "
            "ask for fewer components."
        )
    elif solver == "arpack" and k == side:
        raise ValueError(
            f"n_components={k!r} must be strictly less than min(n_samples, n_features)={side} "
            f"with svd_solver={solver!r}"
        )


def resolve_count(n_components: Any, variance: np.ndarray, total: float, n: int) -> int:
    """How many components: as asked, enough for a share of the variance, or Minka's choice."""
    if isinstance(n_components, str):
        return minka_dimension(variance, n)
    if isinstance(n_components, Integral):
        return int(n_components)
    share = np.cumsum(variance / (total if total > 0 else 1.0))
    return min(int(np.searchsorted(share, n_components, side="right")) + 1, len(variance))


def minka_dimension(spectrum: np.ndarray, n: int) -> int:
    """The number of components with the largest evidence, in Laplace's approximation (Minka, NIPS 2000, eq. 30).

    >>> minka_dimension(np.array([9.0, 4.0, 0.11, 0.1, 0.09]), 500)
    2
    """
    d = len(spectrum)
    if d == 1:
        return 0
    return int(np.argmax(np.concatenate([[-np.inf], minka_evidence(spectrum, n)])))


def minka_evidence(spectrum: np.ndarray, n: int) -> np.ndarray:
    """log p(data | k components) for k = 1…d−1, up to a constant; −inf where the k-th variance is 0."""
    spectrum = np.asarray(spectrum, dtype=np.float64)
    d = len(spectrum)
    tiny = 1e-15
    k = np.arange(1, d)
    some = np.maximum(spectrum, tiny)
    below = np.maximum((spectrum.sum() - np.cumsum(spectrum))[:-1] / (d - k), tiny)
    angles = np.array([math.lgamma((d - i + 1) / 2) - math.log(math.pi) * (d - i + 1) / 2 for i in k])
    volume = -k * math.log(2.0) + np.cumsum(angles)
    kept = -np.cumsum(np.log(some))[:-1] * n / 2
    noise = -np.log(below) * n * (d - k) / 2
    free = d * k - k * (k + 1) / 2
    parameters = math.log(2 * math.pi) * (free + k) / 2
    # log |A|: over pairs i < j with i among the k: (λ_i − λ_j)(1/λ'_j − 1/λ'_i) n, λ' = λ inside and the noise outside.
    apart = np.log(np.maximum(spectrum[:, None] - spectrum[None, :], tiny * max(spectrum[0], tiny)))
    inverse = np.log(np.maximum(1 / some[None, :] - 1 / some[:, None], np.finfo(float).tiny))
    upper = np.triu(np.ones((d, d), dtype=bool), 1)
    gaps = np.cumsum(np.where(upper, apart, 0.0).sum(axis=1))[:-1]
    inside = np.cumsum(np.where(upper, inverse, 0.0).sum(axis=0))[k - 1]
    outside = np.array([np.log(np.maximum(1 / v - 1 / some[:m], np.finfo(float).tiny)).sum() for m, v in zip(k, below)])
    hessian = gaps + inside + (d - k) * outside + free * math.log(n)
    evidence = volume + kept + noise + parameters - hessian / 2 - k * math.log(n) / 2
    return np.where(spectrum[:-1] < tiny, -np.inf, evidence)
