"""What support vector machines with kernels share: parameters, the kernel, what is kept of the support vectors."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from learnt.engine.estimator import Estimator, Takes
from learnt.engine.matrices import dense, square
from learnt.engine.params import check_choice, check_flag, check_number, check_verbose
from learnt.engine.schema import Check, anyof, choice, count, csr, integers, number, real, table
from learnt.kernels import kernel_object, sample_places, warn_unless_positive
from learnt.svm.dual._inputs import Rows, predict_rows
from learnt.svm.dual._kernel import NAMES, Kernel, TrainingKernel, kernel_of_machine
from learnt.svm.dual._problems import Effort, Machine, kernel_rows
from learnt.svm.dual._rows import KernelRows
from learnt.svm.dual._solve import Unbounded

PARAMS: dict[str, Check] = {
    "kernel": anyof(choice(*NAMES), kernel_object),
    "degree": number(0),
    "coef0": number(),
    "gamma": anyof(choice("scale", "auto"), number(0)),
}
STATE: dict[str, Check] = {
    "n_features_in_": count(1, name="d"),
    "support_": integers("s", low=0),
    "dual_coef_": table("r", "s"),
    "intercept_": real("p"),
    "support_vectors_": anyof(real("s", "d"), real(0, 0), csr("s", "d", (np.float64,))),
    "_gamma": number(0),
}
EXTRA: dict[str, Check] = {
    "n_iter_": anyof(count(), integers("p")),
    "fit_status_": count(0, 1),
    "shape_fit_": lambda value, dims: None if type(value) is tuple and len(value) == 2 else "is no shape",
    "kkt_residual_": number(),
    "dual_gap_": number(finite=False),
}


_TOO_LARGE = (
    "The dual coefficients or intercepts are not finite. The input data may contain large values: scale the columns "
    "(StandardScaler) before the fit."
)


class KernelMachine(Estimator):
    """Parameters and predictions of the five machines."""

    kernel: Any
    _balanced: ClassVar[bool] = True  # whether coefficients sum to 0
    support_: np.ndarray
    dual_coef_: Any
    intercept_: np.ndarray
    n_iter_: Any
    support_vectors_: Any

    @property
    def __learnt_takes__(self) -> Takes:
        return Takes(sparse=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = not tags.input_tags.pairwise
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

    def _prepare(self, rows: Rows) -> Kernel:
        """The kernel of the rows, with its width."""
        X = rows.X
        self._gamma = self._width(X)
        self.shape_fit_ = rows.shape
        kernel = self._kernel()
        if not kernel.proven:
            places = sample_places(X.shape[0])
            warn_unless_positive(kernel.among(X, places), rows.place(places), type(self).__name__)
        return kernel

    def _width(self, X: Any) -> float:
        if not isinstance(self.gamma, str):
            return float(self.gamma)
        if self.kernel == "precomputed" or callable(self.kernel):
            return 0.0
        if self.gamma == "auto":
            return 1.0 / X.shape[1]
        with np.errstate(over="ignore", invalid="ignore"):
            spread = square(X).mean() - X.mean() ** 2 if sparse.issparse(X) else X.var()
        if not np.isfinite(spread):
            raise ValueError(_TOO_LARGE)
        return 1.0 / (X.shape[1] * spread) if spread > 0 else 1.0

    def _kernel(self) -> Kernel:
        return kernel_of_machine(self, getattr(self, "n_features_in_", 0))

    def _effort(self) -> Effort:
        return Effort(float(self.tol), int(self.max_iter), self.cache_size * 1e6)

    def _rows(self, X: Any, largest: float) -> KernelRows:
        return kernel_rows(TrainingKernel(self._kernel(), X), largest, self._effort())

    def _record(self, found: Any) -> None:
        """Record how far the solver came, of one machine or several, with a warning where it did not converge."""
        self.fit_status_ = int(not np.all(found.converged))
        self.kkt_residual_ = float(np.max(found.gap))
        self.dual_gap_ = float(np.max(found.dual_gap))
        if self.fit_status_:
            measured = f" and a duality gap of {self.dual_gap_:.2g}" if math.isfinite(self.dual_gap_) else ""
            warnings.warn(
                f"Solver terminated early (max_iter={self.max_iter}).  Consider pre-processing your data with "
                f"StandardScaler or MinMaxScaler, or raise max_iter: a KKT residual of {self.kkt_residual_:.2g}"
                f"{measured} is left, where tol={self.tol:g} was asked for.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _keep_one(self, rows: Rows, machine: Machine) -> None:
        """What is kept of the only machine of a model."""
        support = np.flatnonzero(machine.coef)
        self._keep_vectors(rows, support, machine.coef[None, support])
        self.intercept_ = np.array([machine.intercept])
        self.n_iter_ = machine.steps

    def _keep_vectors(self, rows: Rows, support: np.ndarray, coefficients: np.ndarray) -> None:
        """The rows with a coefficient; coefficients are sparse where the rows are, as in scikit-learn."""
        X = rows.X
        if not np.isfinite(coefficients).all():
            raise ValueError(_TOO_LARGE)
        self.support_ = rows.place(support).astype(np.int32)
        self.dual_coef_ = sparse.csr_matrix(coefficients) if sparse.issparse(X) else coefficients
        self.support_vectors_ = np.empty((0, 0)) if self.kernel == "precomputed" else X[support]

    def _require_fitted(self) -> None:
        if "support_" not in vars(self):  # what scikit-learn's check looks at takes longer than a prediction
            check_is_fitted(self)

    def _scores(self, X: Any, coefficients: Any) -> np.ndarray:
        """Kernel between X and the support vectors, times coefficients (support vectors, columns)."""
        self._require_fitted()
        X = predict_rows(self, X)
        if self.kernel == "precomputed":
            return dense(X)[:, self.support_] @ coefficients
        if sparse.issparse(X) and not sparse.issparse(self.support_vectors_):
            raise ValueError(
                f"cannot use sparse input in {type(self).__name__!r} trained on dense data: pass X.toarray()."
            )
        return self._kernel().scores(X, self.support_vectors_, coefficients)

    @property
    def coef_(self) -> Any:
        """Weights of the columns, where the kernel is linear."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        plane = self._plane()
        (plane.data if sparse.issparse(plane) else plane).flags.writeable = False  # predictions do not read it
        return plane

    def _plane(self) -> Any:
        return self.dual_coef_ @ self._vectors_apart()

    def _vectors_apart(self) -> Any:
        """Support vectors from a point near them, where that leaves the plane as it is."""
        origin = self._kernel().origin(self.support_vectors_) if len(self.support_) else np.zeros(1)
        return self.support_vectors_ - origin if origin.any() else self.support_vectors_

    @property
    def n_support_(self) -> np.ndarray:
        """How many support vectors there are (of each class)."""
        check_is_fitted(self)
        return np.array([len(self.support_)], dtype=np.int32)


NO_MISTAKE = (
    "a margin without any mistake, and this kernel cannot separate the classes, or only by less than a thousandth of "
    "their size"
)
NO_MISS = "no miss of more than epsilon, and no function of this kernel comes so near to all targets"


def solve_or_refuse(C: float, name: str, condition: str, upper: np.ndarray, solve: Callable[[], Machine]) -> Machine:
    """What `solve` finds; C = ∞ has a solution only where a function without a mistake exists."""
    try:
        machine = solve()
        beyond = math.isinf(C) and bool((np.abs(machine.coef) >= upper).any())
    except Unbounded:
        beyond = True
    if beyond:
        raise ValueError(
            f"{name} with C=inf asks for {condition}: give a finite C, or a kernel that bends more (a larger gamma or "
            "degree)."
        )
    return machine
