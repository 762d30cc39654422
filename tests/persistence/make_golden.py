"""Write the golden files of the current release: a small fitted model of every kind, and what it says.

    python tests/persistence/make_golden.py

Files that are there already are never written again: they must keep loading in every later release. Run it when an
estimator is added and before every release.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, LabelEncoder, MinMaxScaler, OneHotEncoder, OrdinalEncoder
from sklearn.preprocessing import StandardScaler as SklearnScaler

import learnt
from learnt.baseline import ConstantClassifier, ConstantRegressor
from learnt.cluster import KMeans
from learnt.decomposition import PCA, DictionaryLearning, MiniBatchDictionaryLearning, SparseCoder
from learnt.engine.estimator import suited, target_of, trial_of
from learnt.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    FunctionalGradientBoosting,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
    RecalibratedClassifier,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from learnt.erm import ERMClassifier, ERMRegressor
from learnt.linear_model import (
    ARDRegression,
    BayesianLinearRegression,
    BayesianRidge,
    ElasticNet,
    ElasticNetCV,
    ForwardStagewiseRegression,
    GammaRegressor,
    HuberRegressor,
    IterativelyReweightedLeastSquares,
    Lasso,
    LassoCV,
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    MatchingPursuit,
    MultiTaskElasticNet,
    MultiTaskElasticNetCV,
    MultiTaskLasso,
    MultiTaskLassoCV,
    NonlinearLeastSquares,
    OrthogonalMatchingPursuit,
    OrthogonalMatchingPursuitCV,
    Perceptron,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    RidgeCV,
    SGDClassifier,
    SGDRegressor,
    TotalLeastSquares,
    TweedieRegressor,
)
from learnt.naive_bayes import GaussianNB
from learnt.neighbors import KNeighborsClassifier, NearestNeighbors
from learnt.persistence import _registry
from learnt.preprocessing import (
    AnscombeTransformer,
    FourierFeatures,
    FunctionFeatures,
    GaussianFeatures,
    PolynomialFeatures,
    StandardScaler,
    TableEncoder,
)
from learnt.svm import LinearSVC, LinearSVR
from learnt.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    DyadicPartitionRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    ModelTreeRegressor,
)

GOLDEN = Path(__file__).parent / "golden"

_i = np.arange(24)
X = np.round(np.column_stack([np.sin(_i), np.cos(3 * _i), (_i % 7) / 3.0]), 3)
y = np.round(X @ [1.0, -2.0, 0.5] + np.sin(17 * _i) / 4 + 3.0, 3)
classes = np.array(["low", "middle", "high"])[np.digitize(y, [2.5, 3.5])]
named = pd.DataFrame(X, columns=["a", "b", "naïve name"])
table = pd.DataFrame(
    {
        "size": np.where(_i % 5 == 0, np.nan, X[:, 0]),
        "price": [f"${1000 + 37 * i % 500:,}.50" if i % 6 else "n/a" for i in _i],
        "town": [("Rome", "Oslo", "Bern", None)[i * i % 4] for i in _i],
        "shop": [f"shop {i * i % 11}" for i in _i],
        "day": [f"2021-{1 + i % 12:02d}-{1 + i:02d}" for i in _i],
        "note": [
            " ".join(("red", "green", "blue", "round", "flat", "old")[(i * j + j) % 6] for j in range(9)) for i in _i
        ],
        "open": [("yes", "no")[i * i % 3 % 2] for i in _i],
    }
)
sizes = table[["size", "town", "shop"]]


# y of every kind that a class may declare to need.
TARGETS = {
    "amount": y,
    "two amounts": np.c_[y, -y],
    "positive": np.abs(y) + 0.1,
    "two classes": classes == "low",
    "classes": classes,
    "none": None,
}


def models() -> dict:
    """Name → (fitted model, the data it answers for); of a class that is not listed, one with its quick settings."""
    known = listed()
    return known | declared({type(model).__name__ for model, _ in known.values()})


def declared(listed: set[str]) -> dict:
    """A model of every class that is not listed, with the quick settings that it declares."""
    found = {}
    for cls in _registry.estimators().values():
        if cls.__name__ not in listed:
            model = cls(**trial_of(cls).settings())
            table = suited(X, model)
            found[cls.__name__] = (model.fit(table, TARGETS[target_of(model)]), table)
    return found


def listed() -> dict:
    """Models with settings worth keeping."""
    numbers = ("numbers", make_pipeline(SimpleImputer(add_indicator=True), SklearnScaler()), ["size"])
    towns = ("towns", OneHotEncoder(min_frequency=2, handle_unknown="infrequent_if_exist"), ["town", "shop"])
    two = np.c_[classes, classes[::-1]]
    towns_only = table[["size", "town"]].astype({"town": "category"})
    first = ("n", StandardScaler(), slice(0, 2))
    voters = [("logistic", LogisticRegression()), ("bayes", GaussianNB()), ("none", "drop")]
    return {
        "linear": (LinearRegression().fit(X, y), X),
        "linear-two-targets": (LinearRegression(fit_intercept=False).fit(X, np.c_[y, -y]), X),
        "linear-float32": (LinearRegression().fit(X.astype("f4"), y.astype("f4")), X.astype("f4")),
        "ridge": (Ridge(alpha=0.5).fit(named, y), named),
        "ridge-cv": (RidgeCV(alphas=[0.1, 1.0], store_cv_results=True).fit(X, y), X),
        "ridge-cv-folds": (RidgeCV(cv=KFold(3, shuffle=True, random_state=0)).fit(X, y), X),
        "logistic": (LogisticRegression().fit(X, classes == "low"), X),
        "logistic-three-classes": (LogisticRegression(class_weight="balanced").fit(named, classes), named),
        "logistic-l1": (LogisticRegression(l1_ratio=1.0, C=2.0).fit(X, classes == "low"), X),
        "lasso": (Lasso(alpha=0.05).fit(named, y), named),
        "lasso-cv": (LassoCV(cv=3, alphas=8).fit(X, y), X),
        "elastic-net-two-targets": (ElasticNet(alpha=0.05).fit(X, np.c_[y, -y]), X),
        "pursuit": (OrthogonalMatchingPursuit(n_nonzero_coefs=2).fit(X, y), X),
        "huber": (HuberRegressor().fit(X, y), X),
        "quantile": (QuantileRegressor(quantile=0.7, alpha=0.01).fit(X, y), X),
        "poisson": (PoissonRegressor(alpha=0.1).fit(X, np.abs(np.round(y))), X),
        "bayesian": (BayesianLinearRegression().fit(X, y), X),
        "total-least-squares": (TotalLeastSquares().fit(X, y), X),
        "nonlinear-line": (NonlinearLeastSquares().fit(X, y), X),
        "ridge-classes": (RidgeClassifier().fit(X, classes), X),
        "perceptron": (Perceptron(random_state=0).fit(X, classes), X),
        "sgd-log": (SGDClassifier("log_loss", random_state=0, max_iter=50, tol=None).fit(X, classes), X),
        "linear-svc": (LinearSVC().fit(X, classes), X),
        "linear-svr": (LinearSVR(C=0.5).fit(X, y), X),
        "erm-classes": (ERMClassifier().fit(X, classes), X),
        "erm-huber-l1": (ERMRegressor("huber", penalty="l1", alpha=0.05).fit(X, y), X),
        "ard": (ARDRegression().fit(X, y), X),
        "bayesian-ridge": (BayesianRidge(compute_score=True).fit(X, y), X),
        "elastic-net-cv": (ElasticNetCV(cv=3, alphas=8, l1_ratio=[0.3, 0.9]).fit(X, y), X),
        "stagewise": (ForwardStagewiseRegression(max_iter=200).fit(X, y), X),
        "gamma": (GammaRegressor(alpha=0.1).fit(X, np.abs(y) + 0.1), X),
        "tweedie": (TweedieRegressor(power=1.5, alpha=0.1).fit(X, np.maximum(y, 0.0)), X),
        "reweighted": (IterativelyReweightedLeastSquares(variance="features").fit(X, y), X),
        "logistic-cv": (LogisticRegressionCV(Cs=3, cv=3, use_legacy_attributes=False).fit(X, classes), X),
        "matching": (MatchingPursuit(n_nonzero_coefs=2).fit(X, y), X),
        "pursuit-cv": (OrthogonalMatchingPursuitCV(cv=3).fit(X, y), X),
        "tasks-lasso": (MultiTaskLasso(alpha=0.05).fit(X, np.c_[y, -y]), X),
        "tasks-net": (MultiTaskElasticNet(alpha=0.05).fit(X, np.c_[y, -y]), X),
        "tasks-lasso-cv": (MultiTaskLassoCV(cv=3, alphas=6).fit(X, np.c_[y, -y]), X),
        "tasks-net-cv": (MultiTaskElasticNetCV(cv=3, alphas=6).fit(X, np.c_[y, -y]), X),
        "ridge-classes-cv": (RidgeClassifierCV(alphas=[0.1, 1.0]).fit(X, classes), X),
        "sgd-number": (SGDRegressor(random_state=0, max_iter=50, tol=None).fit(X, y), X),
        "mini-dictionary": (MiniBatchDictionaryLearning(2, random_state=0, max_iter=20).fit(X), X),
        "coder": (SparseCoder(np.eye(3), transform_algorithm="omp", transform_n_nonzero_coefs=1).fit(X), X),
        "anscombe": (AnscombeTransformer(gain=2.0, offset=1.0).fit(np.abs(X)), np.abs(X)),
        "functions": (FunctionFeatures((np.abs, np.cbrt)).fit(X), X),
        "bumps": (GaussianFeatures(3).fit(X), X),
        "dictionary": (DictionaryLearning(2, random_state=0, max_iter=20).fit(X), X),
        "polynomial": (PolynomialFeatures(2, include_bias=False).fit(named), named),
        "fourier": (FourierFeatures(2).fit(X), X),
        "gaussian-nb": (GaussianNB().fit(X, classes), X),
        "constant-label": (ConstantClassifier().fit(X, classes), X),
        "constant-labels": (ConstantClassifier(strategy="constant", constant=["low", "high"]).fit(X, two), X),
        "constant-number": (ConstantRegressor(strategy="median").fit(X, y), X),
        "constant-numbers": (ConstantRegressor().fit(X, np.c_[y, -y]), X),
        "neighbors": (KNeighborsClassifier(3, weights="distance").fit(X, classes), X),
        "neighbors-two-outputs": (KNeighborsClassifier(3, metric="manhattan").fit(X, two), X),
        "nearest": (NearestNeighbors(n_neighbors=2, metric="chebyshev").fit(X), X),
        "neighbors-sparse": (KNeighborsClassifier(2).fit(sparse.csr_matrix(X), classes), X),
        "k-means": (KMeans(3, n_init=1, random_state=0).fit(X), X),
        "pca": (PCA(2).fit(X), X),
        "pca-whiten": (PCA(0.9, whiten=True).fit(X.astype("f4")), X.astype("f4")),
        "scaler": (StandardScaler().fit(named), named),
        "scaler-nothing": (StandardScaler(with_mean=False, with_std=False).fit(X), X),
        "table": (TableEncoder(max_onehot=6).fit(table, y), table),
        "table-squash": (TableEncoder(numeric="squash", high_cardinality="frequency", max_onehot=4).fit(table), table),
        "pipeline": (make_pipeline(TableEncoder(), StandardScaler(), Ridge()).fit(table, y), table),
        "union": (FeatureUnion([("a", StandardScaler()), ("b", MinMaxScaler()), ("c", "passthrough")]).fit(X), X),
        "columns": (make_pipeline(ColumnTransformer([numbers, towns]), Ridge()).fit(table, y), table),
        "columns-by-place": (ColumnTransformer([first], remainder="passthrough").fit(X), X),
        "ordinal": (OrdinalEncoder(encoded_missing_value=-2).fit(table[["town", "shop"]]), table[["town", "shop"]]),
        "target": (TransformedTargetRegressor(Ridge(), func=np.log1p, inverse_func=np.expm1).fit(X, np.abs(y)), X),
        "function": (FunctionTransformer(np.arcsinh, np.sinh, validate=True).fit(X), X),
        "labels": (LabelEncoder().fit(classes), classes),
        "recalibrated": (
            RecalibratedClassifier(GaussianNB(), exponent=0.7, floor=1e-3, offsets=[0.1, -0.2, 0.1]).fit(X, classes),
            X,
        ),
        "vote": (VotingClassifier(voters, voting="soft", weights=[1, 2, 3]).fit(named, classes), named),
        "mean-of-models": (VotingRegressor([("line", LinearRegression()), ("ridge", Ridge())]).fit(X, y), X),
        "stack": (StackingClassifier(voters[:2], cv=3).fit(X, classes), X),
        "stack-numbers": (StackingRegressor([("line", Ridge())], Ridge(), passthrough=True).fit(X, y), X),
        "dyadic": (DyadicPartitionRegressor(depth=2, leaf="linear").fit(X, y), X),
        "dyadic-models": (DyadicPartitionRegressor("adaptive", tau=0.3, max_depth=2, leaf=Ridge()).fit(X, y), X),
        "hist-boosting-classes": (HistGradientBoostingClassifier(max_iter=3).fit(named, classes), named),
        "hist-boosting": (HistGradientBoostingRegressor(max_iter=4, min_samples_leaf=2).fit(towns_only, y), towns_only),
        "forest": (
            RandomForestClassifier(4, random_state=0, max_depth=3, splitter="binned").fit(named, classes),
            named,
        ),
        "forest-numbers": (RandomForestRegressor(4, random_state=0, min_samples_leaf=5).fit(X, y), X),
        "forest-categories": (
            RandomForestRegressor(3, random_state=0, max_depth=3, categorical_features=[0]).fit(np.round(X), y),
            np.round(X),
        ),
        "extra-trees": (ExtraTreesClassifier(4, random_state=0, max_depth=3).fit(X, two), X),
        "extra-trees-numbers": (ExtraTreesRegressor(4, random_state=0, max_depth=3).fit(X, np.c_[y, -y]), X),
        "random-trees": (RandomTreesEmbedding(4, random_state=0, max_depth=3, sparse_output=False).fit(X), X),
        "tree": (DecisionTreeClassifier(random_state=0, max_depth=3).fit(named, classes), named),
        "tree-numbers": (DecisionTreeRegressor(random_state=0, max_leaf_nodes=6).fit(X, np.c_[y, -y]), X),
        "tree-categories": (
            DecisionTreeClassifier(max_depth=3, categorical_features=["town", "shop"], random_state=0)
            .fit(sizes, classes),
            sizes,
        ),
        "tree-branches": (
            DecisionTreeRegressor(max_depth=2, categorical_features=[1], categorical_split="multiway", random_state=0)
            .fit(sizes[["size", "town"]], y),
            sizes[["size", "town"]],
        ),
        "tree-surrogates": (
            DecisionTreeClassifier(max_depth=3, missing="surrogate", categorical_features=[1, 2], random_state=0)
            .fit(sizes, classes),
            sizes,
        ),
        "extra-tree": (ExtraTreeClassifier(random_state=0, max_depth=3).fit(X, two), X),
        "extra-tree-numbers": (ExtraTreeRegressor(random_state=0, max_depth=3).fit(X, y), X),
        "adaboost": (AdaBoostClassifier(n_estimators=6, random_state=0).fit(named, classes), named),
        "adaboost-numbers": (AdaBoostRegressor(n_estimators=4, random_state=0).fit(X, y), X),
        "bagging": (BaggingClassifier(GaussianNB(), 4, max_features=2, random_state=0).fit(X, classes), X),
        "bagging-numbers": (BaggingRegressor(n_estimators=3, max_samples=12, random_state=0).fit(X, y), X),
        "functional": (FunctionalGradientBoosting(loss="log", n_estimators=3, random_state=0).fit(X, classes), X),
        "functional-lines": (FunctionalGradientBoosting(Ridge(), "huber", n_estimators=5).fit(X, y), X),
        "model-tree": (ModelTreeRegressor(min_gain=0.0, max_depth=2).fit(X, y), X),
        "model-tree-models": (ModelTreeRegressor(Ridge(), min_gain=0.0, max_depth=1).fit(X, y), X),
        "boosting-classes": (GradientBoostingClassifier(n_estimators=3, random_state=0).fit(X, classes), X),
        "boosting": (GradientBoostingRegressor(n_estimators=4, random_state=0).fit(X, y), X),
        "unfitted": (make_pipeline(StandardScaler(), GaussianNB(var_smoothing=1e-7)), None),
    }  # fmt: skip


def answers(model, data) -> dict[str, np.ndarray]:
    """Everything a model says about data."""
    if data is None:
        return {"repr": np.array(repr(model))}
    said = {}
    for method in ("predict", "predict_proba", "transform", "kneighbors"):
        if hasattr(model, method):
            result = getattr(model, method)(data)
            said[method] = np.asarray(result.toarray() if hasattr(result, "toarray") else result)
    return said


def main() -> None:
    folder = GOLDEN / learnt.__version__
    folder.mkdir(parents=True, exist_ok=True)
    for name, (model, data) in models().items():
        path = folder / f"{name}.learnt"
        if not path.exists():
            learnt.save(model, path)
            said = {method: result.tolist() for method, result in answers(model, data).items()}
            path.with_suffix(".json").write_text(json.dumps(said) + "\n")


if __name__ == "__main__":
    main()
