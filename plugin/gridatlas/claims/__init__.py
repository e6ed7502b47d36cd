"""Claims: expressions over the results are evaluated, and a study's claims are judged."""

from gridatlas.claims.judge import Judged, judge
from gridatlas.claims.places import Place
from gridatlas.claims.tree import ClaimError
from gridatlas.claims.verdict import Verdict, evaluate, evaluate_value

__all__ = [
    "ClaimError",
    "Judged",
    "Place",
    "Verdict",
    "evaluate",
    "evaluate_value",
    "judge",
]
