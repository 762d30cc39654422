"""NMF: the iterations of scikit-learn, the conditions of an optimum, planted parts, bad input."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import decomposition as theirs
from sklearn.exceptions import ConvergenceWarning

import learnt
from learnt.decomposition import NMF, non_negative_factorization
from learnt.decomposition.nmf._descent import Penalties, coordinate_descent
from learnt.engine.rows import tables
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


@pytest.mark.filterwarnings("ignore:Maximum number of iterations")
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("settings", "penalties"),
    [
        ({}, Penalties(0, 0, 0, 0)),
        (
            {"alpha_W": 0.01, "alpha_H": 0.002, "l1_ratio": 0.5, "shuffle": True, "random_state": 3},
            Penalties(0.06, 0.3, 0.06, 0.3),
        ),
    ],
    ids=["plain", "penalties"],
)
def test_one_sweep_a_pass_is_scikit_learns_descent(make, settings, penalties):
    other = theirs.NMF(3, init="custom", max_iter=15, **settings)
    V = other.fit_transform(make(X), W=W0.copy(), H=H0.copy())
    drawn = {name: settings[name] for name in settings if name in ("shuffle", "random_state")}
    W, H, n_iter = coordinate_descent(make(X), W0.copy(), H0, penalties, tol=1e-4, max_iter=15, sweeps=1, **drawn)
    np.testing.assert_allclose(W, V, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(H, other.components_, rtol=1e-6, atol=1e-9)
    assert n_iter == other.n_iter_
    ours = NMF(3, init="custom", max_iter=15, **settings).fit(make(X), W=W0, H=H0)
    ours.components_ = other.components_
    np.testing.assert_allclose(ours.transform(make(X)), other.transform(make(X)), rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore:Maximum number of iterations")
def test_half_the_passes_are_enough():
    """Several sweeps for each product with X: the error of scikit-learn's after twice as many passes, in the mean."""
    ratios = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        rows = rng.gamma(0.5, size=(400, 8)) @ rng.gamma(0.5, size=(8, 60)) + 0.1 * rng.uniform(size=(400, 60))
        W, H = rng.uniform(size=(400, 5)), rng.uniform(size=(5, 60))
        ours = NMF(5, init="custom", tol=0, max_iter=20).fit(rows, W=W, H=H)
        other = theirs.NMF(5, init="custom", tol=0, max_iter=40).fit(rows, W=W.copy(), H=H.copy())
        ratios.append(ours.reconstruction_err_ / other.reconstruction_err_)
    assert np.mean(ratios) <= 1.01  # 1.03 with one sweep for each


