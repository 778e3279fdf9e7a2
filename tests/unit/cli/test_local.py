"""The local stack's command, where it cannot start."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from strata.cli.local import local
from strata.errors import ConfigurationError


def test_a_folder_that_cannot_be_made_is_said_with_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "file" / "data"
    folder.parent.touch()
    done = CliRunner().invoke(local, ["up", "--port", "0", "--data-dir", str(folder)])
    assert isinstance(done.exception, ConfigurationError)
    assert str(folder) in done.exception.message
    assert "--data-dir" in done.exception.hint


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_a_port_that_is_none_is_a_wrong_option(port: str) -> None:
    done = CliRunner().invoke(local, ["up", "--port", port])
    assert (done.exit_code, "Invalid value for '--port'" in done.output) == (2, True)
