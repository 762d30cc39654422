"""Linear support vector regression."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine import progress
from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.mixins import RegressorMixin
from learnt.engine.params import check_choice, check_number
from learnt.engine.schema import FEATURES, Schema, anyof, count, flag, number, real
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_fit
from learnt.svm._linear import check_common, check_squares, goal, linear_scores, warn_unfinished, watcher
from learnt.svm._losses import insensitive
from learnt.svm._strategy import pose, solve


class LinearSVR(progress.CallbackSupportMixin, RegressorMixin, Estimator):
    """A line that small misses cost nothing:  min over coef, b of  (‖coef‖² + (b/scale)²)/2 + C Σᵢ wᵢ ℓ(rᵢ).

    rᵢ = yᵢ − coef·xᵢ − b, and ℓ(r) is max(0, |r| − ε), or its square. With ε = 0 the first is the absolute error: few
    outliers move the line little. As in scikit-learn the intercept is penalised too, the less the larger its scale.

    Take it for linear regression that outliers in y must not command, also on many sparse columns.

    Parameters
    ----------
    epsilon : float, default=0.0
        The size of a miss that costs nothing, in the unit of y. Set it to about the size of misses that do not matter.
    tol : float, default=1e-4
        Convergence tolerance: stop when the duality gap is at most tol² times the objective, 1e-8 at 1e-4.
    C : float, default=1.0
        Inverse of the regularisation strength, greater than 0: the weight of the loss against the penalty. Smaller
        values mean more shrinkage and less overfitting. Try powers of 10.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        What a miss costs: "epsilon_insensitive" its size beyond ε, which is robust to outliers;
        "squared_epsilon_insensitive" the square of that, which is smooth and quicker to minimise.
    fit_intercept : bool, default=True
        Whether to fit b; otherwise it is 0, which suits centred columns and targets.
    intercept_scaling : float, default=1.0
        The scale of the intercept's penalty: the larger, the less the intercept is shrunk. Raise it where the columns
        are not centred.
    dual : bool or "auto", default="auto"
        Kept for scikit-learn's signature, and refused where scikit-learn refuses it: which form is solved is chosen by
        the shape of X.
    verbose : int, default=0
        Kept for scikit-learn's signature: nothing is printed.
    random_state : int, RandomState or None, default=None
        Kept for scikit-learn's signature: the minimum is found, not drawn.
    max_iter : int, default=1000
        The most steps: of Newton's method, or passes over the rows. Raise it where a warning says that the fit has not
        converged.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weight of each column.
    intercept_ : ndarray of shape (1,) or float
        b; 0.0 where `fit_intercept` is False.
    n_iter_ : int
        Steps that were taken.
    dual_gap_ : float
        How far above its minimum the objective may be, relatively.

    See Also
    --------
    SVR : Kernels, for functions that are no lines.
    learnt.linear_model.HuberRegressor : Robust too, without a penalised intercept.
    learnt.linear_model.SGDRegressor : The same losses one row at a time, for tables of any length.
    learnt.linear_model.QuantileRegressor : The absolute error with an absolute penalty.

    Notes
    -----
    Which method finds the minimum hangs on the shape of X: semismooth Newton for few columns, in the space of the rows
    where these are fewer, dual coordinate descent for large sparse tables. Steps cost time in the cells of X that are
    not 0. Bring columns to like scale. The result does not depend on the number of threads.

    References
    ----------
    .. [1] R.-E. Fan, K.-W. Chang, C.-J. Hsieh, X.-R. Wang, C.-J. Lin, "LIBLINEAR: a library for large linear
       classification", Journal of Machine Learning Research, 2008.
    .. [2] C.-H. Ho, C.-J. Lin, "Large-scale linear support vector regression", Journal of Machine Learning Research,
       2012.

    Examples
    --------
    The outlier at the end does not move the line:

    >>> import numpy as np
    >>> X = np.arange(5.0)[:, None]
    >>> model = LinearSVR(C=100.0).fit(X, [1.0, 3.0, 5.0, 7.0, 90.0])
    >>> model.predict([[2.0]])
    array([5.])
    """

    __learnt_schema__ = Schema(
        params={"fit_intercept": flag},
        state={**FEATURES, "coef_": real("d"), "intercept_": anyof(real(1), number(0, 0))},
        extra={"n_iter_": count(), "dual_gap_": number(finite=False)},
    )
    __learnt_takes__ = Takes(sparse=True)
    __learnt_trial__ = Trial(quick={"tol": 1e-6}, warmup=(Warm("amount"),), weight_unit_free=False)

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: bool | str = "auto",
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter

    @progress.with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearSVR:
        """Fit the line; a row of weight 2 counts as two rows, one of weight 0 as none."""
        self._check_parameters()
        X, y, w = check_fit(self, X, y, sample_weight, target="number", double_target=True)
        w = np.ones(X.shape[0]) if w is None else w
        check_squares(X, self.C * w)
        squared = self.loss == "squared_epsilon_insensitive"
        loss = insensitive(y, self.C * w, float(self.epsilon), squared)
        bias = float(self.intercept_scaling) if self.fit_intercept else 0.0
        with single_blas(), progress.fit_loop(self, None, X, y) as loop:
            outcome = solve(*pose(X, bias), loss, goal(self.tol), self.max_iter, watcher(self, loop))
        d = X.shape[1]
        self.coef_ = outcome.w[:d]
        self.intercept_ = bias * outcome.w[d:] if self.fit_intercept else 0.0
        self.n_iter_ = outcome.n_iter
        self.dual_gap_ = outcome.gap / outcome.value if outcome.value > 0 else 0.0
        if not outcome.converged:
            warn_unfinished(self, self.dual_gap_, goal(self.tol))
        return self

    def _check_parameters(self) -> None:
        check_common(self)
        check_number(self, "epsilon", 0)
        check_choice(self, "loss", ("epsilon_insensitive", "squared_epsilon_insensitive"))
        if self.loss == "epsilon_insensitive" and not self.dual:
            raise ValueError(
                "Unsupported set of arguments: loss='epsilon_insensitive' and dual=False do not go together; "
                "use dual='auto'."
            )

    def predict(self, X: Any) -> np.ndarray:
        """One number for every row of X."""
        return linear_scores(self, X)
