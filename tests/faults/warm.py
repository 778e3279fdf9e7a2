"""What takes time to load, loaded once in the process that all doomed workers are forked from."""

import tempfile
from pathlib import Path

from tests.fakes.rig import ALLERGY, DISLIKES, LIKES, Rig, fresh_file


def warm() -> None:
    """Settle something: whatever is loaded on the way stays loaded."""
    with tempfile.TemporaryDirectory() as folder:
        rig = Rig(url=fresh_file(Path(folder)))
        rig.settle(ALLERGY, LIKES, DISLIKES)
        rig.database.close()


warm()
