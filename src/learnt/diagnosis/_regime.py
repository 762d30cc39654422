"""What is wrong with a model and what to do: noise, bias and variance read off a learning curve."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit  # quantiles of Student's t, without the seconds that scipy.stats takes

REGIMES = ("no signal", "near the ceiling", "high variance", "high bias", "noise or bias")


class Part(NamedTuple):
    """One part of the loss with a rough 95 % interval, as a named tuple.

    Parameters
    ----------
    value : float
        The estimate, in the units of the loss.
    low : float
        The least that it may be.
    high : float
        The most that it may be.

    See Also
    --------
    Diagnosis : Has three of them: noise, bias and variance.

    Examples
    --------
    >>> from learnt.diagnosis import Part
    >>> value, low, high = Part(0.2, 0.1, 0.3)
    >>> value
    0.2
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong with a model: a finding, the evidence for it, and treatments in order of expected gain.

    Parameters
    ----------
    regime : str
        "no signal", "near the ceiling", "high variance", "high bias", or "noise or bias" where the last two parts
        cannot be told apart.
    finding : str
        One sentence in plain words.
    evidence : tuple of str
        Sentences with the numbers behind it.
    treatments : tuple of str
        What to do, most promising first.
    noise : Part
        The part of the loss on new rows that no model of these columns can remove.
    bias : Part
        The part that a more flexible model would remove (underfitting).
    variance : Part
        The part that more rows or more regularisation would remove (overfitting).
    loss : float
        The loss on new rows at the full size; the values of the three parts add up to it.
    train_loss : float
        The loss on training rows at the full size.
    constant : float
        The loss of the best constant.
    sizes : ndarray of shape (n_sizes,)
        The training sizes of the learning curve.
    train : ndarray of shape (n_sizes, n_folds)
        Losses on the training rows.
    valid : ndarray of shape (n_sizes, n_folds)
        Losses on new rows.

    See Also
    --------
    diagnose : Makes one from a model and a table.
    read_curve : Makes one from losses.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.diagnosis import read_curve
    >>> valid, train = np.array([[0.5, 0.5], [0.3, 0.3]]), np.array([[0.0, 0.0], [0.0, 0.0]])
    >>> found = read_curve(np.array([100, 200]), train, valid, noise=(0.05, 0.1), constant=1.0)
    >>> found.regime
    'high variance'
    >>> bool(np.isclose(found.noise.value + found.bias.value + found.variance.value, found.loss))
    True
    """

    regime: str
    finding: str
    evidence: tuple[str, ...]
    treatments: tuple[str, ...]
    noise: Part
    bias: Part
    variance: Part
    loss: float
    train_loss: float
    constant: float
    sizes: np.ndarray = field(repr=False)
    train: np.ndarray = field(repr=False)
    valid: np.ndarray = field(repr=False)


def read_curve(
    sizes: np.ndarray,
    train: np.ndarray,
    valid: np.ndarray,
    *,
    noise: tuple[float, ...],
    constant: float | np.ndarray,
    variance: np.ndarray | None = None,
    signal: bool | None = None,
    reached: tuple[float, float] | None = None,
    averages: bool = False,
    seen: float | None = 1.0,
    form: Callable[[float], str] = "{:.4g}".format,
    loss_name: str = "Loss",
) -> Diagnosis:
    """Diagnose from losses at several training sizes, a bracket of the noise, and the loss of the best constant.

    The loss on new rows is split as  loss(n) = noise + bias + variance. Squared losses (squared error; half the Brier
    score for classes) make the three parts the usual ones.

    Parameters
    ----------
    sizes : array-like of shape (n_sizes,)
        Training sizes, rising.
    train : array-like of shape (n_sizes, n_folds)
        Losses on the training rows.
    valid : array-like of shape (n_sizes, n_folds)
        Losses on held-out rows.
    noise : tuple of float
        Estimate and upper bound of the part no model can remove, in the same units; three numbers where there is
        also a lower bound, which comes first. An estimate above what the model reaches is not believed.
    constant : float or array-like of shape (n_folds,)
        Loss of the best constant predictor on held-out rows, one number or one for each fold.
    variance : array-like of shape (n_sizes, n_folds), default=None
        Half the mean squared difference between predictions of models of two disjoint sets of rows, NaN where it was
        not measured; None where it was at no size.
    signal : bool, default=None
        Whether a regularised model of another kind predicts the target by more than chance; None where none was
        asked, and then nothing is said about the columns.
    reached : tuple of float, default=None
        Loss of a model of another kind and the upper end of its interval: noise is no more than that.
    averages : bool, default=False
        Whether the model is an average of models, which need not be told to become one.
    seen : float, default=1.0
        The share of the rows there are that the model was given; None where the curve ends before those it was
        given, and so says nothing about still more rows.
    form : callable, default="{:.4g}".format
        How losses are written in the evidence: a function of a number that gives text.
    loss_name : str, default="Loss"
        What losses are called in the evidence.

    Returns
    -------
    diagnosis : Diagnosis
        With `regime`, `finding`, `evidence`, `treatments`, the three parts and the curve.

    See Also
    --------
    diagnose : Measures all of this for a model and a table.
    curve_sizes : Sizes to measure at.
    noise_bounds : A bracket of the noise for targets that are numbers.

    Notes
    -----
    Where the variance was measured at smaller sizes it is carried on to n by the power of n with which it fell;
    otherwise it is the part b·n^(−c) of the curve a + b·n^(−c).

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.diagnosis import read_curve
    >>> sizes = np.array([100, 200, 400, 800])
    >>> valid = (0.10 + 30 / sizes)[:, None] + np.array([-0.001, 0.001])
    >>> train = (0.10 - 9 / sizes)[:, None] + np.zeros(2)
    >>> diagnosis = read_curve(sizes, train, valid, noise=(0.09, 0.10), constant=0.25)
    >>> diagnosis.regime, round(diagnosis.variance.value, 2)
    ('high variance', 0.04)
    """
    sizes = np.asarray(sizes, dtype=np.float64)
    train, valid = np.atleast_2d(train).astype(np.float64), np.atleast_2d(valid).astype(np.float64)
    loss, train_loss = float(valid[-1].mean()), float(train[-1].mean())
    lowest, estimate, highest = (max(float(v), 0.0) for v in (noise if len(noise) == 3 else (noise[0], *noise)))
    found = None if variance is None else _measured(sizes, train, valid, np.atleast_2d(variance))
    spread = _extrapolated(sizes, train, valid, highest) if found is None else found
    limit = loss - spread.value
    settled = reached is not None and reached[1] - reached[0] <= 0.1 * loss and reached[0] >= 0.95 * loss
    improved = reached is not None and reached[1] < loss
    if reached is not None:
        highest = min(highest, max(reached[1], 0.0))
    estimate = min(estimate, highest)
    believed = lowest <= min(loss - spread.low, highest) and lowest >= 0.3 * estimate
    if not believed:  # neighbours are too far apart to say: all that they allow may be noise
        lowest, estimate = 0.0, min(limit, highest if reached is None else min(highest, reached[0]))
    if settled and highest >= loss - spread.high:  # neither neighbours nor other models prove that anything is missed
        estimate = min(limit, highest)
    low, value, high = (min(v, limit) for v in (lowest, estimate, highest))
    parts = {
        "noise": Part(value, low, high),
        "bias": Part(max(limit - value, 0.0), max(loss - spread.high - high, 0.0), max(loss - spread.low - low, 0.0)),
        "variance": spread,
    }
    regime = _regime(
        valid, np.broadcast_to(constant, len(valid[-1])), parts, highest, signal, believed, settled, improved
    )
    falls = None if seen is None else _falls(valid)
    return Diagnosis(
        regime=regime,
        finding=_finding(regime, loss, parts, bool(falls)),
        evidence=_evidence(sizes, train_loss, valid, float(np.mean(constant)), parts, signal, form, loss_name),
        treatments=tuple(ADVICE[code] for code in advise(regime, falls, seen, averages)),
        loss=loss,
        train_loss=train_loss,
        constant=float(np.mean(constant)),
        sizes=sizes,
        train=train,
        valid=valid,
        **parts,
    )


def _measured(sizes: np.ndarray, train: np.ndarray, valid: np.ndarray, variance: np.ndarray) -> Part | None:
    """The variance at the largest size, from that of smaller ones; None where that was not measured.

    What is left of the loss is bias and noise. Bias does not grow with the rows, so it is at most what was left at the
    largest size where variance was measured. The range allows for another half power of the size.

    >>> sizes, valid = np.array([100.0, 200.0, 400.0]), np.array([[1.3], [1.1], [1.0]])
    >>> variance = np.array([[0.4], [0.2], [np.nan]])
    >>> [round(v, 2) for v in _measured(sizes, np.full((3, 1), 0.8), valid, variance)]
    [0.1, 0.1, 0.14]
    """
    known = np.flatnonzero(np.isfinite(variance).all(axis=1) & (variance.mean(axis=1) > 0))[-3:]
    if not len(known):
        return Part(0.0, 0.0, 0.0) if np.isfinite(variance).any() else None
    power = 1.0
    if len(known) > 1:
        power = -float(np.polyfit(np.log(sizes[known]), np.log(variance[known].mean(axis=1)), 1)[0])
    last = known[-1]

    def carried(power: float) -> np.ndarray:
        at_last = variance[last] * (sizes[last] / sizes[-1]) ** min(max(power, -1.0), 2.0)
        left = np.minimum(valid[-1] - at_last, valid[last] - variance[last])
        return valid[-1] - np.clip(left, np.minimum(train[-1], valid[-1]), valid[-1])

    return _ranged(carried(power), carried(power + 0.5), carried(power - 0.5))


def _ranged(found: np.ndarray, least: np.ndarray, most: np.ndarray) -> Part:
    """The mean over folds, and the 95 % interval around the least and the most that it may be."""
    folds = len(found)
    t = float(stdtrit(folds - 1, 0.975)) if folds > 1 else 0.0
    half = [t * float(v.std(ddof=1)) / math.sqrt(folds) if folds > 1 else 0.0 for v in (least, most)]
    low, value, high = float(least.mean()) - half[0], float(found.mean()), float(most.mean()) + half[1]
    return Part(value, max(min(low, value), 0.0), max(high, value))


def _extrapolated(sizes: np.ndarray, train: np.ndarray, valid: np.ndarray, noise: float) -> Part:
    """The variance from the curve alone: the loss less its limit, which lies between training and validation loss.

    Two readings of the limit, of which the smaller: the intercept of valid = a + b·n^(−c), and the midpoint of training
    and validation loss. The midpoint is exact for least squares, where training falls short of the limit by as much as
    validation exceeds it, and for one neighbour, whose variance never shrinks. Forests and boosting also repeat their
    training rows without paying for it, so it is followed only down to `noise`, an upper bound of what must be left;
    the intercept sees what more rows would remove. The range goes from the one reading to the other.
    """
    top, bottom = valid[-1], np.minimum(train[-1], valid[-1])
    midpoint = np.clip((top + bottom) / 2, min(noise, float(top.mean())), None)
    midpoint = np.minimum(midpoint, top)
    if len(sizes) < 3:
        return _ranged(top - midpoint, np.zeros_like(top), top - midpoint)
    mean = valid.mean(axis=1)
    fits = []
    for power in (0.5, 1.0):
        design = np.column_stack([np.ones_like(sizes), (sizes / sizes[-1]) ** -power])
        weight = np.sqrt(sizes)[:, None]  # larger sizes measure the limit better
        solved, *_ = np.linalg.lstsq(design * weight, valid * weight, rcond=None)
        left = float(np.sum((weight[:, 0] * (mean - design @ solved.mean(axis=1))) ** 2))
        fits.append((left, solved[0]))
    intercept = np.clip(min(fits, key=lambda f: f[0])[1], bottom, top)
    readings = sorted((top - intercept, top - midpoint), key=np.mean)
    return _ranged(top - np.minimum(intercept, midpoint), *readings)


def _regime(
    valid: np.ndarray,
    constant: np.ndarray,
    parts: dict[str, Part],
    noise_high: float,
    signal: bool | None,
    believed: bool,
    settled: bool,
    improved: bool,
) -> str:
    noise, bias, variance = parts["noise"], parts["bias"], parts["variance"]
    loss, better = float(valid[-1].mean()), _better(valid[-1], constant)
    if signal is False and not better and noise_high >= 0.9 * constant.mean():
        return "no signal"
    surely_noise = bias.low <= 0 and variance.value <= 0.10 * loss and noise.low >= 0.75 * loss
    near = surely_noise or bias.value + variance.value <= 0.10 * loss
    if near and (believed or settled) and (better or not signal):
        return "near the ceiling"
    if variance.value >= max(bias.value, 0.10 * loss):
        return "high variance"
    missed = bool(signal) and not better  # what others find, this model does not
    missed = missed or (improved and bias.value >= 0.10 * loss)
    return "high bias" if bias.low > 0 or missed else "noise or bias"


def _better(loss: np.ndarray, constant: np.ndarray) -> bool:
    """Whether the losses of folds are below the constant's by more than chance, and by more than 1 %."""
    gain, folds = constant - loss, len(loss)
    half = float(stdtrit(folds - 1, 0.975)) * float(gain.std(ddof=1)) / math.sqrt(folds) if folds > 1 else 0.0
    return bool(gain.mean() > max(half, 0.01 * float(constant.mean())))


