"""How stores are connected to: verified TLS, tokens and secrets per connection, bounds on number and time."""

import re
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import boto3
import pymysql
import pytest
from botocore.exceptions import ClientError, NoCredentialsError, NoRegionError
from botocore.session import get_session
from pymysql.constants import COMMAND
from sqlalchemy import event, text

from strata import config
from strata.clock import SystemClock
from strata.errors import (
    CacheUnavailableError,
    ConfigurationError,
    StorageUnavailableError,
    TransientError,
)
from strata.model.sessions import SessionKey
from strata.storage import connecting
from strata.storage.cache import open_cache
from strata.storage.cache_clients import ElastiCacheLogin
from strata.storage.engine import Database, open_database
from strata.storage.schema import migrate
from strata.storage.secrets import Secret
from strata.storage.signing import login_token
from tests.fakes.limits import assert_ends_within
from tests.fakes.sessions import Desk
from tests.servers.caches import RedisServer
from tests.servers.databases import MariaDb

NEVER_THERE = "mysql+pymysql://app:pw@127.0.0.1:9/strata"


def opened(url: str, **settings: Any) -> Database:
    return open_database(config.Database(url=url, retries=0, **settings), SystemClock())


def one(database: Database) -> int:
    return database.read(lambda connection: int(connection.execute(text("SELECT 1")).scalar_one()))


# --- the database


def test_a_verified_server_is_talked_to_over_tls(mariadb_tls: MariaDb) -> None:
    database = opened(mariadb_tls.fresh_database(), tls=True, ca_file=str(mariadb_tls.ca))
    cipher = database.read(lambda connection: connection.execute(text("SHOW STATUS LIKE 'Ssl_cipher'")).one())
    assert cipher[1]


def test_a_server_that_the_public_roots_do_not_know_is_not_talked_to(mariadb_tls: MariaDb) -> None:
    with pytest.raises(StorageUnavailableError):
        one(opened(mariadb_tls.fresh_database(), tls=True))


def test_a_server_with_another_name_is_not_talked_to(mariadb_tls: MariaDb) -> None:
    url = mariadb_tls.fresh_database().replace("@127.0.0.1:", "@127.1:")  # the same address by a name it does not have
    with pytest.raises(StorageUnavailableError):
        one(opened(url, tls=True, ca_file=str(mariadb_tls.ca)))


def test_a_server_without_tls_is_refused_when_tls_is_asked_for(mariadb: MariaDb, mariadb_tls: MariaDb) -> None:
    with pytest.raises(StorageUnavailableError):
        one(opened(mariadb.fresh_database(), tls=True, ca_file=str(mariadb_tls.ca)))


def test_a_ca_file_that_is_not_there_is_a_mistake_in_the_settings() -> None:
    with pytest.raises(ConfigurationError, match="nowhere"):
        opened(NEVER_THERE, tls=True, ca_file="/nowhere.pem")


def test_an_iam_token_names_the_server_and_the_user() -> None:
    token = login_token("rds-db", "db.example.org:3306", {"DBUser": "app"})
    assert token.startswith("db.example.org:3306/?Action=connect&DBUser=app")
    assert "X-Amz-Signature=" in token
    assert "X-Amz-Expires=900" in token
    theirs = boto3.client("rds").generate_db_auth_token(DBHostname="db.example.org", Port=3306, DBUsername="app")
    assert parse_qs(urlsplit(f"//{token}").query).keys() == parse_qs(urlsplit(f"//{theirs}").query).keys()
    assert token.partition("&X-Amz-Date")[0] == theirs.partition("&X-Amz-Date")[0]


def test_every_connection_gets_its_own_token_and_verified_tls() -> None:
    seen: list[dict[str, Any]] = []
    database = opened("mysql+pymysql://app@db.example.org/strata", iam_auth=True)

    def stop_here(_dialect: object, _record: object, _arguments: object, options: dict[str, Any]) -> None:
        seen.append(dict(options))
        raise StorageUnavailableError

    event.listen(database.engine, "do_connect", stop_here)
    for _ in range(2):
        with pytest.raises(StorageUnavailableError):
            one(database)
    assert [options["password"][:20] for options in seen] == ["db.example.org:3306/"] * 2
    assert all(options["ssl"].check_hostname for options in seen)