@pytest.mark.parametrize("init", ["random", "nndsvda"])
def test_files_and_clusters_give_the_same_parts(tmp_path, monkeypatch, init):
    import dask.array as da
    import polars as pl

    monkeypatch.setattr(tables, "_READ_BYTES", 8 * 12 * 70)
    path = tmp_path / "rows.parquet"
    pl.DataFrame(X, schema=[f"x{j}" for j in range(12)]).write_parquet(path)
    settings = {"init": init, "random_state": 0, "tol": 0.1, "alpha_W": 1e-4, "max_iter": 5000}
    whole = NMF(3, **settings)
    W = whole.fit_transform(X)
    precise = whole.set_params(tol=1e-12, max_iter=100_000).transform(X)
    table = learnt.scan(path)
    assert table.read_rows < len(X)  # two reads
    for rows in (table, da.from_array(X, chunks=(90, 12))):
        part = NMF(3, **settings)
        # Sums in another order, whose rounding the iterations may enlarge.
        np.testing.assert_allclose(part.fit_transform(rows), W, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(part.components_, whole.components_, rtol=1e-6, atol=1e-8)
        assert part.reconstruction_err_ == pytest.approx(whole.reconstruction_err_, rel=1e-9)
        part.set_params(tol=1e-12, max_iter=100_000)
        V = part.transform(rows)
        V = V.to_numpy() if hasattr(V, "to_numpy") else V.compute()
        np.testing.assert_allclose(V, precise, rtol=1e-5, atol=1e-8)
    with pytest.raises(ValueError, match=r"row 250, column 3 is -1"):
        NMF(3).fit(da.from_array(np.where(np.arange(3600).reshape(300, 12) == 3003, -1.0, X), chunks=(90, 12)))
    with pytest.raises(TypeError):
        NMF(3, solver="mu").fit(table)


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
    more = NMF(5, random_state=0, max_iter=10_000).fit(X[:3])  # more parts than rows: a random start
    assert np.isfinite(more.components_).all()


INITS = ("random", "nndsvd", "nndsvda", "nndsvdar")


def badly_scaled(seed):
    """A table of which no two columns have the same unit: random, of parts, with zeros, or with unlike rows too."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 80)), int(rng.integers(2, 15))
    k = int(rng.integers(1, min(n, d) + 1))
    rows = rng.exponential(size=(n, k)) @ rng.exponential(size=(k, d)) if seed % 2 else np.abs(rng.normal(size=(n, d)))
    rows = rows * (rng.uniform(size=(n, d)) < 0.4) if seed % 4 == 2 else rows
    rows = rows * 10.0 ** rng.uniform(-2, 2, n)[:, None] if seed % 4 == 3 else rows
    return rows * 10.0 ** rng.uniform(-4, 4, d), k, INITS[seed // 4 % 4]


def objective_and_warning(model, rows):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rest = rows - model.fit_transform(rows) @ model.components_
    return float((rest**2).sum()) / 2, any(issubclass(each.category, ConvergenceWarning) for each in caught)


def test_columns_of_any_unit_end_as_near_as_scikit_learns_or_say_so():
    """The objective is at most a twentieth above scikit-learn's, if it is not told that iterations were too few.

    A millionth of the norm of X is as near as an exact factorisation goes.
    """
    above = []
    for seed in range(40):
        rows, k, init = badly_scaled(seed)
        ours, warned = objective_and_warning(NMF(k, init=init, random_state=0), rows)
        theirs_, _ = objective_and_warning(theirs.NMF(k, init=init, random_state=0), rows)
        if ours > 1.05 * theirs_ + 1e-12 * (rows**2).sum() / 2 and not warned:
            above.append((seed, ours, theirs_))
    assert above == []


def test_a_unit_for_the_whole_table_changes_no_iteration():
    """Powers of 2, so that nothing is rounded otherwise."""
    counts = set()
    for root in (1.0, 2.0**-20, 2.0**30):
        model = NMF(3, init="custom", tol=1e-2, max_iter=1000)
        model.fit_transform(root**2 * X, W=root * W0, H=root * H0)
        counts.add(model.n_iter_)
    assert len(counts) == 1
    assert 6 <= counts.pop() < 1000


@pytest.mark.filterwarnings("ignore:The multiplicative update", "ignore:Maximum number of iterations")
@pytest.mark.parametrize("init", INITS)
@pytest.mark.parametrize("rows", [np.zeros((3, 2)), np.array([[0.0], [2.0]]), np.ones((4, 1))])
@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler", 1.5])
def test_what_is_right_from_the_first_stays_so(init, rows, loss):
    """The first error is 0, which nothing may be divided by."""
    for solver in ("cd", "mu") if loss == "frobenius" else ("mu",):
        model = NMF(1, init=init, solver=solver, beta_loss=loss, random_state=0, max_iter=400)
        W = model.fit_transform(rows)
        np.testing.assert_allclose(W @ model.components_, rows, atol=1e-3)


def test_a_penalty_beyond_numbers_leaves_nothing():
    """Its squares overflow; every weight is 0, at once."""
    X = np.random.default_rng(0).uniform(size=(12, 4))
    model = NMF(2, alpha_H=0.0, max_iter=5, tol=0.0).fit(X)
    model.alpha_W = np.finfo(float).max
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(model.transform(X), 0)
