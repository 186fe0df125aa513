"""Values inside a model, run sample by sample, as many at a time as memory allows.

A model gives a value when it is one of its outputs: the file is written anew with others, and with
the nodes that they need. Its weights are written once, beside it, and only mapped into memory. Only
in a worker process.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path

import onnx
import onnx_ir as ir

from optimizer.isolation import Progress
from optimizer.model.graph import bodies
from optimizer.model.nesting import bodies_below
from optimizer.model.writer import write
from optimizer.operators.catalogue import is_random
from optimizer.precision.samples import Samples, Supply, supply_of
from optimizer.verify.feeds import DTYPES, Array
from optimizer.verify.jobs import structure_of
from optimizer.verify.runtime import NotRunnable, Session, as_file

FLOATS = ("tensor(float)", "tensor(float16)", "tensor(bfloat16)", "tensor(double)")
_SHAPE = "passlens.shape."
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Sized:
    """A value inside a model.

    Attributes:
        name: of the value.
        size_bytes: for the largest sample.
    """

    name: str
    size_bytes: int


class Intermediates:
    """A model whose values can be looked at.

    Args:
        model: the file, or its bytes.

    Attributes:
        structure: the graph.

    Raises:
        NotRunnable: the graph cannot be read.
    """

    def __init__(self, model: bytes | Path) -> None:
        self._file = Path(f"mapped-{next(_numbers)}.onnx").absolute()
        write(structure_of(as_file(model)), self._file, inline_bytes=0)
        self.structure = structure_of(self._file)
        self._computed = dict.fromkeys(_computed(self.structure.graph))

    def computes(self, name: str) -> bool:
        """Whether a value is none of the inputs."""
        return name in self._computed

    @cached_property
    def floats(self) -> dict[str, str]:
        """The runtime's type of every computed value that is a tensor of floats, by name."""
        interface = self._session(tuple(self._computed)).interface
        types = {item.name: item.type for item in (*interface.inputs, *interface.outputs)}
        inputs = [item.name for item in interface.inputs]
        names = [*inputs, *self._computed]
        return {name: types[name] for name in names if types.get(name) in FLOATS}

    def sized(self, samples: Samples, names: Sequence[str]) -> tuple[Supply, list[Sized]]:
        """The samples, and how large values are for the largest of them, from one run.

        Args:
            samples: which.
            names: of values with a type in `floats`.

        Raises:
            SampleError: a file is wrong.
            NotRunnable: the model does not run on the samples.
        """
        session = self._session((), shapes_of=names)
        supply = supply_of(samples, session, self.structure)
        outputs = run_sample(session, supply, supply.largest)
        width = {name: DTYPES[self.floats[name]].itemsize for name in names}
        sizes = [prod(outputs[f"{_SHAPE}{number}"].tolist()) for number in range(len(names))]
        return supply, [
            Sized(name, size * width[name]) for name, size in zip(names, sizes, strict=True)
        ]

    def session(self, names: Sequence[str]) -> Session:
        """As much of the model as gives these values; they alone are to be asked for."""
        inputs = {value.name for value in self.structure.graph.inputs}
        return self._session([name for name in names if name not in inputs])

    def _session(self, values: Sequence[str], *, shapes_of: Sequence[str] = ()) -> Session:
        proto = onnx.load(self._file, load_external_data=False)
        graph = proto.graph
        if values or shapes_of:
            _leave_only(graph, [*values, *shapes_of])
            del graph.output[:]
        graph.output.extend(onnx.ValueInfoProto(name=name) for name in values)
        for number, name in enumerate(shapes_of):
            graph.node.append(onnx.helper.make_node("Shape", [name], [f"{_SHAPE}{number}"]))
            graph.output.append(onnx.ValueInfoProto(name=f"{_SHAPE}{number}"))
        path = self._file.with_stem(f"{self._file.stem}-outputs")
        path.write_bytes(proto.SerializeToString())
        return Session(path, frugal=True)


def _leave_only(graph: onnx.GraphProto, wanted: Sequence[str]) -> None:
    """Remove every node that none of the values depends on."""
    makers = {name: index for index, node in enumerate(graph.node) for name in node.output}
    left, needed = list(wanted), set[int]()
    while left:
        index = makers.get(left.pop())
        if index is None or index in needed:
            continue
        needed.add(index)
        node = graph.node[index]
        left.extend(node.input)
        for body, _ in bodies_below([node]):
            left.extend(name for inner in body.node for name in inner.input)
            left.extend(value.name for value in body.output)
    nodes = [node for index, node in enumerate(graph.node) if index in needed]
    del graph.node[:]
    graph.node.extend(nodes)


def run_sample(
    session: Session, supply: Supply, number: int, wanted: Sequence[str] | None = None
) -> dict[str, Array]:
    """Outputs for one sample, inputs that are wanted among them.

    Raises:
        SampleError: its file is damaged.
        NotRunnable: the model does not run on it; says which one.
    """
    inputs = _fitted(supply.read(number), session)
    asked = None if wanted is None else [name for name in wanted if name not in inputs]
    try:
        outputs = session.run(inputs, asked) if asked is None or asked else {}
    except NotRunnable as error:
        raise NotRunnable(f"The model does not run on {supply.names[number]}: {error}") from error
    given = {name: inputs[name] for name in wanted or () if name in inputs}
    return {**given, **outputs}


def _fitted(arrays: Mapping[str, Array], session: Session) -> dict[str, Array]:
    """Of a sample what a model takes; floats in the width that it takes them."""
    taken = {item.name: item.type for item in session.interface.inputs}
    return {
        name: array.astype(DTYPES[taken[name]]) if taken[name] in FLOATS else array
        for name, array in arrays.items()
        if name in taken
    }


def in_chunks(
    values: Sequence[Sized], memory_bytes: int, progress: Progress
) -> Iterator[tuple[list[str], Progress]]:
    """Names in their order, as many at a time as fit into memory, at least one.

    With each chunk comes whom to tell of its progress.
    """
    done = 0
    while done < len(values):
        end, held = done + 1, values[done].size_bytes
        while end < len(values) and held + values[end].size_bytes <= memory_bytes:
            held += values[end].size_bytes
            end += 1
        begin, share = done / len(values), (end - done) / len(values)
        prefix = f"values {done + 1} to {end} of {len(values)}, "
        yield [value.name for value in values[done:end]], _following(progress, prefix, begin, share)
        done = end


def _following(progress: Progress, before: str, begin: float, share: float) -> Progress:
    return lambda text, fraction: progress(f"{before}{text}", begin + share * fraction)


def _computed(graph: ir.Graph) -> Iterator[str]:
    """Names of what the nodes of the main graph compute from inputs or at random."""
    dependent: set[ir.Value | None] = {*graph.inputs}
    for node in graph:
        if is_random(node) or any(bodies(node)) or not dependent.isdisjoint(node.inputs):
            dependent.update(node.outputs)
            yield from (value.name for value in node.outputs if value.name)
