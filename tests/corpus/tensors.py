"""Tensors and types that do not fit themselves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper

from tests.corpus.cases import FLOAT, INT64, STRING, case, const, i64, model, save, value


def with_weight(folder: Path, tensor: TensorProto) -> None:
    tensor.name = "w"
    save(folder, model([helper.make_node("Add", ["x", "w"], ["y"])], initializers=[tensor]))


@case("tensor", "reject")
def raw_data_short(folder: Path) -> None:
    with_weight(folder, TensorProto(data_type=FLOAT, dims=[1, 1000], raw_data=b"abcd"))


@case("tensor", "reject")
def raw_data_long(folder: Path) -> None:
    with_weight(folder, TensorProto(data_type=FLOAT, dims=[1, 4], raw_data=bytes(4000)))


@case("tensor", "reject")
def dims_overflow(folder: Path) -> None:
    with_weight(folder, TensorProto(data_type=FLOAT, dims=[1 << 32, 1 << 32], raw_data=b""))


@case("tensor", "reject")
def dims_overflow_wraps_to_four(folder: Path) -> None:
    with_weight(folder, TensorProto(data_type=FLOAT, dims=[1 << 62, 4, 1], raw_data=bytes(16)))


@case("tensor", "reject")
def dims_negative(folder: Path) -> None:
    with_weight(folder, TensorProto(data_type=FLOAT, dims=[-1, -4], raw_data=bytes(16)))


@case("tensor", "reject")
def dims_huge_no_data(folder: Path) -> None:
    with_weight(folder, TensorProto(data_type=FLOAT, dims=[1 << 20, 1 << 20]))


@case("tensor", "reject")
def dtype_unknown(folder: Path) -> None:
    with_weight(folder, TensorProto(data_type=999, dims=[1, 4], raw_data=bytes(16)))


@case("tensor", "reject")
def dtype_undefined(folder: Path) -> None:
    with_weight(folder, TensorProto(data_type=0, dims=[1, 4], raw_data=bytes(16)))


@case("tensor", "reject")
def raw_and_typed_data(folder: Path) -> None:
    with_weight(
        folder,
        TensorProto(data_type=FLOAT, dims=[1, 4], raw_data=bytes(16), float_data=[1, 2, 3, 4]),
    )


@case("tensor", "reject")
def typed_data_wrong_field(folder: Path) -> None:
    with_weight(folder, TensorProto(data_type=FLOAT, dims=[1, 4], int64_data=[1, 2, 3, 4]))


@case("tensor", "run")
def nan_inf_weights(folder: Path) -> None:
    with_weight(folder, const("w", np.array([[np.nan, np.inf, -np.inf, 1e-45]], np.float32)))


@case("tensor", "reject")
def input_dim_negative(folder: Path) -> None:
    save(
        folder,
        model(
            [helper.make_node("Relu", ["x"], ["y"])], [value("x", (-5, 4))], [value("y", ("n", 4))]
        ),
    )


@case("tensor", "view")
def input_dim_zero(folder: Path) -> None:
    save(
        folder,
        model([helper.make_node("Relu", ["x"], ["y"])], [value("x", (0, 4))], [value("y", (0, 4))]),
    )


@case("tensor", "view")
def input_dim_enormous(folder: Path) -> None:
    save(
        folder,
        model(
            [helper.make_node("Relu", ["x"], ["y"])],
            [value("x", (1 << 40,))],
            [value("y", (1 << 40,))],
        ),
    )


@case("tensor", "run")
def rank_64(folder: Path) -> None:
    shape = (1,) * 64
    save(
        folder,
        model([helper.make_node("Relu", ["x"], ["y"])], [value("x", shape)], [value("y", shape)]),
    )


def sparse_model(indices: Sequence[int]) -> ModelProto:
    sparse = helper.make_sparse_tensor(
        const("w", np.ones(2, np.float32)), i64("i", *indices), [1, 4]
    )
    proto = model([helper.make_node("Add", ["x", "w"], ["y"])])
    proto.graph.sparse_initializer.append(sparse)
    return proto


@case("tensor", "run")
def sparse_initializer(folder: Path) -> None:
    save(folder, sparse_model([0, 3]))


@case("tensor", "reject")
def sparse_index_out_of_range(folder: Path) -> None:
    save(folder, sparse_model([0, 1 << 40]))


@case("tensor", "reject")
def sparse_dims_huge(folder: Path) -> None:
    proto = sparse_model([0, 3])
    proto.graph.sparse_initializer[0].dims[:] = [1 << 20, 1 << 20]
    save(folder, proto)


@case("tensor", "run")
def string_tensor(folder: Path) -> None:
    save(
        folder,
        model(
            [helper.make_node("Identity", ["x"], ["y"])],
            [value("x", (2,), STRING)],
            [value("y", (2,), STRING)],
        ),
    )


@case("tensor", "view")
def string_not_utf8(folder: Path) -> None:
    tensor = TensorProto(name="w", data_type=STRING, dims=[1], string_data=[b"\xff\xfe<b>"])
    save(
        folder,
        model(
            [helper.make_node("Identity", ["w"], ["y"])], [], [value("y", (1,), STRING)], [tensor]
        ),
    )


@case("tensor", "run")
def sequence_type(folder: Path) -> None:
    out = helper.make_tensor_sequence_value_info("y", FLOAT, None)
    save(folder, model([helper.make_node("SequenceConstruct", ["x", "x"], ["y"])], outputs=[out]))


@case("tensor", "run")
def optional_type(folder: Path) -> None:
    tensor_type = helper.make_tensor_type_proto(FLOAT, [1, 4])
    x = helper.make_value_info("x", helper.make_optional_type_proto(tensor_type))
    save(folder, model([helper.make_node("OptionalGetElement", ["x"], ["y"])], [x], opset=18))


@case("tensor", "view")
def map_type(folder: Path) -> None:
    x = onnx.ValueInfoProto(name="x")
    x.type.map_type.key_type = INT64
    x.type.map_type.value_type.tensor_type.elem_type = FLOAT
    node = helper.make_node(
        "DictVectorizer", ["x"], ["y"], domain="ai.onnx.ml", int64_vocabulary=[1, 2]
    )
    save(folder, model([node], [x], [value("y", (1, 2))], domains=["ai.onnx.ml"]))


def cast_model(dtype: int, opset: int, ir_version: int) -> ModelProto:
    nodes = [
        helper.make_node("Cast", ["x"], ["a"], to=dtype),
        helper.make_node("Cast", ["a"], ["y"], to=FLOAT),
    ]
    return model(nodes, opset=opset, ir_version=ir_version)


@case("tensor", "run")
def bfloat16(folder: Path) -> None:
    save(folder, cast_model(TensorProto.BFLOAT16, 17, 8))


@case("tensor", "run")
def float8(folder: Path) -> None:
    save(folder, cast_model(TensorProto.FLOAT8E4M3FN, 19, 9))


@case("tensor", "view")
def int4(folder: Path) -> None:
    save(folder, cast_model(TensorProto.INT4, 21, 10))


@case("tensor", "view")
def float4(folder: Path) -> None:
    save(folder, cast_model(TensorProto.FLOAT4E2M1, 23, 11))


@case("tensor", "run")
def opset_1(folder: Path) -> None:
    node = helper.make_node("Dropout", ["x"], ["a"], is_test=1, ratio=0.5)
    save(folder, model([node, helper.make_node("Relu", ["a"], ["y"])], opset=1, ir_version=3))


@case("tensor", "view")
def opset_newest(folder: Path) -> None:
    save(
        folder,
        model(
            [helper.make_node("Relu", ["x"], ["y"])],
            opset=onnx.defs.onnx_opset_version(),
            ir_version=onnx.IR_VERSION,
        ),
    )
