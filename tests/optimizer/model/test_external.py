"""External data: what may be read is read where it lies, and nothing else is opened."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper

from optimizer.constants import is_absent
from optimizer.errors import ExternalDataRefused, LimitError
from optimizer.isolation import within_worker
from optimizer.limits import Limits
from optimizer.model.loader import load_bytes, load_path
from optimizer.model.placement import place
from optimizer.source import complete
from profiling.workers.confinement import mapped_bytes

WEIGHTS = np.arange(4, dtype=np.float32)


def reference(entries: Mapping[str, str], dims: tuple[int, ...] = (4,)) -> TensorProto:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims)
    tensor.data_location = TensorProto.EXTERNAL
    for key, text in entries.items():
        tensor.external_data.add(key=key, value=text)
    return tensor


def model(tensor: TensorProto, *, as_constant: bool = False) -> bytes:
    nodes = [helper.make_node("Add", ["x", "w"], ["y"])]
    if as_constant:
        nodes.insert(0, helper.make_node("Constant", [], ["w"], value=tensor))
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xy")
    graph = helper.make_graph(nodes, "g", [x], [y], [] if as_constant else [tensor])
    imports = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()


def written(folder: Path, entries: Mapping[str, str]) -> Path:
    path = folder / "model.onnx"
    path.write_bytes(model(reference(entries)))
    return path


def weight(model_ir: ir.Model) -> ir.TensorProtocol:
    value = model_ir.graph.initializers["w"].const_value
    assert value is not None
    return value


def test_data_beside_the_model_stays_on_disk_until_it_is_used(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(8) + WEIGHTS.tobytes())
    loaded = load_path(written(tmp_path, {"location": "w.bin", "offset": "8", "length": "16"}))
    tensor = weight(loaded.ir)
    np.testing.assert_array_equal(tensor.numpy(), WEIGHTS)
    assert not tensor.numpy().flags.owndata


def test_tensors_of_a_large_file_do_not_map_all_of_it(tmp_path: Path) -> None:
    size, count, dims = 1 << 28, 32, (1 << 18,)
    with (tmp_path / "w.bin").open("wb") as file:
        file.truncate(size)  # sparse: takes no disk
    proto = onnx.ModelProto.FromString(model(reference({"location": "w.bin"})))
    for index in range(count):
        entries = {"location": "w.bin", "offset": str(index * 4096 + 4)}
        proto.graph.initializer.add().CopyFrom(reference(entries, dims))
        proto.graph.initializer[-1].name = f"w{index}"
    (tmp_path / "model.onnx").write_bytes(proto.SerializeToString())
    loaded = load_path(tmp_path / "model.onnx")
    before = mapped_bytes()
    tensors = [value.const_value for value in loaded.ir.graph.initializers.values()]
    arrays = [tensor.numpy() for tensor in tensors if tensor is not None]
    assert count * (1 << 20) <= mapped_bytes() - before < size / 4
    assert len(arrays) == count + 1


def test_a_file_that_was_cut_meanwhile_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(WEIGHTS.tobytes())
    tensor = weight(load_path(written(tmp_path, {"location": "w.bin"})).ir)
    (tmp_path / "w.bin").write_bytes(WEIGHTS.tobytes()[:8])
    with pytest.raises(ExternalDataRefused, match="cut short meanwhile"):
        tensor.numpy()


def test_a_data_file_of_8_gib_opens_without_being_read(tmp_path: Path) -> None:
    with (tmp_path / "w.bin").open("wb") as file:
        file.truncate(8 << 30)  # sparse: takes no disk
    proto = onnx.ModelProto.FromString(model(reference({"location": "w.bin"}, (1 << 29, 4))))
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    path = tmp_path / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    assert weight(load_path(path).ir).nbytes == 8 << 30


def test_data_in_a_subfolder_is_found(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "w.bin").write_bytes(WEIGHTS.tobytes())
    loaded = load_path(written(tmp_path, {"location": "data/w.bin"}))
    np.testing.assert_array_equal(weight(loaded.ir).numpy(), WEIGHTS)


def test_uploaded_bytes_are_used_in_place() -> None:
    data = model(reference({"location": "w.bin", "offset": "4"}))
    content = bytes(4) + WEIGHTS.tobytes()
    tensor = weight(load_bytes(data, name="m.onnx", companions={"w.bin": content}).ir)
    np.testing.assert_array_equal(tensor.numpy(), WEIGHTS)
    assert not tensor.numpy().flags.owndata


def test_an_upload_that_lies_on_disk_stays_there(tmp_path: Path) -> None:
    spooled = tmp_path / "random-name"
    spooled.write_bytes(WEIGHTS.tobytes())
    data = model(reference({"location": "w.bin"}))
    tensor = weight(load_bytes(data, name="m.onnx", companions={"w.bin": spooled}).ir)
    assert not tensor.numpy().flags.owndata
    np.testing.assert_array_equal(tensor.numpy(), WEIGHTS)


def test_data_of_a_constant_node_is_resolved_too() -> None:
    data = model(reference({"location": "w.bin"}), as_constant=True)
    loaded = load_bytes(data, name="m.onnx", companions={"w.bin": WEIGHTS.tobytes()})
    constant = next(iter(loaded.ir.graph)).attributes["value"].as_tensor()
    np.testing.assert_array_equal(constant.numpy(), WEIGHTS)


def test_packed_types_are_read_from_uploads() -> None:
    tensor = reference({"location": "w.bin"}, (3,))
    tensor.data_type = TensorProto.INT4
    cast = helper.make_node("Cast", ["w"], ["y"], to=TensorProto.FLOAT)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])
    graph = helper.make_graph([cast], "g", [], [y], [tensor])
    imports = [helper.make_opsetid("", 21)]
    data = helper.make_model(graph, opset_imports=imports, ir_version=10).SerializeToString()
    loaded = load_bytes(data, name="m.onnx", companions={"w.bin": b"\x21\x03"})
    assert weight(loaded.ir).numpy().astype(int).tolist() == [1, 2, 3]


def test_an_upload_may_not_name_a_file_on_this_machine(tmp_path: Path) -> None:
    secret = tmp_path / "secret.bin"
    secret.write_bytes(WEIGHTS.tobytes())
    with pytest.raises(ExternalDataRefused, match="was not uploaded"):
        load_bytes(model(reference({"location": str(secret)})), name="m.onnx")


def test_uploads_are_found_by_their_exact_name_only() -> None:
    data = model(reference({"location": "./w.bin"}))
    loaded = load_bytes(data, name="m.onnx", companions={"w.bin": WEIGHTS.tobytes()})
    assert is_absent(weight(loaded.ir))
    assert "was not uploaded" in loaded.statuses.runnable.reason


def test_without_its_data_files_a_model_can_be_looked_at_and_nothing_else(tmp_path: Path) -> None:
    proto = onnx.ModelProto.FromString(model(reference({"location": "w.bin"})))
    for number in range(150):
        more = reference({"location": f"{number}.bin"})
        more.name = f"w{number}"
        proto.graph.initializer.append(more)
    (tmp_path / "model.onnx").write_bytes(proto.SerializeToString())
    loaded = load_path(tmp_path / "model.onnx")
    assert loaded.statuses.viewable.ok
    for status in (loaded.statuses.optimizable, loaded.statuses.runnable):
        assert not status.ok
        assert "'w.bin' is missing and 150 more: 151 tensors have no values" in status.reason
    assert [f.severity for f in loaded.findings].count("warning") == 1
    assert list(weight(loaded.ir).shape.numpy()) == list(WEIGHTS.shape)
    with pytest.raises(ExternalDataRefused, match=r"w\.bin"):
        weight(loaded.ir).numpy()
    complete(loaded, isolate=within_worker)


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to])
def test_links_are_followed_only_when_asked(tmp_path: Path, link: object) -> None:
    (tmp_path / "blobs").mkdir()
    blob = tmp_path / "blobs" / "0123"
    blob.write_bytes(WEIGHTS.tobytes())
    folder = tmp_path / "snapshot"
    folder.mkdir()
    make = Path.symlink_to if link is Path.symlink_to else Path.hardlink_to
    make(folder / "w.bin", blob)
    path = written(folder, {"location": "w.bin"})
    with pytest.raises(ExternalDataRefused, match="link"):
        load_path(path)
    loaded = load_path(path, follow_links=True)
    np.testing.assert_array_equal(weight(loaded.ir).numpy(), WEIGHTS)


def cached_model(repository: Path, blob: Path) -> Path:
    """A snapshot as huggingface_hub keeps it, with a link to its data."""
    folder = repository / "snapshots" / "0a1b" / "onnx"
    folder.mkdir(parents=True)
    blob.parent.mkdir(exist_ok=True)
    blob.write_bytes(WEIGHTS.tobytes())
    (folder / "w.bin").symlink_to(blob)
    return written(folder, {"location": "w.bin"})


def test_a_snapshot_of_a_hugging_face_cache_is_read_and_referred_to(tmp_path: Path) -> None:
    path = cached_model(tmp_path, tmp_path / "blobs" / "0123")
    loaded = load_path(path)
    np.testing.assert_array_equal(weight(loaded.ir).numpy(), WEIGHTS)
    placed = place(loaded.ir, path.with_name("new.onnx"), external="keep")
    assert list(placed.references.values()) == ["w.bin"]


@pytest.mark.parametrize("blob", ["secret", "blobs/deeper/0123", "other/blobs/0123"])
def test_a_snapshot_links_to_the_files_of_its_own_repository_alone(
    tmp_path: Path, blob: str
) -> None:
    (tmp_path / blob).parent.parent.mkdir(exist_ok=True)
    path = cached_model(tmp_path / "repository", tmp_path / blob)
    with pytest.raises(ExternalDataRefused, match="link"):
        load_path(path)


def test_following_links_does_not_open_the_folder_above(tmp_path: Path) -> None:
    (tmp_path / "secret.bin").write_bytes(WEIGHTS.tobytes())
    (tmp_path / "inner").mkdir()
    path = written(tmp_path / "inner", {"location": "../secret.bin"})
    with pytest.raises(ExternalDataRefused, match="outside"):
        load_path(path, follow_links=True)


def test_a_named_pipe_as_the_model_itself_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "model.onnx")
    with pytest.raises(Exception, match="not a regular file"):
        load_path(tmp_path / "model.onnx")


def test_every_refused_tensor_is_listed(tmp_path: Path) -> None:
    proto = onnx.ModelProto.FromString(model(reference({"location": "one.bin"})))
    second = reference({"location": "/two.bin"})
    second.name = "v"
    proto.graph.initializer.append(second)
    (tmp_path / "model.onnx").write_bytes(proto.SerializeToString())
    with pytest.raises(ExternalDataRefused) as refused:
        load_path(tmp_path / "model.onnx")
    assert len(refused.value.findings) == 2


def test_data_files_count_against_their_limit() -> None:
    data = model(reference({"location": "w.bin"}))
    with pytest.raises(LimitError, match="data files take"):
        load_bytes(
            data,
            name="m.onnx",
            companions={"w.bin": WEIGHTS.tobytes()},
            limits=Limits(external_bytes=15),
        )


def test_entries_that_are_not_text_are_refused() -> None:
    data = model(reference({"location": "w.bin", "offset": "QQ"}))
    with pytest.raises(ExternalDataRefused, match="not valid text"):
        load_bytes(data.replace(b"QQ", b"\xff\xfe"), name="m.onnx")
