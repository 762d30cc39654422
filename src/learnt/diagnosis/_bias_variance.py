"""What the error of a model is made of: noise, bias and variance, from models of many training sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from learnt.diagnosis._bayes import as_numbers, bayes_error_bounds, noise_bounds
from learnt.drawing.svg import ACCENT, GRID, INK, MUTED, SECOND, Chart, hint, number, picture, tag, text, ticks
from learnt.engine.mixins import clone, is_classifier
from learnt.engine.random import generator


class BiasVariance(NamedTuple):
    """What `bias_variance` measured: one entry for each value of the parameter that was varied, or one alone without.

    Noise, bias and variance add up to the error exactly.

    Parameters
    ----------
    error : ndarray of shape (n_values,)
        The mean loss on rows that no model has seen.
    noise : ndarray of shape (n_values,)
        What the scatter of y itself adds; an estimate where the truth was not given.
    noise_low : ndarray of shape (n_values,)
        The least that the noise may be; equal to `noise` where the truth was given.
    noise_high : ndarray of shape (n_values,)
        The most that it may be; equal to `noise` where the truth was given.
    bias : ndarray of shape (n_values,)
        How wrong the mean prediction is, squared; of labels, the share of rows with a wrong most frequent prediction.
    variance : ndarray of shape (n_values,)
        How much predictions differ between training sets; of labels, less what that mends on biased rows.
    parameter : str or None
        The name of the parameter that was varied; None where none was.
    values : tuple
        Its values; `(None,)` where none was varied.
    loss : {"squared", "zero_one"}
        The loss: squared errors of numbers, or the share of wrong labels.

    See Also
    --------
    bias_variance : Computes it.
    learnt.plots.decomposition : A picture of such parts.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.diagnosis import bias_variance
    >>> from learnt.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 2, size=(300, 1))
    >>> found = bias_variance(LinearRegression(), X, X[:, 0] ** 2, truth=X[:, 0] ** 2, random_state=0)
    >>> bool(found.bias[0] > 10 * found.variance[0]), float(found.noise[0])
    (True, 0.0)
    """

    error: np.ndarray
    noise: np.ndarray
    noise_low: np.ndarray
    noise_high: np.ndarray
    bias: np.ndarray
    variance: np.ndarray
    parameter: str | None
    values: tuple
    loss: str

    @property
    def best(self) -> Any:
        """The value of the parameter with the least error.

        Returns
        -------
        value : object
            One of `values`; None where no parameter was varied.
        """
        return self.values[int(np.argmin(self.error))]

    def plot(self) -> Chart:
        """Draw noise, bias and variance as one column for each value, with a dot where the error is.

        Returns
        -------
        chart : learnt.plots.Chart
            A picture as SVG text, which notebooks show.
        """
        return _drawn(self)


def bias_variance(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    vary: dict[str, Sequence] | None = None,
    truth: Any = None,
    draw: Callable[[np.random.Generator], tuple[Any, Any]] | None = None,
    n_sets: int = 50,
    test_share: float = 0.3,
    random_state: Any = 0,
) -> BiasVariance:
    """Decompose a model's error into noise, bias and variance.

    High bias means underfitting: the model is too simple. High variance means overfitting: it depends too much on the
    rows it was given. With ŷ_s the prediction of a model fitted on training set s, ȳ the mean of these, f(x) the truth
    and E the mean over the sets, a row's squared loss is

        E (y − ŷ_s)²  =  noise + (ȳ − f)² + E (ŷ_s − ȳ)²          noise = E (y − ŷ_s)² − E (f − ŷ_s)²

    and noise has the expectation Var(y | x). The squared bias and the variance are free of the error that a finite
    number of sets makes.

    Parameters
    ----------
    estimator : estimator
        An unfitted classifier (zero-one loss) or regressor (squared loss); a copy is fitted on each training set.
    X : array-like of shape (n_samples, n_features)
        Rows; where `draw` is given, all of them are rows to predict.
    y : array-like of shape (n_samples,)
        Their targets.
    vary : dict, default=None
        The name of one parameter and the values to try, such as `{"n_neighbors": [1, 5, 25]}`: shows where underfitting
        turns into overfitting.
    truth : array-like of shape (n_samples,) or callable, default=None
        The true mean, or the most probable label, of each row of X: an array or a function of X. Without it, noise is
        estimated from nearest neighbours, and uncertain between `noise_low` and `noise_high`.
    draw : callable, default=None
        A function of a random generator that gives a new training set as (X, y), where you can draw from the source.
        None for bootstrap samples of the rows that are not held out.
    n_sets : int, default=50
        How many training sets, at least 2; more are more exact.
    test_share : float, default=0.3
        The share of the rows that are held out and predicted; not used with `draw`.
    random_state : int, RandomState, Generator or None, default=0
        Where the draws come from.

    Returns
    -------
    found : BiasVariance
        With `error`, `noise`, `bias` and `variance`, an entry for each value; `best`, the value with the least error;
        and `plot()`, a picture.

    See Also
    --------
    diagnose : Bias or variance from a learning curve, with advice; far fewer fits.
    learnt.model_selection.validation_curve : Scores for the values of a parameter.
    learnt.model_selection.learning_curve : Scores for numbers of rows.

    Notes
    -----
    For labels ȳ is the most frequent prediction and f the most probable label (Domingos, 2000). The bias is 1 where
    they differ; the variance is the share of sets whose prediction is not ȳ, which counts as an error where ȳ is right,
    and against the error where ȳ is wrong and the prediction hits f.

    A bootstrap sample repeats rows, which neighbours notice: with k neighbours it behaves like a smaller k. Time is
    that of `n_sets` fits for each value.

    References
    ----------
    .. [1] P. Domingos, "A unified bias-variance decomposition and its applications", ICML, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.diagnosis import bias_variance
    >>> from learnt.neighbors import KNeighborsRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(400, 1))
    >>> y = np.sin(6 * X[:, 0]) + rng.normal(scale=0.3, size=400)
    >>> found = bias_variance(KNeighborsRegressor(), X, y, vary={"n_neighbors": [1, 20, 200]})
    >>> found.best
    20
    >>> bool(found.variance[0] > found.variance[1] and found.bias[2] > found.bias[1])
    True
    """
    X, y = np.asarray(X), np.asarray(y)
    n = len(y)
    if X.shape[0] != n:
        raise ValueError(f"X has {X.shape[0]} rows and y has {n}; bias_variance needs one target for each row.")
    if not hasattr(estimator, "predict"):
        raise TypeError(f"bias_variance needs a model that predicts; got {estimator!r}.")
    if not isinstance(n_sets, Integral) or n_sets < 2:
        raise ValueError(f"bias_variance needs at least 2 training sets to compare; n_sets is {n_sets!r}.")
    if not isinstance(test_share, Real) or math.isnan(test_share):
        raise ValueError(f"test_share must be a number between 0 and 1; got {test_share!r}.")
    if draw is not None and not callable(draw):
        raise TypeError(f"draw must be a function of a random generator that gives X and y; got {draw!r}.")
    name, values = _varied(vary)
    rng = generator(random_state)
    f = None if truth is None else np.asarray(truth(X) if callable(truth) else truth)
    if f is not None and f.shape != y.shape:
        raise ValueError(f"truth has the shape {f.shape}, and y {y.shape}; give one true value for each row of X.")
    if f is not None and not is_classifier(estimator):
        _require_true_numbers(f)
    test = np.arange(n)
    if draw is None:
        held_out = round(test_share * n)
        if not 0 < held_out < n - 1:
            raise ValueError(
                f"test_share={test_share} of {n} rows leaves no rows to predict or to learn from; give more rows, or a "
                "share between 0 and 1."
            )
        order = rng.permutation(n)
        test, learn = order[:held_out], order[held_out:]
    predictions = []
    for _ in range(n_sets):
        if draw is None:
            rows = rng.choice(learn, learn.size)
            X_s, y_s = X[rows], y[rows]
        else:
            drawn = draw(rng)
            if not (isinstance(drawn, tuple | list) and len(drawn) == 2):
                raise TypeError(f"draw must give a training set as X and y; it gave {type(drawn).__name__}.")
            X_s, y_s = drawn
        models = [clone(estimator) if name is None else clone(estimator).set_params(**{name: v}) for v in values]
        predictions.append([model.fit(X_s, y_s).predict(X[test]) for model in models])
    found = np.moveaxis(np.array(predictions), 1, 0)  # values × sets × rows
    f = None if f is None else f[test]
    if is_classifier(estimator):
        noise = None if f is not None else _bracket(bayes_error_bounds(X, y, random_state=random_state))
        parts = [label_parts(p, y[test], f, noise) for p in found]
    else:
        noise = None if f is not None else _bracket(noise_bounds(_scaled(as_numbers(X)), y, random_state=random_state))
        parts = [number_parts(p.astype(np.float64), y[test], f, noise) for p in found]
    error, noises, low, high, bias, variance = np.array(parts, dtype=np.float64).T
    loss = "zero_one" if is_classifier(estimator) else "squared"
    return BiasVariance(error, noises, low, high, bias, variance, name, values, loss)


def _require_true_numbers(truth: np.ndarray) -> None:
    if truth.dtype.kind not in "biuf" or not np.isfinite(truth).all():
        raise ValueError("truth holds values that are not finite numbers, and a model of numbers is compared with it.")


Bracket = tuple[float, float, float]


def number_parts(predictions: np.ndarray, y: np.ndarray, truth: np.ndarray | None, noise: Bracket | None) -> tuple:
    """Error, noise and its two ends, squared bias and variance of predictions (sets × rows).

    >>> parts = number_parts(np.array([[0.0, 1.0], [2.0, 1.0]]), np.array([2.0, 1.0]), np.array([1.0, 1.0]), None)
    >>> [float(v) for v in parts]
    [1.0, 0.5, 0.5, 0.5, -0.5, 1.0]
    """
    error = float(np.mean((y - predictions) ** 2))
    variance = float(np.mean(np.var(predictions, axis=0, ddof=1)))
    if truth is None:
        return _without_truth(error, error - variance, variance, noise)
    against_truth = float(np.mean((truth - predictions) ** 2))
    added = error - against_truth
    return error, added, added, added, against_truth - variance, variance


def label_parts(predictions: np.ndarray, y: np.ndarray, truth: np.ndarray | None, noise: Bracket | None) -> tuple:
    """The same for labels, by Domingos' definitions.

    >>> predictions, y = np.array([["a", "b"], ["a", "b"], ["b", "a"]]), np.array(["a", "a"])
    >>> parts = label_parts(predictions, y, y, None)
    >>> [round(float(v), 3) for v in parts]
    [0.5, 0.0, 0.0, 0.0, 0.5, 0.0]
    """
    error = float(np.mean(predictions != y))
    target = y if truth is None else truth
    classes, codes = np.unique(predictions, return_inverse=True)
    counts = np.stack([(codes.reshape(predictions.shape) == c).sum(axis=0) for c in range(classes.size)])
    biased = classes[counts.argmax(axis=0)] != target
    against = float(np.mean(predictions != target))
    bias = float(biased.mean())
    if truth is None:
        return _without_truth(error, bias, error - bias, noise)
    return error, error - against, error - against, error - against, bias, against - bias


def _without_truth(error: float, bias_and_noise: float, variance: float, noise: Bracket | None) -> tuple:
    """Share what does not vary between bias and noise; noise cannot be more than there is."""
    most = max(bias_and_noise, 0.0)
    estimate, low, high = (min(v, most) for v in noise or (0.0, 0.0, most))
    return error, estimate, low, high, bias_and_noise - estimate, variance


def _bracket(bounds: Any) -> Bracket:
    """The middle of the bounds, and the ends with their confidence."""
    return 0.5 * (bounds.lower + bounds.upper), bounds.low, bounds.high


def _scaled(X: np.ndarray) -> np.ndarray:
    scale = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0)


def _varied(vary: dict[str, Sequence] | None) -> tuple[str | None, tuple]:
    if vary is None:
        return None, (None,)
    if len(vary) != 1 or not len(next(iter(vary.values()))):
        raise ValueError(
            f"vary takes one parameter with the values to try, such as {{'n_neighbors': [1, 5, 25]}}; got {vary!r}."
        )
    name, values = next(iter(vary.items()))
    return name, tuple(values)


def _drawn(found: BiasVariance) -> Chart:
    width, height, left, bottom, top = 520.0, 280.0, 52.0, 230.0, 34.0
    parts = (("noise", found.noise, MUTED), ("bias", found.bias, SECOND), ("variance", found.variance, ACCENT))
    stacked = sum(np.maximum(values, 0.0) for _, values, _ in parts)
    end = 1.05 * float(max(stacked.max(), found.error.max())) or 1.0

    def y(value: float) -> float:
        return bottom - (bottom - top) * value / end

    body = []
    for value in ticks(0.0, end, 4):
        body.append(tag("line", x1=left, x2=width - 12, y1=y(value), y2=y(value), stroke=GRID))
        body.append(text(left - 6, y(value) + 4, number(value), text_anchor="end"))
    step = (width - 12 - left) / len(found.values)
    for i, value in enumerate(found.values):
        x, height_so_far = left + (i + 0.2) * step, 0.0
        for label, sizes, color in parts:
            size = max(float(sizes[i]), 0.0)
            box = {"x": x, "width": 0.6 * step, "y": y(height_so_far + size), "height": y(0.0) - y(size)}
            body.append(tag("rect", hint(f"{label} {number(float(sizes[i]))}"), **box, fill=color))
            height_so_far += size
        body.append(tag("circle", cx=x + 0.3 * step, cy=y(float(found.error[i])), r=4, fill=INK))
        if found.parameter is not None:
            shown = number(value) if isinstance(value, int | float) else str(value)
            body.append(text(x + 0.3 * step, bottom + 18, shown, text_anchor="middle"))
    for i, (label, color) in enumerate([*((label, color) for label, _, color in parts), ("● error", INK)]):
        body.append(text(left + 90.0 * i, 18.0, label if color == INK else f"■ {label}", fill=color))
    if found.parameter is not None:
        body.append(text((left + width) / 2, bottom + 38, found.parameter, text_anchor="middle"))
    kind = "squared error" if found.loss == "squared" else "share of wrong labels"
    return picture(width, height, body, "Noise, bias and variance", f"What the {kind} is made of.")
