"""The README says what the code says: routes, settings, error codes, commands."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from strata import config, errors
from strata.cli import COMMANDS, root
from strata.local.template import read

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def kinds(kind: type[errors.StrataError]) -> Iterator[type[errors.StrataError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from kinds(child)


@pytest.mark.parametrize("path", sorted({route.path for route in read(ROOT / "template.yaml").routes}))
def test_every_route_is_listed(path: str) -> None:
    assert f"`{path}`" in README


@pytest.mark.parametrize("name", list(config.variables()))
def test_every_setting_is_listed_with_its_default_and_sentence(name: str) -> None:
    default, sentence = config.variables()[name]
    assert f"| `{name}` | `{default}` | {sentence} |" in README


@pytest.mark.parametrize("kind", list(kinds(errors.StrataError)))
def test_every_error_code_is_listed_with_its_status(kind: type[errors.StrataError]) -> None:
    assert f"| `{kind.code}` | {kind.status} |" in README


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_is_listed_and_can_be_loaded(name: str) -> None:
    assert f"`strata {name}" in README
    assert isinstance(root.get_command(click.Context(root), name), click.Command)
