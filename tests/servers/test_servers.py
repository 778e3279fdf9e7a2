"""The servers of the tests do what the fault suites rely on."""

from contextlib import closing

import pymysql
import pytest
import redis

from tests.servers.caches import NO_RETRY, RedisCluster, RedisServer, TlsNode
from tests.servers.certificates import Certificates
from tests.servers.databases import DatabaseServer, MariaDb, MySql
from tests.servers.process import free_port


def test_ports_are_free_and_never_given_twice() -> None:
    ports = [free_port() for _ in range(50)]
    assert len(set(ports)) == 50
    assert all(port < 32_768 for port in ports)


@pytest.mark.redis
class TestRedis:
    def test_a_killed_server_comes_back_empty_on_its_port(self, breakable_redis: RedisServer) -> None:
        address = breakable_redis.url
        with breakable_redis.client() as client:
            client.set("key", "value")
        breakable_redis.kill()
        assert not breakable_redis.alive
        with breakable_redis.client() as client, pytest.raises(redis.ConnectionError):
            client.ping()
        breakable_redis.restart()
        with breakable_redis.client() as client:
            assert client.get("key") is None
        assert breakable_redis.url == address

    def test_a_paused_server_is_silent_until_it_is_resumed(self, breakable_redis: RedisServer) -> None:
        hasty = redis.Redis(port=breakable_redis.port, socket_timeout=0.1, retry=NO_RETRY)
        breakable_redis.pause()
        with closing(hasty), pytest.raises(redis.TimeoutError):
            hasty.ping()
        breakable_redis.resume()
        with breakable_redis.client() as client:
            assert client.ping()

    def test_restore_mends_whatever_was_done(self, breakable_redis: RedisServer) -> None:
        for harm in (breakable_redis.kill, breakable_redis.pause):
            harm()
            breakable_redis.restore()
            with breakable_redis.client() as client:
                assert client.ping()

    def test_the_cache_of_a_contract_suite_is_empty(self, cache_url: str) -> None:
        assert cache_url == "memory://" or redis.Redis.from_url(cache_url).dbsize() == 0

    @pytest.mark.slow
    def test_three_nodes_refuse_what_crosses_slots(self, redis_cluster: RedisCluster) -> None:
        with closing(redis.RedisCluster.from_url(redis_cluster.url)) as client:
            assert client.set("{one}a", "1")
            with pytest.raises(redis.RedisClusterException):
                client.mget(["{one}a", "{two}b"])

    @pytest.mark.slow
    def test_tls_node_wants_tls_and_proves_who_it_is(self, redis_tls: TlsNode, certificates: Certificates) -> None:
        with closing(redis.RedisCluster.from_url(redis_tls.url, ssl_ca_certs=str(certificates.ca))) as client:
            assert client.set("key", "value")
        plain = redis.Redis(port=redis_tls.port, retry=NO_RETRY)
        with closing(plain), pytest.raises(redis.ConnectionError):
            plain.ping()


class TestDatabases:
    @pytest.mark.mariadb
    def test_a_killed_server_keeps_what_was_committed(self, breakable_mariadb: MariaDb) -> None:
        name = breakable_mariadb.fresh_database().rpartition("/")[2]
        breakable_mariadb.execute(f"CREATE TABLE {name}.kept (word VARCHAR(20)) CHARACTER SET utf8mb4")
        breakable_mariadb.execute(f"INSERT INTO {name}.kept VALUES ('不吃香菜')")
        breakable_mariadb.execute("SET GLOBAL innodb_flush_log_at_trx_commit = 1")
        breakable_mariadb.execute(f"INSERT INTO {name}.kept VALUES ('花生过敏 🥜')")
        breakable_mariadb.restart()
        rows = breakable_mariadb.execute(f"SELECT word FROM {name}.kept")
        assert [row["word"] for row in rows] == ["不吃香菜", "花生过敏 🥜"]

    @pytest.mark.mariadb
    def test_a_paused_server_is_silent(self, breakable_mariadb: MariaDb) -> None:
        with closing(breakable_mariadb.connect(read_timeout=1)) as connection, connection.cursor() as cursor:
            breakable_mariadb.pause()
            with pytest.raises(pymysql.OperationalError):
                cursor.execute("SELECT 1")
        breakable_mariadb.restore()
        assert breakable_mariadb.execute("SELECT 1 AS one") == [{"one": 1}]

    @pytest.mark.mariadb
    def test_tls_is_demanded_and_the_name_verified(self, mariadb_tls: MariaDb, certificates: Certificates) -> None:
        verified = {"ssl": {"ca": str(certificates.ca), "check_hostname": True}}
        with closing(mariadb_tls.connect(**verified)) as connection, connection.cursor() as cursor:
            cursor.execute("SHOW STATUS LIKE 'Ssl_version'")
            assert cursor.fetchone() == ("Ssl_version", "TLSv1.3")
        with pytest.raises(pymysql.OperationalError):
            mariadb_tls.connect(ssl_disabled=True)

    @pytest.mark.mysql
    def test_mysql_is_the_real_one(self, mysql: MySql) -> None:
        (row,) = mysql.execute("SELECT VERSION() AS version")
        assert "MariaDB" not in row["version"]
        assert int(row["version"].partition(".")[0]) >= 8

    def test_the_database_of_a_contract_suite_is_empty(self, database_url: str, request: pytest.FixtureRequest) -> None:
        kind, _, rest = database_url.partition("://")
        if kind == "sqlite":
            assert rest.startswith("//")
            return
        server: DatabaseServer = request.getfixturevalue("mariadb" if "mariadb" in request.node.name else "mysql")
        assert server.execute(f"SHOW TABLES IN {database_url.rpartition('/')[2]}") == []
