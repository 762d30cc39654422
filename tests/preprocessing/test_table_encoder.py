"""TableEncoder: what each column becomes, the same from every library, and one sentence for what cannot be."""

import decimal
import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

from learnt.preprocessing import TableEncoder

N = 120


@pytest.fixture
def table():
    """A bit of everything, as a dict of lists."""
    rng = np.random.default_rng(0)
    jobs = np.array(["Sales", "Tech", "Cook", None], dtype=object)
    words = ["red", "wine", "old", "cheap", "dry", "sweet", "white", "fruit"]
    return {
        "customer_id": list(range(1000, 1000 + N)),
        "age": [None if k % 10 == 0 else float(v) for k, v in enumerate(rng.integers(18, 90, N))],
        "price": [f"${v:,.2f}" if k % 7 else "n/a" for k, v in enumerate(rng.uniform(1, 1e5, N))],
        "member": ["yes" if v else "no" for v in rng.integers(0, 2, N)],
        "job": rng.choice(jobs, N).tolist(),
        "town": [f"town {k}" for k in rng.integers(0, 40, N)],
        "start": [
            f"{d:02d}/{m:02d}/20{y}"
            for d, m, y in zip(rng.integers(1, 29, N), rng.integers(1, 13, N), rng.integers(10, 22, N))
        ],
        "note": [" ".join(rng.choice(words, 6)) + f" no {k}" for k in range(N)],
        "country": ["Italy"] * N,
        "empty": [None] * N,
        "age again": [
            None if k % 10 == 0 else float(v) for k, v in enumerate(np.random.default_rng(0).integers(18, 90, N))
        ],
    }


@pytest.fixture
def y():
    return np.random.default_rng(1).integers(0, 2, N)


def kinds(encoder):
    return {column["name"]: column["kind"] for column in encoder.columns_}


def sentence(error):
    text = str(error.value)
    assert "\n" not in text
    return text


# --- what each column becomes --------------------------------------------------------------------------------


def test_a_bit_of_everything(table, y):
    table["age again"] = table["age"]
    encoder = TableEncoder()
    out = encoder.fit_transform(table, y)
    assert kinds(encoder) == {
        "customer_id": "identifier",
        "age": "number",
        "price": "number",
        "member": "boolean",
        "job": "category",
        "town": "category",
        "start": "date",
        "note": "text",
        "country": "constant",
        "empty": "empty",
        "age again": "duplicate",
    }
    names = encoder.get_feature_names_out().tolist()
    assert out.shape == (N, len(names))
    assert out.flags.c_contiguous
    assert out.dtype == np.float64
    assert np.isfinite(out).all()
    assert names[:4] == ["age", "age missing", "price", "price missing"]
    for name in (
        "member",
        "job=Sales",
        "job missing",
        "town: share of 1",
        "start: days",
        "start: month sin",
        'note: "wine"',
    ):
        assert name in names
    assert "the same cells as 'age'" in encoder.columns_[10]["reason"]
    np.testing.assert_array_equal(out[:, 1], [k % 10 == 0 for k in range(N)])
    np.testing.assert_allclose(out[0, 0], np.median([a for a in table["age"] if a is not None]))


def test_what_is_kept_is_plain_data(table, y):
    encoder = TableEncoder().fit(table, y)

    def walk(value):
        assert isinstance(value, dict | list | str | int | float | bool | None | np.ndarray), type(value)
        if isinstance(value, dict):
            assert all(type(key) is str for key in value)
            for item in value.values():
                walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)
        elif isinstance(value, np.ndarray):
            assert value.dtype == np.float64

    walk(encoder.columns_)
    assert all(name.endswith("_") for name in vars(encoder) if name not in encoder.get_params())
    json.dumps([{k: v for k, v in column.items() if k != "coding"} for column in encoder.columns_], allow_nan=False)


def test_numbers_missing_infinite_decimal():
    table = {
        "x": [1.0, np.inf, np.nan, 3.0],
        "money": [decimal.Decimal("1.5"), None, decimal.Decimal("2.5"), decimal.Decimal("3.5")],
        "whole": [1, 2, 3, 4],
    }
    encoder = TableEncoder().fit(table)
    assert encoder.get_feature_names_out().tolist() == ["x", "x missing", "money", "money missing", "whole"]
    np.testing.assert_array_equal(
        encoder.transform(table), [[1, 0, 1.5, 0, 1], [2, 1, 2.5, 1, 2], [2, 1, 2.5, 0, 3], [3, 0, 3.5, 0, 4]]
    )
    statistics = encoder.columns_[0]["statistics"]
    assert (statistics["missing"], statistics["infinite"], statistics["median"]) == (2, 1, 2.0)


