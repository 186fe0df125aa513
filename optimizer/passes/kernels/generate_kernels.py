"""Regions as generated kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import onnx_ir as ir

from optimizer.fusion.planning import FusionPlan, plan_fusion
from optimizer.fusion.region import Region, read_by_kernel
from optimizer.loops.schedule import Schedule
from optimizer.model.graph import is_used
from optimizer.model.region_functions import NoSignature, region_function
from optimizer.model.scheduled_functions import scheduled, schedules_from
from optimizer.operators.generated import GENERATED
from optimizer.registry import ANY, Pass, register, rule
from optimizer.rules import Context, Declined, NewNode, Outcome, Replacement


@dataclass(frozen=True, slots=True)
class _Planned:
    """A plan, and the regions that each node is in: several may compute it again."""

    plan: FusionPlan
    regions: Mapping[ir.Node, Sequence[Region]]


@register
class GenerateKernels(Pass):
    """Generate kernels for regions.

    What it does:
        Operators that work element by element, reductions, softmax, normalizations and what moves
        data become one node where one kernel is predicted to take less than all of them: it is
        launched once, and what passes between them never reaches memory. So does a single node
        whose kernel in ONNX Runtime is slow. What only moves data for several kernels is part of
        each of them. The node is a function of the model with the
        region's own nodes: a library of compiled kernels makes it fast, and without one the file
        computes the same. A kernel that `schedules` names (a document, by kernel) is compiled in
        that order: the schedule goes into the function.
    Before:
        x → Mul → Add → Softmax → y
    After:
        x → passlens.generated.Mul_Add_Softmax_… → y
    When it is safe:
        The loops of every operator in it are known, and an order for them that can be compiled,
        its types and ranks too, and every free size is an axis of something that it reads. Its
        outputs have one shape. What ONNX Runtime makes part of a product or a convolution by
        itself is left to it, but for a bias that what follows can add. Where nodes between those of
        a region need what it gives, they are put behind it; none of them gives it anything.
    Numerics:
        The same mathematics; a kernel may add in another order than the runtime.
    Source:
        Chen et al. 2018, TVM, for which loops fit together; Ragan-Kelley et al. 2013, Halide.
    """

    id = "generate-kernels"
    exactness = "reassociates"
    presets = ("generated",)
    order = 90
    last = True

    schedules: str = ""

    @rule(ANY, name="RegionAsKernel", reach=1)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Write the region that a node is in, once all that it reads is there."""
        if node.domain == GENERATED or [*context.scopes(cast("ir.Graph", node.graph))][1:]:
            return None
        planned = _planned(node, context)
        regions = planned.regions.get(node)
        if regions is None:
            refused = planned.plan.refused.get(node)
            return None if refused is None else Declined(refused[0], _still(refused[1]))
        ready = (one for one in regions if _stands(one) and _in_place(one, node, context))
        region = next(ready, None)
        if region is None:
            return None
        return _replacement(region, context, schedules_from(self.schedules))


def _replacement(
    region: Region, context: Context, schedules: Mapping[str, Schedule]
) -> Replacement | Declined:
    """The region as a call; kernels written before it may have left less known of its sizes."""
    fact, opsets = context.symbolic.fact, context.opsets
    try:
        made = region_function(region.nodes, region.outputs, fact, opsets)
    except NoSignature as error:
        return Declined(f"Not a kernel after those around it: {error}")
    reason, schedule = region.reason, schedules.get(made.proto.name)
    if schedule is not None:
        made = replace(made, proto=scheduled(made.proto, schedule))
        reason = f"{reason} Its loops are in an order of their own."
    name = cast("ir.Node", region.outputs[0].producer()).name
    new = NewNode(
        made.proto.name, made.inputs, domain=GENERATED, outputs=len(made.outputs), name=name
    )
    values = {value: new.output(index) for index, value in enumerate(made.outputs)}
    return Replacement(
        region.nodes, values, reason, [new], functions=[made.function()], delays=True
    )


def _planned(node: ir.Node, context: Context) -> _Planned:
    known = cast("_Planned | None", context.memory.get(GENERATED))
    if known is None:
        plan = plan_fusion(cast("ir.Graph", node.graph), context.symbolic.fact)
        regions: dict[ir.Node, list[Region]] = {}
        for region in plan.regions:
            for one in region.nodes:
                regions.setdefault(one, []).append(region)
        known = _Planned(plan, regions)
        context.memory[GENERATED] = known
    return known


def _still(nodes: tuple[ir.Node, ...]) -> tuple[ir.Node, ...]:
    return tuple(node for node in nodes if node.graph is not None)


def _stands(region: Region) -> bool:
    """Whether all of it is there as it was planned, and its outputs are still read."""
    return all(map(is_used, region.outputs)) and all(n.graph is not None for n in region.nodes)


def _in_place(region: Region, node: ir.Node, context: Context) -> bool:
    """Whether a kernel right before a node finds all that it reads."""
    makers = (value.producer() for value in read_by_kernel(region.nodes))
    return all(maker is None or context.precedes(maker, node) for maker in makers)
