"""Sample networks kept small on disk: large random weights are drawn again, not stored.

The architectures are real, their weights random anyway. A packed file holds the model's bytes
without the large weights, and for each of those its place, type and statistics. Unpacking draws
them again from a seed and splices them in, so no ONNX library is needed.

Only integer arithmetic and single float32 products and sums go into a draw. NumPy's own normal
distribution would do as well to the eye, but it calls the C library's `log1p`, whose last bit
differs between C libraries; then one machine's sample network would not be another's.

Layout after LZMA: one line of JSON (`passlens.packed/1`), then the bytes between the weights.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from optimizer.errors import LoadError, Truncated

SCHEMA = "passlens.packed/1"
LEVELS = 1 << 16
SUM_STD = math.sqrt(2 * (LEVELS**2 - 1) / 12)  # of the sum of two uniform 16-bit integers


@dataclass(frozen=True, slots=True)
class Weight:
    """A tensor whose values are drawn again.

    Attributes:
        offset: where its bytes start in the unpacked file.
        dtype: NumPy's name of a float type.
        count: number of elements.
        mean: of the values, like the three that follow.
        std: standard deviation.
        low: smallest value.
        high: largest value.
        seed: equal tensors have equal seeds.
    """

    offset: int
    dtype: str
    count: int
    mean: float
    std: float
    low: float
    high: float
    seed: int


def draw(weight: Weight) -> bytes:
    """The weight's bytes: a triangular distribution with its mean and deviation, clipped."""
    raw = np.random.PCG64(weight.seed).random_raw((weight.count + 1) // 2)
    halves = raw.astype("<u8", copy=False).view("<u2").reshape(-1, 2)[: weight.count]
    centred = halves[:, 0].astype(np.int32) + halves[:, 1] - (LEVELS - 1)
    values = centred.astype(np.float32) * np.float32(weight.std / SUM_STD)
    values += np.float32(weight.mean)
    np.clip(values, np.float32(weight.low), np.float32(weight.high), out=values)
    return values.astype(np.dtype(weight.dtype).newbyteorder("<"), copy=False).tobytes()


def unpack(packed: Path, target: BinaryIO) -> str:
    """Write the unpacked model to `target`.

    Returns:
        The sha256 (hex) of what was written.

    Raises:
        LoadError: the packed file is damaged or of another kind.
    """
    try:
        line, _, kept = lzma.decompress(packed.read_bytes()).partition(b"\n")
        header = cast("dict[str, Any]", json.loads(line))
    except (lzma.LZMAError, ValueError) as error:
        raise Truncated(f"The sample network {packed.name} is damaged; reinstall.") from error
    if header.get("schema") != SCHEMA:
        raise LoadError(f"The sample network {packed.name} is not of the kind {SCHEMA}; reinstall.")
    digest = hashlib.sha256()
    for piece in _pieces(kept, [Weight(**weight) for weight in header["weights"]]):
        digest.update(piece)
        target.write(piece)
    if digest.hexdigest() != header["sha256"]:
        raise LoadError(f"The sample network {packed.name} did not come out whole; reinstall.")
    return digest.hexdigest()


def _pieces(kept: bytes, weights: Sequence[Weight]) -> Iterator[bytes]:
    """The unpacked file in order: kept bytes and drawn weights alternating."""
    position = drawn_bytes = 0
    for weight in weights:
        end = weight.offset - drawn_bytes
        yield kept[position:end]
        drawn = draw(weight)
        yield drawn
        position, drawn_bytes = end, drawn_bytes + len(drawn)
    yield kept[position:]
