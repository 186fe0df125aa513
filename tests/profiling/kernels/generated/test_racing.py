from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest

from optimizer.fusion.algorithm import algorithm_of
from optimizer.isolation import Isolate
from optimizer.limits import JobLimits
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule
from optimizer.model.generated_functions import KernelBody
from optimizer.model.writer import to_bytes
from optimizer.verify.feeds import draw
from optimizer.verify.runtime import as_file
from profiling.codegen.kernel import Kernel, LibraryError
from profiling.codegen.levels import cpu_level
from profiling.codegen.library import build_library
from profiling.codegen.store import library_of
from profiling.kernels.generated.decisions import KernelDecision
from profiling.kernels.generated.implementations import IMPLEMENTATIONS, GeneratedCode
from profiling.kernels.generated.racing import race_feeds, race_kernel
from profiling.kernels.generated.single import call_of
from profiling.workers import WorkerPool
from tests.profiling.kernels.generated.made import WEIGHTED, body_of, kernel_of

pytestmark = pytest.mark.long

RUNTIME = IMPLEMENTATIONS[0]
RIGHT = "g (float[4,n] x) => (float[4,n] y) <float c = {0.71}> { a = Mul(x, c) y = Relu(a) }"
WRONG = "g (float[4,n] x) => (float[4,n] y) <float c = {0.71}> { a = Mul(x, c) y = Neg(a) }"


def never() -> None:
    while True:
        pass


def too_much() -> int:
    return len(bytearray(1 << 34))


@dataclass(frozen=True)
class GreedyCode(GeneratedCode):
    """A generator that takes more than there is."""

    takes: Any = never

    def build(self, model: bytes, isolate: Isolate) -> None:
        isolate(self.takes, limits=JobLimits(seconds=0.5, memory_bytes=1 << 30))


def decided(pool: WorkerPool, text: str, offered: GeneratedCode) -> KernelDecision:
    kernel = kernel_of(body_of(text), n0=64)
    return race_kernel(kernel, pool=pool, seconds=0.2, offered=[RUNTIME, offered])


@pytest.mark.parametrize(("takes", "said"), [(never, "0.5 s"), (too_much, "memory")])
def test_a_kernel_that_takes_too_long_or_too_much_to_build_is_one_sentence_and_the_chain_stays(
    takes: Any, said: str, shared_pool: WorkerPool
) -> None:
    found = decided(shared_pool, WEIGHTED, GreedyCode("greedy", "c", takes=takes))
    assert found.winner.startswith("ONNX Runtime")
    row = found.raced.row("greedy")
    assert said in row.verdict
    assert row.p50_ms is None


def test_code_that_is_right_on_every_edge_case_is_timed(shared_pool: WorkerPool) -> None:
    found = decided(shared_pool, WEIGHTED, GeneratedCode("C", "c"))
    assert found.checked["C"] > 20
    row = found.raced.row("C")
    assert row.p50_ms is not None
    assert not row.wrong


def test_code_that_is_left_out_of_the_library_is_no_candidate() -> None:
    def left_out(*_args: object, **_limits: object) -> Any:
        return ("Kernel k has no code: a test refuses it.",)

    with pytest.raises(LibraryError, match="Kernel k has no code"):
        GeneratedCode("C", "c").build(b"", left_out)


def test_wrong_code_is_not_timed_and_its_first_wrong_element_is_named(
    shared_pool: WorkerPool,
) -> None:
    body = body_of(RIGHT)
    shared_pool(plant, to_bytes(call_of(body)), body.name, loops(body_of(WRONG)))
    found = decided(shared_pool, RIGHT, GeneratedCode("C", "c"))
    row = found.raced.row("C")
    assert row.p50_ms is None
    assert "its result is wrong: y0[0, 0] is " in row.verdict
    assert row.verdict.endswith("with n0 = 64")


def loops(body: KernelBody) -> Algorithm:
    return algorithm_of(body.nodes, body.inputs, body.outputs, body.known, body.opset)


def plant(model: bytes, name: str, wrong: Algorithm) -> None:
    """Other code under the kernel's name, as a generator with a fault would make it."""
    library = library_of(as_file(model), "c")
    assert library is not None
    kernel = Kernel(name, wrong, Schedule(), "c", "wrong")
    build_library([kernel], library.parent, levels=[cpu_level()])
    mark = hashlib.sha256(library.read_bytes()).hexdigest()
    Path(library.parent / "sha256").write_text(mark)


@pytest.mark.parametrize(("steps", "near_zero"), [(1, False), (3, True)])
def test_inputs_are_near_zero_where_standard_normal_ones_overflow(
    steps: int, near_zero: bool, shared_pool: WorkerPool
) -> None:
    places = ["x", *(f"e{step}" for step in range(1, steps)), "y"]
    nodes = " ".join(f"{after} = Exp({before})" for before, after in pairwise(places))
    model = onnx.parser.parse_model(f"""<ir_version: 9, opset_import: ["" : 20]>
        g (float[4,64] x) => (float[4,64] y) {{ {nodes} }}""")
    feeds = shared_pool(race_feeds, model.SerializeToString(), {})
    drawn = draw(feeds, seed=0)["x"]
    assert bool(np.abs(drawn).max() <= 0.25) is near_zero
    assert len(np.unique(drawn)) > 16
