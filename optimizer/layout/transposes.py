"""The Transposes of a graph in numbers, and the Reshapes beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import onnx_ir as ir

from optimizer.cost.sizes import Sizes
from optimizer.layout.transposition import Transposition
from optimizer.model.graph import node_id, walk_nodes
from optimizer.operators.call import in_numbers
from optimizer.operators.catalogue import RESHAPING
from optimizer.rules import producer_of


@dataclass(frozen=True, slots=True)
class MovedTensor:
    """What is moved: equal ones take equal time.

    Attributes:
        shape: of the input.
        perm: for each axis of the output the one of the input.
        dtype: ONNX's name of the elements' type.
    """

    shape: tuple[int, ...]
    perm: tuple[int, ...]
    dtype: str

    @property
    def written(self) -> Transposition:
        """As it stands in the graph."""
        return Transposition(self.shape, self.perm)

    def reduced(self) -> MovedTensor:
        """Over as few axes as it needs."""
        fewest = self.written.reduced()
        shape = in_numbers(fewest.shape)
        assert shape is not None
        return MovedTensor(shape, fewest.perm, self.dtype)

    @property
    def size_bytes(self) -> int:
        """Of the tensor; twice as many are moved."""
        return prod(self.shape) * ir.DataType[self.dtype].bitwidth // 8

    @property
    def block_bytes(self) -> int:
        """Of the elements that stay together: the last axis where it keeps its place, else one."""
        block = self.shape[-1] if self.written.block != 1 else 1
        return max(1, block * ir.DataType[self.dtype].bitwidth // 8)

    @property
    def text(self) -> str:
        """Shape and permutation: "1×64×12×64, 0 2 3 1"."""
        return f"{'×'.join(map(str, self.shape))}, {' '.join(map(str, self.perm))}"


@dataclass(frozen=True, slots=True)
class PlacedTranspose:
    """A Transpose where it stands.

    Attributes:
        node: its id.
        name: of the node in the file.
        tensor: what it moves.
        reshaped_before: whether what is before it only reshapes: a Reshape more costs no node.
        reshaped_after: the same of all that reads its result.
    """

    node: str
    name: str
    tensor: MovedTensor
    reshaped_before: bool
    reshaped_after: bool


def transposes(graph: ir.Graph) -> Iterator[PlacedTranspose]:
    """Those that move something, bodies included, in order; not those of constants.

    A Transpose of a tensor whose size or type is not known is passed over; names of free
    dimensions count as `Sizes` has it.
    """
    sizes = Sizes.of(graph)
    for node in walk_nodes(graph):
        if node.op_type != "Transpose" or node.domain:
            continue
        data = node.inputs[0]
        tensor = None if data is None else _tensor(node, data, sizes)
        if data is not None and tensor is not None and tensor.written.moves:
            yield PlacedTranspose(
                node_id(node), node.name or node_id(node), tensor,
                reshaped_before(data), reshaped_after(node.outputs[0]),
            )  # fmt: skip


def _tensor(node: ir.Node, data: ir.Value, sizes: Sizes) -> MovedTensor | None:
    shape, perm = sizes.shape(data), node.attributes.get("perm")
    unknown = shape is None or 0 in shape or sizes.size_bytes(data) is None
    if unknown or shape is None or data.dtype is None or data.const_value is not None:
        return None
    order = tuple(reversed(range(len(shape)))) if perm is None else tuple(perm.as_ints())
    return MovedTensor(shape, order, data.dtype.name)


def reshaped_before(data: ir.Value) -> bool:
    """Whether what makes it only reshapes."""
    return producer_of(data, *RESHAPING) is not None


def reshaped_after(moved: ir.Value) -> bool:
    """Whether all that reads it only reshapes, and something does."""
    readers = [use.node for use in moved.uses()]
    return (
        not moved.is_graph_output()
        and bool(readers)
        and all(reader.op_type in RESHAPING and not reader.domain for reader in readers)
    )
