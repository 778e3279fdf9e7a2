"""``strata replay``: a transcript through the public HTTP API, session by session."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from rich.progress import Progress

from strata.cli.connection import as_json, connect, enlisted
from strata.cli.output import show, table
from strata.cli.transcripts import Transcript, read
from strata.client import MemoryClient

PER_APPEND = 100


@dataclass(slots=True)
class Tally:
    """What came of a replay."""

    sessions: int = 0
    messages: int = 0
    replayed: int = 0
    failed_runs: list[str] = field(default_factory=list)
    memories: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def add_run(self, run: Mapping[str, Any]) -> None:
        """Count one finished run."""
        if run["state"] != "succeeded":
            self.failed_runs.append(f"{run['run_id']}: {run['state']} {run['error_code']}")
        for planned in run.get("plan") or ():
            self.outcomes[planned["action"]] += 1
            if planned["action"] != "skip":
                self.memories[planned["memory_type"]] += 1

    def document(self) -> dict[str, Any]:
        """Return the summary as JSON."""
        return {
            "sessions": self.sessions,
            "messages": self.messages,
            "already_stored": self.replayed,
            "memories_by_type": dict(sorted(self.memories.items())),
            "duplicates": self.outcomes["skip"],
            "conflicts": self.outcomes["supersede"],
            "refinements": self.outcomes["refine"],
            "quarantined": self.outcomes["quarantine"],
            "failed_runs": self.failed_runs,
            "seconds": round(self.seconds, 2),
        }


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--user", help="User the sessions belong to; else the file's own names.")
@click.option("--agent", "speaker", required=True, help="Agent that takes part in the sessions.")
@click.option("--only", help="One person (MemoryBank) or conversation (LoCoMo) of the file.")
@click.option("--endpoint", help="Base URL of the service.")
@click.option("--key", help="API key of the agent; an admin key makes the agent if it is missing.")
@as_json
def replay(
    *,
    file: Path,
    user: str | None,
    speaker: str,
    only: str | None,
    endpoint: str | None,
    key: str | None,
    as_json: bool,
) -> None:
    """Feed FILE through append and end, wait for its runs, and say what was settled."""
    transcripts = read(file, user=user, only=only)
    with connect(endpoint, speaker, key) as known, enlisted(known, speaker) as client:
        tally = replayed(client, transcripts)
    if as_json:
        show(tally.document())
    else:
        table([{"what": name, "count": value} for name, value in tally.document().items()], ("what", "count"))
    raise SystemExit(1 if tally.failed_runs else 0)


def replayed(client: MemoryClient, transcripts: Sequence[Transcript]) -> Tally:
    """Replay sessions in order with a progress bar; runs of one user are waited for before that user's next session."""
    tally, started = Tally(), time.monotonic()
    with Progress(transient=True) as progress:
        bar = progress.add_task("sessions", total=len(transcripts))
        for transcript in transcripts:
            _one(client, transcript, tally)
            progress.advance(bar)
    tally.seconds = time.monotonic() - started
    return tally


def _one(client: MemoryClient, transcript: Transcript, tally: Tally) -> None:
    for start in range(0, len(transcript.messages), PER_APPEND):
        batch = transcript.messages[start : start + PER_APPEND]
        result = client.append(transcript.session_id, transcript.user_id, batch)
        tally.replayed += result.replayed
    run = client.wait_for_run(client.end_session(transcript.session_id), timeout_seconds=300.0)
    tally.sessions += 1
    tally.messages += len(transcript.messages)
    tally.add_run(run)
