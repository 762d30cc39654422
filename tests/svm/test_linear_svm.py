"""LinearSVC and LinearSVR: liblinear as oracle, the conditions of optimality, weights, and bad inputs."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm as peer
from sklearn.datasets import load_breast_cancer, load_iris, make_blobs, make_classification
from sklearn.exceptions import ConvergenceWarning

from learnt.svm import LinearSVC, LinearSVR, _descent
from learnt.svm import _strategy as strategy
from learnt.svm._curvature import conjugate_gradients
from learnt.svm._losses import hinge, insensitive
from learnt.svm._newton import minimize


def quiet(model, X, y, **fit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y, **fit)


def objective(model, X, y, weight=None):
    """What LinearSVC minimises, one number a plane, from its definition."""
    scores = X @ model.coef_.T + model.intercept_
    weight = np.ones(len(y)) if weight is None else weight
    values = []
    for k, coef in enumerate(model.coef_):
        sign = np.where(y == model.classes_[k if len(model.coef_) > 1 else 1], 1.0, -1.0)
        loss = np.maximum(0.0, 1.0 - sign * scores[:, k])
        full = np.append(coef, model.intercept_[k] / model.intercept_scaling if model.fit_intercept else 0.0)
        size = np.abs(full).sum() if model.penalty == "l1" else 0.5 * full @ full
        values.append(size + model.C * np.sum(weight * (loss if model.loss == "hinge" else loss**2)))
    return np.array(values)


def shapes():
    rng = np.random.default_rng(0)
    for n, d in ((300, 6), (40, 200), (60, 1600), (2100, 1600)):
        X = rng.normal(size=(n, d)) + 0.3
        if n == 2100:
            X = sparse.random_array((n, d), density=0.01, rng=rng, format="csr") * 3
        yield X, (np.asarray(X @ rng.normal(size=d)) + rng.normal(size=n) > 0.3).astype(int)


@pytest.mark.parametrize("case", range(4))
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.sweep
def test_no_objective_above_liblinears(case, loss):
    X, y = list(shapes())[case]
    ours = LinearSVC(loss=loss).fit(X, y)
    theirs = quiet(peer.LinearSVC(loss=loss, tol=1e-6, max_iter=20000, random_state=0), X, y)
    assert objective(ours, X, y) <= objective(theirs, X, y) * (1 + 1e-7)
    assert ours.dual_gap_ <= 1e-7
    if loss == "squared_hinge":
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("params", [{}, {"fit_intercept": False}, {"intercept_scaling": 30.0}, {"C": 100.0}])
@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_settings_mean_what_liblinears_do(params, penalty):
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0) + 0.5
    ours = LinearSVC(penalty=penalty, **params).fit(X, y)
    theirs = quiet(peer.LinearSVC(penalty=penalty, tol=1e-8, max_iter=100000, dual=False, **params), X, y)
    assert np.all(objective(ours, X, y) <= objective(theirs, X, y) * (1 + 1e-7))
    np.testing.assert_allclose(objective(ours, X, y), objective(theirs, X, y), rtol=1e-4)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0.01, atol=0.01 * np.abs(theirs.coef_).max())


def test_the_gap_is_a_bound_and_the_multipliers_satisfy_the_conditions():
    """KKT: β between its bounds; at 0 beyond the margin, at C within it; coef is the rows weighted by β."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 4))
    sign = np.where(X @ [1.0, -1, 2, 0] + rng.normal(size=200) > 0, 1.0, -1.0)
    design, space = strategy.pose(X, 1.0)
    for squared in (False, True):
        loss = hinge(sign, np.full(200, 0.7), squared)
        found = strategy.solve(design, space, loss, 1e-13, 1000, None)
        alpha, margin = found.beta * sign, sign * design.scores(found.w)
        np.testing.assert_allclose(design.combine(found.beta), found.w, atol=1e-5)
        assert alpha.min() >= 0.0
        assert np.abs(alpha[margin > 1 + 1e-5]).max() < 1e-5
        if squared:
            np.testing.assert_allclose(alpha, 1.4 * np.maximum(0, 1 - margin), atol=1e-5)
        else:
            assert alpha.max() <= 0.7
            np.testing.assert_allclose(alpha[margin < 1 - 1e-5], 0.7, atol=1e-5)
        early = minimize(design, loss, np.zeros(5), tol=0.0, max_iter=3)
        assert early.value - early.gap <= found.value <= early.value * (1 + 1e-12)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_every_code_path_leads_to_the_same_minimum(squared, epsilon, monkeypatch):
    monkeypatch.setattr(_descent, "_STUCK", 10**6)
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 40))
    loss = insensitive(X @ rng.normal(size=40) + rng.standard_t(3, size=150), np.full(150, 0.5), epsilon, squared)
    design = strategy.Design(X, 2.0)
    thin = strategy.Design(sparse.csr_matrix(X), 2.0)
    columns = minimize(design, loss, np.zeros(41), tol=1e-12, max_iter=500)
    space = strategy.RowSpace(design)
    rows = strategy.in_columns(design, space, loss, minimize(space, loss, np.zeros(150), tol=1e-12, max_iter=500), 1e-9)
    passes = [strategy.descend(each, loss, np.zeros(150), tol=1e-10, max_iter=5000) for each in (design, thin)]
    for other in (rows, *passes):
        assert other.converged
        np.testing.assert_allclose(other.value, columns.value, rtol=1e-8)
        np.testing.assert_allclose(other.w, columns.w, atol=1e-4)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_regression_agrees_with_liblinear(loss, epsilon):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 5)) * [1, 2, 3, 0.1, 1]
    y = X @ [1.0, 2, -1, 5, 0] + 3 + rng.standard_t(2, size=300)
    ours = LinearSVR(loss=loss, epsilon=epsilon, C=0.5).fit(X, y)
    theirs = peer.LinearSVR(loss=loss, epsilon=epsilon, C=0.5, tol=1e-10, max_iter=100000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-3)
    assert ours.coef_.shape == theirs.coef_.shape
    assert ours.intercept_.shape == theirs.intercept_.shape


