"""What a generated kernel computes, and in which order: the algorithm and the schedule as data.

scalar ─ one number of a loop's body: variables, sizes, elements of tensors, functions of them
algorithm ─ Funcs over axes, each defined element by element, from inputs to outputs
schedule ─ primitives that say how the loops of an algorithm run; they never change what comes out
outputs ─ the loops that write what a kernel gives
reach ─ what these loops need of each Func, and what is worth keeping
scheduling · element_loops · vectors · tasks ─ the default schedule
in_place ─ which inputs' memory an output may take under it
element_types ─ an algorithm as a worker may send it
evaluation ─ an algorithm in NumPy, what every code generator is held to

Source: Ragan-Kelley et al. 2013, Halide, for the two being apart.
"""
