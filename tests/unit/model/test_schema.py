"""The published JSON Schema: what editors complete and check `study.yml` with."""

import functools
import json
from decimal import Decimal

import pytest
import yaml
from builders import HEAD, REPOSITORY
from jsonschema import Draft202012Validator

from gridatlas.checks import all_checks
from gridatlas.data.yaml import parse_yaml
from gridatlas.model.json_schema import json_schema

STUDIES = sorted((REPOSITORY / "data").glob("*/study.yml"))
CASES = yaml.safe_load((REPOSITORY / "tests" / "cases" / "fine.yml").read_text(encoding="utf-8"))
FINE = {
    case["name"]: text
    for case in CASES["cases"]
    if isinstance(text := case.get("files", {}).get("study.yml"), str)
}


def _errors(text):
    tree, _, problems = parse_yaml(text, "study.yml")
    assert problems == []
    errors = _validator().iter_errors(_plain(tree))
    return [f"{error.json_path}: {error.message}" for error in errors]


@functools.cache
def _validator():
    return Draft202012Validator(json_schema(all_checks()))


def _plain(value):
    """Values as an editor has them: a decimal is a float."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return float(value) if isinstance(value, Decimal) else value


def test_the_published_schema_is_the_codes():
    published = REPOSITORY / "data" / "schema" / "study.v1.json"
    assert json.loads(published.read_text(encoding="utf-8")) == json_schema(all_checks()), (
        "run: gridatlas schema > data/schema/study.v1.json"
    )


def test_the_schema_is_one():
    Draft202012Validator.check_schema(json_schema(all_checks()))


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.parent.name)
def test_our_studies_have_the_form_of_the_schema(path):
    assert _errors(path.read_text(encoding="utf-8")) == []


def test_there_are_studies():
    assert len(STUDIES) >= 2
    assert len(FINE) >= 3


@pytest.mark.parametrize("name", FINE)
def test_what_check_takes_the_schema_takes(name):
    assert _errors(FINE[name]) == []


@pytest.mark.parametrize(
    "text",
    [
        HEAD.replace("title: A demo\n", ""),
        HEAD.replace("format: 1", "format: 2"),
        HEAD + "zebra: 1\n",
        HEAD + "factors: {rate: {lable: Rate}}\n",
        HEAD + "factors: {rate: {levels: []}}\n",
        HEAD + "factors: {rate: {levels: [{label: no id}]}}\n",
        HEAD + "factors: {rate: {levels: [true]}}\n",
        HEAD + "facets: [Model]\n",
        HEAD + "reconcile: vote\n",
        HEAD + "readings: [{id: paper}]\n",
        HEAD.replace("better: higher}", "better: higher, range: [0]}"),
        HEAD.replace("better: higher}", "better: higher, range: [0, 1, 2]}"),
    ],
)
def test_what_check_refuses_by_its_form_the_schema_refuses(text):
    assert _errors(HEAD) == []
    assert len(_errors(text)) > 0
