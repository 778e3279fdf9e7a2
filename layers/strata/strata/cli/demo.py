"""``strata demo``: a household's day with three agents over real HTTP, checked as it goes.

The story is data (``data/household.json``). Exit status 1 if anything that it promises is not so.
"""

import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from strata.cli.connection import enlisted
from strata.cli.output import table
from strata.client import ContextResult, MemoryClient
from strata.local.stack import LocalStack

LANES = ("constraints", "user", "shared", "agent")


@dataclass(slots=True)
class Day:
    """The people of the story, what they say to each other, and what came out right or wrong."""

    story: Mapping[str, Any]
    clients: Mapping[str, MemoryClient]
    console: Console
    wrong: list[str] = field(default_factory=list)
    sessions: set[str] = field(default_factory=set)

    @property
    def user_id(self) -> str:
        """The household."""
        return str(self.story["user_id"])

    def check(self, holds: bool, promise: str) -> None:  # noqa: FBT001 the outcome is the subject
        """Print a promise and remember it if it does not hold."""
        self.console.print(f"  {'[green]✓' if holds else '[red]✗'}[/] {escape(promise)}")
        if not holds:
            self.wrong.append(promise)


@click.command()
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), help="Keep the stack's data in this folder.")
def demo(*, keep: Path | None) -> None:
    """Play a household's day: an allergy told to one agent is known to all, and more."""
    console = Console(width=None if Console().is_terminal else 140, highlight=False)
    with _stack(keep) as stack:
        day = Day(story=_story(), clients=_clients(stack), console=console)
        started = time.monotonic()
        for scene in day.story["scenes"]:
            _play(day, scene)
        _inspect(day)
        console.print(f"\n{time.monotonic() - started:.1f} s over HTTP at {stack.url}")
    if day.wrong:
        console.print(f"[red]{len(day.wrong)} promises were not kept.[/]")
        raise SystemExit(1)
    console.print("[green]Every promise was kept.[/]")


@contextmanager
def _stack(keep: Path | None) -> Iterator[LocalStack]:
    with tempfile.TemporaryDirectory(prefix="strata-demo-") as scratch:
        stack = LocalStack(data_dir=keep or Path(scratch), port=0)
        stack.start()
        try:
            yield stack
        finally:
            stack.stop()


def _story() -> Mapping[str, Any]:
    story: Mapping[str, Any] = json.loads(files("strata.cli").joinpath("data/household.json").read_text("utf-8"))
    return story


def _clients(stack: LocalStack) -> dict[str, MemoryClient]:
    admin = MemoryClient(stack.url, "admin", stack.admin_key, timeout_seconds=60.0)
    return {agent: enlisted(admin, agent) for agent in _story()["agents"]}


def _play(day: Day, scene: Mapping[str, Any]) -> None:
    day.console.print(f"\n[bold]{scene['title']}[/]  ·  {day.story['agents'][scene['agent']]}")
    if "turns" in scene:
        _talk(day, scene)
    else:
        _ask(day, scene)


def _talk(day: Day, scene: Mapping[str, Any]) -> None:
    client = day.clients[scene["agent"]]
    for turn in scene["turns"]:
        day.console.print(f"  {turn['role']:>9}  {escape(turn['content'])}  [dim]{escape(turn['gloss'])}[/]")
    messages = [{"role": turn["role"], "content": turn["content"]} for turn in scene["turns"]]
    client.append(scene["session"], day.user_id, messages, zone=day.story["zone"])
    day.sessions.add(scene["session"])
    run = client.wait_for_run(client.end_session(scene["session"]))
    day.check(run["state"] == "succeeded", f"run {run['run_id']} {run['state']}, judged by {run['judge']}")
    rows = [{**write, "by": scene["agent"]} for write in run["plan"] or ()]
    table(rows, ("action", "memory_type", "content", "importance", "rule", "by"))


def _ask(day: Day, scene: Mapping[str, Any]) -> None:
    client, ask = day.clients[scene["agent"]], scene["ask"]
    day.console.print(f"       user  {escape(ask['content'])}  [dim]{escape(ask['gloss'])}[/]")
    loaded = client.load_context(scene["session"], day.user_id, ask["content"])
    table(_delivered(loaded), ("lane", "type", "score", "content"))
    usage = ", ".join(f"{part} {tokens}" for part, tokens in loaded.usage.items())
    day.console.print(f"  tokens: {usage} · {loaded.timings_ms.get('total', 0.0):.0f} ms")
    for item in loaded.degraded:
        day.console.print(f"  [yellow]degraded: {escape(str(item))}[/]")
    for expected in scene["expect"]:
        day.check(_is_delivered(loaded, expected), f"{scene['agent']} received {expected['gloss']}")


def _delivered(loaded: ContextResult) -> list[dict[str, Any]]:
    return [
        {"lane": lane, "type": item["memory_type"], "score": f"{item['score']:.2f}", "content": item["content"]}
        for lane in LANES
        for item in loaded.memories[lane]
    ]


def _is_delivered(loaded: ContextResult, expected: Mapping[str, Any]) -> bool:
    lanes = LANES if expected["lane"] == "any" else (expected["lane"],)
    listed = any(_has(item["content"], expected["words"]) for lane in lanes for item in loaded.memories[lane])
    return listed and all(word in loaded.prompt for word in expected["words"])


def _inspect(day: Day) -> None:
    day.console.print("\n[bold]What is stored[/]")
    reader = next(iter(day.clients.values()))
    stored = [record for record in reader.memories(f"user:{day.user_id}") if record.memory_type != "episode"]
    rows = [
        {"type": item.memory_type, "content": item.content, "by": item.agent_id, "version": item.version}
        for item in stored
    ]
    table(rows, ("type", "content", "by", "version"))
    for once in day.story["stored_once"]:
        found = sum(_has(item.content, once["words"]) for item in stored)
        day.check(found == 1, f"{once['gloss']} is stored once")
    for never in day.story["never_in"]:
        mixed = [
            item for item in stored if item.memory_type == never["memory_type"] and _has(item.content, never["words"])
        ]
        day.check(not mixed, never["gloss"])


def _has(text: str, words: Sequence[str]) -> bool:
    return all(word in text for word in words)
