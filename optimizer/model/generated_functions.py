"""Functions that stand for generated kernels: their names, their signatures, where files have them.

A generated function is a region of a model in its original operators. Its name ends with a hash of
the body and of the signature (types, sizes and small contents of what it takes and gives), which
stands in the function's metadata: whoever builds code for a name needs nothing else, and a changed
body has another name. A file with such a function opens with its calls as they are if the hash
agrees; any other function of a model is inlined.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

import onnx_ir as ir
from google.protobuf.message import DecodeError
from onnx import AttributeProto, FunctionProto, ModelProto
from onnx_ir import serde

from optimizer.codec import Format
from optimizer.dimension import Dimension
from optimizer.dimension_text import parse
from optimizer.errors import StudioError
from optimizer.loops.schedule import SCHEDULE, Schedule
from optimizer.model.symbolic import SymbolicValues
from optimizer.operators.call import CONTRIB, Content, Fact, Known
from optimizer.operators.generated import GENERATED

VERSION = 1
"""Of their operator set."""
SIGNATURE = "passlens.kernel"
"""The key in a function's metadata."""
SCHEDULED = "passlens.schedule"
"""The key of a schedule, where the kernel has one of its own."""
_SCHEDULE_BYTES = 1 << 20

_DOMAINS = frozenset({"", CONTRIB})
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,159}")
_DIGITS = 16
_GRAPHS = frozenset({AttributeProto.GRAPH, AttributeProto.GRAPHS})
_LARGEST_BYTES = 1 << 24
"""Of a function that is looked at."""


@dataclass(frozen=True, slots=True)
class TensorSignature:
    """A tensor that a kernel takes or gives.

    Attributes:
        dtype: its element type.
        shape: numbers, or expressions over free sizes.
        content: elements of a small integer tensor likewise; "" for one that is not known, None
            where none is.
    """

    dtype: str
    shape: tuple[int | str, ...]
    content: tuple[int | str, ...] | None = None


@dataclass(frozen=True, slots=True)
class KernelSignature:
    """What a kernel takes and gives; a free size is one of its inputs' axes."""

    inputs: tuple[TensorSignature, ...]
    outputs: tuple[TensorSignature, ...]


SIGNATURE_FORM = Format(KernelSignature, "passlens.kernel/1", "kernel's signature")


@dataclass(frozen=True)
class KernelBody:
    """A generated function and what is known of its values.

    Attributes:
        name: of the function, and of its kernel.
        function: in original operators, constants included.
        known: tells of each value what the signature says, and what follows from it.
    """

    name: str
    function: ir.Function
    signature: KernelSignature
    known: Known

    @cached_property
    def nodes(self) -> tuple[ir.Node, ...]:
        """Its nodes, producers first."""
        return tuple(self.function)

    @property
    def inputs(self) -> Sequence[ir.Value]:
        """What it takes, in order."""
        return self.function.inputs

    @property
    def outputs(self) -> Sequence[ir.Value]:
        """What it gives, in order."""
        return self.function.outputs

    @cached_property
    def schedule(self) -> Schedule | None:
        """The order of its loops that comes with it; None where it has none, or a damaged one."""
        text = str(self.function.metadata_props.get(SCHEDULED, ""))
        if not text or len(text) > _SCHEDULE_BYTES:
            return None
        try:
            return SCHEDULE.loads(text.encode())
        except StudioError:
            return None

    @property
    def opset(self) -> int:
        """The version of ONNX's own operators in it."""
        return self.function.opset_imports.get("", 1)


def is_generated(function: FunctionProto) -> bool:
    """Whether a function of a model is a generated one, and what its name says."""
    if function.domain != GENERATED or function.overload or not _NAME.fullmatch(function.name):
        return False
    if function.attribute or function.attribute_proto or not _is_plain(function):
        return False
    if function.name.rpartition("_")[2] != content_hash(function):
        return False
    try:
        signature = _signature(function)
    except (StudioError, KeyError):
        return False
    sizes = len(signature.inputs), len(signature.outputs)
    return sizes == (len(function.input), len(function.output))


