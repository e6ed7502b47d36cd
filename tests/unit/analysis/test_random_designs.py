"""Answers of random designs: no error whatever the data, and nothing that depends on their form."""

from dataclasses import replace

import numpy as np
from amount import amount
from hypothesis import given, settings
from hypothesis import strategies as st

from gridatlas.analysis.answers import analyse
from gridatlas.analysis.design import prepare
from gridatlas.analysis.table import Factor, Metric, Table

ROLES = ["choice", "condition", "block", "replicate", "item", "progress"]
ODD = [0.0, 1.0, -1.0, 100.0, 1e-300, 1e300, -1e300, float("nan"), float("inf"), float("-inf")]


@st.composite
def tables(draw, *, odd=True):
    count = draw(st.integers(1, 4))
    factors = {}
    for at in range(count):
        size = draw(st.integers(1, 6))
        numbers = tuple(map(float, range(size))) if draw(st.booleans()) else None
        factors[f"f{at}"] = Factor(
            draw(st.sampled_from(["model", "learning rate", "{x}", "size"])),
            tuple(f"v{at}{level}" for level in range(size)),
            draw(st.sampled_from(ROLES)),
            numbers,
            draw(st.one_of(st.none(), st.integers(0, size - 1))),
        )
    shape = tuple(len(factor.levels) for factor in factors.values())
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["normal", "whole", "equal", "positive", "wide"]))
    values = {
        "normal": random.normal(50, 5, shape),
        "whole": np.round(random.normal(5, 1, shape)),
        "equal": np.full(shape, 10.0),
        "positive": np.exp(random.normal(0, 2, shape)),
        "wide": random.normal(0, 1, shape) * 10.0 ** random.integers(-9, 9, shape),
    }[kind]
    effect = draw(st.sampled_from([0.0, 20.0]))
    values = values + effect * np.arange(shape[0]).reshape(-1, *[1] * (count - 1))
    if odd:
        for _ in range(draw(st.integers(0, 3))):
            values.ravel()[draw(st.integers(0, values.size - 1))] = draw(st.sampled_from(ODD))
    finite = random.random(shape) >= draw(st.sampled_from([0.0, 0.1, 0.5]))
    place = np.nonzero(finite)
    again = draw(st.integers(1, 2))
    n = k = None
    if draw(st.booleans()) and kind != "wide":
        n = np.full(finite.sum() * again, float(draw(st.sampled_from([1, 8, 1000]))))
        k = random.binomial(n.astype(int), 0.5).astype(float)
    column = np.tile(values[place], again)
    column = column + random.normal(0, 0.1 * (again - 1), len(column))
    if k is not None and n is not None:
        column = 100 * k / n
    metric = Metric(
        "Accuracy",
        draw(st.sampled_from(["%", "ms", ""])),
        draw(st.sampled_from(["higher", "lower"])),
        draw(st.sampled_from([None, "log", "linear"])),
        draw(st.sampled_from([None, 0, 2])),
    )
    codes = {name: np.tile(at, again) for name, at in zip(factors, place, strict=True)}
    return Table(factors, codes, column, metric, n, k, None, draw(st.booleans()))


def answers(table):
    return analyse(prepare(table), [*table.factors])


@settings(max_examples=amount(150, 20_000), deadline=None)
@given(tables())
def test_any_data_have_answers(table):
    study = prepare(table)
    pages = analyse(study, [*study.factors])
    for answer in pages.values():
        assert answer.headline
        assert answer.grade in ("clear", "likely", "not-shown", "untestable")
        assert "\0" not in "".join([answer.headline, *answer.evidence])
        assert "nan" not in "".join([answer.headline, *answer.evidence]).replace("nanos", "")
        if answer.grade in ("clear", "likely"):
            assert answer.assertions
            assert answer.p <= 0.05
        else:
            assert not answer.assertions
        assert all(stated.p <= 0.05 for stated in answer.assertions)


def content(pages):
    """What answers assert, without words; longer names may leave a headline with fewer clauses."""
    return [
        (
            "shown" if answer.assertions else answer.grade,
            [
                (stated.kind, stated.factor, stated.levels, stated.grade)
                for stated in answer.assertions
            ],
        )
        for answer in pages.values()
    ]


@settings(max_examples=amount(40, 5_000), deadline=None)
@given(tables(odd=False), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(table, random):
    order = [*range(len(table.value))]
    random.shuffle(order)
    turned = replace(
        table,
        codes={name: codes[order] for name, codes in table.codes.items()},
        value=table.value[order],
        n=None if table.n is None else table.n[order],
        k=None if table.k is None else table.k[order],
    )
    assert str(answers(turned)) == str(answers(table))


@settings(max_examples=amount(40, 5_000), deadline=None)
@given(tables(odd=False))
def test_the_names_of_levels_change_words_alone(table):
    blocks = [name for name, factor in table.factors.items() if factor.role == "block"]
    renamed = {
        name: factor
        if name in blocks
        else replace(factor, levels=tuple(f"n{level}" for level in factor.levels))
        for name, factor in table.factors.items()
    }
    before, after = content(answers(table)), content(answers(replace(table, factors=renamed)))

    def old(levels):
        return tuple(level.removeprefix("n") for level in levels)

    back = [
        (grade, [(kind, factor, old(levels), each) for kind, factor, levels, each in stated])
        for grade, stated in after
    ]
    assert back == before


@settings(max_examples=amount(40, 5_000), deadline=None)
@given(tables(odd=False), st.sampled_from([1e-3, 0.5, 1024.0]))
def test_another_unit_changes_no_assertion(table, times):
    table = replace(table, n=None, k=None, metric=replace(table.metric, decimals=None, unit="ms"))
    scaled = replace(table, value=table.value * times)
    assert content(answers(scaled)) == content(answers(table))


@settings(max_examples=amount(40, 5_000), deadline=None)
@given(tables(odd=False))
def test_a_constant_changes_no_assertion_without_logs(table):
    values = np.round(table.value, 3)
    # Far from 0 on both sides: whether a run failed is judged in logs of values above 0.
    values = np.where(np.abs(values) > 1e5, 50.0, values) + 2e5
    metric = replace(table.metric, scale="linear", decimals=1)
    table = replace(table, n=None, k=None, metric=metric, value=values)
    shifted = replace(table, value=values + 4096)
    if prepare(table).failed == prepare(shifted).failed:
        assert content(answers(shifted)) == content(answers(table))


@settings(max_examples=amount(40, 5_000), deadline=None)
@given(tables(odd=False))
def test_a_mirrored_metric_has_the_same_assertions(table):
    other = {"higher": "lower", "lower": "higher"}[table.metric.better]
    metric = replace(table.metric, scale="linear")
    table = replace(table, n=None, k=None, metric=metric)
    mirrored = replace(table, value=-table.value, metric=replace(metric, better=other))
    first, second = prepare(table), prepare(mirrored)
    if first.failed == second.failed:
        assert content(answers(mirrored)) == content(answers(table))
