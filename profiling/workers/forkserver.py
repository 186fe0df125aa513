"""The process that starts workers, collects them when they end, and kills what they leave behind.

Single-threaded on purpose, so that forking it is safe: its own modules are imported, the runtime's
telemetry threads are switched off before it is imported, and linear algebra gets one thread. It is
the workers' parent, so a process id it signals cannot have been given to anybody else.

Requests are (kind, ticket) with the worker's descriptors attached to a launch, replies are
(kind, ticket, value): `X` the exit code of the worker with that ticket.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import select
import shutil
import signal
import socket
import struct
import sys
import traceback
from types import ModuleType
from typing import NoReturn

from profiling.workers import confinement, worker

REQUEST = struct.Struct("!cQ")
REPLY = struct.Struct("!cQq")
FORK, EXEC, KILL, EXITED = b"F", b"E", b"K", b"X"
COULD_NOT_START = 71
_TICK_MS = 1000


def main() -> None:
    """Serve: arguments are the control descriptor, the folder to empty, the modules to preload."""
    control = socket.socket(fileno=int(sys.argv[1]))
    preload(json.loads(sys.argv[3]))
    gc.collect()
    gc.freeze()
    try:
        _Server(control).serve()
    finally:
        shutil.rmtree(sys.argv[2], ignore_errors=True)


def preload(names: list[str]) -> None:
    """Import the modules and, for a name that ends in `.*`, all modules below the package."""
    for name in names:
        package_name = name.removesuffix(".*")
        package = _imported(package_name)
        if name.endswith(".*") and package is not None:
            for module in pkgutil.walk_packages(
                package.__path__, f"{package_name}.", onerror=lambda _: None
            ):
                _imported(module.name)


def _imported(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except Exception:  # a job that needs the module will say so
        return None


class _Server:
    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._tickets: dict[int, int] = {}  # process id -> ticket
        self._wake_read, self._wake_write = os.pipe()
        for descriptor in (self._wake_read, self._wake_write):
            os.set_blocking(descriptor, False)

    def serve(self) -> None:
        """Until the asking process closes its end."""
        confinement.adopt_orphans()
        signal.signal(signal.SIGCHLD, _ignore)  # SIG_IGN would not wake the poll
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(self._wake_read, select.POLLIN)
        with contextlib.suppress(ConnectionError):
            while True:
                ready = dict(poll.poll(_TICK_MS))
                if self._wake_read in ready:
                    with contextlib.suppress(BlockingIOError):
                        os.read(self._wake_read, 4096)
                self._collect()
                if self._control.fileno() in ready and not self._answer_request():
                    break
        self._end_all()

    def _end_all(self) -> None:
        for pid in self._tickets:
            _kill_group(pid)
        with contextlib.suppress(ChildProcessError):
            while True:
                for pid in confinement.children():
                    _kill(pid)
                os.wait()

    def _answer_request(self) -> bool:
        data, descriptors, _, _ = socket.recv_fds(self._control, REQUEST.size, 2)
        if len(data) < REQUEST.size:
            return False
        kind, ticket = REQUEST.unpack(data)
        if kind == KILL:
            for pid in [pid for pid, known in self._tickets.items() if known == ticket]:
                _kill_group(pid)
        else:
            self._launch(ticket, descriptors, fresh=kind == EXEC)
        return True

    def _launch(self, ticket: int, descriptors: list[int], *, fresh: bool) -> None:
        connection, errors = descriptors
        try:
            pid = os.fork()
        except OSError:
            self._reply(ticket, COULD_NOT_START)
        else:
            if pid == 0:
                self._become_worker(connection, errors, fresh=fresh)
            with contextlib.suppress(OSError):
                os.setpgid(pid, pid)  # also done by the child: whoever comes first
            self._tickets[pid] = ticket
        os.close(connection)
        os.close(errors)

    def _become_worker(self, connection: int, errors: int, *, fresh: bool) -> NoReturn:
        status = 1
        try:
            os.setpgid(0, 0)
            confinement.die_with_parent()
            confinement.die_first()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for descriptor in (self._control.detach(), self._wake_read, self._wake_write):
                os.close(descriptor)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(errors, 1)
            os.dup2(errors, 2)
            os.close(errors)
            if fresh:
                os.set_inheritable(connection, True)
                os.execv(sys.executable, [*worker_command(), str(connection)])  # noqa: S606
            worker.serve(socket.socket(fileno=connection), address_space=True)
            status = 0
        except BaseException:
            traceback.print_exc()  # fails itself when the asker has closed the pipe
        finally:
            os._exit(status)  # a fork must never return into the server's loop

    def _collect(self) -> None:
        """Report workers that ended, and kill whatever they or their children left running."""
        while (pid := _ended_child()) is not None:
            ticket = self._tickets.pop(pid, None)
            if ticket is not None:
                _kill_group(pid)  # before it is collected: the id is still taken
            _, status = os.waitpid(pid, 0)
            if ticket is not None:
                self._reply(ticket, os.waitstatus_to_exitcode(status))
        for pid in confinement.children():
            if pid not in self._tickets:  # adopted: it outlived the job that made it
                _kill(pid)

    def _reply(self, ticket: int, value: int) -> None:
        self._control.sendall(REPLY.pack(EXITED, ticket, value))


def worker_command() -> list[str]:
    """Command line of a worker that starts from nothing."""
    code = "from profiling.workers.worker import main; main()"
    return [sys.executable, "-P", "-c", code]


def _ignore(_signal: int, _frame: object) -> None:
    """The wake-up descriptor has told already."""


def _ended_child() -> int | None:
    """A child that has ended and is not collected yet."""
    try:
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return None if ended is None else ended.si_pid


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _kill_group(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
