"""Categorical naive Bayes: every feature is one of some categories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from learnt.engine.arrays import namespace, to_numpy
from learnt.engine.estimator import Takes, Trial
from learnt.engine.params import check_number
from learnt.engine.rows import Block, as_rows
from learnt.engine.schema import Dims, Schema, integers, listof, real
from learnt.naive_bayes._counts import COUNTED, CountsNB, logs, shares_of
from learnt.naive_bayes._one_hot import by_feature, category_indicators, require_categories

_MOST = 1 << 26  # numbers in a table of counts


def one_table_a_feature(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """The rule of model files: counts and probabilities of every feature have one column for each category."""
    for counts, logged, size in zip(state["category_count_"], state["feature_log_prob_"], state["n_categories_"]):
        if counts.shape[1] != size or logged.shape[1] != size:
            return "has other numbers of counts than of categories"
    return None


class CategoricalNB(CountsNB):
    """Classify by Bayes' rule, every feature being one of its categories, independent of the others within a class.

    p(c | x) ∝ π_c Π_j θ_cj(x_j),        θ_cj(t) = (N_cjt + α) / (N_c + α m_j)

    N_cjt is the number of rows of class c whose feature j is t, N_c that of all its rows, m_j the number of categories.
    Categories are the integers 0…m_j − 1; `MixedNB` takes columns of text.

    Parameters
    ----------
    alpha : float, default=1.0
        Smoothing α: rows of each category, counted beforehand in each class. More of it shrinks towards equal
        probabilities, against overfitting of rare categories; 0 is maximum likelihood.
    force_alpha : bool, default=True
        Whether α may be less than 1e-10; where False, smaller ones are raised to that, with a warning.
    fit_prior : bool, default=True
        Whether π are the frequencies of the classes; False: all alike, which helps rare classes.
    class_prior : array-like of shape (n_classes,), default=None
        The probabilities π of the classes, where known: set them where the classes are as rare elsewhere as they are
        not in the training rows. None takes what `fit_prior` says.
    min_categories : int or array-like of shape (n_features,), default=None
        The least number of categories, of all features or of each: so that those not in the training rows have a place.
        None: as many as the training rows have.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Total weight N_c of the rows of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        log π: logarithms of the probabilities of the classes.
    category_count_ : list of ndarrays of shape (n_classes, n_categories of the feature)
        N_cjt of each feature: total weight of the rows of each class in each category.
    feature_log_prob_ : list of ndarrays of shape (n_classes, n_categories of the feature)
        log θ of each feature: logarithm of the probability of each category in each class.
    n_categories_ : ndarray of shape (n_features,)
        m_j: the number of categories of each feature.

    See Also
    --------
    MixedNB : Takes columns of text, and numbers beside them.
    HistogramNB : For numbers, cut into bins.
    learnt.preprocessing.OrdinalEncoder : Numbers categories 0, 1, 2, ….

    Notes
    -----
    One pass over the rows: O(n d) time, and a table of all categories of each class in memory. `partial_fit` on pieces
    gives what `fit` gives on the whole.

    Where this differs from scikit-learn: `n_categories_` after `partial_fit` is that of all pieces, and the error for a
    category that was not there in `fit` says which one it is.

    Examples
    --------
    >>> from learnt.naive_bayes import CategoricalNB
    >>> model = CategoricalNB().fit([[0, 1], [0, 2], [1, 0]], ["a", "a", "b"])
    >>> model.predict([[0, 0]])
    array(['a'], dtype='<U1')
    >>> model.predict_proba([[0, 0]]).round(3)
    array([[0.643, 0.357]])
    """

    __learnt_schema__ = Schema(
        state={
            **COUNTED,
            "category_count_": listof(real("c", None, low=0), "d"),
            "feature_log_prob_": listof(real("c", None, high=0), "d"),
            "n_categories_": integers("d", low=1),
        },
        rule=one_table_a_feature,
    )
    __learnt_takes__ = Takes(tensors=True, lazy=True)
    __learnt_trial__ = Trial(quick={"min_categories": 1000}, weight_unit_free=False)

    n_categories_: np.ndarray
    category_count_: list[np.ndarray]

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories

    def linear_form(self) -> tuple[np.ndarray, Any]:
        """Return weights w and offset b of the equivalent linear classifier, on indicators of the categories.

        The columns are those of one-hot encoding: every category of the first feature, then of the second, and so on.

        Returns
        -------
        w : ndarray of shape (n_categories of all features,) or (n_classes, n_categories of all features)
            Weights: for two classes one vector, for more a row a class.
        b : float or ndarray of shape (n_classes,)
            The offsets: for two classes the second is predicted where w·x + b > 0, for more the class with the largest
            w_c·x + b_c.
        """
        return super().linear_form()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number(self, "alpha", 0)

    def _prepare(self, X: Any, codes: Any, w: Any, classes: Any, first: bool) -> None:
        largest = as_rows(X).reduce(_largest, _larger, self._whose)
        sizes = largest + 1 if first else np.maximum(largest + 1, self.n_categories_)
        if self.min_categories is not None:
            sizes = np.maximum(sizes, _least(self.min_categories, len(sizes)))
        n_classes = classes.shape[0]
        if n_classes * float(sizes.sum()) > _MOST:
            j = int(sizes.argmax())
            raise ValueError(
                f"Column {j} of X holds category {sizes[j] - 1}, and a table of {n_classes} × {sizes.sum()} counts "
                "would be too large; number the categories 0, 1, 2, … without gaps."
            )
        if not first:  # extend by new categories
            grown = zip(self.category_count_, sizes, strict=True)
            self.category_count_ = [np.pad(n, [(0, 0), (0, size - n.shape[1])]) for n, size in grown]
        self.n_categories_ = sizes

    @property
    def _whose(self) -> str:
        return f"{type(self).__name__} (input X)"

    def _cells(self, X: Any) -> tuple[int, Callable[..., Any], tuple]:
        return int(self.n_categories_.sum()), category_indicators, (self.n_categories_, self._whose)

    _cells_of_answers = _cells

    def _counts(self) -> np.ndarray:
        return np.concatenate(self.category_count_, axis=1)

    def _estimate(self, counts: np.ndarray, alpha: Any) -> None:
        self.category_count_ = by_feature(counts, self.n_categories_)
        smoothed = [n + alpha for n in self.category_count_]
        self.feature_log_prob_ = [logs(shares_of(n, n.sum(axis=1, keepdims=True))) for n in smoothed]

    def _linear(self) -> tuple[np.ndarray, np.ndarray]:
        return np.concatenate(self.feature_log_prob_, axis=1), self.class_log_prior_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True
        return tags


def _largest(block: Block, whose: str) -> np.ndarray:
    """The largest category of each feature of a block."""
    require_categories(block.X, whose)
    return to_numpy(namespace(block.X).max(block.X, axis=0)).astype(np.int64)


def _larger(total: np.ndarray | None, part: np.ndarray) -> np.ndarray:
    return part if total is None else np.maximum(total, part)


def _least(min_categories: Any, n_features: int) -> np.ndarray:
    least = np.asarray(min_categories)
    if least.dtype.kind not in "iu":
        raise ValueError(f"'min_categories' should have integral type. Got {least.dtype} instead; give whole numbers.")
    if least.shape not in ((), (n_features,)):
        raise ValueError(
            f"'min_categories' should have shape ({n_features},) when an array-like is provided. "
            f"Got {least.shape} instead."
        )
    return least
