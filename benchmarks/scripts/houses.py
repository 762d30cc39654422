"""Prices of 20,000 houses, 8 columns: a random forest and histogram boosting, cross-validated."""

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.model_selection import cross_val_score

rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 8))
y = np.exp(0.3 * X[:, 0]) + np.sin(2 * X[:, 1]) * X[:, 2] + 0.5 * (X[:, 3] > 0.5) + 0.3 * rng.normal(size=len(X))
forest = cross_val_score(RandomForestRegressor(random_state=0, n_jobs=2), X, y, cv=3)
boosted = cross_val_score(HistGradientBoostingRegressor(max_iter=200, random_state=0), X, y, cv=5)
print(f"R² {forest.mean():.3f}, {boosted.mean():.3f}")
