"""Numbers that wrap around, counts of things that are not there, arrays of another rank: refused when a file is loaded.

Each of these passed `load` once and then killed the process, hung, took all memory or raised a foreign error.
"""

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from learnt.baseline import ConstantClassifier
from learnt.cluster import KMeans
from learnt.decomposition import PCA, DictionaryLearning, FactorAnalysis, MiniBatchDictionaryLearning, SparseCoder
from learnt.density import Histogram
from learnt.discriminant_analysis import LinearDiscriminantAnalysis
from learnt.engine.bounds import offsets, pieces, rising, within
from learnt.engine.schema import number, real
from learnt.ensemble import (
    AdaBoostClassifier,
    BaggingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
    StackingRegressor,
)
from learnt.gaussian_process import GaussianProcessRegressor
from learnt.kernel_approximation import AdditiveChi2Sampler, Nystroem, PolynomialCountSketch, SkewedChi2Sampler
from learnt.kernel_ridge import KernelRidge
from learnt.linear_model import (
    ARDRegression,
    LinearRegression,
    LogisticRegressionCV,
    NonlinearLeastSquares,
    Ridge,
    RidgeClassifier,
)
from learnt.neighbors import LMNN, KernelDensity, NearestNeighbors, NeighborhoodComponentsAnalysis
from learnt.persistence import LearntFileError
from learnt.persistence._files import load_bytes, to_bytes
from learnt.preprocessing import AnscombeTransformer, FourierFeatures, GaussianFeatures
from learnt.svm import SVR, OneClassSVM
from learnt.tree import DecisionTreeClassifier, DecisionTreeRegressor, ModelTreeRegressor

crafting = runpy.run_path(str(Path(__file__).with_name("crafting.py")))
pytestmark = pytest.mark.long  # forged files, as those of `test_crafted` and `test_fuzz`; `test_hostile` is quick

TOP = 2**63 - 1
i = np.arange(24)
X = np.round(np.column_stack([np.sin(i), np.cos(3 * i), (i % 7) / 3.0]), 3)
y = X @ [1.0, -2.0, 0.5]
labels = np.digitize(y, [-1.0, 1.0])
size, town = np.where(i % 5 == 0, np.nan, y), np.array(list("abcd"))[np.digitize(y, [-1.5, 0.0, 1.5])]
table = pd.DataFrame({"size": size, "town": town, "length": np.round(y)})


class Taken:
    """A saved model taken apart; `state` and `fields(name)` are changed in place."""

    def __init__(self, model):
        self.tree = crafting["opened"](to_bytes(model))
        self.state, self.params = self.tree["object"]["state"], self.tree["object"]["params"]

    def fields(self, name):
        return self.state[name]["record"]["fields"]

    def load(self):
        return load_bytes(crafting["written"](self.tree))

    def refused(self, words=""):
        with pytest.raises(LearntFileError) as caught:
            self.load()
        assert caught.value.__cause__ is None
        assert words in str(caught.value)


def put(fields, name, place, value):
    """Write entries of an array."""
    array = fields[name]["array"].copy()
    array[place] = value
    fields[name]["array"] = array


def boosted():
    model = HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=2)
    return Taken(model.fit(X, y))


def forest():
    return Taken(RandomForestRegressor(3, random_state=0, max_depth=3).fit(X, y))


def surrogates():
    model = DecisionTreeClassifier(max_depth=3, missing="surrogate", categorical_features=[1], random_state=0)
    return Taken(model.fit(table, labels))


@pytest.mark.parametrize("make", [boosted, forest, surrogates])
def test_what_is_not_changed_loads(make):
    make().load()


# --- integers that wrap


def test_children_of_boosted_trees_do_not_wrap():
    for value in (TOP, TOP - 1, -TOP, 2**32, 2**32 + 1, -1, 0):
        taken = boosted()
        put(taken.fields("_trees"), "left", 0, value)
        taken.refused("boosted trees")


def test_roots_and_outputs_of_boosted_trees_do_not_wrap():
    for name in ("roots", "outputs"):
        for pair in ((2**62, -(2**63) + 2**61), (TOP, -TOP), (TOP, TOP), (-1, 1)):
            taken = boosted()
            put(taken.fields("_trees"), name, slice(1, 3), pair)
            taken.refused("boosted trees")


