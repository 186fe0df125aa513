"""Checks of the tensors in a model file: sizes, storage, sparse indices. Reads no external data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir
from onnx import SparseTensorProto, TensorProto

from optimizer.errors import InvalidGraph, LimitError
from optimizer.limits import Limits
from optimizer.model.report import Findings, Place
from optimizer.numbers import bytes_text

MOST_ELEMENTS = (1 << 63) - 1

BITS: dict[int, int] = {
    dtype.value: dtype.bitwidth
    for dtype in ir.DataType
    if dtype not in (ir.DataType.UNDEFINED, ir.DataType.STRING)
}
"""Bits of one element of every element type but string."""

KNOWN_TYPES = frozenset(BITS) | {TensorProto.STRING}

# Where elements are stored when not in raw_data; all others use int32_data.
_TYPED_FIELD: dict[int, str] = {
    TensorProto.FLOAT: "float_data",
    TensorProto.COMPLEX64: "float_data",
    TensorProto.DOUBLE: "double_data",
    TensorProto.COMPLEX128: "double_data",
    TensorProto.INT64: "int64_data",
    TensorProto.UINT32: "uint64_data",
    TensorProto.UINT64: "uint64_data",
    TensorProto.STRING: "string_data",
}
_TYPED_FIELDS = (*dict.fromkeys(_TYPED_FIELD.values()), "int32_data")
_COMPLEX = frozenset({TensorProto.COMPLEX64, TensorProto.COMPLEX128})


def type_name(data_type: int) -> str:
    """The everyday name of an element type, for example `float16`."""
    if data_type not in KNOWN_TYPES:
        return f"type {data_type}"
    name = TensorProto.DataType.Name(data_type).lower()
    return "float32" if name == "float" else name


def element_count(dims: Sequence[int]) -> int:
    """The product of `dims`, as an exact Python integer."""
    count = 1
    for dim in dims:
        count *= dim
    return count


def byte_count(data_type: int, elements: int) -> int:
    """Bytes that `elements` elements take, packed types rounded up to whole bytes."""
    return (BITS[data_type] * elements + 7) // 8


def check_tensor(tensor: TensorProto, where: Place, report: Findings) -> bool:
    """Check one tensor's type, dims and storage; external data is only checked for its size.

    Returns: whether nothing was wrong.
    """
    problem = _type_or_dims_problem(tensor) or _storage_problem(tensor)
    if problem:
        report.error(InvalidGraph, where, problem)
    return not problem


def check_sparse(
    sparse: SparseTensorProto, where: Place, *, limits: Limits, report: Findings
) -> bool:
    """Check a sparse tensor: its parts, its dense size, its indices.

    Returns: whether nothing was wrong, so that `densify` may be called.
    """
    good = check_tensor(sparse.values, Place("values", around=where), report)
    good = check_tensor(sparse.indices, Place("indices", around=where), report) and good
    if not good:
        return False
    problem = _sparse_problem(sparse)
    if problem:
        report.error(InvalidGraph, where, problem)
        return False
    size = byte_count(sparse.values.data_type, element_count(sparse.dims))
    if size > limits.fold_total_bytes:
        report.error(
            LimitError,
            where,
            f"This sparse tensor takes {bytes_text(size)} when dense "
            f"(limit {bytes_text(limits.fold_total_bytes)}).",
            remedy="Store it as a dense tensor in external data.",
        )
        return False
    return True


def sparse_indices(sparse: SparseTensorProto) -> np.ndarray:
    """The flat positions of a sparse tensor's values. int64[count], unchecked."""
    flat = _flat_indices(sparse)
    if len(sparse.indices.dims) == 1:
        return flat
    strides = np.array(
        [element_count(sparse.dims[axis + 1 :]) for axis in range(len(sparse.dims))], np.int64
    )
    return flat.reshape(-1, len(sparse.dims)) @ strides


def _flat_indices(sparse: SparseTensorProto) -> np.ndarray:
    raw = sparse.indices.raw_data
    return np.frombuffer(raw, "<i8") if raw else np.array(sparse.indices.int64_data, np.int64)


