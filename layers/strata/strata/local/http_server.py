"""A small HTTP/1.1 server: keep-alive, no Nagle delay, a bounded number of connections, a bounded body.

It knows nothing of routes; ``respond`` turns a request into a response, in the connection's thread.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from strata.local.events import HttpRequest
from strata.observability import logger

HOST = "127.0.0.1"
CONNECTIONS = 128
IDLE_SECONDS = 30
DRAINED_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """A response; header names may repeat."""

    status: int
    body: bytes = b""
    headers: Sequence[tuple[str, str]] = ()


Respond = Callable[[HttpRequest], HttpResponse]
Refuse = Callable[[int, str], HttpResponse]


class HttpServer:
    """Serves ``respond`` on the loopback interface from ``start`` to ``stop``.

    ``refuse`` makes the response to what is not a proper request: a status and a sentence.
    """

    def __init__(self, port: int, respond: Respond, refuse: Refuse, *, max_body_bytes: int) -> None:
        """Bind the port (0 = any free one). Raises OSError if it is taken."""
        served = {"respond": staticmethod(respond), "refuse": staticmethod(refuse), "max_body_bytes": max_body_bytes}
        handler = type("Connection", (_Connection,), served)
        self._server = _Server((HOST, port), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="http", daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def start(self) -> None:
        """Answer requests from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Accept no more connections."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._free = threading.BoundedSemaphore(CONNECTIONS)
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 as the library has it
        self._free.acquire()
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 as the library has it
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002 as the library has it
        logger.debug("http.connection_lost", exc_info=True, extra={"peer": str(client_address)})


_NOT_OUR_FAULT = {
    HTTPStatus.NOT_IMPLEMENTED: HTTPStatus.METHOD_NOT_ALLOWED,
    HTTPStatus.HTTP_VERSION_NOT_SUPPORTED: HTTPStatus.BAD_REQUEST,
}
"""What the library calls a failure of the server and is a request that nobody should send."""


class _BodyRefused(Exception):
    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    default_request_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    timeout = IDLE_SECONDS
    server_version = "strata"
    sys_version = ""
    respond: Respond
    refuse: Refuse
    max_body_bytes: int

    def _exchange(self) -> None:
        try:
            body = self._read_body()
        except _BodyRefused as refusal:
            self.send_error(refusal.status, str(refusal))
            return
        target = self.path if self.path.startswith("/") else urlsplit(self.path)._replace(scheme="", netloc="").geturl()
        path, _, query = target.partition("?")
        request = HttpRequest(
            method=self.command,
            path=path,
            query=query,
            headers=list(self.headers.items()),
            body=body,
            source_ip=self.client_address[0],
            protocol=self.request_version,
        )
        self._send(self.respond(request))

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _exchange  # noqa: N815 the library's names

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what is not a request, and hang up: what follows on the connection cannot be told apart."""
        self.close_connection = True
        status = _NOT_OUR_FAULT.get(HTTPStatus(code), HTTPStatus(code))
        self._send(self.refuse(int(status), message or explain or status.phrase))

    def log_message(self, *_: object) -> None:
        """Say nothing: the handlers log."""

    def _send(self, response: HttpResponse) -> None:
        self.send_response(response.status)
        for name, value in response.headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(response.body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)

    def _read_body(self) -> bytes:
        encoding = self.headers.get("Transfer-Encoding", "").lower()
        length = self.headers.get("Content-Length")
        if encoding and (encoding != "chunked" or length is not None):
            raise _BodyRefused(HTTPStatus.BAD_REQUEST, "The length of the body is not clear.")
        return self._read_chunks() if encoding else self._read_length(length or "0")

    def _read_length(self, given: str) -> bytes:
        if not (given.isascii() and given.isdigit()):
            raise _BodyRefused(HTTPStatus.BAD_REQUEST, "Content-Length is not a number.")
        length = int(given)
        if length > self.max_body_bytes:
            self._drain(min(length, DRAINED_BYTES))
            raise _BodyRefused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "Request Entity Too Large")
        body = self.rfile.read(length)
        if len(body) < length:
            raise _BodyRefused(HTTPStatus.BAD_REQUEST, "The body is shorter than announced.")
        return body

    def _read_chunks(self) -> bytes:
        body = bytearray()
        while size := self._chunk_size():
            body += self.rfile.read(size)
            if len(body) > self.max_body_bytes:
                raise _BodyRefused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "Request Entity Too Large")
            self.rfile.readline(16)
        while self.rfile.readline(65_536).strip():
            pass
        return bytes(body)

    def _chunk_size(self) -> int:
        try:
            size = int(self.rfile.readline(1_024).partition(b";")[0], 16)
        except ValueError:
            raise _BodyRefused(HTTPStatus.BAD_REQUEST, "The body is not chunked as announced.") from None
        if not 0 <= size <= self.max_body_bytes:
            raise _BodyRefused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "Request Entity Too Large")
        return size

    def _drain(self, length: int) -> None:
        """Read and forget: a client that is still sending would not hear the answer."""
        while length > 0 and (chunk := self.rfile.read(min(length, 65_536))):
            length -= len(chunk)
