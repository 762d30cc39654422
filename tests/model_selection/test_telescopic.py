"""Coarse to fine: the grid's optimum where there is one peak, a point no neighbour beats where there are more."""

import itertools

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline

import learnt
from learnt.linear_model import LogisticRegression, Ridge
from learnt.model_selection import TelescopicSearchCV, learning_curve, validation_curve
from learnt.model_selection._telescopic import axes_of, neighbours, telescope
from learnt.preprocessing import StandardScaler
from learnt.svm import SVC

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 30))
y = X @ RNG.normal(size=30) + 6 * RNG.normal(size=120)


def searched(axes, coarse, function):
    """The places in the order they were tried, with their scores."""
    seen = {}

    def evaluate(places):
        assert not set(places) & seen.keys(), "tried twice"
        seen.update((place, function(*place)) for place in places)
        return [seen[place] for place in places]

    telescope(axes, coarse, evaluate)
    return seen


@pytest.mark.parametrize("coarse", [2, 3, 5])
@pytest.mark.parametrize("sizes", [(1,), (2,), (7,), (100,), (40, 23), (9, 8, 7), (5, 4, 6, 3)])
def test_a_single_peak_is_found_wherever_it_is(sizes, coarse):
    axes = axes_of({f"p{k}": list(range(n)) for k, n in enumerate(sizes)})
    for _ in range(20):
        peak = [RNG.integers(n) for n in sizes]
        slopes = RNG.uniform(0.1, 3.0, size=len(sizes))
        seen = searched(axes, coarse, lambda *p: -sum(s * abs(a - b) ** 1.5 for s, a, b in zip(slopes, p, peak)))  # noqa: B023
        assert max(seen, key=seen.get) == tuple(peak)


def test_the_work_grows_with_the_logarithm_of_the_grid():
    sizes = 100, 1000, 10000
    tried = [len(searched(axes_of({"p": range(n)}), 5, lambda p, n=n: -abs(p - 0.37 * n))) for n in sizes]
    assert tried[-1] <= 5 + 3 * np.log2(10000)
    assert np.diff(tried).max() <= 4 * np.log2(10)


def test_no_neighbour_is_better_on_any_surface():
    axes = axes_of({"a": range(15), "b": range(12), "c": ["x", "y", "z"]})
    for _ in range(20):
        surface = RNG.normal(size=(15, 12, 3))
        seen = searched(axes, 4, lambda *p: surface[p])  # noqa: B023
        best = max(seen, key=seen.get)
        around = itertools.product(*(range(max(0, i - 1), min(n, i + 2)) for i, n in zip(best[:2], (15, 12))), range(3))
        assert surface[best] == max(surface[p] for p in around)


def test_many_parameters_have_neighbours_along_each_alone():
    axes = axes_of({name: range(9) for name in "abcd"} | {"kind": ["u", "v"]})
    found = set(neighbours(axes, (4, 4, 4, 4, 0), [2, 2, 2, 2, 0]))
    assert len(found) == 2 * (1 + 2 * 4)


def test_ridge_is_that_of_the_whole_grid_after_a_fraction_of_the_fits():
    grid, folds = {"alpha": np.logspace(-4, 5, 91)}, KFold(5, shuffle=True, random_state=0)
    ours = TelescopicSearchCV(Ridge(), grid, cv=folds, return_train_score=True).fit(X, y)
    whole = GridSearchCV(Ridge(), grid, cv=folds).fit(X, y)
    assert ours.best_params_ == whole.best_params_
    assert ours.best_score_ == whole.best_score_
    assert ours.n_candidates_ == len(ours.cv_results_["params"]) <= 0.25 * ours.n_grid_
    assert ours.n_grid_ == 91
    np.testing.assert_array_equal(ours.predict(X), whole.predict(X))
    stage = np.asarray(ours.cv_results_["stage"])
    assert stage[0] == 0
    assert (np.diff(stage) >= 0).all()
    assert {"mean_train_score", "rank_test_score", "mean_fit_time"} <= ours.cv_results_.keys()


