"""The ``strata`` command."""

import sys
from collections.abc import Mapping
from importlib import import_module

import click

from strata import __version__
from strata.errors import ConfigurationError, StrataError

REFUSED = 1
USAGE = 2
"""Exit statuses besides 0; a missing key or a wrong setting is the command's fault, as a wrong option is."""

COMMANDS: Mapping[str, tuple[str, str]] = {
    "agents": ("strata.cli.agents:agents", "Agents, their profiles and keys."),
    "audit": ("strata.cli.audit:audit", "Weekly reports and the audit trail."),
    "collections": ("strata.cli.collections:collections", "Policies of collections and registrations."),
    "compare": ("strata.cli.compare:compare", "Long-term providers side by side on one task."),
    "demo": ("strata.cli.demo:demo", "A household's day with three agents, checked as it goes."),
    "eval": ("strata.cli.eval:eval_", "Measure a memory provider on a task."),
    "history": ("strata.cli.history:history", "Versions of a memory: list, compare, roll back."),
    "local": ("strata.cli.local:local", "The whole product on this machine."),
    "memories": ("strata.cli.memories:memories", "Search, write, import and export memories."),
    "quarantine": ("strata.cli.quarantine:quarantine", "Texts set aside for review: release or reject them."),
    "replay": ("strata.cli.replay:replay", "Feed a transcript through the HTTP API, session by session."),
    "runs": ("strata.cli.runs:runs", "Consolidation runs: list, show, replay, undo."),
    "types": ("strata.cli.types:types", "Memory types and their tables."),
    "users": ("strata.cli.users:users", "A user's data: export it."),
}


class LazyGroup(click.Group):
    """Imports a command's module only when it is used, so that ``strata --help`` is quick."""

    def list_commands(self, _context: click.Context) -> list[str]:
        """Return the names in order."""
        return sorted(COMMANDS)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        """Import and return one command."""
        if name not in COMMANDS:
            return None
        module, attribute = COMMANDS[name][0].split(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in sorted(COMMANDS)])


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def root() -> None:
    """Memory for a platform of many agents."""


def main() -> None:
    """Run the command: exit status 1 if the service refused or a check failed, 2 if the command was not right."""
    try:
        root.main(prog_name="strata")
    except StrataError as error:
        click.echo(f"{error.code}: {error.message}", err=True)
        if error.hint:
            click.echo(f"  {error.hint}", err=True)
        for finding in _findings(error):
            click.echo(f"  {finding}", err=True)
        sys.exit(USAGE if isinstance(error, ConfigurationError) else REFUSED)


def _findings(error: StrataError) -> list[str]:
    found = error.fields.get("errors")
    return [f"{item['at']}: {item['message']}" for item in found] if isinstance(found, list) else []
