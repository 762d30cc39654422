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

    N_cj is what was counted of feature j in class c, N_j in all classes. Priors play no part, except for one class
    alone. What `predict_proba` gives are these scores made to add up to 1, as in scikit-learn: not to be relied on.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        Smoothing α.
    force_alpha : bool, default=True
        Whether α may be less than 1e-10.
    fit_prior : bool, default=True
        Only used with a single class.
    class_prior : array-like of shape (n_classes,), default=None
        Not used but for `class_log_prior_`.
    norm : bool, default=False
        Whether the weights of each class are divided by their sum.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    class_count_ : array of shape (n_classes,)
        Total weight of the rows of each class.
    class_log_prior_ : array of shape (n_classes,)
        Logarithms of the frequencies of the classes.
    feature_count_ : array of shape (n_classes, n_features)
        N_cj.
    feature_all_ : array of shape (n_features,)
        N_j.
    feature_log_prob_ : array of shape (n_classes, n_features)
        The weights w_cj.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Rennie, Shih, Teevan and Karger (2003), "Tackling the poor assumptions of naive Bayes text classifiers", ICML.

    Examples
    --------
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
