from __future__ import annotations

from profiling.worth.ablation import Ablation, PipelineRun


def outcome(nodes: int, fired: dict[str, int]) -> PipelineRun:
    totals = {"nodes": (20, nodes), "flops": (9, 9), "bytes": (9, 9)}
    return PipelineRun(totals, fired, sum(fired.values()), 0.1)  # pyright: ignore[reportArgumentType] - literal keys


ABLATION = Ablation(
    outcome(5, {"fold": 4, "fuse": 3}),
    {"fold": outcome(18, {"fuse": 1, "clean": 1}), "fuse": outcome(11, {"fold": 4})},
    {"fold": outcome(16, {"fold": 4})},
)


def test_a_pass_is_missed_for_what_the_others_cannot_do_without_it() -> None:
    fold, fuse = ABLATION.worth("nodes")
    assert (fold.pass_id, fold.fired, fold.missing, fold.alone) == ("fold", 4, 13, 4)
    assert (fuse.pass_id, fuse.fired, fuse.missing, fuse.alone) == ("fuse", 3, 6, None)


def test_interactions_are_told_by_what_others_do_more_or_less() -> None:
    fold, fuse = ABLATION.worth("nodes")
    assert fold.others == {"fuse": -2, "clean": 1}
    assert fuse.others == {}
