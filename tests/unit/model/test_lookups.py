"""Cells are read by `.at(factor=level)` in claims, templates and Python alike."""

from decimal import Decimal

import pytest
from builders import HEAD, table, write_study
from jinja2.sandbox import ImmutableSandboxedEnvironment

import gridatlas
from gridatlas.claims import ClaimError, evaluate_value

CELLS = table(
    "model,rate,local-window,value",
    "small,0.1,500,50.0",
    "small,0.40,2000,70",
    "large,0.1,500,90",
    "large,0.4,2000,",
)
HEAD_WITH_MODELS = HEAD.replace("y: depth", "y: local-window") + "facets: [model]\n"

FOUND = {
    'grid(model="small").at(rate=0.1, local_window=500)': "50.0",
    'grid(model="small").at(rate=0.4, local_window=2000)': "70",
    'grid(model="small").at(local_window="2000", rate="0.4")': "70",
    'grid(model="large").at(rate=0.10, local_window=500.0)': "90",
}
"""Expressions that each of the three understands, and the value of their cell."""

REFUSED = {
    'grid(model="smal").at(rate=0.1, local_window=500)': (
        'model has no level "smal"; did you mean "small"?',
        "one of small, large",
    ),
    'grid(modle="small").at(rate=0.1, local_window=500)': (
        "demo has no facet modle; did you mean model?",
        "one of model",
    ),
    "grid().at(rate=0.1, local_window=500)": (
        "grid() needs a level of model too",
        'one of model="small", model="large"',
    ),
    'grid(model="small", rate=0.1).at(local_window=500)': (
        "rate is an axis, not a facet: .at(...) picks a cell of a grid",
        "one of model",
    ),
    'grid(model="small").at(rat=0.1, local_window=500)': (
        '"rat" is no axis here; did you mean rate?',
        "one of rate, local_window",
    ),
    'grid(model="small").at(rate=0.1)': (
        ".at(...) gives one cell, so it needs local_window too",
        "a level of every axis",
    ),
    'grid(model="small").at(rate=0.3, local_window=5000)': (
        'rate has no level "0.3"; did you mean "0.4"?',
        "one of 0.1, 0.4",
    ),
    'grid(model="small").at(rate=0.1, local_window=5000)': (
        'local_window has no level "5000"; did you mean "500"?',
        "one of 500, 2000",
    ),
}
"""Expressions that each of the three refuses, with what is wrong and what is expected."""


@pytest.fixture
def study(tmp_path):
    write_study(tmp_path / "data/demo", HEAD_WITH_MODELS, CELLS)
    return gridatlas.load(tmp_path / "data")["demo"]


def in_claims(study, expression):
    return evaluate_value(expression, {"demo": study}, "demo")


def in_templates(study, expression):
    template = ImmutableSandboxedEnvironment().from_string(f"{{{{ results.{expression}.value }}}}")
    return Decimal(template.render(results=study))


def in_python(study, expression):
    return eval(f"study.{expression}.value", {"study": study})


READERS = [in_claims, in_templates, in_python]


@pytest.mark.parametrize("expression", FOUND)
@pytest.mark.parametrize("read", READERS)
def test_a_cell_is_read_alike(study, read, expression):
    assert str(read(study, expression)) == FOUND[expression]


@pytest.mark.parametrize("expression", REFUSED)
@pytest.mark.parametrize("read", READERS)
def test_a_wrong_name_is_refused_alike(study, read, expression):
    with pytest.raises((ClaimError, gridatlas.UnknownName)) as refused:
        read(study, expression)
    message, expected = REFUSED[expression]
    assert refused.value.message == message
    assert refused.value.expected.removesuffix(
        ", or .row(level) or .column(level) for all cells at one level"
    ) == expected  # fmt: skip
    if isinstance(refused.value, gridatlas.UnknownName):
        assert str(refused.value) == f"{message} (expected {expected})"


def test_a_study_takes_a_level_of_each_factor(study):
    assert study.at(model="small", rate=0.4, local_window=2000).value == 70
    assert study.at(**{"model": "large", "rate": 0.4, "local-window": 2000}).state == "missing"


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        (
            {"model": "small", "rate": 0.4},
            ".at(...) gives one cell, so it needs local_window too "
            "(expected a level of every factor)",
        ),
        (
            {"modl": "small", "rate": 0.4, "local_window": 500},
            '"modl" is no factor here; did you mean model? '
            "(expected one of model, rate, local_window)",
        ),
        (
            {"model": "smal", "rate": 0.4, "local_window": 500},
            'model has no level "smal"; did you mean "small"? (expected one of small, large)',
        ),
    ],
)
def test_a_wrong_factor_of_a_study_is_refused(study, levels, message):
    with pytest.raises(gridatlas.UnknownName) as refused:
        study.at(**levels)
    assert str(refused.value) == message
