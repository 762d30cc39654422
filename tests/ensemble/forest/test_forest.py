"""Forests against scikit-learn's, against the definition, and against what can go wrong."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import ensemble as peer
from sklearn.datasets import make_classification, make_friedman1, make_regression
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, r2_score

from learnt.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from learnt.forestry import Grove

CLASSIFIERS = {"forest": RandomForestClassifier, "extra": ExtraTreesClassifier}
REGRESSORS = {"forest": RandomForestRegressor, "extra": ExtraTreesRegressor}
ALL = {**{f"{k} classes": v for k, v in CLASSIFIERS.items()}, **{f"{k} numbers": v for k, v in REGRESSORS.items()}}


def long_but(*quick, of=tuple(ALL)):
    """Kinds of forests, of which all but `quick` are marked long: what such a test needs is compiled for each kind."""
    return [pytest.param(kind, marks=[pytest.mark.long] * (kind not in quick)) for kind in of]


def class_data(n=600, k=3, seed=0):
    return make_classification(n, 8, n_informative=5, n_classes=k, flip_y=0.05, random_state=seed)


def number_data(n=600, seed=0):
    return make_friedman1(n, n_features=7, noise=1.0, random_state=seed)


def data_for(kind, n=300):
    return class_data(n) if "classes" in kind else number_data(n)


def answer(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


KINDS_AND_SPLITTERS = [("forest", "exact"), ("forest", "binned"), ("extra", "exact")]
KINDS_AND_SPLITTERS += [pytest.param("extra", "binned", marks=pytest.mark.long)]  # whose growers few tests share


@pytest.mark.parametrize(("kind", "splitter"), KINDS_AND_SPLITTERS)
def test_as_accurate_as_scikit_learn(kind, splitter):
    ours, theirs = [], []
    for seed in range(5):
        X, y = class_data(1600, seed=seed)
        a = CLASSIFIERS[kind](30, random_state=seed, splitter=splitter).fit(X[:800], y[:800])
        b = getattr(peer, type(a).__name__)(30, random_state=seed).fit(X[:800], y[:800])
        ours.append(a.score(X[800:], y[800:]))
        theirs.append(b.score(X[800:], y[800:]))
    assert np.mean(ours) > np.mean(theirs) - 0.012
    assert np.mean(ours) > 0.75


@pytest.mark.parametrize(("kind", "splitter"), KINDS_AND_SPLITTERS)
def test_as_good_a_fit_as_scikit_learn(kind, splitter):
    ours, theirs = [], []
    for seed in range(4):
        X, y = number_data(1000, seed)
        a = REGRESSORS[kind](30, random_state=seed, splitter=splitter).fit(X[:500], y[:500])
        b = getattr(peer, type(a).__name__)(30, random_state=seed).fit(X[:500], y[:500])
        ours.append(a.score(X[500:], y[500:]))
        theirs.append(b.score(X[500:], y[500:]))
    assert np.mean(ours) > np.mean(theirs) - 0.015
    assert np.mean(ours) > 0.75


def test_the_samples_are_scikit_learns():
    X, y = class_data(200)
    w = np.random.default_rng(0).random(200)
    for options, fit in (({}, {}), ({"max_samples": 0.5}, {}), ({"max_samples": 37}, {}), ({}, {"sample_weight": w})):
        ours = RandomForestClassifier(4, random_state=3, **options).fit(X, y, **fit)
        theirs = peer.RandomForestClassifier(4, random_state=3, **options).fit(X, y, **fit)
        for a, b in zip(ours.estimators_samples_, theirs.estimators_samples_, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kind", ALL)
def test_the_forest_is_the_mean_of_its_trees(kind):
    X, y = data_for(kind)
    model = ALL[kind](7, random_state=0).fit(X, y)
    trees = [answer(tree, X) for tree in model.estimators_]
    np.testing.assert_allclose(np.mean(trees, axis=0), answer(model, X), atol=1e-12)
    assert len(model) == 7
    assert [tree.random_state for tree in model] == model.seeds_.tolist()


@pytest.mark.parametrize("splitter", ["exact", "binned"])
@pytest.mark.parametrize("kind", ALL)
@pytest.mark.sweep
def test_trees_are_whole(kind, splitter):
    """What is derived from the leaves is what the rows say."""
    X, y = data_for(kind)
    model = ALL[kind](3, random_state=0, splitter=splitter, min_samples_leaf=3, bootstrap=True).fit(X, y)
    codes = model.classes_.searchsorted(y) if "classes" in kind else y
    for t, rows in enumerate(model.estimators_samples_):
        tree = model.grove_.tree(t)
        tree.validate()
        counts = np.bincount(rows, minlength=len(X)).astype(float)
        inside = tree.decision_path(X).toarray() * counts[:, None]
        np.testing.assert_allclose(inside.sum(axis=0), tree.weighted_n_node_samples)
        np.testing.assert_array_equal((inside > 0).sum(axis=0), tree.n_node_samples)
        for node in range(0, tree.node_count, 5):
            w = inside[:, node]
            if "classes" in kind:
                value = np.bincount(codes, w, minlength=3) / w.sum()
                impurity = 1 - (value**2).sum()
            else:
                value = np.average(codes, weights=w)
                impurity = np.average((codes - value) ** 2, weights=w)
            np.testing.assert_allclose(tree.value[node].ravel(), np.ravel(value), atol=1e-9)
            np.testing.assert_allclose(tree.impurity[node], impurity, atol=1e-9)


@pytest.mark.parametrize("kind", ALL)
def test_apply_and_decision_path_agree(kind):
    X, y = data_for(kind, 120)
    model = ALL[kind](4, random_state=0).fit(X, y)
    leaves = model.apply(X)
    paths, starts = model.decision_path(X)
    assert leaves.shape == (120, 4)
    assert paths.shape == (120, starts[-1])
    for t in range(4):
        part = paths[:, starts[t] : starts[t + 1]]
        assert (part[np.arange(120), leaves[:, t]] == 1).all()
        np.testing.assert_array_equal(part.sum(axis=1).A1, model.grove_.tree(t).depths[leaves[:, t]] + 1)


@pytest.mark.parametrize("kind", ALL)
def test_importances_find_the_columns_that_matter(kind):
    X, y = data_for(kind, 500)
    X = np.column_stack([X, np.random.default_rng(0).normal(size=(500, 3))])
    model = ALL[kind](20, random_state=0, bootstrap=True).fit(X, y)
    np.testing.assert_allclose(model.feature_importances_.sum(), 1)
    each = np.mean([tree.feature_importances_ for tree in model.estimators_], axis=0)
    np.testing.assert_allclose(model.feature_importances_, each / each.sum(), rtol=1e-6)
    shuffled = model.permutation_importances(X, y, random_state=0)
    assert shuffled.importances.shape == (X.shape[1], 20)
    noise = slice(-3, None)
    assert shuffled.importances_mean[:5].max() > 5 * np.abs(shuffled.importances_mean[noise]).max()
    again = model.permutation_importances(X, y, random_state=0)
    np.testing.assert_array_equal(shuffled.importances, again.importances)


def test_permutation_importances_name_what_they_need():
    X, y = class_data(100)
    with pytest.raises(ValueError, match="bootstrap=True"):
        ExtraTreesClassifier(3).fit(X, y).permutation_importances(X, y)
    with pytest.raises(ValueError, match="100 rows of fit"):
        RandomForestClassifier(3).fit(X, y).permutation_importances(X[:50], y[:50])


@pytest.mark.parametrize("kind", ALL)
def test_out_of_bag_rows_estimate_the_test_error(kind):
    X, y = data_for(kind, 1200)
    model = ALL[kind](60, random_state=0, bootstrap=True, oob_score=True).fit(X[:600], y[:600])
    assert abs(model.oob_score_ - model.score(X[600:], y[600:])) < 0.06
    votes, seen = 0, 0
    for rows, tree in zip(model.estimators_samples_, model.estimators_, strict=True):
        out = np.bincount(rows, minlength=600) == 0
        part = answer(tree, X[:600])
        votes = votes + part * (out[:, None] if part.ndim == 2 else out)
        seen = seen + out
    found = model.oob_decision_function_ if "classes" in kind else model.oob_prediction_
    np.testing.assert_allclose(found, votes / (seen[:, None] if found.ndim == 2 else seen), atol=1e-12)


def test_a_custom_metric_scores_out_of_bag_rows():
    X, y = number_data(300)
    model = RandomForestRegressor(30, oob_score=lambda a, b: -np.abs(a - b).max(), random_state=0).fit(X, y)
    assert model.oob_score_ == -np.abs(y - model.oob_prediction_).max()
    X, y = class_data(300, 2)
    one = RandomForestClassifier(30, oob_score=accuracy_score, random_state=0).fit(X, y)
    two = RandomForestClassifier(30, oob_score=True, random_state=0).fit(X, y)
    assert one.oob_score_ == two.oob_score_


def test_few_trees_leave_some_rows_without_a_score():
    X, y = class_data(100)
    with pytest.warns(UserWarning, match="Some inputs do not have OOB scores"):
        RandomForestClassifier(1, oob_score=True, random_state=0).fit(X, y)


@pytest.mark.parametrize("kind", ALL)
def test_warm_start_adds_the_trees_that_would_have_been(kind):
    X, y = data_for(kind, 200)
    options = {"random_state": 4, "bootstrap": True, "min_samples_leaf": 2}
    whole = ALL[kind](9, **options).fit(X, y)
    model = ALL[kind](4, warm_start=True, **options).fit(X, y)
    model.set_params(n_estimators=9).fit(X, y)
    np.testing.assert_array_equal(model.seeds_, whole.seeds_)
    np.testing.assert_array_equal(model.apply(X), whole.apply(X))
    np.testing.assert_allclose(model.feature_importances_, whole.feature_importances_)
    if "numbers" in kind:
        np.testing.assert_allclose(model.predict_quantiles(X, 0.3), whole.predict_quantiles(X, 0.3))
        np.testing.assert_allclose(model.predict_interval(X), whole.predict_interval(X))
    with pytest.warns(UserWarning, match="does not fit new trees"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="trees are only ever added"):
        model.set_params(n_estimators=3).fit(X, y)


@pytest.mark.parametrize("splitter", ["exact", pytest.param("binned", marks=pytest.mark.long)])
def test_class_weights_move_the_vote(splitter):
    X, y = make_classification(800, 6, weights=[0.93], flip_y=0.1, random_state=1)
    shares = {}
    for weight in (None, "balanced", "balanced_subsample", {0: 1.0, 1: 30.0}):
        options = {"random_state": 0, "max_depth": 3, "splitter": splitter}
        model = RandomForestClassifier(20, class_weight=weight, **options).fit(X, y)
        theirs = peer.RandomForestClassifier(20, class_weight=weight, max_depth=3, random_state=0).fit(X, y)
        shares[str(weight)] = (model.predict(X) == 1).mean()
        assert abs(shares[str(weight)] - (theirs.predict(X) == 1).mean()) < 0.06
    assert shares["None"] < shares["balanced"]


def test_weights_without_bootstrap_are_rows():
    X, y = class_data(150)
    counts = np.random.default_rng(0).integers(0, 3, size=150)
    options = {"bootstrap": False, "max_features": None, "random_state": 0}
    weighted = RandomForestClassifier(1, **options).fit(X, y, sample_weight=counts)
    repeated = RandomForestClassifier(1, **options).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.predict_proba(X[counts > 0]), repeated.predict_proba(X[counts > 0]))


@pytest.mark.parametrize("kind", long_but("forest", of=CLASSIFIERS))
@pytest.mark.parametrize("splitter", ["exact", "binned"])
def test_several_outputs_of_classes(kind, splitter):
    X, y = class_data(500, 4)
    Y = np.column_stack([np.array(["a", "b", "c", "d"])[y], np.array(["no", "yes"])[(X[:, 0] > 0).astype(int)]])
    model = CLASSIFIERS[kind](15, random_state=0, splitter=splitter).fit(X[:300], Y[:300])
    assert model.n_classes_ == [4, 2]
    shares = model.predict_proba(X[300:])
    assert [p.shape for p in shares] == [(200, 4), (200, 2)]
    found = model.predict(X[300:])
    assert found.shape == (200, 2)
    assert (found[:, 0] == Y[300:, 0]).mean() > 0.5
    assert (found[:, 1] == Y[300:, 1]).mean() > 0.85


@pytest.mark.parametrize("kind", long_but("forest", of=REGRESSORS))
@pytest.mark.parametrize("splitter", ["exact", pytest.param("binned", marks=pytest.mark.long)])
def test_several_outputs_of_numbers(kind, splitter):
    X, Y = make_regression(400, 6, n_targets=3, random_state=0)
    model = REGRESSORS[kind](20, random_state=0, splitter=splitter, bootstrap=True, oob_score=True).fit(X, Y)
    assert model.predict(X).shape == model.oob_prediction_.shape == (400, 3)
    assert r2_score(Y, model.predict(X)) > 0.9
    with pytest.raises(ValueError, match="one output"):
        model.predict_quantiles(X)
    with pytest.raises(ValueError, match="one output"):
        model.predict_interval(X)


@pytest.mark.parametrize("kind", long_but("forest classes"))
def test_sparse_is_dense(kind):
    X, y = data_for(kind, 200)
    X = X * (np.abs(X) > 0.6)
    # In nodes of two or three rows many columns cut alike, and between these the order of a sum decides.
    dense = ALL[kind](5, random_state=0, min_samples_leaf=5).fit(X, y)
    thin = ALL[kind](5, random_state=0, min_samples_leaf=5).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(answer(thin, X), answer(dense, X))
    np.testing.assert_allclose(answer(dense, sparse.csc_array(X)), answer(dense, X))
    np.testing.assert_array_equal(dense.apply(sparse.csr_array(X)), dense.apply(X))


@pytest.mark.parametrize("splitter", ["exact", "binned"])
@pytest.mark.parametrize("kind", long_but("forest classes", "extra numbers"))
def test_missing_values_are_learnt_from(kind, splitter):
    """A value that is missing where y is large: the forest must see it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    hidden = rng.random(400) < 0.4
    y = hidden.astype(int) if "classes" in kind else hidden * 5.0 + 0.1 * rng.normal(size=400)
    X[:, 2][hidden] = np.nan
    model = ALL[kind](20, random_state=0, splitter=splitter, max_features=None).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.97


