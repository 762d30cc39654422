"""What the stochastic estimators share: parameters, starts, held-out rows, and how a run is recorded."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from learnt.engine import progress
from learnt.engine.arrays import is_lazy
from learnt.engine.estimator import Takes, takes_of
from learnt.engine.params import ParameterError, check_choice, check_flag, check_number
from learnt.engine.random import random_state_of
from learnt.engine.schema import CLASSES, Check, count, labels, number, real
from learnt.engine.validation import Checked, check_fit, check_same_columns
from learnt.linear_model.sgd._pieces import check_pieces
from learnt.linear_model.sgd._run import SCHEDULES, End, Settings, Start

_LARGEST = 2**31 - 1
_PENALTIES = ("l2", "l1", "elasticnet", None)


# The state of a run in a model file.
DESCENT: dict[str, Check] = {
    "n_iter_": count(),
    "t_": number(1),
    **dict.fromkeys(("_standard_coef", "_average_coef"), real(None, "d")),
    **dict.fromkeys(("_standard_intercept", "_average_intercept"), real(None)),
    "_average_count": number(0),
}
PLANES: dict[str, Check] = {
    **CLASSES,
    "classes_": labels("c", low=2),
    "coef_": real("r", "d"),
    "intercept_": real("r"),
}


class StochasticDescent(progress.CallbackSupportMixin):
    """Parameters and bookkeeping of SGDClassifier, SGDRegressor and Perceptron."""

    __learnt_takes__ = Takes(sparse=True)

    _losses: tuple[str, ...] = ()
    # Every row updates the intercept, but few update any one coefficient of sparse rows, so its step is smaller there,
    # as in scikit-learn.
    _sparse_intercept = 0.01
    _drift = 0.0

    def _check_parameters(self, partial: bool = False) -> None:
        given = self.get_params(deep=False)
        for name, options in (("loss", self._losses), ("penalty", _PENALTIES), ("learning_rate", tuple(SCHEDULES))):
            if name in given:
                check_choice(self, name, options)
        check_number(self, "alpha", 0)
        check_number(self, "l1_ratio", 0, 1, also=(None,))
        for name, low in (("max_iter", 1), ("n_iter_no_change", 1)):
            check_number(self, name, low, integer=True)
        check_number(self, "tol", 0, also=(None,))
        check_number(self, "validation_fraction", 0, 1, open_low=True)
        check_number(self, "eta0", 0, open_low=self._get("learning_rate") != "optimal")
        check_flag(self, "fit_intercept", "shuffle", "warm_start", "early_stopping")
        if "epsilon" in given:
            check_number(self, "epsilon", 0)
            check_number(self, "power_t")
        if "average" in given:
            check_number(self, "average", 0, integer=True, also=(True, False))
        name = type(self).__name__
        if self._get("penalty") == "elasticnet" and self._get("l1_ratio") is None:
            raise ParameterError(f"l1_ratio must be set when penalty is 'elasticnet' in {name}; give a number in 0…1.")
        if self._get("learning_rate") in ("pa1", "pa2") and self._get("loss") not in ("hinge", "epsilon_insensitive"):
            raise ParameterError(
                f"learning_rate={self._get('learning_rate')!r} is a rule for the losses 'hinge' and "
                f"'epsilon_insensitive', and {name} has loss={self._get('loss')!r}; set one of these losses."
            )
        if self._get("power_t") < 0:
            warnings.warn(
                "Negative values for `power_t` are deprecated in scikit-learn: steps that grow diverge; use 0 or more.",
                FutureWarning,
                stacklevel=4,
            )
        if self._get("learning_rate") == "optimal" and self._get("alpha") == 0:
            raise ParameterError(
                f"alpha must be > 0 since learning_rate is 'optimal' in {name}, whose steps are 1/(alpha·t); "
                "raise alpha, or set learning_rate='invscaling'."
            )
        if self._get("validation_fraction") >= 1:
            raise ParameterError(f"The 'validation_fraction' parameter of {name} must be below 1. Got 1 instead.")
        if partial and self._get("early_stopping"):
            raise ValueError("early_stopping should be False with partial_fit, which sees one epoch at a time.")

    def _get(self, name: str) -> Any:
        return getattr(self, name)

    def _settings(self, max_iter: int, until_perfect: bool = False) -> Settings:
        share = {"l2": 0.0, "l1": 1.0, None: 0.0}.get(self._get("penalty"), self._get("l1_ratio"))
        return Settings(
            loss=self._get("loss"),
            epsilon=float(self._get("epsilon")),
            alpha=float(self._get("alpha")),
            l1_ratio=float(share or 0.0),
            schedule=self._get("learning_rate"),
            eta0=float(self._get("eta0")),
            power_t=float(self._get("power_t")),
            average=int(self._get("average")),
            fit_intercept=bool(self._get("fit_intercept")),
            shuffle=bool(self._get("shuffle")),
            max_iter=max_iter,
            tol=self._get("tol"),
            patience=self._get("n_iter_no_change"),
            penalised=self._get("penalty") is not None,
            sparse_intercept=self._sparse_intercept,
            until_perfect=until_perfect,
            drift=float(self._drift),
        )

    def _checked(self, X: Any, y: Any, sample_weight: Any, target: str, reset: bool = True) -> Checked:
        if is_lazy(X) and takes_of(self).lazy:
            return check_pieces(self, X, y, sample_weight, target, reset)
        return check_fit(self, X, y, sample_weight, target=target, order="C", reset=reset)

    def _goes_on(self, X: Any, coef_init: Any) -> bool:
        """Whether a fit starts from the last one, which must have had the same columns."""
        going_on = bool(self._get("warm_start") and hasattr(self, "coef_") and coef_init is None)
        if going_on:
            check_same_columns(self, X)
        return going_on

    def _initial(self, shape: tuple[int, ...], coef: Any, intercept: Any) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients (K, d) and intercepts (K,) to start from: as given, or 0."""
        k, d = shape
        start, offset = np.zeros((k, d)), np.zeros(k)
        if coef is not None:
            given = np.asarray(coef, dtype=np.float64)
            if given.size != k * d or given.shape not in ((k, d), (d,)):
                raise ValueError(
                    f"Provided coef_init does not match dataset: it has shape {given.shape}, not {(k, d)}; give one of "
                    "that shape or, where it is the last fit's, set warm_start=False to begin anew."
                )
            start[:] = given.reshape(k, d)
        if intercept is not None:
            given = np.asarray(intercept, dtype=np.float64)
            if given.size != k:
                raise ValueError(
                    f"Provided intercept_init does not match dataset: it has shape {given.shape}, not ({k},)."
                )
            offset[:] = given.reshape(k)
        return start, offset

    def _starts(self, k: int, d: int, coef_init: Any, intercept_init: Any) -> list[Start]:
        coef, intercept = self._initial((k, d), coef_init, intercept_init)
        return [Start(coef[i], float(intercept[i])) for i in range(k)]

    def _continued(self, k: int) -> list[Start]:
        """Where the last `partial_fit` ended."""
        if not self._get("average"):
            coef = np.atleast_2d(self.coef_).astype(np.float64)
            intercept = np.atleast_1d(self.intercept_).astype(np.float64)
            return [Start(coef[i], float(intercept[i])) for i in range(k)]
        parts = zip(self._standard_coef, self._standard_intercept, self._average_coef, self._average_intercept)
        return [Start(c, float(b), ac, float(ab), self._average_count) for c, b, ac, ab in parts]

    def _held_out(self, groups: np.ndarray | None, n: int) -> np.ndarray:
        """Validation rows, the same as scikit-learn's: a share of every group; none without early stopping."""
        if not self._get("early_stopping"):
            return np.arange(0)
        share = self._get("validation_fraction")
        splitter = ShuffleSplit if groups is None else StratifiedShuffleSplit
        split = splitter(1, test_size=share, random_state=random_state_of(self._get("random_state")))
        try:
            return np.sort(next(split.split(np.zeros((n, 1)), groups))[1])
        except ValueError:
            raise ValueError(
                f"Splitting {n} rows with validation_fraction={share!r} leaves an empty set, or a class in one part "
                "only; give more rows, change validation_fraction, or disable early_stopping."
            ) from None

    def _seeds(self, k: int, after: int) -> np.ndarray:
        """The seeds of k shuffles: scikit-learn's, which for a classifier come `after` another draw."""
        rng = random_state_of(self._get("random_state"))
        if k == 1:
            return np.array([rng.randint(0, _LARGEST) for _ in range(after + 1)])[after:]
        streams = [random_state_of(seed) for seed in rng.randint(0, _LARGEST, size=k)]
        return np.array([[stream.randint(0, _LARGEST) for _ in range(after + 1)][after] for stream in streams])

    def _finish(self, ends: list[End], dtype: Any) -> tuple[np.ndarray, np.ndarray]:
        """Record the results of the runs; returns coefficients (K, d) and intercepts (K,)."""
        self.t_ = max(end.t for end in ends)
        self.n_iter_ = max(end.n_iter for end in ends)
        average = int(self._get("average"))
        if average:
            self._standard_coef = np.stack([end.coef for end in ends])
            self._standard_intercept = np.array([end.intercept for end in ends])
            self._average_coef = np.stack([end.average_coef for end in ends])
            self._average_intercept = np.array([end.average_intercept for end in ends])
            self._average_count = ends[0].averaged
            if ends[0].averaged:
                return self._average_coef.astype(dtype), self._average_intercept.astype(dtype)
        return (
            np.stack([end.coef for end in ends]).astype(dtype),
            np.array([end.intercept for end in ends]).astype(dtype),
        )

    def _warn(self, ends: list[End]) -> None:
        if self._get("tol") is not None and any(end.status == "budget" for end in ends):
            warnings.warn(
                "Maximum number of iteration reached before convergence. Consider increasing max_iter to improve the "
                f"fit: {type(self).__name__} was still improving by more than tol={self._get('tol'):g} in the last of "
                f"{self._get('max_iter')} epochs.",
                ConvergenceWarning,
                stacklevel=4,
            )


def mask_of(rows: np.ndarray, n: int) -> np.ndarray | None:
    """True at these of n rows; None where there are none."""
    if not len(rows):
        return None
    mask = np.zeros(n, dtype=bool)
    mask[rows] = True
    return mask


def progress_report(estimator: Any, total: int, ends: Callable[[Any], list[End]], X: Any, y: Any) -> list[End]:
    """Run `ends(report)` with its epochs shown and scikit-learn's callbacks called."""
    with progress.fit_loop(estimator, total, X, y) as loop:
        return ends(loop.step)
