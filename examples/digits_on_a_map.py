"""
Digits on a map
===============

Digits on a map: 64 pixels as two numbers, by directions, by a curved surface, by neighbours.

Principal components keep the widest directions, Isomap the distances along a surface, t-SNE who is near whom. A map is
as good as what it is for: `trustworthiness` says whether neighbours on the map are neighbours, and the digits, which no
map has seen, whether neighbours are alike. Sizes of groups and gaps between them say little in the last one.

::

    python examples/digits_on_a_map.py [FILE]        # draws digits_on_a_map.png where Matplotlib is there
"""

import sys
import warnings

from learnt.datasets import load_digits
from learnt.decomposition import PCA
from learnt.manifold import TSNE, Isomap, trustworthiness
from learnt.neighbors import KNeighborsClassifier

X, y = load_digits(return_X_y=True)
X, y = X[:1000], y[:1000]
maps = {
    "principal components": PCA(2),
    "Isomap": Isomap(n_neighbors=10),
    "t-SNE": TSNE(random_state=0, max_iter=500),
}
drawn, alike = {}, {}
for name, model in maps.items():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # Isomap: a few digits lie apart, and are joined to the others
        drawn[name] = model.fit_transform(X)
    votes = KNeighborsClassifier(5).fit(drawn[name], y)
    asked = votes.kneighbors(drawn[name], n_neighbors=6, return_distance=False)[:, 1:]
    alike[name] = (y[asked] == y[:, None]).mean()
    trust = trustworthiness(X, drawn[name], n_neighbors=5)
    print(f"{name:22} trustworthiness {trust:.3f}, {alike[name]:.0%} of five neighbours are the same digit")
assert alike["t-SNE"] > 0.9 > alike["principal components"]

try:
    from matplotlib.figure import Figure
except ImportError:
    sys.exit(0)
figure = Figure(figsize=(13, 4.6), layout="constrained")
for axes, (name, Z) in zip(figure.subplots(1, 3), drawn.items()):
    for digit in range(10):
        own = Z[y == digit]
        axes.scatter(*own.T, s=6, color=f"C{digit}")
        axes.text(*sorted(own.tolist())[len(own) // 2], str(digit), fontsize=13, weight="bold")
    axes.set(title=f"{name}: {alike[name]:.0%} alike", xticks=[], yticks=[])
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "digits_on_a_map.png", dpi=110)
