"""Log loss, Brier score, calibration and costs: against scikit-learn, by formula, and their messages."""

import numpy as np
import pytest
import sklearn.metrics as oracle
from sklearn.calibration import calibration_curve as oracle_calibration
from sklearn.exceptions import UndefinedMetricWarning

from learnt import metrics
from learnt.engine.threads import set_threads
from learnt.metrics import _probability


def _problem(n, k, seed=0, dtype=np.float64):
    r = np.random.default_rng(seed)
    codes = r.integers(0, k, n)
    codes[:k] = np.arange(k)
    P = r.dirichlet(np.full(k, 0.3), n).astype(dtype)
    P[0] = np.eye(k)[1]  # certain and wrong: clipped
    return codes, P, r.random(n)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("n", [150, 12_000])
@pytest.mark.sweep
def test_log_loss_equals_scikit_learn(n, k, dtype):
    codes, P, w = _problem(n, k, dtype=dtype)
    names = np.array(["ant", "bee", "cow", "dog", "elk"])[codes]
    close = {"rel": 1e-12 if dtype == np.float64 else 1e-5}
    for y in (codes, names, codes - 1):
        for options in ({}, {"sample_weight": w}, {"normalize": False}):
            assert metrics.log_loss(y, P, **options) == pytest.approx(oracle.log_loss(y, P, **options), **close)
    if k == 2:
        for p in (P[:, 1], P[:, 1:]):
            for options in ({}, {"sample_weight": w}):
                expected = oracle.log_loss(codes, p, **options)
                assert metrics.log_loss(codes, p, **options) == pytest.approx(expected, **close)
                assert metrics.log_loss(codes == 1, p, **options) == pytest.approx(expected, **close)
    assert metrics.log_loss(np.eye(k, dtype=int)[codes], P) == pytest.approx(oracle.log_loss(codes, P), **close)


def test_log_loss_of_few_labels_seen():
    P = np.array([[0.2, 0.7, 0.1], [0.6, 0.2, 0.2]])
    assert metrics.log_loss([1, 1], P, labels=[0, 1, 2]) == pytest.approx(oracle.log_loss([1, 1], P, labels=[0, 1, 2]))
    with pytest.warns(UserWarning, match="ordered"):
        metrics.log_loss([1, 1], P, labels=[2, 1, 0])
    with pytest.warns(FutureWarning, match="y_proba"):
        metrics.log_loss([0, 1], y_pred=[0.1, 0.9])


def test_log_loss_is_minus_the_mean_log_probability():
    assert metrics.log_loss([0, 1, 1], [0.25, 0.5, 0.125]) == pytest.approx(-np.log([0.75, 0.5, 0.125]).mean())
    assert metrics.log_loss([0, 1], [1.0, 0.0]) == pytest.approx(-np.log(np.finfo(float).eps))


