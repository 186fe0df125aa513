"""Optimized graphs compute what the source computes, on ONNX Runtime without its own passes.

`exact` passes are held to the bit, `lossy` ones to a third of the largest number (what each may
lose is measured in `tests/profiling/kernels`), the others to 1e-4 of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import onnx
import pytest
from hypothesis import HealthCheck, given, reject, settings

from optimizer.isolation import within_worker
from optimizer.model.writer import to_bytes
from optimizer.pipeline import Pipeline
from optimizer.registry import Pass, passes
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.trace import Trace
from tests.optimizer.graphs import opened, proto_of
from tests.optimizer.observed import configured
from tests.optimizer.passes import golden
from tests.optimizer.random_blocks import ALL_PATTERNS, SMOOTH_PATTERNS
from tests.optimizer.random_graphs import NEWEST, Pattern, Sketch, models, seeded, some_of
from tests.optimizer.random_seeds import Seeds
from tests.optimizer.running import Feeds, differences, feeds_for, run
from tests.processors import SUMS_OF_8_BITS

CASES = golden.cases()
ERAS = {"old": range(7, 13), "between": (13, 17, 18, 20), "newest": (NEWEST,)}
FEW = settings(
    max_examples=6,
    derandomize=True,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
SOME = settings(FEW, max_examples=20)
MANY = settings(FEW, max_examples=60)


class Unrunnable(Exception):
    """The source does not run."""


@dataclass(frozen=True, slots=True)
class Optimized:
    """A model before and after, as files, and what lies between."""

    before: onnx.ModelProto
    after: onnx.ModelProto
    trace: Trace


def optimized(proto: onnx.ModelProto, pipeline: Pipeline) -> Optimized:
    model = opened(proto)
    before = proto_of(model.ir)
    trace = optimize(model, pipeline, isolate=within_worker)
    return Optimized(before, proto_of(model.ir), trace)


def assert_equivalent(done: Optimized, feeds: Feeds, pipeline: Pipeline) -> None:
    """Compare by running.

    Raises:
        Unrunnable: ONNX Runtime cannot run the source, which is then no evidence.
    """
    try:
        expected = run(done.before, feeds)
    except Exception as error:
        raise Unrunnable(str(error)) from error
    story = [f"{r.step} {r.pass_id} {r.rule} {r.matched}" for r in done.trace.rewrites]
    try:
        found = differences(
            expected,
            run(done.after, feeds),
            exact=all(p.exactness == "exact" for p in pipeline.passes),
            lossy=any(p.exactness == "lossy" for p in pipeline.passes),
        )
    except Exception as error:
        found = [f"the optimized graph does not run: {error}"]
    assert not found, "\n".join([*found, *story, onnx.printer.to_text(done.before)])


def check(proto: onnx.ModelProto, pipeline: Pipeline, *, settles: bool = True) -> bool:
    """What holds for any pipeline on any graph; whether a pass fired.

    One does not settle in which a pass takes back what another one adds: a second run begins anew.
    """
    done = optimized(proto, pipeline)
    if not done.trace.rewrites:
        assert done.after.SerializeToString() == done.before.SerializeToString()
        return False
    onnx.checker.check_model(done.after)
    try:
        assert_equivalent(done, feeds_for(proto), pipeline)
    except Unrunnable:
        reject()
    if not settles:
        return True
    again = optimize(opened(done.after), pipeline, isolate=within_worker)
    assert [(r.pass_id, r.rule, r.root) for r in again.rewrites] == []
    return True


@dataclass(slots=True)
class Tally:
    """How many random graphs of an era there were for a pass, and on how many it fired."""

    declared: type[Pass]
    era: str
    fired: int = 0
    graphs: int = 0

    def __str__(self) -> str:
        return f"{self.declared.id} fired on {self.fired} of {self.graphs} {self.era} random graphs"


def tallied(seeds: Seeds, era: str, examples: settings = SOME) -> Tally:
    """Hold a pass alone to random graphs of an era around its golden cases."""
    declared = seeds.declared
    patterns = ALL_PATTERNS if declared.exactness == "exact" else SMOOTH_PATTERNS
    wanted = [opset for opset in ERAS[era] if seeds.since <= opset < seeds.until]
    opsets = [opset for opset in wanted if seeds.at(opset)] or wanted
    tally = Tally(declared, era)

    @examples
    @given(proto=models(seeds.around(patterns), opsets))
    def holds(proto: onnx.ModelProto) -> None:
        fired = check(proto, Pipeline((configured(declared, proto),)))
        tally.graphs += 1
        tally.fired += fired

    holds()
    return tally


SEEDS = [
    Seeds(declared, CASES)
    for declared in passes()
    if declared.family != "imported" and declared.id != "inline-outlined"
]
"""What other projects' optimizers do is checked step by step whenever they run; what inlines
functions is met by random graphs after what writes them (`test_outlined_functions`)."""
_OF_FULL_WEIGHTS = {"quantize-by-onnxruntime", "quantize-matmul-dynamically"}
MET = [
    pytest.param(
        seeds,
        era,
        marks=[
            *([pytest.mark.long] if era == "old" else []),
            *([SUMS_OF_8_BITS] if seeds.name in _OF_FULL_WEIGHTS else []),
        ],
    )
    for seeds in SEEDS
    for era, opsets in ERAS.items()
    if any(seeds.since <= opset < seeds.until for opset in opsets)
]


@pytest.mark.parametrize(("seeds", "era"), MET, ids=lambda v: getattr(v, "name", v))
def test_a_pass_alone_fires_on_random_graphs_and_keeps_what_they_compute(
    seeds: Seeds, era: str, record_property: Callable[[str, object], None]
) -> None:
    tally = tallied(seeds, era, FEW)
    if not tally.fired:
        tally = tallied(seeds, era, SOME)
    record_property("fired", (tally.fired, str(tally)))
    assert tally.fired, str(tally)


@pytest.mark.slow
@pytest.mark.parametrize(("seeds", "era"), MET, ids=lambda v: getattr(v, "name", v))
def test_a_pass_alone_keeps_what_many_random_graphs_compute(seeds: Seeds, era: str) -> None:
    assert tallied(seeds, era, MANY).fired


def mixed(sketch: Sketch) -> Sequence[Pattern]:
    """Seeds of three passes between other patterns."""
    chosen = [sketch.pick(SEEDS).around(SMOOTH_PATTERNS)(sketch) for _ in range(3)]
    return [pattern for patterns in chosen for pattern in patterns]


EXAMPLES = pytest.mark.parametrize(
    "examples",
    [pytest.param(SOME, id="some"), pytest.param(MANY, id="many", marks=pytest.mark.slow)],
)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("preset", ["portable", "cpu", "cuda"])
@EXAMPLES
def test_a_preset_keeps_what_random_graphs_compute(
    preset: str, era: str, examples: settings
) -> None:
    pipeline = Pipeline.of(preset)

    @examples
    @given(proto=models(mixed, ERAS[era]))
    def holds(proto: onnx.ModelProto) -> None:
        check(proto, pipeline)

    holds()


@pytest.mark.parametrize("recomputing", [False, True])
@EXAMPLES
def test_all_exact_passes_together_keep_every_bit_of_random_graphs(
    recomputing: bool, examples: settings
) -> None:
    exact = (p for p in passes() if p.exactness == "exact")
    pipeline = Pipeline(tuple(p() for p in exact if recomputing or p.family != "memory"))
    opsets = [opset for era in ERAS.values() for opset in era]

    @examples
    @given(proto=models(some_of(ALL_PATTERNS), opsets))
    def holds(proto: onnx.ModelProto) -> None:
        check(proto, pipeline, settles=not recomputing)  # sharing would merge what runs again

    holds()


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.pass_id}/{c.path.stem}")
def test_a_golden_case_computes_the_same_afterwards(case: golden.Case) -> None:
    pipeline = Pipeline((case.configured,))
    done = optimized(onnx.parser.parse_model(case.before), pipeline)
    if not done.trace.rewrites:
        return
    onnx.checker.check_model(done.after)
    feeds = {**feeds_for(done.before), **case.feeds(done.before)}
    try:
        assert_equivalent(done, feeds, pipeline)
    except Unrunnable as error:
        pytest.skip(str(error)[:200])


def test_bytes_do_not_change_when_no_pass_is_enabled() -> None:
    for seed in range(20):
        model = opened(seeded(seed, ALL_PATTERNS))
        before = to_bytes(model.ir)
        assert optimize(model, Pipeline()).steps == 0
        assert to_bytes(model.ir) == before
