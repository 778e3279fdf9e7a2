"""How a connection to the database is made: timeouts, TLS with verification, secrets, IAM tokens.

A password or token is asked for when a connection is opened and never before, so that nothing is fetched at import and
a token is never older than its connection.
"""

import ssl
from collections.abc import Callable
from datetime import datetime
from typing import Any

import certifi
from sqlalchemy import event
from sqlalchemy.engine import Dialect, Engine

from strata import config
from strata.errors import ConfigurationError, StorageUnavailableError
from strata.storage.secrets import Secret
from strata.storage.signing import login_token

FOUND_ROWS = 2
"""Client flag: an update that writes equal values still counts its row."""
ACCESS_DENIED = 1045
_DEFAULT_PORT = 3306
_DATETIME_FIELD = 12


def sqlite_options(settings: config.Database) -> dict[str, Any]:
    """Return what ``sqlite3.connect`` is given."""
    return {"timeout": settings.lock_wait_seconds, "check_same_thread": False}


def mysql_options(settings: config.Database) -> dict[str, Any]:
    """Return what ``pymysql.connect`` is given."""
    from pymysql.converters import conversions

    options = {
        "autocommit": True,
        "charset": "utf8mb4",
        "client_flag": FOUND_ROWS,
        "connect_timeout": settings.connect_timeout_seconds,
        "conv": {**conversions, _DATETIME_FIELD: datetime.fromisoformat},  # the driver's own takes ten times as long
        "read_timeout": settings.read_timeout_seconds,
        "write_timeout": settings.write_timeout_seconds,
    }
    if settings.tls or settings.iam_auth:
        options["ssl"] = verifying(settings.ca_file)
    return options


def verifying(ca_file: str) -> ssl.SSLContext:
    """Return a TLS context that checks chain and name, against a file or the public roots.

    Raises:
        ConfigurationError: the file cannot be read.
    """
    try:
        return ssl.create_default_context(cafile=ca_file or certifi.where())
    except OSError as error:
        message = f"The CA file {ca_file} cannot be read: {error.strerror or error}"
        raise ConfigurationError(message) from None


def prepare(engine: Engine, settings: config.Database) -> None:
    """Let the engine's connections be made as the settings say."""
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
    elif settings.iam_auth:
        event.listen(engine, "do_connect", _with_token)
    elif settings.secret_arn:
        event.listen(engine, "do_connect", _with_secret(Secret(settings.secret_arn)))


def _prepare_sqlite(connection: Any, _record: object) -> None:  # noqa: ANN401 the driver's connection
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _with_token(_dialect: Dialect, _record: object, _arguments: object, options: dict[str, Any]) -> None:
    from botocore.exceptions import BotoCoreError

    address = f"{options['host']}:{options.get('port') or _DEFAULT_PORT}"
    try:
        options["password"] = login_token("rds-db", address, {"DBUser": options["user"]})
    except BotoCoreError as error:
        raise StorageUnavailableError(fields={"reason": type(error).__name__}) from error


def _with_secret(secret: Secret) -> Callable[[Dialect, object, list[Any], dict[str, Any]], Any]:
    """Log in as the secret says; if the server refuses that, the password was rotated: fetch it again, once."""

    def connect(dialect: Dialect, _record: object, arguments: list[Any], options: dict[str, Any]) -> Any:  # noqa: ANN401
        driver: Any = dialect.loaded_dbapi
        try:
            return driver.connect(*arguments, **{**options, **_login(secret)})
        except driver.OperationalError as error:
            if error.args[0] != ACCESS_DENIED:
                raise
            secret.forget()
            return driver.connect(*arguments, **{**options, **_login(secret)})

    return connect


def _login(secret: Secret) -> dict[str, str]:
    fields = secret.fields()
    try:
        return {"user": fields["username"], "password": fields["password"]}
    except KeyError as error:
        message = f"The database secret has no field {error}"
        raise ConfigurationError(message) from None
