"""The search itself, compiled: decisions, what follows from them, and the way back.

What is searched for is a plan P within the capacity whose offsets have the smallest sum. In P no
buffer can slide down, so every buffer rests: on the floor or on another. `bound` is a lower bound
of every offset in P, and the offset itself where a buffer is placed.

A *decision* takes a buffer that no neighbour can go below (`bound` is lowest among those it meets)
and that rests at its bound. Either it is there in P. Or it is higher; then something is in the way
of sliding down, begins below `bound + size` and is under it: the bound rises to the lowest top of
such a neighbour. No such neighbour: it is there. Any order of decisions is complete.

Whatever follows is derived from the bounds of unplaced buffers alone: bounds that were ruled out
once are ruled out wherever they come up again, whatever is placed below them. Such states are kept
by a 128-bit hash, one for each group of buffers that is connected in time; groups do not know of
each other; a dead end in one turns no decision in another.
"""

from __future__ import annotations

from optimizer.memory.search.problem import Problem
from optimizer.memory.search.state import (
    BUFFER,
    DEPTH,
    FOUND,
    FROM,
    HASH,
    HASH_2,
    LOWEST,
    MARK,
    NODES,
    QUEUED,
    RULED_OUT,
    SCARCEST,
    STOPPED,
    TO,
    TRAIL,
    TURNED,
    UNPLACED,
    State,
    compiled,
    mixed,
)  # fmt: skip

_FINE, _NOWHERE = -1, 1 << 60


@compiled
def _raise(problem: Problem, state: State, one: int, bound: int, rests: int) -> None:
    """Raise a bound; a twin is above it."""
    while True:
        at = state.counters[TRAIL]
        state.trail[at, 0], state.trail[at, 1] = one, state.bound[one]
        state.trail[at, 2] = state.rests[one]
        state.counters[TRAIL] = at + 1
        state.rests[one] = rests
        if state.bound[one] != bound:
            state.bound[one] = bound
            for section in range(problem.first[one], problem.end[one]):
                if not state.queued[section]:
                    state.queued[section] = 1
                    state.queue[state.counters[QUEUED]] = section
                    state.counters[QUEUED] += 1
        bound, rests = bound + problem.size[one], 0
        one = problem.twin[one]
        if one < 0 or state.bound[one] >= bound:
            return


@compiled
def _count(problem: Problem, state: State, one: int, sign: int) -> None:
    """Count a buffer as placed (-1) or unplaced (1)."""
    state.placed[one] = sign < 0
    state.counters[UNPLACED] += sign
    for section in range(problem.first[one], problem.end[one]):
        state.left[section] += sign * problem.size[one]
        if section > problem.first[one]:
            state.crossing[section] += sign


@compiled
def _place(problem: Problem, state: State, one: int) -> None:
    """Place a buffer at its bound: its neighbours go above it."""
    at = state.counters[TRAIL]
    state.trail[at, 0] = -1 - one
    state.counters[TRAIL] = at + 1
    _count(problem, state, one, -1)
    top = state.bound[one] + problem.size[one]
    for at in range(problem.meets_from[one], problem.meets_from[one + 1]):
        other = problem.meets[at]
        if not state.placed[other] and (
            state.bound[other] < top or (state.bound[other] == top and not state.rests[other])
        ):
            _raise(problem, state, other, top, 1)


@compiled
def undo(problem: Problem, state: State, mark: int) -> None:
    """Back to when the trail was `mark` long."""
    for at in range(state.counters[TRAIL] - 1, mark - 1, -1):
        one = state.trail[at, 0]
        if one < 0:
            _count(problem, state, -1 - one, 1)
        else:
            state.bound[one], state.rests[one] = state.trail[at, 1], state.trail[at, 2]
    state.counters[TRAIL] = mark


@compiled
def _fill(problem: Problem, state: State, section: int) -> int:
    """How high a section gets at least: its buffers one on another, none below its bound.

    The best that can be, as in scheduling one machine with release dates: earliest bound first.
    """
    begin, end = problem.member_from[section], problem.member_from[section + 1]
    members, top = state.members, 0
    for at in range(begin, end):
        one = members[at]
        bound = int(state.bound[one])
        to = at
        while to > begin and state.bound[members[to - 1]] > bound:
            members[to] = members[to - 1]
            to -= 1
        members[to] = one
    for at in range(begin, end):
        one = members[at]
        top = max(top, int(state.bound[one])) + int(problem.size[one])
    return top


@compiled
def _infer(problem: Problem, state: State, section: int, capacity: int) -> None:
    """Who can be the lowest of what is left in a section; everybody else is above one of these.

    A buffer can if all that is left fits above its bound.
    """
    last = capacity - state.left[section]
    choices, above, only = 0, _NOWHERE, -1
    for at in range(problem.member_from[section], problem.member_from[section + 1]):
        one = state.members[at]
        if not state.placed[one] and state.bound[one] <= last:
            choices, only = choices + 1, one
            above = min(above, int(state.bound[one] + problem.size[one]))
    state.choices[section] = choices
    for at in range(problem.member_from[section], problem.member_from[section + 1]):
        one = state.members[at]
        if state.placed[one] or one == only or state.bound[one] >= above:
            continue
        # Where the trail has no room the inference is left out, which is always allowed.
        room = state.trail.shape[0] - state.counters[TRAIL] > 3 * len(state.bound)
        if (choices == 1 or state.bound[one] > last) and room:
            _raise(problem, state, one, above, 0)


