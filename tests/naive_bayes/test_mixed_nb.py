"""MixedNB is the product of the models of its columns."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from learnt.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, HistogramNB, MixedNB, MultinomialNB


def make(n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    table = {
        "height": rng.normal(y, 1.0),
        "town": np.array(["Rome", "Oslo", "Lima"])[(y + (rng.random(n) < 0.3)) % 3],
        "rooms": rng.integers(0, 3, n) + y,
        "words": rng.poisson(1 + 10 * y),
        "letters": rng.poisson(10 + y),
        "wet": rng.random(n) < (y + 1) / 4,
        "price": rng.gamma(1.0 + y, 2.0),
    }
    return table, y, rng.integers(1, 4, n).astype(float)


KINDS = {"words": "multinomial", "letters": "multinomial", "wet": "bernoulli", "price": "histogram"}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_is_the_product_of_its_models(frame):
    table, y, w = make()
    table["wet"] = table["wet"].astype(float)
    X = frame(table)
    model = MixedNB(KINDS).fit(X, y, w)
    kinds = ["gaussian", "categorical", "categorical", "multinomial", "multinomial", "bernoulli", "histogram"]
    assert model.kinds_ == kinds
    prior = np.log(np.bincount(y, w) / w.sum())
    town = np.searchsorted(["Lima", "Oslo", "Rome"], table["town"])
    parts = [
        GaussianNB().fit(np.c_[table["height"]], y, w).predict_joint_log_proba(np.c_[table["height"]]),
        *(
            m.fit(A, y, w).predict_joint_log_proba(A)
            for m, A in (
                (CategoricalNB(), np.c_[town, table["rooms"]]),
                (MultinomialNB(), np.c_[table["words"], table["letters"]]),
                (BernoulliNB(), np.c_[table["wet"]]),
                (HistogramNB(), np.c_[table["price"]]),
            )
        ),
    ]
    expected = sum(part - prior for part in parts) + prior
    np.testing.assert_allclose(model.predict_joint_log_proba(X), expected, rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X), expected.argmax(axis=1))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_kinds_are_guessed():
    table, y, _ = make()
    model = MixedNB().fit(pd.DataFrame(table), y)
    assert dict(zip(table, model.kinds_, strict=True)) == {
        "height": "gaussian",
        "town": "categorical",
        "rooms": "categorical",
        "words": "gaussian",
        "letters": "gaussian",
        "wet": "categorical",
        "price": "gaussian",
    }
    assert model.score(pd.DataFrame(table), y) > GaussianNB().fit(np.c_[table["height"]], y).score(
        np.c_[table["height"]], y
    )


def test_numbers_alone_are_one_of_the_other_models():
    table, y, w = make()
    X = np.column_stack([table["height"], table["price"]])
    np.testing.assert_allclose(MixedNB().fit(X, y, w).predict_proba(X), GaussianNB().fit(X, y, w).predict_proba(X))
    C = np.column_stack([table["rooms"], (y + table["rooms"]) % 4]).astype(float)
    np.testing.assert_allclose(MixedNB().fit(C, y, w).predict_proba(C), CategoricalNB().fit(C, y, w).predict_proba(C))


def test_an_unknown_category_has_no_effect():
    table, y, _ = make()
    X = pd.DataFrame({name: table[name] for name in ("height", "town")})
    model = MixedNB().fit(X, y)
    new = pd.DataFrame({"height": [0.3, 0.3], "town": ["Paris", None]})
    alone = GaussianNB().fit(X[["height"]].to_numpy(), y).predict_proba([[0.3], [0.3]])
    np.testing.assert_allclose(model.predict_proba(new), alone)


def test_a_missing_cell_is_a_category_where_it_was_seen():
    X = pd.DataFrame({"town": ["Rome", None, "Rome", None, None, "Rome"]})
    model = MixedNB().fit(X, [0, 1, 0, 1, 1, 0])
    np.testing.assert_array_equal(model.predict(pd.DataFrame({"town": [None, "Rome"]})), [1, 0])


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ("gaussian", "kinds has 1 entries and X has 2 columns"),
        (["gaussian", "normal"], "kinds must be of 'gaussian'"),
        ({"size": "gaussian"}, "names the column 'size', which X does not have"),
        ({"town": "gaussian"}, "Column 1 of X is 'gaussian' in kinds and holds text"),
        ({"height": "multinomial"}, "Negative values"),
    ],
)
def test_refusals_are_one_sentence(kinds, message):
    table, y, _ = make()
    X = pd.DataFrame({name: table[name] for name in ("height", "town")})
    with pytest.raises(ValueError, match=message) as caught:
        MixedNB(kinds).fit(X, y)
    assert "\n" not in str(caught.value)


def test_missing_numbers_are_refused():
    X = pd.DataFrame({"height": [1.5, np.nan, 2.5], "town": ["a", "b", "a"]})
    with pytest.raises(ValueError, match="NaN or infinity at row 1, column 0"):
        MixedNB().fit(X, [0, 1, 0])
