"""What records may hold in a file: plain data holders that are rebuilt by calling their class with these fields.

Kinds, ranks and dtypes are stated here, so that nothing is cast silently; whether the arrays of a tree are consistent
is checked by the tree itself (`validate`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.schema import (
    Check,
    anyof,
    choice,
    count,
    dictof,
    flag,
    instance,
    integers,
    listof,
    none,
    number,
    real,
    text,
)

_LEAST = -(2**63)
_places = integers("n", low=_LEAST)  # bounds are checked by `validate`
_numbers = real("n", finite=False)
_bytes = integers("n", kinds="u", below=256)
_table = integers(None, low=_LEAST)
_features: Check = count(1, 2**31)


def _surrogates(value: object, dims: dict[str, int]) -> str | None:
    return None if value is None or type(value).__name__ == "Surrogates" else "is not a record of surrogates"


_BOOSTED: dict[str, Check] = {
    "n_features": _features,
    "n_outputs": count(1, 2**31),
    "threshold": _numbers,
    "left": _places,
    "feature": _places,
    "missing_left": _bytes,
    "cover": _numbers,
    "gain": _numbers,
    "roots": integers("t", low=_LEAST),
    "outputs": integers("t", low=_LEAST),
    "table": _table,
}
_TREE: dict[str, Check] = {
    "n_features": _features,
    "n_classes": integers("o", low=1),
    "value": real("n", "o", None, finite=False),
    "table": _table,
    "surrogates": _surrogates,
    **dict.fromkeys(("children_left", "children_right", "feature", "n_node_samples"), _places),
    **dict.fromkeys(("table_start", "table_size"), _places),
    **dict.fromkeys(("threshold", "impurity", "weighted_n_node_samples"), _numbers),
    "missing_go_to_left": _bytes,
}
_SURROGATES: dict[str, Check] = {
    "start": integers(None, low=_LEAST),
    **dict.fromkeys(("feature", "table_start", "table_size"), _places),
    **dict.fromkeys(("threshold", "agreement", "adjusted"), _numbers),
    "left_below": _bytes,
    "table": integers(None, kinds="u", below=256),
}
_GROVE: dict[str, Check] = {
    "n_features": _features,
    "n_classes": integers("o", low=1),
    "criterion": choice(
        "gini", "entropy", "log_loss", "error", "squared_error", "friedman_mse", "absolute_error", "poisson"
    ),
    "sizes": integers("t", low=1),
    "feature": integers("n", low=-1),
    "threshold": real("inner", finite=False),
    "missing_left": integers("inner", kinds="u", below=2),
    "value": real("leaves", None, finite=False),
    "count": integers("leaves"),
    "weight": real("leaves", finite=False),
    "impurity": real(None, finite=False),
    "table_start": integers(None, low=-1),
    "table": _table,
}
_splitter: dict[str, Check] = {
    "n_splits": count(1),
    "shuffle": flag,
    "random_state": anyof(none, count(), instance(np.random.RandomState, "a source of random numbers")),
}
_share = anyof(none, number(0))
_kinds = instance(type | np.dtype | str, "a type of columns")
_columns = anyof(none, _kinds, listof(_kinds))

# Kernels: whether parameters fit each other and the rows is checked with their model (`usable_kernel`).
_positive = anyof(
    number(0, finite=False), real(None, above=0), listof(number(above=0)), listof(number(above=0), kind=tuple)
)
_pair = anyof(listof(number(0, finite=False)), listof(number(0, finite=False), kind=tuple))
_bounds = anyof(choice("fixed"), _pair, real(None, finite=False), real(None, 2, finite=False), listof(_pair))


def _kernel(value: Any, dims: dict[str, int]) -> str | None:
    return None if hasattr(type(value), "theta") and hasattr(type(value), "diag") else "is not a kernel"


_two: dict[str, Check] = {"k1": _kernel, "k2": _kernel}
# Those of `learnt.kernels` and, with scikit-learn's names, of `learnt.gaussian_process.kernels`.
_KERNELS: dict[str, dict[str, Check]] = {
    "DotProduct": {"sigma_0": number(0), "sigma_0_bounds": _bounds},
    "Exp": {"kernel": _kernel},
    "ExpSineSquared": {
        **dict.fromkeys(("length_scale", "periodicity"), number(above=0)),
        **dict.fromkeys(("length_scale_bounds", "periodicity_bounds"), _bounds),
    },
    "Exponentiation": {"kernel": _kernel, "exponent": number()},
    "Matern": {"length_scale": _positive, "length_scale_bounds": _bounds, "nu": number(above=0, finite=False)},
    "PairwiseKernel": {
        "gamma": number(0),
        "gamma_bounds": _bounds,
        "metric": text,
        "pairwise_kernels_kwargs": anyof(none, dictof(choice("degree", "coef0"), number())),
    },
    "PolynomialOf": {
        "kernel": _kernel,
        "coefficients": anyof(listof(number(0)), listof(number(0), kind=tuple), real(None)),
    },
    "Product": _two,
    "RBF": {"length_scale": _positive, "length_scale_bounds": _bounds},
    "RationalQuadratic": {
        **dict.fromkeys(("length_scale", "alpha"), number(above=0)),
        **dict.fromkeys(("length_scale_bounds", "alpha_bounds"), _bounds),
    },
    "Sum": _two,
}
_constant: dict[str, Check] = {"constant_value": number(), "constant_value_bounds": _bounds}
_white: dict[str, Check] = {"noise_level": number(0), "noise_level_bounds": _bounds}
_gamma: dict[str, Check] = {"gamma": number(0), "gamma_bounds": _bounds}
KERNELS: dict[str, dict[str, Check]] = {
    **{f"learnt.kernels.{name}": fields for name, fields in _KERNELS.items()},
    "learnt.kernels.AdditiveChi2": {},
    "learnt.kernels.AllProducts": {},
    "learnt.kernels.Chi2": _gamma,
    "learnt.kernels.Constant": _constant,
    "learnt.kernels.Cosine": {},
    "learnt.kernels.Laplacian": _gamma,
    "learnt.kernels.Linear": {},
    "learnt.kernels.Mahalanobis": {"A": anyof(real("d", "d"), listof(listof(number())))},
    "learnt.kernels.Polynomial": {
        "degree": number(0),
        **dict.fromkeys(("coef0", "gamma"), number()),
        **dict.fromkeys(("coef0_bounds", "gamma_bounds"), _bounds),
    },
    "learnt.kernels.SetIntersection": {},
    "learnt.kernels.Sigmoid": {**dict.fromkeys(("gamma", "coef0"), number()), "gamma_bounds": _bounds},
    "learnt.kernels.White": _white,
    **{f"learnt.gaussian_process.kernels.{name}": fields for name, fields in _KERNELS.items()},
    "learnt.gaussian_process.kernels.ConstantKernel": _constant,
    "learnt.gaussian_process.kernels.WhiteKernel": _white,
}

# Layers of networks; a layer refuses what it cannot be when it is built, and its model says whether layers fit.
_two_counts = anyof(count(), listof(count(), 2, tuple), listof(count(), 2))
_padding = anyof(choice("same", "valid"), _two_counts)
_activation = anyof(none, text)
_pool: dict[str, Check] = {"size": _two_counts, "stride": anyof(none, _two_counts), "padding": _padding}
NETWORK_LAYERS: dict[str, dict[str, Check]] = {
    "learnt.neural_network.convnet.Augment": {"shift": count(), "flip": flag, "rotate": number(0), "noise": number(0)},
    "learnt.neural_network.layers.AvgPool": _pool,
    "learnt.neural_network.layers.BatchNorm": {"momentum": number(0), "eps": number(0), "activation": _activation},
    "learnt.neural_network.layers.Conv": {
        "channels": count(1, 2**31),
        **dict.fromkeys(("kernel", "stride"), _two_counts),
        "padding": _padding,
        "activation": _activation,
        "bias": flag,
    },
    "learnt.neural_network.layers.Dense": {"units": count(1, 2**31), "activation": _activation, "bias": flag},
    "learnt.neural_network.layers.Dropout": {"rate": number(0)},
    "learnt.neural_network.layers.Flatten": {},
    "learnt.neural_network.layers.MaxPool": _pool,
}

SURROGATE_FIELDS = (
    "start", "feature", "threshold", "left_below", "agreement", "adjusted", "table_start", "table_size", "table",
)  # fmt: skip
TREE_FIELDS = (
    "n_features", "n_classes", "value", "table", "surrogates", "children_left", "children_right", "feature",
    "threshold", "missing_go_to_left", "impurity", "n_node_samples", "weighted_n_node_samples",
    "table_start", "table_size",
)  # fmt: skip

GROVE_FIELDS = (
    "n_features", "n_classes", "criterion", "sizes", "feature", "threshold", "missing_left", "value", "count", "weight",
    "impurity", "table_start", "table",
)  # fmt: skip

RECORD_FIELDS: dict[str, dict[str, Check]] = {
    "learnt.erm.losses.EpsilonInsensitive": {"epsilon": number(0)},
    "learnt.erm.losses.SquaredEpsilonInsensitive": {"epsilon": number(0)},
    "learnt.erm.losses.Hinge": {"threshold": number()},
    "learnt.erm.losses.Huber": {"delta": number(above=0)},
    "learnt.erm.losses.Quantile": {"q": number(0, 1)},
    "learnt.erm.losses.Tweedie": {"power": number()},
    "learnt.erm.penalties.Box": dict.fromkeys(("low", "high"), number(finite=False)),
    "learnt.erm.penalties.ElasticNet": {"l1_ratio": number(0, 1)},
    **KERNELS,
    **NETWORK_LAYERS,
    "learnt.forestry.BoostedTrees": _BOOSTED,
    "learnt.forestry.Categories": {"columns": integers("k"), "values": listof(instance(np.ndarray, "an array"), "k")},
    "learnt.forestry.Grove": _GROVE,
    "learnt.forestry.Surrogates": _SURROGATES,
    "learnt.forestry.Tree": _TREE,
    "sklearn.compose.make_column_selector": {
        "pattern": anyof(none, text),
        "dtype_include": _columns,
        "dtype_exclude": _columns,
    },
    "sklearn.model_selection.GroupKFold": _splitter,
    "sklearn.model_selection.KFold": _splitter,
    "sklearn.model_selection.ShuffleSplit": {**_splitter, "test_size": _share, "train_size": _share},
    "sklearn.model_selection.StratifiedKFold": _splitter,
    "sklearn.model_selection.TimeSeriesSplit": {
        "n_splits": count(1),
        "max_train_size": anyof(none, count(1)),
        "test_size": anyof(none, count(1)),
        "gap": count(),
    },
}