@compiled
def _follow(problem: Problem, state: State, capacity: int) -> int:
    """Everything that follows from raised bounds: -1, or a section that cannot be filled."""
    while state.counters[QUEUED] > 0:
        state.counters[QUEUED] -= 1
        section = int(state.queue[state.counters[QUEUED]])
        state.queued[section] = 0
        if _fill(problem, state, section) > capacity:
            state.failures[section] += 1
            for at in range(state.counters[QUEUED]):
                state.queued[state.queue[at]] = 0
            state.counters[QUEUED] = 0
            return section
        if state.left[section] > 0:
            _infer(problem, state, section, capacity)
    return _FINE


@compiled
def _lift(problem: Problem, state: State, one: int, below: int) -> int:
    """The lowest top of a neighbour that begins below `below`: where a buffer is if not lower."""
    lowest = _NOWHERE
    for at in range(problem.meets_from[one], problem.meets_from[one + 1]):
        other = problem.meets[at]
        if not state.placed[other] and state.bound[other] < below:
            lowest = min(lowest, int(state.bound[other] + problem.size[other]))
    return lowest


@compiled
def _before(state: State, one: int, other: int) -> bool:
    """Whether `one` is lower than `other`, or as low and earlier in the order."""
    if other < 0 or state.bound[one] < state.bound[other]:
        return True
    return state.bound[one] == state.bound[other] and state.rank[one] < state.rank[other]


@compiled
def _busiest(state: State, where: int) -> int:
    """The section to decide in."""
    section, most = -1, -1.0
    for at in range(len(state.left)):
        value = float(state.left[at])
        if where == SCARCEST:
            value = (1.0 + state.failures[at]) / max(1, state.choices[at])
        if state.left[at] > 0 and value > most:
            section, most = at, value
    return section


@compiled
def _choose(problem: Problem, state: State, where: int) -> int:
    """A buffer to decide on: one that no neighbour can go below."""
    best = -1
    if where == LOWEST:
        for one in range(len(state.bound)):
            if not state.placed[one] and _before(state, one, best):
                best = one
        return best
    section = _busiest(state, where)
    for at in range(problem.member_from[section], problem.member_from[section + 1]):
        if not state.placed[state.members[at]] and _before(state, state.members[at], best):
            best = state.members[at]
    start = -1
    while start != best:
        start = best
        for at in range(problem.meets_from[start], problem.meets_from[start + 1]):
            other = problem.meets[at]
            if not state.placed[other] and state.bound[other] < state.bound[best]:
                best = other
    return best


@compiled
def _push(problem: Problem, state: State, one: int) -> bool:
    """Write down a decision on `one`; False if its group was ruled out in this state before."""
    begin, end = problem.first[one], problem.end[one]
    while begin > 0 and state.crossing[begin] > 0:
        begin -= 1
    while end < len(state.left) and state.crossing[end] > 0:
        end += 1
    key, key_2 = 0, 0
    for at in range(problem.first_from[begin], problem.first_from[end]):
        other = problem.by_first[at]
        if not state.placed[other]:
            value = mixed(int(mixed(other + 1) + 2 * state.bound[other] + state.rests[other]))
            key, key_2 = key + value, key_2 + mixed(value ^ 0x1234567887654321)
    level = state.levels[state.counters[DEPTH]]
    level[BUFFER], level[MARK], level[TURNED] = one, state.counters[TRAIL], 0
    level[FROM], level[TO], level[HASH], level[HASH_2] = begin, end, key, key_2
    slot = key & (len(state.refuted) - 1)
    if state.refuted[slot, 0] == key and state.refuted[slot, 1] == key_2:
        return False
    state.counters[DEPTH] += 1
    return True


@compiled
def _turn(problem: Problem, state: State, capacity: int, section: int) -> bool:
    """Back from a dead end in `section` to a decision that can be turned; False if none is left."""
    while state.counters[DEPTH] > 0:
        depth = state.counters[DEPTH] - 1
        level = state.levels[depth]
        one = level[BUFFER]
        undo(problem, state, level[MARK])
        if section < level[FROM] or section >= level[TO]:
            state.counters[DEPTH] = depth  # of another group: it has nothing to do with this
            continue
        if not level[TURNED]:
            level[TURNED] = 1
            lifted = _lift(problem, state, one, int(state.bound[one] + problem.size[one]))
            if lifted < _NOWHERE:
                _raise(problem, state, one, lifted, 0)
                if _follow(problem, state, capacity) == _FINE:
                    return True
        slot = level[HASH] & (len(state.refuted) - 1)
        state.refuted[slot, 0], state.refuted[slot, 1] = level[HASH], level[HASH_2]
        section = level[FROM]
        state.counters[DEPTH] = depth
    return False


@compiled
def search(problem: Problem, state: State, capacity: int, where: int, nodes: int) -> int:
    """Go on for at most `nodes` decisions; FOUND leaves the offsets in `bound`."""
    last = state.counters[NODES] + nodes
    dead = _follow(problem, state, capacity)
    while True:
        if dead != _FINE and not _turn(problem, state, capacity, dead):
            return RULED_OUT
        if state.counters[UNPLACED] == 0:
            return FOUND
        room = state.trail.shape[0] - state.counters[TRAIL] > 3 * len(state.bound)
        if state.counters[NODES] >= last or not room or state.counters[DEPTH] == len(state.levels):
            return STOPPED
        state.counters[NODES] += 1
        one = _choose(problem, state, where)
        if state.rests[one]:
            dead = problem.first[one]
            if _push(problem, state, one):
                _place(problem, state, one)
                dead = _follow(problem, state, capacity)
            continue
        # Nothing placed holds it there: it rests on a neighbour.
        lifted, dead = _lift(problem, state, one, _NOWHERE), problem.first[one]
        if lifted < _NOWHERE:
            _raise(problem, state, one, lifted, 0)
            dead = _follow(problem, state, capacity)
