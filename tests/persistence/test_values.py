"""Every kind of value comes back as it went in: same type, same dtype, same bits, same file."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from learnt.persistence import LearntFileError
from learnt.persistence._files import load_bytes, to_bytes


def same(a, b):
    """Equality that looks at types, dtypes, layouts and bits."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape or a.flags.f_contiguous != b.flags.f_contiguous:
            return False
        return same(a.reshape(-1).tolist(), b.reshape(-1).tolist()) if a.dtype == object else a.tobytes() == b.tobytes()
    if sp.issparse(a):
        return a.format == b.format and a.dtype == b.dtype and a.shape == b.shape and (a != b).nnz == 0
    if isinstance(a, np.generic):
        return a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, float):
        return a.hex() == b.hex()
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return len(a) == len(b) and all(same(k, j) and same(v, w) for (k, v), (j, w) in zip(a.items(), b.items()))
    return a == b


VALUES = {
    "none": None,
    "flags": [True, False],
    "integers": [0, -1, 2**63, -(10**400)],
    "floats": [0.1, -0.0, 5e-324, 1.7976931348623157e308, math.pi, math.nan, math.inf, -math.inf],
    "strings": ["", "naïve ☃ \U0001f600", "two\nlines", "\0", '"\\', "\ud800"],
    "nested": [[], (), {}, ((1, [2, (3,)]),), {"a": {"b": [None]}}],
    "keys": {1: "one", 2.5: "x", None: 0, False: 4, "s": 5, (1, "t"): 6, np.int64(9): 7},
    "odd names": {"a.b[0]": 1, "": 2, "__class__": 3, "\n": np.arange(2.0)},
    "sets": [{3, 1, 2}, {"b", "a"}, frozenset({1, None}), set()],
    "slices": [slice(1, 5), slice(None, None, -1), slice("a", "b"), range(3, 30, 4)],
    "scalars": [np.float64(0.1), np.float32(0.1), np.float16(2), np.int8(-5), np.uint64(2**64 - 1), np.bool_(True),
                np.str_("x"), np.complex64(1 + 2j), np.float64("nan"), np.datetime64("2020-01-01T10", "ms"),
                np.timedelta64(5, "D"), np.datetime64("NaT")],
    "types": [np.float64, float, object, np.number, np.dtype("float32"), np.dtype("U5"), np.dtype(object),
              np.dtype("M8[ns]")],
    "functions": [np.log1p, np.expm1],
    "many strings": [f"name {i}" for i in range(5000)],
    "big dict": {f"level {i}": i for i in range(3000)},
    "many keys": {i: str(i) for i in range(3000)},
}  # fmt: skip

CODES = ("?", "i1", "u1", "i2", "u2", "f2", "i4", "u4", "f4", "i8", "u8", "f8", "c8", "c16")
ARRAYS = {
    **{code: np.arange(12).astype(code).reshape(3, 4) for code in CODES},
    "0-d": np.array(3.5),
    "empty": np.empty((0, 7)),
    "1-d F": np.arange(5.0),
    "fortran": np.asfortranarray(np.random.default_rng(0).normal(size=(4, 5))),
    "strided": np.arange(40.0).reshape(4, 10)[:, ::2],
    "big-endian": np.arange(4.0).astype(">f8").astype("f8"),
    "special": np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324]),
    "counts as floats": np.arange(1000.0) % 200,
    "minus zero among counts": np.where(np.arange(1000) == 777, -0.0, np.arange(1000.0) % 7),
    "late outlier": np.where(np.arange(100_000) == 99_999, 0.1, 1.0),
    "small integers": np.arange(1000) % 3,
    "wide integers": np.array([0] * 999 + [2**62]),
    "float32 in float64": np.random.default_rng(0).normal(size=500).astype(np.float32).astype(np.float64),
    "dates": np.array(["2020-01-01", "NaT"], dtype="M8[ns]"),
    "spans": np.arange(500).astype("m8[s]"),
    "generic spans": np.arange(3).astype("m8"),
    "texts": np.array([["a", "bcd"], ["", "é"]]),
    "wide texts": np.array(["a", "b"], dtype="U40"),
    "bytes": np.array([b"a", b"\xff\x00b"]),
    "objects": np.array(["x", None, 1, 2.5, math.nan, True, np.float32(1.5)], dtype=object),
    "2-d objects": np.array([["a", 1], [None, "b"]], dtype=object),
    "many objects": np.array([f"feature {i}" for i in range(4000)], dtype=object),
    "variable texts": np.array(["short", "long" * 100], dtype=np.dtypes.StringDType()),
}  # fmt: skip


