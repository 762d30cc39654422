"""Where the search for A begins: the `init` parameter."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.params import ParameterError
from learnt.engine.random import random_state_of
from learnt.linalg import decompositions

_FLAT = 1e-4  # a standard deviation within classes, relative to the columns', that counts as 0

NAMES = ("auto", "pca", "lda", "identity", "random")


def start_of(model: Any, X: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """A of shape (n_components, n_features) for a model with `init`, `n_components`, `warm_start`, `random_state`."""
    n, d = X.shape
    name, wanted = type(model).__name__, model.n_components
    if wanted is not None and wanted > d:
        raise ValueError(
            f"The preferred dimensionality of the projected space `n_components` ({wanted}) cannot be greater than the "
            f"given data dimensionality ({d})!"
        )
    if model.warm_start and "components_" in vars(model):
        return model.components_
    if not isinstance(model.init, str):
        return _given(model, d)
    if model.init not in NAMES:
        raise ParameterError(
            f"The 'init' parameter of {name} must be one of {', '.join(NAMES)} or an array; it is {model.init!r}."
        )
    m = d if wanted is None else int(wanted)
    init = model.init
    if init == "auto":
        init = "lda" if m <= min(d, int(codes.max())) else "pca" if m < min(d, n) else "identity"
    if init == "identity":
        return np.eye(m, d)
    if init == "random":
        return random_state_of(model.random_state).standard_normal(size=(m, d))
    return components(X, m) if init == "pca" else discriminants(X, codes, m)


def components(X: np.ndarray, m: int) -> np.ndarray:
    """The m principal components, the largest entry of each positive."""
    if m > min(X.shape):
        raise ValueError(
            f"n_components={m} must be between 0 and min(n_samples, n_features)={min(X.shape)} with init='pca'."
        )
    V = decompositions.svd(X - X.mean(axis=0), full_matrices=False)[2][:m]
    return V * np.sign(V[np.arange(m), np.abs(V).argmax(axis=1)])[:, None]


def discriminants(X: np.ndarray, codes: np.ndarray, m: int) -> np.ndarray:
    """The m directions with the most variance between the classes, of variance 1 within them.

    Few rows vary in few directions within their classes: those that are missing are principal components of what is
    at right angles to the others.
    """
    most = min(int(codes.max()), X.shape[1])
    if m > most:
        raise ValueError(
            f"n_components cannot be larger than min(n_features, n_classes - 1), {most}, with init='lda'; it is {m}."
        )
    found = _discriminants(X, codes)[:m]
    if len(found) == m:
        return found
    across = decompositions.svd(found, full_matrices=True)[2][len(found) :]  # (d − found, d)
    return np.vstack([found, components((X - X.mean(axis=0)) @ across.T, m - len(found)) @ across])


def _discriminants(X: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """All such directions, largest variance first."""
    counts = np.bincount(codes)
    means = np.stack([X[codes == k].mean(axis=0) for k in range(len(counts))])
    within = X - means[codes]
    unit = within.std(axis=0)
    unit[unit == 0] = 1.0
    _, S, V = decompositions.svd(within / unit / np.sqrt(len(X)), full_matrices=False)
    white = (V[S > _FLAT] / unit) / S[S > _FLAT][:, None]
    between = np.sqrt(counts)[:, None] * (means - X.mean(axis=0)) @ white.T
    return decompositions.svd(between, full_matrices=False)[2] @ white


def check_continued(model: Any, X: Any) -> None:
    """Refuse a table that `warm_start` cannot go on with, before anything of the model is changed."""
    if not model.warm_start or "components_" not in vars(model):
        return
    m, d = model.components_.shape
    columns = np.shape(X)[1] if np.ndim(X) == 2 else d  # what is no table is refused as such
    if columns != d:
        raise ValueError(
            f"The new inputs dimensionality ({columns}) does not match the input dimensionality of the previously "
            f"learned transformation ({d}). Set warm_start=False to begin anew."
        )
    if model.n_components not in (None, m):
        raise ValueError(
            f"warm_start goes on from {m} components and n_components is {model.n_components}; set warm_start=False to "
            "begin anew."
        )


def _given(model: Any, d: int) -> np.ndarray:
    A = np.array(model.init, dtype=np.float64)
    if A.ndim != 2 or not np.isfinite(A).all():
        raise ValueError(f"An array as `init` is a table of finite numbers, one row a component; it is {A.shape}.")
    if A.shape[1] != d:
        raise ValueError(
            f"The input dimensionality ({A.shape[1]}) of the given linear transformation `init` must match the "
            f"dimensionality of the given inputs `X` ({d})."
        )
    if A.shape[0] > A.shape[1]:
        raise ValueError(
            f"The output dimensionality ({A.shape[0]}) of the given linear transformation `init` cannot be greater "
            f"than its input dimensionality ({A.shape[1]})."
        )
    if model.n_components not in (None, A.shape[0]):
        raise ValueError(
            f"The preferred dimensionality of the projected space `n_components` ({model.n_components}) does not match "
            f"the output dimensionality of the given linear transformation `init` ({A.shape[0]})!"
        )
    return A
