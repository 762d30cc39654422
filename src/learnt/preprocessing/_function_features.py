"""Any functions of the columns as features."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.engine.estimator import Estimator, Trial, Warm
from learnt.engine.mixins import TransformerMixin
from learnt.engine.params import ParameterError, check_flag
from learnt.engine.schema import ANY_FEATURES, Schema, count, flag, listof
from learnt.engine.validation import check_fit, check_predict
from learnt.preprocessing._feature_maps import names_in


class FunctionFeatures(TransformerMixin, Estimator):
    """Columns made by functions:  x becomes (x, f(x), g(x), …).

    What you know of a problem, such as a ratio or a logarithm that matters, as a step of a pipeline.

    Parameters
    ----------
    functions : list, or dict of names and functions, default=()
        Each is called with the whole matrix X, and gives one column (n,) or several (n, k). A NumPy function of single
        numbers (`np.sin`, or its name "sin") gives one column for each of X. Models are saved with these; other
        functions are code, which a model file does not hold.
    include_original : bool, default=True
        Whether the columns of X come first.

    Attributes
    ----------
    n_output_features_ : int
        The number of columns that come out.

    See Also
    --------
    FunctionTransformer : One function in place of the columns.
    PolynomialFeatures : Powers and products of columns.
    FourierFeatures : Waves of columns.

    Examples
    --------
    >>> FunctionFeatures([lambda X: X[:, 0] * X[:, 1]]).fit_transform([[1.0, 1.0], [2.0, 3.0]])
    array([[1., 1., 1.],
           [2., 3., 6.]])
    >>> FunctionFeatures(["square"]).fit([[1.0, 2.0]]).get_feature_names_out()
    array(['x0', 'x1', 'square(x0)', 'square(x1)'], dtype=object)
    """

    __learnt_schema__ = Schema(
        params={"include_original": flag},
        state={**ANY_FEATURES, "_widths": listof(count(0)), "n_output_features_": count(1)},
    )
    __learnt_trial__ = Trial(warmup=(Warm("none", {"functions": (np.abs,)}),))

    def __init__(self, functions: Any = (), *, include_original: bool = True) -> None:
        self.functions = functions
        self.include_original = include_original

    def fit(self, X: Any, y: Any = None) -> FunctionFeatures:
        """Call the functions once, to validate them and to count their columns."""
        check_flag(self, "include_original")
        X, _, _ = check_fit(self, X)
        named = self._named()
        if not named and not self.include_original:
            raise ParameterError("FunctionFeatures without functions and without the columns themselves gives nothing.")
        self._widths = [_apply(name, f, X).shape[1] for name, f in named]
        self.n_output_features_ = sum(self._widths) + (X.shape[1] if self.include_original else 0)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The columns themselves, then those of each function."""
        X = check_predict(self, X)
        parts = [X] if self.include_original else []
        for (name, f), width in zip(self._named(), self._widths):
            part = _apply(name, f, X)
            if part.shape[1] != width:
                raise ValueError(f"The function {name!r} gave {part.shape[1]} columns, and {width} when it was fitted.")
            parts.append(part)
        return np.hstack(parts).astype(X.dtype, copy=False)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of columns, "f(x0)" for NumPy's functions, and the names of others, numbered if they give several."""
        check_is_fitted(self)
        names = names_in(self, input_features)
        out = list(names) if self.include_original else []
        for (name, f), width in zip(self._named(), self._widths):
            if isinstance(f, np.ufunc):
                out += [f"{name}({column})" for column in names]
            else:
                out += [name] if width == 1 else [f"{name}{k}" for k in range(width)]
        return np.array(out, dtype=object)

    def _named(self) -> list[tuple[str, Any]]:
        """Names and functions; "sin" is NumPy's sine."""
        given = self.functions
        if isinstance(given, str) or callable(given):
            given = [given]
        try:
            pairs = list(given.items()) if isinstance(given, dict) else [(None, f) for f in given]
        except TypeError:
            raise ParameterError(f"functions must be a list or a dict of functions; it is {given!r}.") from None
        return [_resolve(name, f, k) for k, (name, f) in enumerate(pairs)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _resolve(name: str | None, f: Any, position: int) -> tuple[str, Any]:
    if isinstance(f, str):
        known = getattr(np, f, None)
        if not isinstance(known, np.ufunc) or known.nin != 1 or known.nout != 1:
            raise ParameterError(f"There is no NumPy function {f!r} of one number; give the function itself.")
        return name or f, known
    if isinstance(f, np.ufunc) and (f.nin != 1 or f.nout != 1):
        raise ParameterError(f"NumPy's {f.__name__} takes {f.nin} numbers and gives {f.nout}; one of each is needed.")
    if not callable(f):
        raise ParameterError(f"functions must hold functions or names of NumPy's; it holds {f!r} at {position}.")
    own = getattr(f, "__name__", "")
    return name or (own if own.isidentifier() else f"f{position}"), f


def _apply(name: str, f: Any, X: np.ndarray) -> np.ndarray:
    """f(X) as (n, k), finite."""
    with np.errstate(all="ignore"):
        values = np.asarray(f(X))
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2 or len(values) != len(X) or values.dtype.kind not in "biuf":
        raise ValueError(
            f"The function {name!r} must give one number or one row of numbers for each of the {len(X)} rows; "
            f"it gave {values.dtype} of shape {values.shape}."
        )
    values = values.astype(X.dtype, copy=False)
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        raise ValueError(
            f"The function {name!r} gave {values[tuple(bad[0])]} at row {bad[0][0]} ({len(bad)} such values in all); "
            "change the function, or the values that go into it."
        )
    return values
