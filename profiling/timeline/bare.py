"""Runs without the profiler, in turns with those with it, and a chain of trivial nodes both ways.

Machines are faster and slower from moment to moment: what the profiler costs is what runs beside
each other tell. Only in a worker.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import onnx_ir as ir
from onnx_ir.tape import Tape

from profiling.config import RunConfig
from profiling.execution.session import open_session
from profiling.timeline.events import Run, parse_profile
from profiling.timeline.profiler_cost import ProfilerCost, Usual, of_trivial_nodes, of_variant

_NODES = 200
_OPSET = 17
_WARM_RUNS = 2
_MOST_CALLS, _CALLS_US = 4, 5_000


class BareRuns:
    """What the profiler costs, found out run by run.

    Args:
        config: of the variant; the chain runs under the same options.
        folder: for the chain's files; stays until `cost`.
        call: one run of the variant without the profiler.
    """

    def __init__(self, config: RunConfig, folder: Path, call: Callable[[], object]) -> None:
        self._call = call
        path = folder / "chain.onnx"
        ir.save(_chain(), path)
        prefix = str(folder / "chain-profile")
        self._profiled: Any = open_session(path, config, profile_prefix=prefix)
        self._bare: Any = open_session(path, config)
        self._feeds = {"x": np.ones(1, np.float32)}
        self._chain_us: list[float] = []
        self._times_us: list[float] = []
        self._warm = False

    def run(self) -> None:
        """One more run of all; short ones more than once."""
        self._profiled.run(None, self._feeds)
        self._chain_us += _timed_us(lambda: self._bare.run(None, self._feeds))
        times_us = _timed_us(self._call)
        self._times_us += times_us if self._warm else []
        self._warm = True

    def cost(self, runs: tuple[Run, ...], *, usual: Usual = median) -> ProfilerCost:
        """What the variant's runs and the chain say together; the sessions are over.

        Args:
            runs: of the variant with the profiler.
            usual: what stands for several times.
        """
        written = Path(str(self._profiled.end_profiling()))
        chain = parse_profile(written.read_text(encoding="utf-8", errors="replace")).runs
        steady = chain[min(_WARM_RUNS, len(chain) - 1) :]
        trivial = of_trivial_nodes(steady, self._chain_us, usual=usual)
        # A variant that ran once has nothing that is warm.
        bare_us = self._times_us or _timed_us(self._call)
        return of_variant(trivial, runs[1:] or runs, bare_us, usual=usual)


def _timed_us(call: Callable[[], object]) -> list[float]:
    """How long a few calls take, fewer where they are long."""
    found: list[float] = []
    collecting = gc.isenabled()
    gc.disable()
    try:
        while not found or (len(found) < _MOST_CALLS and sum(found) < _CALLS_US):
            started = time.perf_counter_ns()
            call()
            found.append((time.perf_counter_ns() - started) / 1e3)
    finally:
        if collecting:
            gc.enable()
    return found


def _chain() -> ir.Model:
    first, tape = ir.val("x", ir.DataType.FLOAT, (1,)), Tape()
    last = first
    for number in range(_NODES):
        made = ir.val(f"y{number}", ir.DataType.FLOAT, (1,))
        last = tape.op("Neg", [last], name=f"node{number}", output=made)
    imports = {"": _OPSET}
    graph = ir.Graph([first], [last], nodes=tape.nodes, opset_imports=imports, name="chain")
    return ir.Model(graph, ir_version=9)
