"""Logistic regression that chooses its penalty by cross-validation."""

from __future__ import annotations

import warnings
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing

from learnt.engine.classification.labels import class_weights, encode_labels
from learnt.engine.classification.linear_classifier import ProbabilisticLinearClassifier
from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.mixins import ClassifierMixin
from learnt.engine.params import ParameterError, check_choice, check_class_weight, check_flag, check_number
from learnt.engine.schema import CLASSES, Schema, flag, labels, one_plane_a_class, real, record
from learnt.engine.threads import run_tasks, single_blas
from learnt.engine.validation import check_fit
from learnt.engine.weights import present_rows, rows_given, take_folds, take_params
from learnt.explanation import Explained
from learnt.linear_model.logistic import _cv_folds as folds_of
from learnt.linear_model.logistic._cv_folds import Path, Settings
from learnt.linear_model.logistic._messages import too_few_classes, unfinished
from learnt.linear_model.logistic._regression import _SOLVERS, LogisticRegression

_ROUNDING = 1e-12  # a distance from the minimum, relative to it, below which float64 sees little
# Scores that know all classes, also those that a fold left out; the others are scikit-learn's.
_OWN_SCORES = {
    None: folds_of.accuracies,
    "accuracy": folds_of.accuracies,
    "neg_log_loss": folds_of.log_likelihoods,
    "neg_brier_score": folds_of.squared_errors,
}


