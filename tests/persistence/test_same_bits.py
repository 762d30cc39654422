"""A model that was saved and loaded, pickled or copied answers to the last bit as it did, however its rows lay.

The last bit of a product hangs on who multiplies: BLAS, or NumPy's own loops where an array has another order of bytes,
odd addresses or strides that BLAS cannot read. A model that kept such an array would be another one after a round
trip, which makes arrays anew.
"""

import copy
import importlib.util
import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier

from learnt.cluster import SpectralClustering
from learnt.decomposition import KernelPCA
from learnt.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from learnt.gaussian_process.kernels import RBF, DotProduct, Matern, RationalQuadratic, WhiteKernel
from learnt.kernel_approximation import Nystroem
from learnt.kernel_ridge import KernelRidge
from learnt.kernels import KERNEL_NAMES
from learnt.manifold import SpectralEmbedding
from learnt.persistence._files import load_bytes, to_bytes
from learnt.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

spec = importlib.util.spec_from_file_location("checks", Path(__file__).parents[1] / "test_estimators.py")
checks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(checks)

METHODS = (
    "predict", "transform", "decision_function", "predict_proba", "score_samples", "kneighbors", "mahalanobis", "apply",
)  # fmt: skip
WAYS = {
    "save": lambda model: load_bytes(to_bytes(model)),
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "deepcopy": copy.deepcopy,
}


def at_odd_addresses(table):
    """As a field of packed records has them."""
    return np.ndarray(table.shape, table.dtype, bytearray(b"-" + table.tobytes()), offset=1)


def with_odd_strides(table):
    out = np.zeros((2 * table.shape[0], 2 * table.shape[1]), table.dtype)[::-2, ::2]
    out[...] = table
    return out


LAYOUTS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "odd strides": with_odd_strides,
    "odd addresses": at_odd_addresses,
}
DTYPES = (np.float64, np.float32)
ALL = [(dtype, layout) for dtype in DTYPES for layout in LAYOUTS]


def answers(model, X):
    """Everything the model says about X, and what it found out about the rows it was fitted to."""
    said = {name: np.asarray(value) for name, value in checks.state(model).items()}
    for method in (method for method in METHODS if hasattr(model, method)):
        found = getattr(model, method)(X)
        for place, part in enumerate(found if isinstance(found, tuple) else (found,)):
            said[method, place] = part.toarray() if sparse.issparse(part) else np.asarray(part)
    return said


def queries(X):
    """Many rows in every layout, and few, for which products go other ways."""
    yield from ((f"{n} rows", X[:n].copy()) for n in (1, 2, 5))
    yield from ((layout, lay(X[::3])) for layout, lay in LAYOUTS.items())


def assert_the_same_bits(model, X, y, kinds):
    """Of the model fitted to rows of these kinds, after every way, whatever is asked."""
    for dtype, layout in kinds:
        rows = LAYOUTS[layout](X.astype(dtype))
        fitted = clone(model).fit(rows, y)
        copies = {way: copied(fitted) for way, copied in WAYS.items()}
        for asked, table in queries(X.astype(dtype)):
            expected = answers(fitted, table)
            for way, same in copies.items():
                found = answers(same, table)
                assert found.keys() == expected.keys(), way
                for what, value in expected.items():
                    assert found[what].dtype == value.dtype, (what, way)
                    why = f"{what} after {way}, fitted to {np.dtype(dtype)} in {layout}, asked for {asked}"
                    np.testing.assert_array_equal(found[what], value, err_msg=why)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.sweep(24)
@pytest.mark.parametrize("name", checks.ESTIMATORS)
def test_every_estimator(name):
    X, y = checks.problem(name, n=90, d=7)
    if X.dtype.kind != "f":
        pytest.skip("its cells are words")
    assert_the_same_bits(checks.make(name), X, y, [ALL[0], ALL[5], ALL[3]])


ROWS = np.random.default_rng(0).normal(size=(80, 40))
NUMBERS = ROWS @ np.cos(np.arange(40)) + np.sin(ROWS[:, 0])
CLASSES = np.array(["ant", "bee", "cat"])[np.digitize(NUMBERS, [-1, 1])]
GIVEN = [RBF(5.0), Matern(5.0, nu=1.5), RationalQuadratic(5.0), DotProduct() + WhiteKernel(), RBF(5.0) ** 2]
OF_SVM = ("linear", "poly", "rbf", "sigmoid")
WITH_KERNELS = [
    *(KernelRidge(0.1, kernel=kernel) for kernel in (*KERNEL_NAMES, *GIVEN)),
    KernelRidge(0.1, kernel="poly", degree=2.5),
    *(kind(kernel=kernel) for kind in (SVC, NuSVC, SVR, NuSVR, OneClassSVM) for kernel in OF_SVM),
    *(SVC(kernel=kernel, probability=True, random_state=0) for kernel in ("poly", "rbf")),
    *(GaussianProcessRegressor(kernel, optimizer=None, alpha=1e-3) for kernel in GIVEN),
    *(GaussianProcessClassifier(kernel, optimizer=None) for kernel in GIVEN),
    *(KernelPCA(3, kernel=kernel) for kernel in ("linear", "poly", "rbf", "sigmoid", "cosine")),
    *(Nystroem(kernel, n_components=20, random_state=0) for kernel in KERNEL_NAMES),
    *(SpectralClustering(3, affinity=name, random_state=0) for name in ("rbf", "nearest_neighbors", "laplacian")),
    *(SpectralEmbedding(2, affinity=name, random_state=0) for name in ("rbf", "nearest_neighbors")),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.sweep(24)
@pytest.mark.parametrize("model", WITH_KERNELS, ids=repr)
def test_every_kernel(model):
    X = np.abs(ROWS) if "chi2" in repr(model) else ROWS
    y = CLASSES if is_classifier(model) else NUMBERS
    assert_the_same_bits(model, X, y, ALL)


def test_the_layouts_are_odd():
    table = ROWS[:5, :3]
    assert not at_odd_addresses(table).flags.aligned
    assert not with_odd_strides(table).flags.forc
    for lay in LAYOUTS.values():
        np.testing.assert_array_equal(lay(table), table)
