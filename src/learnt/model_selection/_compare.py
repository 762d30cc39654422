"""Statistics of cross-validated scores: intervals for their mean, and which models are not significantly different.

Scores of overlapping training sets are not independent, and the plain standard error s/√J is far too small. Nadeau and
Bengio's correction counts the share of rows that differ: the variance of the mean is (1/J + n_test/n_train)·s².
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit  # Student's t without the seconds that scipy.stats takes to import


class ScoreInterval(NamedTuple):
    """A mean of scores with its corrected interval: what `corrected_interval` returns, a named tuple.

    Parameters
    ----------
    mean : float
        The mean of the scores.
    low : float
        The lower end of the interval.
    high : float
        The upper end of the interval.
    std_error : float
        The corrected standard error of the mean.

    See Also
    --------
    corrected_interval : Computes it.
    Comparison : The same for the difference of two models.

    Examples
    --------
    >>> from learnt.model_selection import corrected_interval
    >>> mean, low, high, std_error = corrected_interval([0.80, 0.82, 0.78, 0.81, 0.79], n_train=800, n_test=200)
    >>> round(std_error, 4)  # the plain one, without the correction, is 0.0071
    0.0106
    """

    mean: float
    low: float
    high: float
    std_error: float


class Comparison(NamedTuple):
    """The mean difference of two models' scores with its interval: what `compare_scores` returns, a named tuple.

    Parameters
    ----------
    difference : float
        The mean over folds of the first model's score less the second's.
    low : float
        The lower end of its interval.
    high : float
        The upper end of its interval.
    p_value : float
        How likely a difference at least as large is between models that are equally good; two-sided.
    tied : bool
        Whether the interval holds 0, so that the models cannot be told apart.

    See Also
    --------
    compare_scores : Computes it.
    tied_with_best : The same for more than two models.

    Examples
    --------
    >>> from learnt.model_selection import compare_scores
    >>> found = compare_scores([0.80, 0.82, 0.78], [0.70, 0.73, 0.69], n_train=800, n_test=200)
    >>> round(found.difference, 3), found.tied
    (0.093, False)
    """

    difference: float
    low: float
    high: float
    p_value: float
    tied: bool


def _check(scores: Any, n_train: float, n_test: float, level: float) -> np.ndarray:
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or values.size < 2:
        raise ValueError(f"scores has shape {values.shape}; give one score a fold, at least 2.")
    if not np.isfinite(values).all():
        raise ValueError(f"scores holds NaN or infinity (first at fold {int(np.argmin(np.isfinite(values)))}).")
    if not (n_train > 0 and n_test > 0):
        raise ValueError(f"n_train and n_test are rows per fold and must be positive; got {n_train} and {n_test}.")
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, both excluded; got {level!r}.")
    return values


def _std_error(values: np.ndarray, n_train: float, n_test: float) -> float:
    return float(np.sqrt((1 / values.size + n_test / n_train) * values.var(ddof=1)))


def corrected_interval(scores: Any, n_train: float, n_test: float, *, level: float = 0.95) -> ScoreInterval:
    """An interval for the expected score: mean ± t·√((1/J + n_test/n_train)·s²), with J − 1 degrees of freedom.

    Scores of folds are not independent, as their training sets overlap, and the plain s/√J is far too small. Nadeau and
    Bengio's correction counts the share of rows that differ.

    Parameters
    ----------
    scores : array-like of shape (n_scores,)
        One score a fold or repetition, at least 2, such as `cross_val_score` gives.
    n_train : int
        Rows trained on in one of them.
    n_test : int
        Rows tested on in one of them.
    level : float, default=0.95
        Confidence of the interval, between 0 and 1.

    Returns
    -------
    interval : ScoreInterval
        With `mean`, `low`, `high` and `std_error`.

    See Also
    --------
    compare_scores : Whether two models differ.
    cross_val_score : Scores fold by fold.
    learnt.diagnosis.bootstrap_interval : For the rows of one test set.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning, 2003,
       https://doi.org/10.1023/A:1024068626366

    Examples
    --------
    >>> from learnt.model_selection import corrected_interval
    >>> interval = corrected_interval([0.80, 0.82, 0.78, 0.81, 0.79], n_train=800, n_test=200)
    >>> round(interval.low, 3), round(interval.mean, 3), round(interval.high, 3)
    (0.771, 0.8, 0.829)
    """
    values = _check(scores, n_train, n_test, level)
    mean, error = float(values.mean()), _std_error(values, n_train, n_test)
    reach = float(stdtrit(values.size - 1, (1 + level) / 2)) * error
    return ScoreInterval(mean, mean - reach, mean + reach, error)


def compare_scores(first: Any, second: Any, n_train: float, n_test: float, *, level: float = 0.95) -> Comparison:
    """Whether two models differ: the corrected resampled t-test on their scores fold by fold.

    Both models have to be scored on the same folds: differences within a fold vary less than scores do between folds.

    Parameters
    ----------
    first : array-like of shape (n_scores,)
        Scores of one model, fold by fold.
    second : array-like of shape (n_scores,)
        Scores of the other model on the same folds.
    n_train : int
        Rows trained on in one fold.
    n_test : int
        Rows tested on in one fold.
    level : float, default=0.95
        Confidence of the interval of the difference, between 0 and 1; models are tied where it holds 0.

    Returns
    -------
    found : Comparison
        With `difference`, `low`, `high`, `p_value` and `tied`.

    See Also
    --------
    corrected_interval : The interval of one model's score.
    tied_with_best : More than two models.
    cross_val_score : Scores fold by fold.

    Notes
    -----
    A tie is no proof that the models are equally good: few folds of few rows tell little.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning, 2003,
       https://doi.org/10.1023/A:1024068626366

    Examples
    --------
    >>> from learnt.model_selection import compare_scores
    >>> compare_scores([0.80, 0.82, 0.78], [0.79, 0.83, 0.78], n_train=800, n_test=200).tied
    True
    """
    a, b = _check(first, n_train, n_test, level), _check(second, n_train, n_test, level)
    if a.size != b.size:
        raise ValueError(f"The models have {a.size} and {b.size} scores; compare them on the same folds.")
    mean, low, high, error = corrected_interval(a - b, n_train, n_test, level=level)
    if error == 0:  # the same difference in every fold: no uncertainty
        p_value = 1.0 if mean == 0 else 0.0
    else:
        p_value = float(2 * stdtr(a.size - 1, -abs(mean) / error))
    return Comparison(mean, low, high, p_value, low <= 0 <= high)


def tied_with_best(scores: Mapping[str, Any], n_train: float, n_test: float, *, level: float = 0.95) -> list[str]:
    """The names of the best model and of all that cannot be told from it, best mean first; larger scores are better.

    Among these, take the simplest, the fastest or the one that you can explain: the scores do not decide.

    Parameters
    ----------
    scores : dict of str to array-like of shape (n_scores,)
        The scores of each model, by name, all on the same folds.
    n_train : int
        Rows trained on in one fold.
    n_test : int
        Rows tested on in one fold.
    level : float, default=0.95
        Confidence of each comparison with the best, between 0 and 1; a higher one leaves more ties.

    Returns
    -------
    names : list of str
        The best first, the others by falling mean.

    See Also
    --------
    compare_scores : Two models, with the interval of their difference.
    corrected_interval : The interval of one model's score.

    Notes
    -----
    Every model is compared with the best alone, and there is no correction for their number.

    Examples
    --------
    >>> from learnt.model_selection import tied_with_best
    >>> tied_with_best({"a": [0.80, 0.82, 0.78], "b": [0.79, 0.83, 0.78], "c": [0.5, 0.51, 0.5]}, 800, 200)
    ['a', 'b']
    """
    if not scores:
        raise ValueError("There are no models to compare; scores is empty.")
    order = sorted(scores, key=lambda name: -float(np.mean(scores[name])))
    best = scores[order[0]]
    rest = [name for name in order[1:] if compare_scores(best, scores[name], n_train, n_test, level=level).tied]
    return [order[0], *rest]