@pytest.mark.parametrize("kind", ALL)
def test_missing_only_at_prediction(kind):
    X, y = data_for(kind)
    model = ALL[kind](5, random_state=0).fit(X, y)
    X[:, 0] = np.nan
    assert np.isfinite(answer(model, X)).all()


@pytest.mark.parametrize("kind", long_but("forest classes"))
def test_categories_without_an_order(kind):
    rng = np.random.default_rng(0)
    level = rng.integers(0, 300, size=1500)
    truth = rng.normal(size=300)
    y = truth[level] + 0.1 * rng.normal(size=1500)
    y = (y > 0).astype(int) if "classes" in kind else y
    frame = pd.DataFrame({"c": pd.Categorical([f"level {k}" for k in level]), "x": rng.normal(size=1500)})
    options = {"random_state": 0, "max_features": None, "n_estimators": 10}
    model = ALL[kind](categorical_features="from_dtype", **options).fit(frame[:1000], y[:1000])
    assert model.score(frame[1000:], y[1000:]) > (0.4 if "extra" in kind else 0.8)
    renamed = frame.assign(c=pd.Categorical([f"level {299 - k:03d}" for k in level]))
    other = ALL[kind](categorical_features=["c"], **options).fit(renamed[:1000], y[:1000])
    if "extra" not in kind:  # whose cuts are random in the order of the codes
        np.testing.assert_allclose(answer(other, renamed), answer(model, frame), atol=1e-9)
    unseen = pd.DataFrame({"c": pd.Categorical(["never", None]), "x": [0.0, 0.0]})
    assert np.isfinite(answer(model, unseen)).all()


