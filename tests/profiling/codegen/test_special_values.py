"""NaN, infinities, zeros, denormal and largest numbers through every operator of one number each.

One kernel has all operators of a kind, with an output for each. What it gives has to be what ONNX
Runtime gives, or NumPy by the loops: they differ in a few places among themselves.
"""

from __future__ import annotations

import importlib.util
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import pytest

from optimizer.loops.evaluation import evaluate
from optimizer.loops.schedule import Schedule
from profiling.codegen.kernel import LEVELS, CpuLevel, GeneratorId, Kernel
from profiling.codegen.levels import cpu_level, levels_here
from profiling.codegen.library import build_library
from profiling.workers import WorkerPool
from tests.optimizer.fusion.regions import region_of
from tests.optimizer.running import run
from tests.profiling.codegen.library_jobs import run_each

pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler"),
    pytest.mark.long,
]
NEEDS_HALIDE = pytest.mark.skipif(importlib.util.find_spec("halide") is None, reason="needs Halide")
Array = np.ndarray[Any, Any]

SPECIAL = np.array(
    [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 3.4028235e38, -3.4028235e38, 1.1754944e-38,
     1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 88.7, 88.8, -87.4, -103.9, -104.1, 9.1, -9.1, 1e9, -1e9],
    np.float32,
)  # fmt: skip
LARGEST = np.array([-(2**31), -(2**31) + 1, -7, -3, -1, 0, 1, 2, 3, 5, 2**31 - 1], np.int32)
UNARY = (
    "Abs", "Ceil", "Floor", "Neg", "Reciprocal", "Round", "Sign", "Sqrt", "IsNaN", "IsInf",
    "Shrink", "Exp", "Log", "HardSigmoid", "LeakyRelu", "Relu", "ThresholdedRelu", "Sigmoid",
    "Tanh", "Elu", "Erf", "Softplus", "Celu", "Selu", "Softsign", "Gelu", "HardSwish", "Mish",
    "IsInf <detect_negative = 0>", 'Gelu <approximate = "tanh">', "Elu <alpha = 0.5>",
    "Cast <to = 9>", "Cast <to = 10>", "Cast <to = 11>",
)  # fmt: skip
BINARY = (
    "Add", "Sub", "Mul", "Div", "Max", "Min", "Sum", "Mean", "PRelu", "Equal", "Greater",
    "GreaterOrEqual", "Less", "LessOrEqual",
)  # fmt: skip
WHOLE = ("Add", "Sub", "Mul", "Max", "Min", "Equal", "Greater", "Less")
WHOLE_BY_CONSTANT = ("Div", "Mod", "Mod <fmod = 1>")
IN_C_ALONE = ("Pow", "Mod <fmod = 1>")
SINE = ("Sin", "Cos")


def _graph(inputs: str, calls: list[str], constants: str = "") -> onnx.ModelProto:
    """An output for each call."""
    outputs = ", ".join(f"y{place}" for place in range(len(calls)))
    lines = "\n".join(f"y{place} = {call}" for place, call in enumerate(calls))
    return onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : 20]>\n'
        f"g ({inputs}) => ({outputs}) {constants} {{ {lines} }}"
    )


def _of(operators: tuple[str, ...], operands: str) -> list[str]:
    return [f"{operator} ({operands})" for operator in operators]


def _pairs(numbers: Array) -> list[Array]:
    return [np.repeat(numbers, len(numbers)), np.tile(numbers, len(numbers))]


def _cases(generator: GeneratorId) -> dict[str, tuple[onnx.ModelProto, list[Array]]]:
    limits = "<float low = {-1}, float high = {2}, float e = {3}>"
    single = [
        *_of(UNARY, "x"),
        "Clip (x, low, high)",
        "Clip (x, low)",
        "Pow (x, high)",
        "Pow (x, e)",
    ]
    wide = {"x": "float[n] x", "y": "float[n] y", "a": "int32[n] x", "b": "int32[n] y"}
    double = [*_of(BINARY, "x, y"), *(_of(IN_C_ALONE, "x, y") if generator == "c" else [])]
    whole = [
        *_of(WHOLE, "x, y"),
        *_of(("Neg", "Sign"), "x"),
        "Cast <to = 7> (x)",
        "Cast <to = 9> (x)",
    ]
    divided = [f"{op} (x, {by})" for op in WHOLE_BY_CONSTANT for by in ("three", "minus")]
    return {
        "unary": (_graph(wide["x"], single, limits), [SPECIAL]),
        "sine": (_graph(wide["x"], _of(SINE, "x")), [SPECIAL[~(np.abs(SPECIAL) > 1000)]]),
        "binary": (_graph(f"{wide['x']}, {wide['y']}", double), _pairs(SPECIAL)),
        "whole": (_graph(f"{wide['a']}, {wide['b']}", whole), _pairs(LARGEST)),
        "divided": (
            _graph(wide["a"], divided, "<int32 three = {3}, int32 minus = {-7}>"),
            [LARGEST],
        ),
    }


