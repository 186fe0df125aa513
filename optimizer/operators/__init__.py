"""What is known about each operator, said once: `catalogue` has them all by domain and name.

One file a group. A rule answers only what is certain; None stands for unknown, dimension by
dimension. Rules are pure: they see a `Call`. Source of all formulas: the operator specifications of
ONNX 1.23 (`docs/Operators.md`) and of ONNX Runtime's contrib operators. What ONNX Runtime does its
own way stands elsewhere: `optimizer/runtime`, `profiling/cuda/placement`,
`benchmarks/runtime_block`.
"""
