"""Errors and warnings that people filter on begin with scikit-learn's words; ours come after them.

For each call that both packages refuse, or warn about: the class of the error or warning is scikit-learn's, and the
first clause of its message, up to where values are printed in another form, begins ours.
"""

import importlib
import re
import warnings

import numpy as np
import pytest
from scipy import sparse


class Package:
    """`Package("sklearn").metrics.f1_score`: the rooms of a package as attributes."""

    def __init__(self, name):
        self.name = name

    def __getattr__(self, room):
        if room.startswith("_"):
            raise AttributeError(room)
        return importlib.import_module(f"{self.name}.{room}")


NOT_OURS = sparse.SparseEfficiencyWarning  # of SciPy, about how scikit-learn does it
SKLEARN, LEARNT = Package("sklearn"), Package("learnt")
RNG = np.random.default_rng(0)
LINE = RNG.normal(size=(30, 2)) @ [[1.0, 0.9], [0.0, 0.4]], RNG.normal(size=30)
CLASSES = LINE[0], (LINE[0][:, 0] + 0.5 * RNG.normal(size=30) > 0).astype(int)
PIECES = np.concatenate([LINE[0], LINE[0] + 1e3])
FLAGS = RNG.integers(0, 2, size=(30, 6))
EGGS = ["eggs", "spam", "ham"]
THREE = [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.1, 0.8, 0.1]]

ROOMS = {"PCA": "decomposition", "StandardScaler": "preprocessing", "GradientBoostingClassifier": "ensemble"}
NO_VALUES = [
    *[(model, "copy_X", "no") for model in ("LinearRegression", "Ridge", "RidgeClassifier", "BayesianRidge")],
    *[(model, "tol", -1.0) for model in ("LinearRegression", "Ridge", "RidgeClassifier")],
    *[(model, "max_iter", 0) for model in ("Ridge", "RidgeClassifier")],
    *[("StandardScaler", name, None) for name in ("copy", "with_mean", "with_std")],
    *[("PCA", name, 1) for name in ("copy", "whiten")],
    *[(model, "average", -1) for model in ("SGDClassifier", "SGDOneClassSVM")],
    ("OrthogonalMatchingPursuitCV", "copy", 1),
    ("GradientBoostingClassifier", "validation_fraction", 1.0),
]

