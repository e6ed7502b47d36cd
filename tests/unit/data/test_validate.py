"""From files to a study: levels, cells and what their rows say."""

from decimal import Decimal

import pytest
from builders import table

from gridatlas.data.levels import slug
from gridatlas.model.problems import only_problems
from gridatlas.model.study import Cell


def _levels(study):
    return [level.key for level in study.x.levels]


def _cell(study, x="1", y="1"):
    return study.readings[0].table[(), (x, y)]


# --- levels -------------------------------------------------------------------------------------


def test_levels_from_the_data_are_sorted_where_all_are_numbers(make_study):
    rows = ("10,1,1", "9,1,1", "0.50,1,1", "1e2,1,1", "2,1,1")
    study = make_study("", table("rate,depth,value", *rows))
    assert _levels(study) == ["0.5", "2", "9", "10", "100"]
    assert [level.number for level in study.x.levels] == [Decimal(key) for key in _levels(study)]


def test_levels_from_the_data_come_as_they_first_appear_where_one_is_a_text(make_study):
    rows = ("10,1,1", "none,1,1", "9,1,1", "10,2,1", "all,1,1")
    study = make_study("", table("rate,depth,value", *rows))
    assert _levels(study) == ["10", "none", "9", "all"]
    assert [level.number for level in study.x.levels] == [Decimal(10), None, Decimal(9), None]


def test_levels_from_several_readings_are_put_together(make_study):
    study = make_study(
        "readings: [{id: one, file: cells.csv}, {id: two, file: two.csv}]\n",
        table("rate,depth,value", "3,1,1", "1,1,1"),
        {"two.csv": table("rate,depth,value", "2,1,1", "3.0,1,1")},
    )
    assert _levels(study) == ["1", "2", "3"]


def test_listed_levels_keep_their_order(make_study):
    study = make_study(
        "factors: {rate: {levels: [3, {id: 1.0, label: one, items: 5}, 2]}}\n",
        table("rate,depth,value", "1,1,1"),
    )
    assert [(level.key, level.label, level.slug, level.items) for level in study.x.levels] == [
        ("3", "3", "3", None),
        ("1", "one", "1", 5),
        ("2", "2", "2", None),
    ]


def test_a_factor_without_a_label_is_called_by_its_id(make_study):
    study = make_study("factors: {depth: {unit: layers}}\n", table("rate,depth,value", "1,1,1"))
    assert (study.x.title, study.y.title) == ("Rate", "Depth (layers)")


@pytest.mark.parametrize(
    ("key", "address"),
    [
        ("r1-qwen", "r1-qwen"),
        ("gpqa_d", "gpqa_d"),
        ("0.1", "0.1"),
        ("R1 Qwen", "r1-qwen"),
        ("AIME'24", "aime-24"),
        ("Größe", "groe"),
        ("café", "cafe"),
        ("../../etc/passwd", "etc-passwd"),
        ("a//b", "a-b"),
        ("...", "level"),
        ("日本", "level"),
        ("x" * 101, "x" * 100),
        # What Windows takes for devices, whatever the ending, and names it can't write.
        ("con", "level-con"),
        ("AUX", "level-aux"),
        ("nul.txt", "level-nul.txt"),
        ("com0.vl.5", "level-com0.vl.5"),
        ("LPT9 (old)", "lpt9-old"),
        ("con.", "level-con"),
        ("x.", "x"),
        ("1.5..", "1.5"),
        (f"nul.{'a' * 89}...b", f"level-nul.{'a' * 89}"),
        # The answers of a study have a file beside those of its grids.
        ("answers", "level-answers"),
        ("Answers.json", "level-answers.json"),
        ("answers.csv", "answers.csv"),
        ("null", "null"),
        ("com10", "com10"),
        ("console", "console"),
    ],
)
def test_an_address_is_made_of_letters_digits_and_few_signs(key, address):
    assert slug(key) == address


# --- cells --------------------------------------------------------------------------------------


