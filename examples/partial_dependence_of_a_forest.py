r"""
Partial dependence: what a forest learnt of a column, and what an average hides
===============================================================================

A forest has no coefficients. Partial dependence asks it instead: change one column of every row to the same value,
leave the rest, and average the predictions. The curve of averages is easy to read and easy to be misled by, so draw the
curves of single rows with it.
"""

# %%
# A process whose yield rises with the pressure up to a point. A higher temperature helps with the additive and harms
# without, as much.

import matplotlib.pyplot as plt
import numpy as np

from learnt.ensemble import RandomForestRegressor
from learnt.inspection import partial_dependence

rng = np.random.default_rng(0)
n = 1500
names = ["pressure", "temperature", "additive"]
pressure, temperature, additive = rng.uniform(1, 5, n), rng.uniform(60, 100, n), rng.integers(0, 2, n)
X = np.column_stack([pressure, temperature, additive])
slope = np.where(additive == 1, 0.2, -0.2)
yields = 50 + 5 * np.minimum(pressure, 3) + slope * (temperature - 80) + rng.normal(size=n)

forest = RandomForestRegressor(100, min_samples_leaf=5, max_features=None, oob_score=True, random_state=0).fit(
    X, yields
)
print(f"R² out of bag: {forest.oob_score_:.2f}")

# %%
# ``kind="both"`` keeps the curve of every row beside the average. Sixty rows are enough to ask.

found = {}
for name in ("pressure", "temperature"):
    found[name] = partial_dependence(
        forest, X[:60], [names.index(name)], kind="both", grid_resolution=40, percentiles=(0, 1)
    )
    average = found[name].average[0]
    print(f"{name}: the average goes from {average.min():.1f} to {average.max():.1f}")

figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained", sharey=True)
for ax, (name, curves) in zip(axes, found.items()):
    grid = curves.grid_values[0]
    for one, used in zip(curves.individual[0], additive[:60]):
        ax.plot(grid, one, color="#009e73" if used else "#cc79a7", linewidth=0.5, alpha=0.6)
    ax.plot(grid, curves.average[0], color="black", linewidth=2.5)
    ax.set(xlabel=name)
axes[0].set_ylabel("predicted yield")
for colour, label in (("black", "average"), ("#009e73", "rows with the additive"), ("#cc79a7", "rows without")):
    axes[1].plot([], [], color=colour, label=label)
axes[1].legend(frameon=False, fontsize=8)
plt.show()

# %%
# The average of the pressure shows the truth, a rise that ends at 3. That of the temperature is flat, and says that it
# does not matter: the single curves show that it matters to every row, one way or the other. Where curves cross, ask
# for two columns together: ``partial_dependence(forest, X, [(1, 2)])``.