def _same(found: Array, right: Array) -> Array:
    """Which elements agree; what is below the smallest normal number may be 0."""
    if right.dtype.kind in "biu":
        return np.asarray(found == right)
    one, other = found.astype(np.float64), right.astype(np.float64)
    loose = found.dtype.itemsize < 4
    least = 6e-5 if loose else 4e-7 if np.abs(other).max(initial=0) <= 1 else 1.2e-38
    with np.errstate(all="ignore"):
        near = np.abs(one - other) <= (1e-2 if loose else 1e-5) * np.abs(other) + least
    return (one == other) | (np.isnan(one) & np.isnan(other)) | (near & np.isfinite(other))


@pytest.mark.parametrize("generator", ["c", pytest.param("halide", marks=NEEDS_HALIDE)])
def test_special_numbers_come_out_as_in_the_runtime_or_numpy(
    generator: GeneratorId, tmp_path: Path, shared_pool: WorkerPool
) -> None:
    cases = _cases(generator)
    schedule = Schedule() if generator == "c" else None
    kernels = [
        Kernel(name, region_of(model)[0], schedule, generator, name)
        for name, (model, _) in cases.items()
    ]
    build = partial(build_library, levels=[cpu_level()])
    library = shared_pool(build, kernels, tmp_path)
    feeds = [[given] for _, given in cases.values()]
    found = shared_pool(run_each, library, list(zip(kernels, feeds, strict=True)))
    wrong: list[str] = []
    for kernel, (model, given), (outputs,) in zip(kernels, cases.values(), found, strict=True):
        names = [one.name for one in model.graph.input]
        runtime = run(model, dict(zip(names, given, strict=True)))
        loops = evaluate(kernel.algorithm, given)
        for node, one, right, also in zip(model.graph.node, outputs, runtime, loops, strict=True):
            agree = _same(one, right) | _same(one, also)
            wrong += [
                f"{node.op_type}({', '.join(str(x[place]) for x in given)}) is {one[place]}, "
                f"not {right[place]} or {also[place]}"
                for place in np.flatnonzero(~agree)[:4]
            ]
    assert wrong == []


@NEEDS_HALIDE
@pytest.mark.parametrize("level", LEVELS)
def test_what_ends_at_one_is_exactly_one_there(
    level: CpuLevel, tmp_path: Path, shared_pool: WorkerPool
) -> None:
    if level not in levels_here():
        pytest.skip(f"this processor has no {level}")
    algorithm = region_of(_graph("float[n] x", ["Tanh (x)", "Erf (x)"]))[0]
    kernel = Kernel("ends", algorithm, None, "halide", "ends")
    library = shared_pool(partial(build_library, levels=[level]), [kernel], tmp_path)
    large = np.array([9.0, 100.0, np.inf] * 8, np.float32)
    given = np.concatenate([large, -large])
    ((outputs,),) = shared_pool(run_each, library, [(kernel, [[given]])])
    for found in outputs:
        np.testing.assert_array_equal(found, np.sign(given))


@NEEDS_HALIDE
@pytest.mark.parametrize("level", LEVELS)
def test_a_gated_number_keeps_nan_through_what_compares(
    level: CpuLevel, tmp_path: Path, shared_pool: WorkerPool
) -> None:
    if level not in levels_here():
        pytest.skip(f"this processor has no {level}")
    model = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 20]>
        g (float[n] x, float[n] y) => (float[n] above, float[n] within, bool[n] lost, float[n] all)
        <float low = {-1}, float high = {2}> {
            gate = Sigmoid (x)
            gated = Mul (gate, y)
            above = Relu (gated)
            within = Clip (gated, low, high)
            lost = IsNaN (gated)
            all = Max (gated, low)
        }"""
    )
    kernel = Kernel("gated", region_of(model)[0], None, "halide", "gated")
    library = shared_pool(partial(build_library, levels=[level]), [kernel], tmp_path)
    given = _pairs(SPECIAL)
    ((outputs,),) = shared_pool(run_each, library, [(kernel, [given])])
    runtime = run(model, {"x": given[0], "y": given[1]})
    loops = evaluate(kernel.algorithm, given)
    for output, found, right, also in zip(model.graph.output, outputs, runtime, loops, strict=True):
        agree = _same(found, right) | _same(found, also)
        wrong = [(given[0][at], given[1][at], found[at]) for at in np.flatnonzero(~agree)[:4]]
        assert wrong == [], output.name