def test_a_cell_has_what_its_row_says(make_study):
    head = "rate,depth,value,n,successes,stderr,state,note,place,run"
    row = '1.0,1,47.30,150,71,0.5,disputed,"a, b",row 3,run-1'
    assert _cell(make_study("", table(head, row))) == Cell(
        value=Decimal("47.30"),
        state="disputed",
        reading="cells",
        n=150,
        successes=71,
        stderr=Decimal("0.5"),
        note="a, b",
        place="row 3",
        run="run-1",
        line=2,
    )


def test_a_value_keeps_its_digits(make_study):
    study = make_study("", table("rate,depth,value", "1,1,47.30", "2,1,0.1000000000000000055"))
    assert str(_cell(study).value) == "47.30"
    assert str(_cell(study, "2").value) == "0.1000000000000000055"


def test_a_row_without_value_and_state_is_missing(make_study):
    study = make_study("", table("rate,depth,value,note", "1,1,1,", "2,1,,not run"))
    assert _cell(study, "2") == Cell(None, "missing", "cells", note="not run", line=3)


def test_a_row_with_a_problem_is_left_out_and_the_others_stand(checked):
    study, problems = checked("", table("rate,depth,value", "1,1,x", "2,1,20"))
    assert [problem.kind for problem in problems] == ["not-a-number"]
    assert list(study.readings[0].table) == [((), ("2", "1"))]


@pytest.mark.parametrize(
    ("values", "decimals"),
    [
        (["1", "2"], 0),
        (["1", "2.5"], 1),
        (["1.50", "2"], 2),
        (["0.123456789"], 4),
        (["1e3"], 0),
        ([""], 0),
    ],
)
def test_as_many_decimals_are_shown_as_the_values_have(make_study, values, decimals):
    rows = [f"{x},1,{value}" for x, value in enumerate(values)]
    assert make_study("", table("rate,depth,value", *rows)).metric.decimals == decimals


def test_decimals_are_those_that_the_study_names(make_study):
    head = (
        "format: 1\ntitle: T\nmetric: {name: M, better: higher, decimals: 2}\nx: rate\ny: depth\n"
    )
    assert make_study(head, table("rate,depth,value", "1,1,1.23456")).metric.decimals == 2


def test_regions_are_sets_of_points(make_study):
    study = make_study(
        "regions: [{label: in, boxes: [{rate: [1, 2], depth: [1]}, {rate: [1.0], depth: [2]}]}]\n",
        table("rate,depth,value", "1,1,1", "2,2,1"),
    )
    assert study.regions[0].label == "in"
    assert study.regions[0].points == {("1", "1"), ("2", "1"), ("1", "2")}


def test_cells_at_levels_that_are_not_listed_are_kept_apart(checked):
    study, problems = checked(
        "factors: {rate: {levels: [1]}}\n", table("rate,depth,value", "1,1,1", "3,1,2")
    )
    assert [problem.kind for problem in problems] == ["unknown-level"]
    reading = study.readings[0]
    assert list(reading.table) == [((), ("1", "1"))]
    assert [(keys, cell.value) for keys, cell in reading.outside] == [
        ((("rate", "3"), ("depth", "1")), Decimal(2))
    ]


# --- trials and repeats -------------------------------------------------------------------------

BENCHMARK = (
    "facets: [benchmark]\n"
    "factors: {benchmark: {levels: [{id: aime, items: 30}, other]}}\n"
    "trials: {items: benchmark, samples: 5}\n"
)


def test_trials_are_items_times_samples(make_study):
    study = make_study(BENCHMARK, table("rate,depth,benchmark,value", "1,1,aime,10"))
    assert study.trials_at(("aime",)) == 150
    assert study.trials_at(("other",)) is None


def test_repeats_become_their_mean_with_its_standard_error(make_study):
    rows = ("1,1,10,4", "1,1,20,6", "1,1,60,5", "1.0,1,,")
    study = make_study("roles: {repeat: replicate}\n", table("rate,depth,value,n", *rows))
    cell = _cell(study)
    # Variance of 10, 20, 60 over n - 1: (400 + 100 + 900) / 2 = 700; its mean's: 700 / 3.
    assert (cell.value, cell.state, cell.n) == (Decimal(30), "ok", 15)
    assert cell.stderr is not None
    assert cell.stderr**2 == pytest.approx(Decimal(700) / 3)
    assert cell.note == "mean of 3 repeats; 1 more without a value"


