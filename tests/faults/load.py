"""Writers and readers that keep account: who was told what, and what was read.

A writer repeats a message under the same id until it is acknowledged, as clients do. A reader asks for what had been
acknowledged before it asked.
"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from strata import config
from strata.clock import SystemClock
from strata.errors import StorageUnavailableError, TransientError
from strata.model.sessions import SessionKey
from strata.storage.cache import open_cache
from strata.storage.engine import open_database
from strata.storage.schema import migrate
from tests.fakes.sessions import Desk

GIVE_UP_SECONDS = 40.0


def desk(database_url: str, cache_url: str, *, threads: int = 8, read_seconds: float = 1.0) -> Desk:
    """The session flows of one process, with limits as short as a function has them."""
    limits = {"read_timeout_seconds": read_seconds, "write_timeout_seconds": read_seconds}
    settings = config.Database(url=database_url, pool_size=threads, pool_wait_seconds=20, **limits)  # type: ignore[arg-type]
    database = open_database(settings, SystemClock())
    migrate(database)
    return Desk(database, open_cache(config.Cache(url=cache_url), SystemClock()), SystemClock())


@dataclass
class Account:
    """What was acknowledged, refused and read, and how long it took."""

    acknowledged: dict[SessionKey, list[tuple[str, int]]] = field(default_factory=dict)
    """Per session, in the order of the answers: content and seq."""
    refused: int = 0
    wrong: list[str] = field(default_factory=list)
    slowest: float = 0.0
    """Of all calls, whoever made them; seconds."""
    reads: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def acknowledge(self, key: SessionKey, content: str, seq: int) -> None:
        with self.lock:
            self.acknowledged.setdefault(key, []).append((content, seq))

    def newest(self, key: SessionKey) -> int:
        with self.lock:
            return max((seq for _, seq in self.acknowledged.get(key, [])), default=0)

    def timed(self, work: Callable[[], object]) -> bool:
        """Run a call; tell whether it went through. A clean refusal is counted."""
        began = time.monotonic()
        try:
            work()
        except StorageUnavailableError:
            with self.lock:
                self.refused += 1
            return False
        finally:
            self.took(began)
        return True

    def took(self, began: float) -> None:
        """Note how long a call took that began at an instant."""
        with self.lock:
            self.slowest = max(self.slowest, time.monotonic() - began)


def write(at: Desk, account: Account, key: SessionKey, writer: str, messages: int, pause: float = 0.0) -> None:
    """Append messages one by one, each until it is acknowledged."""
    for number in range(messages):
        content = f"{writer}-{number}"
        give_up_at = time.monotonic() + GIVE_UP_SECONDS
        while True:
            began = time.monotonic()
            try:
                answered = at.say(key, content, message_id=content)
            except TransientError:
                account.took(began)
                assert time.monotonic() < give_up_at, "never acknowledged"
                time.sleep(0.05)
                continue
            account.took(began)
            account.acknowledge(key, content, answered.messages[0].seq)
            break
        time.sleep(pause)


def read(at: Desk, account: Account, keys: Sequence[SessionKey], stop: threading.Event) -> None:
    """Read windows until told to stop; what is not right is kept."""
    while not stop.is_set():
        for key in keys:
            floor = account.newest(key)
            if floor and account.timed(lambda key=key, floor=floor: _check(at, account, key, floor)):  # type: ignore[misc]
                account.reads += 1
        time.sleep(0.005)


def _check(at: Desk, account: Account, key: SessionKey, floor: int) -> None:
    seqs = [message.seq for message in at.read(key).window.messages]
    newest = seqs[-1] if seqs else 0
    if newest < floor or seqs != list(range(newest - len(seqs) + 1, newest + 1)) or len(seqs) < min(60, newest):
        with account.lock:
            account.wrong.append(f"{key.session_id}: acknowledged {floor}, read {seqs[:1]}..{newest} ({len(seqs)})")


def under_load(
    writing: Desk, reading: Desk, keys: Sequence[SessionKey], disturb: Callable[[], None], *, messages: int = 60
) -> Account:
    """Let 8 writers write and 2 readers read while something happens to a server; return the account."""
    account, stop = Account(), threading.Event()
    with ThreadPoolExecutor(10) as pool:
        readers = [pool.submit(read, reading, account, keys, stop) for _ in range(2)]
        writers = [
            pool.submit(write, writing, account, keys[number % len(keys)], f"w{number}", messages, 0.01)
            for number in range(8)
        ]
        disturb()
        for writer in writers:
            writer.result()
        stop.set()
        for reader in readers:
            reader.result()
    return account


def assert_kept(at: Desk, account: Account, keys: Sequence[SessionKey], messages: int = 60) -> None:
    """Each acknowledged message is there once, at its seq, in its writer's order; no gaps; cache and database agree."""
    late_comer = desk(at.database.engine.url.render_as_string(hide_password=False), at.cache._settings.url)
    for key in keys:
        stored = at.log.tail(key, 10_000)
        assert [message.seq for message in stored] == list(range(1, len(stored) + 1))
        by_content = {str(message.content): message.seq for message in stored}
        assert len(by_content) == len(stored)
        assert dict(account.acknowledged[key]) == by_content
        for writer in {content.partition("-")[0] for content in by_content}:
            own = [by_content[f"{writer}-{number}"] for number in range(messages)]
            assert own == sorted(own)
        assert list(at.read(key).window.messages) == stored[-60:]
        late_comer.read(key)
        assert list(late_comer.cache.load(key, 60).messages) == stored[-60:]
    assert account.wrong == []