@pytest.mark.long
def test_two_parameters_and_a_name_of_a_pipeline():
    data, labels = make_classification(150, 8, n_informative=5, random_state=1)
    model = make_pipeline(StandardScaler(), SVC())
    grid = {
        "svc__C": np.logspace(-2, 3, 13),
        "svc__gamma": np.logspace(-4, 1, 13),
        "svc__class_weight": [None, "balanced"],
    }
    ours = TelescopicSearchCV(model, grid, cv=3).fit(data, labels)
    at = {str(p): s for p, s in zip(ours.cv_results_["params"], ours.cv_results_["mean_test_score"])}
    assert ours.best_score_ == max(at.values())
    assert ours.n_candidates_ < 0.4 * ours.n_grid_
    whole = GridSearchCV(clone(model), {k: v[::3] if k != "svc__class_weight" else v for k, v in grid.items()}, cv=3)
    assert ours.best_score_ >= whole.fit(data, labels).best_score_ - 0.02  # 50 points over the whole grid
    assert hasattr(ours, "decision_function")
    np.testing.assert_array_equal(ours.classes_, [0, 1])


def test_several_grids_and_several_scores():
    data, labels = make_classification(150, 6, random_state=0)
    grids = [{"C": np.logspace(-3, 3, 13)}, {"C": [1.0], "fit_intercept": [True, False]}]
    search = TelescopicSearchCV(
        LogisticRegression(), grids, cv=3, scoring=["accuracy", "neg_log_loss"], refit="neg_log_loss"
    ).fit(data, labels)
    losses = search.cv_results_["mean_test_neg_log_loss"]
    assert search.best_score_ == losses.max()
    assert any("fit_intercept" in params for params in search.cv_results_["params"])
    assert search.n_grid_ == 15
    with pytest.raises(ValueError, match="refit must name the score"):
        TelescopicSearchCV(Ridge(), {"alpha": [1, 2]}, scoring=["r2", "neg_mean_squared_error"], refit=False).fit(X, y)


class Fails(BaseEstimator):
    """Cannot be fitted at small values."""

    def __init__(self, at=0.0):
        self.at = at

    def fit(self, X, y):
        if self.at < 3:
            raise ValueError("no")
        return self

    def score(self, X, y):
        return -self.at


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
def test_values_that_cannot_be_fitted_are_passed_over():
    assert TelescopicSearchCV(Fails(), {"at": range(20)}, cv=2).fit(X, y).best_params_ == {"at": 3}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"param_grid": {"alpha": []}}, "a list of values for 'alpha'"),
        ({"param_grid": {"alpha": 3.0}}, "a list of values for 'alpha'"),
        ({"param_grid": {"solver": "svd"}}, "a list of values for 'solver'"),
        ({"param_grid": []}, "must be a dict"),
        ({"param_grid": "alpha"}, "must be a dict"),
        ({"param_grid": {"alpha": [1, 2]}, "coarse": 1}, "'coarse' parameter"),
        ({"param_grid": {"alfa": [1, 2]}}, "Invalid parameter 'alfa'"),
    ],
)
def test_what_is_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        TelescopicSearchCV(Ridge(), **settings).fit(X, y)


def test_rows_that_are_read_in_blocks_are_refused(tmp_path):
    import polars as pl

    pl.DataFrame(X, schema=[f"x{i}" for i in range(30)]).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(TypeError, match="TelescopicSearchCV"):
        TelescopicSearchCV(Ridge(), {"alpha": [1, 2]}).fit(learnt.scan(tmp_path / "x.parquet"), y)


def test_curves_are_scikit_learns():
    from sklearn import linear_model, model_selection

    alphas = np.logspace(-2, 3, 6)
    ours = validation_curve(Ridge(), X, y, param_name="alpha", param_range=alphas, cv=4)
    theirs = model_selection.validation_curve(linear_model.Ridge(), X, y, param_name="alpha", param_range=alphas, cv=4)
    for a, b in zip(ours, theirs):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)  # the same minimum by two factorisations
    ours = learning_curve(Ridge(), X, y, train_sizes=[20, 40, 80], cv=4)
    theirs = model_selection.learning_curve(linear_model.Ridge(), X, y, train_sizes=[20, 40, 80], cv=4)
    for a, b in zip(ours, theirs):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "values",
    [[1.0, 1.0, 1.0], [1.0, None, 2.0], [1.0, np.nan, 2.0], [1e300, 1e-300, 1e308], [-1.0, 1.0, 2.0], {1.0, 2.0}],
    ids=str,
)
def test_values_that_are_odd_end_in_the_search_or_lose(values):
    X = np.random.default_rng(0).normal(size=(30, 3))
    search = TelescopicSearchCV(Ridge(), {"alpha": values}, cv=3).fit(X, X[:, 0])
    assert search.best_params_["alpha"] > 0
    assert search.n_candidates_ <= search.n_grid_ <= len(values)
