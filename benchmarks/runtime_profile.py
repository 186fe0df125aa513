"""Which operators does the installed ONNX Runtime have on a CPU, and for which types?

    python -m benchmarks.runtime_profile [--write]

Asks the runtime itself, in a worker process: for every operator of ONNX, as it is in the newest
operator set the runtime takes, and for every operator of its own, a model of one node for each
element type of the first output. A session is made of it; "could not find an implementation" is a
no, any fault of the node's made-up attributes a yes, since only a kernel finds that. With `--write`
the answers are `optimizer/hardware/profiles/onnxruntime-cpu.toml`. (The runtime's list of kernels,
`get_all_opkernel_def`, ends the process where a GPU provider does not load.)
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from onnx import TensorProto, defs, helper

from benchmarks.machine import describe
from optimizer.errors import RunError
from optimizer.hardware.reading import FOLDER
from optimizer.limits import JobLimits
from optimizer.model.signatures import RUNTIME_OPSETS
from profiling.workers import default_pool

KINDS = (
    "float", "float16", "bfloat16", "double", "int8", "uint8", "int16", "uint16", "int32", "uint32",
    "int64", "uint64", "bool", "string",
)  # fmt: skip
PREFERRED = ("tensor(float)", "tensor(int64)", "tensor(bool)")
OWN = "com.microsoft"
NO_KERNEL = ("NOT_IMPLEMENTED", "Could not find an implementation")
TYPED = {"EyeLike", "Multinomial", "RandomNormal", "RandomUniform"}
TYPED_BY_LAST_INPUT = {"QuantizeLinear"}
"""Its zero point, which may be left out, says which type is made."""
WHEREVER = (
    "Bernoulli", "Cast", "CastLike", "ConcatFromSequence", "Constant", "GlobalLpPool", "If", "Loop",
    "MaxRoiPool", "Multinomial", "Optional", "RandomNormal", "RandomNormalLike", "RandomUniform",
    "RandomUniformLike", "Range", "RoiAlign", "Scan", "SequenceAt", "SequenceConstruct",
    "SequenceEmpty", "SequenceErase", "SequenceInsert", "SequenceLength", "SequenceMap",
    "SimplifiedLayerNormalization", "SplitToSequence", f"{OWN}::EmbedLayerNormalization",
    f"{OWN}::QLinearLeakyRelu", f"{OWN}::QLinearSigmoid",
)  # fmt: skip
"""What a made-up node of tensors cannot ask for, and the runtime's documentation lists."""


def known() -> list[tuple[str, str]]:
    """Domains and names of all operators. Runs in a worker."""
    newest = RUNTIME_OPSETS[""]
    names = sorted({schema.name for schema in defs.get_all_schemas() if not schema.domain})
    own = sorted(schema.name for schema in _own_schemas())
    return [*(("", n) for n in names if _is_there(n, newest)), *((OWN, name) for name in own)]


def kinds_of(domain: str, name: str) -> list[str]:
    """Types that there is a kernel for. Runs in a worker."""
    import onnxruntime

    runtime: Any = onnxruntime
    runtime.set_default_logger_severity(4)
    if domain:
        schema = next(schema for schema in _own_schemas() if schema.name == name)
    else:
        schema = defs.get_schema(name, RUNTIME_OPSETS[""])
    return [kind for kind in KINDS if _has(runtime, schema, f"tensor({kind})")]


def asked() -> dict[str, list[str]]:
    """Operators and the types there is a kernel for, each in a job of its own: some crash."""
    from benchmarks import runtime_profile  # by its name, which a worker can import

    pool = default_pool()
    found: dict[str, list[str]] = {}
    for domain, name in pool(runtime_profile.known):
        try:
            kinds = pool(runtime_profile.kinds_of, domain, name, limits=JobLimits(seconds=60.0))
        except RunError:
            print(f"no answer: {name}", file=sys.stderr)
            continue
        if kinds:
            found[f"{domain}::{name}" if domain else name] = kinds
    return found


def _own_schemas() -> list[Any]:
    state: Any = importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    return [schema for schema in state.get_all_operator_schema() if schema.domain == OWN]


def _is_there(name: str, version: int) -> bool:
    try:
        return not defs.get_schema(name, version).deprecated
    except defs.SchemaError:
        return False


def _has(runtime: Any, schema: Any, kind: str) -> bool:
    """Whether a session can be made of a node whose first output is of this type."""
    model = _model(schema, kind)
    if model is None:
        return False
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the runtime has a dozen classes for this
        told = str(error)
        return "Exception during initialization" in told and not any(n in told for n in NO_KERNEL)
    return True


