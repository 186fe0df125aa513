"""Asked again at another step, only what changed is asked; the answers are those of all."""

from __future__ import annotations

import random
from typing import ClassVar

import onnx_ir as ir
import pytest

from optimizer.model.graph import Model, node_id
from optimizer.model.loader import load_path
from optimizer.model.symbolic import SymbolicValues
from optimizer.pipeline import Pipeline
from optimizer.registry import Family, Pass, passes, rule
from optimizer.rewrite.affected import affected
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.edits import ImportOpset
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.what_if import Answers, AskedGraph, Preview
from optimizer.rules import Context
from studio.artifacts.preview import can_be_asked
from studio.gallery import gallery
from tests.optimizer.graphs import opened

NOTHING = Pipeline.of("none")
CHAIN = """<ir_version: 8, opset_import: ["" : 17]>
main (float[2,3] x) => (float[2,3] y) {
   a = Identity (x)
   b = Exp (a)
   c = Neg (b)
   d = Abs (c)
   e = Sqrt (d)
   f = Exp (e)
   g = Neg (f)
   h = Abs (g)
   i = Identity (h)
   y = Sin (i)
}"""


class CountsQuestions(Pass):
    """Says nothing of the nodes that it is asked about."""

    id = "counts-questions"
    family: ClassVar[Family] = "node"
    asked: ClassVar[list[str]] = []

    @rule("Exp", "Neg", "Abs", "Sqrt", "Sin", name="Counted", reach=2)
    def match(self, node: ir.Node, context: Context) -> None:
        """Take it down."""
        self.asked.append(node_id(node))


class Walk:
    """Steps of one run that are asked about one after the other."""

    def __init__(self, model: Model, pipeline: Pipeline, asked: list[Pass]) -> None:
        self.cursor, self.asked = Cursor.at_end(optimize(model, pipeline)), asked
        self.deepest = max(one.reach for one in asked)
        self.known: dict[str, Answers] = {}
        self.symbolic: SymbolicValues | None = None

    def ask(self, step: int) -> dict[str, Preview]:
        """What the passes say at a step, to one who remembers what they said last."""
        edits = [*self.cursor.edits_between(self.cursor.step, step)]
        model = self.cursor.seek(step)
        changed = affected(self.cursor.state, edits, self.deepest) if self.known else None
        graph = AskedGraph(model, NOTHING, seconds=60, symbolic=self.symbolic, affected=changed)
        self.symbolic = graph.symbolic  # what is known of values holds at other steps, too
        found = {one.id: graph.preview(one, self.known.get(one.id)) for one in self.asked}
        self.known = {key: said for key, (_, said) in found.items() if said is not None}
        return {key: preview for key, (preview, _) in found.items()}

    def ask_all(self) -> dict[str, Preview]:
        """What they say there to one who asks about all nodes, and knows as much of values."""
        graph = AskedGraph(self.cursor.model, NOTHING, seconds=60, symbolic=self.symbolic)
        return {one.id: graph.preview(one)[0] for one in self.asked}


def tour() -> Model:
    model = load_path(gallery.open_path("tour"))
    SymbolicValues(model.ir).propagate(model.ir.graph)
    return model


def test_at_every_step_the_answers_are_those_of_one_who_asks_about_all() -> None:
    asked = [one() for one in passes() if can_be_asked(one)]
    walk = Walk(tour(), Pipeline.of("portable"), asked)
    steps = [*range(walk.cursor.trace.steps + 1)]
    jumps = random.Random(0).sample(steps, 12)
    for step in [*steps[:20], 18, 17, *jumps]:
        told, expected = walk.ask(step), walk.ask_all()
        assert {k: v for k, v in told.items() if v != expected[k]} == {}, step


@pytest.mark.parametrize(("to", "asked"), [(1, "n1 n2 n3 n4"), (2, "n5 n6 n7 n9")])
def test_only_nodes_that_see_a_change_are_asked(to: int, asked: str) -> None:
    eliminate = next(one for one in passes() if one.id == "eliminate-identity")
    walk = Walk(opened(CHAIN), Pipeline((eliminate(),)), [CountsQuestions()])
    walk.cursor.seek(0)
    for step in range(to + 1):
        CountsQuestions.asked.clear()
        walk.ask(step)
    assert CountsQuestions.asked == asked.split()
    CountsQuestions.asked.clear()
    walk.ask_all()
    assert len(CountsQuestions.asked) == 8


def test_another_operator_set_concerns_all_nodes() -> None:
    state = Cursor.at_end(optimize(opened(CHAIN), NOTHING)).state
    assert affected(state, [ImportOpset("", 18, 17)], 2) is None
    assert affected(state, [ImportOpset("com.microsoft", 1)], 2) is None
