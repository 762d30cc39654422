"""Gradient boosting against LightGBM, XGBoost, CatBoost and scikit-learn, at equal settings and two threads each.

Peers that are not installed are left out; scikit-learn is always there. Quality is the loss on rows not seen in `fit`.
"""

from __future__ import annotations

import warnings
from importlib.util import find_spec

import numpy as np
from harness import Task

LEAVES, TREES, THREADS = 31, 100, 2
_OBJECTIVES = {
    "number": ("regression", "reg:squarederror", "RMSE"),
    "two": ("binary", "binary:logistic", "Logloss"),
    "ten": ("multiclass", "multi:softprob", "MultiClass"),
}


def table(kind: str, d: int, categories: int = 0, held: int = 20_000, seed: int = 0):
    """Columns of several shapes; a target of smooth and stepwise effects and interactions."""

    def make(n: int) -> dict:
        rng = np.random.default_rng(seed)
        held_out = min(held, 20 * n)
        total = n + held_out
        X = rng.normal(size=(total, d)).astype(np.float32)
        X[:, ::4] = np.exp(X[:, ::4])
        X[:, 1::4] = np.round(3 * X[:, 1::4])
        mixed = np.tanh(2 * np.sign(X) * np.log1p(np.abs(X)) @ (rng.normal(size=(d, 12)) / np.sqrt(d)))
        score = mixed @ rng.normal(size=12) + np.sin(2 * X[:, 2]) + 0.5 * X[:, 3] + (X[:, 1] > 1) * X[:, 2]
        for j in range(categories):
            codes = np.minimum(rng.geometric(0.03, size=total), 200)
            score = score + rng.normal(size=201)[codes]
            X[:, j] = codes
        if kind == "number":
            y = score + 0.7 * rng.normal(size=total)
        elif kind == "two":
            y = (score + rng.logistic(size=total) > np.median(score)).astype(int)
        else:
            y = np.digitize(score + 0.5 * rng.normal(size=total), np.quantile(score, np.linspace(0.1, 0.9, 9)))
        return {
            "X": X[:n], "y": y[:n], "X_new": X[n:], "y_new": y[n:], "kind": kind, "categories": list(range(categories)),
        }  # fmt: skip

    return make


def loss(model, data: dict) -> float:
    """Mean squared error or log loss on new rows."""
    said, y = model(data["X_new"]), data["y_new"]
    if data["kind"] == "number":
        return float(np.mean((said - y) ** 2))
    if data["kind"] == "two":
        said = np.column_stack([1 - said, said]) if said.ndim == 1 else said
    return float(-np.mean(np.log(np.maximum(said[np.arange(len(y)), y], 1e-15))))


def trees(data: dict) -> int:
    """A few where the tests only see whether a task runs."""
    return TREES if len(data["y"]) >= 1000 else 3


def estimator(package: str, **params):
    def work(data: dict):
        from importlib import import_module

        name = "HistGradientBoosting" + ("Regressor" if data["kind"] == "number" else "Classifier")
        settings = {"max_iter": trees(data), "max_leaf_nodes": LEAVES, "early_stopping": False, **params}
        if data["categories"]:
            settings["categorical_features"] = data["categories"]
        model = getattr(import_module(f"{package}.ensemble"), name)(**settings).fit(data["X"], data["y"])
        return model.predict if data["kind"] == "number" else model.predict_proba

    return work


def lightgbm(data: dict):
    import lightgbm as lgb

    params = {
        "objective": _OBJECTIVES[data["kind"]][0], "num_leaves": LEAVES, "learning_rate": 0.1, "min_data_in_leaf": 20,
        "num_threads": THREADS, "verbose": -1,
    }  # fmt: skip
    if data["kind"] == "ten":
        params["num_class"] = 10
    rows = lgb.Dataset(data["X"], data["y"], categorical_feature=data["categories"] or "auto")
    model = lgb.train(params, rows, trees(data))
    return lambda X: model.predict(X, num_threads=THREADS)


def xgboost(data: dict):
    import xgboost as xgb

    params = {
        "objective": _OBJECTIVES[data["kind"]][1], "max_leaves": LEAVES, "max_depth": 0, "grow_policy": "lossguide",
        "learning_rate": 0.1, "nthread": THREADS, "tree_method": "hist", "max_bin": 256, "reg_lambda": 0.0,
    }  # fmt: skip
    if data["kind"] == "ten":
        params["num_class"] = 10
    kinds = ["c" if j in data["categories"] else "q" for j in range(data["X"].shape[1])]
    rows = xgb.QuantileDMatrix(
        data["X"], data["y"], nthread=THREADS, feature_types=kinds, enable_categorical=bool(data["categories"])
    )
    model = xgb.train(params, rows, trees(data))
    if data["categories"]:
        return lambda X: model.predict(xgb.DMatrix(X, feature_types=kinds, enable_categorical=True))
    return model.inplace_predict


