"""Claims: expressions over the results are evaluated, and a study's claims are judged."""

from gridatlas.claims.judge import Judged, Verdict, evaluate, evaluate_value, judge
from gridatlas.claims.tree import ClaimError
from gridatlas.claims.values import Place

__all__ = [
    "ClaimError",
    "Judged",
    "Place",
    "Verdict",
    "evaluate",
    "evaluate_value",
    "judge",
]
