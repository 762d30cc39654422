"""All pairs of classes from one kernel matrix: what each pair alone gives, and optimality seen from outside."""

import numpy as np
import pytest

from learnt.svm import SVC, NuSVC
from learnt.svm.dual import _pair_loop, _ways
from learnt.svm.dual._active import Entries
from learnt.svm.dual._pair_loop import Pairs, solve_pairs
from learnt.svm.dual._pairs import PairCoefficients, one_vs_rest, pairs_of, votes_of

TIGHT = {"tol": 1e-9}


def rows(n=180, k=4, d=5, seed=0):
    """Classes of different sizes that overlap, in no order, and weights."""
    rng = np.random.default_rng(seed)
    y = rng.choice(k, n, p=np.arange(1, k + 1) / np.arange(1, k + 1).sum())
    X = rng.normal(size=(n, d)) + 1.2 * rng.normal(size=(k, d))[y]
    return X, np.array(["a", "b", "c", "d", "e"])[y], rng.uniform(0.2, 3.0, n)


def apart(model, monkeypatch, *data):
    """The same fit, one pair at a time."""
    with monkeypatch.context() as patch:
        patch.setattr(_ways, "has_room", lambda *_: False)
        return type(model)(**model.get_params()).fit(*data)


MODELS = [
    SVC(C=3.0, **TIGHT),
    SVC(kernel="linear", C=0.5, **TIGHT),
    SVC(kernel="poly", degree=2, coef0=1.0, C=0.5, **TIGHT),
    SVC(class_weight="balanced", **TIGHT),
    SVC(class_weight={"a": 4.0, "b": 0.3}, **TIGHT),
    SVC(kernel=lambda A, B: np.exp(-0.1 * ((A[:, None] - B) ** 2).sum(axis=2)), **TIGHT),
    NuSVC(nu=0.15, **TIGHT),
]


@pytest.mark.parametrize("model", MODELS, ids=["rbf", "linear", "poly", "balanced", "weights", "function", "nu"])
@pytest.mark.parametrize("k", [2, 4])
def test_together_is_what_each_pair_alone_gives(model, k, monkeypatch):
    """Minima in the decision function are unique: both lie within a multiple of tol over the condition of it.

    ν-problems divide scores, which are known to 1e-9, by the margin: a hundredth here.
    """
    X, y, weight = rows(k=k)
    for data in ((X, y), (X, y, weight)):
        one, other = model.fit(*data), apart(model, monkeypatch, *data)
        assert one.kkt_residual_ <= 1e-9
        np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-5)
        np.testing.assert_allclose(one.intercept_, other.intercept_, atol=1e-5)
        assert one.dual_coef_.shape[0] == k - 1
        assert one.n_support_.sum() == len(one.support_) == one.dual_coef_.shape[1]
        assert (y[one.support_] == np.repeat(one.classes_, one.n_support_)).all()
        if not isinstance(model, NuSVC):
            assert one.dual_gap_ == pytest.approx(other.dual_gap_, abs=1e-6)


def pair_machines(model):
    """For every pair of classes (first, second): α and which of the support vectors they are, from `dual_coef_`."""
    ends = np.concatenate([[0], np.cumsum(model.n_support_)])
    k = len(model.classes_)
    for i in range(k):
        for j in range(i + 1, k):
            at = np.r_[ends[i] : ends[i + 1], ends[j] : ends[j + 1]]
            coef = np.concatenate([
                model.dual_coef_[j - 1, ends[i] : ends[i + 1]], model.dual_coef_[i, ends[j] : ends[j + 1]]
            ])  # fmt: skip
            yield model.classes_[i], model.classes_[j], model.support_[at], coef


@pytest.mark.parametrize(("C", "tol"), [(0.5, 1e-3), (20.0, 1e-3), (20.0, 1e-8)])
def test_optimality_of_every_pair_seen_from_outside(C, tol):
    """With kernels in double precision, no score that may rise is more than tol above one that may fall.

    The rounding of kernels that the fit allows itself moves a score by less than a tenth of tol, usually: twice tol is
    asked for.
    """
    X, y, _ = rows(n=320, k=5)
    gamma = 0.1
    model = SVC(C=C, gamma=gamma, tol=tol).fit(X, y)
    K = np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2))
    for first, second, support, coef in pair_machines(model):
        coefficients = np.zeros(len(y))
        coefficients[support] = coef
        part = (y == first) | (y == second)
        sign = np.where(y[part] == first, 1.0, -1.0)
        alpha = coefficients[part] * sign
        assert (alpha >= 0).all()
        assert (alpha <= C).all()
        assert coefficients.sum() == pytest.approx(0.0, abs=1e-9 * C * len(y))
        score = sign - (K @ coefficients)[part]
        rise = np.where(sign > 0, alpha < C, alpha > 0)
        fall = np.where(sign > 0, alpha > 0, alpha < C)
        assert score[rise].max() - score[fall].min() <= 2 * tol
    assert model.kkt_residual_ <= tol


@pytest.mark.parametrize("model", [SVC(C=2.0, **TIGHT), NuSVC(nu=0.2, **TIGHT)], ids=["C", "nu"])
def test_rows_that_are_held_out_are_scored_by_a_machine_without_them(model, monkeypatch):
    """A variable with a bound of 0 is left out of the fit: the values that probabilities come from are the same."""
    X, y, weight = rows(n=90, k=3)
    model.set_params(probability=True, random_state=3)
    one, other = model.fit(X, y, weight), apart(model, monkeypatch, X, y, weight)
    np.testing.assert_allclose(one.probA_, other.probA_, rtol=1e-4)
    np.testing.assert_allclose(one.probB_, other.probB_, atol=1e-4)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-4)


