"""
A circle through points
=======================

A circle through points, twice: with features that make it linear, and by the distances themselves.

A point of the circle with centre c and radius r has  ‖p‖² = 2cᵀp + (r² − ‖c‖²).  With ‖p‖² as the target and p as the
features that is a line to fit (the algebraic fit), which minimises Σ (‖p − c‖² − r²)². The distances of the points from
the circle, Σ (‖p − c‖ − r)², are not linear in c (the geometric fit): Levenberg–Marquardt from the algebraic circle.
"""

import numpy as np

from learnt.linear_model import LinearRegression, NonlinearLeastSquares


def algebraic(points):
    line = LinearRegression().fit(points, (points**2).sum(axis=1))
    center = line.coef_ / 2
    return np.array([*center, np.sqrt(line.intercept_ + center @ center)])


def distance(points, circle):
    """How far outside the circle (x, y, radius) each point lies."""
    return np.hypot(points[:, 0] - circle[0], points[:, 1] - circle[1]) - circle[2]


def geometric(points):
    start = dict(zip(("x", "y", "radius"), algebraic(points), strict=True))
    return NonlinearLeastSquares(distance, start).fit(points, np.zeros(len(points)))


truth = np.array([3.0, -2.0, 5.0])
rng = np.random.default_rng(0)
angle = rng.uniform(0, 1.5, size=40)  # a quarter of the circle only
ring = np.column_stack([np.cos(angle), np.sin(angle)])

clean = truth[:2] + truth[2] * ring
for name, found in (("algebraic", algebraic(clean)), ("geometric", geometric(clean).coef_)):
    print(f"clean points, {name}: largest error {np.abs(found - truth).max():.1e}")
    assert np.abs(found - truth).max() < 1e-9

errors = {"algebraic": [], "geometric": []}
for _ in range(200):
    noisy = truth[:2] + (truth[2] + 0.15 * rng.normal(size=(40, 1))) * ring
    errors["algebraic"].append(algebraic(noisy)[2] - truth[2])
    errors["geometric"].append(geometric(noisy).coef_[2] - truth[2])
for name, found in errors.items():
    print(f"noisy arcs, {name}: radius off by {np.mean(found):+.3f} on average, {np.std(found):.3f} in spread")
assert abs(np.mean(errors["geometric"])) < abs(np.mean(errors["algebraic"]))

print(geometric(noisy).summary())
