"""Charts with two axes: learning and validation curves, ROC, calibration, costs of thresholds, densities."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from learnt.drawing.frame import Frame, Numbers, legend
from learnt.drawing.svg import ACCENT, GRID, INK, MUTED, SECOND, Chart, hint, number, percent, picture, tag


def learning_curve(
    sizes: Numbers,
    train: Numbers,
    valid: Numbers,
    *,
    train_spread: Numbers | None = None,
    valid_spread: Numbers | None = None,
    floor: float | None = None,
    constant: float | None = None,
    loss: str = "error",
) -> Chart:
    """Training and validation loss against the number of rows, between the noise floor and the constant.

    Curves that are far apart show overfitting, which more rows, shrinkage or a simpler model help against. Curves that
    are close and high show underfitting, which a more flexible model helps against.

    Parameters
    ----------
    sizes : array-like of float of shape (n_sizes,)
        Numbers of training rows, rising; `learnt.model_selection.learning_curve` returns such numbers.
    train : array-like of float of shape (n_sizes,)
        Mean loss on the training rows at each size.
    valid : array-like of float of shape (n_sizes,)
        Mean loss on new rows at each size.
    train_spread : array-like of float of shape (n_sizes,) or None, default=None
        How far the band around the training loss reaches to either side, such as a standard deviation; None draws no
        band.
    valid_spread : array-like of float of shape (n_sizes,) or None, default=None
        The same for the loss on new rows.
    floor : float or None, default=None
        The loss that noise alone causes, drawn as a dashed line.
    constant : float or None, default=None
        The loss of the best constant prediction, drawn as a dashed line.
    loss : str, default="error"
        Name of the loss, for the vertical axis.

    Returns
    -------
    chart : Chart
        The picture, which notebooks show, `str` prints and `save` writes.

    See Also
    --------
    validation_curve : Losses against the values of a parameter.
    learnt.model_selection.learning_curve : Computes the numbers.

    Examples
    --------
    >>> chart = learning_curve([100, 200, 400], [0.10, 0.12, 0.13], [0.22, 0.18, 0.16], floor=0.1)
    >>> chart.title
    'Learning curve'
    """
    sizes, train, valid = np.asarray(sizes, dtype=float), np.asarray(train, dtype=float), np.asarray(valid, dtype=float)
    t_spread, v_spread = _spread(train, train_spread), _spread(valid, valid_spread)
    levels = [v for v in (floor, constant) if v is not None and math.isfinite(v)]
    low = min(float(np.min(train - t_spread)), float(np.min(valid - v_spread)), *levels, math.inf)
    high = max(float(np.max(train + t_spread)), float(np.max(valid + v_spread)), *levels, -math.inf)
    pad = 0.08 * (high - low) or 0.1
    frame = Frame(
        (sizes[0], sizes[-1]),
        (max(low - pad, 0.0) if low >= 0 else low - pad, high + pad),
        log_x=True,
        top=30,
        height=278,
    )
    shown = sizes if len(sizes) <= 6 else sizes[:: max(1, len(sizes) // 5)]
    frame.axes("training rows", loss, x_ticks=[float(s) for s in shown])
    right = float(sizes[-1])
    for level, name in ((constant, "best constant"), (floor, "noise")):
        if level is not None and math.isfinite(level):
            frame.line([sizes[0], right], [level, level], color=MUTED, width=1.2, dash="4 4", label=name)
            frame.note(right, level + 0.15 * pad, name, anchor="end")
    _valid_and_train(frame, sizes, (valid, v_spread), (train, t_spread), lambda size: f"{number(size)} rows")
    span = f"from {number(sizes[0])} to {number(right)} rows"
    said = f"The loss on new rows goes from {number(valid[0])} to {number(valid[-1])} {span}"
    return frame.close("Learning curve", said)


def validation_curve(
    values: Numbers,
    train: Numbers,
    valid: Numbers,
    *,
    train_spread: Numbers | None = None,
    valid_spread: Numbers | None = None,
    parameter: str = "parameter",
    loss: str = "error",
    higher_is_better: bool = False,
) -> Chart:
    """Training and validation loss against the values of a parameter, and where the validation loss is least.

    The axis is logarithmic where all values are positive and span more than a factor of 20. For scores instead of
    losses say `higher_is_better=True`.

    Parameters
    ----------
    values : array-like of float of shape (n_values,)
        Values of the parameter, in any order; two or more.
    train : array-like of float of shape (n_values,)
        Mean loss on the training rows at each value.
    valid : array-like of float of shape (n_values,)
        Mean loss on new rows at each value.
    train_spread : array-like of float of shape (n_values,) or None, default=None
        How far the band around the training loss reaches to either side; None draws no band.
    valid_spread : array-like of float of shape (n_values,) or None, default=None
        The same for the loss on new rows.
    parameter : str, default="parameter"
        Name of the parameter, for the horizontal axis.
    loss : str, default="error"
        Name of the loss, for the vertical axis.
    higher_is_better : bool, default=False
        Whether the numbers are scores, of which the largest is best, instead of losses.

    Returns
    -------
    chart : Chart
        The picture, which notebooks show, `str` prints and `save` writes.

    See Also
    --------
    learning_curve : Losses against the number of rows.
    learnt.model_selection.validation_curve : Computes the numbers.

    Examples
    --------
    >>> chart = validation_curve([0.01, 1, 100], [0.10, 0.12, 0.31], [0.30, 0.18, 0.33], parameter="alpha")
    >>> chart.title
    'Validation curve'
    """
    values, train, valid = (np.asarray(v, dtype=float) for v in (values, train, valid))
    if values.ndim != 1 or not values.shape == train.shape == valid.shape or values.size < 2:
        raise ValueError(
            "A validation curve needs two values of a parameter or more, a training and a validation loss for each; "
            f"got {values.size}, {train.size} and {valid.size}. Average the folds first: scores.mean(axis=1)."
        )
    order = np.argsort(values, kind="stable")
    t_spread, v_spread = _spread(train, train_spread), _spread(valid, valid_spread)
    values, train, valid, t_spread, v_spread = (v[order] for v in (values, train, valid, t_spread, v_spread))
    low = float(np.nanmin([train - t_spread, valid - v_spread]))
    high = float(np.nanmax([train + t_spread, valid + v_spread]))
    pad = 0.08 * (high - low) or 0.1
    log_x = bool(values[0] > 0 and values[-1] / values[0] > 20)
    frame = Frame((values[0], values[-1]), (low - pad, high + pad), log_x=log_x, top=30, height=278)
    shown = values if len(values) <= 6 else values[:: -(-len(values) // 5)]
    frame.axes(parameter, loss, x_ticks=[float(v) for v in shown] if log_x else None)
    best = int(np.nanargmax(valid) if higher_is_better else np.nanargmin(valid))
    frame.line(
        [values[best]] * 2, [low - pad, high + pad], color=MUTED, width=1.2, dash="4 4", label="best on new rows"
    )
    _valid_and_train(frame, values, (valid, v_spread), (train, t_spread), lambda value: f"{parameter} {number(value)}")
    kind = "highest" if higher_is_better else "least"
    said = f"On new rows the {loss} is {kind} at {parameter} {number(values[best])}: {number(valid[best])}"
    return frame.close("Validation curve", said)


def _spread(mean: np.ndarray, spread: Numbers | None) -> np.ndarray:
    """How far a curve's band reaches to either side; nowhere where nothing is said."""
    return np.zeros_like(mean) if spread is None else np.asarray(spread, dtype=float)


