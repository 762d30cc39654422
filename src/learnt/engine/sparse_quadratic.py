"""A quadratic with absolute values over sparse columns: a step of Newton's method for losses with an L1 penalty.

    min over v, c of  ‖r‖²/2 + l1‖v‖₁ + l2‖v‖²/2,     r = u/√h − √h (change of the scores)

where u and h are what each row's loss falls by and curves by with its score. It is a lasso over the columns x√h, of
which a copy is made: one array is then all that sweeps read at random. Sweeps of coordinate descent find the signs;
with these, conjugate gradients solve for the coefficients that are not 0, in a third of the passes. A leap that changes
signs is cut back to 0 there, or ends at the first if the objective would not fall.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel

_SWEEPS, _ROUNDS = 4, 100  # sweeps before a leap is tried whatever the signs do, and sweeps with leaps
_LEAP, _CUTS = 30, 4  # products a leap, and how often it is halved
_FLOOR = 1e-10  # of a row's weight: the least curvature


def minimize(
    parts: tuple[np.ndarray, np.ndarray, np.ndarray],
    columns: np.ndarray,
    v: np.ndarray,
    u: np.ndarray,
    h: np.ndarray,
    w: np.ndarray,
    l1: float,
    l2: float,
    intercept: bool,
    share: float,
) -> np.ndarray:
    """Change the coefficients v of these columns of a CSC matrix; returns the change of the intercept.

    `w` are the weights of the rows, of which h is taken to be a tiny share at least. Row numbers are unsigned, and no
    column has one twice. It ends where a sweep gains no more than `share` of what the first one did.
    """
    root = np.sqrt(np.maximum(h, _FLOOR * w))
    data, indices, indptr = parts
    sizes = indptr[columns + 1] - indptr[columns]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    values, rows = np.empty(starts[-1]), np.empty(starts[-1], dtype=np.uint32)
    curves = np.empty(len(columns))
    gather(data, indices, indptr, columns, root, starts, values, rows, curves)
    r, constant = u / root, np.zeros(1)
    matrix = (values, rows, starts, curves, root if intercept else np.empty(0), float(l1), float(l2))
    light = None
    first, _ = sweep(*matrix, v, constant, r)
    goal = share * first
    for _ in range(_ROUNDS):
        fell = np.inf
        for _ in range(_SWEEPS):
            fell, changed = sweep(*matrix, v, constant, r)
            if fell <= goal or changed == 0:
                break
        if fell <= goal:
            break
        light = values.astype(np.float32) if light is None else light
        work = np.empty((4, len(v))), np.empty(len(r), dtype=np.float32), np.empty(len(r))
        leap(light, *matrix, v, constant, r, goal, *work)
    return constant


@kernel
def gather(data, indices, indptr, columns, root, starts, values, rows, curves):
    """The columns x√h one after the other, and their squares."""
    for k in range(columns.size):
        place, total = starts[k], 0.0
        for e in range(indptr[columns[k]], indptr[columns[k] + 1]):
            x = data[e] * root[indices[e]]
            values[place] = x
            rows[place] = indices[e]
            place += 1
            total += x * x
        curves[k] = total


@kernel(reassociate=True)
def column_dot(x, i, r):
    """Σ x r[i], four sums in flight."""
    a = b = c = d = r.dtype.type(0.0)
    t = 0
    while t + 4 <= x.size:
        a += x[t] * r[i[t]]
        b += x[t + 1] * r[i[t + 1]]
        c += x[t + 2] * r[i[t + 2]]
        d += x[t + 3] * r[i[t + 3]]
        t += 4
    while t < x.size:
        a += x[t] * r[i[t]]
        t += 1
    return (a + b) + (c + d)


@kernel(reassociate=True)
def column_add(x, i, factor, r):
    """r[i] += factor x, four at once: no place is there twice."""
    t = 0
    while t + 4 <= x.size:
        i0, i1, i2, i3 = i[t], i[t + 1], i[t + 2], i[t + 3]
        r0, r1, r2, r3 = r[i0], r[i1], r[i2], r[i3]
        r[i0] = r0 + factor * x[t]
        r[i1] = r1 + factor * x[t + 1]
        r[i2] = r2 + factor * x[t + 2]
        r[i3] = r3 + factor * x[t + 3]
        t += 4
    while t < x.size:
        r[i[t]] += factor * x[t]
        t += 1


@kernel(reassociate=True)
def sweep(values, rows, starts, curves, root, l1, l2, v, constant, r):
    """Every coordinate once; by how much the objective fell, and how many coefficients became 0 or ceased to be."""
    fell, changed = 0.0, 0
    for k in range(v.size):
        if curves[k] + l2 <= 0.0:
            continue
        x, i = values[starts[k] : starts[k + 1]], rows[starts[k] : starts[k + 1]]
        old = v[k]
        aim = column_dot(x, i, r) + curves[k] * old
        new = (aim - l1 if aim > l1 else aim + l1 if aim < -l1 else 0.0) / (curves[k] + l2)
        step = new - old
        if step != 0.0:
            v[k] = new
            column_add(x, i, -step, r)
            fell += 0.5 * (curves[k] + l2) * step * step
            if old * new <= 0.0:
                changed += 1
    if root.size:
        slope, curve = 0.0, 0.0
        for n in range(r.size):
            slope += root[n] * r[n]
            curve += root[n] * root[n]
        step = slope / curve
        constant[0] += step
        for n in range(r.size):
            r[n] -= step * root[n]
        fell += 0.5 * curve * step * step
    return fell, changed


@kernel(reassociate=True)
def value(v, r, l1, l2):
    total = 0.0
    for n in range(r.size):
        total += r[n] * r[n]
    rest = 0.0
    for k in range(v.size):
        rest += 2.0 * l1 * abs(v[k]) + l2 * v[k] * v[k]
    return 0.5 * (total + rest)


@kernel(reassociate=True)
def add(values, rows, starts, root, p, p0, out):
    """out += A p: the columns, and the intercept's."""
    for k in range(p.size):
        if p[k] != 0.0:
            x, i = values[starts[k] : starts[k + 1]], rows[starts[k] : starts[k + 1]]
            column_add(x, i, values.dtype.type(p[k]), out)
    for n in range(root.size):
        out[n] += p0 * root[n]