def test_two_to_the_sixteen_categories():
    n = 1 << 16
    X = np.column_stack([np.arange(n), np.zeros(n)]).astype(float)
    y = (np.arange(n) * 7919 % n < n // 3).astype(int)
    model = RandomForestClassifier(2, categorical_features=[0], bootstrap=False, max_features=None, max_depth=3)
    model.fit(X, y)
    assert model.score(X[::50], y[::50]) > 0.95


@pytest.mark.parametrize("kind", ["forest classes", "forest numbers"])
def test_directions_are_kept(kind):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))
    y = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=300)
    y = (y > 0).astype(int) if "classes" in kind else y
    model = ALL[kind](15, random_state=0, monotonic_cst=[1, -1]).fit(X, y)
    grid = np.column_stack([np.linspace(0, 1, 60), np.full(60, 0.5)])
    for j, sign in ((0, 1), (1, -1)):
        found = answer(model, grid[:, ::-1] if j else grid)
        found = found[:, 1] if found.ndim == 2 else found
        assert (sign * np.diff(found) >= -1e-12).all()
        assert sign * (found[-1] - found[0]) > 0.1


@pytest.mark.parametrize("kind", ALL)
def test_pruning_makes_trees_smaller(kind):
    X, y = data_for(kind)
    sizes = [ALL[kind](5, random_state=0, ccp_alpha=a).fit(X, y).grove_.sizes.sum() for a in (0.0, 0.01)]
    assert sizes[1] < 0.7 * sizes[0]


