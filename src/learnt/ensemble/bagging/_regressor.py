"""Bagged regressors."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from learnt.engine.estimator import Trial, Warm
from learnt.engine.mixins import RegressorMixin
from learnt.engine.weights import RowIndex
from learnt.ensemble._trial_members import one_regressor, takes_what_members_take
from learnt.ensemble.bagging._base import Bagging, warn_of_unseen
from learnt.ensemble.bagging._schema import REGRESSOR
from learnt.metrics import r2_score
from learnt.tree import DecisionTreeRegressor


class BaggingRegressor(RegressorMixin, Bagging):
    """The mean of regressors fitted on random samples of the rows:  f(x) = (1/B) Σ_b f_b(x).

    Averaging takes away much of the variance of a model, and leaves its bias. For trees a random forest does it better.

    Parameters
    ----------
    estimator : estimator or None, default=None
        The model whose copies are fitted; None is `DecisionTreeRegressor()`. Models of much variance, which overfit
        alone, gain most.
    n_estimators : int, default=10
        Number of members. More make the mean steadier and never overfit more, at a cost in proportion.
    max_samples : int, float or None, default=None
        How many rows are drawn for each member: a number, a share (float), or as many as there are (None). Fewer make
        the members more different and the fit quicker.
    max_features : int or float, default=1.0
        How many columns are drawn for each member: a number, or a share (float). Fewer make the members more different
        (random subspaces).
    bootstrap : bool, default=True
        Whether rows are drawn with replacement (bagging) or without (pasting).
    bootstrap_features : bool, default=False
        Whether columns are drawn with replacement.
    oob_score : bool, default=False
        Whether to score each training row by the members that were not fitted to it: a validation score (R²) without a
        validation set. Needs `bootstrap`, and no `warm_start`.
    warm_start : bool, default=False
        Whether the next `fit` keeps the members that are there and adds what is missing to `n_estimators`, instead of
        starting afresh.
    n_jobs : int or None, default=None
        How many members are fitted at a time; None is all threads for learnt's own estimators, one after another for
        others.
    random_state : int, RandomState, Generator or None, default=None
        Draws rows and columns and seeds the members; the same seed draws scikit-learn's rows and columns. Pass an
        integer for the same model every time.
    verbose : int, default=0
        Has no effect; kept for scikit-learn's signature. `learnt.engine.progress.show` shows progress.

    Attributes
    ----------
    estimator_ : estimator
        The model that was copied.
    estimators_ : list of estimator
        The fitted members.
    estimators_features_ : list of ndarray
        The columns of each member.
    estimators_samples_ : list of ndarray
        The rows of each member, drawn again from its seed when asked for.
    oob_score_ : float
        R² of the predictions by the members that had not seen a row; only with `oob_score`.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Those predictions; 0 for a row that all have seen. Only with `oob_score`.

    See Also
    --------
    BaggingClassifier : The same for classes.
    RandomForestRegressor : Bagged trees that also draw columns at each split: better and quicker.
    VotingRegressor : Different models on the same rows.
    AdaBoostRegressor : Members fitted one after another, which lowers bias too.

    Notes
    -----
    `n_estimators` fits of the model, on threads. Where the model takes weights, a row drawn twice weighs 2 and the
    table is not copied. With `sample_weight` rows are drawn in proportion to it. Rows drawn with replacement are
    bagging [1]_, without it pasting [2]_; columns alone are random subspaces [3]_, both are random patches [4]_.

    References
    ----------
    .. [1] L. Breiman, "Bagging predictors", Machine Learning 24, 1996.
    .. [2] L. Breiman, "Pasting small votes for classification in large databases and on-line", Machine Learning 36,
           1999.
    .. [3] T. K. Ho, "The random subspace method for constructing decision forests", IEEE Transactions on Pattern
           Analysis and Machine Intelligence 20, 1998.
    .. [4] G. Louppe and P. Geurts, "Ensembles on random patches", ECML PKDD, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.linear_model import LinearRegression
    >>> X = np.arange(20.0).reshape(-1, 1)
    >>> model = BaggingRegressor(LinearRegression(), random_state=0).fit(X, 2 * X[:, 0] + 1)
    >>> model.predict([[30.0]]).round(6), model.spread([[30.0]]).round(6)
    (array([61.]), array([0.]))
    """

    __learnt_schema__ = REGRESSOR
    __learnt_takes__ = property(takes_what_members_take)
    __learnt_trial__ = Trial(
        quick=lambda: {"estimator": one_regressor(), "n_estimators": 5, "random_state": 0},
        warmup=(Warm("amount", {"n_estimators": 2}),),
        weighted=({"estimator": None, "oob_score": True, "n_estimators": 20}, {"max_samples": 0.5}),
        members="n_estimators",
        any_order=False,
        weight_repeats=False,  # rows are drawn
    )

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = None,
        max_features: int | float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> BaggingRegressor:
        """Fit the members, each to rows and columns drawn for it.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The numbers to predict for each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Rows are drawn in proportion to it; None draws all alike.
        **fit_params : dict
            Other metadata for the `fit` of the members, by scikit-learn's metadata routing.
        """
        return self._fit(X, y, sample_weight, fit_params, "numbers")

    def _prototype(self) -> Any:
        return DecisionTreeRegressor() if self.estimator is None else self.estimator

    def _targets(self, y: np.ndarray) -> np.ndarray:
        return column_or_1d(y, warn=True) if y.ndim == 2 and y.shape[1] == 1 else y

    def _answers(self, X: Any, params: dict[str, Any]) -> Any:
        for member, features in zip(self.estimators_, self.estimators_features_):
            yield member.predict(self._part(X, features), **params)

    def predict(self, X: Any, return_std: bool = False, **params: Any) -> Any:
        """The mean of the members' predictions; with `return_std` also their standard deviation.

        Parameters
        ----------
        return_std : bool, default=False
            Whether to return the standard deviation of the members' predictions too.
        **params : dict
            Metadata for the members, by scikit-learn's metadata routing.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The predicted number of each row.
        y_std : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The standard deviation over members: how far they disagree, not how noisy y is. Only with `return_std`.
        """
        X, params = self._check(X), self._routed("predict", params)
        mean = self._over_rows(X, lambda rows: sum(self._answers(rows, params))) / len(self.estimators_)
        return (mean, self.spread(X)) if return_std else mean

    def spread(self, X: Any) -> np.ndarray:
        """How far the members disagree: the standard deviation of their predictions, not of y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.

        Returns
        -------
        spread : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The standard deviation over members.
        """
        return self._over_rows(self._check(X), lambda rows: np.std(list(self._answers(rows, {})), axis=0))

    def _score_unseen(self, X: Any, y: np.ndarray, present: RowIndex, given: Any) -> None:
        total, count = np.zeros(y.shape), np.zeros(len(y))
        for member, part, unseen in self._unseen(X, present):
            total[unseen] += member.predict(part)
            count[unseen] += 1
        warn_of_unseen(bool((count == 0).any()))
        count = np.maximum(count, 1).reshape((-1,) + (1,) * (y.ndim - 1))
        found = total / count
        self.oob_prediction_ = self._with_absent(found, present, given, self.predict)
        self.oob_score_ = float(r2_score(y, found))
