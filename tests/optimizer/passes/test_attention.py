"""Attention recognized: rows without keys, windows of several pictures, and back into its parts."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.numpy_helper
import pytest

from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from tests.optimizer.graphs import opened, parsed, proto_of
from tests.optimizer.passes import golden
from tests.optimizer.running import Feeds, run

LOWEST = float(np.finfo(np.float32).min)
CASES = {case.path.stem: case.before for case in golden.cases() if "attention" in case.pass_id}
WINDOWS = "recognizes-a-mask-for-each-window"
GUARD = "recognizes-a-guard-against-rows-without-keys"
PUT = "recognizes-scores-that-are-put-out-and-a-mask"
HEADS = "recognizes-heads-with-a-mask-of-keys"
CACHE = "recognizes-repeated-heads-and-earlier-keys"
EARLY_GPT2 = """
<ir_version: 6, opset_import: ["" : 11]>
g (float[2,2,S,4] q, float[2,2,4,S] k, float[2,2,S,4] v, int64[1] length) => (float[2,2,S,4] y)
<float root = {2}, float much = {10000}, float one = {1}, int64[1] zero = {0},
 int64[1] rows = {2}, int64[1] columns = {3},
 float[1,1,4,4] lower = {1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1}>
{
   product = MatMul (q, k)
   scores = Div (product, root)
   some = Slice (lower, zero, length, rows)
   b = Slice (some, zero, length, columns)
   taken = Mul (scores, b)
   opposite = Sub (one, b)
   hidden = Mul (opposite, much)
   masked = Sub (taken, hidden)
   shares = Softmax <axis = 3> (masked)
   y = MatMul (shares, v)
}
"""
KERAS = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[N,5,2,4] q, float[N,5,2,4] k, float[N,5,2,4] v, bool[5,5] seen) => (float[N,5,2,4] y)
<float scale = {0.5}, bool yes = {1}, float low = {-1e9}, int64[1] one = {1}, int64[1] two = {2},
 int64[1] three = {3}, int64[1] four = {4}, int64[3] flat = {-1,5,4}, int64[3] square = {-1,5,5},
 int64[3] wide = {-1,4,5}, int64[5] scored = {-1,2,5,5,1}, int64[5] apart = {-1,2,5,4,1}>
{
   q5 = Unsqueeze (q, three)
   qt = Transpose <perm = [0, 2, 1, 3, 4]> (q5)
   q3 = Reshape (qt, flat)
   k5 = Unsqueeze (k, one)
   kt = Transpose <perm = [0, 3, 1, 2, 4]> (k5)
   k3 = Reshape (kt, flat)
   kt3 = Transpose <perm = [0, 2, 1]> (k3)
   product = MatMul (q3, kt3)
   product5 = Reshape (product, scored)
   product4 = Squeeze (product5, four)
   scores = Mul (product4, scale)
   sizes = Shape (scores)
   all = Expand (yes, sizes)
   both = And (all, seen)
   masked = Where (both, scores, low)
   shares = Softmax (masked)
   shares5 = Unsqueeze (shares, three)
   shares3 = Reshape (shares5, square)
   v5 = Unsqueeze (v, two)
   vt = Transpose <perm = [0, 3, 2, 4, 1]> (v5)
   v3 = Reshape (vt, wide)
   vt3 = Transpose <perm = [0, 2, 1]> (v3)
   found = MatMul (shares3, vt3)
   found5 = Reshape (found, apart)
   found4 = Squeeze (found5, four)
   y = Transpose <perm = [0, 2, 1, 3]> (found4)
}
"""