def _valid_and_train(
    frame: Frame,
    xs: np.ndarray,
    valid: tuple[np.ndarray, np.ndarray],
    train: tuple[np.ndarray, np.ndarray],
    at: Callable[[float], str],
) -> None:
    """The curves on new rows and on training rows, each (mean, spread), their hints and the legend."""
    curves = (valid, ACCENT, "new rows"), (train, SECOND, "rows it was trained on")
    for (mean, spread), color, name in curves:
        frame.band(xs, mean - spread, mean + spread, color=color)
        frame.line(xs, mean, color=color)
        labels = [f"{name}: {number(m)} at {at(x)}" for m, x in zip(mean, xs)]
        frame.dots(xs, mean, color=color, labels=labels)
    legend(frame, [("on new rows", ACCENT), ("on its own training rows", SECOND)])


def roc(fpr: Numbers, tpr: Numbers, area: float, *, name: str = "", point: tuple[float, float] | None = None) -> Chart:
    """The receiver operating curve, the diagonal of chance, and the point of the chosen threshold.

    Parameters
    ----------
    fpr : array-like of float of shape (n_points,)
        False positive rate at each threshold.
    tpr : array-like of float of shape (n_points,)
        True positive rate (recall) at each threshold.
    area : float
        Area under the curve, which is written on the chart.
    name : str, default=""
        What the model is called; empty for no name.
    point : tuple of float or None, default=None
        Where the threshold in use is on the curve, as (false positive rate, true positive rate); None draws no point.

    Returns
    -------
    chart : Chart
        The picture, which notebooks show, `str` prints and `save` writes.

    See Also
    --------
    precision_recall : Says more where positives are rare.
    learnt.metrics.roc_curve : Computes the rates.
    learnt.metrics.roc_auc_score : Computes the area.

    Examples
    --------
    >>> roc([0, 0, 0.5, 1], [0, 0.6, 0.9, 1], 0.83).title
    'ROC curve'
    """
    frame = Frame((0, 1), (0, 1), height=320)
    frame.axes("false alarms (share of negatives)", "found (share of positives)", x_format=percent, y_format=percent)
    frame.line([0, 1], [0, 1], color=MUTED, width=1.2, dash="4 4", label="chance")
    xs, ys = _thin(np.asarray(fpr, dtype=float), np.asarray(tpr, dtype=float))
    frame.band(xs, np.zeros_like(xs), ys)
    frame.line(xs, ys)
    if point is not None:
        frame.dots([point[0]], [point[1]], color=SECOND, radius=5, labels=["the threshold in use"])
        frame.note(min(point[0] + 0.03, 0.55), max(point[1] - 0.05, 0.03), "threshold in use", color=SECOND)
    frame.note(0.97, 0.12, f"area {area:.3f}", anchor="end", color=INK)
    if name:
        frame.note(0.97, 0.05, name, anchor="end")
    return frame.close("ROC curve", f"Area under the curve {area:.3f}; chance is 0.5")


