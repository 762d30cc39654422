"""scikit-learn's private names in terms of ours, so that its tests look at what they are about.

Tests of public behaviour often look through a private attribute: the depth of a boosted tree, the groups of columns
that may meet, the rule that stops a fit. The plugin `swap` puts these views on our classes; the package has none.
"""

from functools import partial
from itertools import combinations, combinations_with_replacement
from types import SimpleNamespace

import numpy as np
from scipy.special import expit

from learnt import cluster as ours
from learnt.accel._recursion import partial_dependence
from learnt.cluster._starts import Starts
from learnt.distances import tree_takes
from learnt.engine.rows import as_rows
from learnt.ensemble.forest._base import BaseForest
from learnt.ensemble.gradient_boosting._base import GradientBoosting
from learnt.ensemble.hist_boosting import _columns, _fit
from learnt.ensemble.hist_boosting._base import HistogramBoosting
from learnt.mixture._em import SCATTER
from learnt.mixture._gaussian import Parameters
from learnt.mixture._starts import first_moments
from learnt.neighbors import NeighborhoodComponentsAnalysis, _base, _outliers, _radius
from learnt.neighbors.metric._kernels import stochastic_neighbors
from learnt.neighbors.metric._pairs import PairsObjective
from learnt.neural_network.training import LogisticOutput, SoftmaxOutput
from learnt.preprocessing._feature_maps import count_terms
from learnt.semi_supervised._affinity import all_weights, search_of, weights_of_unlabelled
from learnt.statistics import moments