def _type_or_dims_problem(tensor: TensorProto) -> str:
    if tensor.data_type not in KNOWN_TYPES:
        return f"The element type {tensor.data_type} is not defined by ONNX."
    dims = tensor.dims
    if any(dim < 0 for dim in dims):
        return f"The shape {_shape_text(dims)} has a negative size."
    if element_count(dims) * 16 > MOST_ELEMENTS:
        return f"The shape {_shape_text(dims)} has more elements than 63 bits can count."
    if tensor.HasField("segment"):
        return "The tensor is stored in segments, which no current tool reads."
    return ""


def _storage_problem(tensor: TensorProto) -> str:
    used = [name for name in _TYPED_FIELDS if len(getattr(tensor, name))]
    if tensor.HasField("raw_data"):
        raw = tensor.raw_data
        if raw or not used:
            used.append("raw_data")
    else:
        raw = b""
    external = tensor.data_location == TensorProto.EXTERNAL
    if len(used) + external > 1 and not (external and used == ["raw_data"] and not raw):
        fields = " and ".join([*used, *(["external data"] if external else [])])
        return f"The elements are stored twice, in {fields}."
    if external:
        return (
            "String tensors cannot be external." if tensor.data_type == TensorProto.STRING else ""
        )
    return _length_problem(tensor, used[0] if used else "", len(raw))


def _length_problem(tensor: TensorProto, field: str, raw_length: int) -> str:
    elements, dtype = element_count(tensor.dims), tensor.data_type
    shape = f"{type_name(dtype)} {_shape_text(tensor.dims)}"
    if not field:
        return f"The tensor is {shape} but has no data." if elements else ""
    if field == "raw_data":
        if dtype == TensorProto.STRING:
            return "Strings cannot be stored as raw data."
        needed = byte_count(dtype, elements)
        return (
            f"The tensor is {shape}, {needed:,} bytes, but has {raw_length:,} bytes of data."
            if raw_length != needed
            else ""
        )
    if field != _TYPED_FIELD.get(dtype, "int32_data"):
        return f"Elements of type {type_name(dtype)} are stored in the wrong field, {field}."
    stored, needed = len(getattr(tensor, field)), elements * (2 if dtype in _COMPLEX else 1)
    packed = dtype not in _TYPED_FIELD and BITS[dtype] in (2, 4)
    needed = byte_count(dtype, elements) if packed else needed
    return "" if stored == needed else f"The tensor is {shape} but has {stored:,} stored elements."


def _sparse_problem(sparse: SparseTensorProto) -> str:
    dims = sparse.dims
    if any(dim < 0 for dim in dims) or element_count(dims) * 16 > MOST_ELEMENTS:
        return f"The shape {_shape_text(dims)} is not possible."
    if BITS.get(sparse.values.data_type, 0) < 8:
        return f"Sparse tensors of {type_name(sparse.values.data_type)} are not supported."
    for part in (sparse.values, sparse.indices):
        if part.data_location == TensorProto.EXTERNAL:
            return "Sparse tensors in external data are not supported."
    count = element_count(sparse.values.dims)
    wanted = ([count], [count, len(dims)])
    if sparse.indices.data_type != TensorProto.INT64 or list(sparse.indices.dims) not in wanted:
        return f"The indices do not fit {count:,} values in {len(dims)} dimensions."
    if not count:
        return ""
    indices = sparse_indices(sparse)
    if _axis_out_of_range(sparse) or indices.min() < 0 or indices.max() >= element_count(dims):
        return f"An index lies outside the shape {_shape_text(dims)}."
    return ""


def _axis_out_of_range(sparse: SparseTensorProto) -> bool:
    if len(sparse.indices.dims) == 1:
        return False
    table = _flat_indices(sparse).reshape(-1, len(sparse.dims))
    return bool((table < 0).any() or (table >= np.array(sparse.dims, np.int64)).any())


def _shape_text(dims: Sequence[int]) -> str:
    shown = [str(dim) for dim in dims[:8]] + (["…"] if len(dims) > 8 else [])
    return f"[{', '.join(shown)}]"
