"""LogisticRegression against scikit-learn and statsmodels, and as an estimator."""

import logging
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Peer
from sklearn.utils.estimator_checks import check_estimator

from learnt.linear_model.logistic._regression import LogisticRegression


def table(n=300, d=5, K=2, seed=0, spread=1.0):
    """Rows whose classes follow the model, with columns of very different sizes where `spread` is large."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = (X @ rng.standard_normal((d, K)) * 1.5 + rng.gumbel(size=(n, K))).argmax(axis=1)
    return X * 10.0 ** rng.uniform(-spread, spread, d) + rng.standard_normal(d), y


def objective(X, y, model, C=1.0, w=None):
    """C Σ w ℓ + ‖coef‖²/2, written anew."""
    S = np.asarray(X @ np.asarray(model.coef_, dtype=float).T) + np.asarray(model.intercept_, dtype=float)
    classes = np.unique(y)
    S = np.hstack([np.zeros_like(S), S]) if len(classes) == 2 else S
    top = S.max(axis=1)
    loss = np.log(np.exp(S - top[:, None]).sum(axis=1)) + top - S[np.arange(len(y)), np.searchsorted(classes, y)]
    return C * np.sum(loss if w is None else w * loss) + 0.5 * np.sum(np.asarray(model.coef_, dtype=float) ** 2)


def peer(X, y, **settings):
    """scikit-learn's coefficients, as exact as it can make them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Peer(solver="newton-cholesky", tol=1e-12, max_iter=1000, **settings).fit(X, y)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("solver", ["auto", "newton", "lbfgs"])
def test_real_data_agree_with_scikit_learn(load, solver):
    X, y = load(return_X_y=True)
    model = LogisticRegression(solver=solver, tol=1e-10, max_iter=1000).fit(X, y)
    expected = peer(X, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-8)
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), rtol=1e-5, atol=1e-7)
    assert (model.predict(X) == expected.predict(X)).all()
    assert model.score(X, y) == expected.score(X, y)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_penalties_agree_with_scikit_learn(K, C, fit_intercept):
    X, y = table(K=K)
    model = LogisticRegression(C=C, fit_intercept=fit_intercept, tol=1e-10).fit(X, y)
    expected = peer(X, y, C=C, fit_intercept=fit_intercept)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, rtol=1e-6, atol=1e-7)


def slope(X, y, model):
    """The largest entry of the objective's gradient, in units in which noise in y makes it about one."""
    residuals = (model.predict_proba(X) - (y[:, None] == model.classes_))[:, -model.coef_.shape[0] :]
    g = residuals.T @ (X - X.mean(axis=0)) + model.coef_
    return max(np.abs(g / X.std(axis=0)).max(), np.abs(residuals.sum(axis=0)).max()) / np.sqrt(len(X))


SHAPES = [(40_000, 6, 2), (20_000, 6, 4), (60, 900, 2), (60, 900, 3), (20_000, 40, 12), (1500, 700, 2), (700, 620, 3)]


@pytest.mark.parametrize(("n", "d", "K"), SHAPES)
@pytest.mark.parametrize("solver", ["auto", "lbfgs"])
@pytest.mark.sweep
def test_every_code_path_reaches_the_same_minimum(n, d, K, solver):
    X, y = table(n, d, K)
    model = LogisticRegression(solver=solver, max_iter=1000).fit(X, y)
    exact = LogisticRegression(tol=1e-7, max_iter=1000).fit(X, y)
    assert model.converged_
    assert model.optimality_ <= 1e-11
    assert objective(X, y, model) <= objective(X, y, exact) * (1 + 1e-9)
    assert slope(X, y, exact) < 1e-5


@pytest.mark.parametrize("solver", ["auto", "lbfgs"])
def test_columns_of_any_size_need_no_scaling_and_no_warning(solver):
    X, y = table(5000, 12, seed=3)
    X = (X - X.mean(axis=0)) / X.std(axis=0) * 10.0 ** np.linspace(-6, 6, 12)
    model = LogisticRegression(solver=solver).fit(X, y)  # warnings are errors here
    assert model.converged_
    assert objective(X, y, model) <= objective(X, y, peer(X, y)) * (1 + 1e-7)


