r"""
Parts of digits: NMF adds strokes, PCA cancels them
===================================================

Both `PCA` and `NMF` write every picture as a sum of a few patterns. PCA may subtract, so its patterns have light and
dark sides that cancel each other. A non-negative factorisation can only add ink, and its patterns become strokes that a
person can point at.
"""

# %%
# The same number of patterns for both, and the error of the pictures they rebuild. By squared error no fifteen patterns
# rebuild the pictures better than PCA's; the question is what NMF pays for the sign.

import matplotlib.pyplot as plt
import numpy as np

from learnt.datasets import load_digits
from learnt.decomposition import NMF, PCA

X, y = load_digits(return_X_y=True)
X = X / 16  # 0 is paper, 1 is ink

pca = PCA(15).fit(X)
nmf = NMF(15, init="nndsvda", max_iter=1000, tol=1e-4).fit(X)
for name, model in (("PCA", pca), ("NMF", nmf)):
    left = X - model.inverse_transform(model.transform(X))
    print(
        f"{name}: mean error of a pixel {np.sqrt((left**2).mean()):.3f}, "
        f"{(model.components_ < 0).mean():.0%} of the pixels of its patterns are negative"
    )

# %%
# Purple is ink, orange is ink taken away.

figure = plt.figure(figsize=(8, 3.2), layout="constrained")
for half, (name, model) in zip(figure.subfigures(1, 2), (("PCA", pca), ("NMF", nmf))):
    half.suptitle(f"15 patterns of {name}", fontsize=11)
    for ax, pattern in zip(half.subplots(3, 5).flat, model.components_):
        limit = np.abs(pattern).max()
        ax.imshow(pattern.reshape(8, 8), cmap="PuOr", vmin=-limit, vmax=limit)
        ax.set(xticks=[], yticks=[])
plt.show()

# %%
# NMF's error is about a fifth larger. What it buys are patterns that sit in one place: a digit is a short list of
# strokes, and the weights of a picture, ``nmf.transform(X)``, say which. No pattern of PCA means anything alone.
