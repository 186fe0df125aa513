"""A race as it travels: models as bytes, with the files that hold their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import onnx_ir as ir

from optimizer.errors import StudioError, quoted
from profiling.config import RunConfig
from profiling.racing.race import Variant


@dataclass(frozen=True, slots=True)
class PackedVariant:
    """One variant.

    Attributes:
        files: contents by plain file name; the model itself is `model.onnx`.
    """

    label: str
    config: RunConfig
    files: dict[str, bytes]


_MODEL = "model.onnx"


def pack(variants: Sequence[Variant]) -> list[PackedVariant]:
    """The variants with everything another machine needs.

    Raises:
        StudioError: a file of weights cannot be read.
    """
    return [
        PackedVariant(variant.label, variant.config, _files(variant.model)) for variant in variants
    ]


def unpack(
    packed: Sequence[PackedVariant], folder: Path, *, device_id: int | None
) -> list[Variant]:
    """Write the files below `folder`, each variant in a folder of its own.

    Args:
        packed: as `pack` made them.
        folder: empty, ours.
        device_id: of the GPU here, whatever it was called there; None leaves it.
    """
    variants: list[Variant] = []
    for number, packed_variant in enumerate(packed):
        home = folder / str(number)
        for name, content in packed_variant.files.items():
            target = home / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        config = packed_variant.config
        if device_id is not None and config.device != "cpu":
            config = replace(config, device_id=device_id)
        variants.append(Variant(packed_variant.label, home / _MODEL, config))
    return variants


def _files(model: bytes | Path) -> dict[str, bytes]:
    if isinstance(model, bytes):
        return {_MODEL: model}
    home = model.parent.resolve()
    try:
        files = {_MODEL: model.read_bytes()}
        for name in sorted(_data_files(model)):
            path = (home / name).resolve()
            if not path.is_relative_to(home):
                raise StudioError(f"{quoted(name)} lies outside the model's folder; move it there.")
            files[str(path.relative_to(home))] = path.read_bytes()
    except OSError as error:
        raise StudioError(f"A file of the model cannot be read: {error.strerror}.") from error
    return files


def _data_files(model: Path) -> set[str]:
    """Names of the files that hold weights."""
    return {
        f"{value.const_value.location}"
        for graph in ir.load(model).graphs()
        for value in graph.initializers.values()
        if isinstance(value.const_value, ir.ExternalTensor)
    }
