"""Graphs that break the rules of graphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import AttributeProto, FunctionProto, ModelProto, helper

from tests.corpus.cases import INT64, IR_VERSION, OPSET, case, const, model, relu_model, save, value


@case("structure", "reject")
def no_graph(folder: Path) -> None:
    save(folder, ModelProto(ir_version=IR_VERSION, opset_import=[helper.make_opsetid("", OPSET)]))


@case("structure", "view")
def empty_graph(folder: Path) -> None:
    save(folder, model([], [], []))


@case("structure", "run")
def zero_inputs(folder: Path) -> None:
    save(
        folder,
        model(
            [
                helper.make_node(
                    "Constant", [], ["y"], value=const("v", np.ones((1, 4), np.float32))
                )
            ],
            [],
        ),
    )


@case("structure", "run")
def passthrough(folder: Path) -> None:
    save(folder, model([], outputs=[value("x")]))


@case("structure", "reject")
def cycle(folder: Path) -> None:
    save(
        folder,
        model(
            [
                helper.make_node("Add", ["x", "b"], ["a"]),
                helper.make_node("Relu", ["a"], ["b"]),
                helper.make_node("Relu", ["b"], ["y"]),
            ]
        ),
    )


@case("structure", "reject")
def self_loop(folder: Path) -> None:
    save(folder, model([helper.make_node("Add", ["x", "y"], ["y"])]))


@case("structure", "view")
def not_topological(folder: Path) -> None:
    save(
        folder,
        model([helper.make_node("Relu", ["a"], ["y"]), helper.make_node("Relu", ["x"], ["a"])]),
    )


@case("structure", "reject")
def duplicate_outputs(folder: Path) -> None:
    save(
        folder,
        model([helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Abs", ["x"], ["y"])]),
    )


@case("structure", "view")
def duplicate_node_names(folder: Path) -> None:
    save(
        folder,
        model(
            [
                helper.make_node("Relu", ["x"], ["a"], name="n"),
                helper.make_node("Abs", ["a"], ["y"], name="n"),
            ]
        ),
    )


@case("structure", "reject")
def duplicate_inputs(folder: Path) -> None:
    save(folder, model([helper.make_node("Relu", ["x"], ["y"])], [value("x"), value("x", (9,))]))


@case("structure", "reject")
def duplicate_initializers(folder: Path) -> None:
    w = const("w", np.ones((1, 4), np.float32))
    save(folder, model([helper.make_node("Add", ["x", "w"], ["y"])], initializers=[w, w]))


@case("structure", "reject")
def undefined_input(folder: Path) -> None:
    save(folder, model([helper.make_node("Add", ["x", "ghost"], ["y"])]))


@case("structure", "reject")
def undefined_output(folder: Path) -> None:
    save(folder, model([helper.make_node("Relu", ["x"], ["a"])]))


@case("structure", "reject")
def type_mismatch(folder: Path) -> None:
    save(
        folder,
        model(
            [helper.make_node("Add", ["x", "k"], ["y"])], [value("x"), value("k", (1, 4), INT64)]
        ),
    )


@case("structure", "reject")
def shape_mismatch(folder: Path) -> None:
    w = const("w", np.ones((7, 3), np.float32))
    save(folder, model([helper.make_node("MatMul", ["x", "w"], ["y"])], initializers=[w]))


@case("structure", "run")
def wrong_declared_output(folder: Path) -> None:
    save(folder, model([helper.make_node("Relu", ["x"], ["y"])], outputs=[value("y", (9, 9, 9))]))


@case("structure", "reject")
def empty_op_type(folder: Path) -> None:
    save(folder, model([helper.make_node("", ["x"], ["y"])]))


@case("structure", "reject")
def unknown_op(folder: Path) -> None:
    save(folder, model([helper.make_node("Frobnicate", ["x"], ["y"])]))


@case("structure", "view")
def unknown_domain(folder: Path) -> None:
    save(
        folder,
        model([helper.make_node("Op", ["x"], ["y"], domain="evil.corp")], domains=["evil.corp"]),
    )


@case("structure", "run")
def undeclared_domain(folder: Path) -> None:
    """Against the rules, but ONNX Runtime's own tools write it, and only one version exists."""
    save(folder, model([helper.make_node("Gelu", ["x"], ["y"], domain="com.microsoft")]))


