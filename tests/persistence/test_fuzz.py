"""Files changed by the hundred thousand: a refusal in one sentence, or a model that predicts or says no. Nothing else.

Three kinds of change, all from fixed seeds: bytes (seen by the checksum), bytes with the checksum made to match, and
changes of structure by someone who knows the format: nodes of the tree replaced, dropped, moved, renamed; tensors with
other dtypes, shapes, sizes and numbers; again with a matching checksum.
"""

import json
import random
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, LabelEncoder, MinMaxScaler, OneHotEncoder, OrdinalEncoder

from learnt.baseline import ConstantClassifier, ConstantRegressor
from learnt.cluster import KMeans
from learnt.decomposition import PCA
from learnt.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeCV
from learnt.naive_bayes import GaussianNB
from learnt.neighbors import KNeighborsClassifier, NearestNeighbors
from learnt.persistence import LearntFileError, _registry
from learnt.persistence import _container as container
from learnt.persistence._files import load_bytes, to_bytes
from learnt.preprocessing import StandardScaler, TableEncoder

CLASSES = sorted(_registry.classes())
rng = np.random.default_rng(0)
X = rng.normal(size=(30, 3))
y = X @ [1.0, 2.0, 3.0] + rng.normal(size=30)
labels = np.array(["no", "yes", "maybe"])[rng.integers(0, 3, 30)]
labels_too = np.array(["a", "b"])[rng.integers(0, 2, 30)]
towns = pd.DataFrame(
    {
        "size": np.where(np.arange(30) % 5 == 0, np.nan, X[:, 0]),
        "town": np.array(["Rome", "Oslo", "Bern", "Nice", None], dtype=object)[rng.integers(0, 5, 30)],
        "day": pd.date_range("2020-01-01", periods=30).astype(str),
        "note": [" ".join(rng.choice(["red", "green", "blue", "round", "flat", "old"], 9)) for _ in range(30)],
        "code": [f"c{i % 23}" for i in range(30)],
    }
)


named = pd.DataFrame(X, columns=["a", "b", "c"])
shops = towns[["town", "code"]]
_impute = ("n", SimpleImputer(add_indicator=True), ["size"])
_encode = ("t", OneHotEncoder(drop="first"), ["town"])
_rare = {"min_frequency": 6, "handle_unknown": "infrequent_if_exist", "sparse_output": False}
_unknown = {"handle_unknown": "use_encoded_value", "unknown_value": -1, "max_categories": 3}
_inverse = {"func": np.arcsinh, "inverse_func": np.sinh, "check_inverse": False}


