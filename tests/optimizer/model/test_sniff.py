"""Files that are not ONNX are named for what they are."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import pickle
import struct
import zipfile

import numpy as np
import pytest
from onnx import parser

from optimizer.errors import NotOnnx
from optimizer.model.loader import load_bytes
from optimizer.model.sniff import HEAD_BYTES, sniff

MODEL = parser.parse_model(
    '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) { y = Relu(x) }'
).SerializeToString()


def archive(name: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        target.writestr(name, b"content")
    return buffer.getvalue()


def numpy_file() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(3))
    return buffer.getvalue()


SAFETENSORS_HEADER = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})

FILES = {
    "Git LFS pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n",
    "PNG picture": b"\x89PNG\r\n\x1a\n" + bytes(64),
    "JPEG picture": b"\xff\xd8\xff\xe0" + bytes(64),
    "zip archive": archive("model.onnx"),
    "PyTorch checkpoint": archive("archive/data.pkl"),
    "gzip archive": gzip.compress(MODEL),
    "xz archive": lzma.compress(MODEL),
    "Python pickle": pickle.dumps({"weights": [1.0]}),
    "HDF5 file": b"\x89HDF\r\n\x1a\n" + bytes(64),
    "TensorFlow Lite": b"\x1c\x00\x00\x00TFL3" + bytes(64),
    "ONNX Runtime's own format": b"\x1c\x00\x00\x00ORTM" + bytes(64),
    "safetensors": struct.pack("<Q", len(SAFETENSORS_HEADER)) + SAFETENSORS_HEADER.encode(),
    "program (ELF)": b"\x7fELF\x02\x01\x01" + bytes(64),
    "NumPy array": numpy_file(),
    "web page": b"\n<!DOCTYPE html><html><body>404</body></html>",
    "JSON text": b'{"graph": {"node": []}}',
    "text": b"ir_version: 8\ngraph { node { } }\n",
}


@pytest.mark.parametrize("what", FILES)
def test_a_wrong_file_is_refused_by_its_name(what: str) -> None:
    with pytest.raises(NotOnnx, match=f"This is .*{what.replace('(', '[(]').replace(')', '[)]')}"):
        load_bytes(FILES[what], name="model.onnx")


def test_an_empty_file_is_said_to_be_empty() -> None:
    with pytest.raises(NotOnnx, match="empty"):
        load_bytes(b"", name="model.onnx")


def test_a_file_of_zeros_is_said_to_be_zeros() -> None:
    with pytest.raises(NotOnnx, match="zeros"):
        load_bytes(bytes(100), name="model.onnx")


def test_a_protobuf_file_without_a_graph_is_no_model() -> None:
    with pytest.raises(NotOnnx, match="no graph"):
        load_bytes(b"\x08\x08", name="model.onnx")


def test_an_onnx_file_is_taken_for_nothing_else() -> None:
    assert sniff(MODEL[:HEAD_BYTES]) is None
