"""The versions a model declares: its file format and its operator sets."""

from __future__ import annotations

from collections.abc import Iterable

import onnx
from onnx import ModelProto, OperatorSetIdProto, TensorProto

from optimizer.errors import InvalidGraph, Unsupported, quoted
from optimizer.model.report import Findings
from optimizer.model.signatures import (
    OLDEST_SUPPORTED_OPSET,
    RUNTIME_IR_VERSION,
    RUNTIME_OPSETS,
    newest_opset,
)

TYPED_ATTRIBUTES_SINCE = 2
OPSETS_SINCE = 3
FREE_INITIALIZERS_SINCE = 4
_NEW_IN_14 = frozenset(
    value for name, value in TensorProto.DataType.items() if name.startswith("FLOAT6")
)


def check_versions(proto: ModelProto, report: Findings) -> dict[str, int]:
    """Check and repair the declared versions.

    Returns: the version of every imported operator set, by domain.
    """
    if proto.ir_version < OPSETS_SINCE and not proto.opset_import:
        proto.opset_import.add(domain="", version=1)
        report.note("model", "It is older than operator sets; its operators were read as opset 1.")
    versions = imported(proto.opset_import, "model", report)
    if len(versions) < len(proto.opset_import):
        del proto.opset_import[:]
        for domain, version in versions.items():
            proto.opset_import.add(domain=domain, version=version)
    opset = versions.get("", 0)
    _check_ir_version(proto, opset, report)
    for domain, version in versions.items():
        _check_runtime(domain, version, report)
    if 0 < opset < OLDEST_SUPPORTED_OPSET:
        report.warning(
            "model",
            f"Opset {opset} is older than the oldest that ONNX Runtime supports "
            f"({OLDEST_SUPPORTED_OPSET}); some operators may not run.",
            remedy="Export the model again, to a newer opset.",
        )
    return versions


def imported(imports: Iterable[OperatorSetIdProto], where: str, report: Findings) -> dict[str, int]:
    """The operator sets in `imports`, by domain; what cannot be is reported."""
    versions: dict[str, int] = {}
    for entry in imports:
        domain, version = entry.domain, entry.version
        name = domain or "ai.onnx"
        if version < 1:
            message = f"Version {version} of the operator set {quoted(name)} does not exist."
            report.error(InvalidGraph, where, message)
        elif domain == "" and version > newest_opset():
            report.error(
                Unsupported,
                where,
                f"Opset {version} is newer than any known here (newest {newest_opset()}).",
                remedy="Export the model again, to an older opset.",
            )
        if versions.get(domain, version) != version:
            message = f"The operator set {quoted(name)} is imported twice; the newer one counts."
            report.note(where, message)
        versions[domain] = max(version, versions.get(domain, version))
    return versions


def _check_ir_version(proto: ModelProto, opset: int, report: Findings) -> None:
    version = proto.ir_version
    if version > onnx.IR_VERSION:
        report.warning(
            "model",
            f"IR version {version} is newer than any known here (newest {onnx.IR_VERSION}).",
            remedy="Export the model again, with an older version of onnx.",
            blocks=("optimizable", "runnable"),
        )
    elif version > RUNTIME_IR_VERSION:
        if opset <= RUNTIME_OPSETS[""] and not _uses_newest_types(proto):
            proto.ir_version = RUNTIME_IR_VERSION
            message = f"IR version {version} was lowered to {RUNTIME_IR_VERSION}; nothing needs it."
            report.note("model", message)
        else:
            report.warning(
                "model",
                f"ONNX Runtime opens IR version {RUNTIME_IR_VERSION} at most, this is {version}.",
                remedy="Export the model again, with an older version of onnx.",
                blocks=("runnable",),
            )
    elif version < 1:
        report.note("model", "It does not say its IR version; version 3 was assumed.")
        proto.ir_version = OPSETS_SINCE


def _uses_newest_types(proto: ModelProto) -> bool:
    graph = proto.graph
    declared = (info.type.tensor_type.elem_type for info in (*graph.input, *graph.output))
    return not _NEW_IN_14.isdisjoint(
        {*(tensor.data_type for tensor in graph.initializer), *declared}
    )


def _check_runtime(domain: str, version: int, report: Findings) -> None:
    newest = RUNTIME_OPSETS.get(domain, version)
    if version > newest:
        report.warning(
            "model",
            f"ONNX Runtime knows version {newest} of the operator set "
            f"{quoted(domain or 'ai.onnx')} at most, this is {version}.",
            remedy="The model can be viewed and optimized; to run it, export an older opset.",
            blocks=("runnable",),
        )
