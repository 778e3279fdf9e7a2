"""httpx's transport with a hard end: no read, write or handshake outlasts the deadline of its request.

httpx's own timeouts bound each wait, not their sum: a server that sends one byte every half second is never too late.
Here each wait takes what is left of the request's deadline, which arrives as an ``Until`` in its timeouts.
"""

import ssl
from collections.abc import Iterable
from typing import Any

import certifi
import httpcore
import httpx

from strata.errors import ConfigurationError
from strata.providers.deadline import Until

_LIMITS = httpx.Limits(max_connections=32, max_keepalive_connections=8, keepalive_expiry=15.0)
"""Idle connections go before a load balancer (60 s and less) closes them under us."""


class DeadlineTransport(httpx.HTTPTransport):
    """Connections verified against ``ca_file`` or the public roots; proxies of the environment are ignored."""

    def __init__(self, *, tls: bool = True, ca_file: str = "") -> None:
        context = _tls_context(ca_file) if tls else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # trusts nobody
        super().__init__(verify=context, trust_env=False, limits=_LIMITS)
        self._pool = httpcore.ConnectionPool(
            ssl_context=context,
            max_connections=_LIMITS.max_connections,
            max_keepalive_connections=_LIMITS.max_keepalive_connections,
            keepalive_expiry=_LIMITS.keepalive_expiry,
            network_backend=_DeadlineBackend(),
        )


def _tls_context(ca_file: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file or certifi.where())
    except OSError as error:
        raise ConfigurationError("STRATA_PROVIDERS_CA_FILE cannot be read as certificates.") from error


def _left(timeout: float | None, late: type[httpcore.TimeoutException]) -> float | None:
    """Return the seconds for the next wait. Raises ``late`` if there are none."""
    if not isinstance(timeout, Until):
        return timeout
    left = timeout.left()
    if left <= 0:
        raise late("deadline")
    return left


class _DeadlineStream(httpcore.NetworkStream):
    """A connection whose waits end with the request's deadline."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = _left(timeout, httpcore.ConnectTimeout)
        return _DeadlineStream(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 httpcore's own signature
        return self._stream.get_extra_info(info)


class _DeadlineBackend(httpcore.NetworkBackend):
    """Opens such connections."""

    def __init__(self) -> None:
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        left = _left(timeout, httpcore.ConnectTimeout)
        return _DeadlineStream(self._sockets.connect_tcp(host, port, left, local_address, socket_options))
