"""Random inputs that a model accepts: right types and sizes, indexes in range, sensible masks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from optimizer.verify.sizes import Dim, SizeChoice
from optimizer.verify.usage import usage_of
from optimizer.verify.values import TYPES

Array = NDArray[np.generic]
Kind = Literal["normal", "integers", "mask", "positions", "choice", "bool", "string"]

_NUMPY = (
    "bool", "double", "float16", "int16", "int32", "int64", "int8", "uint16", "uint32", "uint64",
    "uint8",
)  # fmt: skip
DTYPES: dict[str, np.dtype[np.generic]] = {
    **TYPES,
    **{f"tensor({name})": np.dtype(name) for name in _NUMPY},
    "tensor(float)": np.dtype(np.float32),
    "tensor(string)": np.dtype(np.object_),
}
"""The runtime's names of the types that can be fed."""

_WORDS = ("a", "b", "cat", "dog", "the", "", "Zürich", "0")
_MASK_SHARE = 0.85
_INTEGERS = (0, 8)


@dataclass(frozen=True, slots=True)
class Input:
    """An input as the runtime declares it.

    Attributes:
        type: for example `tensor(float)`.
        shape: sizes, names, or None for unknown.
    """

    name: str
    type: str
    shape: tuple[Dim, ...]


@dataclass(frozen=True, slots=True)
class Feed:
    """How one input is filled.

    Attributes:
        dtype: numpy's name of the element type.
        kind: what the numbers stand for.
        low: smallest integer.
        high: one more than the largest integer.
        values: what is chosen from (`choice`), or all elements in order if there are as many.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    kind: Kind = "normal"
    low: int = 0
    high: int = 0
    values: tuple[float, ...] = ()


def planned(inputs: Iterable[Input], plan: SizeChoice, model: ir.Model) -> tuple[Feed, ...]:
    """A feed of the planned size for every input, from how `model` uses it."""
    return tuple(_planned(item, plan, model) for item in inputs)


def _planned(item: Input, plan: SizeChoice, model: ir.Model) -> Feed:
    value = next((value for value in model.graph.inputs if value.name == item.name), None)
    dtype, shape = DTYPES[item.type], plan.shapes[item.name]
    if dtype == np.bool_:
        return Feed(item.name, dtype.name, shape, "bool")
    if dtype == np.object_:
        return Feed(item.name, dtype.name, shape, "string")
    usage = None if value is None else usage_of(value, model, plan.sizes)
    is_float = dtype.kind not in "iu"
    if usage is None or (is_float and not usage.below and not usage.shape):
        return Feed(item.name, dtype.name, shape)
    name = item.name.lower()
    kind: Kind = "integers"
    low, high = (0, min(usage.below)) if usage.below else _default_range(dtype)
    values: tuple[float, ...] = ()
    if usage.shape and not usage.below:
        low, high = 1, 3
    elif "position" in name:
        kind = "positions"
    elif not usage.below and ("mask" in name or usage.mask):
        kind, low, high = "mask", 0, 2
    elif not usage.below and usage.equals:
        kind, values = "choice", tuple(dict.fromkeys(usage.equals))
    if usage.divisor:
        low, high = 1, max(2, high)
    return Feed(item.name, dtype.name, shape, kind, low, high, values)


def _default_range(dtype: np.dtype[np.generic]) -> tuple[int, int]:
    if dtype == np.uint8:
        return 0, 256
    return (-128, 128) if dtype == np.int8 else _INTEGERS


def draw(feeds: Sequence[Feed], *, seed: int) -> dict[str, Array]:
    """Arrays for all feeds; the same for the same seed on every machine.

    Floats are standard normal, every third seed uniform in [0, 1) like pixels.
    """
    arrays: dict[str, Array] = {}
    for index, feed in enumerate(feeds):
        generator = np.random.default_rng([seed, index])
        arrays[feed.name] = _drawn(feed, generator, seed)
    return arrays


def _drawn(feed: Feed, generator: np.random.Generator, seed: int) -> Array:
    shape, dtype = feed.shape, dtype_of(feed.dtype)
    match feed.kind:
        case "bool":
            return np.asarray(generator.random(shape) < 0.5)
        case "string":
            return np.array(generator.choice(_WORDS, shape), dtype=np.object_).reshape(shape)
        case "normal":
            uniform = seed % 3 == 2
            drawn = generator.random(shape) if uniform else generator.standard_normal(shape)
        case "mask":
            drawn = _mask(shape, generator, full=seed % 2 == 0)
        case "positions":
            length = shape[-1] if shape else 1
            drawn = np.broadcast_to(np.arange(length) % max(1, feed.high), shape)
        case "choice":
            drawn = _chosen(feed, generator, seed)
        case "integers":
            drawn = generator.integers(feed.low, max(feed.low + 1, feed.high), shape)
    return np.ascontiguousarray(np.asarray(drawn).astype(dtype)).reshape(shape)


def _mask(shape: tuple[int, ...], generator: np.random.Generator, *, full: bool) -> Array:
    """Ones, some zeros unless `full`; the first of every row stays, so that no row is empty."""
    mask = np.asarray(generator.random(shape) < _MASK_SHARE, np.float64)
    if full:
        mask[...] = 1
    elif shape:
        mask[..., 0:1] = 1
    return mask


def _chosen(feed: Feed, generator: np.random.Generator, seed: int) -> Array:
    if len(feed.values) == int(np.prod(feed.shape)) > 1:
        return np.array(feed.values).reshape(feed.shape)
    if not feed.shape:
        return np.array(feed.values[seed % len(feed.values)])
    return generator.choice(np.array(feed.values), feed.shape)


def dtype_of(name: str) -> np.dtype[np.generic]:
    """The type with numpy's or `ml_dtypes`' name."""
    return _LACKING.get(name) or np.dtype(name)


_LACKING: dict[str, np.dtype[np.generic]] = {dtype.name: dtype for dtype in TYPES.values()}
