"""The same losses as compiled functions of numbers, for loops over single rows.

A loss enters a kernel as its `code` and its one `parameter`: machine code is then one for all losses, and a branch that
always takes the same side costs nothing. The tests compare each with the definition of that code.
"""

from __future__ import annotations

import math

from learnt.engine.kernel import kernel
from learnt.erm.losses.codes import (
    ABSOLUTE,
    EXPONENTIAL,
    FIRST_DEVIANCE,
    FIRST_MARGIN,
    GAMMA,
    HINGE,
    HUBER,
    INSENSITIVE,
    LOG,
    LOG_COSH,
    MODIFIED_HUBER,
    POISSON,
    QUANTILE,
    SQUARED,
    SQUARED_HINGE,
    SQUARED_INSENSITIVE,
)
from learnt.linalg.log_loss import log_curvature, log_slope, log_value


@kernel
def loss_value(code, parameter, y, score):
    """The loss of one score, compiled.

    Parameters
    ----------
    code : int
        Which loss: `Loss.code`.
    parameter : float
        Its parameter: `Loss.parameter`.
    y : float
        The target.
    score : float
        The score.

    Returns
    -------
    value : float
        The loss.
    """
    if code >= FIRST_MARGIN:
        return _margin_value(code, parameter, y * score)
    if code >= FIRST_DEVIANCE:
        return _deviance_value(code, parameter, y, score)
    r = score - y
    a = abs(r)
    if code == SQUARED:
        return r * r
    if code == ABSOLUTE:
        return a
    if code == HUBER:
        return 0.5 * r * r if a <= parameter else parameter * (a - 0.5 * parameter)
    if code == LOG_COSH:
        return a + math.log1p(math.exp(-2.0 * a)) - math.log(2.0)
    if code == QUANTILE:
        return (1.0 - parameter) * r if r > 0 else -parameter * r
    over = max(a - parameter, 0.0)
    return over if code == INSENSITIVE else over * over


@kernel
def loss_gradient(code, parameter, y, score):
    """The derivative of one loss in the score, compiled.

    Parameters
    ----------
    code : int
        Which loss: `Loss.code`.
    parameter : float
        Its parameter: `Loss.parameter`.
    y : float
        The target.
    score : float
        The score.

    Returns
    -------
    gradient : float
        The derivative; one subgradient at a corner.
    """
    if code >= FIRST_MARGIN:
        return y * _margin_gradient(code, parameter, y * score)
    if code >= FIRST_DEVIANCE:
        return _deviance_gradient(code, parameter, y, score)
    r = score - y
    if code == SQUARED:
        return 2.0 * r
    if code == HUBER:
        return min(max(r, -parameter), parameter)
    if code == LOG_COSH:
        return math.tanh(r)
    if r == 0.0:
        return 0.0
    if code == ABSOLUTE:
        return 1.0 if r > 0 else -1.0
    if code == QUANTILE:
        return 1.0 - parameter if r > 0 else -parameter
    over = abs(r) - parameter
    if over <= 0:
        return 0.0
    size = 1.0 if code == INSENSITIVE else 2.0 * over
    return size if r > 0 else -size


@kernel
def loss_both(code, parameter, y, score):
    """Value and derivative together, compiled; the log loss takes one exponential for the two.

    Parameters
    ----------
    code : int
        Which loss: `Loss.code`.
    parameter : float
        Its parameter: `Loss.parameter`.
    y : float
        The target.
    score : float
        The score.

    Returns
    -------
    value : float
        The loss.
    gradient : float
        Its derivative in the score.
    """
    if code == LOG:
        m = y * score
        e = math.exp(-abs(m))
        return log_value(m, e), y * log_slope(m, e)
    return loss_value(code, parameter, y, score), loss_gradient(code, parameter, y, score)


@kernel
def _deviance_value(code, p, y, score):
    if code == POISSON:
        entropy = y * math.log(y) if y > 0 else 0.0
        return 2.0 * (entropy - y * score - y + math.exp(score))
    if code == GAMMA:
        return 2.0 * (score - math.log(y) + y * math.exp(-score) - 1.0)
    a, b = 1.0 - p, 2.0 - p
    return 2.0 * (y**b / (a * b) - y * math.exp(a * score) / a + math.exp(b * score) / b)