def test_rows_that_do_not_sum_to_one_warn():
    for n in (4, 12_000):
        y, P = np.tile([0, 1], n // 2), np.full((n, 2), 0.4)
        with pytest.warns(UserWarning, match="do not sum to one"):
            metrics.log_loss(y, P)
        with pytest.warns(UserWarning, match="do not sum to one"):
            metrics.brier_score_loss(y, P)


@pytest.mark.parametrize("certainty", [1e-12, 1e-6, 0.01, 0.2, 1.0])
def test_one_logarithm_for_many_loses_nothing(certainty):
    """From near-perfect predictions, whose losses are tiny, to hopeless ones, which are all clipped."""
    r = np.random.default_rng(0)
    p = 1 - certainty * r.random(11_003)
    exact = -np.log(np.clip(p, 2.0**-52, 1 - 2.0**-52).astype(np.longdouble)).mean()
    assert metrics.log_loss(np.ones(p.size), p, labels=[0, 1]) == pytest.approx(float(exact), rel=1e-14)
    assert metrics.log_loss(np.zeros(p.size), np.ones(p.size), labels=[0, 1]) == pytest.approx(52 * np.log(2))


def test_compiled_plain_and_threaded_losses_agree(monkeypatch):
    codes, P, w = _problem(5_000, 3)
    two, p = codes % 2, P[:, 1].copy()
    plain = metrics.log_loss(codes, P), metrics.log_loss(two, p), metrics.log_loss(codes, P, sample_weight=w)
    monkeypatch.setattr(_probability, "SMALL", 0)
    monkeypatch.setattr(_probability, "GRAIN", 4 * 700)
    answers = []
    for threads in (1, 4):
        set_threads(threads)
        answers.append(
            (metrics.log_loss(codes, P), metrics.log_loss(two, p), metrics.log_loss(codes, P, sample_weight=w))
        )
    set_threads(None)
    assert answers[0] == answers[1]
    assert answers[0] == pytest.approx(plain, rel=1e-14)
    assert metrics.log_loss(codes, np.asfortranarray(P)) == answers[0][0]


@pytest.mark.parametrize("k", [2, 4])
def test_the_share_of_the_brier_score_explained(k):
    codes, P, w = _problem(60, k)
    for options in ({}, {"sample_weight": w}):
        assert metrics.d2_brier_score(codes, P, **options) == pytest.approx(
            oracle.d2_brier_score(codes, P, **options), rel=1e-12
        )
        constant = np.tile(np.average(np.eye(k)[codes], axis=0, weights=options.get("sample_weight")), (60, 1))
        assert metrics.d2_brier_score(codes, constant, **options) == pytest.approx(0.0, abs=1e-14)
    names = np.array(["ant", "bee", "cow", "dog"])[codes]
    assert metrics.d2_brier_score(names, P) == metrics.d2_brier_score(codes, P)
    assert metrics.d2_brier_score(codes, np.eye(k)[codes]) == 1
    assert metrics.d2_brier_score(np.eye(k, dtype=int)[codes], P) == pytest.approx(metrics.d2_brier_score(codes, P))
    if k == 2:
        assert metrics.d2_brier_score(names, P[:, 1], pos_label="bee") == pytest.approx(
            metrics.d2_brier_score(codes, P), rel=1e-12
        )
        assert metrics.d2_brier_score([1, 1], [0.5, 1.0]) == -np.inf
        assert metrics.d2_brier_score([1, 1], [1.0, 1.0]) == 1
        with pytest.warns(UndefinedMetricWarning, match="less than two samples"):
            assert np.isnan(metrics.d2_brier_score([1], [0.5]))


@pytest.mark.parametrize("n", [150, 40_000])
def test_brier_score_equals_scikit_learn(n):
    for k in (2, 4):
        codes, P, w = _problem(n, k)
        for options in ({}, {"sample_weight": w}, {"scale_by_half": True}, {"scale_by_half": False}):
            expected = oracle.brier_score_loss(codes, P, **options)
            assert metrics.brier_score_loss(codes, P, **options) == pytest.approx(expected, rel=1e-12)
    codes, P, w = _problem(n, 2)
    names = np.array(["no", "yes"])[codes]
    for y, pos in ((codes, None), (codes, 0), (names, "yes"), (2 * codes - 1, None), (codes + 3, None)):
        for weight in (None, w):
            options = {"pos_label": pos, "sample_weight": weight}
            expected = oracle.brier_score_loss(y, P[:, 1], **options)
            assert metrics.brier_score_loss(y, P[:, 1], **options) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("n_bins", [1, 2, 5, 10, 50])
def test_calibration_curve_equals_scikit_learn(strategy, n_bins):
    r = np.random.default_rng(0)
    for p in (r.random(5_000), np.round(r.random(5_000), 1), r.beta(0.3, 0.3, 5_000).astype(np.float32)):
        y = (r.random(p.size) < p).astype(int)
        ours = metrics.calibration_curve(y, p, n_bins=n_bins, strategy=strategy)
        theirs = oracle_calibration(y, p, n_bins=n_bins, strategy=strategy)
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)
    names = np.array(["no", "yes"])[y]
    np.testing.assert_allclose(metrics.calibration_curve(names, p, pos_label="yes")[0], oracle_calibration(y, p)[0])


