"""Histogram boosting: against scikit-learn, against formulas, and where people get hurt."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.ensemble
import sklearn.model_selection
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss

from learnt.engine.threads import set_threads
from learnt.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from learnt.erm.losses import Huber, Poisson, Tweedie


@pytest.fixture(autouse=True)
def _threads():
    yield
    set_threads(None)


def numbers(n=600, missing=False):
    """Few distinct values a column, so that our bins and scikit-learn's are the same."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(n, 6)), 1)
    y = np.exp(X[:, 0] + 0.3 * X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n))
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


SETTINGS = {
    "squared": {},
    "poisson": {"loss": "poisson"},
    "gamma": {"loss": "gamma"},
    "l2": {"l2_regularization": 2.0},
    "shallow": {"max_depth": 2},
    "no leaf limit": {"max_leaf_nodes": None},
    "groups": {"interaction_cst": [{0}, {1, 2}]},
    "bins": {"max_bins": 255, "min_samples_leaf": 3, "learning_rate": 0.5},
}


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.sweep
def test_the_same_trees_as_scikit_learn(name, missing):
    X, y = numbers(missing=missing)
    settings = {"max_iter": 20, **SETTINGS[name]}
    ours = HistGradientBoostingRegressor(**settings).fit(X, y)
    theirs = sklearn.ensemble.HistGradientBoostingRegressor(**settings).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_same_probabilities_as_scikit_learn(n_classes):
    X, y = numbers(missing=True)
    labels = np.digitize(y, [1.0, 2.0][: n_classes - 1])
    weights = np.random.default_rng(1).random(len(y))
    alone = {"max_iter": 20, "min_samples_leaf": 1}  # of more, ours count by what they tell, too
    ours = HistGradientBoostingClassifier(**alone).fit(X, labels, weights)
    theirs = sklearn.ensemble.HistGradientBoostingClassifier(**alone).fit(X, labels, weights)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    balanced = {"max_iter": 5, "class_weight": "balanced", "min_samples_leaf": 1}
    ours = HistGradientBoostingClassifier(**balanced).fit(X, labels)
    theirs = sklearn.ensemble.HistGradientBoostingClassifier(**balanced).fit(X, labels)
    if n_classes == 2:  # with three a tie goes another way in single precision, which theirs is
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("n_classes", [2, 4])
def test_small_tables_of_noise_are_learnt_less_by_heart_than_by_scikit_learn(n_classes):
    rng = np.random.default_rng(0)
    gained = []
    for _ in range(4):
        X = rng.normal(size=(1500, 6))
        y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=1500), [0.0, 1.0, 2.0][: n_classes - 1])
        losses = [
            log_loss(y[700:], model().fit(X[:700], y[:700]).predict_proba(X[700:]))
            for model in (HistGradientBoostingClassifier, sklearn.ensemble.HistGradientBoostingClassifier)
        ]
        gained.append(np.log(losses[0] / losses[1]))
    assert np.mean(gained) < -0.005


def test_quality_on_a_real_table():
    X, y = load_breast_cancer(return_X_y=True)
    ours = HistGradientBoostingClassifier(random_state=0).fit(X[::2], y[::2])
    theirs = sklearn.ensemble.HistGradientBoostingClassifier(random_state=0).fit(X[::2], y[::2])
    assert log_loss(y[1::2], ours.predict_proba(X[1::2])) < 1.1 * log_loss(y[1::2], theirs.predict_proba(X[1::2]))


