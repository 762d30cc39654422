r"""
Do stacking and voting beat their best member?
==============================================

Models of different kinds err on different rows. A vote averages their probabilities; a stack learns, from predictions
on rows that the members have not seen, how much each is worth. Whether either is better than the best member alone is
not a matter of faith: a cross-validation says.
"""

# %%
# Three members that have little in common: a line, a forest, neighbours.

import matplotlib.pyplot as plt
import numpy as np

from learnt.ensemble import RandomForestClassifier, StackingClassifier, VotingClassifier
from learnt.linear_model import LogisticRegression
from learnt.model_selection import StratifiedKFold, cross_val_predict
from learnt.neighbors import KNeighborsClassifier
from learnt.pipeline import make_pipeline
from learnt.preprocessing import StandardScaler

rng = np.random.default_rng(0)
X = rng.normal(size=(1500, 6))
score = 1.5 * X[:, 0] + X[:, 1] + 3 * np.sin(2 * X[:, 2]) * (X[:, 3] > 0) + 0.8 * X[:, 4]
y = (rng.uniform(size=1500) < 1 / (1 + np.exp(-1.2 * score))).astype(int)

members = [
    ("line", make_pipeline(StandardScaler(), LogisticRegression())),
    ("forest", RandomForestClassifier(40, min_samples_leaf=3, random_state=0)),
    ("neighbours", make_pipeline(StandardScaler(), KNeighborsClassifier(30))),
]
models = {
    **dict(members),
    "vote": VotingClassifier(members, voting="soft"),
    "stack": StackingClassifier(members, LogisticRegression(), cv=3),
}

# %%
# Every row is predicted once, by models that have not seen it, and all models are judged on the same rows. So their
# losses can be compared row by row, which says far more than two means do.

folds = StratifiedKFold(4, shuffle=True, random_state=0)
loss = {}
for name, model in models.items():
    p = cross_val_predict(model, X, y, cv=folds, method="predict_proba")
    loss[name] = -np.log(p[np.arange(len(y)), y].clip(1e-6))
    print(f"{name:10} log loss {loss[name].mean():.3f}")

best = min((name for name, _ in members), key=lambda name: loss[name].mean())
gain = {name: loss[best] - loss[name] for name in models if name != best}
error = {name: 2 * values.std() / np.sqrt(len(values)) for name, values in gain.items()}
for name in ("vote", "stack"):
    print(f"gain of the {name} over the {best}: {gain[name].mean():+.3f} ± {error[name]:.3f}")

# %%
figure, ax = plt.subplots(figsize=(8, 2.6), layout="constrained")
for place, (name, values) in enumerate(gain.items()):
    colour = "#0072b2" if name in ("vote", "stack") else "#999999"
    ax.errorbar(values.mean(), place, xerr=error[name], fmt="o", color=colour, capsize=4)
ax.axvline(0, color="#d55e00", linestyle="--")
ax.set_yticks(range(len(gain)), list(gain))
ax.invert_yaxis()
ax.set(
    xlabel=f"log loss of the {best} less that of the model, with ± 2 standard errors (right is better)",
    ylim=(len(gain) - 0.5, -0.5),
)
plt.show()

# %%
# Here the plain vote is worse than its best member: the other two pull it down. The stack learnt whom to trust. It is
# level with the forest or a little better, by less than 1,500 rows can tell for certain. Both cost several fits for
# one, so a blend has to earn its place in a comparison like this.
