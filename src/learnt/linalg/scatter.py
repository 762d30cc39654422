"""Σ w (x − point)(x − point)ᵀ of many rows with some dozens of columns, in vector registers.

Some rows at a time are shifted and scaled into a small table that stays in the cache; of it, tiles of the product are
added up in registers. So the rows are read once and never copied as a whole, and half of the symmetric product is not
computed. BLAS packs both sides of a product first, which costs as much as the product where columns are few.

On a Xeon with AVX-512, one thread, in milliseconds: the kernel, BLAS after the shift, BLAS alone
    500,000 × 20     18, 52, 23          100,000 × 100     28, 69, 44
    100,000 × 50     11, 32, 17           40,000 × 200     33, 70, 48
From about 500 columns on BLAS is as quick.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from learnt.engine.kernel import compilation_enabled, kernel
from learnt.engine.kernel.digest import code_parts, hash_parts
from learnt.engine.kernel.intrinsics import Intrinsic
from learnt.engine.rows.blocks import kernel_matrix

_STRIP = 64  # rows of the table
_FEWEST_COLUMNS, _MOST_COLUMNS = 8, 320
_WORK = 1 << 28  # n d²: below, plain NumPy is done before compiled code is even loaded from disk


def worth_compiling(n_rows: float, n_columns: int) -> bool:
    """Whether the kernel pays; `n_rows` may be infinite where it is not known."""
    large = n_rows * float(n_columns) ** 2 >= _WORK
    return _FEWEST_COLUMNS <= n_columns <= _MOST_COLUMNS and large and compilation_enabled()


def scatter(X: np.ndarray, x0: Any = None, w: Any = None, Y: Any = None, y0: Any = None) -> tuple:
    """Σwz and Σwzzᵀ of dense float64 rows, z = x − x₀; with Y (n × k) of z = [x − x₀, y − y₀].

    >>> scatter(np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([1.0, 1.0]))
    (array([2., 5.]), array([[ 4.,  8.],
           [ 8., 17.]]))
    """
    n, d = X.shape
    k = 0 if Y is None else Y.shape[1]
    lanes = _lanes_here()
    width = -(-(d + k) // lanes) * lanes
    roots = np.empty(0) if w is None else np.sqrt(np.ascontiguousarray(w, dtype=np.float64))
    targets = np.empty((n, 0)) if Y is None else _doubles(Y)
    point = np.concatenate([_point(x0, d), _point(y0, k)])
    table, out = _aligned(_STRIP, width), _aligned(width, width)
    first = np.zeros(d + k)
    _add_scatter(_doubles(X), targets, roots, point, table, first, out, lanes)
    half = np.triu(out[: d + k, : d + k])
    return first, half + np.triu(half, 1).T


def _doubles(X: np.ndarray) -> np.ndarray:
    return kernel_matrix(X if X.dtype == np.float64 else X.astype(np.float64))


def _point(point: Any, n: int) -> np.ndarray:
    return np.zeros(n) if point is None else np.asarray(point, dtype=np.float64)


def _aligned(*shape: int) -> np.ndarray:
    """Zeros that begin at a line of the cache: a vector that lies across two of them is loaded twice."""
    room = np.zeros(shape[0] * shape[1] + 8)
    begin = -room.ctypes.data % 64 // 8
    return room[begin : begin + shape[0] * shape[1]].reshape(shape)


def vector_lanes() -> int:
    """How many numbers a vector has, and rows a tile: its sums, three vectors a row, stay in the registers."""
    try:
        from llvmlite import binding
    except ImportError:  # no Numba: any number will do
        return 4
    return 8 if binding.get_host_cpu_features().get("avx512f", False) else 4


_lanes_here = cache(vector_lanes)  # LLVM takes a quarter of a millisecond to name the processor's features


@kernel
def _add_scatter(X, Y, roots, point, table, first, out, lanes):
    """Add Σwz to `first`, and to `out` the tiles of Σwzzᵀ on and above the diagonal."""
    n, d = X.shape
    k, strip, width = Y.shape[1], table.shape[0], table.shape[1]
    for lo in range(0, n, strip):
        rows = min(strip, n - lo)
        for r in range(rows):
            for c in range(d):
                table[r, c] = X[lo + r, c] - point[c]
            for c in range(k):
                table[r, d + c] = Y[lo + r, c] - point[d + c]
            if roots.size > 0:
                root = roots[lo + r]
                for c in range(d + k):
                    table[r, c] *= root
                    first[c] += root * table[r, c]
            else:
                for c in range(d + k):
                    first[c] += table[r, c]
        for i in range(0, width, lanes):
            left = (width - i) // lanes
            while left >= 3:
                _add_tile_of_three(table, rows, i, width - left * lanes, out)
                left -= 3
            if left == 2:
                _add_tile_of_two(table, rows, i, width - 2 * lanes, out)
            elif left == 1:
                _add_tile_of_one(table, rows, i, width - lanes, out)


def _build_tile(vectors: int) -> Any:
    """out[i : i + lanes, j : j + vectors · lanes] += Σ over the first rows of the table of its columns there."""
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    lanes = vector_lanes()
    word, long = ir.IntType(32), ir.IntType(64)
    numbers, fused = ir.VectorType(ir.DoubleType(), lanes), ("contract",)
    undefined, everywhere = ir.Constant(numbers, ir.Undefined), ir.Constant(ir.VectorType(word, lanes), [0] * lanes)

    @intrinsic
    def add_tile(typing, table, rows, i, j, out):
        def code(context, builder, signature, arguments):
            source, target = (context.make_array(signature.args[at])(context, builder, arguments[at]) for at in (0, 4))
            rows, i, j = arguments[1:4]
            width = cgutils.unpack_tuple(builder, source.shape, 2)[1]

            def vector(begin, index):
                return builder.bitcast(cgutils.gep(builder, begin, index), numbers.as_pointer())

            def load(place):
                value = builder.load(place)
                value.align = 8
                return value

            sums = [[cgutils.alloca_once(builder, numbers) for _ in range(vectors)] for _ in range(lanes)]
            for total in (each for row in sums for each in row):
                builder.store(ir.Constant(numbers, [0.0] * lanes), total)
            with cgutils.for_range(builder, rows) as loop:
                row = cgutils.gep(builder, source.data, builder.mul(loop.index, width))
                columns = [load(vector(row, builder.add(j, long(v * lanes)))) for v in range(vectors)]
                for u in range(lanes):
                    cell = builder.load(cgutils.gep(builder, row, builder.add(i, long(u))))
                    cells = builder.shuffle_vector(
                        builder.insert_element(undefined, cell, word(0)), undefined, everywhere
                    )
                    for column, total in zip(columns, sums[u]):
                        product = builder.fmul(cells, column, flags=fused)
                        builder.store(builder.fadd(builder.load(total), product, flags=fused), total)
            for u in range(lanes):
                row = cgutils.gep(builder, target.data, builder.mul(builder.add(i, long(u)), width))
                for v in range(vectors):
                    place = vector(row, builder.add(j, long(v * lanes)))
                    builder.store(builder.fadd(load(place), builder.load(sums[u][v])), place).align = 8
            return context.get_dummy_value()

        return types.void(table, types.int64, types.int64, types.int64, out), code

    return add_tile


def _build_three() -> Any:
    return _build_tile(3)


def _build_two() -> Any:
    return _build_tile(2)


def _build_one() -> Any:
    return _build_tile(1)


def _three(table, rows, i, j, out):
    _plain_tile(table, rows, i, j, out, 3)


def _two(table, rows, i, j, out):
    _plain_tile(table, rows, i, j, out, 2)


def _one(table, rows, i, j, out):
    _plain_tile(table, rows, i, j, out, 1)


def _plain_tile(table, rows, i, j, out, vectors):
    side = vector_lanes()
    out[i : i + side, j : j + vectors * side] += table[:rows, i : i + side].T @ table[:rows, j : j + vectors * side]


class _Tile(Intrinsic):
    def digest(self) -> str:
        return hash_parts([self.name, str(vector_lanes()), *code_parts(self._build)])  # type: ignore[arg-type]


_add_tile_of_three = _Tile(_three, _build_three)  # type: ignore[arg-type]
_add_tile_of_two = _Tile(_two, _build_two)  # type: ignore[arg-type]
_add_tile_of_one = _Tile(_one, _build_one)  # type: ignore[arg-type]
