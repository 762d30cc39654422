"""Handwritten digits: support vectors with a grid of C and gamma, beside logistic regression."""

from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
grid = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.001, 0.003, 0.01, 0.03]}
machine = GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid).fit(X_train, y_train)
line = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X_train, y_train)
print(f"{machine.score(X_test, y_test):.3f}, {line.score(X_test, y_test):.3f} right")
