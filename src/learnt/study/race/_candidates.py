"""The entries of a race, in the order of their turns: families with settings, as fit this table and this budget."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

from learnt.study.race._families import FAMILIES, Family

_FEW_ROWS = 5_000
QUICKEST_FIRST = (  # on few rows
    "constant",
    "naive Bayes",
    "decision tree",
    "nearest neighbours",
    "ridge regression",
    "logistic regression",
    "linear discriminants",
    "quadratic discriminants",
    "kernel ridge regression",
    "support vectors",
    "support vectors, one scale",
    "extra trees",
    "random forest",
    "boosted trees",
)
_IN_A_HURRY = (  # for budgets of a few seconds: each takes a fraction of one
    "constant",
    "decision tree",
    "ridge regression",
    "logistic regression",
    "boosted trees",
    "naive Bayes",
    "random forest",
)
_MANY_CLASSES = 5  # boosting grows a tree a class and round: of so many, fewer rounds of larger steps and smaller trees
_OF_IMAGES = ("constant", "support vectors, one scale", "convolutional network")
_WORDS = {
    "var_smoothing": "smoothing",
    "max_depth": "depth",
    "max_leaf_nodes": "leaves",
    "min_samples_leaf": "min rows per leaf",
    "max_features": "columns per split",
    "learning_rate": "learning rate",
    "l2_regularization": "l2",
    "hidden_layer_sizes": "units",
    "max_iter": "epochs",
}


@dataclass(frozen=True)
class Candidate:
    """One entry of the race: a family with settings and an encoding."""

    family: Family
    settings: dict[str, Any]
    encoding: str
    place: int  # within its family, simplest first
    trees: int = 300  # of a forest

    @property
    def id(self) -> str:
        """A name that is the same in every run and differs where the fits do; it keys the journal."""
        spec = self.spec()
        chosen = ",".join(f"{k}={v}" for k, v in self.settings.items())
        trees = f"|{self.trees} trees" if "n_estimators" in spec["params"] else ""
        path = f"|{len(spec['path'][1])} × {spec['path'][0]}" if spec["path"] else ""
        return f"{self.family.name}: {self.family.model}({chosen})|{self.encoding}{trees}{path}"

    @property
    def label(self) -> str:
        """The displayed name, such as "boosted trees, leaves 4, learning rate 0.1"."""
        chosen = ", ".join(f"{_WORDS.get(k, k)} {v}" for k, v in self.settings.items())
        kind = ", raw numbers" if self.encoding == "raw" and len(self.family.encodings) > 1 else ""
        return f"{self.family.name}{', ' if chosen else ''}{chosen}{kind}"

    @property
    def is_constant(self) -> bool:
        return self.family.rank == 0

    @property
    def leads(self) -> bool:
        """Whether it races right after the constant."""
        return self.settings == self.family.settings[self.family.leader] and self.encoding == self.family.encodings[0]

    def spec(self) -> dict[str, Any]:
        """What the worker needs to build it, as plain data."""
        family = self.family
        params = {**family.fixed, **self.settings}
        if "n_estimators" in family.brief:
            params["n_estimators"] = self.trees
        spec: dict[str, Any] = {"model": family.model, "params": params, "encoding": self.encoding}
        spec |= {"scale": family.scale, "products": family.products, "most_columns": family.most_columns}
        spec["scale_target"] = family.scale_target
        path = family.path
        spec["path"] = None if path is None else [path.parameter, list(path.values), path.staged]
        return spec

    def brief_spec(self) -> dict[str, Any]:
        """The same with little work, to be run once before the clock runs."""
        spec = self.spec()
        path = self.family.path
        if path is not None:
            short = [self.family.brief[path.parameter]] if path.staged else list(path.values[:1])
            spec["path"] = [path.parameter, short, path.staged]
        return {**spec, "params": {**spec["params"], **self.family.brief}}


def try_out(family: Family, rows: int) -> dict[str, Any]:
    """The order to fit a family once on few rows, with as little work as runs all of its code.

    Predictions of many trees take another code path than those of a handful, so there are some more than `brief`.
    """
    spec = Candidate(family, family.settings[family.leader], family.encodings[0], 0).brief_spec()
    if "n_estimators" in family.brief:
        spec["params"]["n_estimators"] = 20
    return {"spec": spec, "fold": 0, "rows": rows, "most": rows, "tested": rows}


def _shortened(family: Family) -> Family:
    path = family.path and replace(family.path, values=family.path.values[:3])
    return replace(
        family, settings=(family.settings[family.leader],), leader=0, encodings=family.encodings[:1], path=path
    )


def _hurried(family: Family) -> Family:
    """Every fourth penalty, and a quarter of the rounds: the rest costs more than it gains in a second or two."""
    if family.path is None:
        return family
    values = family.path.values
    return replace(family, path=replace(family.path, values=values[:7] if family.path.staged else values[::4]))


def _for_many_classes(family: Family) -> Family:
    """Boosting with twice the step, half the trees, and the small ones first."""
    if family.path is None or not family.path.staged:
        return family
    settings = tuple({**s, "learning_rate": 2 * s["learning_rate"]} for s in family.settings)
    path = replace(family.path, values=family.path.values[:8])
    return replace(family, settings=settings, leader=1, path=path)


def _races(family: Family, rows: int, classes: int, image: Any) -> bool:
    """Whether a family is for so many rows and classes on this machine."""
    if family.images and image is None:
        return False
    installed = family.needs is None or find_spec(family.needs) is not None  # looked for, and not imported
    return rows >= family.least_rows and family.least_classes <= classes <= family.most_classes and installed


def candidates_for(
    task: str,
    rows: int = 2000,
    classes: int | None = 2,
    in_a_hurry: bool = False,
    image: tuple[int, int, int] | None = None,
) -> list[Candidate]:
    """Every entry of the race in the order of their turns: the constant, one of each family, then the rest in turn.

    Strong families come first, and the settings nearest to those that lead before the others. On few rows the quick
    ones come first instead: a slow machine then has a result, and any other tries them all. The same holds
    `in_a_hurry`, with shorter paths on many rows. For an `image` of so many rows, columns and channels, what is strong
    on pixels comes first: support vectors, which take a second on some thousand images, then a convolutional network.
    With LEARNT_STUDY_BRIEF=1, which is for tests, only the leaders race, with few trees and short paths.
    """
    brief = os.environ.get("LEARNT_STUDY_BRIEF", "0") == "1"
    trees = 10 if brief else 300 if rows < 10_000 else 200
    entries = []
    for family in map(_shortened, FAMILIES) if brief else FAMILIES:
        if family.task == task and _races(family, rows, classes or 0, image):
            if family.images and image is not None:
                family = replace(family, fixed={**family.fixed, "image_shape": list(image)})
            if (classes or 0) >= _MANY_CLASSES and not brief:
                family = _for_many_classes(family)
            if in_a_hurry and rows >= _FEW_ROWS and not brief:
                family = _hurried(family)
            if family.path is not None:
                family = replace(family, path=family.path.for_rows(rows))
            pairs = [(s, e) for s in family.settings for e in family.encodings]
            entries += [Candidate(family, s, e, k, trees) for k, (s, e) in enumerate(pairs)]
    order = [f.name for f in FAMILIES if f.task == task]
    if in_a_hurry or rows < _FEW_ROWS:
        first = QUICKEST_FIRST if rows < _FEW_ROWS else _IN_A_HURRY
        order = [n for n in first if n in order] + [n for n in order if n not in first]

    if image is not None:
        order.sort(key=lambda name: _OF_IMAGES.index(name) if name in _OF_IMAGES else len(_OF_IMAGES))

    def turn(entry: Candidate) -> tuple[int, int, int]:
        if entry.leads:
            return 0, 0, order.index(entry.family.name)
        lead = entry.family.leader * len(entry.family.encodings)
        return 1, abs(entry.place - lead), order.index(entry.family.name)

    return sorted(entries, key=turn)
