"""ONNX Runtime as the judge: one thread, none of its own optimizations. Only in a worker process.

The runtime must not improve either side: what is compared is what the files say.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from optimizer.errors import RunError
from optimizer.isolation import scratch_folder
from optimizer.model.outline import outlined_file
from optimizer.verify.feeds import DTYPES, Array, Input
from optimizer.verify.values import array_of, needs_values, value_of

MAX_OUTPUT_BYTES = 2 << 30
_MAX_MESSAGE = 240
_NO_PREPACKING = "session.disable_prepacking"
_FOLDER_OF_DATA = "session.model_external_initializers_file_folder_path"
_MEMORY_TEXTS = ("allocate", "bad_alloc", "bad allocation")

_file_numbers = itertools.count()


class NotRunnable(RunError):
    """The runtime refused the model or the inputs; the message is its own."""


@dataclass(frozen=True, slots=True)
class Interface:
    """What a model takes and gives, in order."""

    inputs: tuple[Input, ...]
    outputs: tuple[Input, ...]


def as_file(model: bytes | Path) -> Path:
    """The model as a file: bytes are written into the job's own folder, or a temporary one."""
    if isinstance(model, Path):
        return model
    path = scratch_folder() / f"model-{next(_file_numbers)}.onnx"
    path.write_bytes(model)
    return path


class Session:
    """One model, ready to run.

    Args:
        path: the model's file.
        frugal: keep little memory: what a node needs is made right before it, as far as the file's
            order allows (weights that the file itself transposes, above all), and no arena holds on
            to what is free.

    Raises:
        NotRunnable: the runtime refuses the model.
    """

    def __init__(self, path: Path, *, frugal: bool = False) -> None:
        import onnxruntime

        ort: Any = onnxruntime
        ort.set_default_logger_severity(4)
        options = _options()
        if frugal:
            options.execution_order = ort.ExecutionOrder.PRIORITY_BASED
            options.enable_cpu_mem_arena = options.enable_mem_pattern = False
        with _refusals():
            self._session: Any = ort.InferenceSession(
                _mapped(path, options),
                options,
                providers=["CPUExecutionProvider"],
                enable_fallback=0,
            )
        self.interface = Interface(
            tuple(_input(item) for item in self._session.get_inputs()),
            tuple(_input(item) for item in self._session.get_outputs()),
        )

    def run(
        self, feeds: Mapping[str, Array], wanted: Sequence[str] | None = None
    ) -> dict[str, Array]:
        """Outputs by name, all or those wanted.

        Raises:
            NotRunnable: the runtime refuses the inputs or fails on them.
        """
        names = wanted or [item.name for item in self.interface.outputs]
        types = {item.type for item in (*self.interface.inputs, *self.interface.outputs)}
        with _refusals():
            outputs: Sequence[object] = (
                self._run_on_values(names, feeds)
                if needs_values(types)
                else self._session.run(names, dict(feeds))
            )
        arrays: dict[str, Array] = {}
        for name, output in zip(names, outputs, strict=True):
            if not isinstance(output, np.ndarray):
                raise NotRunnable(f"Output '{name}' is no tensor; such outputs are not compared.")
            arrays[name] = output
        if sum(array.nbytes for array in arrays.values()) > MAX_OUTPUT_BYTES:
            raise NotRunnable("The outputs take more than 2 GiB; bind smaller sizes.")
        return arrays

    def _run_on_values(self, names: Sequence[str], feeds: Mapping[str, Array]) -> list[Array]:
        values = {name: value_of(array) for name, array in feeds.items()}
        return [array_of(value) for value in self._session.run_with_ort_values(names, values)]


def unsupported_inputs(interface: Interface) -> str:
    """Why no random feed can be made for these inputs; empty if one can."""
    for item in interface.inputs:
        if item.type not in DTYPES:
            return f"input '{item.name}' has type {item.type}, which cannot be fed"
    return ""


def _options() -> Any:  # the runtime's classes have no types
    import onnxruntime

    ort: Any = onnxruntime
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.use_deterministic_compute = True
    # Weights that are laid out anew for the kernels give other bits, and take their memory again.
    options.add_session_config_entry(_NO_PREPACKING, "1")
    for pool in ("intra_op", "inter_op"):
        options.add_session_config_entry(f"session.{pool}.allow_spinning", "0")
    return options


def _mapped(path: Path, options: Any) -> bytes | str:
    """What the runtime reads: of a large file its structure, the weights mapped where they are.

    Given the file, the runtime holds all weights three times for a while. A link is followed here:
    the runtime refuses data that lies elsewhere than the link.
    """
    file = path.resolve()
    data = outlined_file(file)
    if data is None:
        return str(path)
    options.add_session_config_entry(_FOLDER_OF_DATA, str(file.parent))
    return data


def _input(item: Any) -> Input:
    return Input(item.name, item.type, tuple(item.shape or ()))


@contextlib.contextmanager
def _refusals() -> Generator[None]:
    """Whatever the runtime raises, as `NotRunnable`."""
    try:
        yield
    except RunError:
        raise
    except Exception as error:
        text = " ".join(str(error).split())
        if any(part in text.lower() for part in _MEMORY_TEXTS):
            raise MemoryError from error
        raise NotRunnable(text[:_MAX_MESSAGE]) from error
