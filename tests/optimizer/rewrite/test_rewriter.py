"""The Rewriter at the edges: outputs, bodies, names, order, undo."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from optimizer.model.symbolic import SymbolicValues
from optimizer.model.writer import to_bytes
from optimizer.rewrite.rewriter import Rewriter
from optimizer.rules.replacement import NewInitializer, NewNode, Replacement
from tests.optimizer.rewrite.applying import Bench, bench

IF = """y = If (c) <
    then_branch = yes () => (float[N] t) { a = Add(m, w)  t = Neg(a) },
    else_branch = no () => (float[N] e) { e = Relu(m) }
>"""


def _with_if() -> Bench:
    return bench(
        "(bool c, float[N] x) => (float[N] z)",
        *("m = Abs(x)", IF, "z = Neg(y)"),
        weights="float[1] w = {2}",
    )


def test_an_if_that_goes_away_lets_go_of_what_its_bodies_read_and_undo_takes_it_back() -> None:
    one = _with_if()
    source = to_bytes(one.model)
    m, w = one.value("m"), one.value("w")
    done = one.apply("y", Replacement([one.node("y")], {one.value("y"): m}, ""))
    assert [use.node.op_type for use in m.uses()] == ["Neg"]
    assert not w.uses()
    result = to_bytes(one.model)
    one.undo(done)
    assert to_bytes(one.model) == source
    assert sorted(use.node.op_type for use in m.uses()) == ["Add", "Relu"]
    one.redo(done)
    assert to_bytes(one.model) == result


def test_a_value_that_only_a_body_reads_can_be_replaced_from_outside() -> None:
    one = _with_if()
    done = one.apply("m", Replacement([one.node("m")], {one.value("m"): one.value("x")}, ""))
    assert "a = Add (x, w)" in one.text
    assert "e = Relu (x)" in one.text
    assert [node.op_type for node in done.removed] == ["Abs"]


def test_a_value_that_is_an_output_twice_is_replaced_in_both_places() -> None:
    one = bench("(float[N] x) => (float[N] y)", "a = Neg(x)", "y = Identity(a)")
    one.model.graph.outputs.append(one.value("y"))
    source = to_bytes(one.model)
    done = one.apply("y", Replacement([one.node("y")], {one.value("y"): one.value("a")}, ""))
    assert [value.name for value in one.model.graph.outputs] == ["y", "y"]
    assert [node.op_type for node in one.model.graph] == ["Neg"]
    one.undo(done)
    assert to_bytes(one.model) == source


def test_a_graph_output_keeps_its_name_when_its_maker_is_needed_elsewhere() -> None:
    one = bench("(float[N] x) => (float[N] y)", "a, m = MaxPool(x)", "y = Relu(a)")
    new = NewNode("Abs", [one.value("a")])
    one.apply("y", Replacement([one.node("y")], {one.value("y"): new.output()}, "", nodes=[new]))
    assert "y = Abs (a)" in one.text


def test_a_matched_node_that_is_still_needed_stays_and_keeps_its_name() -> None:
    one = bench(
        "(float[N] x) => (float[N] y, float[N] z)",
        *('["shared"] a = Neg(x)', '["last"] y = Relu(a)', '["other"] z = Abs(a)'),
    )
    new = NewNode("Neg", [one.value("x")])
    matched = [one.node("a"), one.node("y")]
    one.apply("y", Replacement(matched, {one.value("y"): new.output()}, "", nodes=[new]))
    assert [node.name for node in one.model.graph] == ["shared", "shared~1", "other"]


def test_a_new_node_takes_the_name_of_the_matched_node_it_stands_for() -> None:
    one = bench("(float[N] x) => (float[N] y)", '["first"] a = Neg(x)', '["second"] y = Relu(a)')
    new = NewNode("Neg", [one.value("x")])
    matched = [one.node("a"), one.node("y")]
    one.apply("y", Replacement(matched, {one.value("y"): new.output()}, "", nodes=[new]))
    assert [node.name for node in one.model.graph] == ["first"]


def test_a_new_node_does_not_take_the_name_of_a_matched_node_that_it_reads() -> None:
    lines = ('["first"] a = Neg(x)', '["second"] y = Neg(a)')
    one = bench("(float[N] x) => (float[N] y)", *lines)
    new = NewNode("Neg", [one.value("a")])
    matched = [one.node("a"), one.node("y")]
    one.apply("y", Replacement(matched, {one.value("y"): new.output()}, "", nodes=[new]))
    assert [node.name for node in one.model.graph] == ["first", "first~1"]


def test_constants_that_only_the_removed_node_used_go_with_it() -> None:
    one = bench(
        "(float[N] x) => (float[N] y)",
        *("k = Constant <value = float {1}> ()", "a = Add(x, k)", "b = Mul(a, w)", "y = Neg(b)"),
        weights="float w = {2}, float v = {3}",
    )
    values = {one.value("b"): one.value("x")}
    done = one.apply("b", Replacement([one.node("a"), one.node("b")], values, ""))
    assert {node.op_type for node in done.removed} == {"Add", "Mul", "Constant"}
    assert list(one.model.graph.initializers) == ["v"]


def test_an_overridable_initializer_is_not_dropped() -> None:
    one = bench(
        "(float[N] x, float w) => (float[N] y)",
        *("a = Mul(x, w)", "y = Neg(a)"),
        weights="float w = {2}",
    )
    one.apply("a", Replacement([one.node("a")], {one.value("a"): one.value("x")}, ""))
    assert list(one.model.graph.initializers) == ["w"]
    assert [value.name for value in one.model.graph.inputs] == ["x", "w"]


def test_new_nodes_stand_right_before_their_root_and_the_rest_does_not_move() -> None:
    one = bench(
        "(float[N] x) => (float[N] y)", "a = Neg(x)", "b = Abs(a)", "c = Relu(b)", "y = Neg(c)"
    )
    first = NewNode("Exp", [one.value("a")])
    second = NewNode("Log", [first.output()])
    values = {one.value("b"): second.output()}
    one.apply("b", Replacement([one.node("b")], values, "", nodes=[first, second]))
    assert [n.op_type for n in one.model.graph] == ["Neg", "Exp", "Log", "Relu", "Neg"]
    positions = [one.rewriter.position(node) for node in one.model.graph]
    assert positions == sorted(positions)


def test_positions_stay_apart_when_many_nodes_grow_at_one_place() -> None:
    one = bench("(float[N] x) => (float[N] y)", "a = Neg(x)", "y = Relu(a)")
    for number in range(200):
        chain = NewNode("Abs", [one.value("a")])
        name = "y" if number == 0 else one.model.graph.outputs[0].name
        root = one.model.graph.outputs[0]
        relu = NewNode("Relu", [chain.output()])
        assert name is not None
        one.apply(
            name,
            Replacement(
                [root.producer() or one.node(name)],
                {root: relu.output()},
                "",
                nodes=[chain, relu],
            ),
        )
    positions = [one.rewriter.position(node) for node in one.model.graph]
    assert positions == sorted(positions)
    assert len(set(positions)) == len(positions)


def test_a_new_initializer_lands_in_the_body_that_uses_it() -> None:
    one = _with_if()
    tensor = ir.Tensor(np.array([3.0], np.float32))
    new = NewNode("Add", [one.value("m"), NewInitializer(tensor, "three")])
    done = one.apply(
        "a", Replacement([one.node("a")], {one.value("a"): new.output()}, "", nodes=[new])
    )
    body = done.added[0].graph
    assert isinstance(body, ir.Graph)
    assert body is not one.model.graph
    assert list(body.initializers) == ["three"]
    source = to_bytes(one.model)
    one.undo(done)
    one.redo(done)
    assert to_bytes(one.model) == source


def test_a_graph_output_keeps_its_name_when_a_new_node_gives_it_and_its_maker_stays() -> None:
    one = bench("(float[N] x) => (float[N] y, float[N] z)", "y, u = Split(x)", "z = Neg(u)")
    made = NewNode("Abs", [one.value("x")])
    one.apply("y", Replacement([one.node("y")], {one.value("y"): made.output()}, "", [made]))
    assert [value.name for value in one.model.graph.outputs] == ["y", "z"]
    names = [value.name for node in one.model.graph for value in node.outputs]
    assert len(set(names)) == len(names)


APART = ("a = Abs(x)", "r = Relu(a)", "s = Sqrt(r)", "b = Neg(x)", "y = Add(a, b)")


def _joined(one: Bench, *, delays: bool) -> Replacement:
    """Abs and Add as one node, which needs Neg; Relu and Sqrt stand before Neg."""
    new = NewNode("Both", [one.value("x"), one.value("b")], outputs=2)
    values = {one.value("a"): new.output(0), one.value("y"): new.output(1)}
    return Replacement([one.node("a"), one.node("y")], values, "", [new], delays=delays)


def test_what_needs_a_new_node_and_stands_before_it_waits_and_undo_takes_it_back() -> None:
    one = bench("(float[N] x) => (float[N] y, float[N] s)", *APART)
    source = to_bytes(one.model)
    done = one.apply("y", _joined(one, delays=True))
    assert [node.op_type for node in one.model.graph] == ["Neg", "Both", "Relu", "Sqrt"]
    place = [one.rewriter.position(node) for node in one.model.graph]
    assert place == sorted(place)
    result = to_bytes(one.model)
    one.undo(done)
    assert to_bytes(one.model) == source
    one.redo(done)
    assert to_bytes(one.model) == result


def test_nothing_waits_unless_a_replacement_says_so() -> None:
    one = bench("(float[N] x) => (float[N] y, float[N] s)", *APART)
    assert "before the replacement" in one.refusal("y", _joined(one, delays=False))


def test_a_replacement_that_needs_what_it_gives_is_refused() -> None:
    one = bench("(float[N] x) => (float[N] y)", "a = Abs(x)", "b = Neg(a)", "y = Add(a, b)")
    assert one.refusal("y", _joined(one, delays=True)) == "the replacement needs what it gives"


def test_a_node_waits_with_a_body_that_needs_the_new_node() -> None:
    body = IF.replace("m", "a").replace("y = If", "s = If").replace("a = Add(a", "q = Add(a")
    body = body.replace("Neg(a)", "Neg(q)")
    one = bench(
        "(bool c, float[N] x) => (float[N] y, float[N] s)",
        *("a = Abs(x)", body, "b = Neg(x)", "y = Add(a, b)"),
        weights="float[1] w = {2}",
    )
    one.apply("y", _joined(one, delays=True))
    assert [node.op_type for node in one.model.graph] == ["Neg", "Both", "If"]


def test_elements_that_become_known_are_a_change_as_far_down_as_they_are_read() -> None:
    lines = ("a = Identity(k)", "b = Neg(a)", "c = Abs(x)", "y = Cast <to = 7> (c)")
    drawn = bench("(int64[1] k, float[N] x) => (int64[1] b, int64[N] y)", *lines)
    symbolic = SymbolicValues(drawn.model)
    symbolic.propagate(drawn.model.graph)
    one = Bench(drawn.model, Rewriter(drawn.model, symbolic=symbolic))
    two = NewInitializer.ints([2], "two")
    done = one.apply("a", Replacement([], {}, "", inputs={(one.node("a"), 0): two}))
    assert {one.value("a"), one.value("b")} <= {*done.changed}
    assert symbolic.of(one.value("b")) == (-2,)
    assert not {one.value("c"), one.value("y")} & {*done.changed}
