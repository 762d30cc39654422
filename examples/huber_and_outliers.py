r"""
Outliers: when Huber's loss helps, and when it does not
=======================================================

A handful of wild rows can turn a least-squares line. Huber's loss counts large errors in proportion to their size
instead of their square, which takes their power away, as long as they are wild in *y*. A row that is far out in *x*
draws the line to itself and then looks innocent. For those there is RANSAC.
"""

# %%
# 100 rows around :math:`y = 2x`. In the first table 12 targets were written down wrongly; in the second 12 rows come
# from somewhere else, far to the right.

import matplotlib.pyplot as plt
import numpy as np

from learnt.linear_model import HuberRegressor, LinearRegression, RANSACRegressor

rng = np.random.default_rng(1)
x = rng.uniform(0, 10, size=100)
y = 2 * x + rng.normal(size=100)
wild = np.argsort(x)[-30:][rng.permutation(30)[:12]]  # among the larger x, so that the line is turned and not lifted

wrong_y = y.copy()
wrong_y[wild] -= rng.uniform(15, 30, size=12)
far_x, far_y = x.copy(), y.copy()
far_x[wild], far_y[wild] = rng.normal(25, 1, size=12), rng.normal(5, 1, size=12)
tables = {"wild in y": (x, wrong_y), "wild in x": (far_x, far_y)}

# %%
# `HuberRegressor` finds the scale of the ordinary errors along the way and marks in ``outliers_`` what lies beyond
# ``epsilon`` of it: 1.35 times by default, which takes in some ordinary rows, too. `RANSACRegressor` fits lines through
# few rows drawn at random and keeps the one that most rows agree with.

slopes = {}
figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for ax, (kind, (u, v)) in zip(axes, tables.items(), strict=True):
    X, grid = u[:, None], np.linspace(0, u.max(), 2)[:, None]
    ax.plot(u, v, ".", color="#999999")
    ax.plot(u[wild], v[wild], "x", color="black", markersize=5, label="wild rows")
    models = {
        "least squares": (LinearRegression(), "#d55e00", "-"),
        "Huber": (HuberRegressor(), "#0072b2", "-"),
        "RANSAC": (RANSACRegressor(residual_threshold=3.0, random_state=0), "#009e73", "--"),
    }
    for name, (model, colour, style) in models.items():
        model.fit(X, v)
        ends = model.predict(grid)
        slopes[kind, name] = (ends[1] - ends[0]) / (grid[1, 0] - grid[0, 0])
        ax.plot(grid, ends, style, color=colour, linewidth=2, label=f"{name}: slope {slopes[kind, name]:.1f}")
    found = models["Huber"][0].outliers_
    print(f"{kind}: Huber marks {found[wild].sum()} of the 12 wild rows, and {np.delete(found, wild).sum()} others")
    ax.set(xlabel="x", ylabel="y", title=kind, ylim=(-15, 36))
    ax.legend(frameon=False, fontsize="small", loc="upper left" if kind == "wild in y" else "lower left")
plt.show()

# %%
# On the left Huber's line is nearly the right one (slope 2), and all wild rows are marked. On the right it follows them
# as least squares does. So look at the columns, too: rows that are far out in x are to be checked before any fit.
# RANSAC is right both times, but needs to be told how large an ordinary error is, and gives the wild rows no say at
# all. Neither decides whether they are mistakes: sometimes they are the news.

assert abs(slopes["wild in y", "Huber"] - 2) < 0.2 < 0.4 < abs(slopes["wild in y", "least squares"] - 2)
assert abs(slopes["wild in x", "Huber"] - 2) > 1
assert all(abs(slopes[kind, "RANSAC"] - 2) < 0.2 for kind in tables)
