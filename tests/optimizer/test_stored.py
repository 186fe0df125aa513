"""Tensors that stay in their file: read in pieces, mapped while held, refused once changed."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx_ir as ir
import pytest

from optimizer.errors import ExternalDataRefused, StudioError
from optimizer.model.data_files import FolderFiles
from optimizer.stored import (
    MAPPED_BYTES,
    NEW_IN_MEMORY_BYTES,
    NewWeights,
    Storage,
    StoredTensor,
    chunks_of,
    evidence,
)

HOLE = 8 << 20


def storage(folder: Path, name: str = "w.data") -> Storage:
    return FolderFiles(folder, follow_links=False).find(name)


def described(*dims: int, dtype: ir.DataType = ir.DataType.FLOAT) -> ir.TensorProtocol:
    return ir.LazyTensor(lambda: ir.tensor([0]), dtype, ir.Shape(dims), name="w")


def is_mapped(path: Path) -> bool:
    return str(path) in Path("/proc/self/maps").read_text(encoding="utf-8")


def test_an_array_of_a_large_tensor_is_mapped_only_while_somebody_holds_it(tmp_path: Path) -> None:
    numbers = np.arange(1 << 20, dtype=np.float32)
    (tmp_path / "w.data").write_bytes(bytes(12) + numbers.tobytes())
    tensor = StoredTensor(storage(tmp_path), 12, described(1 << 20))
    array = tensor.numpy()
    assert array.tobytes() == tensor.tobytes() == b"".join(chunks_of(tensor)) == numbers.tobytes()
    held = is_mapped(tmp_path / "w.data")
    del array
    assert (held, is_mapped(tmp_path / "w.data")) == (True, False)


def test_a_copy_of_a_file_with_holes_has_holes(tmp_path: Path) -> None:
    with (tmp_path / "w.data").open("wb") as file:
        file.seek(HOLE)
        file.write(b"mark")
        file.truncate(2 * HOLE)
    tensor = StoredTensor(storage(tmp_path), 64, described(2 * HOLE - 64, dtype=ir.DataType.UINT8))
    with (tmp_path / "copy").open("w+b") as target:
        target.write(b"before")
        tensor.tofile(target)
        target.write(b"behind")
    copied = (tmp_path / "copy").read_bytes()
    assert copied == b"before" + (tmp_path / "w.data").read_bytes()[64:] + b"behind"
    if (tmp_path / "w.data").stat().st_blocks * 512 < HOLE:  # the file system knows holes
        assert (tmp_path / "copy").stat().st_blocks * 512 < HOLE


def test_a_file_that_was_written_anew_meanwhile_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w.data").write_bytes(bytes(16))
    tensor = StoredTensor(storage(tmp_path), 0, described(4))
    (tmp_path / "w.data").write_bytes(bytes(16))
    os.utime(tmp_path / "w.data", ns=(0, 0))
    with pytest.raises(ExternalDataRefused, match=r"'w.data' has changed meanwhile; open"):
        tensor.tobytes()


def test_many_new_weights_are_kept_on_the_disk_and_few_in_memory() -> None:
    new = NewWeights()
    one = ir.tensor(np.arange(NEW_IN_MEMORY_BYTES // 16, dtype=np.float32))
    kept = [new.keep(one) for _ in range(6)]
    assert [isinstance(tensor, StoredTensor) for tensor in kept] == [False] * 4 + [True] * 2
    np.testing.assert_array_equal(kept[5].numpy(), one.numpy())
    assert new.keep(kept[5]) is kept[5]


def test_no_room_for_new_weights_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("optimizer.stored.NEW_IN_MEMORY_BYTES", 0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(StudioError, match=r"New weights go to .*TMPDIR\.$"):
        NewWeights().keep(ir.tensor(np.zeros(MAPPED_BYTES, np.uint8)))


def test_evidence_of_a_file_tells_its_size_and_any_of_its_samples(tmp_path: Path) -> None:
    seen: set[str] = set()
    for number, (size, mark) in enumerate([(HOLE, 0), (HOLE, HOLE - 9), (HOLE + 1, 0)]):
        with (tmp_path / f"{number}").open("wb") as file:
            file.seek(mark)
            file.write(b"mark")
            file.truncate(size)
        seen.add(evidence(storage(tmp_path, f"{number}")))
    assert len(seen) == 3
