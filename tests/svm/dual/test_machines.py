"""SVC, NuSVC, SVR, NuSVR and OneClassSVM: scikit-learn as oracle, optimality from outside, and what they refuse."""

import warnings

import numpy as np
import pytest
import sklearn.svm as peer
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import learnt
from learnt.engine.params import ParameterError
from learnt.engine.threads import set_threads
from learnt.kernels import RBF, Laplacian, Linear
from learnt.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from learnt.svm.dual import _kernel, _problems, _solve

TIGHT = {"tol": 1e-9}


def classes(n=150, d=4, k=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1.0, 2.0, 0.5, 1.0][:d]
    y = np.arange(n) % k
    X[:, 0] += 1.2 * y
    return X, np.array(["a", "b", "c", "d"])[y]


def numbers(n=150, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n)


def cells(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else matrix


def same_machine(ours, theirs, X):
    """The objective has one minimum in the decision function: a step of tol in the scores, times the condition."""
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)


KERNELS = [
    {"kernel": "rbf"},
    {"kernel": "linear", "C": 0.5},
    {"kernel": "poly", "coef0": 1.0, "degree": 2},
    {"kernel": "sigmoid", "gamma": 0.02, "coef0": 0.1},
]


@pytest.mark.filterwarnings("ignore:The kernel of SVC is not positive semidefinite")
@pytest.mark.parametrize("options", KERNELS, ids=lambda o: o["kernel"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("k", [2, 3])
def test_classes_as_scikit_learn(options, kind, k):
    X, y = classes(k=k)
    ours = SVC(**options, **TIGHT).fit(kind(X), y)
    theirs = peer.SVC(**options, **TIGHT).fit(kind(X), y)
    same_machine(ours, theirs, kind(X))
    assert (ours.predict(kind(X)) == theirs.predict(kind(X))).all()
    assert ours.support_.tolist() == theirs.support_.tolist()
    assert ours.n_support_.tolist() == theirs.n_support_.tolist()
    coef = cells(theirs.dual_coef_)
    if options["kernel"] == "rbf":  # positive definite: one solution in α
        np.testing.assert_allclose(cells(ours.dual_coef_), coef, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    if options["kernel"] == "linear":
        plane = cells(theirs.coef_)
        np.testing.assert_allclose(cells(ours.coef_), plane, atol=1e-5)
        assert sparse.issparse(ours.coef_) == sparse.issparse(theirs.coef_)


@pytest.mark.parametrize("shape", ["ovo", "ovr"])
@pytest.mark.parametrize("ties", [False, True])
def test_votes_of_four_classes_as_scikit_learn(shape, ties):
    X, y = classes(k=4, n=160)
    options = {"decision_function_shape": shape, "break_ties": ties and shape == "ovr", **TIGHT}
    ours, theirs = SVC(**options).fit(X, y), peer.SVC(**options).fit(X, y)
    same_machine(ours, theirs, X)
    assert (ours.predict(X) == theirs.predict(X)).all()
    assert ours.dual_coef_.shape == theirs.dual_coef_.shape == (3, len(ours.support_))


@pytest.mark.parametrize("nu", [0.2, 0.5])
@pytest.mark.parametrize("k", [2, 3])
def test_shares_of_rows_as_scikit_learn(nu, k):
    X, y = classes(k=k)
    ours, theirs = NuSVC(nu=nu, **TIGHT).fit(X, y), peer.NuSVC(nu=nu, **TIGHT).fit(X, y)
    # Theirs has kernels in single precision, which the small margin of the dual problem is divided into.
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-3, atol=1e-3)
    if k == 2:
        np.testing.assert_allclose(np.abs(ours.decision_function(X)[_free(ours, 1.0)]), 1.0, atol=1e-6)


def _free(model, most):
    """Support vectors whose coefficient is at no bound: they lie on the margin."""
    size = np.abs(model.dual_coef_[0])
    return model.support_[size < size.max() * (1 - 1e-9) * most]


@pytest.mark.parametrize("options", KERNELS[:3], ids=lambda o: o["kernel"])
def test_numbers_as_scikit_learn(options):
    X, y = numbers()
    for ours, theirs in ((SVR, peer.SVR), (NuSVR, peer.NuSVR)):
        a, b = ours(**options, **TIGHT).fit(X, y), theirs(**options, **TIGHT).fit(X, y)
        np.testing.assert_allclose(a.predict(X), b.predict(X), atol=1e-5)
        np.testing.assert_allclose(a.intercept_, b.intercept_, atol=1e-5)


def test_one_class_as_scikit_learn():
    X, _ = numbers()
    for nu in (0.05, 0.5):
        ours, theirs = OneClassSVM(nu=nu, **TIGHT).fit(X), peer.OneClassSVM(nu=nu, **TIGHT).fit(X)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
        np.testing.assert_allclose(ours.offset_, theirs.offset_, atol=1e-5)
        assert (ours.decision_function(X) < -1e-6).mean() <= nu


@pytest.mark.parametrize("working", [20, 64])
def test_working_sets_find_the_minimum_of_the_whole(working, monkeypatch):
    """Small sets one after the other reach what one large set does, within the tolerance, for every machine."""
    X, y = classes(n=200)
    Z, z = numbers(n=120)
    makers = [
        (SVC(**TIGHT), X, y), (NuSVC(nu=0.3, **TIGHT), X, y), (SVR(**TIGHT), Z, z),
        (NuSVR(**TIGHT), Z, z), (OneClassSVM(**TIGHT), Z, None),
    ]  # fmt: skip
    whole = [model.fit(A, b) for model, A, b in makers]
    expected = [m.decision_function(A) if hasattr(m, "decision_function") else m.predict(A) for m, A, _ in makers]
    assert all(m.kkt_residual_ <= 1e-9 for m in whole)
    monkeypatch.setattr(_solve, "WORKING", working)
    for (model, A, b), found in zip(makers, expected):
        model.set_params(cache_size=0.05).fit(A, b)  # fewer rows of the kernel are kept than a set has
        again = model.decision_function(A) if hasattr(model, "decision_function") else model.predict(A)
        np.testing.assert_allclose(again, found, atol=1e-5)
        assert model.kkt_residual_ <= 1e-9


@pytest.mark.parametrize("C", [1.0, 300.0])
def test_single_precision_is_far_below_the_tolerance(C, monkeypatch):
    """Entries in single precision (and for the smaller C products too) move scores by less than a tenth of tol each."""
    X, y = classes(n=400)
    precise = SVC(C=C).fit(X, y)
    monkeypatch.setattr(_problems, "PRECISE", 0)
    single = SVC(C=C).fit(X, y)
    rows = single._rows(X, C)
    assert rows.dtype == np.float32
    assert (rows.entries.X.dtype == np.float32) == (C == 1.0)
    exact = precise._kernel().between(X, X)
    bound = rows.entries.rounding(np.float32, rows.entries.norms.max())
    np.testing.assert_allclose(rows.square(np.arange(400)), exact, atol=bound)
    objectives = []
    for model in (precise, single):
        a = np.zeros(400)
        a[model.support_] = model.dual_coef_[0]
        objectives.append(a @ exact @ a / 2 - np.abs(a).sum())
        assert model.dual_gap_ < 1e-2
    bound = max(model.dual_gap_ for model in (precise, single)) * 2 * abs(objectives[0])
    assert abs(objectives[0] - objectives[1]) <= bound


def test_optimality_seen_from_outside():
    """α = 0 beyond the margin, α = C inside it, between them on it; the gap of the objectives is what is reported."""
    X, y = classes(n=300)
    model = SVC(C=2.0, tol=1e-6).fit(X, y)
    margin = np.where(y == "b", 1.0, -1.0) * model.decision_function(X)
    alpha = np.zeros(len(y))
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    assert (margin[alpha == 0] >= 1 - 1e-5).all()
    assert (margin[alpha == 2.0] <= 1 + 1e-5).all()
    np.testing.assert_allclose(margin[(alpha > 0) & (alpha < 2.0)], 1.0, atol=1e-5)
    assert alpha @ np.where(y == "b", 1.0, -1.0) == pytest.approx(0.0, abs=1e-9)
    square = (alpha[model.support_] * margin[model.support_]).sum() - model.intercept_[0] * model.dual_coef_.sum()
    primal = square / 2 + 2.0 * np.maximum(0, 1 - margin).sum()
    dual = alpha.sum() - square / 2
    assert 0 <= model.dual_gap_ <= 1e-5
    assert (primal - dual) / primal == pytest.approx(model.dual_gap_, abs=1e-8)


def test_a_weight_is_a_row_repeated():
    X, y = classes(n=60)
    times = np.random.default_rng(1).integers(0, 4, 60)
    again = np.repeat(np.arange(60), times)
    for make in (SVC, NuSVC):
        one = make(gamma=0.3, **TIGHT, **({"nu": 0.2} if make is NuSVC else {}))
        weighted = one.fit(X, y, sample_weight=times).decision_function(X)
        np.testing.assert_allclose(one.fit(X[again], y[again]).decision_function(X), weighted, atol=1e-5)
    Z, z = numbers(n=60)
    for model in (SVR(gamma=0.3, **TIGHT), OneClassSVM(gamma=0.3, **TIGHT)):
        answer = (lambda m: m.predict(Z)) if isinstance(model, SVR) else (lambda m: m.decision_function(Z))
        weighted = answer(model.fit(Z, z, sample_weight=times))
        np.testing.assert_allclose(answer(model.fit(Z[again], z[again])), weighted, atol=1e-5)


def test_class_weights_as_scikit_learn():
    X, y = classes(n=120)
    y[:40] = "a"
    for weight in ("balanced", {"a": 3.0, "b": 0.5}):
        same_machine(SVC(class_weight=weight, **TIGHT).fit(X, y), peer.SVC(class_weight=weight, **TIGHT).fit(X, y), X)


def test_precomputed_kernels():
    X, y = classes(k=3)
    plain = SVC(kernel="linear", **TIGHT).fit(X, y)
    given = SVC(kernel="precomputed", **TIGHT).fit(X @ X.T, y)
    function = SVC(kernel=lambda A, B: A @ B.T, **TIGHT).fit(X, y)
    new = X[:20] + 0.1
    same_machine(plain, given.__class__(kernel=lambda A, B: A @ B.T, **TIGHT).fit(X, y), new)
    np.testing.assert_allclose(given.decision_function(new @ X.T), plain.decision_function(new), atol=1e-6)
    np.testing.assert_allclose(function.decision_function(new), plain.decision_function(new), atol=1e-6)
    with pytest.raises(ValueError, match=r"must be \(\d+, \d+\)"):
        SVC(kernel=lambda A, B: A @ B.T[:, :3]).fit(X, y)
    with pytest.raises(ValueError, match="square matrix"):
        SVC(kernel="precomputed").fit(X, y)


def test_kernel_objects(tmp_path):
    """Objects with an algebra and further names give what their matrix gives, on sparse rows too, and are saved."""
    X, y = classes(k=3)
    new = X[:20] + 0.1
    for kernel in (2.0 * RBF(1.5) + Linear() ** 2, "laplacian"):
        model = SVC(kernel=kernel, gamma=0.2, **TIGHT).fit(X, y)
        k = kernel if not isinstance(kernel, str) else Laplacian(0.2)
        given = SVC(kernel="precomputed", **TIGHT).fit(k(X), y)
        np.testing.assert_allclose(model.decision_function(new), given.decision_function(k(new, X)), atol=1e-5)
        learnt.save(model, tmp_path / "model.learnt")
        again = learnt.load(tmp_path / "model.learnt")
        np.testing.assert_array_equal(again.decision_function(new), model.decision_function(new))
    dense, thin = (SVR(kernel=RBF(2.0), **TIGHT).fit(A, X[:, 0]) for A in (X, sparse.csr_matrix(X)))
    np.testing.assert_allclose(thin.predict(sparse.csr_matrix(new)), dense.predict(new), atol=1e-6)


def test_a_hard_margin():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [4.0, 1.0]])
    model = SVC(kernel="linear", C=np.inf, **TIGHT).fit(X, [0, 0, 1, 1])
    np.testing.assert_allclose(model.coef_, [[1.0, 0.0]], atol=1e-7)  # margin of 1 on both sides of x = 2
    np.testing.assert_allclose(model.intercept_, [-2.0], atol=1e-7)
    with pytest.raises(ValueError, match="cannot separate"):
        SVC(kernel="linear", C=np.inf).fit([[0.0], [1.0], [2.0]], [0, 1, 0])


