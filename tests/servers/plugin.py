"""Fixtures that hand a test a private server, and the account of those that were not to be had.

Shared by the whole run: ``mariadb``, ``mariadb_tls``, ``mysql``, ``redis_server``, ``redis_tls``, ``redis_cluster``.
A test that breaks its server takes one of its own: ``breakable_mariadb``, ``breakable_redis``.
A contract suite takes ``database_url`` or ``cache_url`` and runs once for each implementation.

Without its server a test is skipped, and the end of the run says so. With ``CI`` set it fails instead.
"""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from tests.servers import caches, databases
from tests.servers.certificates import Certificates, make_certificates
from tests.servers.process import ServerProcess

MYSQL_FOLDER = Path(__file__).parents[2] / ".servers" / "mysql"
_Server = TypeVar("_Server", bound=ServerProcess | caches.RedisCluster)

MARIADB = pytest.param("mariadb", marks=pytest.mark.mariadb)
MYSQL = pytest.param("mysql", marks=pytest.mark.mysql)
REDIS = pytest.param("redis", marks=pytest.mark.redis)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left out, why, and how many tests that were."""
    left_out = Counter(_reason(report) for report in terminalreporter.stats.get("skipped", []))
    if left_out:
        terminalreporter.section("left out")
    for reason, tests in sorted(left_out.items()):
        terminalreporter.write_line(f"{tests:5} {'test' if tests == 1 else 'tests'}: {reason}")


def _reason(report: pytest.TestReport) -> str:
    return str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr).removeprefix("Skipped: ")


def _require(package: str, *binaries: str) -> None:
    missing = [binary for binary in binaries if databases.sbin(binary) is None]
    if missing and os.environ.get("CI"):
        pytest.fail(f"{missing} must be there in CI", pytrace=False)
    if missing:
        pytest.skip(f"{' and '.join(missing)} not found (apt-get install {package})")


def _run(server: _Server) -> Iterator[_Server]:
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """An authority, and a server certificate for the loopback address."""
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="session")
def mariadb_installed(request: pytest.FixtureRequest) -> Path:
    """A data folder to copy, kept between runs."""
    _require("mariadb-server", *databases.MARIADB_BINARIES)
    return databases.install_mariadb(request.config.cache.mkdir("mariadb"))


@pytest.fixture(scope="session")
def mariadb(mariadb_installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[databases.MariaDb]:
    """A MariaDB server shared by the run; ask it for a fresh database."""
    yield from _run(databases.MariaDb(tmp_path_factory.mktemp("mariadb"), mariadb_installed))


@pytest.fixture(scope="session")
def mariadb_tls(
    mariadb_installed: Path, certificates: Certificates, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[databases.MariaDb]:
    """A MariaDB server that takes nobody without TLS."""
    options = databases.with_tls(certificates)
    folder = tmp_path_factory.mktemp("mariadb-tls")
    yield from _run(databases.MariaDb(folder, mariadb_installed, *options, ca=certificates.ca))


@pytest.fixture(scope="module")
def breakable_mariadb(mariadb_installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[databases.MariaDb]:
    """A MariaDB server of this module's own, to kill and to pause. What it has committed survives its death."""
    yield from _run(databases.MariaDb(tmp_path_factory.mktemp("mariadb"), mariadb_installed, databases.DURABLE))


@pytest.fixture(scope="session")
def mysql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[databases.MySql]:
    """A real MySQL shared by the run. It comes from a suite that moves, so it may be missing in CI as well."""
    if not (MYSQL_FOLDER / "usr/sbin/mysqld").exists():
        pytest.skip("MySQL is not unpacked (tests/servers/fetch_mysql.sh .servers/mysql)")
    yield from _run(databases.MySql(MYSQL_FOLDER, tmp_path_factory.mktemp("mysql")))


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[caches.RedisServer]:
    """A Redis server shared by the run."""
    _require("redis-server", *caches.BINARIES)
    yield from _run(caches.RedisServer(tmp_path_factory.mktemp("redis")))


@pytest.fixture
def breakable_redis(tmp_path: Path) -> Iterator[caches.RedisServer]:
    """A Redis server of this test's own, to kill and to pause."""
    _require("redis-server", *caches.BINARIES)
    yield from _run(caches.RedisServer(tmp_path))


@pytest.fixture(scope="session")
def redis_tls(certificates: Certificates, tmp_path_factory: pytest.TempPathFactory) -> Iterator[caches.TlsNode]:
    """One node in cluster mode behind TLS, as ElastiCache Serverless shows itself."""
    _require("redis-server", *caches.BINARIES)
    yield from _run(caches.TlsNode(tmp_path_factory.mktemp("redis-tls"), certificates))


@pytest.fixture(scope="session")
def redis_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[caches.RedisCluster]:
    """Three nodes that share the slots."""
    _require("redis-server", *caches.BINARIES)
    yield from _run(caches.RedisCluster(tmp_path_factory.mktemp("redis-cluster")))


@pytest.fixture(scope="module", params=["sqlite", MARIADB, MYSQL])
def database_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An empty database of this module's own, of each kind in turn. Tests keep apart by writing as other tenants."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path_factory.mktemp('sqlite') / 'strata.db'}"
        return
    server: databases.DatabaseServer = request.getfixturevalue(request.param)
    url = server.fresh_database()
    yield url
    server.drop_database(url)


@pytest.fixture(params=["memory", REDIS])
def cache_url(request: pytest.FixtureRequest) -> str:
    """An empty cache: the one in this process, then a real Redis."""
    if request.param == "memory":
        return "memory://"
    server: caches.RedisServer = request.getfixturevalue("redis_server")
    server.flush()
    return server.url
