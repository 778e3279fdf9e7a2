"""One question to several collections at once, for services that search one at a time."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from strata.errors import StrataError
from strata.providers.scopes import Cube
from strata.providers.wire import Findings

_THREADS = 8


class FanOut:
    """Asks about each cube in a thread of its own; the first one in the caller's. Threads start when needed."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="provider")

    def ask(self, cubes: tuple[Cube, ...], one: Callable[[Cube], Findings]) -> Findings:
        """Return all findings; a cube that fails is a note.

        Raises:
            StrataError: every cube failed; the first one's error.
        """
        others = [self._threads.submit(_tried, one, cube) for cube in cubes[1:]]
        outcomes = [_tried(one, cubes[0]), *(other.result() for other in others)]
        errors = [outcome for outcome in outcomes if isinstance(outcome, StrataError)]
        found = [outcome for outcome in outcomes if isinstance(outcome, Findings)]
        if errors and not found:
            raise errors[0]
        notes = dict.fromkeys(note for findings in found for note in findings.notes)
        missing = (f"One of {len(cubes)} collections could not be searched ({error.code})." for error in errors)
        return Findings(items=tuple(item for findings in found for item in findings.items), notes=(*notes, *missing))

    def close(self) -> None:
        """Let the threads end."""
        self._threads.shutdown(wait=False)


def _tried(one: Callable[[Cube], Findings], cube: Cube) -> Findings | StrataError:
    try:
        return one(cube)
    except StrataError as error:
        return error