def test_all_classes_at_once():
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    ours = LinearSVC(multi_class="crammer_singer").fit(X, y)
    theirs = peer.LinearSVC(multi_class="crammer_singer", tol=1e-6, max_iter=100000).fit(X, y)

    def value(model):
        scores = X @ model.coef_.T + model.intercept_
        margin = scores + 1 - np.eye(3)[y] - scores[np.arange(150), y][:, None]
        return 0.5 * (np.sum(model.coef_**2) + np.sum(model.intercept_**2)) + margin.max(axis=1).sum()

    assert value(ours) <= value(theirs) * (1 + 1e-7)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    thin = LinearSVC(multi_class="crammer_singer").fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(thin.coef_, ours.coef_, atol=1e-5)
    two = LinearSVC(multi_class="crammer_singer").fit(X[:100], y[:100])
    assert two.coef_.shape == (1, 4)
    np.testing.assert_array_equal(two.predict(X[:100]), y[:100])


def test_weights_of_rows_and_classes():
    X, y = make_classification(200, 6, n_informative=4, n_classes=3, random_state=0)
    counts = np.random.default_rng(0).integers(0, 3, size=200)
    for params in ({}, {"loss": "hinge", "tol": 1e-6}, {"penalty": "l1"}):
        weighted = LinearSVC(**params).fit(X, y, sample_weight=counts)
        repeated = LinearSVC(**params).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-4, atol=1e-5)
    table = {0: 2.0, 1: 1.0, 2: 0.5}
    two = y < 2
    by_class = LinearSVC(class_weight=table).fit(X[two], y[two])
    by_row = LinearSVC().fit(X[two], y[two], sample_weight=np.array([2.0, 1.0, 0.5])[y[two]])
    np.testing.assert_allclose(by_class.coef_, by_row.coef_, rtol=1e-8)
    for weights in ("balanced", table, {0: 0.0, 2: 3.0}):
        for more in ({"dual": False}, {"multi_class": "crammer_singer"}):
            theirs = peer.LinearSVC(class_weight=weights, tol=1e-8, max_iter=1000000, **more).fit(X, y)
            ours = LinearSVC(class_weight=weights, tol=1e-5, **more).fit(X, y)
            np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


def test_sparse_dense_and_single_precision_agree():
    X, y = list(shapes())[3]
    for params in ({}, {"penalty": "l1"}):
        thin = LinearSVC(**params).fit(X[:, :300], y)
        np.testing.assert_allclose(thin.coef_, LinearSVC(**params).fit(X[:, :300].toarray(), y).coef_, atol=1e-4)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_passes_go_on_where_equations_lose_their_digits(loss):
    """Rows of lengths from 1 to 10⁵ and weights from 1 to 10⁵: Newton's equations end with a gap of some percent."""
    rng = np.random.default_rng(139)
    X = rng.normal(size=(6, 10))
    X[2] *= 1e5
    y, w = np.arange(6) % 2, np.array([2e5, 1.0, 2.0, 2e5, 1e-8, 1.0])
    ours = LinearSVC(loss=loss, C=100.0, fit_intercept=False).fit(X, y, w)
    assert ours.dual_gap_ <= 1e-8


