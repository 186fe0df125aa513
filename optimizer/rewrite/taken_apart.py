"""What a pipeline takes apart because a device lacks it, and no pass of it puts together."""

from __future__ import annotations

from typing import Any, cast

import onnx_ir as ir

from optimizer.hardware import HardwareProfile, lack, profile_of
from optimizer.hardware.support import operator_name
from optimizer.pipeline import Pipeline
from optimizer.registry import GraphPass, Pass
from optimizer.rules.replacement import NewNode, Replacement, as_attributes


class TakenApart:
    """The operators that passes of the family `lowering` write with others."""

    def __init__(self, pipeline: Pipeline) -> None:
        lowering = [one for one in pipeline.passes if one.family == "lowering"]
        self._by: dict[str, list[tuple[str, HardwareProfile]]] = {}
        for one in lowering:
            if one.id in pipeline.places:
                continue  # it is asked about some nodes, which new ones are not
            for root in one.roots:
                profile = profile_of(cast("Any", one).profile)
                self._by.setdefault(root, []).append((one.id, profile))

    def problem(self, planned: Pass, outcome: Replacement, opset: int) -> str:
        """Why a pass must not make what it makes; empty if it may.

        A node that takes the place of one of its own type is none that is put together.

        Args:
            planned: the pass.
            outcome: what it makes.
            opset: the version of ONNX's operators that the model imports.
        """
        if not self._by or planned.family == "lowering" or isinstance(planned, GraphPass):
            return ""
        there = {operator_name(node) for node in outcome.matched}
        version = outcome.opsets.get("", opset)
        for new in outcome.nodes:
            plain = _plain(new)
            name = operator_name(plain)
            for pass_id, profile in self._by.get(name, ()) if name not in there else ():
                if lacking := lack(plain, profile, version):
                    return f"{lacking}, and {pass_id} would take it apart"
        return ""


def _plain(new: NewNode) -> ir.Node:
    """A new node that reads nothing of the graph."""
    inputs = [None if operand is None else ir.Value() for operand in new.inputs]
    attributes = as_attributes(new.attributes)
    return ir.Node(new.domain, new.op_type, inputs, attributes, num_outputs=new.outputs)