def test_a_constant_with_gaps_keeps_the_gaps():
    encoder = TableEncoder().fit({"x": [5.0, None, 5.0], "w": ["a", None, "a"]})
    assert encoder.get_feature_names_out().tolist() == ["x missing", "w=a", "w missing"]


def test_missing_only_at_transform_is_filled_without_a_column():
    encoder = TableEncoder().fit({"x": [1.0, 2.0, 9.0], "b": [True, False, True]})
    np.testing.assert_array_equal(encoder.transform({"x": [None], "b": [None]}), [[2, 1]])


def test_identifiers_and_what_only_looks_like_one():
    n = 200
    rng = np.random.default_rng(0)
    table = {
        "PassengerId": rng.permutation(n) + 5,
        "row": rng.permutation(n),  # every number of a range, each once
        "year": np.arange(1, n + 1),  # as above, but it says when
        "code": [f"{rng.integers(1 << 60):x}" for _ in range(n)],
        "store_id": rng.integers(0, 30, n),
        "zip": rng.integers(10000, 10500, n),
        "income": rng.permutation(10 * n)[:n],
        "00": [f"{k % 7:03d}" for k in range(n)],
    }
    encoder = TableEncoder().fit(table)
    assert kinds(encoder) == {
        "PassengerId": "identifier",
        "row": "identifier",
        "year": "number",
        "code": "identifier",
        "store_id": "category",
        "zip": "category",
        "income": "number",
        "00": "category",
    }
    unnamed = TableEncoder().fit(np.column_stack([table["PassengerId"], table["row"], table["income"]]))
    assert set(kinds(unnamed).values()) == {"number"}


@pytest.mark.parametrize(
    ("kind", "width"), [("number", 1), ("category", 3), ("drop", 0), ("date", 2), ("boolean", 2), ("text", 1)]
)
def test_given_kinds_override_the_inferred_ones(kind, width):
    table = {"p": ["1", "2", "3", "1", "2", "3"], "x": [0.5, 2, 3, 4, 5, 6]}
    encoder = TableEncoder(kinds={"p": kind}).fit(table)
    if kind == "date":
        table = {"p": [20200101, 20200102, 20200103] * 2, "x": table["x"]}
        encoder.fit(table)
        assert encoder.columns_[0]["outputs"][0] == "p: days"
        return
    if kind == "boolean":  # 0 and 1 are read, 2 and 3 are not
        assert encoder.columns_[0]["outputs"] == ["p missing"]
        return
    assert len(encoder.columns_[0]["outputs"]) == width
    assert encoder.transform(table).shape[1] == width + 1


def test_low_cardinality_integers_as_categories():
    table = {"class": [1, 2, 3, 1, 2, 3], "x": [1.5, 2, 3, 4, 5, 6]}
    encoder = TableEncoder(kinds={"class": "category"}).fit(table)
    assert encoder.get_feature_names_out().tolist() == ["class=1", "class=2", "class=3", "x"]
    as_floats = {"class": np.array([1.0, 3.0]), "x": [0, 0]}
    as_strings = {"class": ["1", "3"], "x": [0, 0]}
    np.testing.assert_array_equal(encoder.transform(as_floats), encoder.transform(as_strings))


