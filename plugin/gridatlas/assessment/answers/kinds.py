"""What a facet's levels are beside one another: benchmarks, seeds, or different things.

Imports no numpy: pages ask it in every build.
"""

from __future__ import annotations

from typing import Literal

from gridatlas.model.study import Factor, Study

Kind = Literal["one", "benchmarks", "seeds"]


def kind_of(study: Study, facet: Factor) -> Kind:
    """What a facet's levels are where they repeat what is asked; `one` where they don't."""
    if facet.id == study.replicates:
        return "seeds"
    asked = study.trials is not None and study.trials.items == facet.id
    if facet.id in study.baseline:
        return "one"
    if asked or any(level.aggregate for level in facet.levels):
        return "benchmarks"
    return "one"
