"""What somebody types on a first day, for the type checkers of `tests/test_typing.py`; it also runs."""

import numpy as np

import learnt
from learnt.cluster import KMeans
from learnt.ensemble import HistGradientBoostingClassifier, RandomForestRegressor
from learnt.linear_model import Lasso, LogisticRegression, RidgeCV
from learnt.metrics import mean_absolute_error, roc_auc_score
from learnt.model_selection import SealedTestSet, cross_val_score, train_test_split
from learnt.neighbors import KNeighborsClassifier
from learnt.pipeline import make_pipeline
from learnt.preprocessing import StandardScaler
from learnt.svm import SVC

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 4))
y = X[:, 0] + rng.normal(size=200) > 0
amounts = X @ np.array([1.0, 2.0, 0.0, 0.0])

X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
model = LogisticRegression(C=0.5).fit(X_train, y_train)
print(model.coef_.round(1), model.converged_, model.predict_proba(X_test)[:1].round(1))
print(roc_auc_score(y_test, model.predict_proba(X_test)[:, 1]) > 0.5, model.score(X_test, y_test) > 0.5)

scaled = StandardScaler().fit(X_train)
print(scaled.mean_.shape, StandardScaler().fit_transform(X_test).shape)
boosted = HistGradientBoostingClassifier(max_iter=5, learning_rate=0.2).fit(X_train, y_train)
print(boosted.n_iter_, boosted.predict(X_test[:2]))
forest = RandomForestRegressor(10, random_state=0).fit(X, amounts)
print(forest.feature_importances_.argmax(), mean_absolute_error(amounts, forest.predict(X)) < 1.0)

print(RidgeCV().fit(X, amounts).alpha_, Lasso(alpha=0.1).fit(X, amounts).sparse_coef_.nnz)
print(KMeans(3, random_state=0).fit(X).cluster_centers_.shape, SVC(kernel="linear").fit(X, y).support_.size > 0)
print(KNeighborsClassifier(n_neighbors=3).fit(X, y).kneighbors(X[:1])[0].shape)

pipeline = make_pipeline(StandardScaler(), LogisticRegression())
print(cross_val_score(pipeline, X, y, cv=3).shape, pipeline.fit(X, y).predict(X[:2]))
box = SealedTestSet(X_test, y_test)
rows, labels = box.open(reason="the end")
print(len(rows), learnt.linear_model.Ridge(alpha=2.0).fit(X, amounts).intercept_.ndim)
