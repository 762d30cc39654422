"""Linear discriminant analysis: the estimator."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.discriminant_analysis import _solvers
from learnt.discriminant_analysis._covariance import (
    Learned,
    check_shrinkage,
    checked_priors,
    covariances,
    dtype_of,
    frequencies,
    learn,
    regularised,
    total_covariance,
)
from learnt.engine.arrays import to_device_of
from learnt.engine.classification.linear_classifier import ProbabilisticLinearClassifier
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.mixins import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from learnt.engine.params import check_choice, check_flag, check_number
from learnt.engine.rows import Block, transform
from learnt.engine.schema import CLASSES, Dims, Schema, choice, count, one_plane_a_class, real
from learnt.engine.validation import check_predict
from learnt.explanation import Explained
from learnt.statistics import shrunk

SOLVERS = ("svd", "lsqr", "eigen", "gaussian", "fisher", "least_squares")
DERIVATIONS = ("gaussian", "fisher", "least-squares")
_WITHOUT_TRANSFORM = ("lsqr", "gaussian", "least_squares")


def directions_are_there(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """The rule of model files: as many planes as classes, and the directions that `transform` projects on."""
    lacking = model._method not in _WITHOUT_TRANSFORM and not {"scalings_", "xbar_"} <= state.keys()
    if lacking:
        return "has no directions to project on"
    if state["_n_features_out"] > min(dims["c"] - 1, dims["d"]):
        return "counts more directions than it has"
    return one_plane_a_class(model, state, dims)


class LinearDiscriminantAnalysis(
    ClassNamePrefixFeaturesOutMixin,
    ProbabilisticLinearClassifier,
    ClassifierMixin,
    TransformerMixin,
    Estimator,
    Explained,
):
    """Classify by planes, every class being Gaussian with the same covariance; and project on what sets them apart.

    p(c | x) ∝ π_c N(x; μ_c, Σ)

    A linear classifier in closed form, good with few rows, and a supervised reduction to at most n_classes − 1
    dimensions. With many columns for the number of rows, shrink the covariance.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen", "gaussian", "fisher", "least_squares"}, default="svd"
        scikit-learn's three: "svd" leaves out directions that have no variance within classes; "lsqr" takes the
        shortest planes then; "eigen" needs Σ to be positive and can shrink it. And three derivations of the same model:
        "gaussian", one density a class; "fisher", the projections with the most variance between the classes for their
        variance within; "least_squares", a regression on the classes. The last agrees with the others where two
        classes have as many rows, and otherwise moves the boundary of two classes; of more classes it agrees.
    shrinkage : "auto", float or None, default=None
        How far Σ is drawn towards a multiple of the unit matrix, against overfitting: a share from 0 to 1, or that of
        Ledoit and Wolf for "auto", which is worth a try wherever there are not many more rows than columns. Not for
        "svd".
    priors : array-like of shape (n_classes,), default=None
        Probabilities π of the classes; None takes their frequencies. Set them where classes are as rare elsewhere as
        they are not in the training rows.
    n_components : int, default=None
        How many directions `transform` gives; None: all of them, min(n_classes − 1, n_features). Predictions do not
        change.
    store_covariance : bool, default=False
        Whether "svd" keeps `covariance_`; the others do.
    tol : float, default=1e-4
        The standard deviation, in units of the features' own, from which on a direction counts.
    covariance_estimator : estimator, default=None
        Estimates the covariance of the rows of a class that it is given (`fit`, then `covariance_`), instead of
        `shrinkage`: `learnt.covariance.OAS()`, say. Not for "svd".
    derivation : {"gaussian", "fisher", "least-squares"} or None, default=None
        One of the three derivations by name; it then takes the place of `solver`.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights of the planes: one for two classes, one a class for more.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The offsets of the planes.
    covariance_ : ndarray of shape (n_features, n_features)
        Σ: the covariances of the classes, weighted by π.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The share of the variance between classes that each direction has ("svd", "eigen", "fisher").
    means_ : ndarray of shape (n_classes, n_features)
        μ_c: the mean of each class.
    priors_ : ndarray of shape (n_classes,)
        π: the probabilities of the classes.
    scalings_ : ndarray of shape (n_features, any)
        The directions ("svd", "eigen", "fisher").
    xbar_ : ndarray of shape (n_features,)
        The mean of the classes' means, weighted by π.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.

    See Also
    --------
    QuadraticDiscriminantAnalysis : Each class has a covariance of its own.
    learnt.linear_model.LogisticRegression : Planes without the assumption that classes are Gaussian.
    learnt.decomposition.PCA : Directions of most variance, without labels.
    learnt.naive_bayes.GaussianNB : Gaussian classes whose columns are independent.

    Notes
    -----
    All solvers fit from the means of the classes and the scatter within them, which are sums over rows: O(n d² + d³)
    time, and O(d²) memory besides the rows.

    Where this differs from scikit-learn: rows may have weights; where "eigen" needs Σ to be positive and it is not, a
    share `tol` of the variances is added with a warning, instead of an error.

    References
    ----------
    .. [1] Ronald A. Fisher, "The Use of Multiple Measurements in Taxonomic Problems", Annals of Eugenics, 1936.
    .. [2] Trevor Hastie, Robert Tibshirani and Jerome Friedman, "The Elements of Statistical Learning", 2nd edition,
       Springer, 2009, section 4.3.
    .. [3] Olivier Ledoit and Michael Wolf, "A Well-Conditioned Estimator for Large-Dimensional Covariance Matrices",
       Journal of Multivariate Analysis, 2004.

    Examples
    --------
    >>> from learnt.discriminant_analysis import LinearDiscriminantAnalysis
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> model = LinearDiscriminantAnalysis().fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> model.predict([[-0.8, -1]])
    array(['a'], dtype='<U1')
    >>> model.transform(X).shape
    (6, 1)
    """

    __learnt_schema__ = Schema(
        params={"solver": choice(*SOLVERS), "derivation": choice(None, *DERIVATIONS)},
        state={
            **CLASSES,
            "coef_": real("r", "d"),
            "intercept_": real("r", finite=False),
            "means_": real("c", "d"),
            "priors_": real("c", low=0),
            "xbar_": real("d"),
            "_max_components": count(1),
            "_n_features_out": count(1),
        },
        extra={
            "covariance_": real("d", "d"),
            "scalings_": real("d", None),
            "explained_variance_ratio_": real(None),
        },
        rule=directions_are_there,
    )
    __learnt_takes__ = Takes(tensors=True, lazy=True)
    __learnt_trial__ = Trial()

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        *,
        derivation: str | None = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.derivation = derivation

    @property
    def _method(self) -> str:
        """The solver, unless a derivation takes its place."""
        return self.solver if self.derivation is None else self.derivation.replace("-", "_")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearDiscriminantAnalysis:
        """Find the planes; a weight of 2 counts a row twice, 0 not at all."""
        self._check_parameters()
        learned = learn(self, X, y, sample_weight, "pooled" if self._pooled else "full")
        found = learned.moments
        if learned.rows.n_rows <= learned.n_classes:
            raise ValueError(
                f"The number of samples must be more than the number of classes. There are {learned.rows.n_rows} rows "
                f"of {learned.n_classes} classes, which leaves no variance within them; give more rows."
            )
        own = self.priors is None
        self.priors_ = frequencies(found) if own else checked_priors(self.priors, learned.n_classes)
        self._max_components = self._components(learned)
        self._n_features_out = self._max_components
        self.classes_, self.means_, self.xbar_ = learned.classes, found.mean, self.priors_ @ found.mean
        with np.errstate(divide="ignore"):  # a prior of 0 has the logarithm −∞
            planes = self._planes(learned)
        self._record(planes, dtype_of(X))
        return self

    @property
    def _pooled(self) -> bool:
        """Whether the scatter within all classes together is enough."""
        as_they_are = self.shrinkage != "auto" and self.covariance_estimator is None and self.priors is None
        return as_they_are or (self._method == "svd" and not (self.store_covariance and self.priors is not None))

    def _planes(self, learned: Learned) -> _solvers.Planes:
        found, priors = learned.moments, self.priors_
        for name in ("covariance_", "scalings_", "explained_variance_ratio_"):
            if hasattr(self, name):
                delattr(self, name)
        if self._method == "svd":
            within = found.within() / found.weight.sum()
            if self.store_covariance:
                self.covariance_ = within if self._pooled else np.tensordot(priors, found.covariance(), axes=1)
            return _solvers.whitened(priors, found.mean, within, self.tol)
        if self._pooled:
            within = shrunk(found.covariance(), self.shrinkage)
        else:
            classes = covariances(learned, self.shrinkage, self.covariance_estimator)
            within = np.tensordot(priors, classes, axes=1)
        if self._method != "lsqr":
            within = regularised(within, np.diag(within), self.tol, "matrix within the classes")
        self.covariance_ = within
        if self._method == "eigen":
            total = total_covariance(learned, self.shrinkage, self.covariance_estimator)
            return _solvers.eigen(priors, found.mean, within, total)
        solve = {"lsqr": _solvers.shortest, "gaussian": _solvers.gaussian, "fisher": _solvers.fisher}
        return solve.get(self._method, _solvers.least_squares)(priors, found.mean, within)

    def _record(self, planes: _solvers.Planes, dtype: Any) -> None:
        W, b = planes.W, planes.b
        if len(b) == 2:
            W, b = (W[1] - W[0])[None, :], np.array([b[1] - b[0]])
        self.coef_, self.intercept_ = W.astype(dtype), b.astype(dtype)
        if planes.scalings is not None and planes.explained is not None:
            self.scalings_ = np.ascontiguousarray(planes.scalings)
            self.explained_variance_ratio_ = planes.explained[: self._max_components]

    def _components(self, learned: Learned) -> int:
        most = min(learned.n_classes - 1, self.n_features_in_)
        if self.n_components is not None and self.n_components > most:
            raise ValueError(
                f"n_components cannot be larger than min(n_features, n_classes - 1). It is {self.n_components}, and "
                f"there are {most} directions."
            )
        return most if self.n_components is None else self.n_components

    def transform(self, X: Any) -> Any:
        """Return the rows along the directions that set the classes apart, (n, n_components).

        Raises
        ------
        NotImplementedError
            Where the solver finds no directions: "lsqr", "gaussian" and "least_squares".
        """
        if self._method in _WITHOUT_TRANSFORM:
            raise NotImplementedError(
                f"transform not implemented for '{self._method}' solver (use 'svd' or 'eigen'): it finds no directions."
            )
        X = check_predict(self, X)
        directions = self.scalings_[:, : self._max_components]
        centre = np.zeros_like(self.xbar_) if self._method == "eigen" else self.xbar_
        state = to_device_of(centre, X), to_device_of(directions, X)
        return transform(X, self.get_feature_names_out, projected, *state)

    def _check_parameters(self) -> None:
        check_choice(self, "solver", SOLVERS)
        check_choice(self, "derivation", (None, *DERIVATIONS))
        check_number(self, "n_components", 1, integer=True, also=(None,))
        check_number(self, "tol", 0)
        check_flag(self, "store_covariance")
        refusal = "covariance estimator is not supported with svd solver. Try another solver, 'eigen'."
        check_shrinkage(self, self._method, refusal)


def projected(block: Block, centre: Any, directions: Any) -> Any:
    return (block.X - centre) @ directions
