"""A double of a web service: a real server on loopback that keeps what it was asked and fails when told to."""

import gzip
import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol, Self, cast
from urllib.parse import parse_qsl, urlsplit

from tests.doubles.faults import AT_THE_DOOR, NO_ANSWER, Fault, FaultPlan, Planned
from tests.servers.certificates import Certificates

NULL = object()
"""A body that is the JSON null; None is no body at all."""

TEN_MEGABYTES = 10 * 1024 * 1024
_HUGE = b"[" + b"0," * (TEN_MEGABYTES // 2) + b"0]"
_COMPRESSED = gzip.compress(b" " * TEN_MEGABYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Any
    """The parsed JSON, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


class Service(Protocol):
    """What a double does behind its door."""

    def answer(self, asked: Asked) -> Reply:
        """Do what is asked."""
        ...


class Double:
    """A service behind HTTP. A context manager; the port is free and chosen by the system."""

    def __init__(self, service: Service, *, certificates: Certificates | None = None) -> None:
        self.service = service
        self.faults = FaultPlan()
        self.asked: list[Asked] = []
        self.stopping = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Door)
        self._server.double = self
        self._scheme = "https" if certificates else "http"
        if certificates:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificates.certificate, certificates.key)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        """The address to configure."""
        return f"{self._scheme}://127.0.0.1:{self._server.server_port}"

    @property
    def connections(self) -> int:
        """How many connections were ever opened."""
        return self._server.connections

    def bodies(self, path: str) -> list[Any]:
        """What was sent to a path."""
        return [asked.body for asked in self.asked if asked.path == path]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_details: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    double: Double
    connections = 0

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections += 1
        super().process_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are the point."""


class _Door(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_POST(self) -> None:
        self._serve()

    do_GET = do_PUT = do_DELETE = do_POST  # noqa: N815

    def log_message(self, *_details: object) -> None:
        """Stay silent."""

    def _serve(self) -> None:
        double = cast("_Server", self.server).double
        asked = self._asked()
        double.asked.append(asked)
        planned = double.faults.take(f"{asked.method} {asked.path}")
        reply = double.service.answer(asked) if not planned or _takes_effect(planned) else Reply()
        if planned:
            self._fail(double, planned, reply)
        else:
            self._send(reply.status, _encoded(reply.body), reply.headers)

    def _asked(self) -> Asked:
        parts = urlsplit(self.path)
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(raw) if raw else None
        except ValueError:
            body = None
        return Asked(
            method=self.command,
            path=parts.path,
            query=dict(parse_qsl(parts.query)),
            headers={name.lower(): value for name, value in self.headers.items()},
            body=body,
        )

    def _send(self, status: int, content: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        if "Content-Length" not in (headers or {}):
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def _fail(self, double: Double, planned: Planned, reply: Reply) -> None:
        content = _encoded(reply.body)
        broken: dict[Fault, Callable[[], object]] = {
            Fault.HANG: lambda: double.stopping.wait(30),
            Fault.RESET: self._reset,
            Fault.CLOSE: lambda: None,
            Fault.NOT_HTTP: lambda: self.wfile.write(b"\x15\x03\x01 no, thank you\r\n\r\n"),
            Fault.DRIP: lambda: self._drip(double, self._head(reply.status, len(content)) + content, whole_head=True),
            Fault.DRIP_HEAD: lambda: self._drip(double, b"HTTP/1.1 200 OK\r\nX-Padding: " + b"x" * 10_000),
            Fault.HUGE_CHUNKED: self._endless,
        }
        if planned.fault in broken:
            self.close_connection = True
            broken[planned.fault]()
        elif planned.fault is Fault.LATE:
            double.stopping.wait(double.faults.late_seconds)
            self._send(reply.status, content, reply.headers)
        else:
            self._send(*_flawed(planned.fault, content))
            self.close_connection = planned.fault is Fault.TRUNCATED_BODY

    def _reset(self) -> None:
        linger = struct.pack("ii", 1, 0)  # on, for no time: the kernel sends RST
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        socket.close(self.connection.detach())

    def _endless(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(TEN_MEGABYTES // 65_536):
            self.wfile.write(b"10000\r\n" + b"0" * 65_536 + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def _head(self, status: int, length: int) -> bytes:
        return f"HTTP/1.1 {status} OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n".encode()

    def _drip(self, double: Double, content: bytes, *, whole_head: bool = False) -> None:
        whole = content.find(b"\r\n\r\n") + 4 if whole_head else 0
        self.wfile.write(content[:whole])
        for position in range(whole, len(content)):
            self.wfile.write(content[position : position + 1])
            self.wfile.flush()
            if double.stopping.wait(double.faults.drip_seconds):
                return


def _takes_effect(planned: Planned) -> bool:
    effective = planned.effective and planned.fault not in AT_THE_DOOR
    return effective or planned.fault not in NO_ANSWER


def _encoded(body: Any) -> bytes:
    if body is NULL:
        return b"null"
    return b"" if body is None else json.dumps(body, ensure_ascii=False).encode()


def _flawed(fault: Fault, content: bytes) -> tuple[int, bytes, Mapping[str, str]]:
    """The status, body and headers of an answer that is complete, and wrong."""
    half = content[: len(content) // 2] or b'{"code": 200, "data": ['
    answers: dict[Fault, tuple[int, bytes, Mapping[str, str]]] = {
        Fault.SERVER_ERROR: (500, _encoded({"code": 500, "message": "boom", "data": None}), {}),
        Fault.UNAVAILABLE: (503, b"<html>no healthy upstream</html>", {}),
        Fault.RATE_LIMITED: (429, _encoded({"detail": "Too many requests.", "retry_after": 1}), {"Retry-After": "1"}),
        Fault.UNAUTHORIZED: (401, _encoded({"detail": "Authentication required."}), {}),
        Fault.REDIRECT: (307, b"", {"Location": "http://127.0.0.1:9/elsewhere"}),
        Fault.GARBAGE: (200, b"\x00\xff<!doctype html>" * 10, {}),
        Fault.HUGE: (200, _HUGE, {}),
        Fault.COMPRESSED: (200, _COMPRESSED, {"Content-Encoding": "gzip"}),
        Fault.TRUNCATED_JSON: (200, half, {}),
        Fault.TRUNCATED_BODY: (200, half, {"Content-Length": str(len(half) + 100)}),
        Fault.ACCEPTED_EMPTY: (202, b"", {}),
        Fault.WRONG_SHAPE: (200, _encoded({"code": 200, "message": "ok", "data": "yes", "results": "yes"}), {}),
        Fault.DEEP: (200, b"[" * 100_000, {}),
    }
    return answers[fault]
