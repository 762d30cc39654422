"""
Early stopping walks along the ridge path
=========================================

Early stopping is a penalty in disguise: gradient descent, stopped, walks along the ridge path.

Few steps leave coefficients short, as a strong ridge does; many make them fit the noise. Held-out rows say where to
stop.
"""

import numpy as np

from learnt.erm import Problem, minimize
from learnt.erm.losses import Squared
from learnt.erm.penalties import L2
from learnt.erm.solvers import GradientDescent, Newton

rng = np.random.default_rng(5)
w = np.r_[np.ones(4), np.zeros(36)]
X, X_val = rng.normal(size=(2, 60, 40))
y, y_val = (A @ w + 2 * rng.normal(size=60) for A in (X, X_val))

problem, validation = Problem(X, y, Squared()), Problem(X_val, y_val, Squared())
path = minimize(problem, GradientDescent(step=0.01, max_iter=400), record=True).path
stopped = minimize(problem, GradientDescent(step=0.01), validation=validation, patience=20)

print("steps   length of w   nearest ridge   distance   held-out loss")
for n in (5, 20, stopped.best_iter, 80, 300):
    coef, intercept = path[n]
    ridges = {a: minimize(Problem(X, y, Squared(), L2(), a), Newton()).coef for a in np.geomspace(1e-2, 1e2, 40)}
    alpha, distance = min(((a, np.linalg.norm(coef - r)) for a, r in ridges.items()), key=lambda pair: pair[1])
    held_out = validation.risk(np.r_[coef, intercept])
    best = "  ← stopped here" if n == stopped.best_iter else ""
    print(f"{n:5d}   {np.linalg.norm(coef):11.3f}   {alpha:13.3f}   {distance:8.3f}   {held_out:13.3f}{best}")
