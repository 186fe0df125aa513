"""Work on what a process has open, shared by it and forks of it, or done by a fork beside it.

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
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any, Generic, NoReturn, TypeVar

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


class Beside(Generic[Answer]):
    """A fork that answers, one item after the other, while this process does something else."""

    def __init__(self, pid: int, told: IO[bytes]) -> None:
        self._pid, self._told = pid, told

    def end(self) -> list[Answer]:
        """End it: its answers to the first items, as many as it has written down by now."""
        self.stop()
        self._told.seek(0)
        answers = list[Answer]()
        with contextlib.suppress(EOFError, pickle.UnpicklingError):  # it was writing down the next
            while True:
                answers.append(pickle.load(self._told))  # noqa: S301 - our own fork wrote it
        return answers

    def stop(self) -> None:
        """Nobody wants any more answers."""
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
            self._pid = 0


@contextlib.contextmanager
def beside(function: Callable[[Item], Answer], items: Sequence[Item]) -> Generator[Beside[Answer]]:
    """Have a fork answer for items in their order, as far as it comes before it is ended.

    It takes what this process and others leave of the processors. Where there are no items, or this
    process has threads, none is begun, and there are no answers. What `function` raises is told to
    nobody and ends the answers.
    """
    with tempfile.TemporaryFile() as told:
        begun = Beside[Answer](_forked_beside(function, items, told), told)
        try:
            yield begun
        finally:
            begun.stop()


def _forked_beside(
    function: Callable[[Item], Answer], items: Sequence[Item], told: IO[bytes]
) -> int:
    """Its process, or 0."""
    if not items or confinement.threads() > 1:
        return 0
    try:
        pid = os.fork()
    except OSError:
        return 0
    if pid == 0:
        _tell_each(function, items, told)
    return pid


def _tell_each(
    function: Callable[[Item], Answer], items: Sequence[Item], told: IO[bytes]
) -> NoReturn:
    """What a fork beside another process does."""
    try:
        confinement.die_with_parent()
        confinement.yield_to_others()
        gc.disable()
        for item in items:
            pickle.dump(function(item), told)
            told.flush()
    finally:
        os._exit(0)  # as below


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
