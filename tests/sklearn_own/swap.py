"""scikit-learn's own tests with our classes in place of theirs.

    make peers                       # or: pytest -p swap --pyargs sklearn.linear_model.tests.test_ridge

A pytest plugin: it puts our class under every name that both have, before scikit-learn's test modules import theirs;
`tally` counts. What still fails is either private to scikit-learn (its inner functions, its wording, its deprecations)
or a bug of ours: look.
Not part of CI: it needs minutes, and scikit-learn's tests move with its releases.
"""

import importlib
from types import ModuleType

import private_names

ROOMS = [
    "calibration",
    "cluster",
    "covariance",
    "cross_decomposition",
    "decomposition",
    "discriminant_analysis",
    "dummy",
    "ensemble",
    "gaussian_process",
    "gaussian_process.kernels",
    "impute",
    "isotonic",
    "kernel_approximation",
    "kernel_ridge",
    "linear_model",
    "manifold",
    "metrics",
    "metrics.cluster",
    "mixture",
    "model_selection",
    "naive_bayes",
    "neighbors",
    "neural_network",
    "preprocessing",
    "random_projection",
    "semi_supervised",
    "svm",
    "tree",
]
TESTS = [
    "sklearn.cluster.tests.test_affinity_propagation",
    "sklearn.cluster.tests.test_bicluster",
    "sklearn.cluster.tests.test_birch",
    "sklearn.cluster.tests.test_bisect_k_means",
    "sklearn.cluster.tests.test_dbscan",
    "sklearn.cluster.tests.test_feature_agglomeration",
    "sklearn.cluster.tests.test_hdbscan",
    "sklearn.cluster.tests.test_hierarchical",
    "sklearn.cluster.tests.test_k_means",
    "sklearn.cluster.tests.test_mean_shift",
    "sklearn.cluster.tests.test_optics",
    "sklearn.cluster.tests.test_spectral",
    "sklearn.compose.tests.test_column_transformer",
    "sklearn.compose.tests.test_target",
    "sklearn.covariance.tests.test_covariance",
    "sklearn.covariance.tests.test_elliptic_envelope",
    "sklearn.covariance.tests.test_graphical_lasso",
    "sklearn.covariance.tests.test_robust_covariance",
    "sklearn.cross_decomposition.tests.test_pls",
    "sklearn.decomposition.tests.test_dict_learning",
    "sklearn.decomposition.tests.test_factor_analysis",
    "sklearn.decomposition.tests.test_fastica",
    "sklearn.decomposition.tests.test_incremental_pca",
    "sklearn.decomposition.tests.test_kernel_pca",
    "sklearn.decomposition.tests.test_nmf",
    "sklearn.decomposition.tests.test_online_lda",
    "sklearn.decomposition.tests.test_pca",
    "sklearn.decomposition.tests.test_sparse_pca",
    "sklearn.decomposition.tests.test_truncated_svd",
    "sklearn.ensemble._hist_gradient_boosting.tests.test_compare_lightgbm",
    "sklearn.ensemble._hist_gradient_boosting.tests.test_gradient_boosting",
    "sklearn.ensemble._hist_gradient_boosting.tests.test_monotonic_constraints",
    "sklearn.ensemble._hist_gradient_boosting.tests.test_warm_start",
    "sklearn.ensemble.tests.test_bagging",
    "sklearn.ensemble.tests.test_base",
    "sklearn.ensemble.tests.test_common",
    "sklearn.ensemble.tests.test_forest",
    "sklearn.ensemble.tests.test_gradient_boosting",
    "sklearn.ensemble.tests.test_iforest",
    "sklearn.ensemble.tests.test_stacking",
    "sklearn.ensemble.tests.test_voting",
    "sklearn.ensemble.tests.test_weight_boosting",
    "sklearn.feature_selection.tests.test_from_model",
    "sklearn.feature_selection.tests.test_mutual_info",
    "sklearn.feature_selection.tests.test_rfe",
    "sklearn.feature_selection.tests.test_sequential",
    "sklearn.frozen.tests.test_frozen",
    "sklearn.gaussian_process.tests.test_gpc",
    "sklearn.gaussian_process.tests.test_gpr",
    "sklearn.gaussian_process.tests.test_kernels",
    "sklearn.impute.tests.test_base",
    "sklearn.impute.tests.test_common",
    "sklearn.impute.tests.test_impute",
    "sklearn.impute.tests.test_knn",
    "sklearn.inspection._plot.tests.test_boundary_decision_display",
    "sklearn.inspection._plot.tests.test_plot_partial_dependence",
    "sklearn.inspection.tests.test_partial_dependence",
    "sklearn.inspection.tests.test_permutation_importance",
    "sklearn.linear_model._glm.tests.test_glm",
    "sklearn.linear_model.tests.test_base",
    "sklearn.linear_model.tests.test_bayes",
    "sklearn.linear_model.tests.test_common",
    "sklearn.linear_model.tests.test_coordinate_descent",
    "sklearn.linear_model.tests.test_huber",
    "sklearn.linear_model.tests.test_least_angle",
    "sklearn.linear_model.tests.test_logistic",
    "sklearn.linear_model.tests.test_omp",
    "sklearn.linear_model.tests.test_passive_aggressive",
    "sklearn.linear_model.tests.test_perceptron",
    "sklearn.linear_model.tests.test_quantile",
    "sklearn.linear_model.tests.test_ransac",
    "sklearn.linear_model.tests.test_ridge",
    "sklearn.linear_model.tests.test_sag",
    "sklearn.linear_model.tests.test_sgd",
    "sklearn.linear_model.tests.test_sparse_coordinate_descent",
    "sklearn.linear_model.tests.test_theil_sen",
    "sklearn.manifold.tests.test_classical_mds",
    "sklearn.manifold.tests.test_isomap",
    "sklearn.manifold.tests.test_locally_linear",
    "sklearn.manifold.tests.test_mds",
    "sklearn.manifold.tests.test_spectral_embedding",
    "sklearn.manifold.tests.test_t_sne",
    "sklearn.metrics._plot.tests.test_common_curve_display",
    "sklearn.metrics._plot.tests.test_confusion_matrix_display",
    "sklearn.metrics._plot.tests.test_det_curve_display",
    "sklearn.metrics._plot.tests.test_precision_recall_display",
    "sklearn.metrics._plot.tests.test_predict_error_display",
    "sklearn.metrics._plot.tests.test_roc_curve_display",
    "sklearn.metrics.cluster.tests.test_common",
    "sklearn.metrics.cluster.tests.test_supervised",
    "sklearn.metrics.cluster.tests.test_unsupervised",
    "sklearn.metrics.tests.test_classification",
    "sklearn.metrics.tests.test_common",
    "sklearn.metrics.tests.test_ranking",
    "sklearn.metrics.tests.test_regression",
    "sklearn.metrics.tests.test_score_objects",
    "sklearn.mixture.tests.test_bayesian_mixture",
    "sklearn.mixture.tests.test_gaussian_mixture",
    "sklearn.mixture.tests.test_mixture",
    "sklearn.model_selection.tests.test_classification_threshold",
    "sklearn.model_selection.tests.test_plot",
    "sklearn.model_selection.tests.test_search",
    "sklearn.model_selection.tests.test_split",
    "sklearn.model_selection.tests.test_successive_halving",
    "sklearn.model_selection.tests.test_validation",
    "sklearn.neighbors.tests.test_ball_tree",
    "sklearn.neighbors.tests.test_graph",
    "sklearn.neighbors.tests.test_kd_tree",
    "sklearn.neighbors.tests.test_kde",
    "sklearn.neighbors.tests.test_lof",
    "sklearn.neighbors.tests.test_nca",
    "sklearn.neighbors.tests.test_nearest_centroid",
    "sklearn.neighbors.tests.test_neighbors",
    "sklearn.neighbors.tests.test_neighbors_pipeline",
    "sklearn.neighbors.tests.test_neighbors_tree",
    "sklearn.neural_network.tests.test_mlp",
    "sklearn.neural_network.tests.test_rbm",
    "sklearn.preprocessing.tests.test_common",
    "sklearn.preprocessing.tests.test_data",
    "sklearn.preprocessing.tests.test_discretization",
    "sklearn.preprocessing.tests.test_function_transformer",
    "sklearn.preprocessing.tests.test_polynomial",
    "sklearn.preprocessing.tests.test_target_encoder",
    "sklearn.semi_supervised.tests.test_label_propagation",
    "sklearn.semi_supervised.tests.test_self_training",
    "sklearn.svm.tests.test_bounds",
    "sklearn.svm.tests.test_sparse",
    "sklearn.svm.tests.test_svm",
    "sklearn.tests.test_base",
    "sklearn.tests.test_calibration",
    "sklearn.tests.test_discriminant_analysis",
    "sklearn.tests.test_dummy",
    "sklearn.tests.test_isotonic",
    "sklearn.tests.test_kernel_approximation",
    "sklearn.tests.test_kernel_ridge",
    "sklearn.tests.test_metadata_routing",
    "sklearn.tests.test_metaestimators_metadata_routing",
    "sklearn.tests.test_multiclass",
    "sklearn.tests.test_multioutput",
    "sklearn.tests.test_naive_bayes",
    "sklearn.tests.test_pipeline",
    "sklearn.tests.test_random_projection",
    "sklearn.tree.tests.test_export",
    "sklearn.tree.tests.test_monotonic_tree",
    "sklearn.tree.tests.test_tree",
    "sklearn.utils._repr_html.tests.test_estimator",
    "sklearn.utils.tests.test_class_weight",
    "sklearn.utils.tests.test_estimator_checks",
    "sklearn.utils.tests.test_multiclass",
    "sklearn.utils.tests.test_pprint",
    "sklearn.utils.tests.test_response",
    "sklearn.utils.tests.test_set_output",
    "sklearn.utils.tests.test_validation",
]

