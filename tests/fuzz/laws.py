"""The laws: what must hold of ours beside scikit-learn on any table. `broken(seed, i)` says which do not."""

from __future__ import annotations

import contextlib
import copy
import time
import traceback
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from subjects import SUBJECTS, Subject
from tables import Table, draw

OUTPUTS = ("predict_proba", "decision_function", "score_samples", "transform", "predict")
_ERRORS = (
    ValueError,
    TypeError,
    NotImplementedError,
)  # and their subclasses; LinAlgError, one of them, is nobody's sentence
_SLOWER, _AT_LEAST = 50.0, 1.0  # times scikit-learn's seconds of processor, above one second
_SINGLE = 3e-2


@dataclass
class Case:
    seed: int
    number: int
    subject: Subject
    settings: dict
    table: Table

    def __str__(self) -> str:
        shown = ", ".join(f"{k}={v!r}" for k, v in self.settings.items())
        return f"{self.subject.name}({shown}) on {self.table}"


@dataclass
class Outcome:
    model: Any = None
    outputs: dict[str, np.ndarray] | None = None
    error: Exception | None = None
    seconds: float = 0.0
    said: tuple[warnings.WarningMessage, ...] = ()


def case_of(seed: int, number: int) -> Case:
    r = np.random.default_rng([seed, number])
    subject = SUBJECTS[r.integers(len(SUBJECTS))]
    settings = {name: values[r.integers(len(values))] for name, values in subject.settings.items()}
    table = draw(
        r,
        task=subject.task,
        weighted=subject.weighted,
        takes_sparse=subject.sparse,
        positive_rows=subject.positive_rows,
        columns=1 if subject.name == "IsotonicRegression" else 0,
    )
    return Case(seed, number, subject, settings, table)


def _fit(model: Any, X: Any, table: Table) -> Outcome:
    """Fitted, with all outputs for the same rows; or the error."""
    weights = {} if table.w is None else {"sample_weight": table.w.copy()}
    target = () if table.y is None else (table.y.copy(),)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        began = time.process_time()
        try:
            model.fit(X, *target, **weights)
            outputs = _outputs(model, X)
        except Exception as error:
            return Outcome(error=error, seconds=time.process_time() - began, said=tuple(said))
        return Outcome(model, outputs, None, time.process_time() - began, tuple(said))


def _outputs(model: Any, X: Any) -> dict[str, np.ndarray]:
    found = {}
    for name in OUTPUTS:
        if hasattr(model, name):
            with contextlib.suppress(NotImplementedError):  # discriminants without directions
                found[name] = _dense(getattr(model, name)(X))
    return found


def _dense(values: Any) -> np.ndarray:
    return values.toarray() if sparse.issparse(values) else np.asarray(values)


def broken(case: Case, ours: Outcome | None = None) -> list[str]:
    """The laws that do not hold, a line each. `ours` may be given, to see that the laws find what is wrong with it."""
    subject, table = case.subject, case.table
    before = copy.deepcopy(table.laid)
    if ours is None:
        ours = _fit(subject.ours(case.settings), table.laid, table)
    theirs = _theirs(case)
    found = [] if _same(before, table.laid) else ["the caller's rows were changed"]
    found += _foreign_warnings(ours, theirs)
    if ours.error is not None:
        return found + _of_error(case, ours.error, theirs)
    if theirs.error is None and ours.seconds > max(_SLOWER * theirs.seconds, _AT_LEAST):
        again = _fit(subject.ours(case.settings), table.laid, table)  # the first fit may have compiled
        if again.seconds > max(_SLOWER * theirs.seconds, _AT_LEAST):
            found.append(f"took {again.seconds:.1f} s, scikit-learn's {theirs.seconds:.3f} s")
    if theirs.error is not None:
        return found
    found += _of_outputs(case, ours, theirs)
    return found + _of_objective(case, ours, theirs)


def _theirs(case: Case) -> Outcome:
    if case.subject.name in ("LinearSVC", "LinearSVR") and case.table.kind in ("huge", "outlier", "offset"):
        return Outcome(error=TimeoutError("scikit-learn's does not end on such tables"))
    X = sparse.csr_matrix(case.table.plain) if case.table.sparse else case.table.plain
    return _fit(case.subject.theirs(case.settings), X, case.table)


def _same(before: Any, after: Any) -> bool:
    if sparse.issparse(before):
        parts = [name for name in ("data", "indices", "indptr", "coords") if hasattr(before, name)]
        return all(np.array_equal(getattr(before, name), getattr(after, name)) for name in parts)
    return np.array_equal(np.asarray(before), np.asarray(after))


