"""Groups in 80,000 rows: principal components, k-means for several k, and the nearest neighbours of new rows."""

from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

X, y = make_blobs(80_000, n_features=50, centers=10, cluster_std=6.0, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
components = PCA(10, random_state=0).fit(X_train)
small, small_test = components.transform(X_train), components.transform(X_test)
scatter = [KMeans(k, n_init=5, random_state=0).fit(small).inertia_ for k in (2, 5, 10, 15, 20)]
nearest = KNeighborsClassifier(15).fit(small, y_train)
print(f"scatter {scatter[2]:.4g}, {scatter[4]:.4g}; {nearest.score(small_test, y_test):.3f} right")
