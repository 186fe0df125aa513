"""Generated kernels against what ONNX Runtime makes of the same operators.

implementations ─ who can compute a kernel: the runtime's own chain, code from Halide, code in C
own_schedules ─ schedules that somebody made, kept, and raced beside the default one
won_schedules ─ those that won, for the pass that writes kernels into models
node_regions ─ in which kernel the work of each node of a source ends, or why in none
tvm ─ code by Apache TVM, raced and never shipped
triton ─ code for GPUs, compiled and checked without one
edge_cases, checking ─ sizes and numbers at which code goes wrong; a wrong candidate is not timed
racing ─ the candidates of one kernel on the sizes of one model, interleaved
decisions ─ what won and what lost by how much, in the records: read again instead of raced again
settling ─ kernels in the whole network: one that does not pay there is taken back
"""