def _model(schema: Any, kind: str) -> bytes | None:
    """A model of the node; None where it cannot be of this type."""
    types = dict(_types(schema, kind))
    wanted = max(schema.min_input, sum("Single" in str(f.option) for f in schema.inputs))
    if schema.name in TYPED_BY_LAST_INPUT:
        wanted = len(schema.inputs)
    inputs = [_resolved(formal, types) for formal in schema.inputs[: max(wanted, 1)]]
    outputs = [_resolved(formal, types) for formal in schema.outputs[: max(schema.min_output, 1)]]
    if not outputs or outputs[0] != kind or any(not t.startswith("tensor(") for t in inputs):
        return None
    element = _element(kind)
    attributes = dict(_attributes(schema, element))
    node = helper.make_node(
        schema.name,
        [f"x{index}" for index in range(len(inputs))],
        [f"y{index}" for index in range(len(outputs))],
        domain=schema.domain,
        **attributes,
    )
    values = [
        helper.make_tensor_value_info(f"x{i}", _element(t), None) for i, t in enumerate(inputs)
    ]
    results = [
        helper.make_tensor_value_info(f"y{i}", _element(t), None) for i, t in enumerate(outputs)
    ]
    opsets = [helper.make_opsetid("", RUNTIME_OPSETS[""]), helper.make_opsetid(OWN, 1)]
    graph = helper.make_graph([node], "asked", values, results)
    return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


def _types(schema: Any, kind: str) -> Iterator[tuple[str, str]]:
    """What the type variables stand for: that of the first output for this type."""
    first = _variable(schema.outputs[0]) if schema.outputs else ""
    for constraint in schema.type_constraints:
        allowed = list(constraint.allowed_type_strs)
        likely = [kind, *PREFERRED] if constraint.type_param_str == first else [*PREFERRED, kind]
        yield constraint.type_param_str, next((t for t in likely if t in allowed), allowed[0])


def _variable(formal: Any) -> str:
    return formal.type_str if hasattr(formal, "type_str") else formal.typeStr


def _resolved(formal: Any, types: Mapping[str, str]) -> str:
    return types.get(_variable(formal), _variable(formal))


def _element(kind: str) -> int:
    return int(getattr(TensorProto, kind.removeprefix("tensor(").removesuffix(")").upper()))


def _attributes(schema: Any, element: int) -> Iterator[tuple[str, Any]]:
    """Something for every attribute that has to be there."""
    for name, attribute in schema.attributes.items():
        kind = str(attribute.type).upper()
        if attribute.required and name != "to":
            text = "ij->ij" if schema.name == "Einsum" else "x"
            plain = 1 if "INT" in kind else 1.0 if "FLOAT" in kind else text
            yield name, [plain] if kind.endswith("S") else plain
    if "to" in schema.attributes:
        yield "to", element
    if schema.name in TYPED:
        yield "dtype", element
    if schema.name == "ConstantOfShape" and element != TensorProto.STRING:
        yield "value", helper.make_tensor("value", element, [1], [1])
    if schema.name == "Split":
        yield "num_outputs", 1


def profile(found: Mapping[str, list[str]]) -> Iterator[str]:
    """The answers as a profile: an entry for the operators with the same types."""
    yield 'title = "ONNX Runtime on a CPU"'
    yield f'source = "Asked by benchmarks.runtime_profile: {describe("onnxruntime-gpu")}"'
    yield "# 16-bit floats include what the runtime computes in float32 between casts."
    yield f"opset = {RUNTIME_OPSETS['']}"
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, kinds in found.items():
        groups.setdefault(() if name in WHEREVER else tuple(kinds), []).append(name)
    groups.setdefault((), []).extend(name for name in WHEREVER if name not in found)
    for kinds, names in sorted(groups.items(), key=lambda group: -len(group[1])):
        yield from ("", "[[operators]]", 'names = """', *_lines(names), '"""')
        if kinds:
            yield f"types = [{', '.join(repr(kind).replace(chr(39), chr(34)) for kind in kinds)}]"


def _lines(names: list[str]) -> Iterator[str]:
    line = ""
    for name in sorted(names):
        if len(line) + len(name) > 95:
            yield line
            line = ""
        line = f"{line} {name}".strip()
    yield line


def main(arguments: list[str]) -> int:
    """Print the profile; with `--write`, keep it."""
    found = asked()
    text = "\n".join(profile(found)) + "\n"
    print(text)
    if "--write" in arguments:
        (FOLDER / "onnxruntime-cpu.toml").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
