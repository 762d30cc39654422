"""
Trees to look at
================

A tree that can be read: printed, drawn, and asked why.

Writes flower_tree.svg and disease_tree.svg to the current folder: open them in a browser.
"""

import numpy as np

from learnt.datasets import load_diabetes, load_iris
from learnt.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ModelTreeRegressor,
    explain,
    export_text,
    plot_tree,
)

iris = load_iris(as_frame=True)
names = [str(iris.target_names[k]) for k in iris.target]
flowers = DecisionTreeClassifier(max_depth=4, random_state=0).fit(iris.data, names)

print(export_text(flowers, feature_names=list(iris.data.columns), max_depth=2))
print("Why?", explain(flowers, iris.data.iloc[[70]]))
print("Drawn:", plot_tree(flowers).save("flower_tree.svg"))

disease = load_diabetes(scaled=False)
numbers = DecisionTreeRegressor(max_depth=3, random_state=0).fit(disease.data, disease.target)
print("Drawn:", plot_tree(numbers, feature_names=disease.feature_names).save("disease_tree.svg"))

kinked = np.linspace(-1, 1, 200).reshape(-1, 1)
model = ModelTreeRegressor().fit(kinked, np.abs(kinked[:, 0] - 0.3))
print(f"|x − 0.3| is cut at {model.tree_.threshold[0]:.6f}; slopes {model.coef_[:, 0].round(6)}")
