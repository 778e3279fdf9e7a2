"""Turns a SAM template into the CloudFormation it stands for: `python infra/translate.py template.yaml`.

A linter that reads the SAM source misses what only shows after the transform (a queue's visibility below its
function's timeout, a batch size FIFO does not allow, a misspelt response type), so the gate lints the result.
"""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cfnlint.decode import cfn_yaml
from samtranslator.translator.transform import transform

REGION = "eu-west-1"
UPLOADED = "s3://bucket/key"


class _NoManagedPolicies:
    """Stands for the account's list of managed policies, which would have to be asked for."""

    def load(self) -> dict[str, str]:
        return {}


def translate(template: Path) -> dict[str, Any]:
    """The CloudFormation template, as `sam deploy` would send it. Raises what the translator raises."""
    os.environ.setdefault("AWS_DEFAULT_REGION", REGION)
    source = _plain(cfn_yaml.load(str(template)))
    for properties in _property_maps(source):
        _pretend_uploaded(properties)
    translated: dict[str, Any] = transform(source, {}, _NoManagedPolicies())
    return translated


def _plain(node: Any) -> Any:  # noqa: ANN401  the parser's nodes know their line; the translator wants none of it
    if isinstance(node, dict):
        return {str(key): _plain(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_plain(value) for value in node]
    return node


def _property_maps(source: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for resource in source["Resources"].values():
        yield resource.get("Properties", {})
    yield from source.get("Globals", {}).values()


def _pretend_uploaded(properties: dict[str, Any]) -> None:
    for key in ("CodeUri", "ContentUri"):
        if isinstance(properties.get(key), str):
            properties[key] = UPLOADED


if __name__ == "__main__":
    json.dump(translate(Path(sys.argv[1])), sys.stdout, indent=1)
