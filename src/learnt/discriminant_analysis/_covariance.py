"""Moments of the classes, shrunk covariances, and covariances that are singular."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgWarning

from learnt.engine.arrays import to_numpy
from learnt.engine.classification.class_labels import encode
from learnt.engine.matrices import Route
from learnt.engine.params import ParameterError, check_number
from learnt.engine.rows import Block, Rows, as_rows
from learnt.engine.validation import check_fit
from learnt.statistics import Groups, Moments, ledoit_wolf_share, moments, of_classes, quartics, shrunk

_ROUNDING = 1e-13  # of a correlation matrix: a smallest eigenvalue that may be none


class Learned(NamedTuple):
    """The rows of a fit, their groups, the labels of the classes and their moments, as NumPy arrays."""

    rows: Rows
    groups: Groups
    classes: np.ndarray
    moments: Moments

    @property
    def n_classes(self) -> int:
        return len(self.classes)


def learn(estimator: Any, X: Any, y: Any, sample_weight: Any, scatter: str) -> Learned:
    """Check the data and take the moments of the classes; classes without weight are left out."""
    X, y, w = check_fit(estimator, X, y, sample_weight, target="label")
    classes, codes = encode(y)
    rows, groups = as_rows(X, codes, w), of_classes(classes, codes)
    found = moments(rows, groups, scatter=scatter).to_numpy()
    classes = to_numpy(classes)
    seen = found.weight > 0
    if not seen.all():  # only where weights are read in blocks: classes without weight lose their code
        classes, found = classes[seen], found.take(np.flatnonzero(seen))
        groups = Groups(len(classes), _without, (groups, np.cumsum(seen) - 1))
    if len(classes) < 2:
        raise ValueError(
            f"The number of classes has to be greater than one. Got {len(classes)} class: "
            f"{type(estimator).__name__} tells classes apart; give rows of two or more."
        )
    return Learned(rows, groups, classes, found)


def _without(block: Block, groups: Groups, numbers: np.ndarray) -> Any:
    """The groups of rows where some have no weight; rows of weight 0 do not count, whatever their group."""
    return np.maximum(numbers[groups(block)], 0)


def frequencies(found: Moments) -> np.ndarray:
    return found.weight / found.weight.sum()


def checked_priors(priors: Any, n_classes: int) -> np.ndarray:
    """Given probabilities of the classes; made to add up to 1, with a warning."""
    priors = np.array(to_numpy(priors), dtype=np.float64)
    if priors.shape != (n_classes,):
        raise ValueError(f"priors has {priors.size} numbers and there are {n_classes} classes; give one for each.")
    if not (priors >= 0).all() or not priors.any():
        raise ValueError(f"priors must be non-negative, and not all 0; they are {priors.tolist()}.")
    if abs(priors.sum() - 1.0) > 1e-5:
        warnings.warn("The priors do not sum to 1. Renormalizing", UserWarning, stacklevel=4)
        priors = priors / priors.sum()
    return priors


# --- shrinkage


def check_shrinkage(estimator: Any, method: str, refusal: str) -> None:
    """The parameters `shrinkage` and `covariance_estimator` fit together; "svd" has neither (`refusal` says so)."""
    check_number(estimator, "shrinkage", 0, 1, also=(None, "auto"))
    given = estimator.covariance_estimator
    if given is not None and not hasattr(given, "fit"):
        raise ParameterError(f"covariance_estimator must have a method fit; it is {given!r}.")
    if method == "svd":
        if estimator.shrinkage is not None:
            raise NotImplementedError("shrinkage not supported with 'svd' solver. Take solver='eigen', which shrinks.")
        if given is not None:
            raise ValueError(refusal)
    if given is not None and estimator.shrinkage:
        raise ValueError("covariance_estimator and shrinkage parameters are not None. Only one of the two can be set.")


def covariances(learned: Learned, shrinkage: Any, estimator: Any = None) -> np.ndarray:
    """The covariance of each class (K × d × d), shrunk or by a custom estimator."""
    if estimator is not None:
        codes = to_numpy(learned.groups(_whole(learned.rows)))
        return np.stack([_by(estimator, learned.rows.X[codes == k]) for k in range(learned.n_classes)])
    C = learned.moments.covariance()
    if shrinkage != "auto":
        return np.stack([shrunk(one, shrinkage) for one in C])
    scale = 1.0 / np.stack([_units(np.diag(one)) for one in C])
    quartic = quartics(learned.rows, learned.moments.mean, scale, learned.groups)
    return np.stack([ledoit_wolf(*parts) for parts in zip(C, learned.moments.weight, quartic)])


def total_covariance(learned: Learned, shrinkage: Any, estimator: Any = None) -> np.ndarray:
    """The covariance of all rows, shrunk or by a custom estimator."""
    if estimator is not None:
        return _by(estimator, _whole(learned.rows).X)
    found = learned.moments.total()
    C = found.covariance()
    if shrinkage != "auto":
        return shrunk(C, shrinkage)
    return ledoit_wolf(C, found.weight, quartics(learned.rows, found.mean, 1.0 / _units(np.diag(C))))


def ledoit_wolf(C: np.ndarray, weight: float, quartic: float) -> np.ndarray:
    """The covariance shrunk by the share that Ledoit and Wolf (2004) derive, in units of the standard deviations.

    `quartic` is Σw ‖z‖⁴ of the rows in these units about their mean.
    """
    unit = _units(np.diag(C))
    R = C / np.outer(unit, unit)
    return shrunk(R, ledoit_wolf_share(R, weight, quartic)) * np.outer(unit, unit)


def _units(variance: np.ndarray) -> np.ndarray:
    return np.sqrt(np.where(variance > 0, variance, 1.0))


def _whole(rows: Rows) -> Block:
    if rows.route is not Route.DENSE or rows.w is not None:
        raise ValueError("covariance_estimator needs all rows in memory, as NumPy arrays, and without weights.")
    return Block(rows.X, rows.y)


def _by(estimator: Any, X: np.ndarray) -> np.ndarray:
    fitted = deepcopy(estimator)
    fitted.fit(X)
    if not hasattr(fitted, "covariance_"):
        raise ValueError(f"{type(estimator).__name__} does not have a covariance_ attribute; give one that has.")
    return np.atleast_2d(fitted.covariance_)


# --- singular covariances


def regularised(C: np.ndarray, spare: np.ndarray, tol: float, whose: str) -> np.ndarray:
    """C, or, where it is singular, C with a share `tol` of the variances `spare` on its diagonal, and a warning.

    It is singular where a combination of features, in units of their standard deviations, has none of more than `tol`:
    that does not depend on the units of the features.
    """
    variance = np.diag(C)
    unit = _units(variance)
    lowest = np.linalg.eigvalsh(C / np.outer(unit, unit))[0] if (variance > 0).all() else 0.0
    if lowest > max(tol**2, _ROUNDING):
        return C
    known = spare[spare > 0]
    spare = np.where(spare > 0, spare, known.mean() if known.size else 1.0)
    share = max(tol, 1e-8)
    warnings.warn(
        f"The covariance {whose} is not full rank (a constant feature, features that depend on each other, or too few "
        f"rows), so {share:g} of the features' variances was added to its diagonal; drop such features, or shrink.",
        LinAlgWarning,
        stacklevel=4,
    )
    return C + share * np.diag(spare)


def dtype_of(X: Any) -> Any:
    """What coefficients are kept in: float32 for float32 rows."""
    dtype = getattr(X, "dtype", None)
    return np.float32 if getattr(dtype, "name", str(dtype)).endswith("float32") else np.float64
