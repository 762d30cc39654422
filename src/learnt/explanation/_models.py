"""How each kind of model is explained: exactly where the mathematics allows, through its parts, or as a function.

Everything is asked of a model by the names of its fitted attributes, so that any pipeline, ensemble or calibration of
any members is gone through in the same way. A linear model or one with `contributions` is believed only where what it
says adds up to what it predicts; everything else is a function, and its values are sampled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from learnt.explanation._method import Explained
from learnt.explanation._parts import (
    EXACT,
    NUMBER,
    PROBABILITY,
    SAMPLED,
    SCORE,
    Parts,
    as_probability,
    carried,
    carried_each,
    least_exact,
    logistic,
    of_second,
    second_of,
    softmax,
    weighted_sum,
)
from learnt.explanation._rows import Rows, linear_shares, passed
from learnt.explanation._shapley import shapley_sampled

_AGREES = 1e-5  # what is predicted in float32 is not more exact


@dataclass(frozen=True)
class Effort:
    """How much to sample, and from which seed."""

    n_pairs: int | None = None
    random_state: Any = 0


def parts_of(model: Any, rows: Rows, effort: Effort) -> Parts:
    """The parts of a model's numbers or probabilities."""
    found = exact_parts(model, rows, effort)
    return asked(model, rows, effort) if found is None else as_probability(found)


def exact_parts(model: Any, rows: Rows, effort: Effort) -> Parts | None:
    """Parts that need no sampling, or only of some members; None where the model can only be asked."""
    for attribute, explain in _KINDS.items():
        if hasattr(model, attribute):
            found = explain(model, rows, effort)
            if found is not None:
                return found
    return None


def is_classifier(model: Any) -> bool:
    return hasattr(model, "predict_proba")


def answer_of(model: Any) -> Callable[[Any], np.ndarray]:
    """Probabilities where there are any, else numbers."""
    if is_classifier(model):
        return lambda X: np.asarray(model.predict_proba(X), dtype=np.float64)
    return lambda X: np.asarray(model.predict(X), dtype=np.float64).reshape(X.shape[0], -1)


def adds_up(model: Any, rows: Rows, parts: Parts) -> bool:
    """Whether the parts add up to what the model predicts."""
    return _agree(as_probability(parts).total, answer_of(model)(rows.X))


def asked(model: Any, rows: Rows, effort: Effort) -> Parts:
    """Shapley values of a model that can only be asked."""
    members = getattr(model, "estimators_", [])
    known = rows.known_by([model, *(members if isinstance(members, list) else [])])
    return sampled(answer_of(model), known, effort, is_classifier(model))


def sampled(answer: Callable[[Any], np.ndarray], rows: Rows, effort: Effort, probabilities: bool) -> Parts:
    """Shapley values of a function of the rows."""
    function, X, background, owner = rows.as_function(answer)
    found = shapley_sampled(
        function, X, background, owner=owner, n_pairs=effort.n_pairs, random_state=effort.random_state
    )
    values, error = _all_columns(found.values, rows), found.standard_error
    variance = None if error is None else _all_columns(error, rows) ** 2
    base = np.broadcast_to(found.baseline, (rows.n, values.shape[2]))
    scale, how = PROBABILITY if probabilities else NUMBER, EXACT if error is None else SAMPLED
    return Parts(scale, base, values, variance, how, rows.reference)


def _all_columns(values: np.ndarray, rows: Rows) -> np.ndarray:
    """Zeros for the last columns of the table, if the model does not use them."""
    return np.pad(values, [(0, 0), (0, len(rows.names) - values.shape[1]), (0, 0)])


# --- one model


def _linear(model: Any, rows: Rows, effort: Effort) -> Parts | None:
    """Weights times the distance from the training mean."""
    coef, intercept = model.coef_, getattr(model, "intercept_", 0.0)
    coef = np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef, dtype=np.float64)
    coef, intercept = np.atleast_2d(coef), np.atleast_1d(np.asarray(intercept, dtype=np.float64))
    if coef.shape[1] != rows.X.shape[1]:
        return None
    shares, mean = linear_shares(rows)
    values = np.zeros((rows.n, len(rows.names), len(coef)))
    for owner, amounts in shares:
        values += replace(rows, owner=owner).by_column(amounts[:, :, None] * coef.T[None])
    base = np.broadcast_to(coef @ mean + intercept, (rows.n, len(coef)))
    return _believed(model, rows, base, values)


