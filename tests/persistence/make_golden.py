"""Write the golden files of the current release: a small fitted model of every kind, and what it says.

    python tests/persistence/make_golden.py

Files that are there already are never written again: they must keep loading in every later release. Run it when an
estimator is added and before every release.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

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
from learnt.engine.estimator import acceptable, target_of, trial_of
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


class Case(NamedTuple):
    """A model to be fitted, the data it answers for, its targets, and what it is fitted to where that is other data."""

    model: Any
    data: Any = None
    target: Any = None
    fitted_to: Any = None

    def fitted(self) -> Any:
        if self.data is None:
            return self.model
        table = self.data if self.fitted_to is None else self.fitted_to
        return self.model.fit(table) if self.target is None else self.model.fit(table, self.target)


def cases() -> dict[str, Case]:
    """Name → what to fit; of a class that is not listed, a model with its quick settings."""
    known = listed()
    return known | declared({type(case.model).__name__ for case in known.values()})


def models() -> dict:
    """Name → (fitted model, the data it answers for)."""
    return {name: (case.fitted(), case.data) for name, case in cases().items()}


def declared(listed: set[str]) -> dict[str, Case]:
    """A model of every class that is not listed, with the quick settings that it declares."""
    found = {}
    for cls in _registry.estimators().values():
        if cls.__name__ not in listed:
            model = cls(**trial_of(cls).settings())
            found[cls.__name__] = Case(model, acceptable(X, model), TARGETS[target_of(model)])
    return found


def listed() -> dict[str, Case]:
    """Models with settings worth keeping."""
    numbers = ("numbers", make_pipeline(SimpleImputer(add_indicator=True), SklearnScaler()), ["size"])
    towns = ("towns", OneHotEncoder(min_frequency=2, handle_unknown="infrequent_if_exist"), ["town", "shop"])
    two = np.c_[classes, classes[::-1]]
    towns_only = table[["size", "town"]].astype({"town": "category"})
    first = ("n", StandardScaler(), slice(0, 2))
    voters = [("logistic", LogisticRegression()), ("bayes", GaussianNB()), ("none", "drop")]
    return {
        "linear": Case(LinearRegression(), X, y),
        "linear-two-targets": Case(LinearRegression(fit_intercept=False), X, np.c_[y, -y]),
        "linear-float32": Case(LinearRegression(), X.astype("f4"), y.astype("f4")),
        "ridge": Case(Ridge(alpha=0.5), named, y),
        "ridge-cv": Case(RidgeCV(alphas=[0.1, 1.0], store_cv_results=True), X, y),
        "ridge-cv-folds": Case(RidgeCV(cv=KFold(3, shuffle=True, random_state=0)), X, y),
        "logistic": Case(LogisticRegression(), X, classes == "low"),
        "logistic-three-classes": Case(LogisticRegression(class_weight="balanced"), named, classes),
        "logistic-l1": Case(LogisticRegression(l1_ratio=1.0, C=2.0), X, classes == "low"),
        "lasso": Case(Lasso(alpha=0.05), named, y),
        "lasso-cv": Case(LassoCV(cv=3, alphas=8), X, y),
        "elastic-net-two-targets": Case(ElasticNet(alpha=0.05), X, np.c_[y, -y]),
        "pursuit": Case(OrthogonalMatchingPursuit(n_nonzero_coefs=2), X, y),
        "huber": Case(HuberRegressor(), X, y),
        "quantile": Case(QuantileRegressor(quantile=0.7, alpha=0.01), X, y),
        "poisson": Case(PoissonRegressor(alpha=0.1), X, np.abs(np.round(y))),
        "bayesian": Case(BayesianLinearRegression(), X, y),
        "total-least-squares": Case(TotalLeastSquares(), X, y),
        "nonlinear-line": Case(NonlinearLeastSquares(), X, y),
        "ridge-classes": Case(RidgeClassifier(), X, classes),
        "perceptron": Case(Perceptron(random_state=0), X, classes),
        "sgd-log": Case(SGDClassifier("log_loss", random_state=0, max_iter=50, tol=None), X, classes),
        "linear-svc": Case(LinearSVC(), X, classes),
        "linear-svr": Case(LinearSVR(C=0.5), X, y),
        "erm-classes": Case(ERMClassifier(), X, classes),
        "erm-huber-l1": Case(ERMRegressor("huber", penalty="l1", alpha=0.05), X, y),
        "ard": Case(ARDRegression(), X, y),
        "bayesian-ridge": Case(BayesianRidge(compute_score=True), X, y),
        "elastic-net-cv": Case(ElasticNetCV(cv=3, alphas=8, l1_ratio=[0.3, 0.9]), X, y),
        "stagewise": Case(ForwardStagewiseRegression(max_iter=200), X, y),
        "gamma": Case(GammaRegressor(alpha=0.1), X, np.abs(y) + 0.1),
        "tweedie": Case(TweedieRegressor(power=1.5, alpha=0.1), X, np.maximum(y, 0.0)),
        "reweighted": Case(IterativelyReweightedLeastSquares(variance="features"), X, y),
        "logistic-cv": Case(LogisticRegressionCV(Cs=3, cv=3, use_legacy_attributes=False), X, classes),
        "matching": Case(MatchingPursuit(n_nonzero_coefs=2), X, y),
        "pursuit-cv": Case(OrthogonalMatchingPursuitCV(cv=3), X, y),
        "tasks-lasso": Case(MultiTaskLasso(alpha=0.05), X, np.c_[y, -y]),
        "tasks-net": Case(MultiTaskElasticNet(alpha=0.05), X, np.c_[y, -y]),
        "tasks-lasso-cv": Case(MultiTaskLassoCV(cv=3, alphas=6), X, np.c_[y, -y]),
        "tasks-net-cv": Case(MultiTaskElasticNetCV(cv=3, alphas=6), X, np.c_[y, -y]),
        "ridge-classes-cv": Case(RidgeClassifierCV(alphas=[0.1, 1.0]), X, classes),
        "sgd-number": Case(SGDRegressor(random_state=0, max_iter=50, tol=None), X, y),
        "mini-dictionary": Case(MiniBatchDictionaryLearning(2, random_state=0, max_iter=20), X),
        "coder": Case(SparseCoder(np.eye(3), transform_algorithm="omp", transform_n_nonzero_coefs=1), X),
        "anscombe": Case(AnscombeTransformer(gain=2.0, offset=1.0), np.abs(X)),
        "functions": Case(FunctionFeatures((np.abs, np.cbrt)), X),
        "bumps": Case(GaussianFeatures(3), X),
        "dictionary": Case(DictionaryLearning(2, random_state=0, max_iter=20), X),
        "polynomial": Case(PolynomialFeatures(2, include_bias=False), named),
        "fourier": Case(FourierFeatures(2), X),
        "gaussian-nb": Case(GaussianNB(), X, classes),
        "constant-label": Case(ConstantClassifier(), X, classes),
        "constant-labels": Case(ConstantClassifier(strategy="constant", constant=["low", "high"]), X, two),
        "constant-number": Case(ConstantRegressor(strategy="median"), X, y),
        "constant-numbers": Case(ConstantRegressor(), X, np.c_[y, -y]),
        "neighbors": Case(KNeighborsClassifier(3, weights="distance"), X, classes),
        "neighbors-two-outputs": Case(KNeighborsClassifier(3, metric="manhattan"), X, two),
        "nearest": Case(NearestNeighbors(n_neighbors=2, metric="chebyshev"), X),
        "neighbors-sparse": Case(KNeighborsClassifier(2), X, classes, fitted_to=sparse.csr_matrix(X)),
        "k-means": Case(KMeans(3, n_init=1, random_state=0), X),
        "pca": Case(PCA(2), X),
        "pca-whiten": Case(PCA(0.9, whiten=True), X.astype("f4")),
        "scaler": Case(StandardScaler(), named),
        "scaler-nothing": Case(StandardScaler(with_mean=False, with_std=False), X),
        "table": Case(TableEncoder(max_onehot=6), table, y),
        "table-squash": Case(TableEncoder(numeric="squash", high_cardinality="frequency", max_onehot=4), table),
        "pipeline": Case(make_pipeline(TableEncoder(), StandardScaler(), Ridge()), table, y),
        "union": Case(FeatureUnion([("a", StandardScaler()), ("b", MinMaxScaler()), ("c", "passthrough")]), X),
        "columns": Case(make_pipeline(ColumnTransformer([numbers, towns]), Ridge()), table, y),
        "columns-by-place": Case(ColumnTransformer([first], remainder="passthrough"), X),
        "ordinal": Case(OrdinalEncoder(encoded_missing_value=-2), table[["town", "shop"]]),
        "target": Case(TransformedTargetRegressor(Ridge(), func=np.log1p, inverse_func=np.expm1), X, np.abs(y)),
        "function": Case(FunctionTransformer(np.arcsinh, np.sinh, validate=True), X),
        "labels": Case(LabelEncoder(), classes),
        "recalibrated": Case(
            RecalibratedClassifier(GaussianNB(), exponent=0.7, floor=1e-3, offsets=[0.1, -0.2, 0.1]),
            X, classes,
        ),
        "vote": Case(VotingClassifier(voters, voting="soft", weights=[1, 2, 3]), named, classes),
        "mean-of-models": Case(VotingRegressor([("line", LinearRegression()), ("ridge", Ridge())]), X, y),
        "stack": Case(StackingClassifier(voters[:2], cv=3), X, classes),
        "stack-numbers": Case(StackingRegressor([("line", Ridge())], Ridge(), passthrough=True), X, y),
        "dyadic": Case(DyadicPartitionRegressor(depth=2, leaf="linear"), X, y),
        "dyadic-models": Case(DyadicPartitionRegressor("adaptive", tau=0.3, max_depth=2, leaf=Ridge()), X, y),
        "hist-boosting-classes": Case(HistGradientBoostingClassifier(max_iter=3), named, classes),
        "hist-boosting": Case(HistGradientBoostingRegressor(max_iter=4, min_samples_leaf=2), towns_only, y),
        "forest": Case(RandomForestClassifier(4, random_state=0, max_depth=3, splitter="binned"), named, classes),
        "forest-numbers": Case(RandomForestRegressor(4, random_state=0, min_samples_leaf=5), X, y),
        "forest-categories": Case(
            RandomForestRegressor(3, random_state=0, max_depth=3, categorical_features=[0]),
            np.round(X), y,
        ),
        "extra-trees": Case(ExtraTreesClassifier(4, random_state=0, max_depth=3), X, two),
        "extra-trees-numbers": Case(ExtraTreesRegressor(4, random_state=0, max_depth=3), X, np.c_[y, -y]),
        "random-trees": Case(RandomTreesEmbedding(4, random_state=0, max_depth=3, sparse_output=False), X),
        "tree": Case(DecisionTreeClassifier(random_state=0, max_depth=3), named, classes),
        "tree-numbers": Case(DecisionTreeRegressor(random_state=0, max_leaf_nodes=6), X, np.c_[y, -y]),
        "tree-categories": Case(
            DecisionTreeClassifier(max_depth=3, categorical_features=["town", "shop"], random_state=0),
            sizes, classes,
        ),
        "tree-branches": Case(
            DecisionTreeRegressor(max_depth=2, categorical_features=[1], categorical_split="multiway", random_state=0),
            sizes[["size", "town"]], y,
        ),
        "tree-surrogates": Case(
            DecisionTreeClassifier(max_depth=3, missing="surrogate", categorical_features=[1, 2], random_state=0),
            sizes, classes,
        ),
        "extra-tree": Case(ExtraTreeClassifier(random_state=0, max_depth=3), X, two),
        "extra-tree-numbers": Case(ExtraTreeRegressor(random_state=0, max_depth=3), X, y),
        "adaboost": Case(AdaBoostClassifier(n_estimators=6, random_state=0), named, classes),
        "adaboost-numbers": Case(AdaBoostRegressor(n_estimators=4, random_state=0), X, y),
        "bagging": Case(BaggingClassifier(GaussianNB(), 4, max_features=2, random_state=0), X, classes),
        "bagging-numbers": Case(BaggingRegressor(n_estimators=3, max_samples=12, random_state=0), X, y),
        "functional": Case(FunctionalGradientBoosting(loss="log", n_estimators=3, random_state=0), X, classes),
        "functional-lines": Case(FunctionalGradientBoosting(Ridge(), "huber", n_estimators=5), X, y),
        "model-tree": Case(ModelTreeRegressor(min_gain=0.0, max_depth=2), X, y),
        "model-tree-models": Case(ModelTreeRegressor(Ridge(), min_gain=0.0, max_depth=1), X, y),
        "boosting-classes": Case(GradientBoostingClassifier(n_estimators=3, random_state=0), X, classes),
        "boosting": Case(GradientBoostingRegressor(n_estimators=4, random_state=0), X, y),
        "unfitted": Case(make_pipeline(StandardScaler(), GaussianNB(var_smoothing=1e-7)), None),
    }  # fmt: skip


def answers(model, data) -> dict[str, np.ndarray]:
    """Everything a model says about data."""
    if data is None:
        return {"repr": np.array(repr(model))}
    said = {}
    for method in ("predict", "predict_proba", "transform", "kneighbors", "mahalanobis"):
        if hasattr(model, method):
            result = getattr(model, method)(data)
            said[method] = np.asarray(result.toarray() if hasattr(result, "toarray") else result)
    return said


def main() -> None:
    folder = GOLDEN / learnt.__version__
    folder.mkdir(parents=True, exist_ok=True)
    for name, case in cases().items():
        path = folder / f"{name}.learnt"
        if not path.exists():
            model = case.fitted()
            learnt.save(model, path)
            said = {method: result.tolist() for method, result in answers(model, case.data).items()}
            path.with_suffix(".json").write_text(json.dumps(said) + "\n")


if __name__ == "__main__":
    main()