REFUSED = {
    "kinds of targets": lambda of: of.metrics.accuracy_score([0.5, 1.0], [0, 1]),
    "labels and a matrix": lambda of: of.metrics.f1_score([[0, 1], [1, 1]], [0, 1]),
    "average of three": lambda of: of.metrics.f1_score([0, 1, 2], [0, 1, 2]),
    "names of classes": lambda of: of.metrics.classification_report([0, 1], [0, 1], target_names=["a"]),
    "positive label": lambda of: of.metrics.f1_score([2, 3], [2, 3]),
    "label of precisions": lambda of: of.metrics.average_precision_score([0, 1], [0.1, 0.2], pos_label=2),
    "fixed positive label": lambda of: of.metrics.average_precision_score([0, 1, 2], THREE, pos_label=0),
    "area of a zigzag": lambda of: of.metrics.auc([2, 1, 3, 4], [5, 6, 7, 8]),
    "columns of scores": lambda of: of.metrics.roc_auc_score([0, 1, 2], THREE, labels=[0, 1], multi_class="ovr"),
    **{
        f"several labels a row in {name}": lambda of, name=name: getattr(of.metrics, name)([[0, 1, 2]] * 3, THREE)
        for name in ("accuracy_score", "roc_auc_score", "average_precision_score", "roc_curve", "log_loss")
    },
    "one true label": lambda of: of.metrics.log_loss([2, 2], [0.5, 0.5]),
    "one given label": lambda of: of.metrics.log_loss([1, 1], [0.5, 0.5], labels=[1]),
    "columns of probabilities": lambda of: of.metrics.log_loss(EGGS, [[0.5, 0.5]] * 3),
    "many true classes": lambda of: of.metrics.brier_score_loss(EGGS, [0.1, 0.2, 0.3]),
    "labels of no annotator": lambda of: of.metrics.cohen_kappa_score([0, 1], [0, 1], labels=[3]),
    "shape of labels": lambda of: of.metrics.rand_score([[0, 1], [1, 0]], [0, 1]),
    "missing cells": lambda of: of.linear_model.Ridge().fit([[np.nan], [1.0]], [1, 2]),
    "missing targets": lambda of: of.linear_model.Ridge().fit([[0.0], [1.0]], [1, np.nan]),
    "infinite cells": lambda of: of.svm.SVC().fit([[np.inf], [1.0]], [1, 2]),
    "intercept of a function": lambda of: of.linear_model.ridge_regression(
        [[0.0], [1.0]], [0, 1], 1.0, solver="cholesky", return_intercept=True
    ),
    "dual of lbfgs": lambda of: of.linear_model.LogisticRegression(solver="lbfgs", dual=True).fit(*CLASSES),
    "grid without an absolute": lambda of: of.linear_model.ElasticNetCV(l1_ratio=0, cv=2).fit(*LINE),
    "balance of parts": lambda of: of.linear_model.SGDClassifier(class_weight="balanced").partial_fit(
        *CLASSES, classes=[0, 1]
    ),
    "one class": lambda of: of.linear_model.LogisticRegression().fit([[0.0], [1.0]], [1, 1]),
    "empty polynomial": lambda of: of.preprocessing.PolynomialFeatures(0, include_bias=False).fit([[1.0]]),
    "empty polynomials": lambda of: of.preprocessing.PolynomialFeatures((0, 0), include_bias=False).fit([[1.0]]),
    "lonely seeds": lambda of: of.cluster.MeanShift(bandwidth=0.1, seeds=[[9.0, 9.0]]).fit(LINE[0]),
    "reach beyond the largest": lambda of: of.cluster.OPTICS(cluster_method="dbscan", max_eps=1.0, eps=2.0).fit(
        LINE[0]
    ),
    "more neighbours than rows": lambda of: of.cluster.OPTICS(min_samples=31).fit(LINE[0]),
    "one place": lambda of: of.covariance.MinCovDet(random_state=0).fit(np.repeat([[0.0], [1.0]], [29, 1], axis=0)),
    "dissimilarities by direction": lambda of: of.manifold.smacof(
        np.triu(np.ones((4, 4))), init=np.zeros((4, 2)), n_init=1, normalized_stress=False
    ),
    "two kinds of neighbours": lambda of: of.manifold.Isomap(n_neighbors=3, radius=1.0).fit(LINE[0]),
    "no rows to project": lambda of: of.manifold.TSNE(metric="precomputed", init="pca", perplexity=2).fit(np.eye(5)),
    "distances of some": lambda of: of.manifold.TSNE(metric="precomputed", init="random", perplexity=2).fit(LINE[0]),
    "components of a tree": lambda of: of.manifold.TSNE(4, perplexity=2).fit(LINE[0]),
    "perplexity": lambda of: of.manifold.TSNE(perplexity=40).fit(LINE[0]),
    "names of constraints": lambda of: of.ensemble.HistGradientBoostingRegressor(monotonic_cst={"a": 1}).fit(*LINE),
    "quantile": lambda of: of.dummy.DummyRegressor(strategy="quantile").fit(*LINE),
    "one number to a kernel": lambda of: of.gaussian_process.kernels.WhiteKernel()(0.5),
    "neighbours of a query": lambda of: of.neighbors.KNeighborsClassifier(31).fit(*CLASSES).predict(CLASSES[0]),
    "distances to oneself": lambda of: of.metrics.silhouette_score(np.ones((3, 3)), [0, 0, 1], metric="precomputed"),
}

