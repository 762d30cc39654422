"""A density for each class makes a classifier and a sampler."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from learnt.density import Gaussian
from learnt.engine.classification.class_labels import checked_priors
from learnt.engine.classification.labels import encode_labels
from learnt.engine.classification.posterior import log_posterior, posterior
from learnt.engine.estimator import Estimator, Trial
from learnt.engine.mixins import clone
from learnt.engine.params import ParameterError
from learnt.engine.random import random_state_of
from learnt.engine.schema import CLASSES, Schema, estimator, listof, real
from learnt.engine.scoring import RowsClassifier
from learnt.engine.validation import check_fit, check_predict

_METHODS = ("fit", "score_samples", "sample")


class GenerativeClassifier(RowsClassifier, Estimator):
    """Classify by Bayes' rule with a density of each class, and draw new rows from them.

    p(c | x) ∝ π_c p_c(x)

    With `density.Gaussian()` it is quadratic discriminant analysis, with `Gaussian(covariance_type="diag")` Gaussian
    naive Bayes; with a mixture, a tree or a histogram of `learnt.density` a classifier of its own. `score_samples`
    tells rows that are like no class.

    Parameters
    ----------
    density : estimator with `fit`, `score_samples` and `sample`, default=None
        A copy is fitted to the rows of each class; None: `density.Gaussian()`.
    priors : array-like of shape (n_classes,), default=None
        Probabilities π of the classes; None takes their frequencies.

    Attributes
    ----------
    densities_ : list of n_classes estimators
        The fitted density of each class, in the order of `classes_`.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_prior_ : ndarray of shape (n_classes,)
        π: the probabilities of the classes.

    See Also
    --------
    learnt.discriminant_analysis.QuadraticDiscriminantAnalysis : Gaussian classes, regularised.
    learnt.naive_bayes.GaussianNB : Gaussian classes whose columns are independent.
    learnt.mixture.GaussianMixture : A density of several clusters, for classes that have them.

    Notes
    -----
    A row that is impossible in every class, such as one outside the boxes of all their trees or histograms, has the
    probabilities π. With many features and few rows there are many such rows: take a density without limits there.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.bayes import GenerativeClassifier
    >>> X = np.array([[-1.0], [-2.0], [-4.0], [1.0], [2.0], [3.0]])
    >>> model = GenerativeClassifier().fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> model.predict([[-0.8], [2.5]])
    array(['a', 'b'], dtype='<U1')
    >>> rows, labels = model.sample(4, random_state=0)
    >>> rows.shape, labels.shape
    ((4, 1), (4,))
    """

    __learnt_schema__ = Schema(
        state={
            **CLASSES,
            "class_prior_": real("c", low=0, high=1),
            "densities_": listof(estimator("score_samples", "sample"), "c"),
        },
        rule=lambda model, state, dims: _densities_fit(state, dims["d"]),
    )
    __learnt_trial__ = Trial(quick=lambda: {"density": Gaussian(reg_covar=1e-6)})

    def __init__(self, density: Any = None, *, priors: Any = None) -> None:
        self.density = density
        self.priors = priors

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> GenerativeClassifier:
        """Fit a copy of the density to the rows of each class; weights count if the density takes them."""
        density = Gaussian() if self.density is None else self.density
        lacking = [name for name in _METHODS if not hasattr(density, name)]
        if lacking or isinstance(density, type):
            raise ParameterError(
                f"density must be an object with fit, score_samples and sample, such as learnt.density.Gaussian(); it "
                f"is {density!r}."
            )
        X, y, w = check_fit(self, X, y, sample_weight, target="label")
        if w is not None and not has_fit_parameter(density, "sample_weight"):
            raise ValueError(f"{type(density).__name__} takes no sample_weight; give none, or another density.")
        classes, codes = encode_labels(y)
        weight = np.bincount(codes, w, minlength=len(classes)).astype(np.float64)
        self.class_prior_ = weight / weight.sum() if self.priors is None else checked_priors(self.priors, len(classes))
        self.densities_ = [_fitted(density, X, codes == k, w, label) for k, label in enumerate(classes.tolist())]
        self.classes_ = classes
        return self

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """Return log p(x, c) of each row (n × K); −∞ where a density is 0."""
        check_is_fitted(self)
        X = check_predict(self, X)
        with np.errstate(divide="ignore"):  # a prior of 0 has the logarithm −∞
            log_prior = np.log(self.class_prior_)
        return np.stack([np.asarray(d.score_samples(X), dtype=np.float64) for d in self.densities_], axis=1) + log_prior

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each row; where all densities are 0, the most frequent one."""
        best = self._scores(X).argmax(axis=1)
        return self.classes_[best]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return p(c | x) of each row (n × K), columns as in `classes_`; where all densities are 0, the priors."""
        return posterior(self._scores(X))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return log p(c | x) of each row (n × K)."""
        with np.errstate(divide="ignore"):
            return log_posterior(self._scores(X))

    def score_samples(self, X: Any) -> np.ndarray:
        """Return log p(x) of each row, whatever its class."""
        return np.logaddexp.reduce(self.predict_joint_log_proba(X), axis=1)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Return new rows and their labels: a class by its prior, then a row from its density.

        Parameters
        ----------
        n_samples : int, default=1
            How many rows to draw.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The rows.
        y : ndarray of shape (n_samples,)
            Their labels.
        """
        check_is_fitted(self)
        if not isinstance(n_samples, int | np.integer) or n_samples < 1:
            raise ValueError(f"n_samples must be a whole number of at least 1; it is {n_samples!r}.")
        rng = random_state_of(random_state)
        codes = rng.choice(len(self.classes_), size=n_samples, p=self.class_prior_)
        rows = np.empty((n_samples, self.n_features_in_))
        for k, density in enumerate(self.densities_):
            if inside := int((codes == k).sum()):
                rows[codes == k] = _drawn(density, inside, rng)
        return rows, self.classes_[codes]

    def _scores(self, X: Any) -> np.ndarray:
        joint = self.predict_joint_log_proba(X)
        nowhere = ~np.isfinite(joint.max(axis=1))
        if nowhere.any():
            with np.errstate(divide="ignore"):
                joint[nowhere] = np.log(self.class_prior_)
        return joint


def _fitted(density: Any, X: np.ndarray, inside: np.ndarray, w: Any, label: Any) -> Any:
    weights = {} if w is None else {"sample_weight": w[inside]}
    try:
        return clone(density).fit(X[inside], **weights)
    except ValueError as cause:
        raise ValueError(
            f"The density of class {label!r}, which has {np.count_nonzero(inside)} of the rows, could not be fitted: "
            f"{str(cause).rstrip('.')}; give the class more rows, leave it out, or take another density."
        ) from cause


def _drawn(density: Any, n: int, random: np.random.RandomState) -> np.ndarray:
    """New rows of a density; a mixture gives their components too, one after the other, and so is shuffled."""
    rows = density.sample(n, random_state=random)
    return rows[0][random.permutation(n)] if isinstance(rows, tuple) else rows


def _densities_fit(state: dict[str, Any], d: int) -> str | None:
    """Priors sum to 1, and densities are of as many columns as the model."""
    if abs(state["class_prior_"].sum() - 1) > 1e-9:
        return "has priors that do not sum to 1"
    if any(getattr(density, "n_features_in_", d) != d for density in state["densities_"]):
        return "has densities of other columns"
    return None
