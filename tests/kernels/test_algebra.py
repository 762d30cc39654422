"""The algebra of kernels: laws of every class, formulas, gradients, arrays of every library."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.gaussian_process import kernels as peers
from sklearn.metrics.pairwise import pairwise_kernels

from learnt import kernels
from learnt.gaussian_process import kernels as named
from learnt.kernels import (
    RBF,
    AdditiveChi2,
    AllProducts,
    Chi2,
    Constant,
    Cosine,
    DotProduct,
    ExpSineSquared,
    FromFunction,
    Laplacian,
    Linear,
    Mahalanobis,
    Matern,
    PairwiseKernel,
    Polynomial,
    RationalQuadratic,
    SetIntersection,
    Sigmoid,
    White,
    gram,
    gram_times,
    lower_gram,
    named_kernel,
    pull_back,
)
from learnt.linalg.any_array import cholesky_anywhere

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(7, 3)), RNG.normal(size=(5, 3))
A = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 0.1]])
LEAVES = {
    "rbf": RBF(0.7),
    "rbf each": RBF([0.7, 1.0, 2.0]),
    "half": Matern(0.8, nu=0.5),
    "three halves": Matern([0.8, 1.0, 2.0], nu=1.5),
    "five halves": Matern(0.8, nu=2.5),
    "bessel": Matern(0.8, nu=1.2),
    "bessel below 1": Matern([0.8, 1.0, 2.0], nu=0.7),
    "infinite": Matern(0.8, nu=np.inf),
    "rational": RationalQuadratic(0.7, 1.3),
    "period": ExpSineSquared(0.7, 2.3),
    "laplacian": Laplacian(0.4),
    "linear": Linear(),
    "dot": DotProduct(0.6),
    "poly": Polynomial(2, 0.5, 0.7, coef0_bounds=(0.1, 2.0), gamma_bounds=(0.1, 2.0)),
    "cosine": Cosine(),
    "mahalanobis": Mahalanobis(A),
    "subsets": AllProducts(),
    "constant": Constant(1.7),
    "white": White(0.3),
    "pairwise": PairwiseKernel(0.4, metric="rbf"),
    "pairwise poly": PairwiseKernel(0.4, metric="poly"),
}
MADE = {
    "sum": 3 * RBF(0.7) + Linear() * Polynomial(2),
    "product": RBF(0.7) * DotProduct(0.5) * Matern(1.0),
    "power": (RBF(0.7) + 1.0) ** 3,
    "exp": (0.2 * DotProduct(0.5)).exp(),
    "g": (RBF(0.7) + DotProduct(0.3)).poly([0.5, 0.0, 2.0]),
    "warp": (2.0 * RBF(0.7)).warp(lambda rows: rows[:, 0] + 2.0),
    "fixed": RBF(0.7, "fixed") * Constant(2.0) + White(0.1),
}
KERNELS = {**LEAVES, **MADE}


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_keeps_the_laws(name):
    k = KERNELS[name]
    K = k(X)
    np.testing.assert_array_equal(k(X), K)
    np.testing.assert_allclose(K, K.T, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(k.diag(X), np.diag(K), rtol=1e-12)
    if name == "period":  # a kernel of one feature alone
        assert kernels.is_kernel(k, n_features=3).answer == "no"
        assert kernels.is_kernel(k, n_features=1).answer == "don't know"
    else:
        assert kernels.is_kernel(k).answer == "yes"
        assert np.linalg.eigvalsh(K).min() > -1e-12 * np.abs(K).max() * len(X)
    pairs = np.array([[k(x[None], z[None])[0, 0] for z in Z] for x in X])
    np.testing.assert_allclose(k(X, Z), pairs, rtol=1e-11, atol=1e-12)
    np.testing.assert_array_equal(k(X.astype(">f8"), Z.astype(">f8")), k(X, Z))
    assert k == copy.deepcopy(k) == clone(k)
    assert hash(k) == hash(copy.deepcopy(k))
    assert k.clone_with_theta(k.theta + 0.1) != k or not k.n_dims
    np.testing.assert_allclose(k.clone_with_theta(k.theta + 0.1).theta, k.theta + 0.1, rtol=1e-14)


@pytest.mark.parametrize("name", KERNELS)
def test_gradients_are_those_of_differences(name):
    """Central differences with step h: an error of h² times third derivatives, and of rounding over h."""
    k, h = KERNELS[name], 1e-5
    K, gradient = k(X, eval_gradient=True)
    np.testing.assert_allclose(K, k(X), rtol=1e-14)
    assert gradient.shape == (7, 7, k.n_dims)
    W = RNG.normal(size=(7, 7))
    W = W + W.T
    pulled = pull_back(k, X, W) if k.n_dims else np.zeros(0)
    for j, step in enumerate(np.eye(k.n_dims) * h):
        there, back = k.clone_with_theta(k.theta + step)(X), k.clone_with_theta(k.theta - step)(X)
        expected = (there - back) / (2 * h)
        np.testing.assert_allclose(gradient[:, :, j], expected, atol=1e-8 * max(1.0, np.abs(K).max()))
        np.testing.assert_allclose(pulled[j], (W * gradient[:, :, j]).sum(), rtol=1e-10, atol=1e-10)


def test_the_example_of_the_issue():
    k = 3 * RBF(1.0) + Linear() * Polynomial(2)
    np.testing.assert_allclose(
        k(X, Z),
        3 * np.exp(-0.5 * ((X[:, None] - Z) ** 2).sum(-1)) + (X @ Z.T) * (X @ Z.T + 1) ** 2,
        rtol=1e-12,
        atol=1e-13,
    )
    assert str(k) == "3·exp(−‖x − z‖²/2) + xᵀz·(xᵀz + 1)²"
    assert repr(k) == "3.0 * RBF(1.0) + Linear() * Polynomial(2)"


@pytest.mark.parametrize("name", [name for name in KERNELS if name != "warp"])
def test_code_and_copies_give_the_kernel_again(name):
    k = KERNELS[name]
    assert eval(repr(k), {**vars(kernels), "inf": np.inf}) == k
    assert pickle.loads(pickle.dumps(k)) == k
    assert len(str(k)) > 0


def test_rbf_built_by_the_rules_is_rbf():
    """exp(−‖x‖²/2) exp(xᵀz) exp(−‖z‖²/2)."""
    built = Linear().exp().warp(lambda rows: np.exp(-0.5 * (rows**2).sum(axis=1)))
    np.testing.assert_allclose(built(X, Z), RBF(1.0)(X, Z), rtol=1e-12)


def test_finite_feature_maps():
    u, v = X[:, 0], X[:, 1]
    maps = np.column_stack([u**2, v**2, np.sqrt(2) * u * v, np.sqrt(2) * u, np.sqrt(2) * v, np.ones(7)])
    np.testing.assert_allclose(Polynomial(2)(X[:, :2]), maps @ maps.T, rtol=1e-12)
    subsets = np.column_stack([np.ones(7), u, v, u * v])
    np.testing.assert_allclose(AllProducts()(X[:, :2]), subsets @ subsets.T, rtol=1e-12)
    root = np.linalg.cholesky(A)
    np.testing.assert_allclose(Mahalanobis(A)(X), (X @ root) @ (X @ root).T, rtol=1e-12)
    sets = (X > 0).astype(float)
    np.testing.assert_allclose(SetIntersection()(sets), np.exp(sets @ sets.T), rtol=1e-12)
    assert RBF(gamma=0.5) == RBF(1.0)
    assert RBF(gamma=0.5).with_params(length_scale=2.0) == RBF(2.0)
    assert RBF(gamma=[0.5, 2.0]) == RBF([1.0, 0.5])


def test_sets_of_python_are_rows_of_zeros_and_ones():
    S, T = [{1, 2}, set(), frozenset({"a"})], ({2, "a"}, {1, 2})
    expected = [[np.exp(len(s & t)) for t in T] for s in S]
    np.testing.assert_allclose(SetIntersection()(S, T), expected, rtol=1e-14)
    np.testing.assert_allclose(SetIntersection()(S), [[np.exp(len(s & t)) for t in S] for s in S], rtol=1e-14)


EXPRESSIONS = st.recursive(
    st.sampled_from([LEAVES[name] for name in ("rbf", "half", "linear", "poly", "subsets", "constant", "rational")]),
    lambda k: st.one_of(
        st.tuples(k, k).map(lambda pair: pair[0] + pair[1]),
        st.tuples(k, k).map(lambda pair: pair[0] * pair[1]),
        k.map(lambda one: 0.01 * one),
        k.map(lambda one: one.poly([0.1, 0.5, 0.2])),
        k.map(lambda one: one.warp(lambda rows: np.cos(rows).sum(axis=1))),
        k.map(lambda one: (RBF(1.0) * 0.1 * one * 0.001).exp()),
    ),
    max_leaves=5,
)


@given(EXPRESSIONS)
def test_every_composition_is_positive_semidefinite(k):
    with np.errstate(over="ignore"):
        K = k(0.5 * X)
    if np.isfinite(K).all() and np.abs(K).max() < 1e100:
        values = np.linalg.eigvalsh(K)
        # Entries are rounded by some ε each, more where factors are large themselves.
        assert values[0] >= -1e-10 * values[-1]
    assert k.proven
    assert eval(repr(k.clone_with_theta(k.theta)).replace(".warp(<lambda>)", ""), dict(vars(kernels))) is not None


@pytest.mark.parametrize("metric", ["linear", "poly", "rbf", "laplacian", "sigmoid", "cosine", "chi2", "additive_chi2"])
def test_named_kernels_are_scikit_learns(metric):
    rows, other = np.abs(X), np.abs(Z)
    ours = named_kernel(metric, 0.3, 3, 1.0, 3)(rows, other)
    params = {"gamma": 0.3, "degree": 3, "coef0": 1.0}
    expected = pairwise_kernels(rows, other, metric=metric, filter_params=True, **params)
    np.testing.assert_allclose(ours, expected, rtol=1e-11, atol=1e-13)
    if metric in ("chi2", "additive_chi2", "laplacian"):
        return
    thin = named_kernel(metric, 0.3, 3, 1.0, 3)(sparse.csr_array(rows), sparse.csr_array(other))
    np.testing.assert_allclose(thin, expected, rtol=1e-11, atol=1e-13)


SAME = [
    "RBF(0.7)",
    "RBF([0.7, 1.0, 2.0])",
    "Matern(0.8, nu=1.5)",
    "Matern([0.8, 1.0, 2.0], nu=0.5)",
    "RationalQuadratic(0.7, 1.3)",
    "ExpSineSquared(0.7, 2.3)",
    "DotProduct(0.6) ** 2",
    "2.0 * RBF(0.7) + WhiteKernel(0.3)",
    "ConstantKernel(2.0, 'fixed') * Matern(0.8, nu=2.5)",
    "PairwiseKernel(0.4, metric='laplacian')",
    "CompoundKernel([RBF(1.0), WhiteKernel(0.3)])",
]


@pytest.mark.parametrize("code", SAME)
def test_scikit_learns_names_give_scikit_learns_numbers(code):
    ours, theirs = eval(code, vars(named).copy()), eval(code, vars(peers).copy())
    np.testing.assert_allclose(ours(X), theirs(X), rtol=1e-12)
    np.testing.assert_allclose(ours(X, Z), theirs(X, Z), rtol=1e-12)
    np.testing.assert_allclose(ours.diag(X), theirs.diag(X), rtol=1e-12)
    np.testing.assert_allclose(ours.theta, theirs.theta, rtol=1e-14)
    np.testing.assert_allclose(ours.bounds, theirs.bounds, rtol=1e-14)
    assert [h.name for h in ours.hyperparameters] == [h.name for h in theirs.hyperparameters]
    assert ours.is_stationary() == theirs.is_stationary() or "PairwiseKernel" in code
    for mine, other in zip(ours(X, eval_gradient=True), theirs(X, eval_gradient=True), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-5 if "Pairwise" in code else 1e-10)


def test_kernels_do_not_change_and_scikit_learns_do():
    k = RBF(1.0) + White(0.1)
    with pytest.raises(AttributeError, match=r"A kernel does not change; make another with RBF\(…\)"):
        k.k1.length_scale = 2.0
    assert k.with_params(k1__length_scale=2.0) == RBF(2.0) + White(0.1)
    settable = named.RBF(1.0) + named.WhiteKernel(0.1)
    settable.set_params(k1__length_scale=3.0)
    assert settable.k1.length_scale == 3.0
    settable.theta = np.log([2.0, 0.5])
    assert settable == named.RBF(2.0) + named.WhiteKernel(0.5)
    assert type(RBF(1.0) + named.RBF(1.0)) is named.Sum
    with pytest.raises(ValueError, match="Invalid parameter k1__width for kernel Sum"):
        settable.set_params(k1__width=3.0)
    with pytest.raises(ValueError, match="theta has not the correct number of entries"):
        settable.theta = [0.0]


@pytest.mark.parametrize("library", ["torch", "jax", "array_api_strict"])
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.sweep(40)
def test_every_array_library_gives_the_same(name, library):
    k = KERNELS[name]
    if library == "torch":
        import torch as xp
    elif library == "jax":
        import jax.numpy as xp
    else:
        import array_api_strict as xp
    narrow = library == "jax"  # where float64 must be asked for
    rows, others = xp.asarray(X.astype("f4") if narrow else X), xp.asarray(Z.astype("f4") if narrow else Z)
    tolerance = {"rtol": 1e-3, "atol": 1e-4} if narrow else {"rtol": 1e-9, "atol": 1e-11}
    found = k(rows, others)
    assert type(found) is type(rows)
    np.testing.assert_allclose(np.asarray(found), k(X, Z), **tolerance)
    np.testing.assert_allclose(np.asarray(k(rows)), k(X), **tolerance)


def test_jax_multiplies_in_full_precision(monkeypatch):
    """On a GPU it would take 10 bits of a float32; here it is enough that it was told, for sums, blocks and factors."""
    import jax

    from learnt.engine.rows import as_rows
    from learnt.linalg import any_array

    rows, told = jax.numpy.asarray(X.astype("f4")), []

    def look(*_):
        told.append(jax.config.jax_default_matmul_precision)
        return rows[:3, :3]

    kernel = RBF(1.0)
    monkeypatch.setattr(type(kernel), "block", look)
    gram(kernel, rows)
    as_rows(rows).reduce(look, lambda total, part: part)
    monkeypatch.setattr(any_array, "_corner", look)
    any_array.cholesky_anywhere(rows[:3, :3], 0.1)
    assert told == ["highest"] * 3
    assert jax.config.jax_default_matmul_precision is None


def test_a_factor_in_jax_is_numpys():
    import jax

    rows = RNG.normal(size=(30, 40))
    K = rows @ rows.T / 40
    L = cholesky_anywhere(jax.numpy.asarray(K.astype("f4")), 0.1)
    # 30 columns of sums of 30 products of numbers below 10, in float32
    np.testing.assert_allclose(np.asarray(L), np.linalg.cholesky(K + 0.1 * np.eye(30)), atol=1e-4)


def test_blocks_give_the_matrix_to_the_bit():
    """Many blocks, on threads, of the whole matrix, of its lower triangle, and of products with it."""
    rows = RNG.normal(size=(700, 3))
    for k in (3 * RBF(0.7) + White(0.1), Linear() * Matern(1.0), 2.0 * RBF([1.0, 2.0, 0.5])):
        K = k(rows)
        np.testing.assert_allclose(K, k.block(rows, rows, 0), rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(np.tril(lower_gram(k, rows)), np.tril(K), rtol=1e-13, atol=1e-13)
        coef = RNG.normal(size=(5, 2))
        np.testing.assert_allclose(gram_times(k, rows, Z, coef), k(rows, Z) @ coef, rtol=1e-11, atol=1e-11)
        W = RNG.normal(size=(700, 700))
        W = W + W.T
        _, gradient = k(rows, eval_gradient=True)
        size = np.abs(W).sum() * np.abs(gradient).max()
        np.testing.assert_allclose(pull_back(k, rows, W), np.einsum("ij,ijk->k", W, gradient), atol=1e-13 * size)


def test_many_columns_far_from_zero_keep_their_distances():
    """Products cancel there; near rows are compared by differences again."""
    rows = 1e4 + RNG.normal(size=(60, 50))
    rows[1] = rows[0] + 1e-4
    exact = np.exp(-0.5 * ((rows[:, None].astype(np.longdouble) - rows) ** 2).sum(-1) / 100.0).astype(float)
    np.testing.assert_allclose(RBF(10.0)(rows), exact, rtol=1e-9)
    assert RBF(1e-3)(rows)[0, 1] == pytest.approx(np.exp(-0.5 * ((rows[0] - rows[1]) ** 2).sum() * 1e6), rel=1e-6)


# --- is it a kernel?


def test_what_is_no_kernel_is_shown_by_a_direction():
    negative = named.ConstantKernel(-1.0) * named.DotProduct()
    for k in (Sigmoid(1.0, -1.0), AdditiveChi2(), FromFunction(lambda x, z: -float(x @ z)), negative):
        verdict = kernels.is_kernel(k)
        assert verdict.answer == "no"
        assert not verdict
        v = verdict.direction
        quadratic = v @ k(verdict.points) @ v
        assert quadratic < 0
        assert quadratic == pytest.approx(verdict.eigenvalue, rel=1e-8)
        assert f"{verdict.eigenvalue:.6g}" in str(verdict)


def test_undecidable_kernels():
    verdict = kernels.is_kernel(lambda x, z: float(np.exp(-abs(x - z).sum())))
    assert verdict.answer == "don't know"
    assert not verdict
    assert kernels.is_kernel(peers.RBF(1.0)).answer == "don't know"
    assert kernels.is_kernel(RBF(1.0) ** 0.5).answer == "don't know"
    assert kernels.is_kernel(lambda x, z: float(x[0] - z[0])).reason.startswith("K is not symmetric")


def test_matrices():
    assert kernels.is_positive_semidefinite(np.ones((3, 3)))
    assert kernels.is_kernel(X @ X.T)
    verdict = kernels.is_positive_semidefinite([[1.0, 2.0], [2.0, 1.0]])
    assert verdict.eigenvalue == pytest.approx(-1.0)
    np.testing.assert_allclose(np.abs(verdict.direction), np.sqrt([0.5, 0.5]))
    with pytest.raises(ValueError, match="square"):
        kernels.is_positive_semidefinite(np.ones((2, 3)))
    with pytest.raises(ValueError, match="NaN or infinity"):
        kernels.is_positive_semidefinite([[np.nan]])


# --- bad input

BAD = {
    "negative coefficient": (lambda: RBF(1.0).poly([1.0, -2.0]), "coefficient is negative; that of k.1 is -2"),
    "not positive": (lambda: Mahalanobis([[1.0, 2.0], [2.0, 1.0]])(X[:, :2]), "smallest eigenvalue is -1"),
    "wrong A": (lambda: Mahalanobis(np.eye(2))(X), "must be 3 × 3"),
    "wrong f": (lambda: RBF(1.0).warp(lambda rows: rows)(X), "must return one number a row"),
    "no f": (lambda: RBF(1.0).warp(3), "must be a function"),
    "not a number": (lambda: FromFunction(lambda x, z: x)(X), r"returned an array of the shape \(3,\)"),
    "negative counts": (lambda: Chi2(1.0)(X), "contains negative values"),
    "no sets": (lambda: SetIntersection()(X), "rows of 0 and 1"),
    "gamma below 0": (lambda: RBF(gamma=-1.0), "gamma of RBF must be at least 0"),
    "gamma in words": (lambda: RBF(gamma="wide"), "gamma of RBF must be at least 0"),
    "two widths": (lambda: RBF(2.0, gamma=1.0), "length_scale or gamma, not both"),
    "scales": (lambda: RBF([1.0, 2.0])(X), "same number of dimensions as data"),
    "a name": (lambda: named_kernel("gauss", None, 3, 1, 3), "no kernel named 'gauss'"),
    "not a kernel": (lambda: kernels.Sum(RBF(1.0), "rbf"), "takes two kernels"),
    "bounds": (lambda: RBF([1.0, 2.0, 3.0], [(1, 2), (1, 2)]).bounds, "Bounds on length_scale"),
    "gradient": (lambda: RBF(1.0)(X, Z, eval_gradient=True), "Gradient can only be evaluated when Y is None"),
    "many scales": (lambda: RationalQuadratic([1.0, 2.0])(X), "only supports isotropic"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_gets_one_sentence(kind):
    act, match = BAD[kind]
    with pytest.raises((ValueError, TypeError, AttributeError), match=match) as caught:
        act()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("c", [-1.0, -2, -1e-300, np.float32(-3.0), np.int64(-1), float("nan")])
def test_no_rule_of_the_algebra_makes_a_negative_multiple(name, c):
    k = KERNELS[name]
    ways = (
        lambda: c * k,
        lambda: k * c,
        lambda: k + c,
        lambda: c + k,
        lambda: k + c * k,
        lambda: 2.0 * (k * (k + c * k)),
        lambda: (c * k.exp()).poly([0.0, 1.0]),
        lambda: Constant(c) * k,
        lambda: kernels.Product(k, Constant(c)),
        lambda: (2.0 * k).with_params(k1__constant_value=c),
        lambda: k + White(c),
    )
    for way in ways:
        with pytest.raises(
            ValueError, match=r"must be at least 0, or it is no kernel \(negative eigenvalues\); it is "
        ) as caught:
            way()
        assert "\n" not in str(caught.value)


def test_parameters_of_gaussian_processes_are_judged_by_the_fit():
    """They can be set one by one, as in scikit-learn; a number beside a kernel is refused as everywhere."""
    with pytest.raises(ValueError, match=r"The number in -1.0 \* RBF.* must be at least 0"):
        -1.0 * named.RBF(1.0)
    k = named.ConstantKernel(-1.0) * named.RBF(1.0)
    np.testing.assert_array_equal(k(X), -named.RBF(1.0)(X))
    assert k.set_params(k1__constant_value=2.0).theta[0] == np.log(2.0)
    assert (0.0 * RBF(1.0))(X).max() == 0.0


def test_adding_what_is_no_kernel_is_refused():
    with pytest.raises(TypeError):
        RBF(1.0) + "rbf"