@pytest.mark.parametrize(
    ("loss", "settings"),
    [("absolute_error", {}), ("quantile", {"quantile": 0.8}), ("huber", {}), ("log_cosh", {})],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_losses_robust_to_outliers(loss, settings):
    X, y = numbers()
    spoilt = y.copy()
    spoilt[::20] += 1e4
    model = HistGradientBoostingRegressor(loss=loss, **settings).fit(X, spoilt)
    if loss == "quantile":
        assert abs(np.mean(spoilt <= model.predict(X)) - 0.8) < 0.05
    else:
        assert np.median(np.abs(model.predict(X) - y)) < 0.5


class Cauchy:
    """A loss of one's own."""

    def value(self, y, score):
        return np.log1p((score - y) ** 2)

    def gradient(self, y, score):
        return 2 * (score - y) / (1 + (score - y) ** 2)


def test_a_custom_loss():
    X, y = numbers()
    spoilt = np.where(np.arange(len(y)) % 20 == 0, 1e4, y)
    model = HistGradientBoostingRegressor(loss=Cauchy(), max_iter=300).fit(X, spoilt)
    assert np.median(np.abs(model.predict(X) - y)) < 0.5

    class Summed(Cauchy):
        def gradient(self, y, score):
            return super().gradient(y, score).sum()

    with pytest.raises(ValueError, match=r"Summed.gradient returned an array of shape \(\)"):
        HistGradientBoostingRegressor(loss=Summed()).fit(X, y)
    with pytest.raises(ValueError, match="'loss' parameter of HistGradientBoostingRegressor"):
        HistGradientBoostingRegressor(loss="hinge").fit(X, y)


@pytest.mark.parametrize("loss", ["exponential", "modified_huber", "squared_hinge"])
def test_losses_of_sides(loss):
    X, y = numbers()
    model = HistGradientBoostingClassifier(loss=loss, max_iter=40).fit(X, y > 1)
    assert model.score(X, y > 1) > 0.95
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert ((probabilities[:, 1] > 0.5) == (model.decision_function(X) > 0)).all()
    with pytest.raises(ValueError, match="two classes"):
        HistGradientBoostingClassifier(loss=loss).fit(X, np.digitize(y, [1, 2]))


@pytest.mark.parametrize("loss", [Poisson(), Tweedie(1.3), Huber(0.5)], ids=["Poisson", "Tweedie", "Huber"])
def test_objects_of_erm(loss):
    X, y = numbers()
    few = HistGradientBoostingRegressor(loss=loss, max_iter=1).fit(X, y)
    many = HistGradientBoostingRegressor(loss=loss, max_iter=60).fit(X, y)
    scores = [np.log(m.predict(X)) if not isinstance(loss, Huber) else m.predict(X) for m in (few, many)]
    assert loss.value(y, scores[1]).mean() < 0.6 * loss.value(y, scores[0]).mean()
    if isinstance(loss, Poisson):
        named = HistGradientBoostingRegressor(loss="poisson", max_iter=60).fit(X, y)
        np.testing.assert_allclose(many.predict(X), named.predict(X), rtol=1e-6)


def test_a_loss_refuses_targets_outside_its_domain():
    X, y = numbers(60)
    with pytest.raises(ValueError, match="non-negative"):
        HistGradientBoostingRegressor(loss="poisson").fit(X, -y)
    with pytest.raises(ValueError, match="strictly positive"):
        HistGradientBoostingRegressor(loss="gamma").fit(X, 0 * y)
    with pytest.raises(ValueError, match="needs y at least 0"):
        HistGradientBoostingRegressor(loss=Tweedie(1.5)).fit(X, -y)
    with pytest.raises(ValueError, match="quantile"):
        HistGradientBoostingRegressor(loss="quantile").fit(X, y)


def test_contributions_add_up_to_the_score():
    X, y = numbers(missing=True)
    model = HistGradientBoostingRegressor(max_iter=30).fit(X, y)
    parts = model.contributions(X[:40])
    assert parts.shape == (40, 7)
    np.testing.assert_allclose(parts.sum(axis=1), model.predict(X[:40]))
    many = HistGradientBoostingClassifier(max_iter=5).fit(X, np.digitize(y, [1, 2]))
    parts = many.contributions(X[:40])
    assert parts.shape == (40, 3, 7)
    np.testing.assert_allclose(parts.sum(axis=2), many.decision_function(X[:40]))
    assert np.abs(parts[:, :, 0]).mean() > np.abs(parts[:, :, 5]).mean()


def test_importances():
    X, y = numbers()
    model = HistGradientBoostingRegressor(max_iter=30).fit(X, y)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_importances_.argmax() == 0
    flat = HistGradientBoostingRegressor(max_iter=3).fit(X, np.ones(len(y)))
    np.testing.assert_array_equal(flat.feature_importances_, np.zeros(6))
    np.testing.assert_allclose(flat.predict(X), 1.0)


def test_stages():
    X, y = numbers()
    model = HistGradientBoostingClassifier(max_iter=7).fit(X, np.digitize(y, [1, 2]))
    stages = list(model.staged_decision_function(X))
    assert len(stages) == 7
    np.testing.assert_array_equal(stages[-1], model.decision_function(X))
    np.testing.assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    np.testing.assert_array_equal(list(model.staged_predict_proba(X))[-1], model.predict_proba(X))
    short = clone(model).set_params(max_iter=3).fit(X, np.digitize(y, [1, 2]))
    np.testing.assert_allclose(stages[2], short.decision_function(X))
    number = HistGradientBoostingRegressor(max_iter=4).fit(X, y)
    np.testing.assert_array_equal(list(number.staged_predict(X))[-1], number.predict(X))


@pytest.mark.parametrize("extra", [{}, {"subsample": 0.6, "max_features": 0.5}], ids=["all", "sampled"])
def test_warm_start_is_one_long_fit(extra):
    X, y = numbers()
    short = HistGradientBoostingRegressor(max_iter=5, warm_start=True, random_state=3, **extra).fit(X, y)
    short.set_params(max_iter=12).fit(X, y)
    whole = HistGradientBoostingRegressor(max_iter=12, random_state=3, **extra).fit(X, y)
    np.testing.assert_allclose(short.predict(X), whole.predict(X), rtol=1e-9)
    assert short.n_iter_ == 12
    with pytest.raises(ValueError, match="max_iter=11 must be larger than or equal to n_iter_=12"):
        short.set_params(max_iter=11).fit(X, y)


def test_a_warm_fit_continues_after_early_stopping():
    """As scikit-learn's: one tree more at least, and then the score is asked again."""
    X, _ = numbers(800)
    noise = np.random.default_rng(4).normal(size=800)
    model = HistGradientBoostingRegressor(
        early_stopping=True, max_iter=300, random_state=0, warm_start=True, n_iter_no_change=5
    ).fit(X, noise)
    first, before = model.n_iter_, model.predict(X)
    assert first < 300
    model.set_params(max_iter=400).fit(X, noise)
    assert 0 < model.n_iter_ - first < 5
    assert len(model.validation_score_) == model.n_iter_ + 1
    assert not np.array_equal(model.predict(X), before)


def test_rows_held_out_are_watched_like_rows_given():
    X, y = numbers(800)
    drawn = HistGradientBoostingRegressor(early_stopping=True, random_state=7, max_iter=60).fit(X, y)
    train, held = sklearn.model_selection.train_test_split(
        np.arange(800), test_size=0.1, random_state=drawn._random_seed % (1 << 32)
    )
    given = HistGradientBoostingRegressor(random_state=7, max_iter=60)
    given.fit(X[train], y[train], X_val=X[held], y_val=y[held])
    np.testing.assert_allclose(given.validation_score_, drawn.validation_score_)
    np.testing.assert_array_equal(given.predict(X), drawn.predict(X))


def test_columns_in_another_order_are_refused_before_categories_are_read():
    frame = pd.DataFrame({"town": pd.Categorical(["a", "b"] * 30), "size": np.arange(60.0)})
    model = HistGradientBoostingRegressor(max_iter=2, warm_start=True).fit(frame, np.arange(60.0))
    for use in (model.predict, lambda X: model.fit(X, np.arange(60.0))):
        with pytest.raises(ValueError, match="same order"):
            use(frame[["size", "town"]])


def test_early_stopping():
    X, y = numbers(800)
    noise = np.random.default_rng(4).normal(size=800)
    model = HistGradientBoostingRegressor(early_stopping=True, max_iter=500, random_state=0).fit(X, noise)
    assert model.n_iter_ < 60
    assert len(model.train_score_) == len(model.validation_score_) == model.n_iter_ + 1
    assert (np.diff(model.train_score_) > 0).all()
    on_train = clone(model).set_params(validation_fraction=None, max_iter=30).fit(X, y)
    assert on_train.n_iter_ == 30
    assert len(on_train.validation_score_) == 0
    given = HistGradientBoostingRegressor(max_iter=500).fit(X[:600], y[:600], X_val=X[600:], y_val=y[600:])
    assert given.do_early_stopping_
    expected = -0.5 * np.mean((given.predict(X[600:]) - y[600:]) ** 2)
    assert given.validation_score_[-1] == pytest.approx(expected)
    for scoring in ("r2", None, "neg_mean_absolute_error"):
        scored = HistGradientBoostingRegressor(max_iter=300, scoring=scoring)
        scored.fit(X[:600], y[:600], X_val=X[600:], y_val=y[600:])
        assert scored.n_iter_ < 300
        if scoring is None:
            assert scored.validation_score_[-1] == pytest.approx(scored.score(X[600:], y[600:]))
    classes = HistGradientBoostingClassifier(early_stopping=True, scoring="roc_auc", random_state=0, max_iter=200)
    assert classes.fit(X, y > 1).n_iter_ < 200
    with pytest.raises(ValueError, match="y_val was not provided"):
        HistGradientBoostingRegressor().fit(X, y, X_val=X)
    assert not HistGradientBoostingRegressor(max_iter=2).fit(X, y).do_early_stopping_


@pytest.mark.parametrize("sign", [1, -1])
def test_monotone(sign):
    rng = np.random.default_rng(5)
    X = rng.uniform(-2, 2, size=(1500, 3))
    y = sign * (X[:, 0] + np.sin(6 * X[:, 0])) + X[:, 1] ** 2 + 0.1 * rng.normal(size=1500)
    model = HistGradientBoostingRegressor(monotonic_cst=[sign, 0, 0]).fit(X, y)
    line = np.linspace(-2, 2, 200)
    for rest in rng.uniform(-2, 2, size=(20, 2)):
        steps = np.diff(model.predict(np.column_stack([line, np.tile(rest, (200, 1))])))
        assert (sign * steps >= -1e-12).all()
    free = HistGradientBoostingRegressor().fit(X, y).predict(np.column_stack([line, np.zeros((200, 2))]))
    assert (sign * np.diff(free) < 0).any()
    names = pd.DataFrame(X, columns=list("abc"))
    named = HistGradientBoostingRegressor(monotonic_cst={"a": sign}).fit(names, y)
    np.testing.assert_array_equal(named.predict(names), model.predict(X))
    with pytest.raises(ValueError, match="unexpected feature names"):
        HistGradientBoostingRegressor(monotonic_cst={"z": 1}).fit(names, y)
    with pytest.raises(ValueError, match="-1, 0 or 1"):
        HistGradientBoostingRegressor(monotonic_cst=[2, 0, 0]).fit(X, y)


def test_no_interactions_means_a_sum_of_functions():
    X, y = numbers()
    model = HistGradientBoostingRegressor(interaction_cst="no_interactions").fit(X, y)
    a, b = X[:50].copy(), X[50:100].copy()
    mixed_a, mixed_b = a.copy(), b.copy()
    mixed_a[:, 0], mixed_b[:, 0] = b[:, 0], a[:, 0]
    total = model.predict(a) + model.predict(b)
    np.testing.assert_allclose(model.predict(mixed_a) + model.predict(mixed_b), total)
    pairs = HistGradientBoostingRegressor(interaction_cst="pairwise", max_iter=5).fit(X, y)
    assert pairs.score(X, y) > 0
    with pytest.raises(ValueError, match="integer indices"):
        HistGradientBoostingRegressor(interaction_cst=[{0, 9}]).fit(X, y)


# --- categories and missing values


def shop(n=1500, levels=12):
    rng = np.random.default_rng(6)
    town = rng.integers(0, levels, n)
    size = rng.normal(size=n)
    effect = rng.permutation(np.arange(levels) % 5).astype(float)
    return town, size, effect[town] + 0.5 * size + 0.1 * rng.normal(size=n)


def test_categories_of_every_frame_and_any_order():
    town, size, y = shop()
    names = np.array([f"town {k}" for k in range(12)])
    text = names[town]
    pandas = pd.DataFrame({"town": pd.Categorical(text), "size": size})
    other_order = pd.DataFrame({"town": pd.Categorical(text, categories=names[::-1]), "size": size})
    polars = pl.DataFrame({"town": pl.Series(text).cast(pl.Categorical), "size": size})
    model = HistGradientBoostingRegressor(max_iter=30).fit(pandas, y)
    assert model.is_categorical_.tolist() == [True, False]
    expected = model.predict(pandas)
    assert np.mean((expected - y) ** 2) < 0.05
    np.testing.assert_array_equal(model.predict(other_order), expected)
    for frame in (other_order, polars):
        again = HistGradientBoostingRegressor(max_iter=30).fit(frame, y)
        np.testing.assert_allclose(again.predict(frame), expected)
    by_name = HistGradientBoostingRegressor(max_iter=30, categorical_features=["town"])
    plain = pd.DataFrame({"town": text, "size": size})
    np.testing.assert_allclose(by_name.fit(plain, y).predict(plain), expected)
    matrix = np.column_stack([town, size])
    by_place = HistGradientBoostingRegressor(max_iter=30, categorical_features=[0]).fit(matrix, y)
    assert np.mean((by_place.predict(matrix) - y) ** 2) < 0.05


def test_unseen_and_missing_categories_are_alike():
    town, size, y = shop()
    frame = pd.DataFrame({"town": pd.Categorical([f"t{k}" for k in town]), "size": size})
    frame.loc[::9, "town"] = None
    model = HistGradientBoostingRegressor(max_iter=20).fit(frame, y)
    new = pd.DataFrame({"town": pd.Categorical(["nowhere", None, "t1"]), "size": [0.0, 0.0, 0.0]})
    unseen, missing, known = model.predict(new)
    assert unseen == missing
    assert known != missing
    numbers_only = HistGradientBoostingRegressor(max_iter=20, categorical_features=[0])
    numbers_only.fit(np.column_stack([town, size]), y)
    a, b, c = numbers_only.predict([[99.0, 0.0], [np.nan, 0.0], [-3.0, 0.0]])
    assert a == b == c


@pytest.mark.parametrize("levels", [1000, 1 << 16])
def test_any_number_of_categories(levels):
    rng = np.random.default_rng(7)
    n = 4000
    town = np.minimum((levels * rng.random(n) ** 8).astype(int), levels - 1)
    y = (town % 3).astype(float) + 0.1 * rng.normal(size=n)
    X = np.column_stack([town, rng.normal(size=n)])
    X[0, 0] = levels - 1
    model = HistGradientBoostingRegressor(max_iter=30, categorical_features=[0]).fit(X, y)
    assert model.score(X, y) > 0.3
    assert np.isfinite(model.predict([[levels + 5.0, 0.0]])).all()
    frame = pd.DataFrame({"a": pd.Categorical([f"x{k}" for k in town]), "b": X[:, 1]})
    renamed = HistGradientBoostingRegressor(max_iter=30).fit(frame, y)
    assert renamed.score(frame, y) > 0.3


def test_the_gain_of_noise_is_subtracted_from_sets_of_categories():
    rng = np.random.default_rng(0)
    noise, number, town = rng.integers(0, 150, 6000), rng.normal(size=6000), rng.integers(0, 40, 6000)
    effect = rng.normal(size=40)
    score = np.sin(2 * number) + effect[town]
    X = np.column_stack([noise, number, town]).astype(float)
    y = (score + rng.logistic(size=6000) > 0).astype(int)
    model = HistGradientBoostingClassifier(max_iter=50, categorical_features=[0, 2]).fit(X[:3000], y[:3000])
    without = HistGradientBoostingClassifier(max_iter=50, categorical_features=[1]).fit(X[:3000, 1:], y[:3000])
    assert model.feature_importances_[0] < 0.1 < model.feature_importances_[2]
    worse = log_loss(y[3000:], model.predict_proba(X[3000:])) - log_loss(y[3000:], without.predict_proba(X[3000:, 1:]))
    assert worse < 0.008  # over seeds .003 ± .003; scikit-learn .023


def test_refusals_about_categories():
    X, y = numbers(60)
    for given, words in [
        ([7], "integer indices"),
        ([True, False], "boolean mask"),
        (["a"], "without feature names"),
        ([0.5], "bool, int or str"),
        ("dtype", "'from_dtype'"),
    ]:
        with pytest.raises(ValueError, match=words) as caught:
            HistGradientBoostingRegressor(categorical_features=given).fit(X, y)
        assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="Categorical features cannot have monotonic constraints"):
        HistGradientBoostingRegressor(categorical_features=[0], monotonic_cst=[1, 0, 0, 0, 0, 0]).fit(np.abs(X), y)


