"""How long Ctrl-C takes to stop a fit: every kind of estimator on a problem of many seconds.

    python benchmarks/interrupts.py [NAME ...] [--after SECONDS]

Each fit runs in a process of its own and is sent SIGINT some time after it began. Reported are the seconds until
`KeyboardInterrupt` was raised, by the clock and by the processor (which counts on a busy machine), whether a thread
went on afterwards, and whether a later small fit works. A fit that is over before the signal came says so; one that
does not stop within half a minute is killed.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

LIMIT = 2.0  # seconds a fit may take to stop on an idle machine
PATIENCE = 30.0


def table(n: int, d: int, dtype: Any = np.float64) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, d)).astype(dtype)


def numbers(X: Any) -> np.ndarray:
    noise = np.random.default_rng(1).normal(size=X.shape[0])
    return X[:, 0] * X[:, 1] + np.abs(X[:, 2]) + noise


def counts(X: Any) -> np.ndarray:
    return np.random.default_rng(1).poisson(np.exp(0.1 * X[:, 0])).astype(np.float64)


def two(X: Any) -> np.ndarray:
    return (numbers(X) > 0.8).astype(np.int64)


def five(X: Any) -> np.ndarray:
    return np.digitize(numbers(X), [-1.0, 0.0, 1.0, 2.0])


def several(X: Any) -> np.ndarray:
    rng = np.random.default_rng(2)
    return X @ rng.normal(size=(X.shape[1], 20)) + rng.normal(size=(X.shape[0], 20))


def sparse(n: int, d: int) -> Any:
    from scipy.sparse import random_array

    return random_array((n, d), density=0.01, rng=np.random.default_rng(0), format="csr")


def sparse_two(X: Any) -> np.ndarray:
    return (np.asarray(X[:, :50].sum(axis=1)).ravel() > 0.2).astype(np.int64)


def nothing(X: Any) -> None:
    return None


def made(room: str, name: str, **parameters: Any) -> Callable[[], Any]:
    def make() -> Any:
        import importlib

        return getattr(importlib.import_module(f"learnt.{room}"), name)(**parameters)

    return make


def cases() -> dict[str, tuple[Any, ...]]:
    """By name: the estimator, X of a number of rows, rows and columns, the target."""
    dense = table
    tree = "tree", "DecisionTreeRegressor"
    found: dict[str, tuple[Any, ...]] = {
        "tree": (made(*tree), dense, 3_000_000, 10, numbers),
        "tree, classes": (made("tree", "DecisionTreeClassifier"), dense, 3_000_000, 10, two),
        "tree, best first": (made(*tree, max_leaf_nodes=500_000), dense, 2_000_000, 10, numbers),
        "tree, absolute": (made(*tree, criterion="absolute_error"), dense, 1_000_000, 10, numbers),
        "tree, poisson": (made(*tree, criterion="poisson"), dense, 2_000_000, 10, counts),
        "tree, outputs": (made(*tree), dense, 500_000, 20, several),
        "tree, sparse": (made("tree", "DecisionTreeClassifier"), sparse, 400_000, 1000, sparse_two),
        "tree, float32": (made(*tree), lambda n, d: table(n, d, np.float32), 3_000_000, 10, numbers),
        "tree, pruned": (made(*tree, ccp_alpha=1e-9), dense, 1_000_000, 10, numbers),
        "extra tree": (made("tree", "ExtraTreeRegressor"), dense, 3_000_000, 30, numbers),
        "model tree": (made("tree", "ModelTreeRegressor"), dense, 1_000_000, 10, numbers),
        "dyadic": (made("tree", "DyadicPartitionRegressor"), dense, 3_000_000, 10, numbers),
        "forest": (made("ensemble", "RandomForestRegressor"), dense, 1_000_000, 20, numbers),
        "forest, classes": (made("ensemble", "RandomForestClassifier"), dense, 3_000_000, 20, five),
        "forest, exact": (made("ensemble", "RandomForestRegressor", splitter="exact"), dense, 1_000_000, 20, numbers),
        "forest, one job": (made("ensemble", "RandomForestRegressor", n_jobs=1), dense, 3_000_000, 20, numbers),
        "extra trees": (made("ensemble", "ExtraTreesRegressor"), dense, 3_000_000, 20, numbers),
        "embedding": (made("ensemble", "RandomTreesEmbedding", n_estimators=3000), dense, 500_000, 20, nothing),
        "hist boosting": (
            made("ensemble", "HistGradientBoostingRegressor", max_iter=3000),
            dense,
            1_000_000,
            50,
            numbers,
        ),
        "hist boosting, wide": (
            made("ensemble", "HistGradientBoostingClassifier", max_iter=3000, max_leaf_nodes=2000),
            dense,
            200_000,
            300,
            two,
        ),
        "gradient boosting": (made("ensemble", "GradientBoostingRegressor"), dense, 1_000_000, 20, numbers),
        "gradient boosting, exact": (
            made("ensemble", "GradientBoostingRegressor", splitter="exact"),
            dense,
            1_000_000,
            20,
            numbers,
        ),
        "adaboost": (made("ensemble", "AdaBoostClassifier", n_estimators=3000), dense, 1_000_000, 20, two),
        "adaboost numbers": (made("ensemble", "AdaBoostRegressor"), dense, 1_000_000, 20, numbers),
        "bagging": (made("ensemble", "BaggingRegressor"), dense, 1_000_000, 20, numbers),
        "functional boosting": (made("ensemble", "FunctionalGradientBoosting"), dense, 1_000_000, 20, numbers),
        "lasso": (made("linear_model", "Lasso", alpha=1e-5, tol=1e-14, max_iter=10**6), dense, 4000, 8000, numbers),
        "lasso, tall": (
            made("linear_model", "Lasso", alpha=1e-6, tol=1e-15, max_iter=10**7),
            dense,
            200_000,
            300,
            numbers,
        ),
        "lasso cv": (made("linear_model", "LassoCV"), dense, 5000, 10_000, numbers),
        "multi-task": (made("linear_model", "MultiTaskLasso", alpha=1e-3, tol=1e-12), dense, 4000, 4000, several),
        "lasso, sparse": (
            made("linear_model", "Lasso", alpha=1e-6, tol=1e-14, max_iter=10**6),
            sparse,
            50_000,
            20_000,
            lambda X: np.asarray(X[:, :99].sum(axis=1)).ravel(),
        ),
        "logistic": (made("linear_model", "LogisticRegression", C=1e6), dense, 2_000_000, 50, five),
        "logistic, wide": (made("linear_model", "LogisticRegression", C=1e6, tol=1e-12), dense, 5000, 8000, two),
        "logistic, l1": (made("linear_model", "LogisticRegression", l1_ratio=1.0, C=10.0), dense, 20_000, 3000, two),
        "logistic, sgd": (
            made("linear_model", "LogisticRegression", solver="sgd", tol=1e-12),
            dense,
            2_000_000,
            50,
            two,
        ),
        "logistic cv": (made("linear_model", "LogisticRegressionCV"), dense, 500_000, 50, five),
        "linear svc": (made("svm", "LinearSVC", C=100.0, tol=1e-12), dense, 300_000, 200, two),
        "linear svc, hinge": (
            made("svm", "LinearSVC", loss="hinge", C=100.0, tol=1e-12),
            dense,
            500_000,
            100,
            two,
        ),
        "linear svc, l1": (made("svm", "LinearSVC", penalty="l1", C=10.0, tol=1e-10), dense, 20_000, 2000, two),
        "linear svc, sparse": (made("svm", "LinearSVC", loss="hinge", C=1e4), sparse, 100_000, 20_000, sparse_two),
        "linear svr": (made("svm", "LinearSVR", C=100.0, tol=1e-12), dense, 300_000, 200, numbers),
        "sgd": (made("linear_model", "SGDClassifier", max_iter=10_000, tol=None), dense, 1_000_000, 50, two),
        "sgd numbers": (made("linear_model", "SGDRegressor", max_iter=10_000, tol=None), dense, 3_000_000, 50, numbers),
        "sgd, classes": (made("linear_model", "SGDClassifier", max_iter=10_000, tol=None), dense, 1_000_000, 50, five),
        "perceptron": (made("linear_model", "Perceptron", max_iter=10_000, tol=None), dense, 3_000_000, 50, two),
        "poisson": (made("linear_model", "PoissonRegressor", tol=1e-14), dense, 3_000_000, 60, counts),
        "huber": (made("linear_model", "HuberRegressor", tol=1e-14), dense, 3_000_000, 60, numbers),
        "quantile": (made("linear_model", "QuantileRegressor"), dense, 500_000, 60, numbers),
        "irls": (made("linear_model", "IterativelyReweightedLeastSquares"), dense, 3_000_000, 60, numbers),
        "linear": (made("linear_model", "LinearRegression"), dense, 400_000, 800, numbers),
        "linear, wide": (made("linear_model", "LinearRegression"), dense, 6000, 12_000, numbers),
        "ridge": (made("linear_model", "Ridge"), dense, 12_000, 9000, numbers),
        "ridge cv": (made("linear_model", "RidgeCV"), dense, 12_000, 4000, numbers),
        "bayesian ridge": (made("linear_model", "BayesianRidge"), dense, 8000, 4000, numbers),
        "ard": (made("linear_model", "ARDRegression"), dense, 5000, 1500, numbers),
        "total least squares": (made("linear_model", "TotalLeastSquares"), dense, 20_000, 3000, numbers),
        "pursuit": (
            made("linear_model", "OrthogonalMatchingPursuit", n_nonzero_coefs=3000),
            dense,
            8000,
            10_000,
            numbers,
        ),
        "pursuit cv": (made("linear_model", "OrthogonalMatchingPursuitCV", max_iter=800), dense, 10_000, 4000, numbers),
        "matching pursuit": (
            made("linear_model", "MatchingPursuit", n_nonzero_coefs=5000, max_iter=10**6, tol=0.0),
            dense,
            8000,
            10_000,
            numbers,
        ),
        "stagewise": (
            made("linear_model", "ForwardStagewiseRegression", step_size=1e-6, max_iter=10**8),
            dense,
            5000,
            5000,
            numbers,
        ),
        "k-means": (made("cluster", "KMeans", n_clusters=500, n_init=10), dense, 300_000, 50, nothing),
        "k-means, sparse": (made("cluster", "KMeans", n_clusters=100, n_init=10), sparse, 100_000, 5000, nothing),
        "pca": (made("decomposition", "PCA"), dense, 8000, 5000, nothing),
        "pca, few": (made("decomposition", "PCA", n_components=50), dense, 300_000, 1500, nothing),
        "dictionary": (made("decomposition", "DictionaryLearning", n_components=200), dense, 20_000, 100, nothing),
        "dictionary, lars": (
            made("decomposition", "DictionaryLearning", n_components=200, fit_algorithm="lars"),
            dense,
            20_000,
            100,
            nothing,
        ),
        "mini-batch dictionary": (
            made("decomposition", "MiniBatchDictionaryLearning", n_components=500, max_iter=1000),
            dense,
            50_000,
            100,
            nothing,
        ),
        "mini-batch k-means": (
            made("cluster", "MiniBatchKMeans", n_clusters=2000, max_iter=1000, max_no_improvement=None),
            dense,
            300_000,
            50,
            nothing,
        ),
        "bisecting k-means": (
            made("cluster", "BisectingKMeans", n_clusters=500, n_init=10),
            dense,
            300_000,
            50,
            nothing,
        ),
        "dbscan": (made("cluster", "DBSCAN", eps=2.0), dense, 100_000, 8, nothing),
        "hierarchy": (made("cluster", "AgglomerativeClustering"), dense, 40_000, 20, nothing),
        "hierarchy, average": (
            made("cluster", "AgglomerativeClustering", linkage="average"),
            dense,
            20_000,
            20,
            nothing,
        ),
        "nmf": (
            made("decomposition", "NMF", n_components=50, max_iter=10_000, tol=0.0),
            lambda n, d: np.abs(table(n, d)),
            20_000,
            500,
            nothing,
        ),
        "ica": (
            made("decomposition", "FastICA", max_iter=10_000, tol=1e-12),
            dense,
            200_000,
            60,
            nothing,
        ),
        "truncated svd": (made("decomposition", "TruncatedSVD", n_components=200), sparse, 200_000, 20_000, nothing),
        "mixture": (
            made("mixture", "GaussianMixture", n_components=50, tol=0.0, max_iter=1000),
            dense,
            200_000,
            30,
            nothing,
        ),
        "density tree": (made("density", "DensityTree"), dense, 500_000, 10, nothing),
        "density forest": (made("density", "DensityForest"), dense, 300_000, 10, nothing),
        "svc": (made("svm", "SVC", C=100.0, tol=1e-8), dense, 60_000, 20, two),
        "nu-svc": (made("svm", "NuSVC", nu=0.3, tol=1e-8), dense, 60_000, 20, two),
        "svc, five classes": (made("svm", "SVC", C=100.0, probability=True), dense, 40_000, 20, five),
        "svr": (made("svm", "SVR", C=100.0, tol=1e-8), dense, 60_000, 20, numbers),
        "one-class": (made("svm", "OneClassSVM", nu=0.3, tol=1e-8), dense, 60_000, 20, nothing),
        "kernel ridge": (made("kernel_ridge", "KernelRidge", kernel="rbf"), dense, 10_000, 20, numbers),
        "gaussian process": (made("gaussian_process", "GaussianProcessRegressor"), dense, 4000, 10, numbers),
        "gaussian process, classes": (made("gaussian_process", "GaussianProcessClassifier"), dense, 3000, 10, two),
        "discriminant": (made("discriminant_analysis", "QuadraticDiscriminantAnalysis"), dense, 2_000_000, 60, five),
        "condensed": (made("neighbors", "CondensedNearestNeighbor"), dense, 100_000, 10, two),
        "voronoi": (made("neighbors", "VoronoiEditing"), dense, 30_000, 10, two),
        "outliers": (made("neighbors", "LocalOutlierFactor"), dense, 200_000, 20, nothing),
        "naive bayes": (made("naive_bayes", "GaussianNB"), dense, 5_000_000, 20, five),
        "erm": (made("erm", "ERMClassifier", solver="gd"), dense, 2_000_000, 50, two),
        "erm, corners": (made("erm", "ERMRegressor", loss="absolute"), dense, 500_000, 60, numbers),
    }
    return found


def queries() -> dict[str, tuple[Any, ...]]:
    """What takes long outside of `fit`: by name the estimator, its rows and columns, the target, the call."""
    return {
        "neighbours": (
            made("neighbors", "NearestNeighbors"),
            table,
            200_000,
            40,
            nothing,
            lambda m, X: m.kneighbors(X),
        ),
        "neighbours, classes": (
            made("neighbors", "KNeighborsClassifier"),
            table,
            200_000,
            40,
            two,
            lambda m, X: m.predict(X),
        ),
        "neighbours within a radius": (
            made("neighbors", "RadiusNeighborsRegressor", radius=2.0),
            table,
            100_000,
            8,
            numbers,
            lambda m, X: m.predict(X),
        ),
        "density of kernels": (
            made("neighbors", "KernelDensity"),
            table,
            100_000,
            10,
            nothing,
            lambda m, X: m.score_samples(X),
        ),
        "sparse codes": (
            made("decomposition", "SparseCoder", dictionary=table(1000, 200)),
            table,
            100_000,
            200,
            nothing,
            lambda m, X: m.transform(X),
        ),
    }


def child(name: str) -> None:
    """Fit a small problem, so that all is compiled; then the large one, until interrupted; then the small one again."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background jobs ignore
    make, rows, n, d, target, *call = (cases() | queries())[name]
    small_n = 400
    small = rows(small_n, d if name.startswith(("tree, sparse", "sparse codes")) else min(d, 60))
    y_small = target(small)

    def fit(X: Any, y: Any) -> Any:
        model = make() if y is not None and X.shape[0] > small_n else _lighter(make())
        return model.fit(X) if y is None else model.fit(X, y)

    import warnings

    warnings.simplefilter("ignore")
    model = fit(small, y_small)
    if call:
        call[0](model, small)
    X = rows(n, d)
    y = target(X)
    if call:
        model = fit(X, y)
    began = time.monotonic()
    print("began", flush=True)
    try:
        if call:
            call[0](model, X)
        else:
            fit_all(make, X, y)
        print(f"over after {time.monotonic() - began:.1f}", flush=True)
        return
    except KeyboardInterrupt:
        print("stopped", flush=True)
    before = time.process_time()
    time.sleep(1.0)
    busy = time.process_time() - before
    fit(small, y_small)
    print(f"busy {busy:.2f}", flush=True)


