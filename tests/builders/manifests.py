"""The files of deploy/compose and deploy/kubernetes as values."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from jsonschema import Draft202012Validator

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DEPLOY = Path(__file__).parents[2] / "deploy"
SCHEMAS = Path(__file__).parents[1] / "data" / "deploy"
OURS = ("worker", "monitor", "receiver")
_SECONDS = {"s": 1, "m": 60, "h": 3600}


def read_composition() -> dict[str, Any]:
    """deploy/compose/compose.yaml, anchors followed."""
    return yaml.safe_load((DEPLOY / "compose" / "compose.yaml").read_text())


def read_manifests(*files: Path) -> list[dict[str, Any]]:
    """All documents of files."""
    return [one for file in files for one in yaml.safe_load_all(file.read_text()) if one]


def list_manifest_files() -> list[Path]:
    """Every file of deploy/kubernetes that holds objects of a cluster."""
    return sorted(
        file
        for file in (DEPLOY / "kubernetes").rglob("*.yaml")
        if file.name not in {"kustomization.yaml", "ragsonde.yaml"}
    )


def find_pods(manifests: Iterable[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The specifications of the pods that are made, by component."""
    return {
        one["metadata"]["labels"]["app.kubernetes.io/component"]: one["spec"]["template"]["spec"]
        for one in manifests
        if one["kind"] in {"Deployment", "Job"}
    }


def count_seconds(text: str) -> int:
    """`180s`, `15m` as seconds."""
    number, unit = re.fullmatch(r"(\d+)([smh])", text).groups()
    return int(number) * _SECONDS[unit]


def find_faults(schema: dict[str, Any], value: object) -> list[str]:
    """What a JSON Schema finds wrong, each with its place."""
    faults = Draft202012Validator(schema).iter_errors(value)
    return [f"{'/'.join(map(str, fault.absolute_path))}: {fault.message[:200]}" for fault in faults]


def read_schema(name: str) -> dict[str, Any]:
    """A schema of tests/data/deploy."""
    return json.loads((SCHEMAS / f"{name}.json").read_text())


def find_kind_schema(kind: str) -> dict[str, Any] | None:
    """Kubernetes' schema of a kind; None of a kind that others added."""
    known = read_schema("kubernetes")
    found = known["kinds"].get(kind)
    return None if found is None else {**found, "$defs": known["$defs"]}


def list_environment(pod: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Names and values of a pod's variables."""
    for container in pod["containers"]:
        for one in container.get("env", ()):
            yield one["name"], one["value"]