@case("structure", "reject")
def opset_future(folder: Path) -> None:
    save(folder, model([helper.make_node("Relu", ["x"], ["y"])], opset=999))


@case("structure", "reject")
def opset_missing(folder: Path) -> None:
    proto = relu_model()
    del proto.opset_import[:]
    save(folder, proto)


@case("structure", "reject")
def opset_negative(folder: Path) -> None:
    save(folder, model([helper.make_node("Relu", ["x"], ["y"])], opset=-3))


@case("structure", "view")
def ir_version_future(folder: Path) -> None:
    save(folder, model([helper.make_node("Relu", ["x"], ["y"])], ir_version=9999))


@case("structure", "reject")
def too_many_inputs(folder: Path) -> None:
    save(folder, model([helper.make_node("Relu", ["x", "x", "x"], ["y"])]))


@case("structure", "reject")
def missing_attribute(folder: Path) -> None:
    save(
        folder, model([helper.make_node("Concat", ["x", "x"], ["y"])], outputs=[value("y", (2, 4))])
    )


@case("structure", "reject")
def wrong_attribute_type(folder: Path) -> None:
    save(
        folder,
        model(
            [helper.make_node("Concat", ["x", "x"], ["y"], axis="one")],
            outputs=[value("y", (2, 4))],
        ),
    )


@case("structure", "reject")
def attribute_without_type(folder: Path) -> None:
    proto = model(
        [helper.make_node("Concat", ["x", "x"], ["y"], axis=0)], outputs=[value("y", (2, 4))]
    )
    proto.graph.node[0].attribute[0].ClearField("type")
    save(folder, proto)


@case("structure", "reject")
def input_without_type(folder: Path) -> None:
    proto = relu_model()
    proto.graph.input[0].ClearField("type")
    save(folder, proto)


@case("structure", "reject")
def constant_without_output(folder: Path) -> None:
    proto = relu_model()
    proto.graph.node.add(op_type="Constant").attribute.add(
        name="value_float", f=1.0, type=AttributeProto.FLOAT
    )
    save(folder, proto)


@case("structure", "reject")
def recursive_function(folder: Path) -> None:
    f = helper.make_function(
        "me",
        "F",
        ["a"],
        ["b"],
        [helper.make_node("F", ["a"], ["b"], domain="me")],
        [helper.make_opsetid("", OPSET), helper.make_opsetid("me", 1)],
    )
    save(
        folder,
        model([helper.make_node("F", ["x"], ["y"], domain="me")], domains=["me"], functions=[f]),
    )


@case("structure", "reject")
def mutually_recursive_functions(folder: Path) -> None:
    ids = [helper.make_opsetid("", OPSET), helper.make_opsetid("me", 1)]
    f = helper.make_function(
        "me", "F", ["a"], ["b"], [helper.make_node("G", ["a"], ["b"], domain="me")], ids
    )
    g = helper.make_function(
        "me", "G", ["a"], ["b"], [helper.make_node("F", ["a"], ["b"], domain="me")], ids
    )
    save(
        folder,
        model([helper.make_node("F", ["x"], ["y"], domain="me")], domains=["me"], functions=[f, g]),
    )


@case("structure", "reject")
def function_fan_out_bomb(folder: Path) -> None:
    """F0 calls F1 twice, F1 calls F2 twice ...: inlining gives 2**30 nodes."""
    ids = [helper.make_opsetid("", OPSET), helper.make_opsetid("me", 1)]
    depth = 30
    functions: list[FunctionProto] = []
    for i in range(depth):
        op, domain = (f"F{i + 1}", "me") if i + 1 < depth else ("Relu", "")
        nodes = [
            helper.make_node(op, ["a"], ["t"], domain=domain),
            helper.make_node(op, ["t"], ["b"], domain=domain),
        ]
        functions.append(helper.make_function("me", f"F{i}", ["a"], ["b"], nodes, ids))
    save(
        folder,
        model(
            [helper.make_node("F0", ["x"], ["y"], domain="me")], domains=["me"], functions=functions
        ),
    )