def _foreign_warnings(ours: Outcome, theirs: Outcome) -> list[str]:
    """Of an overflow, say, that a user sees with ours alone."""
    if theirs.error is None:
        diverged = not all(_finite(values) for values in theirs.outputs.values())
    else:
        diverged = isinstance(theirs.error, ValueError)
    if diverged or any(one.category is RuntimeWarning for one in theirs.said):
        return []
    numerical = [one for one in ours.said if one.category is RuntimeWarning and " encountered in " in str(one.message)]
    places = {f"{str(one.message)[:80]} ({one.filename.rpartition('/')[2]}:{one.lineno})" for one in numerical}
    return [f"a warning of NumPy: {place}" for place in sorted(places)]


def _of_error(case: Case, error: Exception, theirs: Outcome) -> list[str]:
    words = f"{type(error).__name__}: {str(error)[:120]}"
    where = traceback.extract_tb(error.__traceback__)[-1].filename
    own = "/learnt/" in where or "/sklearn/utils/" in where or "/sklearn/base" in where
    if not isinstance(error, _ERRORS) or isinstance(error, np.linalg.LinAlgError) or not own:
        return [f"an error that is not ours: {words} ({where.rpartition('/')[2]})"]
    allowed = any(str(error).startswith(first) for first in case.subject.may_refuse)
    finite = theirs.error is None and all(_finite(values) for values in theirs.outputs.values())
    if finite and not allowed and not (case.table.single and "single precision" in str(error)):
        return [f"refused, though scikit-learn fits: {words}"]
    return []


def _finite(values: np.ndarray) -> bool:
    return values.dtype.kind not in "fc" or bool(np.isfinite(values).all())


def _of_outputs(case: Case, ours: Outcome, theirs: Outcome) -> list[str]:
    found, present = [], slice(None) if case.table.w is None else case.table.w > 0
    for name, right in theirs.outputs.items():
        if name not in ours.outputs:
            found.append(f"has no {name}")
            continue
        left = ours.outputs[name]
        if left.shape != right.shape:
            if case.subject.name != "Birch" or case.table.tame:  # which has as many outputs as subclusters
                found.append(f"{name} has shape {left.shape}, scikit-learn's {right.shape}")
        elif _finite(right[present]) and not _finite(left[present]):
            found.append(f"{name} is not finite")
        elif _comparable(case, theirs) and right.dtype.kind == "f" and left.dtype.kind == "f":
            gap = float(np.abs(left.astype(np.float64) - right).max(initial=0.0))
            scale = float(np.abs(right).max(initial=0.0)) + 1e-3
            close = max(case.subject.close, _SINGLE if case.table.single else 1e-3 if case.table.sparse else 0.0)
            if gap > close * scale:
                found.append(f"{name} differs by {gap / scale:.1e} of its size from scikit-learn's")
    return found


def _comparable(case: Case, theirs: Outcome) -> bool:
    if any(issubclass(one.category, ConvergenceWarning) for one in theirs.said):
        return False
    rounded = case.table.single or case.table.layout == "int8"
    return case.subject.unique and case.table.tame and not (case.subject.exact and rounded)


def _of_objective(case: Case, ours: Outcome, theirs: Outcome) -> list[str]:
    """Not worse than scikit-learn's by more than a share of what is lost without any model."""
    objective, table = case.subject.objective, case.table
    if objective is None or (objective.__name__ == "training_loss" and not table.tame):
        return []
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            right = objective(theirs.model, table)
        except Exception:  # no use of what scikit-learn's gave
            return []
        left = objective(ours.model, table)
    if not np.isfinite(right) or abs(right) + _without_model(case) < 1e-250:  # hardly a digit is left of such squares
        return []
    if any(issubclass(one.category, ConvergenceWarning) for one in ours.said) and not table.tame:
        return []  # it says that it is not at the minimum
    # A cell of 1e12 takes twelve digits of its column.
    lost = _SINGLE if table.single else 1e-3 if table.kind == "outlier" else 0.0
    slack = max(case.subject.slack, lost) * max(abs(right), _without_model(case))
    return [] if left <= right + slack else [f"objective {left:.9g}, scikit-learn's {right:.9g}"]


def _without_model(case: Case) -> float:
    """A unit of the objective: the scatter of the target, or of the rows, and at least what one row may lose."""
    table, name = case.table, case.subject.objective.__name__
    w = np.ones(len(table.plain)) if table.w is None else table.w
    if name in ("reconstruction", "inertia"):
        with np.errstate(over="ignore"):
            return 1e-8 * float((table.plain**2).sum())
    if name == "squares":
        return float(w @ table.y**2)
    return 1e-2 * (float(w.sum()) if name in ("huber", "machine_of_numbers") else 1.0)
