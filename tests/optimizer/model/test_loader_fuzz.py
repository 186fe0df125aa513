"""Whatever bytes come: a model, or an error from our own tree; nothing else, and no waiting."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.errors import StudioError
from optimizer.model.graph import walk_nodes
from optimizer.model.loader import load_bytes
from optimizer.model.writer import to_bytes
from tests.corpus.bad_inputs import CASES, model_path

SMALL = 4096
SEEDS = (
    "ext_good",
    "if_depth_10",
    "loop_scan_memory",
    "function_fan_out_bomb",
    "sparse_initializer",
    "sequence_type",
    "optional_type",
    "map_type",
    "tree_child_is_itself",
    "conv_stride_zero",
    "reshape_impossible",
    "bfloat16",
    "opset_1",
    "name_bidi",
    "recursive_function",
)


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    found: list[bytes] = []
    for name in SEEDS:
        folder = tmp_path_factory.mktemp(name)
        CASES[name].write(folder)
        found.append(model_path(folder).read_bytes())
    return found


def open_and_use(data: bytes) -> None:
    """Load, and if that works, do what every later step does first."""
    with contextlib.suppress(StudioError):
        model = load_bytes(data, name="fuzz.onnx", companions={"good.bin": bytes(16)})
        assert all("id" in node.meta for node in walk_nodes(model.ir.graph))
        if model.statuses.optimizable.ok:
            to_bytes(model.ir)


@settings(max_examples=400)
@given(st.data())
def test_flipped_bits_never_get_past_the_loader_as_anything_but_a_studio_error(
    seeds: list[bytes], data: st.DataObject
) -> None:
    mutated = bytearray(data.draw(st.sampled_from(seeds)))
    for _ in range(data.draw(st.integers(1, 6))):
        position = data.draw(st.integers(0, len(mutated) - 1))
        mutated[position] = data.draw(st.integers(0, 255))
    open_and_use(bytes(mutated))


@settings(max_examples=200)
@given(st.data())
def test_spliced_models_never_get_past_the_loader_as_anything_but_a_studio_error(
    seeds: list[bytes], data: st.DataObject
) -> None:
    first, second = data.draw(st.sampled_from(seeds)), data.draw(st.sampled_from(seeds))
    cut = data.draw(st.integers(0, len(first)))
    open_and_use(first[:cut] + second[data.draw(st.integers(0, len(second))) :])
    open_and_use(first + second)  # protobuf merges the two


@settings(max_examples=200)
@given(st.binary(max_size=SMALL))
def test_random_bytes_never_get_past_the_loader_as_anything_but_a_studio_error(
    data: bytes,
) -> None:
    open_and_use(data)


def test_every_prefix_of_a_model_is_refused_or_opened(seeds: list[bytes]) -> None:
    for length in range(len(seeds[0])):
        open_and_use(seeds[0][:length])
