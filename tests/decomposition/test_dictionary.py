"""Sparse coding and dictionary learning: scikit-learn's answers, the optimality conditions, and planted atoms."""

import warnings

import numpy as np
import pytest
from scipy.optimize import nnls
from sklearn import decomposition as oracle
from sklearn.exceptions import ConvergenceWarning

from learnt.decomposition import (
    DictionaryLearning,
    MiniBatchDictionaryLearning,
    SparseCoder,
    dict_learning,
    dict_learning_online,
    sparse_encode,
)


def atoms(size, d, seed=0):
    D = np.random.default_rng(seed).normal(size=(size, d))
    return D / np.linalg.norm(D, axis=1, keepdims=True)


def planted(n, size, d, density=0.15, noise=0.005, positive=False, seed=0):
    """Rows made of few atoms each."""
    rng = np.random.default_rng(seed)
    D = atoms(size, d, seed)
    W = rng.normal(size=(n, size)) * (rng.random((n, size)) < density)
    if positive:
        D, W = np.abs(D) * (rng.random((size, d)) < 0.3), np.abs(W)
        D[np.arange(size), np.arange(size) % d] += 0.5
        D /= np.linalg.norm(D, axis=1, keepdims=True)
    return W @ D + noise * rng.normal(size=(n, d)), D, W


def objective(X, W, D, alpha):
    return 0.5 * np.sum((X - W @ D) ** 2) + alpha * np.abs(W).sum()


def found_share(D, true):
    """The share of true atoms that have a nearly equal one (up to sign)."""
    D = D / np.linalg.norm(D, axis=1, keepdims=True)
    return np.mean(np.abs(D @ true.T).max(axis=0) > 0.98)


# --- coding


@pytest.mark.parametrize("size", [6, 12, 40])
@pytest.mark.parametrize(
    ("algorithm", "asked"),
    [
        ("lasso_lars", {"alpha": 0.3}),
        ("lasso_lars", {"alpha": 1e-3}),
        ("lasso_cd", {"alpha": 0.3}),
        ("lars", {"n_nonzero_coefs": 4}),
        ("omp", {"n_nonzero_coefs": 4}),
        ("omp", {}),
        ("threshold", {"alpha": 0.2}),
        ("threshold", {"alpha": 0.2, "positive": True}),
    ],
)
def test_codes_equal_scikit_learns(size, algorithm, asked):
    X, D = np.random.default_rng(1).normal(size=(30, 12)), atoms(size, 12)
    ours = sparse_encode(X, D, algorithm=algorithm, **asked)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # its own
        theirs = oracle.sparse_encode(X, D, algorithm=algorithm, **asked)
    if algorithm.startswith("lasso"):
        best = objective(X, theirs, D, asked["alpha"])
        np.testing.assert_allclose(ours, theirs, atol=1e-3)  # where theirs stop is not the minimum
        assert objective(X, ours, D, asked["alpha"]) <= best + 1e-12
    else:
        np.testing.assert_allclose(ours, theirs, atol=1e-10)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("size", [8, 60])
@pytest.mark.parametrize("alpha", [1e-6, 0.01, 0.5])
def test_lasso_codes_satisfy_the_optimality_conditions(size, positive, alpha):
    """|Dr| ≤ α everywhere, and α·sign(w) where w is not 0."""
    X, D = np.random.default_rng(1).normal(size=(50, 15)), atoms(size, 15)
    W = sparse_encode(X, D, alpha=alpha, positive=positive)
    products = (X - W @ D) @ D.T
    assert (products if positive else np.abs(products)).max() <= alpha + 1e-10
    np.testing.assert_allclose(products[W != 0], (alpha * np.sign(W))[W != 0], atol=1e-10)
    assert not positive or W.min() >= 0


