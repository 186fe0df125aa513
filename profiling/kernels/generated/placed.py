"""The generated kernels of a model, and the sizes that they have there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from math import prod
from pathlib import Path

import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.errors import Cancelled, RunError
from optimizer.fusion.algorithm import algorithm_of
from optimizer.isolation import Isolate
from optimizer.loops.building import NotGenerated
from optimizer.loops.scheduling import NoSchedule, default_schedule
from optimizer.model.generated_functions import KernelBody, kernel_bodies
from optimizer.operators.generated import GENERATED
from optimizer.verify import jobs
from optimizer.verify.runtime import Session
from optimizer.verify.sizes import evaluate
from profiling.codegen.compiler import compiler_missing
from profiling.codegen.store import code_version
from profiling.kernels.generated.own_schedules import OwnSchedule
from profiling.kernels.generated.single import call_of
from profiling.kernels.workload import TensorSize, Workload

_SHOWN_SIZES = 2


@dataclass(frozen=True)
class PlacedKernel:
    """A generated kernel of a model.

    Attributes:
        body: what it computes.
        places: names of the nodes that call it, each alone.
        sizes: of its free dimensions, as in this model.
        constants: inputs that are weights at the first place.
        own: schedules of it that somebody made, which a race tries, too.
    """

    body: KernelBody
    places: tuple[tuple[str, ...], ...]
    sizes: Mapping[str, int]
    constants: Mapping[int, ir.TensorProtocol]
    own: tuple[OwnSchedule, ...] = ()

    @property
    def name(self) -> str:
        """Of the function."""
        return self.body.name

    def model(self) -> ir.Model:
        """It alone, on the sizes that it has in the model."""
        return call_of(self.body, sizes=self.sizes, constants=self.constants)

    @property
    def inputs(self) -> tuple[TensorSize, ...]:
        """Sizes of what comes from other operators."""
        return tuple(
            _sized(one.dtype, one.shape, self.sizes)
            for place, one in enumerate(self.body.signature.inputs)
            if place not in self.constants
        )

    @property
    def moved_bytes(self) -> int:
        """What one call reads and writes."""
        told = (*self.body.signature.inputs, *self.body.signature.outputs)
        sized = [_sized(one.dtype, one.shape, self.sizes) for one in told]
        return sum(prod(one.shape) * ir.DataType[one.dtype].bitwidth // 8 for one in sized)

    @cached_property
    def code(self) -> str:
        """Hash of the loops, of their schedule, and of who makes code of them, if anybody can."""
        body = self.body
        made = [code_version(), _version("passlens"), compiler_missing()]
        try:
            loops = algorithm_of(body.nodes, body.inputs, body.outputs, body.known, body.opset)
            made += [repr(loops), repr(default_schedule(loops))]
        except (NotGenerated, NoSchedule) as error:
            made.append(str(error))
        return hashlib.sha256("\n".join(made).encode()).hexdigest()[:16]

    def workload(self, threads: int) -> Workload:
        """What is decided about: this code on these sizes with so many threads."""
        operators = tuple(node.op_type for node in self.body.nodes if node.op_type != "Constant")
        document = {
            "kernel": self.name,
            "sizes": dict(sorted(self.sizes.items())),
            "weights": sorted(self.constants),
            "threads": threads,
            "code": self.code,
        }
        canonical = json.dumps(document, sort_keys=True, separators=(",", ":"))
        sizes = " and ".join(map(str, self.inputs[:_SHOWN_SIZES]))
        return Workload(
            hashlib.sha256(canonical.encode()).hexdigest(),
            "generated",
            f"{' + '.join(operators)} on {sizes}",
            operators,
            self.inputs,
            canonical,
        )


def placed_kernels(path: Path, graph: ir.Graph, sizes: Mapping[str, int]) -> Iterator[PlacedKernel]:
    """The kernels of a model, in the order of their first places.

    Args:
        path: the file.
        graph: its graph, with shapes.
        sizes: of the model's free dimensions.
    """
    bodies = kernel_bodies(path)
    calls: dict[str, list[ir.Node]] = {}
    for node in graph:
        if node.domain == GENERATED and node.op_type in bodies:
            calls.setdefault(node.op_type, []).append(node)
    for name, nodes in calls.items():
        found = _sizes_at(nodes[0], bodies[name], sizes)
        if found is not None:
            constants = {
                place: tensor
                for place, value in enumerate(nodes[0].inputs)
                if value is not None and (tensor := constant_of(value)) is not None
            }
            places = tuple((node.name or "",) for node in nodes)
            yield PlacedKernel(bodies[name], places, found, constants)


def sizes_run(path: Path, given: Mapping[str, int], *, isolate: Isolate) -> dict[str, int]:
    """Sizes of a model's free dimensions on which it runs, those given among them.

    Raises:
        RunError: it runs on none that come to mind.
    """
    try:
        return isolate(_sizes_run, path, dict(given))
    except Cancelled:
        raise
    except RunError as error:
        if not given:
            raise
        told = ", ".join(f"{name}={size}" for name, size in given.items())
        raise RunError(f"The model does not run with {told}: {error.message}") from error


def _sizes_run(path: Path, given: dict[str, int]) -> dict[str, int]:
    """In the worker."""
    session = Session(path)
    request = jobs.Request(seeds=1, bindings=given)
    feeds, _ = jobs.accepted_feeds(session, jobs.structure_of(path), request)
    shapes = {feed.name: feed.shape for feed in feeds[0]}
    return {
        dim: size
        for one in session.interface.inputs
        for dim, size in zip(one.shape, shapes[one.name], strict=True)
        if isinstance(dim, str)
    }


def _sizes_at(node: ir.Node, body: KernelBody, sizes: Mapping[str, int]) -> dict[str, int] | None:
    """The kernel's free sizes at one place; None where the model leaves one open."""
    found: dict[str, int] = {}
    for value, told in zip(node.inputs, body.signature.inputs, strict=True):
        shape = None if value is None else value.shape
        for dim, name in zip(shape or (), told.shape, strict=False):
            if isinstance(name, str) and name.isidentifier():
                size = evaluate(dim if isinstance(dim, int) else dim.value, sizes)
                if size is None:
                    return None
                found.setdefault(name, size)
    return found


def _sized(dtype: str, shape: tuple[int | str, ...], sizes: Mapping[str, int]) -> TensorSize:
    numbers = [evaluate(dim, sizes) for dim in shape]
    return TensorSize(dtype, tuple(1 if size is None else size for size in numbers))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
