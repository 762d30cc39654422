"""Quadratic discriminant analysis: the estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.discriminant_analysis._covariance import (
    check_shrinkage,
    checked_priors,
    covariances,
    frequencies,
    learn,
    regularised,
)
from learnt.engine.arrays import to_numpy
from learnt.engine.classification.posterior import ScoreClassifier, difference
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.matrices import in_numpy
from learnt.engine.params import check_choice, check_flag, check_number
from learnt.engine.schema import CLASSES, Dims, Schema, listof, real
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_predict
from learnt.linalg import decompositions
from learnt.statistics import Gaussians, inverse_factors, log_densities, log_determinants


def factors_are_regular(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """The rule of model files: the triangular factors of the covariances can be inverted."""
    regular = (np.diagonal(state["_factors"], axis1=1, axis2=2) > 0).all()
    return None if regular else "has a covariance that is singular"


class QuadraticDiscriminantAnalysis(ScoreClassifier, Estimator):
    """Classify by Bayes' rule, every class being Gaussian with a covariance of its own.

    p(c | x) ∝ π_c N(x; μ_c, Σ_c)

    Boundaries are quadratic. It has d(d + 1)/2 numbers to estimate for every class: with few rows a class, regularise
    it, or take `LinearDiscriminantAnalysis`, whose classes share them.

    Parameters
    ----------
    solver : {"svd", "eigen"}, default="svd"
        Both decompose the covariances; "svd" is regularised by `reg_param`, "eigen" by `shrinkage`.
    shrinkage : "auto", float or None, default=None
        How far Σ_c is drawn towards a multiple of the unit matrix, against overfitting: a share from 0 to 1, or that of
        Ledoit and Wolf for "auto". For "eigen".
    priors : array-like of shape (n_classes,), default=None
        Probabilities π of the classes; None takes their frequencies. Set them where classes are as rare elsewhere as
        they are not in the training rows.
    reg_param : float, default=0.0
        The regularisation strength, from 0 to 1: Σ_c becomes (1 − reg_param) Σ_c + reg_param · 1. Scale the columns
        first. For "svd".
    store_covariance : bool, default=False
        Whether to keep `covariance_`.
    tol : float, default=1e-4
        Σ_c is singular where a combination of the features, in units of their standard deviations, has none of more.
    covariance_estimator : estimator, default=None
        Estimates the covariance of the rows of a class that it is given (`fit`, then `covariance_`), instead of
        `shrinkage`. For "eigen".

    Attributes
    ----------
    covariance_ : list of ndarrays of shape (n_features, n_features)
        Σ_c (maximum likelihood), regularised; only where `store_covariance` is set.
    means_ : ndarray of shape (n_classes, n_features)
        μ_c: the mean of each class.
    priors_ : ndarray of shape (n_classes,)
        π: the probabilities of the classes.
    rotations_ : list of ndarrays of shape (n_features, n_features)
        The principal axes of each class, in columns.
    scalings_ : list of ndarrays of shape (n_features,)
        The variances along them, largest first.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.

    See Also
    --------
    LinearDiscriminantAnalysis : All classes share a covariance, which needs fewer rows.
    learnt.naive_bayes.GaussianNB : A variance for each class and column, and no correlations.
    learnt.bayes.GenerativeClassifier : Any density of each class.

    Notes
    -----
    Moments of the classes are sums over rows: O(n d² + K d³) time for K classes.

    Where this differs from scikit-learn: rows may have weights. Where Σ_c is singular, a share `tol` of the features'
    variances within classes is added to its diagonal and a warning says so, instead of an error; and whether it is does
    not depend on the units of the features. `reg_param` regularises classes with fewer rows than features too.

    References
    ----------
    .. [1] Trevor Hastie, Robert Tibshirani and Jerome Friedman, "The Elements of Statistical Learning", 2nd edition,
       Springer, 2009, section 4.3.
    .. [2] Olivier Ledoit and Michael Wolf, "A Well-Conditioned Estimator for Large-Dimensional Covariance Matrices",
       Journal of Multivariate Analysis, 2004.

    Examples
    --------
    >>> from learnt.discriminant_analysis import QuadraticDiscriminantAnalysis
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> model = QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> model.predict([[-0.8, -1]])
    array(['a'], dtype='<U1')
    """

    __learnt_schema__ = Schema(
        state={
            **CLASSES,
            "means_": real("c", "d"),
            "priors_": real("c", low=0),
            "rotations_": listof(real("d", "d"), "c"),
            "scalings_": listof(real("d", above=0.0), "c"),
            "_factors": real("c", "d", "d"),
        },
        extra={"covariance_": listof(real("d", "d"), "c")},
        rule=factors_are_regular,
    )
    __learnt_takes__ = Takes(tensors=True, lazy=True)
    __learnt_trial__ = Trial()

    def __init__(
        self,
        *,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> QuadraticDiscriminantAnalysis:
        """Estimate means and covariances; a weight of 2 counts a row twice, 0 not at all."""
        self._check_parameters()
        learned = learn(self, X, y, sample_weight, "full")
        found, classes = learned.moments, learned.classes
        # A class of a single row with weight two or more, like a row that occurs twice, has a singular covariance.
        alone = (learned.rows.sum(_row_counts, learned.groups)[0] < 2) & (found.weight < 2)
        if alone.any():
            label = classes[alone.argmax()]
            raise ValueError(
                f"y has only 1 sample in class {label}, covariance is ill defined. Give it more rows, drop the class, "
                "or take LinearDiscriminantAnalysis, whose classes share theirs."
            )
        priors = frequencies(found) if self.priors is None else checked_priors(self.priors, learned.n_classes)
        spare = np.diagonal(found.within()) / found.weight.sum()
        matrices = covariances(learned, self.shrinkage, self.covariance_estimator)
        if self.solver == "svd":
            matrices = (1.0 - self.reg_param) * matrices + self.reg_param * np.eye(matrices.shape[1])
        named = zip(matrices, classes, strict=True)
        positive = [regularised(C, spare, self.tol, f"matrix of class {c}") for C, c in named]
        axes = [_principal_axes(C) for C in positive]
        # Rows are measured by triangular factors, which keep their digits whatever the units of the features are.
        self._factors = inverse_factors("full", np.stack(positive))
        self.classes_, self.means_, self.priors_ = classes, found.mean, priors
        self.scalings_, self.rotations_ = [values for values, _ in axes], [vectors for _, vectors in axes]
        if self.store_covariance:
            self.covariance_ = positive
        elif hasattr(self, "covariance_"):
            del self.covariance_
        return self

    def decision_function(self, X: Any) -> Any:
        """Return log p(x, c) of each row, but for a constant, (n, K); of two classes their difference (n)."""
        check_is_fitted(self)
        return self._map(X, difference)

    def contributions(self, X: Any) -> np.ndarray:
        """Return what every column adds to the log-odds of every row: exact Shapley values.

        Where a column is not known, it is distributed as in the mixture of the classes that the model describes.

        Returns
        -------
        contributions : ndarray of shape (n_samples, n_features + 1) or (n_samples, n_classes, n_features + 1)
            The second shape for three classes or more. A row adds up to log p(x, c), less that of the first of two
            classes. The last column is its expectation.
        """
        check_is_fitted(self)
        X = in_numpy(check_predict(self, X)).astype(np.float64, copy=False)
        means, priors, constant = self.means_, self.priors_, self._joint(X)[1][0].constant
        axes = list(zip(self.scalings_, self.rotations_, strict=True))
        spread = np.stack([(rotation * scaling) @ rotation.T for scaling, rotation in axes])
        parts = []
        for k, (scaling, rotation) in enumerate(axes):
            precision, gap = (rotation / scaling) @ rotation.T, means - means[k]
            m, M = priors @ gap, np.tensordot(priors, spread, axes=1) + (gap.T * priors) @ gap
            u = X - means[k]
            # A product u_a·u_b is worth E[u_a u_b] unknown, u_a·E[u_b] where a is known; each gets half of the gains.
            values = -0.5 * (u * (precision @ m) + (u - m) * (u @ precision) - (precision * M).sum(axis=1))
            base = np.full((len(X), 1), constant[k] - 0.5 * (precision * M).sum())
            parts.append(np.concatenate([values, base], axis=1))
        return parts[1] - parts[0] if len(parts) == 2 else np.stack(parts, axis=1)

    def _joint(self, X: Any) -> tuple[Any, tuple, Any]:
        with np.errstate(divide="ignore"):  # a prior of 0 has the logarithm −∞
            constant = np.log(self.priors_) + log_determinants("full", self._factors, self.n_features_in_)
        densities = Gaussians("full", self.means_, self._factors, constant)
        return log_densities, (densities.to_device_of(X),), np.dtype(np.float64)

    def _check_parameters(self) -> None:
        check_choice(self, "solver", ("svd", "eigen"))
        check_number(self, "reg_param", 0, 1)
        check_number(self, "tol", 0)
        check_flag(self, "store_covariance")
        refusal = "covariance_estimator is not supported with solver='svd'. Try solver='eigen' instead."
        check_shrinkage(self, self.solver, refusal)


@single_blas()
def _principal_axes(C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Variances along the principal axes, largest first, and the axes in columns."""
    values, vectors = decompositions.eigh(C)
    return np.maximum(values[::-1], np.finfo(np.float64).tiny), vectors[:, ::-1].copy()


def _row_counts(block: Any, groups: Any) -> tuple:
    """How many rows of a block are in each group."""
    return (np.bincount(to_numpy(groups(block)), minlength=groups.n).astype(float),)