def test_single_precision_rows_have_coefficients_in_double():
    """Where they are far from 0, those of single precision would lose the minimum again."""
    X = np.random.default_rng(7).normal(size=(80, 3)).astype(np.float32)
    X[:, 0] += 1000.0
    amount = X.astype(float) @ [1.0, 2.0, -1.0] + 1e4
    for model, y in ((LinearSVC(), X[:, 1] > 0.1), (LinearSVR(intercept_scaling=100.0), amount)):
        narrow = model.fit(X, y).coef_, model.predict(X)
        assert narrow[0].dtype == model.intercept_.dtype == np.float64
        wide = model.fit(X.astype(float), y).coef_, model.predict(X)
        np.testing.assert_allclose(narrow[0], wide[0], rtol=1e-9)
        np.testing.assert_allclose(narrow[1], wide[1], rtol=1e-9)


@pytest.mark.long
def test_many_coefficients_under_the_absolute_penalty():
    rng = np.random.default_rng(6)
    X = sparse.random_array((900, 3000), density=0.01, rng=rng, format="csr") * 4
    y = (X @ rng.normal(size=3000) > 0).astype(int)
    ours = LinearSVC(penalty="l1").fit(X, y)
    theirs = quiet(peer.LinearSVC(penalty="l1", dual=False, random_state=0), X, y)
    assert np.count_nonzero(ours.coef_) > 400
    assert objective(ours, X, y) <= objective(theirs, X, y) * (1 + 1e-7)
    assert ours.dual_gap_ <= 1e-4


def test_ordinary_data_never_warn():
    for X, y in (load_iris(return_X_y=True), load_breast_cancer(return_X_y=True)):
        for params in ({}, {"loss": "hinge"}, {"penalty": "l1"}, {"C": 1000.0}):
            LinearSVC(**params).fit(X, y)
        LinearSVR().fit(X, X[:, 0] * 100.0 + y)


def test_separable_data_huge_scales_and_idle_columns():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    hard = LinearSVC(loss="hinge", C=1e6).fit(X, y)
    assert hard.score(X, y) == 1.0
    margin = (2 * y - 1) * hard.decision_function(X)
    np.testing.assert_allclose(margin.min(), 1.0, atol=1e-3)
    wide = LinearSVC().fit(X * [1e8, 1.0, 1e-8], y)
    assert wide.score(X * [1e8, 1.0, 1e-8], y) == 1.0
    idle = LinearSVC().fit(np.c_[X, np.zeros(60), np.full(60, 3.0)], y)
    assert idle.coef_[0, 3] == 0.0
    np.testing.assert_array_equal(LinearSVR().fit(X, np.zeros(60)).coef_, 0.0)
    assert LinearSVR(epsilon=10.0).fit(X, X[:, 0]).predict(X).max() == 0.0


def absolute_errors(model, X, y):
    """What LinearSVR minimises with epsilon 0."""
    full = np.append(model.coef_, model.intercept_)
    return 0.5 * full @ full + np.abs(y - model.predict(X)).sum()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("tiny", "outlier"), [(1e-8, 1e8), (1e-12, 1e6), (1e-150, 1e3)])
@pytest.mark.parametrize("unit", [1.0, 1e-30, 1e-150])
@pytest.mark.sweep(9)
def test_steps_that_rounding_turns_uphill_are_not_taken(tiny, outlier, unit, seed):
    """Tiny rows and one outlier, tiny targets: the slope along Newton's step has no digit that is right."""
    rng = np.random.default_rng(seed)
    X = np.r_[tiny * rng.normal(size=(200, 3)), np.full((1, 3), outlier)]
    y = unit * rng.normal(size=201)
    ours, theirs = (quiet(make(), X, y) for make in (LinearSVR, peer.LinearSVR))
    assert absolute_errors(ours, X, y) <= absolute_errors(theirs, X, y) * (1 + 1e-6)
    ours, theirs = (quiet(make(loss="hinge"), X, y > 0) for make in (LinearSVC, peer.LinearSVC))
    assert objective(ours, X, y > 0) <= objective(theirs, X, y > 0) * (1 + 1e-6)


