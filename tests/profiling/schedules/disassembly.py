"""Instructions counted by another way than LLVM's text: in the object file, by objdump."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule
from profiling.codegen.halide_object import compile_object
from profiling.codegen.kernel import CpuLevel

_FUNCTION = re.compile(r"[0-9a-f]+ <(\w+)>:")
_LINE = re.compile(r"\s+[0-9a-f]+:\t(\S+)\s*(.*)")
_WRITES = ("mov", "vmov", "vextract")


def disassembled(
    algorithm: Algorithm, schedule: Schedule, level: CpuLevel
) -> dict[str, Counter[str]]:
    """By function, how many instructions use which vectors, and how many the stack."""
    with tempfile.TemporaryDirectory() as folder:
        path = compile_object(algorithm, schedule, "kernel", level, Path(folder))
        text = subprocess.run(
            [shutil.which("objdump") or "objdump", "-d", "--no-show-raw-insn", str(path)],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
    found: dict[str, Counter[str]] = {}
    counts: Counter[str] = Counter()
    for line in text.splitlines():
        if match := _FUNCTION.match(line):
            counts = found.setdefault(match[1], Counter())
        elif match := _LINE.match(line):
            counts.update(_kinds(match[1], match[2]))
    return {one: found[one] for one in found if one == "kernel" or "_par_for_" in one}


def _kinds(name: str, operands: str) -> list[str]:
    if re.search("nop|^xchg %ax,%ax", f"{name} {operands}"):
        return []
    kinds = ["instructions"]
    sizes = re.findall(r"%([xyz])mm", operands)
    if sizes:
        single = re.search(r"[^s]s[sd]$|^vmov[dq]$|cvt.*s[sdi]2", name) and "broadcast" not in name
        kinds.append("scalar" if single else f"{max(sizes)}mm")
    kinds += ["fma"] if re.match(r"vfn?m(add|sub)", name) else []
    kinds += ["gather"] if "gather" in name else []
    kinds += ["calls"] if name.startswith("call") else []
    if "(%rsp" in operands and name not in ("lea", "push", "pop"):
        written = operands.endswith("(%rsp)") and name.startswith(_WRITES)
        kinds.append("stack writes" if written else "stack reads")
    return kinds
