r"""
Why this prediction? Shapley values of one row
==============================================

"The model says so" is no answer to a customer. `learnt.inspection.contributions` splits a prediction into what each
cell of the row adds to it. The parts are Shapley values and add up; for trees and linear models they are computed
exactly, not sampled.
"""

# %%
# The table that ships with `learnt`: food deliveries, some of them late. Text, times and missing cells go in as they
# are; the refund is known only afterwards and stays out.

import matplotlib.pyplot as plt
import numpy as np

from learnt.ensemble import HistGradientBoostingClassifier
from learnt.inspection import contributions
from learnt.pipeline import make_pipeline
from learnt.preprocessing import TableEncoder
from learnt.study import example_path, read_table

table = read_table(example_path())
late = table["late"].to_numpy()
table = table.drop("late", "refund", "delivery_id")
model = make_pipeline(TableEncoder(), HistGradientBoostingClassifier(max_iter=50, max_leaf_nodes=8, random_state=0))
model.fit(table[:1500], late[:1500])

new = table[1500:]
why = contributions(model, new)
riskiest = int(why.prediction.argmax())
print(f"{why.how}, in {why.link}; columns: {', '.join(why.columns)}")
print("the delivery most likely to be late:", *why.words(riskiest, k=3), sep="\n  ")
assert np.allclose(why.baseline + why.values.sum(axis=1), why.prediction)

# %%
# Left: one delivery, from what is predicted of an unknown one (the baseline) to its own prediction. Right: what one
# column adds to each of the 500 deliveries.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", width_ratios=(1.3, 1))
order = np.argsort(np.abs(why.values[riskiest]))[::-1]
at = why.baseline[riskiest]
for place, k in enumerate(order):
    value = why.values[riskiest, k]
    left.barh(place, value, left=at, color="#d55e00" if value > 0 else "#0072b2")
    at += value
left.axvline(why.baseline[riskiest], color="#555555", linestyle=":", linewidth=1)
left.set_yticks(range(len(order)), [f"{why.columns[k]} = {new[why.columns[k]][riskiest]}" for k in order])
left.invert_yaxis()
left.use_sticky_edges = False
left.margins(x=0.06)
left.set(xlabel="log-odds of being late")

column = why.columns.index("kitchen_queue")
right.scatter(new["kitchen_queue"], why.values[:, column], s=8, color="#0072b2", alpha=0.5)
right.axhline(0, color="#555555", linestyle=":", linewidth=1)
right.set(xlabel="kitchen_queue", ylabel="adds to the log-odds")
plt.show()

# %%
# The prediction of this delivery comes from a long queue, rain, the way and a new courier on a bike, in numbers that
# add up. Over all rows the same values show what the model learnt of a column: nothing changes below some five orders
# in the queue, and from there every order adds. These are reasons of the model, and not causes in the world.
# ``link="probability"`` gives them in points of probability.