class Vault:
    """A Secrets Manager with one secret whose versions are handed out one after the other."""

    def __init__(self, *versions: str) -> None:
        self.versions = list(versions)
        self.asked = 0

    def __call__(self, _service: str) -> Any:
        return SimpleNamespace(get_secret_value=self.get)

    def get(self, SecretId: str) -> dict[str, str]:  # noqa: N803 the service's spelling
        self.asked += 1
        if not self.versions:
            raise ClientError({"Error": {"Code": "AccessDeniedException"}}, "GetSecretValue")
        return {"SecretString": self.versions.pop(0) if len(self.versions) > 1 else self.versions[0]}


def with_secret(server: MariaDb, vault: Vault) -> Database:
    database = opened(server.fresh_database().replace("strata:strata-tests@", ""))
    event.listen(database.engine, "do_connect", connecting._with_secret(Secret("arn:login", vault)))
    return database


def test_a_login_from_a_secret_is_fetched_once(mariadb: MariaDb) -> None:
    vault = Vault('{"username": "strata", "password": "strata-tests"}')
    database = with_secret(mariadb, vault)
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda _: one(database), range(8))) == [1] * 8
    assert vault.asked == 1


def test_a_rotated_password_is_fetched_again(mariadb: MariaDb) -> None:
    vault = Vault('{"username": "strata", "password": "old"}', '{"username": "strata", "password": "strata-tests"}')
    assert one(with_secret(mariadb, vault)) == 1
    assert vault.asked == 2


def test_a_password_that_stays_wrong_is_not_tried_for_ever(mariadb: MariaDb) -> None:
    vault = Vault('{"username": "strata", "password": "wrong"}')
    with pytest.raises(StorageUnavailableError):
        one(with_secret(mariadb, vault))
    assert vault.asked == 2


def test_a_secret_that_cannot_be_read_is_a_passing_error_and_one_of_another_shape_is_not() -> None:
    with pytest.raises(TransientError):
        Secret("arn:x", Vault()).text()
    for spoilt in ("plain", "[1]"):
        with pytest.raises(ConfigurationError):
            Secret("arn:x", Vault(spoilt)).fields()
    with pytest.raises(ConfigurationError, match="username"):
        connecting._login(Secret("arn:x", Vault("{}")))


def test_connections_are_bounded_and_waiting_for_one_is_too(mariadb: MariaDb) -> None:
    database = opened(mariadb.fresh_database(), pool_size=2, pool_wait_seconds=0.2)
    release = threading.Event()
    with ThreadPoolExecutor(2) as pool:
        holders = [pool.submit(database.read, lambda _connection: release.wait(20)) for _ in range(2)]
        time.sleep(0.1)
        with pytest.raises(StorageUnavailableError, match="busy"):
            one(database)
        release.set()
        assert all(holder.result() for holder in holders)
    count = "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE()"
    assert database.read(lambda connection: connection.execute(text(count)).scalar_one()) <= 2


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A server that accepts and never says a word."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(8)
        yield listening.getsockname()[1]


def test_a_silent_server_costs_no_more_than_its_limits(silent_port: int) -> None:
    database = opened(
        f"mysql+pymysql://app:pw@127.0.0.1:{silent_port}/strata", connect_timeout_seconds=0.3, read_timeout_seconds=0.3
    )

    def fail() -> None:
        with pytest.raises(StorageUnavailableError):
            one(database)

    assert_ends_within(2.0, fail)


def test_repeats_end_in_time() -> None:
    settings = config.Database(url=NEVER_THERE, retries=10, retry_seconds=0.2, connect_timeout_seconds=0.1)

    def fail() -> None:
        with pytest.raises(StorageUnavailableError):
            one(open_database(settings, SystemClock()))

    assert_ends_within(3.0, fail)


def test_a_database_of_another_kind_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="postgresql"):
        opened("postgresql://localhost/strata")


def test_what_a_statement_did_wrong_is_no_outage(mariadb: MariaDb) -> None:
    database = opened(mariadb.fresh_database())
    with pytest.raises(Exception, match="nothing_like_it") as raised:
        database.read(lambda connection: connection.execute(text("SELECT * FROM nothing_like_it")))
    assert not isinstance(raised.value, TransientError)


