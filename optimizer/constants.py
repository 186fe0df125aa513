"""What never changes: initializers that nobody can override, and Constant nodes; what they hold."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import NoReturn, TypeVar, cast

import numpy as np
import onnx_ir as ir

from optimizer.errors import ExternalDataRefused, quoted
from optimizer.stored import CHUNK_BYTES, StoredTensor, bytes_in_memory, chunks_of
from optimizer.transposed_tensor import TransposedTensor

Key = TypeVar("Key", bound=Hashable)

_CACHE = "constant"


def is_constant_node(node: ir.Node | None) -> bool:
    """Whether `node` is ONNX's own Constant operator."""
    return node is not None and node.op_type == "Constant" and not node.domain


def constant_of(value: ir.Value | None) -> ir.TensorProtocol | None:
    """The tensor behind a value that never changes: an initializer or a Constant node's output.

    An initializer that is also a graph input is a default which the caller may override.
    """
    if value is None:
        return None
    node = value.producer()
    if node is None:
        tensor = value.const_value if value.is_initializer() else None
        if tensor is None or value.is_graph_input():
            return None
    elif node.op_type != "Constant" or node.domain:
        return None  # as nearly always
    else:
        tensor = constant_tensor(node)
    return None if is_absent(tensor) else tensor


def constant_tensor(node: ir.Node) -> ir.TensorProtocol | None:
    """What a Constant node holds, whichever of its attributes holds it; computed once a node."""
    known = cast("ir.TensorProtocol | None", node.meta.data.get(_CACHE))
    if known is None:
        known = node.meta[_CACHE] = _tensor(node)
    return known


def _tensor(node: ir.Node) -> ir.TensorProtocol | None:
    for name, attribute in node.attributes.items():
        if attribute.is_ref():
            return None
        if name == "value" and attribute.type == ir.AttributeType.TENSOR:
            return tensor_in(attribute)
        if name in ("value_int", "value_ints"):
            return ir.Tensor(np.array(attribute.value, np.int64))
        if name in ("value_float", "value_floats"):
            return ir.Tensor(np.array(attribute.value, np.float32))
    return None


def tensor_in(attribute: ir.Attr) -> ir.TensorProtocol:
    """What a tensor attribute holds.

    Raises:
        TypeError: it holds something else.
    """
    if attribute.type != ir.AttributeType.TENSOR or attribute.is_ref():
        return attribute.as_tensor()  # raises
    return attribute.value  # `as_tensor` checks a protocol, which takes 0.1 ms


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
    """Whether a tensor has no values to read.

    Its class is compared: `isinstance` checks a protocol of tensors, which is slow.
    """
    return type(tensor) is AbsentTensor


SAMPLE_BYTES = 1024
_FINGERPRINT, _MARKS = "passlens.fingerprint", "passlens.marks"
_PARTS = 4
"""Of a sample, evenly spread; one more is at the end."""

Fingerprint = tuple[str, tuple[int, ...], bytes]


def fingerprint(tensor: ir.TensorProtocol) -> Fingerprint:
    """Element type, shape and a sample of the bytes; equal tensors have equal fingerprints.

    The sample is all there is of a tensor of up to `SAMPLE_BYTES`.
    """
    known = cast("Fingerprint | None", tensor.meta.get(_FINGERPRINT))
    if known is None:
        known = tensor.dtype.name, tuple(tensor.shape.numpy()), _sample(tensor)
        tensor.meta[_FINGERPRINT] = known
    return known


def same_content(a: ir.TensorProtocol, b: ir.TensorProtocol) -> bool:
    """Whether two tensors agree in element type, shape and every bit.

    They are read only as far as they agree.
    """
    if a is b:
        return True
    if a.dtype != b.dtype or a.size != b.size or fingerprint(a) != fingerprint(b):
        return False
    if _whole(a) or _place(a) == _place(b):
        return True
    return all(one == other for one, other in zip_longest(chunks_of(a), chunks_of(b)))


