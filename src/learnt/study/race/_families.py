"""The model families that race. A new family is one entry in `FAMILIES`; nothing else needs to know about it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Path:
    """One parameter that is tried at many values within each fit: a path of penalties, a number of rounds.

    Which value is best is read off the other folds' held-out rows, so that it needs no extra rows and introduces no
    bias.
    """

    parameter: str
    values: tuple[float, ...]
    staged: bool = False  # one fit shows them all (rounds of boosting); else each is fitted
    counts_rows: bool = False  # a value is a number of rows, and must be much smaller than a fold

    def for_rows(self, rows: int) -> Path:
        """The values that a table of so many rows can have: at most a quarter of them, and always the smallest."""
        if not self.counts_rows:
            return self
        return replace(self, values=tuple(v for v in self.values if v <= rows / 4) or (min(self.values),))


@dataclass(frozen=True)
class Family:
    """A kind of model: where it lives, which settings to try (simplest first), how its columns are prepared."""

    name: str
    task: str  # "classify" or "regress"
    model: str  # dotted name, imported only where it is fitted
    rank: int  # how simple it is; a choice between equals prefers low ranks
    settings: tuple[dict[str, Any], ...]
    fixed: dict[str, Any]
    words: str
    leader: int = 0  # which setting races right after the constant, before the others
    path: Path | None = None
    scale: bool = False
    products: bool = False  # products of two columns are added as columns
    scale_target: bool = False  # for models without an intercept, whose penalties have the target's unit
    encodings: tuple[str, ...] = ("raw",)  # how TableEncoder encodes numbers; "none": the columns do not matter
    most_rows: int = 1_000_000  # more training rows than this are not worth their time in a race
    most_columns: int = 100_000  # of the encoded table
    most_classes: int = 100_000
    least_rows: int = 0  # of a training fold, for which it is worth its time; and classes
    least_classes: int = 0
    needs: str | None = None  # a package without which it does not race
    images: bool = False  # for images only, and tried first on them
    probed: int | None = None  # its time grows faster than the rows, and is predicted from a fit on so many rows
    brief: dict[str, Any] = field(default_factory=dict)  # settings that make a fit short and still run all of its code


MANY_TREES = 4  # the rank of black boxes: hundreds of trees or kernels, a blend; among these only the loss counts
_PENALTIES = tuple(10.0**k for k in (-3.5, -2.5, -1.75, -1, -0.5, 0, 0.75, 1.5, 2.5))
_ALPHAS = tuple(10.0**k for k in (-1.5, -0.5, 0.25, 1, 1.5, 2, 2.5, 3, 3.75))
_ROUNDS = Path("max_iter", (10, 20, 30, 45, 65, 95, 140, 200, 300, 430, 600), staged=True)
_BOOSTING = {"early_stopping": False, "random_state": 0}
_BOOSTED = (
    {"max_leaf_nodes": 4, "learning_rate": 0.1, "min_samples_leaf": 10},
    {"max_leaf_nodes": 8, "learning_rate": 0.1, "min_samples_leaf": 10, "max_features": 0.5},
    {"max_leaf_nodes": 16, "learning_rate": 0.06, "min_samples_leaf": 20, "l2_regularization": 1.0},
    {
        "max_leaf_nodes": 31,
        "learning_rate": 0.05,
        "min_samples_leaf": 10,
        "l2_regularization": 1.0,
        "max_features": 0.5,
    },
    {"max_leaf_nodes": 31, "learning_rate": 0.05, "min_samples_leaf": 4, "l2_regularization": 5.0, "max_features": 0.3},
    {
        "max_leaf_nodes": 63,
        "learning_rate": 0.05,
        "min_samples_leaf": 20,
        "l2_regularization": 1.0,
        "max_features": 0.7,
    },
)
_VOTES = "grows many deep trees, each on other rows and columns, and lets them vote"
_CUTS = "grows many deep trees whose cuts are drawn at random, and lets them vote"
_ADDS = "adds up hundreds of small trees, each fitted to what those before it got wrong"
_ASKS = "asks a few yes-or-no questions, one column at a time"
_WEIGHS = "weighs the columns and adds them up, with small weights preferred"
_MULTIPLIES = "weighs the columns and their products and adds them up, with small weights preferred"
_TREE: dict[str, Any] = {
    "rank": 2,
    "settings": ({"max_depth": 2}, {"max_depth": 4}, {"max_depth": 8}),
    "leader": 1,
    "fixed": {"min_samples_leaf": 5, "random_state": 0},
    "words": _ASKS,
    "brief": {"max_depth": 4},
}
_FOREST: dict[str, Any] = {
    "rank": MANY_TREES,
    "fixed": {"random_state": 0},
    "brief": {"n_estimators": 4},
    "most_rows": 300_000,
}
_LINEAR: dict[str, Any] = {"settings": ({},), "words": _WEIGHS, "scale": True, "encodings": ("squash", "raw")}
_PRODUCTS: dict[str, Any] = {
    "settings": ({},),
    "words": _MULTIPLIES,
    "scale": True,
    "products": True,
    "encodings": ("squash",),
    "most_rows": 20_000,
    "most_columns": 25,
}
_BELLS: dict[str, Any] = {  # covariances are inaccurate for many columns
    "scale": True,
    "encodings": ("squash",),
    "most_columns": 60,
    "most_classes": 10,
}
_SVC: dict[str, Any] = {
    "model": "learnt.svm.SVC",
    "rank": MANY_TREES,
    "fixed": {"probability": True, "random_state": 0},
    "words": "compares a row with the known ones that lie between the classes",
    "encodings": ("squash", "raw"),
    "most_rows": 10_000,
    "most_classes": 30,  # every pair of classes is a fit
    "probed": 1_500,
    "brief": {"max_iter": 50},
}

_CONVOLUTIONS: dict[str, Any] = {
    "rank": MANY_TREES,
    "settings": ({"max_iter": 10}, {"max_iter": 30}),
    "fixed": {"learning_rate_init": 2e-3, "random_state": 0},
    "words": "looks through small windows that learn what to look for, wherever it is in the image",
    "encodings": ("pixels",),
    "needs": "torch",
    "images": True,
    "brief": {"max_iter": 1},
}

FAMILIES: tuple[Family, ...] = (
    Family(
        "constant",
        "classify",
        "learnt.baseline.ConstantClassifier",
        0,
        ({},),
        {"strategy": "prior"},
        "always predicts the shares of the classes",
        encodings=("none",),
    ),
    Family(
        "logistic regression",
        "classify",
        "learnt.linear_model.LogisticRegression",
        2,
        fixed={"max_iter": 300},
        path=Path("C", _PENALTIES),
        **_LINEAR,
    ),
    Family(
        "boosted trees",
        "classify",
        "learnt.ensemble.HistGradientBoostingClassifier",
        MANY_TREES,
        _BOOSTED,
        _BOOSTING,
        _ADDS,
        leader=2,
        path=_ROUNDS,
        brief={"max_iter": 3},
    ),
    Family(
        "naive Bayes",
        "classify",
        "learnt.naive_bayes.GaussianNB",
        1,
        ({"var_smoothing": 1e-2}, {"var_smoothing": 1e-9}),
        {},
        "treats the columns as independent within a class",
        encodings=("squash",),
    ),
    Family(
        "linear discriminants",
        "classify",
        "learnt.discriminant_analysis.LinearDiscriminantAnalysis",
        2,
        ({},),
        {"solver": "lsqr", "shrinkage": "auto"},
        "takes the classes for bell curves of one shape, and weighs the columns accordingly",
        **_BELLS,
    ),
    Family(
        "quadratic discriminants",
        "classify",
        "learnt.discriminant_analysis.QuadraticDiscriminantAnalysis",
        3,
        ({},),
        {},
        "takes the classes for bell curves, each of its own shape",
        path=Path("reg_param", (0.9, 0.5, 0.2, 0.05, 0.01)),
        **_BELLS,
    ),
    Family("decision tree", "classify", "learnt.tree.DecisionTreeClassifier", **_TREE),
    Family(
        "sparse logistic regression",
        "classify",
        "learnt.linear_model.LogisticRegression",
        2,
        ({},),
        {"l1_ratio": 1.0, "solver": "saga", "max_iter": 1000},
        "weighs few of the columns and adds them up",
        path=Path("C", tuple(10.0**k for k in (-2, -1.5, -1, -0.5, 0, 0.75))),
        scale=True,
        encodings=("squash",),
        most_rows=50_000,
    ),
    Family(
        "random forest",
        "classify",
        "learnt.ensemble.RandomForestClassifier",
        settings=(
            {"min_samples_leaf": 5, "max_features": 0.5},
            {"min_samples_leaf": 3, "max_features": "sqrt"},
            {"min_samples_leaf": 1, "max_features": "sqrt"},
            {"min_samples_leaf": 1, "max_features": 0.5},
        ),
        leader=2,
        words=_VOTES,
        **_FOREST,
    ),
    Family(
        "extra trees",
        "classify",
        "learnt.ensemble.ExtraTreesClassifier",
        settings=(
            {"min_samples_leaf": 5, "max_features": 0.7},
            {"min_samples_leaf": 2, "max_features": "sqrt"},
            {"min_samples_leaf": 1, "max_features": "sqrt"},
            {"min_samples_leaf": 1, "max_features": 0.7},
        ),
        leader=2,
        words=_CUTS,
        **_FOREST,
    ),
    Family(
        "nearest neighbours",
        "classify",
        "learnt.neighbors.KNeighborsClassifier",
        3,
        ({},),
        {},
        "looks up the most similar rows and lets them vote",
        path=Path("n_neighbors", (135, 45, 15, 5), counts_rows=True),
        scale=True,
        encodings=("squash",),
        most_rows=20_000,
    ),
    Family("support vectors", "classify", settings=({"C": 1.0}, {"C": 10.0}), leader=1, scale=True, **_SVC),
    # Scaling would inflate columns that hardly vary, which is wrong where all columns have one unit, such as pixels.
    Family("support vectors, one scale", "classify", settings=({"C": 10.0},), **{**_SVC, "encodings": ("raw",)}),
    Family(
        "logistic regression with products",
        "classify",
        "learnt.linear_model.LogisticRegression",
        3,
        fixed={"max_iter": 300},
        path=Path("C", tuple(10.0**k for k in (-4, -3, -2.5, -2, -1.5, -1, -0.5, 0.5))),
        **_PRODUCTS,
    ),
    # On public tables of two classes and of amounts a network came 15 % behind boosted trees, and a blend of the two
    # was no better than the trees; of many classes with smooth borders its log loss was half of theirs.
    Family(
        "neural network",
        "classify",
        "learnt.neural_network.MLPClassifier",
        MANY_TREES,
        ({"hidden_layer_sizes": [128, 64], "dropout": 0.1}, {"hidden_layer_sizes": [256, 128], "dropout": 0.2}),
        {
            "batch_size": 256,
            "learning_rate": "cosine",  # the rate decays to 0, so that no validation rows are needed for early stopping
            "learning_rate_init": 2e-3,
            "max_iter": 25,
            "n_iter_no_change": 25,
            "alpha": 1e-3,
            "dtype": "float32",
            "random_state": 0,
        },
        "passes the columns through layers of units that learn what to look at",
        leader=1,
        scale=True,
        encodings=("squash",),
        most_rows=200_000,
        least_rows=2_000,
        least_classes=3,
        needs="torch",
    ),
    Family("convolutional network", "classify", "learnt.neural_network.ConvNetClassifier", **_CONVOLUTIONS),
    Family("convolutional network", "regress", "learnt.neural_network.ConvNetRegressor", **_CONVOLUTIONS),
    Family(
        "constant",
        "regress",
        "learnt.baseline.ConstantRegressor",
        0,
        ({},),
        {},
        "always predicts the mean",
        encodings=("none",),
    ),
    Family(
        "ridge regression",
        "regress",
        "learnt.linear_model.Ridge",
        1,
        fixed={},
        path=Path("alpha", _ALPHAS),
        **_LINEAR,
    ),
    Family(
        "boosted trees",
        "regress",
        "learnt.ensemble.HistGradientBoostingRegressor",
        MANY_TREES,
        _BOOSTED,
        _BOOSTING,
        _ADDS,
        leader=2,
        path=_ROUNDS,
        brief={"max_iter": 3},
    ),
    Family("decision tree", "regress", "learnt.tree.DecisionTreeRegressor", **_TREE),
    Family(
        "nearest neighbours",
        "regress",
        "learnt.neighbors.KNeighborsRegressor",
        3,
        ({},),
        {},
        "looks up the most similar rows and takes the mean of their targets",
        path=Path("n_neighbors", (135, 45, 15, 5), counts_rows=True),
        scale=True,
        encodings=("squash",),
        most_rows=20_000,
    ),
    Family(
        "sparse linear regression",
        "regress",
        "learnt.linear_model.LassoCV",
        1,
        ({},),
        {"cv": 5, "alphas": 50},
        "weighs few of the columns and adds them up",
        scale=True,
        encodings=("squash", "raw"),
        most_rows=100_000,
    ),
    Family(
        "random forest",
        "regress",
        "learnt.ensemble.RandomForestRegressor",
        settings=(
            {"min_samples_leaf": 5, "max_features": 0.7},
            {"min_samples_leaf": 1, "max_features": 0.4},
            {"min_samples_leaf": 1, "max_features": 1.0},
        ),
        leader=1,
        words=_VOTES,
        **_FOREST,
    ),
    Family(
        "extra trees",
        "regress",
        "learnt.ensemble.ExtraTreesRegressor",
        settings=(
            {"min_samples_leaf": 3, "max_features": 0.7},
            {"min_samples_leaf": 1, "max_features": 0.4},
            {"min_samples_leaf": 1, "max_features": 1.0},
        ),
        leader=2,
        words=_CUTS,
        **_FOREST,
    ),
    Family(
        "kernel ridge regression",
        "regress",
        "learnt.kernel_ridge.KernelRidge",
        MANY_TREES,
        (
            {"kernel": "rbf", "gamma": 0.01},
            {"kernel": "laplacian"},
            {"kernel": "laplacian", "gamma": 0.02},
        ),
        {},
        "adds up bumps around the known rows",
        path=Path("alpha", tuple(10.0**k for k in (1, 0.5, 0, -0.5, -1, -1.5, -2))),
        scale=True,
        scale_target=True,
        encodings=("squash", "raw"),
        most_rows=2_500,
    ),
    Family(
        "ridge regression with products",
        "regress",
        "learnt.linear_model.Ridge",
        3,
        fixed={},
        path=Path("alpha", tuple(10.0**k for k in (0, 0.75, 1.5, 2, 2.5, 3, 3.5, 4.25))),
        **_PRODUCTS,
    ),
)
