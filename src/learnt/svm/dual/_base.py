"""What support vector machines with kernels share: parameters, the kernel, what is kept of the support vectors."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from learnt.engine.estimator import Estimator, Takes
from learnt.engine.params import check_choice, check_flag, check_number, check_verbose
from learnt.engine.schema import Check, anyof, choice, count, csr, number, real, whole
from learnt.engine.validation import check_predict
from learnt.svm.dual._kernel import NAMES, Kernel, TrainingKernel
from learnt.svm.dual._problems import Effort, Machine, kernel_rows
from learnt.svm.dual._rows import KernelRows

PARAMS: dict[str, Check] = {
    "kernel": choice(*NAMES),
    "degree": number(0),
    "coef0": number(),
    "gamma": anyof(choice("scale", "auto"), number(0)),
}
STATE: dict[str, Check] = {
    "n_features_in_": count(1, name="d"),
    "support_": whole("s"),
    "dual_coef_": real("r", "s"),
    "intercept_": real("p"),
    "support_vectors_": anyof(real("s", "d"), real(0, 0), csr("s", "d", (np.float64,))),
    "_gamma": number(0),
}
EXTRA: dict[str, Check] = {
    "n_iter_": anyof(count(), whole("p")),
    "fit_status_": count(0, 1),
    "shape_fit_": lambda value, dims: None if type(value) is tuple and len(value) == 2 else "is no shape",
    "kkt_residual_": number(),
    "dual_gap_": number(finite=False),
}


class KernelMachine(Estimator):
    """Parameters and predictions of the five machines."""

    kernel: Any
    support_: np.ndarray
    dual_coef_: np.ndarray
    intercept_: np.ndarray
    n_iter_: Any
    support_vectors_: Any

    @property
    def __learnt_takes__(self) -> Takes:
        return Takes(sparse=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _check_parameters(self) -> None:
        if not callable(self.kernel):
            check_choice(self, "kernel", NAMES)
        check_number(self, "degree", 0)
        if not isinstance(self.gamma, str):
            check_number(self, "gamma", 0)
        else:
            check_choice(self, "gamma", ("scale", "auto"))
        check_number(self, "coef0")
        check_number(self, "tol", 0, open_low=True)
        check_number(self, "cache_size", 0, open_low=True)
        check_number(self, "max_iter", -1, integer=True)
        check_flag(self, "shrinking")
        check_verbose(self)

    def _prepare(self, X: Any) -> tuple[Any, Kernel]:
        """The table in double precision, and the kernel with its width."""
        name = type(self).__name__
        if self.kernel == "precomputed":
            if sparse.issparse(X):
                raise TypeError(f"{name} with kernel='precomputed' needs a dense kernel matrix: pass X.toarray().")
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix: {name} "
                    "with kernel='precomputed' is fitted on the kernel between all training rows."
                )
        if callable(self.kernel) and sparse.issparse(X):
            raise TypeError(f"{name} with a function as kernel needs a dense table: pass X.toarray().")
        X = X.astype(np.float64, copy=False)
        self._gamma = self._width(X)
        self.shape_fit_ = X.shape
        return X, self._kernel()

    def _width(self, X: Any) -> float:
        if not isinstance(self.gamma, str):
            return float(self.gamma)
        if self.kernel == "precomputed" or callable(self.kernel):
            return 0.0
        if self.gamma == "auto":
            return 1.0 / X.shape[1]
        if sparse.issparse(X):
            mean = X.mean()
            spread = X.multiply(X).mean() - mean**2
        else:
            spread = X.var()
        return 1.0 / (X.shape[1] * spread) if spread > 0 else 1.0

    def _kernel(self) -> Kernel:
        return Kernel(self.kernel, self._gamma, self.degree, self.coef0)

    def _effort(self) -> Effort:
        return Effort(float(self.tol), int(self.max_iter), self.cache_size * 1e6)

    def _rows(self, X: Any, largest: float) -> KernelRows:
        return kernel_rows(TrainingKernel(self._kernel(), X), largest, self._effort())

    def _record(self, machines: list[Machine]) -> None:
        """How far the solver came, with a warning where it was stopped."""
        self.fit_status_ = int(not all(m.converged for m in machines))
        self.kkt_residual_ = float(max(m.gap for m in machines))
        self.dual_gap_ = float(max(m.dual_gap for m in machines))
        if self.fit_status_:
            measured = f" and a duality gap of {self.dual_gap_:.2g}" if math.isfinite(self.dual_gap_) else ""
            warnings.warn(
                f"Solver terminated early (max_iter={self.max_iter}), with a KKT residual of {self.kkt_residual_:.2g}"
                f"{measured} where tol={self.tol:g} was asked for. Consider pre-processing your data with "
                "StandardScaler, or raise max_iter.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _keep_one(self, X: Any, machine: Machine) -> None:
        """What is kept of the only machine of a model."""
        support = np.flatnonzero(machine.coef)
        self._keep_vectors(X, support)
        self.dual_coef_ = machine.coef[None, support]
        self.intercept_ = np.array([machine.intercept])
        self.n_iter_ = machine.steps

    def _keep_vectors(self, X: Any, support: np.ndarray) -> None:
        self.support_ = support.astype(np.int32)
        self.support_vectors_ = np.empty((0, 0)) if self.kernel == "precomputed" else X[support]

    def _scores(self, X: Any, coefficients: np.ndarray) -> np.ndarray:
        """Kernel between X and the support vectors, times coefficients (support vectors, columns)."""
        check_is_fitted(self)
        X = check_predict(self, X).astype(np.float64, copy=False)
        if self.kernel == "precomputed":
            if sparse.issparse(X):
                X = X.toarray()
            return X[:, self.support_] @ coefficients
        if sparse.issparse(X) and not sparse.issparse(self.support_vectors_):
            X = X.toarray()
        return self._kernel().scores(X, self.support_vectors_, coefficients)

    @property
    def coef_(self) -> Any:
        """Weights of the columns, where the kernel is linear."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        return self._plane()

    def _plane(self) -> Any:
        flat = self.dual_coef_ @ self.support_vectors_
        return flat.toarray() if sparse.issparse(flat) else flat

    @property
    def n_support_(self) -> np.ndarray:
        """How many support vectors there are (of each class)."""
        check_is_fitted(self)
        return np.array([len(self.support_)], dtype=np.int32)


def refuse_infinite(C: float, upper: np.ndarray, coef: np.ndarray, name: str) -> None:
    """C = ∞ has a solution only where a surface without a mistake exists."""
    if math.isinf(C) and (np.abs(coef) >= upper).any():
        raise ValueError(
            f"{name} with C=inf asks for a margin without any mistake, and this kernel cannot separate the classes, or "
            "only by less than a thousandth of their size: give a finite C, or a kernel that bends more (a larger "
            "gamma or degree)."
        )
