"""What giant models cost: processor time, wall clock and memory of every command on them.

    python -m benchmarks.giant [--bert FILE] [--large FILE] [--folder FOLDER] [--write FILE]

The Llama-7B-shaped file (`benchmarks.giant_model`) has 13.5 GB and takes some megabytes of disk.
`--bert` is a BERT-base in one file with its weights, `--large` a file with 100,000 nodes; both are
left out where they are not given. Memory is that of the whole tree of processes, looked at every
20 ms: the largest resident set of any process (the kernel's own high-water mark) and the most that
all had at once, shared pages counted once (PSS). Processor time is of the whole tree, too.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.giant_model import write_giant
from benchmarks.machine import describe
from optimizer.limits import MIB

COMMAND = [sys.executable, "-c", "from studio.cli import main; raise SystemExit(main())"]
LOOK_S = 0.02


@dataclass(frozen=True, slots=True)
class Cost:
    """What one command took.

    Attributes:
        status: its exit status.
        wall_s: wall clock.
        cpu_s: user and system time of all processes.
        peak_mib: the largest resident set of any process.
        together_mib: the most that all processes had in memory at once.
    """

    status: int
    wall_s: float
    cpu_s: float
    peak_mib: float
    together_mib: float


def cost_of(words: Sequence[str | Path]) -> Cost:
    """Run a passlens command and watch it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    process = subprocess.Popen(
        [*COMMAND, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    watch = _Watch(process.pid)
    watch.start()
    _, said = process.communicate()
    wall = time.perf_counter() - began
    watch.stop()
    print(*words, f"\n  {said.strip()}", file=sys.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(process.returncode, wall, cpu, watch.peak / MIB, watch.together / MIB)


class _Watch(threading.Thread):
    """Looks at the memory of a tree of processes until it is stopped."""

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self._root, self._stopped = root, threading.Event()
        self.peak = self.together = 0

    def run(self) -> None:
        while not self._stopped.wait(LOOK_S):
            pids = list(_tree(self._root))
            self.peak = max(self.peak, *(_kib(pid, "status", "VmHWM") for pid in pids), 0)
            self.together = max(
                self.together, sum(_kib(pid, "smaps_rollup", "Pss") for pid in pids)
            )

    def stop(self) -> None:
        self._stopped.set()
        self.join()


def _tree(pid: int) -> Iterator[int]:
    """A process and all below it."""
    yield pid
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _tree(int(child))


def _kib(pid: int, file: str, field: str) -> int:
    """A field of /proc in bytes; 0 of a process that is gone."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/{file}").read_text().splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) * 1024
    return 0


def rows(folder: Path, bert: Path | None, large: Path | None) -> Iterator[str]:
    """The table, line by line, as each command ends."""
    yield "| model | command | status | wall s | CPU s | largest process MiB | together MiB |"
    yield "|---|---|--:|--:|--:|--:|--:|"
    giant = write_giant(folder / "giant.onnx")
    out, trace = folder / "out.onnx", folder / "run.trace"
    yield _row("Llama-7B shape", "inspect", ["inspect", giant])
    optimize: list[str | Path] = ["optimize", giant, "-o", out]
    yield _row("Llama-7B shape", "optimize", optimize)
    yield _row("Llama-7B shape", "optimize, trace", [*optimize, "--trace", trace])
    words: list[str | Path] = ["replay", trace, "--step", "0", "-o", folder / "first.onnx"]
    yield _row("Llama-7B shape", "replay", words)
    yield _row("Llama-7B shape", "optimize, copy", [*optimize, "--external", "copy"])
    (folder / "out.onnx.data").unlink()
    for name, path in (("BERT-base, one file", bert), ("100,000 nodes", large)):
        if path is not None:
            yield _row(name, "inspect", ["inspect", path])
            optimize = ["optimize", path, "-o", out]
            yield _row(name, "optimize, not verified", [*optimize, "--no-verify"])
            if path is bert:
                yield _row(name, "optimize", optimize)
                words = [*optimize, "--no-verify", "--trace", trace]
                yield _row(name, "optimize, trace", words)


def _row(model: str, command: str, words: Sequence[str | Path]) -> str:
    cost = cost_of(words)
    numbers = f"{cost.wall_s:.1f} | {cost.cpu_s:.1f} | {cost.peak_mib:.0f}"
    return f"| {model} | {command} | {cost.status} | {numbers} | {cost.together_mib:.0f} |"


def main() -> None:
    """Measure and print, or write to a file."""
    parser = argparse.ArgumentParser(description="What giant models cost.")
    parser.add_argument("--bert", type=Path)
    parser.add_argument("--large", type=Path)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="giant-"))
    folder.mkdir(exist_ok=True)
    machine = describe("passlens", "onnx", "onnx-ir", "onnxruntime-gpu")
    head = f"{machine}; load {os.getloadavg()[0]:.1f}"
    lines = [head, ""]
    try:
        for line in rows(folder, arguments.bert, arguments.large):
            print(line, flush=True)
            lines.append(line)
    finally:
        if arguments.folder is None:
            shutil.rmtree(folder)
    if arguments.write is not None:
        arguments.write.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
