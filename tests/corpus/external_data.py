"""Tensors whose data is in another file, honestly and otherwise."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper

from tests.corpus.cases import FLOAT, case, model

SECRET = b"SECRET-CONTENT-0"  # 16 bytes: reads as four float32 values


def external(
    folder: Path,
    location: str,
    offset: str | None = None,
    length: str | None = None,
    dims: Sequence[int] = (1, 4),
    extra: dict[str, str] | None = None,
) -> None:
    """``y = x + w`` with ``w`` external; ``secret.bin`` lies outside the model's folder."""
    (folder / "secret.bin").write_bytes(SECRET)
    tensor = TensorProto(name="w", data_type=FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
    entries = {"location": location, "offset": offset, "length": length, **(extra or {})}
    for key, text in entries.items():
        if text is not None:
            tensor.external_data.add(key=key, value=text)
    inner = folder / "inner"
    inner.mkdir(exist_ok=True)
    (inner / "good.bin").write_bytes(np.ones(4, np.float32).tobytes())
    proto = model([helper.make_node("Add", ["x", "w"], ["y"])], initializers=[tensor])
    (inner / "model.onnx").write_bytes(proto.SerializeToString())


@case("external", "run")
def ext_good(folder: Path) -> None:
    external(folder, "good.bin")


@case("external", "reject")
def ext_parent(folder: Path) -> None:
    external(folder, "../secret.bin")


@case("external", "reject")
def ext_parent_hidden(folder: Path) -> None:
    external(folder, "./x/../../secret.bin")
    (folder / "inner" / "x").mkdir()


@case("external", "reject")
def ext_absolute(folder: Path) -> None:
    external(folder, str((folder / "secret.bin").resolve()))


@case("external", "reject")
def ext_symlink(folder: Path) -> None:
    external(folder, "link.bin")
    (folder / "inner/link.bin").symlink_to("../secret.bin")


@case("external", "reject")
def ext_symlink_directory(folder: Path) -> None:
    external(folder, "up/secret.bin")
    (folder / "inner/up").symlink_to("..")


@case("external", "reject")
def ext_hardlink(folder: Path) -> None:
    external(folder, "hard.bin")
    os.link(folder / "secret.bin", folder / "inner/hard.bin")


@case("external", "view")  # its structure is there
def ext_missing(folder: Path) -> None:
    external(folder, "nowhere.bin")


@case("external", "reject")
def ext_offset_past_end(folder: Path) -> None:
    external(folder, "good.bin", offset="1000000")


@case("external", "reject")
def ext_offset_negative(folder: Path) -> None:
    external(folder, "good.bin", offset="-8")


@case("external", "reject")
def ext_offset_not_a_number(folder: Path) -> None:
    external(folder, "good.bin", offset="0x10 or so")


@case("external", "reject")
def ext_length_huge(folder: Path) -> None:
    external(folder, "good.bin", length=str(1 << 40))


@case("external", "reject")
def ext_length_short(folder: Path) -> None:
    external(folder, "good.bin", length="4")


@case("external", "reject")
def ext_dims_exceed_file(folder: Path) -> None:
    external(folder, "good.bin", dims=(1 << 16, 1 << 14))


@case("external", "reject")
def ext_unknown_key(folder: Path) -> None:
    external(folder, "good.bin", extra={"__class__": "x", "basepath": "/etc"})


@case("external", "reject")
def ext_device(folder: Path) -> None:
    external(folder, "zero.bin")
    (folder / "inner/zero.bin").symlink_to("/dev/zero")


@case("external", "reject")
def ext_fifo(folder: Path) -> None:
    external(folder, "pipe.bin")
    os.mkfifo(folder / "inner/pipe.bin")


@case("external", "reject")
def ext_directory(folder: Path) -> None:
    external(folder, ".")


@case("external", "reject")
def ext_null_byte(folder: Path) -> None:
    external(folder, "good.bin\0../secret.bin")


@case("external", "reject")
def ext_windows_path(folder: Path) -> None:
    external(folder, "..\\secret.bin")


@case("external", "reject")
def ext_url(folder: Path) -> None:
    external(folder, "http://127.0.0.1:9/secret.bin")


@case("external", "reject")
def ext_ort_memory_marker(folder: Path) -> None:
    """onnxruntime's internal marker for 'this tensor is at that address'."""
    external(folder, "*/_ORT_MEM_ADDR_/*", offset="4096", length="16")


@case("external", "reject")
def ext_on_constant_node(folder: Path) -> None:
    """The reference sits in a Constant node's attribute, not in an initializer."""
    external(folder, "good.bin")
    tensor = TensorProto(name="w", data_type=FLOAT, dims=[1, 4], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="../secret.bin")
    nodes = [
        helper.make_node("Constant", [], ["w"], value=tensor),
        helper.make_node("Add", ["x", "w"], ["y"]),
    ]
    (folder / "inner/model.onnx").write_bytes(model(nodes).SerializeToString())
