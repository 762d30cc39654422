"""From plain data to models: a specification is one model, a recipe is a blend of them (or one alone).

recipe = {"members": [{"spec": …, "weight": 0.6, "calibration": None}, …], "calibration": {"exponent": 1.1, …}}
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline

from learnt.preprocessing import PolynomialFeatures, StandardScaler, TableEncoder

Spec = dict[str, Any]
Recipe = dict[str, Any]


def alone(spec: Spec, calibration: dict[str, Any] | None = None) -> Recipe:
    """The recipe of a single model."""
    return {"members": [{"spec": spec, "weight": 1.0, "calibration": calibration}], "calibration": None}


def settled(spec: Spec, value: float | None) -> Spec:
    """A specification without its path, at one of its values."""
    if spec["path"] is None:
        return spec
    parameter = spec["path"][0]
    return {**spec, "path": None, "params": {**spec["params"], parameter: value}}


def bare(spec: Spec) -> Any:
    """The unfitted model itself."""
    module, _, name = spec["model"].rpartition(".")
    model = getattr(import_module(module), name)(**spec["params"])
    if spec.get("scale_target"):
        from sklearn.compose import TransformedTargetRegressor

        return TransformedTargetRegressor(model, transformer=StandardScaler(), check_inverse=False)
    return model


def preparation(spec: Spec) -> list[Any]:
    """The preprocessing between the encoded table and the model."""
    steps: list[Any] = [StandardScaler()] if spec["scale"] else []
    if spec["products"]:
        steps += [PolynomialFeatures(2, include_bias=False), StandardScaler()]
    return steps


def build(spec: Spec) -> Any:
    """The unfitted model of a specification for encoded rows, behind a scaler where it needs one."""
    return make_pipeline(*preparation(spec), bare(spec))


def build_recipe(recipe: Recipe, present: list[int] | None) -> Any:
    """The unfitted model of a recipe for raw tables; members whose columns are prepared alike share the preparation.

    `present` are the numbers of the classes among the rows it will be fitted on, None for amounts.
    """
    classify = present is not None
    groups: dict[tuple, list[dict[str, Any]]] = {}
    for member in recipe["members"]:
        spec = member["spec"]
        groups.setdefault((spec["encoding"], spec["scale"], spec["products"]), []).append(member)
    parts = []
    for members in groups.values():
        spec = members[0]["spec"]
        numeric = "raw" if spec["encoding"] == "none" else spec["encoding"]
        models = [_calibrated(bare(m["spec"]), m["calibration"], present) for m in members]
        model = _average(models, [m["weight"] for m in members], classify)
        steps: list[Any] = [] if spec["encoding"] == "pixels" else [("table", TableEncoder(numeric=numeric))]
        steps += [(f"prepare{k}", step) for k, step in enumerate(preparation(spec), 1)]
        parts.append((Pipeline([*steps, ("model", model)]), sum(m["weight"] for m in members)))
    whole = _average([part for part, _ in parts], [weight for _, weight in parts], classify)
    return _calibrated(whole, recipe["calibration"], present)


def _average(models: list[Any], weights: list[float], classify: bool) -> Any:
    if len(models) == 1:
        return models[0]
    from learnt.ensemble import VotingClassifier, VotingRegressor  # slow to import, needed for a blend only

    named = [(f"member{k}", model) for k, model in enumerate(models, 1)]
    if classify:
        return VotingClassifier(named, voting="soft", weights=weights)
    return VotingRegressor(named, weights=weights)


def _calibrated(model: Any, calibration: dict[str, Any] | None, present: list[int] | None) -> Any:
    if calibration is None:
        return model
    if calibration["offsets"] is not None and present is not None:
        calibration = {**calibration, "offsets": [calibration["offsets"][k] for k in present]}
    from learnt.ensemble import RecalibratedClassifier

    return RecalibratedClassifier(model, **calibration)


def recalibrated(probability: np.ndarray, calibration: dict[str, Any] | None) -> np.ndarray:
    """Probabilities after a calibration map, or as they are."""
    if calibration is None:
        return probability
    from learnt.ensemble import recalibrate

    return recalibrate(probability, **calibration)
