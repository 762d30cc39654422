"""Label metrics against scikit-learn, by formula, and their messages."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.metrics as oracle
from scipy.sparse import csr_array
from sklearn.exceptions import UndefinedMetricWarning

from learnt import metrics
from learnt.engine.threads import set_threads
from learnt.metrics import _confusion, _labels

rng = np.random.default_rng(0)
N = 300


def _labels_of(kind, n=N, seed=0):
    """True and predicted labels of one kind, half of the predictions right, one class never predicted."""
    r = np.random.default_rng(seed)
    k = {"binary": 2, "signs": 2, "bool": 2}.get(kind, 4)
    true = r.integers(0, k, n)
    pred = np.where(r.random(n) < 0.5, true, r.integers(0, max(2, k - 1), n))
    names = {
        "binary": np.array([0, 1]),
        "signs": np.array([-1, 1]),
        "bool": np.array([False, True]),
        "gaps": np.array([-7, 0, 3, 90]),
        "wide": np.array([-(2**60), 5, 10**12, 2**61]),
        "int8": np.array([-128, -1, 0, 127], dtype=np.int8),
        "uint64": np.array([0, 1, 2**63, 2**64 - 1], dtype=np.uint64),
        "floats": np.array([-1.0, 0.0, 2.0, 3.0], dtype=np.float32),
        "strings": np.array(["ant", "bee", "bison", "zoo"]),
        "objects": np.array(["ant", "bee", "bison", "zoo"], dtype=object),
    }[kind]
    return names[true], names[pred]


KINDS = ["binary", "signs", "bool", "gaps", "wide", "int8", "uint64", "floats", "strings", "objects"]


def _weights(seed=1, n=N):
    w = np.random.default_rng(seed).random(n)
    w[::7] = 0
    return w


def _same(ours, theirs):
    if isinstance(theirs, tuple):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            _same(a, b)
    elif theirs is None:
        assert ours is None
    else:
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "kind"), [(N, kind) for kind in KINDS] + [(12_000, "gaps"), (12_000, "strings")])
@pytest.mark.sweep
def test_counts_and_scores_equal_scikit_learn(kind, weighted, n):
    true, pred = _labels_of(kind, n)
    w = _weights(n=n) if weighted else None
    for normalize in (None, "true", "pred", "all"):
        expected = oracle.confusion_matrix(true, pred, sample_weight=w, normalize=normalize)
        got = metrics.confusion_matrix(true, pred, sample_weight=w, normalize=normalize)
        assert got.dtype == expected.dtype
        _same(got, expected)
    for name in ("accuracy_score", "zero_one_loss", "balanced_accuracy_score", "matthews_corrcoef", "hamming_loss"):
        _same(getattr(metrics, name)(true, pred, sample_weight=w), getattr(oracle, name)(true, pred, sample_weight=w))
    for name in ("accuracy_score", "zero_one_loss"):
        options = {"sample_weight": w, "normalize": False}
        _same(getattr(metrics, name)(true, pred, **options), getattr(oracle, name)(true, pred, **options))
    for weights in (None, "linear", "quadratic"):
        options = {"sample_weight": w, "weights": weights}
        _same(metrics.cohen_kappa_score(true, pred, **options), oracle.cohen_kappa_score(true, pred, **options))
    for average in (None, "micro", "macro", "weighted"):
        options = {"average": average, "sample_weight": w, "beta": 0.5, "zero_division": 0}
        _same(
            metrics.precision_recall_fscore_support(true, pred, **options),
            oracle.precision_recall_fscore_support(true, pred, **options),
        )
    _same(
        metrics.multilabel_confusion_matrix(true, pred, sample_weight=w),
        oracle.multilabel_confusion_matrix(true, pred, sample_weight=w),
    )
    assert metrics.balanced_accuracy_score(true, pred, adjusted=True) == pytest.approx(
        oracle.balanced_accuracy_score(true, pred, adjusted=True), rel=1e-12
    )


@pytest.mark.parametrize("name", ["precision_score", "recall_score", "f1_score"])
def test_the_positive_class(name):
    for kind, positive in (("binary", 1), ("signs", 1), ("signs", -1), ("bool", True)):
        true, pred = _labels_of(kind)
        options = {"pos_label": positive}
        _same(getattr(metrics, name)(true, pred, **options), getattr(oracle, name)(true, pred, **options))


@pytest.mark.parametrize("labels", [[3, 0], [0, 3, 90, -7], [90, 55], [0]])
@pytest.mark.parametrize("n", [N, 12_000])
def test_chosen_labels_and_their_order(labels, n):
    true, pred = _labels_of("gaps", n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        _same(metrics.confusion_matrix(true, pred, labels=labels), oracle.confusion_matrix(true, pred, labels=labels))
        for average in (None, "micro", "macro", "weighted"):
            options = {"labels": labels, "average": average, "zero_division": 1}
            _same(metrics.f1_score(true, pred, **options), oracle.f1_score(true, pred, **options))


@pytest.mark.parametrize("zero_division", [0, 1, np.nan])
def test_zero_division(zero_division):
    for average in (None, "macro", "weighted", "micro"):
        options = {"average": average, "zero_division": zero_division, "labels": [0, 1, 2]}
        _same(
            metrics.precision_recall_fscore_support([0, 0, 1], [0, 2, 0], **options),
            oracle.precision_recall_fscore_support([0, 0, 1], [0, 2, 0], **options),
        )


def test_empty_classes_warn_as_in_scikit_learn():
    with pytest.warns(UndefinedMetricWarning, match="Precision is ill-defined and being set to 0.0 in labels"):
        metrics.precision_score([0, 1, 2], [0, 0, 2], average="macro")
    with pytest.warns(UndefinedMetricWarning, match="Recall is ill-defined .* due to no true samples"):
        metrics.recall_score([0, 0], [0, 1])
    with pytest.warns(UserWarning, match="classes not in y_true"):
        assert metrics.balanced_accuracy_score([0, 0, 1], [0, 2, 1]) == 0.75
    with pytest.warns(UserWarning, match="A single label was found"):
        assert metrics.confusion_matrix([1, 1], [1, 1]).tolist() == [[2]]


@pytest.mark.parametrize("average", [None, "micro", "macro", "weighted", "samples"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_label_matrices(average, weighted, form):
    true, pred = rng.integers(0, 2, (60, 5)), rng.integers(0, 2, (60, 5))
    true[3] = pred[3] = 0
    w = _weights(n=60) if weighted else None
    options = {"average": average, "sample_weight": w, "zero_division": 0}
    _same(
        metrics.precision_recall_fscore_support(form(true), form(pred), **options),
        oracle.precision_recall_fscore_support(form(true), form(pred), **options),
    )
    for name in ("accuracy_score", "hamming_loss", "zero_one_loss"):
        _same(
            getattr(metrics, name)(form(true), form(pred), sample_weight=w),
            getattr(oracle, name)(form(true), form(pred), sample_weight=w),
        )
    for samplewise in (False, True):
        options = {"sample_weight": w, "samplewise": samplewise, "labels": [4, 0]}
        _same(
            metrics.multilabel_confusion_matrix(form(true), form(pred), **options),
            oracle.multilabel_confusion_matrix(form(true), form(pred), **options),
        )


@pytest.mark.parametrize("weighted", [False, True])
def test_report_is_scikit_learns_to_the_letter(weighted):
    w = _weights() if weighted else None
    for kind in ("strings", "gaps"):
        true, pred = _labels_of(kind)
        for options in ({}, {"digits": 4}, {"target_names": ["a", "bb", "a long name of a class", "d"]}):
            options = {"sample_weight": w, "zero_division": 0, **options}
            assert metrics.classification_report(true, pred, **options) == oracle.classification_report(
                true, pred, **options
            )
        options = {"labels": [true[0]], "zero_division": 0}
        assert metrics.classification_report(true, pred, **options) == oracle.classification_report(
            true, pred, **options
        )
    ours = metrics.classification_report(true, pred, output_dict=True, sample_weight=w, zero_division=0)
    theirs = oracle.classification_report(true, pred, output_dict=True, sample_weight=w, zero_division=0)
    assert ours.keys() == theirs.keys()
    for key, value in theirs.items():
        assert ours[key] == pytest.approx(value, rel=1e-12)
    matrix = rng.integers(0, 2, (2, 40, 3))
    assert metrics.classification_report(*matrix, zero_division=0) == oracle.classification_report(
        *matrix, zero_division=0
    )


def test_data_frames_lists_and_columns_are_labels_too():
    true, pred = _labels_of("strings", 50)
    expected = metrics.confusion_matrix(true, pred)
    forms = (list, pd.Series, pl.Series, pa.array, lambda y: pd.Series(y, dtype="category"), lambda y: y[:, None])
    for form in forms:
        np.testing.assert_array_equal(metrics.confusion_matrix(form(true), form(pred)), expected)
        assert metrics.accuracy_score(form(true), pred) == metrics.accuracy_score(true, pred)
    numbers = np.array([0, 1, 1], dtype=object)
    assert metrics.accuracy_score(numbers, [0, 1, 0]) == pytest.approx(2 / 3)


def test_integer_weights_count_whole_rows():
    true, pred = _labels_of("gaps")
    w = rng.integers(0, 4, N)
    got = metrics.confusion_matrix(true, pred, sample_weight=w)
    assert got.dtype == np.int64
    np.testing.assert_array_equal(got, metrics.confusion_matrix(np.repeat(true, w), np.repeat(pred, w)))


def test_compiled_and_plain_counts_agree(monkeypatch):
    for kind in KINDS:
        true, pred = _labels_of(kind, 5_000)
        plain = metrics.confusion_matrix(true, pred)
        with monkeypatch.context() as patch:
            for module in (_labels, _confusion):
                patch.setattr(module, "SMALL", 0)
                patch.setattr(module, "GRAIN", 1_000)
            np.testing.assert_array_equal(metrics.confusion_matrix(true, pred), plain)
            set_threads(4)
            np.testing.assert_array_equal(metrics.confusion_matrix(true, pred), plain)
            set_threads(None)


def test_many_distinct_strings_and_numbers():
    strings = rng.integers(0, 10**6, 40_000).astype(str)
    for y in (strings, rng.integers(0, 2**62, 40_000)):
        classes, codes = _labels.encode(y, "y")
        np.testing.assert_array_equal(classes, np.unique(y))
        np.testing.assert_array_equal(classes[codes], y)


def test_rates_by_hand_and_from_the_matrix():
    true, pred = [0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1, 0]
    rates = metrics.classification_rates(true, pred)
    assert rates == pytest.approx((2 / 3, 1 / 4, 3 / 4, 1 / 3))
    assert (rates.sensitivity, rates.specificity) == (rates.tpr, rates.tnr)
    assert metrics.sensitivity_score(true, pred) == metrics.recall_score(true, pred)
    assert metrics.specificity_score(true, pred) == metrics.recall_score(true, pred, pos_label=0)
    assert metrics.classification_rates(true, pred, pos_label=0).tpr == rates.tnr
    true, pred = _labels_of("strings")
    many = metrics.classification_rates(true, pred, sample_weight=_weights())
    np.testing.assert_allclose(many.tpr, oracle.recall_score(true, pred, average=None, sample_weight=_weights()))
    np.testing.assert_allclose(many.tpr + many.fnr, 1)
    np.testing.assert_allclose(many.fpr + many.tnr, 1)


ERRORS = [
    (lambda: metrics.accuracy_score([0, 1], [0, 1, 1]), r"inconsistent numbers of samples: \[2, 3\]"),
    (lambda: metrics.accuracy_score([], []), "Found empty input array"),
    (lambda: metrics.accuracy_score([0.5, 1.0], [0.5, 1.0]), "continuous is not supported: y_true holds fractions"),
    (lambda: metrics.accuracy_score([np.nan, 1.0], [0, 1]), "y_true contains NaN .first at row 0"),
    (lambda: metrics.accuracy_score(["a", "b"], [0, 1]), "Mix of label input types"),
    (lambda: metrics.accuracy_score(["a", 1], ["a", "b"]), "Mix of label input types"),
    (lambda: metrics.accuracy_score(["a", None], ["a", "b"]), "Mix of label input types"),
    (lambda: metrics.accuracy_score([[0, 1], [1, 0]], [0, 1]), "mix of multilabel-indicator"),
    (lambda: metrics.accuracy_score([[0, 2], [1, 0]], [[0, 2], [1, 0]]), "multiclass-multioutput is not supported"),
    (lambda: metrics.accuracy_score([0, 1], [0, 1], sample_weight=[0, 0]), "at least one non-zero"),
    (lambda: metrics.accuracy_score([0, 1], [0, 1], sample_weight=[1, np.inf]), "sample_weight contains infinity"),
    (lambda: metrics.confusion_matrix([0, 1], [0, 1], labels=[5]), "At least one label specified must be in y_true"),
    (lambda: metrics.confusion_matrix([0, 1], [0, 1], labels=[]), "at least one label"),
    (lambda: metrics.confusion_matrix([0, 1], [0, 1], normalize="rows"), "normalize must be one of"),
    (lambda: metrics.f1_score([0, 1, 2], [0, 1, 2]), "Target is multiclass but average='binary'"),
    (lambda: metrics.f1_score([2, 3], [2, 3]), "pos_label=1 is not a valid label"),
    (lambda: metrics.f1_score([0, 1], [0, 1], zero_division=2), "zero_division must be"),
    (lambda: metrics.f1_score([0, 1], [0, 1], average="mean"), "average must be one of"),
    (lambda: metrics.fbeta_score([0, 1], [0, 1], beta=-1), "beta must be"),
    (lambda: metrics.classification_report([0, 1], [0, 1], target_names=["a"]), "does not match size of target_names"),
    (lambda: metrics.classification_rates([0, 1], [0, 1], pos_label=7), "Label 7 is not valid"),
]


@pytest.mark.parametrize(("call", "message"), ERRORS)
def test_errors_are_one_sentence(call, message):
    with pytest.raises(ValueError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


def test_a_single_number_and_bytes_are_type_errors():
    with pytest.raises(TypeError, match="y_true"):
        metrics.accuracy_score(5, 4)
    with pytest.raises(TypeError, match="bytes"):
        metrics.accuracy_score(np.array([b"a"]), np.array([b"a"]))


def test_a_matrix_of_two_numbers_is_one_of_labels():
    true, pred = np.array([[2, 2], [2, 2], [1, 1], [1, 1]]), np.ones((4, 2), dtype=int)
    for name in ("accuracy_score", "zero_one_loss", "hamming_loss"):
        assert getattr(metrics, name)(true, pred) == getattr(oracle, name)(true, pred)