def test_probabilities():
    X, y = load_iris(return_X_y=True)
    model = SVC(probability=True, random_state=0).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    assert (p >= 0).all()
    assert (p.argmax(axis=1) == y).mean() > 0.95
    np.testing.assert_array_equal(p, SVC(probability=True, random_state=0).fit(X, y).predict_proba(X))
    assert p[np.arange(150), y].mean() > 0.8  # sure where it is right
    with pytest.raises(AttributeError, match="no attribute 'predict_proba'"):
        SVC().fit(X, y).predict_proba(X)


def test_threads_change_nothing():
    X, y = classes(n=1500, k=3)
    answers = []
    for threads in (1, 2):
        set_threads(threads)
        answers.append(SVC().fit(X, y).decision_function(X))
    set_threads(None)
    np.testing.assert_array_equal(*answers)


def test_stopping_early_reports_the_distance():
    X, y = classes(n=300)
    with pytest.warns(ConvergenceWarning, match=r"Solver terminated early \(max_iter=5\).* a KKT residual"):
        model = SVC(max_iter=5).fit(X, y)
    assert model.fit_status_ == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SVC().fit(X, y).fit_status_ == 0


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (SVC(C=0), "'C' parameter of SVC"),
        (SVC(kernel="rbg"), "'kernel' parameter of SVC must be one of"),
        (SVC(gamma=-1.0), "'gamma' parameter"),
        (NuSVC(nu=1.5), "'nu' parameter"),
        (SVR(epsilon=-0.1), "'epsilon' parameter"),
        (NuSVC(nu=0.99), "specified nu is infeasible.*classes 'a' and 'b' has.*at most"),
    ],
)
def test_errors_say_what_to_do(model, match):
    X, y = classes(n=40)
    target = np.where(np.arange(40) < 8, "a", "b") if "infeasible" in match else y
    if isinstance(model, SVR):
        target = np.arange(40.0)
    with pytest.raises(ValueError, match=match):
        model.fit(X, target)


