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
from learnt.decomposition import PCA
from learnt.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeCV
from learnt.naive_bayes import GaussianNB
from learnt.neighbors import KNeighborsClassifier, NearestNeighbors
from learnt.preprocessing import StandardScaler, TableEncoder

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


def models() -> dict:
    """Name → (fitted model, the data it answers for)."""
    numbers = ("numbers", make_pipeline(SimpleImputer(add_indicator=True), SklearnScaler()), ["size"])
    towns = ("towns", OneHotEncoder(min_frequency=2, handle_unknown="infrequent_if_exist"), ["town", "shop"])
    two = np.c_[classes, classes[::-1]]
    first = ("n", StandardScaler(), slice(0, 2))
    return {
        "linear": (LinearRegression().fit(X, y), X),
        "linear-two-targets": (LinearRegression(fit_intercept=False).fit(X, np.c_[y, -y]), X),
        "linear-float32": (LinearRegression().fit(X.astype("f4"), y.astype("f4")), X.astype("f4")),
        "ridge": (Ridge(alpha=0.5).fit(named, y), named),
        "ridge-cv": (RidgeCV(alphas=[0.1, 1.0], store_cv_results=True).fit(X, y), X),
        "ridge-cv-folds": (RidgeCV(cv=KFold(3, shuffle=True, random_state=0)).fit(X, y), X),
        "logistic": (LogisticRegression().fit(X, classes == "low"), X),
        "logistic-three-classes": (LogisticRegression(class_weight="balanced").fit(named, classes), named),
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
