"""Schedules as Halide's autoschedulers write them, C++ text, read as primitives.

directives ─ the text as calls on Funcs, one after another
names ─ what the text calls Funcs and loops, and what they are called here
primitives ─ each call as the primitives that do the same
importing ─ all of a text as a schedule
"""
