"""LocalOutlierFactor against scikit-learn and the formula."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import LocalOutlierFactor as Oracle

from learnt.neighbors import LocalOutlierFactor
from learnt.persistence._files import load_bytes, to_bytes


def table(n=400, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:10] += 6.0
    return X


@pytest.mark.parametrize("contamination", ["auto", 0.1])
@pytest.mark.parametrize("metric", ["minkowski", "manhattan", "cosine"])
def test_factors_equal_scikit_learn(metric, contamination):
    X = table()
    settings = {"n_neighbors": 12, "metric": metric, "contamination": contamination}
    ours, theirs = LocalOutlierFactor(**settings), Oracle(**settings, algorithm="brute")
    np.testing.assert_array_equal(ours.fit_predict(X), theirs.fit_predict(X))
    np.testing.assert_allclose(ours.negative_outlier_factor_, theirs.negative_outlier_factor_, rtol=1e-6)
    assert ours.offset_ == pytest.approx(theirs.offset_)
    assert ours.n_neighbors_ == theirs.n_neighbors_


def test_new_rows_equal_scikit_learn():
    X = table()
    ours, theirs = (kind(novelty=True, contamination=0.05).fit(X[:300]) for kind in (LocalOutlierFactor, Oracle))
    for method in ("score_samples", "decision_function", "predict"):
        np.testing.assert_allclose(getattr(ours, method)(X[300:]), getattr(theirs, method)(X[300:]), rtol=1e-6)


def test_the_formula():
    X = table(40)
    k = 5
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.fill_diagonal(D, np.inf)
    near = np.argsort(D, axis=1)[:, :k]
    reach = np.array([[max(D[i, o], np.sort(D[o])[k - 1]) for o in near[i]] for i in range(40)])
    density = 1 / (reach.mean(axis=1) + 1e-10)
    expected = np.array([density[near[i]].mean() / density[i] for i in range(40)])
    np.testing.assert_allclose(LocalOutlierFactor(k).fit(X).negative_outlier_factor_, -expected, rtol=1e-9)


def test_sparse_rows_and_given_distances_equal_dense_ones():
    X = table(120)
    X[np.abs(X) < 0.4] = 0
    plain = LocalOutlierFactor(7).fit(X).negative_outlier_factor_
    np.testing.assert_allclose(
        LocalOutlierFactor(7).fit(sparse.csr_array(X)).negative_outlier_factor_, plain, rtol=1e-7
    )
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.testing.assert_allclose(
        LocalOutlierFactor(7, metric="precomputed").fit(D).negative_outlier_factor_, plain, rtol=1e-7
    )


def test_methods_are_there_for_what_they_judge():
    X = table(30)
    assert not hasattr(LocalOutlierFactor(), "predict")
    assert not hasattr(LocalOutlierFactor(novelty=True), "fit_predict")
    with pytest.raises(AttributeError) as caught:
        _ = LocalOutlierFactor(5).fit(X).predict
    assert "predict is not available when novelty=False; use fit_predict" in str(caught.value.__cause__)


def test_more_neighbours_than_rows():
    X = table(30)
    with pytest.warns(UserWarning, match=r"greater than the total number of samples \(30\)"):
        model = LocalOutlierFactor(31).fit(X)
    assert model.n_neighbors_ == 29
    assert LocalOutlierFactor(30).fit(X).n_neighbors_ == 29


def test_thousands_of_equal_rows_are_no_outliers_and_their_effect_on_others_is_reported():
    X = np.zeros((3000, 2))
    assert (LocalOutlierFactor().fit_predict(X) == 1).all()
    X[-1] = 1.0
    with pytest.warns(UserWarning, match="Duplicate values"):
        assert LocalOutlierFactor().fit_predict(X)[-1] == -1


def test_mistakes_get_one_sentence():
    X = table(30)
    for call, words in (
        (lambda: LocalOutlierFactor(0).fit(X), "'n_neighbors' parameter"),
        (lambda: LocalOutlierFactor(contamination=0.6).fit(X), "'contamination' parameter"),
        (lambda: LocalOutlierFactor().fit(X[:1]), "n_samples_fit = 1"),
        (lambda: LocalOutlierFactor().fit(np.where(X[3, 1] == X, np.nan, X)), "NaN"),
        (lambda: LocalOutlierFactor(5, novelty=True).fit(X).predict(X[:, :2]), "2 features"),
    ):
        with pytest.raises(ValueError, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_have_the_precision_of_the_rows(dtype):
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(dtype)
    model = LocalOutlierFactor(contamination=0.1, novelty=True).fit(X)
    scores = (model.negative_outlier_factor_, model.offset_, model.score_samples(X), model.decision_function(X))
    assert [score.dtype for score in scores] == [dtype] * 4
    assert (model.negative_outlier_factor_ < model.offset_).sum() == 6
    loaded = load_bytes(to_bytes(model))
    assert loaded.offset_.dtype == dtype
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
