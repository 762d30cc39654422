"""Which rows are unlike the others: the one-class support vector machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from learnt.engine.estimator import Trial, Warm
from learnt.engine.matrices import dense
from learnt.engine.params import check_number
from learnt.engine.schema import Schema, real
from learnt.engine.threads import single_blas
from learnt.svm.dual._base import EXTRA, PARAMS, STATE, KernelMachine
from learnt.svm.dual._inputs import fit_rows
from learnt.svm.dual._kernel import machine_rule
from learnt.svm.dual._problems import enclose


class OneClassSVM(OutlierMixin, KernelMachine):
    """A surface around the rows that leaves about the share ν of them outside.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, shrinking, cache_size, verbose, max_iter
        As for `SVC`.
    nu : float in (0, 1], default=0.5
        At most this share of the rows lies outside, at least this share are support vectors.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_, coef_, n_iter_, kkt_residual_
        As for `SVC`.
    offset_ : array of shape (1,)
        decision_function = score_samples − offset_.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> OneClassSVM(gamma=0.1, nu=0.1).fit(X).predict([[0.0, 0.0], [9.0, 9.0]])
    array([ 1, -1])
    """

    _balanced = False
    __learnt_schema__ = Schema(params=PARAMS, state={**STATE, "offset_": real("p")}, extra=EXTRA, rule=machine_rule)
    # Rows on the surface are on its one side or the other by rounding, so that `predict` is not compared.
    __learnt_trial__ = Trial(
        quick={"tol": 1e-10, "gamma": 1.0},
        warmup=(Warm("none"),),
        weight_repeats=False,
        weight_unit_free=False,
        most_rows=600,
    )

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        nu=0.5,
        shrinking=True,
        cache_size=200,
        verbose=False,
        max_iter=-1,
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> OneClassSVM:
        """Fit the surface; weights count rows, and one of 0 or less leaves its row out."""
        self._check_parameters()
        check_number(self, "nu", 0, 1, open_low=True)
        rows = fit_rows(self, X, None, sample_weight, None)
        self._prepare(rows)
        with single_blas():
            machine = enclose(self._rows(rows.X, 1.0), rows.w, float(self.nu), self._effort())
        self._keep_one(rows, machine)
        self.offset_ = -self.intercept_
        self._record(machine)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Positive inside, negative outside."""
        return self.score_samples(X) - self.offset_[0]

    def score_samples(self, X: Any) -> np.ndarray:
        """The sum of kernels with the support vectors: the larger, the more like the others."""
        check_is_fitted(self)
        return self._scores(X, dense(self.dual_coef_).T)[:, 0]

    def predict(self, X: Any) -> np.ndarray:
        """1 inside, −1 outside."""
        return np.where(self.decision_function(X) >= 0, 1, -1)