importlib.import_module("sklearn.experimental.enable_iterative_imputer")  # once: it puts scikit-learn's class there
importlib.import_module("sklearn.ensemble")  # its classes are made from the trees' own parameters
for room in ROOMS:
    theirs, ours = importlib.import_module(f"sklearn.{room}"), importlib.import_module(f"learnt.{room}")
    for name in set(getattr(theirs, "__all__", ours.__all__)) & set(ours.__all__):
        if not isinstance(getattr(ours, name), ModuleType):
            setattr(theirs, name, getattr(ours, name))
private_names.put_on(importlib.import_module("learnt.ensemble"))
private_names.put_on_neighbors(importlib.import_module("sklearn.neighbors._base"))
private_names.put_on_clusters(importlib.import_module("learnt.cluster"))
private_names.put_on_birch(importlib.import_module("learnt.cluster").Birch)
private_names.put_on_trees(importlib.import_module("sklearn.cluster._agglomerative"))
private_names.put_on_decomposition(importlib.import_module("learnt.decomposition"))
private_names.put_on_cross_decomposition(importlib.import_module("learnt.cross_decomposition"))
private_names.put_on_semi_supervised(
    importlib.import_module("learnt.semi_supervised"),
    importlib.import_module("sklearn.semi_supervised._label_propagation"),
)
private_names.put_on_naive_bayes(importlib.import_module("learnt.naive_bayes"))
private_names.put_on_networks(importlib.import_module("learnt.neural_network"))
private_names.put_on_mixture(importlib.import_module("learnt.mixture"))
private_names.put_on_machines(importlib.import_module("learnt.svm"))
private_names.put_on_polynomials(importlib.import_module("learnt.preprocessing"))
private_names.put_on_descent(importlib.import_module("learnt.linear_model"))
private_names.put_on_inspection(
    importlib.import_module("sklearn.inspection._partial_dependence"), importlib.import_module("learnt.tree")
)
private_names.put_on_dummies(importlib.import_module("learnt.dummy"))
