"""n_neighbors="auto" against leave-one-out by scikit-learn, k by k, and on a problem whose Bayes error is known."""

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier as OracleClassifier
from sklearn.neighbors import KNeighborsRegressor as OracleRegressor

import learnt
from learnt.neighbors import KNeighborsClassifier, KNeighborsRegressor, _leave_one_out
from learnt.neighbors._leave_one_out import largest_k

WEIGHTS = ["uniform", "distance", lambda d: np.exp(-d / d.mean(axis=1, keepdims=True))]


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int), X[:, 0] ** 2 + rng.normal(size=n)


@pytest.mark.parametrize("weights", WEIGHTS, ids=["uniform", "distance", "callable"])
def test_errors_are_those_of_leave_one_out(weights):
    X, y, t = table(30)
    model = KNeighborsClassifier("auto", weights=weights).fit(X, y)
    other = KNeighborsRegressor("auto", weights=weights).fit(X, t)
    assert model.left_out_errors_.size == other.left_out_errors_.size == 29
    for k in (1, 7, 29):
        labels = cross_val_predict(OracleClassifier(k, weights=weights), X, y, cv=LeaveOneOut())
        assert model.left_out_errors_[k - 1] == pytest.approx(np.mean(labels != y))
        means = cross_val_predict(OracleRegressor(k, weights=weights), X, t, cv=LeaveOneOut())
        assert other.left_out_errors_[k - 1] == pytest.approx(np.mean((means - t) ** 2) / t.var())
    assert model.left_out_errors_[model.n_neighbors_ - 1] == model.left_out_errors_.min()
    np.testing.assert_array_equal(
        model.predict(X), KNeighborsClassifier(model.n_neighbors_, weights=weights).fit(X, y).predict(X)
    )
    np.testing.assert_array_equal(
        other.predict(X), KNeighborsRegressor(other.n_neighbors_, weights=weights).fit(X, t).predict(X)
    )


def test_several_outputs_and_units():
    X, y, t = table(120)
    both = KNeighborsClassifier("auto").fit(X, np.column_stack([y, 1 - y]))
    assert both.n_neighbors_ == KNeighborsClassifier("auto").fit(X, y).n_neighbors_
    pair = KNeighborsRegressor("auto").fit(X, np.column_stack([t, 1e6 * t]))
    assert pair.n_neighbors_ == KNeighborsRegressor("auto").fit(X, t).n_neighbors_


def test_the_error_falls_to_the_bayes_error_and_k_grows_slower_than_n():
    """y is the sign of x₁ with 20 % flipped: no classifier errs less often than 20 %."""
    rng = np.random.default_rng(0)

    def draw(n):
        X = rng.uniform(-1, 1, size=(n, 2))
        return X, (X[:, 0] > 0) ^ (rng.uniform(size=n) < 0.2)

    Q, truth = draw(5000)
    found = []
    for n in (100, 2500):
        model = KNeighborsClassifier("auto").fit(*draw(n))
        found.append((model.n_neighbors_, np.mean(model.predict(Q) != truth)))
    (k_few, _), (k_many, error) = found
    assert k_many > k_few
    assert k_many / 2500 < k_few / 100
    # A standard error of 5,000 draws is 0.0057; the boundary is missed in a strip about as wide as a neighbourhood.
    assert 0.2 - 4 * 0.0057 < error < 0.2 + 4 * 0.0057 + 0.03


def test_rows_left_out_are_a_sample_where_there_are_many(monkeypatch):
    X, y, _ = table(900)
    monkeypatch.setattr(_leave_one_out, "_ROWS", 300)
    sampled = KNeighborsClassifier("auto").fit(X, y).left_out_errors_
    monkeypatch.setattr(_leave_one_out, "_ROWS", 5000)
    whole = KNeighborsClassifier("auto").fit(X, y).left_out_errors_
    assert sampled.size == whole.size == largest_k(900)
    # Five standard errors of a share of 300 rows.
    assert np.abs(sampled - whole).max() < 5 * np.sqrt(0.25 / 300)


def test_equal_rows_by_the_thousand_and_a_refit_with_a_number(tmp_path):
    X, y = np.zeros((2000, 2)), np.arange(2000) % 2
    model = KNeighborsClassifier("auto").fit(X, y)
    assert 1 <= model.n_neighbors_ <= largest_k(2000)
    learnt.save(model, tmp_path / "m.learnt")
    again = learnt.load(tmp_path / "m.learnt")
    assert again.n_neighbors_ == model.n_neighbors_
    np.testing.assert_array_equal(again.predict(X[:3]), model.predict(X[:3]))
    model.set_params(n_neighbors=3).fit(X, y)
    assert not hasattr(model, "n_neighbors_")


def test_one_row_gets_one_sentence():
    with pytest.raises(ValueError, match="by leaving rows out, and X has n_samples = 1") as caught:
        KNeighborsRegressor("auto").fit([[0.0]], [1.0])
    assert "\n" not in str(caught.value)
