"""Operands that make kernels divide by zero or read out of bounds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from tests.corpus.cases import (
    FLOAT,
    INT32,
    INT64,
    OPSET,
    UINT8,
    bomb,
    case,
    const,
    i64,
    model,
    save,
    value,
)


def folded(
    folder: Path,
    op: str,
    *initializers: TensorProto,
    rank: int | None = None,
    dtype: int = FLOAT,
    opset: int = OPSET,
    domain: str = "",
    **attributes: Any,
) -> None:
    """One node on constant inputs, so that constant folding executes the kernel at load time."""
    node = helper.make_node(op, [t.name for t in initializers], ["y"], domain=domain, **attributes)
    rank = len(initializers[0].dims) if rank is None else rank
    bomb(
        folder,
        node,
        *initializers,
        rank=rank,
        dtype=dtype,
        opset=opset,
        domains=[domain] if domain else [],
    )


@case("kernel", "view")
def int_division_by_zero(folder: Path) -> None:
    folded(
        folder,
        "Div",
        const("a", np.array([1], np.int32)),
        const("b", np.array([0], np.int32)),
        dtype=INT32,
    )


@case("kernel", "view")
def int_division_overflow(folder: Path) -> None:
    folded(
        folder,
        "Div",
        const("a", np.array([-(2**31)], np.int32)),
        const("b", np.array([-1], np.int32)),
        dtype=INT32,
    )


@case("kernel", "view")
def int_mod_by_zero(folder: Path) -> None:
    folded(folder, "Mod", i64("a", 1), i64("b", 0), dtype=INT64)


@case("kernel", "view")
def int_mod_overflow(folder: Path) -> None:
    folded(folder, "Mod", i64("a", -(2**63)), i64("b", -1), dtype=INT64)


@case("kernel", "reject")
def gather_out_of_range(folder: Path) -> None:
    folded(folder, "Gather", const("a", np.ones(4, np.float32)), i64("i", 1 << 40))


@case("kernel", "reject")
def reshape_impossible(folder: Path) -> None:
    folded(folder, "Reshape", const("a", np.ones(4, np.float32)), i64("s", 3, 3), rank=2)


@case("kernel", "reject")
def reshape_two_minus_ones(folder: Path) -> None:
    folded(folder, "Reshape", const("a", np.ones(4, np.float32)), i64("s", -1, -1), rank=2)


@case("kernel", "reject")
def slice_step_zero(folder: Path) -> None:
    folded(
        folder,
        "Slice",
        const("a", np.ones(4, np.float32)),
        i64("b", 0),
        i64("e", 4),
        i64("x", 0),
        i64("st", 0),
    )


@case("kernel", "reject")
def transpose_bad_perm(folder: Path) -> None:
    folded(folder, "Transpose", const("a", np.ones((2, 2), np.float32)), perm=[0, 7])


@case("kernel", "reject")
def split_bad_sizes(folder: Path) -> None:
    folded(folder, "Split", const("a", np.ones(4, np.float32)), i64("s", 1 << 40))


@case("kernel", "reject")
def conv_stride_zero(folder: Path) -> None:
    folded(
        folder,
        "Conv",
        const("a", np.ones((1, 1, 4, 4), np.float32)),
        const("w", np.ones((1, 1, 1, 1), np.float32)),
        strides=[0, 0],
    )


@case("kernel", "reject")
def conv_group_zero(folder: Path) -> None:
    folded(
        folder,
        "Conv",
        const("a", np.ones((1, 1, 4, 4), np.float32)),
        const("w", np.ones((1, 1, 1, 1), np.float32)),
        group=0,
    )


@case("kernel", "view")
def conv_pads_huge(folder: Path) -> None:
    folded(
        folder,
        "Conv",
        const("a", np.ones((1, 1, 4, 4), np.float32)),
        const("w", np.ones((1, 1, 1, 1), np.float32)),
        pads=[1 << 30] * 4,
    )


@case("kernel", "reject")
def pool_kernel_zero(folder: Path) -> None:
    folded(folder, "MaxPool", const("a", np.ones((1, 1, 4, 4), np.float32)), kernel_shape=[0, 0])


@case("kernel", "reject")
def einsum_garbage(folder: Path) -> None:
    folded(
        folder, "Einsum", const("a", np.ones((2, 2), np.float32)), equation="ij,...->,,->k", rank=1
    )


@case("kernel", "view")
def quantize_scale_zero(folder: Path) -> None:
    folded(
        folder,
        "QuantizeLinear",
        const("a", np.ones(4, np.float32)),
        const("s", np.float32(0)),
        const("z", np.uint8(0)),
        dtype=UINT8,
    )


@case("kernel", "reject")
def attention_zero_heads(folder: Path) -> None:
    folded(
        folder,
        "Attention",
        const("a", np.ones((1, 2, 4), np.float32)),
        const("w", np.ones((4, 12), np.float32)),
        const("b", np.ones(12, np.float32)),
        domain="com.microsoft",
        num_heads=0,
    )


def tree(folder: Path, true_ids: Sequence[int], feature: int) -> None:
    node = helper.make_node(
        "TreeEnsembleRegressor",
        ["x"],
        ["y"],
        domain="ai.onnx.ml",
        n_targets=1,
        nodes_treeids=[0, 0, 0],
        nodes_nodeids=[0, 1, 2],
        nodes_featureids=[feature, 0, 0],
        nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
        nodes_values=[0.5, 0.0, 0.0],
        nodes_truenodeids=list(true_ids),
        nodes_falsenodeids=[2, 0, 0],
        target_treeids=[0, 0],
        target_nodeids=[1, 2],
        target_ids=[0, 0],
        target_weights=[1.0, 2.0],
    )
    save(folder, model([node], outputs=[value("y", (1, 1))], domains=["ai.onnx.ml"]))


@case("kernel", "reject")
def tree_child_is_itself(folder: Path) -> None:
    tree(folder, [0, 0, 0], feature=0)


@case("kernel", "reject")
def tree_feature_out_of_range(folder: Path) -> None:
    tree(folder, [1, 0, 0], feature=1 << 30)


@case("kernel", "reject")
def ep_context_path(folder: Path) -> None:
    """An EPContext node names a file that an execution provider would open."""
    node = helper.make_node(
        "EPContext",
        ["x"],
        ["y"],
        domain="com.microsoft",
        embed_mode=0,
        ep_cache_context="../../secret.bin",
        main_context=1,
        source="TensorrtExecutionProvider",
    )
    save(folder, model([node], domains=["com.microsoft"]))