def _contributions(model: Any, rows: Rows, effort: Effort) -> Parts | None:
    """What the model says itself, of columns as it gets them."""
    if getattr(type(model), "contributions", None) is Explained.contributions:
        return None
    try:
        found = np.asarray(model.contributions(rows.X), dtype=np.float64)
    except (ValueError, NotImplementedError):  # several outputs, surrogate splits
        return None
    found = found[:, None, :] if found.ndim == 2 else found
    return _believed(model, rows, found[:, :, -1], rows.by_column(found[:, :, :-1].transpose(0, 2, 1)))


def _believed(model: Any, rows: Rows, base: np.ndarray, values: np.ndarray) -> Parts | None:
    """The scale in which the parts add up to what the model predicts; None where there is no such scale."""
    total, known = base + values.sum(axis=1), rows.reference
    if not is_classifier(model):
        wanted = np.asarray(model.predict(rows.X), dtype=np.float64).reshape(rows.n, -1)
        if _agree(total, wanted):
            return Parts(NUMBER, base, values, reference=known)
        with np.errstate(over="ignore"):
            if total.shape == wanted.shape and _agree(np.exp(total), wanted):
                return carried_each(Parts(NUMBER, base, values, reference=known), np.exp, NUMBER)
        return None
    wanted = np.asarray(model.predict_proba(rows.X), dtype=np.float64)
    if total.shape[1] == 1 and wanted.shape[1] == 2:
        one = Parts(PROBABILITY, base, values, reference=known)
        if _agree(total, wanted[:, 1:]):
            return of_second(one)
        for factor in (1.0, 2.0):  # the exponential loss of boosting counts half of the log-odds
            if _agree(logistic(factor * total), wanted[:, 1:]):
                return _two_scores(one.times(factor))
        return None
    if _agree(total, wanted):
        return Parts(PROBABILITY, base, values, reference=known)
    agree = total.shape == wanted.shape and _agree(softmax(total), wanted)
    return Parts(SCORE, base, values, reference=known) if agree else None


def _two_scores(one: Parts) -> Parts:
    """The log-odds of the second class as scores of both, the first's being 0."""
    zeros = np.zeros_like(one.base), np.zeros_like(one.values)
    base = np.concatenate([zeros[0], one.base], axis=1)
    values = np.concatenate([zeros[1], one.values], axis=2)
    return replace(one, scale=SCORE, base=base, values=values)


def _agree(found: np.ndarray, wanted: np.ndarray) -> bool:
    if found.shape != wanted.shape:
        return False
    return bool(np.allclose(found, wanted, rtol=_AGREES, atol=_AGREES * float(np.abs(wanted).max(initial=0.0))))


# --- models that hold others


def _pipeline(model: Any, rows: Rows, effort: Effort) -> Parts | None:
    steps = [step for _, step in model.steps]
    for k, step in enumerate(steps[:-1]):
        after = passed(step, rows)
        if after is None:
            rest = model[k:]
            return asked(rest, rows, effort)
        rows = after
    found = exact_parts(steps[-1], rows, effort)
    return parts_of(steps[-1], rows, effort) if found is None else found


def _voting(model: Any, rows: Rows, effort: Effort) -> Parts | None:
    """The weighted mean of the members; those that can only be asked are asked together."""
    classify = hasattr(model, "classes_")
    if classify and getattr(model, "voting", "soft") != "soft":
        return None
    members = list(model.estimators_)
    weights = _weights(model, len(members))
    found = [exact_parts(member, rows, effort) for member in members]
    if all(part is None for part in found):
        return None
    parts = [as_probability(part) for part in found if part is not None]
    shares = [weight for weight, part in zip(weights, found) if part is not None]
    others = [(member, weight) for member, weight, part in zip(members, weights, found) if part is None]
    if others:
        answers = [answer_of(member) for member, _ in others]

        def together(X: Any) -> np.ndarray:
            return np.sum([weight * answer(X) for answer, (_, weight) in zip(answers, others)], axis=0)

        known = rows.known_by([member for member, _ in others])
        parts.append(sampled(together, known, effort, classify))
        shares.append(1.0)
    return weighted_sum(parts, shares)


def _weights(model: Any, n: int) -> list[float]:
    given = getattr(model, "weights", None)
    if given is not None:
        given = [w for w, (_, member) in zip(given, model.estimators) if not isinstance(member, str)]
    weights = np.ones(n) if given is None else np.asarray(given, dtype=np.float64)
    return (weights / weights.sum()).tolist()


