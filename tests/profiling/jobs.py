"""What the tests run in workers: by name, hence in a module of its own."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper

from optimizer.errors import InvalidGraph, WorkerCrashed
from optimizer.findings import Finding
from optimizer.isolation import Progress
from profiling.workers import confinement
from profiling.workers.forks import beside, forked_map


def add(left: int, right: int) -> int:
    return left + right


def loaded(name: str) -> bool:
    return name in sys.modules


def whereabouts() -> tuple[int, int, str, list[str]]:
    """(process, process group, working folder, files in it)."""
    return os.getpid(), os.getpgid(0), os.getcwd(), os.listdir()  # noqa: PTH109, PTH208


def parent() -> int:
    return os.getppid()


def environment(name: str) -> str | None:
    return os.environ.get(name)


def main_module() -> str:
    return getattr(sys.modules["__main__"], "__file__", "none")


def has_another_main() -> bool:
    """Whether somebody else's main module was imported under multiprocessing's name for it."""
    return sys.modules.get("__mp_main__", sys.modules["__main__"]) is not sys.modules["__main__"]


def twice(data: bytes, array: NDArray[np.float32]) -> tuple[bytes, NDArray[np.float32]]:
    return data * 2, array * 2


def in_place(array: NDArray[np.float32]) -> NDArray[np.float32]:
    array += 1
    return array


def division_overflow_model() -> bytes:
    """The smallest file known to kill ONNX Runtime: INT_MIN / -1, both constant."""
    constants = [
        helper.make_tensor(name, TensorProto.INT32, [1], [value])
        for name, value in (("a", -(2**31)), ("b", -1))
    ]
    graph = helper.make_graph(
        [helper.make_node("Div", ["a", "b"], ["y"])],
        "g",
        [],
        [helper.make_tensor_value_info("y", TensorProto.INT32, [1])],
        constants,
    )
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    return model.SerializeToString()


def run_in_runtime(data: bytes, *, progress: Progress | None = None) -> None:
    import onnxruntime as ort

    if progress is not None:
        progress("creating the session", 0.1)
    ort.InferenceSession(data, providers=["CPUExecutionProvider"]).run(None, {})


def segfault() -> None:
    ctypes.string_at(1)


def abort_like_the_runtime_without_memory() -> None:
    os.write(2, b"terminate called after throwing an instance of 'std::bad_alloc'\n")
    os.abort()


def say_and_die(text: str) -> None:
    os.write(2, text.encode())
    os.kill(os.getpid(), signal.SIGBUS)


def leave(status: int) -> None:
    os._exit(status)


def spin() -> None:
    while True:
        pass


def sleep(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def nap_here(seconds: float) -> int:
    """The process that slept."""
    time.sleep(seconds)
    return os.getpid()


_collections: list[bool] = []


def collect_after(file: Path) -> None:
    """Let the next collection of all garbage wait for a file and note whether it came."""
    gc.disable()

    def wait_for_it(phase: str, about: Mapping[str, int]) -> None:
        if phase == "start" and about["generation"] == 2 and not _collections:
            deadline = time.monotonic() + 5
            while not file.exists() and time.monotonic() < deadline:
                time.sleep(0.01)
            _collections.append(file.exists())

    gc.callbacks.append(wait_for_it)


def collections() -> list[bool]:
    """Whether the file was there, by collection."""
    return _collections


def eat_memory() -> int:
    return sum(len(bytearray(64 << 20)) for _ in [bytearray(4096 << 20)])


def write_file(size_bytes: int) -> None:
    with Path("big").open("wb") as file:
        for _ in range(size_bytes // 4096):
            file.write(bytes(4096))


def core_limit() -> tuple[int, int]:
    import resource

    return resource.getrlimit(resource.RLIMIT_CORE)


def out_of_memory_score() -> int:
    return int(Path("/proc/self/oom_score_adj").read_text())


def leave_children(marker: str) -> int:
    """Children in the group, one of them detached into a session of its own."""
    code = "import time; time.sleep(600)"
    subprocess.Popen([sys.executable, "-c", code, marker])
    subprocess.Popen([sys.executable, "-c", code, marker], start_new_session=True)
    return os.getpid()


def spawn_and_spin(marker: str) -> None:
    leave_children(marker)
    spin()


def refuse() -> None:
    raise InvalidGraph("two things are wrong", findings=[Finding("error", "node 'a'", "bad")])


def break_contract() -> None:
    raise WorkerCrashed("It died.", signal_name="SIGFPE")


def bug() -> None:
    raise KeyError("nothing here")


def count(steps: int, *, progress: Progress | None = None) -> int:
    for step in range(steps):
        if progress is not None:
            progress(f"step {step}", step / steps)
    return steps


def report_and_spin(*, progress: Progress | None = None) -> None:
    if progress is not None:
        progress("turning in circles", 0.5)
    spin()


def unpicklable() -> object:
    return lambda: None


def name_a_function() -> object:
    return os.execv


_calls = 0


def calls_so_far() -> int:
    global _calls
    _calls += 1
    return _calls


def check(data: bytes) -> None:
    onnx.checker.check_model(onnx.load_from_string(data))


def hold_memory(size_bytes: int) -> None:
    held = bytearray(size_bytes)
    for offset in range(0, size_bytes, 4096):
        held[offset] = 1
    time.sleep(600)


_kept: list[bytes] = []


def keep_memory(size_bytes: int) -> int:
    """Hold on to memory from call to call, as a session does; bytes that are kept."""
    _kept.append(b"\1" * size_bytes)
    return sum(map(len, _kept))


def meeting() -> list[int]:
    """Processes that did two items, neither of which ends before the other one has begun."""
    pipes = [os.pipe(), os.pipe()]

    def meet(item: int) -> int:
        os.write(pipes[item][1], b"!")
        os.read(pipes[1 - item][0], 1)
        return os.getpid()

    return [*forked_map(meet, (0, 1), most=2), os.getpid()]


def squares(count: int, processes: int) -> tuple[list[int], list[int]]:
    """Of the numbers below `count`, by several processes; and the processes left afterwards."""
    return forked_map(_square, range(count), most=processes), confinement.children()


def _square(number: int) -> int:
    return number * number


def squares_by_forks_that_die(count: int) -> tuple[list[int], list[int]]:
    """The same, where every process but this one dies of its first item."""
    here = os.getpid()
    pipe = os.pipe()

    def square(number: int) -> int:
        if os.getpid() != here:
            os.write(pipe[1], b"!")
            os.kill(os.getpid(), signal.SIGKILL)
        os.read(pipe[0], 1)  # the fork has taken one
        os.write(pipe[1], b"!")
        return number * number

    return forked_map(square, range(count), most=2), confinement.children()


def reciprocals(numbers: Sequence[int]) -> tuple[str, list[int]]:
    """What is said of a number that has none, by whichever process it is met."""
    try:
        forked_map(lambda number: 1 / number, numbers, most=2)
    except ZeroDivisionError as error:
        return str(error), confinement.children()
    return "", confinement.children()


def squares_beside(count: int, told: int) -> tuple[list[int], list[int]]:
    """Squares of the numbers below `count` by a fork that is ended at the one after `told`."""
    pipe = os.pipe()

    def square(number: int) -> int:
        if number == told:
            os.write(pipe[1], b"!")
            signal.pause()
        return number * number

    with beside(square, range(count)) as asked:
        if told < count:
            os.read(pipe[0], 1)
        else:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        return asked.end(), confinement.children()


def beside_this(kind: str) -> tuple[list[bytes], list[int]]:
    """What a fork tells of three items, the second of which it may not get over."""

    def answer(number: int) -> bytes:
        if number == 1 and kind == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if number == 1 and kind == "raises":
            raise ValueError
        return bytes((1 << 20) + number)  # more than a pipe takes

    with beside(answer, range(3)) as asked:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        return asked.end(), confinement.children()


def beside_a_thread() -> list[int]:
    """What a process that has a thread is told by a fork beside it."""
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        with beside(_square, range(3)) as asked:
            return asked.end()
    finally:
        done.set()
        thread.join()


def processes_beside_a_thread() -> set[int]:
    """Processes that do the work of one that has a thread besides."""
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        return {pid - os.getpid() for pid in forked_map(_pid, range(100), most=4)}
    finally:
        done.set()
        thread.join()


def _pid(_: int) -> int:
    return os.getpid()