def content_hash(function: FunctionProto) -> str:
    """Of all that counts of a function: not its name, nor types of inner values."""
    copy = FunctionProto()
    copy.CopyFrom(function)
    del copy.value_info[:]
    copy.name = copy.doc_string = ""
    return hashlib.sha256(copy.SerializeToString(deterministic=True)).hexdigest()[:_DIGITS]


def kernel_body(function: FunctionProto) -> KernelBody:
    """A generated function as its kernel is built from it.

    Args:
        function: for which `is_generated` holds.
    """
    signature = _signature(function)
    body = serde.deserialize_function(function)
    given: dict[ir.Value, Fact] = {}
    for value, told in zip(body.inputs, signature.inputs, strict=True):
        given[value] = _fact(told)
        value.type = ir.TensorType(ir.DataType[told.dtype])
        value.shape = ir.Shape(told.shape)
    symbolic = SymbolicValues(ir.Model(body.graph, ir_version=10), given=given)
    return KernelBody(function.name, body, signature, symbolic.fact)


def generated_names(path: Path) -> tuple[str, ...]:
    """The generated functions of a model file, which is not read but for its functions."""
    return tuple(function.name for function in _functions(path))


def kernel_bodies(path: Path) -> Mapping[str, KernelBody]:
    """The generated functions of a model file by name, as their kernels are built from them."""
    return {function.name: kernel_body(function) for function in _functions(path)}


def _is_plain(function: FunctionProto) -> bool:
    """Whether it has ONNX's and the runtime's operators alone, and no bodies."""
    attributes = (attribute for node in function.node for attribute in node.attribute)
    return all(node.domain in _DOMAINS for node in function.node) and not any(
        attribute.ref_attr_name or attribute.type in _GRAPHS for attribute in attributes
    )


def _signature(function: FunctionProto) -> KernelSignature:
    """What a function's metadata says.

    Raises:
        StudioError: it is not there, or damaged.
        KeyError: there is no such element type.
    """
    told = {entry.key: entry.value for entry in function.metadata_props}
    signature = SIGNATURE_FORM.loads(told.get(SIGNATURE, "").encode())
    for one in (*signature.inputs, *signature.outputs):
        ir.DataType[one.dtype]
    return signature


def _fact(told: TensorSignature) -> Fact:
    shape = tuple(_dimension(size) for size in told.shape)
    content: Content = None
    if told.content is not None:
        elements = tuple(None if one == "" else _dimension(one) for one in told.content)
        content = elements if shape else elements[0]
    return Fact(ir.DataType[told.dtype], shape, content)


def _dimension(size: int | str) -> Dimension:
    if isinstance(size, int):
        return size
    found = parse(size)
    if found is None:
        raise StudioError("A kernel's signature has a size that is none.")
    return found


def _functions(path: Path) -> Iterator[FunctionProto]:
    """Generated functions, from the top level of a model's bytes; what is no model has none."""
    wanted = ModelProto.FUNCTIONS_FIELD_NUMBER << 3 | 2
    with path.open("rb") as file:
        for data in _fields(file, wanted, size=path.stat().st_size):
            try:
                function = FunctionProto.FromString(data)
            except DecodeError:
                continue
            if is_generated(function):
                yield function


def _fields(file: BinaryIO, wanted: int, *, size: int) -> Iterator[bytes]:
    """The bytes of a message's fields with one tag, all others skipped."""
    fixed = {1: 8, 5: 4}
    while (tag := _varint(file)) is not None:
        kind = tag & 7
        if kind == 0:
            _varint(file)
            continue
        length = _varint(file) if kind == 2 else fixed.get(kind)
        if length is None or length > size - file.tell():
            return
        if tag == wanted and length <= _LARGEST_BYTES:
            yield file.read(length)
        else:
            file.seek(length, 1)


def _varint(file: BinaryIO) -> int | None:
    """A number; None at the end, or where there is none."""
    number = 0
    for shift in range(0, 64, 7):
        byte = file.read(1)
        if not byte:
            return None
        number |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return number
    return None
