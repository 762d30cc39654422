"""Kernels that are none, in every estimator that takes one: each gets one sentence."""

import warnings

import numpy as np
import pytest

from learnt.decomposition import KernelPCA
from learnt.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from learnt.kernel_approximation import Nystroem
from learnt.kernel_ridge import KernelRidge
from learnt.kernels import FromFunction
from learnt.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
LABEL = (X[:, 0] + 0.3 * RNG.normal(size=60) > 0).astype(int)
MACHINES = [SVC, NuSVC, SVR, NuSVR, OneClassSVM]
SAYS = r"is not positive semidefinite: on \d+ of the rows the smallest eigenvalue is -\d"


def of_rows(value):
    return lambda x, z: value(float(np.dot(x, z)))


def of_tables(value):
    return lambda A, B: value(A @ B.T)


@pytest.mark.filterwarnings("ignore:NuSVC with nu=0.5 leaves a margin")
@pytest.mark.parametrize("machine", MACHINES)
def test_machines_warn_of_an_indefinite_kernel(machine):
    for given in ({"kernel": of_tables(np.negative)}, {"kernel": "sigmoid", "gamma": 1.0, "coef0": -2.0}):
        with pytest.warns(UserWarning, match=f"kernel of {machine.__name__} {SAYS}"):
            machine(**given).fit(X, LABEL)
    with pytest.warns(UserWarning, match=SAYS):
        machine(kernel="precomputed").fit(-X @ X.T, LABEL)
    with pytest.raises(ValueError, match=r"not symmetric: .* for rows \d+ and \d+, .* the same both ways"):
        machine(kernel="precomputed").fit(X @ X.T + np.triu(np.ones((60, 60))), LABEL)


@pytest.mark.parametrize("machine", MACHINES)
def test_rounding_is_no_reason_to_warn(machine):
    """A matrix of single precision has negative eigenvalues of its rounding."""
    K = (X @ X.T).astype(np.float32)
    assert np.linalg.eigvalsh(K.astype(float))[0] < 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        machine(kernel="precomputed").fit(K, LABEL)
        machine(kernel=of_tables(np.positive)).fit(X, LABEL)


@pytest.mark.parametrize("maker", [lambda k: Nystroem(k, n_components=20), lambda k: KernelPCA(2, kernel=k)])
def test_features_warn_of_an_indefinite_kernel(maker):
    with pytest.warns(UserWarning, match=SAYS):
        maker(of_rows(lambda v: -v)).fit(X)
    with pytest.warns(UserWarning, match=SAYS):
        maker("precomputed").fit(-X @ X.T)
    with pytest.raises(ValueError, match="gave NaN or infinity; look for them in the rows, or in the kernel function"):
        maker(of_rows(lambda v: np.nan)).fit(X)


def test_components_of_distances_need_no_kernel():
    """−½‖x − z‖² is no kernel, but once centred it is the linear one."""
    D = -0.5 * ((X[:, None] - X) ** 2).sum(axis=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = KernelPCA(3, kernel="precomputed").fit(D).eigenvalues_
    np.testing.assert_allclose(found, np.linalg.eigvalsh(np.cov(X.T, bias=True) * 60)[::-1], rtol=1e-9)


@pytest.mark.filterwarnings("ignore:The kernel of GaussianProcessClassifier")
@pytest.mark.parametrize("process", [GaussianProcessRegressor, GaussianProcessClassifier])
def test_processes_raise_with_the_eigenvalue(process):
    with pytest.raises(np.linalg.LinAlgError, match=r"not returning a positive definite .* eigenvalue is -\d"):
        process(FromFunction(of_rows(lambda v: -50.0 * v)), optimizer=None).fit(X, LABEL)
    with pytest.raises(ValueError, match="NaN or infinity; look for them in the rows, or in the kernel function"):
        process(FromFunction(of_rows(lambda v: np.nan)), optimizer=None).fit(X, LABEL)


def test_a_classifier_warns_even_where_newton_converges():
    with pytest.warns(UserWarning, match=SAYS):
        GaussianProcessClassifier(FromFunction(of_rows(lambda v: -0.01 * v)), optimizer=None).fit(X, LABEL)


def test_kernel_ridge_solves_by_least_squares_with_a_warning():
    with pytest.warns(UserWarning, match=r"not positive definite \(the smallest eigenvalue is -\d"):
        KernelRidge(0.1, kernel=of_rows(lambda v: -v)).fit(X, X[:, 0])


@pytest.mark.parametrize("machine", [SVR, SVC])
def test_an_infinite_C_that_cannot_be(machine):
    wild = RNG.permutation(LABEL) if machine is SVC else RNG.normal(size=60)
    with pytest.raises(ValueError, match=rf"{machine.__name__} with C=inf asks for .*: give a finite C, or a kernel"):
        machine(kernel="linear", C=np.inf).fit(X, wild)


def test_a_function_in_reach_of_an_infinite_C():
    model = SVR(kernel="linear", C=np.inf, epsilon=0.1).fit(X, X @ [1.0, -2.0, 0.5])
    assert np.abs(model.predict(X) - X @ [1.0, -2.0, 0.5]).max() <= 0.1 + 1e-3


@pytest.mark.filterwarnings("ignore:NuSVC with nu=0.5 leaves a margin")  # equal rows of two classes have none
@pytest.mark.parametrize("machine", MACHINES)
def test_columns_without_variation(machine):
    """A constant column changes no distance: the decision is that without it."""
    settings = {"gamma": 0.3, "tol": 1e-8}
    wide = machine(**settings).fit(np.hstack([X, np.full((60, 1), 7.0)]), LABEL)
    plain = machine(**settings).fit(X, LABEL)
    ask = "predict" if machine in (SVR, NuSVR) else "decision_function"
    found = getattr(wide, ask)(np.hstack([X, np.full((60, 1), 7.0)]))
    np.testing.assert_allclose(found, getattr(plain, ask)(X), atol=1e-6)
    assert np.isfinite(getattr(machine().fit(np.ones((60, 3)), LABEL), ask)(np.ones((60, 3)))).all()
