"""Pack an ONNX model for the gallery: `python -m benchmarks.pack_gallery MODEL.onnx OUT.onnx.xz`.

Prints what `studio/gallery/models.json` wants to know: nodes (Constant not counted), size and
sha256 of the unpacked file. Weights lose their values, only their statistics stay, so this is for
networks with random weights.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from studio.gallery.packed import SCHEMA, Weight, draw, unpack

THRESHOLD = 2048  # elements; smaller tensors are kept as they are
DTYPES: dict[int, str] = {onnx.TensorProto.FLOAT: "float32", onnx.TensorProto.FLOAT16: "float16"}


def weights_of(model: onnx.ModelProto, data: bytes) -> Iterator[Weight]:
    """The large random weights of `model`, whose serialized form is `data`, in file order."""
    position = 0
    seeds: dict[bytes, int] = {}
    for tensor in model.graph.initializer:
        position = data.index(tensor.raw_data, position) if tensor.raw_data else position
        array = numpy_helper.to_array(tensor)
        if tensor.raw_data and tensor.data_type in DTYPES and _is_random(array):
            content = hashlib.sha256(tensor.raw_data).digest()
            seed = int.from_bytes(hashlib.sha256(tensor.name.encode()).digest()[:4], "little")
            values = array.astype(np.float64)
            yield Weight(
                offset=position,
                dtype=DTYPES[tensor.data_type],
                count=array.size,
                mean=float(values.mean()),
                std=float(values.std()),
                low=float(values.min()),
                high=float(values.max()),
                seed=seeds.setdefault(content, seed),
            )
        position += len(tensor.raw_data)


def _is_random(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> bool:
    """Masks, tables and constants carry meaning and are kept."""
    if array.size < THRESHOLD or not np.isfinite(array).all():
        return False
    return len(np.unique(array.ravel()[:4096])) >= 16


def pack(model: bytes, weights: Sequence[Weight]) -> bytes:
    """Pack a model's bytes, leaving out what `weights` draws again, in order of offset."""
    kept: list[bytes] = []
    digest, size, position = hashlib.sha256(), 0, 0
    for weight in weights:
        kept.append(model[position : weight.offset])
        drawn = draw(weight)
        for piece in (kept[-1], drawn):
            digest.update(piece)
            size += len(piece)
        position = weight.offset + len(drawn)
    kept.append(model[position:])
    digest.update(kept[-1])
    header = {
        "schema": SCHEMA,
        "size": size + len(kept[-1]),
        "sha256": digest.hexdigest(),
        "weights": [asdict(weight) for weight in weights],
    }
    line = json.dumps(header, separators=(",", ":")).encode() + b"\n"
    return lzma.compress(line + b"".join(kept), preset=9 | lzma.PRESET_EXTREME)


def main(source: Path, target: Path) -> None:
    """Pack `source` into `target` and print its line for the table of the gallery."""
    model = onnx.load(source)
    data = model.SerializeToString(deterministic=True)
    target.write_bytes(pack(data, list(weights_of(model, data))))
    unpacked = io.BytesIO()
    digest = unpack(target, unpacked)
    nodes = sum(node.op_type != "Constant" for node in model.graph.node)
    print(
        f"{target.name}: nodes={nodes}, size_bytes={len(unpacked.getvalue())}, sha256={digest}, "
        f"packed {target.stat().st_size / 1e3:.0f} kB"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
