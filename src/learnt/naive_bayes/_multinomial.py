"""Multinomial naive Bayes: rows are counts, of words say."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.schema import Schema, real
from learnt.naive_bayes._counts import COUNTED, CountsNB, logs, shares_of


class MultinomialNB(CountsNB):
    """Classify rows of counts by Bayes' rule, a row being drawn from the urn of its class.

    p(c | x) ∝ π_c Π_j θ_cj^{x_j},        θ_cj = (N_cj + α) / (N_c + Σ α)

    N_cj is what was counted of feature j in class c, N_c all that was. α = 1 is Laplace's rule, the MAP estimate of θ
    under a Dirichlet prior with α + 1 everywhere; α = 0 is maximum likelihood. The baseline for classifying texts by
    counts of their words, or by their tf-idf: quick, and good with few rows.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        Smoothing α: what is counted of each feature in each class beforehand. More of it shrinks towards equal
        probabilities, against overfitting of rare words; texts often do better with 0.01 to 0.5.
    force_alpha : bool, default=True
        Whether α may be less than 1e-10; where False, smaller ones are raised to that, with a warning.
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
        Total weight of the rows of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        log π: logarithms of the probabilities of the classes.
    feature_count_ : ndarray of shape (n_classes, n_features)
        N_cj: what was counted of each feature in each class.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        log θ_cj: logarithm of the share of each feature in each class.

    See Also
    --------
    ComplementNB : Better on classes of very different size.
    BernoulliNB : For features that are there or not; better on short texts.
    learnt.linear_model.LogisticRegression : The same boundary, without the assumption of independence.

    Notes
    -----
    One pass over the rows: O(n d) time, of sparse rows O(cells stored). `partial_fit` on pieces gives what `fit` gives
    on the whole.

    Where this differs from scikit-learn: a probability of 0, which only α = 0 leaves, has the logarithm −708.4 instead
    of −∞, so that 0 of an impossible word is no matter (and not NaN), and the class that forbids least wins.

    References
    ----------
    .. [1] Christopher D. Manning, Prabhakar Raghavan and Hinrich Schütze, "Introduction to Information Retrieval",
       Cambridge University Press, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.naive_bayes import MultinomialNB
    >>> words = [[2, 1, 0], [1, 1, 0], [0, 1, 2]]
    >>> model = MultinomialNB().fit(words, ["sport", "sport", "music"])
    >>> model.predict([[1, 0, 0]])
    array(['sport'], dtype='<U5')
    >>> np.exp(model.feature_log_prob_).round(3)
    array([[0.167, 0.333, 0.5  ],
           [0.5  , 0.375, 0.125]])
    """

    __learnt_schema__ = Schema(
        state={**COUNTED, "feature_count_": real("c", "d", low=0), "feature_log_prob_": real("c", "d", high=0)}
    )

    def __init__(
        self, *, alpha: Any = 1.0, force_alpha: bool = True, fit_prior: bool = True, class_prior: Any = None
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _estimate(self, counts: np.ndarray, alpha: Any) -> None:
        self.feature_count_ = counts
        smoothed = counts + alpha
        self.feature_log_prob_ = logs(shares_of(smoothed, smoothed.sum(axis=1, keepdims=True)))

    def _linear(self) -> tuple[np.ndarray, np.ndarray]:
        return self.feature_log_prob_, self.class_log_prior_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True
        return tags