WARNED = {
    "nothing predicted": lambda of: of.metrics.precision_score([0, 1, 2], [0, 0, 2], average="macro"),
    "ignored positive label": lambda of: of.metrics.f1_score([0, 1], [0, 1], pos_label=0, average="macro"),
    "order of labels": lambda of: of.metrics.log_loss(EGGS, THREE, labels=["spam", "eggs", "ham"]),
    "old name of probabilities": lambda of: of.metrics.log_loss([0, 1], y_pred=[0.1, 0.9]),
    "annotators of one label": lambda of: of.metrics.cohen_kappa_score([0, 0], [0, 0], labels=[0, 1]),
    "annotators apart": lambda of: of.metrics.cohen_kappa_score([0, 0], [2, 2], labels=[0, 1]),
    "penalty of nothing": lambda of: of.linear_model.Lasso(alpha=0).fit(*LINE),
    "sweeps of descent": lambda of: of.linear_model.Lasso(alpha=1e-3, max_iter=1, tol=1e-12).fit(*LINE),
    "tasks of descent": lambda of: of.linear_model.MultiTaskLasso(alpha=1e-3, max_iter=1, tol=1e-12).fit(
        LINE[0], LINE[0] @ [[1, 2], [3, 4]]
    ),
    "steps of the default solver": lambda of: of.linear_model.LogisticRegression(max_iter=1).fit(*CLASSES),
    **{
        f"steps of {solver}": lambda of, solver=solver: of.linear_model.LogisticRegression(
            solver=solver, max_iter=1, C=1e6
        ).fit(*CLASSES)
        for solver in ("lbfgs", "newton-cg", "newton-cholesky", "liblinear", "sag", "saga")
    },
    "epochs": lambda of: of.linear_model.SGDClassifier(max_iter=1, random_state=0).fit(*CLASSES),
    "dependent atoms": lambda of: of.linear_model.orthogonal_mp(np.ones((3, 2)), np.arange(3.0), n_nonzero_coefs=2),
    "mode of sparse rows": lambda of: of.linear_model.RidgeCV(gcv_mode="svd").fit(sparse.csr_array(LINE[0]), LINE[1]),
    "lonely rows": lambda of: of.cluster.OPTICS(max_eps=1e-9).fit(LINE[0]),
    "pieces of a graph": lambda of: of.manifold.SpectralEmbedding(n_components=1, n_neighbors=2).fit(PIECES),
    "pieces of neighbours": lambda of: of.manifold.Isomap(n_neighbors=2).fit(PIECES),
    "one row": lambda of: of.covariance.EmpiricalCovariance().fit([[1.0, 2.0]]),
    "rows of a tree": lambda of: of.ensemble.IsolationForest(n_estimators=1, max_samples=1000, random_state=0).fit(
        LINE[0]
    ),
    "weights of a warm start": lambda of: of.ensemble.RandomForestClassifier(
        1, class_weight="balanced", warm_start=True, random_state=0
    ).fit(*CLASSES),
    "bounds of one cluster": lambda of: of.cluster.KMeans(1, algorithm="elkan").fit(LINE[0]),
    "numbers as flags": lambda of: of.metrics.silhouette_score(FLAGS, [0, 1] * 15, metric="jaccard"),
    "numbers as flags of rows": lambda of: of.cluster.OPTICS(metric="jaccard", cluster_method="dbscan").fit(FLAGS),
    "fractions as clusters": lambda of: of.metrics.rand_score([0.1, 0.2, 0.3], [0, 1, 2]),
}


def first_words(message):
    """The first clause, without the array, number or reason that ends it."""
    return re.split(r"\.[\s`]|[:,(\[]| at | or |\.$", message.strip())[0].strip()


@pytest.mark.parametrize("name", REFUSED)
def test_errors_begin_with_the_known_words(name):
    with pytest.raises((ValueError, TypeError)) as theirs:
        REFUSED[name](SKLEARN)
    with pytest.raises(type(theirs.value)) as ours:
        REFUSED[name](LEARNT)
    assert str(ours.value).startswith(first_words(str(theirs.value)))


@pytest.mark.parametrize(("model", "name", "value"), NO_VALUES)
def test_parameters_are_refused_in_the_known_words(model, name, value):
    room = ROOMS.get(model, "linear_model")
    for package in (SKLEARN, LEARNT):
        with pytest.raises(ValueError, match=f"The '{name}' parameter of {model} must be "):
            getattr(getattr(package, room), model)(**{name: value}).fit(*CLASSES)


@pytest.mark.parametrize("name", WARNED)
def test_warnings_begin_with_the_known_words(name):
    said = []
    for package in (SKLEARN, LEARNT):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            WARNED[name](package)
        said.append(caught)
    theirs, ours = said
    known = {(w.category.__name__, first_words(str(w.message))) for w in theirs if w.category is not NOT_OURS}
    assert known
    for category, words in known:
        assert any(w.category.__name__ == category and str(w.message).startswith(words) for w in ours), words
