"""`BayesianGaussianMixture` against scikit-learn's: the same steps, numbers and lower bounds."""

import warnings

import numpy as np
import pytest
from sklearn import mixture as peers

from learnt.mixture import BayesianGaussianMixture

RNG = np.random.default_rng(0)
Z = RNG.integers(0, 3, 500)
X = RNG.normal(size=(500, 2)) * np.array([[0.5, 1], [1, 0.4], [0.7, 0.7]])[Z] + np.array([[0, 0], [4, 3], [-4, 4]])[Z]
PRIORS = ["dirichlet_process", "dirichlet_distribution"]


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("prior", PRIORS)
def test_steps_are_scikit_learns(kind, prior):
    """Groups so far apart that both start from the same clusters; then every step is the same but for their order."""
    settings = {"n_components": 3, "covariance_type": kind, "weight_concentration_prior_type": prior, "max_iter": 4}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(20):  # until the clusters come in the same order, on which a Dirichlet process depends
            theirs = peers.BayesianGaussianMixture(random_state=0, **settings).fit(X)
            ours = BayesianGaussianMixture(random_state=seed, **settings).fit(X)
            if np.allclose(ours.means_, theirs.means_, atol=0.1):
                break
    np.testing.assert_allclose(ours.lower_bounds_, np.ravel(theirs.lower_bounds_), rtol=1e-8)
    for name in ("weights_", "means_", "mean_precision_", "degrees_of_freedom_", "covariances_", "mean_prior_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.weight_concentration_, theirs.weight_concentration_, rtol=1e-8)
    np.testing.assert_allclose(ours.covariance_prior_, theirs.covariance_prior_, rtol=1e-10)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-8)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize("prior", PRIORS)
def test_the_lower_bound_rises_and_components_die_out(prior):
    model = BayesianGaussianMixture(
        n_components=8,
        weight_concentration_prior_type=prior,
        weight_concentration_prior=1e-3,
        tol=1e-3,
        max_iter=2000,
        random_state=0,
    ).fit(X)
    assert model.converged_
    assert (np.diff(model.lower_bounds_) > -1e-8 * abs(model.lower_bound_)).all()
    assert (model.weights_ > 0.02).sum() == 3
    rows, component = model.sample(1000, random_state=0)
    assert rows.shape == (1000, 2)
    assert set(component) <= set(range(8))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"degrees_of_freedom_prior": 0.5}, "should be greater than 1, but got 0.500"),
        ({"mean_prior": [1.0]}, "shape of \\(2,\\)"),
        ({"covariance_prior": [[1.0, 3.0], [3.0, 1.0]]}, "positive-definite"),
        ({"weight_concentration_prior": 0}, "greater than 0"),
    ],
)
def test_refuses(settings, told):
    with pytest.raises(ValueError, match=told):
        BayesianGaussianMixture(**settings).fit(X)
