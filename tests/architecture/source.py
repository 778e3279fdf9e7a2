"""The project's own files, read as text and as syntax trees."""

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "layers/strata/strata"


def project_files() -> list[Path]:
    """Every file that is, or is about to be, part of the project."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def product() -> list[Path]:
    """The modules that get deployed: the package and the doors."""
    return sorted([*PACKAGE.rglob("*.py"), *doors()])


def doors() -> list[Path]:
    """The functions' entry modules."""
    return sorted(ROOT.glob("functions/*/app.py"))


def short(path: Path) -> str:
    """The path as people say it."""
    return str(path.relative_to(ROOT))


@cache
def tree(path: Path) -> ast.Module:
    """The module's syntax tree."""
    return ast.parse(path.read_text(), filename=str(path))


def imports(path: Path) -> Iterator[str]:
    """The full names a module imports, inside functions too."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """The functions of a module, as where they stand and how many lines they have below their signature."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
            yield f"{short(path)}:{node.lineno} {node.name}", lines