@pytest.mark.parametrize("criterion", [pytest.param("absolute_error", marks=pytest.mark.long), "poisson"])
def test_other_criteria_of_numbers(criterion):
    X, y = number_data(200)
    model = RandomForestRegressor(10, criterion=criterion, random_state=0, min_samples_leaf=5).fit(X, np.abs(y))
    assert model.score(X, np.abs(y)) > 0.7
    assert np.isfinite(model.estimators_[0].tree_.impurity).all()


@pytest.mark.parametrize("kind", [ExtraTreesRegressor, RandomForestRegressor])
def test_an_old_name_of_squared_error_warns(kind):
    X, y = number_data(60)
    with pytest.warns(FutureWarning, match="use that name") as caught:
        old = kind(3, criterion="friedman_mse", random_state=0).fit(X, y)
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(old.predict(X), kind(3, random_state=0).fit(X, y).predict(X))


@pytest.mark.parametrize("kind", long_but("forest numbers"))
def test_limits_are_kept(kind):
    X, y = data_for(kind)
    for splitter in ("exact", "binned"):
        depth = ALL[kind](3, max_depth=2, splitter=splitter).fit(X, y)
        assert max(tree.get_depth() for tree in depth.estimators_) == 2
        leaves = ALL[kind](3, max_leaf_nodes=6, splitter=splitter).fit(X, y)
        assert {tree.get_n_leaves() for tree in leaves.estimators_} == {6}
        large = ALL[kind](3, min_samples_leaf=0.1, splitter=splitter).fit(X, y)
        assert large.grove_.count.min() >= 30
        heavy = ALL[kind](3, min_weight_fraction_leaf=0.1, splitter=splitter).fit(X, y)
        assert heavy.grove_.weight.min() >= 30 - 1e-9


