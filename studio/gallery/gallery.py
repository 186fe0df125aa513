"""The sample networks that come with Passlens, unpacked into a cache folder on first use."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from optimizer.errors import LoadError, StudioError, quoted
from optimizer.numbers import bytes_text
from profiling.cache.atomic_folder import obtain
from profiling.cache.folder import cache_folder
from studio.gallery.packed import unpack

PACKED = Path(__file__).parent
FILE = PACKED / "models.json"
"""What is in the gallery; `python -m benchmarks.gallery_figures` counts its figures."""

SAMPLE = "resnet50"
"""What a visitor without a link sees."""


@dataclass(frozen=True, slots=True)
class GalleryModel:
    """A sample network.

    Attributes:
        id: short name, as in `?model=resnet50`, and of the packed file.
        title: display name.
        told: one sentence on what there is to see, with places for what was counted: {steps},
            {gone}, {left}, {times}.
        nodes: operators, Constant not counted.
        left: operators after the last step of the default passes.
        steps: rewrites of their trace.
        size_bytes: of the unpacked file.
        origin: the configuration it was exported from; all weights are random.
        sha256: of the unpacked file, in hex.
    """

    id: str
    title: str
    told: str
    nodes: int
    left: int
    steps: int
    size_bytes: int
    origin: str
    sha256: str

    @property
    def story(self) -> str:
        """The sentence with its figures."""
        return self.told.format(
            steps=f"{self.steps:,}",
            left=f"{self.left:,}",
            gone=f"{(self.nodes - self.left) / self.nodes:.0%}".replace("%", " %"),
            times=f"{self.nodes / self.left:.0f}",
        )


MODELS = tuple(GalleryModel(**row) for row in json.loads(FILE.read_text(encoding="utf-8")))


def entries() -> tuple[GalleryModel, ...]:
    """Every sample network, in the order in which they are shown."""
    return MODELS


def find(model_id: str) -> GalleryModel | None:
    """The sample network with this id, if there is one."""
    return next((model for model in MODELS if model.id == model_id), None)


def open_path(model_id: str) -> Path:
    """The path of a sample network as an ordinary .onnx file, unpacked if need be.

    A file in the cache is used only if its sha256 is right; whoever asks meanwhile waits for the
    first.

    Raises:
        LoadError: there is no such network, or the packed file is damaged.
        StudioError: the cache folder cannot be written to.
    """
    model = find(model_id)
    if model is None:
        known = ", ".join(model.id for model in MODELS)
        raise LoadError(f"There is no sample network {quoted(model_id)}; there are {known}.")
    target = cache_folder() / "gallery" / model.sha256[:12] / f"{model.id}.onnx"
    try:
        obtain(
            target.parent,
            lambda draft: _unpack_into(draft / target.name, model),
            complete=lambda folder: _is_intact(folder / target.name, model),
        )
    except OSError as error:
        raise StudioError(
            f"The sample network {model.id} needs {bytes_text(model.size_bytes)} in "
            f"{quoted(str(target.parent))}, and writing there failed ({error.strerror}); "
            "name another folder in PASSLENS_CACHE."
        ) from error
    return target


def _unpack_into(target: Path, model: GalleryModel) -> None:
    with target.open("wb") as file:
        digest = unpack(PACKED / f"{model.id}.onnx.xz", file)
    if digest != model.sha256:
        raise LoadError(f"The sample network {model.id} is damaged; reinstall Passlens.")


def _is_intact(path: Path, model: GalleryModel) -> bool:
    try:
        status = path.stat()
        if status.st_size != model.size_bytes:
            return False
        return _digest(path, status.st_size, status.st_mtime_ns) == model.sha256
    except OSError:
        return False


@lru_cache(maxsize=64)
def _digest(path: Path, _size: int, _modified_ns: int) -> str:
    """The file's sha256; computed once as long as the file stays as it is."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
