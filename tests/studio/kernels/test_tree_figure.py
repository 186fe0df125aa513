from __future__ import annotations

from typing import Any, cast

from profiling.config import Value
from profiling.kernels.candidates import BASELINE, Candidate
from profiling.kernels.hotspots import Hotspot
from profiling.kernels.selection import WorkloadRace
from profiling.kernels.workload import TensorSize, Workload
from studio.kernels.tree_figure import path_of, selection_tree, tree_of
from tests.profiling.kernels.races import made_race

WORK = Workload(
    "5" * 64, "Conv", "Conv on 1×8×8×8", ("Conv",), (TensorSize("FLOAT", (1, 8, 8, 8)),), "{}"
)
HALIDE: dict[str, Value] = {"generated_kernels": "halide", "graph_optimization": "all"}
CANDIDATES = (
    Candidate(BASELINE),
    Candidate("one thread", changes={"intra_threads": 1}),
    Candidate("one thread, Halide", changes={**HALIDE, "intra_threads": 1}),
    Candidate("1×1 Conv as MatMul", reformulation="conv-matmul"),
    Candidate("C", changes={"generated_kernels": "c"}, unavailable="its result is wrong: y0[3]"),
    Candidate("GPU: heuristic", "cuda", {"convolution_search": "heuristic"}, unavailable="no GPU"),
)


def raced() -> WorkloadRace:
    times = {one.label: 4.0 for one in CANDIDATES if not one.unavailable}
    race = made_race({**times, "one thread, Halide": 1.0})
    return WorkloadRace(Hotspot(WORK, (("a",),), 1.0, 0.5), CANDIDATES, race)


def test_a_candidate_is_told_by_tuning_kernel_and_algorithm() -> None:
    paths = [path_of(one) for one in CANDIDATES]
    assert paths[0] == (BASELINE, BASELINE, "as usual")
    assert paths[2] == ("intra_threads=1", "generated, Halide", "default schedule")
    assert paths[3] == (BASELINE, "1×1 Conv as MatMul", "as usual")
    assert paths[5] == (BASELINE, BASELINE, "convolution_search=heuristic")


def test_the_tree_has_every_candidate_tried_here_and_marks_the_way_to_the_winner() -> None:
    root = tree_of(raced())
    assert [*root.inside] == ["intra_threads=1", BASELINE]
    one_thread, usual = root.inside.values()
    assert {*one_thread.inside} == {BASELINE, "generated, Halide"}
    assert {*usual.inside} == {BASELINE, "1×1 Conv as MatMul", "generated, C"}
    won = [
        (outer.text, inner.text)
        for outer in root.inside.values()
        for inner in outer.inside.values()
        if inner.won
    ]
    assert won == [("intra_threads=1", "generated, Halide")]


def test_the_figure_tells_times_and_what_was_wrong() -> None:
    drawn = cast("Any", selection_tree(raced())).to_dict()
    texts = [str(one["text"]) for one in drawn["layout"]["annotations"]]
    assert any(" ms, 4.0" in text for text in texts)
    assert any("its result is wrong: y0[3]" in text for text in texts)
    assert not any("heuristic" in text for text in texts)
