"""CloudFormation's YAML, and as much of its intrinsic functions as can be known before anything is deployed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

_PLACEHOLDER = re.compile(r"\$\{([^!}][^}]*)\}")


@dataclass(frozen=True, slots=True)
class Deployed:
    """A value that exists only once something is deployed: ``what`` names the resource or the expression."""

    what: str


class _Loader(yaml.SafeLoader):
    """YAML with CloudFormation's short tags, e.g. ``!Ref Name``, as ``{"Ref": "Name"}``."""


def _tagged(loader: _Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    name = suffix if suffix in {"Ref", "Condition"} else f"Fn::{suffix}"
    if isinstance(node, yaml.ScalarNode):
        value: Any = loader.construct_scalar(node)
        return {name: value.split(".", 1) if suffix == "GetAtt" else value}
    if isinstance(node, yaml.SequenceNode):
        return {name: loader.construct_sequence(node, deep=True)}
    if isinstance(node, yaml.MappingNode):
        return {name: loader.construct_mapping(node, deep=True)}
    raise yaml.constructor.ConstructorError(None, None, f"!{suffix} of what?", node.start_mark)


_Loader.add_multi_constructor("!", _tagged)


def load(path: Path) -> dict[str, Any]:
    """Return the template as plain data, short tags in their long form."""
    document = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)  # noqa: S506 a SafeLoader underneath
    if not isinstance(document, dict):
        message = f"{path} is not a template"
        raise TypeError(message)
    return document


def resolve(node: Any, parameters: Mapping[str, Any]) -> Any:  # noqa: ANN401 any YAML value
    """Return the node with parameters filled in; a ``Deployed`` stands for what only a deployment knows."""
    if isinstance(node, list):
        return [resolve(item, parameters) for item in node]
    if not isinstance(node, dict):
        return node
    if len(node) == 1:
        name, argument = next(iter(node.items()))
        if name == "Ref":
            return parameters[argument] if argument in parameters else Deployed(str(argument))
        if name == "Fn::Sub" and isinstance(argument, str):
            return _substituted(argument, parameters)
        if name == "Fn::GetAtt":
            return Deployed(str(argument[0]))
        if name.startswith("Fn::") or name == "Condition":
            return Deployed(name)
    return {key: resolve(value, parameters) for key, value in node.items()}


def _substituted(text: str, parameters: Mapping[str, Any]) -> str | Deployed:
    names = _PLACEHOLDER.findall(text)
    if all(name in parameters for name in names):
        return _PLACEHOLDER.sub(lambda match: str(parameters[match[1]]), text)
    return Deployed(text)
