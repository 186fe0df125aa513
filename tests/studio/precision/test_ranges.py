"""The Ranges section: what is counted, drawn and kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from optimizer.errors import SampleError
from optimizer.precision.histogram import Histogram
from optimizer.precision.losses import loss_of
from optimizer.precision.ranges import Range
from studio.artifacts.opened import OpenedRun, RunResult
from studio.link import from_link, to_link
from studio.precision.link import PrecisionChoice
from studio.precision.ranges.figure import CLIPPED_COLOR, activation, sizes
from studio.precision.ranges.inventory import Inventory, Stored
from studio.precision.ranges.job import ACTIVATIONS, DRAWN_BINS, Fit, Observed, bins_of
from studio.precision.samples import keep_samples, samples_folder


def histogram_of(numbers: object) -> Histogram:
    histogram = Histogram()
    histogram.add(np.asarray(numbers, np.float32))
    return histogram


@pytest.mark.parametrize("spread", [1e-3, 1.0, 7e4])
def test_bins_that_are_drawn_hold_every_number_where_it_is(spread: float) -> None:
    numbers = np.random.default_rng(1).normal(0.3, 1, 5000).astype(np.float32) * np.float32(spread)
    bins = bins_of(histogram_of(numbers))
    edges = bins.low + bins.width * np.arange(len(bins.counts) + 1)
    assert len(bins.counts) <= DRAWN_BINS
    # a number right at an edge belongs to the bin farther from zero
    edges = np.where(edges <= 0, np.nextafter(edges, np.inf), edges)
    assert list(np.histogram(numbers.astype(np.float64), edges)[0]) == list(bins.counts)


def test_what_a_range_cuts_off_is_drawn_as_clipped_and_nothing_else() -> None:
    histogram = histogram_of([*np.linspace(-1, 1, 1000), 8.0])
    seen = histogram.range
    assert seen is not None
    kept = Range(-1.0, 2.0)
    fit = Fit("mse", kept, loss_of(histogram, kept, ACTIVATIONS))
    value = Observed("v", "Relu", "n0", bins_of(histogram), seen, 1001, 0, (fit,))
    figure = activation(value, "mse", {"mse": "Squared error"}, source="4 generated inputs")
    drawn = cast("Any", figure)
    bars = drawn.data[0]
    clipped = [
        x
        for x, share, color in zip(bars.x, bars.y, bars.marker.color, strict=True)
        if color == CLIPPED_COLOR and share
    ]
    assert len(clipped) == 1
    assert clipped[0] == pytest.approx(8, rel=0.02)
    layout = drawn.layout
    assert "0.0999 % clipped" in layout.title.text
    assert "4 generated inputs" in layout.title.subtitle.text


def test_sizes_in_fewer_bits_count_floats_alone() -> None:
    stored = (Stored("float32", 1 << 20, 4 << 20), Stored("int64", 1 << 17, 1 << 20))
    drawn = cast("Any", sizes(Inventory(stored, (), 0.0))).data[0]
    assert list(drawn.x) == [5.0, 3.0, 2.0, 1.5]


@pytest.mark.parametrize(
    "choice",
    [
        PrecisionChoice(),
        PrecisionChoice(method="mse", value="/a b,c:~1&x=2", inputs=8, samples="0123456789abcdef"),
    ],
)
def test_a_link_brings_the_choice_back(choice: PrecisionChoice) -> None:
    assert from_link(PrecisionChoice, to_link(choice)) == choice


@pytest.mark.parametrize(
    "query",
    [{"precision": "all"}, {"calibrate": "A B"}, {"samples": "../../etc"}, {"inputs": "many"}],
)
def test_what_makes_no_sense_in_a_link_is_passed_over(query: dict[str, str]) -> None:
    assert from_link(PrecisionChoice, query) == PrecisionChoice()


def test_samples_are_kept_by_what_is_in_them_and_never_outside_of_their_folder(
    tmp_path: Path,
) -> None:
    run = OpenedRun("0" * 16, tmp_path / "run", RunResult(0, (0, 0), 0.0, "", True, {}))
    files = {"../../a.npy": b"1", "b.npy": b"2", ".b.npy": b"3"}
    key = keep_samples(run, files)
    folder = samples_folder(run, key)
    assert folder is not None
    assert folder.parent == run.folder
    kept = {path.read_bytes() for path in folder.iterdir() if path.suffix == ".npy"}
    assert kept == set(files.values())
    assert keep_samples(run, files) == key != keep_samples(run, {"b.npy": b"2"})
    assert samples_folder(run, "f" * 16) is None
    with pytest.raises(SampleError, match=r"'notes\.txt' is no \.npz or \.npy"):
        keep_samples(run, {"notes.txt": b""})
