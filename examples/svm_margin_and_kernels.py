r"""
The margin of a support vector machine, with three kernels
==========================================================

A support vector machine puts the widest possible street between two classes. Only the rows on its kerbs and inside it
matter: remove any other, and nothing changes. A kernel lets the street bend. Which kernel, and how many support
vectors does it need?
"""

# %%
# Two half moons with noise, cut by `SVC` with a linear, a cubic and a Gaussian kernel.

import matplotlib.pyplot as plt
import numpy as np

from learnt.datasets import make_moons
from learnt.model_selection import cross_val_score
from learnt.svm import SVC

X, y = make_moons(200, noise=0.2, random_state=0)
models = {
    "linear": SVC(kernel="linear", C=1.0, tol=1e-6),
    "cubic": SVC(kernel="poly", degree=3, coef0=1.0, gamma=1.0, C=1.0, tol=1e-6),
    "Gaussian": SVC(kernel="rbf", gamma=1.0, C=1.0, tol=1e-6),
}
accuracy = {}
for name, model in models.items():
    accuracy[name] = cross_val_score(model, X, y, cv=5).mean()
    model.fit(X, y)
    support = len(model.support_)
    print(f"{name:8}  {accuracy[name]:.0%} right by cross-validation, {support} of 200 rows are support vectors")

# %%
# The decision value is 0 on the boundary and ±1 on the kerbs. A row is a support vector where it lies on a kerb or
# beyond it, :math:`y_i f(x_i) \le 1`.

across, up = np.meshgrid(np.linspace(-1.6, 2.6, 200), np.linspace(-1.2, 1.7, 200))
figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    value = model.decision_function(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
    ax.contourf(across, up, value, [-1, 1], colors=["#eeeeee"])
    ax.contour(across, up, value, [-1, 0, 1], colors="black", linewidths=[1, 2, 1], linestyles=["--", "-", "--"])
    for label, colour in ((0, "#0072b2"), (1, "#d55e00")):
        ax.plot(*X[y == label].T, ".", color=colour, markersize=4)
    ax.plot(*model.support_vectors_.T, "o", color="black", fillstyle="none", markersize=7, markeredgewidth=0.6)
    ax.set(title=f"{name}: {len(model.support_)} support vectors", xlabel="$x_1$")
axes[0].set(ylabel="$x_2$")
plt.show()

# %%
# The straight street is wide, runs across both moons and rests on many rows. The bent ones follow the gap, with fewer
# support vectors and fewer mistakes. Few support vectors are a good sign: leaving out a row that is none changes
# nothing, so the share of support vectors is a bound on the error of leave-one-out.

assert accuracy["Gaussian"] > accuracy["linear"] + 0.03
assert len(models["Gaussian"].support_) < len(models["linear"].support_)

others = np.setdiff1d(np.arange(200), models["Gaussian"].support_)
kept = np.delete(np.arange(200), others[::2])  # half of the rows that are no support vectors go
again = SVC(kernel="rbf", gamma=1.0, C=1.0, tol=1e-6).fit(X[kept], y[kept])
change = np.abs(again.decision_function(X) - models["Gaussian"].decision_function(X)).max()
print(f"without {200 - len(kept)} of the other rows, is the model the same? {bool(change < 1e-4)}")