MULTIHEAD = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[5,2,8] x, float[2,5] padded) => (float[5,2,8] y)
<float[8,24] w, float[24] b, float[8,8] wo, float[8] bo, float scale = {0.5},
 int64[4] apart = {0,0,3,8}, int64[1] first = {0}, int64[1] last = {-2}, int64 zero = {0},
 int64 one = {1}, int64 two = {2}, int64[3] heads = {5,4,4}, int64[4] spread = {2,1,1,5},
 int64[4] each = {2,2,1,5}, int64[3] joined = {4,1,5}, int64[2] flat = {-1,8},
 int64[3] back = {5,2,8}>
{
   product = MatMul (x, w)
   all = Add (b, product)
   unflat = Reshape (all, apart)
   outer = Unsqueeze (unflat, first)
   turned = Transpose <perm = [3, 1, 2, 0, 4]> (outer)
   three = Squeeze (turned, last)
   q = Gather <axis = 0> (three, zero)
   k = Gather <axis = 0> (three, one)
   v = Gather <axis = 0> (three, two)
   qh = Reshape (q, heads)
   kh = Reshape (k, heads)
   vh = Reshape (v, heads)
   qt = Transpose <perm = [1, 0, 2]> (qh)
   kt = Transpose <perm = [1, 2, 0]> (kh)
   vt = Transpose <perm = [1, 0, 2]> (vh)
   scaled = Mul (qt, scale)
   keys = Reshape (padded, spread)
   many = Expand (keys, each)
   mask = Reshape (many, joined)
   product2 = MatMul (scaled, kt)
   scores = Add (mask, product2)
   weights = Softmax <axis = -1> (scores)
   found = MatMul (weights, vt)
   found2 = Transpose <perm = [1, 0, 2]> (found)
   rows = Reshape (found2, flat)
   mixed = Gemm (rows, wo, bo)
   y = Reshape (mixed, back)
}
"""
"""As PyTorch exports nn.MultiheadAttention where its weights are asked for, as they are unless
somebody says no."""


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def three(*shape: int) -> dict[str, np.ndarray]:
    return {name: random(*shape, seed=seed) for seed, name in enumerate(("q", "k", "v"))}


def compared(source: str | onnx.ModelProto, feeds: Feeds, pipeline: Pipeline) -> list[str]:
    """Run a model and what becomes of it; the operators that are left."""
    model = opened(source)
    optimize(model, pipeline)
    expected, found = (
        run(parsed(source) if isinstance(source, str) else source, feeds),
        run(proto_of(model.ir), feeds),
    )
    for before, after in zip(expected, found, strict=True):
        np.testing.assert_allclose(after, before, rtol=1e-4, atol=1e-5)
    return [node.op_type for node in model.ir.graph]


def recognized(case: str, feeds: Feeds) -> None:
    left = compared(CASES[case], feeds, Pipeline.of("none", enable=["recognize-attention"]))
    assert "Attention" in left
    assert "Softmax" not in left


def test_a_row_without_keys_is_0_where_0_takes_the_place_of_nan() -> None:
    seen = np.ones((2, 1, 3, 3), np.bool_)
    seen[:, :, 1] = False
    recognized(GUARD, three(2, 2, 3, 4) | {"seen": seen})


def test_a_row_whose_scores_are_all_put_out_by_the_smallest_number_is_the_mean() -> None:
    seen = np.tril(np.ones((1, 1, 3, 3), np.bool_))
    pad = np.zeros((2, 1, 1, 3), np.float32)
    pad[1, ..., :2] = LOWEST  # the first two words are padding: the first row has no key
    recognized(PUT, three(2, 2, 3, 4) | {"seen": seen, "pad": pad})


@pytest.mark.parametrize("pictures", [1, 3])
def test_windows_have_their_masks_whatever_the_number_of_pictures(pictures: int) -> None:
    text = CASES[WINDOWS].replace("float[4,", f"float[{2 * pictures},")
    left = compared(
        text,
        three(2 * pictures, 2, 3, 4),
        Pipeline.of("none", enable=["recognize-attention"]),
    )
    assert "Attention" in left


@pytest.mark.parametrize("length", [1, 5])
def test_a_mask_of_keys_is_spread_over_rows_of_any_number(length: int) -> None:
    flat = {name: random(2, length, 8, seed=seed) for seed, name in enumerate(("q", "k", "v"))}
    recognized(HEADS, flat | {"mask": random(2, 1, 1, length)})


@pytest.mark.parametrize("length", [2, 4])
def test_a_mask_that_is_multiplied_as_in_the_first_gpt_2_is_recognized(length: int) -> None:
    feeds: dict[str, np.ndarray] = {"length": np.array([length])}
    feeds |= {"q": random(2, 2, length, 4), "k": random(2, 2, 4, length, seed=1)}
    feeds["v"] = random(2, 2, length, 4, seed=2)
    left = compared(EARLY_GPT2, feeds, Pipeline.of("cpu"))
    assert "Attention" in left
    assert "Softmax" not in left


def test_an_einsum_as_keras_has_it_written_is_recognized_with_its_mask() -> None:
    seen = np.tril(np.ones((5, 5), np.bool_))
    left = compared(KERAS, three(3, 5, 2, 4) | {"seen": seen}, Pipeline.of("cpu"))
    assert sorted({*left} - {"Reshape", "Constant"}) == ["Attention", "Where"]


def test_a_module_of_pytorch_whose_batch_and_heads_are_one_axis_is_recognized() -> None:
    feeds = {"x": random(5, 2, 8), "padded": np.array([[0] * 5, [0, 0, 0, LOWEST, LOWEST]])}
    feeds["padded"] = feeds["padded"].astype(np.float32)
    weights = {"w": (8, 24), "b": (24,), "wo": (8, 8), "bo": (8,)}
    model = parsed(MULTIHEAD)
    for seed, (name, shape) in enumerate(weights.items()):
        model.graph.initializer.append(
            onnx.numpy_helper.from_array(random(*shape, seed=seed), name)
        )
    left = compared(model, feeds, Pipeline.of("cpu"))
    assert "Attention" in left
    assert "Softmax" not in left


@pytest.mark.parametrize("case", [HEADS, CACHE])
def test_what_was_recognized_can_be_written_as_its_parts_again(case: str) -> None:
    feeds: dict[str, np.ndarray] = {}
    if case == HEADS:
        feeds = {name: random(2, 5, 8, seed=seed) for seed, name in enumerate(("q", "k", "v"))}
        feeds["mask"] = random(2, 1, 1, 5)
    else:
        feeds = {"q": random(2, 4, 3, 3), "k": random(2, 2, 3, 3), "v": random(2, 2, 3, 3, seed=1)}
        feeds |= {"pk": random(2, 2, 4, 3, seed=2), "pv": random(2, 2, 4, 3, seed=3)}
    both = Pipeline.of("none", enable=["recognize-attention", "inline-function-bodies"])
    left = compared(CASES[case], feeds, both)
    assert "Attention" not in left
    assert "MatMul" in left
