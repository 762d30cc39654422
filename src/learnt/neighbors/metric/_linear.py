"""What metrics  d(x, y) = ‖A(x − y)‖  share, once A is known, and the descent that finds it."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from learnt.engine.estimator import Estimator
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from learnt.engine.params import ParameterError, check_flag, check_number, check_verbose
from learnt.engine.progress import CallbackSupportMixin, FitLoop, fit_loop
from learnt.engine.validation import check_predict
from learnt.erm.solvers import LBFGS
from learnt.neighbors.metric._pairs import PairsObjective

_log = logging.getLogger("learnt")


class LinearMetric(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CallbackSupportMixin, Estimator):
    """Rows as Ax, so that Euclidean distances between what `transform` gives are those that were learnt."""

    n_components: Any
    init: Any
    warm_start: Any
    max_iter: Any
    tol: Any
    callback: Any
    verbose: Any
    components_: np.ndarray
    n_iter_: int
    _method: ClassVar[str]  # as warnings call it
    _sign: ClassVar[float] = 1.0  # −1 where the objective that the log shows is maximised

    def transform(self, X: Any) -> np.ndarray:
        """Ax for each row of X.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            The rows in the columns whose Euclidean distances were learnt.
        """
        X = check_predict(self, X)
        return X @ self.components_.T

    def get_mahalanobis_matrix(self) -> np.ndarray:
        """M = AᵀA, for which  d(x, y)² = (x − y)ᵀM(x − y): the `VI` of `metric="mahalanobis"`.

        Returns
        -------
        M : ndarray of shape (n_features, n_features)
            The matrix of the Mahalanobis distance that was learnt.
        """
        check_is_fitted(self)
        return self.components_.T @ self.components_

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _check_descent(self) -> None:
        """Refuse wrong parameters that all such estimators have; `init` is looked at by `start_of`."""
        check_number(self, "n_components", 1, integer=True, also=(None,))
        check_number(self, "max_iter", 1, integer=True)
        check_number(self, "tol", 0)
        check_flag(self, "warm_start")
        check_verbose(self)
        if self.callback is not None and not callable(self.callback):
            raise ParameterError(f"callback must be a function of A and the iteration; it is {self.callback!r}.")

    def _descend(self, objective: PairsObjective, start: np.ndarray, X: Any, y: Any) -> None:
        """Set `components_` to where the objective's descent ends, and `n_iter_`."""
        name = type(self).__name__

        def callback(A: np.ndarray, n_iter: int) -> None:
            if self.callback is not None:
                self.callback(A.ravel(), n_iter)
            if self.verbose:
                _log.info("%s, iteration %d: objective %.6g", name, n_iter, self._sign * objective.value)

        with fit_loop(self, self.max_iter, X, y) as loop:
            self.components_, n_iter, converged = descend(
                objective, start, float(self.tol), self.max_iter, loop, callback, name
            )
        self.n_iter_ = n_iter + 1
        if self.verbose and not converged:
            warnings.warn(
                f"[{name}] {self._method} did not converge in {self.max_iter} iterations; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )


def overflow(name: str) -> ValueError:
    """The error where distances overflow."""
    return ValueError(f"Distances between the rows of X overflow float64; scale the columns before {name}.")


def descend(
    objective: PairsObjective,
    start: np.ndarray,
    tol: float,
    max_iter: int,
    loop: FitLoop,
    callback: Callable[[np.ndarray, int], Any],
    name: str,
) -> tuple[np.ndarray, int, bool]:
    """A that minimises the objective, the number of iterations and whether they converged.

    They end once the value falls by less than `tol` of itself, or the slope's largest entry is `tol` at most;
    `callback` gets A after each.
    """
    before, slope = objective.smooth(start)
    if not np.isfinite(before) or not np.isfinite(slope).all():
        raise overflow(name)
    if objective.stationarity(start, slope) <= tol:
        return start, 0, True
    A, problem = start, cast(Any, objective)  # a solver uses `smooth`, `stationarity` and `scale` only
    for n_iter, (A, _) in enumerate(LBFGS().iterates(problem, start), 1):
        value = objective.value
        stop = loop.step(f"objective {value:.4g}", partial(dict, components_=A))
        callback(A, n_iter)
        if stop or before - value <= tol * max(abs(before), abs(value), 1.0):
            return A, n_iter, True
        if n_iter >= max_iter:
            return A, n_iter, False
        before = value
    return A, max_iter, True
