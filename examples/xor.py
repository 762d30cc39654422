"""
Exclusive or
============

Exclusive or: no straight line separates it, until the features are the right ones.

With signs x̃ = 2x − 1 the product x̃₁x̃₂ is −1 exactly where one of the two is true:  y = ½ − ½ x̃₁x̃₂.
"""

import numpy as np

from learnt.linear_model import LinearRegression
from learnt.pipeline import make_pipeline
from learnt.preprocessing import FunctionFeatures, PolynomialFeatures


def with_product(X):
    signs = 2 * X - 1
    return np.column_stack([signs, signs[:, 0] * signs[:, 1]])


X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
y = np.array([0.0, 1.0, 1.0, 0.0])

plain = LinearRegression().fit(X, y)
print("the columns themselves:  ", plain.predict(X).round(3) + 0.0, f"R² = {plain.score(X, y):.2f}")

by_hand = make_pipeline(FunctionFeatures([with_product], include_original=False), LinearRegression()).fit(X, y)
line = by_hand[-1]
print("with a product by hand:  ", by_hand.predict(X).round(3) + 0.0, f"R² = {by_hand.score(X, y):.2f}")
print(
    "   y =",
    f"{line.intercept_:.2f}",
    *(f"{w:+.2f} {n}" for w, n in zip(line.coef_.round(9) + 0.0, ("s1", "s2", "s1·s2"))),
)

poly = make_pipeline(PolynomialFeatures(2, interaction_only=True, include_bias=False), LinearRegression()).fit(X, y)
terms = poly[0].get_feature_names_out(["x1", "x2"])
print("all products of degree 2:", poly.predict(X).round(3) + 0.0, f"R² = {poly.score(X, y):.2f}")
print("   y =", f"{abs(poly[-1].intercept_):.2f}", *(f"{w:+.2f} {n}" for w, n in zip(poly[-1].coef_, terms)))

assert np.allclose(by_hand.predict(X), y)
assert np.allclose(poly.predict(X), y)
