"""Affine loop nests as sets of integer points, by isl: what is legal, and a schedule of its own.

bounds ─ how much isl may count, and what is said where it runs out
affine ─ an index of a loop's body as a function that isl knows
loops ─ primitives applied to loops, whether or not that is right
boxes · instances · nest ─ what each stage runs, as points in the loops that are around
dependences ─ which point needs what another one made
legality ─ whether an order keeps all of that, and if not, which it breaks
bands · tiles · proposal ─ isl's own scheduler, and what it finds as our primitives
view · shrinking · picture ─ a nest small enough to be drawn point by point, in its order
report ─ all of it as text

isl is native code: in worker processes, with limits.
Source: Verdoolaege 2010, isl; Feautrier 1992; Bondhugula et al. 2008, Pluto.
"""
