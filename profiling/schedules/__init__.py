"""Schedules compiled, run, counted and timed by Halide.

running ─ an algorithm in the order of a schedule, compiled in memory and run
effects ─ what a change of a schedule does: both run in turns
counting ─ the same, with every load and store written down
code ─ the code of a schedule as Halide's statements, C++, LLVM's instructions and assembly
linked ─ all of these at once, each line with the loops that it comes from

Halide is native code, and a schedule may ask for anything: only in worker processes, with limits.
"""
