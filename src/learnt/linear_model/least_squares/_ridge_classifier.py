"""Classification by ridge regression of the labels −1 and 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import compute_sample_weight
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from learnt.engine.arrays import is_lazy
from learnt.engine.classification.labels import encode_labels
from learnt.engine.classification.linear_classifier import LinearClassifier
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.matrices import affine, dense
from learnt.engine.mixins import BaseEstimator, ClassifierMixin
from learnt.engine.params import check_choice, check_class_weight, check_flag, check_number
from learnt.engine.rows import Block, as_rows, scores, target_in_memory
from learnt.engine.schema import CLASSES, Check, Dims, Schema, anyof, flag, integers, none, number, real, text
from learnt.engine.validation import check_fit, check_predict
from learnt.engine.weights import present_rows, rows_given, take_folds, take_params, without_absent
from learnt.linear_model.least_squares._ridge import _SOLVERS, _SYNONYMS, check_alpha
from learnt.linear_model.least_squares._ridge_cv import RidgeCV, with_absent_results
from learnt.linear_model.least_squares._solvers import least_squares

_LABELLED: dict[str, Check] = {
    **CLASSES,
    "coef_": anyof(real("d"), real("r", "d")),
    "intercept_": anyof(number(), real(1), real("r")),
    "_multilabel": flag,
}


def _one_plane_a_class_or_label(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """One row of coefficients for two classes, one a class for more, one a label where rows may have several."""
    coef, intercept = state["coef_"], state["intercept_"]
    rows = 1 if coef.ndim == 1 else len(coef)
    if np.size(intercept) not in (1, rows):
        return "has other intercepts than coefficients"
    wanted = rows if state["_multilabel"] else 1 if dims["c"] <= 2 else dims["c"]
    return None if rows == wanted else "has other coefficients than classes"


class _RidgeLabels(LinearClassifier, ClassifierMixin, Estimator):
    """Shared by the two classifiers below: labels as columns of −1 and 1, and back."""

    __learnt_takes__ = Takes(sparse=True)

    fit_intercept: bool
    class_weight: Any

    def _encoded(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, Any]:
        """X, one column a class (one for two classes; one a label where rows may have several), and weights."""
        check_class_weight(self)
        if is_lazy(X):
            return self._encoded_lazy(X, y, sample_weight)
        if _has_several_labels(y, type(self).__name__):
            y = np.asarray(dense(y))
            X, y, w = check_fit(self, X, y, sample_weight, target="numbers")
            self.classes_ = np.arange(y.shape[1])
            Y, self._multilabel = np.where(y > 0, 1.0, -1.0), True
        else:
            X, y, w = check_fit(self, X, y, sample_weight, target="label")
            self.classes_, codes = encode_labels(y)
            self._multilabel = False
            Y = _sides(codes, len(self.classes_))
        if self.class_weight is not None:
            balance = compute_sample_weight(self.class_weight, y)
            w = balance if w is None else w * balance
        return X, Y.astype(X.dtype), w

    def _encoded_lazy(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, Any]:
        """The same of rows that are read in blocks; y and weights are in memory. Rows of weight 0 have no class."""
        X, y, w = check_fit(self, X, target_in_memory(y), target_in_memory(sample_weight), target="label")
        there = np.ones(len(y), dtype=bool) if w is None else w > 0
        self.classes_, codes = encode_labels(y[there])
        self._multilabel = False
        Y = np.ones((len(y), 1 if len(self.classes_) <= 2 else len(self.classes_)))
        Y[there] = _sides(codes, len(self.classes_))
        if self.class_weight is not None:
            w = np.ones(len(y)) if w is None else w.copy()
            w[there] *= compute_sample_weight(self.class_weight, y[there])
        return X, Y.astype(as_rows(X).dtype), w

    def _record(self, coef: np.ndarray, intercept: Any, dtype: Any) -> None:
        """`coef_` (k, d), or (d,) for two classes."""
        coef = np.atleast_2d(coef)
        self.coef_ = np.ascontiguousarray(coef[0] if len(coef) == 1 else coef, dtype=dtype)
        self.intercept_ = np.atleast_1d(intercept).astype(dtype) if self.fit_intercept else 0.0

    def decision_function(self, X: Any) -> Any:
        """Scores: how far each row lies on the side of the second class, or (n, K) for K > 2 classes."""
        X = check_predict(self, X)
        return scores(X, self.coef_, self.intercept_)

    def predict(self, X: Any) -> Any:
        """The class of the highest score of each row; 0 or 1 for each label where rows may have several.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_labels)
            The predicted class of each row, or which labels it has.
        """
        if is_lazy(X):
            rows, model = as_rows(check_predict(self, X)), (self.classes_, self._multilabel)
            return rows.map(_answers_of_block, self.coef_, self.intercept_, *model)
        return _answers(self.decision_function(X), self.classes_, self._multilabel)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted, or whose labels all are.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            The true class labels, or 0 and 1 in a column for each label.
        """
        check_is_fitted(self)
        if self._multilabel:
            y = np.asarray(dense(y))
            return float(np.average((self.predict(X) == y).all(axis=1), weights=sample_weight))
        return super().score(X, y, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _sides(codes: np.ndarray, k: int) -> np.ndarray:
    """1 for the class of each row and −1 for others; one column for two classes."""
    return np.where(codes == 1, 1.0, -1.0)[:, None] if k <= 2 else np.where(codes[:, None] == np.arange(k), 1.0, -1.0)


def _answers(found: np.ndarray, classes: np.ndarray, multilabel: bool) -> np.ndarray:
    """Classes, or labels, from scores."""
    if multilabel:
        return (found.reshape(len(found), -1) > 0).astype(np.int64)
    if len(classes) == 1:
        return np.full(len(found), classes[0])
    return classes[(found > 0).astype(np.intp) if found.ndim == 1 else found.argmax(axis=1)]


def _answers_of_block(block: Block, coef: Any, intercept: Any, classes: np.ndarray, multilabel: bool) -> np.ndarray:
    return _answers(affine(block.X, coef, intercept), classes, multilabel)


def _has_several_labels(y: Any, name: str) -> bool:
    if y is None or (getattr(y, "ndim", 1) != 2 and not isinstance(y, list)):
        return False
    kind = type_of_target(y)
    if kind == "multiclass-multioutput":
        raise ValueError(
            f"y has several columns of classes, and {name} takes one, or 0 and 1 in several; fit one each."
        )
    return kind == "multilabel-indicator"


class RidgeClassifier(_RidgeLabels):
    """Ridge regression of −1 and 1, one column a class:  the class of the highest xᵀb_k + c_k.

        min over B, c of  Σᵢ wᵢ ‖yᵢ − Bxᵢ − c‖² + α‖B‖²,   yᵢₖ = 1 for the class of row i and −1 for others

    One of the quickest classifiers: a single linear system for all classes, often nearly as accurate as logistic
    regression, also for text with many columns. It has no `predict_proba`; take `LogisticRegression` where
    probabilities are needed.

    Parameters
    ----------
    alpha : float, default=1.0
        α, the regularisation strength, at least 0: larger values mean more shrinkage and less overfitting. Try powers
        of 10, or let `RidgeClassifierCV` choose.
    fit_intercept : bool, default=True
        Whether to fit the intercept c, which is never penalised. Choose False only where y is known to be 0 at x = 0,
        or where X and y are centred already.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    max_iter : int or None, default=None
        The most iterations of `solver="lsqr"`; None for twice the number of columns. Direct solvers ignore it.
    tol : float, default=1e-4
        Precision of `solver="lsqr"`, where values above 1e-6 count as 1e-6. Direct solvers ignore it.
    class_weight : dict, "balanced" or None, default=None
        A factor on the weights of the rows of each class; "balanced" gives all classes the same total, which raises the
        recall of rare ones.
    solver : str, default="auto"
        How the problem is solved; all ways find the same minimum.

        - "auto" takes "cholesky", or "dual" where rows are fewer than columns, or "lsqr" for wide sparse data.
        - "cholesky" solves the normal equations, and corrects the solution where they are ill-conditioned.
        - "svd" uses singular values: the safest for collinear columns and a tiny α.
        - "qr" and "augmented" factorise the data with √α·I below them.
        - "dual" solves the n × n problem, for fewer rows than columns.
        - "lsqr" only multiplies by X: for large sparse data.
        - "sparse_cg", "sag", "saga" and "lbfgs" are scikit-learn's names of other ways to the same minimum: the first
          means "lsqr" here, the others "auto".
    positive : bool, default=False
        Keep all coefficients at 0 or more, where a negative effect makes no sense; with solver "auto" or "lbfgs".
    random_state : int, RandomState or None, default=None
        Kept for scikit-learn's signature: nothing here is random.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_classes, n_features)
        The coefficients: one vector for two classes, one a class for more, one a label where rows may have several.
    intercept_ : ndarray of shape (1,) or (n_classes,), or float
        The intercepts; 0.0 with `fit_intercept=False`.
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted; the numbers of the labels where rows may have several.
    n_iter_ : ndarray of shape (n_targets,) or None
        Iterations of "lsqr"; 1 where "auto" solved directly; None for a direct solver asked for by name.
    solver_ : str
        The solver that was used in the end.

    See Also
    --------
    RidgeClassifierCV : Chooses alpha by leave-one-out.
    LogisticRegression : Gives probabilities.
    Ridge : The regression of numbers.
    learnt.svm.LinearSVC : A linear classifier with a hinge loss.

    Notes
    -----
    Several classes are fitted one against the rest, all from one factorisation: O(n d²) for n rows and d columns, plus
    O(d³). Large scores of rows far on the right side count as errors too, which costs a little accuracy beside logistic
    regression. A table y of 0 and 1 with a column a label gives a multilabel classifier.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = RidgeClassifier().fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[0.5], [2.5]])
    array(['a', 'b'], dtype='<U1')
    >>> model.decision_function([[0.5], [2.5]]).round(2)
    array([-0.67,  0.67])
    """

    __learnt_schema__ = Schema(
        state=_LABELLED,
        extra={"n_iter_": anyof(none, integers(None)), "solver_": text},
        rule=_one_plane_a_class_or_label,
    )
    __learnt_takes__ = Takes(sparse=True, lazy=True)
    __learnt_trial__ = Trial(weighted=({"class_weight": "balanced"},), weight_unit_free=False)

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        class_weight: Any = None,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.positive = positive
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RidgeClassifier:
        """Fit the coefficients; a row of weight 2 counts as two rows, one of weight 0 as none.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Class labels: numbers, text or booleans; or 0 and 1 in a column for each label, where rows may have several.
        """
        check_flag(self, "fit_intercept", "positive", "copy_X")
        check_number(self, "max_iter", 1, integer=True, also=(None,))
        check_number(self, "tol", 0)
        check_choice(self, "solver", _SOLVERS)
        if self.positive and self.solver not in ("auto", "lbfgs"):
            raise ValueError(f"solver={self.solver!r} does not support positive fitting; set solver to 'auto'.")
        X, Y, w = self._encoded(X, y, sample_weight)
        alpha = check_alpha(self, Y)
        solver, rows = _SYNONYMS.get(self.solver, self.solver), as_rows(X, Y, w)
        if solver in ("dual", "lsqr") and not rows.on_host:
            raise ValueError(f"solver={self.solver!r} needs X as an array in memory; use solver='auto' for other data.")
        solution = least_squares(
            rows,
            solver,
            self.fit_intercept,
            alpha,
            positive=self.positive,
            tol=min(self.tol, 1e-6),
            max_iter=self.max_iter,
        )
        self._record(solution.coef.T, solution.intercept, rows.dtype)
        self.solver_ = solution.solver
        k = Y.shape[1]
        if solution.n_iter is None:  # as `Ridge` reports it
            self.n_iter_ = np.ones(k, dtype=int) if self.solver == "auto" else None
        else:
            self.n_iter_ = np.full(k, solution.n_iter)
        return self


class RidgeClassifierCV(_RidgeLabels):
    """`RidgeClassifier` whose α is chosen by leave-one-out in closed form, or by cross-validation.

    All α together cost about one fit. Take it in place of `RidgeClassifier` wherever the regularisation strength is not
    known.

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,), default=(0.1, 1.0, 10.0)
        The regularisation strengths to choose from, each greater than 0 (0 is allowed with `cv`). More values cost
        little: `np.logspace(-4, 4, 20)` is a good grid. Where an end of it is chosen, extend it.
    fit_intercept : bool, default=True
        Whether to fit the intercept c, which is never penalised. Choose False only where y is known to be 0 at x = 0,
        or where X and y are centred already.
    scoring : str, callable or None, default=None
        A score of the left-out labels to maximise, such as "accuracy" or "roc_auc"; None is the negative squared error
        of −1 and 1.
    cv : int, splitter, iterable or None, default=None
        None for leave-one-out; otherwise `RidgeClassifier` is cross-validated on these splits, which takes a fit for
        each α and fold.
    class_weight : dict, "balanced" or None, default=None
        A factor on the weights of the rows of each class; "balanced" gives all classes the same total, which raises the
        recall of rare ones.
    store_cv_results : bool, default=False
        Keep the left-out squared errors (or predictions, with `scoring`) in `cv_results_`; not with `cv`.

    Attributes
    ----------
    alpha_ : float
        The regularisation strength that was chosen.
    best_score_ : float
        Its score on the rows left out.
    coef_ : ndarray of shape (n_features,) or (n_classes, n_features)
        The coefficients: one vector for two classes, one a class for more, one a label where rows may have several.
    intercept_ : ndarray of shape (1,) or (n_classes,), or float
        The intercepts; 0.0 with `fit_intercept=False`.
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted; the numbers of the labels where rows may have several.
    cv_results_ : ndarray of shape (n_samples, n_targets, n_alphas)
        With `store_cv_results`, the left-out squared errors of −1 and 1, times the weights; with `scoring` the left-out
        scores. n_targets is 1 for two classes.

    See Also
    --------
    RidgeClassifier : The same model with α given.
    RidgeCV : The twin for numbers.
    LogisticRegressionCV : Chooses the penalty of logistic regression, which has probabilities.

    Notes
    -----
    Several classes are fitted one against the rest, all from one decomposition; the leave-one-out residuals of every α
    then cost O(n d) a class for n rows and d columns.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = RidgeClassifierCV(alphas=[0.1, 1.0, 10.0]).fit(X, [0, 0, 1, 1])
    >>> model.predict([[0.5], [2.5]]), model.alpha_
    (array([0, 1]), 1.0)
    """

    __learnt_schema__ = Schema(
        state={**_LABELLED, "alpha_": number(0), "best_score_": number()},
        extra={"cv_results_": anyof(real(None, None, finite=False), real(None, None, None, finite=False))},
        rule=_one_plane_a_class_or_label,
    )
    __learnt_trial__ = Trial(weighted=({"store_cv_results": True}, {"cv": 3}), weight_unit_free=False)

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Any = None,
        cv: Any = None,
        class_weight: Any = None,
        store_cv_results: bool = False,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.class_weight = class_weight
        self.store_cv_results = store_cv_results

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> RidgeClassifierCV:
        """Choose α and fit the coefficients with it; a row of weight 2 counts as two rows, one of weight 0 as none.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Class labels: numbers, text or booleans; or 0 and 1 in a column for each label, where rows may have several.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: 2 as two rows, 0 as none. None counts every row once.
        **params : dict
            With `cv`, passed on to the search: metadata such as `groups` for the splitter.
        """
        check_flag(self, "fit_intercept", "store_cv_results")
        given, present = (X, y), present_rows(sample_weight, X)
        X, Y, w = self._encoded(X, y, sample_weight)
        if self.cv is not None:
            return self._search(*given, sample_weight, X.dtype, params)
        search = _LabelRidgeCV(
            alphas=self.alphas,
            fit_intercept=self.fit_intercept,
            scoring=self.scoring,
            store_cv_results=self.store_cv_results,
        ).fit(X, Y, sample_weight=w)
        self.alpha_, self.best_score_ = search.alpha_, search.best_score_
        if self.store_cv_results:
            self.cv_results_ = search.cv_results_
            self.cv_results_ = with_absent_results(self, present, rows_given(sample_weight))
        self._record(search.coef_, search.intercept_, X.dtype)
        return self

    def _search(self, X: Any, y: Any, sample_weight: Any, dtype: Any, params: dict) -> RidgeClassifierCV:
        if self.store_cv_results:
            raise ValueError("cv!=None and store_cv_results=True are incompatible; use GridSearchCV to see every fold.")
        from sklearn.model_selection import GridSearchCV  # slow to import, seldom needed

        n = rows_given(sample_weight)
        X, y, sample_weight, present = without_absent(X, y, sample_weight)
        params, cv = take_params(params, present, n), take_folds(self.cv, present)
        model = RidgeClassifier(fit_intercept=self.fit_intercept, class_weight=self.class_weight)
        search = GridSearchCV(model, {"alpha": list(self.alphas)}, cv=cv, scoring=self.scoring)
        search.fit(X, y, **({} if sample_weight is None else {"sample_weight": sample_weight}), **params)
        best = search.best_estimator_
        self.alpha_, self.best_score_ = best.alpha, search.best_score_
        self._record(best.coef_, best.intercept_, dtype)
        return self


class _LabelRidgeCV(RidgeCV):
    """Scores of labels instead of numbers."""

    def _user_score(self, Y: np.ndarray, predictions: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        from sklearn.metrics import get_scorer  # slow to import, seldom needed

        scorer = get_scorer(self.scoring) if isinstance(self.scoring, str) else self.scoring
        extra = {} if weights is None else {"sample_weight": weights}
        k, A = predictions.shape[1:]
        truth = (Y[:, 0] > 0).astype(int) if k == 1 else Y.argmax(axis=1)
        given = _GivenScores(max(k, 2))
        found = [
            float(scorer(given, predictions[:, 0, a] if k == 1 else predictions[:, :, a], truth, **extra))
            for a in range(A)
        ]
        return np.broadcast_to(np.asarray(found), (k, A))


class _GivenScores(ClassifierMixin, BaseEstimator):
    """An estimator that hands given class scores to a scorer."""

    def __init__(self, n_classes: int = 2) -> None:
        self.n_classes = n_classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def classes_(self) -> np.ndarray:
        return np.arange(self.n_classes)

    def decision_function(self, scores: Any) -> Any:
        return scores

    def predict(self, scores: Any) -> np.ndarray:
        return (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