def test_missing_values_go_to_the_better_side():
    rng = np.random.default_rng(8)
    x = rng.normal(size=500)
    y = np.where(np.arange(500) % 3 == 0, 5.0, 0.0)
    X = np.where(np.arange(500) % 3 == 0, np.nan, x)[:, None]
    model = HistGradientBoostingRegressor(learning_rate=1.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-9)
    full = HistGradientBoostingRegressor(max_iter=1, max_leaf_nodes=2, learning_rate=1.0).fit(x[:, None], x > 1)
    larger = full.predict([[-5.0]])  # most rows are on the left, and there a missing value goes
    assert full.predict([[np.nan]]) == larger


# --- bad input


def test_constant_and_empty_columns():
    X, y = numbers()
    X[:, 4], X[:, 5] = 7.0, np.nan
    model = HistGradientBoostingRegressor(max_iter=20).fit(X, y)
    assert (model.feature_importances_[4:] == 0).all()
    without = HistGradientBoostingRegressor(max_iter=20).fit(X[:, :4], y)
    np.testing.assert_array_equal(model.predict(X), without.predict(X[:, :4]))
    nothing = HistGradientBoostingRegressor(max_iter=3).fit(np.full((30, 2), np.nan), np.arange(30.0))
    np.testing.assert_allclose(nothing.predict([[0.0, 1.0]]), 14.5)


