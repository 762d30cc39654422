r"""
How many principal components do the digits need?
=================================================

A picture of a handwritten digit is 64 grey levels here, and neighbouring pixels say much the same. `PCA` replaces them
by a few directions, the widest first. How few depends on what they are for: to keep most of the variance, to see the
digit, or to tell the digits apart.
"""

# %%
# The spectrum says how wide the data are in each direction. Eleven of 64 directions keep three quarters of the
# variance.

import matplotlib.pyplot as plt
import numpy as np

from learnt.datasets import load_digits
from learnt.decomposition import PCA
from learnt.linear_model import LogisticRegression
from learnt.model_selection import cross_val_score
from learnt.pipeline import make_pipeline

X, y = load_digits(return_X_y=True)
full = PCA().fit(X)
kept = np.concatenate([[0], np.cumsum(full.explained_variance_ratio_)])
for share in (0.75, 0.9, 0.99):
    print(f"{share:.0%} of the variance: {np.searchsorted(kept, share)} of {X.shape[1]} directions")

# %%
# Whether a classifier still works is another question, and its answer comes from a cross-validation. The directions are
# found within each fold: a pipeline sees to that.

numbers = [2, 5, 10, 20, 40, 64]
accuracy = []
for k in numbers:
    model = make_pipeline(PCA(k), LogisticRegression(C=0.01, max_iter=1000))
    accuracy.append(cross_val_score(model, X, y, cv=5).mean())
    print(f"{k:2} directions: {kept[k]:.0%} of the variance, {accuracy[-1]:.0%} of digits right")

# %%
# `inverse_transform` draws what is left of a picture.

figure = plt.figure(figsize=(8, 3.2), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=(1.2, 1))
ax = left.subplots()
ax.plot(kept, color="#0072b2", label="share of the variance kept")
ax.plot(numbers, accuracy, "o-", color="#d55e00", label="share of digits recognised")
ax.set(xlabel="number of directions", ylabel="share", ylim=(0, 1.03))
ax.legend(frameon=False, loc="lower right")

shown = [2, 10, 20, 64]
for k, axes in zip(shown, right.subplots(3, 4).T):
    drawn = PCA(k).fit(X)
    back = drawn.inverse_transform(drawn.transform(X[:10]))
    for row, digit in enumerate((0, 3, 6)):
        axes[row].imshow(back[digit].reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        axes[row].set(xticks=[], yticks=[])
    axes[0].set_title(f"{k} directions" if k == 2 else f"{k}", fontsize=10)
plt.show()

# %%
# Two directions draw a blur. With twenty a digit can be read, and the classifier does nearly as well as with all 64:
# the other 44 hold a tenth of the variance and almost nothing about which digit it is.
