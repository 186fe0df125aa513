from __future__ import annotations

from dataclasses import replace

from profiling.racing.race import Timing
from profiling.racing.sweep import Sweep, SweepPoint
from studio.commands.bench_report import conditions
from studio.race.advised import with_advice
from studio.variants.link import LAST, MOST_VARIANTS, SOURCE, RunChoice, VariantChoice
from studio.variants.variant import TraceVariant
from tests.studio.races import race, timing

WITHOUT = (("optimizers_off", "SkipLayerNormFusion+BiasGeluFusion"),)
CHOICE = RunChoice(variants=(VariantChoice(SOURCE), VariantChoice(LAST)))
SLOW = {"SkipLayerNormalization": 24}


def variants(*timings: Timing) -> list[TraceVariant]:
    return [TraceVariant(one.label, 0, one.config) for one in timings]


def advised(label: str) -> Timing:
    return replace(timing(label, question="deployed"), written_slow=SLOW)


def test_the_variant_that_the_runtime_slows_down_gets_a_twin_without_that() -> None:
    fine, slow = timing("source", question="deployed"), advised("last")
    found = with_advice(CHOICE, variants(fine, slow), [race([fine, slow])])
    assert found is not None
    assert found.variants == (*CHOICE.variants, VariantChoice(LAST, WITHOUT))
    assert found.asked == "deployed", "bare, there is nothing to leave out"
    assert with_advice(found, variants(fine, slow), [race([fine, slow])]) is None


def test_where_nothing_is_advised_or_there_is_no_room_nothing_is_offered() -> None:
    fine, slow = timing("source"), advised("last")
    assert with_advice(CHOICE, variants(fine), [race([fine])]) is None
    full = replace(CHOICE, variants=(VariantChoice(LAST),) * MOST_VARIANTS)
    assert with_advice(full, variants(slow), [race([slow])]) is None
    assert with_advice(CHOICE, variants(fine), [race([slow])]) is None


def test_the_command_line_says_it_in_one_sentence() -> None:
    found = race([timing("source", question="deployed"), advised("last")])
    sweep = Sweep("", ("source", "last"), (SweepPoint(0, found),))
    (told,) = [line for line in conditions([sweep]) if "SkipLayerNorm" in line]
    assert told.startswith("'last': ONNX Runtime's own rewrites put 24 SkipLayerNormalization in")
    assert "optimizers_off=SkipLayerNormFusion+BiasGeluFusion" in told
