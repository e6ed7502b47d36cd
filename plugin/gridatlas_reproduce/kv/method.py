"""What the published method did, and in what a run differs from it."""

from __future__ import annotations

from gridatlas_reproduce.kv.sweep import Sweep
from gridatlas_reproduce.runner.runs import differences

DEVIATIONS = {
    "attention": "PyTorch's fused kernels compute the attention. Published: eager attention. The "
    "function is the same; its rounding isn't.",
    "batches": "Each answer's cache is pruned by its own length. Published: 20 answers are padded "
    "on the left and pruned together; padding counts towards the trigger.",
    "grader": "Our rules read the answers. Published: a hundred times or a hundredth of the right "
    'number is right, the article "a" is option A, and thoughts that were cut off are graded.',
    "predictor": "We train the predictor ourselves, on other questions: none is published.",
    "seeds": "Each answer has random numbers of its own. Published: the seed starts anew with each "
    "batch.",
    "ties": "Where a prompt has more tokens than there are places, the earlier ones stay. "
    "Published: it isn't defined which ones stay.",
}
"""By name: what differs whatever the settings are."""


def deviations_of(sweep: Sweep) -> dict[str, str]:
    """What of a run isn't as published, by name; settings that differ are named by themselves."""
    names = ("scorer", "trigger", "samples", "protect", "profile", "dtype", "sampling")
    published = Sweep(sweep.model, sweep.benchmark, batch=sweep.batch)
    then, now = ({name: s.settings().get(name) for name in names} for s in (published, sweep))
    pruned = ("batches", "predictor", "ties") if sweep.scorer == "full" else ()
    return {name: text for name, text in DEVIATIONS.items() if name not in pruned} | {
        name: f"It is {own}. Published: {other}." for name, other, own in differences(then, now)
    }