def test_one_class_alone_is_refused():
    with pytest.raises(ValueError, match="at least two classes"):
        SVC().fit([[0.0], [1.0]], ["a", "a"])


def test_equal_rows_and_constant_columns():
    X = np.ones((20, 3))
    y = np.arange(20) % 2
    for model in (SVC(), SVC(kernel="linear")):
        assert np.isfinite(model.fit(X, y).decision_function(X)).all()
    assert np.isfinite(SVR().fit(X, y.astype(float)).predict(X)).all()
    assert np.isfinite(OneClassSVM().fit(X).decision_function(X)).all()


def test_numbers_too_large_for_a_kernel_are_refused():
    with pytest.raises(ValueError, match="scale the columns"):
        SVC().fit(np.finfo(np.float64).max * np.array([[0.1], [0.9], [0.5]]), [0, 1, 1])


def test_no_miss_beyond_epsilon():
    """C = ∞ on points that a line fits: every miss is at most ε, up to the tolerance."""
    X = np.linspace(0, 4, 9)[:, None]
    model = SVR(kernel="linear", C=np.inf, epsilon=0.1, **TIGHT).fit(X, 2 * X[:, 0] + 1)
    assert np.abs(model.predict(X) - (2 * X[:, 0] + 1)).max() <= 0.1 + 1e-6


