"""Which inputs and outputs of the CUDA kernels lie in the host's memory, and rules by attribute.

The kernel registrations say so in the runtime's source (`InputMemoryType(OrtMemTypeCPUInput, …)`),
but not to Python, so the list is kept here.
Source: `onnxruntime/core/providers/cuda`; `CUDAExecutionProvider::GetCapability`.
"""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

_REDUCTIONS = "Max Mean Min Prod Sum SumSquare L1 L2 LogSum LogSumExp"

_INPUTS: Mapping[tuple[int, ...], str] = {
    (0,): "ConstantOfShape If",
    (0, 1): "Loop",
    (0, 1, 2): "Range",
    (1,): "Reshape Expand Tile Squeeze Unsqueeze Upsample TopK OneHot CumSum Split Trilu SequenceAt"
    " SequenceErase " + " ".join(f"Reduce{kind}" for kind in _REDUCTIONS.split()),
    (1, 2): "Dropout Clip",
    (1, 2, 3): "Pad Resize",
    (1, 2, 3, 4): "Slice",
    (2,): "SequenceInsert",
    (2, 3, 4): "NonMaxSuppression",
    (4,): "LSTM GRU RNN",
    (6,): "com.microsoft:GroupQueryAttention",
}

HOST_INPUTS: Mapping[str, frozenset[int]] = {
    name: frozenset(indices) for indices, names in _INPUTS.items() for name in names.split()
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
        or (len(node.inputs) > 7 and node.inputs[7] is not None)
    ):
        return "cuDNN's LSTM has no peepholes and no coupled gates"
    if node.op_type == "GRU" and not node.attributes.get_int("linear_before_reset", 0):
        return "cuDNN's GRU needs linear_before_reset"
    return ""