@cache
def fitted():
    """Name → (model, data), fitted when first asked for: collecting the tests fits nothing."""
    return {
        "linear": (LinearRegression().fit(X, y), X),
        "linear, two targets": (LinearRegression().fit(X, np.c_[y, y]), X),
        "ridge": (Ridge(alpha=0.5).fit(named, y), named),
        "ridge cv": (RidgeCV(store_cv_results=True).fit(X, y), X),
        "logistic": (LogisticRegression().fit(X, labels), X),
        "logistic, two classes": (LogisticRegression(class_weight="balanced").fit(named, labels_too), named),
        "ridge cv, folds": (RidgeCV(cv=KFold(3)).fit(X, y), X),
        "gaussian nb": (GaussianNB().fit(X, labels), X),
        "constant label": (ConstantClassifier().fit(X, labels), X),
        "constant labels": (
            ConstantClassifier(strategy="constant", constant=["no", "a"]).fit(X, np.c_[labels, labels_too]),
            X,
        ),
        "constant number": (ConstantRegressor(strategy="median").fit(X, y), X),
        "neighbours": (KNeighborsClassifier(3, weights="distance").fit(X, labels), X),
        "nearest": (NearestNeighbors(n_neighbors=2, metric="chebyshev").fit(X), X),
        "neighbours, two outputs": (KNeighborsClassifier(3, p=3).fit(X, np.c_[labels, labels_too]), X),
        "neighbours, sparse": (KNeighborsClassifier(2).fit(sparse.csr_array(np.round(X)), labels), X),
        "neighbours, distances": (
            KNeighborsClassifier(2, metric="precomputed").fit(np.abs(X @ X.T), labels),
            np.abs(X @ X.T),
        ),
        "k-means": (KMeans(3, n_init=1, random_state=0).fit(X), X),
        "pca": (PCA(2, whiten=True).fit(X), X),
        "scaler": (StandardScaler().fit(X), X),
        "table": (TableEncoder(max_onehot=4).fit(towns, y), towns),
        "pipeline": (make_pipeline(StandardScaler(), MinMaxScaler(clip=True), Ridge()).fit(X, y), X),
        "table pipeline": (make_pipeline(TableEncoder(), StandardScaler(), LinearRegression()).fit(towns, y), towns),
        "union": (FeatureUnion([("a", StandardScaler()), ("b", "passthrough")]).fit(X), X),
        "columns": (ColumnTransformer([_impute, _encode]).fit(towns), towns),
        "columns by place": (
            ColumnTransformer([("n", StandardScaler(), slice(0, 2))], remainder="passthrough").fit(X),
            X,
        ),
        "one-hot": (OneHotEncoder(**_rare).fit(shops), shops),
        "one-hot numbers": (OneHotEncoder(handle_unknown="ignore").fit(np.round(X)), np.round(X)),
        "ordinal": (OrdinalEncoder(**_unknown).fit(shops), shops),
        "imputer": (SimpleImputer(strategy="most_frequent").fit(X), X),
        "target": (TransformedTargetRegressor(Ridge(), **_inverse).fit(X, y), X),
        "function": (FunctionTransformer(np.log1p, validate=True).fit(X), X),
        "labels": (LabelEncoder().fit(labels), labels),
    }


@cache
def files():
    return {name: to_bytes(model) for name, (model, _) in fitted().items()}


def share(name):
    """Data frames take milliseconds to transform, so their models are changed less often than the others."""
    return 0.1 if "table" in name or name == "columns" else 0.3 if hasattr(fitted()[name][1], "columns") else 1.0


def rounds(total):
    """How often to change the file of each model."""
    shares = sum(map(share, fitted()))
    return [
        (name, data, fitted()[name][1][:4], round(total * share(name) / shares) + 1) for name, data in files().items()
    ]


def use(model, data):
    """What anyone would do with a loaded model; ValueError is an answer too."""
    try:
        methods = {"predict": (), "predict_proba": (), "transform": (), "kneighbors": (2,), "mahalanobis": ()}
        for method, more in methods.items():
            if hasattr(model, method):
                getattr(model, method)(data, *more)
        return "used"
    except ValueError:
        return "said no"


def attempt(data, sample):
    """Load and use; anything but the two permitted outcomes is raised."""
    try:
        model = load_bytes(data)
    except LearntFileError as error:
        if error.__cause__ is not None or "\n" in str(error):
            raise AssertionError(f"not foreseen, or more than a sentence: {error}") from error
        return "refused"
    return use(model, sample)


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def split(data):
    length = int.from_bytes(data[:8], "little")
    return data[: 8 + length], data[8 + length :]


def seal(head, body):
    digits = container.checksum(head, [body]).encode()
    return head[: container._DIGITS.start] + digits + head[container._DIGITS.stop :] + body


# --- bytes


def changed_bytes(data, dice, start=0):
    """One to four random changes: a byte set, a bit flipped, a piece cut out, doubled or swapped."""
    data = bytearray(data)
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        i = dice.randrange(start, len(data))
        kind = dice.randrange(6)
        if kind < 2:
            data[i] = dice.randrange(256)
        elif kind == 2:
            data[i] ^= 1 << dice.randrange(8)
        elif kind == 3:
            del data[i : i + dice.randrange(1, 9)]
        elif kind == 4:
            data[i:i] = data[i : i + dice.randrange(1, 9)]
        else:
            j = dice.randrange(start, len(data))
            data[i], data[j] = data[j], data[i]
        if len(data) <= start + 8:
            break
    return bytes(data)


