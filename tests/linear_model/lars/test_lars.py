"""Least angle regression: against scikit-learn, coordinate descent, and the conditions that its path is defined by."""

import numpy as np
import pytest
from sklearn import linear_model as oracle
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, KFold

from learnt.linear_model import (
    Lars,
    LarsCV,
    Lasso,
    LassoLars,
    LassoLarsCV,
    LassoLarsIC,
    lars_path,
    lars_path_gram,
)

SHAPES = [(200, 20), (50, 100), (60, 60)]


def problem(n, d, seed=0, targets=1):
    """Correlated columns of mean 0, and targets made of some of them with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + rng.normal(size=(d, d)) / np.sqrt(d))
    coef = np.where(rng.uniform(size=(d, targets)) < 0.2, rng.normal(size=(d, targets)), 0.0)
    y = X @ coef + rng.normal(size=(n, targets))
    X, y = X - X.mean(axis=0), y - y.mean(axis=0)
    return X, (y[:, 0] if targets == 1 else y)


def breach(X, y, alphas, coefs, positive=False, lasso=True):
    """How far a path is from what defines it, as a share of its largest penalty.

    At α every |xⱼᵀr| is at most nα, and equal to it where wⱼ is not 0 (of the sign of wⱼ, for the lasso).
    """
    used = np.zeros(X.shape[1], dtype=bool)
    worst = 0.0
    for alpha, w in zip(alphas, coefs.T, strict=True):
        g = X.T @ (y - X @ w) / len(y)
        worst = max(worst, np.max(g if positive else np.abs(g)) - alpha)
        used = (w != 0) if lasso else used | (w != 0)
        at = g[used] * np.sign(w[used]) if lasso else np.abs(g[used])
        worst = max(worst, np.abs(at - alpha).max(initial=0.0))
    return worst / alphas[0]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("gram", [None, True, "auto", "given"])
@pytest.mark.parametrize(("method", "positive"), [("lar", False), ("lasso", False), ("lasso", True)])
def test_a_path_fulfils_what_defines_it_at_every_bend(shape, gram, method, positive):
    X, y = problem(*shape)
    given = X.T @ X if gram == "given" else gram
    alphas, active, coefs = lars_path(X, y, Gram=given, method=method, positive=positive, max_iter=10_000)
    # rounding grows with the condition of the columns in use, here below 1e5
    assert breach(X, y, alphas, coefs, positive, method == "lasso") < 1e-9
    assert (np.diff(alphas) <= 0).all()
    assert alphas[-1] <= 1e-9 * alphas[0]
    assert not coefs[:, 0].any()
    assert len(set(active)) == len(active)
    if method == "lasso":
        assert set(np.flatnonzero(coefs[:, -1])) <= set(active)
        assert not positive or (coefs >= 0).all()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("share", [0.5, 0.05])
def test_the_lasso_is_that_of_coordinate_descent(shape, positive, share):
    X, y = problem(*shape, seed=1)
    alpha = share * np.max(np.abs(X.T @ y)) / len(y)
    X, y = X + 0.7, y + 3.0
    ours = LassoLars(alpha, positive=positive).fit(X, y)
    other = Lasso(alpha, positive=positive, tol=1e-13, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), other.predict(X), atol=1e-4 * np.std(y))

    def objective(model):
        return 0.5 * np.mean((y - model.predict(X)) ** 2) + alpha * np.abs(model.coef_).sum()

    # the minimum is ours: coordinate descent is above it by no more than its duality gap
    gap = 1e-13 * np.var(y)
    assert -1e-12 * np.var(y) <= objective(other) - objective(ours) <= gap + 1e-12 * np.var(y)
    assert ours.alphas_[-1] == alpha


@pytest.mark.parametrize("method", ["lar", "lasso"])
def test_equals_scikit_learn_on_diabetes(method):
    X, y = load_diabetes(return_X_y=True)
    for kind, settings in [
        ("Lars", {}),
        ("Lars", {"n_nonzero_coefs": 4}),
        ("Lars", {"fit_path": False, "n_nonzero_coefs": 5}),
        ("LassoLars", {"alpha": 0.1}),
        ("LassoLars", {"alpha": 0.0, "precompute": False}),
        ("LassoLars", {"alpha": 0.3, "fit_path": False}),
        ("LassoLars", {"alpha": 0.01, "max_iter": 3, "fit_intercept": False}),
    ]:
        if (method == "lar") != (kind == "Lars"):
            continue
        ours = {"Lars": Lars, "LassoLars": LassoLars}[kind](**settings).fit(X, y)
        theirs = getattr(oracle, kind)(**settings).fit(X, y)
        # without its path, scikit-learn's has a second dimension
        np.testing.assert_allclose(ours.coef_, np.squeeze(theirs.coef_), rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(ours.intercept_, np.squeeze(theirs.intercept_), rtol=1e-8)
        np.testing.assert_allclose(ours.alphas_, theirs.alphas_, rtol=1e-8, atol=1e-12)
        assert ours.n_iter_ == theirs.n_iter_
        assert hasattr(ours, "coef_path_") == hasattr(theirs, "coef_path_")
        if hasattr(theirs, "coef_path_"):
            assert ours.active_ == theirs.active_
            np.testing.assert_allclose(ours.coef_path_, theirs.coef_path_, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("infinity", [np.inf, float("inf"), np.float64("inf")])
def test_any_infinity_is_no_limit(infinity):
    X, y = problem(80, 15, seed=2)
    whole = Lars(n_nonzero_coefs=15).fit(X, y).coef_
    np.testing.assert_array_equal(Lars(n_nonzero_coefs=infinity).fit(X, y).coef_, whole)


@pytest.mark.parametrize("targets", [1, 3])
def test_several_targets_and_their_shapes_equal_scikit_learns(targets):
    X, y = problem(80, 15, seed=2, targets=targets)
    X, y = X + 1.0, y + 2.0
    pairs = [
        (LassoLars(0.1).fit(X, y), oracle.LassoLars(0.1).fit(X, y)),
        (LassoLars(0.1).fit(X, y.reshape(80, -1)), oracle.LassoLars(0.1).fit(X, y.reshape(80, -1))),
    ]
    if targets > 1:
        pairs += [(LassoLars(0.1, fit_path=False).fit(X, y), oracle.LassoLars(0.1, fit_path=False).fit(X, y))]
    for ours, theirs in pairs:
        for name in ("coef_", "intercept_", "n_iter_"):
            assert np.shape(getattr(ours, name)) == np.shape(getattr(theirs, name)), name
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-10)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-10)
        if targets == 1:
            np.testing.assert_allclose(ours.alphas_, theirs.alphas_, rtol=1e-9)
        else:
            for one, other in zip(ours.alphas_, theirs.alphas_, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-9)


def test_columns_that_change_their_sign_keep_their_correlation():
    # scikit-learn turns the direction of a column whose coefficient passes 0, after which correlations are not equal
    X, y = problem(200, 20, seed=0)
    alphas, _, coefs = lars_path(X, y)
    assert len(alphas) == 21
    assert breach(X, y, alphas, coefs, lasso=False) < 1e-10
    passed = (np.sign(coefs[:, 1:]) * np.sign(coefs[:, :-1]) < 0).any()
    assert passed
    theirs = oracle.lars_path(X, y)
    assert breach(X, y, theirs[0], theirs[2], lasso=False) > 1e-3
    full = np.linalg.lstsq(X, y, rcond=None)[0]
    np.testing.assert_allclose(coefs[:, -1], full, rtol=1e-8, atol=1e-10)


def test_functions_take_products_and_return_what_is_asked_for():
    X, y = problem(50, 8)
    path = lars_path(X, y, method="lasso", return_n_iter=True)
    gram = lars_path_gram(X.T @ y, X.T @ X, n_samples=50, method="lasso", return_n_iter=True)
    theirs = oracle.lars_path(X, y, method="lasso", return_n_iter=True)
    for found in (path, gram):
        assert found[1] == theirs[1]
        assert found[3] == theirs[3]
        np.testing.assert_allclose(found[0], theirs[0], atol=1e-12)
        np.testing.assert_allclose(found[2], theirs[2], atol=1e-10)
    last = lars_path(X, y, method="lasso", return_path=False, alpha_min=0.01)
    np.testing.assert_allclose(last[2], lars_path(X, y, method="lasso", alpha_min=0.01)[2][:, -1])
    assert last[0].tolist() == [0.01]
    assert last[2].shape == (8,)
    assert lars_path(X.astype(np.float32), y.astype(np.float32))[2].dtype == np.float32
    assert lars_path(X, y, Xy=2 * X.T @ y, max_iter=1)[0][0] == pytest.approx(2 * path[0][0])


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_the_unit_of_y_does_not_matter(unit):
    X, y = problem(60, 10, seed=3)
    alphas, _, coefs = lars_path(X, unit * y, method="lasso")
    expected = lars_path(X, y, method="lasso")
    np.testing.assert_allclose(alphas, unit * expected[0], rtol=1e-9, atol=1e-12 * unit)
    np.testing.assert_allclose(coefs, unit * expected[2], rtol=1e-8, atol=1e-10 * unit)


def test_columns_that_nearly_repeat_others_are_left_out_with_one_warning():
    X, y = problem(50, 6, seed=4)
    # so near that squares cannot tell them apart, and so far that they enter at another level
    twice = np.hstack([X, X + 1e-7 * np.roll(X, 1, axis=1), np.zeros((50, 1))])
    with pytest.warns(ConvergenceWarning, match="degenerate regressors") as seen:
        model = Lars(fit_intercept=False).fit(twice, y)
    assert len(seen) == 1
    plain = Lars(fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.coef_[:6] + model.coef_[6:12], plain.coef_, rtol=1e-4)
    assert model.coef_[12] == 0
    assert len(model.active_) == 6
    with pytest.warns(ConvergenceWarning, match="degenerate regressors"):
        lars_path(twice, y, method="lasso")
    kept = Lars(fit_intercept=False, eps=1e-3).fit(twice, y)
    assert len(kept.active_) > 6


@pytest.mark.parametrize("method", ["lar", "lasso"])
def test_columns_that_repeat_others_change_nothing(method):
    X, y = problem(50, 6, seed=4)
    twice = np.hstack([X, -X, np.zeros((50, 1))])
    alphas, active, coefs = lars_path(twice, y, method=method)
    expected = lars_path(X, y, method=method)
    assert len(active) == 6
    np.testing.assert_allclose(alphas, expected[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(coefs[:6] - coefs[6:12], expected[2], rtol=1e-7, atol=1e-9)


def test_ties_need_no_jitter():
    X, y = np.array([[0.0, 0, 0, -1, 0], [0, -1, 0, 0, 0]]), np.array([-2.5, -2.5])
    for jitter in (None, 1e-8):
        model = LassoLars(alpha=0.0, fit_intercept=False, jitter=jitter, random_state=0).fit(X, y)
        np.testing.assert_allclose(model.coef_, [0, 2.5, 0, 2.5, 0], atol=1e-7)
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(12, 6)).astype(float)
    y = rng.integers(0, 3, size=12).astype(float)
    X, y = X - X.mean(axis=0), y - y.mean()
    alphas, _, coefs = lars_path(X, y, method="lasso")
    assert breach(X, y, alphas, coefs) < 1e-12


@pytest.mark.parametrize("shape", [(120, 12), (40, 60)], ids=str)
@pytest.mark.parametrize("positive", [False, True])
def test_lasso_lars_cv_equals_scikit_learns(shape, positive):
    X, y = problem(*shape, seed=5)
    X, y = X + 0.4, y + 1.0
    settings = {"cv": KFold(4, shuffle=True, random_state=0), "positive": positive}
    ours, theirs = LassoLarsCV(**settings).fit(X, y), oracle.LassoLarsCV(**settings).fit(X, y)
    assert ours.alpha_ == pytest.approx(theirs.alpha_, rel=1e-8)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-6)
    assert ours.mse_path_.shape == (len(ours.cv_alphas_), 4)
    # beyond the last bend above 0, positive paths of scikit-learn go astray (see below)
    large = ours.cv_alphas_ > (0.3 if positive else 1e-3) * ours.cv_alphas_[-1]
    theirs_there = np.searchsorted(theirs.cv_alphas_, ours.cv_alphas_[large] * (1 - 1e-9))
    np.testing.assert_allclose(ours.mse_path_[large], theirs.mse_path_[theirs_there], rtol=1e-6)


def test_the_error_of_folds_is_that_of_models_fitted_to_them():
    X, y = problem(90, 10, seed=6)
    folds = list(KFold(3).split(X))
    for kind, single in ((LassoLarsCV, LassoLars), (LarsCV, None)):
        model = kind(cv=folds).fit(X, y)
        best = int(np.argmin(model.mse_path_.mean(axis=1)))
        assert model.alpha_ == model.cv_alphas_[best]
        if single is None:
            continue
        for k in (best, len(model.cv_alphas_) // 2):
            for f, (train, test) in enumerate(folds):
                one = single(model.cv_alphas_[k]).fit(X[train], y[train])
                error = np.mean((y[test] - one.predict(X[test])) ** 2)
                assert model.mse_path_[k, f] == pytest.approx(error, rel=1e-9)


def test_cv_takes_groups_by_metadata_routing_and_few_penalties():
    import sklearn

    X, y = problem(90, 10, seed=6)
    groups = np.arange(90) % 9
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        LassoLarsCV(cv=GroupKFold(3)).fit(X, y, groups=groups)
    with sklearn.config_context(enable_metadata_routing=True):
        model = LassoLarsCV(cv=GroupKFold(3).set_split_request(groups=True)).fit(X, y, groups=groups)
    plain = LassoLarsCV(cv=list(GroupKFold(3).split(X, y, groups))).fit(X, y)
    assert model.alpha_ == plain.alpha_
    few, theirs = LarsCV(max_n_alphas=5).fit(X, y), oracle.LassoLarsCV(max_n_alphas=5).fit(X, y)
    assert len(few.cv_alphas_) < 10
    assert len(theirs.cv_alphas_) < 10
    with pytest.warns(UserWarning, match="precompute"):
        given = LarsCV(precompute=X.T @ X).fit(X, y)
    np.testing.assert_allclose(given.coef_, LarsCV().fit(X, y).coef_, rtol=1e-9)


@pytest.mark.parametrize("criterion", ["aic", "bic"])
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_criterion_equals_scikit_learns(criterion, positive, fit_intercept):
    X, y = load_diabetes(return_X_y=True)
    settings = {"criterion": criterion, "positive": positive, "fit_intercept": fit_intercept}
    if not fit_intercept:
        y = y - y.mean()
    ours, theirs = LassoLarsIC(**settings).fit(X, y), oracle.LassoLarsIC(**settings).fit(X, y)
    assert ours.noise_variance_ == pytest.approx(theirs.noise_variance_)
    # the last bend of scikit-learn's positive path, at penalty 0, is not the least squares with coefficients above 0
    kept = slice(None, -1 if positive else None)
    np.testing.assert_allclose(ours.criterion_[kept], theirs.criterion_[kept], rtol=1e-9)
    assert ours.alpha_ == pytest.approx(theirs.alpha_, rel=1e-8)
    if ours.alpha_ > 0 or not positive:
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7, atol=1e-7)
    given = LassoLarsIC(criterion, noise_variance=3000.0).fit(X, y)
    assert given.noise_variance_ == 3000.0
    assert len(given.criterion_) == len(given.alphas_)


def test_what_is_wrong_is_said_in_one_sentence():
    X, y = problem(20, 5)
    for call, words in [
        (lambda: LassoLarsIC().fit(*problem(10, 12)), "give noise_variance"),
        (lambda: lars_path(None, None), "cannot both be"),
        (lambda: lars_path(None, None, Gram=np.eye(2)), "use lars_path_gram"),
        (lambda: lars_path(X, y, positive=True), "not supported for 'lar'"),
        (lambda: lars_path(X, y, method="LAR"), "'lar' or 'lasso'"),
        (lambda: lars_path(X, y[:-1]), "one number for every row"),
        (lambda: lars_path(X, y, Gram=np.eye(3)), "Gram and Xy do not match"),
        (lambda: lars_path_gram(X.T @ y, np.eye(3), n_samples=20), "Gram and Xy do not match"),
        (lambda: lars_path_gram(X.T @ y, X.T @ X, n_samples=0), "n_samples"),
        (lambda: Lars(precompute="yes").fit(X, y), "precompute"),
        (lambda: LassoLars(alpha=-1).fit(X, y), "alpha"),
        (lambda: Lars().fit(X, y, Xy=np.ones(3)), "Xy has the shape"),
        (lambda: Lars().fit(np.where(X > 2, np.nan, X) * np.nan, y), "NaN"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()


def test_one_row_and_constant_columns():
    assert Lars().fit([[1.0, 2.0]], [3.0]).predict([[1.0, 2.0]])[0] == pytest.approx(3.0)
    X, y = problem(30, 4)
    wide = np.hstack([X, np.full((30, 1), 1e6)])
    model = LassoLars(0.01).fit(wide, y)
    assert model.coef_[4] == 0
    np.testing.assert_allclose(model.coef_[:4], LassoLars(0.01).fit(X, y).coef_, rtol=1e-7)
