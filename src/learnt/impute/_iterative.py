"""Missing cells filled by regressions of each column on the others, round after round."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from learnt.engine.estimator import Trial
from learnt.engine.mixins import clone
from learnt.engine.params import ParameterError, check_choice, check_flag, check_number, check_verbose
from learnt.engine.progress import Bar, task
from learnt.engine.random import random_state_of
from learnt.engine.schema import Dims, Schema, anyof, count, flag, flags, instance, listof, real
from learnt.engine.verbose import tell
from learnt.ensemble._common import check_fit_params
from learnt.impute._cells import SPARE, Imputer, fits_indicator
from learnt.impute._rounds import (
    ORDERS,
    ImputerTriplet,
    chances_of_neighbours,
    column_order,
    limits,
    neighbours,
    truncated_draws,
)
from learnt.linear_model import BayesianRidge


def _steps_fit(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """Every step fills one of the columns from others, of which its estimator knows as many."""
    kept = dims["d"] if model.keep_empty_features else int((~state["_is_empty_feature"]).sum())
    steps, rounds = state["imputation_sequence_"], state["n_iter_"]
    if not (state["_max_value"] > state["_min_value"]).all():
        return "has limits without room between them"
    if (len(steps) % rounds if rounds else len(steps)) or len(state["_min_value"]) != kept:
        return "does not have the same steps in each round"
    for step in steps:
        column, others = step.feat_idx, step.neighbor_feat_idx
        good = isinstance(column, int | np.integer) and 0 <= column < kept
        good = good and isinstance(others, np.ndarray) and others.dtype.kind == "i" and others.ndim == 1
        if not (good and ((others >= 0) & (others < kept)).all() and hasattr(step.estimator, "predict")):
            return "has a step that is none"
        if getattr(step.estimator, "n_features_in_", len(others)) != len(others):
            return "has an estimator of other columns"
    if getattr(state["initial_imputer_"], "n_features_in_", None) != dims["d"]:
        return "begins with other columns"
    return fits_indicator(model, state, dims)


class IterativeImputer(Imputer):
    """Missing cells of each column are predicted from the other columns, again and again (van Buuren, 2011).

    All missing cells begin with one value a column. Then, column by column, an estimator is fitted to the rows that
    have the column, and fills it where it is missing; a round ends when all columns had their turn. `transform` goes
    through the same steps with the estimators as they were fitted. Take it where columns tell much of each other.

    Parameters
    ----------
    estimator : regressor or None, default=None
        What predicts a column from the others; None for `BayesianRidge`. Trees follow relations that are not linear.
        With `sample_posterior` its `predict` must take `return_std`.
    missing_values : float, int, None or pandas.NA, default=np.nan
        What marks a missing cell.
    sample_posterior : bool, default=False
        Whether to draw each cell from the normal distribution that the estimator predicts, instead of taking its mean:
        several runs with other seeds then show how much is not known (multiple imputation).
    max_iter : int, default=10
        The most rounds. A ConvergenceWarning says where they were not enough; 0 leaves the first values.
    tol : float, default=1e-3
        Convergence: it ends when a round changes rows by less than this share of the largest cell. Not where cells are
        drawn.
    n_nearest_features : int or None, default=None
        How many columns each is predicted from, drawn in proportion to absolute correlations; None for all. Saves time
        in wide tables.
    initial_strategy : {"mean", "median", "most_frequent", "constant"}, default="mean"
        The value that missing cells of a column begin with: its mean, median, or commonest value, or `fill_value`.
    fill_value : float or None, default=None
        The first value with `initial_strategy="constant"`; None for 0.
    imputation_order : {"ascending", "descending", "roman", "arabic", "random"}, default="ascending"
        The order of the columns in a round: by rising or falling number of missing cells, from left to right ("roman"),
        from right to left ("arabic"), or random in each round.
    skip_complete : bool, default=False
        Whether columns without missing cells in `fit` get no estimator, which saves time; later they keep their first
        values.
    min_value : float or array-like of shape (n_features,), default=-np.inf
        The least value that is filled in, for all columns or for each.
    max_value : float or array-like of shape (n_features,), default=np.inf
        The largest value that is filled in, for all columns or for each.
    verbose : int, default=0
        Above 0, tell about rounds, in the log or on stderr.
    random_state : int, RandomState, Generator or None, default=None
        Where random numbers come from: for "random" orders, `n_nearest_features` and `sample_posterior`.
    add_indicator : bool, default=False
        Whether columns that say where cells were missing are appended, for models that should know it.
    keep_empty_features : bool, default=False
        Whether columns without a cell keep their first value instead of being left out.

    Attributes
    ----------
    initial_imputer_ : SimpleImputer
        What gave the first values.
    imputation_sequence_ : list of (feat_idx, neighbor_feat_idx, estimator)
        The steps: a column, those it was predicted from, and the fitted estimator.
    n_iter_ : int
        The number of rounds.
    n_features_with_missing_ : int
        Steps in a round.
    indicator_ : MissingIndicator or None
        What makes the columns of `add_indicator`; None without it.
    random_state_ : RandomState
        Where `transform` draws from, with `sample_posterior`.

    See Also
    --------
    KNNImputer : The mean of the nearest rows.
    SimpleImputer : One value for each column; quick.
    learnt.linear_model.BayesianRidge : The default estimator.

    Notes
    -----
    A round fits one estimator for each column with missing cells; all of them are kept for `transform`. With
    `BayesianRidge` a round of d columns takes time n·d³ at most.

    References
    ----------
    .. [1] S. van Buuren, K. Groothuis-Oudshoorn, "mice: Multivariate Imputation by Chained Equations in R",
       Journal of Statistical Software 45, 2011.

    Examples
    --------
    >>> imputer = IterativeImputer().fit([[7.0, 2.0, 3.0], [4.0, np.nan, 6.0], [10.0, 5.0, 9.0]])
    >>> imputer.transform([[np.nan, 2.0, 3.0], [4.0, np.nan, 6.0]]).round(2)
    array([[6.96, 2.  , 3.  ],
           [4.  , 2.6 , 6.  ]])
    """

    __learnt_schema__ = Schema(
        params={
            "sample_posterior": flag,
            "add_indicator": flag,
            "keep_empty_features": flag,
            "verbose": anyof(flag, count(0)),
        },
        state={
            **SPARE,
            "initial_imputer_": instance(SimpleImputer, "an imputer"),
            "imputation_sequence_": listof(instance(ImputerTriplet, "a step")),
            "n_iter_": count(0),
            "n_features_with_missing_": count(0),
            "random_state_": instance(np.random.RandomState, "a source of random numbers"),
            "_is_empty_feature": flags("d"),
            "_min_value": real("k", finite=False),
            "_max_value": real("k", finite=False),
        },
        rule=_steps_fit,
    )
    __learnt_trial__ = Trial()

    def __init__(
        self,
        estimator: Any = None,
        *,
        missing_values: Any = np.nan,
        sample_posterior: bool = False,
        max_iter: int = 10,
        tol: float = 1e-3,
        n_nearest_features: int | None = None,
        initial_strategy: str = "mean",
        fill_value: Any = None,
        imputation_order: str = "ascending",
        skip_complete: bool = False,
        min_value: Any = -np.inf,
        max_value: Any = np.inf,
        verbose: int = 0,
        random_state: Any = None,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
    ) -> None:
        self.estimator = estimator
        self.missing_values = missing_values
        self.sample_posterior = sample_posterior
        self.max_iter = max_iter
        self.tol = tol
        self.n_nearest_features = n_nearest_features
        self.initial_strategy = initial_strategy
        self.fill_value = fill_value
        self.imputation_order = imputation_order
        self.skip_complete = skip_complete
        self.min_value = min_value
        self.max_value = max_value
        self.verbose = verbose
        self.random_state = random_state
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> IterativeImputer:
        """Find the estimators; `fit_params` go to their `fit` by scikit-learn's metadata routing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows to learn from, with missing cells.
        y : Ignored
            Not used; there so that all estimators can be called in the same way.
        **fit_params : dict
            Metadata for the estimator's `fit`, such as `sample_weight`, where routing is enabled and it asks for them.
        """
        self.fit_transform(X, **fit_params)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> np.ndarray:
        """Find the estimators and fill the missing cells of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows to learn from, with missing cells.
        y : Ignored
            Not used; there so that all estimators can be called in the same way.
        **params : dict
            Metadata for the estimator's `fit`, such as `sample_weight`, where routing is enabled and it asks for them.
        """
        self._check_parameters()
        check_fit_params(self, params, allowed=())
        given = dict(process_routing(self, "fit", **params).estimator.fit) if params else {}
        X = self._with_nan(X, reset=True)
        self._is_empty_feature = np.isnan(X).all(axis=0)
        self._fit_indicator(X)
        where = self._indicated(X)
        self.random_state_ = random_state_of(self.random_state)
        self.initial_imputer_ = SimpleImputer(
            strategy=self.initial_strategy, fill_value=self.fill_value, keep_empty_features=self.keep_empty_features
        ).set_output(transform="default")
        filled, missing = self._begin(X, self.initial_imputer_.fit_transform(X))
        self._min_value, self._max_value = limits(self.min_value, self.max_value, self._kept())
        self.imputation_sequence_: list[ImputerTriplet] = []
        self.n_iter_ = self.n_features_with_missing_ = 0
        if self.max_iter > 0 and filled.shape[1] > 1 and not missing.all():
            with task(f"{type(self).__name__} fit", self.max_iter) as bar:
                self._rounds(filled, missing, given, bar)
        return self._with_indicator(filled, where)

    def _check_parameters(self) -> None:
        if self.estimator is not None and not all(hasattr(self.estimator, name) for name in ("fit", "predict")):
            raise ParameterError(
                f"The 'estimator' parameter of {type(self).__name__} must be None or a regressor with fit and predict. "
                f"Got {self.estimator!r:.80} instead."
            )
        check_flag(self, "sample_posterior", "skip_complete")
        check_number(self, "max_iter", 0, integer=True)
        check_number(self, "tol", 0)
        check_number(self, "n_nearest_features", 1, integer=True, also=(None,))
        check_choice(self, "initial_strategy", ("mean", "median", "most_frequent", "constant"))
        check_choice(self, "imputation_order", ORDERS)
        check_verbose(self)
        self._check_marks()

    def _begin(self, X: np.ndarray, filled: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The columns that are kept, with first values, and which cells are still to be found."""
        missing = np.isnan(X)
        if self.keep_empty_features:
            missing[:, self._is_empty_feature] = False
        else:
            missing = missing[:, ~self._is_empty_feature]
        return np.array(filled, order="F"), missing

    def _rounds(self, filled: np.ndarray, missing: np.ndarray, given: dict[str, Any], bar: Bar) -> None:
        """Fill cells round by round, and remember the steps."""
        d, some, random = filled.shape[1], self.n_nearest_features, self.random_state_
        first = column_order(missing, self.imputation_order, self.skip_complete, random)
        self.n_features_with_missing_ = len(first)
        chances = chances_of_neighbours(filled) if some is not None and some < d else None
        member = BayesianRidge() if self.estimator is None else self.estimator
        enough = self.tol * float(np.abs(filled[~missing]).max())
        while self.n_iter_ < self.max_iter:
            self.n_iter_ += 1
            before = filled.copy()
            order = first
            if self.imputation_order == "random":
                order = column_order(missing, self.imputation_order, self.skip_complete, random)
            for column in order.tolist():
                others = neighbours(column, d, some, chances, random)
                step = ImputerTriplet(column, others, clone(member))
                has = ~missing[:, column]
                step.estimator.fit(filled[np.ix_(has, others)], filled[has, column], **given)
                self._step(filled, missing, step)
                self.imputation_sequence_.append(step)
            change = float(np.abs(filled - before).sum(axis=1).max())
            bar.advance(1, f"change {change:.3g}")
            if self.verbose:
                tell("Round %d of %d changed a row by %.3g at most; it ends below %.3g.", self.n_iter_, self.max_iter,
                     change, enough)  # fmt: skip
            if not self.sample_posterior and change < enough:
                return
        if not self.sample_posterior and change > enough:
            warnings.warn(
                f"{type(self).__name__} stopped after {self.max_iter} rounds while the last still changed a row by "
                f"{change:.2g} (it ends below {enough:.2g}); raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _step(self, filled: np.ndarray, missing: np.ndarray, step: ImputerTriplet) -> None:
        """Fill the missing cells of one column."""
        column, others, member = step
        rows = missing[:, column]
        if not rows.any():
            return
        X, low, high = filled[np.ix_(rows, others)], self._min_value[column], self._max_value[column]
        if self.sample_posterior:
            mean, deviation = member.predict(X, return_std=True)
            filled[rows, column] = truncated_draws(mean, deviation, low, high, self.random_state_)
        else:
            filled[rows, column] = np.clip(member.predict(X), low, high)

    def transform(self, X: Any) -> np.ndarray:
        """X with its missing cells filled by the steps of `fit`; drawn anew at each call with `sample_posterior`."""
        X = self._with_nan(X, reset=False)
        where = self._indicated(X)
        filled, missing = self._begin(X, self.initial_imputer_.transform(X))
        if self.n_iter_ and not missing.all():
            for step in self.imputation_sequence_:
                self._step(filled, missing, step)
        return self._with_indicator(filled, where)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns of `transform`: those of X, then those of the indicator."""
        return self._names_out(input_features)

    def _kept(self) -> np.ndarray:
        return np.full(self.n_features_in_, bool(self.keep_empty_features)) | ~self._is_empty_feature

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata goes to the estimator, for scikit-learn's routing."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=mapping)
