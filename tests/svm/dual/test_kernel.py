"""Gaussians of columns far from zero and in large units (time stamps, money): the kernel, and machines against libsvm.

A machine's objective is measured with the kernel from its definition, so that a wrong kernel matrix shows, whosever it
is: that of libsvm cancels on such columns too, and may be worse.
"""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm as peer

from learnt import svm
from learnt.svm.dual import _kernel
from learnt.svm.dual._kernel import _ERROR, Kernel, TrainingKernel

N = 80


def tables():
    rng = np.random.default_rng(0)
    seconds = 1.6e9 + np.floor(rng.uniform(0, 2.6e6, N))
    money = np.round(np.exp(rng.normal(10, 2, N)), 2)
    outlier = rng.normal(size=(N, 9))
    outlier[3] = 1e9
    return {
        "seconds": seconds[:, None],
        "seconds and money": np.c_[seconds, money],
        "seconds, money and ordinary columns": np.c_[seconds, money, rng.normal(size=(N, 8))],
        "milliseconds": np.c_[1e3 * seconds, 1.7e12 + rng.uniform(0, 1e9, (N, 7))],
        "offset": 1e8 + rng.normal(size=(N, 12)),
        "large": 1e10 * rng.normal(size=(N, 10)),
        "outlier": outlier,
    }


TABLES = tables()
GAMMAS = ["scale", "auto", "columns"]


def gamma_of(X, gamma):
    """The last for rows that are neither all alike nor all different, which the spread of all cells together is not."""
    return 0.5 / (X.shape[1] * X.var(axis=0).max()) if gamma == "columns" else gamma


def exact(X, Z, gamma):
    gaps = X[:, None].astype(np.longdouble) - Z
    return np.exp(-gamma * (gaps * gaps).sum(axis=2)).astype(float)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("gamma", [1e-20, 1e-12, 1e-3, 1.0])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_kernel_is_the_formula(name, gamma, kind, monkeypatch):
    """The bound asked for, and what an exponent loses in exp, where it is rounded."""
    monkeypatch.setattr(_kernel, "_DENSE_CELLS", 0)  # sparse rows stay so, as large ones do
    X = TABLES[name]
    wanted = exact(X, X, gamma)
    room = wanted * (_ERROR + 1e-15 * (10 + X.shape[1] - np.log(np.maximum(wanted, 1e-300)))) + 1e-300
    kernel = Kernel("rbf", gamma, 3, 0.0)
    training = TrainingKernel(kernel, kind(X))
    assert sparse.issparse(training.X) == (kind is sparse.csr_array)
    whole, rows = np.empty((N, N)), np.empty((N, N))
    training.whole(whole)
    training.rows(np.arange(N), rows, np.arange(N))
    for found in (whole, rows, kernel.between(kind(X), kind(X))):
        assert (np.abs(found - wanted) <= room).all()
    coef = np.random.default_rng(1).normal(size=(N, 2))
    np.testing.assert_array_less(np.abs(kernel.scores(kind(X), kind(X), coef) - wanted @ coef), 1e-9 * N)


def dual(model, K, y):
    """The dual objective, to be minimised, of what a machine found."""
    a = np.zeros(len(K))
    a[model.support_] = model.dual_coef_[0]
    linear = {"SVC": -np.abs(a).sum(), "OneClassSVM": 0.0}
    if type(model).__name__ == "SVR":
        return 0.5 * a @ K @ a - y @ a + model.epsilon * np.abs(a).sum()
    return 0.5 * a @ K @ a + linear[type(model).__name__]


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("gamma", GAMMAS)
def test_no_objective_above_libsvms_and_scores_are_those_of_the_kernel(name, gamma):
    X = TABLES[name]
    gamma = gamma_of(X, gamma)
    rng = np.random.default_rng(2)
    z = (X[:, 0] - X[:, 0].mean()) / X[:, 0].std()
    targets = {"SVC": np.where(z + 0.3 * rng.normal(size=N) > 0, 1.0, -1.0), "SVR": 10 * np.sin(2 * z)}
    for kind, options in (("SVC", {"C": 10.0}), ("SVR", {"C": 10.0}), ("OneClassSVM", {"nu": 0.2})):
        y = targets.get(kind)
        ours, theirs = (getattr(room, kind)(gamma=gamma, tol=1e-6, **options).fit(X, y) for room in (svm, peer))
        K = exact(X, X, ours._gamma)
        # no pair of scores is more than tol apart, so that no variable can gain more than tol times its bound
        assert dual(ours, K, y) <= dual(theirs, K, y) + 1e-6 * N * options.get("C", 1.0) + 1e-9
        scores = ours.predict(X) if kind == "SVR" else ours.decision_function(X)
        wanted = K[:, ours.support_] @ ours.dual_coef_[0] + ours.intercept_[0]
        np.testing.assert_allclose(scores, wanted, atol=1e-8 * np.abs(ours.dual_coef_).sum())


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("gamma", GAMMAS)
def test_no_fit_of_its_own_rows_below_libsvms(name, gamma):
    X = TABLES[name]
    z = (X[:, 0] - X[:, 0].mean()) / X[:, 0].std()
    upper = z > np.median(z)
    for kind, y in (("SVC", upper), ("NuSVC", upper), ("SVR", np.sin(2 * z)), ("NuSVR", np.sin(2 * z))):
        options = {} if kind == "NuSVC" else {"C": 10.0}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "NuSVC with nu=0.5 leaves a margin")  # all rows are alike by this gamma
            ours = getattr(svm, kind)(gamma=gamma_of(X, gamma), **options).fit(X, y).score(X, y)
        try:
            theirs = getattr(peer, kind)(gamma=gamma_of(X, gamma), **options).fit(X, y).score(X, y)
        except ValueError:  # libsvm's coefficients are not finite
            continue
        assert ours >= theirs - 0.02


def test_a_fit_in_single_precision_is_not_let_in_by_columns_that_need_more():
    rng = np.random.default_rng(3)
    seconds = 1.6e9 + rng.uniform(0, 2.6e6, 1100)
    X = np.c_[seconds, np.exp(rng.normal(10, 2, 1100)), rng.normal(size=(1100, 8))]
    y = np.sin((seconds - 1.6e9) / 3e5)
    for gamma in (1e-11, 1.0):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ours = svm.SVR(gamma=gamma, C=10.0).fit(X, y)
        assert ours.score(X, y) >= peer.SVR(gamma=gamma, C=10.0).fit(X, y).score(X, y) - 0.01
