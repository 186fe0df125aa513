"""A pass written tomorrow, with golden cases and nothing else, is met by random graphs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import onnx_ir as ir
import pytest

from optimizer.registry import Pass, rule
from optimizer.rules.context import Context
from optimizer.rules.replacement import NewNode, Outcome, Replacement
from tests.optimizer.passes import golden
from tests.optimizer.passes.test_equivalence import ERAS, tallied
from tests.optimizer.random_seeds import Seeds

SWISH = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[N,4] x) => (float[N,4] y) {
   s = Sigmoid (x)
   y = Mul (x, s)
}
"""


@dataclass(frozen=True)
class FuseSwish(Pass):
    """Fuse Swish for ONNX Runtime."""

    id = "fuse-swish"
    family = "block"
    exactness = "reassociates"
    slope: ClassVar = 1.0

    @rule("Mul", name="Swish", reach=1)
    def match(self, node: ir.Node, _: Context) -> Outcome:
        """x * sigmoid(x), the product in this order."""
        x, gate = node.inputs
        producer = gate.producer() if gate is not None else None
        if producer is None or producer.op_type != "Sigmoid" or producer.inputs[0] is not x:
            return None
        made = NewNode("QuickGelu", [x], {"alpha": self.slope}, domain="com.microsoft")
        return Replacement([node], {node.outputs[0]: made.output()}, "Swish.", [made])


class FuseWrongSwish(FuseSwish):
    slope = 1.5
    match = FuseSwish.match


class FuseNothing(FuseSwish):
    @rule("Mul", name="Nothing")
    def match(self, node: ir.Node, _: Context) -> Outcome:
        """What no graph has."""
        return None


def seeds_of(declared: type[Pass], source: str) -> Seeds:
    return Seeds(declared, [golden.Case(Path("fuse-swish/fuses.txt"), "", {"before": source})])


@pytest.mark.parametrize("era", ERAS)
def test_a_pass_fires_on_random_graphs_of_every_era_for_its_golden_case_alone(era: str) -> None:
    tally = tallied(seeds_of(FuseSwish, SWISH), era)
    assert tally.fired > tally.graphs / 2


def test_a_wrong_pass_is_caught_by_them() -> None:
    with pytest.raises(AssertionError, match="differs by"):
        tallied(seeds_of(FuseWrongSwish, SWISH), "newest")


def test_a_pass_that_never_fires_is_named() -> None:
    tally = tallied(seeds_of(FuseNothing, SWISH), "old")
    assert str(tally) == f"fuse-swish fired on 0 of {tally.graphs} old random graphs"
