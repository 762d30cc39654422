"""Files made by someone who knows the format and means harm: nothing is imported, nothing is read out of bounds."""

import json
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from learnt.linear_model import LinearRegression
from learnt.naive_bayes import GaussianNB
from learnt.neighbors import KNeighborsClassifier
from learnt.persistence import LearntFileError
from learnt.persistence import _container as container
from learnt.persistence._files import load_bytes, to_bytes
from learnt.preprocessing import StandardScaler, TableEncoder

X = np.round(np.random.default_rng(0).normal(size=(20, 3)), 1)
y = X @ [1.0, 2.0, 3.0]


class Forge:
    """A model file taken apart: change `tree` and `arrays`, then put it together with a matching checksum."""

    def __init__(self, model):
        data = to_bytes(model)
        length = int.from_bytes(data[:8], "little")
        header, body = json.loads(data[8 : 8 + length]), np.frombuffer(data[8 + length :], dtype=np.uint8)
        self.metadata = header.pop("__metadata__")
        self.tree = json.loads(self.metadata.pop("tree"))
        self.root = self.tree["object"]
        self.arrays = {name: _array(entry, body).copy() for name, entry in header.items()}

    def load(self):
        metadata = {**self.metadata, "tree": json.dumps(self.tree)}
        metadata.pop("checksum")
        head, parts = container.build(metadata, self.arrays)
        return load_bytes(b"".join([head, *parts]))

    def refused(self, words):
        with pytest.raises(LearntFileError) as caught:
            self.load()
        message = str(caught.value)
        assert words in message
        assert "\n" not in message
        assert caught.value.__cause__ is None


def _array(entry, body):
    start, stop = entry["data_offsets"]
    return body[start:stop].view(container._DTYPES[entry["dtype"]]).reshape(entry["shape"])


def test_a_forged_file_that_changes_nothing_loads():
    model = Forge(LinearRegression().fit(X, y)).load()
    np.testing.assert_allclose(model.predict(X), y)


# --- names


