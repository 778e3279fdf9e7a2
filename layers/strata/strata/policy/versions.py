"""Which change wins when its author had read an older version. Pure."""

from strata.errors import VersionConflictError
from strata.model.memories import ChangeKind, ConflictPolicy

_OF_A_READER = frozenset({ChangeKind.UPDATE})
"""Changes that rewrite what their author has read. The others act on a memory as it is, whatever it says."""


def is_conflict(change: ChangeKind, *, present: int, expected: int | None, policy: ConflictPolicy) -> bool:
    """Tell whether a change is to be marked as made over a version its author had not read.

    Under ``reject`` a rewrite must name the version it read; under ``last_writer_wins`` one that names none is
    applied unmarked, with no base version in its history.

    Raises:
        VersionConflictError: the collection rejects it; ``fields`` hold the present version.
    """
    outdated = expected is not None and expected != present
    blind = expected is None and change in _OF_A_READER
    if policy is ConflictPolicy.REJECT and (outdated or blind):
        raise VersionConflictError(fields={"present_version": present, "expected_version": expected})
    return outdated
