"""AdaBoost: scikit-learn's ensemble round by round, the exponential loss, stumps on sorted columns."""

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble as peer
import sklearn.tree
from scipy import sparse

from learnt.baseline import ConstantClassifier
from learnt.ensemble import AdaBoostClassifier, AdaBoostRegressor
from learnt.ensemble.adaboost._stumps import SortedColumns
from learnt.linear_model import LogisticRegression, Ridge
from learnt.naive_bayes import GaussianNB
from learnt.neighbors import KNeighborsClassifier
from learnt.tree import DecisionTreeClassifier, DecisionTreeRegressor


def table(n=300, classes=2, seed=0, d=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X[:, 0] + X[:, 1] ** 2 - X[:, 2] + 0.7 * rng.normal(size=n)
    cuts = np.quantile(score, np.arange(1, classes) / classes)
    return X, np.array(["ant", "bee", "cat", "dog"])[np.digitize(score, cuts)]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("settings", [{}, {"learning_rate": 0.3}], ids=["", "slow"])
def test_boosted_stumps_are_scikit_learns(classes, weighted, settings):
    X, y = table(classes=classes)
    w = np.random.default_rng(1).random(len(X)) if weighted else None
    ours = AdaBoostClassifier(n_estimators=15, random_state=0, **settings).fit(X, y, w)
    theirs = peer.AdaBoostClassifier(n_estimators=15, random_state=0, **settings).fit(X, y, w)
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-9)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-8)
    for mine, other in zip(ours.estimators_, theirs.estimators_, strict=True):
        np.testing.assert_array_equal(mine.tree_.feature, other.tree_.feature)
        np.testing.assert_array_equal(mine.tree_.threshold, other.tree_.threshold)
        np.testing.assert_allclose(mine.tree_.value, other.tree_.value, rtol=1e-7, atol=1e-12)
        assert mine.random_state == other.random_state
    for method in ("decision_function", "predict_proba", "predict_log_proba"):
        np.testing.assert_allclose(getattr(ours, method)(X), getattr(theirs, method)(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-7)
    for method in ("staged_predict", "staged_predict_proba", "staged_decision_function"):
        for mine, other in zip(getattr(ours, method)(X), getattr(theirs, method)(X), strict=True):
            if mine.dtype.kind == "U":
                np.testing.assert_array_equal(mine, other)
            else:
                np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(list(ours.staged_score(X, y, w)), list(theirs.staged_score(X, y, w)))


@pytest.mark.parametrize(
    "base",
    [
        (DecisionTreeClassifier(max_depth=2), sklearn.tree.DecisionTreeClassifier(max_depth=2)),
        (GaussianNB(), GaussianNB()),
        (LogisticRegression(tol=1e-10), LogisticRegression(tol=1e-10)),
    ],
    ids=["trees", "bayes", "logistic"],
)
def test_any_learner_is_boosted_as_in_scikit_learn(base):
    X, y = table(n=200, classes=3)
    ours = AdaBoostClassifier(base[0], n_estimators=6, random_state=0).fit(X, y)
    theirs = peer.AdaBoostClassifier(base[1], n_estimators=6, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-7)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-7)


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("rate", [1.0, 0.4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.sweep
def test_the_bound_is_an_exponential_loss_and_holds_after_every_round(classes, rate, weighted, depth):
    X, y = table(n=150, classes=classes)
    w = np.random.default_rng(1).random(150) * 3 if weighted else np.ones(150)
    learner = DecisionTreeClassifier(max_depth=depth, random_state=0)
    model = AdaBoostClassifier(learner, n_estimators=25, learning_rate=rate).fit(X, y, w if weighted else None)
    margin = np.zeros(150)  # votes for the right class less those for all others
    losses = []
    for alpha, member in zip(model.estimator_weights_, model.estimators_, strict=False):
        margin += alpha * np.where(member.predict(X) == y, 1.0, -1.0)
        losses.append(w @ np.exp(-margin / 2))
    np.testing.assert_allclose(model.loss_bound_, losses, rtol=1e-9)
    for bound, labels in zip(model.loss_bound_, model.staged_predict(X), strict=True):
        assert bound >= w @ (labels != y) - 1e-9
    if classes == 2:
        assert (np.diff(model.loss_bound_) < 0).all()
    if classes == 2 and rate == 1:
        errors = model.estimator_errors_[: len(losses)]
        np.testing.assert_allclose(model.loss_bound_, w.sum() * np.cumprod(2 * np.sqrt(errors * (1 - errors))))


def test_it_stops_early():
    X = np.arange(6.0).reshape(-1, 1)
    perfect = AdaBoostClassifier(n_estimators=9).fit(X, [0, 0, 0, 1, 1, 1])
    assert len(perfect) == 1
    assert perfect.estimator_weights_.tolist() == [1.0] + [0.0] * 8
    assert perfect.estimator_errors_.tolist() == [0.0] + [1.0] * 8
    hopeless = np.zeros((6, 1))
    with pytest.raises(ValueError, match="worse than random"):
        AdaBoostClassifier(ConstantClassifier(strategy="constant", constant=0)).fit(hopeless, [0, 0, 1, 1, 1, 1])
    half = AdaBoostClassifier(ConstantClassifier(), n_estimators=9).fit(hopeless, [0, 0, 1, 1, 1, 1])
    assert len(half) == len(half.loss_bound_) == 1  # the second round would be half wrong


def test_training_error_falls_to_zero_and_below_the_bound():
    X, y = table(n=120, seed=4)
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=40).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.loss_bound_[-1] < 1.0  # so there can be no mistake


def test_one_sweep_finds_the_stump_of_a_tree():
    """Ties, repeated values and weights: the same impurity as an exhaustive search."""
    rng = np.random.default_rng(0)
    for classes in (2, 3, 5):
        X = rng.integers(0, 6, size=(80, 4)).astype(float)
        codes = rng.integers(0, classes, size=80)
        weights = rng.random(80)
        tree, wrong = SortedColumns(X, codes, classes).best(weights)
        tree.validate()

        def impurity(rows, weights=weights, codes=codes, classes=classes):
            totals = np.bincount(codes[rows], weights[rows], minlength=classes)
            return totals.sum() - (totals**2).sum() / totals.sum()

        best = min(impurity(X[:, j] <= s) + impurity(X[:, j] > s) for j in range(4) for s in range(5))
        found = tree.weighted_n_node_samples[1:] @ tree.impurity[1:]
        assert found == pytest.approx(best, rel=1e-9)
        np.testing.assert_array_equal(tree.predict(X).argmax(axis=1) != codes, wrong)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_columns_are_sorted_by_value_and_then_by_row(dtype):
    rng = np.random.default_rng(3)
    X = np.column_stack(
        [
            rng.normal(size=300),
            rng.integers(-3, 3, 300) * 0.5,  # ties
            rng.choice([-0.0, 0.0, 1.0, -1.0], 300),  # the two zeros are one value
            rng.choice([-3e38, -1e-40, 1e-40, 3e38], 300),
            np.ones(300),
        ]
    ).astype(dtype)
    order = SortedColumns(X, np.arange(300) % 2, 2).order
    for j, entries in enumerate(order):
        values = X[:, j].astype(np.float32)
        rows = np.argsort(values, kind="stable")
        np.testing.assert_array_equal(entries >> 1, rows)
        gap = np.float32(1e-7 if np.ptp(values.astype(float)) > 1e-4 else 0)
        cuts = np.append(values[rows][1:] > values[rows][:-1] + gap, False)
        np.testing.assert_array_equal(entries & 1, cuts)


def test_what_stumps_cannot_compare_is_refused_by_row_and_column():
    X, y = table(n=40)
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    for bad in (1e300, -1e39):
        wrong = X.copy()
        wrong[7, 1] = bad
        for ask in (lambda Z: AdaBoostClassifier(n_estimators=3).fit(Z, y), model.predict):
            with pytest.raises(ValueError, match=r"row 7, column 1, and AdaBoostClassifier compares in float32"):
                ask(wrong)
        with pytest.raises(ValueError, match=r"row 7, column 1"):
            AdaBoostClassifier(n_estimators=3).fit(sparse.csr_matrix(wrong), y)
        with pytest.raises(ValueError, match=r"row 7, column 1, and AdaBoostRegressor compares in float32"):
            AdaBoostRegressor(n_estimators=3).fit(wrong, X[:, 0])


def test_a_boosted_stump_is_a_fitted_tree():
    X, y = table(n=60)
    stump = AdaBoostClassifier(n_estimators=1).fit(X, y).estimators_[0]
    tree = DecisionTreeClassifier(max_depth=1).fit(X, y, np.full(60, 1 / 60))
    assert vars(stump).keys() == vars(tree).keys()
    for name in ("n_features_in_", "max_features_", "n_classes_", "n_outputs_", "_categories"):
        assert getattr(stump, name) == getattr(tree, name)
    np.testing.assert_array_equal(stump.classes_, tree.classes_)
    np.testing.assert_allclose(stump.predict_proba(X), tree.predict_proba(X))
    for name, array in tree.tree_.arrays().items():
        np.testing.assert_allclose(getattr(stump.tree_, name)[:3] * 1.0, array[:3] * 1.0, err_msg=name)


def test_sparse_rows_take_the_general_path_to_the_same_place():
    X, y = table(n=150)
    X[np.abs(X) < 0.7] = 0
    dense, thin = (AdaBoostClassifier(n_estimators=8, random_state=0).fit(data, y) for data in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(thin.decision_function(X), dense.decision_function(X), rtol=1e-8)


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
@pytest.mark.parametrize("weighted", [False, True])
def test_regression_is_scikit_learns(loss, weighted):
    X, _ = table()
    rng = np.random.default_rng(1)
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=300)
    w = rng.integers(0, 3, size=300) * 1.0 if weighted else None
    settings = {"n_estimators": 10, "loss": loss, "random_state": 0, "learning_rate": 0.7}
    ours = AdaBoostRegressor(DecisionTreeRegressor(max_depth=3), **settings).fit(X, y, w)
    there = slice(None) if w is None else w > 0  # as many rows are drawn as there are, and theirs counts weight 0
    theirs = peer.AdaBoostRegressor(sklearn.tree.DecisionTreeRegressor(max_depth=3), **settings)
    theirs.fit(X[there], y[there], w if w is None else w[there])
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-7)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-7)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-6)
    for mine, other in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-7)
    np.testing.assert_allclose(list(ours.staged_score(X, y)), list(theirs.staged_score(X, y)), rtol=1e-7)


