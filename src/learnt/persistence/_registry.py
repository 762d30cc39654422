"""What may stand in a model file, by name. Nothing that is not in these tables is ever imported or called.

To make a new estimator savable, add its public name to `CLASSES` and its fitted attributes to `_schemas.SCHEMAS`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from learnt.persistence._errors import Refused, shown
from learnt.persistence._forests import GROVE_FIELDS
from learnt.persistence._trees import SURROGATE_FIELDS, TREE_FIELDS

LEARNT = {
    "learnt.baseline.ConstantClassifier",
    "learnt.baseline.ConstantRegressor",
    "learnt.cluster.KMeans",
    "learnt.decomposition.DictionaryLearning",
    "learnt.decomposition.MiniBatchDictionaryLearning",
    "learnt.decomposition.PCA",
    "learnt.decomposition.SparseCoder",
    "learnt.ensemble.AdaBoostClassifier",
    "learnt.ensemble.AdaBoostRegressor",
    "learnt.ensemble.BaggingClassifier",
    "learnt.ensemble.BaggingRegressor",
    "learnt.ensemble.ExtraTreesClassifier",
    "learnt.ensemble.ExtraTreesRegressor",
    "learnt.ensemble.FunctionalGradientBoosting",
    "learnt.ensemble.GradientBoostingClassifier",
    "learnt.ensemble.GradientBoostingRegressor",
    "learnt.ensemble.HistGradientBoostingClassifier",
    "learnt.ensemble.HistGradientBoostingRegressor",
    "learnt.ensemble.RandomForestClassifier",
    "learnt.ensemble.RandomForestRegressor",
    "learnt.ensemble.RandomTreesEmbedding",
    "learnt.ensemble.RecalibratedClassifier",
    "learnt.ensemble.StackingClassifier",
    "learnt.ensemble.StackingRegressor",
    "learnt.ensemble.VotingClassifier",
    "learnt.ensemble.VotingRegressor",
    "learnt.erm.ERMClassifier",
    "learnt.erm.ERMRegressor",
    "learnt.linear_model.ARDRegression",
    "learnt.linear_model.BayesianLinearRegression",
    "learnt.linear_model.BayesianRidge",
    "learnt.linear_model.ElasticNet",
    "learnt.linear_model.ElasticNetCV",
    "learnt.linear_model.ForwardStagewiseRegression",
    "learnt.linear_model.GammaRegressor",
    "learnt.linear_model.HuberRegressor",
    "learnt.linear_model.IterativelyReweightedLeastSquares",
    "learnt.linear_model.Lasso",
    "learnt.linear_model.LassoCV",
    "learnt.linear_model.LinearRegression",
    "learnt.linear_model.LogisticRegression",
    "learnt.linear_model.LogisticRegressionCV",
    "learnt.linear_model.MatchingPursuit",
    "learnt.linear_model.MultiTaskElasticNet",
    "learnt.linear_model.MultiTaskElasticNetCV",
    "learnt.linear_model.MultiTaskLasso",
    "learnt.linear_model.MultiTaskLassoCV",
    "learnt.linear_model.NonlinearLeastSquares",
    "learnt.linear_model.OrthogonalMatchingPursuit",
    "learnt.linear_model.OrthogonalMatchingPursuitCV",
    "learnt.linear_model.Perceptron",
    "learnt.linear_model.PoissonRegressor",
    "learnt.linear_model.QuantileRegressor",
    "learnt.linear_model.Ridge",
    "learnt.linear_model.RidgeCV",
    "learnt.linear_model.RidgeClassifier",
    "learnt.linear_model.RidgeClassifierCV",
    "learnt.linear_model.SGDClassifier",
    "learnt.linear_model.SGDRegressor",
    "learnt.linear_model.TotalLeastSquares",
    "learnt.linear_model.TweedieRegressor",
    "learnt.naive_bayes.GaussianNB",
    "learnt.neighbors.KNeighborsClassifier",
    "learnt.neighbors.NearestNeighbors",
    "learnt.preprocessing.AnscombeTransformer",
    "learnt.preprocessing.FourierFeatures",
    "learnt.preprocessing.FunctionFeatures",
    "learnt.preprocessing.GaussianFeatures",
    "learnt.preprocessing.PolynomialFeatures",
    "learnt.preprocessing.StandardScaler",
    "learnt.preprocessing.TableEncoder",
    "learnt.svm.LinearSVC",
    "learnt.svm.LinearSVR",
    "learnt.tree.DecisionTreeClassifier",
    "learnt.tree.DecisionTreeRegressor",
    "learnt.tree.DyadicPartitionRegressor",
    "learnt.tree.ExtraTreeClassifier",
    "learnt.tree.ExtraTreeRegressor",
    "learnt.tree.ModelTreeRegressor",
}

# The scikit-learn classes our models sit in or behind: all of them can be rebuilt from plain data.
SKLEARN = {
    "sklearn.compose.ColumnTransformer",
    "sklearn.compose.TransformedTargetRegressor",
    "sklearn.impute.MissingIndicator",
    "sklearn.impute.SimpleImputer",
    "sklearn.pipeline.FeatureUnion",
    "sklearn.pipeline.Pipeline",
    "sklearn.preprocessing.FunctionTransformer",
    "sklearn.preprocessing.LabelEncoder",
    "sklearn.preprocessing.MinMaxScaler",
    "sklearn.preprocessing.OneHotEncoder",
    "sklearn.preprocessing.OrdinalEncoder",
    "sklearn.preprocessing.StandardScaler",
}

# Plain data holders that are no estimators (no `get_params`): splitters, selectors, frozen dataclasses. They are
# rebuilt by calling the class with the fields named here and by nothing else.
RECORDS: dict[str, tuple[str, ...]] = {
    "learnt.erm.losses.Absolute": (),
    "learnt.erm.losses.EpsilonInsensitive": ("epsilon",),
    "learnt.erm.losses.Exponential": (),
    "learnt.erm.losses.Gamma": (),
    "learnt.erm.losses.Hinge": ("threshold",),
    "learnt.erm.losses.Huber": ("delta",),
    "learnt.erm.losses.Log": (),
    "learnt.erm.losses.LogCosh": (),
    "learnt.erm.losses.ModifiedHuber": (),
    "learnt.erm.losses.Poisson": (),
    "learnt.erm.losses.Quantile": ("q",),
    "learnt.erm.losses.Softmax": (),
    "learnt.erm.losses.Squared": (),
    "learnt.erm.losses.SquaredEpsilonInsensitive": ("epsilon",),
    "learnt.erm.losses.SquaredHinge": (),
    "learnt.erm.losses.Tweedie": ("power",),
    "learnt.erm.penalties.Box": ("low", "high"),
    "learnt.erm.penalties.ElasticNet": ("l1_ratio",),
    "learnt.erm.penalties.L0": (),
    "learnt.erm.penalties.L1": (),
    "learnt.erm.penalties.L2": (),
    "learnt.erm.penalties.NoPenalty": (),
    "learnt.erm.penalties.NonNegative": (),
    "learnt.forestry.BoostedTrees": (
        "n_features",
        "n_outputs",
        "threshold",
        "left",
        "feature",
        "missing_left",
        "cover",
        "gain",
        "roots",
        "outputs",
        "table",
    ),
    "learnt.forestry.Categories": ("columns", "values"),
    "learnt.forestry.Surrogates": SURROGATE_FIELDS,
    "learnt.forestry.Grove": GROVE_FIELDS,
    "learnt.forestry.Tree": TREE_FIELDS,
    "sklearn.compose.make_column_selector": ("pattern", "dtype_include", "dtype_exclude"),
    "sklearn.model_selection.GroupKFold": ("n_splits", "shuffle", "random_state"),
    "sklearn.model_selection.KFold": ("n_splits", "shuffle", "random_state"),
    "sklearn.model_selection.LeaveOneOut": (),
    "sklearn.model_selection.ShuffleSplit": ("n_splits", "test_size", "train_size", "random_state"),
    "sklearn.model_selection.StratifiedKFold": ("n_splits", "shuffle", "random_state"),
    "sklearn.model_selection.TimeSeriesSplit": ("n_splits", "max_train_size", "test_size", "gap"),
}

CLASSES = LEARNT | SKLEARN | set(RECORDS)

# A class that has moved since some release wrote a file: its old name and its name now.
RENAMED: dict[str, str] = {}

# The functions a `FunctionTransformer` or `TransformedTargetRegressor` may carry, and the types that are parameters.
UFUNCS = {
    f"numpy.{name}": getattr(np, name)
    for name in (
        "abs", "arcsinh", "arctan", "cbrt", "ceil", "cos", "cosh", "exp", "exp2", "expm1", "floor", "log", "log10",
        "log1p", "log2", "negative", "reciprocal", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh",
    )
}  # fmt: skip
TYPES: dict[str, type] = {
    **{t.__name__: t for t in (object, bool, int, float, str)},
    **{
        f"numpy.{name}": getattr(np, name)
        for name in (
            "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
            "float64", "number", "integer", "floating", "object_", "str_", "datetime64", "timedelta64",
        )
    },
}  # fmt: skip


@cache
def resolve(name: str) -> type:
    """The class a name of the tables stands for."""
    name = RENAMED.get(name, name)
    if name not in CLASSES:
        raise Refused(f"it holds an object of the class {shown(name)}, which is not one that learnt loads")
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError):
        raise Refused(
            f"it needs {name}, which this installation does not have: upgrade {module.split('.')[0]}"
        ) from None


@cache
def name_of(cls: Any) -> str | None:
    """The name of exactly this class in the tables, or None; a subclass is another class."""
    for name in sorted(CLASSES):
        module, _, attribute = name.rpartition(".")
        if attribute == cls.__name__ and module.partition(".")[0] == cls.__module__.partition(".")[0]:
            try:
                if resolve(name) is cls:
                    return name
            except Refused:
                continue
    return None


def function_name(function: Any) -> str | None:
    """The name of an allowed function, or None."""
    return next((name for name, known in UFUNCS.items() if known is function), None)


def type_name(kind: type) -> str | None:
    """The name of an allowed type, or None."""
    return next((name for name, known in TYPES.items() if known is kind), None)
