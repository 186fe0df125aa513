"""Writes `kernels.json`: which operators the installed runtime has kernels for, on CUDA and CPU.

    python -m benchmarks.read_kernels

The runtime is asked itself (`get_all_opkernel_def`), in a process where CUDA's libraries are blank,
so neither a GPU nor CUDA is needed; gcc is. Run it when the runtime's version changes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.blank_libraries import build
from profiling.cuda.kernel_table import FILE

_PROVIDERS = {"CUDAExecutionProvider": "cuda", "CPUExecutionProvider": "cpu"}
_DOMAINS = ("", "com.microsoft", "ai.onnx.ml")
_ROOT = Path(__file__).parents[1]
_OPEN_END = 2**31 - 1
_Rows = dict[str, list[list[Any]]]


def main() -> None:
    """Read the kernels in a process of their own and write the table."""
    document = read()
    FILE.write_text(_text(document))
    print(f"{FILE.name}: {document['runtime']}")


def read() -> dict[str, Any]:
    """The table of the installed runtime, see `kernel_table` for its form.

    Raises:
        CannotBuild: there is no compiler or no runtime with CUDA.
    """
    with tempfile.TemporaryDirectory(prefix="passlens-blank-") as folder:
        build(Path(folder))
        command = [sys.executable, "-c", f"from {__spec__.name} import dump; dump()"]
        environment = {**os.environ, "LD_LIBRARY_PATH": folder}
        done = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
            cwd=_ROOT,
        )
    return json.loads(done.stdout.splitlines()[-1])


def dump() -> None:
    """Print the table as one line of JSON. Only where CUDA's libraries are blank."""
    import onnxruntime.capi.onnxruntime_pybind11_state as runtime

    native: Any = runtime
    schemas = {(s.domain, s.name, s.since_version): s for s in native.get_all_operator_schema()}
    types: list[str] = []
    tables: dict[str, _Rows] = {name: {} for name in _PROVIDERS.values()}
    for kernel in native.get_all_opkernel_def():
        provider = _PROVIDERS.get(kernel.provider)
        if provider is None or kernel.domain not in _DOMAINS:
            continue
        first, last = kernel.version_range
        versions = [v for d, n, v in schemas if (d, n) == (kernel.domain, kernel.op_name)]
        since = max((v for v in versions if v <= first), default=first)
        schema = schemas.get((kernel.domain, kernel.op_name, since))
        masks = _masks(kernel.type_constraints, schema, types)
        name = f"{kernel.domain}:{kernel.op_name}" if kernel.domain else kernel.op_name
        row = [first, 0 if last == _OPEN_END else last, masks]
        _add(tables[provider].setdefault(name, []), row)
    version = metadata.version("onnxruntime-gpu")
    print(json.dumps({"runtime": f"onnxruntime-gpu {version}", "types": types, **tables}))


def _masks(constraints: Mapping[str, list[str]], schema: Any, types: list[str]) -> dict[str, int]:
    """Argument ("i0": the first input, "o0": the first output) -> bits of the allowed types."""
    found: dict[str, int] = {}
    for name, allowed in constraints.items():
        argument = _argument(schema, name)
        if argument is None:
            continue
        types.extend(kind for kind in sorted(allowed) if kind not in types)
        found[argument] = sum(1 << types.index(kind) for kind in set(allowed))
    return found


def _argument(schema: Any, constraint: str) -> str | None:
    """The first input, else output, that the constraint is about."""
    for side, arguments in () if schema is None else (("i", schema.inputs), ("o", schema.outputs)):
        for index, formal in enumerate(arguments):
            if constraint in (formal.typeStr, formal.name):
                return f"{side}{index}"
    return None


def _add(rows: list[list[Any]], row: list[Any]) -> None:
    """Join kernels that differ in one argument's type: the runtime registers each by itself."""
    for known in rows:
        if known[:2] != row[:2] or known[2].keys() != row[2].keys():
            continue
        different = [key for key in row[2] if known[2][key] != row[2][key]]
        if len(different) <= 1:
            for key in different:
                known[2][key] |= row[2][key]
            return
    rows.append(row)


def _text(document: Mapping[str, Any]) -> str:
    """One line an operator, sorted: differences between versions can be read."""
    parts = [
        f'"runtime":{json.dumps(document["runtime"])}',
        f'"types":{json.dumps(document["types"])}',
    ]
    for provider in _PROVIDERS.values():
        rows = document[provider]
        lines = ",\n".join(
            f"{json.dumps(name)}:{json.dumps(sorted(rows[name], key=str), separators=(',', ':'))}"
            for name in sorted(rows)
        )
        parts.append(f'"{provider}":{{\n{lines}}}')
    return "{" + ",\n".join(parts) + "}\n"


if __name__ == "__main__":
    main()