def test_regression_of_lines_ends_at_once_where_they_are_exact():
    X, _ = table(n=50)
    model = AdaBoostRegressor(Ridge(alpha=0.0), random_state=0).fit(X, X[:, 0] * 0)
    assert len(model) == 1
    np.testing.assert_allclose(model.predict(X), 0, atol=1e-12)


def test_refusals_are_one_sentence():
    X, y = table(n=40)
    for model, words in [
        (AdaBoostClassifier(KNeighborsClassifier()), "doesn't support sample_weight"),
        (AdaBoostClassifier(n_estimators=0), "'n_estimators' parameter"),
        (AdaBoostClassifier(learning_rate=0.0), "'learning_rate' parameter"),
        (AdaBoostClassifier(learning_rate=np.inf), "'learning_rate' parameter"),
        (AdaBoostRegressor(learning_rate=np.inf), "'learning_rate' parameter"),
        (AdaBoostClassifier("trees"), "'estimator' parameter"),
        (AdaBoostRegressor(loss="cubic"), "'loss' parameter"),
    ]:
        with pytest.raises(ValueError, match=words) as caught:
            model.fit(X, y if isinstance(model, AdaBoostClassifier) else X[:, 0])
        assert "\n" not in str(caught.value)
    with pytest.raises(AttributeError, match="feature importances"):
        AdaBoostClassifier(GaussianNB(), n_estimators=2).fit(X, y).feature_importances_  # noqa: B018


