"""Linear models.

    LinearRegression    least squares
    Ridge, RidgeCV      least squares with a squared penalty; the penalty chosen by leave-one-out; ridge_regression
    Lasso, ElasticNet   sparse least squares; LassoCV, ElasticNetCV; MultiTask… for targets that share columns
    lasso_path, enet_path   their coefficients at every penalty
    Lars, LassoLars, LarsCV, LassoLarsCV, LassoLarsIC
                        least angle regression; the lasso by its path from bend to bend; lars_path, lars_path_gram
    LogisticRegression  class probabilities from a linear score; LogisticRegressionCV chooses its penalty
    RidgeClassifier, RidgeClassifierCV
                        ridge regression of labels
    IterativelyReweightedLeastSquares
                        least squares with an unknown noise variance for every row
    BayesianLinearRegression, BayesianRidge, ARDRegression
                        posterior and evidence, with a prior given or estimated
    HuberRegressor, QuantileRegressor, TheilSenRegressor, RANSACRegressor
                        robust to outliers; quantiles instead of means
    PoissonRegressor, GammaRegressor, TweedieRegressor
                        counts and amounts whose variance grows with the mean
    OrthogonalMatchingPursuit(CV), MatchingPursuit, ForwardStagewiseRegression
                        few columns, chosen greedily one after the other
    NonlinearLeastSquares
                        any model y = f(x; b), by damped linear steps
    TotalLeastSquares   least squares with errors in X too
    SGDClassifier, SGDRegressor, Perceptron, SGDOneClassSVM, PassiveAggressiveClassifier, PassiveAggressiveRegressor
                        one row at a time, with `partial_fit`; the perceptron counts its mistakes

Folders: `least_squares` (and ridge), `coordinate` (lasso, elastic net), `logistic`, `glm`, `robust`, `sgd`, `pursuit`,
`lars`, `nonlinear`, `bayesian`. The mathematics is in pure functions beside the classes; `_base` is what the
estimators share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from learnt.engine.late_import import names_when_used

if TYPE_CHECKING:
    from learnt.linear_model.bayesian._linear import BayesianLinearRegression as BayesianLinearRegression
    from learnt.linear_model.bayesian._ridge import ARDRegression as ARDRegression
    from learnt.linear_model.bayesian._ridge import BayesianRidge as BayesianRidge
    from learnt.linear_model.coordinate._elastic_net import ElasticNet as ElasticNet
    from learnt.linear_model.coordinate._elastic_net import Lasso as Lasso
    from learnt.linear_model.coordinate._elastic_net_cv import ElasticNetCV as ElasticNetCV
    from learnt.linear_model.coordinate._elastic_net_cv import LassoCV as LassoCV
    from learnt.linear_model.coordinate._lasso_path import enet_path as enet_path
    from learnt.linear_model.coordinate._lasso_path import lasso_path as lasso_path
    from learnt.linear_model.coordinate._multi_task import MultiTaskElasticNet as MultiTaskElasticNet
    from learnt.linear_model.coordinate._multi_task import MultiTaskLasso as MultiTaskLasso
    from learnt.linear_model.coordinate._multi_task_cv import MultiTaskElasticNetCV as MultiTaskElasticNetCV
    from learnt.linear_model.coordinate._multi_task_cv import MultiTaskLassoCV as MultiTaskLassoCV
    from learnt.linear_model.glm._regressors import GammaRegressor as GammaRegressor
    from learnt.linear_model.glm._regressors import PoissonRegressor as PoissonRegressor
    from learnt.linear_model.glm._regressors import TweedieRegressor as TweedieRegressor
    from learnt.linear_model.lars._functions import lars_path as lars_path
    from learnt.linear_model.lars._functions import lars_path_gram as lars_path_gram
    from learnt.linear_model.lars._lars import Lars as Lars
    from learnt.linear_model.lars._lars import LassoLars as LassoLars
    from learnt.linear_model.lars._lars_cv import LarsCV as LarsCV
    from learnt.linear_model.lars._lars_cv import LassoLarsCV as LassoLarsCV
    from learnt.linear_model.lars._lars_ic import LassoLarsIC as LassoLarsIC
    from learnt.linear_model.least_squares._irls import (
        IterativelyReweightedLeastSquares as IterativelyReweightedLeastSquares,
    )
    from learnt.linear_model.least_squares._ordinary import LinearRegression as LinearRegression
    from learnt.linear_model.least_squares._ridge import Ridge as Ridge
    from learnt.linear_model.least_squares._ridge_classifier import RidgeClassifier as RidgeClassifier
    from learnt.linear_model.least_squares._ridge_classifier import RidgeClassifierCV as RidgeClassifierCV
    from learnt.linear_model.least_squares._ridge_cv import RidgeCV as RidgeCV
    from learnt.linear_model.least_squares._ridge_function import ridge_regression as ridge_regression
    from learnt.linear_model.least_squares._total_least_squares import TotalLeastSquares as TotalLeastSquares
    from learnt.linear_model.logistic._regression import LogisticRegression as LogisticRegression
    from learnt.linear_model.logistic._regression_cv import LogisticRegressionCV as LogisticRegressionCV
    from learnt.linear_model.nonlinear._estimator import NonlinearLeastSquares as NonlinearLeastSquares
    from learnt.linear_model.pursuit._matching import MatchingPursuit as MatchingPursuit
    from learnt.linear_model.pursuit._orthogonal import OrthogonalMatchingPursuit as OrthogonalMatchingPursuit
    from learnt.linear_model.pursuit._orthogonal_cv import OrthogonalMatchingPursuitCV as OrthogonalMatchingPursuitCV
    from learnt.linear_model.pursuit._solve import orthogonal_mp as orthogonal_mp
    from learnt.linear_model.pursuit._solve import orthogonal_mp_gram as orthogonal_mp_gram
    from learnt.linear_model.pursuit._stagewise import ForwardStagewiseRegression as ForwardStagewiseRegression
    from learnt.linear_model.robust._huber import HuberRegressor as HuberRegressor
    from learnt.linear_model.robust._quantile import QuantileRegressor as QuantileRegressor
    from learnt.linear_model.robust._ransac import RANSACRegressor as RANSACRegressor
    from learnt.linear_model.robust._theil_sen import TheilSenRegressor as TheilSenRegressor
    from learnt.linear_model.sgd._classifier import SGDClassifier as SGDClassifier
    from learnt.linear_model.sgd._one_class import SGDOneClassSVM as SGDOneClassSVM
    from learnt.linear_model.sgd._passive_aggressive import PassiveAggressiveClassifier as PassiveAggressiveClassifier
    from learnt.linear_model.sgd._passive_aggressive import PassiveAggressiveRegressor as PassiveAggressiveRegressor
    from learnt.linear_model.sgd._perceptron import Perceptron as Perceptron
    from learnt.linear_model.sgd._regressor import SGDRegressor as SGDRegressor

__all__ = [
    "ARDRegression",
    "BayesianLinearRegression",
    "BayesianRidge",
    "ElasticNet",
    "ElasticNetCV",
    "ForwardStagewiseRegression",
    "GammaRegressor",
    "HuberRegressor",
    "IterativelyReweightedLeastSquares",
    "Lars",
    "LarsCV",
    "Lasso",
    "LassoCV",
    "LassoLars",
    "LassoLarsCV",
    "LassoLarsIC",
    "LinearRegression",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MatchingPursuit",
    "MultiTaskElasticNet",
    "MultiTaskElasticNetCV",
    "MultiTaskLasso",
    "MultiTaskLassoCV",
    "NonlinearLeastSquares",
    "OrthogonalMatchingPursuit",
    "OrthogonalMatchingPursuitCV",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "Perceptron",
    "PoissonRegressor",
    "QuantileRegressor",
    "RANSACRegressor",
    "Ridge",
    "RidgeCV",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "SGDClassifier",
    "SGDOneClassSVM",
    "SGDRegressor",
    "TheilSenRegressor",
    "TotalLeastSquares",
    "TweedieRegressor",
    "enet_path",
    "lars_path",
    "lars_path_gram",
    "lasso_path",
    "orthogonal_mp",
    "orthogonal_mp_gram",
    "ridge_regression",
]

# Imported when first named: least squares should not have to wait for everything else.
_FILES = {
    "ARDRegression": "bayesian._ridge",
    "BayesianLinearRegression": "bayesian._linear",
    "BayesianRidge": "bayesian._ridge",
    "ElasticNet": "coordinate._elastic_net",
    "ElasticNetCV": "coordinate._elastic_net_cv",
    "ForwardStagewiseRegression": "pursuit._stagewise",
    "GammaRegressor": "glm._regressors",
    "HuberRegressor": "robust._huber",
    "IterativelyReweightedLeastSquares": "least_squares._irls",
    "Lars": "lars._lars",
    "LarsCV": "lars._lars_cv",
    "Lasso": "coordinate._elastic_net",
    "LassoCV": "coordinate._elastic_net_cv",
    "LassoLars": "lars._lars",
    "LassoLarsCV": "lars._lars_cv",
    "LassoLarsIC": "lars._lars_ic",
    "LinearRegression": "least_squares._ordinary",
    "LogisticRegression": "logistic._regression",
    "LogisticRegressionCV": "logistic._regression_cv",
    "MatchingPursuit": "pursuit._matching",
    "MultiTaskElasticNet": "coordinate._multi_task",
    "MultiTaskElasticNetCV": "coordinate._multi_task_cv",
    "MultiTaskLasso": "coordinate._multi_task",
    "MultiTaskLassoCV": "coordinate._multi_task_cv",
    "NonlinearLeastSquares": "nonlinear._estimator",
    "OrthogonalMatchingPursuit": "pursuit._orthogonal",
    "OrthogonalMatchingPursuitCV": "pursuit._orthogonal_cv",
    "PassiveAggressiveClassifier": "sgd._passive_aggressive",
    "PassiveAggressiveRegressor": "sgd._passive_aggressive",
    "Perceptron": "sgd._perceptron",
    "PoissonRegressor": "glm._regressors",
    "QuantileRegressor": "robust._quantile",
    "RANSACRegressor": "robust._ransac",
    "Ridge": "least_squares._ridge",
    "RidgeCV": "least_squares._ridge_cv",
    "RidgeClassifier": "least_squares._ridge_classifier",
    "RidgeClassifierCV": "least_squares._ridge_classifier",
    "SGDClassifier": "sgd._classifier",
    "SGDOneClassSVM": "sgd._one_class",
    "SGDRegressor": "sgd._regressor",
    "TheilSenRegressor": "robust._theil_sen",
    "TotalLeastSquares": "least_squares._total_least_squares",
    "TweedieRegressor": "glm._regressors",
    "enet_path": "coordinate._lasso_path",
    "lars_path": "lars._functions",
    "lars_path_gram": "lars._functions",
    "lasso_path": "coordinate._lasso_path",
    "orthogonal_mp": "pursuit._solve",
    "orthogonal_mp_gram": "pursuit._solve",
    "ridge_regression": "least_squares._ridge_function",
}

__getattr__, __dir__ = names_when_used("learnt.linear_model", _FILES)
