"""Scan over an axis whose size is known."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from optimizer.model.graph import is_used
from optimizer.numbers import counted
from optimizer.passes.draft import Draft, NotHere
from optimizer.passes.structure.copying import copied, most_copied
from optimizer.passes.structure.unroll_loop import joined
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, Operand, Outcome, Replacement


@register
class UnrollScan(Pass):
    """Unroll a Scan over an axis of known size.

    What it does:
        The body of a Scan is written once for each slice of what it scans; what the rounds give one
        by one is stacked at the end, each along its axis and in its direction.
    Before:
        x[3, N] → Scan(body: sum → Add(slice))
    After:
        x → Gather(0), Gather(1), Gather(2) → Add → Add → Add
    When it is safe:
        The size of a scanned axis is a number. All rounds together, control flow in the body
        included, have at most `most_nodes` nodes. The model's opset is 9 or newer.
    Numerics:
        Bit-identical: the same operators run in the same order.
    Source:
        ONNX operator specification, Scan.

    Attributes:
        most_nodes: nodes that a Scan may become.
    """

    id = "unroll-scan"
    exactness = "exact"
    presets = ()
    order = 20

    most_nodes: int = 256

    @rule("Scan", name="CountedScan")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """A Scan with a known number of rounds."""
        scan = scan_of(node, context)
        if not isinstance(scan, CountedScan):
            return scan
        size = scan.rounds * (most_copied(scan.body) + scan.sliced + scan.stacked)
        if size > self.most_nodes:
            what = f"it would become {size:,} nodes (limit {self.most_nodes:,})"
            return Declined(f"The Scan stays: {what}")
        try:
            return unrolled_scan(scan, context)
        except NotHere as why:
            return Declined(f"The Scan stays: {why}")


@dataclass(frozen=True, slots=True)
class CountedScan:
    """A Scan and how often it goes round.

    Attributes:
        sliced: how many values it scans.
        axes: along which axes these are cut, then along which results are stacked.
        backwards: likewise, whether from the end.
    """

    node: ir.Node
    body: ir.Graph
    rounds: int
    sliced: int
    axes: tuple[int, ...]
    backwards: tuple[bool, ...]

    @property
    def carried(self) -> int:
        """How many values go from one round to the next."""
        return len(self.node.inputs) - self.sliced

    @property
    def stacked(self) -> int:
        """How many results there are of every round."""
        return len(self.node.outputs) - self.carried


def scan_of(node: ir.Node, context: Context) -> CountedScan | Declined | None:
    """What is known of a Scan, if that is how often it goes round."""
    attribute = node.attributes.get("body")
    if attribute is None or attribute.is_ref() or context.opset() < 9:
        return None
    sliced = node.attributes.get_int("num_scan_inputs", 0)
    stacked = len(node.outputs) - (len(node.inputs) - sliced)
    if not 0 < sliced <= len(node.inputs) or stacked < 0:
        return None
    axes = (*_listed(node, "scan_input_axes", sliced), *_listed(node, "scan_output_axes", stacked))
    ways = (
        *_listed(node, "scan_input_directions", sliced),
        *_listed(node, "scan_output_directions", stacked),
    )
    shape = context.symbolic.shape(node.inputs[-sliced])
    rounds = None if shape is None or axes[0] >= len(shape) else shape[axes[0]]
    if not isinstance(rounds, int):
        return Declined("The Scan stays: the size of the axis that it scans is not known")
    backwards = tuple(way == 1 for way in ways)
    return CountedScan(node, attribute.as_graph(), rounds, sliced, axes, backwards)


def _listed(node: ir.Node, name: str, count: int) -> list[int]:
    given = node.attributes.get(name)
    return [0] * count if given is None else [*given.as_ints()]


def unrolled_scan(scan: CountedScan, context: Context) -> Replacement:
    """A Scan, round by round.

    Raises:
        NotHere: its body cannot be copied.
    """
    node, draft = scan.node, Draft(context.opset(), scan.node.name or "scan")
    if not scan.rounds and any(map(is_used, node.outputs[scan.carried :])):
        raise NotHere("it stacks the results of no round at all")
    carried: list[Operand | None] = [*node.inputs[: scan.carried]]
    stacks: list[list[Operand]] = [[] for _ in range(scan.stacked)]
    for number in range(scan.rounds):
        slices = [_slice(scan, index, number, draft) for index in range(scan.sliced)]
        bound = dict(zip(scan.body.inputs, [*carried, *slices], strict=True))
        results = copied(scan.body, bound, draft)
        carried = results[: scan.carried]
        for index, result in enumerate(results[scan.carried :]):
            if result is None:
                raise NotHere("its body leaves a result out")
            stacks[index].append(draft.unsqueeze(result, scan.axes[scan.sliced + index]))
    stacked = [_stacked(scan, index, stack, draft) for index, stack in enumerate(stacks)]
    pairs = zip(node.outputs, [*carried, *stacked], strict=True)
    values = {old: new for old, new in pairs if new is not None and is_used(old)}
    reason = f"The Scan always goes {counted(scan.rounds, 'round')}: each is written out."
    return Replacement([node], values, reason, draft.made)


def _slice(scan: CountedScan, index: int, number: int, draft: Draft) -> Operand:
    """What one of the scanned values is in a round."""
    value = scan.node.inputs[scan.carried + index]
    if value is None:
        raise NotHere("what it scans is left out")
    place = scan.rounds - 1 - number if scan.backwards[index] else number
    return draft.new("Gather", value, draft.place(place), axis=scan.axes[index])


def _stacked(scan: CountedScan, index: int, stack: list[Operand], draft: Draft) -> Operand | None:
    parts = stack[::-1] if scan.backwards[scan.sliced + index] else stack
    return joined(parts, draft, axis=scan.axes[scan.sliced + index])
