"""Words that pages explain, and what the lines below an answer are made of."""

from dataclasses import replace
from pathlib import Path

import pytest
from builders import REPOSITORY, cases, real_data

from gridatlas.analysis.said import Answer
from gridatlas.pages.environment import own_environments
from gridatlas.pages.lines import doubts_of, lines_of
from gridatlas.pages.plan import plan_study
from gridatlas.pages.trust import trust_of
from gridatlas.pages.words import Words, built_in, undescribed, words_of

STUDY = real_data()["dynts-window-ratio"].study
ANSWER = Answer("A", ("One thing.", "Another one."), "clear", 0.001, "for other seeds (3 here)")


def explained(**terms):
    return Words(replace(STUDY, terms=terms))


def test_a_word_is_a_link_where_it_is_first_used():
    words = explained(control="as many steps without it")
    text = words.mark("The Control <b> beats it; control again, controls too.")
    assert text == (
        'The <a class="ga-term" href="#word-control">Control</a> &lt;b&gt; beats it; control '
        "again, controls too."
    )
    assert words.mark("control") == "control"
    assert ("word-control", "control", "as many steps without it") in [*words.listed]


@pytest.mark.parametrize(("text", "marked"), cases(__file__, "words are found whole"))
def test_words_are_found_whole(text, marked):
    found = str(explained().mark(text))
    assert [
        part.partition("</a>")[0].partition(">")[2] for part in found.split("<a ")[1:]
    ] == marked


def test_a_study_may_say_what_a_built_in_word_means():
    words = explained(**{"Seed": "a start"})
    words.mark("a seed")
    assert [meaning for _, word, meaning in words.listed if word == "Seed"] == ["a start"]


def test_descriptions_of_factors_levels_and_metric_are_words():
    axis = replace(STUDY.x, description="what is kept")
    level = replace(STUDY.facets[0].levels[0], description="a model")
    facet = replace(STUDY.facets[0], levels=(level,))
    study = replace(STUDY, x=axis, facets=(facet,), terms={"k": "v"})
    assert (
        words_of(study).items()
        >= {axis.label: "what is kept", level.label: "a model", "k": "v"}.items()
    )
    assert axis.label not in undescribed(study)
    assert facet.label in undescribed(study)
    assert study.metric.name not in undescribed(study)  # pass@1 is built in


def test_the_glossary_has_the_built_in_words():
    glossary = Path(REPOSITORY / "docs" / "glossary.md").read_text("utf-8")
    for word, meaning in built_in().items():
        assert f"- **{word}**: {meaning[0].upper()}{meaning[1:]}." in glossary


@pytest.mark.parametrize(
    ("p", "chance"),
    [
        (0.005, 200),
        (0.0011, 500),
        (0.001, 1000),
        (0.0004, 2000),
        (1e-9, 10**6),
        (float("nan"), 10**6),
    ],
)
def test_one_in_so_many_is_rounded_down(p, chance):
    assert lines_of(real_data()["dynts-window-ratio"], (), replace(ANSWER, p=p))["chance"] == chance


def test_the_lead_has_what_the_lines_have_not():
    edge = "The best x, 4, is the largest tried: the optimum may lie beyond."
    evidence = ("One thing.", edge, "word " * 50)
    found = lines_of(real_data()["dynts-window-ratio"], (), replace(ANSWER, evidence=evidence))
    assert (found["lead"], found["edge"]) == (["One thing."], edge)
    found = lines_of(real_data()["dynts-window-ratio"], (), replace(ANSWER, grade="untestable"))
    assert found["lead"] == ["Another one."]


@pytest.mark.parametrize("local", [True, False])
def test_only_a_site_that_is_served_here_says_what_the_study_should_state(local):
    assessment = real_data()["digits-pass-1"]
    [page, *_] = plan_study(assessment, "studies", local=local)
    footer = own_environments()[1].get_template("footer.html.jinja")
    text = footer.render(**page.context, link=lambda path: path, figure=lambda key: "")
    assert ("add <code>authors:</code> to <code>study.yml</code>" in text) == local
    assert "Published" in text or not local


@pytest.mark.parametrize(
    ("study", "doubt"),
    [
        ("dynts-window-ratio", "A rejected reading gives other numbers in 24 of 72 cells."),
        ("grpo-digits", "A second reading gives other numbers in 79 of 200 cells."),
    ],
)
def test_a_reading_that_checks_speak_against_is_called_rejected(study, doubt):
    assessment = real_data()[study]
    grids = [*assessment.results.grids.values()]
    answer, trust = assessment.answers[""], trust_of(assessment, grids)
    assert doubt in doubts_of(assessment.study, answer, lines_of(assessment, grids, answer), trust)
    assert bool(trust.second.against) == ("rejected" in doubt)