def test_text_is_words_and_length():
    notes = ["the red wine is good"] * 6 + [f"some white wine number{k} here" for k in range(30)] + [None]
    encoder = TableEncoder(text_features=3, max_onehot=5).fit({"note": notes})
    names = encoder.get_feature_names_out().tolist()
    assert len(names) == 5
    assert names[-2:] == ["note: length", "note missing"]
    out = encoder.transform({"note": ["red wine here", "unknown words", None, ""]})
    norms = np.linalg.norm(out[:, :3], axis=1)
    np.testing.assert_allclose(norms, [1, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(out[:, 3], [np.log(4), np.log(3), 0, 0])
    np.testing.assert_array_equal(out[:, 4], [0, 0, 1, 1])


def test_squash_is_bounded_and_monotone():
    x = np.r_[np.arange(100.0), 1e12, -1e300, 1e308]
    out = TableEncoder(numeric="squash").fit_transform({"x": x})[:, 0]
    assert np.abs(out).max() <= 3
    order = np.argsort(x)
    assert (np.diff(out[order]) >= 0).all()
    assert np.median(out) == 0
    assert TableEncoder().fit_transform({"x": x})[0, 0] == 0.0


def test_names_that_would_collide():
    table = {"age": [1.0, None, 3.0], "age missing": [1.0, 2.0, 3.5]}
    names = TableEncoder().fit(table).get_feature_names_out().tolist()
    assert names == ["age", "age missing", "age missing (2)"]


@pytest.mark.parametrize("names", [["a[1]", "дом, км", "{x:1}", " ", 'q"uo\nte'], ["=", ": days", "x0", "1", "\u200b"]])
def test_any_characters_in_names(names):
    rng = np.random.default_rng(0)
    for frame in (
        pd.DataFrame(rng.normal(size=(9, 5)), columns=names),
        pl.DataFrame(rng.normal(size=(9, 5)), schema=names),
    ):
        encoder = TableEncoder().fit(frame)
        assert encoder.get_feature_names_out().tolist() == names == encoder.feature_names_in_.tolist()
        assert pickle.loads(pickle.dumps(encoder)).transform(frame).shape == (9, 5)


# --- the same from every library -----------------------------------------------------------------------------


def test_every_library_gives_the_same_numbers(table, y):
    frames = {
        "polars": pl.DataFrame(table),
        "pandas": pd.DataFrame(table),
        "objects": pd.DataFrame(table, dtype=object),
        "arrow": pa.table(table),
        "dict": table,
        "lazy": pl.DataFrame(table).lazy(),
    }
    outputs = {name: TableEncoder().fit_transform(frame, y) for name, frame in frames.items()}
    reference = TableEncoder().fit(frames["polars"], y)
    for name, frame in frames.items():
        np.testing.assert_array_equal(outputs[name], outputs["polars"], err_msg=name)
        np.testing.assert_array_equal(reference.transform(frame), reference.transform(frames["polars"]), err_msg=name)


def test_categoricals_of_every_library():
    values = ["a", "b", None, "a", "c", "b", "a", "c"]
    frames = [
        pd.DataFrame({"v": pd.Categorical(values)}),
        pl.DataFrame({"v": pl.Series(values, dtype=pl.Categorical)}),
        pl.DataFrame({"v": pl.Series(values, dtype=pl.Enum(["c", "b", "a", "unused"]))}),
        pa.table({"v": pa.array(values).dictionary_encode()}),
        pd.DataFrame({"v": values}),
    ]
    expected = TableEncoder().fit_transform({"v": values})
    for frame in frames:
        np.testing.assert_array_equal(TableEncoder().fit_transform(frame), expected)
    whole = pd.DataFrame({"v": pd.Categorical([1, 2, 1, 2])})
    assert TableEncoder().fit(whole).get_feature_names_out().tolist() == ["v=1", "v=2"]


@pytest.mark.parametrize(
    "values",
    [
        pd.array([1, None, 3], dtype="Int64"),
        pd.array([1.5, None, 3], dtype="Float64"),
        pd.array([True, None, False], dtype="boolean"),
        pd.to_timedelta(["1 days", None, "3 days"]),
        pd.to_datetime(["2020-01-01", None, "2020-03-01"]),
        pd.Series([1, None, "x"], dtype=object),
        np.array([b"a", b"b", b"a"]),
        np.array([1, 2, 4], dtype=np.float16),
        np.array(["2020-01-01", "NaT", "2020-05-05"], dtype="M8[s]"),
        [2**70, 3, None],
        pl.Series([1, None, 3], dtype=pl.UInt8),
        pl.Series(["1.5", None, "3"]).cast(pl.Decimal(10, 2)),
    ],
    ids=str,
)
def test_odd_types(values):
    out = TableEncoder().fit_transform({"v": values, "x": [1.0, 2.0, 5.0]})
    assert np.isfinite(out).all()
    assert out.shape[1] >= 2


def test_nested_columns_are_left_out():
    frame = pl.DataFrame({"l": [[1], [2, 3]], "s": [{"a": 1}, {"a": 2}], "x": [1, 2]})
    encoder = TableEncoder().fit(frame)
    assert kinds(encoder) == {"l": "nested", "s": "nested", "x": "number"}
    assert "List" in encoder.columns_[0]["reason"]


def test_numpy_objects_and_lists():
    array = np.array([[1, "a", None], [2, "b", 3.5], [3, "a", 4.5], [4, "b", 1.0]], dtype=object)
    encoder = TableEncoder().fit(array)
    assert encoder.get_feature_names_out().tolist() == ["x0", "x1=a", "x1=b", "x2", "x2 missing"]
    np.testing.assert_array_equal(encoder.transform(array.tolist()), encoder.transform(array))
    assert not hasattr(encoder, "feature_names_in_")
    assert encoder.get_feature_names_out(["p", "q", "r"]).tolist() == ["p", "q=a", "q=b", "r", "r missing"]


def test_columns_are_found_by_name(table, y):
    frame = pl.DataFrame(table)
    encoder = TableEncoder().fit(frame, y)
    shuffled = frame.select(sorted(frame.columns)).with_columns(extra=pl.lit(1))
    np.testing.assert_array_equal(encoder.transform(shuffled), encoder.transform(frame))
    with pytest.raises(ValueError, match="The table lacks the columns 'age', 'job', which") as error:
        encoder.transform(frame.drop("age", "job"))
    sentence(error)


def test_unreadable_cells_are_one_warning(table, y):
    encoder = TableEncoder().fit(table, y)
    changed = {name: list(cells) for name, cells in table.items()}
    changed["age"] = ["old"] * 3 + [30] * (N - 3)
    changed["start"] = ["soon"] + table["start"][1:]
    with pytest.warns(UserWarning, match=r"could not read 4 cells .*'age': 3, 'start': 1") as caught:
        out = encoder.transform(changed)
    assert len(caught) == 1
    names = encoder.get_feature_names_out().tolist()
    assert out[0, names.index("age missing")] == 1
    assert np.isfinite(out).all()


def test_a_number_column_that_comes_as_something_else():
    encoder = TableEncoder().fit({"x": [1.0, 2.0, 4.0]})
    np.testing.assert_array_equal(encoder.transform({"x": ["$4", "3%"]}), [[4], [0.03]])
    np.testing.assert_array_equal(encoder.transform({"x": [True, False]}), [[1], [0]])
    np.testing.assert_array_equal(encoder.transform({"x": [None, None]}), [[2], [2]])
    with pytest.warns(UserWarning, match="could not read 1 cells"):
        np.testing.assert_array_equal(encoder.transform({"x": np.array(["2020-01-01"], dtype="M8[s]")}), [[2]])


def test_float32_is_kept_and_stays_finite():
    X = np.array([[1, 2], [3, np.nan], [5, 8]], dtype=np.float32)
    assert TableEncoder().fit_transform(X).dtype == np.float32
    assert TableEncoder().fit_transform(pl.DataFrame(X)).dtype == np.float32
    assert TableEncoder(dtype="float64").fit_transform(X).dtype == np.float64
    out = TableEncoder(dtype="float32").fit_transform({"x": [1e300, -1e300, 0.0]})
    assert np.isfinite(out).all()


def test_sparse_passes_through():
    S = sparse.random(30, 8, density=0.3, format="csr", random_state=0)
    encoder = TableEncoder()
    out = encoder.fit_transform(S)
    assert sparse.issparse(out)
    assert (out != S).nnz == 0
    assert encoder.get_feature_names_out().tolist() == [f"x{j}" for j in range(8)]
    np.testing.assert_array_equal(encoder.transform(S.toarray()), S.toarray())
    with pytest.raises(TypeError, match="fitted on a dense table and got a sparse matrix"):
        TableEncoder().fit(S.toarray()).transform(S)
    with pytest.raises(ValueError, match="X has 7 features, but TableEncoder is expecting 8"):
        encoder.transform(S[:, :7])


# --- as a scikit-learn transformer ---------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"numeric": "squash", "high_cardinality": "frequency"}], ids=str)
def test_every_estimator_check(settings):
    for estimator, check in estimator_checks_generator(TableEncoder(**settings)):
        if "array_api" in str(check):
            continue  # needs a switch of SciPy's in the environment; tables are not on devices
        check(estimator)


def test_set_output_clone_repr(table, y):
    encoder = TableEncoder(kinds={"job": "category"}).set_output(transform="pandas")
    out = encoder.fit_transform(pd.DataFrame(table), y)
    assert list(out.columns) == encoder.get_feature_names_out().tolist()
    assert isinstance(encoder.set_output(transform="polars").transform(table), pl.DataFrame)
    assert not hasattr(clone(encoder), "columns_")
    assert repr(TableEncoder(max_onehot=5)) == "TableEncoder(max_onehot=5)"


def test_in_a_pipeline(table, y):
    model = make_pipeline(TableEncoder(numeric="squash"), LogisticRegression()).fit(pl.DataFrame(table), y)
    assert model.predict(pd.DataFrame(table)).shape == (N,)
    assert model.predict({name: cells[:1] for name, cells in table.items()}).shape == (1,)


def test_refit_resets_names():
    encoder = TableEncoder().fit({"a": [1, 2], "b": [2, 5]})
    assert not hasattr(encoder.fit(np.array([[1.0, 2.0], [3.0, 5.0]])), "feature_names_in_")
    assert encoder.n_features_in_ == 2


# --- one sentence for what cannot be -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("act", "kind", "message"),
    [
        (
            lambda: TableEncoder().fit(pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])),
            ValueError,
            "more than one column named 'a'",
        ),
        (
            lambda: TableEncoder().fit(pa.table([[1, 2], [3, 4]], names=["a", "a"])),
            ValueError,
            "more than one column named 'a'",
        ),
        (lambda: TableEncoder().fit(pd.DataFrame({"a": [1, 2], 3: [3, 4]})), TypeError, "mixed types"),
        (lambda: TableEncoder().fit({"a": [1, 2], "b": [1]}), ValueError, "columns of different lengths"),
        (lambda: TableEncoder().fit({"a": 3}), ValueError, "a single value for column 'a'"),
        (
            lambda: TableEncoder().fit({"a": [1, 1], "b": ["x", "x"]}),
            ValueError,
            "nothing to learn from in 2 columns and 2 samples",
        ),
        (lambda: TableEncoder().fit({"a": [1]}), ValueError, "at least 2 rows to tell what varies, got 1 sample"),
        (lambda: TableEncoder().fit({"a": []}), ValueError, "got 0 samples"),
        (lambda: TableEncoder().fit(pl.DataFrame()), ValueError, r"0 feature\(s\)"),
        (lambda: TableEncoder().fit(np.ones(3)), ValueError, "Reshape your data"),
        (lambda: TableEncoder().fit(np.ones((3, 1)) * 1j), ValueError, "Complex data not supported"),
        (lambda: TableEncoder().fit({"a": [1, 2]}, [1]), ValueError, "X has 2, y has 1"),
        (
            lambda: TableEncoder(kinds={"z": "number"}).fit({"a": [1, 2]}),
            ValueError,
            "not in the table: the column 'z'",
        ),
        (lambda: TableEncoder(kinds={"a": "wat"}).fit({"a": [1, 2]}), ValueError, "must be one of 'number'"),
        (lambda: TableEncoder(max_onehot=0).fit({"a": [1, 2]}), ValueError, "max_onehot must be a whole number"),
        (lambda: TableEncoder(min_frequency=1.5).fit({"a": [1, 2]}), ValueError, "min_frequency must be"),
        (lambda: TableEncoder(high_cardinality="x").fit({"a": [1, 2]}), ValueError, "high_cardinality must be one of"),
        (lambda: TableEncoder(numeric="x").fit({"a": [1, 2]}), ValueError, "numeric must be one of"),
        (lambda: TableEncoder(dtype="int8").fit({"a": [1, 2]}), ValueError, "dtype must be None"),
        (lambda: TableEncoder(text_features=-1).fit({"a": [1, 2]}), ValueError, "text_features must be"),
        (lambda: TableEncoder().transform({"a": [1, 2]}), NotFittedError, "not fitted"),
        (lambda: TableEncoder().get_feature_names_out(), NotFittedError, "not fitted"),
    ],
)
def test_errors(act, kind, message):
    with pytest.raises(kind, match=message) as error:
        act()
    sentence(error)


def test_transform_of_no_rows(table, y):
    encoder = TableEncoder().fit(pl.DataFrame(table), y)
    assert encoder.transform(pl.DataFrame(table).head(0)).shape == (0, len(encoder.get_feature_names_out()))
