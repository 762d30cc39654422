"""The estimator of one column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from learnt.engine.cells import frame_matrix, is_frame
from learnt.engine.estimator import Estimator, Trial
from learnt.engine.mixins import RegressorMixin, TransformerMixin
from learnt.engine.params import check_choice
from learnt.engine.schema import FEATURES, Dims, Schema, choice, flag, number, real
from learnt.engine.validation import NOT_FITTED, check_fit, check_predict, refuse_elsewhere
from learnt.isotonic._functions import bounds_of, check_increasing
from learnt.statistics import monotonic_corners


def _is_monotonic(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """The rule of its model files."""
    x, y = state["X_thresholds_"], state["y_thresholds_"]
    if x.dtype != y.dtype or not x.size or (np.diff(x) <= 0).any():
        return "has corners that are not in rising order"
    if (np.diff(y if state["increasing_"] else -y) < 0).any():
        return "is not monotonic"
    if state["X_min_"] != x[0] or state["X_max_"] != x[-1]:
        return "has other bounds than its first and its last corner"
    return None


class IsotonicRegression(RegressorMixin, TransformerMixin, Estimator):
    """The monotonic function f of one column that is nearest to y: argmin_f Σ w (y − f(x))².

    For relations that are known to rise (or to fall) and to nothing else: dose and response, a score and the
    probability that it means. There is nothing to tune; with few rows it overfits in steps.

    Parameters
    ----------
    y_min : float, default=None
        Lower bound of f, which is cut off there: 0 for probabilities. None: no bound.
    y_max : float, default=None
        Upper bound of f, which is cut off there: 1 for probabilities. None: no bound.
    increasing : bool or "auto", default=True
        Whether f rises; False: f falls. "auto": as `check_increasing` says.
    out_of_bounds : {"nan", "clip", "raise"}, default="nan"
        What is predicted of x outside those of `fit`: NaN, the value at the nearest end, or nothing but an error.

    Attributes
    ----------
    X_min_ : float
        The smallest x of `fit`.
    X_max_ : float
        The largest x of `fit`.
    X_thresholds_ : ndarray of shape (m,)
        The corners of f, in rising order of x.
    y_thresholds_ : ndarray of shape (m,)
        The value of f at each corner.
    increasing_ : bool
        Whether f rises.
    f_ : callable
        f of an array, with NaN or an error out of bounds; computed from the corners, and in no file or pickle.

    See Also
    --------
    isotonic_regression : The same of a sequence of numbers.
    learnt.calibration.CalibratedClassifierCV : With `method="isotonic"` turns scores into probabilities by it.
    learnt.ensemble.HistGradientBoostingRegressor : With `monotonic_cst` monotonic in some of many columns.

    Notes
    -----
    Pooling of adjacent violators finds it in time n log n: rows in the order of x, and wherever a mean of neighbours
    is out of order, the neighbours become one stretch. Rows of equal x (closer than 1e-15, or 1e-6 in float32) share
    the mean of their y. Between the stretches f is linear.

    References
    ----------
    .. [1] Michael J. Best and Nilotpal Chakravarti, "Active Set Algorithms for Isotonic Regression; A Unifying
       Framework", Mathematical Programming, 1990.
    .. [2] Richard E. Barlow, David J. Bartholomew, John M. Bremner and Hugh D. Brunk, "Statistical Inference under
       Order Restrictions", Wiley, 1972.

    Examples
    --------
    >>> from learnt.isotonic import IsotonicRegression
    >>> model = IsotonicRegression(out_of_bounds="clip").fit([1, 2, 3, 4], [1, 3, 2, 4])
    >>> model.predict([1.5, 2.5, 9.0])
    array([1.75, 2.5 , 4.  ])
    """

    # A method's argument, and not something that is passed through a pipeline
    __metadata_request__predict = {"T": UNUSED}
    __metadata_request__transform = {"T": UNUSED}

    __learnt_schema__ = Schema(
        params={"out_of_bounds": choice("nan", "clip", "raise")},
        state={
            **FEATURES,
            "X_thresholds_": real("m"),
            "y_thresholds_": real("m"),
            "X_min_": number(),
            "X_max_": number(),
            "increasing_": flag,
        },
        rule=_is_monotonic,
    )
    __learnt_trial__ = Trial(quick={"out_of_bounds": "clip"}, weighted=({"increasing": "auto"},))

    def __init__(
        self,
        *,
        y_min: float | None = None,
        y_max: float | None = None,
        increasing: bool | str = True,
        out_of_bounds: str = "nan",
    ) -> None:
        self.y_min = y_min
        self.y_max = y_max
        self.increasing = increasing
        self.out_of_bounds = out_of_bounds

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> IsotonicRegression:
        """Find the corners of f.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, 1)
            The column.
        """
        low, high = bounds_of(type(self).__name__, self.y_min, self.y_max)
        check_choice(self, "increasing", (True, False, "auto"))
        check_choice(self, "out_of_bounds", ("nan", "clip", "raise"))
        X, y, weights = check_fit(self, self._one_column(X), y, sample_weight, target="number")
        x = X[:, 0]
        self.increasing_ = bool(check_increasing(x, y) if isinstance(self.increasing, str) else self.increasing)
        corners = monotonic_corners(x, y, weights, increasing=self.increasing_, low=low, high=high)
        self.X_thresholds_, self.y_thresholds_ = corners
        self.X_min_, self.X_max_ = corners.x[0], corners.x[-1]
        return self

    def _one_column(self, X: Any) -> Any:
        """X as a table of one column; the engine refuses what is none."""
        name = type(self).__name__
        refuse_elsewhere(X, name)
        if is_frame(X):
            X = frame_matrix(X, name)
        elif not hasattr(X, "tocsr"):
            try:
                X = np.asarray(X)
            except ValueError:  # rows of unequal length
                return X
        if X.ndim == 1:
            return X.reshape(-1, 1)
        if X.ndim > 2 or (X.ndim == 2 and X.shape[1] != 1):
            raise ValueError(
                "Isotonic regression input X should be a 1d array or 2d array with 1 feature; "
                f"it has shape {tuple(X.shape)}."
            )
        return X

    def predict(self, T: Any) -> np.ndarray:
        """Return f of every row.

        Parameters
        ----------
        T : array-like of shape (n_samples,) or (n_samples, 1)
            The column.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Values between the corners, by `out_of_bounds` beyond them.
        """
        check_is_fitted(self, msg=NOT_FITTED)
        x = check_predict(self, self._one_column(T))[:, 0].astype(self.X_thresholds_.dtype, copy=False)
        if self.out_of_bounds == "clip":
            x = np.clip(x, self.X_min_, self.X_max_)
        return self._interpolate(x).astype(x.dtype, copy=False)

    def transform(self, T: Any) -> np.ndarray:
        """Return f of every row, the same as `predict`, as a step of a pipeline.

        Parameters
        ----------
        T : array-like of shape (n_samples,) or (n_samples, 1)
            The column.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Values between the corners, by `out_of_bounds` beyond them.
        """
        return self.predict(T)

    @property
    def f_(self) -> Callable[[Any], np.ndarray]:
        """f, a function of an array."""
        if "X_thresholds_" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'f_' before it is fitted")
        return self._interpolate

    def _interpolate(self, x: Any) -> np.ndarray:
        x = np.asarray(x)
        corners, values = self.X_thresholds_, self.y_thresholds_
        if len(corners) == 1:  # all that is known of any x
            return np.full(x.shape, values[0])
        if self.out_of_bounds == "raise":
            below, above = x < corners[0], x > corners[-1]
            if below.any() or above.any():
                where, bound = ("below", "minimum") if below.any() else ("above", "maximum")
                raise ValueError(
                    f"A value in x_new is {where} the interpolation range: {x[below if below.any() else above][0]:g} "
                    f"with a {bound} of {corners[0 if below.any() else -1]:g}; set out_of_bounds='clip' or 'nan'."
                )
        return np.interp(x, corners, values, left=np.nan, right=np.nan)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the name of what `transform` gives; those of the input do not count.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Not used; there so that all transformers can be called in the same way.
        """
        check_is_fitted(self, msg=NOT_FITTED)
        return np.array([f"{type(self).__name__.lower()}0"], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags
