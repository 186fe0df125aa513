"""An exported pipeline as a program: inputs filled with numbers, a sum printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import onnx_ir as ir

from optimizer.loops.algorithm import InputTensor
from optimizer.schedules.halide_words import type_names
from optimizer.schedules.program import numbers_of


def python_main(
    inputs: Sequence[tuple[str, InputTensor]], output: str, shape: Sequence[int], dtype: ir.DataType
) -> Iterator[str]:
    """Lines behind the pipeline.

    Args:
        inputs: with the names that they have there.
        output: the name of the Func.
        shape: of the output.
        dtype: of its elements.
    """
    yield f"inputs = [{', '.join(name for name, _ in inputs)}]"
    yield f"output = {output}"
    yield ""
    yield 'if __name__ == "__main__":'
    yield "    random = np.random.default_rng(0)"
    yield "    arrays = ["
    for _, one in inputs:
        kind = one.dtype.numpy().name
        yield f"        random.standard_normal({numbers_of(one.shape)}).astype(np.{kind}),"
    yield "    ]"
    yield "    for one, array in zip(inputs, arrays):"
    yield "        one.set(hl.Buffer(array))"
    yield f"    result = np.zeros({tuple(shape)}, np.{dtype.numpy().name})"
    yield "    output.realize(hl.Buffer(result))"
    yield "    print(result.sum())"


def cpp_program(
    body: Sequence[str],
    inputs: Sequence[tuple[str, InputTensor]],
    output: str,
    shape: Sequence[int],
    dtype: ir.DataType,
) -> Iterator[str]:
    """All lines.

    Args:
        body: the pipeline.
        inputs: with the names that they have there.
        output: the name of the Func.
        shape: of the output.
        dtype: of its elements.
    """
    yield "// c++ -std=c++17 program.cpp -lHalide, with Halide's include and lib folders"
    yield '#include "Halide.h"'
    yield "#include <cmath>"
    yield "#include <cstdio>"
    yield "using namespace Halide;"
    yield ""
    yield "int main() {"
    yield from (f"  {line}" if line else "" for line in body)
    yield ""
    for name, one in inputs:
        sizes = ", ".join(map(str, reversed(numbers_of(one.shape))))
        kind = type_names(one.dtype)[1]
        yield f"  Buffer<{kind}> {name}_data({sizes});"
        yield f"  int {name}_next = 0;"
        yield f"  {name}_data.for_each_value([&](auto &v) {{ v = {name}_next++ % 7 - 3; }});"
        yield f"  {name}.set({name}_data);"
    sizes = ", ".join(map(str, reversed(shape)))
    yield f"  Buffer<{type_names(dtype)[1]}> result = {output}.realize({{{sizes}}});"
    yield "  double sum = 0;"
    yield "  result.for_each_value([&](auto v) { sum += v; });"
    yield '  printf("%g\\n", sum);'
    yield "}"
