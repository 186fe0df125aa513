"""Where a model's weights go when it is written: decided, and refused, before anything is."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import onnx_ir as ir

from optimizer.errors import StudioError, quoted
from optimizer.model.data_files import link_to
from optimizer.model.graph import walk_graphs
from optimizer.model.new_file import check_room
from optimizer.model.storage import data_file
from optimizer.numbers import bytes_text
from optimizer.stored import FileStorage, StoredTensor

INLINE_BYTES = 1_800_000_000
"""More weights than this go to a side file: protobuf ends at 2 GiB."""

BESIDE_REFERENCES_BYTES = 64 << 20
"""More new weights of a model that refers to its source's data go to a file of their own."""

AUTO, KEEP, COPY = "auto", "keep", "copy"


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the weights go.

    Attributes:
        references: location of each data file of the source that is referred to, by its path.
        side: location of a new data file; empty where there is none.
        referred_bytes: weights that stay where they are.
        side_bytes: weights that go to the new data file.
        inline_bytes: weights that go into the model file.
    """

    references: Mapping[Path, str] = field(default_factory=dict[Path, str])
    side: str = ""
    referred_bytes: int = 0
    side_bytes: int = 0
    inline_bytes: int = 0

    def __str__(self) -> str:
        """What a person should know of it; nothing where all is in one file."""
        parts: list[str] = []
        if self.references:
            names = ", ".join(quoted(name) for name in sorted(self.references.values()))
            size = bytes_text(self.referred_bytes)
            parts.append(f"{size} of weights stay in {names}, which the new model needs beside it.")
        if self.side:
            parts.append(f"{bytes_text(self.side_bytes)} of weights are in {quoted(self.side)}.")
        return " ".join(parts)


def place(
    model: ir.Model,
    path: Path,
    *,
    external: str = AUTO,
    inline_bytes: int = INLINE_BYTES,
    source: Path | None = None,
) -> Placement:
    """Decide where the weights of a model go that is written to `path`.

    Args:
        model: to be written.
        path: of the model file.
        external: `auto`: one file as long as all fits, else as `keep` where the data files can be
            referred to, else as `copy`. `keep`: what is in data files stays there. `copy`: to
            `<name>.data`. Anything else: to a data file of this name.
        inline_bytes: more weights than this do not go into the model file.
        source: the file that the model was read from.

    Raises:
        StudioError: that cannot be done, or there is no room for it.
    """
    if not path.parent.is_dir() or path.is_dir():
        raise StudioError(f"Cannot write {quoted(path)}. Choose a folder you may write to.")
    tensors = list(weights(model))
    total = sum(tensor.nbytes for tensor in tensors)
    if external == AUTO and total <= inline_bytes:
        placement = Placement(inline_bytes=total)
    elif external in (AUTO, KEEP):
        placement = _kept(tensors, path, strict=external == KEEP, inline_bytes=inline_bytes)
    else:
        side = f"{path.name}.data" if external == COPY else _side_name(external, path)
        placement = Placement(side=side, side_bytes=total)
    if placement.side:
        _check_side(path.parent / placement.side, path, tensors, source)
    check_room(path.parent, needed_bytes(placement, model))
    return placement


def linked(model: ir.Model, folder: Path, *, inline_bytes: int) -> Placement:
    """Refer to data files, wherever they are, by links in `folder`, which is ours.

    Only `load_path` with `follow_links` reads what is written so.

    Raises:
        StudioError: a data file is gone, or the links cannot be made.
    """
    tensors = list(weights(model))
    files = dict.fromkeys(file for tensor in tensors if (file := data_file(tensor)) is not None)
    try:
        references = {file: link_to(file, folder, number) for number, file in enumerate(files)}
    except OSError as error:
        raise StudioError(f"The model's data cannot be linked to: {error}.") from error
    referred = sum(tensor.nbytes for tensor in tensors if data_file(tensor) is not None)
    rest = sum(tensor.nbytes for tensor in tensors) - referred
    if rest <= inline_bytes:
        return Placement(references, "", referred, 0, rest)
    return Placement(references, "weights.data", referred, rest, 0)


def weights(model: ir.Model) -> Iterator[ir.TensorProtocol]:
    """Data of all initializers of the model and its bodies."""
    for graph in walk_graphs(model.graph):
        for value in graph.initializers.values():
            if value.const_value is not None:
                yield value.const_value


def _kept(
    tensors: list[ir.TensorProtocol], path: Path, *, strict: bool, inline_bytes: int
) -> Placement:
    files = dict.fromkeys(file for tensor in tensors if (file := data_file(tensor)) is not None)
    references = {file: location for file in files if (location := _relative(file, path.parent))}
    if strict and (away := next((file for file in files if file not in references), None)):
        raise StudioError(
            f"The data file {quoted(away)} is not in the folder of {quoted(path)} or below, where "
            "runtimes look for it. Write the model there, or copy the data."
        )
    sizes = [(tensor.nbytes, data_file(tensor) in references) for tensor in tensors]
    referred = sum(size for size, kept in sizes if kept)
    rest = sum(size for size, kept in sizes if not kept)
    most_inline = min(inline_bytes, BESIDE_REFERENCES_BYTES) if references else inline_bytes
    if rest <= most_inline:
        return Placement(references, "", referred, 0, rest)
    side = _free_name(path, references)
    return Placement(references, side, referred, rest, 0)


def _relative(file: Path, folder: Path) -> str:
    """The location of a file, or of a link to it, in a folder or below; empty where it is not."""
    around = Path(os.path.realpath(folder))
    named = Path(os.path.realpath(file.parent), file.name)
    found = (one for one in (named, Path(os.path.realpath(file))) if one.is_relative_to(around))
    return next((one.relative_to(around).as_posix() for one in found), "")


def _free_name(path: Path, references: Mapping[Path, str]) -> str:
    """`<name>.data`, or what is not a data file that the model refers to."""
    taken = set(references.values())
    names = (f"{path.name}{number or ''}.data" for number in range(len(taken) + 1))
    return next(name for name in names if name not in taken)


def _side_name(given: str, path: Path) -> str:
    """A file name as a location beside the model."""
    parts = Path(given).parts
    if not given.isprintable() or Path(given).is_absolute() or ".." in parts or "\\" in given:
        raise StudioError(
            f"{quoted(given)} is no file in the folder of {quoted(path)} or below, where runtimes "
            "look for it. Give a name."
        )
    return "/".join(parts)


def _check_side(
    side: Path, path: Path, tensors: list[ir.TensorProtocol], source: Path | None
) -> None:
    """That writing the data file would take nothing away."""
    real = os.path.realpath(side)
    read = {os.path.realpath(file) for tensor in tensors if (file := data_file(tensor))}
    read |= {os.path.realpath(path)} | ({os.path.realpath(source)} if source else set[str]())
    if real in read:
        raise StudioError(f"{quoted(side)} would be overwritten, and is needed. Give another name.")
    if side.is_dir() or not side.parent.is_dir():
        raise StudioError(f"Cannot write {quoted(side)}. Choose a folder you may write to.")


def needed_bytes(placement: Placement, model: ir.Model) -> int:
    """Room on the disk; holes of the source's data files stay holes."""
    if not placement.side_bytes:
        return placement.inline_bytes
    copied = [tensor for tensor in weights(model) if data_file(tensor) not in placement.references]
    files = {t.storage for t in copied if isinstance(t, StoredTensor)}
    holes = sum(f.size - f.allocated_bytes() for f in files if isinstance(f, FileStorage))
    return max(0, placement.side_bytes - holes) + placement.inline_bytes
