"""Matrix products: one whose loops are split, and one with a bias and a Relu."""

from __future__ import annotations

from optimizer.loops.algorithm import Algorithm, Func, LoopAxis, Reduction
from optimizer.loops.formulas import add, largest, mul, number
from optimizer.loops.schedule import (
    ComputeAt,
    ComputeRoot,
    Parallel,
    Primitive,
    Reorder,
    Split,
    Unroll,
    Vectorize,
)
from optimizer.schedules.examples.example import FLOAT, Example, named, read, tensor


def matmul(rows: int, columns: int, depth: int) -> Algorithm:
    """float32[rows, depth], float32[depth, columns] -> float32[rows, columns]."""
    a, b = tensor("a", rows, depth), tensor("b", depth, columns)
    return Algorithm((a, b), (_product(rows, columns, depth),), ("product",))


def matmul_bias_relu(rows: int, columns: int, depth: int) -> Algorithm:
    """The same, and float32[columns] -> float32[rows, columns]: no element below 0."""
    a, b, bias = tensor("a", rows, depth), tensor("b", depth, columns), tensor("bias", columns)
    product = _product(rows, columns, depth)
    i, j = product.axes
    body = add(product.at((i.var, j.var)), read(bias, j.var))
    biased = Func("biased", FLOAT, (i, j), body)
    one = biased.at((i.var, j.var))
    relu = Func("relu", FLOAT, (i, j), largest(one, number(0, one)))
    return Algorithm((a, b, bias), (product, biased, relu), ("relu",))


def _product(rows: int, columns: int, depth: int) -> Func:
    i, j, k = LoopAxis("i", rows), LoopAxis("j", columns), LoopAxis("k", depth)
    a, b = tensor("a", rows, depth), tensor("b", depth, columns)
    body = mul(read(a, i.var, k.var), read(b, k.var, j.var))
    return Func("product", FLOAT, (i, j), body, Reduction("sum", (k,)))


def _register_tile(func: str, nest: int) -> tuple[Primitive, ...]:
    """A tile of 8×32 in vectors of 16, all of it written out."""
    return (
        Split(func, "j", "jv", "lane", 16, nest=nest),
        Vectorize(func, "lane", nest=nest),
        Unroll(func, "jv", nest=nest),
        Unroll(func, "i", nest=nest),
    )


_ROW_VECTORS = (
    Reorder("product", ("i", "k", "j"), nest=1),
    Split("product", "j", "jo", "lane", 16, nest=1),
    Vectorize("product", "lane", nest=1),
)
_CACHE_TILE = (
    Split("relu", "i", "io", "ii", 64),
    Split("relu", "j", "jo", "ji", 128),
    Split("relu", "ii", "it", "i2", 8),
    Split("relu", "ji", "jt", "jj", 32),
    Reorder("relu", ("io", "jo", "it", "jt", "i2", "jj")),
)

SPLIT_MATMUL = Example(
    "matmul-split",
    "512³ matrix product, i split 8×64 and j 128×4",
    "Two splits make five loops of three, and change nothing in what is computed. Where the new "
    "loops stand decides how much of each operand a round touches.",
    matmul,
    sizes={"rows": 512, "columns": 512, "depth": 512},
    small={"rows": 128, "columns": 8, "depth": 8},
    schedules=(
        named("three loops", "As the formula says it: rows, columns, and the sum inside."),
        named(
            "i 8×64, j 128×4",
            "A block of 64 rows and 4 columns at a time.",
            Split("product", "i", "io", "ii", 64, nest=1),
            Split("product", "j", "jo", "ji", 4, nest=1),
            Reorder("product", ("io", "jo", "ii", "ji", "k"), nest=1),
        ),
    ),
)

MATMUL = Example(
    "matmul",
    "Matrix product, bias and Relu, 512³: from naive to register tiles",
    "The naive product waits for memory at each of its 134 million products. Vectors, then tiles "
    "that stay in a cache, then tiles that stay in registers take most of the waiting away.",
    matmul_bias_relu,
    sizes={"rows": 512, "columns": 512, "depth": 512},
    small={"rows": 64, "columns": 128, "depth": 4},
    schedules=(
        named("naive", "Three loops; the innermost one jumps through b a row at a time."),
        named(
            "reordered, in vectors",
            "The innermost loop now runs along rows of b and of the result, sixteen at a time.",
            *_ROW_VECTORS,
        ),
        named(
            "cache tiles",
            "The product is computed for a tile of 64×128 at a time, which stays in the cache.",
            *_CACHE_TILE[:2],
            Reorder("relu", ("io", "jo", "ii", "ji")),
            ComputeAt("product", "relu", "jo"),
            *_ROW_VECTORS,
        ),
        named(
            "register tiles",
            "8×32 sums stay in sixteen vector registers while k runs: nothing of them is stored.",
            *_CACHE_TILE,
            Parallel("relu", "io"),
            Split("relu", "jj", "jv", "lane", 16),
            Vectorize("relu", "lane"),
            ComputeAt("product", "relu", "jt"),
            *_register_tile("product", 0),
            Reorder("product", ("k", "i", "j"), nest=1),
            *_register_tile("product", 1),
        ),
    ),
)

THREE_NESTS = Example(
    "three-nests",
    "MatMul, Bias and Relu: three nests, or one",
    "As three nests, each writes a whole tensor that the next one reads back. As one, only the "
    "result is written: a third of what was.",
    matmul_bias_relu,
    sizes={"rows": 256, "columns": 256, "depth": 64},
    small={"rows": 16, "columns": 16, "depth": 4},
    schedules=(
        named(
            "three nests",
            "Three tensors are written, and two of them read again.",
            ComputeRoot("product"),
            ComputeRoot("biased"),
        ),
        named(
            "one nest",
            "An element of the product is finished, biased and bounded before the next begins.",
            ComputeAt("product", "relu", "j"),
        ),
    ),
)
