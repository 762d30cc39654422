"""Bernoulli naive Bayes: every feature is present or absent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.arrays import is_numpy, like, namespace
from learnt.engine.matrices import stored
from learnt.engine.params import check_number
from learnt.engine.rows import Block
from learnt.engine.schema import Schema, anyof, none, number, real
from learnt.naive_bayes._counts import COUNTED, CountsNB, logs, shares_of


class BernoulliNB(CountsNB):
    """Classify by Bayes' rule, every feature being there (1) or not (0), independent of the others within a class.

    p(c | x) ∝ π_c Π_j p_cj^{x_j} (1 − p_cj)^{1 − x_j},        p_cj = (N_cj + α) / (N_c + 2α)

    N_cj is the number of rows of class c that have feature j, N_c the number of all its rows. For short texts, and for
    answers of yes and no: unlike `MultinomialNB`, it counts what is absent too, and not how often a word comes.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        Smoothing α: rows with and without each feature, counted beforehand in each class. More of it shrinks
        probabilities towards ½, against overfitting of rare features; 0 is maximum likelihood.
    force_alpha : bool, default=True
        Whether α may be less than 1e-10; where False, smaller ones are raised to that, with a warning.
    binarize : float or None, default=0.0
        The threshold: a feature is there where its cell is greater; None: the cells are 0 and 1 already.
    fit_prior : bool, default=True
        Whether π are the frequencies of the classes; False: all alike, which helps rare classes.
    class_prior : array-like of shape (n_classes,), default=None
        The probabilities π of the classes, where known: set them where the classes are as rare elsewhere as they are
        not in the training rows. None takes what `fit_prior` says.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Total weight N_c of the rows of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        log π: logarithms of the probabilities of the classes.
    feature_count_ : ndarray of shape (n_classes, n_features)
        N_cj: total weight of the rows of each class that have each feature.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        log p_cj: logarithm of the probability of each feature in each class.

    See Also
    --------
    MultinomialNB : For counts of words.
    MixedNB : For columns of different kinds.
    CategoricalNB : For features of more than two values.
    learnt.linear_model.LogisticRegression : The same boundary, without the assumption of independence.

    Notes
    -----
    One pass over the rows: O(n d) time, of sparse rows O(cells stored). `partial_fit` on pieces gives what `fit` gives
    on the whole.

    Where this differs from scikit-learn: log(1 − p) comes from the counts and not from log p, which keeps its digits
    where p is nearly 1; and with `binarize=None` cells outside 0…1 are refused.

    References
    ----------
    .. [1] Christopher D. Manning, Prabhakar Raghavan and Hinrich Schütze, "Introduction to Information Retrieval",
       Cambridge University Press, 2008.
    .. [2] Andrew McCallum and Kamal Nigam, "A Comparison of Event Models for Naive Bayes Text Classification", AAAI
       Workshop on Learning for Text Categorization, 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.naive_bayes import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], [0, 0, 1])
    >>> model.predict([[1, 0]])
    array([0])
    >>> np.exp(model.feature_log_prob_)
    array([[0.75 , 0.5  ],
           [0.333, 0.667]])
    """

    __learnt_schema__ = Schema(
        params={"binarize": anyof(none, number(0))},
        state={
            **COUNTED,
            "feature_count_": real("c", "d", low=0),
            "feature_log_prob_": real("c", "d", high=0),
            "_log_absent": real("c", "d", high=0),
        },
    )

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number(self, "binarize", 0, also=(None,))

    def _cells(self, X: Any) -> tuple[int, Callable[..., Any], tuple]:
        if self.binarize is None:
            return self.n_features_in_, between_0_and_1, ()
        return self.n_features_in_, above, (self.binarize,)

    _cells_of_answers = _cells

    @property
    def _above(self) -> float | None:  # type: ignore[override]
        return self.binarize

    def _finds_nan(self, X: Any) -> bool:
        return self.binarize is not None and super()._finds_nan(X)

    def _estimate(self, counts: np.ndarray, alpha: Any) -> None:
        self.feature_count_ = counts
        total = self.class_count_[:, None]
        self.feature_log_prob_ = logs(shares_of(counts + alpha, total + 2 * alpha))
        self._log_absent = logs(shares_of(np.maximum(total - counts, 0.0) + alpha, total + 2 * alpha))

    def _linear(self) -> tuple[np.ndarray, np.ndarray]:
        absent = self._log_absent
        return self.feature_log_prob_ - absent, self.class_log_prior_ + absent.sum(axis=1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


def above(block: Block, threshold: float) -> Any:
    """1 where a cell is greater than the threshold, 0 elsewhere."""
    X = block.X
    if sparse.issparse(X):
        return type(X)(((X.data > threshold).astype(np.float64), X.indices, X.indptr), shape=X.shape)
    return like(threshold < X, X, np.float64 if is_numpy(X) else X.dtype)


def between_0_and_1(block: Block) -> Any:
    cells = stored(block.X)
    xp = namespace(cells)
    if cells.shape[0] and (float(xp.min(cells)) < 0 or float(xp.max(cells)) > 1):
        raise ValueError(
            "BernoulliNB with binarize=None takes cells that are 0 or 1, and X reaches from "
            f"{float(xp.min(cells)):g} to {float(xp.max(cells)):g}; give `binarize` the number above which a feature "
            "is there."
        )
    return block.X
