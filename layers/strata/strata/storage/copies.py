"""What runs gave external providers, by their receipts, and the removals that follow an undo."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, and_, select

from strata.model.agents import ProviderName
from strata.model.runs import Retirement
from strata.policy.names import derived_id
from strata.storage import retirements
from strata.storage.engine import Database
from strata.storage.tables import provider_copies, run_receipts, runs

_RECEIPT = run_receipts.c


class SqlCopyLedger:
    """The port ``CopyLedger``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_run(self, tenant: str, run_id: str) -> list[Retirement]:
        """Return what a run gave a provider."""
        return self._given(tenant, _RECEIPT.run_id == run_id)

    def of_agent(self, tenant: str, agent_id: str, *, since: datetime) -> list[Retirement]:
        """Return what runs of an agent gave a provider since an instant."""
        return self._given(tenant, runs.c.agent_id == agent_id, provider_copies.c.created_at >= since)

    def remove_later(self, copies: Sequence[Retirement], *, now: datetime) -> None:
        """Note removals; those already noted stay as they are."""
        if copies:
            self._database.write(lambda connection: retirements.add(connection, copies, now))

    def _given(self, tenant: str, *conditions: ColumnElement[bool]) -> list[Retirement]:
        """A receipt whose memory has the write's own key is of something new, not of a renewal."""
        copy = provider_copies.c
        kept = and_(
            copy.tenant == _RECEIPT.tenant,
            copy.provider == _RECEIPT.provider,
            copy.memory_id == _RECEIPT.memory_id,
        )
        same_run = and_(runs.c.tenant == _RECEIPT.tenant, runs.c.run_id == _RECEIPT.run_id)
        query = select(_RECEIPT.memory_id, _RECEIPT.provider, _RECEIPT.run_id, copy.collection).distinct()
        query = query.join_from(run_receipts, runs, same_run).join(provider_copies, kept)
        query = query.where(_RECEIPT.tenant == tenant, _RECEIPT.provider != ProviderName.MYSQL.value)
        query = query.where(_RECEIPT.memory_id == _RECEIPT.write_key, *conditions).order_by(_RECEIPT.memory_id)
        rows = self._database.read(lambda connection: connection.execute(query).all())
        return [
            Retirement(
                retirement_id=derived_id(row.memory_id, "undo"),
                tenant=tenant,
                provider=row.provider,
                collection=row.collection,
                memory_id=row.memory_id,
                replaced_by="",
                run_id=row.run_id,
            )
            for row in rows
        ]
