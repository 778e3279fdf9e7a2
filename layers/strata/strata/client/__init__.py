"""The Python client: stands alone on httpx, typed results, retries only where a repeat is harmless.

    from strata import MemoryClient

    with MemoryClient("http://127.0.0.1:8610", "shopper", "sk_…") as memory:
        memory.register_agent("household_001", read=True, write=True, memory_types=["shopping_list"])
        memory.insert_memory("household_001", "shopping_list", "两斤番茄")

Every failure is an error of ``strata.errors``, found by the problem's stable code.
"""

from strata.client.collections import CollectionCalls
from strata.client.records import (
    AppendResult,
    ContextResult,
    ImpactResult,
    InsertResult,
    MemoryRecord,
    ReadRecord,
    RegistrationRecord,
    RollbackResult,
    UpdateResult,
    VersionRecord,
)
from strata.client.sessions import SessionCalls
from strata.client.users import UserCalls


class MemoryClient(CollectionCalls, SessionCalls, UserCalls):
    """Everything one agent does with its memory."""


__all__ = [
    "AppendResult",
    "ContextResult",
    "ImpactResult",
    "InsertResult",
    "MemoryClient",
    "MemoryRecord",
    "ReadRecord",
    "RegistrationRecord",
    "RollbackResult",
    "UpdateResult",
    "VersionRecord",
]
