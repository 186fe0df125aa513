from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from profiling.kernels.generated.decisions import DECISION, finding, keep, kept
from profiling.machine import this_machine
from profiling.records import Records
from tests.profiling.kernels.generated.decided import KEY, decision


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    with Records(f"sqlite:///{tmp_path}/records.sqlite") as found:
        yield found


def test_a_decision_is_read_again_with_what_lost_and_by_how_much(records: Records) -> None:
    made = decision()
    keep(made, records)
    found = kept(KEY, records)
    assert found is not None
    assert found.winner == "Halide"
    rows = {row.candidate.label: row for row in found.raced.rows()}
    lost = rows["C"].contrast
    assert lost is not None
    assert lost.speedup == pytest.approx(2 / 3, rel=0.02)
    assert found.checked == {"Halide": 40, "C": 40}
    assert DECISION.to_json(found) == DECISION.to_json(made)


def test_the_newest_decision_counts(records: Records) -> None:
    keep(decision(), records)
    later = decision(5.0)
    race = later.raced.race
    assert race is not None
    moved = replace(race, started_at="2026-02-01T00:00:00+00:00")
    keep(replace(later, raced=replace(later.raced, race=moved)), records)
    found = kept(KEY, records)
    assert found is not None
    assert found.winner == "ONNX Runtime"


def test_other_sizes_and_other_machines_have_decisions_of_their_own(records: Records) -> None:
    keep(decision(), records)
    here = this_machine()
    assert kept("6" * 64, records) is None
    assert kept(KEY, records, replace(here, cpu="another")) is None
    assert kept(KEY, records, replace(here, runtime="onnxruntime 9.9")) is None
    assert kept(KEY, records, replace(here, load=17.0)) is not None


def test_a_wrong_candidate_is_not_timed_and_says_where(records: Records) -> None:
    made = decision(unavailable="its result is wrong: y0[3] is 0 instead of nan, with NaN in x0")
    keep(made, records)
    found = kept(KEY, records)
    assert found is not None
    assert found.winner == "ONNX Runtime"
    row = next(row for row in found.raced.rows() if row.candidate.label == "Halide")
    assert "y0[3] is 0 instead of nan" in row.verdict
    (listed,) = records.find()
    assert listed.title == finding(made)
    errors = [one.error for one in records.load(listed.id).measurements if one.error]
    assert len(errors) == 1
    assert "NaN in x0" in errors[0]


def test_a_finding_says_what_won_and_by_how_much() -> None:
    assert finding(decision()).startswith("Halide: 2.00× faster")
    assert finding(decision(3.0)) == "ONNX Runtime stays: nothing generated is surely faster"