@pytest.mark.parametrize("kind", ALL)
def test_pickles_and_rebuilds(kind):
    X, y = data_for(kind, 150)
    model = ALL[kind](5, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(answer(again, X), answer(model, X))
    theirs = getattr(peer, type(model).__name__)(5, random_state=0).fit(X, y)
    assert len(pickle.dumps(model)) < 0.7 * len(pickle.dumps(theirs))


def test_a_grove_refuses_arrays_that_do_not_fit():
    X, y = class_data(100)
    grove = RandomForestClassifier(3, random_state=0).fit(X, y).grove_
    names = ("n_features", "n_classes", "criterion", "sizes", "feature", "threshold", "missing_left")
    names += ("value", "count", "weight", "impurity", "table_start", "table")
    good = {name: getattr(grove, name) for name in names}
    Grove(**good)
    for wrong in (
        {"sizes": good["sizes"][::-1] + [1, 0, -1]},
        {"feature": good["feature"] + 5},
        {"feature": np.where(good["feature"] < 0, 0, good["feature"])},
        {"threshold": good["threshold"][:-1]},
        {"value": good["value"][:, :2]},
        {"n_features": 2},
        {"table_start": np.zeros(len(good["threshold"]), np.int32)},
    ):
        with pytest.raises(ValueError, match="fit"):
            Grove(**{**good, **wrong})


@pytest.mark.parametrize("kind", ALL)
def test_one_row_one_class_constant_columns(kind):
    X, y = data_for(kind, 60)
    alone = ALL[kind](3).fit(X[:1], y[:1])
    np.testing.assert_array_equal(alone.predict(X), np.repeat(alone.predict(X[:1]), 60))
    flat = ALL[kind](3, random_state=0).fit(np.ones((60, 2)), y)
    assert flat.feature_importances_.tolist() == [0, 0]
    one = ALL[kind](3).fit(X, np.ones(60, dtype=int))
    np.testing.assert_array_equal(one.predict(X), 1)
    nothing = ALL[kind](3, random_state=0).fit(np.full((60, 2), np.nan), y)
    assert len(np.unique(nothing.predict(np.zeros((3, 2))))) == 1


BAD = {
    "depth of 0": ({"max_depth": 0}, "max_depth"),
    "no trees": ({"n_estimators": 0}, "n_estimators"),
    "splitter": ({"splitter": "best"}, "splitter"),
    "binned and monotone": ({"splitter": "binned", "monotonic_cst": [0] * 7}, "splitter='binned'"),
    "samples without bootstrap": ({"bootstrap": False, "max_samples": 0.5}, "max_sample"),
    "score without bootstrap": ({"bootstrap": False, "oob_score": True}, "Out of bag"),
    "max_features": ({"max_features": 0.0}, "max_features"),
    "leaf": ({"min_samples_leaf": 0}, "min_samples_leaf"),
    "directions": ({"monotonic_cst": [1, 0]}, "monotonic_cst"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_parameters_get_one_sentence(case):
    X, y = number_data(60)
    options, word = BAD[case]
    with pytest.raises(ValueError, match=word) as caught:
        RandomForestRegressor(**options).fit(X, y)
    assert "\n" not in str(caught.value)


def test_bad_data_get_one_sentence():
    X, y = number_data(60)
    cases = [
        (X, np.where(np.arange(60) == 3, np.nan, y), {}, "NaN"),
        (np.where(np.arange(7) == 2, np.inf, X), y, {}, "infinity"),
        (X * 1e39, y, {}, "float32"),
        (X, y, {"sample_weight": np.zeros(60)}, "weight"),
        (X, y[:-1], {}, "rows"),
        (X, sparse.csr_array(np.column_stack([y, y])), {}, "sparse"),
    ]
    for X_bad, y_bad, fit, word in cases:
        with pytest.raises(ValueError, match=word) as caught:
            RandomForestRegressor(2).fit(X_bad, y_bad, **fit)
        assert "\n" not in str(caught.value)
    with pytest.raises(NotFittedError):
        _ = RandomForestRegressor().feature_importances_
    with pytest.raises(ValueError, match="criterion"):
        RandomForestClassifier(criterion="squared_error").fit(X, y > 10)


@pytest.mark.parametrize("rows", [300, 2500])
@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
@pytest.mark.parametrize("unit", [1e-300, 1e-12, 1e150])
def test_forests_of_numbers_are_the_same_in_any_unit(kind, unit, rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 4))
    y = X[:, 0] + X[:, 1] ** 2
    power = 2.0 ** np.round(np.log2(unit))
    plain = kind(n_estimators=4, random_state=0).fit(X, y).predict(X)
    np.testing.assert_allclose(kind(n_estimators=4, random_state=0).fit(X, y * power).predict(X) / power, plain)


def test_auto_is_exact_for_more_than_two_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    y = np.digitize(X[:, 0] + X[:, 1], [-1, 0, 1])
    settings = {"n_estimators": 3, "random_state": 0}
    auto = RandomForestClassifier(**settings).fit(X, y)
    exact = RandomForestClassifier(splitter="exact", **settings).fit(X, y)
    np.testing.assert_array_equal(auto.predict_proba(X), exact.predict_proba(X))


def test_auto_is_exact_for_extra_trees_of_few_rows(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 3))
    settings = {"n_estimators": 3, "random_state": 0}

    def said(splitter):
        return ExtraTreesRegressor(splitter=splitter, **settings).fit(X, X[:, 0]).predict(X + 0.1)

    np.testing.assert_array_equal(said("auto"), said("exact"))
    monkeypatch.setattr("learnt.ensemble.forest._growth._RANDOM_BINNED_ROWS", 2000)
    np.testing.assert_array_equal(said("auto"), said("binned"))
    assert not np.array_equal(said("exact"), said("binned"))


def test_values_beyond_single_precision_are_refused_even_where_they_cancel():
    X = np.zeros((30, 2))
    X[3, 1], X[4, 1] = 1e300, -1e300
    with pytest.raises(ValueError, match=r"1e\+300 at row 3, column 1, and RandomForestRegressor compares in float32"):
        RandomForestRegressor(n_estimators=2).fit(X, np.arange(30.0))