def test_rare_and_heavy_tailed_columns_need_no_scaling_and_no_warning():
    """What a sample of the rows cannot tell: categories of a few rows, and a sum that is nearly always 0."""
    rng = np.random.default_rng(0)
    n = 30_000
    category = np.minimum(rng.geometric(0.2, n), 40)
    gain = np.where(rng.random(n) < 0.01, rng.lognormal(9, 1.5, n), 0.0)
    X = np.column_stack([np.eye(41)[category], gain, rng.normal(2000, 5, n)])
    y = rng.random(n) < 1 / (1 + np.exp(-(0.3 * category - 1.5 + (gain > 5000) * 2)))
    for C in (1.0, 1e4):
        model = LogisticRegression(C=C).fit(X, y)
        newton = LogisticRegression(C=C, solver="newton", tol=1e-7).fit(X, y)
        assert objective(X, y, model, C) <= objective(X, y, newton, C) * (1 + 1e-7)
    assert (
        LogisticRegression().fit(sparse.csr_matrix(X), y).predict(X) == LogisticRegression().fit(X, y).predict(X)
    ).all()


def test_no_penalty_agrees_with_statsmodels():
    from statsmodels.api import Logit, add_constant

    X, y = table(500, 4, seed=1)
    expected = Logit(y, add_constant(X)).fit(disp=0, tol=1e-12).params
    for model in (LogisticRegression(C=np.inf, tol=1e-10), LogisticRegression(penalty=None, tol=1e-10)):
        model.fit(X, y)
        np.testing.assert_allclose(np.append(model.intercept_, model.coef_), expected, rtol=1e-7)


def test_collinear_and_constant_columns_without_a_penalty():
    X, y = table(400, 3)
    doubled = np.column_stack([X, X, np.ones(len(X)), np.full(len(X), 7.0)])
    model = LogisticRegression(C=np.inf).fit(doubled, y)
    assert model.converged_
    np.testing.assert_allclose(
        model.predict_proba(doubled), LogisticRegression(C=np.inf).fit(X, y).predict_proba(X), atol=1e-5
    )
    assert np.abs(model.coef_).max() < 1e3


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("solver", ["auto", "newton", "lbfgs"])
def test_separable_classes_without_a_penalty_are_named(K, solver):
    rng = np.random.default_rng(0)
    y = np.arange(60) % K
    X = np.eye(K)[y] * 5 + rng.standard_normal((60, K)) * 0.5
    with pytest.warns(ConvergenceWarning, match="separated exactly.*finite C"):
        model = LogisticRegression(C=np.inf, solver=solver).fit(X, y)
    assert not model.converged_
    assert model.score(X, y) == 1.0
    assert np.isfinite(model.coef_).all()
    assert model.n_iter_[0] < 20


def test_wide_separable_data_without_a_penalty():
    X, y = table(50, 700)
    with pytest.warns(ConvergenceWarning, match="separated exactly"):
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("n", [200, 30_000])
def test_weights_are_repetitions_and_zero_is_absence(K, n):
    X, y = table(n, 4, K)
    w = np.random.default_rng(0).integers(0, 4, n).astype(float)
    weighted = LogisticRegression(tol=1e-8).fit(X, y, sample_weight=w)
    repeated = LogisticRegression(tol=1e-8).fit(np.repeat(X, w.astype(int), axis=0), np.repeat(y, w.astype(int)))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-5, atol=1e-7)


