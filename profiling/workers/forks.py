"""Work on what a process has open, shared by it and forks of it.

A graph that took seconds to open is at once open in a fork, too; memory is shared but for the pages
that either of them changes.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import signal
import struct
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from profiling.workers import confinement

Item = TypeVar("Item")
Answer = TypeVar("Answer")

MOST_PROCESSES = 4
"""Each has pages of its own in the end."""
_TICKET = struct.Struct("=H")
MOST_ITEMS = 1 << 14
"""Their tickets fit into a pipe of half the usual size."""


def processes() -> int:
    """How many share work: one for each core, at most `MOST_PROCESSES`."""
    return min(len(os.sched_getaffinity(0)), MOST_PROCESSES)


def forked_map(
    function: Callable[[Item], Answer], items: Sequence[Item], *, most: int | None = None
) -> list[Answer]:
    """`list(map(function, items))`; whichever process is free takes the next item.

    What `function` changes is lost, except where this process itself called it. A process that has
    threads is not forked: what they hold would be held for ever. Items of a fork that dies are done
    here.

    Args:
        function: must not depend on the order in which it is called.
        items: at most `MOST_ITEMS`.
        most: processes, this one included; by default `processes()`.

    Raises:
        whatever `function` raises.
    """
    if len(items) > MOST_ITEMS:
        raise ValueError(f"{len(items)} items are too many (limit {MOST_ITEMS})")
    with _tickets(len(items)) as tickets:
        wanted = min(most or processes(), len(items)) - 1 if confinement.threads() == 1 else 0
        forks = list(_forks(function, items, tickets, wanted))
        try:
            answers = {number: function(items[number]) for number in _taken(tickets)}
        except BaseException:
            for fork in forks:
                fork.end()
            raise
    for fork in forks:
        answers |= fork.answers()
    return [answers[n] if n in answers else function(item) for n, item in enumerate(items)]


@dataclass(frozen=True, slots=True)
class _Fork:
    """A process that shares the work.

    Attributes:
        pid: of the process.
        reading: where its answers come, pickled, when it has done all it got.
    """

    pid: int
    reading: int

    def answers(self) -> dict[int, Any]:
        """By item, once it has ended; none from one that died."""
        with os.fdopen(self.reading, "rb") as pipe:
            data = pipe.read()
        os.waitpid(self.pid, 0)
        try:
            return pickle.loads(data)  # noqa: S301 - our own fork wrote it
        except (EOFError, pickle.UnpicklingError):
            return {}

    def end(self) -> None:
        """Nobody wants its answers any more."""
        os.close(self.reading)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


@contextlib.contextmanager
def _tickets(count: int) -> Generator[int]:
    """A pipe that holds the numbers below `count`: who reads one has the item."""
    reading, writing = os.pipe()
    os.write(writing, b"".join(map(_TICKET.pack, range(count))))
    os.close(writing)
    try:
        yield reading
    finally:
        os.close(reading)


def _taken(tickets: int) -> Iterator[int]:
    while data := os.read(tickets, _TICKET.size):
        yield _TICKET.unpack(data)[0]


def _forks(
    function: Callable[[Item], Answer], items: Sequence[Item], tickets: int, wanted: int
) -> Iterator[_Fork]:
    """As many as can be started."""
    for _ in range(wanted):
        reading, writing = os.pipe()
        try:
            pid = os.fork()
        except OSError:
            os.close(reading)
            os.close(writing)
            return
        if pid == 0:
            _answer(function, items, tickets, writing)
        os.close(writing)
        yield _Fork(pid, reading)


def _answer(
    function: Callable[[Item], Answer], items: Sequence[Item], tickets: int, writing: int
) -> NoReturn:
    """What a fork does; what raises here is left to the process that forked, which will see why."""
    try:
        confinement.die_with_parent()
        gc.disable()
        answers = dict[int, Answer]()
        with contextlib.suppress(Exception):
            for number in _taken(tickets):
                answers[number] = function(items[number])
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(answers, pipe)
    finally:
        os._exit(0)  # a fork must never return into the work of another