def precision_recall(
    recall: Numbers,
    precision: Numbers,
    area: float,
    *,
    share: float | None = None,
    point: tuple[float, float] | None = None,
    name: str = "",
) -> Chart:
    """Precision against recall, with the share of positives (chance) and the threshold in use.

    Parameters
    ----------
    recall : array-like of float of shape (n_points,)
        Recall at each threshold.
    precision : array-like of float of shape (n_points,)
        Precision at each threshold.
    area : float
        Area under the curve, or average precision, which is written on the chart.
    share : float or None, default=None
        Share of positives among the rows: the precision of chance, drawn as a dashed line.
    point : tuple of float or None, default=None
        Where the threshold in use is on the curve, as (recall, precision); None draws no point.
    name : str, default=""
        What the model is called; empty for no name.

    Returns
    -------
    chart : Chart
        The picture, which notebooks show, `str` prints and `save` writes.

    See Also
    --------
    roc : True against false positives.
    learnt.metrics.precision_recall_curve : Computes precision and recall.

    Examples
    --------
    >>> precision_recall([0.5, 1.0], [1.0, 0.6], 0.83, share=0.3, point=(0.5, 1.0)).title
    'Precision–recall curve'
    """
    frame = Frame((0, 1), (0, 1), height=320)
    frame.axes("recall", "precision", x_format=percent, y_format=percent)
    if share is not None:
        frame.line([0, 1], [share, share], color=MUTED, width=1.2, dash="4 4", label=f"chance: {percent(share)}")
    xs, ys = _thin(np.asarray(recall, dtype=float), np.asarray(precision, dtype=float))
    frame.line(xs, ys)
    if point is not None:
        said = f"threshold in use: recall {percent(point[0])}, precision {percent(point[1])}"
        frame.dots([point[0]], [point[1]], color=SECOND, radius=5, labels=[said])
        frame.note(min(point[0] + 0.03, 0.7), min(point[1] + 0.04, 0.96), "threshold in use", color=SECOND)
    frame.note(0.03, 0.12, f"area {area:.3f}", color=INK)
    if name:
        frame.note(0.03, 0.05, name)
    chance = "" if share is None else f"; chance is {share:.3f}"
    return frame.close("Precision–recall curve", f"Area under the curve {area:.3f}{chance}")