@pytest.mark.parametrize("kind", [SVC, NuSVC, SVR, NuSVR, OneClassSVM])
@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_rows_of_weight_0_or_less_are_left_out(kind, kernel):
    X, _ = classes()
    y = (X[:, 0] > 0.5).astype(float)
    w = np.random.default_rng(1).uniform(-1, 2, size=len(X))
    w[::7] = 0.0
    there = np.flatnonzero(w > 0)
    table = RBF(1.0)(X) if kernel == "precomputed" else X
    part = table[np.ix_(there, there)] if kernel == "precomputed" else X[there]
    with pytest.warns(UserWarning, match="sample weights are below 0"):
        whole = kind(kernel=kernel, gamma=0.5).fit(table, y, sample_weight=w)
    alone = kind(kernel=kernel, gamma=0.5).fit(part, y[there], sample_weight=w[there])
    np.testing.assert_array_equal(whole.support_, there[alone.support_])
    np.testing.assert_array_equal(whole.dual_coef_, alone.dual_coef_)
    assert whole.shape_fit_ == table.shape
    np.testing.assert_allclose(whole.predict(table)[there], alone.predict(part), rtol=1e-12)


@pytest.mark.parametrize("kind", [SVC, NuSVC, SVR, NuSVR, OneClassSVM])
@pytest.mark.parametrize("weight", [0.0, -0.5])
def test_no_row_of_weight_above_0_is_refused(kind, weight):
    X, _ = classes(n=20)
    with pytest.raises(ValueError, match="all samples have zero or negative weights"):
        kind().fit(X, np.arange(20) % 2, sample_weight=np.full(20, weight))


