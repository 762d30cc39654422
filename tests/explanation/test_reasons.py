"""Reasons of whole models, in the columns of the table: they add up, and are what the definition says."""

import importlib
import warnings

import numpy as np
import polars as pl
import pytest

from learnt.calibration import CalibratedClassifierCV
from learnt.compose import TransformedTargetRegressor
from learnt.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from learnt.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RecalibratedClassifier,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from learnt.explanation import shapley_exact
from learnt.inspection import contributions
from learnt.kernel_ridge import KernelRidge
from learnt.linear_model import LassoCV, LinearRegression, LogisticRegression, Ridge
from learnt.naive_bayes import GaussianNB
from learnt.neighbors import KNeighborsClassifier
from learnt.neural_network import MLPClassifier
from learnt.pipeline import make_pipeline
from learnt.preprocessing import PolynomialFeatures, StandardScaler, TableEncoder
from learnt.study.race._families import FAMILIES
from learnt.svm import SVC
from learnt.tree import DecisionTreeClassifier

COLUMNS = ["amount", "city", "when", "count", "note"]


def table(n=200):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "amount": rng.normal(size=n),
            "city": rng.choice(["Oslo", "Rome", "Paris"], n),
            "when": [f"2024-{m:02d}-{d:02d}" for m, d in zip(rng.integers(1, 13, n), rng.integers(1, 28, n))],
            "count": rng.integers(0, 9, n),
            "note": [f"a note of many words, the word{k % 7} and the other{k % 5} among them" for k in range(n)],
        }
    )
    score = frame["amount"].to_numpy() + 2.0 * (frame["city"] == "Oslo").to_numpy()
    return frame, score + 0.2 * frame["count"].to_numpy() + rng.normal(size=n) * 0.3


def raw(model):
    return make_pipeline(TableEncoder(), model)


def squashed(*steps):
    return make_pipeline(TableEncoder(numeric="squash", text_features=4), StandardScaler(), *steps)


def forest(kind=RandomForestClassifier):
    return kind(8, max_depth=5, random_state=0)


def boosted():
    return HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=6, min_samples_leaf=5, early_stopping=False)


def blend():
    trees = [("forest", forest()), ("boosting", RecalibratedClassifier(boosted(), floor=1e-3, doubt=1e-3))]
    rest = [("logistic", LogisticRegression()), ("svc", SVC(probability=True, random_state=0)), ("nb", GaussianNB())]
    first = raw(VotingClassifier(trees, voting="soft", weights=[0.3, 0.7]))
    both = [("trees", first), ("rest", squashed(VotingClassifier(rest, voting="soft")))]
    voting = VotingClassifier(both, voting="soft", weights=[0.6, 0.4])
    return RecalibratedClassifier(voting, exponent=1.2, floor=1e-6, doubt=1e-4)


CLASSIFIERS = {
    "logistic": (lambda: squashed(LogisticRegression()), "log-odds", "exact"),
    "products": (
        lambda: squashed(PolynomialFeatures(2, include_bias=False), StandardScaler(), LogisticRegression()),
        "log-odds",
        "exact",
    ),
    "discriminants": (lambda: squashed(LinearDiscriminantAnalysis()), "log-odds", "exact"),
    "tree": (lambda: raw(DecisionTreeClassifier(max_depth=4)), "probability", "exact"),
    "forest": (lambda: raw(forest()), "probability", "exact"),
    "extra trees": (lambda: raw(forest(ExtraTreesClassifier)), "probability", "exact"),
    "boosting": (lambda: raw(boosted()), "log-odds", "exact"),
    "gradient boosting": (lambda: raw(GradientBoostingClassifier(n_estimators=3)), "log-odds", "exact"),
    "a power of boosting": (lambda: raw(RecalibratedClassifier(boosted(), exponent=0.8)), "log-odds", "exact"),
    "forests": (
        lambda: raw(VotingClassifier([("a", forest()), ("b", forest(ExtraTreesClassifier))], voting="soft")),
        "probability",
        "exact",
    ),
    "calibrated": (lambda: raw(CalibratedClassifierCV(boosted(), cv=2)), "probability", "carried"),
    "isotonic": (lambda: raw(CalibratedClassifierCV(forest(), cv=2, method="isotonic")), "probability", "carried"),
    "temperature": (
        lambda: raw(CalibratedClassifierCV(boosted(), cv=2, method="temperature", ensemble=False)),
        "log-odds",
        "exact",
    ),
    "stacking": (
        lambda: squashed(StackingClassifier([("a", forest()), ("b", GaussianNB())], cv=2, passthrough=True)),
        "probability",
        "carried",
    ),
    "stack of forests": (
        lambda: raw(StackingClassifier([("a", forest()), ("b", forest(ExtraTreesClassifier))], cv=2)),
        "log-odds",
        "exact",
    ),
    "neighbours": (lambda: squashed(KNeighborsClassifier()), "probability", "sampled"),
    "blend": (blend, "probability", "sampled"),
}


