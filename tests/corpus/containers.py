"""Files that are not ONNX, or not whole."""

from __future__ import annotations

import gzip
import hashlib
import os
import pickle
import zipfile
from pathlib import Path

from tests.corpus.cases import case, field, relu_model, save, varint


@case("container", "reject")
def empty_file(folder: Path) -> None:
    save(folder, b"")


@case("container", "reject")
def random_bytes(folder: Path) -> None:
    save(folder, b"".join(hashlib.sha256(bytes([i])).digest() for i in range(128)))


@case("container", "reject")
def zero_bytes(folder: Path) -> None:
    save(folder, bytes(4096))


@case("container", "reject")
def truncated_half(folder: Path) -> None:
    data = relu_model().SerializeToString()
    save(folder, data[: len(data) // 2])


@case("container", "reject")
def truncated_last_byte(folder: Path) -> None:
    save(folder, relu_model().SerializeToString()[:-1])


@case("container", "reject")
def png_renamed(folder: Path) -> None:
    save(folder, b"\x89PNG\r\n\x1a\n" + bytes(200))


@case("container", "reject")
def html_renamed(folder: Path) -> None:
    save(folder, b"<!doctype html><script>alert(1)</script>")


@case("container", "reject")
def git_lfs_pointer(folder: Path) -> None:
    save(
        folder,
        b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 98304\n",
    )


@case("container", "reject")
def gzip_renamed(folder: Path) -> None:
    save(folder, gzip.compress(relu_model().SerializeToString()))


@case("container", "reject")
def zip_renamed(folder: Path) -> None:
    with zipfile.ZipFile(folder / "model.onnx", "w") as archive:
        archive.writestr("model.onnx", relu_model().SerializeToString())


@case("container", "reject")
def zip_bomb(folder: Path) -> None:
    with zipfile.ZipFile(folder / "model.onnx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.onnx", bytes(64 << 20))


@case("container", "reject")
def zip_slip(folder: Path) -> None:
    with zipfile.ZipFile(folder / "model.onnx", "w") as archive:
        archive.writestr("../../escaped.onnx", relu_model().SerializeToString())


@case("container", "reject")
def pickle_payload(folder: Path) -> None:
    """Unpickling it creates ``pwned`` next to the model; nothing should."""

    class Payload:
        def __reduce__(self):
            return os.mkdir, (str(folder / "pwned"),)

    save(folder, pickle.dumps(Payload()))


@case("container", "reject")
def over_2gib(folder: Path) -> None:
    with (folder / "model.onnx").open("wb") as file:
        file.write(relu_model().SerializeToString())
        file.truncate((1 << 31) + 16)  # sparse: takes no disk


@case("container", "reject")
def length_lies(folder: Path) -> None:
    save(folder, varint(7 << 3 | 2) + varint((1 << 31) - 1) + b"tiny")


@case("container", "reject")
def trailing_garbage(folder: Path) -> None:
    save(folder, relu_model().SerializeToString() + b"\xff" * 64)


@case("container", "run")
def unknown_fields(folder: Path) -> None:
    save(folder, relu_model().SerializeToString() + field(900, b"z" * 10) * 100_000)


@case("container", "reject")
def bit_flips(folder: Path) -> None:
    data = bytearray(relu_model().SerializeToString())
    for position in range(5, 75, 10):
        data[position] ^= 1 << position % 8
    save(folder, bytes(data))
