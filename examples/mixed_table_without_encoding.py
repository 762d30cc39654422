r"""
A table with text and missing cells, as it is: boosting without encoding
========================================================================

One-hot columns for text, a median for every missing cell: many scripts spend their first fifty lines so. Boosted trees
need none of it, and sometimes do better without: a missing cell may mean something, and one split can put any set of
towns on one side.
"""

# %%
# Loans: 250 towns as text, an income that a third left blank. Those who left it blank default more often.

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

from learnt.compose import make_column_transformer
from learnt.ensemble import HistGradientBoostingClassifier
from learnt.impute import SimpleImputer
from learnt.metrics import log_loss
from learnt.preprocessing import OneHotEncoder


def loans(n, seed):
    rng = np.random.default_rng(seed)
    town, job = rng.integers(0, 250, n), rng.integers(0, 3, n)
    age, income = rng.integers(18, 75, n), rng.lognormal(10.3, 0.4, n).round(-2)
    blank = rng.uniform(size=n) < 1 / 3
    poor_town = np.random.default_rng(7).normal(size=250)[town]
    score = -0.6 + 1.2 * poor_town + np.where(blank, 1.5, 2.5 * (10.3 - np.log(income))) - 0.8 * (job == 1)
    table = pl.DataFrame(
        {
            "town": [f"town {k}" for k in town],
            "job": [("employed", "retired", "self-employed")[k] for k in job],
            "age": age,
            "income": [None if no else value for no, value in zip(blank, income)],
        }
    )
    probability = 1 / (1 + np.exp(-score))
    return table, (rng.uniform(size=n) < probability).astype(int), probability


table, default, _ = loans(5000, seed=0)
new, new_default, probability = loans(5000, seed=1)
print(table.head(3))

# %%
# The same boosting three times: with the numbers alone, with the usual preparation, and with the table as it is. The
# loss on new loans is taken after every tree.

numbers, text = ["age", "income"], ["town", "job"]
usual = make_column_transformer((SimpleImputer(strategy="median"), numbers), (OneHotEncoder(sparse_output=False), text))
tables = {
    "numbers alone": (table[numbers], new[numbers]),
    "one-hot and median": (usual.fit_transform(table), usual.transform(new)),
    "as it is": (table, new),
}
loss = {}
for name, (rows, new_rows) in tables.items():
    model = HistGradientBoostingClassifier(max_iter=150, max_leaf_nodes=8, random_state=0).fit(rows, default)
    loss[name] = np.array([log_loss(new_default, p) for p in model.staged_predict_proba(new_rows)])
    print(f"{name}: {rows.shape[1]} columns, log loss {loss[name].min():.3f} with {loss[name].argmin() + 1} trees")
floor = log_loss(new_default, np.column_stack([1 - probability, probability]))

# %%
figure, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
for (name, values), colour in zip(loss.items(), ("#999999", "#cc79a7", "#0072b2")):
    ax.plot(np.arange(1, 151), values, color=colour, label=name)
ax.axhline(floor, color="#555555", linestyle=":", label="the true probabilities")
ax.set(xlabel="number of trees", ylabel="log loss on 5,000 new loans")
ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %%
# The table as it is needs a third of the trees and ends with a lower loss. One split takes all towns that are alike,
# where one-hot columns need a split for each, and a town of twenty rows can hardly be split off alone. With a few dozen
# towns the two are about equal, and the raw table is still less work: new rows need no preparation either, and a town
# that was never seen counts as missing.
