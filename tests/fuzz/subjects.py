"""Who is tried: classes of ours beside scikit-learn's of the same name, with settings to draw from and what must hold.

`objective` is never to be worse than scikit-learn's by more than `slack` of what a model without rows would have. Where
`unique`, the rows of a tame table determine the model, and outputs agree with scikit-learn's to `close`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import objectives as o

_NO_LIMIT = ("SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM")  # scikit-learn's may not end on badly scaled tables


@dataclass(frozen=True)
class Subject:
    module: str
    name: str
    task: str = "none"
    settings: dict[str, tuple] = field(default_factory=dict)
    objective: Callable[[Any, Any], float] | None = None
    slack: float = 1e-3
    unique: bool = True
    close: float = 1e-4
    weighted: bool = True
    sparse: bool = False
    positive_rows: bool = False
    exact: bool = False  # decided by comparisons, which rounding to single precision turns: compared in double only
    may_refuse: tuple[str, ...] = ()  # first words of sentences that are right where scikit-learn goes on

    def ours(self, settings: dict) -> Any:
        return getattr(importlib.import_module(f"learnt.{self.module}"), self.name)(**settings)

    def theirs(self, settings: dict) -> Any:
        limit = {"max_iter": 20_000} if self.name in _NO_LIMIT else {}
        return getattr(importlib.import_module(f"sklearn.{self.module}"), self.name)(**settings, **limit)


def _linear(name: str, task: str, settings: dict, objective: Any = None, **more: Any) -> Subject:
    options = {"fit_intercept": (True, True, False), **settings}
    return Subject("linear_model", name, task, options, objective, **{"sparse": True, **more})


_MANY, _FINE = (5000,), (1e-8,)
_TOO_LARGE = ("Coordinate descent iterations resulted in non-finite",)
_SQUARES = ("Floating-point under-/overflow",)
_WEIGHTLESS = {"weighted": False}

SUBJECTS = [
    _linear("LinearRegression", "numbers", {}, o.squares, slack=1e-8, close=1e-6),
    _linear("Ridge", "numbers", {"alpha": (1e-3, 1.0, 100.0)}, o.squares, slack=1e-8, close=1e-5),
    _linear(
        "Lasso",
        "numbers",
        {"alpha": (0.01, 0.1, 1.0), "max_iter": _MANY, "tol": _FINE},
        o.elastic,
        may_refuse=_TOO_LARGE,
    ),
    _linear(
        "ElasticNet",
        "numbers",
        {"alpha": (0.01, 0.3), "l1_ratio": (0.1, 0.7), "max_iter": _MANY, "tol": _FINE},
        o.elastic,
        may_refuse=_TOO_LARGE,
    ),
    _linear(
        "LogisticRegression",
        "labels",
        {"C": (0.01, 1.0, 100.0), "max_iter": (2000,), "tol": (1e-6,)},
        o.logistic,
        may_refuse=_SQUARES,
        close=1e-2,
    ),
    _linear("PoissonRegressor", "amounts", {"alpha": (1e-3, 1.0), "max_iter": (1000,), "tol": _FINE}, o.generalised),
    _linear("GammaRegressor", "amounts", {"alpha": (1e-3, 1.0), "max_iter": (1000,), "tol": _FINE}, o.generalised),
    _linear(
        "TweedieRegressor",
        "amounts",
        {"alpha": (1e-3, 1.0), "power": (1.5,), "link": ("log",), "max_iter": (1000,), "tol": _FINE},
        o.generalised,
    ),
    _linear(
        "HuberRegressor",
        "numbers",
        {"epsilon": (1.1, 1.35, 3.0), "alpha": (1e-4, 1.0), "max_iter": (1000,)},
        o.huber,
        close=1e-2,
    ),
    _linear(
        "QuantileRegressor", "numbers", {"quantile": (0.2, 0.5), "alpha": (0.0, 0.01, 1.0)}, o.pinball, unique=False
    ),
    _linear("BayesianRidge", "numbers", {"tol": (1e-6,)}, close=1e-3, sparse=False),
    _linear("ARDRegression", "numbers", {}, unique=False, sparse=False, **_WEIGHTLESS),
    _linear("Lars", "numbers", {"n_nonzero_coefs": (1, 3)}, sparse=False, **_WEIGHTLESS),
    _linear("LassoLars", "numbers", {"alpha": (0.01, 0.3)}, sparse=False, **_WEIGHTLESS),
    _linear("OrthogonalMatchingPursuit", "numbers", {"n_nonzero_coefs": (1,)}, sparse=False, **_WEIGHTLESS),
    _linear("RidgeClassifier", "labels", {"alpha": (0.1, 10.0)}),
    _linear("TheilSenRegressor", "numbers", {"random_state": (0,)}, unique=False, sparse=False, **_WEIGHTLESS),
    _linear("SGDClassifier", "labels", {"random_state": (0,)}, unique=False),
    _linear("SGDRegressor", "numbers", {"random_state": (0,)}, unique=False),
    Subject(
        "svm",
        "SVC",
        "two labels",
        {"C": (0.1, 10.0), "kernel": ("linear", "rbf"), "gamma": (0.5,), "tol": (1e-5,)},
        o.machine_of_labels,
        sparse=True,
        close=1e-2,
    ),
    Subject(
        "svm",
        "SVR",
        "numbers",
        {"C": (0.1, 10.0), "kernel": ("linear", "rbf"), "gamma": (0.5,), "tol": (1e-5,), "epsilon": (0.0, 0.1)},
        o.machine_of_numbers,
        sparse=True,
        close=1e-2,
    ),
    Subject(
        "svm",
        "LinearSVC",
        "two labels",
        {"C": (0.1, 10.0), "tol": (1e-6,), "max_iter": (10000,)},
        o.linear_machine_of_labels,
        may_refuse=_SQUARES,
        sparse=True,
        close=1e-2,
    ),
    Subject(
        "svm",
        "LinearSVR",
        "numbers",
        {"C": (0.1, 1.0), "epsilon": (0.0, 0.1), "tol": (1e-6,), "max_iter": (10000,)},
        o.linear_machine_of_numbers,
        may_refuse=_SQUARES,
        slack=1e-3,
        unique=False,
        sparse=True,
    ),
    Subject(
        "svm",
        "NuSVC",
        "two labels",
        {"nu": (0.2,), "kernel": ("rbf",), "gamma": (0.5,)},
        sparse=True,
        unique=False,
        may_refuse=("specified nu is infeasible",),
    ),
    Subject(
        "svm",
        "NuSVR",
        "numbers",
        {"C": (0.1, 10.0), "kernel": ("linear", "rbf"), "gamma": (0.5,), "tol": (1e-5,), "nu": (0.1, 0.5, 0.9)},
        o.nu_machine_of_numbers,
        sparse=True,
        unique=False,
    ),
    Subject("svm", "OneClassSVM", settings={"nu": (0.2, 0.5), "gamma": (0.5,)}, sparse=True, unique=False),
    Subject("kernel_ridge", "KernelRidge", "numbers", {"alpha": (0.1, 1.0), "kernel": ("linear", "rbf")}, sparse=True),
    Subject(
        "gaussian_process",
        "GaussianProcessRegressor",
        "numbers",
        {"alpha": (0.1,), "optimizer": (None,)},
        weighted=False,
        close=1e-5,
    ),
    Subject(
        "neighbors",
        "KNeighborsClassifier",
        "labels",
        {"n_neighbors": (1, 3), "weights": ("uniform", "distance")},
        weighted=False,
        sparse=True,
        exact=True,
    ),
    Subject(
        "neighbors",
        "KNeighborsRegressor",
        "numbers",
        {"n_neighbors": (1, 3), "weights": ("uniform", "distance")},
        weighted=False,
        sparse=True,
        exact=True,
    ),
    Subject("neighbors", "NearestCentroid", "labels", weighted=False, sparse=True, exact=True),
    Subject(
        "neighbors",
        "LocalOutlierFactor",
        settings={"novelty": (True,), "n_neighbors": (5,)},
        weighted=False,
        exact=True,
    ),
    # Without weights: scikit-learn's densities are wrong by orders of magnitude where some are 0.
    Subject("neighbors", "KernelDensity", settings={"bandwidth": (0.5, 2.0)}, weighted=False),
    # What is added to variances is a share of the largest of the weighted rows, here.
    Subject("naive_bayes", "GaussianNB", "labels", close=1e-4),
    Subject(
        "naive_bayes", "MultinomialNB", "labels", {"alpha": (0.1, 1.0)}, positive_rows=True, sparse=True, close=1e-6
    ),
    Subject(
        "naive_bayes", "ComplementNB", "labels", {"alpha": (0.1, 1.0)}, positive_rows=True, sparse=True, close=1e-6
    ),
    Subject("naive_bayes", "BernoulliNB", "labels", {"alpha": (0.1, 1.0)}, sparse=True, close=1e-6),
    Subject(
        "discriminant_analysis", "LinearDiscriminantAnalysis", "labels", {"solver": ("svd", "lsqr")}, weighted=False
    ),
    Subject(
        "discriminant_analysis",
        "QuadraticDiscriminantAnalysis",
        "labels",
        {"reg_param": (0.0, 0.1)},
        weighted=False,
        unique=False,
    ),
    Subject(
        "tree",
        "DecisionTreeClassifier",
        "labels",
        {"max_depth": (1, 3), "random_state": (0,)},
        o.training_loss,
        unique=False,
        sparse=True,
    ),
    Subject(
        "tree",
        "DecisionTreeRegressor",
        "numbers",
        {"max_depth": (1, 3), "random_state": (0,)},
        o.training_loss,
        unique=False,
        sparse=True,
    ),
    Subject(
        "ensemble",
        "RandomForestClassifier",
        "labels",
        {"n_estimators": (5,), "random_state": (0,)},
        unique=False,
        sparse=True,
    ),
    Subject("ensemble", "ExtraTreesRegressor", "numbers", {"n_estimators": (5,), "random_state": (0,)}, unique=False),
    Subject("ensemble", "HistGradientBoostingRegressor", "numbers", {"max_iter": (5,)}, unique=False),
    Subject(
        "ensemble", "GradientBoostingClassifier", "labels", {"n_estimators": (5,), "random_state": (0,)}, unique=False
    ),
    Subject("ensemble", "AdaBoostRegressor", "numbers", {"n_estimators": (5,), "random_state": (0,)}, unique=False),
    Subject(
        "ensemble",
        "IsolationForest",
        settings={"n_estimators": (5,), "random_state": (0,)},
        unique=False,
        may_refuse=("Input X contains infinity",),
    ),
    Subject(
        "cluster",
        "KMeans",
        settings={"n_clusters": (1, 2, 3), "n_init": (10,), "random_state": (0,), "tol": (0,)},
        objective=o.inertia,
        slack=0.25,  # local minima
        unique=False,
        sparse=True,
    ),
    Subject(
        "cluster",
        "MiniBatchKMeans",
        settings={"n_clusters": (2,), "n_init": (1,), "random_state": (0,)},
        unique=False,
        may_refuse=("n_samples=",),
    ),
    Subject("cluster", "DBSCAN", settings={"eps": (0.5, 2.0)}, unique=False, sparse=True),
    Subject(
        "cluster",
        "AgglomerativeClustering",
        settings={"n_clusters": (2,), "linkage": ("ward", "average")},
        weighted=False,
        unique=False,
    ),
    Subject("cluster", "MeanShift", settings={"bandwidth": (2.0,), "max_iter": (20,)}, weighted=False, unique=False),
    Subject("cluster", "Birch", settings={"n_clusters": (2,)}, weighted=False, unique=False, sparse=True),
    Subject(
        "mixture", "GaussianMixture", settings={"n_components": (1,)}, objective=o.surprise, weighted=False, close=1e-5
    ),
    Subject(
        "mixture",
        "BayesianGaussianMixture",
        settings={"n_components": (2,), "random_state": (0,)},
        weighted=False,
        unique=False,
    ),
    Subject(
        "decomposition",
        "PCA",
        settings={"n_components": (1,), "svd_solver": ("full", "covariance_eigh")},
        objective=o.reconstruction,
        slack=1e-8,
        weighted=False,
        unique=False,
    ),
    Subject(
        "decomposition",
        "TruncatedSVD",
        settings={"n_components": (1,), "algorithm": ("arpack",)},
        objective=o.reconstruction,
        slack=1e-6,
        weighted=False,
        sparse=True,
        unique=False,
    ),
    Subject(
        "decomposition",
        "FactorAnalysis",
        settings={"n_components": (1,), "tol": (1e-6,), "max_iter": (1000,)},
        objective=o.surprise,
        slack=1e-3,
        weighted=False,
        may_refuse=("X has values so large",),
        unique=False,
    ),
    Subject(
        "decomposition",
        "NMF",
        settings={"n_components": (1, 2), "init": ("nndsvda",), "random_state": (0,), "max_iter": (1000,)},
        objective=o.reconstruction,
        slack=0.1,
        weighted=False,
        positive_rows=True,
        sparse=True,
        unique=False,
    ),
    Subject(
        "decomposition",
        "FastICA",
        settings={"n_components": (1,), "random_state": (0,)},
        weighted=False,
        may_refuse=("All rows of X are equal",),
        unique=False,
    ),
    Subject(
        "decomposition",
        "KernelPCA",
        settings={"n_components": (1,), "kernel": ("linear", "rbf")},
        weighted=False,
        unique=False,
    ),
    Subject("covariance", "EmpiricalCovariance", weighted=False, objective=o.surprise, close=1e-6),
    Subject("covariance", "LedoitWolf", weighted=False, close=1e-6),
    Subject("covariance", "OAS", weighted=False, close=1e-6),
    Subject("covariance", "MinCovDet", settings={"random_state": (0,)}, weighted=False, unique=False),
    Subject(
        "covariance",
        "GraphicalLasso",
        settings={"alpha": (0.05, 0.5), "tol": (1e-6,), "max_iter": (500,)},
        objective=o.graphical,
        may_refuse=("Feature ",),
        slack=1e-3,
        weighted=False,
        close=1e-2,
    ),
    Subject("cross_decomposition", "PLSRegression", "numbers", {"n_components": (1,)}, weighted=False),
    Subject("isotonic", "IsotonicRegression", "numbers"),
    Subject("preprocessing", "StandardScaler", close=1e-6),
    Subject("preprocessing", "PolynomialFeatures", settings={"degree": (2,)}, weighted=False, sparse=True, close=1e-6),
    Subject(
        "neural_network",
        "MLPRegressor",
        "numbers",
        {"max_iter": (5,), "hidden_layer_sizes": ((4,),), "random_state": (0,)},
        unique=False,
        weighted=False,
    ),
    Subject(
        "random_projection",
        "GaussianRandomProjection",
        settings={"n_components": (1,), "random_state": (0,)},
        weighted=False,
        unique=False,
        sparse=True,
    ),
]