@pytest.mark.parametrize("value", [*VALUES.values(), *ARRAYS.values()], ids=[*VALUES, *ARRAYS])
def test_value_comes_back(holder, value):
    model = holder(value).fit(value)
    data = to_bytes(model)
    again = load_bytes(data)
    assert same(again.fitted_, value)
    assert same(again.value, value)
    assert to_bytes(again) == data


def test_numbers_are_stored_in_the_smallest_type_that_holds_them(holder):
    for name, bound in {"counts as floats": 1, "small integers": 1, "float32 in float64": 4, "spans": 2}.items():
        array = ARRAYS[name]
        assert len(to_bytes(holder().fit(array))) < bound * array.size + 600, name
    assert len(to_bytes(holder().fit(ARRAYS["late outlier"]))) > 8 * 100_000


def test_repetitive_arrays_are_compressed_and_random_ones_are_not(holder):
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 4, 50_000)
    pixels = np.where(rng.random((500, 64)) < 0.7, 0, rng.integers(0, 16, (500, 64))).astype(float)
    for array, bound in ((groups, 0.5), (pixels, 0.6), (np.asfortranarray(pixels), 0.6), (groups == 1, 0.5)):
        data = to_bytes(holder().fit(array))
        assert len(data) < bound * array.size + 600
        again = load_bytes(data)
        assert same(again.fitted_, array)
        assert again.fitted_.flags.writeable
        assert to_bytes(again) == data
    for array in (rng.normal(size=5000), np.zeros(10**6)):  # the second would grow too much in memory
        assert same(load_bytes(to_bytes(holder().fit(array))).fitted_, array)
    assert len(to_bytes(holder().fit(np.zeros(10**6)))) > 10**6


def test_long_names_are_compressed(holder):
    names = ARRAYS["many objects"]
    assert len(to_bytes(holder().fit(names))) < 0.4 * sum(map(len, names))


def test_loaded_arrays_can_be_written_and_are_aligned(holder):
    model = load_bytes(to_bytes(holder(np.arange(3, dtype=np.int8)).fit(np.arange(5.0) + 0.1)))
    model.fitted_[0] = 7.0
    assert model.fitted_.flags.writeable
    assert model.fitted_.flags.aligned
    assert model.value.tolist() == [0, 1, 2]


@pytest.mark.parametrize("fmt", ["csr", "csc", "coo"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("shape", [(6, 4), (0, 3), (3, 0)])
def test_sparse_comes_back(holder, fmt, kind, shape):
    dense = np.random.default_rng(0).integers(0, 3, shape).astype(float)
    matrix = getattr(sp, f"{fmt}_{kind}")(dense)
    again = load_bytes(to_bytes(holder().fit(matrix))).fitted_
    assert same(again, matrix)
    np.testing.assert_array_equal(again.toarray(), dense)


def test_unused_room_of_a_sparse_matrix_is_not_stored(holder):
    matrix = sp.csr_matrix((np.arange(10.0), np.arange(10) % 3, [0, 1, 2]), shape=(2, 3))
    again = load_bytes(to_bytes(holder().fit(matrix))).fitted_
    assert again.data.size == 2
    np.testing.assert_array_equal(again.toarray(), [[0, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng,
                                  lambda seed: np.random.Generator(np.random.PCG64DXSM(seed)),
                                  lambda seed: np.random.Generator(np.random.MT19937(seed))])  # fmt: skip
def test_random_generators_continue_where_they_were(holder, make):
    source = make(3)
    source.normal(size=5)
    source.integers(7, dtype=np.uint32) if hasattr(source, "integers") else source.randint(7)
    again = load_bytes(to_bytes(holder(source)))
    np.testing.assert_array_equal(again.value.normal(size=9), source.normal(size=9))


def test_seed_sequences_continue_where_they_were(holder):
    source = np.random.SeedSequence([1, 2], spawn_key=(4,))
    source.spawn(3)
    again = load_bytes(to_bytes(holder(source))).value
    assert again.spawn(1)[0].generate_state(3).tolist() == source.spawn(1)[0].generate_state(3).tolist()


def test_tensors_of_other_libraries_become_numpy_arrays(holder):
    import torch

    model = holder(torch.tensor(2.5, dtype=torch.float64)).fit(torch.arange(6, dtype=torch.float32).reshape(2, 3) / 7)
    again = load_bytes(to_bytes(model))
    assert same(again.fitted_, model.fitted_.numpy())
    assert same(again.value, np.array(2.5))


def test_splitters_come_back(holder):
    from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit, StratifiedKFold, TimeSeriesSplit

    for splitter in (KFold(3, shuffle=True, random_state=4), StratifiedKFold(), LeaveOneOut(),
                     ShuffleSplit(test_size=0.3), TimeSeriesSplit(4, gap=2)):  # fmt: skip
        assert repr(load_bytes(to_bytes(holder(splitter))).value) == repr(splitter)


def test_memory_maps_become_plain_arrays(holder, tmp_path):
    mapped = np.memmap(tmp_path / "x", dtype=np.float64, mode="w+", shape=(3,))
    mapped[:] = [1.5, 2.5, 3.5]
    again = load_bytes(to_bytes(holder().fit(mapped))).fitted_
    assert same(again, np.array([1.5, 2.5, 3.5]))


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
trees = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=4), inner, max_size=4)
        | st.dictionaries(st.integers() | st.booleans() | st.none(), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=trees)
def test_any_tree_comes_back(holder, value):
    data = to_bytes(holder(value))
    again = load_bytes(data)
    assert same(again.value, value)
    assert to_bytes(again) == data


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    array=hnp.arrays(
        hnp.integer_dtypes(endianness="=")
        | hnp.floating_dtypes(endianness="=", sizes=(16, 32, 64)) | hnp.boolean_dtypes(),
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=9),
    )
)  # fmt: skip
def test_any_array_comes_back(holder, array):
    assert same(load_bytes(to_bytes(holder(array))).value, array)


