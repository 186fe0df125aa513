"""Sizes of free dimensions nobody gave: one reading of names, whoever asks."""

from __future__ import annotations

import pytest

from optimizer.cost import Sizes
from optimizer.free_sizes import ASSUMED, Guess, sizes_by_name
from optimizer.verify.sizes import GUESSES, plans
from studio.memory.subject import free_dimensions
from tests.optimizer.cost.nodes import model_of

SMALL = Guess(batch=2, past=4, sequence=8, spatial=32, other=5)


@pytest.mark.parametrize(
    ("name", "size"),
    [("batch_size", 2), ("N", 2), ("unk__12", 2), ("past_len", 4), ("seq", 8), ("h", 32)],
)
def test_a_name_says_what_it_counts(name: str, size: int) -> None:
    assert sizes_by_name([name], {}, SMALL) == {name: size}


def test_a_name_that_says_nothing_is_left_out_unless_a_size_is_given() -> None:
    assert sizes_by_name(["foo", "bar"], {"bar": 3}) == {"bar": 3}


def test_a_total_is_past_and_new_together_whatever_sizes_they_were_given() -> None:
    names = ["total_seq", "past_seq", "seq"]
    assert sizes_by_name(names, {}, SMALL)["total_seq"] == 4 + 8
    assert sizes_by_name(names, {"past_seq": 10}, SMALL)["total_seq"] == 10 + 8
    assert sizes_by_name(names, {"total_seq": 7}, SMALL)["total_seq"] == 7
    assert sizes_by_name(["total_seq"], {}, SMALL)["total_seq"] == 8


def test_cost_and_memory_assume_the_same_and_a_run_reads_names_in_the_same_way() -> None:
    shape = '"batch", "past_seq", "seq", "total_seq", "foo"'
    graph = model_of(f"g (float[{shape}] x) => (y) {{ y = Relu(x) }}").graph
    sizes = Sizes.of(graph)
    assert sizes.shape(graph.inputs[0]) == (1, 128, 128, 256, ASSUMED.other)
    assert free_dimensions(graph, {}) == sizes.assumed
    first = next(plans({"x": ["batch", "past_seq", "seq", "total_seq", "foo"]}, {}))
    guess = GUESSES[0]
    assert first.shapes["x"][:4] == (
        guess.batch, guess.past, guess.sequence, guess.past + guess.sequence,
    )  # fmt: skip
