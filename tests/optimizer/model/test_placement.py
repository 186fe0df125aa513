"""Where weights go when a model is written, and what is refused before."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from optimizer.errors import StudioError
from optimizer.model import placement as module
from optimizer.model.graph import Model
from optimizer.model.loader import load_path
from optimizer.model.placement import place
from optimizer.model.writer import write
from tests.optimizer.model.test_external import model, reference

NUMBERS = np.arange(4096, dtype=np.float32)


@pytest.fixture
def source(tmp_path: Path) -> Model:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "w.data").write_bytes(bytes(64) + NUMBERS.tobytes())
    entries = {"location": "w.data", "offset": "64", "length": str(NUMBERS.nbytes)}
    proto = onnx.ModelProto.FromString(model(reference(entries, (4096,))))
    for info in (*proto.graph.input, *proto.graph.output):
        info.type.tensor_type.shape.dim[0].dim_value = 4096
    (folder / "m.onnx").write_bytes(proto.SerializeToString())
    return load_path(folder / "m.onnx")


def weight_of(path: Path) -> tuple[str, np.ndarray]:
    """The location of the weight, and its numbers as our loader finds them."""
    tensor = onnx.load(path, load_external_data=False).graph.initializer[0]
    location = next((e.value for e in tensor.external_data if e.key == "location"), "")
    value = load_path(path).ir.graph.initializers["w"].const_value
    assert value is not None
    return location, value.numpy()


@pytest.mark.parametrize(
    ("external", "folder", "location"),
    [
        ("auto", "source", "w.data"),
        ("auto", ".", "source/w.data"),
        ("auto", "other", "out.onnx.data"),
        ("keep", "source", "w.data"),
        ("copy", "source", "out.onnx.data"),
        ("mine.bin", "other", "mine.bin"),
    ],
)
def test_weights_are_found_wherever_they_go(
    external: str, folder: str, location: str, source: Model, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    out = tmp_path / folder / "out.onnx"
    before = (tmp_path / "source/w.data").stat()
    write(source.ir, out, placement=place(source.ir, out, external=external, inline_bytes=100))
    found, numbers = weight_of(out)
    assert found == location
    np.testing.assert_array_equal(numbers, NUMBERS)
    after = (tmp_path / "source/w.data").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_what_fits_into_one_file_is_one_file(source: Model, tmp_path: Path) -> None:
    write(source.ir, tmp_path / "out.onnx")
    assert weight_of(tmp_path / "out.onnx")[0] == ""
    assert [one.name for one in tmp_path.glob("*.*")] == ["out.onnx"]


def test_new_weights_beside_those_referred_to_have_a_file_of_their_own(
    source: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BESIDE_REFERENCES_BYTES", 100)
    value = ir.Value(name="new", const_value=ir.tensor(NUMBERS + 1, name="new"))
    source.ir.graph.initializers["new"] = value
    out = tmp_path / "source/w"  # whose own data file would be w.data, which is referred to
    placement = place(source.ir, out, external="keep")
    assert placement.side not in placement.references.values()
    write(source.ir, out, placement=placement)
    both = load_path(out).ir.graph.initializers
    for name, numbers in (("w", NUMBERS), ("new", NUMBERS + 1)):
        tensor = both[name].const_value
        assert tensor is not None
        np.testing.assert_array_equal(tensor.numpy(), numbers)


@pytest.mark.parametrize(
    ("external", "out", "said"),
    [
        ("keep", "other/out.onnx", "is not in the folder of"),
        ("../w.bin", "other/out.onnx", "is no file in the folder of"),
        ("/away/w.bin", "other/out.onnx", "is no file in the folder of"),
        ("w.data", "source/out.onnx", "would be overwritten, and is needed"),
        ("out.onnx", "source/out.onnx", "would be overwritten, and is needed"),
        ("m.onnx", "source/out.onnx", "would be overwritten, and is needed"),
        ("copy", "source/w", "would be overwritten, and is needed"),
        ("no/w.bin", "source/out.onnx", "Choose a folder you may write to"),
        ("copy", "nowhere/out.onnx", "Choose a folder you may write to"),
        ("copy", "other", "Choose a folder you may write to"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_written(
    external: str, out: str, said: str, source: Model, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(StudioError, match=said):
        place(source.ir, tmp_path / out, external=external, source=tmp_path / "source/m.onnx")
    assert sorted(tmp_path.rglob("*")) == before


def test_room_is_looked_for_first(
    source: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = os.statvfs_result((4096, 4096, 9, 9, 3, *[0] * 5))

    def statvfs(_folder: Path) -> os.statvfs_result:
        return full

    monkeypatch.setattr(os, "statvfs", statvfs)
    with pytest.raises(StudioError, match=r"has 12 KiB left\. Free some"):
        place(source.ir, tmp_path / "out.onnx", external="copy")
    place(source.ir, tmp_path / "source/out.onnx", external="keep")