def test_columns_of_boosted_trees_do_not_wrap():
    for value in (TOP, -TOP - 1, 3, -5):
        taken = boosted()
        put(taken.fields("_trees"), "feature", 0, value)
        taken.refused("boosted trees")


def test_a_node_of_boosted_trees_has_one_parent():
    """Two parents make a graph whose paths are longer than the depth that Shapley values are given memory for."""
    taken = boosted()
    fields = taken.fields("_trees")
    inner = np.flatnonzero(fields["feature"]["array"] != -1)
    put(fields, "left", inner[0], fields["left"]["array"][inner[1]])
    taken.refused("boosted trees")


def test_leaves_of_boosted_trees_are_finite():
    taken = boosted()
    fields = taken.fields("_trees")
    put(fields, "threshold", np.flatnonzero(fields["feature"]["array"] == -1)[0], np.nan)
    taken.refused("finite")


def test_surrogates_begin_in_order():
    for middle in ((2**62, -(2**63) + 2**61), (TOP, -TOP), (-TOP - 1, TOP)):
        taken = surrogates()
        put(taken.fields("tree_")["surrogates"]["record"]["fields"], "start", slice(1, 3), middle)
        taken.refused("surrogates")


@pytest.mark.parametrize(("start", "size"), [(TOP, 1), (1, TOP), (TOP, TOP), (2**62, 2**62), (-5, 3), (0, -1)])
def test_tables_of_surrogates_stay_inside(start, size):
    taken = surrogates()
    fields = taken.fields("tree_")["surrogates"]["record"]["fields"]
    put(fields, "table_start", 0, start)
    put(fields, "table_size", 0, size)
    taken.refused("surrogate")


@pytest.mark.parametrize(("start", "size"), [(TOP, 1), (1, TOP), (TOP, TOP), (2**62, 2**62), (-5, 3), (0, -TOP - 1)])
def test_tables_of_trees_stay_inside(start, size):
    model = DecisionTreeClassifier(max_depth=3, categorical_features=[1], random_state=0).fit(table, labels)
    for node in range(model.tree_.node_count):  # of leaves too: packing looks at all
        taken = Taken(model)
        put(taken.fields("tree_"), "table_start", node, start)
        put(taken.fields("tree_"), "table_size", node, size)
        taken.refused("tree")


def test_children_of_trees_do_not_wrap():
    for name in ("children_left", "children_right"):
        for value in (TOP, -TOP - 1, 2**32, -2):
            taken = Taken(DecisionTreeRegressor(max_depth=3).fit(X, y))
            put(taken.fields("tree_"), name, 0, value)
            taken.refused("tree")


def test_sizes_of_groves_do_not_wrap():
    taken = forest()
    sizes = taken.fields("grove_")["sizes"]["array"]
    put(taken.fields("grove_"), "sizes", slice(None), [TOP, TOP, sizes.sum() + 2])
    taken.refused("Grove")


def test_leaves_of_groves_close_their_trees():
    """A root that is a leaf with nodes behind it: found when the trees are laid out, which is now at load."""
    taken = forest()
    fields = taken.fields("grove_")
    feature = fields["feature"]["array"]
    at = np.flatnonzero(feature[1:] == -1)[0] + 1
    put(fields, "feature", [0, at], [-1, feature[0]])
    taken.refused("close some tree too early")


def test_classes_of_groves_are_as_many_as_their_values():
    for value in (TOP, 2**62, 2**32, 0):
        taken = Taken(RandomForestClassifier(2, random_state=0, max_depth=2).fit(X, labels))
        put(taken.fields("grove_"), "n_classes", 0, value)
        taken.refused("Grove")


def test_tables_of_groves_are_not_shared():
    model = RandomForestRegressor(2, random_state=0, max_depth=3, categorical_features=[0, 1, 2])
    taken = Taken(model.fit(np.abs(np.round(X)), y))
    starts = taken.fields("grove_")["table_start"]["array"]
    first, second = np.flatnonzero(starts >= 0)[:2]
    put(taken.fields("grove_"), "table_start", second, starts[first])
    taken.refused("Grove")