@pytest.mark.long
def test_changed_bytes_are_always_refused():
    dice = random.Random(1)
    done = 0
    for _, data, sample, n in rounds(84_000):
        for _ in range(n):
            changed = changed_bytes(data, dice)
            if changed != data:
                assert attempt(changed, sample) == "refused"
                done += 1
    assert done > 83_000


@pytest.mark.long
def test_changed_bytes_with_a_matching_checksum():
    dice = random.Random(2)
    counts = dict.fromkeys(("refused", "used", "said no"), 0)
    for _, data, sample, n in rounds(10_000):
        head, body = split(data)
        for i in range(n):
            if body and i % 3 == 0:
                changed = seal(head, changed_bytes(body, dice) if i % 6 else flipped(body, dice))
            else:
                text = changed_bytes(head[8:], dice, start=container._DIGITS.stop - 8)
                changed = seal(len(text).to_bytes(8, "little") + text, body)
            counts[attempt(changed, sample)] += 1
    assert sum(counts.values()) >= 10_000
    assert min(counts.values()) > 0, counts


def flipped(body, dice):
    body = bytearray(body)
    body[dice.randrange(len(body))] ^= 1 << dice.randrange(8)
    return bytes(body)


# --- structure


def places(node, found, path=()):
    """Every place in a JSON value."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        found.append((node, key))
        places(value, found, (*path, key))
    return found


def values(dice, tensors):
    """A value that does not belong where it will be put."""
    name = dice.choice(tensors) if tensors else "coef_"
    return dice.choice([
        None, True, False, 0, 1, -1, 2, 3, 7, 2**31, -(2**63), 2**64, 10**30, 0.5, -0.0, 1e300, -1e300, "", "x", "auto",
        "drop", "passthrough", "float64", "__class__", "ä", [], [0], ["x"], [[1]], [None] * 3, {}, {"tuple": []},
        {"tuple": [1, "x"]}, {"dict": {}}, {"pairs": [[0, 1]]}, {"float": "nan"}, {"float": "inf"}, {"float": "x"},
        {"array": name}, {"array": {"tensor": name, "order": "F"}}, {"array": {"tensor": name, "dtype": "float64"}},
        {"array": {"tensor": name, "dtype": "datetime64[ns]"}}, {"array": {"tensor": name, "dtype": "complex128"}},
        {"texts": {"dtype": "object", "shape": [2], "items": ["a", None]}},
        {"texts": {"dtype": "U3", "shape": [1, 1], "items": ["a"]}},
        {"texts": {"dtype": "U9", "shape": [0], "items": []}},
        {"scalar": ["float32", 0.5]}, {"scalar": ["int8", 300]}, {"scalar": ["str", "a"]}, {"slice": [0, 2, None]},
        {"slice": [None, None, 0]}, {"range": [0, 10**12, 1]}, {"type": "numpy.float64"}, {"type": "os.system"},
        {"dtype": "object"}, {"dtype": "int64"}, {"function": "numpy.log"}, {"function": "os.system"}, {"set": [1, 2]},
        {"set": [[]]}, {"frozenset": [1]}, {"packed": {"tensor": name, "bytes": 10}}, {"unknown": 1},
        {"random": {"kind": "SeedSequence", "entropy": 1, "spawn_key": [], "spawned": 0}},
        {"record": {"class": "sklearn.compose.make_column_selector",
                    "fields": {"pattern": None, "dtype_include": None, "dtype_exclude": None}}},
        {"sparse": {"format": "csr", "kind": "array", "shape": [1, 3], "data": {"array": name}, "indices": 0,
                    "indptr": 0}},
        {"object": {"class": dice.choice(CLASSES), "params": {}}},
        {"object": {"class": "builtins.eval", "params": {}}},
        {"object": {"class": "sklearn.tree.DecisionTreeClassifier", "params": {}}},
    ])  # fmt: skip


def change_tree(tree, tensors, dice):
    """One change of a node."""
    found = places(tree, [])
    if not found:
        return
    parent, key = dice.choice(found)
    kind = dice.randrange(9)
    if kind < 3:
        parent[key] = values(dice, tensors)
    elif kind == 3 and type(parent[key]) in (int, float):
        parent[key] += dice.choice((-1, 1, 1000))
    elif kind == 4:
        del parent[key]
    elif kind == 5:
        other, place = dice.choice(found)
        parent[key], other[place] = json.loads(json.dumps(other[place])), json.loads(json.dumps(parent[key]))
    elif kind == 6 and isinstance(parent, dict):
        parent[dice.choice(("x", "state", "params", "coef_", "_n", "__init__", "fit", "n_features_in_"))] = parent.pop(
            key
        )
    elif kind == 7 and isinstance(parent, list):
        parent.insert(key, json.loads(json.dumps(dice.choice(parent))))
    elif isinstance(parent[key], str):
        parent[key] = dice.choice((*CLASSES, *(str(k) for _, k in found[:40])))
    else:
        parent[key] = values(dice, tensors)


KINDS = {"F64": 8, "I64": 8, "U64": 8, "F32": 4, "I32": 4, "U32": 4, "F16": 2, "I16": 2, "U8": 1, "I8": 1, "BOOL": 1}
ODD = [np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, 1e308, 5e-324]


def change_tensor(header, body, dice):
    """One change of a tensor that keeps the outer format valid: numbers, dtype, shape, or size."""
    name = dice.choice([key for key in header if key != "__metadata__"])
    entry = header[name]
    start, stop = entry["data_offsets"]
    raw = bytearray(body[start:stop])
    kind = dice.randrange(5)
    if kind <= 1 and raw:
        array = np.frombuffer(raw, dtype=container._DTYPES[entry["dtype"]])
        i = dice.randrange(array.size)
        array[i] = dice.choice(ODD) if array.dtype.kind == "f" else dice.choice((0, 1, 2, 100)) * (array.dtype != bool)
        if array.dtype == np.int64 and dice.random() < 0.5:
            array[i] = dice.choice((-1, -(2**63), 2**63 - 1, 2**31, 5))
    elif kind == 2:
        new = dice.choice([k for k, size in KINDS.items() if len(raw) % size == 0])
        entry["dtype"], entry["shape"] = new, [len(raw) // KINDS[new]]
    elif kind == 3:
        n = int(np.prod(entry["shape"]))
        entry["shape"] = dice.choice(
            ([n], [1, n], [n, 1], entry["shape"][::-1], [*entry["shape"], 1], [1, *entry["shape"]])
        )
    else:
        size = KINDS[entry["dtype"]]
        rows = dice.randrange(0, len(raw) // size + 3)
        raw = bytearray((raw * 3 + bytes(size * 3))[: rows * size])
        entry["shape"] = [rows]
        shift = len(raw) - (stop - start)
        for other in header:
            if other != "__metadata__" and header[other]["data_offsets"][0] >= stop and other != name:
                header[other]["data_offsets"] = [n + shift for n in header[other]["data_offsets"]]
        entry["data_offsets"] = [start, start + len(raw)]
    return body[:start] + bytes(raw) + body[stop:]


@pytest.mark.long
def test_changed_structure_with_a_matching_checksum():
    dice = random.Random(3)
    counts = dict.fromkeys(("refused", "used", "said no"), 0)
    for name, data, sample, n in rounds(10_000):
        head, body = split(data)
        header_text = head[8:].decode()
        tree_text = json.loads(header_text)["__metadata__"]["tree"]
        for i in range(n):
            header, tree, new_body = json.loads(header_text), json.loads(tree_text), body
            tensors = [key for key in header if key != "__metadata__"]
            for _ in range(dice.choice((1, 1, 1, 2, 3))):
                if tensors and dice.random() < 0.4:
                    new_body = change_tensor(header, new_body, dice)
                else:
                    change_tree(tree, tensors, dice)
            header["__metadata__"]["tree"] = json.dumps(tree)
            text = json.dumps(header).replace('{"__metadata__": {"checksum": "', container.PREFIX.decode(), 1).encode()
            try:
                counts[attempt(seal(len(text).to_bytes(8, "little") + text, new_body), sample)] += 1
            except Exception as error:
                raise AssertionError(f"{name}, change {i}: {error!r}\n{json.dumps(tree)}\n{header}") from error
    assert sum(counts.values()) >= 10_000
    assert min(counts.values()) > 0, counts
