"""A study, or a level of it, of which only averages are given shows them, and says so."""

from __future__ import annotations

from pathlib import Path

from builders import table, write_study

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.pipeline import load_data
from gridatlas.build.site import build

HEAD = (
    "format: 1\ntitle: A demo\n"
    "metric: {name: Accuracy, unit: '%', range: [0, 100], better: higher}\n"
    "x: rate\ny: depth\nfacets: [model, bench]\n"
    "factors: {bench: {levels: [mmlu, gsm8k, {id: average, aggregate: {by: mean}}]}}\n"
)
AVERAGES = [f"{m},average,{r},{d},{50 + 4 * r + d}.1" for m in "ab" for r in (1, 2) for d in (1, 2)]
PARTS = [
    f"a,{b},{r},{d},{50 + 4 * r + d}.1" for b in ("mmlu", "gsm8k") for r in (1, 2) for d in (1, 2)
]


def assessed(folder: Path, *rows: str) -> Assessment:
    write_study(folder / "demo", HEAD, table("model,bench,rate,depth,value", *rows))
    return load_data(folder)["demo"]


def test_every_page_of_a_study_of_averages_describes_them(tmp_path: Path) -> None:
    answers = assessed(tmp_path, *AVERAGES).answers
    assert {answer.sentence for answer in answers.values()} == {
        "Accuracy 55.1 to 60.1 %; only averages are given"
    }
    assert [reason.sentence for reason in answers[""].evidence] == [
        "8 values are averages whose parts are not given, so nothing is tested."
    ]
    assert [reason.sentence for reason in answers["model/b"].evidence] == [
        "4 values are averages whose parts are not given, so nothing is tested."
    ]
    texts = [page.whole() for page in build(tmp_path).pages]
    assert not any("o values yet" in text or "No printed average" in text for text in texts)
    assert any("60.1" in text for text in texts)


def test_one_level_may_have_averages_alone(tmp_path: Path) -> None:
    answers = assessed(tmp_path, *AVERAGES, *PARTS).answers
    assert answers["model/b"].sentence == "Accuracy 55.1 to 60.1 %; only averages are given"
    assert "only averages" not in answers[""].sentence
    assert "only averages" not in answers["bench/average"].sentence


def test_a_study_without_any_value_has_none(tmp_path: Path) -> None:
    answers = assessed(tmp_path, "a,mmlu,1,1,").answers
    assert answers[""].sentence == "a: no values yet"