# --- other ranks and dtypes


@pytest.mark.parametrize("name", ["threshold", "left", "feature", "missing_left", "roots", "outputs", "table", "gain"])
def test_arrays_of_boosted_trees_have_one_axis_and_their_dtype(name):
    for change in (lambda a: a[:, None], lambda a: a[None], lambda a: a.astype("f2"), lambda a: a.astype("c16")):
        taken = boosted()
        fields = taken.fields("_trees")
        fields[name]["array"] = change(fields[name]["array"])
        taken.refused("BoostedTrees")


@pytest.mark.parametrize("name", ["threshold", "table", "feature", "value", "n_classes", "impurity", "table_start"])
def test_arrays_of_trees_have_their_axes_and_dtype(name):
    for change in (lambda a: a[..., None], lambda a: a[None], lambda a: a.ravel()[:0].reshape(0, 0, 0, 0)):
        taken = Taken(DecisionTreeRegressor(max_depth=3).fit(X, y))
        fields = taken.fields("tree_")
        fields[name]["array"] = change(fields[name]["array"])
        taken.refused("Tree")


# --- counts of things that are not there


def test_a_stack_counts_the_columns_that_its_final_estimator_takes():
    model = StackingRegressor([("a", Ridge()), ("b", LinearRegression())], Ridge(), cv=3).fit(X, y)
    for counts in ([1, 10**9], [10**9, 1], [1], [1, 2], [0, 1]):
        taken = Taken(model)
        taken.state["_n_feature_outs"] = counts
        taken.refused("StackingRegressor")


def test_features_that_nothing_is_held_for_are_not_billions():
    for model in (AnscombeTransformer().fit(np.abs(X)), DecisionTreeRegressor(max_depth=2).fit(X, y)):
        taken = Taken(model)
        taken.state["n_features_in_"] = 10**9
        if "tree_" in taken.state:
            taken.fields("tree_")["n_features"] = 10**9
        taken.refused("n_features_in_")


def test_components_outputs_and_classes_are_those_of_the_arrays():
    for dictionary in (np.eye(3), None):
        taken = Taken(SparseCoder(dictionary).fit(X))
        taken.state["n_components_"] = 2**29
        taken.refused("SparseCoder")
    for value in (2**40, 2**62):
        taken = forest()
        taken.state["n_outputs_"] = value
        taken.refused("RandomForestRegressor")
    for value in ({"array": np.array([3, 3])}, {"array": np.array(3.0)}, 2**62, [3], None):
        taken = Taken(DecisionTreeClassifier(max_depth=2).fit(X, labels))
        taken.state["n_classes_"] = value
        taken.refused("DecisionTreeClassifier")


@pytest.mark.parametrize("value", [1e308, 1.5, -0.5, "no", {"array": np.zeros((3, 0))}])
def test_a_forest_looks_at_a_share_of_its_columns(value):
    taken = forest()
    taken.params["max_features"] = value
    taken.refused("max_features")


def test_bagging_draws_what_it_drew():
    for name, value in (("_max_features", 2**62), ("_seeds", {"array": np.array([TOP, 1, 2])}), ("_max_features", 2)):
        taken = Taken(BaggingRegressor(n_estimators=3, random_state=0).fit(X, y))
        taken.state[name] = value
        taken.refused("BaggingRegressor")


# --- parameters and attributes that methods other than fit read


@pytest.mark.parametrize("loss", ["no such loss", "hinge", 3, None, ["squared_error"], {"array": np.zeros(3)}])
def test_boosting_has_a_loss_of_its_registry(loss):
    taken = boosted()
    taken.params["loss"] = loss
    taken.refused("HistGradientBoostingRegressor")
    taken = Taken(HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=2).fit(X, labels))
    taken.params["loss"] = loss  # three classes: no loss of two sides either
    taken.refused("HistGradientBoostingClassifier")


def test_a_constant_is_one_of_the_classes():
    for constant in ("passthrough", [0, 1], {"array": np.zeros(0)}, None, [[]]):
        taken = Taken(ConstantClassifier(strategy="constant", constant=1).fit(X, labels))
        taken.params["constant"] = constant
        taken.refused("ConstantClassifier")