@pytest.mark.parametrize(
    ("loss", "C"),
    [
        *[(loss, C) for loss in ("squared_hinge", "hinge") for C in (1e-4, 1.0)],
        ("hinge", 1e4),
        pytest.param("squared_hinge", 1e4, marks=pytest.mark.long),  # seconds; liblinear ends 8 % above
    ],
)
def test_every_strength_of_penalty_converges(C, loss):
    rng = np.random.default_rng(5)
    for X in (
        rng.normal(size=(120, 900)) + 0.2,  # separable
        np.repeat(rng.normal(size=(40, 60)), 2, axis=0),  # equal rows of different classes
        rng.normal(size=(400, 5)) * [1e4, 1.0, 1e-3, 1.0, 1.0],
        sparse.random_array((2100, 1600), density=0.005, rng=rng, format="csr"),
    ):
        if sparse.issparse(X) and C > 1.0 and loss == "hinge":
            continue  # right too, but it takes seconds
        y = (np.asarray(X[:, :4] @ np.ones(4)).ravel() + rng.normal(size=X.shape[0]) > 0).astype(int)
        model = LinearSVC(C=C, loss=loss).fit(X, y)
        assert model.dual_gap_ <= 1e-7
        theirs = quiet(peer.LinearSVC(C=C, loss=loss, random_state=0), X, y)
        assert objective(model, X, y) <= objective(theirs, X, y) * (1 + 1e-7)


def test_a_class_without_weight_is_left_out():
    X, y = load_iris(return_X_y=True)
    model = LinearSVC().fit(X, y, sample_weight=(y > 0).astype(float))
    assert model.classes_.tolist() == [1, 2]
    assert model.coef_.shape == (1, 4)


def test_refusals_are_one_sentence():
    X, y = load_iris(return_X_y=True)
    cases = [
        (LinearSVC(), np.zeros(150), {}, "only one class"),
        (LinearSVC(penalty="l1", loss="hinge"), y, {}, "Unsupported set of arguments"),
        (LinearSVC(loss="hinge", dual=False), y, {}, "Unsupported set of arguments"),
        (LinearSVC(C=-1.0), y, {}, "'C' parameter of LinearSVC"),
        (LinearSVC(C=np.inf), y, {}, "must be finite"),
        (LinearSVC(dual="maybe"), y, {}, "'dual' parameter"),
        (LinearSVC(class_weight={0: 1.0, 1: 0.0, 2: 0.0}), y, {}, "only one class"),
        (LinearSVR(dual=False), y, {}, "Unsupported set of arguments"),
        (LinearSVR(epsilon=-1.0), y, {}, "'epsilon' parameter"),
        (LinearSVC(), y, {"sample_weight": np.zeros(150)}, "all given weights are zero"),
    ]
    for model, target, fit, words in cases:
        with pytest.raises(ValueError, match=words) as caught:
            model.fit(X, target, **fit)
        assert "\n" not in str(caught.value)


def test_an_unfinished_fit_reports_its_progress():
    X, y = load_breast_cancer(return_X_y=True)
    for model in (LinearSVC(max_iter=1), LinearSVC(penalty="l1", max_iter=1), LinearSVR(max_iter=1)):
        with pytest.warns(ConvergenceWarning, match=r"after 1 steps .* raise max_iter above 1") as caught:
            model.fit(X, y)
        assert "\n" not in str(caught[0].message)


def test_few_rows_that_curve_do_not_end_the_search():
    """Wide clusters of 100 features in large units: plain Newton steps stay short, and ended too high."""
    X, y = make_blobs(n_samples=500, n_features=100, random_state=0, centers=10, cluster_std=15.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LinearSVC().fit(X, np.minimum(y, 2))
    A = np.column_stack([X, np.ones(500)])
    for k in range(3):
        sign = np.where(np.minimum(y, 2) == k, 1.0, -1.0)
        w = np.append(model.coef_[k], model.intercept_[k])
        short = np.maximum(0.0, 1.0 - sign * (A @ w))
        slope = w - 2.0 * A.T @ (sign * short)
        # The objective is 1-strongly convex: it is at most half the squared slope above its minimum.
        assert 0.5 * slope @ slope <= 1.01e-8 * (0.5 * w @ w + short @ short)


def test_conjugate_gradients_stop_where_a_step_has_no_square():
    """The curvature of such a step is 0 in numbers, and what was found so far is the answer."""
    steps = conjugate_gradients(lambda x, out: np.multiply(x, 1e-300, out=out), np.full(2, 1e-150), np.ones(2))
    assert np.isfinite(steps).all()
