"""Texts that wait for a person."""

from datetime import datetime
from typing import Literal, Protocol

from strata.model.quarantine import Quarantined, ReviewState
from strata.ports.library import Access

KeptOut = Literal[ReviewState.REJECTED, ReviewState.WITHDRAWN]
"""What is decided here. A release is decided by the memory store, in the transaction of the write."""


class QuarantineStore(Protocol):
    """The quarantine. Every change leaves one audit event, which holds no word of the text."""

    def keep(self, access: Access, item: Quarantined, *, now: datetime) -> None:
        """Set a text aside; one that is there already stays as it is.

        Raises NotFoundError if the agent may not write there (a refusal is an audit event).
        """
        ...

    def page(self, tenant: str, *, limit: int, state: ReviewState | None = None, before: str = "") -> list[Quarantined]:
        """Return texts, newest first; ``before`` is the id of the last one of the page before."""
        ...

    def get(self, tenant: str, quarantine_id: str) -> Quarantined | None:
        """Return one text, or None."""
        ...

    def waiting_of_run(self, tenant: str, run_id: str) -> list[str]:
        """Return the ids of the texts that a run set aside and nobody has decided about."""
        ...

    def decide(self, tenant: str, quarantine_id: str, state: KeptOut, *, actor: str, now: datetime) -> Quarantined:
        """Reject or withdraw a waiting text; the same decision again changes nothing.

        Raises NotFoundError; ConflictError if it was decided otherwise.
        """
        ...