def test_infinities_are_large_numbers():
    X = np.array([[-np.inf], [0.0], [1.0], [np.inf]] * 20)
    y = np.tile([0.0, 1.0, 2.0, 3.0], 20)
    model = HistGradientBoostingRegressor(min_samples_leaf=1, learning_rate=1.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-9)


def test_one_class_one_row_and_contradictory_rows():
    X, y = numbers(50)
    single = HistGradientBoostingClassifier(max_iter=3).fit(X, ["yes"] * 50)
    assert set(single.predict(X)) == {"yes"}
    np.testing.assert_array_equal(single.predict_proba(X), np.ones((50, 1)))
    assert HistGradientBoostingRegressor(max_iter=3).fit(X[:1], y[:1]).predict(X[:1]) == pytest.approx(y[0])
    twice = np.zeros((40, 2))
    model = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=1).fit(twice, np.arange(40) % 2)
    np.testing.assert_allclose(model.predict_proba(twice), 0.5)


def test_weights():
    X, y = numbers()
    weights = np.random.default_rng(9).integers(0, 4, len(y)).astype(float)
    weighted = HistGradientBoostingRegressor(max_iter=20).fit(X, y, weights)
    repeated = HistGradientBoostingRegressor(max_iter=20).fit(
        np.repeat(X, weights.astype(int), axis=0), np.repeat(y, weights.astype(int))
    )
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X))
    scaled = HistGradientBoostingRegressor(max_iter=20, min_hessian=0.0).fit(X, y, weights * 0.001)
    assert scaled.score(X, y, weights) > 0.5  # small weights are no small number of rows
    with pytest.raises(ValueError, match="zero"):
        HistGradientBoostingRegressor().fit(X, y, np.zeros(len(y)))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"max_depth": 0}, "max_depth"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes"),
        ({"max_bins": 256}, "max_bins"),
        ({"learning_rate": 0}, "learning_rate"),
        ({"growth": "wide"}, "growth"),
        ({"subsample": 1.5}, "subsample"),
        ({"max_features": 0.0}, "max_features"),
        ({"early_stopping": "yes"}, "early_stopping"),
        ({"early_stopping": np.array([1.0, 2.0])}, "early_stopping"),
        ({"verbose": "much"}, "verbose"),
        ({"verbose": np.array([1.0, 2.0])}, "verbose"),
        ({"scoring": "wrong"}, "scoring"),
        ({"scoring": -1}, "scoring"),
        ({"validation_fraction": 1.5}, "validation_fraction"),
        ({"validation_fraction": np.inf}, "validation_fraction"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_parameters_are_checked(settings, words):
    X, y = numbers(30)
    with pytest.raises(ValueError, match=words) as caught:
        HistGradientBoostingRegressor(**settings).fit(X, y)
    assert "\n" not in str(caught.value)


def test_targets_are_checked():
    X, y = numbers(30)
    with pytest.raises(ValueError, match="NaN"):
        HistGradientBoostingRegressor().fit(X, np.where(np.arange(30) == 3, np.nan, y))
    with pytest.raises(ValueError, match="NaN"):
        HistGradientBoostingClassifier().fit(X, np.where(np.arange(30) == 3, np.nan, 1.0))


def test_growth_by_level_and_sampling():
    X, y = numbers()
    by_level = HistGradientBoostingRegressor(growth="depth", max_leaf_nodes=8, max_iter=10).fit(X, y)
    by_gain = clone(by_level).set_params(growth="leaf").fit(X, y)
    assert by_level._trees.depth < by_gain._trees.depth
    one = HistGradientBoostingRegressor(subsample=0.5, max_features=0.5, random_state=1, max_iter=10).fit(X, y)
    set_threads(1)
    two = clone(one).fit(X, y)
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    assert np.abs(one.predict(X) - clone(one).set_params(random_state=2).fit(X, y).predict(X)).max() > 0


def test_a_deep_tree_needs_no_recursion():
    X = np.arange(60.0)[:, None]
    y = 2.0 ** X[:, 0]
    model = HistGradientBoostingRegressor(max_leaf_nodes=None, min_samples_leaf=1, max_iter=1, learning_rate=1.0)
    model.fit(X, y)
    assert model._trees.depth > 10
    assert model.contributions(X[:2]).sum(axis=1) == pytest.approx(model.predict(X[:2]), rel=1e-6)


def test_nothing_is_printed_on_stdout(capsys):
    X, y = numbers(100)
    HistGradientBoostingRegressor(verbose=2, max_iter=3).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""  # lines of `verbose` go to the log or to stderr
    assert err.count("\n") == 3
    HistGradientBoostingRegressor(max_iter=3).fit(X, y)
    assert capsys.readouterr().err == ""


def test_no_warnings():
    X, y = numbers(100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        HistGradientBoostingClassifier(max_iter=5).fit(X, y > 1).predict_proba(X)
