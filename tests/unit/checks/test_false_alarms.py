"""No check calls a legitimate study mistyped, whatever was measured and whoever wrote it."""

from gridatlas.checks import check_study
from legitimate import METRICS, WRITERS, legitimate

STUDIES = 200


def test_no_legitimate_study_has_a_mistyped_or_copied_value():
    kinds = {"copied-replicate", "decimals", "fractions", "repeated-row", "repeated-column"}
    alarms = [
        (name, finding.found)
        for name, study in map(legitimate, range(STUDIES))
        for finding in check_study(study).findings
        if finding.severity == "problem" and finding.kind in kinds
    ]
    assert alarms == []


def test_the_legitimate_studies_are_of_every_design():
    names = [legitimate(number)[0] for number in range(STUDIES)]
    for design in (*METRICS, *WRITERS):
        assert any(f" {design}," in name for name in names), design
