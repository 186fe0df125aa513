"""The benchmark's networks: the exported file computes what PyTorch computes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import gpu, gpu_table
from profiling.records.bundle import open_bundle

pytest.importorskip("torch", reason="PyTorch is not installed")


@pytest.mark.parametrize("name", list(gpu_table.TITLES))
@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_the_file_and_the_module_agree(name: str, precision: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.gpu_torch", "export", name, str(tmp_path)]
    subprocess.run([*command, "--small"], check=True, capture_output=True)
    checked = subprocess.run(
        [sys.executable, "-c", CHECK, name, str(tmp_path / f"{precision}.onnx")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert np.fromstring(checked.stdout, sep=" ").max() < (1e-4 if precision == "float32" else 3e-2)


@pytest.mark.slow
def test_a_rehearsal_on_the_cpu_measures_all_that_needs_no_gpu(tmp_path: Path) -> None:
    arguments = ["--device", "cpu", "--small", "--networks", "gpt2", "--seconds", "1"]
    assert gpu.main([*arguments, "--out", str(tmp_path)]) == 0
    (found,) = open_bundle(tmp_path / "gpu.passlens")
    missing = {row["column"] for row in found.payload["rows"] if row["p50_ms"] is None}
    assert missing <= {"+ CUDA Graph", "+ kernel options", "torch.compile", "torch.compile float16"}
    assert found.payload["ideals"]["gpt2"]["float32_ms"] > 0


CHECK = """
import sys
import numpy as np, onnxruntime, torch
from benchmarks.networks import network
declared = network(sys.argv[1], small=True)
inputs = declared.inputs()
with torch.inference_mode():
    wanted = declared.build()(*inputs.values())
session = onnxruntime.InferenceSession(sys.argv[2], providers=["CPUExecutionProvider"])
found = session.run(list(declared.outputs), {name: x.numpy() for name, x in inputs.items()})
for a, b in zip(wanted if isinstance(wanted, tuple) else (wanted,), found, strict=True):
    print(np.abs(a.numpy() - b).max() / np.abs(a.numpy()).max())
"""