def test_a_class_of_one_row_is_not_held_out():
    """Where a class has a single row no machine can be fitted without it: values are the sides themselves."""
    X, y, _ = rows(n=40, k=3)
    alone = np.r_[np.flatnonzero(y == "a")[:1], np.flatnonzero(y != "a")]
    model = SVC(probability=True, random_state=0).fit(X[alone], y[alone])
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    assert model.probA_.shape == (3,)


def test_folds_hold_every_row_out_once():
    codes = np.random.default_rng(0).integers(0, 3, 50)
    ranks = _ways.ranks_in_classes(codes, np.random.RandomState(0))
    for code in range(3):
        assert sorted(ranks[codes == code]) == list(range(np.sum(codes == code)))
    assert _ways.folds_of(np.array([1, 30])) == 0
    assert _ways.folds_of(np.array([3, 30])) == 3
    assert _ways.folds_of(np.array([40, 30])) == 5


def test_steps_have_a_limit_for_every_pair():
    X, y, _ = rows(k=4)
    with pytest.warns(match="terminated early"):
        model = SVC(C=100.0, max_iter=7).fit(X, y)
    assert (model.n_iter_ <= 7).all()
    assert model.kkt_residual_ > 1e-3


@pytest.mark.parametrize("values", ["float32", "float64", "rows"])
def test_scores_are_those_of_alpha(values, monkeypatch):
    """Scores follow α, from a kernel matrix or from products of rows as they are needed; groups keep their sums."""
    dtype = np.dtype("float64" if values == "rows" else values)
    X, y, _ = rows(n=120, k=3)
    codes = np.unique(y, return_inverse=True)[1]
    order = np.argsort(codes, kind="stable")
    if values == "rows":
        X = X / np.linalg.norm(X, axis=1, keepdims=True)
        entries, K = Entries(X[order], True), X[order] @ X[order].T
    else:
        K = np.exp(-0.1 * ((X[order][:, None] - X[order]) ** 2).sum(axis=2))
        entries = Entries(K.astype(dtype), False)
    begin = np.concatenate([[0], np.cumsum(np.bincount(codes))])
    ends = np.cumsum([begin[1] + begin[2] - begin[1], begin[1] + begin[3] - begin[2], begin[3] - begin[1]])
    starts = np.concatenate([[0], ends])
    monkeypatch.setattr(_pair_loop, "_CELLS", 1)  # a block for every pair
    for by_sign in (False, True):
        alpha = np.full(ends[-1], 0.4 if by_sign else 0.0)
        first, second, upper = np.array([0, 0, 1]), np.array([1, 2, 2]), np.full(ends[-1], 2.0)
        problem = Pairs(first, second, begin, starts, upper, alpha, 0.0 if by_sign else 1.0, by_sign)
        found = solve_pairs(entries, problem, 1e-3, -1)
        assert found.converged.all()
        assert (found.gap <= 1e-3).all()
        for p, (i, j) in enumerate(zip(first, second)):
            at = np.r_[begin[i] : begin[i + 1], begin[j] : begin[j + 1]]
            m = begin[i + 1] - begin[i]
            sign = np.where(np.arange(len(at)) < m, 1.0, -1.0)
            a = alpha[starts[p] : starts[p + 1]]
            exact = sign * problem.linear - K[np.ix_(at, at)] @ (sign * a)
            bound = np.finfo(dtype).eps * np.abs(a).sum()  # of entries of K, at most 1
            np.testing.assert_allclose(found.score[starts[p] : starts[p + 1]], exact, atol=bound + 1e-12)
            if by_sign:
                assert a[:m].sum() == pytest.approx(0.4 * m)
                assert a[m:].sum() == pytest.approx(0.4 * (len(at) - m))
            else:
                assert sign @ a == pytest.approx(0.0, abs=1e-10)


def test_coefficients_of_pairs_are_a_matrix():
    rng = np.random.default_rng(2)
    begin = np.array([0, 3, 3, 8, 12])  # the second class has no support vector
    pairs = PairCoefficients(rng.normal(size=(3, 12)), begin)
    P = rng.normal(size=(5, 12))
    matrix = pairs.dense()
    assert matrix.shape == pairs.shape == (12, 6)
    np.testing.assert_allclose(P @ pairs, P @ matrix, rtol=1e-12, atol=1e-13)
    assert np.count_nonzero(matrix[:, 4]) == 4  # classes 1 and 3: those of 3 alone
    np.testing.assert_array_equal(matrix[8:, 4], pairs.coef[1, 8:])


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
def test_a_row_alone_has_the_decision_values_it_has_among_others(kernel):
    X, y, _ = rows(k=4)
    model = SVC(kernel=kernel, decision_function_shape="ovo").fit(X, y)
    together = model.decision_function(X)
    one_by_one = np.concatenate([model.decision_function(x[None]) for x in X[:20]])
    bound = 1e-12 * np.abs(model.dual_coef_).sum() * max(1.0, np.abs(model._kernel().between(X, X)).max())
    np.testing.assert_allclose(one_by_one, together[:20], atol=bound)


def test_votes_are_counted_pair_by_pair():
    decisions = np.random.default_rng(4).normal(size=(30, 10))
    votes, sums = np.zeros((30, 5)), np.zeros((30, 5))
    for column, (i, j) in enumerate(pairs_of(5)):
        for row in range(30):
            votes[row, i if decisions[row, column] > 0 else j] += 1
        sums[:, i] += decisions[:, column]
        sums[:, j] -= decisions[:, column]
    np.testing.assert_array_equal(votes_of(decisions, 5), votes)
    np.testing.assert_allclose(one_vs_rest(decisions, 5), votes + sums / (3 * (np.abs(sums) + 1)), rtol=1e-12)
