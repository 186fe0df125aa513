"""ONNX's own reference implementations, used as a library for operators with more to them."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import numpy as np

from optimizer.operators.call import Array, Call, NotFoldable

if TYPE_CHECKING:
    from onnx.reference.op_run import OpRun


def reference(call: Call) -> tuple[Array, ...]:
    """Compute a node with the implementation that the ONNX project ships.

    Raises:
        NotFoldable: it has none for this version, or it fails.
    """
    implementation = _load(call.node.op_type, call.opset)
    attributes = {name: attribute.value for name, attribute in call.node.attributes.items()}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result: object = implementation.eval(
                *(call.array(i) if call.has(i) else None for i in range(len(call.node.inputs))),  # pyright: ignore[reportArgumentType] - declared as lists, are arrays
                n_outputs=len(call.node.outputs),
                **attributes,
            )
    except Exception as error:
        raise NotFoldable(f"the reference implementation fails: {str(error)[:80]}") from error
    results = cast(tuple[Array, ...], result if isinstance(result, tuple) else (result,))
    return tuple(np.asarray(array) for array in results)


@lru_cache(maxsize=512)
def _load(op_type: str, opset: int) -> type[OpRun]:
    from onnx.reference.ops._op_list import (  # heavy; few graphs need it
        load_op,  # pyright: ignore[reportPrivateImportUsage, reportUnknownVariableType] - the only way in
    )

    try:
        return load_op("", op_type, opset)
    except Exception as error:
        raise NotFoldable(f"there is no reference implementation of {op_type}") from error
