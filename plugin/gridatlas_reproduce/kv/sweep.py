"""Pass@1 over local windows and ratios, as units of work: one cell and one question each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any

from gridatlas_reproduce.kv.grading import GRADER
from gridatlas_reproduce.kv.memory import Batch, slots_for
from gridatlas_reproduce.kv.questions import Profile
from gridatlas_reproduce.kv.selection import Budget, Protect, Sampling
from gridatlas_reproduce.runner.runs import differences
from gridatlas_reproduce.runner.units import Unit, cell_of

WINDOWS = (500, 1000, 2000, 3000)
RATIOS = tuple(Decimal(ratio) for ratio in ("0.1", "0.2", "0.3", "0.4", "0.5"))
WINDOW, RATIO = "local_window", "ratio"


@dataclass(frozen=True, slots=True)
class Sweep:
    """Everything that determines the results, but the model, the questions and the base seed.

    Attributes:
        model, benchmark: Levels of the study's factors.
        scorer: See `scorers.NAMES`; with `full` there is one cell, without window and ratio.
        windows, ratios: The grid.
        trigger: Tokens in the cache at which it is pruned.
        samples: Answers per question.
        batch: The shape of the batch that samples are decoded in.
        dtype: What the model computes with.
    """

    model: str
    benchmark: str
    scorer: str = "importance"
    windows: tuple[int, ...] = WINDOWS
    ratios: tuple[Decimal, ...] = RATIOS
    trigger: int = 5001
    samples: int = 5
    batch: Batch = field(default_factory=Batch)
    protect: Protect = "tie"
    profile: Profile = "official"
    dtype: str = "float16"
    sampling: Sampling = field(default_factory=Sampling)

    def settings(self) -> dict[str, Any]:
        """For the manifest; the base seed stands there by itself."""
        content = asdict(self)
        del content["batch"]
        content["decoder"] = self.batch.settings()
        content["grader"] = GRADER
        content["ratios"] = [str(ratio) for ratio in self.ratios]
        if self.scorer == "full":
            del content["windows"], content["ratios"], content["trigger"], content["protect"]
        return content

    def budgets(self) -> dict[tuple[tuple[str, str], ...], Budget | None]:
        """The cells, by their levels; None for `full`."""
        facets = {"model": self.model, "benchmark": self.benchmark}
        if self.scorer == "full":
            return {cell_of(facets): None}
        return {
            cell_of(facets | {WINDOW: window, RATIO: str(ratio)}): Budget(
                window, ratio, self.trigger, self.protect
            )
            for window in self.windows
            for ratio in self.ratios
        }

    def units(self, items: Sequence[str]) -> list[Unit]:
        """All units, question by question: the cells of one question are best done together."""
        cells = self.budgets()
        return [Unit(cell, item, self.samples) for item in items for cell in cells]

    def slots(self, prompts: Iterable[int]) -> int:
        """Slots that a row needs, of prompts with so many tokens."""
        return slots_for(max(self.longest_cache(prompt) for prompt in prompts))

    def longest_cache(self, prompt: int) -> int:
        """The largest number of tokens that the cache of a sample ever holds."""
        longest = prompt + self.sampling.max_new_tokens
        bounds = [budget.bound(prompt) if budget else longest for budget in self.budgets().values()]
        return min(longest, max(bounds))


def question_of(unit: Unit) -> str:
    """The question: its cells are done together."""
    assert unit.item is not None
    return unit.item


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
