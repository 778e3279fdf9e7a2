"""MariaDB and MySQL servers for the tests, with a data folder of their own."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pymysql

from tests.servers.certificates import Certificates
from tests.servers.process import HOST, ServerProcess, free_port

MARIADB_BINARIES = ("mariadbd", "mariadb-install-db")
_USER, _PASSWORD = "strata", "strata-tests"
_LIMIT_SECONDS = 60.0
_STRICT = (
    "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,"
    "ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
)
# Small and fast: what a test run loses when the machine dies is of no value.
_COMMON = (
    f"--bind-address={HOST}",
    "--character-set-server=utf8mb4",
    "--default-time-zone=+00:00",
    "--innodb-buffer-pool-size=64M",
    "--innodb-flush-log-at-trx-commit=0",
    "--performance-schema=OFF",
    "--skip-log-bin",
    "--skip-name-resolve",
    f"--sql-mode={_STRICT}",
)
DURABLE = "--innodb-flush-log-at-trx-commit=1"
"""For tests that kill a server and then ask for what it had acknowledged."""
_CREATE_USER = f"""\
CREATE USER IF NOT EXISTS '{_USER}'@'{HOST}' IDENTIFIED BY '{_PASSWORD}';
GRANT ALL ON *.* TO '{_USER}'@'{HOST}' WITH GRANT OPTION;
"""


def sbin(binary: str) -> str | None:
    """Where a server binary is; Debian keeps some outside an ordinary user's path."""
    return shutil.which(binary, path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"]))


class DatabaseServer(ServerProcess):
    """A server that speaks MySQL's protocol, with as many empty databases as asked for."""

    def __init__(self, program: Sequence[str], folder: Path, *options: str, ca: Path | None = None) -> None:
        self.host = HOST
        self.ca = ca
        self.port = free_port()
        self.data = folder / "data"
        self._databases = 0
        users = folder / "users.sql"
        users.write_text(_CREATE_USER)
        files = (f"--datadir={self.data}", f"--socket={folder / 'socket'}", f"--pid-file={folder / 'pid'}")
        own = (*files, f"--tmpdir={folder}")  # a server that starts clears its own of temporary tables
        command = [*program, *own, f"--port={self.port}", f"--init-file={users}", *_COMMON, *as_root(), *options]
        super().__init__(command, log=folder / "server.log", ready=self._accepts, limit_seconds=_LIMIT_SECONDS)

    def fresh_database(self) -> str:
        """Make an empty database and return its URL, as `STRATA_DATABASE_URL` takes it."""
        self._databases += 1
        name = f"strata_{self._databases}"
        self.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
        return f"mysql+pymysql://{_USER}:{_PASSWORD}@{self.host}:{self.port}/{name}"

    def drop_database(self, url: str) -> None:
        """Drop what :meth:`fresh_database` made."""
        self.execute(f"DROP DATABASE IF EXISTS {url.rpartition('/')[2]}")

    def execute(self, statement: str) -> list[dict[str, Any]]:
        """Run one statement behind the product's back and return its rows."""
        with closing(self.connect()) as connection, connection.cursor(pymysql.cursors.DictCursor) as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    def connect(self, **settings: Any) -> "pymysql.Connection[Any]":
        """A connection of its own, in autocommit."""
        return pymysql.connect(**{**self._login, "autocommit": True, **settings})

    @property
    def _login(self) -> Mapping[str, Any]:
        login = {"host": self.host, "port": self.port, "user": _USER, "password": _PASSWORD, "connect_timeout": 2}
        return {**login, "ssl": {"ca": str(self.ca)}} if self.ca else login

    def _accepts(self) -> bool:
        with suppress(pymysql.OperationalError):
            self.connect().close()
            return True
        return False


class MariaDb(DatabaseServer):
    """MariaDB as Debian ships it."""

    def __init__(self, folder: Path, installed: Path, *options: str, ca: Path | None = None) -> None:
        shutil.copytree(installed, folder / "data")
        small = ("--innodb-log-file-size=16M", "--collation-server=utf8mb4_unicode_ci")
        super().__init__([str(sbin("mariadbd")), "--no-defaults"], folder, *small, *options, ca=ca)


def with_tls(certificates: Certificates) -> Sequence[str]:
    """Options that make a server refuse whoever does not come with TLS."""
    own = (f"--ssl-cert={certificates.certificate}", f"--ssl-key={certificates.key}")
    return (*own, f"--ssl-ca={certificates.ca}", "--require-secure-transport=ON")


def install_mariadb(folder: Path) -> Path:
    """A data folder to copy from. It takes seconds to make, so ``folder`` keeps it from run to run, per version."""
    version = subprocess.run([str(sbin("mariadbd")), "--version"], check=True, capture_output=True, text=True).stdout
    installed = folder / "".join(letter if letter.isalnum() else "-" for letter in version.split()[2])
    if not installed.exists():
        _install_into(installed)
    return installed


def _install_into(installed: Path) -> None:
    draft = installed.with_name(f"{installed.name}.{os.getpid()}")
    options = ("--auth-root-authentication-method=normal", "--skip-test-db", "--innodb-log-file-size=16M", *as_root())
    program = [str(sbin("mariadb-install-db")), "--no-defaults", f"--datadir={draft}", *options]
    subprocess.run(program, check=True, capture_output=True)
    with suppress(OSError):  # another run was faster: its folder is as good
        draft.rename(installed)
    shutil.rmtree(draft, ignore_errors=True)


class MySql(DatabaseServer):
    """The real MySQL, unpacked under ``root`` and run through the loader and libraries it was built for."""

    def __init__(self, root: Path, folder: Path, *options: str) -> None:
        program = [*_loaded(root), "--no-defaults", f"--basedir={root / 'usr'}", "--secure-file-priv=NULL"]
        program += [f"--lc-messages-dir={root / 'usr/share/mysql'}", "--innodb-redo-log-capacity=8388608"]
        initialise = [*program, f"--datadir={folder / 'data'}", "--initialize-insecure", *as_root()]
        subprocess.run(initialise, check=True, capture_output=True)
        super().__init__(program, folder, "--mysqlx=OFF", *options)


def _loaded(root: Path) -> list[str]:
    loader = next(root.glob("usr/lib/*-linux-gnu/ld-linux-*"))
    return [str(loader), "--library-path", str(loader.parent), str(root / "usr/sbin/mysqld")]


def as_root() -> Sequence[str]:
    """Both servers refuse root unless told that it is meant."""
    return ("--user=root",) if os.geteuid() == 0 else ()