def test_expected_loss_and_the_threshold_of_the_seed():
    loss = [[0, 5], [2, 0]]
    threshold = metrics.cost_threshold(loss)
    assert threshold == pytest.approx(2 / 7, rel=1e-15)
    for p in (threshold - 1e-9, threshold + 1e-9):
        risk = metrics.expected_loss([[p, 1 - p]], loss)[0]
        assert (risk[0] < risk[1]) == (p > threshold)
    assert metrics.cost_threshold([[1, 6], [5, 3]]) == pytest.approx(
        2 / 7
    )  # only the excess over a right answer counts
    P = np.random.default_rng(0).dirichlet(np.ones(3), 20)
    L = np.arange(9.0).reshape(3, 3)
    by_hand = [[sum(P[n, i] * L[i, j] for i in range(3)) for j in range(3)] for n in range(20)]
    np.testing.assert_allclose(metrics.expected_loss(P, L), by_hand)
    assert metrics.expected_loss(P.astype(np.float32), L).dtype == np.float32
    zero_one = 1 - np.eye(3)
    np.testing.assert_array_equal(metrics.expected_loss(P, zero_one).argmin(axis=1), P.argmax(axis=1))


def test_mean_cost_is_the_average_entry_of_the_matrix():
    y, z, w = [0, 0, 1, 2], [0, 1, 0, 2], [1, 2, 3, 4]
    L = np.arange(9.0).reshape(3, 3)
    assert metrics.mean_cost(y, z, L) == pytest.approx(np.mean([L[a, b] for a, b in zip(y, z, strict=True)]))
    assert metrics.mean_cost(y, z, L, sample_weight=w) == pytest.approx(
        np.average([L[a, b] for a, b in zip(y, z, strict=True)], weights=w)
    )
    assert metrics.mean_cost(y, z, 1 - np.eye(3)) == metrics.zero_one_loss(y, z)
    assert metrics.mean_cost(["a"], ["b"], [[0, 3], [1, 0]], labels=["a", "b"]) == 3


ERRORS = [
    (lambda: metrics.log_loss([0, 1], [0.1, 1.5]), "greater than 1: 1.5"),
    (lambda: metrics.log_loss([0, 1], [0.1, -0.5]), "lower than 0: -0.5"),
    (lambda: metrics.log_loss([0, 1], [0.1, np.nan]), "y_proba contains NaN"),
    (lambda: metrics.log_loss(np.tile([0, 1], 6_000), np.r_[np.full(11_999, 0.5), np.nan]), "NaN .first at row 11999"),
    (lambda: metrics.log_loss(np.tile([0, 1], 6_000), np.r_[np.full(11_999, 0.5), 2]), "greater than 1: 2.0"),
    (lambda: metrics.log_loss([0, 0], [0.1, 0.2]), "only one label"),
    (lambda: metrics.log_loss([0, 2], [[0.1, 0.4, 0.5]] * 2), "different number of classes: 2 vs 3"),
    (lambda: metrics.log_loss([0, 5], [0.1, 0.4], labels=[0, 1]), "not belonging to the passed labels"),
    (lambda: metrics.log_loss([0, 1], [0.1, 0.4], labels=[0, 1, 2]), "number of classes in labels is different"),
    (lambda: metrics.log_loss([0, 1], [0.1, 0.4], labels=[0]), "at least two labels"),
    (lambda: metrics.log_loss([0, 1], [0.1]), "inconsistent numbers of samples"),
    (lambda: metrics.brier_score_loss([0, 1, 2], [0.1, 0.4, 0.2]), "should be binary"),
    (lambda: metrics.brier_score_loss(["a", "b"], [0.1, 0.4]), "pos_label is not specified"),
    (lambda: metrics.brier_score_loss([0, 1], [0.1, 1.4]), "greater than 1"),
    (lambda: metrics.calibration_curve([0, 1, 2], [0.1, 0.4, 0.2]), "Only binary"),
    (lambda: metrics.calibration_curve([0, 1], [0.1, 1.4]), "outside"),
    (lambda: metrics.calibration_curve([0, 1], [0.1, 0.4], n_bins=0), "n_bins"),
    (lambda: metrics.calibration_curve([0, 1], [0.1, 0.4], strategy="even"), "strategy"),
    (lambda: metrics.expected_loss([[0.5, 0.5]], np.ones((3, 3))), "must be 2 × 2"),
    (lambda: metrics.expected_loss([0.5, 0.5], np.ones((2, 2))), "a column a class"),
    (lambda: metrics.cost_threshold([[1, 0], [0, 1]]), "cheaper"),
    (lambda: metrics.mean_cost([0, 1], [0, 1], np.ones((3, 3))), "3 classes"),
]


@pytest.mark.parametrize(("call", "message"), ERRORS)
def test_errors_are_one_sentence(call, message):
    with pytest.raises(ValueError, match=message) as error:
        call()
    assert "\n" not in str(error.value)
