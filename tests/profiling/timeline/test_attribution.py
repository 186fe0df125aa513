from __future__ import annotations

from profiling.timeline.attribution import Kernel, attribute, kernels_of
from profiling.timeline.events import Event, Run, Timeline
from profiling.timeline.profile import Profile


def kernel(name: str, time_us: float, *sources: str) -> Kernel:
    return Kernel(name, "Op", time_us, (name,), sources)


def test_a_fused_operator_stands_against_the_sum_of_its_originals() -> None:
    found = attribute(
        [kernel("conv", 400, "n0"), kernel("norm", 220, "n1"), kernel("pool", 7, "n2")],
        [kernel("fused", 410, "n0", "n1"), kernel("pool", 8, "n2")],
    )
    merged, alone = found.rows
    assert (merged.sources, merged.before_us, merged.after_us) == (("n0", "n1"), 620, 410)
    assert (alone.sources, alone.saved_us) == (("n2",), -1)
    assert (found.before_share, found.after_share) == (1, 1)


def test_what_is_gone_and_what_is_unknown_have_rows_of_their_own() -> None:
    found = attribute([kernel("a", 3, "n0"), kernel("b", 1)], [kernel("c", 9)])
    assert [(row.sources, row.before_us, row.after_us) for row in found.rows] == [(("n0",), 3, 0)]
    assert (found.unattributed.before_us, found.unattributed.after_us) == (1, 9)
    assert (found.before_share, found.after_share) == (0.75, 0)


def test_groups_grow_together_where_both_sides_merge() -> None:
    found = attribute(
        [kernel("ab", 5, "a", "b"), kernel("c", 1, "c"), kernel("d", 1, "d")],
        [kernel("bc", 4, "b", "c"), kernel("d", 1, "d")],
    )
    assert sorted(map(len, (row.sources for row in found.rows))) == [1, 3]


def test_a_generated_kernel_is_called_by_its_region() -> None:
    name = "Mul_Add_Softmax_5_0123456789abcdef"
    event = Event("call", name, "CPUExecutionProvider", 0, 7, 1, 0, 0, 0, 0, None)
    profile = Profile(Timeline(0, 0, (Run(0, 9, (event,)),)), ())
    (found,) = kernels_of(profile, {}, "steady")
    assert found.op_type == "softmax of 5 nodes: Mul, Add, Softmax, …"