def _falls(valid: np.ndarray) -> bool | None:
    """Whether the last step to more rows lowered the loss by more than chance; None where there was no step."""
    if len(valid) < 2:
        return None
    gained = valid[-2] - valid[-1]
    spread = float(gained.std(ddof=1)) / math.sqrt(len(gained)) if len(gained) > 1 else 0.0
    return bool(gained.mean() > max(0.01 * abs(float(valid[-1].mean())), spread))


def _finding(regime: str, loss: float, parts: dict[str, Part], falls: bool) -> str:
    """What is found, in words that agree with the advice: more rows are promised only where the curve still falls."""
    span = {name: _span(part, loss) for name, part in parts.items()}
    if regime == "no signal":
        return (
            "The model predicts no better than the best constant, nor do regularised models of other kinds: as far as "
            "these rows can tell, these columns say little about the target."
        )
    if regime == "near the ceiling" and parts["noise"].low > 0:
        much = f"{span['noise'][0].upper()}{span['noise'][1:]}"
        return f"{much} of the error looks like noise that no model can remove: you are near the ceiling."
    if regime == "near the ceiling":
        return (
            "Models of other kinds find nothing that this one misses, and it hardly changes with the rows: most of its "
            "error looks like noise that no model can remove."
        )
    if regime == "high variance":
        variance = parts["variance"]
        if variance.low <= 0 and variance.high >= loss:
            return "The model may change too much with the rows it is given: so few rows cannot tell how much."
        verb = "changes" if variance.low >= 0.1 * loss else "may change"
        return f"The model {verb} too much with the rows it is given: {span['variance']} of its error is variance."
    if regime == "noise or bias":
        what = "the rest" if falls else "the error"
        cannot_tell = f"whether {what} is noise, or a pattern that the model does not catch, these rows cannot tell."
        if falls:
            return f"More rows of this kind would remove {span['variance']} of the error; {cannot_tell}"
        return f"{cannot_tell[0].upper()}{cannot_tell[1:-1]}; nor does the curve show that more rows would help."
    if parts["bias"].low <= 0:
        return "The model seems too simple for this table: regularised models of other kinds find what it misses."
    return f"The model is too simple for this table: {span['bias']} of its error is bias, not noise."


