"""Pursuits: against scikit-learn, SciPy's non-negative least squares, and problems whose answer is known."""

import numpy as np
import pytest
from scipy.optimize import nnls
from sklearn import linear_model as oracle
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold

from learnt.linear_model import (
    MatchingPursuit,
    OrthogonalMatchingPursuit,
    OrthogonalMatchingPursuitCV,
    orthogonal_mp,
    orthogonal_mp_gram,
)


def sparse_problem(n, d, k, seed=0, targets=1, noise=0.0):
    """Columns of norm 1, and targets made of k of them with coefficients between 1 and 2 in size."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X /= np.linalg.norm(X, axis=0)
    coef = np.zeros((d, targets))
    for t in range(targets):
        chosen = rng.permutation(d)[:k]
        coef[chosen, t] = rng.choice([-1, 1], size=k) * rng.uniform(1, 2, size=k)
    y = X @ coef + noise * rng.normal(size=(n, targets))
    return (X, y[:, 0], coef[:, 0]) if targets == 1 else (X, y, coef)


ASKED = [{}, {"n_nonzero_coefs": 1}, {"n_nonzero_coefs": 9}, {"tol": 0.5}, {"tol": 0.5, "n_nonzero_coefs": 2}]


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("precompute", [True, False, "auto"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("targets", [1, 3])
@pytest.mark.parametrize("shape", [(80, 30), (30, 60)])
def test_equals_scikit_learn(asked, precompute, fit_intercept, targets, shape):
    X, y, _ = sparse_problem(*shape, 6, targets=targets, noise=0.05)
    if fit_intercept:
        X, y = X + 0.3, y + 2.0
    ours = OrthogonalMatchingPursuit(**asked, precompute=precompute, fit_intercept=fit_intercept).fit(X, y)
    theirs = oracle.OrthogonalMatchingPursuit(**asked, precompute=precompute, fit_intercept=fit_intercept).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9, atol=1e-9)
    assert np.shape(ours.coef_) == np.shape(theirs.coef_)
    np.testing.assert_array_equal(ours.n_iter_, theirs.n_iter_)
    assert ours.n_nonzero_coefs_ == theirs.n_nonzero_coefs_
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("path", [False, True])
@pytest.mark.parametrize("targets", [1, 4])
def test_functions_equal_scikit_learns(path, targets):
    X, y, _ = sparse_problem(50, 40, 5, targets=targets, noise=0.05)
    settings = {"n_nonzero_coefs": 6, "return_path": path, "return_n_iter": True}
    for ours, theirs in [
        (orthogonal_mp(X, y, **settings), oracle.orthogonal_mp(X, y, **settings)),
        (
            orthogonal_mp_gram(X.T @ X, X.T @ y, **settings),
            oracle.orthogonal_mp_gram(X.T @ X, X.T @ y, **settings),
        ),
    ]:
        assert ours[0].shape == theirs[0].shape
        np.testing.assert_allclose(ours[0], theirs[0], atol=1e-12)
        assert ours[1] == theirs[1]
    norms = np.atleast_1d(np.sum(y**2, axis=0))
    np.testing.assert_allclose(
        orthogonal_mp_gram(X.T @ X, X.T @ y, tol=0.3, norms_squared=norms),
        oracle.orthogonal_mp_gram(X.T @ X, X.T @ y, tol=0.3, norms_squared=norms),
        atol=1e-12,
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("precompute", [True, False])
def test_finds_few_columns_of_an_incoherent_matrix_exactly(seed, precompute):
    X, y, coef = sparse_problem(120, 400, 6, seed=seed)
    found = orthogonal_mp(X, y, n_nonzero_coefs=6, precompute=precompute)
    np.testing.assert_allclose(found, coef, atol=1e-12)
    by_error = OrthogonalMatchingPursuit(tol=1e-12, fit_intercept=False, precompute=precompute).fit(X, y)
    np.testing.assert_allclose(by_error.coef_, coef, atol=1e-10)
    assert by_error.n_iter_ == 6


def test_residual_is_orthogonal_to_what_was_taken():
    X, y, _ = sparse_problem(60, 100, 10, noise=0.2)
    coef = orthogonal_mp(X, y, n_nonzero_coefs=12)
    residual = y - X @ coef
    assert np.abs(X[:, coef != 0].T @ residual).max() < 1e-12
    assert np.count_nonzero(coef) == 12


def test_all_columns_are_least_squares():
    X, y, _ = sparse_problem(60, 15, 10, noise=0.2)
    np.testing.assert_allclose(
        orthogonal_mp(X, y, n_nonzero_coefs=15), np.linalg.lstsq(X, y, rcond=None)[0], atol=1e-10
    )


def test_the_largest_residual_falls_at_every_step():
    X, y, _ = sparse_problem(60, 100, 10, noise=0.2)
    path = orthogonal_mp(X, y, n_nonzero_coefs=20, return_path=True)
    errors = np.linalg.norm(y[:, None] - X @ path, axis=0)
    assert (np.diff(errors) < 0).all()
    np.testing.assert_array_equal(np.count_nonzero(path, axis=0), np.arange(1, 21))


@pytest.mark.parametrize("precompute", [True, False])
@pytest.mark.parametrize("shape", [(300, 40), (40, 300)])
@pytest.mark.parametrize("asked", [{"n_nonzero_coefs": 30}, {"tol": 2.0}], ids=str)
def test_one_signal_by_products_is_as_by_the_compiled_loop(asked, shape, precompute):
    X, y, _ = sparse_problem(*shape, 12, noise=0.05)
    X[:, 7] = X[:, 3] + 1e-3 * X[:, 5]  # nearly dependent
    alone, count = orthogonal_mp(X, y, **asked, precompute=precompute, return_n_iter=True)
    path, steps = orthogonal_mp(X, y, **asked, precompute=precompute, return_n_iter=True, return_path=True)
    assert count == steps
    np.testing.assert_allclose(alone, path[:, -1], atol=1e-9)
    np.testing.assert_array_equal(np.flatnonzero(alone), np.flatnonzero(path[:, -1]))


# --- non-negative


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("precompute", [True, False])
def test_positive_without_a_limit_is_non_negative_least_squares(seed, precompute):
    rng = np.random.default_rng(seed)
    X, y = np.abs(rng.normal(size=(40, 25))), rng.normal(size=40) + 1
    found = orthogonal_mp(X, y, n_nonzero_coefs=25, positive=True, precompute=precompute)
    np.testing.assert_allclose(found, nnls(X, y)[0], atol=1e-9)  # and no warning: there is nothing better


def test_positive_recovers_and_never_exceeds_its_limit():
    X, _, coef = sparse_problem(100, 300, 5, seed=3)
    coef = np.abs(coef)
    np.testing.assert_allclose(orthogonal_mp(X, X @ coef, n_nonzero_coefs=5, positive=True), coef, atol=1e-12)
    rng = np.random.default_rng(0)
    A, B = np.abs(rng.normal(size=(30, 20))), rng.normal(size=(30, 7)) + 0.5
    model = OrthogonalMatchingPursuit(n_nonzero_coefs=4, positive=True).fit(A, B)
    assert (model.coef_ >= 0).all()
    assert (np.count_nonzero(model.coef_, axis=1) <= 4).all()
    path = orthogonal_mp(A, B[:, 0], n_nonzero_coefs=3, positive=True, return_path=True)
    assert (path >= 0).all()


# --- cross-validation


@pytest.mark.parametrize("seed", range(3))
def test_cv_equals_scikit_learn(seed):
    X, y, _ = sparse_problem(90, 40, 4, seed=seed, noise=0.02)
    ours, theirs = OrthogonalMatchingPursuitCV().fit(X, y), oracle.OrthogonalMatchingPursuitCV().fit(X, y)
    assert ours.n_nonzero_coefs_ == theirs.n_nonzero_coefs_
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-10)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-10)
    assert ours.n_iter_ == theirs.n_iter_


def test_cv_takes_splitters_and_passes_groups_on():
    from sklearn import config_context

    X, y, _ = sparse_problem(60, 12, 3, noise=0.02)
    groups = np.repeat(np.arange(6), 10)
    folds = list(GroupKFold(3).split(X, y, groups))
    expected = OrthogonalMatchingPursuitCV(cv=folds, max_iter=7).fit(X, y)
    assert expected.mse_path_.shape == (7, 3)
    with config_context(enable_metadata_routing=True):
        model = OrthogonalMatchingPursuitCV(cv=GroupKFold(3).set_split_request(groups=True), max_iter=7)
        np.testing.assert_array_equal(model.fit(X, y, groups=groups).mse_path_, expected.mse_path_)


@pytest.mark.parametrize("mean", [0.0, 5.0, 1e7])
def test_folds_by_subtraction_equal_the_folds(mean):
    X, y, _ = sparse_problem(90, 40, 4, noise=0.02)
    X, y = X + mean, y + mean
    X[:, 3], X[:, 7] = 2.5, 0.0
    X[4, 7] = 1.0  # constant where row 4 is left out
    rows = np.random.default_rng(1).permutation(90)
    folds = [(np.setdiff1d(rows, part), part) for part in np.array_split(rows, 3)]
    by_parts = OrthogonalMatchingPursuitCV(cv=folds, max_iter=12).fit(X, y)
    missing = [(train, test[1:]) for train, test in folds]  # no longer complements: from their own rows
    alone = OrthogonalMatchingPursuitCV(cv=missing, max_iter=12).fit(X, y)
    errors = [
        [((X[test] @ m.coef_ + m.intercept_ - y[test]) ** 2).mean() for train, test in folds
         for m in [OrthogonalMatchingPursuit(n_nonzero_coefs=k).fit(X[train], y[train])]]
        for k in range(1, 13)
    ]  # fmt: skip
    np.testing.assert_allclose(by_parts.mse_path_, errors, rtol=1e-6)
    assert alone.n_nonzero_coefs_ == by_parts.n_nonzero_coefs_
    np.testing.assert_allclose(by_parts.coef_, alone.coef_, atol=1e-8)
    assert by_parts.coef_[3] == 0.0


# --- matching pursuit


def test_matching_pursuit_by_hand():
    """Three steps of the definition, spelled out."""
    X, y, _ = sparse_problem(30, 50, 5, noise=0.1)
    X = X * np.linspace(0.5, 2.0, 50)
    coef, residual = np.zeros(50), y.copy()
    for _ in range(25):
        j = np.argmax(np.abs(X.T @ residual) / np.linalg.norm(X, axis=0))
        move = X[:, j] @ residual / (X[:, j] @ X[:, j])
        coef[j] += move
        residual -= move * X[:, j]
    model = MatchingPursuit(n_nonzero_coefs=50, max_iter=25, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-12)
    assert model.n_iter_ == 25


def test_matching_pursuit_tends_to_least_squares_on_its_columns():
    X, y, _ = sparse_problem(100, 30, 5, targets=2, noise=0.1)
    model = MatchingPursuit(n_nonzero_coefs=6, max_iter=5000).fit(X, y)
    assert (np.count_nonzero(model.coef_, axis=1) <= 6).all()
    for t in range(2):
        used = model.coef_[t] != 0
        expected = oracle.LinearRegression().fit(X[:, used], y[:, t])
        np.testing.assert_allclose(model.coef_[t, used], expected.coef_, atol=1e-5)


def test_matching_pursuit_on_orthogonal_columns_is_orthogonal():
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(40, 20)))[0]
    y = Q @ np.r_[3, -2, 1, np.zeros(17)]
    model = MatchingPursuit(n_nonzero_coefs=3, fit_intercept=False).fit(Q, y)
    np.testing.assert_allclose(model.coef_, orthogonal_mp(Q, y, n_nonzero_coefs=3), atol=1e-12)


def test_matching_pursuit_positive_and_tolerance():
    rng = np.random.default_rng(0)
    X, y = np.abs(rng.normal(size=(40, 10))), rng.normal(size=40) + 1
    model = MatchingPursuit(n_nonzero_coefs=10, max_iter=100000, positive=True, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, nnls(X, y)[0], atol=1e-4)
    A, b, _ = sparse_problem(50, 80, 4)
    close = MatchingPursuit(tol=1e-3, fit_intercept=False).fit(A, b)
    assert np.sum((b - A @ close.coef_) ** 2) <= 1e-3
    with pytest.warns(ConvergenceWarning, match="squared residual of .* raise max_iter"):
        MatchingPursuit(tol=1e-3, max_iter=2).fit(A, b)


# --- bad input


def test_dependent_columns_warn_once_and_give_a_finite_answer():
    X, y, _ = sparse_problem(40, 10, 3, noise=0.1)
    X[:, 5] = X[:, 2]
    X[:, 7] = 0.0
    X[:, 8] = 4.0
    with pytest.warns(RuntimeWarning, match=r"linear dependence in the dictionary.*1 of 1 targets") as caught:
        model = OrthogonalMatchingPursuit(n_nonzero_coefs=10).fit(X, y)
    assert len(caught) == 1
    assert "\n" not in str(caught[0].message)
    assert np.isfinite(model.coef_).all()
    assert model.coef_[7] == model.coef_[8] == 0
    np.testing.assert_allclose(model.predict(X), oracle.LinearRegression().fit(X, y).predict(X), atol=1e-8)


def test_zero_target_takes_nothing():
    X, _, _ = sparse_problem(20, 10, 3)
    model = OrthogonalMatchingPursuit().fit(X, np.zeros(20))
    assert not model.coef_.any()
    assert MatchingPursuit().fit(X, np.zeros(20)).n_iter_ == 0


@pytest.mark.parametrize("scale", [1e-120, 1e-8, 1e8, 1e120])
def test_scales_do_not_matter(scale):
    X, y, coef = sparse_problem(60, 90, 5)
    np.testing.assert_allclose(orthogonal_mp(X, y * scale, n_nonzero_coefs=5), coef * scale, rtol=1e-9, atol=0)
    np.testing.assert_allclose(orthogonal_mp(X * scale, y, n_nonzero_coefs=5), coef / scale, rtol=1e-9, atol=0)


def test_large_means_lose_no_digits():
    X, y, coef = sparse_problem(60, 30, 4)
    found = OrthogonalMatchingPursuit(n_nonzero_coefs=4).fit(X + 1e6, y + 1e6)
    np.testing.assert_allclose(found.coef_, coef, atol=1e-7)


def test_refusals_are_one_sentence():
    X, y, _ = sparse_problem(20, 10, 3)
    for call in [
        lambda: OrthogonalMatchingPursuit(n_nonzero_coefs=11).fit(X, y),
        lambda: OrthogonalMatchingPursuit(n_nonzero_coefs=0).fit(X, y),
        lambda: OrthogonalMatchingPursuit(tol=-1).fit(X, y),
        lambda: OrthogonalMatchingPursuit(precompute="yes").fit(X, y),
        lambda: orthogonal_mp(X, y, n_nonzero_coefs=11),
        lambda: orthogonal_mp(X, y, tol=-1),
        lambda: orthogonal_mp(X, y[:5]),
        lambda: orthogonal_mp_gram(X, X.T @ y),
        lambda: orthogonal_mp_gram(X.T @ X, X.T @ y, tol=0.1),
        lambda: orthogonal_mp_gram(X.T @ X, y),
        lambda: MatchingPursuit(max_iter=0).fit(X, y),
    ]:
        with pytest.raises(ValueError) as caught:
            call()
        assert "\n" not in str(caught.value)


def test_float32_stays_and_many_signals_are_the_same_on_any_number_of_threads():
    from learnt.engine.threads import set_threads

    X, y, _ = sparse_problem(30, 60, 4, targets=300, noise=0.1)
    narrow = OrthogonalMatchingPursuit(n_nonzero_coefs=5).fit(X.astype(np.float32), y.astype(np.float32))
    assert narrow.coef_.dtype == narrow.intercept_.dtype == np.float32
    assert orthogonal_mp_gram((X.T @ X).astype(np.float32), (X.T @ y).astype(np.float32)).dtype == np.float32
    results = []
    try:
        for threads in (1, 3):
            set_threads(threads)
            results.append(orthogonal_mp_gram(X.T @ X, X.T @ y, n_nonzero_coefs=20))
    finally:
        set_threads(None)
    np.testing.assert_array_equal(*results)