def probabilities(reasons):
    """The probability of the second class, or of all, from what was explained."""
    found = reasons.baseline + reasons.values.sum(axis=1)
    np.testing.assert_allclose(found, reasons.prediction, atol=1e-9)
    if reasons.link == "probability":
        return found
    if found.ndim == 1:
        return 1 / (1 + np.exp(-found))
    e = np.exp(found - found.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_reasons_add_up_to_the_probability(name, classes):
    X, score = table()
    y = np.digitize(score, [1.0] if classes == 2 else [0.5, 2.0])
    make, link, how = CLASSIFIERS[name]
    model = make().fit(X, y)
    found = contributions(model, X[:40])
    assert (found.link, found.how, found.columns) == (link, how, COLUMNS)
    assert (found.standard_error is None) == (how != "sampled")
    wanted = model.predict_proba(X[:40])
    assert found.values.shape == ((40, 5) if classes == 2 else (40, 5, 3))
    np.testing.assert_allclose(probabilities(found), wanted[:, 1] if classes == 2 else wanted, atol=1e-6)
    sure = contributions(model, X[:40], link="probability")
    np.testing.assert_allclose(probabilities(sure), wanted[:, 1] if classes == 2 else wanted, atol=1e-6)


REGRESSORS = {
    "lasso": (lambda: squashed(LassoCV(cv=3, alphas=5)), "exact"),
    "forest": (lambda: raw(forest(RandomForestRegressor)), "exact"),
    "average": (
        lambda: VotingRegressor([("a", raw(forest(RandomForestRegressor))), ("b", squashed(Ridge()))], weights=[2, 1]),
        "exact",
    ),
    "stack": (
        lambda: squashed(StackingRegressor([("a", forest(RandomForestRegressor)), ("b", Ridge())], cv=2)),
        "exact",
    ),
    "amounts": (lambda: raw(HistGradientBoostingRegressor(loss="poisson", max_iter=4)), "carried"),
    "scaled target": (
        lambda: squashed(
            TransformedTargetRegressor(Ridge(), transformer=StandardScaler(), check_inverse=False),
        ),
        "exact",
    ),
    "kernel": (lambda: squashed(KernelRidge(kernel="rbf", gamma=0.01)), "sampled"),
}


@pytest.mark.parametrize("name", REGRESSORS)
def test_reasons_add_up_to_the_number(name):
    X, score = table()
    make, how = REGRESSORS[name]
    model = make().fit(X, score - score.min())
    found = contributions(model, X[:40])
    assert (found.link, found.how, found.classes) == ("identity", how, None)
    np.testing.assert_allclose(found.baseline + found.values.sum(axis=1), model.predict(X[:40]), atol=1e-8)


# --- against the definition


@pytest.mark.parametrize("products", [False, True])
def test_linear_reasons_are_shapley_values_against_the_training_rows(products):
    """A product of two columns is shared as the definition shares it; the background is all the rows of `fit`."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) + [0.0, 1, 2, 3]
    y = X[:, 0] * X[:, 1] - X[:, 2] ** 2 + X[:, 3]
    steps = [PolynomialFeatures(2, include_bias=False), StandardScaler()] if products else []
    model = make_pipeline(StandardScaler(), *steps, Ridge(alpha=0.1)).fit(X, y)
    found = contributions(model, X[:6], background=X[:3])
    exact = shapley_exact(model.predict, X[:6], X)
    assert found.how == "exact"
    np.testing.assert_allclose(found.values, exact.values, atol=1e-9)
    np.testing.assert_allclose(found.baseline, exact.baseline, atol=1e-9)


def test_sampled_reasons_in_the_columns_of_the_table_are_within_their_errors():
    """Rows are put together from cells of the table itself: a city's levels, a date's parts stay together."""
    X, score = table(80)
    model = squashed(KernelRidge(kernel="rbf", gamma=0.05)).fit(X, score)
    Z, background = X[:8], X[40:52]
    every = pl.concat([Z, background])

    def predict(at):
        return model.predict(pl.DataFrame({name: every[name][at[:, j]] for j, name in enumerate(COLUMNS)}))

    here = np.repeat(np.arange(8)[:, None], 5, axis=1)
    exact = shapley_exact(predict, here, 8 + np.repeat(np.arange(12)[:, None], 5, axis=1))
    found = contributions(model, Z, background=background, n_pairs=48)
    assert (np.abs(found.values - exact.values) <= 5 * found.standard_error + 1e-9).all()
    whole = contributions(model, Z, background=background, n_pairs=48, method="sampled")
    assert (np.abs(whole.values - exact.values) <= 5 * whole.standard_error + 1e-9).all()
    np.testing.assert_allclose(whole.baseline, exact.baseline)


def test_carried_reasons_are_the_scores_times_one_factor():
    """From log-odds to the probability of one of two classes all parts shrink alike."""
    X, score = table()
    model = raw(boosted()).fit(X, score > 1)
    odds, chance = contributions(model, X[:9]), contributions(model, X[:9], link="probability")
    start, end = 1 / (1 + np.exp(-odds.baseline)), 1 / (1 + np.exp(-odds.prediction))
    factor = (end - start) / (odds.prediction - odds.baseline)
    np.testing.assert_allclose(chance.values, odds.values * factor[:, None], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(chance.baseline, start)


def points_of_the_mixture(means, spreads):
    """Few rows with the means and covariances of each class, and so every moment that a quadratic function asks for."""
    d, parts = means.shape[1], []
    for mean, spread in zip(means, spreads):
        steps = np.sqrt(d) * np.linalg.cholesky(spread).T
        parts += [mean + steps, mean - steps]
    return np.concatenate(parts)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", [GaussianNB, QuadraticDiscriminantAnalysis])
def test_bell_curves_are_explained_exactly_against_their_own_mixture(kind, classes):
    rng = np.random.default_rng(0)
    y = np.arange(90) % classes  # as many rows of each class, so that all points of the mixture weigh the same
    X = rng.normal(size=(90, 3)) @ rng.normal(size=(3, 3)) + y[:, None] * [0.5, -1, 2]
    model = kind().fit(X, y)
    spreads = (
        [np.diag(variance) for variance in model.var_]
        if kind is GaussianNB
        else [(r * s) @ r.T for s, r in zip(model.scalings_, model.rotations_)]
    )
    means = model.theta_ if kind is GaussianNB else model.means_
    exact = shapley_exact(
        lambda rows: np.diff(model.predict_log_proba(rows), axis=1),
        X[:5],
        points_of_the_mixture(means, spreads),
    )
    parts = model.contributions(X[:5])
    found = parts[:, None] if classes == 2 else np.diff(parts, axis=1)
    np.testing.assert_allclose(found[:, :, :-1].transpose(0, 2, 1), exact.values, atol=1e-8)
    np.testing.assert_allclose(found[0, :, -1], exact.baseline, atol=1e-8)
    assert contributions(model, X[:5]).how == "exact"


@pytest.mark.parametrize("name", sorted({family.model for family in FAMILIES if not family.images}))
def test_every_model_of_a_study_has_contributions(name):
    """Of arrays, without a pipeline; the last column is what is predicted where nothing is known."""
    room, _, kind = name.rpartition(".")
    family = next(family for family in FAMILIES if family.model == name)
    settings = family.fixed | family.brief | ({"max_iter": 3} if "max_iter" in family.fixed else {})
    model = getattr(importlib.import_module(room), kind)(**settings)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=90)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few rows, few steps
        model.fit(X, score if family.task == "regress" else np.digitize(score, [-0.5, 0.5]))
    parts = model.contributions(X[:25])
    total = parts.sum(axis=-1)
    if family.task == "regress":
        assert parts.shape == (25, 5)
        np.testing.assert_allclose(total, model.predict(X[:25]), atol=1e-6)
        return
    assert parts.shape == (25, 3, 5)
    wanted = model.predict_proba(X[:25])
    if not np.allclose(total, wanted, atol=1e-5):
        e = np.exp(total - total.max(axis=1, keepdims=True))
        total = e / e.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(total, wanted, atol=1e-5)


def test_blends_have_contributions_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X[:, 0] > 0
    members = [("forest", forest()), ("bayes", GaussianNB())]
    for model in (
        VotingClassifier(members, voting="soft"),
        StackingClassifier(members, cv=2),
        RecalibratedClassifier(forest(), exponent=1.2),
        CalibratedClassifierCV(forest(), cv=2),
    ):
        parts = model.fit(X, y).contributions(X[:25])
        total, chance = parts.sum(axis=1), model.predict_proba(X[:25])[:, 1]
        assert np.allclose(total, chance, atol=1e-6) or np.allclose(1 / (1 + np.exp(-total)), chance, atol=1e-6)


def test_one_row_is_compared_with_what_the_model_keeps():
    X, score = table(120)
    for last in (KNeighborsClassifier(), SVC(probability=True, random_state=0), MLPClassifier(max_iter=3)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # few rows, few steps
            model = squashed(last).fit(X, score > 1)
        found = contributions(model, X[:1])
        assert np.abs(found.values).max() > 0
        np.testing.assert_allclose(found.prediction, model.predict_proba(X[:1])[:, 1], atol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_baseline_of_a_blend_is_what_it_predicts_of_the_background(classes):
    """And carried values are near those of the definition, in which a blend's probability is one function."""
    X, score = table()
    members = [("boosting", raw(boosted())), ("logistic", squashed(LogisticRegression()))]
    y = np.digitize(score, [1.0] if classes == 2 else [0.5, 2.0])
    model = RecalibratedClassifier(VotingClassifier(members, voting="soft"), exponent=1.3, floor=1e-3).fit(X, y)
    background = X[100:120]
    found = contributions(model, X[:30], background=background)
    told = model.predict_proba(background).mean(axis=0)
    np.testing.assert_allclose(found.baseline[0], told[1] if classes == 2 else told, atol=1e-6)
    asked = contributions(model, X[:30], background=background, method="sampled", n_pairs=20)
    assert np.corrcoef(found.values.ravel(), asked.values.ravel())[0, 1] > 0.9
    assert (found.how, asked.how) == ("carried", "sampled")


# --- what people read


def test_the_words_of_a_row():
    X, score = table()
    found = contributions(squashed(LogisticRegression()).fit(X, np.where(score > 1, "late", "in time")), X)
    top = found.top(0, 2)
    assert [abs(r.value) for r in top] == sorted((abs(found.values[0])), reverse=True)[:2]
    assert top[0].cell == X[top[0].column][0]
    assert found.words(0, 1)[0].startswith(f"{top[0].column} = ")
    assert found.top(0, 1, of="in time")[0].value == -found.top(0, 1, of="late")[0].value
    assert "Reasons(200 rows, 5 columns" in repr(found)
    assert "<table>" in found._repr_html_()
    with pytest.raises(ValueError, match="no class 'never'"):
        found.top(0, of="never")


def test_columns_come_by_name_in_any_order_and_of_any_library():
    X, score = table(60)
    model = raw(forest(RandomForestRegressor)).fit(X, score)
    found = contributions(model, X[:5])
    other = contributions(model, X[:5].select(pl.lit(1).alias("more"), *COLUMNS[::-1]))
    pandas = contributions(model, X[:5].to_pandas())
    np.testing.assert_allclose(other.values, found.values)
    np.testing.assert_allclose(pandas.values, found.values)
    assert other.columns == found.columns == COLUMNS


def test_a_single_row_needs_a_background_where_the_model_keeps_none():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    model = LinearRegression().fit(X, X @ [1.0, 2, 3])
    assert np.abs(contributions(model, X[:1]).values).max() == 0
    np.testing.assert_allclose(
        contributions(model, X[:1], background=X).values[0], (X[0] - X.mean(axis=0)) * [1, 2, 3], atol=1e-9
    )


def test_wrong_uses_get_one_sentence():
    X, score = table(60)
    model = raw(forest()).fit(X, score > 1)
    with pytest.raises(ValueError, match="lacks the column 'city'"):
        contributions(model, X.drop("city"))
    with pytest.raises(ValueError, match="link must be"):
        contributions(model, X, link="logit")
    with pytest.raises(ValueError, match="method must be"):
        contributions(model, X, method="tree")
    with pytest.raises(ValueError, match="X has no rows"):
        contributions(model, X[:0])
    with pytest.raises(ValueError, match="gives no probabilities"):
        contributions(squashed(SVC()).fit(X, score > 1), X)
    with pytest.raises(ValueError, match="does not predict"):
        contributions(StandardScaler().fit(np.eye(3)), np.eye(3))
