"""What takes part in a run is told without reading what packages say of themselves."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from optimizer.versions import PACKAGES, versions


def test_versions_are_those_that_packages_say_themselves() -> None:
    installed: dict[str, str] = {}
    for package in PACKAGES:
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            continue
    told = versions()
    assert {"passlens", "onnx", "numpy"} <= {*told}
    assert {name: one for name, one in told.items() if name != "python"} == installed
