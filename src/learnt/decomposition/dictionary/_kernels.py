"""The inner loops of sparse coding: rows of codes from the Gram matrix G = DDᵀ of a dictionary and products b = Dx.

`support[:m]` are the atoms in use, `factor` the Cholesky factor of their part of G.

Counts begin as np.int64(0): Numba would compile what they are given to a second time for the constant 0.
"""

from __future__ import annotations

import math

import numpy as np

from learnt.engine.kernel import kernel
from learnt.linalg.growing_factor import append, remove, substitute


@kernel
def residual_products(gram, b, w, g):
    """g = b − Gw."""
    for j in range(b.size):
        g[j] = b[j]
    for j in range(b.size):
        if w[j] != 0.0:
            value = w[j]
            for i in range(b.size):
                g[i] -= value * gram[j, i]


@kernel
def sweep(gram, alpha, positive, w, g):
    """Set every coordinate to its minimum in turn; whether any of them changed its sign."""
    moved = False
    for j in range(w.size):
        old = w[j]
        if old == 0.0 and g[j] <= alpha and (positive or g[j] >= -alpha):
            continue
        z = g[j] + gram[j, j] * old
        new = z - alpha if z > alpha else (z + alpha if z < -alpha and not positive else 0.0)
        if gram[j, j] > 0.0:
            new /= gram[j, j]
        moved = moved or (new == 0.0) != (old == 0.0) or new * old < 0.0
        w[j] = new
        change = new - old
        for i in range(w.size):
            g[i] -= change * gram[j, i]
    return moved


@kernel
def walk(m, most, support, sign, factor, w, along):
    """Move from w along `along`, by `most` or until a code reaches 0; its atom is dropped.

    Returns the number of atoms left, and the step length.
    """
    step, hit = most, np.int64(-1)
    for i in range(m):
        if along[i] * sign[i] < 0.0 and -w[support[i]] / along[i] < step:
            step, hit = -w[support[i]] / along[i], i
    if step == math.inf:
        return m, step
    for i in range(m):
        w[support[i]] += step * along[i]
    if hit >= 0:
        w[support[hit]] = 0.0
        m -= 1
        for i in range(hit, m):
            support[i] = support[i + 1]
            sign[i] = sign[i + 1]
        remove(hit, m + 1, factor)
    return m, step


@kernel
def lasso_codes(gram, products, alpha, max_iter, positive, g, sign, support, factor, solution, codes, done):
    """min over w of ½‖x − wD‖² + α‖w‖₁ for every row, from the codes given; done = 0 where max_iter was not enough.

    A few sweeps of coordinate descent, then an active set: add an atom, drop those that reach 0, repeat. The objective
    falls in every round, so that no active set occurs twice, and the result is exact.
    """
    for s in range(products.shape[0]):
        b, w = products[s], codes[s]
        residual_products(gram, b, w, g)
        left = max_iter
        while left > 0 and left > max_iter - 8 and sweep(gram, alpha, positive, w, g):
            left -= 1
        m = np.int64(0)
        slack = 0.0
        for j in range(w.size):
            slack = max(slack, 1e-13 * abs(b[j]))
            if w[j] != 0.0:
                support[m] = j
                sign[m] = math.copysign(1.0, w[j])
                if append(gram[support[m]], support, m, factor):
                    m += 1
                else:
                    w[j] = 0.0
        done[s] = 0
        while left > 0:
            left -= 1
            before = m + 1
            while 0 < m < before:  # to the minimum over the atoms in use with their signs
                before = m
                for i in range(m):
                    solution[i] = b[support[i]] - alpha * sign[i]
                substitute(factor, m, solution)
                for i in range(m):
                    solution[i] -= w[support[i]]
                m, _ = walk(m, 1.0, support, sign, factor, w, solution)
            residual_products(gram, b, w, g)
            j, best = np.int64(-1), alpha + slack
            for i in range(m):  # these are α but for rounding
                best = max(best, alpha + 10.0 * abs(g[support[i]] * sign[i] - alpha))
            for c in range(w.size):
                size = g[c] if positive else abs(g[c])
                if w[c] == 0.0 and size > best:
                    j, best = c, size
            if j < 0:
                done[s] = 1
                break
            direction = math.copysign(1.0, g[j])
            support[m] = j
            if not append(gram[support[m]], support, m, factor):
                # It lies in the span of those in use: exchange it for the first atom that it drives to 0. The fit is
                # unchanged and ‖w‖₁ falls, so that there is one.
                for i in range(m):
                    solution[i] = gram[j, support[i]]
                substitute(factor, m, solution)
                for i in range(m):
                    solution[i] *= -direction
                m, step = walk(m, math.inf, support, sign, factor, w, solution)
                if step == math.inf:
                    break
                w[j] = step * direction
                support[m] = j
                if not append(gram[support[m]], support, m, factor):
                    break
            sign[m] = direction
            m += 1


@kernel
def least_angle_codes(gram, products, limit, g, sign, support, factor, solution, along, inside, codes):
    """Least angle regression of every row with `limit` atoms.

    All atoms in use have the same product C with the residual, which shrinks along the direction that solves
    G_SS d = sign until an atom outside has it too.
    """
    size = gram.shape[0]
    for s in range(products.shape[0]):
        w = codes[s]
        energy = 0.0
        for j in range(size):
            g[j] = products[s, j]
            energy = max(energy, abs(g[j]))
            w[j] = 0.0
            inside[j] = 0
        m = np.int64(0)
        while m < limit:
            j, C = -1, 1e-14 * energy
            for c in range(size):
                if inside[c] == 0 and abs(g[c]) > C:
                    j, C = c, abs(g[c])
            if j < 0:
                break
            inside[j] = 1
            support[m] = j
            if not append(gram[support[m]], support, m, factor):
                continue  # in the span of the others: it stays out
            sign[m] = math.copysign(1.0, g[j])
            m += 1
            for i in range(m):
                solution[i] = sign[i]
            substitute(factor, m, solution)
            for c in range(size):
                along[c] = 0.0
            for i in range(m):
                j, value = support[i], solution[i]
                for c in range(size):
                    along[c] += value * gram[j, c]
            step = C
            for c in range(size):
                if inside[c] == 0:
                    if along[c] < 1.0:
                        step = min(step, max((C - g[c]) / (1.0 - along[c]), 0.0))
                    if along[c] > -1.0:
                        step = min(step, max((C + g[c]) / (1.0 + along[c]), 0.0))
            for i in range(m):
                w[support[i]] += step * solution[i]
            for c in range(size):
                g[c] -= step * along[c]
