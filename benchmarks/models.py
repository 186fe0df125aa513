"""The models of the memory benchmarks: of the onnx package, of the gallery, of folders.

Free dimensions get a size: 1 where one is the first axis of an input, 128 for totals (and the `seq`
of encoders), else 64.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import onnx

from benchmarks.branches import TOKENS
from benchmarks.rewritten import rewritten
from optimizer.memory.lifetimes import lifetimes
from optimizer.model.binding import free_dimensions
from optimizer.model.graph import Model
from optimizer.model.loader import load_bytes, load_path
from optimizer.source import complete
from profiling.config import RunConfig
from profiling.workers import default_pool
from studio import gallery

SIZE = 64


def light_files() -> dict[str, Path]:
    """The light models of the onnx package: weights are made by nodes, so the files are small."""
    folder = Path(onnx.__file__).parent / "backend/test/data/light"
    return {path.stem: path for path in sorted(folder.glob("*.onnx"))}


def folded(name: str) -> Model:
    """A light model after the runtime's basic rewrites, which fold its constants."""
    path = light_files()[f"light_{name}"]
    config = RunConfig(graph_optimization="basic")
    return load_bytes(rewritten(path, config, pool=default_pool()), name=path.name)


def files(folders: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """Names and files: the gallery, then the `.onnx` files of the folders."""
    for entry in gallery.entries():
        yield f"gallery {entry.id}", gallery.open_path(entry.id)
    for folder in folders:
        yield from ((path.stem, path) for path in sorted(folder.rglob("*.onnx")))


def opened(folders: Sequence[Path]) -> Iterator[tuple[str, Model]]:
    """The same, loaded one after the other."""
    yield from ((name, load_path(path)) for name, path in files(folders))


def sizes_of(model: Model) -> dict[str, int]:
    """A size for every free dimension: 1 for batches, twice as many for totals of past and new."""
    if model.name == "bert4_dyn":
        return {"batch": 1, "seq": TOKENS}
    first = {str(value.shape[0]) for value in model.ir.graph.inputs if value.shape}
    longer = {name: 2 * SIZE if "total" in name else SIZE for name in free_dimensions(model.ir)}
    return {name: 1 if name in first else size for name, size in longer.items()}


def complete_with(model: Model, sizes: Mapping[str, int]) -> tuple[Model, bool]:
    """A model with its shapes, and whether its free dimensions had to become numbers for them.

    The file's own names are kept where sizes follow from them. Sums that only the numbers show to
    be equal, such as a past and a new length beside a total, leave sizes open.
    """
    model = complete(model, isolate=default_pool())
    if not sizes or not lifetimes(model.ir.graph, sizes=sizes).unknown:
        return model, False
    return complete(model, isolate=default_pool(), bind=sizes), True