def test_coefficients_and_what_belongs_to_them_agree():
    taken = Taken(RidgeClassifier().fit(X, labels))
    taken.state["coef_"]["array"] = np.zeros(3)
    taken.refused("RidgeClassifier")
    taken = Taken(ARDRegression().fit(X, y))
    put(taken.state, "lambda_", 0, 1e308)
    taken.refused("ARDRegression")
    taken = Taken(DictionaryLearning(2, random_state=0, max_iter=5).fit(X))
    taken.state["components_"]["array"] = np.zeros((0, 3))
    taken.refused("DictionaryLearning")


def test_no_jobs_at_all_is_refused():
    taken = Taken(LinearRegression().fit(X, y))
    taken.params["n_jobs"] = 0
    taken.refused("n_jobs")


def test_integers_of_any_length_are_no_numbers():
    taken = Taken(LinearRegression().fit(X, y))
    taken.state["intercept_"] = 10**400
    taken.refused("intercept_")


def test_bounds_hold_for_arrays_that_may_hold_nan():
    check = real(None, low=0.0, finite=False)
    assert check(np.array([np.nan, 1.0, np.inf]), {}) is None
    assert check(np.array([np.nan, np.nan]), {}) is None
    assert check(np.array([np.nan, -1.0]), {}) is not None
    assert real(None, above=0.0, finite=False)(np.array([0.0, np.nan]), {}) is not None
    assert real(None, high=1.0, finite=False)(np.array([np.inf]), {}) is not None
    assert number(0.0, finite=False)(float("nan"), {}) is not None
    assert number(finite=False)(float("nan"), {}) is None
    model = LogisticRegressionCV(Cs=2, cv=2, use_legacy_attributes=False).fit(X, labels)
    taken = Taken(model)
    put(taken.state, "Cs_", 0, -1.0)
    taken.refused("Cs_")


def test_a_width_whose_square_is_infinite():
    bumps = GaussianFeatures(3, width=1e300).fit(X)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(bumps.transform(X)[:, -3:], 1.0)


def test_noise_whose_square_is_infinite():
    taken = Taken(NonlinearLeastSquares().fit(X, y + np.sin(17 * i)))
    taken.state["sigma_"] = 1e300
    low, high = taken.load().predict_interval(X)
    assert np.isinf(low).all()
    assert np.isinf(high).all()


def test_a_search_without_a_radius_is_refused():
    model = NearestNeighbors(radius=None).fit(X)
    with pytest.raises(ValueError, match="radius"):
        model.radius_neighbors(X)


def test_counts_of_columns_that_are_not_there():
    taken = Taken(LinearDiscriminantAnalysis().fit(X, labels))
    taken.state["_n_features_out"] = 2**53
    taken.refused("counts more directions")
    taken = Taken(AdditiveChi2Sampler(sample_steps=1000, sample_interval=0.1).fit(np.abs(X)))
    taken.state["n_features_in_"] = 10**6
    taken.refused("too many columns")


def test_loadings_of_any_size():
    taken = Taken(FactorAnalysis(2).fit(X))
    put(taken.state, "components_", (0, 0), np.finfo(float).max)
    taken.refused("too large for its noise")
    put(taken.state, "components_", (0, 0), 1e150)
    model = taken.load()
    assert np.isfinite(model.transform(X)).all()
    assert np.isfinite(model.score_samples(X)).all()


@pytest.mark.parametrize("value", [0.5, 2**40, "auto", [1], {"dict": {"gamma": "x"}}])
def test_parameters_of_kernels_and_metrics_are_a_dict_of_numbers(value):
    for model in (KernelRidge(kernel="rbf").fit(X, y), Nystroem(n_components=5).fit(X)):
        taken = Taken(model)
        taken.params["kernel_params"] = value
        taken.refused("kernel_params")
    taken = Taken(KernelDensity().fit(X))
    taken.params["metric_params"] = value
    taken.refused("metric")


def test_a_machine_of_one_function_has_one():
    for model in (OneClassSVM().fit(X), SVR().fit(X, y)):
        taken = Taken(model)
        dual = taken.state["dual_coef_"]["array"]
        for rows in (dual[:0], np.concatenate([dual, dual])):
            taken.state["dual_coef_"] = {"array": rows}
            taken.refused("functions than one")