def catboost(data: dict):
    from catboost import CatBoost, FeaturesData, Pool

    def rows(X, y=None):
        """Categories as text, which is how CatBoost takes them; the fastest way in that it has."""
        if not data["categories"]:
            return Pool(X, y)
        texts = np.array([str(k).encode() for k in range(256)], dtype=object)
        codes = texts[X[:, data["categories"]].astype(int)]
        others = np.ascontiguousarray(np.delete(X, data["categories"], axis=1))
        return Pool(FeaturesData(num_feature_data=others, cat_feature_data=codes), y)

    model = CatBoost({
        "loss_function": _OBJECTIVES[data["kind"]][2], "iterations": trees(data), "learning_rate": 0.1,
        "max_leaves": LEAVES, "grow_policy": "Lossguide", "depth": 16, "border_count": 254,
        "thread_count": THREADS, "verbose": False, "allow_writing_files": False, "min_data_in_leaf": 20,
    })  # fmt: skip
    model.fit(rows(data["X"], data["y"]))
    if data["kind"] == "number":
        return lambda X: model.predict(rows(X))
    return lambda X: model.predict(rows(X), prediction_type="Probability")


def peers() -> dict:
    others = {"LightGBM": lightgbm, "XGBoost": xgboost, "CatBoost": catboost}
    return {"sklearn": estimator("sklearn"), **{k: work for k, work in others.items() if find_spec(k.lower())}}


def predicting(work):
    """The fit once, before the clock runs; then the predictions."""
    known: dict = {}

    def predict(data: dict):
        key = id(data["X"])
        if key not in known:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                known.clear()
                known[key] = work(data)
        return known[key](data["X_new"])

    return predict


def said_loss(said, data: dict) -> float:
    return loss(lambda _: said, data)


def fit_task(name: str, kind: str, n: int, d: int, categories: int = 0, required: float = 1.5) -> Task:
    return Task(
        name=name, family="boosting", make=table(kind, d, categories), rows=n, ours=estimator("learnt"),
        peers=peers(), quality=loss, quality_name="loss on new rows", required=required, tolerance=2e-3,
        toy=300,
    )  # fmt: skip


def many_small(n: int, d: int, count: int = 10) -> Task:
    """Several small tables: one alone says more about its rows than about who learns better."""

    def make(rows: int) -> dict:
        return {"tables": [table("two", d, seed=seed)(rows) for seed in range(count)]}

    def each(work):
        return lambda data: [work(one) for one in data["tables"]]

    def mean_loss(models: list, data: dict) -> float:
        return float(np.mean([loss(model, one) for model, one in zip(models, data["tables"], strict=True)]))

    return Task(
        name=f"boosting small {n // 1000}k×{d}, {count} tables", family="boosting", make=make, rows=n,
        ours=each(estimator("learnt")), peers={name: each(work) for name, work in peers().items()},
        quality=mean_loss, quality_name="loss on new rows", required=1.0, tolerance=2e-3, toy=300,
    )  # fmt: skip


TASKS = [
    fit_task("boosting log 500k×28", "two", 500_000, 28),
    fit_task("boosting squared 500k×28", "number", 500_000, 28),
    fit_task("boosting wide 20k×500", "two", 20_000, 500),
    fit_task("boosting 10 classes 50k×20", "ten", 50_000, 20),
    fit_task("boosting with categories 200k×20", "two", 200_000, 20, categories=6),
    many_small(1000, 10),
    # Cost is linear in the rows: these two and the first.
    fit_task("boosting log 125k×28", "two", 125_000, 28),
    fit_task("boosting log 250k×28", "two", 250_000, 28),
    Task(
        name="boosting predict 100k×28", family="boosting", make=table("two", 28, held=100_000), rows=100_000,
        ours=predicting(estimator("learnt")), peers={k: predicting(v) for k, v in peers().items()},
        quality=said_loss, quality_name="loss on new rows", required=1.0, tolerance=2e-3, toy=300,
    ),
]  # fmt: skip
