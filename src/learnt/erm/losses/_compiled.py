"""The same losses as compiled functions of numbers, for loops that go one row at a time.

A loss enters a kernel as its `code` and its one `parameter`: machine code is then one for all losses, and a branch that
goes the same way every time costs nothing. The tests hold each against the definition of that code.
"""

from __future__ import annotations

import math

from learnt.engine.kernel import kernel


@kernel
def loss_value(code, parameter, y, score):
    """The loss of one score."""
    if code >= 10:
        return _margin_value(code, parameter, y * score)
    if code >= 7:
        return _deviance_value(code, parameter, y, score)
    r = score - y
    a = abs(r)
    if code == 0:
        return r * r
    if code == 1:
        return a
    if code == 2:
        return 0.5 * r * r if a <= parameter else parameter * (a - 0.5 * parameter)
    if code == 3:
        return a + math.log1p(math.exp(-2.0 * a)) - math.log(2.0)
    if code == 4:
        return (1.0 - parameter) * r if r > 0 else -parameter * r
    over = max(a - parameter, 0.0)
    return over if code == 5 else over * over


@kernel
def loss_gradient(code, parameter, y, score):
    """The derivative of one loss in the score."""
    if code >= 10:
        return y * _margin_gradient(code, parameter, y * score)
    if code >= 7:
        return _deviance_gradient(code, parameter, y, score)
    r = score - y
    if code == 0:
        return 2.0 * r
    if code == 2:
        return min(max(r, -parameter), parameter)
    if code == 3:
        return math.tanh(r)
    if r == 0.0:
        return 0.0
    if code == 1:
        return 1.0 if r > 0 else -1.0
    if code == 4:
        return 1.0 - parameter if r > 0 else -parameter
    over = abs(r) - parameter
    if over <= 0:
        return 0.0
    size = 1.0 if code == 5 else 2.0 * over
    return size if r > 0 else -size


@kernel
def loss_both(code, parameter, y, score):
    """Value and derivative together; the log loss takes one exponential for the two."""
    if code == 10:
        m = y * score
        e = math.exp(-abs(m))
        if m > 0.0:
            return math.log1p(e), -y * e / (1.0 + e)
        return math.log1p(e) - m, -y / (1.0 + e)
    return loss_value(code, parameter, y, score), loss_gradient(code, parameter, y, score)


@kernel
def _deviance_value(code, p, y, score):
    if code == 7:
        entropy = y * math.log(y) if y > 0 else 0.0
        return 2.0 * (entropy - y * score - y + math.exp(score))
    if code == 8:
        return 2.0 * (score - math.log(y) + y * math.exp(-score) - 1.0)
    a, b = 1.0 - p, 2.0 - p
    return 2.0 * (y**b / (a * b) - y * math.exp(a * score) / a + math.exp(b * score) / b)


@kernel
def _deviance_gradient(code, p, y, score):
    if code == 7:
        return 2.0 * (math.exp(score) - y)
    if code == 8:
        return 2.0 * (1.0 - y * math.exp(-score))
    return 2.0 * (math.exp((2.0 - p) * score) - y * math.exp((1.0 - p) * score))


@kernel
def _margin_value(code, threshold, m):
    if code == 10:
        return math.log1p(math.exp(-abs(m))) + max(-m, 0.0)
    if code == 11:
        return max(threshold - m, 0.0)
    if code == 13:
        return math.exp(-m)
    if code == 14 and m < -1.0:
        return -4.0 * m
    short = max(1.0 - m, 0.0)
    return short * short


@kernel
def _margin_gradient(code, threshold, m):
    """The derivative in m."""
    if code == 10:
        e = math.exp(-abs(m))
        return -e / (1.0 + e) if m > 0 else -1.0 / (1.0 + e)
    if code == 11:
        return -1.0 if m <= threshold else 0.0
    if code == 13:
        return -math.exp(-m)
    if code == 14 and m < -1.0:
        return -4.0
    return -2.0 * max(1.0 - m, 0.0)


@kernel
def loss_curvature(code, parameter, y, score):
    """The second derivative of one loss in the score."""
    if code >= 10:
        return _margin_curvature(code, y * score)
    if code >= 7:
        return _deviance_curvature(code, parameter, y, score)
    a = abs(score - y)
    if code == 0:
        return 2.0
    if code == 2:
        return 1.0 if a <= parameter else 0.0
    if code == 3:
        return 1.0 - math.tanh(a) ** 2
    return 2.0 if code == 6 and a > parameter else 0.0


@kernel
def _deviance_curvature(code, p, y, score):
    if code == 7:
        return 2.0 * math.exp(score)
    if code == 8:
        return 2.0 * y * math.exp(-score)
    a, b = 1.0 - p, 2.0 - p
    return 2.0 * (b * math.exp(b * score) - a * y * math.exp(a * score))


@kernel
def _margin_curvature(code, m):
    """The second derivative in m, which is that in the score: y² = 1."""
    if code == 10:
        e = math.exp(-abs(m))
        return e / ((1.0 + e) * (1.0 + e))
    if code == 11:
        return 0.0
    if code == 13:
        return math.exp(-m)
    return 2.0 if m < 1.0 and (code == 12 or m >= -1.0) else 0.0


@kernel
def loss_values(code, parameter, y, score, out):
    """The losses of many scores."""
    for i in range(y.size):
        out[i] = loss_value(code, parameter, y[i], score[i])


@kernel
def loss_gradients(code, parameter, y, score, out):
    """The derivatives of many losses."""
    for i in range(y.size):
        out[i] = loss_gradient(code, parameter, y[i], score[i])


@kernel
def loss_curvatures(code, parameter, y, score, out):
    """The second derivatives of many losses."""
    for i in range(y.size):
        out[i] = loss_curvature(code, parameter, y[i], score[i])
