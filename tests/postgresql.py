"""A PostgreSQL server of the tests' own, from Debian's package; and both kinds of database."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

_STARTUP_S = 60
_LISTED = Path("/usr/lib/postgresql")


def _programs() -> Path | None:
    """The folder of `initdb` and `postgres`: the newest Debian has, or what the path names."""
    versions = [path for path in _LISTED.glob("*/bin") if (path / "initdb").is_file()]
    if versions:
        return max(versions, key=lambda path: float(path.parent.name))
    found = shutil.which("initdb")
    return Path(found).resolve().parent if found else None


def _user() -> str | None:
    """Whom the server runs as: it refuses root, so Debian's own user then; None where it lacks."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid()).pw_name
    return next((entry.pw_name for entry in pwd.getpwall() if entry.pw_name == "postgres"), None)


def _as_user(command: list[str], user: str, folder: Path) -> subprocess.Popen[bytes]:
    """Start a program of the server's; it ends when the tests do, however they do."""
    prefix = ["setpriv", "--pdeathsig", "INT"] if shutil.which("setpriv") else []
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            [*prefix, *command],
            cwd=folder,
            stdout=log,
            stderr=log,
            user=user if os.geteuid() == 0 else None,
            extra_groups=[] if os.geteuid() == 0 else None,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
        )


def _create(programs: Path, user: str, folder: Path) -> Path:
    """A new cluster; nothing in it is meant to outlive a power cut."""
    data = folder / "data"
    command = [str(programs / "initdb"), "-D", str(data), "-U", "passlens", "-A", "trust"]
    made = _as_user([*command, "-E", "UTF8", "--no-locale", "--no-sync"], user, folder)
    if made.wait(_STARTUP_S) != 0:
        pytest.fail((folder / "log").read_text())
    return data


def _wait(server: subprocess.Popen[bytes], folder: Path) -> None:
    import psycopg

    deadline = time.monotonic() + _STARTUP_S
    while True:
        try:
            psycopg.connect(f"host={folder} user=passlens dbname=postgres").close()
            return
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > deadline:
                pytest.fail((folder / "log").read_text())
            time.sleep(0.1)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Path]:
    """The folder of the server's socket; it listens nowhere else."""
    programs, user = _programs(), _user()
    if programs is None:
        pytest.skip("no PostgreSQL on this machine (Debian: apt install postgresql)")
    if user is None:
        pytest.skip("PostgreSQL refuses root, and there is no user 'postgres'")
    folder = Path(tempfile.mkdtemp(prefix="passlens-pg-", dir="/tmp"))
    try:
        shutil.chown(folder, user)
        data = _create(programs, user, folder)
        quick = ["-F", "-c", "listen_addresses=", "-c", f"unix_socket_directories={folder}"]
        server = _as_user([str(programs / "postgres"), "-D", str(data), *quick], user, folder)
        try:
            _wait(server, folder)
            yield folder
        finally:
            server.send_signal(2)  # "fast": open transactions are rolled back
            server.wait(_STARTUP_S)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgresql_url(postgresql: Path) -> Iterator[str]:
    """An empty database."""
    import psycopg

    name = f"t{uuid.uuid4().hex}"
    with psycopg.connect(f"host={postgresql} user=passlens dbname=postgres", autocommit=True) as c:
        c.execute(f'CREATE DATABASE "{name}"'.encode())
        yield f"postgresql://passlens@/{name}?host={postgresql}"
        c.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.long)])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database, once of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'records.sqlite'}"
    return request.getfixturevalue("postgresql_url")
