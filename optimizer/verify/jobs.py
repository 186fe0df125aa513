"""What runs in the worker: fill the inputs, run both models, compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import onnx_ir as ir
from onnx import ModelProto

from optimizer.errors import quoted
from optimizer.isolation import Progress, silent
from optimizer.model.graph import bodies, walk_nodes
from optimizer.model.outline import outlined_file
from optimizer.model.writer import weight_bytes
from optimizer.operators.catalogue import is_random
from optimizer.verify.comparison import Comparison, Tolerance, compare, pooled
from optimizer.verify.feeds import Array, Feed, draw, planned
from optimizer.verify.memory import is_large, memory_problem
from optimizer.verify.runtime import Interface, NotRunnable, Session, as_file, unsupported_inputs
from optimizer.verify.sizes import plans

REFERENCE = "first model"
CANDIDATE = "second model"
"""How the two sides are called in steps and reasons."""

_SIZES_WANTED = 2
_TRIES_AFTER_SUCCESS = 2
_CALM_TRIES = 3


@dataclass(frozen=True, slots=True)
class Request:
    """How to fill the inputs.

    Attributes:
        seeds: runs of each model.
        bindings: sizes of free dimensions, by name.
        feeds: how to fill the inputs, instead of what the graph suggests.
    """

    seeds: int = 3
    bindings: Mapping[str, int] = field(default_factory=dict[str, int])
    feeds: tuple[Feed, ...] | None = None


@dataclass(frozen=True, slots=True)
class ReferenceRun:
    """One run of the reference."""

    inputs: Mapping[str, Array]
    outputs: Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Reference:
    """What the first model did.

    Attributes:
        feeds: of the first run.
        random: outputs that depend on a random operator.
        frugal: whether it ran in little memory, as the second model has to run, too.
    """

    interface: Interface
    feeds: tuple[Feed, ...]
    runs: tuple[ReferenceRun, ...]
    random: frozenset[str]
    frugal: bool = False


@dataclass(frozen=True, slots=True)
class Check:
    """What the second model did in comparison.

    Attributes:
        failure: why it does not run, empty if it does.
        interface: differences of inputs and outputs.
        outputs: each output over all runs.
    """

    failure: str
    interface: tuple[str, ...]
    outputs: tuple[Comparison, ...]


def verify_models(
    reference: bytes | Path,
    candidate: bytes | Path,
    request: Request,
    tolerance: Tolerance,
    *,
    progress: Progress | None = None,
) -> tuple[tuple[Feed, ...], Check]:
    """The feeds of the first run, and the comparison."""
    first = run_reference(reference, request, progress=progress)
    return first.feeds, check(first, candidate, tolerance, progress=progress)


def run_reference(
    model: bytes | Path, request: Request, *, progress: Progress | None = None
) -> Reference:
    """Run the first model on every seed.

    Raises:
        NotRunnable: if it does not run on any inputs that come to mind.
    """
    report = progress or silent
    report(f"{REFERENCE}: creating the session", 0.0)
    path = as_file(model)
    structure = structure_of(path)
    weights = weight_bytes(structure)
    if problem := memory_problem(weights):
        raise NotRunnable(problem)
    frugal = is_large(weights)
    session = Session(path, frugal=frugal)
    if reason := unsupported_inputs(session.interface):
        raise NotRunnable(reason)
    report(f"{REFERENCE}: looking for inputs that it accepts", 0.1)
    accepted, runs = accepted_feeds(session, structure, request)
    for seed in range(len(runs), request.seeds):
        report(
            f"{REFERENCE}: inputs {seed + 1} of {request.seeds}", 0.1 + 0.4 * seed / request.seeds
        )
        runs.append(_run(session, accepted[seed % len(accepted)], seed))
    return Reference(session.interface, accepted[0], tuple(runs), random_outputs(structure), frugal)


def check(
    reference: Reference,
    model: bytes | Path,
    tolerance: Tolerance,
    *,
    progress: Progress | None = None,
) -> Check:
    """Run the second model on what the first one ran on, and compare."""
    report = progress or silent
    report(f"{CANDIDATE}: creating the session", 0.5)
    path = as_file(model)
    random = reference.random | random_outputs(structure_of(path))
    outputs: tuple[Comparison, ...] = ()
    differences: tuple[str, ...] = ()
    try:
        session = Session(path, frugal=reference.frugal)
        differences = interface_differences(reference.interface, session.interface)
        known = {item.name for item in session.interface.inputs}
        for number, run in enumerate(reference.runs):
            part = 0.6 + 0.4 * number / len(reference.runs)
            report(f"{CANDIDATE}: inputs {number + 1} of {len(reference.runs)}", part)
            inputs = {name: array for name, array in run.inputs.items() if name in known}
            found = compare(run.outputs, session.run(inputs), tolerance=tolerance, random=random)
            outputs = pooled(outputs, found, tolerance.budget)
    except NotRunnable as error:
        return Check(error.message, differences, outputs)
    return Check("", differences, outputs)


def interface_differences(reference: Interface, candidate: Interface) -> tuple[str, ...]:
    """Inputs and outputs that went missing, were added, changed type or place."""
    found: list[str] = []
    for kind, before, after in (
        ("input", reference.inputs, candidate.inputs),
        ("output", reference.outputs, candidate.outputs),
    ):
        old = {item.name: item.type for item in before}
        new = {item.name: item.type for item in after}
        found += [f"{kind} {quoted(name)} is missing" for name in old if name not in new]
        found += [f"{kind} {quoted(name)} was added" for name in new if name not in old]
        found += [
            f"{kind} {quoted(name)} has type {new[name]} instead of {old[name]}"
            for name in old
            if name in new and new[name] != old[name]
        ]
        if old.keys() == new.keys() and list(old) != list(new):
            found.append(f"the {kind}s are in another order")
    return tuple(found)


def structure_of(path: Path) -> ir.Model:
    """The graph of a file.

    Raises:
        NotRunnable: it cannot be read.
    """
    try:
        data = outlined_file(path)
        if data is None:
            return ir.load(path)
        model = ir.from_proto(ModelProto.FromString(data))
        for value in model.graph.initializers.values():
            if isinstance(value.const_value, ir.ExternalTensor):
                value.const_value.base_dir = path.parent
        return model
    except Exception as error:  # whatever a malformed or unsupported file leads to
        raise NotRunnable(f"The graph cannot be read: {quoted(str(error))}.") from error


def accepted_feeds(
    session: Session, structure: ir.Model, request: Request
) -> tuple[list[tuple[Feed, ...]], list[ReferenceRun]]:
    """Feeds that the model runs on, of up to two different sizes, and the runs that showed it."""
    accepted: list[tuple[Feed, ...]] = []
    runs: list[ReferenceRun] = []
    failure = ""
    tries_left = _TRIES_AFTER_SUCCESS
    for feeds in _candidates(session.interface, structure, request):
        try:
            runs.append(_run(session, feeds, len(runs)))
            accepted.append(feeds)
        except NotRunnable as error:
            failure = failure or error.message
        if accepted:
            tries_left -= 1
        if tries_left < 0 or len(accepted) >= min(_SIZES_WANTED, request.seeds):
            break
    if not accepted:
        raise NotRunnable(failure)
    return accepted, runs


def _candidates(
    interface: Interface, structure: ir.Model, request: Request
) -> Iterator[tuple[Feed, ...]]:
    if request.feeds is not None:
        yield request.feeds
        return
    shapes = {item.name: item.shape for item in interface.inputs}
    tried = [planned(interface.inputs, plan, structure) for plan in plans(shapes, request.bindings)]
    yield from tried
    yield from (tuple(map(_calm, feeds)) for feeds in tried[:_CALM_TRIES])


def _calm(feed: Feed) -> Feed:
    """The same with the smallest integer everywhere."""
    return replace(feed, high=feed.low + 1) if feed.kind == "integers" else feed


def _run(session: Session, feeds: tuple[Feed, ...], seed: int) -> ReferenceRun:
    inputs = draw(feeds, seed=seed)
    return ReferenceRun(inputs, session.run(inputs))


def random_outputs(model: ir.Model) -> frozenset[str]:
    """Names of the graph outputs that depend on a random operator, also inside bodies."""
    random_functions = {
        identifier
        for identifier, function in model.functions.items()
        if any(is_random(node) for node in function)
    }
    tainted: set[ir.Value] = set()
    for node in model.graph:
        inside = [node, *(inner for body in bodies(node) for inner in walk_nodes(body))]
        if any(
            is_random(inner)
            or inner.op_identifier() in random_functions
            or any(value in tainted for value in inner.inputs if value is not None)
            for inner in inside
        ):
            tainted.update(node.outputs)
    return frozenset(value.name or "" for value in model.graph.outputs if value in tainted)