def _evidence(
    sizes: np.ndarray,
    train_loss: float,
    valid: np.ndarray,
    constant: float,
    parts: dict[str, Part],
    signal: bool | None,
    form: Callable[[float], str],
    name: str,
) -> tuple[str, ...]:
    mean = valid.mean(axis=1)
    loss = float(mean[-1])
    each = f"on its own training rows {form(train_loss)}, of the best constant {form(constant)}"
    said = [f"{name} on new rows {form(loss)}, {each}."]
    if signal and loss >= 0.99 * constant:
        said.append("Regularised models of other kinds predict better than a constant: the columns say something.")
    if len(sizes) > 1 and mean[-2] > 0:
        change = (mean[-2] - mean[-1]) / mean[-2]
        word = f"fell by {_share(change, 1)}" if change > 0.005 else f"rose by {_share(-change, 1)}"
        word = "hardly changed" if abs(change) <= 0.005 else word
        said.append(f"From {sizes[-2]:,.0f} to {sizes[-1]:,.0f} training rows the loss on new rows {word}.")
    spans = [f"{name} {_share(p.low, loss).rstrip('%')}–{_share(p.high, loss)}" for name, p in parts.items()]
    said.append(f"Of the loss on new rows: {', '.join(spans)}.")
    return tuple(said)