@kernel
def _deviance_gradient(code, p, y, score):
    if code == POISSON:
        return 2.0 * (math.exp(score) - y)
    if code == GAMMA:
        return 2.0 * (1.0 - y * math.exp(-score))
    return 2.0 * (math.exp((2.0 - p) * score) - y * math.exp((1.0 - p) * score))


@kernel
def _margin_value(code, threshold, m):
    if code == LOG:
        return log_value(m, math.exp(-abs(m)))
    if code == HINGE:
        return max(threshold - m, 0.0)
    if code == EXPONENTIAL:
        return math.exp(-m)
    if code == MODIFIED_HUBER and m < -1.0:
        return -4.0 * m
    short = max(1.0 - m, 0.0)
    return short * short


@kernel
def _margin_gradient(code, threshold, m):
    """The derivative in m."""
    if code == LOG:
        return log_slope(m, math.exp(-abs(m)))
    if code == HINGE:
        return -1.0 if m <= threshold else 0.0
    if code == EXPONENTIAL:
        return -math.exp(-m)
    if code == MODIFIED_HUBER and m < -1.0:
        return -4.0
    return -2.0 * max(1.0 - m, 0.0)


@kernel
def loss_curvature(code, parameter, y, score):
    """The second derivative of one loss in the score, compiled.

    Parameters
    ----------
    code : int
        Which loss: `Loss.code`.
    parameter : float
        Its parameter: `Loss.parameter`.
    y : float
        The target.
    score : float
        The score.

    Returns
    -------
    curvature : float
        The second derivative.
    """
    if code >= FIRST_MARGIN:
        return _margin_curvature(code, y * score)
    if code >= FIRST_DEVIANCE:
        return _deviance_curvature(code, parameter, y, score)
    a = abs(score - y)
    if code == SQUARED:
        return 2.0
    if code == HUBER:
        return 1.0 if a <= parameter else 0.0
    if code == LOG_COSH:
        return 1.0 - math.tanh(a) ** 2
    return 2.0 if code == SQUARED_INSENSITIVE and a > parameter else 0.0


@kernel
def _deviance_curvature(code, p, y, score):
    if code == POISSON:
        return 2.0 * math.exp(score)
    if code == GAMMA:
        return 2.0 * y * math.exp(-score)
    a, b = 1.0 - p, 2.0 - p
    return 2.0 * (b * math.exp(b * score) - a * y * math.exp(a * score))


@kernel
def _margin_curvature(code, m):
    """The second derivative in m, which is that in the score: y² = 1."""
    if code == LOG:
        return log_curvature(math.exp(-abs(m)))
    if code == HINGE:
        return 0.0
    if code == EXPONENTIAL:
        return math.exp(-m)
    return 2.0 if m < 1.0 and (code == SQUARED_HINGE or m >= -1.0) else 0.0


@kernel
def loss_values(code, parameter, y, score, out):
    """The losses of many scores, compiled.

    Parameters
    ----------
    code : int
        Which loss: `Loss.code`.
    parameter : float
        Its parameter: `Loss.parameter`.
    y : ndarray of shape (n,)
        The targets.
    score : ndarray of shape (n,)
        The scores.
    out : ndarray of shape (n,)
        Where the results are written.
    """
    for i in range(y.size):
        out[i] = loss_value(code, parameter, y[i], score[i])


@kernel
def loss_gradients(code, parameter, y, score, out):
    """The derivatives of many losses in their scores, compiled.

    Parameters
    ----------
    code : int
        Which loss: `Loss.code`.
    parameter : float
        Its parameter: `Loss.parameter`.
    y : ndarray of shape (n,)
        The targets.
    score : ndarray of shape (n,)
        The scores.
    out : ndarray of shape (n,)
        Where the results are written.
    """
    for i in range(y.size):
        out[i] = loss_gradient(code, parameter, y[i], score[i])


@kernel
def loss_curvatures(code, parameter, y, score, out):
    """The second derivatives of many losses in their scores, compiled.

    Parameters
    ----------
    code : int
        Which loss: `Loss.code`.
    parameter : float
        Its parameter: `Loss.parameter`.
    y : ndarray of shape (n,)
        The targets.
    score : ndarray of shape (n,)
        The scores.
    out : ndarray of shape (n,)
        Where the results are written.
    """
    for i in range(y.size):
        out[i] = loss_curvature(code, parameter, y[i], score[i])
