"""Which inputs and outputs of the CUDA kernels lie in the host's memory, and rules by attribute.

The kernel registrations say so in the runtime's source (`InputMemoryType(OrtMemTypeCPUInput, …)`),
but not to Python, so the list is kept here.
Source: `onnxruntime/core/providers/cuda`; `CUDAExecutionProvider::GetCapability`.
"""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

_AXES = ("Max", "Mean", "Min", "Prod", "Sum", "SumSquare", "L1", "L2", "LogSum", "LogSumExp")

HOST_INPUTS: Mapping[str, frozenset[int]] = {
    name: frozenset(indices)
    for name, indices in {
        "Reshape": (1,),
        "Expand": (1,),
        "Tile": (1,),
        "ConstantOfShape": (0,),
        "Range": (0, 1, 2),
        "Slice": (1, 2, 3, 4),
        "Squeeze": (1,),
        "Unsqueeze": (1,),
        "Pad": (1, 2, 3),
        "Resize": (1, 2, 3),
        "Upsample": (1,),
        "TopK": (1,),
        "OneHot": (1,),
        "CumSum": (1,),
        "Split": (1,),
        "Dropout": (1, 2),
        "Trilu": (1,),
        "NonMaxSuppression": (2, 3, 4),
        "Clip": (1, 2),
        "SequenceAt": (1,),
        "SequenceInsert": (2,),
        "SequenceErase": (1,),
        "If": (0,),
        "Loop": (0, 1),
        "LSTM": (4,),
        "GRU": (4,),
        "RNN": (4,),
        "com.microsoft:GroupQueryAttention": (6,),
        **{f"Reduce{kind}": (1,) for kind in _AXES},
    }.items()
}
"""Operator -> its inputs that the kernel reads on the host."""

HOST_OUTPUTS: Mapping[str, frozenset[int]] = {
    "Shape": frozenset({0}),
    "Size": frozenset({0}),
    "SequenceLength": frozenset({0}),
}

_PLAIN_ACTIVATIONS: Mapping[str, tuple[str, ...]] = {
    "LSTM": ("sigmoid", "tanh", "tanh"),
    "GRU": ("sigmoid", "tanh"),
}


def refusal_by_attribute(node: ir.Node) -> str:
    """Why the provider leaves the node to the CPU although it has a kernel; empty if not."""
    name = node.op_type
    if name in ("LSTM", "GRU", "RNN"):
        return _recurrent(node)
    if name in ("ArgMax", "ArgMin") and node.attributes.get_int("select_last_index", 0):
        return "its CUDA kernel does not know select_last_index"
    if name == "ConvTranspose" and len(node.attributes.get_ints("kernel_shape", ()) or ()) > 3:
        return "its CUDA kernel knows at most three spatial dimensions"
    return ""


def _recurrent(node: ir.Node) -> str:
    if any(key in node.attributes for key in ("activation_alpha", "activation_beta", "clip")):
        return "cuDNN's cells have no clipping and no activation parameters"
    wanted = [text.lower() for text in node.attributes.get_strings("activations", ()) or ()]
    plain = _PLAIN_ACTIVATIONS.get(node.op_type)
    if plain is not None and wanted:
        directions = max(1, len(wanted) // len(plain))
        if tuple(wanted) != plain * directions:
            return "cuDNN's cells have fixed activations"
    if node.op_type == "LSTM" and (
        node.attributes.get_int("input_forget", 0)
        or any(len(node.inputs) > index and node.inputs[index] is not None for index in (7,))
    ):
        return "cuDNN's LSTM has no peepholes and no coupled gates"
    if node.op_type == "GRU" and not node.attributes.get_int("linear_before_reset", 0):
        return "cuDNN's GRU needs linear_before_reset"
    return ""
