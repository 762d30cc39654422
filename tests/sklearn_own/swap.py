"""scikit-learn's own tests with our classes in place of theirs.

    make peers                       # or: pytest -p swap --pyargs sklearn.linear_model.tests.test_ridge

A pytest plugin: it puts our class under every name that both have, before scikit-learn's test modules import theirs.
What still fails is either private to scikit-learn (its inner functions, its wording, its deprecations) or a bug of
ours: look.
Not part of CI: it needs minutes, and scikit-learn's tests move with its releases.
"""

import importlib

import private_names

ROOMS = {
    "linear_model": [
        "ElasticNet",
        "ElasticNetCV",
        "Lasso",
        "LassoCV",
        "MultiTaskElasticNet",
        "MultiTaskElasticNetCV",
        "MultiTaskLasso",
        "MultiTaskLassoCV",
        "enet_path",
        "lasso_path",
        "LinearRegression",
        "TweedieRegressor",
        "RidgeClassifierCV",
        "RidgeClassifier",
        "QuantileRegressor",
        "PoissonRegressor",
        "HuberRegressor",
        "GammaRegressor",
        "BayesianRidge",
        "ARDRegression",
        "LogisticRegression",
        "LogisticRegressionCV",
        "Ridge",
        "RidgeCV",
    ],
    "decomposition": [
        "FactorAnalysis",
        "FastICA",
        "IncrementalPCA",
        "NMF",
        "PCA",
        "TruncatedSVD",
        "fastica",
        "non_negative_factorization",
    ],
    "discriminant_analysis": ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"],
    "naive_bayes": ["BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"],
    "cluster": [
        "DBSCAN",
        "dbscan",
        "AgglomerativeClustering",
        "BisectingKMeans",
        "KMeans",
        "MiniBatchKMeans",
        "k_means",
        "kmeans_plusplus",
    ],
    "mixture": ["BayesianGaussianMixture", "GaussianMixture"],
    "neighbors": [
        "KNeighborsClassifier",
        "KNeighborsRegressor",
        "KNeighborsTransformer",
        "NearestCentroid",
        "KernelDensity",
        "LocalOutlierFactor",
        "NearestNeighbors",
        "RadiusNeighborsClassifier",
        "RadiusNeighborsRegressor",
        "RadiusNeighborsTransformer",
        "kneighbors_graph",
        "radius_neighbors_graph",
    ],
    "preprocessing": ["StandardScaler"],
    "svm": ["LinearSVC", "LinearSVR"],
    "tree": [
        "DecisionTreeClassifier",
        "DecisionTreeRegressor",
        "ExtraTreeClassifier",
        "ExtraTreeRegressor",
        "export_graphviz",
        "export_text",
        "plot_tree",
    ],
    "ensemble": [
        "AdaBoostClassifier",
        "AdaBoostRegressor",
        "BaggingClassifier",
        "BaggingRegressor",
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
        "RandomForestClassifier",
        "RandomForestRegressor",
        "RandomTreesEmbedding",
        "StackingClassifier",
        "StackingRegressor",
        "VotingClassifier",
        "VotingRegressor",
        "GradientBoostingClassifier",
        "GradientBoostingRegressor",
        "HistGradientBoostingClassifier",
        "HistGradientBoostingRegressor",
    ],
}
TESTS = [
    "sklearn.ensemble.tests.test_forest",
    "sklearn.linear_model.tests.test_base",
    "sklearn.linear_model._glm.tests.test_glm",
    "sklearn.linear_model.tests.test_quantile",
    "sklearn.linear_model.tests.test_huber",
    "sklearn.linear_model.tests.test_bayes",
    "sklearn.linear_model.tests.test_ridge",
    "sklearn.linear_model.tests.test_coordinate_descent",
    "sklearn.linear_model.tests.test_logistic",
    "sklearn.tests.test_discriminant_analysis",
    "sklearn.tests.test_naive_bayes",
    "sklearn.decomposition.tests.test_pca",
    "sklearn.decomposition.tests.test_incremental_pca",
    "sklearn.decomposition.tests.test_truncated_svd",
    "sklearn.decomposition.tests.test_factor_analysis",
    "sklearn.decomposition.tests.test_fastica",
    "sklearn.decomposition.tests.test_nmf",
    "sklearn.cluster.tests.test_k_means",
    "sklearn.cluster.tests.test_dbscan",
    "sklearn.mixture.tests.test_bayesian_mixture",
    "sklearn.mixture.tests.test_gaussian_mixture",
    "sklearn.mixture.tests.test_mixture",
    "sklearn.cluster.tests.test_hierarchical",
    "sklearn.neighbors.tests.test_nearest_centroid",
    "sklearn.cluster.tests.test_bisect_k_means",
    "sklearn.neighbors.tests.test_neighbors",
    "sklearn.neighbors.tests.test_graph",
    "sklearn.neighbors.tests.test_neighbors_pipeline",
    "sklearn.neighbors.tests.test_kde",
    "sklearn.neighbors.tests.test_lof",
    "sklearn.preprocessing.tests.test_data",
    "sklearn.svm.tests.test_svm",
    "sklearn.svm.tests.test_bounds",
    "sklearn.tree.tests.test_tree",
    "sklearn.tree.tests.test_monotonic_tree",
    "sklearn.tree.tests.test_export",
    "sklearn.ensemble.tests.test_weight_boosting",
    "sklearn.ensemble.tests.test_bagging",
    "sklearn.ensemble.tests.test_voting",
    "sklearn.ensemble.tests.test_stacking",
    "sklearn.ensemble.tests.test_gradient_boosting",
    "sklearn.ensemble.tests.test_common",
    "sklearn.ensemble._hist_gradient_boosting.tests.test_gradient_boosting",
    "sklearn.ensemble._hist_gradient_boosting.tests.test_compare_lightgbm",
    "sklearn.ensemble._hist_gradient_boosting.tests.test_monotonic_constraints",
    "sklearn.ensemble._hist_gradient_boosting.tests.test_warm_start",
]

importlib.import_module("sklearn.ensemble")  # its classes are made from the trees' own parameters
for room, names in ROOMS.items():
    theirs, ours = importlib.import_module(f"sklearn.{room}"), importlib.import_module(f"learnt.{room}")
    for name in names:
        setattr(theirs, name, getattr(ours, name))
private_names.put_on(importlib.import_module("learnt.ensemble"))
private_names.put_on_neighbors(importlib.import_module("sklearn.neighbors._base"))
private_names.put_on_clusters(importlib.import_module("learnt.cluster"))
private_names.put_on_naive_bayes(importlib.import_module("learnt.naive_bayes"))
private_names.put_on_mixture(importlib.import_module("learnt.mixture"))