@pytest.mark.parametrize("make", [LMNN, NeighborhoodComponentsAnalysis])
def test_a_metric_that_is_not_fitted_is_refused(make):
    with pytest.raises(NotFittedError):
        make().get_mahalanobis_matrix()


# --- the helper itself


def test_bounds_against_plain_integers():
    """Against Python's integers, which do not wrap, over extremes of int64."""
    extremes = [-(2**63), -(2**63) + 1, -(2**62), -1, 0, 1, 2, 3, 2**62, 2**63 - 2, 2**63 - 1]
    for a in extremes:
        for b in extremes:
            pair = np.array([a, b])
            assert within(pair, 0, 3) == (0 <= a <= 3 and 0 <= b <= 3)
            assert rising(pair) == (a < b)
            assert offsets(np.array([0, a, b, 3]), 3) == (0 <= a <= b <= 3)
            inside = a >= 0 and b >= 0 and a + b <= 3
            assert pieces(np.array([a]), np.array([b]), 3) == inside


@pytest.mark.parametrize(
    ("model", "name", "value"),
    [
        (PCA(2), "svd_solver", {"array": np.array([1, 2])}),
        (SkewedChi2Sampler(skewedness=9.0, n_components=4), "skewedness", "omp"),
        (PolynomialCountSketch(n_components=8), "n_components", 2**31 - 1),
        (MiniBatchDictionaryLearning(2, max_iter=1), "alpha", "auto"),
        (DictionaryLearning(2, max_iter=1), "alpha", "auto"),
        (KernelDensity(), "metric_params", {"array": np.ones(3)}),
        (FourierFeatures(), "n_harmonics", 10**6),
        (RandomTreesEmbedding(n_estimators=2), "sparse_output", {"array": np.ones((0, 3))}),
        (KMeans(2), "verbose", {"array": np.ones(3)}),
    ],
)
def test_parameters_that_answers_depend_on(model, name, value):
    taken = Taken(model.fit(X))
    taken.params[name] = value
    taken.refused(name)


def test_members_predict_labels_of_the_ensemble():
    taken = Taken(AdaBoostClassifier(n_estimators=2).fit(X, town))
    taken.state["classes_"]["texts"]["items"][-1] = "z"
    taken.refused("classes that it does not know")


def test_labels_of_an_ensemble_rise():
    taken = Taken(AdaBoostClassifier(n_estimators=2).fit(X, town))
    taken.state["classes_"]["texts"]["items"].reverse()
    taken.refused("classes out of order")


def test_members_of_an_ensemble_are_fitted():
    taken = Taken(AdaBoostClassifier(n_estimators=2).fit(X, town))
    taken.state["estimators_"][0]["object"].pop("state")
    taken.refused("never fitted")


def test_bins_have_widths():
    taken = Taken(Histogram(bins=2).fit(X))
    most = np.finfo(np.float64).max
    taken.state["bin_edges_"][0]["array"] = np.array([-most, 0.0, most])
    taken.refused("wider than any number")


def test_densities_have_a_sum():
    taken = Taken(Histogram(bins=2).fit(X))
    taken.state["density_"]["array"] = np.full((2,) * X.shape[1], np.finfo(np.float64).max)
    taken.refused("one without an end")


def test_models_of_leaves_give_one_number_a_row():
    taken = Taken(ModelTreeRegressor(LinearRegression(), max_depth=1).fit(X, X[:, 0]))
    for member in taken.state["estimators_"]:
        member["object"]["state"]["coef_"]["array"] = np.ones((2, X.shape[1]))
    with pytest.raises(ValueError, match="it must give one number a row"):
        taken.load().predict(X)


def test_a_kernel_has_no_negative_factor():
    taken = Taken(GaussianProcessRegressor(optimizer=None).fit(X, X[:, 0]))
    taken.state["kernel_"]["record"]["fields"]["k1"]["record"]["fields"]["constant_value"] = -1.0
    taken.refused("parameters that it cannot have")


def test_a_density_has_rows():
    taken = Taken(KernelDensity().fit(X))
    taken.state["_fit_X"] = {"array": np.zeros((0, 3))}
    taken.refused("no rows")
