"""KNeighborsClassifier against scikit-learn, the formula, and its own laws."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier as Oracle
from sklearn.utils.estimator_checks import check_estimator

import learnt
from learnt.neighbors import KNeighborsClassifier


@pytest.fixture(autouse=True)
def _threads():
    yield
    learnt.set_threads(None)


def table(n=1500, d=12, classes=4, seed=0):
    return make_classification(n, d, n_informative=6, n_classes=classes, random_state=seed)


@pytest.mark.long
@pytest.mark.parametrize(
    "model",
    [KNeighborsClassifier(weights="distance", metric="cosine"), KNeighborsClassifier(metric="precomputed")],
    ids=repr,
)
def test_scikit_learns_checks_of_other_settings(model):
    for result in check_estimator(model, on_fail=None, on_skip=None):
        assert result["status"] != "failed", (result["check_name"], result["exception"])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "weights", ["uniform", "distance", None, lambda d: np.exp(-d)], ids=["uniform", "distance", "none", "callable"]
)
@pytest.mark.parametrize("metric", ["minkowski", "manhattan", "cosine"])
@pytest.mark.sweep
def test_votes_and_probabilities_equal_scikit_learn(metric, weights, dtype):
    X, y = table()
    X = X.astype(dtype)
    names = np.array(["d", "a", "c", "b"])[y]
    T, Q = X[:1000], X[1000:]
    ours = KNeighborsClassifier(7, weights=weights, metric=metric).fit(T, names[:1000])
    theirs = Oracle(7, weights=weights, metric=metric, algorithm="brute").fit(T, names[:1000])
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    np.testing.assert_allclose(
        ours.predict_proba(Q), theirs.predict_proba(Q), atol=1e-5 if dtype == np.float32 else 1e-9
    )
    np.testing.assert_array_equal(ours.predict(Q), theirs.predict(Q))
    assert ours.score(Q, names[1000:]) == theirs.score(Q, names[1000:])


def test_the_formula():
    X, y = load_iris(return_X_y=True)
    model = KNeighborsClassifier(7, weights="distance").fit(X[::2], y[::2])
    distances, index = model.kneighbors(X[1::2])
    proba = model.predict_proba(X[1::2])
    for i in range(75):
        zero = distances[i] == 0
        v = zero.astype(float) if zero.any() else 1 / distances[i]
        expected = [v[y[::2][index[i]] == c].sum() / v.sum() for c in range(3)]
        np.testing.assert_allclose(proba[i], expected, rtol=1e-12)


def test_of_equal_votes_the_first_class_wins():
    X = np.array([[-1.0], [1.0], [-2.0], [2.0]])
    for weights in ("uniform", "distance"):
        model = KNeighborsClassifier(2, weights=weights).fit(X, ["b", "a", "a", "b"])
        assert model.predict([[0.0]])[0] == "a"
        np.testing.assert_array_equal(model.predict_proba([[0.0]]), [[0.5, 0.5]])


def test_predictions_agree_with_probabilities_and_threads():
    X, y = load_digits(return_X_y=True)
    results = []
    for n_jobs in (1, 2, -1):
        model = KNeighborsClassifier(n_jobs=n_jobs).fit(X[:1200], y[:1200])
        proba = model.predict_proba(X[1200:])
        np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X[1200:]))
        results.append(proba)
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])


def test_several_columns_of_labels():
    X, y = table(300)
    Y = np.column_stack([y, y % 2, (y > 1) * 10])
    ours, theirs = (kind(5, weights="distance").fit(X, Y) for kind in (KNeighborsClassifier, Oracle))
    assert ours.outputs_2d_
    np.testing.assert_array_equal(ours.predict(X + 0.1), theirs.predict(X + 0.1))
    for a, b in zip(ours.predict_proba(X + 0.1), theirs.predict_proba(X + 0.1), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)
    for a, b in zip(ours.classes_, theirs.classes_, strict=True):
        np.testing.assert_array_equal(a, b)
    single = KNeighborsClassifier(5, weights="distance").fit(X, y)
    np.testing.assert_array_equal(ours.predict(X + 0.1)[:, 0], single.predict(X + 0.1))


def test_leaving_the_row_itself_out():
    X, y = table(120)
    model = KNeighborsClassifier(3).fit(X, y)
    assert model.score(None, y) == pytest.approx(cross_val_score(model, X, y, cv=LeaveOneOut()).mean())
    assert model.predict_proba(None).shape == (120, 4)


def test_sparse_rows_equal_dense_ones():
    rng = np.random.RandomState(0)
    X = rng.rand(300, 30) * (rng.rand(300, 30) < 0.2)
    y = rng.randint(0, 3, 300)
    dense = KNeighborsClassifier(4).fit(X, y)
    thin = KNeighborsClassifier(4).fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(thin.predict(sparse.csc_matrix(X + 0.0)), dense.predict(X))


def test_frames_names_and_labels_of_any_kind():
    import pandas as pd
    import polars as pl

    X, y = table(80)
    frame = pd.DataFrame(X, columns=[f"x {i}" for i in range(12)])
    model = KNeighborsClassifier().fit(frame, pd.Series(y).map({0: "a", 1: "b", 2: "c", 3: "d"}))
    assert list(model.feature_names_in_) == list(frame.columns)
    expected = np.array(list("abcd"))[KNeighborsClassifier().fit(X, y).predict(X)]
    np.testing.assert_array_equal(model.predict(frame), expected)
    np.testing.assert_array_equal(model.predict(pl.from_pandas(frame)), expected)
    flags = KNeighborsClassifier().fit(X, y > 1)
    assert flags.predict(X).dtype == bool


def test_read_only_memory_map(tmp_path):
    X, y = table(1500)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    np.testing.assert_array_equal(
        KNeighborsClassifier().fit(mapped, y).predict(mapped), KNeighborsClassifier().fit(X, y).predict(X)
    )


def test_state_is_plain():
    X, y = table(50)
    model = KNeighborsClassifier().fit(X, y)
    assert {name for name in vars(model) if name.startswith("_")} == {"_fit_X", "_search", "_y"}
    assert clone(model).get_params() == model.get_params()
    assert (
        repr(KNeighborsClassifier(3, weights="distance")) == "KNeighborsClassifier(n_neighbors=3, weights='distance')"
    )


def test_plain_numpy_gives_the_same(monkeypatch):
    import learnt.distances.brute._direct as direct
    import learnt.distances.brute._index as brute

    X, y = table(1500)
    compiled = KNeighborsClassifier().fit(X, y).predict_proba(X)
    monkeypatch.setattr(brute, "compilation_enabled", lambda: False)
    monkeypatch.setattr(direct, "compilation_enabled", lambda: False)
    np.testing.assert_array_equal(KNeighborsClassifier().fit(X, y).predict_proba(X), compiled)


def test_mistakes_get_one_sentence():
    X, y = table(30)
    for call, error, words in (
        (lambda: KNeighborsClassifier(weights="far").fit(X, y), ValueError, "'weights' parameter"),
        (lambda: KNeighborsClassifier(31).fit(X, y).predict(X), ValueError, "Expected n_neighbors <= n_samples_fit"),
        (lambda: KNeighborsClassifier(weights=lambda d: 0 * d).fit(X, y).predict(X), ValueError, "zero weights"),
        (lambda: KNeighborsClassifier().fit(X, None), ValueError, "requires y to be passed"),
        (lambda: KNeighborsClassifier().fit(X, y[:-1]), ValueError, "rows but y has 29"),
        (lambda: KNeighborsClassifier().fit(X, y).predict(X[:, :3]), ValueError, "3 features"),
    ):
        with pytest.raises(error) as caught:
            call()
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)
