"""From the loops of a kernel to a library that ONNX Runtime loads.

    Algorithm + Schedule ─ generator (halide, c) ─▶ object files ─ shim, compiler ─▶ library

kernel ─ what a kernel is before it is compiled, levels of processors, errors
c_source · c_expressions · c_sizes ─ an algorithm as plain loops in C
halide_object ─ an algorithm in the order of a schedule, compiled by Halide; its loops as text
halide_pipeline · _scalars · _math · _reductions ─ an algorithm as Halide's Funcs, NaN kept
halide_schedule ─ a schedule's primitives as Halide's directives
triton_source · _expressions ─ an algorithm as Triton kernels, in a default order for GPUs
triton_candidate ─ those compiled without a GPU, and interpreted to be checked
compiler ─ the C compiler there is: `cc`, or the one that comes with `ziglang`
kernel_table ─ what the shim must know of the kernels of a library, as C
objects · library ─ kernels compiled and linked
levels ─ which variant this machine's processor takes
store ─ the libraries of models, kept by content in the cache folder
shim/ ─ custom operators of ONNX Runtime, in C: checks, shapes, threads, the processor's level

Compilers are native code: only in worker processes.
"""
