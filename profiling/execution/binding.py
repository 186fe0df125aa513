"""Inputs and outputs at fixed addresses, as a captured graph needs them. Only in a worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from optimizer.verify.values import Array, bits_of, needs_values, onnx_number
from profiling.execution.session import SessionError, refusal


class BoundRun:
    """A session with its inputs and outputs in buffers that stay where they are.

    Args:
        session: an `onnxruntime.InferenceSession`.
        inputs: by name; others than the session's are passed over.
        outputs: arrays of the right type and shape.
        device: `cpu`, or such as `cuda:0`.
        graph_id: of the captured graph for these shapes, from 1 on; None says nothing about it.

    Raises:
        SessionError: an output has no known size.
    """

    def __init__(
        self,
        session: Any,
        inputs: Mapping[str, Array],
        outputs: Mapping[str, Array],
        *,
        device: str,
        graph_id: int | None = None,
    ) -> None:
        self._session = session
        self._binding = session.io_binding()
        self._options = _run_options(graph_id)
        self._buffers: dict[str, Any] = {}
        self._outputs = [item.name for item in session.get_outputs()]
        self._device = device.partition(":")[0]
        self._fills: list[tuple[Any, Array]] = []
        for item in session.get_inputs():
            if item.name in inputs:
                array = inputs[item.name]
                self._buffers[item.name] = _buffer(array, device)
                self._binding.bind_ortvalue_input(item.name, self._buffers[item.name])
                self._fills.append((self._buffers[item.name], _plain(array)))
        for name in self._outputs:
            if name not in outputs:
                raise SessionError(f"Output '{name}' has no known size to reserve on {device}.")
            self._buffers[name] = _buffer(outputs[name], device)
            self._binding.bind_ortvalue_output(name, self._buffers[name])
        self.fill()

    def __call__(self) -> None:
        """Run once, and wait until the outputs are there.

        Raises:
            SessionError: the runtime refuses, as for what cannot be captured.
        """
        try:
            self._session.run_with_iobinding(self._binding, self._options)
            self._binding.synchronize_outputs()
        except Exception as error:  # the runtime has a dozen classes for this
            raise refusal(error, device=self._device) from error

    def fill(self) -> None:
        """Copy the inputs that were given to where they are read."""
        for buffer, values in self._fills:
            buffer.update_inplace(values)

    def update(self, name: str, array: Array) -> None:
        """Put other numbers where an input is; its address stays."""
        self._buffers[name].update_inplace(_plain(array))

    def output(self, name: str) -> Array:
        """What is at an output now."""
        return self._buffers[name].numpy()

    def results(self) -> list[Any]:
        """All outputs on the host: arrays, and values whose type numpy lacks.

        Raises:
            SessionError: such a value lies on another device.
        """
        return [_on_host(self._buffers[name]) for name in self._outputs]

    def addresses(self) -> dict[str, int]:
        """Where each input and output is."""
        return {name: int(buffer.data_ptr()) for name, buffer in self._buffers.items()}


def latency_ms(run: Callable[[], object], clock: Callable[[], int]) -> float:
    """Milliseconds of one call by a clock in nanoseconds."""
    started = clock()
    run()
    return (clock() - started) / 1e6


def _run_options(graph_id: int | None) -> Any:
    import onnxruntime

    ort: Any = onnxruntime
    options = ort.RunOptions()
    if graph_id is not None:
        options.add_run_config_entry("gpu_graph_id", str(graph_id))
    return options


def _plain(array: Array) -> Array:
    return bits_of(array) if onnx_number(array.dtype) else array


def _buffer(like: Array, device: str) -> Any:
    """Room for an array of this type and shape on the device."""
    import onnxruntime

    make: Any = onnxruntime.OrtValue
    kind, _, number = device.partition(":")
    element = onnx_number(like.dtype) or like.dtype.type
    return make.ortvalue_from_shape_and_type(list(like.shape), element, kind, int(number or 0))


def _on_host(buffer: Any) -> Any:
    """The buffer's array; a value whose type numpy lacks as it is, if it lies on the host."""
    if not needs_values([buffer.data_type()]):
        return buffer.numpy()
    if buffer.device_name() == "cpu":
        return buffer
    raise SessionError(
        f"Outputs of type {buffer.data_type()} cannot be copied from the device; "
        "race with transfers, or cast the output to float."
    )
