"""Why: what the passes of a run said of one node, and what it is called."""

from __future__ import annotations

import pytest

from optimizer.errors import StudioError
from optimizer.model.loader import load_path
from optimizer.model.symbolic import SymbolicValues
from optimizer.pipeline import Pipeline
from optimizer.registry import find
from optimizer.rewrite.driver import Stop, optimize
from optimizer.rewrite.graph_state import GraphState
from optimizer.rewrite.named_nodes import node_called
from optimizer.rewrite.near_misses import near_misses
from optimizer.rewrite.trace import Trace
from optimizer.rewrite.why import Look, why
from studio.gallery import gallery
from tests.optimizer.graphs import loaded, opened, parsed
from tests.optimizer.rewrite.failing import planted

CHAIN = """<ir_version: 8, opset_import: ["" : 17]>
main (float[1,1,4,4] x) => (float[1,1,4,4] y, float[1,1,4,4] z)
<float[1,1,1,1] w = {2}, float[1] s = {1}, float[1] b = {0}, float[1] v = {1}> {
   i = Identity (x)
   c = Conv (i, w)
   y = BatchNormalization (c, s, b, b, v)
   z = Relu (c)
}"""


def run(
    text: str, *ids: str, vetoed: frozenset[str] = frozenset(), limit: int | None = None
) -> Trace:
    passes = tuple(declared() for name in ids if (declared := find(name)) is not None)
    return optimize(opened(text), Pipeline(passes, vetoed=vetoed), stop=Stop(limit=limit))


def said(trace: Trace, name: str) -> dict[str, Look]:
    assert trace.state is not None
    return {look.pass_id: look for look in why(trace, node_called(trace.state, name)).looks}


def test_a_pass_says_one_of_fired_declined_and_no_match() -> None:
    trace = run(CHAIN, "eliminate-identity", "fuse-conv-batch-norm", "eliminate-noop-cast")
    near = said(trace, "y")
    assert list(near) == ["fuse-conv-batch-norm"]
    declined = near["fuse-conv-batch-norm"]
    assert (declined.verdict, declined.round, declined.root) == ("declined", 1, "n2")
    assert declined.nodes == ("n1", "n3")
    fired = said(trace, "i")["eliminate-identity"]
    assert (fired.verdict, fired.step, fired.round) == ("fired", 1, 1)
    assert fired.became is not None
    assert (fired.became.kind, fired.became.into) == ("bypassed", ("i0",))


def test_a_node_that_another_rule_was_asked_about_is_named_by_it() -> None:
    found = said(run(CHAIN, "fuse-conv-batch-norm"), "z")["fuse-conv-batch-norm"]
    assert (found.verdict, found.root) == ("declined", "n2")


def test_a_pass_whose_turn_came_after_a_node_was_gone_did_not_look_at_it() -> None:
    early = run(CHAIN, "eliminate-identity", "eliminate-common-subexpressions")
    assert set(said(early, "i")) == {"eliminate-identity"}
    late = run(CHAIN, "eliminate-common-subexpressions", "eliminate-identity")
    assert {key: look.verdict for key, look in said(late, "i").items()} == {
        "eliminate-common-subexpressions": "no match",
        "eliminate-identity": "fired",
    }


def test_a_node_that_was_made_is_seen_by_earlier_passes_in_the_next_round() -> None:
    text = CHAIN.replace("z = Relu (c)", "z = Relu (x)")
    trace = run(
        text, "eliminate-noop-pad", "eliminate-common-subexpressions", "fuse-conv-batch-norm"
    )
    (made,) = trace.rewrites[-1].added
    looks = why(trace, made).looks
    assert [(look.pass_id, look.verdict, look.round) for look in looks] == [
        ("fuse-conv-batch-norm", "made", 1),
        ("eliminate-common-subexpressions", "no match", 2),
    ]
    assert why(trace, made).origins == ("n1", "n2")


def test_nobody_looked_after_the_run_was_stopped() -> None:
    assert said(run(CHAIN, "eliminate-identity", limit=0), "i") == {}
    trace = run(CHAIN, "eliminate-identity", "eliminate-common-subexpressions", limit=1)
    assert said(trace, "y") == {}


def test_a_vetoed_match_and_a_failed_rule_are_told() -> None:
    match = run(CHAIN, "eliminate-identity").rewrites[0].match
    held = said(run(CHAIN, "eliminate-identity", vetoed=frozenset([match])), "i")
    assert held["eliminate-identity"].verdict == "vetoed"
    with planted() as declared:
        trace = optimize(opened(CHAIN), Pipeline((declared(),)))
        failed = why(trace, trace.failed[0].root).looks[0]
        assert (failed.verdict, failed.reason) == ("failed", trace.failed[0].error)


def test_an_operator_without_rules_has_none_that_know_it() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17, "my.domain" : 1]>
    main (float[2] x) => (float[2] y) { y = my.domain.Thing (x) }"""
    found = why(run(text, "eliminate-identity"), "n0")
    assert (found.operator, found.known, found.looks) == ("my.domain::Thing", (), ())


def test_passes_that_are_off_and_have_a_rule_for_the_operator_are_named() -> None:
    found = why(run(CHAIN, "eliminate-identity"), "n2")
    assert "fuse-conv-batch-norm" in found.off
    assert "eliminate-identity" not in found.known


def test_every_decline_of_a_whole_network_is_found_at_its_node() -> None:
    model = load_path(gallery.open_path("tour"))
    SymbolicValues(model.ir).propagate(model.ir.graph)
    trace = optimize(model, Pipeline.of("default"))
    assert trace.declined
    for declined in trace.declined:
        looks = why(trace, declined.root).looks
        assert (declined.reason, declined.round) in [(look.reason, look.round) for look in looks]
    grouped = near_misses(trace.declined)
    assert sum(len(found.places) for found in grouped) == len(trace.declined)
    counted = {key: timing.declined for key, timing in trace.timings.items() if timing.declined}
    assert sum(counted.values()) == len(trace.declined)


def named(text: str) -> GraphState:
    return GraphState(loaded(parsed(text)).ir)


def test_a_node_is_found_by_name_by_output_and_by_id() -> None:
    state = named(CHAIN)
    state.nodes["n1"].name = "/conv"
    assert [node_called(state, text) for text in ("/conv", "c", "n1")] == ["n1", "n1", "n1"]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("x", "'x' is an input of the graph, no node"),
        ("w", "'w' is an initializer, no node"),
        ("/encoder/layer.3/attenti", "did you mean '/encoder/layer.3/attention'"),
        ("LAYER.3", "did you mean '/encoder/layer.3/attention'"),
        ("twice", "2 nodes are called 'twice'; name one by its id: n2, n3"),
        ("", "There is no node ''"),
    ],
)
def test_a_name_that_no_single_node_has_is_answered_with_what_there_is(
    asked: str, told: str
) -> None:
    state = named(CHAIN)
    state.nodes["n1"].name = "/encoder/layer.3/attention"
    state.nodes["n2"].name = state.nodes["n3"].name = "twice"
    with pytest.raises(StudioError) as caught:
        node_called(state, asked)
    assert told in caught.value.message


def test_what_would_unlock_a_match_stands_beside_its_reason() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]>
    g (float[1,seq] x) => (float[1,128] y) <int64[2] s = {1,128}> { y = Expand (x, s) }"""
    found = said(run(text, "eliminate-noop-expand"), "y")["eliminate-noop-expand"]
    assert found.unlock == "Bind what is free to a size: --bind seq=SIZE."
