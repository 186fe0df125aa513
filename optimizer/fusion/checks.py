"""Whether code can be generated for a region: loops for all of its nodes, and an order for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx_ir as ir

from optimizer.fusion.algorithm import algorithm_of
from optimizer.loops.building import NotGenerated
from optimizer.loops.scheduling import NoSchedule, default_schedule
from optimizer.model.generated_functions import kernel_body
from optimizer.model.region_functions import NoSignature, RegionFunction, region_function
from optimizer.operators.call import Known


class KernelCheck:
    """Answers for regions of one graph; equal regions are looked at once."""

    def __init__(self, known: Known, opsets: Mapping[str, int]) -> None:
        self._known, self._opsets = known, opsets
        self._reasons: dict[str, str] = {}

    def function(
        self, nodes: Sequence[ir.Node], outputs: Sequence[ir.Value]
    ) -> RegionFunction | str:
        """The region as a function, or why no kernel is generated from it."""
        try:
            made = region_function(nodes, outputs, self._known, self._opsets)
        except NoSignature as error:
            return str(error)
        name = made.proto.name
        if name not in self._reasons:
            self._reasons[name] = _reason(made)
        return self._reasons[name] or made


def _reason(made: RegionFunction) -> str:
    body = kernel_body(made.proto)
    try:
        default_schedule(
            algorithm_of(body.nodes, body.inputs, body.outputs, body.known, body.opset)
        )
    except (NotGenerated, NoSchedule) as error:
        return str(error)
    return ""
