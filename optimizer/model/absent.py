"""A tensor whose data file is not there: its type and shape are known, its values are not."""

from __future__ import annotations

from typing import NoReturn

import onnx_ir as ir

from optimizer.errors import ExternalDataRefused, quoted


class AbsentTensor(ir.LazyTensor):
    """What stands in a graph that can be looked at, and nothing more.

    Whoever asks for a constant's values must ask `is_absent` first: else they get
    `ExternalDataRefused`.
    """

    def __init__(self, tensor: ir.ExternalTensor) -> None:
        location = f"{tensor.location}"

        def refuse() -> NoReturn:
            raise ExternalDataRefused(f"The data file {quoted(location)} is not there.")

        super().__init__(
            refuse, dtype=tensor.dtype, shape=ir.Shape(tensor.shape), name=tensor.name or ""
        )


def is_absent(tensor: ir.TensorProtocol | None) -> bool:
    """Whether a tensor has no values to read."""
    return isinstance(tensor, AbsentTensor)