@pytest.mark.parametrize(
    "name",
    ["learnt_trap.Model", "os.system", "builtins.eval", "sklearn.svm.SVC", "learnt.linear_model._base.Ridge",
     "learnt", "learnt.persistence.load", "sklearn.compose.make_column_selector", "",
     ".", "learnt.linear_model.Ridge\n", 3, None, []],
)  # fmt: skip
def test_a_class_outside_the_registry_is_not_even_imported(name, tmp_path, monkeypatch):
    (tmp_path / "learnt_trap.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    forge = Forge(LinearRegression().fit(X, y))
    forge.root["class"] = name
    forge.refused("")
    assert "learnt_trap" not in sys.modules


@pytest.mark.parametrize("key", ["predict", "fit", "__class__", "__dict__", "_estimator_type", "coef", "x y", "",
                                 "get_params", "_repr_html_", "fit_intercept", "_sklearn_output_config"])  # fmt: skip
def test_attributes_that_are_not_of_the_class_are_refused(key):
    forge = Forge(LinearRegression().fit(X, y))
    forge.root["state"][key] = {"function": "numpy.log"}
    forge.refused("")


def test_functions_and_types_are_those_of_the_list():
    for node in ({"function": "os.system"}, {"function": "numpy.load"}, {"type": "subprocess.Popen"}, {"dtype": "O8"}):
        forge = Forge(LinearRegression())
        forge.root["params"]["tol"] = node
        forge.refused("")


def test_a_pipeline_names_no_cache_folder():
    from sklearn.pipeline import make_pipeline

    forge = Forge(make_pipeline(StandardScaler()))
    forge.root["params"]["memory"] = "/tmp/pickles"
    forge.refused("memory")


def test_parameters_are_those_of_the_constructor():
    for key in ("self", "args", "kwargs", "alpha", "__init__"):
        forge = Forge(LinearRegression())
        forge.root["params"][key] = 1
        forge.refused("parameter")


# --- sizes and indices


def test_shapes_must_agree():
    forge = Forge(LinearRegression().fit(X, y))
    forge.arrays["coef_"] = np.zeros(4)
    forge.refused("has the shape (4,)")
    forge = Forge(LinearRegression().fit(X, y))
    forge.root["state"]["n_features_in_"] = 4
    forge.refused("has the shape (3,)")
    forge = Forge(GaussianNB().fit(X, y > 0))
    forge.arrays["theta_"] = forge.arrays["theta_"].T.copy()
    forge.refused("theta_")
    forge = Forge(GaussianNB().fit(X, y > 0))
    forge.arrays["var_"][0, 0] = -1.0
    forge.refused("var_")


@pytest.mark.parametrize("fmt", ["csr", "csc", "coo"])
@pytest.mark.parametrize("value", [-1, 6, 2**31 - 1])
def test_sparse_indices_stay_inside(holder, fmt, value):
    matrix = getattr(sp, f"{fmt}_array")(np.eye(5) * 0.3)
    names = ("row", "col") if fmt == "coo" else ("indices", "indptr")
    for name in names:
        for i in (0, 2, -1):
            forge = Forge(holder().fit(matrix))
            forge.arrays[f"fitted_.{name}"][i] = value
            forge.refused("sparse")
        forge = Forge(holder().fit(matrix))
        forge.arrays[f"fitted_.{name}"] = forge.arrays[f"fitted_.{name}"][:-1]
        forge.refused("sparse")
    forge = Forge(holder().fit(matrix))
    forge.root["state"]["fitted_"]["sparse"]["shape"] = [3, 3]
    forge.refused("sparse")


@pytest.mark.parametrize(
    ("key", "value"), [("pos", 625), ("pos", -1), ("pos", 2**40), ("gauss", [2, 0.0]), ("bits", "SFC64")]
)
def test_random_generators_in_impossible_states(holder, key, value):
    forge = Forge(holder(np.random.RandomState(0)))
    forge.root["params"]["value"]["random"][key] = value
    forge.refused("random generator")


def test_random_keys_of_another_length(holder):
    forge = Forge(holder(np.random.RandomState(0)))
    [name] = forge.arrays
    forge.arrays[name] = forge.arrays[name][:600]
    forge.refused("random generator")


def test_neighbours_vote_for_classes_that_are_there():
    for array, index, value in (("_y", 0, 3), ("_y", -1, 255), ("_fit_X", (0, 0), np.nan)):
        forge = Forge(KNeighborsClassifier().fit(X + 0.01, np.arange(20) % 3))
        forge.arrays[array][index] = value
        forge.refused("KNeighborsClassifier")
    for key, value in (("n_samples_fit_", 21), ("effective_metric_", "precomputed"), ("outputs_2d_", True),
                       ("effective_metric_", "nan_euclidean"), ("effective_metric_params_", {"dict": {"VI": 1}}),
                       ("metric", 3)):  # fmt: skip
        forge = Forge(KNeighborsClassifier().fit(X + 0.01, np.arange(20) % 3))
        forge.root["params" if key == "metric" else "state"][key] = value
        forge.refused("KNeighborsClassifier")


# --- encoders of scikit-learn, whose own code trusts its attributes down to compiled loops


def test_a_one_hot_encoder_counts_its_columns():
    table = np.array([["a", "x"], ["b", "y"], ["a", "z"]], dtype=object)
    for counts in ([1, 3], [2, 2], [2, 1000], [2], [2, 3, 1], [-2, 3]):
        forge = Forge(OneHotEncoder().fit(table))
        forge.root["state"]["_n_features_outs"] = counts
        forge.refused("OneHotEncoder")
    forge = Forge(OneHotEncoder(drop="first").fit(table))
    forge.root["state"]["_drop_idx_after_grouping"]["texts"]["items"] = [0, 7]
    forge.refused("OneHotEncoder")


def test_categories_are_sorted_and_different():
    numbers = np.array([[1.0], [2.0], [3.0]])
    for encoder in (OneHotEncoder(), OrdinalEncoder()):
        for changed in ([3.0, 2.0, 1.0], [1.0, 1.0, 2.0], [1.0, np.nan, 2.0], [1.0, 2.0, np.inf]):
            forge = Forge(encoder.fit(numbers))
            forge.arrays["categories_[0]"][:] = changed
            forge.refused("rising order")
        forge = Forge(encoder.fit(np.array([["a"], ["b"]], dtype=object)))
        forge.root["state"]["categories_"][0]["texts"]["items"] = ["a", "a"]
        forge.refused("twice")


def test_rare_categories_stay_inside():
    table = np.array([["a"]] * 5 + [["b"]] * 5 + [["c"], ["d"]], dtype=object)
    for encoder in (OneHotEncoder(min_frequency=2), OrdinalEncoder(min_frequency=2)):
        for name, changed in (("_infrequent_indices[0]", [2, 9]), ("_default_to_infrequent_mappings[0]", [0, 1, 9, 2])):
            forge = Forge(encoder.fit(table))
            forge.arrays[name][:] = changed
            forge.refused("rare categories")


def test_a_column_transformer_selects_columns_that_are_there():
    model = ColumnTransformer([("n", StandardScaler(), [0, 1])], remainder="passthrough").fit(X)
    for columns in ([0, 3], [-4], "a", ["a"], [0, "a"], [True, False], 1.5, {"slice": [0, 1, 0]}, [None]):
        forge = Forge(model)
        forge.root["state"]["transformers_"][0]["tuple"][2] = columns
        forge.refused("")
    forge = Forge(model)
    forge.root["state"]["_transformer_to_input_indices"]["dict"]["n"] = [0, 17]
    forge.refused("not there")


# --- tables


def test_a_table_encoder_writes_as_many_columns_as_it_has():
    table = {"n": [1.0, 2.0, None, 4.0], "c": ["a", "b", "a", "b"]}

    def forge():
        made = Forge(TableEncoder().fit(table))
        return made, [column["dict"] for column in made.root["state"]["columns_"]]

    for path, value in [
        ((0, "outputs"), ["n"]),
        ((1, "outputs"), ["a", "b", "c"]),
        ((0, "kind"), "text"),
        ((0, "kind"), "unknown"),
        ((0, "coding"), {"dict": {}}),
        ((1, "coding", "dict", "levels"), ["a", "a"]),
        ((1, "coding", "dict", "levels"), ["a"]),
        ((1, "coding", "dict", "method"), "target"),
        ((0, "coding", "dict", "fill"), {"float": "nan"}),
    ]:
        made, columns = forge()
        place = columns[path[0]]
        for step in path[1:-1]:
            place = place[step]
        place[path[-1]] = value
        made.refused("TableEncoder")
    made, columns = forge()
    del made.root["state"]["columns_"][0]
    made.refused("TableEncoder")