# --- what cannot be held is refused with its place


class Odd:
    pass


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (lambda x: x, "the function '<lambda>'"),
        (len, "the function 'len'"),
        (Odd(), "Odd"),
        (Odd, "the class 'Odd'"),
        ([1, {"deep": Odd()}], "model.value[1]['deep'] is a "),
        (np.ma.masked_array([1.0]), "MaskedArray"),
        (np.zeros(2, dtype=[("a", "f4")]), "dtype"),
        (np.array([Odd()], dtype=object), "model.value[0]"),
        (np.array([1], dtype=np.longdouble), "float128"),
        (sp.lil_matrix((2, 2)), ".tocsr()"),
        (10**5000, "thousands of digits"),
        (np.random.Generator(np.random.SFC64(0)), "SFC64"),
        (object(), "which a model file cannot hold"),
        (b"bytes", "builtins.bytes"),
        (3j, "builtins.complex"),
    ],
    ids=lambda v: type(v).__name__ if not isinstance(v, str) else "",
)
def test_refusals_on_save(holder, value, words):
    with pytest.raises(LearntFileError) as caught:
        to_bytes(holder(value))
    message = str(caught.value)
    assert words in message
    assert "model.value" in message
    assert "\n" not in message
    assert caught.value.__cause__ is None


def test_a_model_that_contains_itself_is_refused(holder):
    loop = []
    loop.append(loop)
    with pytest.raises(LearntFileError, match="contains itself"):
        to_bytes(holder(loop))


def test_attributes_that_are_not_fitted_state_are_refused(holder):
    model = holder().fit(1)
    model.strange = 3
    with pytest.raises(LearntFileError, match="strange"):
        to_bytes(model)
    del model.strange
    model._private = 4
    assert load_bytes(to_bytes(model))._private == 4
    model.method = 5
    with pytest.raises(LearntFileError, match="method"):
        to_bytes(model)


def test_the_hook_of_a_class_is_called(holder):
    with pytest.raises(LearntFileError, match="this cannot be"):
        to_bytes(holder().fit("impossible"))


def test_nonfinite_numbers_are_refused_unless_the_class_allows_them(holder):
    model = holder().fit(np.array([np.nan]))
    load_bytes(to_bytes(model))
    model.other_ = np.array([np.nan])
    with pytest.raises(LearntFileError, match="not finite"):
        to_bytes(model)


def test_a_string_array_far_wider_than_its_strings_is_refused_on_save(holder):
    with pytest.raises(LearntFileError, match="memory"):
        to_bytes(holder(np.array(["x"], dtype="U20000000")))