def time_to_loss(
    seconds: Numbers,
    losses: Numbers,
    labels: Sequence[str],
    *,
    loss: str = "loss",
    greater: bool = False,
    form: Callable[[float], str] = number,
) -> Chart:
    """The race as time against loss: a dot where each model finished, a line along the best so far.

    `greater` is for scores, of which the largest is best. Losses far above the others are drawn at the edge.

    Parameters
    ----------
    seconds : array-like of float of shape (n_models,)
        When each model finished.
    losses : array-like of float of shape (n_models,)
        Loss of each model.
    labels : sequence of str
        Name of each model.
    loss : str, default="loss"
        Name of the loss, for the vertical axis.
    greater : bool, default=False
        Whether these are scores, of which the largest is best.
    form : callable, default=number
        How values are written, as `number` or `percent` do it.

    Returns
    -------
    chart : Chart
        The picture, which notebooks show, `str` prints and `save` writes.

    See Also
    --------
    race : The models one below the other.

    Examples
    --------
    >>> time_to_loss([1, 2, 4], [0.5, 0.4, 0.45], ["a", "b", "c"]).title
    'Loss against time'
    """
    order = np.argsort(seconds, kind="stable")
    xs, ys = np.asarray(seconds, dtype=float)[order], np.asarray(losses, dtype=float)[order]
    best = np.maximum.accumulate(ys) if greater else np.minimum.accumulate(ys)
    near, far = float(best[-1]), float(np.quantile(ys, 0.2 if greater else 0.8))
    reach = 1.25 * (far - near) or 0.1 * abs(near) or 0.1
    low, high = sorted((near - 0.12 * reach, near + reach))
    frame = Frame((0.0, float(xs[-1])), (low, high), height=278, top=14)
    frame.axes("seconds since the race began", loss, y_format=form)
    stairs = np.repeat(np.arange(len(xs)), 2)
    along = np.append(np.repeat(xs, 2)[1:], xs[-1])
    frame.line(along, best[stairs], label="best so far")
    improved = np.append(True, best[1:] != best[:-1])
    said = [f"{labels[k]}: {form(y)} after {number(x)} s" for k, x, y in zip(order, xs, ys)]
    frame.dots(xs[~improved], ys[~improved], color=MUTED, radius=3, labels=[s for s, i in zip(said, improved) if not i])
    frame.dots(xs[improved], ys[improved], radius=4.5, labels=[s for s, i in zip(said, improved) if i])
    last = int(np.flatnonzero(improved)[-1])
    told = f"The best {loss} was reached after {number(xs[last])} s by {labels[order[last]]}: {form(near)}"
    return frame.close("Loss against time", told)