def equal_groups(tensors: Mapping[Key, ir.TensorProtocol]) -> Iterator[list[Key]]:
    """Those that agree in every bit with another one, together, in the order given.

    Cheap evidence comes first: element type and shape, then a sample, then piece by piece; what
    differs from all others is read no further.
    """
    alike = _parted(tensors, lambda key: (tensors[key].dtype, tensors[key].size))
    for sampled in (group for keys in alike for group in _parted(keys, _sampled(tensors))):
        if _whole(tensors[sampled[0]]):
            yield sampled
        else:
            yield from _equal(sampled, tensors)


def _sampled(tensors: Mapping[Key, ir.TensorProtocol]) -> Callable[[Key], Hashable]:
    return lambda key: fingerprint(tensors[key])


def _parted(keys: Iterable[Key], mark: Callable[[Key], Hashable]) -> Iterator[list[Key]]:
    """The keys that share a mark with another."""
    found: dict[Hashable, list[Key]] = {}
    for key in keys:
        found.setdefault(mark(key), []).append(key)
    return (alike for alike in found.values() if len(alike) > 1)


def _equal(keys: list[Key], tensors: Mapping[Key, ir.TensorProtocol]) -> Iterator[list[Key]]:
    """Of large tensors with the same sample those that are equal, each place read once."""
    places: dict[Hashable, list[Key]] = {}
    for key in keys:
        places.setdefault(_place(tensors[key]), []).append(key)
    unread = {place: _marks(tensors[same[0]]) for place, same in places.items()}
    groups = [list(places)]
    while groups:
        group = groups.pop()
        if len(group) == 1:
            together = places[group[0]]
        else:
            marks = {place: next(unread[place], b"") for place in group}
            if marks[group[0]] or len(set(marks.values())) > 1:
                parts: dict[bytes, list[Hashable]] = {}
                for place in group:
                    parts.setdefault(marks[place], []).append(place)
                groups.extend(parts.values())
                continue
            together = [key for place in group for key in places[place]]
        if len(together) > 1:
            order = {key: index for index, key in enumerate(keys)}
            yield sorted(together, key=order.__getitem__)


def _marks(tensor: ir.TensorProtocol) -> Iterator[bytes]:
    """Hashes of its pieces, each computed once."""
    known = cast("list[bytes]", tensor.meta.setdefault(_MARKS, []))
    yield from known
    read = _reader(tensor)
    for start in range(len(known) * CHUNK_BYTES, tensor.nbytes, CHUNK_BYTES):
        known.append(hashlib.sha256(read(start, CHUNK_BYTES)).digest())
        yield known[-1]


def _place(tensor: ir.TensorProtocol) -> Hashable:
    """Where the bytes are: the same place, the same bytes."""
    if isinstance(tensor, StoredTensor):
        return id(tensor.storage), tensor.offset
    return id(tensor)


def _whole(tensor: ir.TensorProtocol) -> bool:
    return tensor.dtype == ir.DataType.STRING or tensor.nbytes <= SAMPLE_BYTES


def _sample(tensor: ir.TensorProtocol) -> bytes:
    if tensor.dtype == ir.DataType.STRING:
        return repr([*tensor.numpy().reshape(-1)]).encode()
    if _whole(tensor):
        return tensor.tobytes()
    read, size, part = _reader(tensor), tensor.nbytes, SAMPLE_BYTES // _PARTS
    starts = [*range(0, size // _PARTS * _PARTS, size // _PARTS), size - part]
    return b"".join(read(start, part) for start in starts)


def _reader(tensor: ir.TensorProtocol) -> Callable[[int, int], bytes | memoryview]:
    """Gives pieces of its bytes, `read(start, count)`."""
    if isinstance(tensor, StoredTensor):
        return tensor.read
    if isinstance(tensor, TransposedTensor):
        return tensor.reader()
    data = memoryview(bytes_in_memory(tensor))
    return lambda start, count: data[start : start + count]
