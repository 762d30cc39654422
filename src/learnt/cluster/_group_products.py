"""The products of some dense rows with a table of centres, in vector registers.

A table has the centres transposed: table[v, j] are the values of feature j in some of them (`at_once`), side by side.
`group_products` adds them up for a few rows at once, so that what is loaded of the table serves all of these, and
nothing but the sums is written. BLAS copies both sides first, which costs as much as the products where rows have few
features. Without compilation NumPy stands in.

On a Neoverse-N1 (arm64), rows of 32 features: 34 GFLOP/s with the least score of each row, BLAS without it 19.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from learnt.engine.kernel.digest import code_parts, hash_parts
from learnt.engine.kernel.intrinsics import Intrinsic

STEP = 4  # features are padded to a multiple of this, and rows are a multiple of it


class AtOnce(NamedTuple):
    """Rows that are multiplied at once, and the centres of a table."""

    rows: int
    centers: int


def at_once() -> AtOnce:
    """What fills the vector registers with sums, and leaves some for the table: AVX-512 has four times the usual room.

    A k-means fit of 200,000 rows of 32 features and 1,000 centres on a Xeon with AVX-512 is 1.50 times as fast as
    faiss (quartiles 1.48–1.60); with 8 × 16 it was 1.43 times.
    """
    from llvmlite import binding

    return AtOnce(12, 32) if binding.get_host_cpu_features().get("avx512f", False) else AtOnce(4, 16)


def _build() -> Any:
    import platform

    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    word, long, single = ir.IntType(32), ir.IntType(64), ir.FloatType()
    n_rows, width = at_once()
    floats, step, fused = ir.VectorType(single, width), ir.VectorType(single, STEP), ("contract",)
    by_lane = platform.machine() in ("arm64", "aarch64")  # multiplies by one lane of a register at no cost

    def everywhere(lane):
        return ir.Constant(ir.VectorType(word, width), [lane] * width)

    def smaller(builder, a, b):
        return builder.select(builder.fcmp_ordered("<", a, b), a, b)

    def halves(builder, a, b, first, second):
        """The smaller of two choices of lanes of each four of a and b."""
        fours = range(0, width, STEP)
        kind = ir.VectorType(word, width)
        masks = [ir.Constant(kind, [i + lane for i in fours for lane in some]) for some in (first, second)]
        return smaller(builder, *(builder.shuffle_vector(a, b, mask) for mask in masks))

    def least_of_each(builder, *rows):
        """The least score of each of four rows, side by side: all lanes have something to do."""
        b = width
        one, two = (halves(builder, *pair, (0, b, 1, b + 1), (2, b + 2, 3, b + 3)) for pair in (rows[:2], rows[2:]))
        found, left = halves(builder, one, two, (0, 1, b, b + 1), (2, 3, b + 2, b + 3)), b
        while left > STEP:
            left //= 2
            kind = ir.VectorType(word, left)
            parts = (ir.Constant(kind, [*range(i, i + left)]) for i in (0, left))
            found = smaller(builder, *(builder.shuffle_vector(found, found, part) for part in parts))
        return found

    @intrinsic
    def group_products(typing, rows, listed, at, table, v, extra, out, least):
        def code(context, builder, signature, arguments):
            rows, listed, table, extra, out, least = (
                context.make_array(signature.args[i])(context, builder, arguments[i]) for i in (0, 1, 3, 5, 6, 7)
            )
            at, v = arguments[2], arguments[4]
            d = cgutils.unpack_tuple(builder, rows.shape, 2)[1]
            first = cgutils.gep(builder, table.data, builder.mul(v, builder.mul(d, long(width))))

            def place(begin, index, kind=floats):
                return builder.bitcast(cgutils.gep(builder, begin, index), kind.as_pointer())

            def load(begin, index, kind=floats):
                value = builder.load(place(begin, index, kind))
                value.align = 4
                return value

            def row_of(r):
                i = builder.load(cgutils.gep(builder, listed.data, builder.add(at, long(r))))
                return cgutils.gep(builder, rows.data, builder.mul(builder.zext(i, long), d))

            def splat(begin, j, cells, u):
                if by_lane:
                    return builder.shuffle_vector(cells, ir.Constant(step, ir.Undefined), everywhere(u))
                undefined = ir.Constant(floats, ir.Undefined)
                cell = builder.load(cgutils.gep(builder, begin, builder.add(j, long(u))))
                return builder.shuffle_vector(
                    builder.insert_element(undefined, cell, word(0)), undefined, everywhere(0)
                )

            begins = [row_of(r) for r in range(n_rows)]
            sums = [cgutils.alloca_once(builder, floats) for _ in range(n_rows)]
            for total in sums:
                builder.store(ir.Constant(floats, [0.0] * width), total)
            with cgutils.for_range(builder, builder.sdiv(d, long(STEP))) as loop:
                j = builder.mul(loop.index, long(STEP))
                cells = [load(begin, j, step) if by_lane else None for begin in begins]
                for u in range(STEP):
                    column = load(first, builder.mul(builder.add(j, long(u)), long(width)))
                    for begin, some, total in zip(begins, cells, sums):
                        product = builder.fmul(splat(begin, j, some, u), column, flags=fused)
                        builder.store(builder.fadd(builder.load(total), product, flags=fused), total)
            added = load(extra.data, builder.mul(v, long(width)))
            scores = [builder.fadd(builder.load(total), added) for total in sums]
            for r, values in enumerate(scores):
                row = builder.mul(builder.add(at, long(r)), long(width))
                builder.store(values, place(out.data, row)).align = 4
            for r in range(0, n_rows, STEP):
                minima = least_of_each(builder, *scores[r : r + STEP])
                to = place(least.data, builder.add(at, long(r)), step)
                builder.store(minima, to).align = 4
            return context.get_dummy_value()

        return types.void(rows, listed, types.int64, table, types.int64, extra, out, least), code

    return group_products


def _group_products(rows, listed, at, table, v, extra, out, least):
    """out[at + r] = rows[listed[at + r]] · table[v] + extra[v] for a few r, and the least of each; there are no NaN."""
    some = slice(at, at + at_once().rows)
    out[some] = rows[listed[some]] @ table[v] + extra[v]
    least[some] = out[some].min(axis=1)


class _GroupProducts(Intrinsic):
    def digest(self) -> str:
        return hash_parts([self.name, str((*at_once(), STEP)), *code_parts(_build)])  # type: ignore[arg-type]


group_products = _GroupProducts(_group_products, _build)  # type: ignore[arg-type]