def calibration(
    predicted: Numbers,
    observed: Numbers,
    low: Numbers,
    high: Numbers,
    counts: Numbers,
    *,
    name: str = "positives",
    before: tuple[Numbers, Numbers] | None = None,
) -> Chart:
    """Observed share against predicted probability, with an interval for each bin and the bin counts below.

    `before` are predicted and observed shares without a calibration map, drawn as a dashed line.

    Parameters
    ----------
    predicted : array-like of float of shape (n_bins,)
        Mean predicted probability in each bin.
    observed : array-like of float of shape (n_bins,)
        Share of positives in each bin.
    low : array-like of float of shape (n_bins,)
        Lower end of the interval for the observed share.
    high : array-like of float of shape (n_bins,)
        Upper end of the interval for the observed share.
    counts : array-like of float of shape (n_bins,)
        Number of rows in each bin.
    name : str, default="positives"
        What the positives are called.
    before : tuple of two array-like, or None, default=None
        Predicted and observed shares without a calibration map; None draws no second line.

    Returns
    -------
    chart : Chart
        The picture, which notebooks show, `str` prints and `save` writes.

    See Also
    --------
    learnt.calibration.calibration_curve : Computes predicted and observed shares.
    roc : How well positives are told from negatives, calibrated or not.

    Examples
    --------
    >>> calibration([0.1, 0.5], [0.12, 0.4], [0.05, 0.3], [0.2, 0.5], [100, 80]).title
    'Calibration'
    """
    frame = Frame((0, 1), (0, 1), height=320)
    frame.axes("probability the model gave", f"share of {name} observed", x_format=percent, y_format=percent)
    most = max(float(np.max(counts)), 1.0)
    for center, count in zip(predicted, counts):
        x, top = frame.x(center), frame.y(0.16 * count / most)
        base = frame.y(0)
        frame.add(tag("rect", hint(f"{count:.0f} rows"), x=x - 6, y=top, width=12.0, height=base - top, fill=GRID))
    frame.line([0, 1], [0, 1], color=MUTED, width=1.2, dash="4 4", label="perfect calibration")
    if before is not None:
        frame.line(*before, color=SECOND, width=1.5, dash="5 3", label="before calibration")
        legend(frame, [("before", SECOND), ("after", ACCENT)], y=26)
    frame.whiskers(predicted, low, high)
    frame.line(predicted, observed)
    labels = [f"said {percent(p)}, was {percent(o)}, {c:.0f} rows" for p, o, c in zip(predicted, observed, counts)]
    frame.dots(predicted, observed, labels=labels)
    inside = sum(a <= p <= b for p, a, b in zip(predicted, low, high))
    return frame.close("Calibration", f"The diagonal is inside the interval of {inside} of {len(labels)} bins")


def cost_curve(
    thresholds: Numbers,
    costs: Numbers,
    *,
    chosen: float,
    interval: tuple[float, float] | None = None,
    label: str = "cost per row",
    y_format: Callable[[float], str] = number,
    word: str = "chosen",
) -> Chart:
    """What each threshold on the probability would cost, with one that is marked by a word and its uncertainty.

    Parameters
    ----------
    thresholds : array-like of float of shape (n_thresholds,)
        Thresholds on the probability, rising.
    costs : array-like of float of shape (n_thresholds,)
        What each of them costs.
    chosen : float
        The threshold to mark.
    interval : tuple of float or None, default=None
        The range in which the best threshold may lie, shaded; None shades nothing.
    label : str, default="cost per row"
        Name of the cost, for the vertical axis.
    y_format : callable, default=number
        How costs are written, as `number` or `percent` do it.
    word : str, default="chosen"
        What the marked threshold is called.

    Returns
    -------
    chart : Chart
        The picture, which notebooks show, `str` prints and `save` writes.

    See Also
    --------
    roc : True and false positives of all thresholds.
    precision_recall : Precision and recall of all thresholds.

    Examples
    --------
    >>> cost_curve([0.1, 0.5, 0.9], [3.0, 1.0, 2.0], chosen=0.5).title
    'Cost of each threshold'
    """
    xs, ys = _thin(np.asarray(thresholds, dtype=float), np.asarray(costs, dtype=float))
    top = float(np.max(ys))
    frame = Frame((0, 1), (0, top * 1.06 or 1.0))
    frame.axes("threshold on the probability", label, x_format=percent, y_format=y_format)
    if interval is not None:
        frame.band(interval, [0, 0], [top * 1.06] * 2, color=SECOND)
    frame.line(xs, ys)
    best = float(np.interp(chosen, xs, ys))
    frame.dots([chosen], [best], color=SECOND, radius=5, labels=[f"{word}: {percent(chosen)}"])
    side = "end" if chosen > 0.6 else "start"
    frame.note(
        chosen + (-0.03 if side == "end" else 0.03),
        best + 0.08 * top,
        f"{word} {percent(chosen)}",
        color=SECOND,
        anchor=side,
    )
    return frame.close("Cost of each threshold", f"{word.capitalize()} {percent(chosen)}, at {y_format(best)}")


