"""What if: how often passes would fire on a graph, which stays as it is."""

from __future__ import annotations

from dataclasses import replace

from optimizer.model.loader import load_path
from optimizer.model.symbolic import SymbolicValues
from optimizer.model.writer import to_bytes
from optimizer.pipeline import Pipeline
from optimizer.registry import Pass, find, passes
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.what_if import QUESTIONS, AskedGraph, Preview, what_if
from studio.gallery import gallery
from tests.optimizer.graphs import opened
from tests.optimizer.rewrite.failing import planted

NOTHING = Pipeline.of("none")
TEXT = """<ir_version: 8, opset_import: ["" : 17]>
main (float[2,3] x) => (float[2,3] y, float[2,3] z) {
   a = Identity (x)
   b = Identity (a)
   y = Relu (b)
   r = Neg (x)
   z = Identity (x)
}"""


def made(name: str) -> Pass:
    declared = find(name)
    assert declared is not None
    return declared()


def asked(text: str, *ids: str, pipeline: Pipeline = NOTHING) -> list[Preview]:
    return what_if(opened(text).ir, [made(name) for name in ids], pipeline, seconds=60)


def test_matches_and_near_misses_are_counted_and_their_places_named() -> None:
    (found,) = asked(TEXT, "eliminate-identity")
    assert (found.matches, found.declined, found.places) == (2, 1, ("n0", "n1"))
    assert [(near.root, bool(near.condition)) for near in found.near] == [("n4", True)]


def test_a_match_that_needs_what_an_earlier_one_takes_out_is_not_counted() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]>
    main (float[2,3] x) => (float[2,3] y) <float two = {2}> {
       a = Mul (x, two)
       b = Mul (a, two)
       c = Mul (b, two)
       y = Relu (c)
    }"""
    (found,) = asked(text, "reassociate-constants")
    assert (found.matches, found.places) == (1, ("n1",))


def test_a_vetoed_match_is_none() -> None:
    first = optimize(opened(TEXT), Pipeline((made("eliminate-identity"),))).rewrites[0]
    vetoing = Pipeline(vetoed=frozenset([first.match]))
    (found,) = asked(TEXT, "eliminate-identity", pipeline=vetoing)
    assert found.matches == 1


def test_a_rule_that_raises_counts_for_nothing() -> None:
    with planted() as declared:
        (found,) = what_if(opened(TEXT).ir, [declared()], NOTHING, seconds=60)
    assert found.matches == 0


def test_without_time_a_pass_says_that_it_was_not_asked_about_all() -> None:
    nodes = "\n".join(f"v{n + 1} = Identity (v{n})" for n in range(2 * QUESTIONS))
    text = f"""<ir_version: 8, opset_import: ["" : 17]>
    main (float[2] v0) => (float[2] y) {{
       {nodes}
       y = Relu (v{2 * QUESTIONS})
    }}"""
    (found,) = what_if(opened(text).ir, [made("eliminate-identity")], NOTHING, seconds=-1)
    assert 0 < found.matches <= QUESTIONS
    assert not found.whole


def test_what_was_said_before_the_time_was_up_is_kept_for_the_next_graph() -> None:
    nodes = "\n".join(f"v{n} = Identity (x)" for n in range(4 * QUESTIONS))
    model = opened(f"""<ir_version: 8, opset_import: ["" : 17]>
    main (float[2] x) => (float[2] y) {{
       {nodes}
       y = Relu (v0)
    }}""").ir
    identities, said, found = made("eliminate-identity"), None, list[Preview]()
    while not (found and found[-1].whole) and len(found) < 9:
        graph = AskedGraph(model, NOTHING, seconds=-1, affected={})
        preview, said = graph.preview(identities, said)
        found.append(preview)
    assert [one.matches for one in found] == [QUESTIONS * n for n in (1, 2, 3, 4)]
    assert [found[-1]] == what_if(model, [identities], NOTHING, seconds=60)


def test_a_pass_over_the_whole_graph_says_what_it_found_however_long_that_took() -> None:
    layer = "t{n} = Mul (v{n}, v{n})\n e{n} = Exp (t{n})\n v{next} = Tanh (e{n})"
    nodes = "\n".join(layer.format(n=n, next=n + 1) for n in range(2 * QUESTIONS))
    text = f"""<ir_version: 8, opset_import: ["" : 17]>
    main (float[2] v0) => (float[2] y) {{
       {nodes}
       y = Relu (v{2 * QUESTIONS})
    }}"""
    outline = replace(made("outline-repeats"), least_nodes=3)
    (found,) = what_if(opened(text).ir, [outline], NOTHING, seconds=0)
    assert found.matches > 0


def test_no_pass_changes_the_graph_and_those_that_fire_first_are_foretold() -> None:
    model = load_path(gallery.open_path("tour"))
    SymbolicValues(model.ir).propagate(model.ir.graph)
    before = to_bytes(model.ir)
    found = {one.pass_id: one for one in what_if(
        model.ir, [declared() for declared in passes()], NOTHING, seconds=60
    )}  # fmt: skip
    assert to_bytes(model.ir) == before
    trace = optimize(model, Pipeline.of("default"))
    assert found[trace.rewrites[0].pass_id].matches >= 1
    for one in (p for p in found.values() if p.matches == p.declined == 0 and p.whole):
        assert all(r.depends_on for r in trace.rewrites if r.pass_id == one.pass_id), one


def test_a_change_of_the_whole_model_fires_once() -> None:
    text = TEXT.replace("17", "18")
    (found,) = asked(text, "lower-opset")
    assert (found.matches, found.whole) == (1, True)