@pytest.mark.filterwarnings("ignore:.*sample weights are below 0")
@pytest.mark.parametrize("kind", [SVC, NuSVC])
def test_weights_that_leave_one_class_are_refused(kind):
    X, _ = classes(n=20)
    y = np.arange(20) % 2
    with pytest.raises(ValueError, match="all samples with positive weights belong to the same class, 0"):
        kind().fit(X, y, sample_weight=np.where(y == 0, 1.0, -1.0))


def common_letters(S, T):
    return np.array([[len(set(s) & set(t)) for t in T] for s in S], dtype=float)


def test_a_function_that_is_asked_for_very_many_kernels_is_named_once(monkeypatch):
    """A fit may need the kernels of all pairs of rows; one that comes far says so, and what else could be done."""
    X, y = numbers(n=200)
    monkeypatch.setattr(_kernel, "_MANY", 10**4)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        SVR(kernel=lambda A, B: A @ B.T).fit(X, y)
        SVR(kernel="linear").fit(X, y)
    assert [str(w.message) for w in told if "Nystroem" in str(w.message)] == [
        "The kernel function was asked for 4.0e+04 kernels so far, and 200 rows may need 4.0e+04: if this takes too "
        "long, stop it and fit to fewer rows, or fit a linear model to the features of Nystroem(kernel)."
    ]


@pytest.mark.parametrize("kind", [SVC, NuSVC, SVR, OneClassSVM])
def test_a_function_may_compare_texts(kind):
    words = ["tree", "reed", "deer", "boat", "coat", "oats"]
    y = np.array([0, 0, 0, 1, 1, 1])
    K = common_letters(words, words)
    by_words, by_matrix = kind(kernel=common_letters).fit(words, y), kind(kernel="precomputed").fit(K, y)
    # six products of numbers up to 10, in whatever order the matrix product adds them
    np.testing.assert_allclose(by_words.predict(words[::-1]), by_matrix.predict(K[::-1]), rtol=0, atol=1e-13)
    np.testing.assert_array_equal(by_words.support_vectors_, np.array(words)[by_matrix.support_])
    np.testing.assert_allclose(by_words.predict(np.array(words)), by_matrix.predict(K), rtol=0, atol=1e-13)


@pytest.mark.parametrize("kind", [SVC, NuSVC])
def test_the_default_of_probability_has_scikit_learns_name_and_means_no(kind):
    X, y = classes()
    model = kind(**kind().get_params()).fit(X, y)
    assert model.probability == "deprecated"
    assert not hasattr(model, "predict_proba")
    assert model.probA_.size == 0
    with pytest.raises(ParameterError, match="'probability' parameter"):
        kind(probability="yes").fit(X, y)


def test_probabilities_that_were_not_fitted_are_no_attribute_of_the_fit():
    X, y = classes()
    model = SVC().fit(X, y).set_params(probability=True)
    with pytest.raises(NotFittedError, match="fit again with probability=True"):
        model.predict_proba(X)


def test_a_share_of_rows_that_leaves_no_margin_is_reported():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.integers(2, size=200)  # no function of a line tells them
    with pytest.warns(
        UserWarning, match="nu=0.1 leaves a margin between the classes 0 and 1 that is not above tol.*raise nu"
    ):
        NuSVC(nu=0.1, kernel="linear").fit(X, y)
