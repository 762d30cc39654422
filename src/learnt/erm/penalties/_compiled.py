"""The same penalties as compiled functions of arrays, for loops inside a kernel.

A penalty enters a kernel as its `form`: the weights of |w|, of w² and of w ≠ 0, and the lowest and highest w allowed.
Machine code is then one for all. The tests compare each with the definition of that form.
"""

from __future__ import annotations

import math

import numpy as np

from learnt.engine.kernel import kernel

_NEWTON = 200  # steps to a projection: enough for a bound of 1e-300 of the penalty


@kernel
def penalty_value(form, w):
    """r(w), compiled.

    Parameters
    ----------
    form : ndarray of shape (5,)
        Which penalty: `Penalty.form`.
    w : ndarray of shape (n_features,)
        The coefficients.

    Returns
    -------
    value : float
        The penalty; infinite outside a set.
    """
    total = 0.0
    for j in range(w.size):
        v = w[j]
        if v < form[3] or v > form[4]:
            return math.inf
        total += form[0] * abs(v) + form[1] * v * v + (form[2] if v != 0.0 else 0.0)
    return total


@kernel
def penalty_gradient(form, w, out):
    """One subgradient of the part in |w| and w², compiled.

    Parameters
    ----------
    form : ndarray of shape (5,)
        Which penalty: `Penalty.form`.
    w : ndarray of shape (n_features,)
        The coefficients.
    out : ndarray of shape (n_features,)
        Where the result is written.
    """
    for j in range(w.size):
        out[j] = form[0] * np.sign(w[j]) + 2.0 * form[1] * w[j]


@kernel
def penalty_curvature(form, w, out):
    """The second derivatives of the part in w², compiled.

    Parameters
    ----------
    form : ndarray of shape (5,)
        Which penalty: `Penalty.form`.
    w : ndarray of shape (n_features,)
        The coefficients.
    out : ndarray of shape (n_features,)
        Where the result is written.
    """
    for j in range(w.size):
        out[j] = 2.0 * form[1]


@kernel
def penalty_prox(form, w, step, out):
    """The argmin over v of  step·r(v) + ‖v − w‖²/2, compiled.

    Parameters
    ----------
    form : ndarray of shape (5,)
        Which penalty: `Penalty.form`.
    w : ndarray of shape (n_features,)
        The coefficients.
    step : float
        How much the penalty weighs against staying near w.
    out : ndarray of shape (n_features,)
        Where v is written.
    """
    cut, shrink = step * form[0], 1.0 + 2.0 * step * form[1]
    for j in range(w.size):
        v = min(max((w[j] - min(max(w[j], -cut), cut)) / shrink, form[3]), form[4])
        if form[2] > 0.0:  # does keeping the value pay the penalty of not being 0?
            gain = 0.5 * w[j] * w[j] - 0.5 * (v - w[j]) ** 2 - step * (form[0] * abs(v) + form[1] * v * v)
            v = v if gain > step * form[2] else 0.0
        out[j] = v


@kernel
def penalty_project(form, w, bound, out):
    """The nearest v with r(v) ≤ bound, compiled.

    In the set, the largest coefficients, or the prox whose step leaves `bound`.

    Parameters
    ----------
    form : ndarray of shape (5,)
        Which penalty: `Penalty.form`.
    w : ndarray of shape (n_features,)
        The coefficients.
    bound : float
        The most that the penalty may be.
    out : ndarray of shape (n_features,)
        Where v is written.
    """
    if form[2] > 0.0:
        _keep_largest(w, int(bound / form[2]), out)
        return
    if form[0] == 0.0 and form[1] == 0.0:
        penalty_prox(form, w, 0.0, out)
        return
    step = 0.0
    for _ in range(_NEWTON):
        penalty_prox(form, w, step, out)
        value, slope = _value_and_slope(form, out, step)
        if value <= bound * (1.0 + 1e-15) or slope == 0.0:
            return
        if bound <= 0.0:
            break
        # r of the prox is convex in the step: from the left Newton's method converges monotonically
        further = step + (value - bound) / slope
        if further <= step:
            return
        step = further
    if bound <= 0.0:
        out[:] = 0.0


@kernel
def _value_and_slope(form, v, step):
    """r(v) for v = prox(w, step), and how fast it falls with the step."""
    value, slope, shrink = 0.0, 0.0, 1.0 + 2.0 * step * form[1]
    for j in range(v.size):
        a = abs(v[j])
        if a > 0.0:
            value += a * (form[0] + form[1] * a)
            slope += (form[0] + 2.0 * form[1] * a) ** 2 / shrink
    return value, slope


@kernel
def _keep_largest(w, count, out):
    """The `count` largest coefficients, the first among equals; the rest 0."""
    order = np.argsort(-np.abs(w), kind="mergesort")
    out[:] = 0.0
    for k in range(min(count, w.size)):
        out[order[k]] = w[order[k]]