def fit_all(make: Callable[[], Any], X: Any, y: Any) -> Any:
    return make().fit(X) if y is None else make().fit(X, y)


def _lighter(model: Any) -> Any:
    """The same model with little to do."""
    few = {"n_estimators": 2, "max_iter": 20, "n_clusters": 3, "n_components": 2, "n_nonzero_coefs": 5}
    for name, most in few.items():
        if getattr(model, name, None) is not None:
            model.set_params(**{name: most})
    return model


def processor_seconds(process: int) -> float:
    """What all threads of a process have used; 0 where the system does not tell."""
    try:
        with open(f"/proc/{process}/stat") as file:
            ticks = file.read().rpartition(")")[2].split()[11:13]
    except OSError:
        return 0.0
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def measure(name: str, after: float) -> str:
    """A line on one case."""
    command = [sys.executable, __file__, "--child", name]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, bufsize=1)
    assert process.stdout is not None
    try:
        if process.stdout.readline().strip() != "began":
            return "FAILED before the fit"
        time.sleep(after)
        used = processor_seconds(process.pid)
        os.kill(process.pid, signal.SIGINT)
        sent = time.monotonic()
        timer = _kill_after(process, PATIENCE)
        said = process.stdout.readline().strip()
        took, used = time.monotonic() - sent, processor_seconds(process.pid) - used
        rest = process.stdout.readline().strip()
        timer.cancel()
        if said.startswith("over"):
            return f"was {said} s: too small a problem"
        if not said:
            return f"DID NOT STOP within {took:.0f} s"
        verdict = "" if took <= LIMIT else "   TOO LATE"
        if not rest:
            return f"{took:6.2f} s, and no fit works afterwards   FAILED"
        seconds = float(rest.split()[1])
        return f"{took:6.2f} s ({used:.2f} of the processor){verdict}" + (
            f"   A THREAD WENT ON ({seconds:.2f} s)" if seconds > 0.5 else ""
        )
    finally:
        process.kill()
        process.wait()


def _kill_after(process: Any, seconds: float) -> Any:
    import threading

    timer = threading.Timer(seconds, process.kill)
    timer.start()
    return timer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--after", type=float, default=1.0, help="seconds from the beginning of a fit to the signal")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.child)
        return
    for name in given.names or [*cases(), *queries()]:
        print(f"{name:26s} {measure(name, given.after)}", flush=True)


if __name__ == "__main__":
    main()
