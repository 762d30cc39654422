"""Validation: every kind of table is taken alike, and every refusal is one sentence."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from learnt.engine.classification.labels import distinct_labels, encode_labels
from learnt.engine.params import ParameterError, check_choice, check_flag, check_number, check_verbose
from learnt.engine.validation import check_fit, check_predict


class Model(BaseEstimator):
    def __init__(self, k=1, mode="a", flag=True):
        self.k, self.mode, self.flag = k, mode, flag

    def fit(self, X):
        check_fit(self, X)
        return self


X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


@pytest.mark.parametrize(
    "table",
    [
        X.tolist(),
        pd.DataFrame(X, columns=["a", "b"]),
        pl.DataFrame(X, schema=["a", "b"]),
        pa.table({"a": X[:, 0], "b": X[:, 1]}),
        X.astype(int),
        np.asfortranarray(X),
        X.astype(object),
    ],
    ids=["list", "pandas", "polars", "pyarrow", "int", "fortran", "object"],
)
def test_tables_are_accepted_alike(table):
    model = Model()
    checked = check_fit(model, table).X
    np.testing.assert_array_equal(checked, X)
    assert checked.dtype == np.float64
    assert model.n_features_in_ == 2
    if hasattr(table, "columns"):
        assert list(model.feature_names_in_) == ["a", "b"]
    np.testing.assert_array_equal(check_predict(model, table), X)


def test_odd_column_names_are_kept():
    names = ["a b", "ü", "", "<script>", "x[0]"]
    for make in (pd.DataFrame, pl.DataFrame):
        model = Model()
        check_fit(model, make({name: [1.0, 2.0] for name in names}))
        assert list(model.feature_names_in_) == names


def test_float32_is_kept():
    assert check_fit(Model(), X.astype(np.float32)).X.dtype == np.float32
    assert check_fit(Model(), pl.DataFrame(X.astype(np.float32))).X.dtype == np.float32


def test_nothing_is_copied_without_a_reason():
    assert check_fit(Model(), X).X is X
    frozen = X.copy()
    frozen.flags.writeable = False
    assert check_fit(Model(), frozen).X is frozen


NAN, INF = X.copy(), X.copy()
NAN[1, 1] = np.nan
INF[2, 0] = -np.inf


@pytest.mark.parametrize(
    ("bad", "error", "words"),
    [
        (np.empty((0, 2)), ValueError, "0 sample"),
        (np.empty((3, 0)), ValueError, r"0 feature\(s\)"),
        (X[0], ValueError, "Reshape your data"),
        (X[None], ValueError, "dim 3"),
        (NAN, ValueError, "X contains NaN at row 1, column 1"),
        (INF, ValueError, "X contains infinity at row 2, column 0"),
        (pd.DataFrame(NAN, columns=["a", "b"]), ValueError, "column 'b'"),
        (pl.DataFrame({"a": [1.0, None]}), ValueError, "NaN at row 1, column 'a'"),
        (pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}), ValueError, "column 'b' of X holds String"),
        (pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}), ValueError, "column 'b' of X holds String"),
        ([["x", "y"]], ValueError, "'x' at row 0, column 0"),
        ([[1, 2], [3]], ValueError, "unequal length"),
        (X + 1j, ValueError, "Complex data not supported"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), ValueError, "dates"),
        ([[{}, 1]], TypeError, "not a number"),
        (sparse.csr_array(X), TypeError, "Sparse"),
    ],
)
def test_refusals(bad, error, words):
    with pytest.raises(error, match=words) as caught:
        check_fit(Model(), bad)
    assert "\n" not in str(caught.value)


def test_refusals_of_devices_and_clusters():
    import dask.array as da
    import torch

    with pytest.raises(TypeError, match="torch array on cpu") as caught:
        check_fit(Model(), torch.tensor(X))
    assert "\n" not in str(caught.value)
    with pytest.raises(TypeError, match="read in blocks"):
        check_fit(Model(), da.from_array(X))
    with pytest.raises(TypeError, match="same library"):
        check_fit(Model(), torch.tensor(X), np.zeros(3), target="number", foreign=True)


def test_predict_refusals():
    model = Model()
    words = (
        r"^This Model instance is not fitted yet\. Call 'fit' with appropriate arguments before using this estimator\.$"
    )
    with pytest.raises(NotFittedError, match=words):
        check_predict(model, X)
    check_fit(model, X)
    with pytest.raises(ValueError, match="X has 1 features, but Model is expecting 2 features"):
        check_predict(model, X[:, :1])
    with pytest.raises(ValueError, match="NaN at row 1"):
        check_predict(model, NAN)


@pytest.mark.parametrize(
    ("y", "kind", "words"),
    [
        (None, "number", "requires y to be passed"),
        ([1.0, np.nan, 2.0], "number", "y contains NaN at row 1"),
        ([1.0, 2.0], "number", "^Found input variables with inconsistent numbers of samples: X has 3 rows but y has 2"),
        (["a", "b", "c"], "number", "not numbers"),
        ([1.5, 2.5, 0.1], "label", "Unknown label type"),
        (np.array(["a", None, "b"], dtype=object), "label", "row 1"),
        ([1j, 2, 3], "number", "Complex"),
    ],
)
def test_target_refusals(y, kind, words):
    with pytest.raises(ValueError, match=words):
        check_fit(Model(), X, y, target=kind)


@pytest.mark.parametrize(
    "y",
    [[1, 2, 3], pd.Series([1, 2, 3]), pl.Series([1, 2, 3]), pa.chunked_array([[1, 2, 3]])],
    ids=lambda y: type(y).__name__,
)
def test_targets_are_accepted_alike(y):
    np.testing.assert_array_equal(check_fit(Model(), X, y, target="number").y, [1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0, -1.0, 1.0], "Negative"),
        ([0.0, 0.0, 0.0], "zero"),
        ([1.0, 1.0], "expected"),
        ([[1.0], [1.0], [1.0]], "1D"),
        ([1.0, np.nan, 1.0], "NaN"),
    ],
)
def test_weight_refusals(weights, words):
    with pytest.raises(ValueError, match=words) as caught:
        check_fit(Model(), X, sample_weight=weights)
    assert "\n" not in str(caught.value)


def test_a_weight_of_no_dimension():
    np.testing.assert_array_equal(check_fit(Model(), X, sample_weight=np.float32(2)).w, [2.0, 2.0, 2.0])
    with pytest.raises(TypeError, match=r"at least 1 dimension.*got scalar `array\(0\.\)` instead\."):
        check_fit(Model(), X, sample_weight=np.array(0))


def test_parameters():
    check_number(Model(k=2), "k", 0, integer=True)
    check_number(Model(k=None), "k", 0, also=(None,))
    check_choice(Model(mode="a"), "mode", ("a", "b"))
    check_flag(Model(flag=np.True_), "flag")
    for flag in (True, np.False_, "auto"):
        check_choice(Model(mode=flag), "mode", ("auto", True, False))
        check_number(Model(k=flag), "k", 0, also=("auto", True, False))
    check_verbose(SimpleNamespace(verbose=np.True_))
    for wrong in (-1, 1.5, True, "x", None):
        with pytest.raises(ParameterError, match="The 'k' parameter of Model must be a whole number of at least 0"):
            check_number(Model(k=wrong), "k", 0, integer=True)
    with pytest.raises(ParameterError, match=r"of at least 0 and below 1\. Got 1\.0"):
        check_number(Model(k=1.0), "k", 0, np.nextafter(1, 0))
    with pytest.raises(ParameterError, match=r"of at least 0 and at most 1\. Got 2"):
        check_number(Model(k=2), "k", 0, 1)
    with pytest.raises(ParameterError, match="one of 'a', 'b'"):
        check_choice(Model(mode="c"), "mode", ("a", "b"))
    with pytest.raises(ParameterError, match="one of 1, 2"):
        check_choice(Model(mode=np.True_), "mode", (1, 2))
    with pytest.raises(ParameterError, match="True or False"):
        check_flag(Model(flag=1), "flag")


@pytest.mark.parametrize(
    "y",
    [
        np.array([3, -1, 3, 7]),
        np.array([True, False, True]),
        np.array(["b", "a", "b"]),
        np.array(["b", "a", "b"], dtype=object),
        np.array([2.0, 0.5, 2.0]),
        np.array([10**12, 5, 10**12]),
        np.array([3, 250, 3], dtype=np.uint8),
    ],
    ids=lambda y: str(y.dtype),
)
def test_labels(y):
    classes, codes = encode_labels(y)
    wanted_classes, wanted_codes = np.unique(y, return_inverse=True)
    np.testing.assert_array_equal(classes, wanted_classes)
    np.testing.assert_array_equal(codes, wanted_codes)
    assert classes.dtype == wanted_classes.dtype
    np.testing.assert_array_equal(distinct_labels(y), wanted_classes)


def test_distinct_labels_of_a_cluster():
    import dask.array as da

    np.testing.assert_array_equal(distinct_labels(da.from_array(np.array([3, 1, 3, 2]), chunks=2)), [1, 2, 3])


@pytest.mark.parametrize(
    ("y", "weights", "words"),
    [
        ([1.0, np.nan], None, r"y contains NaN at row 1, and Model needs finite numbers; drop those rows\.$"),
        ([1.0, 2.0], [1.0, np.inf], r"sample_weight contains infinity at row 1.*; give every row a weight\.$"),
        ([1.0, 2.0], ["a", "b"], r"sample_weight must be None, a number or one number for every row; got 'a'"),
        ([1.0, 2.0], "balanced", r"sample_weight must be None, a number or one number for every row; got 'balanced'"),
    ],
)
def test_errors_in_targets_and_weights_name_them(y, weights, words):
    with pytest.raises(ValueError, match=words):
        check_fit(Model(), np.ones((2, 1)), y, weights, target="number")


@pytest.mark.parametrize("value", [np.array([1.0, 2.0]), "wrong", [1, 2], np.nan, object(), -1])
def test_a_parameter_of_any_kind_is_refused_in_one_sentence(value):
    model = SimpleNamespace(verbose=value)
    with pytest.raises(ParameterError, match="'verbose' parameter of SimpleNamespace must be a whole number"):
        check_verbose(model)
    with pytest.raises(ParameterError, match="'verbose' parameter of SimpleNamespace must be"):
        check_number(model, "verbose", 0, integer=True, also=("sqrt", None))
    for good in (True, 0, 3):
        check_verbose(SimpleNamespace(verbose=good))


def test_a_bad_entry_of_a_sparse_table_is_named_by_its_row_and_column():
    dense = np.zeros((6, 4))
    dense[[0, 2, 4, 5], [1, 3, 0, 3]] = [1.0, 2.0, np.nan, np.inf]
    for table in (sparse.csr_array(dense), sparse.csc_array(dense), sparse.coo_matrix(dense)):
        with pytest.raises(ValueError, match=r"NaN at row 4, column 0 \(2 such values in all\)"):
            check_fit(Model(), table, np.arange(6.0), target="number", accept_sparse=True)


@pytest.mark.parametrize("order", "<>")
def test_what_is_checked_is_in_the_order_of_bytes_of_this_machine(order):
    table = sparse.csr_matrix(X)
    for name in ("data", "indices", "indptr"):
        part = getattr(table, name)
        setattr(table, name, part.astype(part.dtype.newbyteorder(order)))
    y, weights = np.arange(3).astype(f"{order}i4"), np.ones(3, dtype=f"{order}f4")
    found = check_fit(Model(), table, y, weights, target="label", accept_sparse=True)
    parts = (found.X.data, found.X.indices, found.X.indptr, found.y, found.w)
    assert all(part.dtype.isnative for part in parts)
    np.testing.assert_array_equal(found.X.toarray(), X)
    words = np.array(["a", "b", "c"], dtype=f"{order}U3")
    assert check_fit(Model(), X, words, target="label").y.dtype == words.dtype.newbyteorder("=")
    for kind in ("f4", "f8", "i2"):
        rows = X.astype(order + kind)
        single = kind == "f4"
        assert check_fit(Model(), rows).X.dtype == check_predict(Model().fit(rows), rows).dtype
        assert check_fit(Model(), rows).X.dtype == (np.float32 if single else np.float64)


def test_what_is_checked_lies_at_addresses_that_compiled_code_reads():
    records = np.zeros(3, dtype=[("flag", "i1"), ("row", "f8", 2), ("y", "f8"), ("weight", "f8")])
    records["row"], records["weight"] = X, 1.0
    assert not any(records[name].flags.aligned for name in ("row", "y", "weight"))
    found = check_fit(Model(), records["row"], records["y"], records["weight"], target="number")
    assert all(part.flags.aligned for part in found)
    assert check_predict(Model().fit(X), records["row"]).flags.aligned
    np.testing.assert_array_equal(found.X, X)


def test_labels_of_several_kinds_are_refused_in_one_sentence():
    with pytest.raises(TypeError, match=r"y holds labels of several kinds \(int, str\); give all of one, as text"):
        check_fit(Model(), X, np.array(["a", 1, "b"], dtype=object), target="label")
