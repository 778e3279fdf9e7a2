"""The session flows on the servers people run: how often they ask, and that both copies agree."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count

import pytest

from strata import config
from strata.clock import SystemClock
from strata.model.sessions import SessionKey
from strata.storage.cache import open_cache
from strata.storage.engine import open_database
from strata.storage.schema import migrate
from tests.fakes.chat import ScriptedChat
from tests.fakes.sessions import Desk
from tests.fakes.wire import counted
from tests.servers.caches import RedisCluster, RedisServer, TlsNode
from tests.servers.databases import MariaDb

names = (f"served-{number}" for number in count())
SAID = ["报销已提交 🧾👍🏽 谢谢！→ done ✅", "👨‍👩‍👧 一家三口", "می‌خواهم", "a\u200bb", 'It\'s \\ "quoted" %s\r\n']


def opened(database_url: str, cache: config.Cache, chat: ScriptedChat | None = None) -> Desk:
    database = open_database(config.Database(url=database_url), SystemClock())
    migrate(database)
    return Desk(database, open_cache(cache, SystemClock()), SystemClock(), chat=chat)


@pytest.fixture(scope="module")
def database_url(mariadb: MariaDb) -> Iterator[str]:
    url = mariadb.fresh_database()
    yield url
    mariadb.drop_database(url)


@pytest.fixture
def desk(database_url: str, redis_server: RedisServer) -> Iterator[Desk]:
    made = opened(database_url, config.Cache(url=redis_server.url))
    yield made
    made.database.close()
    made.cache.close()


@pytest.fixture
def key() -> SessionKey:
    return SessionKey(tenant="home", session_id=next(names))


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    return counted(monkeypatch)


@pytest.mark.parametrize("server", ["redis_server", "redis_cluster"])
def test_round_trips(
    request: pytest.FixtureRequest, database_url: str, key: SessionKey, sent: Counter[str], server: str
) -> None:
    """An append is one statement and one script; a hot read one script; a cold one a statement between two scripts."""
    node: RedisServer | RedisCluster = request.getfixturevalue(server)
    desk = opened(database_url, config.Cache(url=node.url))
    desk.say(key, "first")
    node.flush()
    desk.read(key)  # from now on the server knows every script

    def trips(work: Callable[[], object]) -> dict[str, int]:
        sent.clear()
        work()
        return dict(sent)

    assert trips(lambda: desk.say(key, "one more")) == {"statements": 1, "commands": 1}
    assert trips(lambda: desk.say(key, "and", "two more")) == {"statements": 1, "commands": 1}
    assert trips(lambda: desk.read(key)) == {"commands": 1}
    node.flush()
    assert trips(lambda: desk.read(key)) == {"statements": 1, "commands": 2}
    assert trips(lambda: desk.read(key)) == {"commands": 1}
    desk.database.close()
    desk.cache.close()


def test_warm_and_cold_are_the_same_to_the_character(desk: Desk, key: SessionKey, redis_server: RedisServer) -> None:
    desk.say(key, *SAID)
    assert desk.contents(key) == SAID
    warm = desk.read(key)
    redis_server.flush()
    assert desk.read(key) == warm
    assert desk.read(key) == warm


@pytest.mark.parametrize("server", ["redis_tls", "redis_cluster"])
def test_a_sessions_whole_life_in_cluster_mode(request: pytest.FixtureRequest, database_url: str, server: str) -> None:
    node: TlsNode | RedisCluster = request.getfixturevalue(server)
    cache = config.Cache(url=node.url, ca_file=str(getattr(node, "ca", "")))
    desk = opened(database_url, cache, ScriptedChat("摘要"))
    for number in range(50):
        key = SessionKey(tenant="home", session_id=f"{next(names)} {{会话}} {number}")
        assert desk.say(key, *(f"m{place}" for place in range(25))).cached
        desk.working.put(key, "cook", {"step": number})
        short = desk.read(key)
        assert len(short.window.messages) == 25
        assert (short.working, short.degraded) == ({"step": number}, ())
        assert desk.end(key, "cook").upto_seq == 25
        assert desk.summarise(key) is not None
        assert desk.read(key, rounds=1).window.summary is not None
        desk.cache.drop(key)
        assert desk.read(key).degraded == ()
    desk.database.close()
    desk.cache.close()
