"""Rights are kept inside the statements, on every database and on every path that returns or changes a memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

import pytest

from strata.errors import ForbiddenError, NotFoundError, StrataError
from strata.model.events import Read
from strata.model.memories import AccessPolicy, Collection, CollectionKind, Registration
from strata.ports import Access
from strata.sharing.units import NewUnit, UnitChange
from tests.fakes.library import Shelf

HOME = "household_001"
NAMES = ("owner", "writer", "reader", "other_type", "unregistered", "revoked", "expired", "other_tenant", "admin")
Operation = Callable[[Shelf, Access, str], object]


@dataclass
class House:
    """A shared collection with one memory, and everybody who may or may not use it."""

    shelf: Shelf
    memory_id: str

    def renew(self) -> None:
        """Put another memory in the place of one that was changed."""
        unit = NewUnit(memory_type="user_preference", content=uuid4().hex)
        self.memory_id = self.shelf.library.insert(self.shelf.access("owner"), HOME, unit).memory.memory_id
        self.shelf.library.update(self.shelf.access("owner"), HOME, self.memory_id, UnitChange(content="不吃芹菜"))

    def access(self, name: str) -> Access:
        if name == "other_tenant":
            return Access(tenant=f"not-{self.shelf.tenant}", agent_id="owner")
        return self.shelf.access(name, admin=name == "admin")


@pytest.fixture
def house(shelf: Shelf) -> House:
    other = Shelf(shelf.database, shelf.clock, f"not-{shelf.tenant}")
    for one in (shelf, other):
        one.collections.put(one.admin, HOME)
        one.grants.register(one.admin, HOME, "owner", read=True, write=True)
    for agent in ("writer", "revoked"):
        shelf.grants.register(shelf.admin, HOME, agent, read=True, write=True)
    shelf.grants.register(shelf.admin, HOME, "reader", read=True, write=False)
    shelf.grants.register(shelf.admin, HOME, "other_type", read=True, write=True, memory_types=["price_alert"])
    ends = shelf.clock.now() + timedelta(seconds=10)
    shelf.grants.register(shelf.admin, HOME, "expired", read=True, write=True, expires_at=ends)
    unit = NewUnit(memory_type="user_preference", content="不吃香菜", standing=True, metadata={"session_id": "s1"})
    memory = shelf.library.insert(shelf.access("owner"), HOME, unit).memory
    shelf.library.update(shelf.access("owner"), HOME, memory.memory_id, UnitChange(content="不吃芹菜"))
    read = Read(
        memory_id=memory.memory_id,
        version=1,
        agent_id="reader",
        session_id="s1",
        request_id="r",
        collection=HOME,
        read_at=shelf.clock.now() - timedelta(seconds=1),
    )
    shelf.ledger.record(shelf.tenant, [read])
    shelf.clock.advance(10)
    shelf.grants.revoke(shelf.admin, HOME, "revoked")
    return House(shelf, memory.memory_id)


def _only(found: Sequence[object]) -> object:
    if not found:
        raise NotFoundError
    return found


READS: dict[str, Operation] = {
    "get": lambda shelf, who, which: shelf.library.get(who, HOME, which),
    "get_many": lambda shelf, who, which: _only(shelf.memories.get_many(who, [which], now=shelf.clock.now())),
    "list": lambda shelf, who, which: _only([one for one in shelf.library.listed(who, HOME) if one.memory_id == which]),
    "standing": lambda shelf, who, which: _only(shelf.memories.standing(who, [HOME], now=shelf.clock.now())),
    "search": lambda shelf, who, which: _only(shelf.search(who, HOME, "不吃芹菜", ["user_preference"], 5)),
    "history": lambda shelf, who, which: shelf.library.history(who, HOME, which),
    "diff": lambda shelf, who, which: shelf.rollbacks.diff(who, HOME, which, 1, 2),
    "preview": lambda shelf, who, which: shelf.rollbacks.preview(who, HOME, which, 1),
    "reads": lambda shelf, who, which: shelf.impacts.reads(who, HOME, which),
    "impact": lambda shelf, who, which: shelf.impacts.impact(who, HOME, which),
    "export": lambda shelf, who, which: _only([line for line in shelf.transfer.export(who, HOME) if which in line]),
}
WRITES: dict[str, Operation] = {
    "update": lambda shelf, who, which: shelf.library.update(who, HOME, which, UnitChange(content="吃香菜了")),
    "narrow": lambda shelf, who, which: shelf.library.update(
        who, HOME, which, UnitChange(policy=AccessPolicy(read_agents=("owner", "writer")))
    ),
    "renew": lambda shelf, who, which: shelf.library.update(who, HOME, which, UnitChange(ttl_seconds=60)),
    "delete": lambda shelf, who, which: shelf.library.delete(who, HOME, which),
    "roll_back": lambda shelf, who, which: shelf.rollbacks.roll_back(who, HOME, which, 1),
    "move": lambda shelf, who, which: shelf.library.move(who, HOME, which, "rejection_reason"),
}
INSERTS: dict[str, Operation] = {
    "insert": lambda shelf, who, which: shelf.library.insert(
        who, HOME, NewUnit(memory_type="user_preference", content="爱喝茶")
    )
}
ADMINISTRATION: dict[str, Operation] = {
    "import": lambda shelf, who, which: shelf.transfer.import_lines(who, HOME, []),
    "undo": lambda shelf, who, which: shelf.undo.of_agent(who, "owner", shelf.clock.now() - timedelta(days=1)),
    "undo_run": lambda shelf, who, which: shelf.undo.of_run(who, "r1"),
    "quarantine": lambda shelf, who, which: shelf.reviews.page(who, limit=1),
    "release": lambda shelf, who, which: shelf.reviews.release(who, "q1"),
    "reject": lambda shelf, who, which: shelf.reviews.reject(who, "q1"),
    "put_policy": lambda shelf, who, which: shelf.collections.put(who, HOME),
    "delete_collection": lambda shelf, who, which: shelf.collections.delete(who, HOME),
}
READERS = {"owner", "writer", "reader", "admin"}
WRITERS = {"owner", "writer", "admin"}


def _allowed(house: House, name: str, operation: Operation) -> bool:
    try:
        operation(house.shelf, house.access(name), house.memory_id)
    except NotFoundError:
        return False
    return True


def test_who_may_read(house: House) -> None:
    for name, operation in READS.items():
        assert {who for who in NAMES if _allowed(house, who, operation)} == READERS, name


@pytest.mark.parametrize("operation", WRITES)
def test_who_may_change(house: House, operation: str) -> None:
    shelf, allowed = house.shelf, set()
    for name in NAMES:
        before = shelf.library.history(shelf.admin, HOME, house.memory_id)
        if _allowed(house, name, WRITES[operation]):
            allowed.add(name)
            house.renew()
        else:
            assert shelf.library.history(shelf.admin, HOME, house.memory_id) == before
    assert allowed == WRITERS


def test_who_may_insert(house: House) -> None:
    assert {name for name in NAMES if _allowed(house, name, INSERTS["insert"])} == WRITERS | {"other_tenant"}
    assert len(house.shelf.library.listed(house.shelf.admin, HOME)) == 2


def test_what_is_left_to_administrators(house: House) -> None:
    for operation in ADMINISTRATION.values():
        for name in set(NAMES) - {"admin", "other_tenant"}:
            with pytest.raises(ForbiddenError):
                operation(house.shelf, house.access(name), house.memory_id)


def test_restoring_takes_the_right_to_write(house: House) -> None:
    allowed = set()
    for name in NAMES:
        house.renew()
        house.shelf.library.delete(house.shelf.admin, HOME, house.memory_id)
        if _allowed(house, name, lambda shelf, who, which: shelf.library.restore(who, HOME, which)):
            allowed.add(name)
    assert allowed == WRITERS


def test_every_refusal_is_an_event_with_its_actor(house: House) -> None:
    for name in ("reader", "other_type", "unregistered", "revoked", "expired"):
        before = len(house.shelf.kinds())
        with pytest.raises(NotFoundError):
            house.shelf.library.delete(house.access(name), HOME, house.memory_id)
        new = house.shelf.events.page(house.shelf.tenant, limit=len(house.shelf.kinds()) - before)
        assert [(one.kind, one.actor, one.memory_id, one.detail["operation"]) for one in new] == [
            ("access.refused", name, house.memory_id, "delete")
        ]


def test_a_refusal_and_an_absence_look_the_same(house: House) -> None:
    errors: list[StrataError] = []
    for memory_id, collection in ((house.memory_id, HOME), ("nothing", HOME), ("nothing", "nowhere")):
        with pytest.raises(NotFoundError) as refused:
            house.shelf.library.get(house.access("unregistered"), collection, memory_id)
        errors.append(refused.value)
    assert len({(type(error), error.message, error.hint, str(error.fields)) for error in errors}) == 1


def test_another_tenant_leaves_no_trace_here(house: House) -> None:
    before = house.shelf.kinds()
    for operation in (*READS.values(), *WRITES.values()):
        with pytest.raises(NotFoundError):
            operation(house.shelf, house.access("other_tenant"), house.memory_id)
    assert house.shelf.kinds() == before


def test_revocation_holds_from_the_next_statement_on(house: House) -> None:
    house.shelf.library.get(house.access("writer"), HOME, house.memory_id)
    house.shelf.grants.revoke(house.shelf.admin, HOME, "writer")
    for operation in (*READS.values(), *WRITES.values(), *INSERTS.values()):
        with pytest.raises(NotFoundError):
            operation(house.shelf, house.access("writer"), house.memory_id)


def test_a_narrowed_policy_cuts_what_was_granted(house: House) -> None:
    house.shelf.collections.put(house.shelf.admin, HOME, read_agents=["reader"], write_agents=["owner"])
    assert {name for name in NAMES if _allowed(house, name, READS["get"])} == {"reader", "admin"}
    assert {name for name in ("owner", "writer") if _allowed(house, name, WRITES["update"])} == set()


def test_a_memorys_own_policy_can_only_narrow(house: House) -> None:
    policy = AccessPolicy(read_agents=("writer", "unregistered"), write_agents=("reader",))
    house.shelf.library.update(house.access("admin"), HOME, house.memory_id, UnitChange(policy=policy))
    for operation in READS.values():
        assert {name for name in NAMES if _allowed(house, name, operation)} == {"writer", "admin"}
    assert not any(_allowed(house, name, WRITES["update"]) for name in ("owner", "writer", "reader"))


# --- odd ids


def test_no_character_of_an_id_is_a_wildcard_and_every_byte_counts(shelf: Shelf) -> None:
    readers = ["%", "_", "a_b", "A", "a ", "á", "💥", "a\\", 'a"', "a,b", "*"]
    shelf.collections.put(shelf.admin, HOME, read_agents=[*readers, "owner"], write_agents=["owner"])
    shelf.grants.register(shelf.access("owner"), HOME, "owner", read=True, write=True)
    now = shelf.clock.now()
    for reader in readers:
        shelf.grants.register(shelf.access(reader), HOME, reader, read=True, write=False)
        policy = AccessPolicy(read_agents=(reader, "owner"))
        unit = NewUnit(memory_type="user_preference", content=f"for {reader}", policy=policy)
        memory_id = shelf.library.insert(shelf.access("owner"), HOME, unit).memory.memory_id
        assert shelf.memories.get_many(shelf.access(reader), [memory_id], now=now)
        strangers = {"a", "axb", "b", ",", "a,", '"', "💣", "A ", "owne", "owner,", "", " ", *readers} - {reader}
        assert not any(shelf.memories.get_many(shelf.access(one), [memory_id], now=now) for one in strangers)


def test_ids_are_compared_byte_for_byte(shelf: Shelf) -> None:
    users = ("Tenant-A", "tenant-a", "tenant-a ", "ténant-a", "t-🎩", "t-💥", "%", "a" * 128, "💥" * 128)
    for user in users:
        unit = NewUnit(memory_type="user_preference", content=f"of {user}")
        shelf.library.insert(shelf.access("adviser"), f"user:{user}", unit)
    for user in users:
        found = shelf.memories.listed(shelf.access("adviser"), f"user:{user}", now=shelf.clock.now())
        assert [memory.content for memory in found] == [f"of {user}"]


# --- personal layers


def test_a_users_layer_is_open_and_an_agents_is_its_own(shelf: Shelf) -> None:
    unit = NewUnit(memory_type="task_experience", content="先问过敏")
    shelf.library.insert(shelf.access("adviser"), "user:u", unit)
    shelf.library.insert(shelf.access("adviser"), "agent:adviser", unit)
    assert len(shelf.library.listed(shelf.access("coach"), "user:u")) == 1
    assert len(shelf.library.listed(shelf.access("adviser"), "agent:adviser")) == 1
    for operation in (
        lambda: shelf.library.listed(shelf.access("coach"), "agent:adviser"),
        lambda: shelf.library.insert(shelf.access("coach"), "agent:adviser", unit),
        lambda: shelf.library.insert(shelf.access("coach"), "agent:unwritten", unit),
        lambda: shelf.grants.register(shelf.access("coach"), "agent:adviser", "coach", read=True, write=False),
    ):
        with pytest.raises(NotFoundError):
            operation()
    assert len(shelf.library.listed(shelf.admin, "agent:adviser")) == 1


def test_an_administrator_narrows_a_users_layer(shelf: Shelf) -> None:
    unit = NewUnit(memory_type="user_preference", content="不吃香菜")
    shelf.library.insert(shelf.access("adviser"), "user:u", unit)
    shelf.collections.put(shelf.admin, "user:u", read_agents=["adviser"], write_agents=[])
    assert len(shelf.library.listed(shelf.access("adviser"), "user:u")) == 1
    with pytest.raises(NotFoundError):
        shelf.library.listed(shelf.access("coach"), "user:u")
    with pytest.raises(NotFoundError):
        shelf.library.insert(shelf.access("adviser"), "user:u", NewUnit(memory_type="episode", content="x"))


def test_an_agent_is_shut_out_of_a_users_layer(shelf: Shelf) -> None:
    shelf.grants.revoke(shelf.admin, "user:u", "coach")
    with pytest.raises(NotFoundError):
        shelf.library.listed(shelf.access("coach"), "user:u")
    assert shelf.library.listed(shelf.access("adviser"), "user:u") == []


# --- registering


def test_an_agent_registers_within_the_policy(shelf: Shelf) -> None:
    shelf.collections.put(shelf.admin, HOME, read_agents=["a", "b"], write_agents=["a"], memory_types=["price_alert"])
    held = shelf.grants.register(shelf.access("a"), HOME, "a", read=True, write=True)
    assert (held.read, held.write, held.memory_types) == (True, True, ("price_alert",))
    refused: list[Callable[[], Registration]] = [
        lambda: shelf.grants.register(shelf.access("b"), HOME, "b", read=True, write=True),
        lambda: shelf.grants.register(shelf.access("c"), HOME, "c", read=True, write=False),
        lambda: shelf.grants.register(shelf.access("a"), HOME, "a", read=True, write=True, memory_types=["episode"]),
        lambda: shelf.grants.register(shelf.access("b"), HOME, "a", read=True, write=False),
        lambda: shelf.grants.register(shelf.access("a"), "nowhere", "a", read=True, write=False),
    ]
    for register in refused:
        with pytest.raises(NotFoundError):
            register()
    assert shelf.kinds().count("access.refused") == 4
    assert shelf.grants.get(shelf.access("a"), HOME, "a") == held


def test_what_an_administrator_decided_the_agent_cannot_change(shelf: Shelf) -> None:
    shelf.collections.put(shelf.admin, HOME)
    shelf.grants.register(shelf.access("a"), HOME, "a", read=True, write=True)
    shelf.grants.revoke(shelf.access("a"), HOME, "a")
    shelf.grants.register(shelf.access("a"), HOME, "a", read=True, write=True)
    shelf.grants.revoke(shelf.admin, HOME, "a")
    with pytest.raises(NotFoundError):
        shelf.grants.register(shelf.access("a"), HOME, "a", read=True, write=False)
    shelf.grants.register(shelf.admin, HOME, "a", read=True, write=False)
    with pytest.raises(NotFoundError):
        shelf.grants.register(shelf.access("a"), HOME, "a", read=True, write=True)
    assert shelf.grants.get(shelf.admin, HOME, "a").write is False


def test_a_policy_is_kept_as_given(shelf: Shelf) -> None:
    given = Collection(
        tenant=shelf.tenant,
        name=HOME,
        kind=CollectionKind.SHARED,
        read_agents=(),
        write_agents=("a", "b"),
        memory_types=("episode",),
    )
    put = shelf.collection_store.put(given, actor="admin", now=shelf.clock.now())
    assert put == shelf.collection_store.get(shelf.tenant, HOME)
    assert (put.read_agents, put.write_agents, put.memory_types) == ((), ("a", "b"), ("episode",))


def test_a_collection_goes_only_when_nothing_lives_in_it(shelf: Shelf) -> None:
    shelf.collections.put(shelf.admin, HOME)
    unit = NewUnit(memory_type="user_preference", content="x", memory_id="m1")
    shelf.library.insert(shelf.admin, HOME, unit)
    with pytest.raises(StrataError, match="still holds memories"):
        shelf.collections.delete(shelf.admin, HOME)
    shelf.library.delete(shelf.admin, HOME, "m1")
    seen = shelf.memories.view(shelf.admin, [HOME], now=shelf.clock.now())[HOME].change_seq
    shelf.collections.delete(shelf.admin, HOME)
    with pytest.raises(NotFoundError):
        shelf.collections.get(shelf.admin, HOME)
    shelf.clock.advance(1)
    shelf.collections.put(shelf.admin, HOME)
    assert shelf.memories.view(shelf.admin, [HOME], now=shelf.clock.now())[HOME].purged_seq > seen
    assert shelf.library.insert(shelf.admin, HOME, unit).memory.version == 1
