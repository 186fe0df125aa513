"""`passlens kernels -o FOLDER`: the kernels that won, in the orders in which they did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from optimizer.errors import StudioError, quoted
from optimizer.loops.schedule import Schedule
from optimizer.model.generated_functions import generated_names
from profiling.codegen.kernel import LEVELS, GeneratorId
from profiling.codegen.store import Chosen, left_out
from profiling.kernels.generated.decisions import KernelDecision
from profiling.kernels.generated.network import NetworkDecision
from profiling.kernels.generated.own_schedules import with_schedules
from profiling.kernels.generated.placed import PlacedKernel
from profiling.kernels.generated.settling import without_kernels
from profiling.workers import default_pool
from studio.commands.output import say
from studio.export.kernels import export_kernels


@dataclass(frozen=True, slots=True)
class Taken:
    """What goes along with a model.

    Attributes:
        generators: name of a kernel -> who writes its code.
        schedules: of those that are not in the default order.
    """

    generators: Mapping[str, GeneratorId]
    schedules: Mapping[str, Schedule]


def taken_along(
    kernels: Sequence[PlacedKernel],
    decisions: Mapping[str, KernelDecision],
    network: NetworkDecision | None,
) -> Taken | None:
    """The kernels that go along; None for all of them, in the default order."""
    if network is not None:
        return Taken(dict.fromkeys(network.settled.kept, "halide"), network.schedules)
    if not decisions:
        return None
    own = {one.name: one.own for one in kernels}
    shipped = {name: one.shipped(own.get(name, ())) for name, one in decisions.items()}
    return Taken(
        {name: one.generator for name, one in shipped.items() if one is not None},
        {name: one.own.schedule for name, one in shipped.items() if one and one.own},
    )


def export(model: Path, folder: Path, taken: Taken | None) -> None:
    """The model with the kernels that won as a folder; the others are the operators they were.

    Raises:
        StudioError: none won, or the folder cannot be written.
    """
    generator: Chosen = "halide"
    if taken is not None:
        if not taken.generators:
            raise StudioError(f"No kernel won, so {quoted(folder)} was not written.")
        lost = [name for name in generated_names(model) if name not in taken.generators]
        some, model = model, model.with_name("taken.onnx")
        default_pool()(without_kernels, some, lost, model)
        plain_order, model = model, model.with_name("ordered.onnx")
        named = default_pool()(with_schedules, plain_order, dict(taken.schedules), model)
        generator = {named.get(name, name): one for name, one in taken.generators.items()}
    names = export_kernels(model, folder, isolate=default_pool(), generator=generator)
    for reason in default_pool()(left_out, model, generator, LEVELS):
        say(f"Left as operators: {reason}")
    say(f"Wrote {', '.join(names)} to {folder}.")
