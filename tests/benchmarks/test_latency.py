from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.latency_copies import above_fastest
from benchmarks.latency_table import LATENCY, Latency, report
from tests.studio.races import race, timing


def latency(**shares: float) -> Latency:
    found = race([timing("source"), *(timing(name, share) for name, share in shares.items())])
    same = {"source": ("onnxslim",), **{name: () for name in shares}}
    return Latency("net", "m" * 8, (found,), same, ("onnxsim: exit 1: it crashed",), ())


def test_a_form_has_the_time_of_the_graph_that_it_is_the_same_as() -> None:
    one = latency(portable=0.8, cpu=0.7)
    assert one.raced_as("onnxslim") == "source"
    assert one.raced_as("onnxsim") is None
    assert one.best(["source", "onnxslim"]) is not None


def test_each_preset_is_held_to_the_best_and_what_fails_is_named() -> None:
    one = latency(portable=0.8, cpu=0.7, onnxscript=0.5)
    text = "\n".join(report([one]))
    against = one.against_best("cpu")
    assert against is not None
    assert against[0] == "onnxscript"
    assert abs(against[1].middle - 0.7 / 0.5) < 0.05
    assert "at most 1.02 promised: not met" in text
    assert "of onnxscript" in text
    assert "- net: onnxsim: exit 1: it crashed" in text


def test_nobody_is_held_to_a_form_that_takes_inputs_for_constants() -> None:
    one = replace(latency(portable=0.8, cpu=0.7, onnxscript=0.5), frozen=("onnxscript",))
    against = one.against_best("cpu")
    assert against is not None
    assert against[0] == "source"
    assert "| [0.5" in "\n".join(report([one]))


def test_of_several_races_the_median_counts_and_all_of_them_are_the_interval() -> None:
    several = [latency(portable=share).races[0] for share in (0.9, 1.3, 1.0)]
    one = replace(latency(portable=0.9), races=tuple(several))
    found = one.time("portable", of="source")
    assert found is not None
    assert found.low == pytest.approx(0.9, abs=0.02)
    assert found.middle == pytest.approx(1.0, abs=0.02)
    assert found.high == pytest.approx(1.3, abs=0.02)


def test_a_race_is_read_as_it_was_kept() -> None:
    one = latency(portable=0.9)
    assert LATENCY.loads(LATENCY.dumps(one)) == one


def test_a_copy_is_a_share_of_the_fastest_in_each_race() -> None:
    races = [
        race([timing("copy-0"), timing("copy-1", 1.1), timing("copy-2", 1.2)]),
        race([timing("copy-0", 1.5), timing("copy-1"), timing("copy-2", 1.2)]),
    ]
    shares = above_fastest(races)
    assert shares["copy-0"] == pytest.approx([1.0, 1.5], abs=0.03)
    assert shares["copy-1"] == pytest.approx([1.1, 1.0], abs=0.03)
    assert shares["copy-2"] == pytest.approx([1.2, 1.2], abs=0.03)
