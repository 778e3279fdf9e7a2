"""The template gate: translate SAM to CloudFormation offline, then lint what would be deployed.

Linting the SAM source alone lets through what only shows after translation (a batch too large for a FIFO queue, a
visibility below the function's timeout, a misspelt response type). Usage: ``python infra/lint.py template.yaml``.
"""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from cfnlint.api import lint_file
from cfnlint.config import ManualArgs
from cfnlint.decode import cfn_yaml
from samtranslator.translator.transform import transform

REGION = "eu-west-1"
IGNORED = [
    "W3002",  # nested stacks are files here and become addresses when they are packaged
    "W3037",  # the batch forms of SQS actions, which SAM's poller policy names, are unknown to the linter
]


class NoManagedPolicies:
    """SAM asks for AWS's managed policies by name; the template names none."""

    def load(self) -> dict[str, str]:
        return {}


def translate(template: Path) -> dict[str, Any]:
    """Return the CloudFormation template that ``template`` becomes, with places in S3 instead of folders."""
    os.environ.setdefault("AWS_DEFAULT_REGION", REGION)
    source = _plain(cfn_yaml.load(str(template)))
    for resource in source["Resources"].values():
        for place in ("CodeUri", "ContentUri"):
            if place in resource.get("Properties", {}):
                resource["Properties"][place] = "s3://bucket/key"
    return dict(transform(source, {}, NoManagedPolicies()))


def problems(template: Path) -> list[str]:
    """Return what the linter says about the translated template and about every nested stack beside it."""
    found = [str(match) for nested in sorted(template.parent.glob("infra/*.yaml")) for match in _lint(nested)]
    with tempfile.NamedTemporaryFile("w", suffix=".json", dir=template.parent, prefix=".translated-") as file:
        json.dump(translate(template), file)
        file.flush()
        return [*found, *(str(match) for match in _lint(Path(file.name)))]


def _lint(path: Path) -> list[Any]:
    return list(lint_file(path, config=ManualArgs(regions=[REGION], ignore_checks=IGNORED)))


def _plain(node: Any) -> Any:
    """Return the node without the linter's position marks, which SAM cannot copy."""
    if isinstance(node, dict):
        return {str(key): _plain(value) for key, value in node.items()}
    return [_plain(value) for value in node] if isinstance(node, list) else node


if __name__ == "__main__":
    lines = problems(Path(sys.argv[1]).resolve())
    print("\n".join(lines) or "The template is clean.")
    sys.exit(1 if lines else 0)