def test_repeats_without_any_value_keep_the_first_state(make_study):
    rows = ("1,1,,oom", "1,1,,failed")
    study = make_study("roles: {repeat: replicate}\n", table("rate,depth,value,state", *rows))
    assert (_cell(study).value, _cell(study).state) == (None, "oom")


def test_repeats_do_not_hide_that_trials_are_known(make_study):
    # Two repeats of 30 items × 5 samples are 300 trials; 2 would make any difference noise.
    study = make_study(
        BENCHMARK + "roles: {repeat: replicate}\n",
        table("rate,depth,benchmark,value", "1,1,aime,10", "1,1,aime,20"),
    )
    assert study.readings[0].table[("aime",), ("1", "1")].n != 2


def test_the_mean_of_repeats_of_which_one_is_disputed_is_disputed(make_study):
    rows = ("1,1,10,", "1,1,20,disputed")
    study = make_study("roles: {repeat: replicate}\n", table("rate,depth,value,state", *rows))
    assert (_cell(study).value, _cell(study).state) == (Decimal(15), "disputed")


# --- what would be drawn wrong ------------------------------------------------------------------


@pytest.mark.parametrize("name", ["n", "successes", "stderr", "state", "note", "place", "run"])
def test_a_factor_named_like_a_column_of_the_format_is_a_problem(checked, name):
    # Else the levels of an axis n would silently become the numbers of trials.
    head = f"format: 1\ntitle: T\nmetric: {{name: M, better: higher}}\nx: {name}\ny: depth\n"
    _, problems = checked(head, table(f"{name},depth,value", "1,1,10", "2,1,20"))
    assert [problem.file for problem in only_problems(problems)] == ["data/demo/study.yml"]


@pytest.mark.parametrize("character", ["\x01", "\x1b", "\ufffe"])
def test_a_control_character_in_a_level_is_a_problem(checked, character):
    # No XML can hold it: vl-convert aborts the whole process on the SVG that has it.
    _, problems = checked("", table("rate,depth,value", f"a{character}b,1,10", "c,1,20"))
    assert [problem.line for problem in only_problems(problems)] == [2]


@pytest.mark.parametrize("escape", ["\\0", "\\e"])
@pytest.mark.parametrize(
    "key",
    [
        'metric: {{name: "a{}b"}}',
        'factors: {{rate: {{label: "a{}b"}}}}',
        'factors: {{rate: {{levels: [{{id: 1, label: "a{}b"}}]}}}}',
    ],
)
def test_a_control_character_in_a_text_is_a_problem(checked, key, escape):
    keys = {
        "format": "format: 1",
        "title": "title: T",
        "metric": "metric: {name: M, better: higher}",
    }
    keys[key.partition(":")[0]] = key.format(escape)
    head = "\n".join([*keys.values(), "x: rate", "y: depth", ""])
    _, problems = checked(head, table("rate,depth,value", "1,1,10"))
    assert [problem.file for problem in only_problems(problems)] == ["data/demo/study.yml"]


@pytest.mark.parametrize(
    ("old", "key", "fix"),
    [
        ("replicates: seed", "replicates", "{seed: replicate}"),
        ("axes: conditions", "axes", "{rate: condition, depth: condition}"),
        ("axes: settings", "axes", "{rate: choice, depth: choice}"),
        ("compare: [model]", "compare", "{model: choice}"),
        ("repeats: mean", "repeats", "{repeat: replicate}"),
    ],
)
def test_old_keys_are_read_and_explained(checked, old, key, fix):
    cells = table("model,seed,rate,depth,value", "a,1,1,1,1", "b,1,1,1,2", "a,2,1,1,3", "b,2,1,1,4")
    facets = "facets: [model, seed]\n"
    before, [note] = checked(f"{facets}{old}\n", cells)
    after, problems = checked(f"{facets}roles: {fix}\n", cells)
    assert (note.kind, note.severity, note.found) == ("old-key", "note", f"the old key {key}")
    assert note.fix == f"write roles: {fix} instead of {key}"
    assert problems == []
    assert (before.roles, before.facets) == (after.roles, after.facets)
