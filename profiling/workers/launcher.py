"""The asking process's side of the fork server: start workers, learn how they ended."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from optimizer.errors import RunError
from profiling.workers import forkserver
from profiling.workers.channel import Channel

PRELOADED = ("numpy", "onnx", "onnx.checker", "onnx_ir", "onnxruntime", "optimizer.*")
ENVIRONMENT = {
    # From 1.29 on, ONNX Runtime reports usage to its maker and keeps threads for it.
    "ORT_DISABLE_TELEMETRY": "1",
    "ORT_TELEMETRY_DISABLED": "1",
    # A second thread would make forking unsafe.
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}
STDERR_TAIL_BYTES = 8192
_COMMAND = [sys.executable, "-P", "-c", "from profiling.workers.forkserver import main; main()"]
_CLOSE_TIMEOUT_S = 5.0


class Process:
    """A worker process as its user sees it.

    Attributes:
        channel: jobs in, answers out.
        ended: set once the process is gone.
        exit_code: negative for a signal; None while it runs or if nobody could tell.
    """

    def __init__(self, server: ForkServer, ticket: int, connection: socket.socket, errors: int):
        self.channel = Channel(connection, trusted=False)
        self.ended = threading.Event()
        self.exit_code: int | None = None
        self._server = server
        self._ticket = ticket
        self._errors = errors
        self._stderr = bytearray()
        os.set_blocking(errors, False)

    @property
    def stopping(self) -> bool:
        """Whether it ends because its server was told to."""
        return self._server.closing

    def stderr_fileno(self) -> int:
        """The descriptor that has the worker's stderr."""
        return self._errors

    def read_stderr(self) -> bool:
        """Keep what the worker wrote to stderr; False once that is closed."""
        try:
            data = os.read(self._errors, 1 << 16)
        except BlockingIOError:
            return True
        self._stderr += data
        del self._stderr[:-STDERR_TAIL_BYTES]
        return bool(data)

    def take_stderr(self) -> str:
        """The end of what was written to stderr since the last call."""
        self.read_stderr()
        text = self._stderr.decode("utf-8", "replace")
        self._stderr.clear()
        return text

    def kill(self) -> None:
        """Kill the worker and everything in its process group."""
        self._server.kill(self._ticket)

    def close(self) -> None:
        """Give the descriptors back; the worker must have been killed or have ended."""
        self.channel.close()
        if self._errors >= 0:
            os.close(self._errors)
            self._errors = -1


class ForkServer:
    """Starts worker processes without ever forking the asking process.

    Attributes:
        folder: private folder that disappears with the server.
        closing: whether it was told to end.
    """

    def __init__(self, *, modules: Sequence[str] = PRELOADED) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="passlens-"))
        self._lock = threading.Lock()
        self._tickets = itertools.count(1)
        self._processes: dict[int, Process] = {}
        self._control, theirs = socket.socketpair()
        with theirs:
            self._server = subprocess.Popen(
                [*_COMMAND, str(theirs.fileno()), str(self.folder), json.dumps(list(modules))],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**os.environ, **ENVIRONMENT, "PYTHONPATH": _import_path()},
                cwd="/",
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # Ctrl-C is for the asking process
            )
        self.alive = True
        self.closing = False
        threading.Thread(target=self._listen, name="passlens-workers", daemon=True).start()

    def launch(self, *, fresh: bool) -> Process:
        """A new worker: a fork with everything imported, or a `fresh` interpreter.

        Raises:
            RunError: the server is gone.
        """
        ours, theirs = socket.socketpair()
        errors_read, errors_write = os.pipe()
        ticket = next(self._tickets)
        process = Process(self, ticket, ours, errors_read)
        request = forkserver.REQUEST.pack(forkserver.EXEC if fresh else forkserver.FORK, ticket)
        try:
            with self._lock:
                self._processes[ticket] = process
                descriptors = [theirs.fileno(), errors_write]
                socket.send_fds(self._control, [request], descriptors)
        except OSError as error:
            self._processes.pop(ticket, None)
            process.close()
            raise RunError("The process that starts workers is gone; try again.") from error
        finally:
            theirs.close()
            os.close(errors_write)
        return process

    def kill(self, ticket: int) -> None:
        """Kill the process group of one worker."""
        with self._lock, contextlib.suppress(OSError):
            self._control.sendall(forkserver.REQUEST.pack(forkserver.KILL, ticket))

    def close(self) -> None:
        """Kill all workers and wait for the server to end."""
        self.closing = True
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        try:
            self._server.wait(_CLOSE_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _listen(self) -> None:
        with contextlib.suppress(OSError):
            while len(reply := self._control.recv(forkserver.REPLY.size, socket.MSG_WAITALL)) == (
                forkserver.REPLY.size
            ):
                _, ticket, exit_code = forkserver.REPLY.unpack(reply)
                process = self._processes.pop(ticket, None)
                if process is not None:
                    process.exit_code = exit_code
                    process.ended.set()
        self.alive = False
        for process in list(self._processes.values()):
            process.ended.set()
        self._control.close()


def _import_path() -> str:
    return os.pathsep.join(entry for entry in sys.path if entry and Path(entry).exists())