def density(
    x: Numbers,
    y: Numbers,
    *,
    x_label: str,
    y_label: str,
    title: str,
    bins: int = 36,
    diagonal: bool = False,
    zero: bool = False,
) -> Chart:
    """A scatter of any number of points as a grid of shaded cells, so that its size is bounded.

    Parameters
    ----------
    x : array-like of float of shape (n_points,)
        Horizontal places.
    y : array-like of float of shape (n_points,)
        Vertical places.
    x_label : str
        Name of the horizontal axis.
    y_label : str
        Name of the vertical axis.
    title : str
        Title of the chart, which screen readers say.
    bins : int, default=36
        Number of cells along each axis.
    diagonal : bool, default=False
        Whether to draw the line y = x, with the same limits on both axes: for predictions against true values.
    zero : bool, default=False
        Whether to draw the line y = 0: for residuals.

    Returns
    -------
    chart : Chart
        The picture, which notebooks show, `str` prints and `save` writes.

    See Also
    --------
    scatter : Points one by one, coloured by group.

    Examples
    --------
    >>> density([1, 2, 3], [1, 2, 2.5], x_label="observed", y_label="predicted", title="Fit").title
    'Fit'
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    x_limits, y_limits = _trimmed(x), _trimmed(y)
    if diagonal:
        x_limits = y_limits = (min(x_limits[0], y_limits[0]), max(x_limits[1], y_limits[1]))
    frame = Frame(x_limits, y_limits, height=320)
    frame.axes(x_label, y_label)
    limits = [frame.x_limits, frame.y_limits]
    inside_x, inside_y = np.clip(x, *limits[0]), np.clip(y, *limits[1])
    counts, x_edges, y_edges = np.histogram2d(inside_x, inside_y, bins=bins, range=limits)
    shades = np.ceil(8 * np.sqrt(counts / (counts.max() or 1.0))).astype(int)
    for shade in range(1, 9):  # one path a shade keeps the text short
        cells = [
            f"M{frame.x(x_edges[i]):.1f} {frame.y(y_edges[j]):.1f}H{frame.x(x_edges[i + 1]):.1f}"
            f"V{frame.y(y_edges[j + 1]):.1f}H{frame.x(x_edges[i]):.1f}Z"
            for i, j in zip(*np.nonzero(shades == shade))
        ]
        if cells:
            frame.add(tag("path", d="".join(cells), fill=ACCENT, fill_opacity=f"{0.12 + 0.11 * shade:.2f}"))
    if diagonal:
        frame.line(x_limits, x_limits, color=SECOND, width=1.5, dash="4 4", label="perfect")
    if zero:
        frame.line(x_limits, (0, 0), color=SECOND, width=1.5, dash="4 4", label="no error")
    return frame.close(title, f"{len(x)} points in {bins} by {bins} cells; darker cells hold more")


def histogram(counts: Numbers, *, width: float = 96, height: float = 24, title: str = "distribution") -> Chart:
    """A word-sized histogram for a table cell.

    Parameters
    ----------
    counts : array-like of float of shape (n_bins,)
        Number of rows in each bin.
    width : float, default=96
        Width in pixels.
    height : float, default=24
        Height in pixels.
    title : str, default="distribution"
        Title of the chart, which screen readers say.

    Returns
    -------
    chart : Chart
        The picture, which notebooks show, `str` prints and `save` writes.

    See Also
    --------
    distribution : A full chart of a column, with the target in each part.

    Examples
    --------
    >>> histogram([1, 4, 2]).svg.count("<rect")
    3
    """
    counts = [float(c) for c in counts] or [0.0]
    most, step = max(counts) or 1.0, width / len(counts)
    bars = [
        tag("rect", x=k * step, y=height - h, width=max(step - 1, 1.0), height=h, fill=ACCENT)
        for k, c in enumerate(counts)
        for h in [max(height * c / most, 1.0 if c else 0.3)]
    ]
    return picture(width, height, bars, title)


def _thin(xs: np.ndarray, ys: np.ndarray, most: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """At most a few hundred points of a curve, the ends among them."""
    if len(xs) <= most:
        return xs, ys
    keep = np.unique(np.linspace(0, len(xs) - 1, most).round().astype(int))
    return xs[keep], ys[keep]


def _trimmed(values: np.ndarray) -> tuple[float, float]:
    """Limits that a few extreme values cannot stretch."""
    low, high = np.quantile(values, [0.005, 0.995])
    pad = 0.03 * (high - low)
    return float(low - pad), float(high + pad)
