"""Redis clients as the settings ask for them: in this process, one server, or a cluster; with TLS and IAM tokens."""

import threading
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import certifi

from strata import config
from strata.errors import CacheUnavailableError, ConfigurationError
from strata.storage.signing import login_token

IN_PROCESS = "memory"
_TRUE = frozenset({"1", "true", "yes"})

_in_process: dict[str, Any] = {}
"""The data of ``memory://`` addresses. Kept for the life of the process: its functions share a cache by its address."""
_in_process_lock = threading.Lock()


def connector(settings: config.Cache) -> Callable[[], Any]:
    """Return what makes the client; a cluster client opens its first connection when it is made.

    Raises:
        ConfigurationError: the URL is of another kind.
    """
    parts = urlsplit(settings.url)
    if parts.scheme == IN_PROCESS:
        return lambda: _fake(settings.url)
    if parts.scheme not in {"redis", "rediss"}:
        message = f"STRATA_CACHE_URL: {parts.scheme or settings.url} is not supported"
        raise ConfigurationError(message, hint="Use memory://, redis://host:port/0 or rediss://host:port/0.")
    query = dict(parse_qsl(parts.query))
    cluster = query.pop("cluster", "").lower() in _TRUE
    url = urlunsplit(parts._replace(query=urlencode(query)))
    return lambda: _client(url, cluster=cluster, options=_options(settings, tls=parts.scheme == "rediss"))


def _client(url: str, *, cluster: bool, options: Mapping[str, Any]) -> Any:  # noqa: ANN401 one of two clients
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    never: Any = Retry(NoBackoff(), 0)
    if cluster:
        return redis.RedisCluster.from_url(url, retry=never, **options)
    return redis.Redis.from_url(url, retry=never, **options)


def _options(settings: config.Cache, *, tls: bool) -> dict[str, Any]:
    options: dict[str, Any] = {
        "driver_info": None,  # saves two round trips on every new connection
        "protocol": 2,
        "socket_connect_timeout": settings.connect_timeout_seconds,
        "socket_timeout": settings.timeout_seconds,
    }
    if tls:
        options |= {"ssl_ca_certs": settings.ca_file or certifi.where(), "ssl_check_hostname": True}
    if settings.iam_auth:
        options["credential_provider"] = ElastiCacheLogin(settings)
    return options


def _fake(url: str) -> Any:  # noqa: ANN401 fakeredis is optional
    try:
        import fakeredis
    except ImportError:
        message = "STRATA_CACHE_URL: memory:// needs the package fakeredis[lua]"
        raise ConfigurationError(message, hint="pip install 'strata[local]'") from None
    with _in_process_lock:
        server = _in_process.setdefault(url, fakeredis.FakeServer())
    return fakeredis.FakeRedis(server=server)


class ElastiCacheLogin:
    """Signs a token for every connection. What the client asks of a ``redis.credentials.CredentialProvider``."""

    def __init__(self, settings: config.Cache) -> None:
        self._settings = settings

    def get_credentials(self) -> tuple[str, str]:
        """Return user name and token. Raises CacheUnavailableError."""
        from botocore.exceptions import BotoCoreError

        user = self._settings.iam_user
        kind = {"ResourceType": "ServerlessCache"} if self._settings.iam_serverless else {}
        try:
            return user, login_token("elasticache", self._settings.iam_cache_name, {"User": user, **kind})
        except BotoCoreError as error:
            raise CacheUnavailableError(fields={"cache_error": type(error).__name__}) from error

    async def get_credentials_async(self) -> tuple[str, str]:
        """Return the same; the client's protocol has it."""
        return self.get_credentials()
