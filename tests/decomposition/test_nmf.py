"""NMF: the iterations of scikit-learn, the conditions of an optimum, planted parts, bad input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import decomposition as theirs

from learnt.decomposition import NMF, non_negative_factorization
from learnt.engine.threads import set_threads

RNG = np.random.default_rng(0)
PARTS = RNG.gamma(0.5, size=(3, 12)) * (RNG.uniform(size=(3, 12)) < 0.6)
AMOUNTS = RNG.gamma(1.0, size=(300, 3))
X = AMOUNTS @ PARTS + 0.05 * RNG.uniform(size=(300, 12))
W0, H0 = RNG.uniform(size=(300, 3)), RNG.uniform(size=(3, 12))


@pytest.mark.filterwarnings("ignore:Maximum number of iterations")
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "settings",
    [
        {"solver": "cd"},
        {"solver": "cd", "alpha_W": 0.01, "alpha_H": 0.002, "l1_ratio": 0.5, "shuffle": True, "random_state": 3},
        {"solver": "mu"},
        {"solver": "mu", "beta_loss": "kullback-leibler", "alpha_W": 0.01, "l1_ratio": 1.0},
        {"solver": "mu", "beta_loss": "itakura-saito"},
        {"solver": "mu", "beta_loss": 1.5, "alpha_W": 0.01},
        {"solver": "mu", "beta_loss": 2.5},
        {"solver": "mu", "beta_loss": -0.5},
    ],
    ids=str,
)
def test_iterations_are_scikit_learns(make, settings):
    ours = NMF(3, init="custom", max_iter=15, **settings)
    other = theirs.NMF(3, init="custom", max_iter=15, **settings)
    W, V = ours.fit_transform(make(X), W=W0, H=H0), other.fit_transform(make(X), W=W0.copy(), H=H0.copy())
    np.testing.assert_allclose(W, V, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ours.components_, other.components_, rtol=1e-6, atol=1e-9)
    assert ours.reconstruction_err_ == pytest.approx(other.reconstruction_err_, rel=1e-6)
    assert ours.n_iter_ == other.n_iter_
    if settings.get("beta_loss") != "kullback-leibler":  # there scikit-learn adds the penalty once more each iteration
        np.testing.assert_allclose(ours.transform(make(X)), other.transform(make(X)), rtol=1e-5, atol=1e-6)


def test_coordinate_descent_ends_where_no_entry_can_improve():
    model = NMF(3, tol=1e-6, max_iter=20_000, alpha_W=1e-4, alpha_H=2e-4, l1_ratio=0.3, random_state=0)
    W = model.fit_transform(X)
    H = model.components_
    n, d = X.shape
    for A, slope in (
        (W, (W @ H - X) @ H.T + d * 1e-4 * (0.3 + 0.7 * W)),
        (H, W.T @ (W @ H - X) + n * 2e-4 * (0.3 + 0.7 * H)),
    ):
        # The gradient is 0 where an entry is free and points outwards where it is 0; X has a norm of about 100.
        assert np.abs(slope[A > 0]).max() < 1e-3
        assert slope[A == 0].min(initial=0.0) > -1e-3


def test_planted_parts_are_found():
    # Parts with columns of their own: the factorisation is unique up to order and scale.
    parts = np.kron(np.eye(3), np.ones(4)) * RNG.uniform(1, 2, size=12)
    model = NMF(3, random_state=0, tol=1e-8, max_iter=2000)
    model.fit(RNG.gamma(1.0, size=(200, 3)) * (RNG.uniform(size=(200, 3)) < 0.5) @ parts)
    cosine = model.components_ @ parts.T / np.linalg.norm(model.components_, axis=1)[:, None]
    cosine /= np.linalg.norm(parts, axis=1)
    np.testing.assert_allclose(np.sort(cosine.max(axis=1)), 1.0, atol=1e-3)
    assert sorted(cosine.argmax(axis=1)) == [0, 1, 2]


@pytest.mark.parametrize("init", ["random", "nndsvd", "nndsvda", "nndsvdar"])
@pytest.mark.filterwarnings("ignore:Maximum number of iterations")
def test_starts_are_as_good_as_scikit_learns(init):
    ours = NMF(3, init=init, random_state=0, max_iter=1000).fit(X)
    other = theirs.NMF(3, init=init, random_state=0, max_iter=1000).fit(X)
    assert ours.reconstruction_err_ <= other.reconstruction_err_ * 1.01
    rows = ours.inverse_transform(ours.transform(X))
    assert np.linalg.norm(rows - X) <= ours.reconstruction_err_ * 1.01


def test_threads_and_precision_do_not_change_the_model():
    wide = np.tile(X, (40, 1))
    found = []
    for threads in (1, 2):
        set_threads(threads)
        found.append(NMF(3, random_state=0, max_iter=10, tol=0).fit(wide).components_)
    set_threads(None)
    np.testing.assert_array_equal(*found)
    narrow = NMF(3, random_state=0, max_iter=10, tol=0).fit(wide.astype(np.float32))
    assert narrow.components_.dtype == np.float32
    np.testing.assert_allclose(narrow.components_, found[0], atol=2e-3 * found[0].max())


def test_function():
    W, H, n_iter = non_negative_factorization(X, n_components=3, random_state=0, max_iter=1000)
    model = NMF(3, random_state=0, max_iter=1000)
    np.testing.assert_array_equal(W, model.fit_transform(X))
    assert n_iter == model.n_iter_
    V, same, _ = non_negative_factorization(X, H=H, update_H=False)
    np.testing.assert_array_equal(same, H)
    np.testing.assert_allclose(V, model.transform(X), rtol=1e-10)


@pytest.mark.parametrize(
    ("model", "rows", "words"),
    [
        (NMF(2), X - 1.0, "Negative values in data passed to NMF .*row 0, column"),
        (NMF(2), sparse.csr_array([[1.0, 0.0], [0.0, -2.0]]), "row 1, column 1 is -2"),
        (NMF(20, init="nndsvd"), X, "can only be used when n_components <= min"),
        (NMF(2, init="custom"), X, "H is missing"),
        (NMF(2, beta_loss="kullback-leibler"), X, "use solver='mu'"),
        (NMF(2, solver="mu", beta_loss=0), np.eye(3), "contains zeros"),
        (NMF(2, init="nndsvd2"), X, "'init' parameter"),
        (NMF(0), X, "'n_components' parameter"),
    ],
)
def test_refusals(model, rows, words):
    with pytest.raises(ValueError, match=words):
        model.fit(rows)


def test_one_row_equal_rows_and_nothing_but_zeros():
    for rows in (np.ones((1, 3)), np.ones((5, 3))):
        model = NMF(1, random_state=0, tol=1e-8).fit(rows)
        assert model.reconstruction_err_ == pytest.approx(0.0, abs=1e-6)
    assert NMF(2, random_state=0).fit(np.zeros((4, 3))).reconstruction_err_ == 0.0
    more = NMF(5, random_state=0, max_iter=1000).fit(X[:3])  # more parts than rows: a random start
    assert np.isfinite(more.components_).all()


def test_a_penalty_beyond_numbers_leaves_nothing():
    """Its squares overflow; every weight is 0, at once."""
    X = np.random.default_rng(0).uniform(size=(12, 4))
    model = NMF(2, alpha_H=0.0, max_iter=5, tol=0.0).fit(X)
    model.alpha_W = np.finfo(float).max
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(model.transform(X), 0)
