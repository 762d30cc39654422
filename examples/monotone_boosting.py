r"""
Monotonic constraints: a price that never falls as a flat grows
===============================================================

Boosting draws what the data say, noise included, and a price list on which 62 square metres cost less than 60 cannot be
shown to anybody. A monotonic constraint puts in what is known beforehand. It costs one argument, and where the
knowledge is right it takes noise out of the model.
"""

# %%
# Rents of flats: they rise with the size, fall with the distance from the centre, and are noisy. The floor does not
# matter.

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

from learnt.ensemble import HistGradientBoostingRegressor


def flats(n, seed):
    rng = np.random.default_rng(seed)
    table = pl.DataFrame(
        {"size": rng.uniform(20, 140, n), "distance": rng.uniform(0, 15, n), "floor": rng.integers(0, 8, n)}
    )
    true = 300 + 110 * np.sqrt(table["size"].to_numpy()) * (1 + np.exp(-table["distance"].to_numpy() / 4))
    return table, true, true + rng.normal(scale=250, size=n)


table, _, rent = flats(600, seed=0)
new, true, _ = flats(5000, seed=1)
known = {"size": 1, "distance": -1}  # may only rise, may only fall; nothing is said of the floor

free = HistGradientBoostingRegressor(random_state=0).fit(table, rent)
bound = HistGradientBoostingRegressor(monotonic_cst=known, random_state=0).fit(table, rent)
error = {}
for name, model in (("free", free), ("monotone", bound)):
    error[name] = np.abs(model.predict(new) - true).mean()
    print(f"{name:8}: {error[name]:.0f} from the true rent on average, on 5,000 new flats")
assert error["monotone"] < error["free"]

# %%
# One flat, 3 km from the centre, on the second floor, at every size.

size = np.linspace(20, 140, 481)
same = pl.DataFrame({"size": size, "distance": np.full(481, 3.0), "floor": np.full(481, 2)})
steps = {name: np.diff(model.predict(same)) for name, model in (("free", free), ("monotone", bound))}
for name, step in steps.items():
    print(f"{name:8}: falls at {np.sum(step < -1e-9)} of {len(step)} steps in size")
assert (steps["monotone"] > -1e-9).all()

figure, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
ax.plot(size, 300 + 110 * np.sqrt(size) * (1 + np.exp(-3 / 4)), color="#555555", linestyle=":", label="true rent")
ax.step(size, free.predict(same), color="#d55e00", linewidth=1, label="free", where="mid")
ax.step(size, bound.predict(same), color="#0072b2", label="monotone in size and distance", where="mid")
ax.set(xlabel="size in square metres", ylabel="predicted rent")
ax.legend(frameon=False)
plt.show()

# %%
# The constrained curve has steps but no step down, at any distance and on any floor, and it is nearer to the truth.
# Where such knowledge is wrong the constraint does harm just as surely: leave the columns out of which you are not
# sure.