def test_a_class_of_weight_zero_is_left_out():
    X, y = table(300, 3, 3)
    model = LogisticRegression().fit(X, y, sample_weight=(y != 1).astype(float))
    expected = LogisticRegression().fit(X[y != 1], y[y != 1])
    assert model.classes_.tolist() == [0, 2]
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6)
    with pytest.raises(ValueError, match="only one class"):
        LogisticRegression().fit(X, y, sample_weight=(y == 1).astype(float))


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("n", [300, 30_000])
def test_class_weights_agree_with_row_weights(K, n):
    X, y = table(n, 4, K)
    given = {k: 1.0 + k for k in range(K)}
    balanced = n / (K * np.bincount(y))
    for class_weight, w in ((given, 1.0 + y), ("balanced", balanced[y])):
        model = LogisticRegression(class_weight=class_weight, tol=1e-8).fit(X, y)
        expected = LogisticRegression(tol=1e-8).fit(X, y, sample_weight=w)
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize(("n", "d"), [(200, 30), (3000, 200), (700, 650), (300, 800)])
@pytest.mark.sweep
def test_sparse_equals_dense(K, n, d):
    X = sparse.random(n, d, density=0.05, random_state=0, format="csr")
    y = (X @ np.random.default_rng(0).standard_normal((d, K)) * 3).argmax(axis=1)
    w = np.random.default_rng(1).random(n)
    fitted = [LogisticRegression(tol=1e-7).fit(data, y, sample_weight=w) for data in (X, X.toarray(), X.tocsc())]
    for model in fitted[1:]:
        np.testing.assert_allclose(fitted[0].coef_, model.coef_, atol=2e-5)
    np.testing.assert_allclose(fitted[0].predict_proba(X), fitted[1].predict_proba(X.toarray()), atol=1e-5)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("n", [200, 20_000])
def test_float32_is_kept_and_close(K, n):
    X, y = table(n, 5, K)
    exact, model = LogisticRegression().fit(X, y), LogisticRegression().fit(X.astype(np.float32), y)
    assert model.coef_.dtype == model.intercept_.dtype == np.float32
    assert model.predict_proba(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(model.coef_ * X.std(axis=0), exact.coef_ * X.std(axis=0), atol=1e-3)
    assert LogisticRegression().fit(sparse.csr_matrix(X, dtype=np.float32), y).coef_.dtype == np.float32


def test_probabilities():
    X, y = table(300, 4, 3)
    model = LogisticRegression().fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.log(p), model.predict_log_proba(X), atol=1e-12)
    assert (model.classes_[p.argmax(axis=1)] == model.predict(X)).all()
    binary = LogisticRegression().fit(X, y == 1)
    far = 1e6 * np.sign(binary.coef_)
    assert np.isfinite(binary.predict_log_proba(far)).all()
    assert binary.predict_proba(far)[0].tolist() == [0.0, 1.0]


def test_labels_of_any_kind():
    X, y = table(100, 3, 3)
    for labels in (np.array(["a", "bb", "c"]), np.array(["a", "b", "c"], dtype=object), np.array([-5, 0, 10**6])):
        model = LogisticRegression().fit(X, labels[y])
        assert model.classes_.tolist() == labels.tolist()
        assert set(model.predict(X)) <= set(labels)


def test_warm_start_starts_there():
    X, y = table(2000, 6)
    model = LogisticRegression(warm_start=True, tol=1e-6).fit(X, y)
    first, coef = model.n_iter_[0], model.coef_
    assert first > 1
    assert model.fit(X, y).n_iter_[0] <= 1
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-5)
    model.sparsify()
    assert model.fit(X, y).n_iter_[0] <= 1
    model.fit(X[:, :3], y)  # another shape: from the beginning
    assert model.coef_.shape == (1, 3)
    for K, n, d in ((3, 300, 4), (2, 40, 800), (3, 40, 800)):
        X, y = table(n, d, K)
        model = LogisticRegression(warm_start=True).fit(X, y)
        assert model.fit(X, y).n_iter_[0] <= 2


def test_sparsify_and_densify():
    X, y = table(100, 4)
    model = LogisticRegression().fit(X, y)
    labels = model.predict(X)
    assert sparse.issparse(model.sparsify().coef_)
    assert (model.predict(X) == labels).all()
    assert isinstance(model.densify().coef_, np.ndarray)


def test_running_out_of_steps_reports_the_distance():
    X, y = table(300, 5)
    with pytest.warns(ConvergenceWarning, match=r"stopped after 1 steps .* above the minimum.*raise max_iter above 1"):
        model = LogisticRegression(max_iter=1).fit(X, y)
    assert not model.converged_
    assert model.optimality_ > 1e-6
    best = LogisticRegression(tol=1e-8).fit(X, y)
    gap = objective(X, y, model) / objective(X, y, best) - 1
    assert 0.3 * gap < model.optimality_ < 3 * gap


