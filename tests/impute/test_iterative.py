"""IterativeImputer against scikit-learn's, draw for draw, and what it finds where columns follow from others."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer as Oracle

from learnt.impute import IterativeImputer
from learnt.linear_model import BayesianRidge, LinearRegression

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def with_holes(n=120, d=5, share=0.15, seed=0):
    """Rows with missing cells, which have a correlation."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=d)
    X[rng.random((n, d)) < share] = np.nan
    return X


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sample_posterior": True},
        {"sample_posterior": True, "min_value": -1.0, "max_value": 1.0},
        {"n_nearest_features": 2},
        {"imputation_order": "descending"},
        {"imputation_order": "roman"},
        {"imputation_order": "arabic"},
        {"imputation_order": "random"},
        {"skip_complete": True, "imputation_order": "ascending"},
        {"min_value": -0.5, "max_value": [1.0, 2.0, 3.0, 4.0, 5.0]},
        {"max_iter": 0},
        {"add_indicator": True, "initial_strategy": "median"},
        {"initial_strategy": "constant", "fill_value": 2.0, "tol": 0.5},
        {"missing_values": -1},
    ],
)
def test_as_scikit_learns(options):
    X, Z = with_holes(), with_holes(20, seed=1)
    X[:, 1] = np.nan_to_num(X[:, 1], nan=0.5)
    if "missing_values" in options:
        X, Z = np.nan_to_num(X, nan=-1.0), np.nan_to_num(Z, nan=-1.0)
    ours, theirs = (cls(BayesianRidge(), random_state=3, **options) for cls in (IterativeImputer, Oracle))
    # The same estimator: what differs is the order in which sums are added up.
    np.testing.assert_allclose(ours.fit_transform(X), theirs.fit_transform(X), rtol=1e-9, atol=1e-9)
    assert ours.n_iter_ == theirs.n_iter_
    for a, b in zip(ours.imputation_sequence_, theirs.imputation_sequence_, strict=True):
        assert a.feat_idx == b.feat_idx
        np.testing.assert_array_equal(a.neighbor_feat_idx, b.neighbor_feat_idx)
    np.testing.assert_allclose(ours.transform(Z), theirs.transform(Z), rtol=1e-9, atol=1e-9)


def test_the_default_estimator():
    X = with_holes()
    ours, theirs = IterativeImputer().fit_transform(X), Oracle().fit_transform(X)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)  # two solvers of one evidence, to its tol
    assert type(IterativeImputer().fit(X).imputation_sequence_[0].estimator) is BayesianRidge


@pytest.mark.filterwarnings("ignore:Skipping features:UserWarning")
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("strategy", ["mean", "constant"])
def test_columns_without_cells(keep, strategy):
    X = with_holes()
    X[:, 2] = np.nan
    options = {"keep_empty_features": keep, "initial_strategy": strategy, "max_value": [9.0, 8.0, 7.0, 6.0, 5.0]}
    ours, theirs = (cls(BayesianRidge(), **options) for cls in (IterativeImputer, Oracle))
    np.testing.assert_allclose(ours.fit_transform(X), theirs.fit_transform(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.transform(X[:9]), theirs.transform(X[:9]), rtol=1e-9, atol=1e-9)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())


def test_columns_that_follow_from_a_complete_one_are_found_again():
    """Whatever the others hold: the regression on the complete column alone has no error."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    X = np.column_stack([x, 3.0 - 2.0 * x, 0.5 * x, 1.0 + x])
    holes = X.copy()
    holes[np.arange(200), rng.integers(1, 4, size=200)] = np.nan
    found = IterativeImputer(LinearRegression(), max_iter=2, tol=0.0).fit_transform(holes)
    np.testing.assert_allclose(found, X, rtol=1e-9, atol=1e-9)
    there = ~np.isnan(holes)
    np.testing.assert_array_equal(found[there], X[there])


def test_draws_have_the_deviation_that_is_not_known():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    X[:, 1] += X[:, 0]
    true = X[:2000, 1].copy()
    X[:2000, 1] = np.nan
    drawn = IterativeImputer(sample_posterior=True, max_iter=1, random_state=0).fit_transform(X)[:2000, 1]
    mean = IterativeImputer(max_iter=1, tol=1e9).fit_transform(X)[:2000, 1]
    # The noise has variance 1; a sample variance of 2,000 has a deviation of √(2 / 2000) = 0.03.
    assert abs(np.var(drawn - mean) - 1.0) < 0.2
    assert abs(np.var(true - drawn) - 2.0) < 0.4


def test_frames_and_one_column():
    X = with_holes()
    frame = pd.DataFrame(X, columns=list("abcde"))
    out = IterativeImputer(add_indicator=True).set_output(transform="pandas").fit_transform(frame)
    assert list(out.columns) == [*"abcde", *(f"missingindicator_{c}" for c in "abcde")]
    assert IterativeImputer().fit_transform([[1.0], [np.nan], [3.0]]).tolist() == [[1.0], [2.0], [3.0]]
    assert IterativeImputer().fit_transform(X.astype(np.float32)).dtype == np.float32


def test_metadata_goes_to_the_estimator():
    X, w = with_holes(), np.ones(120)
    with sklearn.config_context(enable_metadata_routing=True):
        member = BayesianRidge().set_fit_request(sample_weight=True)
        X[:, 1:] = np.nan_to_num(X[:, 1:])
        with pytest.raises(ValueError, match="sample_weight"):  # all weights, but not all rows: the estimator refuses
            IterativeImputer(member).fit(X, sample_weight=w)
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        IterativeImputer().fit(X, sample_weight=w)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"estimator": 3}, "'estimator' parameter"),
        ({"max_iter": -1}, "'max_iter' parameter"),
        ({"tol": -1.0}, "'tol' parameter"),
        ({"n_nearest_features": 0}, "'n_nearest_features' parameter"),
        ({"initial_strategy": "mode"}, "'initial_strategy' parameter"),
        ({"imputation_order": "greek"}, "'imputation_order' parameter"),
        ({"min_value": 2.0, "max_value": 1.0}, "min_value >= max_value"),
        ({"max_value": [1.0]}, "should be of shape"),
        ({"verbose": -1}, "'verbose' parameter"),
        ({"add_indicator": 2}, "'add_indicator' parameter"),
    ],
)
def test_parameters_are_refused(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        IterativeImputer(**change).fit(with_holes())


def test_rounds_that_did_not_suffice_are_told(capsys):
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
        IterativeImputer(max_iter=1, tol=1e-12, verbose=1).fit(with_holes())
    assert "Round 1 of 1" in capsys.readouterr().err