def test_awkward_tables():
    constant, y = np.ones((20, 2)), np.arange(20) % 2
    with pytest.raises(ValueError, match="worse than random"):
        AdaBoostClassifier().fit(constant, y)
    lopsided = AdaBoostClassifier().fit(constant, y * (np.arange(20) > 10))
    assert set(lopsided.predict(constant)) == {0}
    twins = np.repeat(np.arange(10.0), 2).reshape(-1, 1)  # equal rows with different labels
    assert AdaBoostClassifier(n_estimators=5).fit(twins, np.r_[np.zeros(9), np.ones(11)]).score(twins, y) >= 0.4
    zero = np.r_[np.ones(10), np.zeros(10)]
    X, labels = table(n=20)
    one = AdaBoostClassifier(n_estimators=5, random_state=0).fit(X, labels, zero)
    two = AdaBoostClassifier(n_estimators=5, random_state=0).fit(X[:10], labels[:10])
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


@pytest.mark.parametrize("depth", [1, 2])
def test_a_learner_that_takes_text_gets_the_table_as_it_is(depth):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(size=200), "town": rng.choice(["Rome", "Oslo", "Bern"], 200)})
    y = np.where(X["size"] + 3 * (X["town"] == "Rome") > 1, "much", "little")
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=depth), n_estimators=20, random_state=0)
    model.fit(X, y, sample_weight=np.r_[0.0, np.ones(199)])
    assert model.score(X, y) > 0.95
    assert model.predict(X.assign(town="Paris")).shape == (200,)  # none of the towns of training
    assert set(model.feature_importances_ > 0) == {True}
    with pytest.raises(ValueError, match="column 'town' of X holds String, and LogisticRegression needs numbers"):
        AdaBoostClassifier(LogisticRegression()).fit(X, y)
