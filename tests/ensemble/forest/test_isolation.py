"""Isolation forests: scikit-learn's trees and scores for the same seed, the formula, planted outliers, bad input."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import spearmanr
from sklearn.ensemble import IsolationForest as Oracle
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.utils.random import sample_without_replacement

import learnt
from learnt.engine.random import generator
from learnt.ensemble import IsolationForest
from learnt.ensemble.forest._path_lengths import average_path_length, depth_limit, isolation_score
from learnt.ensemble.forest._sampling import draw_apart

# A score is one power of a mean of a few hundred lengths below 100, each rounded once.
ROUNDING = 1000 * np.finfo(float).eps


def table(n=700, d=4, outliers=20, seed=0):
    random = generator(seed)
    X = random.normal(size=(n, d))
    X[:outliers] = random.choice([-6.0, 6.0], size=(outliers, d)) + X[:outliers]
    return X


X = table()
PLANTED = np.arange(len(X)) < 20


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"bootstrap": True},
        {"max_features": 0.5},
        {"max_features": 1, "max_samples": 100},
        {"max_samples": 0.9, "contamination": 0.1},
        {"max_samples": 1.0, "bootstrap": True},
        {"max_samples": 1},
        {"max_samples": 5},
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_trees_and_scores_as_scikit_learn_for_the_same_seed(settings, weighted):
    w = generator(1).uniform(0.5, 3, size=len(X)) if weighted else None
    ours, theirs = (
        kind(n_estimators=15, random_state=7, **settings).fit(X, sample_weight=w) for kind in (IsolationForest, Oracle)
    )
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=ROUNDING)
    assert ours.max_samples_ == theirs.max_samples_
    assert ours.offset_ == pytest.approx(theirs.offset_, rel=ROUNDING)
    for name in ("estimators_features_", "estimators_samples_"):
        for a, b in zip(getattr(ours, name), getattr(theirs, name), strict=True):
            np.testing.assert_array_equal(a, b)
    for a, b in zip(ours.estimators_, theirs.estimators_, strict=True):
        np.testing.assert_array_equal(a.tree_.feature, b.tree_.feature)
        np.testing.assert_array_equal(a.tree_.threshold, b.tree_.threshold)
        np.testing.assert_array_equal(a.tree_.n_node_samples, b.tree_.n_node_samples)
        assert a.max_depth == b.max_depth


def test_missing_cells_and_sparse_rows_too():
    holes = np.where(generator(2).random(X.shape) < 0.1, np.nan, X)
    ours, theirs = (kind(n_estimators=10, random_state=0).fit(holes) for kind in (IsolationForest, Oracle))
    np.testing.assert_allclose(ours.score_samples(holes), theirs.score_samples(holes), rtol=ROUNDING)
    few = np.where(generator(3).random(X.shape) < 0.6, 0.0, X)
    dense, thin = (IsolationForest(n_estimators=10, random_state=0).fit(t) for t in (few, sparse.csc_matrix(few)))
    np.testing.assert_array_equal(thin.score_samples(sparse.csr_array(few)), dense.score_samples(few))
    with pytest.raises(ValueError, match=r"NaN and is sparse.*toarray"):
        dense.score_samples(sparse.csr_array(holes))


@pytest.mark.long
def test_large_sparse_samples_stay_sparse(monkeypatch):
    few = np.where(generator(3).random(X.shape) < 0.6, 0.0, X)
    dense = IsolationForest(n_estimators=10, random_state=0).fit(few)
    monkeypatch.setattr("learnt.ensemble.forest._path_lengths._DENSE_CELLS", 0)
    thin = IsolationForest(n_estimators=10, random_state=0).fit(sparse.csr_array(few))
    # Other draws of zeros or none, the same forest but for chance.
    assert spearmanr(thin.score_samples(few), dense.score_samples(few))[0] > 0.8


def test_other_seeds_differ_as_scikit_learns_do():
    ours, theirs = (
        np.array([kind(random_state=seed).fit(X).score_samples(X) for seed in seeds])
        for kind, seeds in ((IsolationForest, range(8)), (Oracle, range(100, 108)))
    )
    # Means over 8 seeds differ by chance: five standard errors for each of 700 rows.
    error = np.sqrt((ours.var(axis=0, ddof=1) + theirs.var(axis=0, ddof=1)) / 8)
    gap = np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) / error.mean()
    assert gap.max() < 5
    assert spearmanr(ours.mean(axis=0), theirs.mean(axis=0))[0] > 0.99


def test_the_path_length_is_the_mean_depth_of_a_random_tree():
    lengths = average_path_length([0, 1, 2, 3, 100])
    harmonic = np.log([2.0, 99.0]) + np.euler_gamma
    np.testing.assert_allclose(lengths, [0, 0, 1, *(2 * harmonic - 2 * np.array([2 / 3, 99 / 100]))])
    assert (np.diff(average_path_length(np.arange(1, 300))) > 0).all()
    # c(n) is the mean number of comparisons of an unsuccessful search in a random binary tree, which obeys
    # c(n) = 1 + 2/n Σ_k<n (k/n) ... with H exact; Liu's ln(i) + γ is 1/(2i) below it.
    exact = 2 * np.sum(1.0 / np.arange(1, 100)) - 2 * 99 / 100
    assert 0 < exact - average_path_length(100) < 2 / (2 * 99)
    assert [depth_limit(n) for n in (1, 2, 3, 256, 257)] == [1, 1, 2, 8, 9]
    assert isolation_score(average_path_length(50), 50) == 0.5
    assert isolation_score([0.0, 3.0], 1).tolist() == [0.5, 0.5]


def test_trees_predict_the_path_length():
    model = IsolationForest(n_estimators=6, max_features=0.5, random_state=0).fit(X)
    lengths = np.zeros(len(X))
    for tree, columns in zip(model.estimators_, model.estimators_features_, strict=True):
        part = X[:, columns].astype(np.float32)
        leaf = tree.apply(part)
        h = tree.tree_.depths[leaf] + average_path_length(tree.tree_.n_node_samples[leaf])
        np.testing.assert_allclose(tree.predict(part), h)
        lengths += h
    np.testing.assert_allclose(model.score_samples(X), -(2.0 ** (-lengths / 6 / average_path_length(256))))
    assert len(model) == 6
    assert model[0] is model.estimators_[0]
    assert model.estimator_.max_depth == 8


def test_threads_change_nothing():
    one, many = (IsolationForest(random_state=0, n_jobs=n, contamination=0.1).fit(X) for n in (1, 4))
    np.testing.assert_array_equal(one.score_samples(X), many.score_samples(X))
    assert one.offset_ == many.offset_


def test_planted_outliers_come_first():
    model = IsolationForest(random_state=0).fit(X)
    scores = model.score_samples(X)
    assert scores[PLANTED].max() < scores[~PLANTED].min()
    assert (model.predict(X)[PLANTED] == -1).all()
    assert roc_auc_score(PLANTED, -scores) == 1
    np.testing.assert_array_equal(model.decision_function(X), scores + 0.5)


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
def test_contamination_is_the_share_of_outliers(share):
    model = IsolationForest(contamination=share, random_state=0).fit(X)
    # Rows of equal scores are on the same side: a percentile lies between two rows.
    assert abs(np.mean(model.predict(X) == -1) - share) <= 1 / len(X)
    np.testing.assert_array_equal(model.predict(X), IsolationForest(contamination=share, random_state=0).fit_predict(X))


def test_more_trees_are_added():
    model = IsolationForest(n_estimators=5, warm_start=True, random_state=0).fit(X)
    first = model.estimators_[0].tree_.threshold
    model.set_params(n_estimators=12).fit(X)
    np.testing.assert_array_equal(model.estimators_[0].tree_.threshold, first)
    whole = IsolationForest(n_estimators=12, random_state=0).fit(X)
    np.testing.assert_array_equal(model.score_samples(X), whole.score_samples(X))
    with pytest.warns(UserWarning, match="does not fit new"):
        model.fit(X)
    with pytest.raises(ValueError, match="must be larger or equal"):
        model.set_params(n_estimators=3).fit(X)


def test_a_row_of_weight_0_is_not_drawn():
    w = (~PLANTED).astype(float)
    model = IsolationForest(n_estimators=10, max_samples=1.0, random_state=0).fit(X, sample_weight=w)
    assert model.max_samples_ == len(X) - 20
    assert all(rows.min() >= 20 for rows in model.estimators_samples_)


@pytest.mark.parametrize("size", [0, 1, 7, 256, 3000])
def test_numbers_are_drawn_as_scikit_learn_does(size):
    for seed in range(5):
        a, b = np.random.RandomState(seed), np.random.RandomState(seed)
        n = 100 * size + 1
        np.testing.assert_array_equal(draw_apart(a, n, size), sample_without_replacement(n, size, random_state=b))
        assert a.randint(2**31) == b.randint(2**31)


def test_uniform_tables_have_no_outliers():
    for same in (np.ones((100, 3)), np.repeat(X[:1], 50, axis=0), X[:1]):
        model = IsolationForest(n_estimators=10, random_state=0).fit(same)
        assert (model.predict(same) == 1).all()
        assert (model.predict(same + 1) == 1).all()


def test_forged_files_are_refused(tmp_path):
    model = IsolationForest(n_estimators=3, max_features=0.5, random_state=0).fit(X)
    learnt.save(model, tmp_path / "m.learnt")
    again = learnt.load(tmp_path / "m.learnt")
    np.testing.assert_array_equal(again.score_samples(X), model.score_samples(X))
    np.testing.assert_array_equal(again.estimators_[2].predict(X[:, :2]), model.estimators_[2].predict(X[:, :2]))
    model._columns_each = 9
    with pytest.raises(ValueError, match="more columns than there are"):
        learnt.save(model, tmp_path / "forged.learnt")
    model._columns_each, model.max_samples_ = 2, 10**6
    with pytest.raises(ValueError, match="other numbers of rows"):
        learnt.save(model, tmp_path / "forged.learnt")


def test_bad_input_is_one_sentence():
    for settings in (
        {"n_estimators": 0},
        {"contamination": 0.0},
        {"contamination": 0.6},
        {"contamination": "none"},
        {"max_samples": 0},
        {"max_samples": 1.5},
        {"max_samples": "all"},
        {"max_features": 0},
        {"max_features": 2.0},
        {"bootstrap": 1},
        {"warm_start": "yes"},
    ):
        with pytest.raises(ValueError, match="parameter of IsolationForest") as error:
            IsolationForest(**settings).fit(X)
        assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match="max_features must be <= n_features"):
        IsolationForest(max_features=9).fit(X)
    with pytest.warns(UserWarning, match="max_samples will be set to n_samples for estimation"):
        IsolationForest(n_estimators=2, max_samples=1000).fit(X)
    with pytest.raises(ValueError, match="infinity"):
        IsolationForest().fit(np.where(X[3, 1] == X, np.inf, X))
    with pytest.raises(NotFittedError):
        IsolationForest().score_samples(X)
    model = IsolationForest(n_estimators=2).fit(X)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :2])
    with pytest.raises(AttributeError, match="no estimators_ before fit"):
        _ = IsolationForest().estimators_
