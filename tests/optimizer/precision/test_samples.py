"""The user's samples: what fits is read, and what does not is told with its file and place."""

from __future__ import annotations

import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from optimizer.errors import SampleError, quoted
from optimizer.precision.samples import SampleFiles, Samples, files_of
from optimizer.verify.feeds import Input

IMAGE = Input("image", "tensor(float)", ("batch", 3, 4, 4))
MASK = Input("mask", "tensor(int64)", ("batch", 4))
GOOD = {"image": np.ones((2, 3, 4, 4), np.float32), "mask": np.ones((2, 4), np.int64)}


def problem(file: Path, *inputs: Input) -> str:
    """What is said of a folder with one bad file, whether at once or when it is read."""
    with pytest.raises(SampleError) as raised:
        SampleFiles([file], inputs or (IMAGE, MASK)).read(0)
    return raised.value.message


def saved(folder: Path, **arrays: np.ndarray) -> Path:
    np.savez(folder / "a.npz", allow_pickle=True, **(GOOD | arrays))
    return folder / "a.npz"


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_npz_holds_an_array_for_each_input(save: Callable[..., None], tmp_path: Path) -> None:
    save(tmp_path / "a.npz", **GOOD)
    found = SampleFiles([tmp_path / "a.npz"], (IMAGE, MASK))
    assert found.size_bytes == [2 * 48 * 4 + 8 * 8]
    read = found.read(0)
    assert all(np.array_equal(read[name], GOOD[name]) for name in GOOD)


def test_an_npy_is_the_only_input_of_a_model_that_has_one(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", GOOD["image"])
    assert SampleFiles([tmp_path / "a.npy"], (IMAGE,)).read(0)["image"].shape == (2, 3, 4, 4)
    assert problem(tmp_path / "a.npy") == (
        "Sample 'a.npy' is one array, but the model has 2 inputs: write an .npz with their names."
    )


def test_files_come_in_the_order_of_their_names_and_some_can_be_held_out(tmp_path: Path) -> None:
    for name in ("10.npy", "2.npy", "1.npz", "readme.txt"):
        (tmp_path / name).touch()
    names = [file.name for file in files_of(Samples(tmp_path))]
    assert names == ["1.npz", "10.npy", "2.npy"]
    assert [file.name for file in files_of(Samples(tmp_path, count=1, skip=1))] == ["10.npy"]
    with pytest.raises(SampleError, match="holds 3 files, all of them among the 3 that are left"):
        files_of(Samples(tmp_path, skip=3))


def test_a_folder_without_samples_or_none_at_all_is_told(tmp_path: Path) -> None:
    with pytest.raises(SampleError, match=r"holds no \.npz or \.npy file"):
        files_of(Samples(tmp_path))
    with pytest.raises(SampleError, match="gone' cannot be read: No such file or directory"):
        files_of(Samples(tmp_path / "gone"))


def test_a_long_path_is_cut_in_front_so_that_its_name_is_told(tmp_path: Path) -> None:
    folder = Path("a" * 50, "b" * 50, "samples")
    with pytest.raises(SampleError) as raised:
        files_of(Samples(tmp_path / folder / "gone"))
    assert f"The folder of samples '…/{'b' * 50}/samples/gone' cannot be read" in str(raised.value)
    assert quoted(Path("x" * 90)) == f"'…{'x' * 79}'"
    assert quoted("x" * 90) == f"'{'x' * 79}…'"


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.ones((2, 3, 4, 4)), "has type float64; the input takes tensor(float)"),
        (np.ones((2, 3, 4), np.float32), "has shape [2, 3, 4]; the input takes ['batch', 3, 4, 4]"),
        (np.ones((2, 1, 4, 4), np.float32), "has shape [2, 1, 4, 4]; the input takes"),
        (np.full((1, 3, 4, 4), np.nan, np.float32), "holds a NaN"),
        (np.array([{}] * 3, object), "is pickled Python, which is not read"),
    ],
)
def test_a_wrong_array_is_told_with_its_file(array: np.ndarray, said: str, tmp_path: Path) -> None:
    assert f"Sample 'a.npz', array 'image': it {said}" in problem(saved(tmp_path, image=array))


def test_a_missing_and_an_unknown_name_are_told(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", image=GOOD["image"])
    assert problem(tmp_path / "a.npz") == "Sample 'a.npz' has no array for input 'mask'."
    assert problem(saved(tmp_path, extra=np.ones(1))) == (
        "Sample 'a.npz', array 'extra': it is no input of the model, which takes 'image', 'mask'."
    )


def test_files_that_are_damaged_or_something_else_are_told(tmp_path: Path) -> None:
    file = tmp_path / "a.npz"
    file.write_bytes(pickle.dumps({"image": 1}))
    assert problem(file) == "Sample 'a.npz' is no .npz file."
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("image.npy", b"no header")
    assert "array 'image': it is no array that numpy wrote" in problem(file)
    np.save(tmp_path / "b.npy", GOOD["image"])
    whole = (tmp_path / "b.npy").read_bytes()
    (tmp_path / "b.npy").write_bytes(whole[:-9])
    assert "array 'image': it is damaged" in problem(tmp_path / "b.npy", IMAGE)


def test_links_and_pipes_are_not_followed(tmp_path: Path) -> None:
    target = saved(tmp_path)
    link = tmp_path / "link.npz"
    link.symlink_to(target)
    assert problem(link) == "Sample 'link.npz' is a link: put the file itself there."
    os.mkfifo(tmp_path / "pipe.npz")
    assert problem(tmp_path / "pipe.npz") == "Sample 'pipe.npz' is no regular file."


def test_a_header_that_claims_too_much_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a.npy"
    with file.open("wb") as stream:
        header = {"descr": "<f4", "fortran_order": False, "shape": (1 << 20, 3, 4 << 10, 4)}
        np.lib.format.write_array_header_1_0(stream, header)
    free = Input("image", "tensor(float)", (None, None, None, None))
    assert problem(file, free) == "Sample 'a.npy' takes 192 GiB; at most 1 GiB may."


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_whatever_happens_to_the_bytes_of_a_file_it_is_read_or_refused(
    save: Callable[..., None], tmp_path: Path
) -> None:
    file = tmp_path / "a.npz"
    save(file, **GOOD)
    whole = file.read_bytes()
    generator = np.random.default_rng(0)
    refused = 0
    for _ in range(400):
        changed = bytearray(whole[: generator.integers(1, len(whole) + 1)])
        for place in generator.integers(0, len(changed), generator.integers(0, 4)):
            changed[place] = generator.integers(0, 256)
        file.write_bytes(changed)
        try:
            SampleFiles([file], (IMAGE, MASK)).read(0)
        except SampleError:
            refused += 1
    assert refused > 300


def test_text_is_read_without_pickles(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array(["one", "two"]))
    read = SampleFiles([tmp_path / "a.npy"], [Input("words", "tensor(string)", (None,))]).read(0)
    assert read["words"].dtype == np.object_
    assert read["words"].tolist() == ["one", "two"]
