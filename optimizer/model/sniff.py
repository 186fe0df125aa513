"""Says what a file really is when it is not an ONNX model.

ONNX files are bare protobuf messages without a magic number, so a wrong file is best recognised by
what else it could be.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from optimizer.errors import NotOnnx

HEAD_BYTES = 4096
"""How much of the file `sniff` wants to see."""


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A file format that is not ONNX, and what to do with such a file."""

    what: str
    remedy: str


_ARCHIVE = "Unpack it and open the .onnx file inside."
_CHOOSE = "Choose the model file."
_EXPORT = "Export the model to ONNX first."
_TORCH = "Export the model with torch.onnx.export and open that."
_PICKLE = "A pickle can run any program when opened; export the model to ONNX first."
_PAGE = "Download the model file itself; on GitHub use the raw link."
_BINARY = "Save the model in ONNX's binary form with onnx.save."

_STARTS: tuple[tuple[bytes, str, str], ...] = (
    (
        rb"version https://git-lfs\.github\.com/spec/",
        "a Git LFS pointer, not the model itself",
        "Fetch the model with `git lfs pull` and open that.",
    ),
    (rb"\x89PNG\r\n\x1a\n", "a PNG picture", _CHOOSE),
    (rb"\xff\xd8\xff", "a JPEG picture", _CHOOSE),
    (rb"GIF8", "a GIF picture", _CHOOSE),
    (rb"%PDF-", "a PDF document", _CHOOSE),
    (
        rb"PK\x03\x04(.{0,244}data\.pkl|.{0,242}/byteorder)",
        "a PyTorch checkpoint (a zip archive)",
        _TORCH,
    ),
    (rb"PK\x03\x04", "a zip archive", _ARCHIVE),
    (rb"PK\x05\x06", "an empty zip archive", _CHOOSE),
    (rb"\x1f\x8b", "a gzip archive", _ARCHIVE),
    (rb"\xfd7zXZ\x00", "an xz archive", _ARCHIVE),
    (rb"BZh", "a bzip2 archive", _ARCHIVE),
    (rb"\(\xb5/\xfd", "a zstd archive", _ARCHIVE),
    (rb"7z\xbc\xaf\x27\x1c", "a 7-zip archive", _ARCHIVE),
    (rb"Rar!\x1a\x07", "a RAR archive", _ARCHIVE),
    (rb".{257}ustar", "a tar archive", _ARCHIVE),
    (rb"\x89HDF\r\n\x1a\n", "an HDF5 file, probably a Keras model", _EXPORT),
    (rb".{4}TFL3", "a TensorFlow Lite model", _EXPORT),
    (rb".{4}ORTM", "a model in ONNX Runtime's own format", "Open the .onnx it was made from."),
    (rb"GGUF", "a GGUF file", _EXPORT),
    (rb"\x7fELF", "a program (ELF)", _CHOOSE),
    (rb"MZ", "a Windows program", _CHOOSE),
    (rb"\x93NUMPY", "a NumPy array", _CHOOSE),
    (rb"ptrt", "a TensorRT engine", "Open the .onnx it was built from."),
    # PROTO opcode with protocol 2 to 5; 0x80 cannot start an ONNX file in practice (tag of field 0)
    (rb"\x80[\x02-\x05]", "a Python pickle", _PICKLE),
    (rb"(?i:\s*<(!doctype|html|head|\?xml|script|body))", "a web page", _PAGE),
    # the length of the header, below 2**40, and the header
    (rb'.{5}\0\0\0\{\s*"', "a safetensors file (weights without a graph)", _EXPORT),
    (rb'\s*(\{\s*["}]|\[\s*[\[{"\d])', "JSON text", _BINARY),
    # Binary ONNX begins with 0x08 (its version field); text has no such control characters.
    (rb"[^\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]{2,}\Z", "text", _BINARY),
)
"""How a file begins, what it then is, and what to do with it; the first that fits counts."""


def sniff(head: bytes) -> FileFormat | None:
    """What the file that begins with `head` is, or None if it may be ONNX.

    Args:
        head: the first `HEAD_BYTES` bytes, or all of a shorter file.
    """
    for start, what, remedy in _STARTS:
        if re.match(start, head, re.DOTALL):
            return FileFormat(what, remedy)
    return None


def refuse_other_formats(head: bytes) -> None:
    """Raise if the file that begins with `head` is recognisably not ONNX.

    Raises:
        NotOnnx: naming what the file is and what to do.
    """
    if not head:
        raise NotOnnx("The file is empty. Download or export the model again.")
    if not any(head):
        raise NotOnnx("The file begins with zeros only. Download or export the model again.")
    kind = sniff(head)
    if kind is not None:
        raise NotOnnx(f"This is {kind.what}. {kind.remedy}")
