"""The exact search: is there a plan within this capacity, and what is the smallest one?

The idea of placing buffers from the bottom up, section by section, is Moffitt's ("MiniMalloc: A
Lightweight Memory Allocator for Hardware-Accelerated Machine Learning", ASPLOS 2023). What is
different here: a decision is binary (this buffer rests where it can be lowest, or it does not), any
buffer that is lowest among its neighbours may be decided on, and states that were ruled out are
remembered.

    problem      buffers, sections and who meets whom, as arrays
    kernel       the search, compiled: decisions, what follows from them, the way back
    restarts     one capacity: which buffer first, by static orders, then random mixtures of
                 them; and narrowing the capacity
"""
