"""The model families that race. A new family is one entry in `FAMILIES`; nothing else needs to know about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Family:
    """A kind of model: where it lives, which settings to try (simplest first), how its columns are prepared."""

    name: str
    task: str  # "classify" or "regress"
    model: str  # dotted name, imported only where it is fitted
    rank: int  # how simple it is; the one-standard-error rule prefers low ranks
    settings: tuple[dict[str, Any], ...]
    fixed: dict[str, Any]
    words: str
    scale: bool = False
    encodings: tuple[str, ...] = ("raw",)  # how TableEncoder writes numbers; "none": the columns do not matter
    most_rows: int = 100_000  # more training rows than this are not worth their time in a race
    brief: dict[str, Any] = field(default_factory=dict)  # settings that make a fit short and still run all of its code

    def try_out(self, rows: int) -> dict[str, Any]:
        """The order to fit it once on so many rows, with as little work as runs all of its code."""
        spec = Candidate(self, self.settings[0], self.encodings[0], 0).brief_spec()
        return {"spec": spec, "fold": 0, "rows": rows, "most": rows, "tested": 100}


_BOOSTING = {"learning_rate": 0.1, "max_iter": 300, "early_stopping": True, "random_state": 0}

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
        "logistic regression",
        "classify",
        "learnt.linear_model.LogisticRegression",
        2,
        ({"C": 0.01}, {"C": 0.1}, {"C": 1.0}, {"C": 10.0}, {"C": 100.0}),
        {"max_iter": 300},
        "weighs the columns and adds them up",
        scale=True,
        encodings=("squash", "raw"),
    ),
    Family(
        "nearest neighbours",
        "classify",
        "learnt.neighbors.KNeighborsClassifier",
        3,
        ({"n_neighbors": 135}, {"n_neighbors": 45}, {"n_neighbors": 15}, {"n_neighbors": 5}),
        {},
        "looks up the most similar rows and lets them vote",
        scale=True,
        encodings=("squash",),
        most_rows=50_000,
    ),
    Family(
        "decision tree",
        "classify",
        "learnt.tree.DecisionTreeClassifier",
        2,
        ({"max_depth": 2}, {"max_depth": 4}, {"max_depth": 8}),
        {"min_samples_leaf": 5, "random_state": 0},
        "asks a few yes-or-no questions, one column at a time",
        brief={"max_depth": 4},
    ),
    Family(
        "random forest",
        "classify",
        "learnt.ensemble.RandomForestClassifier",
        3,
        ({"min_samples_leaf": 20}, {"min_samples_leaf": 5}, {"min_samples_leaf": 1}),
        {"n_estimators": 200, "random_state": 0},
        "grows many deep trees, each on other rows and columns, and lets them vote",
        brief={"n_estimators": 4},
    ),
    Family(
        "boosted trees",
        "classify",
        "learnt.ensemble.HistGradientBoostingClassifier",
        4,
        ({"max_leaf_nodes": 4}, {"max_leaf_nodes": 10}, {"max_leaf_nodes": 31}),
        _BOOSTING,
        "adds up hundreds of small trees, each fitted to what those before it got wrong",
        most_rows=1_000_000,
        brief={"max_iter": 3},
    ),
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
        ({"alpha": 1000.0}, {"alpha": 100.0}, {"alpha": 10.0}, {"alpha": 1.0}),
        {},
        "weighs the columns and adds them up, with small weights preferred",
        scale=True,
        encodings=("squash", "raw"),
    ),
    Family(
        "linear regression",
        "regress",
        "learnt.linear_model.LinearRegression",
        2,
        ({},),
        {},
        "weighs the columns and adds them up",
        scale=True,
        encodings=("squash", "raw"),
    ),
    Family(
        "decision tree",
        "regress",
        "learnt.tree.DecisionTreeRegressor",
        2,
        ({"max_depth": 2}, {"max_depth": 4}, {"max_depth": 8}),
        {"min_samples_leaf": 5, "random_state": 0},
        "asks a few yes-or-no questions, one column at a time",
        brief={"max_depth": 4},
    ),
    Family(
        "random forest",
        "regress",
        "learnt.ensemble.RandomForestRegressor",
        3,
        ({"min_samples_leaf": 20}, {"min_samples_leaf": 5}, {"min_samples_leaf": 1}),
        {"n_estimators": 200, "random_state": 0},
        "grows many deep trees, each on other rows and columns, and lets them vote",
        brief={"n_estimators": 4},
    ),
    Family(
        "boosted trees",
        "regress",
        "learnt.ensemble.HistGradientBoostingRegressor",
        4,
        ({"max_leaf_nodes": 4}, {"max_leaf_nodes": 10}, {"max_leaf_nodes": 31}),
        _BOOSTING,
        "adds up hundreds of small trees, each fitted to what those before it got wrong",
        most_rows=1_000_000,
        brief={"max_iter": 3},
    ),
)


@dataclass(frozen=True)
class Candidate:
    """One entry of the race: a family with settings and an encoding."""

    family: Family
    settings: dict[str, Any]
    encoding: str
    place: int  # within its family, simplest first

    @property
    def id(self) -> str:
        """A name that is the same in every run; it keys the journal."""
        chosen = ",".join(f"{k}={v:g}" for k, v in self.settings.items())
        return f"{self.family.model}({chosen})|{self.encoding}"

    @property
    def label(self) -> str:
        """The name people read, such as "logistic regression, C 0.1"."""
        chosen = ", ".join(f"{_WORDS.get(k, k)} {v:g}" for k, v in self.settings.items())
        kind = ", raw numbers" if self.encoding == "raw" and len(self.family.encodings) > 1 else ""
        return f"{self.family.name}{', ' if chosen else ''}{chosen}{kind}"

    @property
    def is_constant(self) -> bool:
        return self.family.rank == 0

    def spec(self) -> dict[str, Any]:
        """What the worker needs to build it, as plain data."""
        params = {**self.family.fixed, **self.settings}
        return {"model": self.family.model, "params": params, "encoding": self.encoding, "scale": self.family.scale}

    def brief_spec(self) -> dict[str, Any]:
        """The same with little work, to be run once before the clock runs."""
        spec = self.spec()
        return {**spec, "params": {**spec["params"], **self.family.brief}}


_WORDS = {
    "n_neighbors": "k",
    "var_smoothing": "smoothing",
    "max_depth": "depth",
    "max_leaf_nodes": "leaves",
    "min_samples_leaf": "rows a leaf",
}


def candidates_for(task: str) -> list[Candidate]:
    """Every entry of the race, one of each family before the second of any, so that a short race is still wide."""
    entries = []
    for family in FAMILIES:
        if family.task == task:
            pairs = [(s, e) for s in family.settings for e in family.encodings]
            entries += [Candidate(family, s, e, k) for k, (s, e) in enumerate(pairs)]

    def turn(entry: Candidate) -> tuple[int, int]:
        count = len(entry.family.settings) * len(entry.family.encodings)
        return abs(2 * entry.place - count) // 2, entry.family.rank  # middling settings first

    return sorted(entries, key=turn)


def build(spec: dict[str, Any]) -> Any:
    """The unfitted model of a specification, behind a scaler where it needs one."""
    from sklearn.pipeline import make_pipeline

    from learnt.preprocessing import StandardScaler

    module, _, name = spec["model"].rpartition(".")
    model = getattr(import_module(module), name)(**spec["params"])
    return make_pipeline(StandardScaler(), model) if spec["scale"] else make_pipeline(model)