class LogisticRegressionCV(ProbabilisticLinearClassifier, ClassifierMixin, Estimator, Explained):
    """`LogisticRegression` whose C, and l1_ratio where several are given, score best on rows left out.

    Every fold fits all of `Cs` from strong penalties to weak ones, each from the last; folds run on the pool. That is
    much cheaper than a `GridSearchCV` over `LogisticRegression`.

    Parameters
    ----------
    Cs : int or list of float, default=10
        The values of C (inverse regularisation strength) to choose from, or how many of them between 1e-4 and 1e4. Add
        more around the chosen one, or beyond, where it is the first or last.
    l1_ratios : list of float or None, default="warn"
        The shares of the absolute in the penalty to choose from, each in 0…1: 0 shrinks all coefficients, 1 makes many
        exactly 0. None and "warn" (scikit-learn's default) mean 0.
    fit_intercept : bool, default=True
        Whether to fit the intercept, which is not penalised; otherwise it is 0.
    cv : int, splitter or iterable, default=None
        The folds: their number, a splitter of `learnt.model_selection`, or pairs of training and validation rows. None
        means 5, stratified.
    dual : bool, default=False
        Kept for scikit-learn's signature: which form is solved is chosen by the shape of X.
    penalty : {"l2", "l1", "elasticnet"}, default="deprecated"
        Deprecated; kept for scikit-learn's signature: what `l1_ratios` says now. Where `l1_ratios` is not given, "l1"
        means a ratio of 1 and "l2" one of 0; "elasticnet" needs `l1_ratios`.
    scoring : str, callable or None, default="warn"
        What is best; None and "warn" (scikit-learn's default) mean accuracy. "neg_log_loss" judges probabilities and
        tells close penalties apart better.
    solver : str, default="lbfgs"
        How minima are found: "auto" chooses by the shape of X, "newton" is Newton's method. scikit-learn's default
        "lbfgs" means "auto", as do "liblinear", "sag" and "saga"; "newton-cholesky" and "newton-cg" mean "newton".
    tol : float, default=1e-4
        Convergence tolerance: the fits of folds stop within tol² of the minimum, relatively, the last one within tol³.
    max_iter : int, default=100
        The most steps of each fit. Raise it where a warning says that fits have not converged.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows; "balanced" over all rows, not each fold's. It gives
        more recall of rare classes, at the cost of precision.
    n_jobs : int or None, default=None
        The most threads to use; None for all that the process may.
    verbose : int, default=0
        Kept for scikit-learn's signature: nothing is printed.
    refit : bool, default=True
        Whether to fit all rows with the best C; otherwise coefficients and C are means over folds of each one's best.
    intercept_scaling : float, default=1.0
        Kept for scikit-learn's signature: the intercept is never penalised, whatever its scale.
    random_state : int, RandomState or None, default=None
        Kept for scikit-learn's signature: minima are found, not drawn.
    use_legacy_attributes : bool, default="warn"
        True and "warn" (scikit-learn's default) for dicts and arrays by class, False for plain arrays.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels in order.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weight of each column: one row for two classes (the log-odds of `classes_[1]`), else one a class.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The constant of each score.
    Cs_ : ndarray of shape (n_cs,)
        The values of C that were tried.
    l1_ratios_ : ndarray of shape (n_l1_ratios,)
        The values of l1_ratio that were tried.
    C_ : ndarray of shape (1,) or (n_classes,), or float
        The C that was chosen, repeated for each class; one number without `use_legacy_attributes`.
    l1_ratio_ : ndarray of shape (1,) or (n_classes,), or float
        The l1_ratio that was chosen, repeated for each class; one number without `use_legacy_attributes`.
    scores_ : dict of ndarray, or ndarray of shape (n_folds, n_l1_ratios, n_cs)
        The scores of all folds. With `use_legacy_attributes` a dict that has for each class the same array, of shape
        (n_folds, n_cs) or (n_folds, n_cs, n_l1_ratios).
    coefs_paths_ : dict of ndarray, or ndarray of shape (n_folds, n_l1_ratios, n_cs, n_classes, n_dof)
        The coefficients of all fits, intercepts last. With `use_legacy_attributes` a dict of class to array of shape
        (n_folds, n_cs, n_dof) or (n_folds, n_cs, n_l1_ratios, n_dof).
    n_iter_ : ndarray of shape (n_folds, n_l1_ratios, n_cs)
        Steps of all fits; with `use_legacy_attributes` of shape (1, n_folds, n_cs) or (1, n_folds, n_cs, n_l1_ratios).

    See Also
    --------
    LogisticRegression : One fit with a given C.
    RidgeClassifierCV : Least squares in place of the log loss, cheaper still.
    learnt.model_selection.GridSearchCV : Chooses parameters of any estimator.

    Notes
    -----
    n_folds · n_cs · n_l1_ratios fits, each started from its neighbour, and one more with `refit`. Among equal scores
    the smallest C is chosen.

    References
    ----------
    .. [1] T. Hastie, R. Tibshirani, J. Friedman, "The Elements of Statistical Learning", chapters 4.4 and 7.10, 2nd
       edition, Springer, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    >>> model = LogisticRegressionCV(Cs=[0.01, 1.0], scoring="neg_log_loss").fit(X, y)
    >>> model.C_
    array([1.])
    """

    __learnt_schema__ = Schema(
        params={"fit_intercept": flag},
        state={**CLASSES, "classes_": labels("c", low=2), "coef_": real("r", "d"), "intercept_": real("r")},
        extra={
            "Cs_": real(None, low=0, finite=False),
            "l1_ratios_": real(None, low=0, high=1),
            **dict.fromkeys(("C_", "l1_ratio_", "scores_", "coefs_paths_", "n_iter_"), record),
        },
        rule=one_plane_a_class,
    )
    __learnt_takes__ = Takes(sparse=True)
    __learnt_trial__ = Trial(
        quick={"cv": 3, "Cs": [0.1, 1.0], "tol": 1e-6},
        warmup=(Warm("two classes", {"Cs": 2, "cv": 2}),),
        weight_unit_free=False,
    )

    __metadata_request__score = {"sample_weight": UNUSED}  # the scorer's, not ours

    C_: Any
    l1_ratio_: Any
    scores_: Any
    coefs_paths_: Any

    def __init__(
        self,
        *,
        Cs: Any = 10,
        l1_ratios: Any = "warn",
        fit_intercept: bool = True,
        cv: Any = None,
        dual: bool = False,
        penalty: str | None = "deprecated",
        scoring: Any = "warn",
        solver: str = "lbfgs",
        tol: float = 1e-4,
        max_iter: int = 100,
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        refit: bool = True,
        intercept_scaling: float = 1.0,
        random_state: Any = None,
        use_legacy_attributes: bool | str = "warn",
    ) -> None:
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.penalty = penalty
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.random_state = random_state
        self.use_legacy_attributes = use_legacy_attributes

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> LogisticRegressionCV:
        """Choose C and fit the coefficients with it; a row of weight 2 counts as two rows, one of weight 0 as none.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows to learn from.
        y : array-like of shape (n_samples,)
            Class labels: numbers, text or booleans.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: 2 as two rows, 0 as none. None counts every row once.
        **params : dict
            What the splitter and the scorer are passed, such as `groups`; only with metadata routing.
        """
        ratios = self._check_parameters()
        self._refuse_unrouted(params)
        present, n = present_rows(sample_weight, X), rows_given(sample_weight)
        X, y, w = check_fit(self, X, y, sample_weight, target="label")
        self.classes_, codes = encode_labels(y)
        self.Cs_, self.l1_ratios_ = self._grid(), ratios
        weight = self._row_weights(codes, w)
        cv = check_cv(take_folds(self.cv, present), y, classifier=True)
        splits, score_params = self._folds(cv, X, y, w, take_params(params, present, n))
        with single_blas():
            paths, scores = self._search(X, y, codes, weight, splits, score_params)
            theta = self._choose(X, codes, weight, paths, scores)
        self.coef_ = theta[:, :-1].astype(X.dtype)
        self.intercept_ = theta[:, -1].astype(X.dtype)
        self._record(paths, scores)
        return self

    def _check_parameters(self) -> np.ndarray:
        """Checks, and the ratios to try."""
        check_choice(self, "penalty", ("l2", "deprecated", "l1", "elasticnet"))
        check_choice(self, "solver", tuple(_SOLVERS))
        check_number(self, "tol", 0)
        check_number(self, "max_iter", 0, integer=True)
        check_number(self, "intercept_scaling", 0, open_low=True)
        check_flag(self, "fit_intercept", "dual", "refit")
        if self.use_legacy_attributes != "warn":
            check_flag(self, "use_legacy_attributes")
        check_class_weight(self)
        if self._without_ratios():
            if self.penalty == "elasticnet":
                raise ValueError(
                    f"l1_ratios must be an array-like of numbers between 0 and 1; got (l1_ratios={self.l1_ratios!r})."
                )
            return np.array([1.0 if self.penalty == "l1" else 0.0])
        ratios = np.asarray(self.l1_ratios)
        if (
            ratios.dtype.kind not in "iuf"
            or ratios.ndim != 1
            or not ratios.size
            or not np.all((ratios >= 0) & (ratios <= 1))
        ):
            raise ValueError(
                f"l1_ratios must be an array-like of numbers between 0 and 1; got (l1_ratios={self.l1_ratios!r})."
            )
        return ratios.astype(np.float64)

    def _without_ratios(self) -> bool:
        return self.l1_ratios is None or (isinstance(self.l1_ratios, str) and self.l1_ratios == "warn")

    def _grid(self) -> np.ndarray:
        if isinstance(self.Cs, Integral) and not isinstance(self.Cs, bool):
            check_number(self, "Cs", 1, integer=True)
            return np.logspace(-4, 4, int(self.Cs))
        Cs = np.asarray(self.Cs, dtype=np.float64)
        if Cs.ndim != 1 or not Cs.size or not (Cs > 0).all():
            raise ParameterError(
                "The 'Cs' parameter of LogisticRegressionCV must be a whole number or numbers above 0. "
                f"Got {self.Cs!r} instead."
            )
        return Cs

    def _row_weights(self, codes: np.ndarray, w: np.ndarray | None) -> np.ndarray | None:
        """Weights of rows times those of their classes; None where all are 1."""
        K = len(self.classes_)
        totals = np.bincount(codes, w, minlength=K)
        if isinstance(self.class_weight, dict):
            strange = set(self.class_weight) - set(self.classes_.tolist())
            if strange:
                raise ValueError(
                    "The given class_weight dict must have the class labels as keys; it has "
                    f"{', '.join(map(repr, strange))}, which y does not."
                )
        table = class_weights(self.class_weight, self.classes_, totals)
        if np.count_nonzero(table * totals) < 2:
            only = ", ".join(repr(label) for label in self.classes_[table * totals > 0].tolist())
            raise too_few_classes(only)
        if self.class_weight is None:
            return w
        return table[codes] if w is None else w * table[codes]

    def _folds(self, cv: Any, X: Any, y: Any, w: Any, params: dict[str, Any]) -> tuple[list, dict[str, Any]]:
        """Pairs of rows to fit and rows to judge, and what the scorer is passed."""
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", sample_weight=w, **params)
            return list(cv.split(X, y, **routed.splitter.split)), dict(routed.scorer.score)
        return list(cv.split(X, y)), {} if w is None else {"sample_weight": w}

    def _search(
        self, X: Any, y: Any, codes: np.ndarray, w: Any, splits: list, score_params: dict[str, Any]
    ) -> tuple[list[list[Path]], np.ndarray]:
        """A path for every fold and ratio, and scores (folds × ratios × Cs)."""
        settings = self._settings(self.tol**2)
        order = np.argsort(self.Cs_, kind="stable")  # from strong penalties to weak ones

        def work(train: Any, test: Any, ratio: float) -> tuple[Path, np.ndarray]:
            path = self._path(X[train], codes[train], None if w is None else w[train], self.Cs_[order], ratio, settings)
            path = Path(*(part[np.argsort(order)] for part in path))
            return path, self._scores(X[test], y, codes, test, path.theta, score_params)

        tasks = [partial(work, train, test, ratio) for train, test in splits for ratio in self.l1_ratios_]
        results = run_tasks(tasks, n_jobs=self.n_jobs)
        R = len(self.l1_ratios_)
        self._warn([path for path, _ in results])
        paths = [[path for path, _ in results[i : i + R]] for i in range(0, len(results), R)]
        return paths, np.array([score for _, score in results]).reshape(len(splits), R, -1)

    def _settings(self, tol: float) -> Settings:
        solver = "auto" if self.solver == "lbfgs" else _SOLVERS[self.solver]
        return Settings(len(self.classes_), bool(self.fit_intercept), solver, tol, self.max_iter, self.n_jobs)

    def _path(
        self, X: Any, codes: np.ndarray, w: Any, Cs: Any, ratio: float, settings: Settings, start: Any = None
    ) -> Path:
        seen = np.unique(codes if w is None else codes[w > 0])
        if seen.size < 2:
            return folds_of.only_one(int(seen[0]), X.shape[1], len(Cs), len(self.classes_))
        if ratio == 0.0:
            return folds_of.squared_path(X, codes, w, Cs, settings, start)
        return folds_of.mixed_path(X, codes, w, Cs, ratio, settings._replace(tol=self.tol**2), start)

    def _scores(
        self, X: Any, y: Any, codes: np.ndarray, test: Any, theta: np.ndarray, params: dict[str, Any]
    ) -> np.ndarray:
        scoring = None if isinstance(self.scoring, str) and self.scoring == "warn" else self.scoring
        if (scoring is None or isinstance(scoring, str)) and scoring in _OWN_SCORES:
            w = params.get("sample_weight")
            return _OWN_SCORES[scoring](X, codes[test], None if w is None else np.asarray(w)[test], theta)
        from sklearn.metrics import get_scorer  # slow to import, seldom needed

        scorer = get_scorer(scoring)
        params = {key: value if value is None else np.asarray(value)[test] for key, value in params.items()}
        model = LogisticRegression()
        model.classes_, model.n_features_in_ = self.classes_, X.shape[1]
        scores = []
        for one in theta:
            model.coef_, model.intercept_ = one[:, :-1], one[:, -1]
            scores.append(float(scorer(model, X, y[test], **params)))
        return np.array(scores)

    def _choose(self, X: Any, codes: np.ndarray, w: Any, paths: list[list[Path]], scores: np.ndarray) -> np.ndarray:
        """The coefficients, K × (d + 1); sets `C_` and `l1_ratio_`."""
        if self.refit:
            table = scores.sum(axis=0).T  # Cs × ratios: of equals, the smallest C
            best_C, best_ratio = np.unravel_index(np.argmax(table), table.shape)
            C, ratio = float(self.Cs_[best_C]), float(self.l1_ratios_[best_ratio])
            start = np.mean([fold[best_ratio].theta[best_C] for fold in paths], axis=0)
            last = self._path(X, codes, w, [C], ratio, self._settings(self.tol**3), start)
            self._warn([last])
            theta = last.theta[0]
        else:
            table = scores.transpose(0, 2, 1)
            best = [np.unravel_index(np.argmax(fold), fold.shape) for fold in table]
            theta = np.mean([fold[r].theta[c] for fold, (c, r) in zip(paths, best, strict=True)], axis=0)
            C = float(np.mean([self.Cs_[c] for c, _ in best]))
            ratio = float(np.mean([self.l1_ratios_[r] for _, r in best]))
        self.C_, self.l1_ratio_ = C, ratio
        return theta

    def _warn(self, paths: list[Path]) -> None:
        worst = max(float(path.left.max()) for path in paths)
        goal = max(self.tol**2, _ROUNDING)
        if np.isinf(worst):
            warnings.warn(
                "LogisticRegressionCV met classes that can be separated exactly by these columns, so without a penalty "
                "there is no best fit; leave np.inf out of Cs.",
                ConvergenceWarning,
                stacklevel=4,
            )
        elif worst > goal:
            fits = sum(int(np.count_nonzero(path.left > goal)) for path in paths)
            warnings.warn(
                f"{unfinished(self.solver, self.max_iter)} LogisticRegressionCV stopped {fits} of its fits early, the "
                f"worst about {worst:.1e} (relative) above its minimum, where tol={self.tol:g} asks for {goal:.1e}; "
                f"raise max_iter above {self.max_iter} or leave out the largest Cs.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _record(self, paths: list[list[Path]], scores: np.ndarray) -> None:
        theta = np.array([[path.theta for path in fold] for fold in paths])  # folds × ratios × Cs × K × (d + 1)
        theta = theta if self.fit_intercept else theta[..., :-1]
        n_iter = np.array([[path.n_iter for path in fold] for fold in paths], dtype=np.int32)
        if not self.use_legacy_attributes:
            self.coefs_paths_, self.scores_, self.n_iter_ = theta, scores, n_iter
            return
        theta, scores, n_iter = (np.swapaxes(table, 1, 2) for table in (theta, scores, n_iter))
        if self._without_ratios():
            theta, scores, n_iter = theta[:, :, 0], scores[:, :, 0], n_iter[:, :, 0]
        classes = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        keys = [label.item() if isinstance(label, np.generic) else label for label in classes]
        self.coefs_paths_ = {label: theta[..., k, :] for k, label in enumerate(keys)}
        self.scores_ = {label: scores.copy() for label in keys}
        self.n_iter_ = n_iter[None]
        self.C_ = np.full(len(keys), self.C_)
        self.l1_ratio_ = np.full(len(keys), self.l1_ratio_)

    def score(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> float:
        """The score of the predictions by `scoring`: the share of right labels unless another was chosen.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows of the columns it was fitted to.
        y : array-like of shape (n_samples,)
            Their true labels.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: 2 as two rows, 0 as none. None counts every row once.
        **params : dict
            What the scorer is passed; only with metadata routing.

        Returns
        -------
        score : float
            The score by `scoring`: accuracy unless another was chosen.
        """
        self._refuse_unrouted(params)
        if self.scoring is None or (isinstance(self.scoring, str) and self.scoring in ("warn", "accuracy")):
            return super().score(X, y, sample_weight)
        extra = {} if sample_weight is None else {"sample_weight": sample_weight}
        if get_config()["enable_metadata_routing"]:
            extra = process_routing(self, "score", **params, **extra).scorer.score
        return float(self._scorer()(self, X, y, **extra))

    def _scorer(self) -> Any:
        from sklearn.metrics import get_scorer  # slow to import, seldom needed

        default = self.scoring is None or (isinstance(self.scoring, str) and self.scoring == "warn")
        return get_scorer("accuracy" if default else self.scoring)

    def _refuse_unrouted(self, params: dict[str, Any]) -> None:
        if params and not get_config()["enable_metadata_routing"]:
            raise ValueError(
                f"Passing extra keyword arguments ({', '.join(params)}) to {type(self).__name__} is only supported if "
                "enable_metadata_routing=True, which is set by sklearn.set_config."
            )

    def get_metadata_routing(self) -> MetadataRouter:
        """What is passed on to the splitter and the scorer."""
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
            .add(
                scorer=self._scorer(),
                method_mapping=MethodMapping().add(caller="score", callee="score").add(caller="fit", callee="score"),
            )
        )
