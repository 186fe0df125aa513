from __future__ import annotations

import onnx
from hypothesis import given, settings

from optimizer.memory.arena import Arena, LifetimeOptions
from optimizer.memory.buffer import live_curve, lower_bound
from optimizer.memory.lifetimes import lifetimes
from tests.optimizer.graphs import opened
from tests.optimizer.random_blocks import ALL_PATTERNS
from tests.optimizer.random_graphs import models, some_of
from tests.optimizer.running import SIZES

HEADER = '<ir_version: 10, opset_import: ["": 18]>'
DRAWN = settings(max_examples=60, derandomize=True)
ONE_BYTE = LifetimeOptions(alignment=1)


def arena_of(body: str, options: LifetimeOptions = ONE_BYTE) -> Arena:
    return lifetimes(opened(f"{HEADER} {body}").ir.graph, options)


WIDE = """
g (float[10] x) => (y)
{
  a = Transpose(x)
  b = Concat<axis = 0>(a, a, a)
  c = Transpose(b)
  d = ReduceSum(c)
  e = Add(a, d)
  y = Transpose(e)
}
"""


def test_live_bytes_of_every_step_add_up_what_is_alive() -> None:
    arena = arena_of(WIDE)
    # a: 40, b: 120, c: 120, d: 4; the sum e is written over a
    assert arena.live_bytes() == (40, 160, 280, 164, 44, 40)
    assert arena.live_bytes("inputs and outputs") == (40, 40, 40, 40, 40, 80)


def test_the_floor_is_the_largest_operators_own_inputs_and_outputs() -> None:
    assert arena_of(WIDE).floor_bytes() == 240
    assert arena_of(WIDE).floor_bytes("activations", "inputs and outputs") == 240


def test_a_result_written_over_its_input_counts_once_in_the_floor() -> None:
    body = "g (float[10] x) => (y) { a = Transpose(x) b = Relu(a) y = ReduceSum(b) }"
    assert arena_of(body).floor_bytes() == 40
    assert arena_of(body, LifetimeOptions(in_place=False, alignment=1)).floor_bytes() == 80


def test_contributors_are_what_is_alive_at_a_step_largest_first() -> None:
    assert [one.name for one in arena_of(WIDE).contributors(2)] == ["b", "c", "a"]
    names = [one.name for one in arena_of(WIDE).contributors(5, "inputs and outputs")]
    assert names == ["x", "y"]


def test_bytes_by_region_are_what_it_takes_without_sharing_over_time() -> None:
    assert arena_of(WIDE).region_bytes() == {
        "weights": 0,
        "inputs and outputs": 80,
        "activations": 40 + 120 + 120 + 4,
    }


BRANCHES = """
g (bool c, float[100] x) => (y)
{
  a = Transpose(x)
  i = If (c) <
    then_branch = t () => (float[100] p) { k = Transpose(a) m = Transpose(k) p = Transpose(m) },
    else_branch = e () => (float[100] q) { z = Transpose(a) q = Transpose(z) }
  >
  y = Transpose(i)
}
"""


def test_the_worst_case_puts_the_larger_branch_on_top_of_its_owners_step() -> None:
    arena = arena_of(BRANCHES)
    assert arena.live_bytes() == (400, 800, 400)
    assert arena.worst_case() == (400, 800 + 800, 400)


def test_branches_within_branches_add_up() -> None:
    inner = (
        BRANCHES.split("{", 1)[1].rsplit("}", 1)[0].replace("y = Transpose(i)", "o = Transpose(i)")
    )
    body = f"""
    g (bool c, float[100] x) => (r)
    {{
      s = Transpose(x)
      r = If (c) <
        then_branch = u () => (float[100] o) {{ {inner} }},
        else_branch = v () => (float[100] w) {{ w = Transpose(s) }}
      >
    }}
    """
    assert arena_of(body).worst_case_bytes() == 400 + 1600


def test_a_loop_keeps_what_its_body_is_given_and_gives_beside_its_own() -> None:
    body = """
    g (int64 n, bool c, float[100] x) => (y)
    {
      a = Transpose(x)
      y = Loop (n, c, a) <body = b (int64 i, bool go, float[100] s) => (bool on, float[100] t)
        { on = Identity(go) k = Transpose(s) t = Transpose(k) }>
    }
    """
    arena = arena_of(body)
    # a, and inside: i 8, go 1, s 400, on 1, k 400, t 400
    assert arena.worst_case() == (400, 400 + 8 + 1 + 400 + 1 + 400 + 400)


def test_unknown_sizes_in_bodies_are_counted() -> None:
    arena = arena_of(BRANCHES.replace("z = Transpose(a)", "z = my.Op(a)"))
    assert (len(arena.unknown), arena.all_unknown()) == (0, 1)


@DRAWN
@given(models(some_of(ALL_PATTERNS)))
def test_no_arena_is_below_its_floor_and_the_curve_is_the_buffers(proto: onnx.ModelProto) -> None:
    arena = lifetimes(opened(proto).ir.graph, sizes=SIZES)
    if any(one.region == "activations" for one in arena.unknown):
        return
    live = arena.live_bytes()
    assert max(live, default=0) == lower_bound(arena.buffers()) >= arena.floor_bytes()
    curve = live_curve(arena.buffers())
    for step, here in zip(curve.steps, curve.live_bytes, strict=True):
        assert (live[step] if step < len(live) else 0) == here
    for step, here in enumerate(live):
        blame = arena.contributors(step)
        assert sum(-(-one.size_bytes // 64) * 64 for one in blame) == here