class _Predictor:
    """One boosted tree, nodes as records."""

    def __init__(self, trees, first, end, tables):
        inner = trees.feature[first:end] != -1
        self._tables, self._trees, self._first, self._end = tables, trees, first, end
        self.nodes = np.zeros(end - first, dtype=[("value", float), ("is_leaf", bool), ("depth", int)])
        self.nodes["is_leaf"] = ~inner
        self.nodes["value"] = np.where(inner, 0.0, trees.threshold[first:end])
        for node in np.flatnonzero(inner):
            for child in self._children(node + first):
                self.nodes["depth"][child - first] = self.nodes["depth"][node] + 1

    def _children(self, node):
        trees = self._trees
        if trees.feature[node] >= 0:
            return trees.left[node], trees.left[node] + 1
        at = trees.left[node]
        return np.unique(trees.table[at + 1 : at + 1 + trees.table[at]])

    def get_n_leaf_nodes(self):
        return int(self.nodes["is_leaf"].sum())

    def get_max_depth(self):
        return int(self.nodes["depth"].max())

    @property
    def raw_left_cat_bitsets(self):
        found = []
        for node in range(self._first, self._end):
            if self._trees.feature[node] < -1:
                column, at = -2 - self._trees.feature[node], self._trees.left[node]
                children = self._trees.table[at + 3 : at + 1 + self._trees.table[at]][self._tables[column]]
                words = np.zeros(8, dtype=np.uint32)
                for code in np.flatnonzero(children == children[0]):
                    words[code // 32] |= np.uint32(1 << (code % 32))
                found.append(words)
        return np.array(found)


def _predictors(self):
    trees, each = self._trees, self.n_trees_per_iteration_
    ends = np.append(trees.roots[1:], len(trees.left))
    found = [_Predictor(trees, int(a), int(b), self._tables) for a, b in zip(trees.roots, ends, strict=True)]
    return [found[k : k + each] for k in range(0, len(found), each)]


def _groups(self, n_features):
    found = _columns.interaction_groups(self.interaction_cst, n_features)
    return None if found is None else [set(np.flatnonzero(row)) for row in found]


def _should_stop(self, scores):
    return _fit.should_stop(list(scores), self.n_iter_no_change, self.tol)


def _preprocessor(self):
    return SimpleNamespace(
        named_transformers_={"encoder": SimpleNamespace(categories_=list(self._categories.values()))}
    )


def put_on_naive_bayes(naive_bayes):
    """The smoothing that the models of counts use."""
    for name in ("BernoulliNB", "MultinomialNB"):
        cls = getattr(naive_bayes, name)
        cls._check_alpha = cls._smoothing


def put_on_decomposition(decomposition):
    """The number of components that was found, public here."""
    for cls in (decomposition.NMF, decomposition.MiniBatchNMF):
        cls._n_components = property(lambda self: self.n_components_)


def put_on_cross_decomposition(cross_decomposition):
    """The scores of the rows, public here."""
    for name in ("CCA", "PLSCanonical", "PLSRegression"):
        cls = getattr(cross_decomposition, name)
        cls._x_scores, cls._y_scores = property(lambda self: self.x_scores_), property(lambda self: self.y_scores_)


def _rows_of_weights(self):
    search = search_of(self.X_, self.n_neighbors, None) if self.kernel == "knn" else None
    nobody = np.zeros(self.X_.shape[0], dtype=bool)
    W = weights_of_unlabelled(self, self.X_, search, nobody, np.zeros((0, 1)))[0]
    return W / W.sum(axis=1)[:, None]


def _normalised_weights(self):
    search = search_of(self.X_, self.n_neighbors, None) if self.kernel == "knn" else None
    W = all_weights(self, self.X_, search)
    roots = np.sqrt(W.sum(axis=0))
    return W / roots / roots[:, None]


def put_on_semi_supervised(semi_supervised, theirs):
    """The graph as a matrix, of which ours only keep what they need."""
    semi_supervised.LabelPropagation._build_graph = _rows_of_weights
    semi_supervised.LabelSpreading._build_graph = _normalised_weights
    theirs.LabelPropagation, theirs.LabelSpreading = semi_supervised.LabelPropagation, semi_supervised.LabelSpreading


def _num_combinations(n_features, min_degree, max_degree, interaction_only, include_bias):
    degrees = range(max(1, min_degree), max_degree + 1)
    return int(include_bias) + sum(count_terms(n_features, degree, interaction_only) for degree in degrees)


def _combinations(n_features, min_degree, max_degree, interaction_only, include_bias):
    products = combinations if interaction_only else combinations_with_replacement
    degrees = range(max(1, min_degree), max_degree + 1)
    found = [product for degree in degrees for product in products(range(n_features), degree)]
    return [(), *found] if include_bias else found


def put_on_polynomials(preprocessing):
    """How many products of columns there are."""
    preprocessing.PolynomialFeatures._num_combinations = staticmethod(_num_combinations)
    preprocessing.PolynomialFeatures._combinations = staticmethod(_combinations)


def put_on_descent(linear_model):
    """The losses by name; the tests read the second entry, epsilon."""
    for cls in (linear_model.SGDClassifier, linear_model.SGDRegressor):
        cls.loss_functions = {name: (name, 0.1) for name in cls._losses}


# --- mixtures: one step at a time


def _moments(model, X, by=None):
    scatter = SCATTER[model.covariance_type] if by is not None else None
    whole = "full" if model.covariance_type in ("full", "tied") else "diagonal"
    return moments(as_rows(X), by, scatter=scatter or whole)


def _check_parameters(self, X):
    self._prepare(_moments(self, X))


def _initialize_parameters(self, X, random_state):
    scatter = SCATTER[self.covariance_type]
    found = first_moments(X, None, as_rows(X), self.n_components, self.init_params, scatter, random_state)
    self._record(self._start(found))


def _initialize(self, X, resp):
    self.n_components = resp.shape[1]
    self._prepare(_moments(self, X))
    self._record(self._start(_moments(self, X, resp)))


def _set_parameters(self, params):
    self._record(Parameters(*params))


def put_on(ensemble):
    """Give our classes the private names that scikit-learn's tests read."""
    for name in ("HistGradientBoostingClassifier", "HistGradientBoostingRegressor"):
        cls = getattr(ensemble, name)
        cls._predictors = property(_predictors)
        cls._preprocessor = property(_preprocessor)
        cls._check_interaction_cst = _groups
        cls._should_stop = _should_stop
        cls._raw_predict = cls._scores


def put_on_mixture(mixture):
    """Steps of a fit, one at a time."""
    for cls in (mixture.GaussianMixture, mixture.BayesianGaussianMixture):
        cls._check_parameters = _check_parameters
        cls._initialize_parameters = _initialize_parameters
    mixture.GaussianMixture._initialize = _initialize
    mixture.GaussianMixture._set_parameters = _set_parameters


def _fit_method(self):
    tree = self.algorithm == "kd_tree" and tree_takes(
        self._fit_X, self.effective_metric_, self.effective_metric_params_
    )
    return "kd_tree" if tree else "brute"


def put_on_neighbors(theirs):
    """The base classes that scikit-learn's tests ask for, and the name of the algorithm that was taken."""
    theirs.KNeighborsMixin, theirs.RadiusNeighborsMixin = _base.KNeighborsMixin, _radius.RadiusNeighborsMixin
    _base.NeighborsBase._fit_method = property(_fit_method)
    _outliers.LocalOutlierFactor._predict = lambda self: np.where(self.negative_outlier_factor_ < self.offset_, -1, 1)
    NeighborhoodComponentsAnalysis._loss_grad_lbfgs = _share_of_own_class


def _share_of_own_class(self, packed, X, same_class, sign=1.0):
    codes = np.unique(same_class.argmax(axis=1), return_inverse=True)[1]
    value, slope = PairsObjective(X, codes, stochastic_neighbors).smooth(packed.reshape(-1, X.shape[1]))
    return -sign * value, -sign * slope.ravel()


def _init_centroids(self, X, x_squared_norms, init, random_state, sample_weight, n_centroids=None, init_size=None):
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
    return Starts(X, as_rows(X, None, weights), weights, X.mean(axis=0), self.n_clusters, init).draw(random_state)


def _n_init(self):
    return self._check_against(SimpleNamespace(n_rows=10**9, n_features=self.n_features_in_))


def _fit_best_piecewise(self, vectors, n_best, n_clusters):
    return self.set_params(n_best=n_best)._best(vectors.T.astype(float), n_clusters, self.random_state).T


def put_on_clusters(cluster):
    """The same for k-means."""
    for cls in (cluster.KMeans, cluster.MiniBatchKMeans):
        cls._n_init = property(_n_init)
        cls._init_centroids = _init_centroids
    cluster.SpectralBiclustering._fit_best_piecewise = _fit_best_piecewise
    cluster.SpectralBiclustering._project_and_cluster = lambda self, data, vectors, n_clusters: (
        self._means(np.asarray(data @ vectors, dtype=float), n_clusters, self.random_state).labels_
    )
    cluster.MiniBatchKMeans._init_size = property(lambda self: self._start_rows(len(self.labels_)))


def put_on_birch(cls):
    """The leaves as a list."""

    def leaves(self):
        found = [self.dummy_leaf_]
        while found[-1].next_leaf_ is not None:
            found.append(found[-1].next_leaf_)
        return found[1:]

    cls._get_leaves = leaves


def put_on_trees(theirs):
    """The functions that scikit-learn's tests take from its module, and their table."""
    linkage_tree, ward_tree = theirs.linkage_tree, theirs.ward_tree = ours.linkage_tree, ours.ward_tree
    builders = {name: partial(linkage_tree, linkage=name) for name in ("complete", "average", "single")}
    theirs._TREE_BUILDERS = {"ward": ward_tree, **builders}


def _loss_grad_lbfgs(self, packed, X, Y, sample_weight, *memory):
    import torch

    output = SoftmaxOutput() if self.out_activation_ == "softmax" else LogisticOutput()
    network = self._network(output, torch.device("cpu"), None)
    network.parameters.values.copy_(torch.from_numpy(packed))
    target = Y.argmax(axis=1) if self.out_activation_ == "softmax" else Y.astype(float)
    loss = network.loss_and_gradients(torch.from_numpy(X), torch.from_numpy(target))
    return float(loss), network.parameters.gradients.numpy()


def _mean_hiddens(self, v):
    return expit(v @ self.components_.T + self.intercept_hidden_)


def _sample_hiddens(self, v, rng):
    means = _mean_hiddens(self, v)
    return rng.uniform(size=means.shape) < means


def put_on_networks(neural_network):
    """How the last training ended, and the loss at other weights; hidden units of a Boltzmann machine."""
    neural_network.BernoulliRBM._mean_hiddens = _mean_hiddens
    neural_network.BernoulliRBM._sample_hiddens = _sample_hiddens
    neural_network.MLPClassifier._loss_grad_lbfgs = _loss_grad_lbfgs
    for cls in (neural_network.MLPClassifier, neural_network.MLPRegressor):
        cls._optimizer = property(lambda self: SimpleNamespace(learning_rate=self._resume["rate"]))
        cls._no_improvement_count = property(lambda self: self._resume["no_improvement"], lambda self, value: None)


def _give_dual_coef(self, value):
    self.dual_coef_ = -value if len(self.classes_) == 2 else value


def put_on_machines(svm):
    """The coefficients that predictions of scikit-learn's machines read: of two classes, the first is positive."""
    for cls in (svm.SVC, svm.NuSVC):
        cls._dual_coef_ = property(lambda self: -self.dual_coef_, _give_dual_coef)


def put_on_dummies(dummy):
    """What a module of tests reads while it is imported."""
    dummy.DummyClassifier._parameter_constraints = {}


def put_on_inspection(theirs, tree):
    """The base classes whose partial dependence goes down the trees, and how, as under `learnt.accel`."""
    theirs.BaseGradientBoosting, theirs.BaseHistGradientBoosting = GradientBoosting, HistogramBoosting
    for cls in (GradientBoosting, HistogramBoosting, BaseForest, tree.DecisionTreeRegressor):
        cls._compute_partial_dependence_recursion = partial_dependence
