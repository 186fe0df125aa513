"""Decisions about whole networks, made without a clock, kept and read again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from profiling.kernels.generated.decisions import kept
from profiling.kernels.generated.network import (
    NETWORK,
    NetworkDecision,
    NetworkKernel,
    finding,
    gave,
    keep_network,
    kept_network,
    kernels_alone,
)
from profiling.kernels.generated.regions import KernelRegion
from profiling.kernels.generated.settling import PartRace, SettledNetwork
from profiling.racing.samples import Contrast
from profiling.records import Records
from tests.profiling.kernels.generated.decided import decision
from tests.profiling.kernels.races import made_race

DIGEST = "d" * 64
SOFTMAX = KernelRegion("Add_Softmax_0123456789abcdef", "fusion", 2, "Fusion: 2 nodes")
GELU = KernelRegion("BiasGelu_0123456789abcdef", "better kernel", 12, "Better kernel: BiasGelu")


def contrast(speedup: float) -> Contrast:
    return Contrast(speedup, speedup - 0.01, speedup + 0.01, 30, "faster")


def network(*kept_names: str, slow: str = "") -> NetworkDecision:
    """Two kernels that were raced in a network; those that are named stay."""
    first = made_race({"source": 2.0, "default": 2.2, "generated": 1.6})
    parts = tuple(
        PartRace((name,), contrast(0.9 if name == slow else 1.12), name != slow)
        for name in (GELU.name, SOFTMAX.name)
    )
    settled = SettledNetwork(
        first, "source", (GELU.name, SOFTMAX.name), kept_names, parts,
        made_race({"source": 2.0, "generated": 1.7}) if slow else None,
    )  # fmt: skip
    kernels = (NetworkKernel(GELU, 1.5), NetworkKernel(SOFTMAX, 2.0))
    return NetworkDecision("net", {"n": 4}, 1, "c" * 8, kernels, {"source": ("onnxsim",)}, settled)


def test_a_decision_tells_what_stays_and_which_kind_gave_how_much() -> None:
    found = network(GELU.name, SOFTMAX.name)
    assert finding(found).startswith("2 kernels of 2: 1.25× faster")
    assert found.time == pytest.approx(0.8, rel=0.01)
    assert [one.region for one in found.kept("fusion")] == [SOFTMAX]
    assert gave(found, "better kernel") == pytest.approx(1.12)
    assert [*found.left_out()] == []


def test_what_was_taken_back_says_by_how_much_it_was_slower() -> None:
    found = network(GELU.name, slow=SOFTMAX.name)
    ((kernel, reason),) = found.left_out()
    assert (kernel.region, reason) == (SOFTMAX, "in the network: 0.90× as fast with it")
    assert finding(found).startswith("1 kernel of 2")
    assert gave(found, "fusion") is None


def test_a_network_in_which_nothing_pays_stays_as_it_was() -> None:
    found = network(slow=SOFTMAX.name)
    assert found.time == 1.0
    assert finding(found) == "source stays: no generated kernel surely pays in the network"
    assert finding(replace(found, kernels=())).startswith("Nothing of this network")


@pytest.mark.parametrize(
    ("halide_ms", "refused"), [(1.0, ""), (2.0, ""), (2.5, "alone: 0.80× as fast")]
)
def test_a_kernel_that_is_slower_alone_is_not_tried_in_the_network(
    halide_ms: float, refused: str
) -> None:
    (found,) = kernels_alone([SOFTMAX], {SOFTMAX.name: decision(halide_ms)})
    assert found.refusal.startswith(refused)
    assert bool(found.refusal) == bool(refused)
    assert found.speedup == pytest.approx(2.0 / halide_ms, rel=0.02)


def test_a_kernel_that_cannot_be_built_says_why_and_is_not_tried() -> None:
    made = decision(unavailable="There is no C compiler for generated kernels.")
    (found,) = kernels_alone([SOFTMAX], {SOFTMAX.name: made})
    assert "There is no C compiler" in found.refusal
    assert found.speedup is None


def test_kernels_that_save_most_come_first() -> None:
    made = {SOFTMAX.name: decision(1.9), GELU.name: decision(1.9)}
    assert [one.region for one in kernels_alone([SOFTMAX, GELU], made)] == [GELU, SOFTMAX]


def test_a_network_is_decided_once_and_read_again(tmp_path: Path) -> None:
    made = network(GELU.name, slow=SOFTMAX.name)
    with Records(f"sqlite:///{tmp_path / 'records.sqlite'}") as records:
        number = keep_network(made, DIGEST, records)
        assert kept_network(DIGEST, records) == made
        assert kept_network(DIGEST, records, threads=2) is None
        assert kept_network("e" * 64, records) is None
        assert kept(DIGEST, records) is None, "a network is no kernel"
        recording = records.load(number)
    assert recording.title == finding(made)
    assert [row.label for row in recording.measurements] == ["source", "default", "generated"]
    assert NETWORK.reads(recording.payload)
