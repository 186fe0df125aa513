"""Random networks by NNSmith, a file a seed.

`python -m benchmarks.fuzz.nnsmith_models FOLDER FIRST COUNT`, a process of its own, which the
harness starts: NNSmith seeds random numbers for the whole process,
and its operators are those that ONNX Runtime has kernels for, tried one by one when it first runs
(a minute) and remembered in `XDG_CACHE_HOME`. A network that the exporter does not write is left
out, with its reason on standard error.

Source: Liu et al., NNSmith: Generating Diverse and Valid Test Cases for Deep Learning Compilers,
ASPLOS 2023.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

import onnx
import torch
from nnsmith.abstract.extension import activate_ext
from nnsmith.backends.factory import BackendFactory
from nnsmith.graph_gen import model_gen
from nnsmith.materialize import Model
from nnsmith.narrow_spec import auto_opset

NODES = 10
TENSOR_ELEMENTS = 4096


def generate(folder: Path, first: int, count: int) -> None:
    """Write `SEED.onnx` for each seed, those that are there already left alone."""
    _as_nnsmith_knows_them()
    kind = Model.init("onnx", backend_target="cpu")
    kind.add_seed_setter()
    runtime = BackendFactory.init("onnxruntime", target="cpu", optmax=False)
    operators = auto_opset(kind, runtime)
    activate_ext(opset=operators, factory=runtime)
    for seed in range(first, first + count):
        path = folder / f"{seed}.onnx"
        if path.exists():
            continue
        try:
            data = _network(kind, operators, seed)
        except Exception as error:  # whatever an exporter raises
            print(f"{seed}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
            continue
        partly = path.with_suffix(".part")
        partly.write_bytes(data)
        partly.rename(path)


def _as_nnsmith_knows_them() -> None:
    """What NNSmith 0.1.0 calls, under the names of its day: without, every operator would fail."""
    torch.onnx.export = partial(torch.onnx.export, dynamo=False)
    onnx._serialize = onnx.ModelProto.SerializeToString


def _network(kind: type, operators: list[type], seed: int) -> bytes:
    """One network of about `NODES` operators."""
    grown = model_gen(
        opset=operators,
        method="symbolic-cinit",
        seed=seed,
        max_nodes=NODES,
        max_elem_per_tensor=TENSOR_ELEMENTS,
        timeout_ms=10_000,
    )
    model = kind.from_gir(grown.make_concrete())
    model.refine_weights()
    onnx.checker.check_model(model.native_model, full_check=True)
    return model.native_model.SerializeToString()


if __name__ == "__main__":
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    generate(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
