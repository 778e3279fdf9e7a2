"""The command as a shell meets it: exit statuses, completion, and a form for programs of everything it prints."""

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from strata.cli import COMMANDS, root
from strata.cli.output import INSTANT, show_record, table

GROUPS = ("agents", "audit", "collections", "history", "memories", "quarantine", "runs", "types")


def strata(*arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a process of its own, with nothing configured."""
    known = {name: value for name, value in os.environ.items() if not name.startswith(("STRATA_", "_STRATA"))}
    call = [sys.executable, "-m", "strata.cli", *arguments]
    return subprocess.run(
        call, cwd=folder, env={**known, **environment}, capture_output=True, text=True, check=False, timeout=60
    )


def commands() -> Iterator[tuple[str, click.Command]]:
    for name in GROUPS:
        module, attribute = COMMANDS[name][0].split(":")
        group: click.Group = getattr(import_module(module), attribute)
        yield from ((f"{name} {inner}", command) for inner, command in group.commands.items())


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_every_command_prints_for_programs_too(name: str, command: click.Command) -> None:
    assert "--json" in [option for one in command.params for option in one.opts], name


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (("--version",), 0, ""),
        (("memories", "--no-such-option"), 2, "No such option"),
        (("memories", "add"), 2, "Missing argument"),
        (("no-such-command",), 2, "No such command"),
        (("agents", "undo", "a", "--since", "yesterday"), 2, "instant"),
        (("agents", "undo", "a", "--since", "2026-03-10"), 2, "instant"),
        (("memories", "add", "c", "t", "x", "--tag", "no-value", "--key", "sk_1"), 2, "not key=value"),
        (("memories", "list", "c"), 2, "No API key is known"),
        (("memories", "list", "c", "--endpoint", "http://127.0.0.1:9", "--key", "sk_1"), 1, "No answer"),
    ],
)
def test_the_exit_status_tells_who_is_at_fault(
    tmp_path: Path, arguments: tuple[str, ...], status: int, told: str
) -> None:
    done = strata(*arguments, folder=tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (status, False), done.stderr
    assert told in done.stderr


def test_a_wrong_setting_is_a_usage_error(tmp_path: Path) -> None:
    done = strata("memories", "list", "c", folder=tmp_path, STRATA_CLI_KEYS="x")
    assert (done.returncode, "STRATA_CLI_KEYS is not a setting" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "place", "offered"),
    [
        ("strata me", 1, {"memories"}),
        ("strata history ", 2, {"get", "diff", "reads", "impact", "rollback"}),
        ("strata quarantine re", 2, {"release", "reject"}),
        ("strata quarantine list --state ", 4, {"waiting", "released", "rejected", "withdrawn"}),
    ],
)
def test_the_shell_completes(tmp_path: Path, words: str, place: int, offered: set[str]) -> None:
    asked = {"_STRATA_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(place)}
    done = strata(folder=tmp_path, **asked)
    assert {line.partition(",")[2] for line in done.stdout.splitlines()} == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_its_script(tmp_path: Path, shell: str) -> None:
    script = strata(folder=tmp_path, _STRATA_COMPLETE=f"{shell}_source").stdout
    assert "_STRATA_COMPLETE" in script


def test_memory_text_is_printed_as_it_is() -> None:
    """Brackets and colons of a memory are neither markup nor emoji."""
    text = "[red]不吃[/red] :smile: 香菜"

    @click.command()
    def show() -> None:
        table([{"content": text}], ("content",))
        show_record({"content": text, "nothing": None}, json_=False)

    printed = CliRunner().invoke(show).output
    assert printed.count(text) == 2
    assert "–" in printed


def test_an_id_is_never_cut_however_little_room_there_is() -> None:
    """It is what the next command is given."""
    memory_id = "mem_" + "e6ae2139" * 4
    row = {name: f"{name}_" * 3 for name in ("signals", "memory_type", "author", "updated_at")}
    row |= {"memory_id": memory_id, "content": "不吃香菜" * 20}

    @click.command()
    def show() -> None:
        table([row, row], tuple(row))

    assert CliRunner().invoke(show).output.count(memory_id) == 2


def test_an_instant_has_an_offset() -> None:
    assert INSTANT.convert("2026-03-10T08:00:00+08:00", None, None).isoformat() == "2026-03-10T00:00:00+00:00"
    with pytest.raises(click.BadParameter):
        INSTANT.convert("2026-03-10T08:00:00", None, None)


def test_help_imports_no_command() -> None:
    assert CliRunner().invoke(root, ["--help"]).exit_code == 0
