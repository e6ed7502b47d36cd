"""What is made lazily is made once, when it is asked for, and looks as if it were there before."""

import pytest

from gridatlas.pages.figure import Section
from gridatlas.pages.lazy import LazyContext, LazySections

SECTIONS = (Section("First", ()), Section("Second", ()))


def test_sections_are_made_when_they_are_asked_for() -> None:
    made = []
    sections = LazySections(lambda: made.append("made") or SECTIONS)
    assert made == []
    assert (list(sections), len(sections), sections[1], sections[:1]) == (
        list(SECTIONS),
        2,
        SECTIONS[1],
        SECTIONS[:1],
    )
    assert made == ["made"]
    assert not LazySections(tuple)


def test_a_context_makes_only_what_it_names() -> None:
    made = []

    def make() -> dict[str, int]:
        made.append("made")
        return {"late": 2, "unnamed": 3}

    context = LazyContext({"early": 1}, frozenset({"late"}), make).with_more({"more": 4})
    assert (context["early"], context.get("unnamed"), context.get("none", 0)) == (1, None, 0)
    assert ("late" in context, "unnamed" in context, len(context)) == (True, False, 3)
    assert made == []
    assert {**context} == {"early": 1, "more": 4, "late": 2}
    assert context["late"] == 2
    assert made == ["made"]
    with pytest.raises(KeyError):
        context["unnamed"]
