"""What the shim must know of the kernels of a library, as a file in C."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from optimizer.dimension import Dimension, Expression
from optimizer.loops.algorithm import Func
from optimizer.loops.in_place import in_place_inputs
from optimizer.loops.scalar import Apply, Element, parts_of
from optimizer.operators.generated import GENERATED
from profiling.codegen.c_sizes import size_names, size_text
from profiling.codegen.kernel import LEVELS, VECTOR_BITS, CpuLevel, Kernel, LibraryError

_MAX_TENSORS, _MAX_EXTENTS = 128, 1024
"""As in shim/kernels.h."""
_COSTLY = frozenset({"exp", "log", "erf", "tanh", "sin", "cos", "pow"})
_COSTLY_NS, _CHEAP_NS = 0.6, 0.05
"""Of a function of one element, in vectorized code on one thread: enough to tell whether a loop is
worth sharing."""


def kernel_table(kernels: Sequence[Kernel], levels: Sequence[CpuLevel]) -> str:
    """The table, in C.

    Args:
        kernels: of the library, each with a name of its own.
        levels: for which object files have functions, called as `symbol` says.

    Raises:
        LibraryError: a kernel has more tensors or axes than the shim takes, or unknown sizes.
    """
    parts = ['#include "kernels.h"', ""]
    for number, kernel in enumerate(kernels):
        parts += _Entry(kernel, number, levels).lines()
        parts += _pairs(number, in_place(kernel, levels))
    rows = [
        f'  {{"{one.name}", "{_c_string(one.workload)}", {len(one.algorithm.inputs)}, '
        f"{len(one.algorithm.outputs)}, tensors_{i}, known_{i}, extents_{i}, work_{i}, call_{i}, "
        f"{f'in_place_{i}' if in_place(one, levels) else 0}}},"
        for i, one in enumerate(kernels)
    ]
    rows = [row.replace(f"call_{i}", _calls(i, levels)) for i, row in enumerate(rows)]
    return "\n".join([
        *parts,
        f'const char library_domain[] = "{GENERATED}";',
        f"const size_t library_size = {len(kernels)};",
        "const struct kernel library_kernels[] = {",
        *rows,
        "};",
        "",
    ])  # fmt: skip


def symbol(kernel: Kernel, level: CpuLevel) -> str:
    """The name of a kernel's function for a level."""
    return f"{kernel.name}_{level}"


def in_place(kernel: Kernel, levels: Sequence[CpuLevel]) -> list[int]:
    """Inputs whose memory the kernel's output may take, whatever the level.

    Plain C keeps to no schedule, and nothing is known of what somebody else's does.
    """
    if kernel.generator != "halide" or kernel.schedule is not None:
        return []
    found = [{*in_place_inputs(kernel.algorithm, VECTOR_BITS[level])} for level in levels]
    return sorted(set[int].intersection(*found)) if found else []


def _pairs(number: int, inputs: Sequence[int]) -> Iterator[str]:
    if not inputs:
        return
    count = len(inputs)
    yield f"static size_t in_place_{number}(int **inputs, int **outputs) {{"
    yield f"  static int from[] = {{{', '.join(map(str, inputs))}}}, to[{count}];"
    yield f"  return *inputs = from, *outputs = to, {count};"
    yield "}"


def _calls(number: int, levels: Sequence[CpuLevel]) -> str:
    found = [f"call_{number}_{level}" if level in levels else "0" for level in LEVELS]
    return f"{{{', '.join(found)}}}"


class _Entry:
    """What the table says of one kernel."""

    def __init__(self, kernel: Kernel, number: int, levels: Sequence[CpuLevel]) -> None:
        self._kernel, self._number, self._levels = kernel, number, levels
        self._algorithm = kernel.algorithm
        self._names = size_names(self._algorithm)
        outputs = [self._algorithm.by_name[name] for name in self._algorithm.outputs]
        self._tensors = [
            *((one.dtype, one.shape) for one in self._algorithm.inputs),
            *((one.dtype, one.shape) for one in outputs),
        ]
        if len(self._tensors) > _MAX_TENSORS or len(self._extents()) > _MAX_EXTENTS:
            raise LibraryError(
                f"Kernel {kernel.name} has {len(self._tensors)} inputs and outputs with "
                f"{len(self._extents())} axes; the limits are {_MAX_TENSORS} and {_MAX_EXTENTS}."
            )

    def lines(self) -> Iterator[str]:
        """Declarations and functions."""
        number, count = self._number, len(self._tensors)
        for level in self._levels:
            name = symbol(self._kernel, level)
            given = ", ".join(f"buffers[{i}]" for i in range(count))
            yield f"int {name}(void *{', halide_buffer_t *' * count});"
            parameters = "void *context, halide_buffer_t *const *buffers"
            yield f"static int call_{number}_{level}({parameters}) {{"
            yield f"  return {name}(context, {given});"
            yield "}"
        tensors = [f"{{{dtype.value}, {len(shape)}}}" for dtype, shape in self._tensors]
        yield f"static const struct tensor tensors_{number}[] = {{{', '.join(tensors)}}};"
        known = [self._known(one) for one in self._extents()[len(self._places()) :]]
        yield f"static const int64_t known_{number}[] = {{{', '.join(known) or 0}}};"
        yield f"static void extents_{number}(const int64_t *given, int64_t *wanted) {{"
        yield from self._sizes()
        for place, extent in enumerate(self._extents()):
            yield f"  wanted[{place}] = {size_text(extent, self._names)};"
        yield "}"
        yield f"static double work_{number}(const int64_t *given) {{"
        yield from self._sizes()
        yield f"  return {' + '.join(self._work(func) for func in self._algorithm.funcs)};"
        yield "}"
        yield ""

    def _extents(self) -> list[Dimension]:
        return [extent for _, shape in self._tensors for extent in shape]

    def _places(self) -> Mapping[tuple[int, int], int]:
        """Where among all inputs' extents that of an input's axis stands."""
        axes = [
            (number, axis)
            for number, tensor in enumerate(self._algorithm.inputs)
            for axis in range(len(tensor.shape))
        ]
        return {one: place for place, one in enumerate(axes)}

    def _sizes(self) -> Iterator[str]:
        places = self._places()
        yield "  (void)given;"
        for name, axis in self._algorithm.free_sizes.items():
            yield f"  const int64_t {self._names[name]} = given[{places[axis]}];"
            yield f"  (void){self._names[name]};"

    def _known(self, extent: Dimension) -> str:
        if not isinstance(extent, Expression):
            return f"INT64_C({extent})"
        if str(extent) in self._names:
            return f"AS_INPUT({self._places()[self._algorithm.free_sizes[str(extent)]]})"
        return "COMPUTED"

    def _work(self, func: Func) -> str:
        axes = [*func.axes, *(func.reduction.axes if func.reduction else ())]
        rounds = [f"(double){size_text(axis.extent, self._names)}" for axis in axes]
        return " * ".join([f"{_element_ns(func):.2f}", *rounds])


def _element_ns(func: Func) -> float:
    parts = list(parts_of(func.body))
    costly = sum(isinstance(one, Apply) and one.function in _COSTLY for one in parts)
    work = sum(isinstance(one, Apply | Element) for one in parts)
    return costly * _COSTLY_NS + (work + 1) * _CHEAP_NS


def _c_string(text: str) -> str:
    """A text for people in a string of C: printable ASCII, 80 characters."""
    kept = "".join(c if c.isascii() and c.isprintable() and c not in '"\\?' else "_" for c in text)
    return kept[:80]
