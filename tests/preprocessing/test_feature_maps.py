"""Feature maps: scikit-learn's polynomials, direct formulas, names, and what they are for."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import preprocessing as oracle
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import learnt
from learnt.linear_model import LinearRegression
from learnt.preprocessing import FourierFeatures, FunctionFeatures, GaussianFeatures, PolynomialFeatures

DEGREES = [0, 1, 2, 3, 4, (2, 3), (3, 3), (0, 2), (2, 2)]


@pytest.mark.parametrize("degree", DEGREES, ids=str)
@pytest.mark.parametrize("interaction_only", [False, True])
@pytest.mark.parametrize("include_bias", [True, False])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(7, 1), (7, 3), (900, 5), (30, 11)])
@pytest.mark.sweep(40)
def test_polynomials_equal_scikit_learns(degree, interaction_only, include_bias, order, shape):
    X = np.random.default_rng(0).normal(size=shape)
    settings = {"interaction_only": interaction_only, "include_bias": include_bias, "order": order}
    if degree == 0 and not include_bias:
        for room in (oracle.PolynomialFeatures, PolynomialFeatures):
            with pytest.raises(ValueError, match="degree"):
                room(degree, **settings).fit(X)
        return
    ours = PolynomialFeatures(degree, **settings).fit(X)
    theirs = oracle.PolynomialFeatures(degree, **settings).fit(X)
    found = ours.transform(X)
    np.testing.assert_allclose(found, theirs.transform(X), rtol=1e-13)
    assert found.flags[f"{order}_CONTIGUOUS"] or 1 in found.shape
    assert ours.n_output_features_ == theirs.n_output_features_
    if ours.n_output_features_:
        np.testing.assert_array_equal(ours.powers_, theirs.powers_)
        np.testing.assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    thin = np.where(np.abs(X) < 0.7, 0.0, X)
    for kind in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix):
        result = ours.transform(kind(thin))
        assert type(result) is kind
        np.testing.assert_allclose(result.toarray(), ours.transform(thin), rtol=1e-13)


def test_polynomial_is_the_direct_formula():
    X = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    model = PolynomialFeatures(3).fit(X)
    found = model.transform(X)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.prod(X[:, None, :] ** model.powers_, axis=2), rtol=1e-5, atol=1e-6)
    tiny = model.transform(sparse.csr_array(X))
    assert tiny.dtype == np.float32
    assert tiny.has_sorted_indices


def test_polynomial_names_and_frames():
    frame = pd.DataFrame({"a b": [1.0, 2.0], "c": [3.0, 4.0]})
    out = PolynomialFeatures().set_output(transform="pandas").fit_transform(frame)
    assert list(out.columns) == ["1", "a b", "c", "a b^2", "a b c", "c^2"]
    assert out["a b c"].tolist() == [3.0, 8.0]
    model = PolynomialFeatures().fit(frame)
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        model.get_feature_names_out(["x", "y"])
    with pytest.raises(ValueError, match="length equal to number of features"):
        PolynomialFeatures().fit(frame.to_numpy()).get_feature_names_out(["x"])


@pytest.mark.parametrize("degree", [-1, (3, 2), (1, 2, 3), "two", 1.5, (0, "x"), None, True])
def test_polynomial_refuses_strange_degrees(degree):
    with pytest.raises(ValueError, match="degree") as caught:
        PolynomialFeatures(degree).fit(np.ones((3, 2)))
    assert "\n" not in str(caught.value)


def test_polynomial_refuses_what_is_too_large():
    with pytest.raises(ValueError, match="too large to be indexed"):
        PolynomialFeatures(40).fit(np.ones((2, 100_000)))
    with pytest.raises(ValueError, match="empty output"):
        PolynomialFeatures(0, include_bias=False).fit(np.ones((2, 2)))


@pytest.mark.parametrize("interaction_only", [False, True])
def test_sparse_polynomials_of_very_many_columns(interaction_only):
    """RowIndex beyond 32 bits: the product of columns i ≤ j of d is number i·d − i(i−1)/2 + (j − i) of degree 2."""
    d, i, j = 3_000_000, 1_234_567, 2_999_999
    X = sparse.csr_array((np.array([2.0, 5.0]), np.array([i, j]), np.array([0, 2])), shape=(1, d))
    out = PolynomialFeatures(2, interaction_only=interaction_only).fit_transform(X)
    at = i * (d - 1) - i * (i - 1) // 2 + (j - i - 1) if interaction_only else i * d - i * (i - 1) // 2 + (j - i)
    value = dict(zip(out.indices.tolist(), out.data.tolist(), strict=True))
    assert value[0] == 1.0
    assert value[1 + d + at] == 10.0
    assert len(value) == (4 if interaction_only else 6)


# --- waves


def test_waves_are_sines_and_cosines():
    X = np.random.default_rng(0).uniform(-20, 20, size=(80, 2))
    model = FourierFeatures(3, period=[5.0, 7.0]).fit(X)
    expected = [
        wave(2 * np.pi * k * X[:, j] / p)
        for j, p in enumerate((5.0, 7.0))
        for k in (1, 2, 3)
        for wave in (np.sin, np.cos)
    ]
    np.testing.assert_allclose(model.transform(X), np.transpose(expected), atol=1e-12)
    assert list(model.get_feature_names_out(["a", "b"]))[:4] == ["sin(1 a)", "cos(1 a)", "sin(2 a)", "cos(2 a)"]
    with_one = FourierFeatures(1, period=5.0, include_bias=True).fit(X)
    assert (with_one.transform(X)[:, 0] == 1).all()
    assert len(with_one.get_feature_names_out()) == with_one.transform(X).shape[1] == 5
    narrow = model.transform(X.astype(np.float32))
    assert narrow.dtype == np.float32


def test_waves_learn_a_season_and_repeat_it():
    t = np.linspace(0, 30, 400)[:, None]
    y = 2 + np.sin(2 * np.pi * t[:, 0] / 7) - 0.5 * np.cos(4 * np.pi * t[:, 0] / 7)
    model = make_pipeline(FourierFeatures(2, period=7), LinearRegression()).fit(t, y)
    np.testing.assert_allclose(model.predict(t + 700), y, atol=1e-9)


def test_period_from_the_data():
    X = np.array([[0.0, 3.0], [4.0, 3.0]])
    np.testing.assert_array_equal(FourierFeatures().fit(X).period_, [8.0, 1.0])
    for period in (0.0, -1.0, [1.0, 2.0, 3.0], "long", np.nan):
        with pytest.raises(ValueError, match="'period' parameter"):
            FourierFeatures(period=period).fit(X)


# --- bumps


def test_bumps_are_the_formula():
    rng = np.random.default_rng(0)
    X, C = rng.normal(size=(60, 3)) + 1e4, rng.normal(size=(5, 3)) + 1e4
    model = GaussianFeatures(C, width=0.7).fit(X)
    distances = ((X[:, None, :] - C) ** 2).sum(axis=2)
    np.testing.assert_allclose(model.transform(X), np.exp(-distances / (2 * 0.7**2)), atol=1e-10)
    assert list(model.get_feature_names_out()) == ["bump0", "bump1", "bump2", "bump3", "bump4"]
    assert GaussianFeatures(C, include_bias=True).fit_transform(X).shape == (60, 6)


def test_bumps_sit_where_the_data_are():
    rng = np.random.default_rng(0)
    middles = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.0, 10.0]])
    X = (middles[:, None, :] + 0.1 * rng.normal(size=(4, 50, 2))).reshape(-1, 2)
    model = GaussianFeatures(4).fit(X)
    distances = np.linalg.norm(model.centers_[:, None, :] - middles, axis=2)
    assert model.centers_.shape == (4, 2)
    assert distances.min(axis=0).max() < 0.1
    assert 9 < model.width_ < 11
    assert GaussianFeatures(10).fit(np.repeat(middles, 3, axis=0)).centers_.shape == (4, 2)
    assert GaussianFeatures(1).fit(X).width_ > 5
    assert GaussianFeatures(3).fit(np.ones((5, 2))).centers_.shape == (1, 2)


def test_bumps_fit_a_curve():
    x = np.linspace(0, 10, 300)[:, None]
    y = np.sin(x[:, 0]) * np.exp(-x[:, 0] / 5)
    model = make_pipeline(GaussianFeatures(20), LinearRegression()).fit(x, y)
    assert np.abs(model.predict(x) - y).max() < 0.02


@pytest.mark.parametrize("centers", [0, -3, 2.5, [[1.0, 2.0]], [[np.nan]], "many", []])
def test_bumps_refuse_strange_centres(centers):
    with pytest.raises(ValueError, match="'centers' parameter"):
        GaussianFeatures(centers).fit(np.ones((3, 1)))


# --- any function


def test_functions_of_all_kinds():
    def ratio(X):
        return X[:, 0] / X[:, 1]

    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    model = FunctionFeatures([np.sqrt, "square", ratio, lambda X: X * 2]).fit(X)
    np.testing.assert_allclose(model.transform(X), np.hstack([X, np.sqrt(X), X**2, X[:, :1] / X[:, 1:], X * 2]))
    assert list(model.get_feature_names_out()) == [
        "x0", "x1", "sqrt(x0)", "sqrt(x1)", "square(x0)", "square(x1)", "ratio", "f30", "f31",
    ]  # fmt: skip
    named = FunctionFeatures({"product": lambda X: X.prod(axis=1)}, include_original=False).fit(X)
    assert list(named.get_feature_names_out()) == ["product"]
    np.testing.assert_array_equal(clone(named).fit_transform(X), [[2.0], [12.0]])
    assert FunctionFeatures(np.log1p).fit(X).n_output_features_ == 4


def test_functions_that_go_wrong_are_named():
    X = np.array([[1.0, 0.0], [-3.0, 4.0]])
    for functions, said in [
        (["log"], "'log' gave -inf at row 0"),
        (["sqrt"], "'sqrt' gave nan at row 1"),
        ([lambda X: X[:1]], "each of the 2 rows"),
        ([lambda X: "text"], "each of the 2 rows"),
        (["nonsense"], "no NumPy function 'nonsense'"),
        (["add"], "no NumPy function 'add'"),
        ([np.add], "takes 2 numbers"),
        ([3], "it holds 3 at 0"),
        (3, "must be a list or a dict"),
    ]:
        with pytest.raises(ValueError) as caught:
            FunctionFeatures(functions).fit(X)
        assert said in str(caught.value)
        assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="gives nothing"):
        FunctionFeatures(include_original=False).fit(X)


def test_functions_are_saved_where_they_are_numpys(tmp_path):
    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    model = FunctionFeatures([np.sin, "tanh", np.log1p]).fit(X)
    learnt.save(model, tmp_path / "model.learnt")
    np.testing.assert_array_equal(learnt.load(tmp_path / "model.learnt").transform(X), model.transform(X))
    with pytest.raises(ValueError, match="holds no code") as caught:
        learnt.save(FunctionFeatures([lambda X: X]).fit(X), tmp_path / "other.learnt")
    assert "\n" not in str(caught.value)


def test_exclusive_or_is_linear_in_the_product():
    """Y = (x̃₁x̃₂ + 1)/2 of signs x̃ = 2x − 1 is 1 where they are equal, and 1 − Y is exclusive or."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = np.array([0.0, 1.0, 1.0, 0.0])
    signs = 2 * X - 1
    by_hand = FunctionFeatures([lambda X: X[:, 0] * X[:, 1]])
    model = LinearRegression().fit(by_hand.fit_transform(signs), y)
    np.testing.assert_allclose(model.coef_, [0, 0, -0.5], atol=1e-12)
    np.testing.assert_allclose(model.intercept_, 0.5)
    poly = make_pipeline(PolynomialFeatures(2, include_bias=False), LinearRegression()).fit(X, y)
    np.testing.assert_allclose(poly.predict(X), y, atol=1e-12)
    assert LinearRegression().fit(X, y).score(X, y) == pytest.approx(0.0, abs=1e-12)
