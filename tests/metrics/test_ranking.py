"""Curves and areas: against scikit-learn, against counting all pairs, and their invariances."""

import warnings

import numpy as np
import pytest
import sklearn.metrics as oracle
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning

from learnt import metrics
from learnt.engine.threads import set_threads
from learnt.metrics import _ranking, _sort

rng = np.random.default_rng(0)


def pairs_in_order(y, s):
    """Mann and Whitney by counting all pairs."""
    above, below = s[y == 1][:, None], s[y == 0][None, :]
    return float(((above > below) + 0.5 * (above == below)).mean())


def compiled(function, *args, grain=1 << 18, **options):
    """The answer of the compiled path, whatever the size, in blocks of `grain`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_ranking, "SMALL", 0)
        patch.setattr(_ranking, "_GRAIN", grain)
        patch.setattr(_sort, "_GRAIN", grain)
        return function(*args, **options)


def neighbours(x, steps):
    """Floats a few rounding steps from x."""
    for _ in range(abs(steps)):
        x = np.nextafter(x, np.inf if steps > 0 else -np.inf)
    return x


SCORES = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 5e-324, -5e-324, 1.7e308, -1.7e308]),
    st.builds(lambda x, k: float(neighbours(x, k)), st.sampled_from([0.3, 1.0, -2.0, 0.0]), st.integers(-2, 2)),
    st.floats(allow_nan=False, allow_infinity=False, width=64),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), SCORES), min_size=2, max_size=40), st.integers(1, 50), st.randoms())
def test_area_is_the_share_of_ordered_pairs(rows, grain, random):
    y, s = np.array([int(r[0]) for r in rows]), np.array([r[1] for r in rows])
    y[0], y[1] = 0, 1
    expected = pairs_in_order(y, s)
    assert metrics.roc_auc_score(y, s) == pytest.approx(expected, abs=1e-15)
    assert compiled(metrics.roc_auc_score, y, s, grain=grain) == pytest.approx(expected, abs=1e-15)
    order = list(range(len(y)))
    random.shuffle(order)
    assert compiled(metrics.roc_auc_score, y[order], s[order], grain=grain) == metrics.roc_auc_score(y, s)


@pytest.mark.parametrize("x", [0.5, 1.0, 1e300, -0.1, 5e-324, np.float32(0.1), np.float32(-3)])
def test_scores_one_rounding_step_apart_are_not_ties(x):
    x = np.asarray(x)[()]
    up = np.nextafter(x, x.dtype.type(np.inf))
    y, s = np.tile([0, 1], 100), np.tile([x, up], 100)
    for area in (metrics.roc_auc_score, lambda y, s: compiled(metrics.roc_auc_score, y, s, grain=7)):
        assert area(y, s) == 1.0
        assert area(1 - y, s) == 0.0
        assert area(y, np.full_like(s, x)) == 0.5


CLOUDS = {
    "uniform": lambda r, n: r.random(n),
    "float32": lambda r, n: r.random(n).astype(np.float32),
    "normal": lambda r, n: 3 * r.standard_normal(n),
    "normal32": lambda r, n: (3 * r.standard_normal(n)).astype(np.float32),
    "ties": lambda r, n: r.integers(0, 7, n) / 7,
    "integers": lambda r, n: r.integers(-100, 100, n),
    "huge integers": lambda r, n: 2**62 + r.integers(-20, 20, n),
    "one dense clump and two far points": lambda r, n: np.r_[1 + 1e-13 * r.random(n - 2), -1e300, 1e300],
    "all scales": lambda r, n: np.exp(600 * (2 * r.random(n) - 1)) * r.choice([-1, 1], n),
    "zeros of both signs": lambda r, n: r.choice([0.0, -0.0, 1.0], n),
    "hundredths of both signs": lambda r, n: np.round(r.standard_normal(n), 2),
    "constant": lambda r, n: np.full(n, 0.25),
}


@pytest.mark.parametrize("cloud", CLOUDS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("path", ["plain", "compiled"])
@pytest.mark.sweep
def test_curves_and_areas_equal_scikit_learn(cloud, weighted, path, monkeypatch):
    if path == "compiled":
        monkeypatch.setattr(_ranking, "SMALL", 0)
    r, n = np.random.default_rng(3), 800
    y, s = r.integers(0, 2, n), CLOUDS[cloud](r, n)
    w = None
    if weighted:
        w = r.random(n)
        w[::5] = 0
    for name in ("roc_auc_score", "average_precision_score"):
        ours, theirs = getattr(metrics, name)(y, s, sample_weight=w), getattr(oracle, name)(y, s, sample_weight=w)
        assert ours == pytest.approx(theirs, abs=1e-12)
    for max_fpr in (0.1, 0.5, 1.0):
        options = {"sample_weight": w, "max_fpr": max_fpr}
        assert metrics.roc_auc_score(y, s, **options) == pytest.approx(oracle.roc_auc_score(y, s, **options), abs=1e-12)
    for name in ("roc_curve", "precision_recall_curve", "det_curve"):
        for drop in (False, True):
            options = {"sample_weight": w, "drop_intermediate": drop}
            ours, theirs = getattr(metrics, name)(y, s, **options), getattr(oracle, name)(y, s, **options)
            assert [a.dtype for a in ours] == [b.dtype for b in theirs]
            if weighted and drop:  # whether three points are on a line is a matter of rounding there
                continue
            for a, b in zip(ours, theirs, strict=True):
                np.testing.assert_allclose(a, b, atol=1e-12)


@pytest.mark.parametrize("cloud", CLOUDS)
def test_the_sort_is_right_stable_and_the_same_on_any_number_of_threads(cloud):
    s = np.asarray(CLOUDS[cloud](rng, 3_000))
    expected = np.argsort(-s, kind="stable")
    for grain in (1 << 18, 999):
        for threads in (1, 4):
            set_threads(threads)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(_sort, "_GRAIN", grain)
                ranked = _sort.FallingScores(s, np.arange(s.size))
            set_threads(None)
            np.testing.assert_array_equal(ranked.payload, expected)
            np.testing.assert_array_equal(ranked.score(np.arange(s.size)), s[expected])


def test_nothing_is_written_into_the_arguments():
    y, s = rng.integers(0, 2, 20_000).astype(np.uint8), rng.random(20_000)
    before = y.copy(), s.copy()
    for array in (y, s):
        array.setflags(write=False)
    metrics.roc_auc_score(y, s)
    metrics.roc_curve(y, s, sample_weight=s)
    np.testing.assert_array_equal(y, before[0])
    np.testing.assert_array_equal(s, before[1])


@pytest.mark.parametrize(("n", "kind"), [(300, int), (300, str), (12_000, int)])
def test_many_classes(n, kind):
    r = np.random.default_rng(5)
    codes = r.integers(0, 4, n)
    P = r.dirichlet(np.ones(4), n)
    P[np.arange(n), codes] += 0.5
    P /= P.sum(axis=1, keepdims=True)
    y = codes if kind is int else np.array(["a", "b", "c", "d"])[codes]
    w = r.random(n)
    for average in ("macro", "weighted", "micro", None):
        for weight in (None, w):
            options = {"multi_class": "ovr", "average": average, "sample_weight": weight}
            np.testing.assert_allclose(
                metrics.roc_auc_score(y, P, **options), oracle.roc_auc_score(y, P, **options), atol=1e-12
            )
    for average in ("macro", "weighted"):
        options = {"multi_class": "ovo", "average": average}
        assert metrics.roc_auc_score(y, P, **options) == pytest.approx(oracle.roc_auc_score(y, P, **options), abs=1e-12)
    for average in ("macro", "weighted", "micro", None):
        np.testing.assert_allclose(
            metrics.average_precision_score(y, P, average=average, sample_weight=w),
            oracle.average_precision_score(y, P, average=average, sample_weight=w),
            atol=1e-12,
        )


def test_given_labels_and_a_class_that_never_came():
    y, P = np.array([0, 1, 0, 1]), np.array([[0.5, 0.3, 0.2], [0.2, 0.7, 0.1], [0.6, 0.3, 0.1], [0.3, 0.4, 0.3]])
    options = {"multi_class": "ovr", "labels": [0, 1, 2], "average": None}
    with pytest.warns(UndefinedMetricWarning):
        ours = metrics.roc_auc_score(y, P, **options)
    with pytest.warns(UndefinedMetricWarning):
        theirs = oracle.roc_auc_score(y, P, **options)
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("average", [None, "micro", "macro", "weighted", "samples"])
def test_label_matrices(average):
    r = np.random.default_rng(2)
    Y, S, w = r.integers(0, 2, (80, 4)), r.random((80, 4)), r.random(80)
    Y[:, 0], Y[:, 1] = 1, 0
    Y[0], Y[1] = [0, 1, 0, 1], [1, 0, 1, 0]
    for i in range(2, 80):
        Y[i, 2] = 1 - Y[i, 3]
    for name in ("roc_auc_score", "average_precision_score"):
        options = {"average": average, "sample_weight": w}
        np.testing.assert_allclose(
            getattr(metrics, name)(Y, S, **options), getattr(oracle, name)(Y, S, **options), atol=1e-12
        )


def test_positive_labels():
    s = rng.random(50)
    y = rng.integers(0, 2, 50)
    names = np.array(["bad", "good"])[y]
    for a, b in zip(metrics.roc_curve(names, s, pos_label="good"), metrics.roc_curve(y, s), strict=True):
        np.testing.assert_array_equal(a, b)
    assert metrics.roc_auc_score(names, s) == metrics.roc_auc_score(y, s)
    assert metrics.roc_auc_score(2 * y - 1, s) == metrics.roc_auc_score(y == 1, s)
    assert metrics.average_precision_score(names, s, pos_label="bad") == pytest.approx(
        oracle.average_precision_score(names, s, pos_label="bad"), abs=1e-12
    )


def test_one_class_gives_nan_and_a_warning():
    for n in (3, 20_000):
        with pytest.warns(UndefinedMetricWarning, match="Only one class is present"):
            assert np.isnan(metrics.roc_auc_score(np.ones(n), rng.random(n)))
        with pytest.warns(UndefinedMetricWarning, match="Only one class is present"):
            assert np.isnan(metrics.roc_auc_score([0, 1], [0.1, 0.2], sample_weight=[1, 0]))
        with pytest.warns(UndefinedMetricWarning, match="No negative samples"):
            assert np.isnan(metrics.roc_curve(np.ones(n), rng.random(n))[0]).all()
    with pytest.warns(UserWarning, match="No positive class"):
        assert metrics.average_precision_score([0, 0], [0.1, 0.2]) == 0


def test_weights_are_repetitions():
    y, s, w = rng.integers(0, 2, 200), rng.integers(0, 20, 200) / 20, rng.integers(0, 4, 200)
    repeated = np.repeat(y, w), np.repeat(s, w)
    for metric in (metrics.roc_auc_score, metrics.average_precision_score):
        assert metric(y, s, sample_weight=w) == pytest.approx(metric(*repeated), abs=1e-13)


def test_rising_transforms_and_reversals():
    y, s = rng.integers(0, 2, 11_000), rng.standard_normal(11_000)
    area = metrics.roc_auc_score(y, s)
    assert metrics.roc_auc_score(y, np.exp(s)) == area
    assert metrics.roc_auc_score(1 - y, -s) == area
    assert metrics.roc_auc_score(y, -s) == pytest.approx(1 - area, abs=1e-15)
    fpr, tpr, _ = metrics.roc_curve(y, s)
    assert metrics.auc(fpr, tpr) == pytest.approx(area, abs=1e-12)
    assert metrics.auc(fpr[::-1], tpr[::-1]) == pytest.approx(area, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_counts_and_metrics_at_thresholds_are_those_of_the_thresholded_scores(weighted):
    y, s = rng.integers(0, 2, 120), rng.integers(0, 15, 120) / 15
    w = rng.integers(0, 4, 120).astype(float) if weighted else None
    *counts, thresholds = metrics.confusion_matrix_at_thresholds(y, s, sample_weight=w)
    expected = oracle.confusion_matrix_at_thresholds(y, s, sample_weight=w)
    for ours, theirs in zip((*counts, thresholds), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    for i, threshold in enumerate(thresholds):
        matrix = metrics.confusion_matrix(y, s >= threshold, sample_weight=w)
        np.testing.assert_array_equal([c[i] for c in counts], matrix.ravel())
    values, at = metrics.metric_at_thresholds(
        y, s, metrics.fbeta_score, sample_weight=w, metric_params={"beta": 2, "zero_division": 0}
    )
    theirs = oracle.metric_at_thresholds(
        y, s, oracle.fbeta_score, sample_weight=w, metric_params={"beta": 2, "zero_division": 0}
    )
    np.testing.assert_allclose(values, theirs[0], rtol=1e-14)
    np.testing.assert_array_equal(at, thresholds)
    several, _ = metrics.metric_at_thresholds(y, s, lambda truth, found: (found.sum(), (found == truth).mean()))
    assert several.shape == (np.unique(s).size, 2)


def test_names_of_positives_at_thresholds():
    tns, *_ = metrics.confusion_matrix_at_thresholds(["no", "yes"], [0.2, 0.7], pos_label="yes")
    assert tns.tolist() == [1, 0]


ERRORS = [
    (lambda: metrics.confusion_matrix_at_thresholds([0, 1, 2], [0.1, 0.2, 0.3]), "multiclass format is not supported"),
    (lambda: metrics.metric_at_thresholds([0, 1], [0.1, np.nan], metrics.accuracy_score), "y_score contains NaN"),
    (lambda: metrics.roc_auc_score([0, 1], [0.1, np.nan]), "y_score contains NaN .first at row 1"),
    (lambda: metrics.roc_auc_score(np.tile([0, 1], 9_000), np.r_[np.ones(17_999), np.inf]), "infinity .*row 17999"),
    (lambda: metrics.roc_auc_score([0, 1], [0.1]), r"inconsistent numbers of samples: \[2, 1\]"),
    (lambda: metrics.roc_auc_score([0, 1], [[0.1, 0.9], [0.2, 0.8]]), "y_score\\[:, 1\\]"),
    (lambda: metrics.roc_auc_score([0, 1, 2], np.eye(3)), "multi_class must be in"),
    (lambda: metrics.roc_auc_score([0, 1, 2], np.ones((3, 3)), multi_class="ovr"), "sum up to 1.0"),
    (lambda: metrics.roc_auc_score([0, 1, 2], np.eye(3), multi_class="ovr", max_fpr=0.5), "Partial AUC"),
    (lambda: metrics.roc_auc_score([0, 1, 2], np.eye(3), multi_class="ovo", sample_weight=[1, 1, 1]), "one-vs-one"),
    (lambda: metrics.roc_auc_score([0, 1, 2], np.eye(3), multi_class="ovr", labels=[0, 2, 1]), "must be ordered"),
    (lambda: metrics.roc_auc_score([0, 1, 5], np.eye(3), multi_class="ovr", labels=[0, 1, 2]), "labels not in"),
    (lambda: metrics.roc_auc_score([0, 1], [0.1, 0.2], max_fpr=0.0), "max_fpr in range"),
    (lambda: metrics.roc_auc_score([0.5, 1], [0.1, 0.2]), "continuous is not supported"),
    (lambda: metrics.roc_curve(["a", "b"], [0.1, 0.2]), "pos_label is not specified"),
    (lambda: metrics.roc_curve([0, 1, 2], [0.1, 0.2, 0.3]), "multiclass format is not supported"),
    (lambda: metrics.average_precision_score([0, 1], [0.1, 0.2], pos_label=3), "not a valid label"),
    (lambda: metrics.average_precision_score([0, 1, 2], [0.1, 0.2, 0.3]), "n_classes"),
    (lambda: metrics.det_curve([1, 1], [0.1, 0.2]), "Only one class"),
    (lambda: metrics.auc([0, 2, 1], [0, 1, 2]), "neither increasing nor decreasing"),
    (lambda: metrics.auc([0], [1]), "At least 2 points"),
]


@pytest.mark.parametrize(("call", "message"), ERRORS)
def test_errors_are_one_sentence(call, message):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        with pytest.raises(ValueError, match=message) as error:
            call()
    assert "\n" not in str(error.value)


def test_a_metric_at_thresholds_is_a_function():
    with pytest.raises(TypeError, match="metric_func must be a function of y_true and y_pred; got 'f1'"):
        metrics.metric_at_thresholds([0, 1], [0.1, 0.2], "f1")