@kernel(reassociate=True)
def leap(light, values, rows, starts, curves, root, l1, l2, v, constant, r, goal, work, image, past):
    """With the signs as they are, solve for the coefficients that are not 0; whether the objective fell.

    Products are in single precision, for what they cost is memory; where the leap ends, r is exact.
    """
    m, n = v.size, r.size
    step, rest, p, q = work[0], work[1], work[2], work[3]
    curve0, rest0 = 0.0, 0.0
    for i in range(root.size):
        curve0 += root[i] * root[i]
        rest0 += root[i] * r[i]
    energy = rest0 * rest0 / curve0 if curve0 > 0.0 else 0.0
    for k in range(m):
        step[k], rest[k] = 0.0, 0.0
        if v[k] != 0.0:
            x, i = values[starts[k] : starts[k + 1]], rows[starts[k] : starts[k + 1]]
            rest[k] = column_dot(x, i, r) - (l1 if v[k] > 0.0 else -l1) - l2 * v[k]
            energy += rest[k] * rest[k] / (curves[k] + l2)
        p[k] = rest[k] / (curves[k] + l2) if rest[k] != 0.0 else 0.0
    step0, p0 = 0.0, rest0 / curve0 if curve0 > 0.0 else 0.0
    for _ in range(_LEAP):
        image[:] = 0.0
        add(light, rows, starts, root, p, p0, image)
        curving, q0 = 0.0, 0.0
        for i in range(n):
            curving += image[i] * image[i]
        for k in range(m):
            curving += l2 * p[k] * p[k]
        for i in range(root.size):
            q0 += root[i] * image[i]
        if not curving > 0.0:
            break
        length = energy / curving
        before, energy = energy, 0.0
        step0 += length * p0
        rest0 -= length * q0
        if curve0 > 0.0:
            energy += rest0 * rest0 / curve0
        for k in range(m):
            if v[k] != 0.0:
                x, i = light[starts[k] : starts[k + 1]], rows[starts[k] : starts[k + 1]]
                q[k] = column_dot(x, i, image) + l2 * p[k]
                step[k] += length * p[k]
                rest[k] -= length * q[k]
                energy += rest[k] * rest[k] / (curves[k] + l2)
        if energy <= goal:
            break
        for k in range(m):
            if v[k] != 0.0:
                p[k] = rest[k] / (curves[k] + l2) + (energy / before) * p[k]
        p0 = (rest0 / curve0 if curve0 > 0.0 else 0.0) + (energy / before) * p0
    here = value(v, r, l1, l2)
    past[:] = r
    for k in range(m):
        p[k] = v[k]  # where it was
    length = 2.0
    for turn in range(_CUTS + 1):  # never past 0; where no share of the way is lower, as far as to the first 0
        length *= 0.5
        if turn == _CUTS:
            length = 1.0
            for k in range(m):
                if (p[k] + step[k]) * p[k] < 0.0:
                    length = min(length, -p[k] / step[k])
        for k in range(m):
            new = p[k] + length * step[k]
            v[k] = new if new * p[k] > 1e-15 * p[k] * p[k] else 0.0
            q[k] = p[k] - v[k]
        r[:] = past
        add(values, rows, starts, root, q, -length * step0, r)
        if value(v, r, l1, l2) < here:
            constant[0] += length * step0
            return True
    v[:] = p
    r[:] = past
    return False