PINNING = {
    "a setting of the session": r"^\s*SET\b(?!\s+(NAMES|AUTOCOMMIT|CHARACTER SET)\b)",
    "a variable": r"(?<![\w@'])@(?!@)\w|:=",
    "a temporary table": r"\bTEMPORARY\b",
    "a lock that is not of a row": r"\b(GET_LOCK|LOCK TABLES?|FLUSH TABLES)\b",
    "a statement prepared on the server": r"^\s*(PREPARE|EXECUTE|DEALLOCATE)\b",
    "what the connection remembers": r"\b(LAST_INSERT_ID|FOUND_ROWS|ROW_COUNT|SQL_CALC_FOUND_ROWS)\b",
}
"""What binds a connection of the database to one client of RDS Proxy (its guide, "Avoiding pinning"); the proxy keeps
track of character set and autocommit by itself. Of a statement beyond 16 KB it does the same."""
QUOTED = re.compile(r"'(?:[^'\\]|\\.|'')*'", re.DOTALL)


def test_nothing_that_sessions_ask_binds_a_connection_of_the_proxy(
    mariadb: MariaDb, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = opened(mariadb.fresh_database(), pool_size=1)
    migrate(database)
    said: list[str] = []
    driver: Any = pymysql.connections.Connection
    execute = driver._execute_command

    def listening(connection: Any, command: int, statement: str | bytes) -> None:
        assert command == COMMAND.COM_QUERY
        text_of = statement.decode(errors="replace") if isinstance(statement, bytes) else statement
        said.append(QUOTED.sub("''", text_of))
        execute(connection, command, statement)

    database.engine.dispose()  # so that a connection is made while we listen
    monkeypatch.setattr(driver, "_execute_command", listening)
    live_a_session(Desk(database, open_cache(config.Cache(url=redis_server.url), SystemClock()), SystemClock()))
    assert len(said) > 20
    found = [(why, one) for one in said for why, rule in PINNING.items() if re.search(rule, one, re.IGNORECASE)]
    assert found == []
    assert max(map(len, said)) < 16_384


def live_a_session(desk: Desk) -> None:
    """Open, continue, repeat, share, read warm and cold, page, end, resume, continue."""
    key = SessionKey(tenant="home", session_id="pinning")
    desk.say(key, "first @home := 1")
    desk.say(key, "second", message_id="m")
    desk.say(key, "second", message_id="m")
    desk.say(key, "third", "fourth")
    desk.participants(key, "cook", ["shopper"])
    desk.say(key, "fifth", agent="shopper")
    desk.read(key)
    desk.cache.drop(key)
    desk.read(key)
    desk.page(key, "cook", limit=2, before_seq=3)
    desk.get(key, "cook")
    desk.end(key, "cook")
    desk.resume(key, "cook")
    desk.say(key, "sixth")


# --- the cache


def signing(**settings: Any) -> ElastiCacheLogin:
    return ElastiCacheLogin(config.Cache(iam_user="strata-user", iam_cache_name="strata-cache", **settings))


def test_a_token_for_the_cache_is_signed_for_its_name_and_user() -> None:
    user, token = signing().get_credentials()
    assert user == "strata-user"
    assert token.startswith("strata-cache/?Action=connect&User=strata-user&ResourceType=ServerlessCache&X-Amz-")
    assert "X-Amz-Signature=" in token
    assert "X-Amz-Expires=900" in token
    assert "ResourceType" not in signing(iam_serverless=False).get_credentials()[1]


def test_the_cache_is_logged_in_to_with_a_token(redis_server: RedisServer) -> None:
    with redis_server.client() as client:
        client.execute_command("ACL SETUSER strata-user on nopass ~* +@all")
        client.execute_command("ACL SETUSER default off")
    try:
        settings = {"iam_auth": True, "iam_user": "strata-user", "iam_cache_name": "strata-cache"}
        with_token = open_cache(config.Cache(url=redis_server.url, **settings), SystemClock())  # type: ignore[arg-type]
        assert with_token.get_working(SessionKey(tenant="t", session_id="s")) is None
        with pytest.raises(CacheUnavailableError):
            open_cache(config.Cache(url=redis_server.url), SystemClock()).load(
                SessionKey(tenant="t", session_id="s"), 1
            )
    finally:
        admin = with_token._link._client()
        admin.execute_command("ACL SETUSER default on nopass")
        with_token.close()


def test_without_credentials_there_is_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    nobody = get_session()
    with pytest.raises(NoCredentialsError):
        login_token("elasticache", "strata-cache", {}, session=lambda: nobody)
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    nowhere = get_session()
    with pytest.raises(NoRegionError):
        login_token("elasticache", "strata-cache", {}, session=lambda: nowhere)
