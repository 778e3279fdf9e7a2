"""What was built, an interpreter of the runtime's version, and the runtime's own packages."""

import filecmp
import os
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).parents[2]
BUILD = ROOT / ".aws-sam" / "build"
PYTHON = "3.13"


def left_out(reason: str) -> NoReturn:
    """Skip here; fail in CI, where everything has to be there."""
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def python() -> Path:
    """The runtime's interpreter."""
    candidates = [shutil.which(f"python{PYTHON}"), *Path.home().glob(f".pyenv/versions/{PYTHON}.*/bin/python{PYTHON}")]
    for candidate in candidates:
        if candidate and subprocess.run([candidate, "-c", ""], capture_output=True, check=False).returncode == 0:
            return Path(candidate)
    left_out(f"python{PYTHON} not found: what was built cannot be run")


@pytest.fixture(scope="session")
def runtime(python: Path, pytestconfig: pytest.Config) -> Path:
    """What the managed runtime brings: its client, and boto3; fetched once and kept."""
    folder = pytestconfig.cache.mkdir(f"lambda-runtime-{PYTHON}")
    if not (folder / "awslambdaric").is_dir():
        wanted = [f"{name}=={version(name)}" for name in ("awslambdaric", "boto3")]
        pip: list[str | Path] = [
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--only-binary",
            ":all:",
        ]
        subprocess.run([*pip, "--target", folder, *wanted], check=True)
    return folder


@pytest.fixture(scope="session")
def build() -> Path:
    """The output of ``make build`` for this machine's processor, made from the sources as they are."""
    machine = os.uname().machine
    command = f"make build ARCH={'arm64' if machine == 'aarch64' else machine}"
    if not (BUILD / "StrataLayer").is_dir():
        left_out(f"nothing is built yet: {command}")
    differing = [str(path) for path in sources() if not filecmp.cmp(ROOT / path, built(path), shallow=False)]
    if differing:
        left_out(f"the build is older than {differing[0]}: {command}")
    return BUILD


def sources() -> list[Path]:
    """Return the files of the package that are part of the layer, relative to the project."""
    package = ROOT / "layers" / "strata" / "strata"
    return [path.relative_to(ROOT) for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc"]


def built(source: Path) -> Path:
    """Return where a source file is in the build; a file that is missing there is an empty device."""
    path = BUILD / "StrataLayer" / "python" / source.relative_to("layers/strata")
    return path if path.is_file() else Path(os.devnull)
