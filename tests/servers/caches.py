"""Redis servers for the tests: one alone, one with TLS in cluster mode (as ElastiCache Serverless is), three nodes."""

import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.servers.certificates import Certificates
from tests.servers.process import HOST, ServerProcess, free_port, wait_until

BINARIES = ("redis-server", "redis-cli")
_LIMIT_SECONDS = 20.0
NO_RETRY = Retry(NoBackoff(), 0)
_IN_MEMORY = ("--save", "", "--appendonly", "no")


class RedisServer(ServerProcess):
    """One Redis, empty at each start."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.host = HOST
        self.port = free_port()
        command = ["redis-server", "--bind", HOST, "--dir", str(folder), *_IN_MEMORY, *self.listen(), *options]
        super().__init__(command, log=folder / "redis.log", ready=self._pings, limit_seconds=_LIMIT_SECONDS)

    @property
    def url(self) -> str:
        """As `STRATA_CACHE_URL` takes it."""
        return f"redis://{self.host}:{self.port}/0"

    def listen(self) -> Sequence[str]:
        """The options that say where it listens."""
        return ("--port", str(self.port))

    def client(self) -> redis.Redis:
        """A plain client with short timeouts, for a test to look behind the product's back."""
        return redis.Redis(host=self.host, port=self.port, socket_timeout=2, retry=NO_RETRY)

    def flush(self) -> None:
        """Forget every key."""
        with self.client() as client:
            client.flushall()

    def _pings(self) -> bool:
        with suppress(redis.RedisError), self.client() as client:
            return bool(client.ping())
        return False


class ClusterNode(RedisServer):
    """One node of a cluster; it owns no slots until it is given some."""

    def __init__(self, folder: Path, *options: str) -> None:
        bus = ("--cluster-port", str(free_port()))
        announce = ("--cluster-announce-ip", HOST)
        super().__init__(folder, "--cluster-enabled", "yes", *bus, *announce, *options)

    @property
    def url(self) -> str:
        """As `STRATA_CACHE_URL` takes it."""
        return f"redis://{self.host}:{self.port}/0?cluster=true"

    def cluster_ok(self) -> bool:
        """Whether the node sees all slots served."""
        with self.client() as client:
            info = client.execute_command("CLUSTER INFO")
        return b"cluster_state:ok" in info if isinstance(info, bytes) else info["cluster_state"] == "ok"


class TlsNode(ClusterNode):
    """A cluster of one that speaks nothing but TLS."""

    def __init__(self, folder: Path, certificates: Certificates) -> None:
        self.ca = certificates.ca
        files = ("--tls-cert-file", str(certificates.certificate), "--tls-key-file", str(certificates.key))
        verify = ("--tls-ca-cert-file", str(certificates.ca), "--tls-auth-clients", "no", "--tls-cluster", "yes")
        super().__init__(folder, *files, *verify)

    @property
    def url(self) -> str:
        """As `STRATA_CACHE_URL` takes it."""
        return f"rediss://{self.host}:{self.port}/0?cluster=true"

    def start(self) -> None:
        """Start it and take all slots. Usable two seconds later: Redis delays a cluster's first writes that long."""
        super().start()
        if not self.cluster_ok():
            with self.client() as client:
                client.execute_command("CLUSTER ADDSLOTSRANGE", 0, 16_383)
        wait_until(self.cluster_ok, seconds=_LIMIT_SECONDS, otherwise=lambda: "the cluster did not come up")

    def listen(self) -> Sequence[str]:
        """The options that say where it listens."""
        return ("--port", "0", "--tls-port", str(self.port))

    def client(self) -> redis.Redis:
        """A plain client that verifies the server."""
        ca = str(self.ca)
        return redis.Redis(host=self.host, port=self.port, ssl=True, ssl_ca_certs=ca, socket_timeout=2, retry=NO_RETRY)


class RedisCluster:
    """Three nodes that share the slots: what crosses slots fails here, as it does in production."""

    def __init__(self, folder: Path) -> None:
        self.nodes = [ClusterNode(_made(folder / str(number))) for number in range(3)]

    @property
    def url(self) -> str:
        """As `STRATA_CACHE_URL` takes it."""
        return self.nodes[0].url

    def start(self) -> None:
        """Start the nodes, join them and wait until each sees all slots served."""
        for node in self.nodes:
            node.start()
        addresses = [f"{node.host}:{node.port}" for node in self.nodes]
        create = ["redis-cli", "--cluster", "create", *addresses, "--cluster-replicas", "0", "--cluster-yes"]
        subprocess.run(create, check=True, capture_output=True)
        wait_until(self._ok, seconds=_LIMIT_SECONDS, otherwise=lambda: "the cluster did not come up")

    def flush(self) -> None:
        """Forget every key on every node."""
        for node in self.nodes:
            node.flush()

    def stop(self) -> None:
        """End all nodes."""
        for node in self.nodes:
            node.stop()

    def _ok(self) -> bool:
        return all(node.cluster_ok() for node in self.nodes)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
