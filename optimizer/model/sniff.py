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
class Kind:
    """A file format that is not ONNX, and what to do with such a file."""

    what: str
    remedy: str


_ARCHIVE = "Unpack it and open the .onnx file inside."
_EXPORT = "Export the model to ONNX first."
_PYTORCH = Kind(
    "a PyTorch checkpoint (a zip archive)", "Export the model with torch.onnx.export and open that."
)
_PICKLE = Kind(
    "a Python pickle", "A pickle can run any program when opened; export the model to ONNX first."
)
_PAGE = Kind("a web page", "Download the model file itself; on GitHub use the raw link.")
_JSON = Kind("JSON text", "Save the model in ONNX's binary form with onnx.save.")
_TEXT = Kind("text", "Save the model in ONNX's binary form with onnx.save.")
_LFS = Kind(
    "a Git LFS pointer, not the model itself", "Fetch the model with `git lfs pull` and open that."
)

_MAGIC: tuple[tuple[int, bytes, Kind], ...] = (
    (0, b"version https://git-lfs.github.com/spec/", _LFS),
    (0, b"\x89PNG\r\n\x1a\n", Kind("a PNG picture", "Choose the model file.")),
    (0, b"\xff\xd8\xff", Kind("a JPEG picture", "Choose the model file.")),
    (0, b"GIF8", Kind("a GIF picture", "Choose the model file.")),
    (0, b"%PDF-", Kind("a PDF document", "Choose the model file.")),
    (0, b"PK\x03\x04", Kind("a zip archive", _ARCHIVE)),
    (0, b"PK\x05\x06", Kind("an empty zip archive", "Choose the model file.")),
    (0, b"\x1f\x8b", Kind("a gzip archive", _ARCHIVE)),
    (0, b"\xfd7zXZ\x00", Kind("an xz archive", _ARCHIVE)),
    (0, b"BZh", Kind("a bzip2 archive", _ARCHIVE)),
    (0, b"(\xb5/\xfd", Kind("a zstd archive", _ARCHIVE)),
    (0, b"7z\xbc\xaf\x27\x1c", Kind("a 7-zip archive", _ARCHIVE)),
    (0, b"Rar!\x1a\x07", Kind("a RAR archive", _ARCHIVE)),
    (257, b"ustar", Kind("a tar archive", _ARCHIVE)),
    (0, b"\x89HDF\r\n\x1a\n", Kind("an HDF5 file, probably a Keras model", _EXPORT)),
    (4, b"TFL3", Kind("a TensorFlow Lite model", _EXPORT)),
    (4, b"ORTM", Kind("a model in ONNX Runtime's own format", "Open the .onnx it was made from.")),
    (0, b"GGUF", Kind("a GGUF file", _EXPORT)),
    (0, b"\x7fELF", Kind("a program (ELF)", "Choose the model file.")),
    (0, b"MZ", Kind("a Windows program", "Choose the model file.")),
    (0, b"\x93NUMPY", Kind("a NumPy array", "Choose the model file.")),
    (0, b"ptrt", Kind("a TensorRT engine", "Open the .onnx it was built from.")),
)

# PROTO opcode with protocol 2 to 5; 0x80 cannot start an ONNX file in practice (tag of field 0).
_PICKLE_START = re.compile(rb"\x80[\x02-\x05]")
_SAFETENSORS_START = re.compile(rb'.{8}\{\s*"', re.DOTALL)
_PAGE_START = re.compile(rb"\s*<(!doctype|html|head|\?xml|script|body)", re.IGNORECASE)
_JSON_START = re.compile(rb'\s*(\{\s*["}]|\[\s*[\[{"\d])')


def sniff(head: bytes) -> Kind | None:
    """What the file that begins with `head` is, or None if it may be ONNX.

    Args:
        head: the first `HEAD_BYTES` bytes, or all of a shorter file.
    """
    for offset, magic, kind in _MAGIC:
        if head.startswith(magic, offset):
            return _PYTORCH if kind.what == "a zip archive" and _is_pytorch(head) else kind
    if _PICKLE_START.match(head):
        return _PICKLE
    if _PAGE_START.match(head):
        return _PAGE
    if _SAFETENSORS_START.match(head) and int.from_bytes(head[:8], "little") < 1 << 40:
        return Kind("a safetensors file (weights without a graph)", _EXPORT)
    if _JSON_START.match(head):
        return _JSON
    return _TEXT if _is_text(head) else None


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


def _is_pytorch(head: bytes) -> bool:
    return b"data.pkl" in head[:256] or b"/byteorder" in head[:256]


def _is_text(head: bytes) -> bool:
    # Binary ONNX begins with 0x08 (its version field); text has no such control characters.
    return not re.search(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]", head) and len(head) > 1