def _span(part: Part, total: float) -> str:
    """The share of a part in words: a range, unless its ends are within ten points.

    >>> _span(Part(0.18, 0.0, 0.37), 1.0), _span(Part(0.5, 0.46, 0.55), 1.0), _span(Part(0.5, 0.3, 0.7), 1.0)
    ('up to 37%', 'about 50%', 'between 30% and 70%')
    """
    low, high = (min(max(v / total, 0.0), 1.0) if total > 0 else 0.0 for v in (part.low, part.high))
    if high - low <= 0.1:
        return f"about {_share(part.value, total)}"
    if low < 0.005:
        return f"up to {_share(high, 1)}"
    return f"at least {_share(low, 1)}" if high > 0.995 else f"between {_share(low, 1)} and {_share(high, 1)}"


def _share(part: float, total: float) -> str:
    share = 100 * part / total if total > 0 else 0.0
    return f"{min(max(share, 0.0), 100.0):.0f}%"


ADVICE: dict[str, str] = {
    "new columns": "Look for new columns that are known at prediction time: only new information lowers the ceiling.",
    "columns that matter": "Look for columns that are known at prediction time and matter; no model invents them.",
    "check the target": "Check how the target was recorded: shuffled or mislabelled rows look exactly like this.",
    "weak effect": "If a weak effect is expected, more rows are needed before it can show.",
    "check labels": "Check the labels of the rows it gets most wrong: label errors are noise too.",
    "stop tuning": "Stop tuning: the gain left is smaller than the uncertainty of the measurement.",
    "more rows": "Get more rows: the curve says they would help.",
    "use all rows": "Let it see all rows you have (a larger --budget): the curve says they would help.",
    "rows do not help": "More rows alone would hardly help: the curve is flat.",
    "regularise more": "Regularise more, or average several models (bagging).",
    "regularise each": "Regularise each of the models that it averages more: larger leaves, penalties.",
    "fewer columns": "Drop columns that do not matter, so that there is less to overfit.",
    "bend": "Let the model bend: interactions, splines, trees or boosting, kernels.",
    "regularise less": "Regularise less.",
    "build columns": "Build columns closer to the mechanism (ratios, differences, time since an event).",
}


def advise(regime: str, falls: bool | None, seen: float | None = 1.0, averages: bool = False) -> list[str]:
    """What to do, most promising first, as keys of `ADVICE`; from one reading of the curve, so that all of it agrees.

    >>> advise("high variance", falls=True), advise("high variance", falls=False)
    (['more rows', 'regularise more', 'fewer columns'], ['regularise more', 'fewer columns', 'rows do not help'])
    """
    all_rows = seen is None or seen >= 0.999
    if regime == "no signal":
        return ["columns that matter", "check the target", "weak effect" if all_rows else "use all rows"]
    if regime == "near the ceiling":
        return ["new columns", "check labels", "stop tuning"]
    rows = ("more rows" if all_rows else "use all rows") if falls else None
    if regime == "high variance":
        how = "regularise each" if averages else "regularise more"
        found = [rows, how, "fewer columns", "rows do not help" if falls is False and all_rows else None]
    elif regime == "high bias":
        found = ["bend", rows, "regularise less", "build columns"]
    else:
        found = [rows, "new columns", "build columns", "check labels"]
    return [code for code in found if code is not None]