def test_dependent_atoms_and_any_start_give_the_minimum():
    rng = np.random.default_rng(0)
    D = atoms(10, 6)
    D = np.vstack([D, D[:3], -D[3:5], np.zeros((1, 6))])
    X = rng.normal(size=(20, 6))
    best = objective(X, oracle.sparse_encode(X, D[:10], alpha=0.1), D[:10], 0.1)
    for init in (None, rng.normal(size=(20, 16))):
        W = sparse_encode(X, D, alpha=0.1, init=init)
        np.testing.assert_allclose(objective(X, W, D, 0.1), best, rtol=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_lasso_codes_of_awkward_dictionaries(seed):
    """Ties, repeated and zero atoms, wild scales, more atoms than columns: the conditions hold all the same."""
    rng = np.random.default_rng(seed)
    d, size = rng.integers(1, 20), rng.integers(1, 50)
    D = rng.integers(-1, 2, size=(size, d)).astype(float) if seed % 2 else rng.normal(size=(size, d))
    D[rng.integers(0, size, size=size // 2 + 1)] = D[0]
    X = rng.integers(-2, 3, size=(10, d)) * 10.0 ** rng.integers(-6, 7)
    largest = np.abs(X @ D.T).max()
    for alpha in (0.3 * largest, 1e-4 * largest, 0.0):
        for positive in (False, True):
            W = sparse_encode(X, D, alpha=alpha, positive=positive)
            products = (X - W @ D) @ D.T
            assert (products if positive else np.abs(products)).max() <= alpha + 1e-9 * largest
            np.testing.assert_allclose(products[W != 0], (alpha * np.sign(W))[W != 0], atol=1e-9 * largest)


def test_positive_pursuit_is_non_negative_least_squares_without_a_limit():
    rng = np.random.default_rng(0)
    D, X = np.abs(rng.normal(size=(8, 20))), rng.normal(size=(15, 20)) + 0.5
    W = sparse_encode(X, D, algorithm="omp", n_nonzero_coefs=8, positive=True)
    np.testing.assert_allclose(W, [nnls(D.T, x)[0] for x in X], atol=1e-9)


def test_precomputed_products_and_float32():
    X, D = np.random.default_rng(1).normal(size=(30, 12)), atoms(20, 12)
    expected = sparse_encode(X, D, alpha=0.2)
    np.testing.assert_allclose(sparse_encode(X, D, gram=D @ D.T, cov=D @ X.T, alpha=0.2), expected, atol=1e-12)
    narrow = sparse_encode(X.astype(np.float32), D.astype(np.float32), alpha=0.2)
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(narrow, expected, atol=1e-4)


def test_too_few_rounds_report_the_distance():
    X, D = np.random.default_rng(1).normal(size=(30, 12)), atoms(60, 12)
    with pytest.warns(ConvergenceWarning, match=r"of 30 codes did not converge in 2 rounds.*raise max_iter") as caught:
        sparse_encode(X, D, alpha=1e-3, max_iter=2)
    assert len(caught) == 1


# --- SparseCoder


@pytest.mark.parametrize("split", [False, True])
def test_coder_needs_no_fit_and_goes_back(split):
    D = atoms(10, 10)
    X = np.random.default_rng(0).normal(size=(7, 10))
    settings = {"transform_algorithm": "lasso_lars", "transform_alpha": 0.05, "split_sign": split}
    ours, theirs = SparseCoder(D, **settings), oracle.SparseCoder(D, **settings)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-9)
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), X, atol=0.6)
    assert ours.fit(X).n_components_ == 10
    assert len(ours.get_feature_names_out()) == ours.transform(X).shape[1]
    assert list(ours.set_output(transform="pandas").transform(X).columns) == list(ours.get_feature_names_out())


def test_coder_refuses_in_one_sentence():
    D, X = atoms(5, 4), np.ones((3, 4))
    for call in [
        lambda: SparseCoder(D).fit(X[:, :3]),
        lambda: SparseCoder(D).transform(X[:, :3]),
        lambda: SparseCoder("abc").fit(X),
        lambda: SparseCoder(D, transform_algorithm="magic").fit(X),
        lambda: SparseCoder(D, transform_n_nonzero_coefs=6).transform(X),
        lambda: SparseCoder(D, transform_algorithm="lars", positive_code=True).transform(X),
        lambda: SparseCoder(D).inverse_transform(np.ones((2, 7))),
        lambda: sparse_encode(X, D, algorithm="magic"),
        lambda: sparse_encode(X, D, init=np.ones((2, 5))),
    ]:
        with pytest.raises(ValueError) as caught:
            call()
        assert "\n" not in str(caught.value)


# --- learning


@pytest.mark.parametrize("algorithm", ["lars", "cd"])
def test_learning_takes_scikit_learns_steps(algorithm):
    X, _, _ = planted(80, 12, 8)
    settings = {"n_components": 12, "alpha": 0.1, "max_iter": 8, "random_state": 0, "fit_algorithm": algorithm}
    ours, theirs = DictionaryLearning(**settings), oracle.DictionaryLearning(**settings)
    code = ours.fit_transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # its own
        expected = theirs.fit_transform(X)
    np.testing.assert_allclose(ours.error_, theirs.error_, rtol=1e-3)
    if algorithm == "lars":
        np.testing.assert_allclose(ours.components_, theirs.components_, atol=1e-4)
        np.testing.assert_allclose(code, expected, atol=1e-3)
    assert ours.n_iter_ == theirs.n_iter_ == 8


def test_planted_atoms_are_found_and_the_objective_never_rises():
    X, D, _ = planted(500, 20, 16)
    model = DictionaryLearning(20, alpha=0.05, random_state=0).fit(X)
    assert found_share(model.components_, D) == 1.0
    assert (np.diff(model.error_) <= 1e-9 * model.error_[0]).all()
    assert np.linalg.norm(model.components_, axis=1).max() <= 1 + 1e-12


