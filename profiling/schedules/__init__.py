"""Schedules compiled, run, counted and timed by Halide.

running ─ an algorithm in the order of a schedule, compiled in memory and run
effects ─ what a change of a schedule does: both run in turns
counting ─ the same, with every load and store written down
code ─ the code of a schedule as Halide's statements, C++, LLVM's instructions and assembly
linked ─ all of these at once, each line with the loops that it comes from
linked_ptx ─ statements and PTX of a schedule for a GPU, linked in the same way
gpu_code ─ an algorithm by Triton: its programs, PTX, machine code
gpu_linked ─ all of these at once, each line with the lines of the source that it is from
autoschedulers ─ schedules that Halide's autoschedulers make, imported
replay ─ the machine code of an imported schedule against that of the autoscheduler's own
ptx ─ what of a kernel is compiled for a GPU

Halide is native code, and a schedule may ask for anything: only in worker processes, with limits.
"""