def _recalibrated(model: Any, rows: Rows, effort: Effort) -> Parts | None:
    """A power, a floor, offsets and doubt: exact in the log-odds without floor and doubt, else carried."""
    inner = exact_parts(model.estimator_, rows, effort) if hasattr(model, "exponent") else None
    if inner is None:
        return None
    exponent, floor, doubt = float(model.exponent), float(model.floor), float(model.doubt)
    k = inner.base.shape[1]
    offsets = np.zeros(k) if model.offsets is None else np.asarray(model.offsets, dtype=np.float64)
    if inner.scale == SCORE and not floor and not doubt:
        return inner.times(exponent, offsets)
    inner = as_probability(inner)

    def bent(p: np.ndarray) -> np.ndarray:
        return softmax(exponent * np.log(np.maximum(p + floor, np.finfo(np.float64).tiny)) + offsets)

    if k == 2:

        def of_one(p: np.ndarray) -> np.ndarray:
            p = np.clip(p, 0.0, 1.0)
            both = np.concatenate([1.0 - p, p], axis=1)
            return (1.0 - doubt) * bent(both)[:, 1:] + doubt / 2.0

        return of_second(carried_each(second_of(inner), of_one, PROBABILITY))

    def slope(p: np.ndarray, v: np.ndarray) -> np.ndarray:
        after = bent(p)[:, None, :]
        u = exponent * v / np.maximum(p + floor, np.finfo(np.float64).tiny)[:, None, :]
        return (1.0 - doubt) * after * (u - (after * u).sum(axis=2, keepdims=True))

    return carried(inner, lambda p: (1.0 - doubt) * bent(p) + doubt / k, slope, PROBABILITY)


def _calibrated(model: Any, rows: Rows, effort: Effort) -> Parts | None:
    """Every classifier's scores through its maps, then the mean."""
    found = [_one_calibrated(part, rows, effort) for part in model.calibrated_classifiers_]
    if any(part is None for part in found):
        return None
    if len(found) == 1:
        return found[0]
    return weighted_sum([as_probability(part) for part in found if part is not None], [1.0 / len(found)] * len(found))


def _one_calibrated(part: Any, rows: Rows, effort: Effort) -> Parts | None:
    maps, method = getattr(part, "calibrators", None), part.method
    scores = _scores(part.estimator, rows, effort)
    if (
        scores is None
        or not (maps and isinstance(maps[0], np.ndarray))
        or len(part.estimator.classes_) < len(part.classes)
    ):
        return None
    k = scores.base.shape[1]
    if method == "temperature":
        both = 2.0 if k == 2 else 1.0  # of two classes the first has the negative score, not 0
        return scores.times(both * float(maps[0][0, 0])) if scores.scale == SCORE else None
    if k == 2:
        one = second_of(scores)
        if method == "sigmoid":
            a, b = float(maps[0][0, 0]), float(maps[0][1, 0])
            return _two_scores_of(one.times(-a, -b))
        return of_second(carried_each(one, lambda z: np.interp(z, maps[0][0], maps[0][1]), PROBABILITY))

    def each(z: np.ndarray) -> np.ndarray:
        columns = [
            logistic(-(m[0, 0] * z[:, j] + m[1, 0])) if method == "sigmoid" else np.interp(z[:, j], m[0], m[1])
            for j, m in enumerate(maps)
        ]
        return np.stack(columns, axis=1)

    def shares(g: np.ndarray) -> np.ndarray:
        whole = g.sum(axis=1, keepdims=True)
        return np.divide(g, whole, out=np.full_like(g, 1.0 / k), where=whole > 0)

    def slope(g: np.ndarray, v: np.ndarray) -> np.ndarray:
        whole = np.maximum(g.sum(axis=1), np.finfo(np.float64).tiny)[:, None, None]
        return (v - shares(g)[:, None, :] * v.sum(axis=2, keepdims=True)) / whole

    return carried(carried_each(scores, each, PROBABILITY), shares, slope, PROBABILITY)


def _two_scores_of(one: Parts) -> Parts:
    parts = _two_scores(one)
    variance = None if one.variance is None else np.concatenate([np.zeros_like(one.variance), one.variance], axis=2)
    return replace(parts, variance=variance, how=one.how)


