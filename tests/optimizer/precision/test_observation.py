"""What running a model on samples tells of its values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from optimizer.errors import Cancelled, RunError, SampleError, StudioError
from optimizer.limits import MIB, JobLimits
from optimizer.precision.histogram import Histogram
from optimizer.precision.observation import Wanted, observe
from optimizer.precision.ranges import Range
from optimizer.precision.samples import Samples
from optimizer.precision.threshold import Integers
from profiling.workers import WorkerPool
from tests.optimizer.verify.models import model

NETWORK = model(
    """g (float[batch,4] x, int64[batch] rows) => (float[batch,3] y)
    <float[4,3] w = {1,-2,3,4,5,-6,7,8,9,10,11,12}, float[1] s = {2}> {
        c = Mul(s, s)
        scaled = Mul(x, c)
        product = MatMul(scaled, w)
        positive = Relu(product)
        n = Shape(positive)
        y = Gather(positive, rows)
    }"""
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(5):
        generator = np.random.default_rng(number)
        rows = number + 2
        x = generator.standard_normal((rows, 4)).astype(np.float32) * 10**number
        np.savez(tmp_path / f"{number}.npz", x=x, rows=np.arange(rows)[::-1])
    return tmp_path


def samples_in(folder: Path) -> list[dict[str, np.ndarray]]:
    return [dict(np.load(file)) for file in sorted(folder.iterdir())]


def by_hand(folder: Path) -> dict[str, list[np.ndarray]]:
    w = onnx.numpy_helper.to_array(onnx.load_from_string(NETWORK).graph.initializer[0])
    found: dict[str, list[np.ndarray]] = {
        name: [] for name in ("x", "scaled", "product", "positive", "y")
    }
    for sample in samples_in(folder):
        scaled = sample["x"] * np.float32(4)
        product = scaled @ w
        positive = np.maximum(product, 0)
        values = (sample["x"], scaled, product, positive, positive[sample["rows"]])
        for name, value in zip(found, values, strict=True):
            found[name].append(value)
    return found


@pytest.mark.parametrize("memory_bytes", [1, 150, 1 << 20])
def test_histograms_are_those_of_numpy_however_little_memory_there_is(
    memory_bytes: int, folder: Path, isolate: WorkerPool
) -> None:
    wanted = Wanted(memory_bytes=memory_bytes, channels={"product": 1})
    found = observe(NETWORK, Samples(folder), wanted, isolate=isolate)
    expected = by_hand(folder)
    assert list(found.histograms) == list(expected)
    assert (found.samples, found.generated) == (5, False)
    for name, values in expected.items():
        whole = Histogram()
        for value in values:
            whole.add(value)
        assert np.array_equal(found.histograms[name].counts, whole.counts), name
        assert found.histograms[name].range == whole.range, name
    product = np.concatenate(expected["product"]).astype(np.float64)
    assert found.channels["product"].means == pytest.approx(product.mean(axis=0))
    assert found.channels["product"].largest == pytest.approx(np.abs(product).max(axis=0))


def test_less_memory_means_more_runs_and_progress_says_where_it_is(
    folder: Path, isolate: WorkerPool
) -> None:
    told: list[tuple[str, float]] = []
    observe(
        NETWORK,
        Samples(folder, count=2),
        Wanted(memory_bytes=1),
        isolate=isolate,
        progress=lambda text, part: told.append((text, part)),
    )
    texts = [text for text, _ in told]
    assert "values 3 to 3 of 5, sample '1.npz'" in texts
    assert len([text for text in texts if text.startswith("values")]) == 5 * 2
    parts = [part for _, part in told]
    assert parts == sorted(parts)
    assert parts[-1] <= 1


def test_generated_samples_are_said_to_be_and_differ_where_some_are_left_out(
    isolate: WorkerPool,
) -> None:
    first = observe(NETWORK, Samples(count=2), isolate=isolate)
    again = observe(NETWORK, Samples(count=2), isolate=isolate)
    others = observe(NETWORK, Samples(count=2, skip=2), isolate=isolate)
    assert (first.generated, first.samples) == (True, 2)
    assert first.ranges("min-max", Integers()) == again.ranges("min-max", Integers())
    assert first.ranges("min-max", Integers()) != others.ranges("min-max", Integers())


def test_ranges_are_a_table_for_a_pass(folder: Path, isolate: WorkerPool) -> None:
    found = observe(NETWORK, Samples(folder), Wanted(["positive"]), isolate=isolate)
    largest = float(np.concatenate(by_hand(folder)["positive"]).max())
    assert found.ranges("min-max", Integers()) == {"positive": Range(0.0, largest)}


def test_a_value_that_is_none_is_told(folder: Path, isolate: WorkerPool) -> None:
    for name in ("nowhere", "n", "c", "w"):
        with pytest.raises(StudioError, match=f"Value '{name}' is no tensor of floats that is"):
            observe(NETWORK, Samples(folder), Wanted([name]), isolate=isolate)


def test_a_sample_that_does_not_fit_or_that_the_model_refuses_is_told_by_name(
    folder: Path, isolate: WorkerPool
) -> None:
    np.savez(folder / "3.npz", x=np.ones((2, 4), np.float32), rows=np.array([7, 9]))
    with pytest.raises(RunError, match=r"does not run on sample '3\.npz'"):
        observe(NETWORK, Samples(folder), isolate=isolate)
    np.savez(folder / "4.npz", x=np.ones((2, 4), np.float32))
    with pytest.raises(SampleError, match=r"'4\.npz' has no array for input 'rows'"):
        observe(NETWORK, Samples(folder), isolate=isolate)


def test_no_node_runs_that_the_values_do_not_need(folder: Path, isolate: WorkerPool) -> None:
    np.savez(folder / "3.npz", x=np.ones((2, 4), np.float32), rows=np.array([7, 9]))  # no such rows
    found = observe(NETWORK, Samples(folder), Wanted(["positive"]), isolate=isolate)
    assert found.samples == 5


def test_what_a_body_reads_from_around_it_is_there(isolate: WorkerPool) -> None:
    network = model(
        """g (float[4] x, bool[] c) => (float[4] y) {
            a = Neg(x)
            b = Abs(x)
            unused = Exp(b)
            r = If(c) <
                then_branch = t () => (float[4] p) { p = Mul(a, a) },
                else_branch = e () => (float[4] q) { q = Identity(b) }
            >
            y = Add(r, r)
        }"""
    )
    for wanted in (Wanted(["r"]), Wanted(memory_bytes=1)):
        assert (
            observe(network, Samples(count=2), wanted, isolate=isolate).histograms["r"].finite == 8
        )


def test_the_work_can_be_cancelled(folder: Path, isolate: WorkerPool) -> None:
    with pytest.raises(Cancelled):
        observe(NETWORK, Samples(folder), isolate=isolate, cancelled=lambda: True)


def test_weights_in_a_file_beside_the_model_are_found(tmp_path: Path, isolate: WorkerPool) -> None:
    network = onnx.load_from_string(NETWORK)
    for tensor in network.graph.initializer:  # only raw bytes go to a file
        tensor.CopyFrom(
            onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor), tensor.name)
        )
    onnx.save(
        network,
        tmp_path / "m.onnx",
        save_as_external_data=True,
        location="m.data",
        size_threshold=0,
    )
    assert (tmp_path / "m.data").exists()
    found = observe(tmp_path / "m.onnx", Samples(count=1), isolate=isolate)
    assert found.histograms["product"].finite == 2 * 3


def test_a_file_of_weights_larger_than_a_worker_may_map_again_and_again(
    tmp_path: Path, isolate: WorkerPool
) -> None:
    many, size = 20, 4096
    nodes = "".join(f"v{n + 1} = Add(v{n}, w{n})\n" for n in range(many))
    network = onnx.load_from_string(
        model(f"g (float[1024] v0) => (float[1024] v{many}) {{{nodes}}}")
    )
    for number in range(many):
        tensor = network.graph.initializer.add(name=f"w{number}", data_type=1, dims=[1024])
        tensor.data_location = onnx.TensorProto.EXTERNAL
        about = {"location": "m.data", "offset": f"{number * size}", "length": f"{size}"}
        for key, value in about.items():
            tensor.external_data.add(key=key, value=value)
    (tmp_path / "m.onnx").write_bytes(network.SerializeToString())
    with (tmp_path / "m.data").open("wb") as weights:
        weights.truncate(256 * MIB)  # with holes: it takes no room
    limits = JobLimits(memory_bytes=2048 * MIB)
    found = observe(tmp_path / "m.onnx", Samples(count=1), isolate=isolate, limits=limits)
    assert found.histograms[f"v{many}"].seen == 1024
