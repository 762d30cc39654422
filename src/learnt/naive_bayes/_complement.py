"""Complement naive Bayes: a class is known by what the other classes are not."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.params import check_flag
from learnt.engine.schema import Schema, real
from learnt.naive_bayes._counts import COUNTED, LEAST, CountsNB, logs, shares_of


class ComplementNB(CountsNB):
    """Classify rows of counts by how badly they fit all other classes; better than `MultinomialNB` on unequal classes.

    argmax over c of Σ_j x_j w_cj,     w_cj = −log φ_cj,     φ_cj = (N_j − N_cj + α) / Σ_j (N_j − N_cj + α)

    N_cj is what was counted of feature j in class c, N_j in all classes. For texts whose classes have very different
    numbers of rows: the weights of a class come from all rows but its own, so that a rare class has enough of them.
    Priors play no part, except for one class alone. What `predict_proba` gives are these scores made to add up to 1, as
    in scikit-learn: not to be relied on.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        Smoothing α: what is counted of each feature beforehand. More of it shrinks towards equal weights, against
        overfitting of rare words.
    force_alpha : bool, default=True
        Whether α may be less than 1e-10; where False, smaller ones are raised to that, with a warning.
    fit_prior : bool, default=True
        Whether `class_log_prior_` are the frequencies of the classes; used in prediction only with a single class.
    class_prior : array-like of shape (n_classes,), default=None
        Probabilities of the classes, where known; they are kept in `class_log_prior_`, and used as `fit_prior` is.
    norm : bool, default=False
        Whether the weights of each class are divided by their sum, so that classes with long texts are not preferred.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Total weight of the rows of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithms of the probabilities of the classes.
    feature_count_ : ndarray of shape (n_classes, n_features)
        N_cj: what was counted of each feature in each class.
    feature_all_ : ndarray of shape (n_features,)
        N_j: what was counted of each feature in all classes.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        The weights w_cj.

    See Also
    --------
    MultinomialNB : With priors and probabilities, for classes of similar size.
    BernoulliNB : For features that are there or not.
    learnt.linear_model.LogisticRegression : A linear classifier with probabilities to be relied on.

    Notes
    -----
    One pass over the rows: O(n d) time, of sparse rows O(cells stored). `partial_fit` on pieces gives what `fit` gives
    on the whole.

    References
    ----------
    .. [1] Jason D. M. Rennie, Lawrence Shih, Jaime Teevan and David R. Karger, "Tackling the Poor Assumptions of Naive
       Bayes Text Classifiers", ICML, 2003.

    Examples
    --------
    >>> from learnt.naive_bayes import ComplementNB
    >>> words = [[2, 1, 0], [1, 1, 0], [0, 1, 2]]
    >>> ComplementNB().fit(words, ["sport", "sport", "music"]).predict([[0, 0, 3]])
    array(['music'], dtype='<U5')
    """

    __learnt_schema__ = Schema(
        state={
            **COUNTED,
            "feature_count_": real("c", "d", low=0),
            "feature_all_": real("d", low=0),
            "feature_log_prob_": real("c", "d"),
        }
    )

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_flag(self, "norm")

    def _estimate(self, counts: np.ndarray, alpha: Any) -> None:
        self.feature_count_, self.feature_all_ = counts, counts.sum(axis=0)
        others = np.maximum(self.feature_all_ - counts, 0.0) + alpha
        logged = logs(shares_of(others, others.sum(axis=1, keepdims=True)))
        # A single feature has φ = 1 everywhere, whose logarithms add up to 0: no class is preferred.
        sums = np.minimum(logged.sum(axis=1, keepdims=True), -LEAST)
        self.feature_log_prob_ = logged / sums if self.norm else -logged

    def _linear(self) -> tuple[np.ndarray, np.ndarray]:
        alone = len(self.classes_) == 1
        return self.feature_log_prob_, self.class_log_prior_ if alone else np.zeros(len(self.classes_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True
        return tags
