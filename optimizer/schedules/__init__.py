"""What a schedule makes of an algorithm's loops, in plain Python: nest, refusals, meters.

program ─ the Funcs that a schedule has loops for: copies of inputs, sums side by side, outputs
ordering ─ primitives applied to the loops of each Func, one after another
places ─ what each Func reads, through those that are computed where they are read
placing ─ inside which loops each Func is computed, and its memory lives
intervals · boxes · rounds · regions ─ how much of each Func a round of these loops needs
legal_regions ─ the same, where loops can run as they are said to
nest ─ the loops as a tree, and as text
steps ─ the nest after each primitive: what a slider goes through
work · locality · meters ─ parallelism, redundant work, and what has to be kept and moved
strides ─ how far apart what a loop reads and writes lies, from round to round
machine_model · prediction ─ how long a nest takes, guessed: to rank schedules
warnings ─ what in a nest costs time and need not, and what to do about it
candidates · choices ─ what can be done next: legal steps, ranked, and refusals with their reasons
document ─ nests, meters and warnings of all steps in one document
excess ─ what is right and still cannot be compiled or run
sizes ─ an algorithm at sizes that are numbers
halide_program · halide_names · halide_directives · halide_words · halide_mains ─ algorithm and
    schedule as a program in Halide's Python or C++
halide_source/ ─ schedules as Halide's autoschedulers write them, read as primitives
examples/ ─ algorithms with schedules that teach something

Nothing here compiles anything. Halide, which does, is what all of it is held to by tests.
Source: Ragan-Kelley et al. 2013, Halide.
"""