def test_steps_are_logged_with_verbose(caplog):
    X, y = table(100, 3)
    with caplog.at_level(logging.INFO, logger="learnt"):
        LogisticRegression(verbose=1).fit(X, y)
    assert "step 1" in caplog.text


@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg", "liblinear", "sag", "saga"])
def test_names_of_scikit_learn_lead_to_the_same_minimum(solver):
    X, y = table(200, 4)
    model, expected = LogisticRegression(solver=solver, tol=1e-8).fit(X, y), LogisticRegression(tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6)
    assert LogisticRegression(dual=True).fit(X, y).converged_


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"C": 0.0}, "'C' parameter"),
        ({"C": -1.0}, "'C' parameter"),
        ({"C": "1"}, "'C' parameter"),
        ({"tol": -1e-3}, "'tol' parameter"),
        ({"max_iter": 1.5}, "'max_iter' parameter"),
        ({"solver": "guess"}, "'solver' parameter"),
        ({"penalty": "l3"}, "'penalty' parameter"),
        ({"class_weight": "even"}, "'class_weight' parameter"),
        ({"fit_intercept": 1}, "'fit_intercept' parameter"),
        ({"l1_ratio": 2.0}, "'l1_ratio' parameter"),
        ({"l1_ratio": 0.5, "solver": "lbfgs"}, "Solver lbfgs supports only"),
        ({"penalty": "elasticnet", "l1_ratio": None}, "must be specified"),
        ({"solver": "lbfgs", "dual": True}, "dual=False"),
    ],
)
def test_bad_parameters_get_one_sentence(settings, words):
    X, y = table(20, 2)
    with pytest.raises(ValueError, match=words) as error:
        LogisticRegression(**settings).fit(X, y)
    assert "\n" not in str(error.value)


def test_bad_data_get_one_sentence():
    X, y = table(20, 2)
    holes = np.where(X[3, 1] == X, np.nan, X)
    for data, labels, words in (
        (X, np.ones(20), "only one class"),
        (X, None, "requires y"),
        (X, y[:5], "rows"),
        (holes, y, "NaN at row 3"),
        (X, y + 0.5, "Unknown label type"),
        (X[:0], y[:0], "0 sample"),
        (X * 1e200, y, "rescale"),
    ):
        with pytest.raises(ValueError, match=words) as error:
            LogisticRegression().fit(data, labels)
        assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match="expecting 2 features"):
        LogisticRegression().fit(X, y).predict(X[:, :1])


def test_penalty_none_ignores_c():
    X, y = table(200, 3)
    with pytest.warns(UserWarning, match="penalty=None will ignore the C"):
        LogisticRegression(penalty=None, C=0.1).fit(X, y)


@pytest.mark.parametrize("penalty", ["l1", "l2", None])
def test_a_share_of_another_penalty_is_said_to_count_for_nothing(penalty):
    X, y = table(200, 3)
    with pytest.warns(UserWarning, match=rf"l1_ratio parameter is only used .* Got \(penalty={penalty}\)"):
        LogisticRegression(penalty=penalty, l1_ratio=0.5).fit(X, y)


def test_many_classes_with_few_rows_each():
    X, y = load_digits(return_X_y=True)
    model = LogisticRegression().fit(X, y)  # lbfgs needs thousands of steps for this
    assert model.converged_
    assert model.score(X, y) == 1.0
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-9)
    crowded = LogisticRegression().fit(X[:300], np.arange(300) % 60)
    assert crowded.predict_proba(X[:5]).shape == (5, 60)


@pytest.mark.long
def test_scikit_learns_checks_of_the_default_settings():
    check_estimator(LogisticRegression(), on_skip=None)


def test_clone_and_repr():
    model = LogisticRegression(C=2.0)
    assert repr(clone(model)) == "LogisticRegression(C=2.0)"


def test_one_row_is_predicted_in_microseconds():
    from timeit import repeat

    X, y = table(300, 30, 3)
    for labels in (y, y == 1):
        model = LogisticRegression().fit(X, labels)
        for method in (model.predict, model.predict_proba):
            # 100 µs are promised; a busy machine gets some slack, and repetitions
            assert min(repeat(lambda method=method: method(X[:1]), number=20, repeat=20)) / 20 < 200e-6