def _scores(model: Any, rows: Rows, effort: Effort) -> Parts | None:
    """The parts of `decision_function`, one column a class (of two classes the second counts), or of probabilities."""
    if not hasattr(model, "decision_function"):
        found = exact_parts(model, rows, effort)
        return None if found is None else as_probability(found)
    if is_classifier(model):
        found = exact_parts(model, rows, effort)
        return found if found is not None and found.scale == SCORE else None
    if not hasattr(model, "coef_"):
        return None
    coef = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    shares, mean = linear_shares(rows)
    values = np.zeros((rows.n, len(rows.names), len(coef)))
    for owner, amounts in shares:
        values += replace(rows, owner=owner).by_column(amounts[:, :, None] * coef.T[None])
    base = np.broadcast_to(coef @ mean + np.atleast_1d(model.intercept_), (rows.n, len(coef)))
    parts = Parts(SCORE, base, values, reference=rows.reference)
    return _two_scores(parts) if len(coef) == 1 else parts


def _stacking(model: Any, rows: Rows, effort: Effort) -> Parts | None:
    """Weights of a linear final estimator times the members' parts."""
    final = model.final_estimator_
    if not hasattr(final, "coef_") or isinstance(getattr(model, "classes_", None), list):
        return None
    columns: list[Parts] = []
    for member, method in zip(model.estimators_, model.stack_method_):
        if method == "decision_function":
            found = _scores(member, rows, effort)
            two = found is not None and found.base.shape[1] == 2
        else:
            found = parts_of(member, rows, effort)
            two = hasattr(model, "classes_") and method == "predict_proba" and len(model.classes_) == 2
            if hasattr(model, "classes_") and method == "predict":
                return None
        if found is None:
            return None
        columns.append(second_of(found) if two else found)
    if model.passthrough:
        columns.append(_as_they_are(rows))
    coef = np.atleast_2d(np.asarray(final.coef_, dtype=np.float64))
    base = np.concatenate([part.base for part in columns], axis=1)
    if coef.shape[1] != base.shape[1]:
        return None
    values = np.concatenate([part.values for part in columns], axis=2) @ coef.T
    base = base @ coef.T + np.atleast_1d(final.intercept_)
    variance = None
    if any(part.variance is not None for part in columns):
        every = [np.zeros_like(part.values) if part.variance is None else part.variance for part in columns]
        variance = np.concatenate(every, axis=2) @ (coef.T**2)
    parts = Parts(NUMBER, base, values, variance, least_exact(columns), rows.reference)
    if not hasattr(model, "classes_"):
        return parts
    return _two_scores_of(parts) if len(coef) == 1 else replace(parts, scale=SCORE)


def _as_they_are(rows: Rows) -> Parts:
    """The columns themselves, as a final estimator sees them."""
    X = np.asarray(rows.X, dtype=np.float64)
    mean = np.asarray(rows.background, dtype=np.float64).mean(axis=0) if rows.mean is None else rows.mean
    values = np.zeros((rows.n, len(rows.names), X.shape[1]))
    for j, owner in enumerate(rows.owner):
        values[:, owner, j] = X[:, j] - mean[j]
    return Parts(NUMBER, np.broadcast_to(mean, X.shape), values, reference=rows.reference)


def _of_target(model: Any, rows: Rows, effort: Effort) -> Parts | None:
    """A regressor of a transformed target: its parts, transformed back."""
    inner = exact_parts(model.regressor_, rows, effort)
    if inner is None or inner.base.shape[1] != 1:
        return None
    back = model.transformer_.inverse_transform
    if type(model.transformer_).__name__ == "StandardScaler":
        shift = float(np.ravel(back(np.zeros((1, 1))))[0])
        return inner.times(float(np.ravel(back(np.ones((1, 1))))[0]) - shift, shift)
    return carried_each(inner, lambda z: np.asarray(back(z), dtype=np.float64).reshape(z.shape), NUMBER)


def _inside(attribute: str) -> Callable[[Any, Rows, Effort], Parts | None]:
    return lambda model, rows, effort: exact_parts(getattr(model, attribute), rows, effort)


# By the attribute that gives a model away, the first that fits first.
_KINDS: dict[str, Callable[[Any, Rows, Effort], Parts | None]] = {
    "steps": _pipeline,
    "best_estimator_": _inside("best_estimator_"),
    "calibrated_classifiers_": _calibrated,
    "final_estimator_": _stacking,
    "named_estimators_": _voting,
    "regressor_": _of_target,
    "estimator_": _recalibrated,
    "contributions": _contributions,
    "coef_": _linear,
}