def test_planted_topics_are_found_with_everything_positive():
    X, D, _ = planted(400, 10, 25, positive=True)
    model = DictionaryLearning(
        10, alpha=0.02, positive_code=True, positive_dict=True, transform_algorithm="lasso_lars", random_state=0
    ).fit(np.abs(X))
    assert model.components_.min() >= 0
    assert model.transform(np.abs(X)).min() >= 0
    assert found_share(model.components_, D) >= 0.9


def test_starts_that_are_given_are_used():
    X, D, W = planted(100, 8, 12)
    exact = DictionaryLearning(8, alpha=0.01, dict_init=D, code_init=W, max_iter=3).fit(X)
    assert exact.error_[0] < objective(X, W, D, 0.01)
    calls = []
    DictionaryLearning(8, dict_init=D, max_iter=11, tol=0, callback=calls.append, random_state=0).fit(X)
    assert [c["iteration"] for c in calls] == [0, 5, 10]
    with pytest.raises(ValueError, match="dict_init must be a matrix"):
        DictionaryLearning(8, dict_init=D[:, :3]).fit(X)


def test_mini_batches_take_scikit_learns_steps():
    X, _, _ = planted(200, 10, 8)
    D = atoms(10, 8, seed=5)
    settings = {
        "n_components": 10, "alpha": 0.1, "dict_init": D, "batch_size": 50, "max_iter": 1, "tol": 0.0,
        "shuffle": False, "max_no_improvement": None, "random_state": 0,
    }  # fmt: skip
    ours = MiniBatchDictionaryLearning(**settings).fit(X)
    theirs = oracle.MiniBatchDictionaryLearning(**{**settings, "dict_init": D.copy()}).fit(X)
    np.testing.assert_allclose(ours.components_, theirs.components_, atol=1e-6)
    assert ours.n_steps_ == theirs.n_steps_ == 4
    assert ours.n_iter_ == theirs.n_iter_ == 1


def test_mini_batches_find_planted_atoms_where_old_codes_are_forgotten():
    X, D, _ = planted(2000, 16, 12)
    model = MiniBatchDictionaryLearning(
        16, alpha=0.05, batch_size=200, random_state=0, tol=1e-6, max_iter=80, max_no_improvement=None
    ).fit(X)
    assert found_share(model.components_, D) >= 0.9


def test_batches_may_come_one_by_one():
    X, _, _ = planted(1000, 16, 12)
    model, prices = MiniBatchDictionaryLearning(16, alpha=0.05, random_state=0), []
    for lo in range(0, 1000, 100):
        D = model.partial_fit(X[lo : lo + 100]).components_
        prices.append(objective(X, sparse_encode(X, D, alpha=0.05), D, 0.05))
    assert model.n_steps_ == 10
    assert prices[-1] < 0.95 * prices[0]


def test_it_stops_without_progress():
    X, _, _ = planted(500, 8, 6)
    model = MiniBatchDictionaryLearning(8, alpha=0.1, batch_size=100, random_state=0, max_iter=1000).fit(X)
    assert model.n_iter_ < 1000
    calls = []
    MiniBatchDictionaryLearning(8, batch_size=250, max_iter=2, tol=0, random_state=0, callback=calls.append).fit(X)
    assert [c["step"] for c in calls] == [0, 1, 2, 3]


def test_functions_give_what_the_estimators_give():
    X, _, _ = planted(60, 6, 8)
    model = DictionaryLearning(6, alpha=0.1, max_iter=5, random_state=0)
    code, D, errors, n_iter = dict_learning(X, 6, alpha=0.1, max_iter=5, random_state=0, return_n_iter=True)
    np.testing.assert_array_equal(code, model.fit_transform(X))
    np.testing.assert_array_equal(D, model.components_)
    assert (errors, n_iter) == (model.error_, model.n_iter_)
    code, D = dict_learning_online(X, 6, alpha=0.1, random_state=0)
    np.testing.assert_allclose(code, sparse_encode(X, D, alpha=0.1), atol=1e-12)


def test_more_atoms_than_rows_and_empty_rows():
    X = np.vstack([np.eye(3), np.zeros((1, 3))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = DictionaryLearning(6, alpha=0.01, random_state=0, max_iter=20).fit(X)
        assert not model.transform(X)[3].any()
    assert np.isfinite(model.components_).all()


def test_a_saved_model_learns_on(tmp_path):
    import learnt

    X, _, _ = planted(100, 6, 8)
    model = MiniBatchDictionaryLearning(6, alpha=0.1, random_state=0).partial_fit(X[:50])
    learnt.save(model, tmp_path / "model.learnt")
    again = learnt.load(tmp_path / "model.learnt")
    np.testing.assert_array_equal(again.partial_fit(X[50:]).components_, model.partial_fit(X[50:]).components_)
