"""scikit-learn's cross-validation, for arrays on a device too.

Its folds index rows with NumPy and read the labels, which arrays on a GPU do not allow. Here they get a container that
allows both, and the estimator gets rows on their device. `score` is the estimator's own, which is computed there;
scikit-learn's named scores are NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from sklearn import model_selection

from learnt.engine.arrays import device_name, is_foreign_array, to_numpy
from learnt.engine.matrices import in_numpy
from learnt.engine.rows import target_in_memory
from learnt.engine.validation import refuse_unnumbered
from learnt.model_selection._take import take


class DeviceRows:
    """An array on a device of which rows can be taken by NumPy's numbers."""

    def __init__(self, array: Any) -> None:
        self.array, self.shape = array, tuple(array.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        rows = key[0] if isinstance(key, tuple) else key  # scikit-learn indexes by [rows, ...]
        return take(self.array, np.arange(self.shape[0])[rows])


class DeviceTargets(DeviceRows):
    """The same for y, which is fetched once where folds are to have equal shares of its classes."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(to_numpy(self.array), dtype=dtype)


def _refuse_metrics(scoring: Any) -> None:
    """A metric where a scorer belongs fails for every fold, which scikit-learn's functions would make scores of NaN."""
    given = scoring.values() if isinstance(scoring, dict) else [scoring]
    for metric in given:
        if callable(metric) and str(getattr(metric, "__module__", "")).startswith("learnt.metrics."):
            name = getattr(metric, "__name__", "metric")
            raise ValueError(
                f"scoring value {metric!r} looks like it is a metric function rather than a scorer, which gets an "
                f"estimator, X and y; give make_scorer({name}), or the name of a scorer."
            )


def _on_any_device(function: Callable[..., Any], gathers: bool = False) -> Callable[..., Any]:
    """A function of scikit-learn's over folds, for arrays of any library; `gathers` where it makes an array itself."""
    name = function.__name__

    @wraps(function)
    def validated(estimator: Any, X: Any, y: Any = None, **options: Any) -> Any:
        refuse_unnumbered(X, name)
        _refuse_metrics(options.get("scoring"))
        if not is_foreign_array(X):
            return function(estimator, X, in_numpy(target_in_memory(y)), **options)
        if device_name(X) != "cpu" and (gathers or isinstance(options.get("scoring"), str | list | tuple | dict)):
            what = "puts the results of folds together" if gathers else f"computes scoring={options['scoring']!r}"
            raise TypeError(
                f"{name} {what} with NumPy and X lies on {device_name(X)}; leave scoring out for the estimator's own "
                "score, give a function of (estimator, X, y), or fetch X first, for example with X.cpu().numpy()."
            )
        for key in ("params", "fit_params"):
            if options.get(key):
                options[key] = {k: DeviceRows(v) if is_foreign_array(v) else v for k, v in options[key].items()}
        return function(estimator, DeviceRows(X), DeviceTargets(y) if is_foreign_array(y) else y, **options)

    return validated


cross_val_score = _on_any_device(model_selection.cross_val_score)
cross_validate = _on_any_device(model_selection.cross_validate)
learning_curve = _on_any_device(model_selection.learning_curve)
validation_curve = _on_any_device(model_selection.validation_curve)
cross_val_predict = _on_any_device(model_selection.cross_val_predict, gathers=True)
permutation_test_score = _on_any_device(model_selection.permutation_test_score, gathers=True)
